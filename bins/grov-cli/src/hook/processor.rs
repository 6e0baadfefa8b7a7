//! One processor for all threads of a hook.
//!
//! They only ever wait for one another: the one that asks the database, and the one that the database runs on. To wake a thread
//! on another processor takes longer than most of these answers, and on a busy machine both have to wait for their turn.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The processor that this thread keeps to, and all threads and programs that it starts.
#[derive(Debug)]
pub(super) struct Processor {
    /// Those that it might run on before.
    #[cfg(target_os = "linux")]
    before: CpuSet,
}

impl Processor {
    /// Keeps to the one that runs this; `None` where that cannot be asked for, which costs time alone.
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

    /// See above.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn keep() -> Option<Self> {
        None
    }

    /// Lets this thread, and what it starts from now on, run on any again.
    pub(super) fn leave(&self) {
        // What cannot be taken back holds for a few milliseconds; a program that was started runs, on one processor.
        #[cfg(target_os = "linux")]
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The processors that this thread may run on, as the system writes them down.
    pub(in crate::hook) fn allowed() -> Option<String> {
        let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("Cpus_allowed:"))?;
        Some(line.to_owned())
    }

    #[test]
    fn threads_keep_to_one_processor_until_it_is_left() {
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
