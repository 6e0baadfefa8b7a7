//! Updates reviews of saved tasks after later verdicts.

use super::states::CORRECTIONS;
use crate::sqlite::StoreError;
use crate::sqlite::columns::{Record, RowExt, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::memory::load_tasks;
use crate::sqlite::sessions::steps_of;
use crate::sqlite::tasks::{save_task, task_of_session};
use grov_domain::{Correction, DriftEvent, Task};
use grov_session::review::{Evidence, Review, saved_until};

/// Updates the review, and the index entry, of the task that a session became, if it is saved.
pub(super) async fn review_task(
    connection: &mut Connection<'_>,
    client_session: &str,
    session: &str,
) -> Result<(), StoreError> {
    let Some(id) = task_of_session(connection, Some(client_session), Some(session)).await? else {
        return Ok(());
    };
    let reviewed = match reviewed(connection, client_session, session, &id).await {
        // An unreadable row is not changed; the verdict is saved anyway.
        Err(StoreError::Other(_)) => return Ok(()),
        reviewed => reviewed?,
    };
    match reviewed {
        Some(task) => save_task(connection, &task).await,
        None => Ok(()),
    }
}

/// Returns the task with its new review; `None` if the review did not change.
async fn reviewed(
    connection: &mut Connection<'_>,
    client_session: &str,
    session: &str,
    id: &str,
) -> Result<Option<Task>, StoreError> {
    let Some(task) = load_tasks(connection, &[id]).await?.pop() else {
        return Ok(None);
    };
    let sql = "SELECT judged_at, escalation_count FROM session_states WHERE session_id = ?";
    let Some(row) = connection.row(sql, params![session]).await? else {
        return Ok(None);
    };
    let until = saved_until(&task, row.read("judged_at")?);
    let mut steps = steps_of(connection, session).await?;
    steps.retain(|step| step.timestamp <= until);
    let events = "SELECT * FROM drift_log WHERE session_id = ? ORDER BY timestamp, id";
    let mut events = connection
        .read(events, params![session], DriftEvent::from_row)
        .await?;
    events.retain(|event| event.timestamp <= until);
    let mut corrections = connection
        .read(CORRECTIONS, params![client_session], Correction::from_row)
        .await?;
    corrections.retain(|correction| correction.made_at <= until);
    let evidence = Evidence::of_records(&steps, &events, &corrections, row.read("escalation_count")?);
    let reviewed = Review::of(&evidence).reannotate(task.clone());
    Ok((reviewed != task).then_some(reviewed))
}
