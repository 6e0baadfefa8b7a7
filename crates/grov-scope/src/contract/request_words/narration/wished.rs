//! What reads as narrated and is an order all the same: a wish to the agent ("I'd like you to", "żebyś usunął"), a suggestion ("how about we
//! drop it"), and what is only mentioned until the text says to do it ("Bob suggested dropping it. Go ahead.").

use crate::words::{Word, any_phrase_at, has_phrase};

/// Words that wish something of the agent, to the end of the clause, folded.
#[rustfmt::skip]
const WISHING: &[&str] = &[
    "asked you to", "ask you to", "dass du", "dass ihr", "dass sie", "dat je", "dat jij", "dat u", "zebys", "zebyscie", "zeby pan", "чтобы ты", "чтобы вы", "чтоб ты", "que tu", "que vous", "que voce",
];

/// The same after a word of pleasure: "it would be great if you dropped it".
const IF_YOU: &[&str] = &[
    "if you", "wenn du", "wenn ihr", "si tu", "si vous", "als je", "se voce", "se tu",
];
#[rustfmt::skip]
const PLEASED: &[&str] = &[
    "great", "love", "appreciate", "nice", "good", "grateful", "cool", "awesome", "helpful", "happy", "glad", "schon", "toll", "super", "lieb", "nett", "dankbar", "sympa", "bien", "fijn",
    "bom", "bello",
];

/// Auxiliaries of what the agent did already: "dass du gelöscht hast".
const DONE: &[&str] = &[
    "hast", "habt", "haben", "hebt", "hebben", "as", "avez", "has", "hai", "wirst",
];

/// Words that begin a suggestion, which holds for the whole clause.
const SUGGESTING: &[&str] = &[
    "how about",
    "what about",
    "why not",
    "wie wäre es",
    "wie ware es",
    "et si",
    "que tal",
    "che ne dici",
];

/// French wishes in the passive: "que la table soit supprimée".
const PASSIVE: &[&str] = &["soit", "soient"];
const FRENCH: &[&str] = &[
    "j'aimerais",
    "aimerais",
    "voudrais",
    "veux",
    "souhaite",
    "faut",
    "faudrait",
];

/// Verbs that make an order of a gerund after them: "the package needs publishing".
const NEEDING: &[&str] = &["needs", "wants", "need", "want", "deserves"];

/// Words that order what was mentioned before, at the end of a clause.
#[rustfmt::skip]
const DO_IT: &[&str] = &[
    "do it", "do that", "go ahead", "go for it", "you do it", "mach das", "mach es", "hol das nach", "hol das bitte nach", "tu es", "fais le", "hazlo", "fallo", "faca isso", "zrob to", "doe het", "doe dat",
    "сделай это", "fa o", "fa asta",
];
/// The same for a script that is to be written first.
const RUN_IT: &[&str] = &[
    "run it",
    "execute it",
    "run that",
    "fuhr es aus",
    "lass es laufen",
    "lance le",
    "ejecutalo",
];
/// Words that may follow.
const BEHIND: &[&str] = &[
    "for", "her", "him", "them", "me", "us", "please", "now", "then", "bitte", "jetzt",
];

/// Takes the marks back that a wish, a suggestion or "do it" turns into an order.
pub(super) fn unmark(words: &[Word<'_>], found: &mut [bool]) {
    for at in 0..words.len() {
        let end = end_of_clause(words, at);
        let begins = at == 0 || words[at - 1].pauses();
        let is_done = words[at..end].iter().any(|word| word.is_any(DONE));
        let wishes = any_phrase_at(words, at, WISHING).is_some() && !is_done
            || any_phrase_at(words, at, IF_YOU).is_some()
                && words[..at].iter().rev().take(8).any(|word| word.is_any(PLEASED));
        if wishes || begins && any_phrase_at(words, at, SUGGESTING).is_some() {
            found[at..end].fill(false);
        }
        let is_needed =
            words[at].is_any(NEEDING) && words.get(at + 1).is_some_and(|next| next.folded.ends_with("ing"));
        if is_needed {
            found[at..=at + 1].fill(false);
        }
        let is_passive =
            words[at].is_any(PASSIVE) && words[..at].iter().rev().take(8).any(|word| word.is_any(FRENCH));
        if is_passive {
            found[at..end].fill(false);
        }
        let orders = |phrases: &[&str]| {
            any_phrase_at(words, at, phrases).is_some_and(|length| {
                let last = at + length - 1;
                words[last].pauses() || words.get(last + 1).is_none_or(|next| next.is_any(BEHIND))
            })
        };
        let is_later = orders(DO_IT) && !is_last_negated(words, at)
            || orders(RUN_IT) && has_phrase(&words[..at], &["script", "skript", "guion"]);
        if is_later {
            found[..at].fill(false);
        }
    }
}

/// Where the clause of a word ends.
fn end_of_clause(words: &[Word<'_>], at: usize) -> usize {
    words[at..]
        .iter()
        .position(Word::pauses)
        .map_or(words.len(), |length| at + length + 1)
}

/// Whether what precedes "do it" rules it out, or leaves it to somebody else: "don't do it", "I'll do it", "how do I do it".
fn is_last_negated(words: &[Word<'_>], at: usize) -> bool {
    const NOT_SO: &[&str] = &[
        "don't", "not", "never", "i", "i'll", "we", "we'll", "he", "she", "they", "it", "who", "how", "to",
        "nicht", "ich", "wir", "ne", "no", "nie", "niet", "je", "yo", "не", "я",
    ];
    at.checked_sub(1)
        .is_some_and(|before| words[before].is_any(NOT_SO) && !words[before].pauses())
}
