//! Memory for large bodies: pages apart from the allocator's.
//!
//! The allocator asks the system for large memory too, but once some was freed it keeps what is as large and cuts it up
//! for other uses: after a few long conversations every small request runs through a heap of twice the size. Pages are
//! used again for the next large body, because new ones cost more than the bytes that are copied into them. Beyond
//! [`MOST_KEPT`] they go back to the system at once, and the others when the bodies that come are small again.

use bytes::Bytes;
use memmap2::{MmapMut, MmapOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// From this size on a body has pages of its own, in bytes: the size from which glibc's allocator gives a piece pages of
/// its own, until the first such piece is freed.
const LARGE: u64 = 128 * 1024;

/// Sizes are rounded up to a multiple of this, in bytes, so that pages fit the next request of a conversation too.
const STEP: usize = 256 * 1024;

/// Most that is kept for the next bodies, in bytes.
const MOST_KEPT: usize = 4 * 1024 * 1024;

/// How long pages are kept while only small bodies come.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// Whether a body of that size has pages of its own.
pub(crate) fn is_large(size: u64) -> bool {
    size >= LARGE
}

/// Where the pages of large bodies come from and go back to.
#[derive(Clone, Debug, Default)]
pub(crate) struct PagePool {
    kept: Arc<Kept>,
}

/// What waits for the next large bodies.
#[derive(Debug, Default)]
struct Kept {
    /// With the time since when; the newest is the last.
    pages: Mutex<Vec<(Instant, MmapMut)>>,
    /// Whether there are any, to be known without the lock.
    any: AtomicBool,
}

/// A large body, as far as it has come.
pub(crate) struct Pages {
    /// `None` only while it is dropped.
    memory: Option<MmapMut>,
    filled: usize,
    /// How much of the pages was asked of the system.
    asked: usize,
    pool: PagePool,
}

impl PagePool {
    /// Room for a body of that size; `None` if it is small, or the system has none.
    pub(crate) fn for_body(&self, size: u64) -> Option<Pages> {
        if !is_large(size) {
            return None;
        }
        let size = usize::try_from(size).ok()?.checked_next_multiple_of(STEP)?;
        let kept = self.take(size);
        let asked = kept.as_ref().map_or(0, |pages| pages.len());
        Some(Pages {
            memory: Some(kept.or_else(|| new(size))?),
            filled: 0,
            asked,
            pool: self.clone(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Instant, MmapMut)>> {
        self.kept.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kept pages of about that size.
    fn take(&self, size: usize) -> Option<MmapMut> {
        let mut kept = self.kept();
        let fits = |(_, pages): &(_, MmapMut)| (size..=size.saturating_add(2 * STEP)).contains(&pages.len());
        let found = kept.iter().rposition(fits)?;
        Some(kept.remove(found).1)
    }

    fn give_back(&self, pages: MmapMut) {
        if pages.len() > MOST_KEPT {
            return;
        }
        let mut kept = self.kept();
        kept.push((Instant::now(), pages));
        self.kept.any.store(true, Ordering::Relaxed);
        let mut size: usize = kept.iter().map(|(_, pages)| pages.len()).sum();
        // The oldest are of a size that nobody asked for lately.
        let too_many = kept.iter().take_while(|(_, pages)| {
            let is_over = size > MOST_KEPT;
            size -= pages.len();
            is_over
        });
        let too_many = too_many.count();
        let gone: Vec<_> = kept.drain(..too_many).collect();
        // Giving them back takes a while: not under the lock.
        drop(kept);
        drop(gone);
    }

    /// Gives back what no large body asked for in a while. Costs next to nothing where nothing is kept.
    pub(crate) fn tidy(&self, now: impl FnOnce() -> Instant) {
        if !self.kept.any.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut kept) = self.kept.pages.try_lock() else {
            return;
        };
        let now = now();
        let old = kept.partition_point(|(since, _)| now.saturating_duration_since(*since) >= KEPT_FOR);
        let gone: Vec<_> = kept.drain(..old).collect();
        self.kept.any.store(!kept.is_empty(), Ordering::Relaxed);
        drop(kept);
        drop(gone);
    }
}

/// New pages, none of which takes memory yet.
fn new(size: usize) -> Option<MmapMut> {
    MmapOptions::new().len(size).map_anon().ok()
}

impl Pages {
    /// Adds the next part. `false`, and nothing is added, where it is more than there is room for.
    #[must_use]
    pub(crate) fn extend(&mut self, part: &[u8]) -> bool {
        let end = self.filled.saturating_add(part.len());
        if self.memory.as_ref().is_none_or(|memory| end > memory.len()) {
            return false;
        }
        self.ask(end);
        let Some(room) = self
            .memory
            .as_mut()
            .and_then(|memory| memory.get_mut(self.filled..end))
        else {
            return false;
        };
        room.copy_from_slice(part);
        self.filled = end;
        true
    }

    /// Has the system find the pages up to there, some at a time: one by one, as they are written to, takes longer. What is
    /// only announced takes no memory.
    fn ask(&mut self, end: usize) {
        if end <= self.asked {
            return;
        }
        let until = end.next_multiple_of(STEP);
        #[cfg(target_os = "linux")]
        if let Some(memory) = &self.memory {
            // Where the system does not know of it (before Linux 5.14), they come one by one.
            let _ = memory.advise_range(
                memmap2::Advice::PopulateWrite,
                self.asked,
                until.min(memory.len()) - self.asked,
            );
        }
        self.asked = until;
    }

    /// The body. Its pages go back when the last part of it is dropped.
    pub(crate) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        let memory = self.memory.as_deref().unwrap_or_default();
        memory.get(..self.filled).unwrap_or_default()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.pool.give_back(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl PagePool {
        fn sizes(&self) -> Vec<usize> {
            self.kept().iter().map(|(_, pages)| pages.len()).collect()
        }
    }

    #[test]
    fn a_small_body_needs_no_pages() {
        let pool = PagePool::default();
        assert!(pool.for_body(0).is_none());
        assert!(pool.for_body(LARGE - 1).is_none());
        assert!(pool.for_body(LARGE).is_some());
    }

    #[test]
    fn what_was_added_is_the_body_and_nothing_beyond_its_room() {
        let mut pages = PagePool::default().for_body(STEP as u64).unwrap();
        let half = vec![b'a'; STEP / 2];
        assert!(pages.extend(&half));
        assert_eq!(pages.as_ref(), half, "as far as it came");
        assert!(!pages.extend(&vec![b'b'; half.len() + 1]));
        assert!(pages.extend(&vec![b'c'; half.len()]));
        assert!(!pages.extend(b"d"));
        let body = pages.freeze();
        assert_eq!(body.len(), STEP);
        assert_eq!((body[half.len() - 1], body[half.len()]), (b'a', b'c'));
    }

    #[test]
    fn pages_are_used_again_and_show_nothing_of_what_was_in_them() {
        let pool = PagePool::default();
        let mut secret = pool.for_body(LARGE).unwrap();
        assert!(secret.extend(&vec![b's'; LARGE as usize]));
        let secret = secret.freeze();
        let part = secret.slice(..1);
        drop(secret);
        assert!(pool.sizes().is_empty(), "a part of it is still in use");
        drop(part);
        assert_eq!(pool.sizes(), [STEP]);
        let mut next = pool.for_body(LARGE + 1).unwrap();
        assert!(pool.sizes().is_empty());
        assert!(next.extend(b"next"));
        assert_eq!(next.freeze(), "next");
    }

    #[test]
    fn few_pages_are_kept_and_the_newest_of_them() {
        let pool = PagePool::default();
        let bodies: Vec<Pages> = (1..=10).map(|_| pool.for_body(1024 * 1024).unwrap()).collect();
        drop(pool.for_body(LARGE));
        drop(bodies);
        assert_eq!(pool.sizes(), [1024 * 1024; 4]);
        drop(pool.for_body(MOST_KEPT as u64 + 1));
        assert_eq!(pool.sizes(), [1024 * 1024; 4], "more than may be kept");
        assert!(
            pool.for_body(u64::MAX).is_none(),
            "no memory of that size is no fault"
        );
    }

    #[test]
    fn only_what_has_come_takes_memory() {
        let pool = PagePool::default();
        let mut pages = pool.for_body(64 * STEP as u64).unwrap();
        assert_eq!(pages.asked, 0);
        assert!(pages.extend(b"a"));
        assert_eq!(pages.asked, STEP);
        assert!(pages.extend(&vec![b'a'; STEP]));
        assert_eq!(pages.asked, 2 * STEP);
        drop(pool.for_body(LARGE));
        assert_eq!(pool.for_body(LARGE).unwrap().asked, STEP, "kept pages are there");
    }

    #[test]
    fn pages_far_too_large_are_left_for_others() {
        let pool = PagePool::default();
        drop(pool.for_body(2 * 1024 * 1024));
        drop(pool.for_body(LARGE));
        assert_eq!(pool.sizes(), [2 * 1024 * 1024, STEP]);
    }

    #[test]
    fn pages_go_back_when_only_small_bodies_come() {
        let pool = PagePool::default();
        drop(pool.for_body(LARGE));
        let now = Instant::now();
        pool.tidy(|| now);
        assert_eq!(pool.sizes(), [STEP], "kept for a while");
        pool.tidy(|| now + KEPT_FOR);
        assert!(pool.sizes().is_empty());
        pool.tidy(|| panic!("nothing is kept, so nobody looks at the clock"));
    }
}
