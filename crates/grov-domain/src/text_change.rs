//! The text that an action replaces and writes.

/// A text before and after a change, as far as the tool call shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// The replaced text; `None` if unknown, as for a file that is written as a whole.
    pub before: Option<String>,
    /// The text that replaces it.
    pub after: String,
}
