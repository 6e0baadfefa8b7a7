//! The question which task a turn belongs to, and whether that task is complete.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields, wrong};
use crate::quote;
use crate::request::{AgentText, ModelRequest, PromptData, limits};
use grov_domain::{Purpose, SessionId, TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch, TaskType};
use serde_json::json;

/// The maximum number of constraints that a turn can add.
const MAX_CONSTRAINTS: usize = 10;

/// The tasks that an answer may refer to, with their positions.
pub(crate) struct KnownTasks {
    current: Option<(SessionId, TaskType)>,
    others: Vec<(SessionId, TaskType)>,
    may_complete: bool,
}

/// Identifiers are offered unchanged or not at all: one changed by quoting could not be matched to a task.
fn offered(task: &TaskSketch) -> bool {
    let id = task.id.as_str();
    id.len() <= limits::ID && quote::line(id, limits::ID) == id
}

fn described(task: &TaskSketch) -> String {
    let place = match (task.completed, task.task_type) {
        (true, _) => "completed",
        (false, TaskType::Main) => "main",
        (false, TaskType::Subtask) => "subtask",
        (false, TaskType::Parallel) => "parallel",
    };
    let parent = task.parent.as_ref().map_or(String::new(), |parent| {
        format!(", started from {}", quote::line(parent.as_str(), limits::ID))
    });
    let goal = quote::line(&task.goal, limits::GOAL);
    format!("{} ({place}{parent}): {goal}", task.id)
}

impl Question for TaskContextQuestion {
    type Answer = TaskAnalysis;
    type Known = KnownTasks;

    fn request(&self) -> ModelRequest {
        let mut material = PromptData::default();
        let current = self.current.as_ref().filter(|task| offered(task)).map(described);
        material.section("task_in_work", current.as_deref().unwrap_or("none"));
        let others: Vec<String> = self
            .others
            .iter()
            .filter(|task| offered(task))
            .take(limits::TASK_COUNT)
            .map(|task| format!("- {}", described(task)))
            .collect();
        material.section("other_tasks", &others.join("\n"));
        let material = material
            .prompts(&self.prompts)
            .actions("actions", &self.actions, AgentText::Shown)
            .text("last_words", &self.answer, limits::ANSWER)
            .text(
                "ended_with",
                self.stop_reason.as_deref().unwrap_or_default(),
                limits::ID,
            );
        let actions: Vec<&str> = TaskAction::ALL.iter().map(|action| action.as_str()).collect();
        let shape = schema::object(&[
            ("action", json!({"type": "string", "enum": actions})),
            ("task_id", schema::optional_text()),
            ("goal", schema::text()),
            ("finished", json!({"type": "boolean"})),
            ("constraints", schema::texts(MAX_CONSTRAINTS)),
            ("reasoning", schema::text()),
        ]);
        let instructions = include_str!("../../prompts/analyze_task_context.v1.md");
        ModelRequest::new(Purpose::AnalyzeTaskContext, instructions, material, shape, 600)
    }

    fn known(&self) -> KnownTasks {
        let known = |task: &TaskSketch| (task.id.clone(), task.task_type);
        KnownTasks {
            current: self.current.as_ref().filter(|task| offered(task)).map(known),
            others: self
                .others
                .iter()
                .filter(|task| offered(task))
                .take(limits::TASK_COUNT)
                .map(known)
                .collect(),
            may_complete: !matches!(
                self.stop_reason.as_deref(),
                Some("tool_use" | "max_tokens" | "pause_turn")
            ),
        }
    }

    fn read(fields: &Fields, known: &KnownTasks) -> Result<TaskAnalysis, AnswerError> {
        let action = fields.text("action", 40)?;
        let action = TaskAction::from_name(&action).ok_or(wrong(
            "action",
            "one of continue, new_task, subtask, parallel_task, task_complete, subtask_complete",
        ))?;
        let finished = fields.flag("finished")?;
        if finished && !action.starts() {
            return Err(wrong(
                "finished",
                "false unless the action is new_task, subtask or parallel_task",
            ));
        }
        if (finished || action.completes()) && !known.may_complete {
            return Err(wrong(
                "action",
                "no completion, because the answer of the agent did not end by itself",
            ));
        }
        let named = fields.optional_text("task_id", limits::ID)?;
        let task_id = if action.starts() {
            None
        } else {
            known.task(action, named.as_deref())?
        };
        Ok(TaskAnalysis {
            action,
            task_id,
            goal: fields.text("goal", 200)?,
            finished,
            // A model says whether it is.
            looks_finished: false,
            constraints: fields.texts("constraints", MAX_CONSTRAINTS, 240)?,
            reasoning: fields.text("reasoning", 300)?,
        })
    }
}

impl KnownTasks {
    /// The task that `named` refers to; `None` for the active one.
    fn task(&self, action: TaskAction, named: Option<&str>) -> Result<Option<SessionId>, AnswerError> {
        let current = self
            .current
            .as_ref()
            .filter(|(id, _)| named.is_none_or(|named| id.as_str() == named));
        let (other, task_type) = match (current, named) {
            (Some((_, task_type)), _) => (None, *task_type),
            (None, Some(named)) => {
                let found = self.others.iter().find(|(id, _)| id.as_str() == named);
                let (id, task_type) =
                    found.ok_or(wrong("task_id", "the id of a task in the data, or null"))?;
                (Some(id.clone()), *task_type)
            }
            (None, None) => return Err(wrong("action", "new_task, because no task is in work")),
        };
        if action == TaskAction::SubtaskComplete && task_type != TaskType::Subtask {
            return Err(wrong("action", "task_complete, because the task is no subtask"));
        }
        Ok(other)
    }
}
