//! What happens while an upstream is silent inside a response body: pings, and in the end an interruption.

use super::{PolledFrame, Relay, RelayError, State};
use crate::codec::Interruption;
use crate::timeout::DeadlineTimer;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// What the silence of an upstream calls for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It lasts longer than this limit.
    TooLong(Duration),
    /// The client received nothing for the ping interval.
    Ping,
}

/// Measures the pauses of an upstream.
pub(crate) struct SilenceTimer {
    timer: DeadlineTimer,
    limit: Duration,
    /// The interval of pings, if there are any.
    ping: Option<Duration>,
    /// When the upstream last sent something.
    received: Instant,
    /// When the client was last sent something.
    sent: Instant,
}

impl SilenceTimer {
    pub(crate) fn new(timer: DeadlineTimer, limit: Duration, ping: Option<Duration>) -> Self {
        let now = Instant::now();
        Self {
            timer,
            limit,
            ping,
            received: now,
            sent: now,
        }
    }

    /// The upstream sent something, of which nothing goes to the client.
    pub(crate) fn received(&mut self) {
        self.received = Instant::now();
    }

    /// The upstream sent something that goes to the client.
    pub(super) fn relayed(&mut self) {
        self.received = Instant::now();
        self.sent = self.received;
    }

    /// A ping is due or was sent.
    pub(super) fn pinged(&mut self) {
        self.sent = Instant::now();
    }

    /// Ready when the silence is too long or a ping is due. A deadline beyond the end of time is no limit.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Silence> {
        let end = self.received.checked_add(self.limit);
        let ping = self.ping.and_then(|every| self.sent.checked_add(every));
        let Some(next) = end.into_iter().chain(ping).min() else {
            return Poll::Pending;
        };
        ready!(self.timer.poll(cx, next));
        Poll::Ready(if end == Some(next) {
            Silence::TooLong(self.limit)
        } else {
            Silence::Ping
        })
    }

    /// Lowers the limit, for an upstream that need not send anything.
    pub(super) fn limit_to(&mut self, limit: Duration) {
        self.limit = self.limit.min(limit);
        self.ping = None;
    }

    /// Takes the timer, for the next exchange of the connection.
    pub(crate) fn take_timer(&mut self) -> DeadlineTimer {
        std::mem::take(&mut self.timer)
    }
}

impl Relay {
    /// Handles a pause of the upstream: a ping, or the end of the response.
    pub(super) fn poll_silence(&mut self, cx: &mut Context<'_>) -> PolledFrame {
        loop {
            let limit = match ready!(self.silence.poll(cx)) {
                Silence::Ping => {
                    self.silence.pinged();
                    match self.body.ping() {
                        Some(ping) => return Poll::Ready(Some(Ok(self.own_frame(ping)))),
                        None => continue,
                    }
                }
                Silence::TooLong(limit) => limit,
            };
            self.connection = None;
            if self.body.is_done() {
                self.state = State::Ended;
                return Poll::Ready(None);
            }
            self.metrics.fault("upstream_idle");
            let interruption = Interruption::Silent(limit);
            tracing::warn!(%interruption, "the upstream went silent in the middle of a response");
            return Poll::Ready(Some(match self.body.interrupt(&interruption) {
                Some(last) => {
                    self.state = State::Ended;
                    Ok(self.own_frame(last))
                }
                None => {
                    self.state = State::Broken;
                    Err(RelayError::Interrupted(interruption))
                }
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn pings_do_not_extend_the_limit_of_the_upstream() {
        let seconds = Duration::from_secs;
        let mut silence = SilenceTimer::new(DeadlineTimer::default(), seconds(25), Some(seconds(10)));
        let start = Instant::now();
        for due in [10, 20] {
            assert_eq!(poll_fn(|cx| silence.poll(cx)).await, Silence::Ping);
            assert_eq!(start.elapsed().as_secs(), due);
            silence.pinged();
        }
        let ended = poll_fn(|cx| silence.poll(cx)).await;
        assert_eq!(ended, Silence::TooLong(seconds(25)));
        assert_eq!(start.elapsed().as_secs(), 25);
        silence.relayed();
        assert_eq!(poll_fn(|cx| silence.poll(cx)).await, Silence::Ping);
        assert_eq!(start.elapsed().as_secs(), 35);
    }
}
