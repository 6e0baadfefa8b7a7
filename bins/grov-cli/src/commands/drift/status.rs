//! `grov drift status`

use super::format::{delivery, sparkline};
use crate::assembly;
use crate::context::Context;
use crate::format::{plural, when};
use crate::output::{Outcome, Style, note};
use crate::session;
use crate::table::{Fields, one_line, truncated};
use grov_domain::{Clock, SystemClock};
use grov_query::{DriftStatusView, SelectedSession, active_sessions, drift_status};
use serde::Serialize;
use time::OffsetDateTime;

/// Maximum characters of a line.
const MAX_LINE: usize = 120;

#[derive(Serialize)]
struct Answer {
    project_path: String,
    sessions: Vec<DriftStatusView>,
}

pub(super) fn run(context: &Context, session: Option<&str>) -> Outcome {
    let project_path = context.project()?.key().to_owned();
    let sessions = context.read(async |store| {
        let sessions = match session {
            Some(_) => vec![session::resolve(store, session, &project_path).await?],
            None => active_sessions(store, &project_path).await?,
        };
        let mut views = Vec::new();
        for task in sessions.iter().filter_map(SelectedSession::task) {
            views.push(drift_status(store, assembly::intent_reader(), task).await?);
        }
        Ok(views)
    })?;
    let sessions = match (sessions, session) {
        (None, Some(_)) => return Err(session::not_found(session)),
        (sessions, _) => sessions.unwrap_or_default(),
    };
    if sessions.is_empty() {
        note!("this project has no active session");
    }
    let answer = Answer {
        project_path,
        sessions,
    };
    context.answer(answer, |answer, style| {
        let now = SystemClock.now();
        let sessions = answer.sessions.iter().map(|session| text(session, now, style));
        sessions.collect::<Vec<_>>().join("\n")
    })
}

fn text(session: &DriftStatusView, now: OffsetDateTime, style: Style) -> String {
    let mode = match session.session_mode {
        "normal" => style.green("normal"),
        other => style.red(other),
    };
    let id = style.bold(&style.id(&one_line(&session.client_session_id)));
    let mut heading = format!("session {id} ({}): {mode}", when(session.last_update, style));
    if session.escalation > 0 {
        heading.push_str(&format!(", escalation {} of 3", session.escalation));
    }
    if session.failed_recoveries > 0 {
        let failed = plural(session.failed_recoveries.into(), "correction", "corrections");
        heading.push_str(&format!(", {failed} not followed"));
    }
    let mut fields = Fields::new(12, usize::MAX, style);
    let short = |value: &str| truncated(&one_line(value), MAX_LINE);
    match session.goal.as_str() {
        "" => fields.add("  goal", "unknown"),
        goal => fields.add("  goal", &short(goal)),
    }
    if !session.scores.is_empty() {
        fields.add_styled("  scores", &sparkline(&session.scores, style));
    }
    if let Some(correction) = &session.correction {
        let reason = short(&correction.reason);
        fields.add("  correction", &format!("{}: {reason}", correction.level));
        fields.add("", &delivery(correction, now));
    }
    if let Some(awaited) = &session.awaited {
        fields.add("  expected", &short(awaited));
    }
    let counts = &session.counts;
    let mut summary = format!(
        "{}, {} judged, {}, {}",
        plural(counts.actions as u64, "action", "actions"),
        counts.judged,
        plural(counts.drifts as u64, "drift", "drifts"),
        plural(counts.doubts as u64, "doubt", "doubts"),
    );
    if counts.corrections > 0 {
        summary.push_str(&format!(
            "; {}, {} delivered, {} followed, {} ignored",
            plural(counts.corrections as u64, "correction", "corrections"),
            counts.delivered,
            counts.followed,
            counts.ignored
        ));
    }
    fields.add("  counts", &summary);
    format!("{heading}\n{}", fields.into_text())
}
