//! `grov drift explain EVENT`

use super::format::delivery;
use crate::assembly;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::exact;
use crate::output::{Outcome, Style};
use crate::table::{Fields, one_line, truncated};
use grov_domain::{
    ActionType, ClientSessionId, Clock, DriftEvent, DriftType, GoalContract, Rule, StepOutcome,
    StoreConnection, SystemClock,
};
use grov_hooks::settings::shell_word;
use grov_query::{ActiveConstraints, CorrectionView, Lookup, consent_to, correction_of, find_event};
use serde::Serialize;

/// Maximum characters of a line.
const MAX_LINE: usize = 240;
/// Maximum number of suggested commands.
const MAX_SUGGESTIONS: usize = 3;

#[derive(Serialize)]
struct Answer {
    event: DriftEvent,
    drift_type: Option<&'static str>,
    /// The goal contract at that time; `None` if the session was deleted.
    #[serde(rename = "held_to")]
    contract: Option<ContractView>,
    /// Whether the user allowed it in the guard's dialog; `None` if they were not asked.
    allowed_by_user: Option<bool>,
    /// The correction that followed.
    correction: Option<CorrectionView>,
    /// Commands that would allow the action.
    allow: Vec<String>,
}

/// A goal contract.
#[derive(Serialize)]
struct ContractView {
    newest_instruction: String,
    #[serde(flatten)]
    contract: GoalContract,
}

pub(super) fn run(context: &Context, event: &str) -> Outcome {
    let project = context.project()?.key().to_owned();
    let answer = context.read(async |store| {
        let event = find(store, event, &project).await?;
        let correction = correction_of(store, &event).await?;
        let contract = match store.session(&event.session_id).await? {
            Some(task) => {
                let reader = assembly::intent_reader();
                let active =
                    ActiveConstraints::load(store, reader, &task.state, Some(event.timestamp)).await?;
                Some(ContractView {
                    newest_instruction: active.contract.newest_instruction().to_owned(),
                    contract: active.contract,
                })
            }
            None => hook_contract(store, &event).await?,
        };
        Ok(Answer {
            allowed_by_user: consent_to(store, &event).await?,
            allow: suggestions(&event),
            drift_type: event.drift_score.map(|score| DriftType::of_score(score).as_str()),
            contract,
            correction: correction.as_ref().map(CorrectionView::from),
            event,
        })
    })?;
    context.answer(answer.ok_or_else(|| unknown(event))?, text)
}

/// Finds an event by its id, its step's id, or a unique part of one.
async fn find(store: &dyn StoreConnection, name: &str, project: &str) -> Result<DriftEvent, Failure> {
    match find_event(store, name, project).await? {
        Lookup::Found(event) => Ok(event),
        Lookup::NotFound => Err(unknown(name)),
        Lookup::Ambiguous(events) => {
            let ids = events.iter().map(|event| event.id.to_string());
            Err(Failure::ambiguous(name, "events", ids))
        }
    }
}

/// The contract of a session that hooks follow.
async fn hook_contract(
    store: &dyn StoreConnection,
    event: &DriftEvent,
) -> Result<Option<ContractView>, Failure> {
    let Some(id) = &event.client_session_id else {
        return Ok(None);
    };
    let Some(session) = store.hook_session_summary(id).await? else {
        return Ok(None);
    };
    let contract = session.contract.with_edits(&store.goal_edits(id).await?);
    Ok(Some(ContractView {
        newest_instruction: contract.newest_instruction().to_owned(),
        contract,
    }))
}

fn unknown(name: &str) -> Failure {
    Failure::negative("unknown_event", format!("no event {:?}", one_line(name)))
        .hint("`grov drift log` lists the events of this project")
}

/// Commands that would allow the action. Findings that are not about files have none.
fn suggestions(event: &DriftEvent) -> Vec<String> {
    let Some(session) = &event.client_session_id else {
        return Vec::new();
    };
    let findings = event.findings.iter();
    let findings = findings.filter(|finding| finding.rule != Rule::Repetition);
    let mut files: Vec<&str> = Vec::new();
    for file in findings.filter_map(|finding| finding.file.as_deref()) {
        if !files.contains(&file) && files.len() < MAX_SUGGESTIONS {
            files.push(file);
        }
    }
    let command = |file: &str| format!("grov goal allow {} --session {session}", shell_word(file));
    files.into_iter().map(command).collect()
}

fn text(answer: &Answer, style: Style) -> String {
    let event = &answer.event;
    let mut fields = Fields::new(10, MAX_LINE, style);
    fields.add("event", event.id.as_str());
    fields.add("when", &exact(event.timestamp, style));
    let session = event.client_session_id.as_ref().map(ClientSessionId::as_str);
    fields.add("session", session.unwrap_or(event.session_id.as_str()));
    let mut score = match event.drift_score {
        Some(score) => format!("{score} of 10 ({})", answer.drift_type.unwrap_or_default()),
        None => "unknown".to_owned(),
    };
    if let Some(by) = event.judged_by {
        score.push_str(&format!(", judged by {}", by.as_str()));
    }
    fields.add("score", &score);
    match &answer.contract {
        Some(contract) => add_contract(&mut fields, contract),
        None => fields.add("goal", "unknown: the session was deleted"),
    }
    for finding in &event.findings {
        let (rule, at_most) = (finding.rule.as_str(), finding.at_most);
        fields.add(
            "found",
            &format!("{rule} (score at most {at_most}): {}", finding.reason),
        );
    }
    if event.findings.is_empty()
        && let Some(reason) = &event.reason
    {
        fields.add("found", reason);
    }
    match (answer.allowed_by_user, event.outcome) {
        (Some(true), _) => fields.add("allowed", "the user said yes when the guard asked"),
        (Some(false), _) => fields.add("refused", "the user was asked by the guard, and it did not run"),
        (None, Some(StepOutcome::Denied)) => {
            fields.add(
                "denied",
                "the guard, a permission rule or the user refused it, and it did not run",
            );
        }
        (None, _) => {}
    }
    match event.outcome {
        Some(StepOutcome::Failed) => fields.add("result", "it failed"),
        Some(StepOutcome::Stopped) => fields.add("result", "it was interrupted"),
        Some(StepOutcome::Denied) | None => {}
    }
    match (&answer.correction, &event.correction_given) {
        (Some(correction), _) => {
            fields.add(
                "correction",
                &format!("{}: {}", correction.level, correction.reason),
            );
            fields.add("", &delivery(correction, SystemClock.now()));
            fields.add_all("  |", correction.text.lines());
        }
        (None, Some(given)) => {
            fields.add("correction", event.level.as_deref().unwrap_or("given"));
            fields.add_all("  |", given.lines());
        }
        (None, None) => fields.add("correction", "none"),
    }
    fields.add_all("recovery", &event.recovery_plan);
    fields.add_all("to allow", &answer.allow);
    if answer.allow.is_empty() {
        fields.add(
            "to allow",
            "request it in a prompt; requested changes are on goal",
        );
    }
    let heading = format!(
        "{} {}",
        event.action_type.map_or("action", ActionType::as_str),
        event.subject()
    );
    let heading = truncated(&one_line(&heading), MAX_LINE);
    format!("{}\n{}", style.bold(heading.trim_end()), fields.into_text())
}

fn add_contract(fields: &mut Fields, view: &ContractView) {
    let contract = &view.contract;
    match contract.goal.as_str() {
        "" => fields.add("goal", "unknown"),
        goal => fields.add("goal", goal),
    }
    if !view.newest_instruction.is_empty() {
        fields.add("asked last", &view.newest_instruction);
    }
    for (name, list) in [
        ("scope", &contract.scope),
        ("allowed", &contract.allowed),
        ("forbidden", &contract.forbidden),
        ("constraint", &contract.constraints),
    ] {
        if !list.is_empty() {
            fields.add(name, &list.join(", "));
        }
    }
}
