//! The keys of links: one file each, readable by its owner alone. They are not in the database.

use crate::LinkError;
use grov_redact::Secret;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file with the key of a link.
#[derive(Clone, Debug)]
pub struct KeyFile(PathBuf);

impl KeyFile {
    /// The file of the link to a project of the service, in the home of Grov. `id` is the id of that project.
    pub fn of(home: &Path, id: &str) -> Self {
        Self(home.join("links").join(format!("{id}.key")))
    }

    /// Reads the key.
    ///
    /// # Errors
    ///
    /// [`LinkError::Key`] if there is none.
    pub fn read(&self) -> Result<Secret, LinkError> {
        let text = fs::read_to_string(&self.0).map_err(|error| self.failed("read", &error))?;
        match text.trim() {
            "" => Err(LinkError::Key(format!(
                "the key file {} is empty",
                self.0.display()
            ))),
            key => Ok(Secret::from(key)),
        }
    }

    /// Writes the key, for its owner alone.
    ///
    /// # Errors
    ///
    /// [`LinkError::Key`].
    pub fn write(&self, key: &Secret) -> Result<(), LinkError> {
        let failed = |error: std::io::Error| self.failed("written", &error);
        if let Some(folder) = self.0.parent() {
            let mut builder = fs::DirBuilder::new();
            builder
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(failed)?;
        }
        let new = self.0.with_extension("new");
        let _ = fs::remove_file(&new);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&new).map_err(failed)?;
        writeln!(file, "{}", key.expose()).map_err(failed)?;
        fs::rename(&new, &self.0).map_err(failed)
    }

    /// Removes the file.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.0);
    }

    fn failed(&self, what: &str, error: &std::io::Error) -> LinkError {
        LinkError::Key(format!(
            "the key file {} cannot be {what}: {error}",
            self.0.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_readable_by_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let file = KeyFile::of(home.path(), "p");
        assert!(matches!(file.read(), Err(LinkError::Key(_))));
        file.write(&Secret::from("first")).unwrap();
        file.write(&Secret::from("second")).unwrap();
        assert_eq!(file.read().unwrap().expose(), "second");
        let mode = fs::metadata(&file.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!format!("{:?}", file.read()).contains("second"));
    }
}
