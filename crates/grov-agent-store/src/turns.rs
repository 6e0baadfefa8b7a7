//! Storing a turn: everything of one chat, or nothing.

use crate::column::Columns;
use crate::memory_rows;
use crate::outbox;
use crate::tool_call_rows;
use crate::work::{Arg, Work, args};
use grov_agent::{AgentStoreError, Message, MessageRole, NewTurn};
use grov_redact::beginning_to;

/// The longest title of a thread in bytes.
const MOST_TITLE_BYTES: usize = 120;

/// Stores a turn in a transaction.
pub(crate) async fn store(work: &mut Work, turn: &NewTurn) -> Result<(), AgentStoreError> {
    outbox::keep_answer(work, turn.replay.as_ref(), turn.now).await?;
    if !turn.memory_items.is_empty() {
        memory_rows::lock_project(work, turn.project).await?;
    }
    let first = place_in_thread(work, turn).await?;
    for (ordinal, message) in (first..).zip(&turn.messages) {
        insert_message(work, turn, ordinal, message).await?;
    }
    for item in &turn.memory_items {
        memory_rows::insert(work, item).await?;
    }
    for call in &turn.tool_calls {
        tool_call_rows::insert(work, call).await?;
    }
    outbox::insert_events(work, &turn.events, turn.now).await
}

/// Creates the thread or takes it, and returns the place of the first message. Holds the thread until the turn is stored,
/// so that the messages of two turns do not mix.
async fn place_in_thread(work: &mut Work, turn: &NewTurn) -> Result<i64, AgentStoreError> {
    const INSERT: &str = "INSERT INTO threads (id, project_id, title, messages, tools, summary, summary_until, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)";
    const UPDATE: &str = "UPDATE threads SET messages = messages + $3, tools = $4, \
         summary = coalesce($5, summary), summary_until = coalesce($6, summary_until), updated_at = $7 \
         WHERE id = $1 AND project_id = $2 RETURNING messages";
    let added = i64::try_from(turn.messages.len()).unwrap_or(i64::MAX);
    let tools = Arg::json(&*turn.tools)?;
    let summary = turn.summary.as_deref();
    let summary_text = Arg::from(summary.map(|summary| summary.text.as_str()));
    let until = Arg::from(summary.map(|summary| summary.until));
    if turn.is_new_thread {
        let title = title(turn);
        let values = [
            args![turn.thread, turn.project, title, added],
            vec![tools, summary_text, until, Arg::from(turn.now)],
        ];
        work.run(INSERT, values.concat()).await?;
        return Ok(0);
    }
    let values = [
        args![turn.thread, turn.project, added],
        vec![tools, summary_text, until, Arg::from(turn.now)],
    ];
    let row = work.one(UPDATE, values.concat()).await?;
    let row = row.ok_or(AgentStoreError::NotFound("thread"))?;
    let messages: i64 = row.get_as("messages")?;
    Ok(messages - added)
}

/// The beginning of the first message of the user.
fn title(turn: &NewTurn) -> String {
    let first = turn
        .messages
        .iter()
        .find(|message| message.role == MessageRole::User)
        .or(turn.messages.first());
    let line = first
        .and_then(|message| message.content.lines().find(|line| !line.trim().is_empty()))
        .unwrap_or_default()
        .trim();
    beginning_to(line, line.floor_char_boundary(MOST_TITLE_BYTES)).to_owned()
}

async fn insert_message(
    work: &mut Work,
    turn: &NewTurn,
    ordinal: i64,
    message: &Message,
) -> Result<(), AgentStoreError> {
    const INSERT: &str = "INSERT INTO messages (id, thread_id, ordinal, role, content, response_json, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let response = Arg::json_or_null(message.response_json.as_ref())?;
    let values = [
        args![
            message.id,
            turn.thread,
            ordinal,
            message.role.as_str(),
            &message.content
        ],
        vec![response, Arg::from(message.created_at)],
    ];
    work.run(INSERT, values.concat()).await.map(drop)
}
