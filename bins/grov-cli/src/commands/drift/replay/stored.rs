//! What was done in a session, judged anew.

use super::super::view::picture;
use crate::assembly::{self, CommandStore};
use crate::chosen::{self, chosen};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::{moment, some};
use crate::table::{Table, harmless};
use grov_actions::{ToolCall, understand};
use grov_domain::{
    ActionSketch, ActionType, DriftEvent, DriftFilter, EffectKind, Finding, GoalContract, HookStep,
    OFF_GOAL_BELOW, SessionId, SessionState, StepRow,
};
use grov_project::Place;
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

/// One action, as it was judged and as it is judged now.
#[derive(Serialize)]
struct ActionView {
    /// The step, or the event that took its place.
    id: String,
    session_id: String,
    #[serde(with = "time::serde::rfc3339")]
    timestamp: OffsetDateTime,
    action_type: &'static str,
    files: Vec<String>,
    command: Option<String>,
    agent_id: Option<String>,
    /// What was said of it then, by the proxy where both paths recorded it; `null` where it was not judged.
    then: Option<u8>,
    /// The same, of each path that recorded it.
    live: Live,
    /// What the rules say of it now.
    now: u8,
    findings: Vec<Finding>,
}

/// The whole scores that are stored of an action. A path that did not record it has no field, one that did not judge it `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Live {
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<Option<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<Option<u8>>,
}

/// A path, its column, and what it stored of an action.
struct PathScores {
    name: &'static str,
    column: &'static str,
    of: fn(&Live) -> Option<Option<u8>>,
}

const PATHS: [PathScores; 2] = [
    PathScores {
        name: "proxy",
        column: "PROXY#",
        of: |live| live.proxy,
    },
    PathScores {
        name: "hooks",
        column: "HOOKS#",
        of: |live| live.hooks,
    },
];

/// An action that was recorded, wherever it is kept.
struct Recorded {
    id: String,
    call: Option<String>,
    task: SessionId,
    at: OffsetDateTime,
    agent_id: Option<String>,
    live: Live,
    sketch: ActionSketch,
}

impl Recorded {
    /// Whether a hook saw the same action. What was off the goal is kept by the proxy without its tool call.
    fn is(&self, hooked: &Self) -> bool {
        match (&self.call, &hooked.call) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => {
                let (own, theirs) = (&self.sketch, &hooked.sketch);
                (own.action_type, &own.files, &own.command)
                    == (theirs.action_type, &theirs.files, &theirs.command)
            }
        }
    }
}

pub(in crate::commands::drift) fn run(
    context: &Context,
    session: Option<&str>,
    terminal: Terminal,
) -> Outcome {
    let project = context.project()?.key().to_owned();
    let wanted = session.map(str::to_owned);
    let answer = context
        .read(async |store| {
            let chosen = chosen(store, wanted.as_deref(), &project).await?;
            let actions = judged(store, &chosen).await?;
            Ok(Answer {
                client_session_id: chosen.id.to_string(),
                actions,
            })
        })?
        .ok_or_else(|| chosen::none(session))?;
    if answer.actions.is_empty() {
        say("nothing is kept of what was done in this session");
    }
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

/// The actions in order of time, each judged under what its task was held to then.
async fn judged(store: &dyn CommandStore, chosen: &SelectedSession) -> Result<Vec<ActionView>, Failure> {
    let mut views = Vec::new();
    let mut rules: Option<Rules> = None;
    let mut constraints: Option<(SessionId, OffsetDateTime)> = None;
    for recorded in recorded(store, chosen).await? {
        let here = (recorded.task.clone(), recorded.at);
        if constraints.as_ref() != Some(&here) {
            let tasks = || chosen.tasks.iter().map(|task| &task.state);
            let task = tasks().find(|task| task.session_id == recorded.task);
            let contract = match task {
                Some(task) => {
                    ActiveConstraints::load(store, assembly::intent_reader(), task, Some(recorded.at))
                        .await?
                        .contract
                }
                None => GoalContract::default(),
            };
            match &mut rules {
                Some(rules) => rules.set_contract(contract),
                None => {
                    rules = Some(Rules::new(
                        contract,
                        root(task.or_else(|| tasks().next())).as_deref(),
                    ))
                }
            }
            constraints = Some(here);
        }
        let Some(rules) = &mut rules else { continue };
        let assessment = match recorded.agent_id {
            Some(_) => rules.assess_subagent(&recorded.sketch),
            None => rules.assess(&recorded.sketch, None),
        };
        views.push(ActionView {
            id: recorded.id,
            session_id: recorded.task.to_string(),
            timestamp: recorded.at,
            action_type: recorded.sketch.action_type.as_str(),
            files: recorded.sketch.files,
            command: recorded.sketch.command,
            agent_id: recorded.agent_id,
            then: recorded.live.proxy.or(recorded.live.hooks).flatten(),
            live: recorded.live,
            now: assessment.score,
            findings: assessment.findings,
        });
    }
    Ok(views)
}

/// Steps and what was taken from among them, of the named task or of the whole session, in order of time.
async fn recorded(store: &dyn CommandStore, chosen: &SelectedSession) -> Result<Vec<Recorded>, Failure> {
    let filter = DriftFilter {
        client_session_id: Some(chosen.id.clone()),
        ..DriftFilter::default()
    };
    let steps = store.client_steps(&chosen.id).await?.into_iter().map(of_step);
    let events = store.drift_events(&filter).await?.into_iter().map(of_event);
    let mut all: Vec<Recorded> = steps.chain(events).collect();
    let task = chosen.id.first_task();
    for step in store.hook_steps(&chosen.id).await? {
        let hooked = of_hook_step(step, &task);
        let mut proxied = all.iter_mut().filter(|one| one.live.hooks.is_none());
        match proxied.find(|one| one.is(&hooked)) {
            Some(one) => one.live.hooks = hooked.live.hooks,
            None => all.push(hooked),
        }
    }
    all.retain(|one| chosen.task_id.as_ref().is_none_or(|task| one.task == *task));
    // Steps of one response have one time, and ids in their order.
    all.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    Ok(all)
}

fn of_step(step: StepRow) -> Recorded {
    Recorded {
        id: step.id.to_string(),
        call: step.tool_use_id,
        task: step.session_id,
        at: step.timestamp,
        agent_id: step.agent_id.map(|id| id.to_string()),
        live: Live {
            proxy: Some(step.drift_score),
            hooks: None,
        },
        sketch: sketch(
            step.action_type,
            step.files,
            step.command,
            step.effects.iter().map(|effect| effect.kind).collect(),
        ),
    }
}

fn of_event(event: DriftEvent) -> Recorded {
    let action_type = event.action_type.unwrap_or(ActionType::Other);
    let effects = match &event.command {
        Some(command) if action_type == ActionType::Bash => effects(command),
        _ => Vec::new(),
    };
    let id = event.step_id.map(|id| id.to_string());
    Recorded {
        id: id.unwrap_or_else(|| event.id.to_string()),
        call: None,
        task: event.session_id,
        at: event.timestamp,
        agent_id: None,
        live: Live {
            proxy: Some(event.drift_score),
            hooks: None,
        },
        sketch: sketch(action_type, event.files, event.command, effects),
    }
}

fn of_hook_step(step: HookStep, task: &SessionId) -> Recorded {
    Recorded {
        id: step.id.to_string(),
        call: step.tool_use_id,
        task: task.clone(),
        at: step.timestamp,
        agent_id: step.agent_id.map(|id| id.to_string()),
        live: Live {
            proxy: None,
            hooks: Some(step.score),
        },
        sketch: step.action,
    }
}

fn effects(command: &str) -> Vec<EffectKind> {
    let input = serde_json::json!({ "command": command });
    let action = understand(&ToolCall {
        name: "Bash",
        id: None,
        input: (&input).into(),
        working_directory: None,
    });
    action.effects.iter().map(|effect| effect.kind).collect()
}

fn sketch(
    action_type: ActionType,
    files: Vec<String>,
    command: Option<String>,
    effects: Vec<EffectKind>,
) -> ActionSketch {
    ActionSketch {
        files,
        command,
        effects,
        ..ActionSketch::empty(action_type)
    }
}

/// The folder that relative paths of the contract are meant from.
fn root(task: Option<&SessionState>) -> Option<String> {
    let directory = task?.working_directory.as_deref()?;
    let place = Place::locate(Path::new(directory));
    let top = place.work_tree().unwrap_or(place.root());
    Some(top.to_string_lossy().into_owned())
}

fn shown(score: Option<u8>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| score.to_string())
}

fn text(answer: &Answer, style: Style) -> String {
    let session = harmless(&answer.client_session_id);
    let actions = &answer.actions;
    if actions.is_empty() {
        return String::new();
    }
    let has_recorded = |path: &&PathScores| actions.iter().any(|action| (path.of)(&action.live).is_some());
    let paths: Vec<&PathScores> = PATHS.iter().filter(has_recorded).collect();
    let mut head = vec!["TIME", "ACTION"];
    head.extend(paths.iter().map(|path| path.column));
    head.extend(["NOW#", "SUBJECT", "WHY"]);
    let mut table = Table::new(&head);
    for action in actions {
        let subject = match &action.command {
            Some(command) if action.action_type == "bash" || action.files.is_empty() => command.clone(),
            _ => action.files.join(" "),
        };
        let mut row = vec![moment(action.timestamp), action.action_type.to_owned()];
        row.extend(paths.iter().map(|path| shown((path.of)(&action.live).flatten())));
        let reason = action.findings.first().map(|finding| finding.reason.clone());
        row.extend([action.now.to_string(), subject, reason.unwrap_or_default()]);
        table.row(row);
    }
    let off = |scores: &[Option<u8>]| {
        let off = scores.iter().flatten().filter(|score| **score < OFF_GOAL_BELOW);
        off.count()
    };
    let then: Vec<(&str, Vec<Option<u8>>)> = paths
        .iter()
        .map(|path| {
            let scores = actions.iter().map(|action| (path.of)(&action.live).flatten());
            (path.name, scores.collect())
        })
        .collect();
    let now: Vec<Option<u8>> = actions.iter().map(|action| Some(action.now)).collect();
    let then_off = match then.as_slice() {
        [(_, scores)] => format!("{} off goal then", off(scores)),
        several => {
            let each: Vec<String> = several
                .iter()
                .map(|(name, scores)| format!("{} off goal by {name}", off(scores)))
                .collect();
            each.join(", ")
        }
    };
    let pictures: String = then
        .iter()
        .map(|(name, scores)| format!("{name} {}\n", picture(scores, style)))
        .collect();
    format!(
        "{}\n{}{}: {then_off}, {} now\n{pictures}now   {}\n",
        style.faint(&format!("session {session}")),
        table.render(style),
        some(actions.len() as u64, "action", "actions"),
        off(&now),
        picture(&now, style),
    )
}
