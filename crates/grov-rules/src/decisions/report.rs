//! Tells how finished work does something from narration: "I round half up", and not "the request fails".

use super::has_any;
use crate::text::Word;

/// Before the participle of what is done.
#[rustfmt::skip]
const PASSIVE: &[&str] = &[
    "are", "is", "est", "sont", "son", "sono", "es", "sao", "estan", "worden", "wordt", "zijn",
];

/// Participles that end otherwise than with "ed".
#[rustfmt::skip]
const PARTICIPLES: &[&str] = &[
    "built", "cut", "drawn", "ecrit", "ecrits", "frozen", "guardadas", "guardados", "held", "hidden", "kept", "made", "merged", "put", "read",
    "salvate", "salvati", "sent", "set", "shown", "signes", "split", "stockees", "stockes", "taken", "written",
];

/// Participles of what is not done, or happens to the work.
#[rustfmt::skip]
const UNDONE: &[&str] = &[
    "blocked", "called", "cancelled", "caused", "closed", "completed", "confused", "corrupted", "damaged", "disabled", "dropped", "exhausted",
    "expected", "failed", "finished", "fired", "fixed", "flagged", "ignored", "implemented", "interrupted", "locked", "needed", "outdated", "passed", "refused", "rejected",
    "related", "rendered", "reported", "required", "resolved", "reverted", "shared", "skipped", "stopped", "supported", "supposed", "triggered", "truncated", "undefined", "unused", "updated",
];

/// Verbs by which something has its place.
#[rustfmt::skip]
const PLACED: &[&str] = &[
    "expire", "expires", "geht", "gehen", "go", "goes", "lauft", "laufen", "liegen", "liegt", "live", "lives", "reside", "resides", "run", "runs", "sit",
    "sits", "staan", "staat", "stehen", "steht",
];

/// Before a place or a time.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "after", "am", "an", "at", "auf", "behind", "durch", "im", "in", "inside", "into", "nach", "on", "op", "outside", "through", "to", "uber", "under",
    "unter", "via",
];

/// Words of a reason that is the cause of a fault.
const FAULTY: &[&str] = &[
    "empty",
    "missing",
    "nan",
    "nil",
    "none",
    "null",
    "undefined",
    "wrong",
];

/// Words of a report on checks, which are no choice.
pub(super) const TEST_WORDS: &[&str] = &["build", "ci", "green", "pass", "passes", "test", "tests", "works"];

/// Whether words tell how the work does something: "amounts are stored in cents", "the cache lives in Redis".
pub(super) fn tells_of_work(choice: &[Word<'_>]) -> bool {
    let is_done = (1..choice.len())
        .any(|at| choice[at - 1].is_any(PASSIVE) && is_participle(&choice[at]) && !choice[at].is_any(UNDONE));
    // "Runs on the first install" is a heading.
    let is_put = (2..choice.len()).any(|at| choice[at - 1].is_any(PLACED) && choice[at].is_any(PLACES));
    is_done || is_put
}

/// "I couldn't run the tests": what was not possible.
pub(super) fn tells_of_inability(choice: &[Word<'_>]) -> bool {
    choice
        .first()
        .is_some_and(|first| first.is_any(&["i", "ich", "ik", "je", "nous", "we", "wij", "wir"]))
        && choice
            .get(1)
            .is_some_and(|verb| verb.is_any(&["can't", "cannot", "couldn't", "kann", "konnte"]))
}

/// "Stored", "written", "gespeichert", "stockées".
fn is_participle(word: &Word<'_>) -> bool {
    let is_german =
        word.folded.starts_with("ge") && (word.folded.ends_with('t') || word.folded.ends_with("en"));
    word.folded.ends_with("ed") || is_german || word.is_any(PARTICIPLES)
}

/// Whether a reason names the cause of a fault: "because the token is null".
pub(super) fn tells_of_fault(reason: &[Word<'_>]) -> bool {
    reason.iter().any(|word| word.is_any(FAULTY)) || has_any(&["is not", "not found"], reason)
}
