//! Room for the database's thread.
//!
//! glibc gives each thread a heap of its own, and makes it a page longer whenever it is full: a database's thread, which asks
//! for a hundred pages one by one, calls the system for each of them. When a thread ends, the next one gets its heap as it is;
//! so one that does nothing else makes it long enough. No page of it is touched by that, so it takes no memory.

use std::hint::black_box;
use std::thread::{self, JoinHandle};

/// What the questions of a prompt take, with some room.
const ROOM: usize = 768 * 1024;
/// What is larger than all that was given back before is no part of a heap; so something is, first.
const LARGER: usize = 1024 * 1024;

/// A heap that is being made ready.
pub(crate) struct Room(Option<JoinHandle<()>>);

impl Room {
    /// Begins with it, where heaps are like that.
    pub(crate) fn ahead() -> Self {
        let is_glibc = cfg!(all(target_os = "linux", target_env = "gnu"));
        let make = || {
            for size in [LARGER, ROOM] {
                let mut room = Vec::<u8>::new();
                // Refused, it is no room, and nothing is lost.
                let _ = room.try_reserve_exact(size);
                drop(black_box(room));
            }
        };
        // Without it the heap grows by itself.
        Self(
            is_glibc
                .then(|| thread::Builder::new().spawn(make).ok())
                .flatten(),
        )
    }

    /// Waits until it is ready for the next thread.
    pub(crate) fn ready(self) {
        if let Some(thread) = self.0 {
            let _ = thread.join();
        }
    }
}
