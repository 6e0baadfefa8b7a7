//! The goal contract of a task, with the origin of each part.

use crate::active_constraints::ActiveConstraints;
use grov_domain::{GoalContract, GoalEditKind, SessionState};
use serde::Serialize;
use time::OffsetDateTime;

/// The goal contract of a task.
#[derive(Debug, Serialize)]
pub struct GoalView {
    /// The task.
    pub session_id: String,
    /// The client's session.
    pub client_session_id: String,
    /// The project.
    pub project_path: String,
    /// The session mode, which shows whether it drifted.
    pub session_mode: &'static str,
    /// The status of the task.
    pub status: &'static str,
    /// The goal, which is empty while unknown, and the other parts.
    #[serde(flatten)]
    pub contract: GoalContract,
    /// The newest instruction of the user: the newest prompt, or the goal if it was set after it.
    pub newest_instruction: String,
    /// The origins of all parts except the instructions.
    pub origins: Vec<OriginView>,
}

/// The origin of a part of the contract.
#[derive(Debug, Serialize)]
pub struct OriginView {
    /// `goal`, `scope`, `allowed`, `forbidden`, `constraint` or `keyword`.
    pub part: &'static str,
    /// The text of the part.
    pub text: String,
    /// `task`: extracted from the user's prompts; `you`: set with `grov goal`.
    pub from: &'static str,
    /// The time at which the part was set.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
}

impl GoalView {
    /// Creates the view of a task.
    pub fn of(task: &SessionState, constraints: &ActiveConstraints) -> Self {
        let contract = &constraints.contract;
        let origin = |part, kind: Option<GoalEditKind>, text: &str| {
            let edit = kind.and_then(|kind| constraints.edit(kind, text));
            OriginView {
                part,
                text: text.to_owned(),
                from: if edit.is_some() { "you" } else { "task" },
                at: edit.map_or(task.start_time, |edit| edit.at),
            }
        };
        let goal = Some(&contract.goal).filter(|goal| !goal.is_empty());
        let mut origins: Vec<OriginView> = goal
            .map(|goal| origin("goal", Some(GoalEditKind::Set), goal))
            .into_iter()
            .collect();
        for (part, kind, list) in [
            ("scope", None, &contract.scope),
            ("allowed", Some(GoalEditKind::Allow), &contract.allowed),
            ("forbidden", Some(GoalEditKind::Forbid), &contract.forbidden),
            (
                "constraint",
                Some(GoalEditKind::Constraint),
                &contract.constraints,
            ),
            ("keyword", None, &contract.keywords),
        ] {
            origins.extend(list.iter().map(|text| origin(part, kind, text)));
        }
        Self {
            session_id: task.session_id.to_string(),
            client_session_id: task.client_session_id.to_string(),
            project_path: task.project_path.clone(),
            session_mode: task.session_mode.as_str(),
            status: task.status.as_str(),
            newest_instruction: match contract.is_goal_newest {
                true => contract.goal.clone(),
                false => contract.newest_instruction().to_owned(),
            },
            contract: contract.clone(),
            origins,
        }
    }
}
