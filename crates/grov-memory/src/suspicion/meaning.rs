//! Reads a memory by what its words mean, in any of the known languages, and decides by combinations of few signals.
//!
//! `tables/` has the words; [`signals`], [`hiding`], [`leaving`] and [`guards`] say what a sentence does; [`rules`] which
//! signals are harm alone, together, and in which circumstances they are not.

mod concept;
mod guards;
mod hiding;
mod leaving;
pub(super) mod lexicon;
mod rules;
mod sentence;
mod signals;
mod words;

use super::SuspicionKind;
use super::mention::Quotations;
use sentence::Sentence;
use signals::Signal;

/// A signal in a text.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    signal: Signal,
    /// The position of the text.
    place: usize,
    /// The byte offset.
    at: usize,
    /// The number of the sentence in the memory.
    sentence: usize,
}

/// Whether a letter is of a script whose words are found inside of others.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// The harm in the texts of a memory: the position of the text, the kind, and the byte offset.
pub(super) fn harms(texts: &[&str], quotations: &[Quotations<'_>]) -> Vec<(usize, SuspicionKind, usize)> {
    let mut sightings = Vec::new();
    let mut number = 0;
    for (place, text) in texts.iter().enumerate() {
        for sentence in words::sentences(text) {
            Sentence(&sentence).signals(&mut |signal, word| {
                let at = sentence.get(word).map_or(0, |word| word.at);
                if !quotations
                    .get(place)
                    .is_some_and(|quotations| quotations.has_mention(at))
                {
                    sightings.push(Sighting {
                        signal,
                        place,
                        at,
                        sentence: number,
                    });
                }
            });
            number += 1;
        }
    }
    rules::harms(&sightings)
}

#[cfg(test)]
mod tests;
