//! How much memory the bodies of all requests in work may take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory that is given out in shares.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory {
    /// What all shares have, in bytes.
    taken: Arc<AtomicU64>,
    /// Beyond this no share grows, in bytes.
    most: u64,
}

impl BodyMemory {
    pub(crate) fn new(most: u64) -> Self {
        Self {
            taken: Arc::default(),
            most,
        }
    }

    /// The same memory for users who leave an eighth of it to others.
    pub(crate) fn sparing(&self) -> Self {
        Self {
            taken: Arc::clone(&self.taken),
            most: self.most - self.most / 8,
        }
    }

    /// A share of nothing.
    pub(crate) fn share(&self) -> BodyShare {
        BodyShare {
            memory: self.clone(),
            bytes: 0,
        }
    }

    /// What all shares have, in bytes.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// What one request has of it. Given back when dropped.
#[derive(Debug)]
pub(crate) struct BodyShare {
    memory: BodyMemory,
    bytes: u64,
}

impl BodyShare {
    /// Grows to so many bytes, if it is smaller. `false`: there is not so much left. The only share may have any size.
    #[must_use]
    pub(crate) fn grow_to(&mut self, bytes: u64) -> bool {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return true;
        };
        let before = self.memory.taken.fetch_add(more, Ordering::Relaxed);
        if before > self.bytes && before.saturating_add(more) > self.memory.most {
            self.memory.taken.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.taken.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_share_gives_back_another_gets() {
        let memory = BodyMemory::new(100);
        let mut first = memory.share();
        let mut second = memory.share();
        assert!(first.grow_to(60));
        assert!(second.grow_to(40));
        assert!(!second.grow_to(41));
        assert!(first.grow_to(60) && first.grow_to(10), "it has that already");
        assert_eq!(memory.taken(), 100);
        drop(first);
        assert!(second.grow_to(100));
        drop(second);
        assert_eq!(memory.taken(), 0);
    }

    #[test]
    fn a_lone_share_may_have_any_size() {
        let memory = BodyMemory::new(100);
        let mut lone = memory.share();
        assert!(lone.grow_to(80) && lone.grow_to(1000));
        let mut late = memory.share();
        assert!(!late.grow_to(1));
        drop(lone);
        assert!(late.grow_to(1000));
    }

    #[test]
    fn the_sparing_leave_something_to_others() {
        let memory = BodyMemory::new(800);
        let mut first = memory.share();
        assert!(first.grow_to(100));
        let mut sparing = memory.sparing().share();
        assert!(sparing.grow_to(600) && !sparing.grow_to(601));
        assert!(first.grow_to(200));
    }
}
