//! Counters for health pages.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number of events since the start of the process.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds 1.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Defines a struct of [`Counter`]s with a method `all`, which returns the name and the value of each.
#[macro_export]
macro_rules! counters {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($(#[$doc:meta])* $counter:ident,)+ }) => {
        $(#[$attribute])*
        #[derive(Debug, Default)]
        $visibility struct $name { $($(#[$doc])* pub(crate) $counter: $crate::Counter,)+ }

        impl $name {
            /// Returns the counters by name.
            $visibility fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($counter), self.$counter.get()),)+]
            }
        }
    };
}
