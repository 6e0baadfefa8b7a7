//! The question which limits the user set.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::request::{ModelRequest, PromptData};
use grov_domain::{LimitsQuestion, Purpose, ReadLimit};

/// The most limits of an answer, and the most signs of each kind.
const MAX_LIMITS: usize = 8;
const MAX_SIGNS: usize = 12;

impl Question for LimitsQuestion {
    type Answer = Vec<ReadLimit>;
    type Known = ();

    fn request(&self) -> ModelRequest {
        let material = PromptData::default().prompts(&self.prompts);
        let limit = schema::object(&[
            ("words", schema::text()),
            ("files", schema::texts(MAX_SIGNS)),
            ("only", schema::texts(MAX_SIGNS)),
            ("except", schema::texts(MAX_SIGNS)),
            ("commands", schema::texts(MAX_SIGNS)),
            ("adds", schema::texts(MAX_SIGNS)),
            ("removes", schema::texts(MAX_SIGNS)),
        ]);
        let shape = schema::object(&[("limits", schema::list(&limit, MAX_LIMITS))]);
        let instructions = include_str!("../../prompts/read_limits.v1.md");
        ModelRequest::new(Purpose::ReadLimits, instructions, material, shape, 1600)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<Vec<ReadLimit>, AnswerError> {
        fields.limits("limits", MAX_LIMITS, MAX_SIGNS)
    }
}
