//! Finds items that a proposal would contradict, and those that say the same, by rules over their words.

use crate::subject::Subject;
use crate::{MemoryItem, MemoryType};
use time::{Duration, OffsetDateTime};

/// The share of the shorter text's words that both have to have to speak of the same subject.
const SAME_SUBJECT: f64 = 0.5;

/// The share for two texts that differ only in a choice of words.
const SAME_SUBJECT_CHOICE: f64 = 0.6;

/// The most other words of each text that count as a choice.
const MAX_CHOICE: usize = 2;

/// The share of all words that two texts have in common when they say the same.
const SAME_WORDS: f64 = 0.9;

/// How long an event or a measurement with the same words is taken for the same one.
const SAME_EVENT: Duration = Duration::hours(1);

/// An item with what it is about.
#[derive(Clone, Debug)]
pub(crate) struct KnownItem {
    pub(crate) item: MemoryItem,
    subject: Subject,
}

impl KnownItem {
    pub(crate) fn of(item: MemoryItem) -> Self {
        let subject = Subject::of(&item.content);
        Self { item, subject }
    }

    pub(crate) fn contradicts(&self, content: &Subject) -> bool {
        contradicts(&self.subject, content)
    }
}

/// Whether two texts speak of the same subject and say otherwise.
///
/// They speak of the same subject if they share at least two content words, and at least half of the shorter one's. They say
/// otherwise if one denies and the other does not, if both have numbers and neither's are all among the other's, or if they
/// share 60 % and each has one or two other words, as in `use PostgreSQL for the orders` and `use MySQL for the orders`.
pub(crate) fn contradicts(one: &Subject, other: &Subject) -> bool {
    let shared = one.shared(other);
    let shorter = one.words.len().min(other.words.len());
    let share = shared as f64 / shorter.max(1) as f64;
    if shared < 2 || share < SAME_SUBJECT {
        return false;
    }
    let numbers_differ = !one.numbers.is_empty()
        && !other.numbers.is_empty()
        && !one.numbers.is_subset(&other.numbers)
        && !other.numbers.is_subset(&one.numbers);
    let is_choice = |subject: &Subject| (1..=MAX_CHOICE).contains(&(subject.words.len() - shared));
    one.is_denial != other.is_denial
        || numbers_differ
        || (share >= SAME_SUBJECT_CHOICE && is_choice(one) && is_choice(other))
}

/// Whether two texts say the same: at least 90 % of all their words are in both, with the same numbers and denials.
fn says_the_same(one: &Subject, other: &Subject) -> bool {
    let shared = one.shared(other);
    let all = one.words.len() + other.words.len() - shared;
    if all == 0 {
        return one.numbers == other.numbers && !one.numbers.is_empty();
    }
    one.numbers == other.numbers
        && one.is_denial == other.is_denial
        && shared as f64 / all as f64 >= SAME_WORDS
}

/// Whether a proposal repeats an item in force or an open proposal. What happened and what was measured may happen again: it is
/// a repetition within an hour only.
pub(crate) fn is_repeated(
    kind: MemoryType,
    content: &Subject,
    known: &KnownItem,
    now: OffsetDateTime,
) -> bool {
    let is_recent = !kind.is_accepted_at_once() || now - known.item.created_at < SAME_EVENT;
    known.item.kind == kind && is_recent && says_the_same(content, &known.subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contradicts(one: &str, other: &str) -> bool {
        super::contradicts(&Subject::of(one), &Subject::of(other))
    }

    fn says_the_same(one: &str, other: &str) -> bool {
        super::says_the_same(&Subject::of(one), &Subject::of(other))
    }

    #[test]
    fn texts_that_say_otherwise_about_the_same_are_found() {
        for (one, other) in [
            (
                "The parish hall hire costs 38 GBP per hour.",
                "The parish hall hire costs 45 GBP per hour.",
            ),
            (
                "Deploys to production happen on Fridays",
                "Deploys to production never happen on Fridays",
            ),
            (
                "We use PostgreSQL for the order database",
                "We use MySQL for the order database",
            ),
            (
                "Wir liefern am Montag nach Wien",
                "Wir liefern am Montag nicht nach Wien",
            ),
            (
                "Die Kündigungsfrist beträgt 3 Monate",
                "Die Kündigungsfrist beträgt 6 Monate",
            ),
            (
                "The primary colour of the logo is green",
                "The primary colour of the logo is blue",
            ),
            ("给客户的折扣是百分之10", "给客户的折扣是百分之20"),
            (
                "La reunión semanal es el lunes",
                "La reunión semanal es el martes",
            ),
        ] {
            assert!(
                contradicts(one, other) && contradicts(other, one),
                "{one} / {other}"
            );
        }
    }

    #[test]
    fn texts_that_agree_or_speak_of_something_else_are_not() {
        for (one, other) in [
            (
                "The parish hall hire costs 38 GBP per hour.",
                "The parish hall hire costs 38 GBP per hour",
            ),
            (
                "Deploys to production happen on Fridays",
                "The office closes at 18:00",
            ),
            (
                "We use PostgreSQL for the order database",
                "The order database is backed up every night at 01:15",
            ),
            ("Support answers within two hours", "Support sits in Leeds"),
            (
                "Invoices are paid within 30 days",
                "The archive keeps letters for 10 years",
            ),
            (
                "The team prefers short meetings",
                "The team prefers short meetings on Monday mornings",
            ),
            ("Wir liefern nach Wien", "Das Lager steht in Kempten"),
            ("", ""),
        ] {
            assert!(
                !contradicts(one, other) && !contradicts(other, one),
                "{one} / {other}"
            );
        }
    }

    #[test]
    fn repetitions_are_recognised() {
        assert!(says_the_same(
            "Deploys happen on Tuesday.",
            "deploys happen on tuesday"
        ));
        assert!(!says_the_same(
            "Deploys happen on Tuesday.",
            "Deploys happen on Friday."
        ));
        assert!(!says_the_same("The fee is 4 EUR", "The fee is 5 EUR"));
        assert!(!says_the_same("We deploy on Friday", "We never deploy on Friday"));
        assert!(!says_the_same("", ""));
    }
}
