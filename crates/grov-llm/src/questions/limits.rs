//! The question which limits the user set, and which dangerous actions the user asks for.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::request::{ModelRequest, PromptData};
use grov_domain::{LimitsQuestion, PromptReading, Purpose};

/// The most limits and requests of an answer, and the most signs of each kind.
const MAX_LIMITS: usize = 8;
const MAX_ASKED: usize = 8;
const MAX_SIGNS: usize = 12;

impl Question for LimitsQuestion {
    type Answer = PromptReading;
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
        let asked = schema::object(&[
            ("words", schema::text()),
            ("files", schema::texts(MAX_SIGNS)),
            ("commands", schema::texts(MAX_SIGNS)),
        ]);
        let shape = schema::object(&[
            ("limits", schema::list(&limit, MAX_LIMITS)),
            ("asked", schema::list(&asked, MAX_ASKED)),
        ]);
        let instructions = include_str!("../../prompts/read_limits.v1.md");
        ModelRequest::new(Purpose::ReadLimits, instructions, material, shape, 2000)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<PromptReading, AnswerError> {
        Ok(PromptReading {
            limits: fields.limits("limits", MAX_LIMITS, MAX_SIGNS)?,
            asked: fields.requests("asked", MAX_ASKED, MAX_SIGNS)?,
        })
    }
}
