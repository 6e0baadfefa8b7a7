//! Where does a session stand?

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::request::{AgentText, ModelRequest, PromptData, limits};
use grov_domain::{Purpose, SessionDigest, SummaryQuestion};

/// How many changed files a summary names.
const MAX_FILES: usize = 40;

/// Entries of the lists of an answer.
const MOST_PROGRESS: usize = 12;
const MOST_DECISIONS: usize = 6;

impl Question for SummaryQuestion {
    type Answer = SessionDigest;
    /// The files that the actions changed. They are known, so that no model is asked for them.
    type Known = Vec<String>;

    fn request(&self) -> ModelRequest {
        let material = PromptData::default()
            .text("goal", &self.goal, limits::GOAL)
            .list("constraints", &self.constraints)
            .prompts(&self.prompts)
            .actions("actions", &self.actions, AgentText::Shown)
            .text("last_words", &self.answer, limits::ANSWER);
        let shape = schema::object(&[
            ("progress", schema::texts(MOST_PROGRESS)),
            ("decisions", schema::decisions(MOST_DECISIONS)),
            ("current_state", schema::text()),
            ("next_action", schema::text()),
        ]);
        let instructions = include_str!("../../prompts/session_summary.v1.md");
        ModelRequest::new(Purpose::SessionSummary, instructions, material, shape, 2_000)
    }

    fn known(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let changed = self
            .actions
            .iter()
            .rev()
            .filter(|action| action.action_type.modifies_files() && action.failed != Some(true));
        for file in changed.flat_map(|action| &action.files) {
            if files.len() < MAX_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
        files.sort();
        files
    }

    fn read(fields: &Fields, changed: &Vec<String>) -> Result<SessionDigest, AnswerError> {
        Ok(SessionDigest {
            progress: fields.texts("progress", MOST_PROGRESS, 300)?,
            decisions: fields.decisions("decisions", MOST_DECISIONS)?,
            files_modified: changed.clone(),
            current_state: fields.text("current_state", 800)?,
            next_action: fields.text("next_action", 300)?,
        })
    }
}
