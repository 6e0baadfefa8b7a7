//! The words of the user's request: all of them, and those that ask for something.
//!
//! "What would a force push do?", "fix the deploy script" and "don't publish it" name an action without asking for it.

use crate::words::{Word, words};
use std::collections::HashSet;

/// The words of the user's request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestWords {
    all: HashSet<String>,
    /// Words without a negation next to them.
    wanted: HashSet<String>,
    /// Words that are not part of a question, a negation, a path or a name.
    asking: HashSet<String>,
    /// The first words of each text, in order.
    texts: Vec<Vec<OrderedWord>>,
}

/// A word of a text.
#[derive(Clone, Debug)]
struct OrderedWord {
    folded: String,
    /// Whether a clause ends after it.
    ends_clause: bool,
}

impl OrderedWord {
    /// Whether it, or a part of it, is a form of one of these stems.
    fn is_any(&self, stems: &[&str]) -> bool {
        parts(&self.folded).any(|part| is_form_of(&part, stems))
    }
}

/// How many words of a text are kept in order.
const MAX_ORDERED: usize = 200;

/// The most words from one word of a clause to another that is about the same.
const NEAR: usize = 5;

/// How many words before others "add" or "write" may be to be about them.
const SHORTLY: usize = 3;

/// The part of a text that tells what it mainly asks for, in words.
pub(crate) const MAIN_POINT: usize = 16;

/// Words that begin a question or a description: what follows in the clause is not requested.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "care", "cine", "comment", "como", "cual", "describe", "dlaczego", "erklar", "erklare", "explain", "explica", "explique", "how", "how's", "hoe",
    "perche", "porque", "pourquoi", "quand", "quel", "quelle", "waarom", "warum", "wann", "welche", "welcher", "welches", "what", "what's",
    "when", "where", "whether", "which", "who", "whose", "why", "why's", "wie", "wieso",
];

/// Words that begin a question if they are the first of a clause.
#[rustfmt::skip]
const AUXILIARY: &[&str] = &[
    "is", "are", "was", "were", "does", "did", "has", "had", "am", "would", "ist", "sind", "est", "czy", "isn't", "doesn't", "aren't",
];

/// Words after which a word is a noun: "the release".
#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "our", "my", "your", "its", "their", "his", "her", "each", "every", "last", "next",
    "previous", "latest", "first",
];

/// Verbs that turn a noun into a request: "do the release".
#[rustfmt::skip]
const DOING: &[&str] = &[
    "do", "make", "cut", "run", "create", "trigger", "start", "perform", "finish", "prepare", "get", "execute", "apply", "implement", "follow", "go",
    "need", "want", "issue", "kick", "redo", "repeat", "retry", "rerun", "bring", "complete", "carry", "give", "use", "begin", "continue",
];

/// Words that negate the words after them, or in some languages before them.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "avoid", "bez", "can't", "cannot", "don't", "evita", "fara", "forbidden", "geen", "jamais", "kein", "keine", "keinen", "mustn't",
    "nao", "never", "nicht", "nie", "niet", "no", "non", "not", "nu", "nunca", "ohne", "pas", "sans", "sem", "senza", "shouldn't",
    "sin", "w/o", "without", "zonder",
];

/// Negations in languages without spaces between words.
const NEGATING_PARTS: &[&str] = &["不要", "不能", "别", "請勿", "请勿", "しない", "しなく", "ないで"];

/// How many words after a negation it may negate, and how many before it.
const NEGATED_AFTER: usize = 5;
const NEGATED_BEFORE: usize = 1;

/// Words that begin a clause of its own.
const JOINING: &[&str] = &[
    "and", "then", "but", "so", "und", "dann", "aber", "et", "puis", "mais", "si", "apoi", "dar", "y",
    "luego", "e", "poi", "i", "en",
];

/// Words before a state: "the list is empty".
#[rustfmt::skip]
const STATES: &[&str] = &["is", "are", "was", "were", "seems", "looks", "appears", "still", "stays", "returns", "shows", "gets", "got", "always"];

/// Words after a noun: "the restore says", "push is rejected".
#[rustfmt::skip]
const AFTER_NOUN: &[&str] = &[
    "is", "was", "are", "has", "fails", "fail", "failed", "says", "said", "throws", "returns", "gives", "shows", "complains", "crashes", "hangs",
    "takes", "doesn't", "didn't", "won't", "isn't", "can't", "stops", "breaks", "does", "seems", "error", "errors", "script", "scripts", "job",
    "workflow", "button", "notes", "step", "pipeline", "date", "page", "logic", "handler", "endpoint", "test", "tests", "message", "messages",
];

/// What the words of a clause mean so far.
#[derive(Default)]
struct Clause {
    count: usize,
    is_about: bool,
    does: bool,
}

impl RequestWords {
    /// Reads the user's texts, and the proposals of the agent that the user accepted.
    pub(super) fn new(texts: Vec<&str>, consents: &[String]) -> Self {
        let mut request = Self::default();
        for text in texts {
            let words = words(text);
            request.read(&words);
            let ordered = words.iter().take(MAX_ORDERED).map(|word| OrderedWord {
                folded: word.folded.to_string(),
                ends_clause: word.pauses(),
            });
            request.texts.push(ordered.collect());
        }
        for word in consents.iter().flat_map(|text| words(text)) {
            request.all.extend(parts(&word.folded));
            request.wanted.extend(parts(&word.folded));
            request.asking.extend(parts(&word.folded));
        }
        request
    }

    fn read(&mut self, words: &[Word<'_>]) {
        let mut clause = Clause::default();
        for (at, word) in words.iter().enumerate() {
            let folded = word.folded.as_str();
            let next = words.get(at + 1).map_or("", |next| next.folded.as_str());
            if JOINING.contains(&folded) {
                clause = Clause::default();
            }
            let before = at
                .checked_sub(1)
                .map_or("", |before| words[before].folded.as_str());
            let is_noun = !clause.does
                && (clause.count > 0 && DETERMINERS.contains(&before)
                    || AFTER_NOUN.contains(&next) && !word.pauses());
            let is_state = clause.count > 0 && STATES.contains(&before);
            // `Release` within a sentence is the name of something.
            let mut letters = word.raw.chars();
            let is_title = letters.next().is_some_and(char::is_uppercase)
                && letters.next().is_some_and(char::is_lowercase);
            let is_name =
                folded.contains(['/', '.', '_', '(']) || is_title && clause.count > 0 && before != "please";
            self.all.extend(parts(folded));
            let is_wanted = !is_negated(words, at);
            if is_wanted {
                self.wanted.extend(parts(folded));
            }
            // "How about", "why not" and "do you" propose or ask.
            let is_proposal = matches!(next, "about" | "not" | "don't");
            let asks =
                AUXILIARY.contains(&folded) || folded == "do" && matches!(next, "you" | "we" | "i" | "they");
            clause.is_about |= ABOUT.contains(&folded) && !is_proposal || clause.count == 0 && asks;
            if is_wanted && !(clause.is_about || is_noun || is_name || is_state) {
                self.asking.extend(parts(folded));
            }
            clause.does |= DOING.contains(&folded);
            clause.count += 1;
            if word.pauses() {
                clause = Clause::default();
            }
        }
    }

    /// Whether the request only asks questions.
    pub(crate) fn is_question(&self) -> bool {
        self.asking.is_empty() && !self.all.is_empty()
    }

    /// Whether the request contains a word.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.all.contains(&word.to_lowercase())
    }

    /// Whether the request asks with a word that starts with one of these stems: no question, negation or name.
    pub(crate) fn mentions_any(&self, stems: &[&str]) -> bool {
        self.asking.iter().any(|word| is_form_of(word, stems))
    }

    /// Whether the request contains a word that starts with one of these stems and is not negated. A stem with a dot at its
    /// end is a whole word. Stems of languages without spaces may be anywhere in a word.
    pub(crate) fn requests_any(&self, stems: &[&str]) -> bool {
        self.wanted.iter().any(|word| is_form_of(word, stems))
    }

    /// Whether a text names, among its first `within` words, a topic near its state in one clause: "the tests fail", "fix the
    /// tests". They do not belong together with a word of `apart` between or shortly before them ("add tests for the failing
    /// case"), nor with "and" after the state ("fix it and the tests").
    pub(crate) fn has_near(&self, topic: &[&str], state: &[&str], apart: &[&str], within: usize) -> bool {
        self.texts.iter().any(|text| {
            let text = &text[..text.len().min(within)];
            let is_apart = |at: usize| {
                let before = text[at.saturating_sub(SHORTLY)..at].iter().rev();
                let mut before = before.take_while(|word| !word.ends_clause);
                before.any(|word| word.is_any(apart))
            };
            (0..text.len()).filter(|at| !is_apart(*at)).any(|at| {
                let clause = text[at..]
                    .iter()
                    .position(|word| word.ends_clause)
                    .map_or(text.len(), |end| at + end + 1);
                let near = &text[at..clause.min(at + NEAR + 1)];
                is_pair(near, topic, state, apart, &[]) || is_pair(near, state, topic, apart, JOINING)
            })
        })
    }
}

/// Whether words begin with a form of one list and reach one of the other before a form of `apart` and one of the `joining` words.
fn is_pair(words: &[OrderedWord], first: &[&str], second: &[&str], apart: &[&str], joining: &[&str]) -> bool {
    let Some((begin, rest)) = words.split_first() else {
        return false;
    };
    // Languages without spaces have both in one word.
    begin.is_any(first)
        && (!begin.folded.is_ascii() && begin.is_any(second)
            || rest
                .iter()
                .take_while(|word| !word.is_any(apart) && !joining.contains(&word.folded.as_str()))
                .any(|word| word.is_any(second)))
}

/// A word and its parts: `force-push`, `force`, `push`.
fn parts(folded: &str) -> impl Iterator<Item = String> {
    let parts = folded.split(['/', '-', '.', '_']).filter(|part| part.len() >= 2);
    parts.map(str::to_owned).chain([folded.to_owned()])
}

fn is_form_of(word: &str, stems: &[&str]) -> bool {
    stems.iter().any(|stem| match stem.strip_suffix('.') {
        Some(whole) => word == whole,
        None if !stem.starts_with(|letter: char| letter.is_ascii()) => word.contains(stem),
        None => has_stem(word, &[stem]),
    })
}

fn has_stem(word: &str, stems: &[&str]) -> bool {
    stems
        .iter()
        .any(|stem| word.strip_prefix(stem).is_some_and(|rest| rest.len() <= 5))
}

/// Whether the word at an index has a negation next to it in its clause.
fn is_negated(words: &[Word<'_>], at: usize) -> bool {
    if NEGATING_PARTS.iter().any(|part| words[at].folded.contains(part)) {
        return true;
    }
    let before = (at.saturating_sub(NEGATED_AFTER)..at).rev();
    let after = at + 1..words.len().min(at + 1 + NEGATED_BEFORE);
    before
        .take_while(|near| !ends_clause(&words[*near]))
        .chain(after.take_while(|near| !ends_clause(&words[near - 1])))
        .any(|near| words[near].is_any(NEGATIONS))
}

/// Whether a clause ends after a word.
fn ends_clause(word: &Word<'_>) -> bool {
    word.pauses() || word.is_any(&["but", "aber", "mais", "dar", "pero", "ma", "mas", "ale", "maar"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_asked_for_by_a_verb_of_an_order() {
        for (text, stem) in [
            ("delete the old branch", "delet"),
            ("Rebase it and force-push", "force"),
            ("can you deploy this?", "deploy"),
            ("why is it slow? drop the index", "drop"),
            ("do the release", "releas"),
            ("when the tests pass, publish it", "publish"),
            ("how about deleting the cache", "delet"),
            ("the branch can be deleted", "delet"),
            ("把旧分支删除", "删"),
            ("удали ветку", "удал"),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert!(request.mentions_any(&[stem]), "{text}");
        }
        let consent = ["Should I delete the volume?".to_owned()];
        assert!(RequestWords::new(vec!["yes"], &consent).mentions_any(&["delet"]));
    }

    #[test]
    fn an_action_that_is_only_named_is_not_asked_for() {
        for (text, stem) in [
            ("which files would be published?", "publish"),
            ("why does the delete button fail", "delet"),
            ("fix the typo in the deploy script", "deploy"),
            ("check the deploy workflow's syntax", "deploy"),
            ("document the release procedure", "releas"),
            ("tag it, but don't push", "push"),
            ("fix the quoting in deploy.sh", "deploy"),
            ("explain how force push works", "force"),
            ("is the image already deployed?", "deploy"),
            ("the list is empty", "empt"),
            ("restore says duplicate key", "restor"),
            ("pack it for me in Release", "releas"),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert!(!request.mentions_any(&[stem]), "{text}");
            assert!(request.all.iter().any(|word| word.starts_with(stem)), "{text}");
        }
    }
}
