//! The limit on the scripts inside a command line that are analyzed.

use grov_domain::beginning_to;

/// More scripts inside one command line are not walked through, however they are nested.
const MAX_SCRIPTS: usize = 64;
/// More text of such scripts is not walked through, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// What may still be walked through of the scripts inside one command line.
///
/// Code that runs code can say the same line many times, and each line can hold code again: a limit on the depth alone
/// leaves a number of scripts that grows with its power. So nothing that was taken is given back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanBudget {
    scripts: usize,
    bytes: usize,
}

impl ScanBudget {
    /// Takes one more script: as much of its beginning as may be walked through. `None`: nothing of it.
    pub(crate) fn take<'s>(&mut self, script: &'s str) -> Option<&'s str> {
        if self.is_spent() {
            return None;
        }
        let beginning = script.floor_char_boundary(MAX_BYTES - self.bytes);
        self.scripts += 1;
        self.bytes = self.bytes.saturating_add(script.len());
        Some(beginning_to(script, beginning))
    }

    /// Whether nothing more is walked through.
    pub(crate) fn is_spent(&self) -> bool {
        self.scripts >= MAX_SCRIPTS || self.bytes >= MAX_BYTES
    }

    /// How many scripts were taken.
    #[cfg(test)]
    pub(crate) fn scripts(&self) -> usize {
        self.scripts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_scripts_are_taken_and_so_much_text() {
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
