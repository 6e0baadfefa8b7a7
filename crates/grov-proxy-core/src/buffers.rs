//! Memory for bodies: pages apart from the allocator's.
//!
//! A body arrives on one thread and is let go on another, the observers': from the allocator each would cost both a lock
//! on the heap of the first. Large memory the allocator asks of the system too, but once some was freed it keeps what is
//! as large and cuts it up for other uses: after a few long conversations every small request runs through a heap of
//! twice the size. Buffer are used again for the next body, because new ones cost more than the bytes that are copied
//! into them. Beyond [`MOST_KEPT`] they go back to the system at once, and those that nobody asked for in a while with
//! the next body.

use bytes::Bytes;
use memmap2::{MmapMut, MmapOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Up to this size a body needs no pages, in bytes: the allocator keeps such pieces for the thread that frees them.
const TINY: u64 = 1024;

/// From this size on a body is large, in bytes: the size from which glibc's allocator gives a piece pages of its own,
/// until the first such piece is freed.
const LARGE: u64 = 128 * 1024;

/// Sizes are rounded up to a multiple of this, in bytes, so that pages fit the next body too.
const STEP: usize = 32 * 1024;

/// The same for large ones.
const LARGE_STEP: usize = 256 * 1024;

/// Most that is kept for the next bodies, in bytes.
const MOST_KEPT: usize = 4 * 1024 * 1024;

/// How long pages are kept that no body asks for; they go with the next body after that.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// Whether a body of that size fits where everything small does.
pub(crate) fn is_tiny(size: u64) -> bool {
    size <= TINY
}

/// Whether a body of that size is large: its pages should be asked for only when some of it has come.
pub(crate) fn is_large(size: u64) -> bool {
    size >= LARGE
}

/// Where the pages of bodies come from and go back to.
#[derive(Clone, Debug, Default)]
pub(crate) struct BufferPool {
    kept: Arc<Kept>,
}

/// What waits for the next bodies.
#[derive(Debug, Default)]
struct Kept {
    pages: Mutex<IdleBuffers>,
    /// Whether there are any, to be known without the lock.
    any: AtomicBool,
}

#[derive(Debug, Default)]
struct IdleBuffers {
    /// With the time since when; the newest is the last.
    all: Vec<(Instant, MmapMut)>,
    /// Of all of them together, in bytes.
    size: usize,
}

/// A body, as far as it has come.
pub(crate) struct Buffer {
    /// `None` only while it is dropped.
    memory: Option<MmapMut>,
    filled: usize,
    /// How much of the pages was asked of the system.
    asked: usize,
    pool: BufferPool,
}

impl BufferPool {
    /// Room for a body of that size; `None` if it is tiny, or the system has none.
    pub(crate) fn for_body(&self, size: u64) -> Option<Buffer> {
        if is_tiny(size) {
            return None;
        }
        let step = if is_large(size) { LARGE_STEP } else { STEP };
        let size = usize::try_from(size).ok()?.checked_next_multiple_of(step)?;
        let kept = self.take(size, size.saturating_add(2 * step));
        // A few pages come faster as they are written to.
        let is_there = kept.is_some() || step == STEP;
        let memory = kept.or_else(|| new(size))?;
        Some(Buffer {
            asked: if is_there { memory.len() } else { 0 },
            memory: Some(memory),
            filled: 0,
            pool: self.clone(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, IdleBuffers> {
        self.kept.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kept pages of about that size.
    fn take(&self, least: usize, most: usize) -> Option<MmapMut> {
        let mut kept = self.kept();
        let fits = |(_, pages): &(_, MmapMut)| (least..=most).contains(&pages.len());
        let found = kept.all.iter().rposition(fits)?;
        let (_, pages) = kept.all.remove(found);
        kept.size -= pages.len();
        Some(pages)
    }

    fn give_back(&self, pages: MmapMut) {
        if pages.len() > MOST_KEPT {
            return;
        }
        let now = Instant::now();
        let mut kept = self.kept();
        kept.size += pages.len();
        kept.all.push((now, pages));
        self.kept.any.store(true, Ordering::Relaxed);
        let gone = kept.drop_out(now);
        // Giving them back takes a while: not under the lock.
        drop(kept);
        drop(gone);
    }

    /// Gives back what no body asked for in a while. Costs next to nothing where nothing is kept.
    pub(crate) fn tidy(&self, now: impl FnOnce() -> Instant) {
        if !self.kept.any.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut kept) = self.kept.pages.try_lock() else {
            return;
        };
        let gone = kept.drop_out(now());
        self.kept.any.store(!kept.all.is_empty(), Ordering::Relaxed);
        drop(kept);
        drop(gone);
    }
}

impl IdleBuffers {
    /// Takes out what is too much, or too old. The oldest are of a size that nobody asked for lately.
    fn drop_out(&mut self, now: Instant) -> Vec<(Instant, MmapMut)> {
        let mut size = self.size;
        let gone = self.all.iter().take_while(|(since, pages)| {
            let goes = size > MOST_KEPT || now.saturating_duration_since(*since) >= KEPT_FOR;
            if goes {
                size -= pages.len();
            }
            goes
        });
        let gone = gone.count();
        self.size = size;
        self.all.drain(..gone).collect()
    }
}

/// New pages, none of which takes memory yet.
fn new(size: usize) -> Option<MmapMut> {
    MmapOptions::new().len(size).map_anon().ok()
}

impl Buffer {
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
        let until = end.next_multiple_of(LARGE_STEP);
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

    /// How much memory it takes by now, in bytes.
    pub(crate) fn resident(&self) -> usize {
        let pages = self.memory.as_ref().map_or(0, |memory| memory.len());
        self.asked.min(pages)
    }

    /// The body. Its pages go back when the last part of it is dropped.
    pub(crate) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        let memory = self.memory.as_deref().unwrap_or_default();
        memory.get(..self.filled).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.pool.give_back(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl BufferPool {
        fn sizes(&self) -> Vec<usize> {
            let kept = self.kept();
            let sizes: Vec<usize> = kept.all.iter().map(|(_, pages)| pages.len()).collect();
            assert_eq!(kept.size, sizes.iter().sum::<usize>());
            sizes
        }
    }

    #[test]
    fn a_tiny_body_needs_no_pages() {
        let pool = BufferPool::default();
        assert!(pool.for_body(0).is_none());
        assert!(pool.for_body(TINY).is_none());
        assert!(pool.for_body(TINY + 1).is_some());
        assert!(pool.for_body(LARGE).is_some());
        assert_eq!(pool.sizes(), [STEP, LARGE_STEP]);
    }

    #[test]
    fn pages_of_small_bodies_are_used_again() {
        let pool = BufferPool::default();
        let bodies: Vec<Bytes> = (0..3)
            .map(|number| {
                let mut pages = pool.for_body(20_000).unwrap();
                assert!(pages.extend(&[number; 20_000]));
                pages.freeze()
            })
            .collect();
        drop(bodies);
        assert_eq!(pool.sizes(), [STEP; 3]);
        let next = pool.for_body(30_000).unwrap();
        assert_eq!((next.as_ref().len(), pool.sizes().len()), (0, 2));
        assert!(pool.for_body(LARGE).is_some(), "not in place of large ones");
        assert_eq!(pool.sizes(), [STEP, STEP, LARGE_STEP]);
    }

    #[test]
    fn what_was_added_is_the_body_and_nothing_beyond_its_room() {
        let mut pages = BufferPool::default().for_body(LARGE_STEP as u64).unwrap();
        let half = vec![b'a'; LARGE_STEP / 2];
        assert!(pages.extend(&half));
        assert_eq!(pages.as_ref(), half, "as far as it came");
        assert!(!pages.extend(&vec![b'b'; half.len() + 1]));
        assert!(pages.extend(&vec![b'c'; half.len()]));
        assert!(!pages.extend(b"d"));
        let body = pages.freeze();
        assert_eq!(body.len(), LARGE_STEP);
        assert_eq!((body[half.len() - 1], body[half.len()]), (b'a', b'c'));
    }

    #[test]
    fn pages_are_used_again_and_show_nothing_of_what_was_in_them() {
        let pool = BufferPool::default();
        let mut secret = pool.for_body(LARGE).unwrap();
        assert!(secret.extend(&vec![b's'; LARGE as usize]));
        let secret = secret.freeze();
        let part = secret.slice(..1);
        drop(secret);
        assert!(pool.sizes().is_empty(), "a part of it is still in use");
        drop(part);
        assert_eq!(pool.sizes(), [LARGE_STEP]);
        let mut next = pool.for_body(LARGE + 1).unwrap();
        assert!(pool.sizes().is_empty());
        assert!(next.extend(b"next"));
        assert_eq!(next.freeze(), "next");
    }

    #[test]
    fn few_pages_are_kept_and_the_newest_of_them() {
        let pool = BufferPool::default();
        let bodies: Vec<Buffer> = (1..=10).map(|_| pool.for_body(1024 * 1024).unwrap()).collect();
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
        let pool = BufferPool::default();
        let mut pages = pool.for_body(64 * LARGE_STEP as u64).unwrap();
        assert_eq!(pages.asked, 0);
        assert!(pages.extend(b"a"));
        assert_eq!(pages.asked, LARGE_STEP);
        assert!(pages.extend(&vec![b'a'; LARGE_STEP]));
        assert_eq!(pages.asked, 2 * LARGE_STEP);
        drop(pool.for_body(LARGE));
        assert_eq!(
            pool.for_body(LARGE).unwrap().asked,
            LARGE_STEP,
            "kept pages are there"
        );
    }

    #[test]
    fn pages_far_too_large_are_left_for_others() {
        let pool = BufferPool::default();
        drop(pool.for_body(2 * 1024 * 1024));
        drop(pool.for_body(LARGE));
        assert_eq!(pool.sizes(), [2 * 1024 * 1024, LARGE_STEP]);
    }

    #[test]
    fn pages_go_back_when_only_tiny_bodies_come() {
        let pool = BufferPool::default();
        drop(pool.for_body(LARGE));
        let now = Instant::now();
        pool.tidy(|| now);
        assert_eq!(pool.sizes(), [LARGE_STEP], "kept for a while");
        pool.tidy(|| now + KEPT_FOR);
        assert!(pool.sizes().is_empty());
        pool.tidy(|| panic!("nothing is kept, so nobody looks at the clock"));
    }

    #[test]
    fn what_nobody_asks_for_goes_while_others_are_used() {
        let mut kept = IdleBuffers::default();
        let start = Instant::now();
        for (seconds, size) in [(0, LARGE_STEP), (1, STEP), (2, STEP)] {
            let since = start + Duration::from_secs(seconds) / 2;
            kept.all.push((since, new(size).unwrap()));
            kept.size += size;
        }
        assert_eq!(kept.drop_out(start + KEPT_FOR).len(), 1);
        assert_eq!((kept.all.len(), kept.size), (2, 2 * STEP));
    }
}
