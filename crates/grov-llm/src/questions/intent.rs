//! What does the user want?

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::offline;
use crate::request::{Material, ModelRequest};
use grov_domain::{Intent, IntentQuestion, Purpose};

impl Question for IntentQuestion {
    type Answer = Intent;
    type Known = ();

    fn request(&self) -> ModelRequest {
        let material = Material::default()
            .prompts(&self.prompts)
            .list("first_files", &self.first_files);
        let texts = schema::list(&schema::text());
        let shape = schema::object(&[
            ("goal", schema::text()),
            ("scope", texts.clone()),
            ("constraints", texts.clone()),
            ("keywords", texts),
        ]);
        let instructions = include_str!("../../prompts/extract_intent.v1.md");
        ModelRequest::new(Purpose::ExtractIntent, instructions, material, shape, 800)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<Intent, AnswerError> {
        let goal = fields.text("goal", 200)?;
        let keywords = fields.texts("keywords", 10, 40)?;
        Ok(Intent {
            goal,
            scope: fields.texts("scope", 15, 200)?,
            constraints: fields.texts("constraints", 10, 240)?,
            keywords: keywords.into_iter().map(|word| word.to_lowercase()).collect(),
        })
    }

    fn by_rules(&self) -> Intent {
        offline::extract_intent(self)
    }
}
