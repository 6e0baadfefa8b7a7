//! The result of looking up an id by part of it.

/// What an id, or a part of one, refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup<T, Candidates = Vec<T>> {
    /// Exactly one record.
    Found(T),
    /// No record.
    NotFound,
    /// Several records.
    Ambiguous(Candidates),
}

impl<T> From<Vec<T>> for Lookup<T> {
    fn from(mut records: Vec<T>) -> Self {
        match (records.pop(), records.is_empty()) {
            (None, _) => Self::NotFound,
            (Some(record), true) => Self::Found(record),
            (Some(last), false) => {
                records.push(last);
                Self::Ambiguous(records)
            }
        }
    }
}
