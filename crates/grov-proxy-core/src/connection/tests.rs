use super::*;
use crate::connection_state::RequestGuard;

const LIMITS: Limits = Limits {
    head: Duration::from_secs(30),
    keep_alive: Duration::from_secs(600),
    body_silence: Duration::from_secs(60),
    ..Limits::DEFAULT
};

struct Connection {
    state: ConnectionState,
    timeouts: ConnectionTimeouts,
}

impl Connection {
    fn new() -> Self {
        let state = ConnectionState::default();
        let timeouts = ConnectionTimeouts::new(state.clone(), &LIMITS, Access::Everything, Instant::now());
        Self { state, timeouts }
    }

    /// Waits up to `seconds` for the connection to close. Returns the reason and the seconds that passed.
    async fn waits(&mut self, seconds: u64) -> Option<(CloseReason, u64)> {
        let start = Instant::now();
        let found = poll_fn(|cx| self.timeouts.poll(cx));
        match tokio::time::timeout(Duration::from_secs(seconds), found).await {
            Ok(Action::Close(end)) => Some((end, start.elapsed().as_secs())),
            Ok(Action::FinishRequest) => panic!("stopped without a signal"),
            Err(_) => None,
        }
    }

    fn request(&self) -> RequestGuard {
        self.state.read();
        self.state.begin_request()
    }

    fn answered(&self, request: RequestGuard) {
        drop(request);
        self.state.flushed();
    }
}

#[tokio::test(start_paused = true)]
async fn silent_client_or_partial_head_is_closed_after_30_seconds() {
    let mut silent = Connection::new();
    assert_eq!(
        silent.waits(1000).await,
        Some((CloseReason::TimedOut(Phase::FirstRequest), 30))
    );
    let mut half = Connection::new();
    assert_eq!(half.waits(20).await, None);
    // Byte by byte does not help.
    half.state.read();
    assert_eq!(half.waits(20).await, None);
    half.state.read();
    assert_eq!(
        half.waits(1000).await,
        Some((CloseReason::TimedOut(Phase::Head), 10))
    );
}

#[tokio::test(start_paused = true)]
async fn idle_connection_has_a_longer_limit_than_a_partial_head() {
    let mut kept = Connection::new();
    kept.waits(1).await;
    kept.answered(kept.request());
    assert_eq!(kept.waits(500).await, None);
    kept.answered(kept.request());
    assert_eq!(kept.waits(500).await, None, "it begins anew after each request");
    kept.state.read();
    assert_eq!(
        kept.waits(1000).await,
        Some((CloseReason::TimedOut(Phase::Head), 30))
    );
    let mut idle = Connection::new();
    idle.answered(idle.request());
    assert_eq!(
        idle.waits(1000).await,
        Some((CloseReason::TimedOut(Phase::NextRequest), 600))
    );
}

#[tokio::test(start_paused = true)]
async fn stalled_body_closes_the_connection_and_a_slow_one_does_not() {
    let mut slow = Connection::new();
    let request = slow.request();
    let receiving = request.expect_body();
    for _ in 0..20 {
        assert_eq!(slow.waits(50).await, None);
        slow.state.read();
    }
    let (end, after) = slow.waits(1000).await.unwrap();
    assert_eq!(end, CloseReason::TimedOut(Phase::Body));
    assert!((60..=120).contains(&after), "{after}");
    drop((receiving, request));
}

#[tokio::test(start_paused = true)]
async fn client_may_be_silent_while_it_waits() {
    let mut waiting = Connection::new();
    let request = waiting.request();
    let receiving = request.stream_body();
    // The upstream is not connected yet.
    assert_eq!(waiting.waits(1000).await, None);
    receiving.set_starved(true);
    waiting.state.read();
    // The client sent everything, and the upstream stopped reading.
    receiving.set_starved(false);
    assert_eq!(waiting.waits(1000).await, None);
    // It answers before it wants the rest.
    receiving.set_starved(true);
    request.response_started();
    assert_eq!(waiting.waits(1000).await, None);
    drop(receiving);
    assert_eq!(waiting.waits(10_000).await, None);
    drop(request);
    // The client has not read the end of the response.
    assert_eq!(waiting.waits(10_000).await, None);
}

#[tokio::test(start_paused = true)]
async fn progressing_upload_is_not_cut_at_shutdown() {
    let mut moving = Connection::new();
    let request = moving.request();
    let receiving = request.expect_body();
    moving.state.signal_stop();
    let found = poll_fn(|cx| moving.timeouts.poll(cx)).await;
    assert!(matches!(found, Action::FinishRequest));
    for _ in 0..20 {
        let half = Duration::from_millis(500);
        let cut = tokio::time::timeout(half, poll_fn(|cx| moving.timeouts.poll(cx))).await;
        assert!(cut.is_err());
        moving.state.read();
    }
    let (end, after) = moving.waits(100).await.unwrap();
    assert_eq!(end, CloseReason::TimedOut(Phase::Body));
    assert!(after <= 2, "{after}");
    drop((receiving, request));
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
    let mut connection = Connection::new();
    assert_eq!(connection.waits(1).await, None);
    let rank_of_idle = connection.state.eviction_rank();
    assert!(rank_of_idle < NOT_EVICTABLE / 2);
    let request = connection.request();
    connection.state.signal_make_room();
    assert_eq!(connection.waits(1).await, None);
    assert_eq!(connection.state.eviction_rank(), NOT_EVICTABLE);
    connection.answered(request);
    assert_eq!(connection.waits(1).await, None, "that was asked before");
    assert!(connection.state.eviction_rank() > rank_of_idle);
    connection.state.signal_make_room();
    assert_eq!(connection.waits(1).await, Some((CloseReason::MadeRoom, 0)));
}

#[test]
fn longest_idle_connection_is_evicted_first_and_partial_heads_last() {
    let seconds = Duration::from_secs;
    assert!(eviction_rank(Phase::NextRequest, seconds(1)) < eviction_rank(Phase::FirstRequest, seconds(2)));
    assert!(eviction_rank(Phase::NextRequest, seconds(1_000_000)) < eviction_rank(Phase::Head, seconds(1)));
    assert!(eviction_rank(Phase::Head, seconds(1)) < eviction_rank(Phase::Head, seconds(2)));
    assert_eq!(eviction_rank(Phase::Body, seconds(1)), NOT_EVICTABLE);
}
