//! Decides when a changed provider file is read.

use crate::source::Fingerprint;

/// For so many checks, a file that is missing or empty leaves the one that was read in use.
const PATIENCE: u32 = 2;

/// The changes of the provider file. Editors write a file in steps, so a change counts once two checks in a row saw the same.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// What the files looked like when they were read.
    read: Fingerprint,
    /// What the last check saw.
    seen: Fingerprint,
    /// Checks in a row that missed the file.
    missed: u32,
}

impl Changes {
    /// Returns whether to read the files, which look like `now`. `in_use` tells whether there is a good file to keep.
    pub(crate) fn check(&mut self, now: Fingerprint, in_use: bool) -> bool {
        let is_stable = now == self.seen;
        let is_lost = in_use && self.read.lost_file(&now);
        self.missed = if is_lost { self.missed + 1 } else { 0 };
        let is_changed = now != self.read;
        self.seen = now;
        is_changed && is_stable && (!is_lost || self.missed > PATIENCE)
    }

    /// Whether the files, which look like `now`, are to be read because somebody asks. A file that is missing or empty waits for the
    /// checks: somebody else may just save it.
    pub(crate) fn is_due(&self, now: &Fingerprint, in_use: bool) -> bool {
        self.read != *now && !(in_use && self.read.lost_file(now))
    }

    /// Notes that the files were read, while they looked like this.
    pub(crate) fn were_read(&mut self, fingerprint: Fingerprint) {
        self.read = fingerprint.clone();
        self.seen = fingerprint;
        self.missed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ProviderSource;
    use std::path::Path;

    fn looks(path: &Path) -> Fingerprint {
        let source = ProviderSource {
            candidates: vec![path.to_owned()],
            variables: Vec::new(),
            environment: Box::new(|_| None),
        };
        source.fingerprint()
    }

    #[test]
    fn a_half_saved_file_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("providers.yaml");
        let mut changes = Changes::default();
        std::fs::write(&path, "half").unwrap();
        assert!(!changes.check(looks(&path), false));
        std::fs::write(&path, "the whole").unwrap();
        assert!(!changes.check(looks(&path), false));
        assert!(changes.check(looks(&path), false));
        changes.were_read(looks(&path));
        assert!(!changes.check(looks(&path), true));
    }

    #[test]
    fn a_missing_file_is_not_read_because_somebody_asks() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("providers.yaml");
        std::fs::write(&path, "good").unwrap();
        let mut changes = Changes::default();
        changes.were_read(looks(&path));
        std::fs::write(&path, "another").unwrap();
        assert!(changes.is_due(&looks(&path), true));
        std::fs::remove_file(&path).unwrap();
        assert!(!changes.is_due(&looks(&path), true) && changes.is_due(&looks(&path), false));
    }

    #[test]
    fn a_file_that_is_missing_for_a_moment_stays_in_use_and_a_removed_one_does_not() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("providers.yaml");
        std::fs::write(&path, "good").unwrap();
        let mut changes = Changes::default();
        let good = looks(&path);
        changes.were_read(good.clone());
        for _ in 0..2 {
            // Missing or empty, in turn.
            for step in 0..PATIENCE {
                let _ = std::fs::remove_file(&path);
                if step % 2 == 1 {
                    std::fs::write(&path, "").unwrap();
                }
                assert!(!changes.check(looks(&path), true));
            }
            assert!(!changes.check(good.clone(), true));
        }
        std::fs::remove_file(&path).unwrap_or_default();
        let checks = (0..10).take_while(|_| !changes.check(looks(&path), true)).count();
        assert_eq!(checks, PATIENCE as usize);
        changes.were_read(looks(&path));
        assert!(!changes.check(looks(&path), false));
    }
}
