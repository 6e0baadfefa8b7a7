//! The question whether the actions serve the goal.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields, wrong};
use crate::request::{AgentText, ModelRequest, PromptData, limits};
use grov_domain::{DriftQuestion, DriftType, DriftVerdict, Purpose};
use serde_json::json;

/// From this score on, actions are on goal and need no recovery plan.
const ON_GOAL: u8 = 8;

/// The maximum number of steps in a recovery plan.
const MAX_STEPS: usize = 4;

impl Question for DriftQuestion {
    type Answer = DriftVerdict;
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
            .list("scope", &self.scope)
            .actions("earlier_actions", &self.earlier, AgentText::Hidden)
            .actions("actions_to_judge", &self.actions, AgentText::Hidden);
        let shape = schema::object(&[
            ("score", json!({"type": "integer"})),
            ("diagnostic", schema::text()),
            ("recovery_plan", schema::list(&schema::step(), MAX_STEPS)),
        ]);
        let instructions = include_str!("../../prompts/check_drift.v2.md");
        ModelRequest::new(Purpose::CheckDrift, instructions, material, shape, 600)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<DriftVerdict, AnswerError> {
        let score = fields.score("score")?;
        let mut recovery_plan = fields.steps("recovery_plan", MAX_STEPS)?;
        if score >= ON_GOAL {
            recovery_plan.clear();
        } else if recovery_plan.is_empty() {
            return Err(wrong(
                "recovery_plan",
                "a list with at least one step, because the score is below 8",
            ));
        }
        Ok(DriftVerdict {
            score,
            drift_type: DriftType::of_score(score),
            diagnostic: fields.text("diagnostic", 400)?,
            recovery_plan,
        })
    }
}
