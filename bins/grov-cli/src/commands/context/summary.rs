//! `grov context summary`: what stands in the place of a history if it is cleared.

use super::resolve;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome};
use crate::session::not_found;
use grov_context::{SessionPoints, render};
use grov_domain::{
    ClientSessionId, Clock, JudgedBy, Redacted, StoreConnection, SystemClock, estimated_tokens,
};
use grov_drift::session_points;
use serde::Serialize;
use time::OffsetDateTime;

#[derive(Serialize)]
struct Answer {
    session_id: String,
    /// Whether it was prepared in the background, or written now.
    prepared: bool,
    by: JudgedBy,
    #[serde(with = "time::serde::rfc3339")]
    made_at: OffsetDateTime,
    tokens: usize,
    summary: Redacted<SessionPoints>,
    text: Redacted,
}

struct Found {
    points: SessionPoints,
    prepared: bool,
    by: JudgedBy,
    made_at: OffsetDateTime,
}

pub(super) fn run(context: &Context, session: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let found = context.read(async |store| {
        let id = resolve(store, session, &project).await?;
        let found = find(store, &id).await?;
        Ok((id, found))
    })?;
    let Some((id, found)) = found else {
        return Err(not_found(session));
    };
    let nothing = || Failure::negative("no_summary", "the session has no goal and no work yet");
    let found = found.ok_or_else(nothing)?;
    let points = Redacted::of(&found.points);
    let text = render(&points).ok_or_else(nothing)?;
    let answer = Answer {
        session_id: id.to_string(),
        prepared: found.prepared,
        by: found.by,
        made_at: found.made_at,
        tokens: estimated_tokens(&text),
        summary: points,
        text,
    };
    context.answer(answer, |answer, _| format!("{}\n", answer.text))?;
    Ok(ExitStatus::Success)
}

/// The summary that was prepared and still fits, or one by rules.
async fn find(store: &dyn StoreConnection, id: &ClientSessionId) -> Result<Option<Found>, Failure> {
    let current = session_points(store, id).await?;
    let prepared = store.prepared_summary(id).await?;
    if let Some(prepared) = prepared
        && let Some(points) = prepared
            .points
            .and_then(|json| serde_json::from_str::<SessionPoints>(&json).ok())
        && current.as_ref().is_none_or(|current| current.goal == points.goal)
    {
        return Ok(Some(Found {
            points,
            prepared: true,
            by: prepared.written_by,
            made_at: prepared.made_at,
        }));
    }
    Ok(current.map(|points| Found {
        points,
        prepared: false,
        by: JudgedBy::Rules,
        made_at: SystemClock.now(),
    }))
}
