//! Reads and atomically replaces a settings file.

use super::error::{SettingsError, SyntaxError};
use std::fs::{Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// Mode of new files: settings may contain keys.
const PRIVATE_FILE: u32 = 0o600;
/// Maximum number of symbolic links to follow, as in the kernel.
const MAX_LINKS: usize = 40;

/// The contents of a settings file when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// Path with symbolic links resolved.
    path: PathBuf,
    /// `None` if the file does not exist.
    text: Option<String>,
}

impl SettingsFile {
    /// Reads a settings file. A missing file is not an error.
    ///
    /// # Errors
    /// [`SettingsError::Unreadable`] and [`SettingsError::NotText`].
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let path = resolve_links(path);
        let text = match std::fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|error| SettingsError::NotText {
                path: path.clone(),
                valid: error.utf8_error().valid_up_to(),
            })?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(SettingsError::Unreadable { path, error }),
        };
        Ok(Self { path, text })
    }

    /// The same file with other contents, to plan a change that follows another one.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Self {
        Self {
            path: self.path.clone(),
            text: Some(text.to_owned()),
        }
    }

    /// The path, with symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The contents; empty if the file does not exist.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// The error for a file that is not valid JSON, or not valid settings.
    pub fn malformed(&self, error: SyntaxError) -> SettingsError {
        SettingsError::Malformed {
            path: self.path.clone(),
            error,
        }
    }

    /// Atomically replaces the contents. Mode, owner and symbolic links are kept.
    ///
    /// # Errors
    /// [`SettingsError::Changed`] if the file changed since it was read; [`SettingsError::NotWritable`].
    pub fn replace(&self, text: &str) -> Result<(), SettingsError> {
        self.ensure_unchanged()?;
        replace(&self.path, text.as_bytes()).map_err(|error| not_writable(&self.path, error))
    }

    /// Removes the file.
    ///
    /// # Errors
    /// As [`SettingsFile::replace`].
    pub fn remove(&self) -> Result<(), SettingsError> {
        self.ensure_unchanged()?;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(not_writable(&self.path, error)),
            _ => Ok(()),
        }
    }

    fn ensure_unchanged(&self) -> Result<(), SettingsError> {
        if Self::read(&self.path)? == *self {
            Ok(())
        } else {
            Err(SettingsError::Changed {
                path: self.path.clone(),
            })
        }
    }
}

pub(super) fn not_writable(path: &Path, error: io::Error) -> SettingsError {
    SettingsError::NotWritable {
        path: path.to_owned(),
        error,
    }
}

/// Resolves symbolic links, also if the target does not exist yet.
fn resolve_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match (std::fs::read_link(&path), path.parent()) {
            (Ok(target), Some(folder)) => path = folder.join(target),
            _ => break,
        }
    }
    // Of a missing file, only the folder can be resolved.
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (path.canonicalize(), folder, path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Atomically replaces or creates a file. Mode and owner of an existing file are kept; a read-only file is not replaced.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let before = match std::fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if before
        .as_ref()
        .is_some_and(|before| before.permissions().readonly())
    {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "it is write-protected",
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".grov-").tempfile_in(folder)?;
    new.write_all(content)?;
    let mode = before
        .as_ref()
        .map_or(PRIVATE_FILE, |before| before.mode() & 0o7777);
    new.as_file().set_permissions(Permissions::from_mode(mode))?;
    if let Some(before) = before {
        keep_owner(new.path(), &before)?;
    }
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Gives a file the owner of the file that it replaces, in case the command runs as another user.
fn keep_owner(path: &Path, before: &Metadata) -> io::Result<()> {
    let now = std::fs::metadata(path)?;
    if (now.uid(), now.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    chown(path, Some(before.uid()), Some(before.gid()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn mode_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("dotfiles.json");
        let link = folder.path().join("settings.json");
        std::fs::write(&real, "{}").unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        symlink("dotfiles.json", &link).unwrap();
        let file = SettingsFile::read(&link).unwrap();
        file.replace("{ }").unwrap();
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "{ }");
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o7777, 0o640);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn the_target_of_a_dangling_link_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("settings.json");
        symlink("to_come.json", &link).unwrap();
        let file = SettingsFile::read(&link).unwrap();
        assert!(!file.exists());
        file.replace("{}").unwrap();
        let real = folder.path().join("to_come.json");
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "{}");
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn concurrent_changes_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let absent = SettingsFile::read(&path).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(matches!(
            absent.replace("ours"),
            Err(SettingsError::Changed { .. })
        ));
        assert!(matches!(absent.remove(), Err(SettingsError::Changed { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, "{}").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        let error = SettingsFile::read(&path).unwrap().replace("{ }").unwrap_err();
        assert!(
            error
                .to_string()
                .contains(path.file_name().unwrap().to_str().unwrap()),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
    }

    #[test]
    fn invalid_utf8_and_unreadable_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, b"{}\xff").unwrap();
        assert!(matches!(
            SettingsFile::read(&path),
            Err(SettingsError::NotText { valid: 2, .. })
        ));
        assert!(matches!(
            SettingsFile::read(folder.path()),
            Err(SettingsError::Unreadable { .. })
        ));
        let nowhere = SettingsFile::read(&folder.path().join("none/settings.json")).unwrap();
        assert!(matches!(
            nowhere.replace("{}"),
            Err(SettingsError::NotWritable { .. })
        ));
    }
}
