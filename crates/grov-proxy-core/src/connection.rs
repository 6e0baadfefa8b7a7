//! One connection of a client: served by hyper, ended where the client says nothing for too long, makes room or is to stop.

use crate::admission::Access;
use crate::exchange::Service;
use crate::limits::Limits;
use crate::patience::Patience;
use crate::progress::{Asked, Progress, STAYS, Waits};
use crate::rescue::Rescue;
use crate::short_reads::ShortReads;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// Largest head of a request, in bytes, as far as it is read by then.
const MAX_BUFFER: usize = 32 * 1024;

/// Longest silence inside a body after shutdown was asked for. One that goes on coming has the grace period.
const LAST_BODY: Duration = Duration::from_secs(1);

/// Longest wait for the head, and longest silence inside a body, on a connection beyond those that there should be: these are few.
const SHORT_WAIT: Duration = Duration::from_secs(2);

/// A connection that has said nothing yet is looked at again after this before it makes room or stops: what its client sent as soon as
/// it was connected may still be on its way.
const LAST_LOOK: Duration = Duration::from_millis(2);

/// Why a connection was ended from our side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    TooSlow(Waits),
    MadeRoom,
    Stopped,
}

/// Serves a connection to its end. `start` is when the server began.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    service: Arc<Service>,
    progress: Progress,
    access: Access,
    start: Instant,
) {
    let mut watch = Watch::new(progress.clone(), &service.limits, access, start);
    let io = TokioIo::new(ShortReads::of_requests(Rescue::new(socket, progress.clone())));
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        let guard = progress.enter();
        async move { Ok::<_, Infallible>(service.serve(request, guard, access).await) }
    });
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(MAX_BUFFER)
        .keep_alive(access == Access::Everything)
        .serve_connection(io, answer);
    let mut connection = pin!(connection);
    let ended = poll_fn(|cx| {
        loop {
            if let Poll::Ready(result) = connection.as_mut().poll(cx) {
                return Poll::Ready(Ok(result));
            }
            match watch.poll(cx) {
                Poll::Ready(Found::LastRequest) => connection.as_mut().graceful_shutdown(),
                Poll::Ready(Found::End(end)) => return Poll::Ready(Err(end)),
                Poll::Pending => return Poll::Pending,
            }
        }
    });
    match ended.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a client connection ended early"),
        Err(end) => tracing::debug!(?end, "ended a client connection"),
    }
}

/// Has hyper render its date on this thread. It does so with a thread's first connection, used or not, and panics when the
/// clock is before 1970; a clock that is set back later does no harm.
pub(crate) async fn render_date() {
    let silent = service_fn(|_| async { Ok::<_, Infallible>(http::Response::new(String::new())) });
    let nobody = TokioIo::new(tokio::io::empty());
    // It ends at once, without a request.
    let _ = http1::Builder::new().serve_connection(nobody, silent).await;
}

/// What has to happen to a connection that waits.
enum Found {
    /// The request in work is to be its last.
    LastRequest,
    End(End),
}

/// Looks at a connection whenever it waits. Its timer is one for everything, and is set only where something is overdue
/// some time: while an answer is on its way, none is looked at.
struct Watch {
    progress: Progress,
    /// Longest waits for [`Waits::First`] and [`Waits::Head`], for [`Waits::Next`], and for [`Waits::Body`].
    head: Duration,
    next: Duration,
    silence: Duration,
    start: Instant,
    /// What it waits for, after how many requests.
    waits: Option<(Waits, u64)>,
    /// Until when; `None`: for ever.
    deadline: Option<Instant>,
    /// [`Progress::reads`] when the deadline was set.
    reads: u64,
    patience: Patience,
    stopping: bool,
    /// Before it makes room, or stops.
    last_look: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Watch {
    fn new(progress: Progress, limits: &Limits, access: Access, start: Instant) -> Self {
        let (head, silence) = match access {
            Access::Everything => (limits.head, limits.body_silence),
            Access::OwnPages => (limits.head.min(SHORT_WAIT), limits.body_silence.min(SHORT_WAIT)),
        };
        Self {
            progress,
            head,
            next: limits.keep_alive,
            silence,
            start,
            waits: None,
            deadline: None,
            reads: 0,
            patience: Patience::default(),
            stopping: false,
            last_look: None,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Found> {
        self.progress.register(cx.waker());
        match self.progress.asked() {
            Asked::Nothing => {}
            Asked::Room if self.progress.is_idle() => {
                if self.has_looked_again(cx) {
                    return Poll::Ready(Found::End(End::MadeRoom));
                }
            }
            Asked::Room => {
                self.last_look = None;
                self.progress.keep_place();
            }
            // hyper would wait for the rest of a head of which it has a part.
            Asked::Stop if self.progress.is_idle() => {
                if self.progress.waits() != Waits::First || self.has_looked_again(cx) {
                    return Poll::Ready(Found::End(End::Stopped));
                }
            }
            Asked::Stop if self.stopping => {}
            Asked::Stop => {
                self.stopping = true;
                self.waits = None;
                return Poll::Ready(Found::LastRequest);
            }
        }
        let waits = (self.progress.waits(), self.progress.entered());
        if self.waits != Some(waits) {
            self.waits = Some(waits);
            self.begin(waits.0);
        }
        while let Some(deadline) = self.deadline {
            if self.patience.poll(cx, deadline).is_pending() {
                break;
            }
            // A slow body goes on.
            let moves = self.progress.reads() != self.reads;
            if waits.0 != Waits::Body || !moves {
                return Poll::Ready(Found::End(End::TooSlow(waits.0)));
            }
            self.begin(waits.0);
        }
        Poll::Pending
    }

    /// Whether an idle connection was looked at once more: a request may be there already that the runtime has not told of, as
    /// with every new connection. It does so before it comes back here.
    fn has_looked_again(&mut self, cx: &mut Context<'_>) -> bool {
        let is_first = self.progress.waits() == Waits::First;
        let looked = self.last_look.get_or_insert_with(|| match is_first {
            true => Box::pin(tokio::time::sleep(LAST_LOOK)),
            false => Box::pin(tokio::task::yield_now()),
        });
        looked.as_mut().poll(cx).is_ready()
    }

    /// Begins to wait.
    fn begin(&mut self, waits: Waits) {
        let limit = match waits {
            Waits::First | Waits::Head => Some(self.head),
            Waits::Next => Some(self.next),
            Waits::Body if self.stopping => Some(LAST_BODY),
            Waits::Body => Some(self.silence),
            Waits::Answer => None,
        };
        let Some(limit) = limit else {
            self.deadline = None;
            self.progress.set_rank(STAYS);
            return;
        };
        let now = Instant::now();
        // Beyond the end of time: no limit.
        self.deadline = now.checked_add(limit);
        self.reads = self.progress.reads();
        self.progress.set_rank(rank(waits, now - self.start));
    }
}

/// How soon a connection that began to wait at that time goes for a new client, see [`Progress::rank`]: idle ones first, those
/// idle longest before others, then those with half a head.
pub(crate) fn rank(waits: Waits, since: Duration) -> u64 {
    let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
    match waits {
        Waits::First | Waits::Next => since.min(STAYS / 2),
        Waits::Head => (STAYS / 2 + since).min(STAYS - 1),
        Waits::Body | Waits::Answer => STAYS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::ServingGuard;

    const LIMITS: Limits = Limits {
        head: Duration::from_secs(30),
        keep_alive: Duration::from_secs(600),
        body_silence: Duration::from_secs(60),
        ..Limits::DEFAULT
    };

    struct Watched {
        progress: Progress,
        watch: Watch,
    }

    impl Watched {
        fn new() -> Self {
            let progress = Progress::default();
            let watch = Watch::new(progress.clone(), &LIMITS, Access::Everything, Instant::now());
            Self { progress, watch }
        }

        /// Waits, for so many seconds at most. What was found, and after how many seconds.
        async fn waits(&mut self, seconds: u64) -> Option<(End, u64)> {
            let start = Instant::now();
            let found = poll_fn(|cx| self.watch.poll(cx));
            match tokio::time::timeout(Duration::from_secs(seconds), found).await {
                Ok(Found::End(end)) => Some((end, start.elapsed().as_secs())),
                Ok(Found::LastRequest) => panic!("nobody asked to stop"),
                Err(_) => None,
            }
        }

        fn request(&self) -> ServingGuard {
            self.progress.read();
            self.progress.enter()
        }

        fn answered(&self, request: ServingGuard) {
            drop(request);
            self.progress.flushed();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_nothing_or_half_a_head_is_ended_in_half_a_minute() {
        let mut silent = Watched::new();
        assert_eq!(silent.waits(1000).await, Some((End::TooSlow(Waits::First), 30)));
        let mut half = Watched::new();
        assert_eq!(half.waits(20).await, None);
        // Byte by byte does not help.
        half.progress.read();
        assert_eq!(half.waits(20).await, None);
        half.progress.read();
        assert_eq!(half.waits(1000).await, Some((End::TooSlow(Waits::Head), 10)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_kept_for_minutes_and_its_next_head_is_not() {
        let mut kept = Watched::new();
        kept.waits(1).await;
        kept.answered(kept.request());
        assert_eq!(kept.waits(500).await, None);
        kept.answered(kept.request());
        assert_eq!(kept.waits(500).await, None, "it begins anew after each request");
        kept.progress.read();
        assert_eq!(kept.waits(1000).await, Some((End::TooSlow(Waits::Head), 30)));
        let mut idle = Watched::new();
        idle.answered(idle.request());
        assert_eq!(idle.waits(1000).await, Some((End::TooSlow(Waits::Next), 600)));
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_body_ends_a_connection_and_a_slow_one_does_not() {
        let mut slow = Watched::new();
        let request = slow.request();
        let receiving = request.receive();
        for _ in 0..20 {
            assert_eq!(slow.waits(50).await, None);
            slow.progress.read();
        }
        let (end, after) = slow.waits(1000).await.unwrap();
        assert_eq!(end, End::TooSlow(Waits::Body));
        assert!((60..=120).contains(&after), "{after}");
        drop((receiving, request));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_an_answer_or_an_upstream_may_be_silent() {
        let mut waiting = Watched::new();
        let request = waiting.request();
        let receiving = request.pass_on();
        // The upstream is not connected yet.
        assert_eq!(waiting.waits(1000).await, None);
        receiving.is_starved(true);
        waiting.progress.read();
        // All of it came, and the upstream takes no more.
        receiving.is_starved(false);
        assert_eq!(waiting.waits(1000).await, None);
        // It answers before it wants the rest.
        receiving.is_starved(true);
        request.answered();
        assert_eq!(waiting.waits(1000).await, None);
        drop(receiving);
        assert_eq!(waiting.waits(10_000).await, None);
        drop(request);
        // The client has not taken the end of it.
        assert_eq!(waiting.waits(10_000).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_that_goes_on_is_not_cut_when_the_server_is_to_stop() {
        let mut moving = Watched::new();
        let request = moving.request();
        let receiving = request.receive();
        moving.progress.ask_to_stop();
        let found = poll_fn(|cx| moving.watch.poll(cx)).await;
        assert!(matches!(found, Found::LastRequest));
        for _ in 0..20 {
            let half = Duration::from_millis(500);
            let cut = tokio::time::timeout(half, poll_fn(|cx| moving.watch.poll(cx))).await;
            assert!(cut.is_err());
            moving.progress.read();
        }
        let (end, after) = moving.waits(100).await.unwrap();
        assert_eq!(end, End::TooSlow(Waits::Body));
        assert!(after <= 2, "{after}");
        drop((receiving, request));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
        let mut watched = Watched::new();
        assert_eq!(watched.waits(1).await, None);
        let rank_of_idle = watched.progress.rank();
        assert!(rank_of_idle < STAYS / 2);
        let request = watched.request();
        watched.progress.ask_for_room();
        assert_eq!(watched.waits(1).await, None);
        assert_eq!(watched.progress.rank(), STAYS);
        watched.answered(request);
        assert_eq!(watched.waits(1).await, None, "that was asked before");
        assert!(watched.progress.rank() > rank_of_idle);
        watched.progress.ask_for_room();
        assert_eq!(watched.waits(1).await, Some((End::MadeRoom, 0)));
    }

    #[test]
    fn the_longest_idle_goes_first_and_half_a_head_last() {
        let seconds = Duration::from_secs;
        assert!(rank(Waits::Next, seconds(1)) < rank(Waits::First, seconds(2)));
        assert!(rank(Waits::Next, seconds(1_000_000)) < rank(Waits::Head, seconds(1)));
        assert!(rank(Waits::Head, seconds(1)) < rank(Waits::Head, seconds(2)));
        assert_eq!(rank(Waits::Body, seconds(1)), STAYS);
    }
}
