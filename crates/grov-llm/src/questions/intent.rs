//! The question about the user's intent.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::request::{ModelRequest, PromptData};
use grov_domain::{Intent, IntentQuestion, Purpose};

/// Maximum lengths of the lists in an answer.
const MAX_SCOPE: usize = 15;
const MAX_CONSTRAINTS: usize = 10;
const MAX_KEYWORDS: usize = 10;

impl Question for IntentQuestion {
    type Answer = Intent;
    type Known = ();

    fn request(&self) -> ModelRequest {
        let material = PromptData::default()
            .prompts(&self.prompts)
            .list("first_files", &self.first_files);
        let shape = schema::object(&[
            ("goal", schema::text()),
            ("scope", schema::texts(MAX_SCOPE)),
            ("constraints", schema::texts(MAX_CONSTRAINTS)),
            ("keywords", schema::texts(MAX_KEYWORDS)),
        ]);
        let instructions = include_str!("../../prompts/extract_intent.v1.md");
        ModelRequest::new(Purpose::ExtractIntent, instructions, material, shape, 800)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<Intent, AnswerError> {
        let goal = fields.text("goal", 200)?;
        let keywords = fields.texts("keywords", MAX_KEYWORDS, 40)?;
        Ok(Intent {
            goal,
            scope: fields.texts("scope", MAX_SCOPE, 200)?,
            constraints: fields.texts("constraints", MAX_CONSTRAINTS, 240)?,
            keywords: keywords.into_iter().map(|word| word.to_lowercase()).collect(),
            turns_away: false,
        })
    }
}
