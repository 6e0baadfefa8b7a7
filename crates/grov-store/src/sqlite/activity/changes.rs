//! Recent changes, read by row number where rows have one and by time where they have none.
//!
//! Rows are written up to a second after they happen, or later if the store was unavailable, and the newest row number may
//! be used again once its row was removed. Each read therefore begins somewhat earlier than the last one ended.

use super::tokens;
use crate::sqlite::columns::{RowExt, params};
use crate::sqlite::hooks::{hook_step, session as hook_session};
use crate::sqlite::sessions::{step, step_columns};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{Change, ChangeCursor, ChangeKind, OFF_GOAL_BELOW};
use sqlx::sqlite::SqliteRow;
use time::{Duration, OffsetDateTime};

/// Row numbers that are read again.
const OVERLAP_ROWS: i64 = 64;
/// Time that is read again.
const OVERLAP: Duration = Duration::seconds(30);

/// The newest requests of a task that are read, less one.
const MAX_REQUESTS: i64 = 499;

const STEPS: &str = concat!(
    "SELECT st.rowid AS number, s.client_session_id AS client, ",
    step_columns!(),
    " FROM steps st JOIN session_states s ON s.session_id = st.session_id WHERE st.rowid > ? ORDER BY st.rowid"
);

/// The cursor from which everything that happened at or after a time is read.
pub(super) async fn cursor(store: &SqliteStore, from: OffsetDateTime) -> Result<ChangeCursor, StoreError> {
    // From the end, where rows are newest: a few are read, whatever the size of the table.
    let sql = "SELECT \
         coalesce((SELECT rowid FROM prompts WHERE at < ?1 ORDER BY rowid DESC LIMIT 1), 0) AS prompts, \
         coalesce((SELECT rowid FROM steps WHERE timestamp < ?1 ORDER BY rowid DESC LIMIT 1), 0) AS steps, \
         coalesce((SELECT rowid FROM drift_log WHERE timestamp < ?1 ORDER BY rowid DESC LIMIT 1), 0) AS findings, \
         coalesce((SELECT number FROM hook_steps WHERE timestamp < ?1 ORDER BY number DESC LIMIT 1), 0) AS hook_steps";
    let read = |row: &SqliteRow| {
        Ok(ChangeCursor {
            prompts: row.read("prompts")?,
            steps: row.read("steps")?,
            findings: row.read("findings")?,
            hook_steps: row.read("hook_steps")?,
            at: from,
        })
    };
    let cursor = store.read(sql, params![from], read).await?.pop();
    Ok(cursor.unwrap_or(ChangeCursor {
        prompts: 0,
        steps: 0,
        findings: 0,
        hook_steps: 0,
        at: from,
    }))
}

/// A change with the number of its row.
type Numbered = (i64, Vec<Change>);

/// What was recorded since a cursor, and the new cursor.
pub(super) async fn since(
    store: &SqliteStore,
    since: &ChangeCursor,
) -> Result<(Vec<Change>, ChangeCursor), StoreError> {
    let mut next = *since;
    let mut all = Vec::new();
    let prompts = "SELECT rowid AS number, * FROM prompts WHERE rowid > ? ORDER BY rowid";
    let findings = "SELECT rowid AS number, * FROM drift_log WHERE rowid > ? AND client_session_id IS NOT NULL \
         ORDER BY rowid";
    let hook_steps = "SELECT * FROM hook_steps WHERE number > ? ORDER BY number";
    let after = |number: i64| params![number.saturating_sub(OVERLAP_ROWS)];
    let mut add = |read: Vec<Numbered>, newest: &mut i64| {
        for (number, changes) in read {
            *newest = number.max(*newest);
            all.extend(changes);
        }
    };
    add(
        store.read(prompts, after(since.prompts), prompt).await?,
        &mut next.prompts,
    );
    add(
        store.read(STEPS, after(since.steps), proxy_step).await?,
        &mut next.steps,
    );
    add(
        store.read(findings, after(since.findings), finding).await?,
        &mut next.findings,
    );
    add(
        store
            .read(hook_steps, after(since.hook_steps), hooked_step)
            .await?,
        &mut next.hook_steps,
    );
    let from = since.at - OVERLAP;
    // The sessions are few: those with activity since then. Of each, only the newest requests can have ended since.
    let usage = "SELECT s.client_session_id, e.* FROM session_states s CROSS JOIN exchanges e ON e.session_id = s.session_id \
         AND e.id >= coalesce((SELECT id FROM exchanges WHERE session_id = s.session_id ORDER BY id DESC LIMIT 1 OFFSET ?2), '') \
         WHERE s.last_update >= ?1 AND e.ended_at >= ?1 AND e.moved_to IS NULL ORDER BY e.ended_at";
    let blocks = "SELECT l.client_session_id, hex(e.anchor) AS anchor, e.block, e.decided_at FROM ledger_lineages l \
         JOIN ledger_entries e ON e.lineage = l.id \
         WHERE l.seen_at >= ?1 AND e.decided_at >= ?1 AND e.block IS NOT NULL ORDER BY e.decided_at";
    let corrections = "SELECT c.* FROM hook_sessions h JOIN hook_checks c ON c.client_session_id = h.client_session_id \
         WHERE h.updated_at >= ?1 AND c.at >= ?1 AND c.correction IS NOT NULL ORDER BY c.at";
    let sessions = "SELECT * FROM hook_sessions WHERE updated_at >= ?1 ORDER BY updated_at";
    all.extend(store.read(usage, params![from, MAX_REQUESTS], response).await?);
    all.extend(store.read(blocks, params![from], block).await?);
    all.extend(store.read(corrections, params![from], correction).await?);
    let of_sessions = store.read(sessions, params![from], hooked_session).await?;
    all.extend(of_sessions.into_iter().flatten());
    all.sort_by(|one, other| (one.at, &one.key).cmp(&(other.at, &other.key)));
    let newest = all.last().map(|change| change.at);
    next.at = newest.map_or(since.at, |newest| newest.max(since.at));
    Ok((all, next))
}

fn prompt(row: &SqliteRow) -> Result<Numbered, StoreError> {
    let (exchange, ordinal): (String, i64) = (row.read("exchange_id")?, row.read("ordinal")?);
    let change = Change {
        key: format!("prompt {exchange} {ordinal}"),
        client_session_id: row.read("client_session_id")?,
        at: row.read("at")?,
        kind: ChangeKind::Prompt {
            text: row.read("text")?,
        },
    };
    Ok((row.read("number")?, vec![change]))
}

fn proxy_step(row: &SqliteRow) -> Result<Numbered, StoreError> {
    let step = step(row)?;
    let change = Change {
        key: format!("step {}", step.id),
        client_session_id: row.read("client")?,
        at: step.timestamp,
        kind: ChangeKind::Action(Box::new(step)),
    };
    Ok((row.read("number")?, vec![change]))
}

fn finding(row: &SqliteRow) -> Result<Numbered, StoreError> {
    let id: String = row.read("id")?;
    let (command, files): (Option<String>, Vec<String>) = (row.read("command")?, row.read("files")?);
    let change = Change {
        key: format!("finding {id}"),
        client_session_id: row.read("client_session_id")?,
        at: row.read("timestamp")?,
        kind: ChangeKind::Finding {
            subject: command.unwrap_or_else(|| files.join(" ")),
            score: row.read("drift_score")?,
            findings: row.read("findings")?,
        },
    };
    Ok((row.read("number")?, vec![change]))
}

fn hooked_step(row: &SqliteRow) -> Result<Numbered, StoreError> {
    let client_session_id = row.read("client_session_id")?;
    let step = hook_step(row)?;
    let mut changes = Vec::with_capacity(2);
    let off_goal = step.score.is_some_and(|score| score < OFF_GOAL_BELOW);
    let (id, at) = (step.id.clone(), step.timestamp);
    let (score, findings) = (step.score, step.findings.clone());
    let row_of_step = step.into_row(&client_session_id);
    let subject = row_of_step.subject();
    let change = |key, kind| Change {
        key,
        client_session_id: client_session_id.clone(),
        at,
        kind,
    };
    changes.push(change(
        format!("step {id}"),
        ChangeKind::Action(Box::new(row_of_step)),
    ));
    if off_goal {
        let kind = ChangeKind::Finding {
            subject,
            score,
            findings,
        };
        changes.push(change(format!("finding {id}"), kind));
    }
    Ok((row.read("number")?, changes))
}

fn response(row: &SqliteRow) -> Result<Change, StoreError> {
    let id: String = row.read("id")?;
    Ok(Change {
        key: format!("usage {id}"),
        client_session_id: row.read("client_session_id")?,
        at: row.read("ended_at")?,
        kind: ChangeKind::Usage {
            kind: row.read("kind")?,
            agent_id: row.read("agent_id")?,
            model: row.read("model")?,
            tokens: tokens(row)?,
        },
    })
}

fn block(row: &SqliteRow) -> Result<Change, StoreError> {
    let client_session_id = row.read("client_session_id")?;
    let anchor: String = row.read("anchor")?;
    Ok(Change {
        key: format!("block {client_session_id} {anchor}"),
        client_session_id,
        at: row.read("decided_at")?,
        kind: ChangeKind::Injection {
            level: None,
            text: row.read("block")?,
        },
    })
}

fn correction(row: &SqliteRow) -> Result<Change, StoreError> {
    let id: String = row.read("id")?;
    let client_session_id = row.read("client_session_id")?;
    Ok(Change {
        key: format!("check {client_session_id} {id}"),
        client_session_id,
        at: row.read("at")?,
        kind: ChangeKind::Injection {
            level: row.read("level")?,
            text: row.read("correction")?,
        },
    })
}

/// What the row of a session tells: the prompt of the turn that runs, and that memories were given to the agent.
fn hooked_session(row: &SqliteRow) -> Result<Vec<Change>, StoreError> {
    let session = hook_session(row)?;
    let id = &session.client_session_id;
    let waiting = session.waiting.last().map(|prompt| prompt.text.as_str());
    let text = waiting.unwrap_or(session.contract.newest_instruction());
    let mut changes = Vec::new();
    let mut add = |key, kind| {
        changes.push(Change {
            key,
            client_session_id: id.clone(),
            at: session.updated_at,
            kind,
        });
    };
    if session.turn_ended_at.is_none() && !text.is_empty() {
        let text = text.to_owned();
        add(
            format!("prompt {id} {}", session.prompts),
            ChangeKind::Prompt { text },
        );
    }
    if session.memories_injected > 0 {
        let total = session.memories_injected;
        add(format!("memories {id} {total}"), ChangeKind::Memories { total });
    }
    Ok(changes)
}
