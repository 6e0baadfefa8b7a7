//! What of a task goes to team memory. Pure, but for the store's types.

use super::exchange::both_ends;
use super::turn::changes;
use grov_domain::{
    ActionSketch, Prompt, Reasoning, ReasoningQuestion, SessionState, SessionStatus, StepRow, Task, TaskId,
    TaskStatus, TriggerReason, without_own_text,
};
use std::path::Path;
use time::OffsetDateTime;

/// Steps scored below this are off goal and teach nothing.
const LEAST_SCORE: u8 = 5;

/// Files kept with a task.
const MAX_FILES: usize = 200;

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The work was finished.
    Complete,
    /// Nobody came back.
    Abandoned,
}

impl Ending {
    pub(super) fn session_status(self) -> SessionStatus {
        match self {
            Self::Complete => SessionStatus::Completed,
            Self::Abandoned => SessionStatus::Abandoned,
        }
    }
}

/// All that is known of a task when it ends.
pub(super) struct Material {
    prompts: Vec<String>,
    /// In order, those judged off goal left out, files relative to `root`.
    actions: Vec<ActionSketch>,
}

impl Material {
    /// From what is stored. `root` is the folder of the working tree.
    pub(super) fn new(
        prompts: &[Prompt],
        steps: &[StepRow],
        root: Option<&Path>,
        outcome: impl Fn(&str) -> Option<(bool, Option<String>)>,
    ) -> Self {
        let on_goal = steps
            .iter()
            .filter(|step| step.is_validated && step.drift_score.is_none_or(|score| score >= LEAST_SCORE));
        let actions = on_goal.map(|step| {
            let ended = step.tool_use_id.as_deref().and_then(&outcome);
            let (failed, output) = ended.map_or((None, None), |(failed, output)| (Some(failed), output));
            ActionSketch {
                action_type: step.action_type,
                files: step.files.iter().map(|file| relative(file, root)).collect(),
                command: step.command.clone(),
                effects: step.effects.iter().map(|effect| effect.kind).collect(),
                reasoning: step
                    .reasoning
                    .as_deref()
                    .map(|text| without_own_text(text).into_owned()),
                failed,
                output,
            }
        });
        Self {
            prompts: prompts
                .iter()
                .map(|prompt| both_ends(without_own_text(&prompt.text).trim()))
                .filter(|text| !text.is_empty())
                .collect(),
            actions: actions.collect(),
        }
    }

    /// Whether there is anything to remember.
    pub(super) fn is_empty(&self) -> bool {
        self.prompts.is_empty() && self.actions.is_empty()
    }

    /// The question for the judge.
    pub(super) fn question(&self, state: &SessionState, answer: &str) -> ReasoningQuestion {
        ReasoningQuestion {
            goal: state.original_goal.clone().unwrap_or_default(),
            prompts: self.prompts.clone(),
            constraints: state.constraints.clone(),
            actions: self.actions.clone(),
            answer: answer.to_owned(),
        }
    }

    /// The record for team memory.
    pub(super) fn task(
        &self,
        state: &SessionState,
        remote: Option<String>,
        reasoning: Reasoning,
        ending: Ending,
        head: Option<String>,
        now: OffsetDateTime,
    ) -> Task {
        let mut constraints = state.constraints.clone();
        for constraint in reasoning.constraints {
            if !constraints.contains(&constraint) {
                constraints.push(constraint);
            }
        }
        let (status, trigger_reason) = match ending {
            Ending::Complete => (TaskStatus::Complete, TriggerReason::Complete),
            Ending::Abandoned => (TaskStatus::Abandoned, TriggerReason::Abandoned),
        };
        let moved = state.head_at_start.is_some() && head != state.head_at_start;
        Task {
            id: TaskId::fresh(),
            project_path: state.project_path.clone(),
            project_remote: remote,
            user: state.user_id.clone(),
            client_session_id: Some(state.client_session_id.clone()),
            session_id: Some(state.session_id.clone()),
            original_query: self
                .prompts
                .first()
                .cloned()
                .or_else(|| state.original_goal.clone())
                .unwrap_or_default(),
            goal: state.original_goal.clone(),
            reasoning_trace: reasoning.reasoning_trace,
            files_touched: self.files_touched(),
            decisions: reasoning.decisions,
            constraints,
            status,
            trigger_reason: Some(trigger_reason),
            linked_commit: head.filter(|_| moved),
            parent_session_id: state.parent_session_id.clone(),
            parent_task_id: None,
            tags: reasoning.tags,
            created_at: now,
        }
    }

    /// The files that were changed; of work that changed none, those it was about.
    fn files_touched(&self) -> Vec<String> {
        let of = |wanted: &dyn Fn(&ActionSketch) -> bool| {
            let mut files: Vec<String> = Vec::new();
            let chosen = self.actions.iter().filter(|action| wanted(action));
            for file in chosen.flat_map(|action| &action.files) {
                if files.len() < MAX_FILES && !files.contains(file) {
                    files.push(file.clone());
                }
            }
            files
        };
        let changed = of(&changes);
        if changed.is_empty() {
            of(&|_| true)
        } else {
            changed
        }
    }
}

/// `file` as seen from `root`, if it lies in it.
pub(super) fn relative(file: &str, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty())
        .unwrap_or(file)
        .to_owned()
}
