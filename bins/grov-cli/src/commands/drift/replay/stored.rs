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
    ActionSketch, ActionType, DriftEvent, DriftFilter, EffectKind, Finding, GoalContract, OFF_GOAL_BELOW,
    SessionId, SessionState, StepRow,
};
use grov_project::Place;
use grov_query::{Chosen, Held};
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
    /// What was said of it then; `null` where nobody judged.
    then: Option<u8>,
    /// What the rules say of it now.
    now: u8,
    findings: Vec<Finding>,
}

/// An action that was recorded, wherever it is kept.
struct Recorded {
    id: String,
    task: SessionId,
    at: OffsetDateTime,
    agent_id: Option<String>,
    then: Option<u8>,
    sketch: ActionSketch,
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
async fn judged(store: &dyn CommandStore, chosen: &Chosen) -> Result<Vec<ActionView>, Failure> {
    let mut views = Vec::new();
    let mut rules: Option<Rules> = None;
    let mut held: Option<(SessionId, OffsetDateTime)> = None;
    for recorded in recorded(store, chosen).await? {
        let here = (recorded.task.clone(), recorded.at);
        if held.as_ref() != Some(&here) {
            let tasks = || chosen.tasks.iter().map(|task| &task.state);
            let task = tasks().find(|task| task.session_id == recorded.task);
            let contract = match task {
                Some(task) => {
                    Held::of(store, assembly::intent_reader(), task, Some(recorded.at))
                        .await?
                        .contract
                }
                None => GoalContract::default(),
            };
            match &mut rules {
                Some(rules) => rules.hold_to(contract),
                None => {
                    rules = Some(Rules::new(
                        contract,
                        root(task.or_else(|| tasks().next())).as_deref(),
                    ))
                }
            }
            held = Some(here);
        }
        let Some(rules) = &mut rules else { continue };
        let assessment = match recorded.agent_id {
            Some(_) => rules.assess_delegated(&recorded.sketch),
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
            then: recorded.then,
            now: assessment.score,
            findings: assessment.findings,
        });
    }
    Ok(views)
}

/// Steps and what was taken from among them, of the named task or of the whole session, in order of time.
async fn recorded(store: &dyn CommandStore, chosen: &Chosen) -> Result<Vec<Recorded>, Failure> {
    let filter = DriftFilter {
        client_session_id: Some(chosen.id.clone()),
        ..DriftFilter::default()
    };
    let steps = store.client_steps(&chosen.id).await?.into_iter().map(of_step);
    let events = store.drift_events(&filter).await?.into_iter().map(of_event);
    let mut all: Vec<Recorded> = steps.chain(events).collect();
    all.retain(|one| chosen.named.as_ref().is_none_or(|task| one.task == *task));
    // Steps of one response have one time, and ids in their order.
    all.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    Ok(all)
}

fn of_step(step: StepRow) -> Recorded {
    Recorded {
        id: step.id.to_string(),
        task: step.session_id,
        at: step.timestamp,
        agent_id: step.agent_id.map(|id| id.to_string()),
        then: step.drift_score,
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
        task: event.session_id,
        at: event.timestamp,
        agent_id: None,
        then: event.drift_score,
        sketch: sketch(action_type, event.files, event.command, effects),
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

fn text(answer: &Answer, style: Style) -> String {
    let session = harmless(&answer.client_session_id);
    if answer.actions.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["TIME", "ACTION", "THEN#", "NOW#", "SUBJECT", "WHY"]);
    for action in &answer.actions {
        let subject = match &action.command {
            Some(command) if action.action_type == "bash" || action.files.is_empty() => command.clone(),
            _ => action.files.join(" "),
        };
        table.row([
            moment(action.timestamp),
            action.action_type.to_owned(),
            action
                .then
                .map_or_else(|| "-".to_owned(), |score| score.to_string()),
            action.now.to_string(),
            subject,
            action
                .findings
                .first()
                .map(|finding| finding.reason.clone())
                .unwrap_or_default(),
        ]);
    }
    let off = |score: Option<u8>| score.is_some_and(|score| score < OFF_GOAL_BELOW);
    let then = answer.actions.iter().filter(|action| off(action.then)).count();
    let now = answer
        .actions
        .iter()
        .filter(|action| off(Some(action.now)))
        .count();
    let actions = some(answer.actions.len() as u64, "action", "actions");
    let scores = |score: fn(&ActionView) -> Option<u8>| {
        let scores: Vec<Option<u8>> = answer.actions.iter().map(score).collect();
        picture(&scores, style)
    };
    format!(
        "{}\n{}{actions}: {then} off goal then, {now} now\nthen {}\nnow  {}\n",
        style.faint(&format!("session {session}")),
        table.render(style),
        scores(|action| action.then),
        scores(|action| Some(action.now)),
    )
}
