//! Suppresses needless wakes of the task that polls an upstream connection.
//!
//! hyper's connection and its response body wake each other with every frame. The relay polls both in one loop until neither
//! makes progress, so these wakes would only cause another poll of the whole task.

use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

/// Wakes a task, except for wakes during its own poll that the poll has handled.
#[derive(Clone)]
pub(crate) struct WakeFilter {
    state: Arc<WakeState>,
    waker: Waker,
}

/// Whether a wake is pending.
#[derive(Default)]
pub(crate) struct WakeState {
    task: AtomicWaker,
    polling: AtomicBool,
    is_woken: AtomicBool,
}

impl WakeFilter {
    pub(crate) fn new() -> Self {
        let state = Arc::<WakeState>::default();
        let waker = Waker::from(Arc::clone(&state));
        Self { state, waker }
    }

    /// Calls `poll` with the filter's waker. If a wake is still pending afterwards, the task is woken.
    pub(crate) fn poll<T>(
        &self,
        cx: &Context<'_>,
        poll: impl FnOnce(&WakeState, &mut Context<'_>) -> T,
    ) -> T {
        let state = &self.state;
        state.task.register(cx.waker());
        state.polling.store(true, Ordering::SeqCst);
        let polled = poll(state, &mut Context::from_waker(&self.waker));
        state.polling.store(false, Ordering::SeqCst);
        // A wake from another thread during the poll was left for this check.
        if state.is_woken() {
            state.task.wake();
        }
        polled
    }
}

impl WakeState {
    /// Clears the pending wake. Call it before polling everything.
    pub(crate) fn clear(&self) {
        // A swap, not a store: it synchronizes with the thread that woke, so that the poll sees its writes.
        self.is_woken.swap(false, Ordering::SeqCst);
    }

    /// Returns whether a wake is pending.
    pub(crate) fn is_woken(&self) -> bool {
        self.is_woken.load(Ordering::SeqCst)
    }
}

impl Wake for WakeState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.polling.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn task_is_woken_for_unhandled_wakes() {
        let count = Arc::<Count>::default();
        let task = Waker::from(Arc::clone(&count));
        let woken = || count.0.swap(0, Ordering::Relaxed);
        let wake_filter = WakeFilter::new();
        let cx = Context::from_waker(&task);
        let inner = wake_filter.poll(&cx, |state, cx| {
            state.clear();
            cx.waker().wake_by_ref();
            assert!(state.is_woken());
            state.clear();
            cx.waker().clone()
        });
        assert_eq!(woken(), 0);
        inner.wake_by_ref();
        assert_eq!(woken(), 1, "something has happened since");
        wake_filter.poll(&cx, |state, cx| {
            state.clear();
            cx.waker().wake_by_ref();
        });
        assert_eq!(woken(), 1, "woken after the last clear");
    }
}
