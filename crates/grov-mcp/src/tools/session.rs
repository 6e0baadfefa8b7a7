//! The goal, the steps and the drift of a session.

use super::ToolFailure;
use crate::Ports;
use crate::information::Information;
use grov_domain::{SessionState, StepOutcome};
use grov_memory::quote::{line, quoted};
use grov_query::{
    ActiveConstraints, GoalView, Lookup, SelectedSession, drift_status, pick_session, session_steps,
};
use grov_redact::Redacted;
use serde::Deserialize;

/// Maximum number of steps.
pub(super) const MAX_STEPS: usize = 200;
/// Number of steps without `limit`.
const STEPS: usize = 30;
/// Maximum characters of a text.
const MAX_TEXT: usize = 400;
/// Maximum characters of the subject of a step.
const MAX_SUBJECT: usize = 160;
/// Maximum number of texts of a kind.
const MAX_TEXTS: usize = 30;
/// Maximum bytes of an id.
const MAX_ID: usize = 256;

/// The arguments of tools that show a session.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    pub(super) session: Option<String>,
}

/// The arguments of `session_steps`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Steps {
    session: Option<String>,
    limit: Option<usize>,
}

/// The goal contract.
pub(super) async fn goal(ports: &Ports, Which { session }: Which) -> Result<Redacted, ToolFailure> {
    let picked = pick(ports, session.as_deref()).await?;
    let task = task(&picked)?;
    let intents = ports.intents.clone();
    let active = ActiveConstraints::load(&*ports.store, intents, task, None).await?;
    let view = GoalView::of(task, &active);
    let contract = &view.contract;
    let mut information = Information::default();
    information.line(&heading(task));
    match contract.goal.as_str() {
        "" => information.line("goal: unknown"),
        goal => information.quoted("goal", goal, MAX_TEXT),
    }
    information.quoted("newest instruction", &view.newest_instruction, MAX_TEXT);
    for (name, texts) in [
        ("constraint", &contract.constraints),
        ("forbidden", &contract.forbidden),
        ("allowed", &contract.allowed),
        ("expected to touch", &contract.scope),
    ] {
        information.all(name, texts.iter().map(String::as_str), MAX_TEXT, MAX_TEXTS);
    }
    Ok(information.into_text("goal"))
}

/// The newest steps, oldest first.
pub(super) async fn steps(ports: &Ports, wanted: Steps) -> Result<Redacted, ToolFailure> {
    let picked = pick(ports, wanted.session.as_deref()).await?;
    let work = session_steps(&*ports.store, picked).await?;
    let most = wanted.limit.unwrap_or(STEPS).clamp(1, MAX_STEPS);
    let omitted = work.steps.len().saturating_sub(most);
    let mut information = Information::default();
    information.line(&format!(
        "session {}, {} steps",
        line(&work.id, 64),
        work.steps.len()
    ));
    if omitted > 0 {
        information.line(&format!("{omitted} older steps are left out; `limit` shows more"));
    }
    for step in work.steps.iter().skip(omitted) {
        let time = step.timestamp.time();
        let mut text = format!(
            "{:02}:{:02} {} {}",
            time.hour(),
            time.minute(),
            step.action_type.as_str(),
            quoted(&step.subject(), MAX_SUBJECT)
        );
        if let Some(outcome) = step.outcome.map(StepOutcome::as_str) {
            text.push_str(&format!(" [{outcome}]"));
        }
        if let Some(score) = step.drift_score {
            text.push_str(&format!(" score {score}"));
        }
        information.line(text.trim_end());
    }
    Ok(information.into_text("steps"))
}

/// Whether the session keeps to its goal.
pub(super) async fn drift(ports: &Ports, Which { session }: Which) -> Result<Redacted, ToolFailure> {
    let picked = pick(ports, session.as_deref()).await?;
    let task = task(&picked)?;
    let view = drift_status(&*ports.store, ports.intents.clone(), task).await?;
    let mut information = Information::default();
    information.line(&heading(task));
    information.quoted("goal", &view.goal, MAX_TEXT);
    information.line(&format!(
        "state: {}, escalation {} of 3",
        view.session_mode, view.escalation
    ));
    let scores = view.scores.iter();
    let scores: Vec<String> = scores
        .map(|score| score.map_or("-".to_owned(), |score| score.to_string()))
        .collect();
    information.line(&format!(
        "scores of the newest actions (10: on goal): {}",
        scores.join(" ")
    ));
    let counts = &view.counts;
    information.line(&format!(
        "{} actions, {} judged, {} drifts, {} doubts; {} corrections, {} followed",
        counts.actions, counts.judged, counts.drifts, counts.doubts, counts.corrections, counts.followed
    ));
    if let Some(correction) = &view.correction {
        information.line(&format!(
            "newest correction: {}, score {}, {}",
            correction.level,
            correction.score,
            correction.outcome.unwrap_or("no outcome yet")
        ));
        information.quoted("reason", &correction.reason, MAX_TEXT);
        let plan = correction.recovery_plan.iter().map(String::as_str);
        information.all("recovery step", plan, MAX_TEXT, MAX_TEXTS);
    }
    information.quoted(
        "expected next",
        view.awaited.as_deref().unwrap_or_default(),
        MAX_TEXT,
    );
    Ok(information.into_text("drift"))
}

/// The session that a call is about.
pub(super) async fn pick(ports: &Ports, wanted: Option<&str>) -> Result<SelectedSession, ToolFailure> {
    if wanted.is_some_and(|wanted| wanted.len() > MAX_ID) {
        return Err(ToolFailure::Arguments("the session id is too long".to_owned()));
    }
    let now = ports.clock.now();
    match pick_session(&*ports.store, wanted, ports.project.key(), now).await? {
        Lookup::Found(picked) => Ok(picked.session),
        Lookup::NotFound => Err(ToolFailure::Arguments(match wanted {
            Some(wanted) => format!("there is no session {}", quoted(wanted, 64)),
            None => "no session of this project is recorded yet".to_owned(),
        })),
        Lookup::Ambiguous(ids) => {
            let ids: Vec<String> = ids.iter().take(8).map(|id| line(id, 64)).collect();
            Err(ToolFailure::Arguments(format!(
                "several sessions have this id: {}",
                ids.join(", ")
            )))
        }
    }
}

fn task(session: &SelectedSession) -> Result<&SessionState, ToolFailure> {
    let missing = || ToolFailure::Arguments("the session has no task yet".to_owned());
    session.task().ok_or_else(missing)
}

fn heading(task: &SessionState) -> String {
    format!(
        "session {} ({}, {})",
        line(task.client_session_id.as_str(), 64),
        task.status.as_str(),
        task.session_mode.as_str()
    )
}
