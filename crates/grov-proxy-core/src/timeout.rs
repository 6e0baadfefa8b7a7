//! A timer for deadlines that move.

use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep};

/// A reusable timer. Deadlines are usually extended, so the timer is reset only when a deadline is earlier, or when it fires.
#[derive(Debug, Default)]
pub(crate) struct DeadlineTimer {
    timer: Option<Pin<Box<Sleep>>>,
}

impl DeadlineTimer {
    /// Ready once the deadline has passed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn deadline_is_kept_with_any_earlier_deadline() {
        let mut timer = DeadlineTimer::default();
        let start = Instant::now();
        for seconds in [10, 3, 30, 30, 4] {
            let deadline = Instant::now() + Duration::from_secs(seconds);
            poll_fn(|cx| timer.poll(cx, deadline)).await;
            assert!(Instant::now() >= deadline, "{seconds}");
            assert!(Instant::now() - deadline < Duration::from_millis(2), "{seconds}");
        }
        assert_eq!(start.elapsed().as_secs(), 77);
    }

    #[tokio::test(start_paused = true)]
    async fn extended_deadline_is_kept() {
        let mut timer = DeadlineTimer::default();
        let start = Instant::now();
        let mut deadline = start + Duration::from_secs(60);
        let waiting = poll_fn(|cx| timer.poll(cx, deadline));
        assert!(
            tokio::time::timeout(Duration::from_secs(50), waiting)
                .await
                .is_err()
        );
        deadline += Duration::from_secs(60);
        poll_fn(|cx| timer.poll(cx, deadline)).await;
        assert_eq!(start.elapsed().as_secs(), 120);
    }
}
