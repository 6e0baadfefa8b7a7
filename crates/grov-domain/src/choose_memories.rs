//! The question which memories help with a prompt, for a model that understands what words do not share.

/// The question which of these memories help with what the user typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryChoiceQuestion {
    /// What the user typed.
    pub prompt: String,
    /// The memories, one line each. The answer names them by number, from 1.
    pub memories: Vec<String>,
}
