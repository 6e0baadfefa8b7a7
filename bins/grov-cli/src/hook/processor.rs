//! Runs all threads of a hook on one processor.
//!
//! The threads take turns: one sends queries, the other runs the database. Waking a thread on another processor takes longer
//! than most queries, and on a busy machine each thread would wait separately until a processor is free.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The restriction of this thread, and of threads and programs that it starts, to one processor.
#[derive(Debug)]
pub(super) struct Processor {
    /// The processors that were allowed before.
    #[cfg(target_os = "linux")]
    before: CpuSet,
}

impl Processor {
    /// Restricts this thread to the current processor; `None` if the system does not support it.
    #[cfg(target_os = "linux")]
    pub(super) fn keep() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut only = CpuSet::new();
        let current = sched_getcpu();
        if current >= CpuSet::MAX_CPU {
            return None;
        }
        only.set(current);
        sched_setaffinity(None, &only).ok()?;
        Some(Self { before })
    }

    /// Not supported.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn keep() -> Option<Self> {
        None
    }

    /// Removes the restriction from this thread, and from what it starts from now on.
    pub(super) fn leave(&self) {
        // After an error the restriction stays: this process ends soon, and a started program runs on one processor.
        #[cfg(target_os = "linux")]
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The line of the thread's status that lists its allowed processors.
    pub(in crate::hook) fn allowed() -> Option<String> {
        let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("Cpus_allowed:"))?;
        Some(line.to_owned())
    }

    #[test]
    fn threads_run_on_one_processor_until_the_restriction_is_removed() {
        let before = allowed();
        let Some(processor) = Processor::keep() else {
            return;
        };
        let bits = |line: Option<String>| -> u32 {
            let line = line.unwrap_or_default();
            let digits = line.trim_start_matches("Cpus_allowed:").chars();
            digits
                .filter_map(|digit| digit.to_digit(16))
                .map(u32::count_ones)
                .sum()
        };
        assert_eq!(bits(allowed()), 1);
        let of_a_thread = std::thread::spawn(allowed).join().unwrap();
        assert_eq!(bits(of_a_thread), 1);
        processor.leave();
        assert_eq!(allowed(), before);
    }
}
