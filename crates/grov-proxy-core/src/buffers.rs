//! Memory for request bodies, mapped separately from the allocator.
//!
//! A body arrives on one thread and is dropped on another, the observers': with the allocator both would contend for the heap of
//! the first. Large freed bodies would also stay in the heap and be split for other uses. Buffers are reused, because mapping a
//! new buffer costs more than copying the bytes into it. Beyond [`MAX_IDLE_BYTES`] they are unmapped at once, and those unused for
//! [`MAX_IDLE`] with the next body.

use bytes::Bytes;
use memmap2::{MmapMut, MmapOptions};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bodies up to this size use the allocator, in bytes.
const TINY: u64 = 1024;

/// Bodies from this size on are large, in bytes: glibc's allocator maps such pieces separately at first.
const LARGE: u64 = 128 * 1024;

/// Buffer sizes are a multiple of this, in bytes, so that a buffer fits the next body too.
const STEP: usize = 32 * 1024;

/// Large buffer sizes are a multiple of this, in bytes.
const LARGE_STEP: usize = 256 * 1024;

/// Maximum memory of idle buffers, in bytes.
const MAX_IDLE_BYTES: usize = 4 * 1024 * 1024;

/// How long an unused buffer is kept.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// Returns whether a body of this size uses the allocator.
pub(crate) fn is_tiny(size: u64) -> bool {
    size <= TINY
}

/// Returns whether a body of this size is large. Its buffer should be allocated only once its second frame arrives.
pub(crate) fn is_large(size: u64) -> bool {
    size >= LARGE
}

/// A pool of buffers for request bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct BufferPool {
    idle: Arc<Mutex<IdleBuffers>>,
}

#[derive(Debug, Default)]
struct IdleBuffers {
    /// The buffers with the time they became idle, newest last.
    all: Vec<(Instant, MmapMut)>,
    /// Their total size, in bytes.
    size: usize,
}

/// A buffer that holds the received part of a body.
pub(crate) struct Buffer {
    /// `None` only in `drop`.
    memory: Option<MmapMut>,
    filled: usize,
    /// Bytes of the buffer that are populated already.
    populated: usize,
    pool: BufferPool,
}

impl BufferPool {
    /// Returns a buffer for a body of this size, or `None` if it is tiny or memory is exhausted.
    pub(crate) fn for_body(&self, size: u64) -> Option<Buffer> {
        if is_tiny(size) {
            return None;
        }
        let step = if is_large(size) { LARGE_STEP } else { STEP };
        let size = usize::try_from(size).ok()?.checked_next_multiple_of(step)?;
        let idle = self.take(size, size.saturating_add(2 * step));
        // Small buffers are populated faster by writing to them.
        let is_there = idle.is_some() || step == STEP;
        let memory = idle.or_else(|| new(size))?;
        Some(Buffer {
            populated: if is_there { memory.len() } else { 0 },
            memory: Some(memory),
            filled: 0,
            pool: self.clone(),
        })
    }

    fn idle(&self) -> MutexGuard<'_, IdleBuffers> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an idle buffer of about this size.
    fn take(&self, least: usize, most: usize) -> Option<MmapMut> {
        let mut idle = self.idle();
        let fits = |(_, buffer): &(_, MmapMut)| (least..=most).contains(&buffer.len());
        let found = idle.all.iter().rposition(fits)?;
        let (_, buffer) = idle.all.remove(found);
        idle.size -= buffer.len();
        Some(buffer)
    }

    fn put(&self, buffer: MmapMut) {
        if buffer.len() > MAX_IDLE_BYTES {
            return;
        }
        let now = Instant::now();
        let mut idle = self.idle();
        idle.size += buffer.len();
        idle.all.push((now, buffer));
        let gone = idle.remove_expired(now);
        // Unmapping takes a while: not under the lock.
        drop(idle);
        drop(gone);
    }

    /// Unmaps buffers unused for [`MAX_IDLE`].
    pub(crate) fn remove_unused(&self, now: Instant) {
        let Ok(mut idle) = self.idle.try_lock() else {
            return;
        };
        let gone = idle.remove_expired(now);
        drop(idle);
        drop(gone);
    }
}

impl IdleBuffers {
    /// Removes buffers beyond the limit or unused for too long, oldest first.
    fn remove_expired(&mut self, now: Instant) -> Vec<(Instant, MmapMut)> {
        let mut size = self.size;
        let gone = self.all.iter().take_while(|(since, buffer)| {
            let goes = size > MAX_IDLE_BYTES || now.saturating_duration_since(*since) >= MAX_IDLE;
            if goes {
                size -= buffer.len();
            }
            goes
        });
        let gone = gone.count();
        self.size = size;
        self.all.drain(..gone).collect()
    }
}

/// Maps a new buffer, which takes no memory yet.
fn new(size: usize) -> Option<MmapMut> {
    MmapOptions::new().len(size).map_anon().ok()
}

impl Buffer {
    /// Appends a part of the body. Returns `false` and appends nothing if it does not fit.
    #[must_use]
    pub(crate) fn extend(&mut self, part: &[u8]) -> bool {
        let end = self.filled.saturating_add(part.len());
        if self.memory.as_ref().is_none_or(|memory| end > memory.len()) {
            return false;
        }
        self.populate(end);
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

    /// Populates the buffer up to `end`, some at a time, which is faster than one page fault each.
    fn populate(&mut self, end: usize) {
        if end <= self.populated {
            return;
        }
        let until = end.next_multiple_of(LARGE_STEP);
        #[cfg(target_os = "linux")]
        if let Some(memory) = &self.memory {
            // Unknown before Linux 5.14: then each page faults.
            let _ = memory.advise_range(
                memmap2::Advice::PopulateWrite,
                self.populated,
                until.min(memory.len()) - self.populated,
            );
        }
        self.populated = until;
    }

    /// Returns the memory that it takes, in bytes.
    pub(crate) fn resident(&self) -> usize {
        let buffer = self.memory.as_ref().map_or(0, |memory| memory.len());
        self.populated.min(buffer)
    }

    /// Returns the body. The buffer returns to the pool when the last slice is dropped.
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
            self.pool.put(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl BufferPool {
        fn sizes(&self) -> Vec<usize> {
            let idle = self.idle();
            let sizes: Vec<usize> = idle.all.iter().map(|(_, buffer)| buffer.len()).collect();
            assert_eq!(idle.size, sizes.iter().sum::<usize>());
            sizes
        }
    }

    #[test]
    fn tiny_body_needs_no_buffer() {
        let pool = BufferPool::default();
        assert!(pool.for_body(0).is_none());
        assert!(pool.for_body(TINY).is_none());
        assert!(pool.for_body(TINY + 1).is_some());
        assert!(pool.for_body(LARGE).is_some());
        assert_eq!(pool.sizes(), [STEP, LARGE_STEP]);
    }

    #[test]
    fn buffers_of_small_bodies_are_reused() {
        let pool = BufferPool::default();
        let bodies: Vec<Bytes> = (0..3)
            .map(|number| {
                let mut buffer = pool.for_body(20_000).unwrap();
                assert!(buffer.extend(&[number; 20_000]));
                buffer.freeze()
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
    fn buffer_contains_the_appended_parts_up_to_its_size() {
        let mut buffer = BufferPool::default().for_body(LARGE_STEP as u64).unwrap();
        let half = vec![b'a'; LARGE_STEP / 2];
        assert!(buffer.extend(&half));
        assert_eq!(buffer.as_ref(), half, "as far as it came");
        assert!(!buffer.extend(&vec![b'b'; half.len() + 1]));
        assert!(buffer.extend(&vec![b'c'; half.len()]));
        assert!(!buffer.extend(b"d"));
        let body = buffer.freeze();
        assert_eq!(body.len(), LARGE_STEP);
        assert_eq!((body[half.len() - 1], body[half.len()]), (b'a', b'c'));
    }

    #[test]
    fn reused_buffers_do_not_expose_old_bytes() {
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
    fn newest_idle_buffers_are_kept_up_to_the_limit() {
        let pool = BufferPool::default();
        let bodies: Vec<Buffer> = (1..=10).map(|_| pool.for_body(1024 * 1024).unwrap()).collect();
        drop(pool.for_body(LARGE));
        drop(bodies);
        assert_eq!(pool.sizes(), [1024 * 1024; 4]);
        drop(pool.for_body(MAX_IDLE_BYTES as u64 + 1));
        assert_eq!(pool.sizes(), [1024 * 1024; 4], "more than may be idle");
        assert!(
            pool.for_body(u64::MAX).is_none(),
            "no memory of that size is no fault"
        );
    }

    #[test]
    fn only_received_bytes_populate_memory() {
        let pool = BufferPool::default();
        let mut buffer = pool.for_body(64 * LARGE_STEP as u64).unwrap();
        assert_eq!(buffer.populated, 0);
        assert!(buffer.extend(b"a"));
        assert_eq!(buffer.populated, LARGE_STEP);
        assert!(buffer.extend(&vec![b'a'; LARGE_STEP]));
        assert_eq!(buffer.populated, 2 * LARGE_STEP);
        drop(pool.for_body(LARGE));
        assert_eq!(
            pool.for_body(LARGE).unwrap().populated,
            LARGE_STEP,
            "idle buffers are populated"
        );
    }

    #[test]
    fn much_larger_buffers_are_not_reused() {
        let pool = BufferPool::default();
        drop(pool.for_body(2 * 1024 * 1024));
        drop(pool.for_body(LARGE));
        assert_eq!(pool.sizes(), [2 * 1024 * 1024, LARGE_STEP]);
    }

    #[test]
    fn idle_buffers_are_unmapped_when_only_tiny_bodies_arrive() {
        let pool = BufferPool::default();
        drop(pool.for_body(LARGE));
        let now = Instant::now();
        pool.remove_unused(now);
        assert_eq!(pool.sizes(), [LARGE_STEP], "idle for a while");
        pool.remove_unused(now + MAX_IDLE);
        assert!(pool.sizes().is_empty());
    }

    #[test]
    fn unused_buffers_expire_while_others_are_used() {
        let mut idle = IdleBuffers::default();
        let start = Instant::now();
        for (seconds, size) in [(0, LARGE_STEP), (1, STEP), (2, STEP)] {
            let since = start + Duration::from_secs(seconds) / 2;
            idle.all.push((since, new(size).unwrap()));
            idle.size += size;
        }
        assert_eq!(idle.remove_expired(start + MAX_IDLE).len(), 1);
        assert_eq!((idle.all.len(), idle.size), (2, 2 * STEP));
    }
}
