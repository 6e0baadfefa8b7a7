//! The search for what was planted: whole secrets, and pieces of them.

use std::collections::{BTreeMap, HashMap};

/// A piece of a secret of this length is a leak. Shorter ones can be anything, longer ones would miss what is cut.
const WINDOW: usize = 12;

/// A secret that was planted.
#[derive(Clone, Debug)]
pub struct Planted {
    /// What it is.
    pub kind: &'static str,
    /// Where it was planted.
    pub place: String,
}

/// Everything that was planted, ready to be searched for.
#[derive(Default)]
pub struct Traces {
    planted: Vec<Planted>,
    /// The secret that a piece of [`WINDOW`] bytes belongs to, in lower case.
    pieces: HashMap<[u8; WINDOW], usize>,
}

impl Traces {
    /// Takes note of a secret, of which nobody could guess these parts.
    pub fn plant(&mut self, planted: Planted, parts: &[String]) {
        for part in parts {
            let part = part.to_ascii_lowercase().into_bytes();
            for piece in part.windows(WINDOW) {
                if let Ok(piece) = <[u8; WINDOW]>::try_from(piece) {
                    self.pieces.insert(piece, self.planted.len());
                }
            }
        }
        self.planted.push(planted);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.planted.len()
    }

    /// What of it is in `content`, and where it first is; in any case: an index has words in lower case.
    pub fn found_in(&self, content: &[u8]) -> Vec<(&Planted, usize)> {
        let content = content.to_ascii_lowercase();
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, window) in content.windows(WINDOW).enumerate() {
            if let Some(number) = self.pieces.get(window) {
                first.entry(*number).or_insert(at);
            }
        }
        first
            .into_iter()
            .map(|(number, at)| (&self.planted[number], at))
            .collect()
    }
}
