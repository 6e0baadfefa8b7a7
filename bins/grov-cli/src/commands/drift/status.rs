//! `grov drift status`

use super::view::{fate, picture};
use crate::assembly;
use crate::chosen::chosen;
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::{ago, some};
use crate::table::{harmless, shortened};
use grov_domain::{Clock, SystemClock};
use grov_query::{DriftStatusView, SelectedSession, active_sessions, drift_status};
use serde::Serialize;
use std::fmt::Write;
use time::OffsetDateTime;

/// Characters of one line.
const LINE: usize = 120;

#[derive(Serialize)]
struct Answer {
    project_path: String,
    sessions: Vec<DriftStatusView>,
}

pub(super) fn run(context: &Context, session: Option<&str>, terminal: Terminal) -> Outcome {
    let project_path = context.project()?.key().to_owned();
    let (project, wanted) = (project_path.clone(), session.map(str::to_owned));
    let sessions = context.read(async |store| {
        let sessions = match &wanted {
            Some(wanted) => vec![chosen(store, Some(wanted), &project).await?],
            None => active_sessions(store, &project).await?,
        };
        let mut standings = Vec::new();
        for task in sessions.iter().filter_map(SelectedSession::task) {
            standings.push(drift_status(store, assembly::intent_reader(), task).await?);
        }
        Ok(standings)
    })?;
    let sessions = match (sessions, session) {
        (Some(sessions), _) => sessions,
        (None, Some(session)) => return Err(crate::chosen::none(Some(session))),
        (None, None) => Vec::new(),
    };
    if sessions.is_empty() {
        say("this project has no active session");
    }
    let answer = Answer {
        project_path,
        sessions,
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

fn text(answer: &Answer, style: Style) -> String {
    let now = SystemClock.now();
    let sessions = answer.sessions.iter();
    sessions
        .map(|session| one(session, now, style))
        .collect::<Vec<_>>()
        .join("\n")
}

fn one(session: &DriftStatusView, now: OffsetDateTime, style: Style) -> String {
    let mode = match session.session_mode {
        "normal" => style.green("normal"),
        other => style.red(other),
    };
    let mut text = format!(
        "session {} ({}): {mode}",
        style.bold(&harmless(&session.client_session_id)),
        ago(session.last_update, now)
    );
    if session.escalation > 0 {
        text.push_str(&format!(", escalation {} of 3", session.escalation));
    }
    if session.failed_recoveries > 0 {
        let failed = some(session.failed_recoveries.into(), "correction", "corrections");
        text.push_str(&format!(", {failed} not followed"));
    }
    text.push('\n');
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: &str| {
        let _ = writeln!(text, "  {name:<8} {words}");
    };
    let shown = |words: &str| shortened(&harmless(words), LINE);
    match session.goal.as_str() {
        "" => line("goal", "not known yet"),
        goal => line("goal", &shown(goal)),
    }
    if !session.scores.is_empty() {
        line("scores", &picture(&session.scores, style));
    }
    if let Some(correction) = &session.correction {
        line(
            "told",
            &format!("{}: {}", correction.level, shown(&correction.reason)),
        );
        line("", &fate(correction, now));
    }
    if let Some(awaited) = &session.awaited {
        line("awaited", &shown(awaited));
    }
    let counts = &session.counts;
    let actions = some(counts.actions as u64, "action", "actions");
    let mut words = format!(
        "{actions}, {} judged, {} off goal",
        counts.judged, counts.off_goal
    );
    if counts.corrections > 0 {
        let corrections = some(counts.corrections as u64, "correction", "corrections");
        words.push_str(&format!(
            "; {corrections}, {} said, {} followed, {} ignored",
            counts.delivered, counts.followed, counts.ignored
        ));
    }
    line("counts", &words);
    text
}
