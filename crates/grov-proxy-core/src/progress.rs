//! How far a client's connection has come: what its timers, a shutdown and the search for room go by.
//!
//! One value per connection, shared by the socket, the service, the connection's own task and the accept loop. All but the accept
//! loop run in that one task, so plain loads and stores do.

use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::Waker;

/// The progress of one connection.
#[derive(Clone, Default)]
pub(crate) struct Progress(Arc<State>);

struct State {
    /// How many requests are being served: 0 or 1.
    serving: AtomicUsize,
    /// hyper lets go of a body, an empty one at once, before the last of the answer is written.
    unflushed: AtomicBool,
    /// Requests that have reached the service.
    entered: AtomicU64,
    /// Bytes of a body are wanted that the client has not sent.
    receiving: AtomicBool,
    /// The head of the answer to the request in work is there.
    answered: AtomicBool,
    /// Some of the next request's head has come.
    head_begun: AtomicBool,
    /// Reads that brought bytes.
    reads: AtomicU64,
    /// See [`Asked`].
    asked: AtomicU8,
    /// See [`Progress::rank`].
    rank: AtomicU64,
    /// The connection's task.
    task: AtomicWaker,
}

/// The rank of a connection that has to stay.
pub(crate) const STAYS: u64 = u64::MAX;

impl Default for State {
    fn default() -> Self {
        Self {
            serving: AtomicUsize::new(0),
            unflushed: AtomicBool::new(false),
            entered: AtomicU64::new(0),
            receiving: AtomicBool::new(false),
            head_begun: AtomicBool::new(false),
            reads: AtomicU64::new(0),
            answered: AtomicBool::new(false),
            asked: AtomicU8::new(NOTHING),
            rank: AtomicU64::new(STAYS),
            task: AtomicWaker::new(),
        }
    }
}

const NOTHING: u8 = 0;
const ROOM: u8 = 1;
const STOP: u8 = 2;

/// What the accept loop asks of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Nothing,
    /// To end if it is idle, for a new client.
    Room,
    /// To end after the request in work.
    Stop,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Its first request.
    First,
    /// The rest of a head.
    Head,
    /// The next request.
    Next,
    /// The rest of a body.
    Body,
    /// An answer, or the client's taking it.
    Answer,
}

impl Progress {
    /// A request has reached the service; it is served until the guard goes, with the response's body.
    pub(crate) fn enter(&self) -> ServingGuard {
        let state = &self.0;
        state.serving.fetch_add(1, Ordering::Relaxed);
        state.unflushed.store(true, Ordering::Relaxed);
        state.head_begun.store(false, Ordering::Relaxed);
        state.answered.store(false, Ordering::Relaxed);
        let entered = state.entered.load(Ordering::Relaxed);
        state.entered.store(entered + 1, Ordering::Relaxed);
        ServingGuard(self.clone())
    }

    /// Everything that hyper had to write is written.
    pub(crate) fn flushed(&self) {
        if self.0.serving.load(Ordering::Relaxed) == 0 {
            self.0.unflushed.store(false, Ordering::Relaxed);
        }
    }

    /// No request is being served, and the last answer has left.
    pub(crate) fn is_idle(&self) -> bool {
        !self.0.unflushed.load(Ordering::Relaxed)
    }

    /// A read brought bytes.
    pub(crate) fn read(&self) {
        let state = &self.0;
        let reads = state.reads.load(Ordering::Relaxed);
        state.reads.store(reads + 1, Ordering::Relaxed);
        if self.is_idle() {
            state.head_begun.store(true, Ordering::Relaxed);
        }
    }

    /// How many reads brought bytes.
    pub(crate) fn reads(&self) -> u64 {
        self.0.reads.load(Ordering::Relaxed)
    }

    /// What the connection waits for.
    pub(crate) fn waits(&self) -> Waits {
        let state = &self.0;
        match self.is_idle() {
            true if state.head_begun.load(Ordering::Relaxed) => Waits::Head,
            true if self.entered() == 0 => Waits::First,
            true => Waits::Next,
            // A client that is being answered may take its time with the rest of its body.
            false if state.answered.load(Ordering::Relaxed) => Waits::Answer,
            false if state.receiving.load(Ordering::Relaxed) => Waits::Body,
            false => Waits::Answer,
        }
    }

    /// How many requests have reached the service.
    pub(crate) fn entered(&self) -> u64 {
        self.0.entered.load(Ordering::Relaxed)
    }

    /// Has the connection's task woken when something is asked.
    pub(crate) fn register(&self, task: &Waker) {
        self.0.task.register(task);
    }

    /// What was asked.
    pub(crate) fn asked(&self) -> Asked {
        match self.0.asked.load(Ordering::Acquire) {
            NOTHING => Asked::Nothing,
            ROOM => Asked::Room,
            _ => Asked::Stop,
        }
    }

    /// Makes nothing of having been asked for room.
    pub(crate) fn keep_place(&self) {
        // It may have been asked to stop meanwhile.
        let _ = self
            .0
            .asked
            .compare_exchange(ROOM, NOTHING, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Asks it to end for a new client if it is idle; it may not be any more.
    pub(crate) fn ask_for_room(&self) {
        let _ = self
            .0
            .asked
            .compare_exchange(NOTHING, ROOM, Ordering::AcqRel, Ordering::Acquire);
        self.0.task.wake();
    }

    /// Asks it to end after the request in work.
    pub(crate) fn ask_to_stop(&self) {
        self.0.asked.store(STOP, Ordering::Release);
        self.0.task.wake();
    }

    /// The smaller, the sooner it should go for a new client.
    pub(crate) fn rank(&self) -> u64 {
        match self.asked() {
            Asked::Nothing => self.0.rank.load(Ordering::Relaxed),
            // It is on its way.
            Asked::Room | Asked::Stop => STAYS,
        }
    }

    /// Sets the rank.
    pub(crate) fn set_rank(&self, rank: u64) {
        self.0.rank.store(rank, Ordering::Relaxed);
    }
}

/// See [`Progress::enter`].
pub(crate) struct ServingGuard(Progress);

impl ServingGuard {
    /// The request's body is wanted, and received as fast as it comes, until the guard goes.
    pub(crate) fn receive(&self) -> Receiving {
        let receiving = self.pass_on();
        receiving.is_starved(true);
        receiving
    }

    /// The request's body is passed on as fast as it is taken: see [`Receiving::is_starved`].
    pub(crate) fn pass_on(&self) -> Receiving {
        Receiving(self.0.clone())
    }

    /// The head of the answer is there.
    pub(crate) fn answered(&self) {
        self.0.0.answered.store(true, Ordering::Relaxed);
    }
}

impl Drop for ServingGuard {
    fn drop(&mut self) {
        self.0.0.serving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// See [`ServingGuard::receive`].
pub(crate) struct Receiving(Progress);

impl Receiving {
    /// Whether bytes are wanted that the client has not sent. Where nobody wants any, the client is not the one to wait for.
    pub(crate) fn is_starved(&self, starved: bool) {
        self.0.0.receiving.store(starved, Ordering::Relaxed);
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.0.receiving.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_waits_for_one_thing_after_another() {
        let progress = Progress::default();
        assert_eq!(progress.waits(), Waits::First);
        progress.read();
        assert_eq!(progress.waits(), Waits::Head);
        let serving = progress.enter();
        let receiving = serving.receive();
        assert_eq!(progress.waits(), Waits::Body);
        progress.read();
        drop(receiving);
        assert_eq!(progress.waits(), Waits::Answer);
        drop(serving);
        assert_eq!(
            progress.waits(),
            Waits::Answer,
            "the end of it is not written yet"
        );
        progress.flushed();
        assert_eq!((progress.waits(), progress.entered()), (Waits::Next, 1));
        progress.read();
        assert_eq!(progress.waits(), Waits::Head);
    }

    #[test]
    fn a_connection_that_was_asked_for_room_is_not_asked_again_and_stopping_goes_first() {
        let progress = Progress::default();
        assert_eq!(progress.rank(), STAYS);
        progress.set_rank(7);
        assert_eq!(progress.rank(), 7);
        progress.ask_for_room();
        assert_eq!((progress.asked(), progress.rank()), (Asked::Room, STAYS));
        progress.keep_place();
        assert_eq!((progress.asked(), progress.rank()), (Asked::Nothing, 7));
        progress.ask_to_stop();
        progress.ask_for_room();
        progress.keep_place();
        assert_eq!(progress.asked(), Asked::Stop);
    }
}
