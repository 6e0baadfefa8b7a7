//! `grov drift explain EVENT`

use super::view::fate;
use crate::assembly::{self, CommandStore};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::moment;
use crate::table::{harmless, shortened};
use grov_domain::{Clock, DriftEvent, DriftType, GoalContract, Rule, SystemClock};
use grov_query::{ActiveConstraints, CorrectionView, EventView, Lookup, correction_of, find_event};
use serde::Serialize;
use std::fmt::Write;

/// Events that are listed where a name means several.
const LISTED: usize = 8;
/// Characters of one line.
const LINE: usize = 240;
/// Commands that are proposed.
const MOST_WAYS: usize = 3;

#[derive(Serialize)]
struct Answer {
    event: EventView,
    drift_type: Option<&'static str>,
    /// What the agent was held to then; `None` where the session is not kept any more.
    held_to: Option<HeldView>,
    /// What the agent was told because of it.
    correction: Option<CorrectionView>,
    /// Commands that would allow it.
    allow: Vec<String>,
}

/// What the agent was held to.
#[derive(Serialize)]
struct HeldView {
    goal: String,
    newest_instruction: String,
    scope: Vec<String>,
    allowed: Vec<String>,
    forbidden: Vec<String>,
    constraints: Vec<String>,
}

pub(super) fn run(context: &Context, event: &str, terminal: Terminal) -> Outcome {
    let wanted = event.to_owned();
    let answer = context
        .read(async |store| {
            let event = one(store, &wanted).await?;
            let correction = correction_of(store, &event).await?;
            let task = store.session(&event.session_id).await?;
            let held_to = match task {
                Some(task) => {
                    let constraints = ActiveConstraints::load(
                        store,
                        assembly::intent_reader(),
                        &task.state,
                        Some(event.timestamp),
                    )
                    .await?;
                    Some(HeldView::from(constraints.contract))
                }
                None => None,
            };
            Ok(Answer {
                allow: ways(&event),
                drift_type: event.drift_score.map(|score| DriftType::of_score(score).as_str()),
                held_to,
                correction: correction.as_ref().map(CorrectionView::from),
                event: EventView::from(event),
            })
        })?
        .ok_or_else(|| unknown(event))?;
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

impl From<GoalContract> for HeldView {
    fn from(contract: GoalContract) -> Self {
        Self {
            newest_instruction: contract.newest_instruction().to_owned(),
            goal: contract.goal,
            scope: contract.scope,
            allowed: contract.allowed,
            forbidden: contract.forbidden,
            constraints: contract.constraints,
        }
    }
}

/// The event that `name` means.
async fn one(store: &dyn CommandStore, name: &str) -> Result<DriftEvent, Failure> {
    match find_event(store, name).await? {
        Lookup::Found(event) => Ok(event),
        Lookup::NotFound => Err(unknown(name)),
        Lookup::Ambiguous(events) => {
            let ids: Vec<&str> = events
                .iter()
                .take(LISTED)
                .map(|event| event.id.as_str())
                .collect();
            let more = if events.len() > LISTED { "\n  …" } else { "" };
            let name = harmless(name);
            Err(Failure::usage(format!(
                "more than one event is meant by {name:?}:\n  {}{more}",
                ids.join("\n  ")
            )))
        }
    }
}

fn unknown(name: &str) -> Failure {
    Failure::negative(
        "unknown_event",
        format!("there is no event {:?}", harmless(name)),
        Some("`grov drift log` lists those of this project"),
    )
}

/// Commands that would allow what was done. What is no matter of files is allowed by asking the agent for it.
fn ways(event: &DriftEvent) -> Vec<String> {
    let Some(session) = &event.client_session_id else {
        return Vec::new();
    };
    let mut files: Vec<&str> = Vec::new();
    let told = event
        .findings
        .iter()
        .filter(|finding| finding.rule != Rule::Repetition)
        .filter_map(|finding| finding.file.as_deref());
    for file in told {
        if !files.contains(&file) && files.len() < MOST_WAYS {
            files.push(file);
        }
    }
    let way = |file: &str| format!("grov goal allow {} --session {session}", quoted(file));
    files.into_iter().map(way).collect()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@:%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let event = &answer.event;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: &str| {
        let _ = writeln!(text, "{name:<10} {}", shortened(&harmless(words), LINE));
    };
    line("event", &event.id);
    line("when", &moment(event.timestamp));
    line(
        "session",
        event.client_session_id.as_deref().unwrap_or(&event.session_id),
    );
    let score = event.drift_score.map_or_else(
        || "unknown".to_owned(),
        |score| format!("{score} of 10 ({})", answer.drift_type.unwrap_or_default()),
    );
    let by = event.judged_by.map(|by| format!(", judged by {by}"));
    line("score", &format!("{score}{}", by.unwrap_or_default()));
    match &answer.held_to {
        Some(constraints) => {
            line(
                "goal",
                if constraints.goal.is_empty() {
                    "not known"
                } else {
                    &constraints.goal
                },
            );
            if !constraints.newest_instruction.is_empty() {
                line("asked last", &constraints.newest_instruction);
            }
            for (name, list) in [
                ("scope", &constraints.scope),
                ("allowed", &constraints.allowed),
                ("forbidden", &constraints.forbidden),
                ("constraint", &constraints.constraints),
            ] {
                if !list.is_empty() {
                    line(name, &list.join(", "));
                }
            }
        }
        None => line("goal", "not known any more: the session is not kept"),
    }
    for finding in &event.findings {
        let words = format!(
            "{} (score at most {}): {}",
            finding.rule.as_str(),
            finding.at_most,
            finding.reason
        );
        line("found", &words);
    }
    if event.findings.is_empty()
        && let Some(reason) = &event.reason
    {
        line("found", reason);
    }
    match (&answer.correction, &event.correction_given) {
        (Some(correction), _) => {
            line("told", &format!("{}: {}", correction.level, correction.reason));
            line("", &fate(correction, SystemClock.now()));
            correction.text.lines().for_each(|words| line("  |", words));
        }
        (None, Some(given)) => {
            line("told", event.level.as_deref().unwrap_or("a correction"));
            given.lines().for_each(|words| line("  |", words));
        }
        (None, None) => line("told", "nothing"),
    }
    for step in &event.recovery_plan {
        line("way back", step);
    }
    for way in &answer.allow {
        line("allow it", way);
    }
    if answer.allow.is_empty() {
        line(
            "allow it",
            "ask the agent for it: what a prompt asks for is on goal",
        );
    }
    let action = event.action_type.unwrap_or("action");
    let heading = shortened(&harmless(&format!("{action} {}", event.subject())), LINE);
    format!("{}\n{text}", style.bold(heading.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposed_command_survives_the_shell() {
        assert_eq!(quoted("src/a-b.rs"), "src/a-b.rs");
        assert_eq!(quoted("my file's.rs"), r"'my file'\''s.rs'");
        assert_eq!(quoted("src/**"), "'src/**'");
        assert_eq!(quoted(""), "''");
    }
}
