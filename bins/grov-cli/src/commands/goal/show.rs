//! `grov goal show`

use crate::assembly;
use crate::chosen::{self, chosen};
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::ago;
use crate::table::{harmless, shortened};
use grov_domain::{Clock, GoalEditKind, SessionState, SystemClock};
use grov_hook_path::Held;
use serde::Serialize;
use std::fmt::Write;
use time::OffsetDateTime;

/// Characters of one line.
const LINE: usize = 160;

/// What the agent is held to.
#[derive(Serialize)]
struct Answer {
    session_id: String,
    client_session_id: String,
    project_path: String,
    session_mode: &'static str,
    status: &'static str,
    goal: String,
    newest_instruction: String,
    instructions: Vec<String>,
    scope: Vec<String>,
    allowed: Vec<String>,
    forbidden: Vec<String>,
    constraints: Vec<String>,
    keywords: Vec<String>,
    /// All of these but the instructions, each with where it comes from.
    origins: Vec<OriginView>,
}

/// Where a part of the contract comes from.
#[derive(Serialize)]
struct OriginView {
    /// `goal`, `scope`, `allowed`, `forbidden`, `constraint` or `keyword`.
    part: &'static str,
    text: String,
    /// `task`: understood from what the user typed; `you`: by `grov goal`.
    from: &'static str,
    #[serde(with = "time::serde::rfc3339")]
    at: OffsetDateTime,
}

pub(super) fn run(context: &Context, session: Option<&str>, terminal: Terminal) -> Outcome {
    let wanted = session.map(str::to_owned);
    let project = context.project()?.key().to_owned();
    let answer = context
        .read(async |store| {
            let chosen = chosen(store, wanted.as_deref(), &project).await?;
            let task = chosen.task().ok_or_else(|| chosen::none(wanted.as_deref()))?;
            let held = Held::of(store, assembly::intent_reader(), task, None).await?;
            Ok(answer(task, &held))
        })?
        .ok_or_else(|| chosen::none(session))?;
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

fn answer(task: &SessionState, held: &Held) -> Answer {
    let contract = &held.contract;
    let origin = |part, kind: Option<GoalEditKind>, text: &str| {
        let edit = kind.and_then(|kind| held.edit(kind, text));
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
    Answer {
        session_id: task.session_id.to_string(),
        client_session_id: task.client_session_id.to_string(),
        project_path: task.project_path.clone(),
        session_mode: task.session_mode.as_str(),
        status: task.status.as_str(),
        goal: contract.goal.clone(),
        newest_instruction: contract.newest_instruction().to_owned(),
        instructions: contract.instructions.clone(),
        scope: contract.scope.clone(),
        allowed: contract.allowed.clone(),
        forbidden: contract.forbidden.clone(),
        constraints: contract.constraints.clone(),
        keywords: contract.keywords.clone(),
        origins,
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let now = SystemClock.now();
    let mut text = format!(
        "{}\n",
        style.faint(&format!(
            "session {} ({}, {})",
            harmless(&answer.client_session_id),
            answer.status,
            answer.session_mode
        ))
    );
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: &str, from: &str| {
        let words = shortened(&harmless(words), LINE);
        let _ = writeln!(text, "{name:<11} {words}  {}", style.faint(from));
    };
    if answer.goal.is_empty() {
        line("goal", "not known yet", "`grov goal set TEXT` says it");
    }
    let keywords: Vec<&str> = answer.keywords.iter().map(String::as_str).collect();
    for origin in answer.origins.iter().filter(|origin| origin.part != "keyword") {
        let from = format!("{}, {}", origin.from, ago(origin.at, now));
        line(origin.part, &origin.text, &from);
        if origin.part == "goal" && !answer.newest_instruction.is_empty() {
            line("asked last", &answer.newest_instruction, "");
        }
    }
    if !keywords.is_empty() {
        line("keywords", &keywords.join(", "), "task");
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}
