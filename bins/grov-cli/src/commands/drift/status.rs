//! `grov drift status`

use super::view::{CorrectionView, picture, way};
use crate::assembly::{self, CommandStore};
use crate::chosen::{Chosen, chosen};
use crate::context::Context;
use crate::hooked;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::{ago, some};
use crate::table::{harmless, shortened};
use grov_domain::{
    ClientSessionId, Clock, Correction, CorrectionOutcome, DriftFilter, DriftState, OFF_GOAL_BELOW,
    SessionFilter, SessionMode, SessionState, SessionStatus, SystemClock,
};
use grov_hook_path::Held;
use serde::Serialize;
use std::fmt::Write;
use time::OffsetDateTime;

/// So many of the last scores are shown.
const LAST: usize = 20;
/// Sessions that hooks alone know, the newest.
const MOST_HOOKED: u32 = 20;
/// Characters of one line.
const LINE: usize = 120;

#[derive(Serialize)]
struct Answer {
    project_path: String,
    sessions: Vec<StandingView>,
}

/// Where a session stands.
#[derive(Serialize)]
struct StandingView {
    client_session_id: String,
    /// The task in work.
    session_id: String,
    goal: String,
    session_mode: &'static str,
    /// 0 to 3.
    escalation: u8,
    /// Corrections since it drifted that were not followed.
    failed_recoveries: u8,
    /// The step back that is waited for.
    awaited: Option<String>,
    /// The newest one.
    correction: Option<CorrectionView>,
    /// Of the last actions, oldest first; `null` where nobody judged.
    scores: Vec<Option<u8>>,
    counts: Counts,
    #[serde(with = "time::serde::rfc3339")]
    last_update: OffsetDateTime,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    actions: usize,
    judged: usize,
    off_goal: usize,
    corrections: usize,
    delivered: usize,
    followed: usize,
    ignored: usize,
    overtaken: usize,
}

pub(super) fn run(context: &Context, session: Option<&str>, terminal: Terminal) -> Outcome {
    let project_path = context.project()?.key().to_owned();
    let (project, wanted) = (project_path.clone(), session.map(str::to_owned));
    let sessions = context.read(async |store| {
        let mut standings = Vec::new();
        for chosen in sessions(store, wanted.as_deref(), &project).await? {
            if let Some(task) = chosen.task() {
                standings.push(standing(store, task).await?);
            }
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

/// The session that was asked for, or those of the project that are active, newest first.
async fn sessions(
    store: &dyn CommandStore,
    wanted: Option<&str>,
    project: &str,
) -> Result<Vec<Chosen>, crate::failure::Failure> {
    if wanted.is_some() {
        return Ok(vec![chosen(store, wanted, project).await?]);
    }
    let filter = SessionFilter {
        project_path: Some(project.to_owned()),
        status: Some(SessionStatus::Active),
        ..SessionFilter::default()
    };
    let mut ids: Vec<ClientSessionId> = Vec::new();
    for summary in store.sessions(&filter).await? {
        if !ids.contains(&summary.state.client_session_id) {
            ids.push(summary.state.client_session_id);
        }
    }
    let mut all = Vec::with_capacity(ids.len());
    for id in ids {
        all.push(chosen(store, Some(id.as_str()), project).await?);
    }
    let hooked = store.hook_sessions(project, MOST_HOOKED).await?;
    let active = hooked.iter().filter(|session| session.ended_at.is_none());
    all.extend(active.map(Chosen::hooked));
    Ok(all)
}

async fn standing(
    store: &dyn CommandStore,
    task: &SessionState,
) -> Result<StandingView, crate::failure::Failure> {
    let id = &task.client_session_id;
    let state = store.drift_state(id).await?;
    let mut corrections = store.corrections(id).await?;
    corrections.extend(hooked::corrections(id, &store.hook_checks(id).await?));
    let filter = DriftFilter {
        client_session_id: Some(id.clone()),
        ..DriftFilter::default()
    };
    let found = store.hook_steps(id).await?.into_iter();
    let found = found.map(|step| (step.timestamp, step.id.to_string(), step.score));
    let steps = store.client_steps(id).await?.into_iter();
    let events = store.drift_events(&filter).await?.into_iter();
    let steps = steps.map(|step| (step.timestamp, step.id.to_string(), step.drift_score));
    let events = events.map(|event| {
        let id = event
            .step_id
            .map_or_else(|| event.id.to_string(), |id| id.to_string());
        (event.timestamp, id, event.drift_score)
    });
    // Actions of one response have one time, and ids in their order.
    let mut scores: Vec<(OffsetDateTime, String, Option<u8>)> = steps.chain(events).chain(found).collect();
    scores.sort();
    let scores: Vec<Option<u8>> = scores.into_iter().map(|(.., score)| score).collect();
    let held = Held::of(store, assembly::intent_reader(), task, None).await?;
    let state = state.unwrap_or_else(|| DriftState {
        mode: task.session_mode,
        escalation: u8::try_from(task.escalation_count).unwrap_or(u8::MAX),
        ..DriftState::new(id.clone(), task.last_update)
    });
    Ok(StandingView {
        client_session_id: id.to_string(),
        session_id: task.session_id.to_string(),
        goal: held.contract.goal,
        session_mode: state.mode.as_str(),
        escalation: state.escalation,
        failed_recoveries: state.failed_recoveries,
        awaited: awaited(&state),
        correction: corrections.last().map(CorrectionView::from),
        counts: counts(&scores, &corrections),
        scores: scores[scores.len().saturating_sub(LAST)..].to_vec(),
        last_update: task.last_update,
    })
}

/// The first step of a way back that was told and is not followed yet.
fn awaited(state: &DriftState) -> Option<String> {
    let correction = state.correction.as_ref()?;
    let is_told = state.mode != SessionMode::Normal && correction.delivered_at.is_some();
    let first = correction.recovery_plan.first()?;
    (is_told && correction.outcome.is_none()).then(|| way(first))
}

fn counts(scores: &[Option<u8>], corrections: &[Correction]) -> Counts {
    let judged = || scores.iter().flatten();
    let of = |outcome| {
        let had = corrections
            .iter()
            .filter(|correction| correction.outcome == Some(outcome));
        had.count()
    };
    Counts {
        actions: scores.len(),
        judged: judged().count(),
        off_goal: judged().filter(|score| **score < OFF_GOAL_BELOW).count(),
        corrections: corrections.len(),
        delivered: corrections
            .iter()
            .filter(|correction| correction.delivered_at.is_some())
            .count(),
        followed: of(CorrectionOutcome::Followed),
        ignored: of(CorrectionOutcome::Ignored),
        overtaken: of(CorrectionOutcome::Overtaken),
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let now = SystemClock.now();
    let sessions = answer.sessions.iter();
    sessions
        .map(|session| one(session, now, style))
        .collect::<Vec<_>>()
        .join("\n")
}

fn one(session: &StandingView, now: OffsetDateTime, style: Style) -> String {
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
        line("", &correction.fate(now));
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
