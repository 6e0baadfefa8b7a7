//! The question about a session whose history will be removed.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::request::{AgentText, ModelRequest, PromptData, limits};
use grov_domain::{Purpose, SessionDigest, SummaryQuestion};

/// Maximum lengths of the lists in an answer.
const MAX_PROGRESS: usize = 15;
const MAX_DECISIONS: usize = 10;
const MAX_OPEN_ENDS: usize = 10;

/// Maximum number of closing words in a request, the newest.
const MAX_STATEMENTS: usize = 10;

impl Question for SummaryQuestion {
    type Answer = SessionDigest;
    type Known = Vec<String>;

    fn request(&self) -> ModelRequest {
        let newest = &self.statements[self.statements.len().saturating_sub(MAX_STATEMENTS)..];
        let stated: Vec<String> = newest.iter().map(|one| one.text.clone()).collect();
        let material = PromptData::default()
            .text("goal", &self.goal, limits::GOAL)
            .list("constraints", &self.constraints)
            .prompts(&self.prompts)
            .actions("actions", &self.actions, AgentText::Shown)
            .list("closing_words", &stated)
            .text("last_words", &self.answer, limits::ANSWER);
        let shape = schema::object(&[
            ("progress", schema::texts(MAX_PROGRESS)),
            ("decisions", schema::decisions(MAX_DECISIONS)),
            ("open_ends", schema::texts(MAX_OPEN_ENDS)),
            ("current_state", schema::text()),
            ("next_action", schema::text()),
        ]);
        let instructions = include_str!("../../prompts/summarize_session.v1.md");
        ModelRequest::new(Purpose::SummarizeSession, instructions, material, shape, 2_500)
    }

    /// The files that the actions changed, which a model need not repeat.
    fn known(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let changing = self
            .actions
            .iter()
            .filter(|action| action.action_type.modifies_files() && action.failed != Some(true));
        for file in changing.flat_map(|action| &action.files) {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }

    fn read(fields: &Fields, files: &Vec<String>) -> Result<SessionDigest, AnswerError> {
        Ok(SessionDigest {
            progress: fields.texts("progress", MAX_PROGRESS, 300)?,
            decisions: fields.decisions("decisions", MAX_DECISIONS)?,
            open_ends: fields.texts("open_ends", MAX_OPEN_ENDS, 300)?,
            files_modified: files.clone(),
            current_state: fields.text("current_state", 600)?,
            next_action: fields.text("next_action", 300)?,
        })
    }
}
