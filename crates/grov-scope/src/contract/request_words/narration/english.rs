//! English verbs by what stands before them: a subject, an auxiliary, or nothing.

use crate::words::Word;

/// Words between a subject and its verb.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "just", "also", "always", "never", "now", "then", "first", "still", "later", "only", "even", "already", "ever", "often", "again", "not", "all", "both", "either", "maybe", "once",
    "will", "would", "can", "could", "may", "might", "must", "shall", "should", "have", "has", "had", "did", "do", "does", "am", "are", "is", "was", "were", "gonna", "soon", "tomorrow", "today", "yesterday",
    "doesn't", "didn't", "won't", "wouldn't", "can't", "cannot", "couldn't", "don't", "haven't", "hasn't", "shouldn't", "be", "been", "being", "get", "gets", "got",
];

/// Modal verbs.
const MODALS: &[&str] = &[
    "will", "would", "can", "could", "may", "might", "must", "shall", "should", "doesn't", "didn't", "won't",
    "wouldn't", "couldn't",
];

/// Subjects that are never objects.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "i", "we", "he", "she", "they", "who", "nobody", "somebody", "someone", "everybody", "everyone", "people", "anyone", "anybody",
    "i'll", "we'll", "they'll", "it'll", "he'll", "she'll", "that'll", "i've", "we've", "they've", "he's", "she's", "i'm", "we're", "they're", "it's",
];

/// Subjects for whom the agent may act.
const WE: &[&str] = &["i", "we"];

/// Modal verbs with which somebody who says "we" or "I" asks for something.
const WISHING: &[&str] = &["should", "must", "would", "shall", "may"];

/// Words before "to" that tell what somebody tries or is able to do.
#[rustfmt::skip]
const INTENTS: &[&str] = &[
    "wants", "want", "wanted", "tries", "needs", "need", "needed", "refuses", "keeps", "plans", "plan", "intends", "threatens", "decides", "decided", "starts", "started", "has", "had", "wishes", "likes", "proposes", "claims", "seems", "happens", "used", "supposed",
];

/// The same for whoever does it.
const TRIALS: &[&str] = &[
    "tried",
    "trying",
    "attempting",
    "attempted",
    "failed",
    "fails",
    "failing",
    "going",
    "about",
    "able",
    "unable",
    "allowed",
    "planning",
    "intend",
];

/// Words before a gerund with which it is an order: "how about deleting it".
#[rustfmt::skip]
const BEFORE_GERUND: &[&str] = &[
    "about", "try", "mind", "consider", "start", "by", "go", "recommend", "suggest", "with", "begin", "finish", "continue", "resume", "proceed", "appreciate", "propose", "is", "are", "of", "to",
];

/// Words that make an order of a participle after them: "get it deployed".
const BEFORE_PARTICIPLE: &[&str] = &[
    "be", "get", "have", "want", "need", "needs", "wants", "as", "like",
];

/// Auxiliaries of what happens anyway: "will be deleted".
const HAPPENS: &[&str] = &[
    "will", "would", "might", "could", "gets", "got", "was", "were", "been", "being", "has", "had", "won't",
    "it'll",
];

/// Words after which others do something: "let users delete it", "allow admins to delete it".
const LETTING: &[&str] = &[
    "let", "lets", "letting", "allow", "allows", "allowing", "enable", "enables", "permit", "permits",
];

const ARTICLES: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "my", "our", "your", "its", "their", "any", "some",
    "all",
];

/// Whether a word opens what others may do, to the end of the clause.
pub(super) fn opens(words: &[Word<'_>], start: usize, at: usize, end: usize) -> bool {
    let next = words[at + 1..end].first();
    // "Let's", "let us" and "let it be" propose.
    let is_letting = words[at].is_any(LETTING)
        && next.is_some_and(|next| !next.is_any(&["us", "go", "it's", "know"]))
        && !words[at].pauses();
    // "Is about to delete it", "users should be able to delete it"
    let is_to = next.is_some_and(|next| next.is_any(&["to"]));
    let subject = || {
        (start..at)
            .rev()
            .map(|before| &words[before])
            .find(|word| !is_filler(word))
    };
    let is_trial =
        is_to && words[at].is_any(TRIALS) && !subject().is_some_and(|word| word.is_any(&["you", "how"]));
    // "The plan wants to delete it"; "I want to delete it" is an order, and so is "it needs to be deleted".
    let is_passive = words[at + 1..end]
        .get(1)
        .is_some_and(|word| word.is_any(&["be", "go", "get"]));
    let is_intent = is_to
        && !is_passive
        && words[at].is_any(INTENTS)
        && subject().is_some_and(|word| {
            !word.is_any(&["i", "we", "you", "i'd", "we'd", "i'll", "we'll", "also", "please"])
        });
    is_letting || is_trial || is_intent
}

fn is_filler(word: &Word<'_>) -> bool {
    word.is_any(FILLERS) || word.folded.len() > 4 && word.folded.ends_with("ly")
}

/// Whether the word at a position announces what somebody else than the agent will do, to the end of the clause: "I'll publish it to
/// npm". "I'll need you to publish it" is an order.
pub(super) fn announces(words: &[Word<'_>], at: usize, end: usize) -> bool {
    const ANNOUNCING: &[&str] = &["i'll", "we'll", "they'll", "he'll", "she'll"];
    let is_future = words[at].is_any(SUBJECTS)
        && words[at + 1..end]
            .first()
            .is_some_and(|next| next.is_any(&["will"]));
    let asks = words[at + 1..end]
        .iter()
        .any(|word| word.is_any(&["you", "need", "have", "want", "let"]));
    (words[at].is_any(ANNOUNCING) || is_future) && !asks
}

/// Whether the verb at a position has a subject that is not the agent, or a form that orders nothing.
pub(super) fn is_narrated(words: &[Word<'_>], start: usize, at: usize, _end: usize) -> bool {
    let word = &words[at];
    if !word.folded.is_ascii() {
        return false;
    }
    let before = at
        .checked_sub(1)
        .filter(|before| *before >= start)
        .map(|before| &words[before]);
    if word.folded.len() >= 6 && word.folded.ends_with("ing") {
        return !before.is_some_and(|before| before.is_any(BEFORE_GERUND));
    }
    let recent = || words[start.max(at.saturating_sub(5))..at].iter();
    if word.folded.len() >= 5 && word.folded.ends_with("ed") && !word.folded.ends_with("eed") {
        let is_adjective = before.is_some_and(|before| before.is_any(ARTICLES));
        let is_perfect = before.is_some_and(|before| before.is_any(&["have", "i've", "we've"]));
        return is_adjective
            || is_perfect
            || recent().any(|near| near.is_any(HAPPENS))
            || !recent().any(|near| near.is_any(BEFORE_PARTICIPLE));
    }
    let mut has_modal = false;
    let mut wishes = false;
    for (fillers, near) in words[start..at].iter().rev().enumerate() {
        if near.is_any(SUBJECTS) {
            let asks = near.is_any(WE) && (wishes || precedes_subject(words, start, at, fillers));
            return !asks;
        }
        if !is_filler(near) {
            // "Admins can delete users", "it doesn't delete them"; "you can delete it" and "can you delete it" are orders.
            return has_modal && !near.is_any(&["you", "please", "there", "and", "then", "to"]);
        }
        has_modal |= near.is_any(MODALS);
        wishes |= near.is_any(WISHING);
        // "We can drop it" proposes, "I can delete it" tells.
        wishes |= near.is_any(&["can", "could"]) && words[start..at].iter().any(|word| word.is_any(&["we"]));
    }
    false
}

/// Whether a modal verb stands before the subject: "can we drop it", "should I delete it".
fn precedes_subject(words: &[Word<'_>], start: usize, at: usize, fillers: usize) -> bool {
    let subject = at - fillers - 1;
    subject > start && words[subject - 1].is_any(&["can", "could", "should", "shall", "may", "do", "must"])
}
