//! An index of words and phrases by how they begin, so that a word of a prompt is compared only with those that may match it.

/// Things by the first two bytes of their text. A program that answers one prompt builds it, so it is built without sorting.
#[derive(Debug)]
pub(crate) struct ByBeginning<T>(Vec<Vec<T>>);

impl<T> Default for ByBeginning<T> {
    fn default() -> Self {
        Self((0..BUCKETS).map(|_| Vec::new()).collect())
    }
}

/// The number of buckets. A bucket may hold texts of several beginnings.
const BUCKETS: usize = 1024;

impl<T> ByBeginning<T> {
    pub(crate) fn add(&mut self, text: &str, one: T) {
        if let Some(bucket) = self.0.get_mut(bucket(text)) {
            bucket.push(one);
        }
    }

    /// All things that begin like a text, and perhaps others, in the order in which they were added.
    pub(crate) fn like(&self, text: &str) -> &[T] {
        self.0.get(bucket(text)).map_or(&[], Vec::as_slice)
    }
}

/// The bucket of a text, by the first two bytes of its first word.
fn bucket(text: &str) -> usize {
    let mut bytes = text.bytes().map(usize::from);
    let first = bytes.next().unwrap_or_default();
    let second = bytes
        .next()
        .filter(|second| *second != usize::from(b' '))
        .unwrap_or_default();
    (first * 37 + second) % BUCKETS
}
