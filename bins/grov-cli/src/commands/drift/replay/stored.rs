//! Judges the stored actions of a session again.

use super::super::format::sparkline;
use crate::assembly;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::{plural, when};
use crate::output::{Outcome, Style, note};
use crate::session;
use crate::table::{Table, one_line};
use grov_actions::recorded_action;
use grov_domain::{
    ActionSketch, DriftEvent, DriftEventId, DriftFilter, Finding, GoalContract, HookStep, OFF_GOAL_BELOW,
    SessionId, SessionState, StepRow, StoreConnection,
};
use grov_project::ProjectLocation;
use grov_query::{ActiveConstraints, SelectedSession};
use grov_scope::Rules;
use serde::Serialize;
use std::path::Path;
use time::OffsetDateTime;

#[derive(Serialize)]
struct Answer {
    client_session_id: String,
    actions: Vec<ActionView>,
}

/// An action with its stored and its new score.
#[derive(Serialize)]
struct ActionView {
    /// Id of the step, or of the drift event that replaced it.
    id: String,
    session_id: String,
    #[serde(skip)]
    tool_use_id: Option<String>,
    #[serde(skip)]
    events: Vec<DriftEventId>,
    #[serde(with = "time::serde::rfc3339")]
    timestamp: OffsetDateTime,
    action_type: &'static str,
    files: Vec<String>,
    command: Option<String>,
    agent_id: Option<String>,
    /// The stored score: that of the proxy if both paths recorded the action; `null` if it was not judged.
    then: Option<u8>,
    /// The stored score of each path.
    live: Live,
    /// The score by the current rules.
    now: u8,
    findings: Vec<Finding>,
}

/// The stored scores of an action. A path that did not record it has no field; a path that did not judge it has `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Live {
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<Option<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<Option<u8>>,
}

/// A stored action.
struct Recorded {
    id: String,
    /// The ids under which the user can mark its findings.
    events: Vec<DriftEventId>,
    tool_use_id: Option<String>,
    task: SessionId,
    at: OffsetDateTime,
    agent_id: Option<String>,
    live: Live,
    action: ActionSketch,
}

impl Recorded {
    /// Whether a hook recorded the same action. Files and command are compared if a tool call id is missing: the proxy stores
    /// none for actions off the goal.
    fn is_same(&self, hook: &Self) -> bool {
        if let (Some(this), Some(other)) = (&self.tool_use_id, &hook.tool_use_id) {
            return this == other;
        }
        let (this, other) = (&self.action, &hook.action);
        this.action_type == other.action_type && this.files == other.files && this.command == other.command
    }
}

pub(in crate::commands::drift) fn run(context: &Context, session: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let answer = context.read(async |store| {
        let found = session::resolve(store, session, &project).await?;
        let actions = judged(store, &found).await?;
        Ok(Answer {
            client_session_id: found.id.to_string(),
            actions,
        })
    })?;
    let answer = answer.ok_or_else(|| session::not_found(session))?;
    if answer.actions.is_empty() {
        note!("no actions of this session are stored");
    }
    context.answer(answer, text)
}

/// A stored action with the findings of the current rules.
pub(in crate::commands) struct JudgedAction {
    pub(in crate::commands) tool_use_id: Option<String>,
    /// The ids under which the user can mark its findings.
    pub(in crate::commands) events: Vec<DriftEventId>,
    pub(in crate::commands) findings: Vec<Finding>,
}

/// The actions of a session, judged by the current rules.
pub(in crate::commands) async fn judged_actions(
    store: &dyn StoreConnection,
    session: &SelectedSession,
) -> Result<Vec<JudgedAction>, Failure> {
    let judged = judged(store, session).await?.into_iter();
    Ok(judged
        .map(|action| JudgedAction {
            tool_use_id: action.tool_use_id,
            events: action.events,
            findings: action.findings,
        })
        .collect())
}

/// The actions in chronological order, each judged under its task's contract at that time.
async fn judged(store: &dyn StoreConnection, session: &SelectedSession) -> Result<Vec<ActionView>, Failure> {
    let tasks: Vec<&SessionState> = session.tasks.iter().map(|task| &task.state).collect();
    let mut views = Vec::new();
    let mut rules: Option<Rules> = None;
    let mut contract_of: Option<(SessionId, OffsetDateTime)> = None;
    for recorded in recorded(store, session).await? {
        let key = (recorded.task.clone(), recorded.at);
        if contract_of.as_ref() != Some(&key) {
            let task = tasks.iter().find(|task| task.session_id == recorded.task);
            let contract = match task {
                Some(task) => {
                    let reader = assembly::intent_reader();
                    ActiveConstraints::load(store, reader, task, Some(recorded.at))
                        .await?
                        .contract
                }
                None => GoalContract::default(),
            };
            match &mut rules {
                Some(rules) => rules.set_contract(contract),
                None => {
                    let root = task.or(tasks.first()).and_then(|task| root(task));
                    rules = Some(Rules::new(contract, root.as_deref()));
                }
            }
            contract_of = Some(key);
        }
        let Some(rules) = &mut rules else { continue };
        let assessment = match recorded.agent_id {
            Some(_) => rules.assess_subagent(&recorded.action),
            None => rules.assess(&recorded.action, None),
        };
        views.push(ActionView {
            id: recorded.id,
            session_id: recorded.task.to_string(),
            tool_use_id: recorded.tool_use_id,
            events: recorded.events,
            timestamp: recorded.at,
            action_type: recorded.action.action_type.as_str(),
            files: recorded.action.files,
            command: recorded.action.command,
            agent_id: recorded.agent_id,
            then: recorded.live.proxy.or(recorded.live.hooks).flatten(),
            live: recorded.live,
            now: assessment.score,
            findings: assessment.findings,
        });
    }
    Ok(views)
}

/// The steps and drift events of the named task or the whole session, in chronological order.
async fn recorded(store: &dyn StoreConnection, session: &SelectedSession) -> Result<Vec<Recorded>, Failure> {
    let filter = DriftFilter {
        client_session_id: Some(session.id.clone()),
        ..DriftFilter::default()
    };
    let steps = store.client_steps(&session.id).await?.into_iter().map(from_step);
    let events = store.drift_events(&filter).await?.into_iter().map(from_event);
    let mut all: Vec<Recorded> = steps.chain(events).collect();
    let task = session.id.first_task();
    for step in store.hook_steps(&session.id).await? {
        let hook = from_hook_step(step, &task);
        let mut unmatched = all.iter_mut().filter(|one| one.live.hooks.is_none());
        match unmatched.find(|one| one.is_same(&hook)) {
            Some(one) => {
                one.live.hooks = hook.live.hooks;
                one.events.extend(hook.events);
            }
            None => all.push(hook),
        }
    }
    all.retain(|one| session.task_id.as_ref().is_none_or(|task| one.task == *task));
    // The steps of one response have the same time; their ids are in order.
    all.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    Ok(all)
}

fn from_step(step: StepRow) -> Recorded {
    Recorded {
        id: step.id.to_string(),
        events: Vec::new(),
        action: ActionSketch {
            reasoning: None,
            ..step.sketch()
        },
        tool_use_id: step.tool_use_id,
        task: step.session_id,
        at: step.timestamp,
        agent_id: step.agent_id.map(|id| id.to_string()),
        live: Live {
            proxy: Some(step.drift_score),
            hooks: None,
        },
    }
}

fn from_event(event: DriftEvent) -> Recorded {
    let action = recorded_action(&event);
    let step = event.step_id.map(|id| id.to_string());
    Recorded {
        id: step.unwrap_or_else(|| event.id.to_string()),
        events: vec![event.id],
        tool_use_id: None,
        task: event.session_id,
        at: event.timestamp,
        agent_id: None,
        live: Live {
            proxy: Some(event.drift_score),
            hooks: None,
        },
        action,
    }
}

fn from_hook_step(step: HookStep, task: &SessionId) -> Recorded {
    Recorded {
        id: step.id.to_string(),
        events: vec![DriftEventId::new(step.id.as_str())],
        tool_use_id: step.tool_use_id,
        task: task.clone(),
        at: step.timestamp,
        agent_id: step.agent_id.map(|id| id.to_string()),
        live: Live {
            proxy: None,
            hooks: Some(step.score),
        },
        action: step.action,
    }
}

/// The directory that relative paths of the contract refer to.
fn root(task: &SessionState) -> Option<String> {
    let place = ProjectLocation::locate(Path::new(task.working_directory.as_deref()?));
    let top = place.work_tree().unwrap_or(place.root());
    Some(top.to_string_lossy().into_owned())
}

/// A path's name and its scores of all actions; `None` if it recorded no action.
fn scores_of(
    path: &'static str,
    actions: &[ActionView],
    of: impl Fn(&Live) -> Option<Option<u8>>,
) -> Option<(&'static str, Vec<Option<u8>>)> {
    let scores = || actions.iter().map(|action| of(&action.live));
    let is_recorded = scores().any(|score| score.is_some());
    is_recorded.then(|| (path, scores().map(Option::flatten).collect()))
}

fn text(answer: &Answer, style: Style) -> String {
    let actions = &answer.actions;
    if actions.is_empty() {
        return String::new();
    }
    let paths: Vec<(&str, Vec<Option<u8>>)> = [
        scores_of("proxy", actions, |live| live.proxy),
        scores_of("hooks", actions, |live| live.hooks),
    ]
    .into_iter()
    .flatten()
    .collect();
    let columns: String = paths
        .iter()
        .map(|(path, _)| path.to_uppercase() + "#, ")
        .collect();
    let mut table = Table::new(&format!("TIME, ACTION, {columns}NOW#, SUBJECT~, WHY~"));
    for (place, action) in actions.iter().enumerate() {
        let subject = match &action.command {
            Some(command) if action.action_type == "bash" || action.files.is_empty() => command.clone(),
            _ => action.files.join(" "),
        };
        let score = |scores: &[Option<u8>]| match scores.get(place) {
            Some(Some(score)) => score.to_string(),
            _ => "-".to_owned(),
        };
        let mut row = vec![when(action.timestamp, style), action.action_type.to_owned()];
        row.extend(paths.iter().map(|(_, scores)| score(scores)));
        let reason = action.findings.first().map(|finding| finding.reason.clone());
        row.extend([action.now.to_string(), subject, reason.unwrap_or_default()]);
        table.row(row);
    }
    let off = |scores: &[Option<u8>]| {
        let off = scores.iter().flatten().filter(|score| **score < OFF_GOAL_BELOW);
        off.count()
    };
    let then = match paths.as_slice() {
        [(_, scores)] => format!("{} off goal then", off(scores)),
        paths => {
            let of_path = |(path, scores): &(&str, Vec<_>)| format!("{} off goal by {path}", off(scores));
            paths.iter().map(of_path).collect::<Vec<_>>().join(", ")
        }
    };
    let now: Vec<Option<u8>> = actions.iter().map(|action| Some(action.now)).collect();
    let session = style.faint(&format!("session {}", one_line(&answer.client_session_id)));
    let count = plural(actions.len() as u64, "action", "actions");
    let mut text = format!(
        "{session}\n{}{count}: {then}, {} now\n",
        table.render(style),
        off(&now)
    );
    for (path, scores) in &paths {
        text.push_str(&format!("{path} {}\n", sparkline(scores, style)));
    }
    text + &format!("now   {}\n", sparkline(&now, style))
}
