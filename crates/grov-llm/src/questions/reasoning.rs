//! The question about the reasoning to remember of a task.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields, wrong};
use crate::request::{AgentText, ModelRequest, PromptData, limits};
use grov_domain::{Purpose, Reasoning, ReasoningQuestion};

/// Maximum lengths of the lists in an answer.
const MAX_TRACE: usize = 12;
const MAX_DECISIONS: usize = 5;
const MAX_CONSTRAINTS: usize = 8;
const MAX_TAGS: usize = 6;

/// Maximum number of other texts in a request, the newest.
const MAX_STATEMENTS: usize = 8;

impl Question for ReasoningQuestion {
    type Answer = Reasoning;
    type Known = ();

    fn request(&self) -> ModelRequest {
        let newest = &self.statements[self.statements.len().saturating_sub(MAX_STATEMENTS)..];
        let stated: Vec<String> = newest
            .iter()
            .map(|one| format!("{}: {}", one.source.as_str(), one.text))
            .collect();
        let material = PromptData::default()
            .text("goal", &self.goal, limits::GOAL)
            .prompts(&self.prompts)
            .list("known_constraints", &self.constraints)
            .actions("actions", &self.actions, AgentText::Shown)
            .list("other_texts", &stated)
            .text("last_words", &self.answer, limits::ANSWER);
        let shape = schema::object(&[
            ("reasoning_trace", schema::texts(MAX_TRACE)),
            ("decisions", schema::decisions(MAX_DECISIONS)),
            ("constraints", schema::texts(MAX_CONSTRAINTS)),
            ("tags", schema::texts(MAX_TAGS)),
        ]);
        let instructions = include_str!("../../prompts/extract_reasoning.v2.md");
        ModelRequest::new(Purpose::ExtractReasoning, instructions, material, shape, 2_000)
    }

    fn known(&self) {}

    fn read(fields: &Fields, (): &()) -> Result<Reasoning, AnswerError> {
        let reasoning_trace = fields.texts("reasoning_trace", MAX_TRACE, 300)?;
        if reasoning_trace.is_empty() {
            return Err(wrong("reasoning_trace", "a list with at least one entry"));
        }
        let tags = fields.texts("tags", MAX_TAGS, 40)?;
        Ok(Reasoning {
            reasoning_trace,
            decisions: fields.decisions("decisions", MAX_DECISIONS)?,
            constraints: fields.texts("constraints", MAX_CONSTRAINTS, 240)?,
            tags: tags
                .iter()
                .map(|tag| tag.to_lowercase().replace(' ', "-"))
                .collect(),
        })
    }
}
