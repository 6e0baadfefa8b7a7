//! The questions: how each is rendered for a model, and how its answer is parsed and checked.

mod drift;
mod intent;
mod limits;
mod memories;
mod reasoning;
mod recovery;
mod schema;
mod screening;
mod summary;
mod task;

use crate::answer::{AnswerError, Fields};
use crate::request::ModelRequest;

/// A question that a model can answer.
pub(crate) trait Question: Sync {
    /// The typed answer.
    type Answer: Send;
    /// The context that an answer is checked against.
    type Known: Send + Sync + 'static;

    /// The question as a bounded request.
    fn request(&self) -> ModelRequest;
    /// The context that an answer is checked against.
    fn known(&self) -> Self::Known;
    /// Parses and checks an answer.
    fn read(fields: &Fields, known: &Self::Known) -> Result<Self::Answer, AnswerError>;
}

#[cfg(test)]
mod tests;
