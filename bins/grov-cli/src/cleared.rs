//! Sessions whose context was cleared. The client still has their whole history, which may not fit into the model's window, so
//! they need the proxy.

use crate::context::Context;
use crate::failure::Failure;
use grov_domain::{ClearSummary, Clock, SystemClock};
use time::Duration;

/// A session that was cleared longer ago counts as over.
const RECENT: Duration = Duration::days(14);

/// Returns the sessions whose context was cleared recently, the last one first.
pub(crate) fn recent(context: &Context) -> Result<Vec<ClearSummary>, Failure> {
    let stored = context.read(async |store| Ok(store.clears(&[]).await?))?;
    let since = SystemClock.now() - RECENT;
    let mut clears = stored.unwrap_or_default();
    clears.retain(|clear| clear.last_clear_at > since);
    Ok(clears)
}

/// Returns what it means for these sessions to continue without the proxy; `None` without sessions.
pub(crate) fn warning(clears: &[ClearSummary]) -> Option<String> {
    let last = clears.first()?;
    let sessions = match clears.len() {
        1 => format!("the context of session {} was cleared", last.client_session_id),
        count => format!(
            "the contexts of {count} sessions were cleared, the last one is {}",
            last.client_session_id
        ),
    };
    Some(format!(
        "{sessions}. Without the proxy the client sends the whole history, which may not fit into the model's context window. \
         Before that, run /compact in a session that you want to continue"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::ClientSessionId;
    use time::OffsetDateTime;

    #[test]
    fn sessions_are_counted() {
        let of = |session: &str| ClearSummary {
            client_session_id: ClientSessionId::new(session),
            count: 1,
            last_clear_at: OffsetDateTime::UNIX_EPOCH,
            tokens_before: 180_000,
            tokens_after: 30_000,
            is_measured: true,
            cost_micro_usd: None,
            saving_micro_usd: None,
        };
        assert_eq!(warning(&[]), None);
        assert!(
            warning(&[of("a")])
                .unwrap()
                .starts_with("the context of session a was cleared. ")
        );
        let both = warning(&[of("b"), of("a")]).unwrap();
        assert!(
            both.starts_with("the contexts of 2 sessions were cleared, the last one is b. "),
            "{both}"
        );
    }
}
