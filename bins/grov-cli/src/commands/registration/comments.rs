//! Takes comments and trailing commas out of a settings file, and puts them back.

use crate::failure::Failure;
use crate::output::note;
use grov_hooks::settings::{Plan, Registry, SettingsError, SettingsFile, plain};
use grov_runtime::create_private;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A settings file that is to become plain JSON.
pub(super) struct Commented {
    file: SettingsFile,
    plain: String,
}

impl Commented {
    /// `None` if the file has neither comments nor trailing commas.
    pub(super) fn of(file: &SettingsFile) -> Result<Option<Self>, SettingsError> {
        let plain = plain(file.text()).map_err(|error| file.malformed(error))?;
        Ok(plain.map(|plain| Self {
            file: file.clone(),
            plain,
        }))
    }

    /// The file as it will be, for planning.
    pub(super) fn planned(&self) -> SettingsFile {
        self.file.with_text(&self.plain)
    }

    /// Keeps a copy and makes the file plain.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let path = self.file.path();
        let (shown, copy) = (path.display(), copy(path));
        let written = create_private(&copy, OpenOptions::new().write(true).create(true).truncate(true))
            .and_then(|mut copy| copy.write_all(self.file.text().as_bytes()));
        written.map_err(|error| Failure::error("settings", format!("{}: {error}", copy.display())))?;
        self.file.replace(&self.plain)?;
        note!(
            "{shown} is plain JSON now; the text with comments is in {}",
            copy.display()
        );
        Ok(())
    }
}

/// The copy with comments of a settings file.
fn copy(path: &Path) -> PathBuf {
    path.with_extension("json.with-comments")
}

/// The text with comments that Grov kept of a settings file.
pub(super) struct KeptComments {
    copy: SettingsFile,
    /// Without what Grov registered, which a copy has that was made later.
    original: String,
}

impl KeptComments {
    /// `None` if Grov took no comments out of the file at this path.
    pub(super) fn of(registry: &Registry, path: &Path) -> Result<Option<Self>, SettingsError> {
        let copy = SettingsFile::read(&copy(path))?;
        if !copy.exists() {
            return Ok(None);
        }
        let before = SettingsFile::read(path)?.with_text(copy.text());
        let original = registry.plan_unregistration(before)?.after().to_owned();
        Ok(Some(Self { copy, original }))
    }

    /// Puts the comments back into the file that `plan` removed Grov from, if nothing else was changed since; otherwise says where
    /// they are.
    pub(super) fn restore(&self, plan: &Plan, dry_run: bool) -> Result<(), Failure> {
        let plain = plain(&self.original).ok().flatten();
        let is_same = plain.as_deref().unwrap_or(&self.original) == plan.after();
        let (shown, copy) = (plan.path().display(), self.copy.path().display());
        match (is_same, dry_run) {
            (false, _) => note!(
                "{shown} was changed since its comments were taken out, so they are not put back; the text with comments is in {copy}"
            ),
            (true, true) => note!("{shown} would get its comments back from {copy}"),
            (true, false) => {
                SettingsFile::read(plan.path())?.replace(&self.original)?;
                self.copy.remove()?;
                note!("{shown} has its comments again");
            }
        }
        Ok(())
    }
}
