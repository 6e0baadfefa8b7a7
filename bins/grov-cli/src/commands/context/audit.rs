//! `grov context audit`: what the client's newest compaction kept and lost, and what the agent was given again.

use super::resolve;
use crate::context::Context;
use crate::format::{ago, count, plural};
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::session::not_found;
use crate::table::{Fields, one_line, truncated};
use crate::transcript;
use grov_context::{Retention, SessionPoints};
use grov_domain::{
    ClientSessionId, Clock, Compaction, SessionPoint, StoreConnection, StoreError, SystemClock,
};
use grov_query::read_window;
use serde::Serialize;
use time::OffsetDateTime;

/// Maximum characters of a point.
const MAX_LINE: usize = 110;

#[derive(Default, Serialize)]
struct Answer {
    session_id: String,
    /// Whether the client's summary was compared.
    compared: bool,
    tokens_before: Option<u64>,
    kept: Vec<SessionPoint>,
    lost: Vec<SessionPoint>,
    restored: Vec<SessionPoint>,
    #[serde(with = "time::serde::rfc3339::option")]
    at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    restored_at: Option<OffsetDateTime>,
}

pub(super) fn run(context: &Context, session: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let found = context.read(async |store| {
        let id = resolve(store, session, &project).await?;
        let newest = store.compactions(&id, 1).await?.into_iter().next();
        let newest = match newest {
            Some(newest) if !newest.is_compared => Some(compare(store, newest).await?),
            newest => newest,
        };
        Ok((id, newest))
    })?;
    let Some((id, newest)) = found else {
        return Err(not_found(session));
    };
    let status = ExitStatus::success_if(newest.is_some());
    if newest.is_none() {
        note!("the client compacted no history of this session");
    }
    context.answer(answer(&id, newest), text)?;
    Ok(status)
}

/// Compares points that were given back before the client wrote its summary, which is in the transcript now.
async fn compare(store: &dyn StoreConnection, mut compaction: Compaction) -> Result<Compaction, StoreError> {
    let stored = store.hook_session_summary(&compaction.client_session_id).await?;
    let summary = stored
        .and_then(|stored| stored.transcript_path)
        .and_then(|path| transcript::open(&path))
        .and_then(read_window)
        .and_then(|read| read.summary);
    let Some(summary) = summary else {
        return Ok(compaction);
    };
    let points = SessionPoints::of_list(&compaction.lost);
    let retention = Retention::of(&points, &summary);
    compaction.restored.retain(|point| retention.lost.contains(point));
    compaction.is_compared = true;
    compaction.kept = retention.kept;
    compaction.lost = retention.lost;
    Ok(compaction)
}

fn answer(id: &ClientSessionId, newest: Option<Compaction>) -> Answer {
    let session_id = id.to_string();
    match newest {
        None => Answer {
            session_id,
            ..Answer::default()
        },
        Some(found) => Answer {
            session_id,
            compared: found.is_compared,
            tokens_before: found.tokens_before,
            kept: found.kept,
            lost: found.lost,
            restored: found.restored,
            at: Some(found.at),
            restored_at: found.restored_at,
        },
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let Some(at) = answer.at else {
        return String::new();
    };
    let now = SystemClock.now();
    let mut fields = Fields::new(10, usize::MAX, style);
    let before = match answer.tokens_before {
        Some(tokens) => format!(", {} tokens before", count(tokens)),
        None => String::new(),
    };
    fields.add("compacted", &format!("{}{before}", ago(at, now)));
    let total = (answer.kept.len() + answer.lost.len()) as u64;
    let points = plural(total, "point", "points");
    if answer.compared {
        let kept = answer.kept.len();
        fields.add("summary", &format!("kept {kept} of {points}"));
    } else {
        fields.add("summary", "not found, so all points count as lost");
    }
    match answer.restored_at {
        Some(given) if !answer.restored.is_empty() => {
            let restored = answer.restored.len();
            fields.add("restored", &format!("{restored}, {}", ago(given, now)));
        }
        _ if answer.lost.is_empty() => fields.add("restored", "nothing, because nothing was lost"),
        _ => fields.add("restored", "nothing yet; the next request gets it"),
    }
    let mut text = fields.into_text();
    for (name, points) in [("kept", &answer.kept), ("lost", &answer.lost)] {
        for point in points {
            let again = name == "lost" && answer.restored.contains(point);
            let state = if again { "restored" } else { name };
            let state = match state {
                "lost" => style.red("lost    "),
                "restored" => style.bold("restored"),
                _ => style.green("kept    "),
            };
            let line = truncated(&one_line(&point.text), MAX_LINE);
            text.push_str(&format!("  {state}  {:10}  {line}\n", point.kind.as_str()));
        }
    }
    text
}
