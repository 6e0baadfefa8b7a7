//! Wakes for an upstream connection that is polled in its exchange's own task.
//!
//! hyper's connection and the body of its answer wake one another with every frame. Here one loop polls both until neither has
//! anything to do, so these wakes would only have the whole task polled once more, for nothing.

use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

/// Wakes the task that polls, but not while it does.
#[derive(Clone)]
pub(crate) struct Alarm {
    bell: Arc<Bell>,
    waker: Waker,
}

/// Whether anything was woken.
#[derive(Default)]
pub(crate) struct Bell {
    task: AtomicWaker,
    polling: AtomicBool,
    rang: AtomicBool,
}

impl Alarm {
    pub(crate) fn new() -> Self {
        let bell = Arc::<Bell>::default();
        let waker = Waker::from(Arc::clone(&bell));
        Self { bell, waker }
    }

    /// Polls with the alarm's own waker. The task is woken afterwards where the bell rang and nobody listened again.
    pub(crate) fn poll<T>(&self, cx: &Context<'_>, poll: impl FnOnce(&Bell, &mut Context<'_>) -> T) -> T {
        let bell = &self.bell;
        bell.task.register(cx.waker());
        bell.polling.store(true, Ordering::SeqCst);
        let polled = poll(bell, &mut Context::from_waker(&self.waker));
        bell.polling.store(false, Ordering::SeqCst);
        // Another thread that rang and saw the poll go on left it to this look.
        if bell.rang() {
            bell.task.wake();
        }
        polled
    }
}

impl Bell {
    /// From here on it has not rung: everything is about to be polled.
    pub(crate) fn listen(&self) {
        // A swap and no store: what another thread wrote before it rang is seen by what is polled now.
        self.rang.swap(false, Ordering::SeqCst);
    }

    /// Whether it rang.
    pub(crate) fn rang(&self) -> bool {
        self.rang.load(Ordering::SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rang.store(true, Ordering::SeqCst);
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
    fn the_task_is_woken_for_what_its_own_poll_has_not_seen() {
        let count = Arc::<Count>::default();
        let task = Waker::from(Arc::clone(&count));
        let woken = || count.0.swap(0, Ordering::Relaxed);
        let alarm = Alarm::new();
        let cx = Context::from_waker(&task);
        let inner = alarm.poll(&cx, |bell, cx| {
            bell.listen();
            cx.waker().wake_by_ref();
            assert!(bell.rang());
            // What rang is polled.
            bell.listen();
            cx.waker().clone()
        });
        assert_eq!(woken(), 0);
        inner.wake_by_ref();
        assert_eq!(woken(), 1, "something has happened since");
        alarm.poll(&cx, |bell, cx| {
            bell.listen();
            cx.waker().wake_by_ref();
        });
        assert_eq!(woken(), 1, "it rang after the last look");
    }
}
