//! Questions about the words of a sentence: what is near what, and what is denied.

use super::concept::Concept::*;
use super::concept::{Concept, Meaning};
use super::words::Word;

const NEGATION: Meaning = Meaning::of(&[Not, Without, Nobody]);
/// The most words between a negation and what it denies.
const NEGATION_REACH: usize = 4;
/// The most words between a word that forbids and what it forbids.
const AVERT_REACH: usize = 9;

/// How many words farther an object may be before its verb: in many languages the verb comes last.
const VERB_LAST: usize = 3;
/// The most words between "was" and what happened.
const NARRATION_REACH: usize = 8;

/// A sentence with questions that can be asked of it.
pub(super) struct Sentence<'a>(pub(super) &'a [Word]);

impl Sentence<'_> {
    pub(super) fn has(&self, concepts: &[Concept]) -> bool {
        let wanted = Meaning::of(concepts);
        self.0.iter().any(|word| word.meaning.has(wanted))
    }

    /// The words of these concepts.
    pub(super) fn all(&self, concepts: &[Concept]) -> impl Iterator<Item = usize> {
        let wanted = Meaning::of(concepts);
        let words = self.0.iter().enumerate();
        words.filter_map(move |(place, word)| word.meaning.has(wanted).then_some(place))
    }

    /// Whether another word of these concepts is at most `reach` words away.
    pub(super) fn near(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        let from = place.saturating_sub(reach);
        let end = self.0.len().min(place + reach + 1);
        (from..end).any(|other| other != place && self.0[other].meaning.has(wanted))
    }

    /// Whether a word of these concepts is at most `reach` words before.
    pub(super) fn near_before(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        let joint = Meaning::of(&[Then]);
        (place.saturating_sub(reach)..place)
            .rev()
            .take_while(|other| !self.0[*other].meaning.has(joint))
            .any(|other| self.0[other].meaning.has(wanted))
    }

    /// Whether a word of these concepts is at most `reach` words after.
    pub(super) fn near_after(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        (place + 1..self.0.len().min(place + reach + 1)).any(|other| self.0[other].meaning.has(wanted))
    }

    /// Whether an object is in reach of a verb.
    pub(super) fn reaches(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        self.near_after(place, concepts, reach) || self.near_before(place, concepts, reach + VERB_LAST)
    }

    /// The first of `acts` that is meant and has each of `others` in reach.
    pub(super) fn act(&self, acts: &[Concept], others: &[(&[Concept], usize)]) -> Option<usize> {
        self.all(acts).find(|place| {
            others
                .iter()
                .all(|(other, reach)| self.reaches(*place, other, *reach))
                && !self.is_averted(*place)
        })
    }

    /// Whether a negation denies the word: in its clause before it, or right after it.
    pub(super) fn is_denied(&self, place: usize) -> bool {
        let start = self.clause(place).max(place.saturating_sub(NEGATION_REACH));
        (start..place).any(|other| self.0[other].meaning.has(NEGATION)) || self.follows(place, &[NotAfter], 2)
    }

    /// Whether the word is denied or forbidden: "never send", "rejects a script that sends".
    pub(super) fn is_averted(&self, place: usize) -> bool {
        let averts = Meaning::of(&[Avert]);
        let narrates = Meaning::of(&[Narrated]);
        let from = place.saturating_sub(AVERT_REACH);
        let clause = self.clause(place).max(place.saturating_sub(NARRATION_REACH));
        self.is_denied(place)
            || (from..place).any(|other| self.0[other].meaning.has(averts))
            || (clause..place).any(|other| self.0[other].meaning.has(narrates))
    }

    /// The beginning of the word's clause, or a word before all that count.
    pub(super) fn clause(&self, place: usize) -> usize {
        let from = place.saturating_sub(AVERT_REACH);
        (from..=place)
            .rev()
            .find(|other| self.0[*other].begins)
            .unwrap_or(from)
    }

    /// Whether a word of these concepts follows in the same clause.
    pub(super) fn follows(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        let mut after = self
            .0
            .iter()
            .skip(place + 1)
            .take(reach)
            .take_while(|word| !word.begins);
        after.any(|word| word.meaning.has(wanted))
    }

    /// Whether a word of these concepts is in the clause of a word.
    pub(super) fn is_for(&self, place: usize, concepts: &[Concept]) -> bool {
        let wanted = Meaning::of(concepts);
        self.follows(place, concepts, 10)
            || (self.clause(place)..place).any(|other| self.0[other].meaning.has(wanted))
    }

    /// Whether the word begins a clause, or follows "then" at its beginning.
    pub(super) fn is_first(&self, place: usize) -> bool {
        place < 2
            || self.0[place].begins
            || self.0[place - 1].begins
            || self.0[place - 1].meaning.has(Meaning::of(&[Then]))
    }

    /// Whether something before the word in its clause denies it: "never push without asking".
    pub(super) fn is_averted_before(&self, place: usize) -> bool {
        let denies = Meaning::of(&[Not, Nobody, Avert]);
        (self.clause(place).max(place.saturating_sub(AVERT_REACH))..place)
            .any(|other| self.0[other].meaning.has(denies))
    }
}
