//! Background tasks that can be counted, asked to stop and awaited.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// The tasks of one process. Clones share the same set.
#[derive(Clone, Debug)]
pub struct Tasks {
    tracker: Arc<Tracker>,
    runtime: Handle,
}

#[derive(Debug)]
struct Tracker {
    live: AtomicUsize,
    ended: Notify,
    stop: watch::Sender<bool>,
}

/// Notifies a task of shutdown. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown {
    stop: watch::Receiver<bool>,
}

impl Tasks {
    /// An empty set. Its tasks run on `runtime`.
    pub fn new(runtime: Handle) -> Self {
        let tracker = Tracker {
            live: AtomicUsize::new(0),
            ended: Notify::new(),
            stop: watch::Sender::new(false),
        };
        Self {
            tracker: Arc::new(tracker),
            runtime,
        }
    }

    /// Runs `future` in the background. Can be called from any thread. A panic ends only this task and is logged with `name`.
    pub fn spawn<F>(&self, name: &'static str, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.live.fetch_add(1, Ordering::AcqRel);
        let guard = LiveTask {
            tracker: Arc::clone(&self.tracker),
            name,
        };
        let tracked = async move {
            // Dropped when the future ends, panics or is aborted, even if it was never polled.
            let _guard = guard;
            future.await
        };
        self.runtime.spawn(tracked)
    }

    /// The number of running tasks.
    pub fn live(&self) -> usize {
        self.tracker.live.load(Ordering::Acquire)
    }

    /// A handle that is notified when [`Tasks::shut_down`] is called.
    pub fn shutdown(&self) -> Shutdown {
        Shutdown {
            stop: self.tracker.stop.subscribe(),
        }
    }

    /// Asks all tasks to stop, without interrupting them.
    pub fn shut_down(&self) {
        self.tracker.stop.send_replace(true);
    }

    /// Waits until no task is running, at most for `grace`. Returns the number of tasks that are still running; they end with
    /// the runtime.
    pub async fn drain(&self, grace: Duration) -> usize {
        let all_ended = async {
            loop {
                let ended = self.tracker.ended.notified();
                tokio::pin!(ended);
                // Registered before the count is read, so that a task that ends in between is noticed.
                ended.as_mut().enable();
                if self.live() == 0 {
                    return;
                }
                ended.await;
            }
        };
        match tokio::time::timeout(grace, all_ended).await {
            Ok(()) => 0,
            Err(_) => self.live(),
        }
    }
}

impl Shutdown {
    /// Waits until shutdown is requested; returns at once if it already was, or if every [`Tasks`] is dropped.
    pub async fn requested(&mut self) {
        // An error means that the sender was dropped, so no request can follow.
        let _ = self.stop.wait_for(|stop| *stop).await;
    }
}

struct LiveTask {
    tracker: Arc<Tracker>,
    name: &'static str,
}

impl Drop for LiveTask {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!(task = self.name, "a background task panicked");
        }
        if self.tracker.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.tracker.ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    const SOON: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn drain_waits_for_tasks_that_end_after_the_request() {
        let tasks = Tasks::new(Handle::current());
        for _ in 0..50 {
            let mut shutdown = tasks.shutdown();
            tasks.spawn("waiter", async move { shutdown.requested().await });
        }
        assert_eq!(tasks.live(), 50);
        tasks.shut_down();
        assert_eq!(tasks.drain(SOON).await, 0);
        tasks.shutdown().requested().await;
    }

    #[tokio::test(start_paused = true)]
    async fn drain_gives_up_after_the_grace_period_and_counts_what_is_left() {
        let tasks = Tasks::new(Handle::current());
        let stuck = tasks.spawn("stuck", pending::<()>());
        tasks.spawn("stuck", pending::<()>());
        assert_eq!(tasks.drain(SOON).await, 2);
        stuck.abort();
        assert!(stuck.await.is_err());
        assert_eq!(tasks.live(), 1, "an aborted task is no longer counted");
    }

    #[tokio::test]
    async fn a_panic_ends_only_its_own_task() {
        let tasks = Tasks::new(Handle::current());
        let other = tasks.clone();
        let broken = tasks.spawn("broken", async { panic!("on purpose") });
        let whole = tasks.spawn("whole", async { 7 });
        assert!(broken.await.is_err());
        assert_eq!(whole.await.ok(), Some(7));
        assert_eq!(other.drain(SOON).await, 0);
    }

    #[tokio::test]
    async fn tasks_may_spawn_tasks_while_draining() {
        let tasks = Tasks::new(Handle::current());
        let inner = tasks.clone();
        tasks.spawn("outer", async move {
            tokio::task::yield_now().await;
            inner.spawn("inner", tokio::task::yield_now());
        });
        assert_eq!(tasks.drain(SOON).await, 0);
        assert_eq!(tasks.live(), 0);
    }

    #[tokio::test]
    async fn shutdown_is_requested_once_all_tasks_handles_are_dropped() {
        let mut shutdown = Tasks::new(Handle::current()).shutdown();
        shutdown.requested().await;
    }

    #[tokio::test]
    async fn a_task_continues_after_the_runtime_that_spawned_it_is_gone() {
        let tasks = Tasks::new(Handle::current());
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let clone = tasks.clone();
        let task = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let _elsewhere = runtime.enter();
            clone.spawn("elsewhere", receiver)
        });
        let task = task.join().unwrap();
        assert_eq!(tasks.live(), 1);
        sender.send(7).unwrap();
        assert_eq!(task.await.unwrap(), Ok(7));
        assert_eq!(tasks.drain(Duration::from_secs(20)).await, 0);
    }
}
