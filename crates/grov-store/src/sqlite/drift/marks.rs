//! What later verdicts mean for tasks that are saved already.

use super::{log, states};
use crate::sqlite::error::decoding;
use crate::sqlite::memory::tasks_of;
use crate::sqlite::sessions::steps_of;
use crate::sqlite::tasks::{save, task_of};
use crate::sqlite::values::Columns;
use grov_domain::Task;
use grov_session::review::{Evidence, Review, saved_until};
use sqlx::sqlite::SqliteConnection;

/// Marks the task anew that a session became, if it is saved, by what is known of its actions now. Its place in the index
/// follows.
pub(super) async fn mark_saved(
    connection: &mut SqliteConnection,
    client_session: &str,
    session: &str,
) -> Result<(), sqlx::Error> {
    let Some(id) = task_of(connection, Some(client_session), Some(session)).await? else {
        return Ok(());
    };
    let marked = match marked(connection, client_session, session, &id).await {
        // What cannot be read is left as it is; the verdict is kept all the same.
        Err(sqlx::Error::Decode(_)) => return Ok(()),
        marked => marked?,
    };
    match marked {
        Some(task) => save(connection, &task).await,
        None => Ok(()),
    }
}

/// The task with other marks than it has; `None`: they are the right ones.
async fn marked(
    connection: &mut SqliteConnection,
    client_session: &str,
    session: &str,
    id: &str,
) -> Result<Option<Task>, sqlx::Error> {
    let Some(task) = tasks_of(connection, &[id]).await?.pop() else {
        return Ok(None);
    };
    let row = sqlx::query("SELECT judged_at, escalation_count FROM session_states WHERE session_id = ?")
        .bind(session)
        .fetch_one(&mut *connection)
        .await?;
    let columns = Columns(&row);
    let until = saved_until(&task, columns.optional_time("judged_at").map_err(decoding)?);
    let escalation = columns.small("escalation_count").map_err(decoding)?;
    let mut steps = steps_of(connection, session).await?;
    let mut events = log::events_of(connection, session).await?;
    let mut corrections = states::corrections_in(connection, client_session).await?;
    steps.retain(|step| step.timestamp <= until);
    events.retain(|event| event.timestamp <= until);
    corrections.retain(|correction| correction.made_at <= until);
    let evidence = Evidence::of_records(&steps, &events, &corrections, escalation.unwrap_or(0));
    let marked = Review::of(&evidence).reannotate(task.clone());
    Ok((marked != task).then_some(marked))
}
