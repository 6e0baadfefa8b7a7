//! The memory that all collected request bodies may take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory given out in reservations.
#[derive(Clone, Debug)]
pub(crate) struct BodyBudget {
    /// All reservations together, in bytes.
    reserved: Arc<AtomicU64>,
    /// Limit of all reservations, in bytes.
    most: u64,
}

impl BodyBudget {
    pub(crate) fn new(most: u64) -> Self {
        Self {
            reserved: Arc::default(),
            most,
        }
    }

    /// Returns the same budget with a limit that leaves an eighth to others.
    pub(crate) fn with_reserve(&self) -> Self {
        Self {
            reserved: Arc::clone(&self.reserved),
            most: self.most - self.most / 8,
        }
    }

    /// Returns an empty reservation.
    pub(crate) fn reservation(&self) -> BodyReservation {
        BodyReservation {
            memory: self.clone(),
            bytes: 0,
        }
    }

    /// All reservations together, in bytes.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }
}

/// The reservation of one request. Released when dropped.
#[derive(Debug)]
pub(crate) struct BodyReservation {
    memory: BodyBudget,
    bytes: u64,
}

impl BodyReservation {
    /// Grows the reservation to `bytes`. Returns `false` if the budget is exhausted. A single reservation may have any size.
    #[must_use]
    pub(crate) fn grow_to(&mut self, bytes: u64) -> bool {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return true;
        };
        let before = self.memory.reserved.fetch_add(more, Ordering::Relaxed);
        if before > self.bytes && before.saturating_add(more) > self.memory.most {
            self.memory.reserved.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for BodyReservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.reserved.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_memory_can_be_reserved_again() {
        let memory = BodyBudget::new(100);
        let mut first = memory.reservation();
        let mut second = memory.reservation();
        assert!(first.grow_to(60));
        assert!(second.grow_to(40));
        assert!(!second.grow_to(41));
        assert!(first.grow_to(60) && first.grow_to(10), "it has that already");
        assert_eq!(memory.reserved(), 100);
        drop(first);
        assert!(second.grow_to(100));
        drop(second);
        assert_eq!(memory.reserved(), 0);
    }

    #[test]
    fn single_reservation_may_have_any_size() {
        let memory = BodyBudget::new(100);
        let mut lone = memory.reservation();
        assert!(lone.grow_to(80) && lone.grow_to(1000));
        let mut late = memory.reservation();
        assert!(!late.grow_to(1));
        drop(lone);
        assert!(late.grow_to(1000));
    }

    #[test]
    fn reserve_is_left_to_others() {
        let memory = BodyBudget::new(800);
        let mut first = memory.reservation();
        assert!(first.grow_to(100));
        let mut with_reserve = memory.with_reserve().reservation();
        assert!(with_reserve.grow_to(600) && !with_reserve.grow_to(601));
        assert!(first.grow_to(200));
    }
}
