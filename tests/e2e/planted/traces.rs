//! Searches for planted secrets: whole ones, and pieces of them.

use std::collections::{BTreeMap, HashMap};

/// A piece of a secret of this length is a leak. Shorter pieces can be coincidence; a longer limit would miss truncated
/// secrets.
const WINDOW: usize = 12;

/// A secret that was planted.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The kind.
    pub kind: &'static str,
    /// Where it was planted.
    pub place: String,
}

/// Everything that was planted, indexed for the search.
#[derive(Default)]
pub struct Traces {
    planted: Vec<Planted>,
    /// Maps each piece of [`WINDOW`] bytes, in lower case, to its secret.
    pieces: HashMap<[u8; WINDOW], usize>,
}

impl Traces {
    /// Records a secret, given its random parts.
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

    /// The number of secrets.
    pub fn count(&self) -> usize {
        self.planted.len()
    }

    /// The planted secrets found in `content`, and the offset of the first piece of each. Ignores case, because the
    /// search index stores words in lower case.
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
