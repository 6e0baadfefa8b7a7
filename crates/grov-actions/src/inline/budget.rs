//! Limits the analysis of scripts inside a command line.

use grov_domain::beginning_to;

/// The maximum number of scripts inside one command line, at all levels of nesting together.
const MAX_SCRIPTS: usize = 64;
/// The maximum length of these scripts together, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The number and length of the scripts inside one command line that may still be analyzed.
///
/// Code can contain the same command many times, and each of them can contain code again. With a limit on the depth
/// alone, the number of scripts would grow exponentially. Therefore the budget is never refilled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanBudget {
    scripts: usize,
    bytes: usize,
}

impl ScanBudget {
    /// Takes a script from the budget. Returns the part that may be analyzed, or `None` if the budget is spent.
    pub(crate) fn take<'s>(&mut self, script: &'s str) -> Option<&'s str> {
        if self.is_spent() {
            return None;
        }
        let beginning = script.floor_char_boundary(MAX_BYTES - self.bytes);
        self.scripts += 1;
        self.bytes = self.bytes.saturating_add(script.len());
        Some(beginning_to(script, beginning))
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.scripts >= MAX_SCRIPTS || self.bytes >= MAX_BYTES
    }

    #[cfg(test)]
    pub(crate) fn scripts(&self) -> usize {
        self.scripts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_limits_scripts_and_bytes() {
        let mut many = ScanBudget::default();
        assert_eq!((0..1000).filter_map(|_| many.take("ls")).count(), MAX_SCRIPTS);
        assert_eq!(many.scripts(), MAX_SCRIPTS);

        let mut long = ScanBudget::default();
        let script = "ls a/é; ".repeat(MAX_BYTES / 20);
        let taken: Vec<&str> = (0..9).filter_map(|_| long.take(&script)).collect();
        assert_eq!(taken.first(), Some(&script.as_str()));
        let bytes: usize = taken.iter().map(|text| text.len()).sum();
        assert!(
            taken.len() == 3 && bytes <= MAX_BYTES && long.is_spent(),
            "{bytes}"
        );
    }
}
