//! The question about the forced recovery after corrections were not followed.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::request::{AgentText, ModelRequest, PromptData, limits};
use grov_domain::{ForcedRecovery, ForcedRecoveryQuestion, Purpose};

impl Question for ForcedRecoveryQuestion {
    type Answer = ForcedRecovery;
    type Known = ();

    fn request(&self) -> ModelRequest {
        let material = PromptData::default()
            .text("goal", &self.goal, limits::GOAL)
            .text(
                "newest_instruction",
                &self.newest_instruction,
                limits::NEWEST_PROMPT,
            )
            .list("constraints", &self.constraints)
            .actions("actions_off_goal", &self.actions, AgentText::Hidden)
            .list("found_wrong", &self.diagnostics);
        let shape = schema::object(&[
            ("recovery_prompt", schema::text()),
            ("mandatory_action", schema::step()),
        ]);
        let instructions = include_str!("../../prompts/forced_recovery.v1.md");
        ModelRequest::new(Purpose::ForcedRecovery, instructions, material, shape, 600)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<ForcedRecovery, AnswerError> {
        Ok(ForcedRecovery {
            recovery_prompt: fields.text("recovery_prompt", 1_000)?,
            mandatory_action: fields.step("mandatory_action")?,
        })
    }
}
