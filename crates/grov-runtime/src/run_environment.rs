//! What `grov run` replaces in a command's environment.
//!
//! The command's own programs must use the run's proxy. But a daemon that starts inside the run outlives it, and another run
//! inside it has a proxy of its own: both need the values before. These may be secrets, such as the password for a company's
//! proxy, so they are in a private file until the run ends, and the command's programs get its path.

use crate::home::create_directory;
use crate::{Environment, Home, write_private};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The variable with the path of the record.
const VARIABLE: &str = "GROV_RUN_ENVIRONMENT";

/// The extension of records.
const EXTENSION: &str = "environment";

/// A record that is older belongs to a run that was killed.
const STALE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// By name: the value that the run set, and the one before, if there was one.
type Replaced = BTreeMap<String, (String, Option<String>)>;

/// The record of the variables that a run replaces. Dropping it deletes the file.
#[derive(Debug)]
pub struct RunEnvironment {
    path: PathBuf,
}

impl RunEnvironment {
    /// Writes which of the variables `before` a run replaces by those in `set`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(home: &Home, before: &Environment, set: &[(String, String)]) -> io::Result<Self> {
        let value = |name: &str| Some(before.get(name)?.to_str()?.to_owned());
        let replaced: Replaced = set
            .iter()
            .map(|(name, set)| (name.clone(), (set.clone(), value(name))))
            .collect();
        let directory = home.run_records();
        create_directory(&directory)?;
        delete_stale(&directory);
        let path = directory.join(format!("{}.{EXTENSION}", std::process::id()));
        write_private(&path, &serde_json::to_vec(&replaced)?)?;
        Ok(Self { path })
    }

    /// Returns the variable that lets [`outside_of_run`](Environment::outside_of_run) undo the run's variables.
    pub fn variable(&self) -> (String, OsString) {
        (VARIABLE.to_owned(), self.path.clone().into())
    }
}

impl Drop for RunEnvironment {
    fn drop(&mut self) {
        // A file that stays is deleted as stale by a later run.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Deletes the records of runs that were killed.
fn delete_stale(directory: &Path) {
    let is_stale = |path: &Path| {
        let written = std::fs::metadata(path).and_then(|metadata| metadata.modified());
        written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > STALE))
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == EXTENSION) && is_stale(&path) {
            // Another run may have deleted it.
            let _ = std::fs::remove_file(&path);
        }
    }
}

impl Environment {
    /// Returns the environment as it was outside of the `grov run` that this process runs in. Reads the run's record. Variables
    /// that were changed since stay as they are, and so do all if the record cannot be read, for example after the run ended.
    #[must_use]
    pub fn outside_of_run(&self) -> Self {
        // Another version's record, or a foreign one, restores nothing.
        let replaced: Replaced = self
            .get(VARIABLE)
            .and_then(|path| std::fs::read(path).ok())
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        let variables = self.iter().filter(|(name, _)| *name != VARIABLE);
        variables
            .filter_map(|(name, value)| {
                let value = match replaced.get(name) {
                    Some((set, before)) if value == set.as_str() => OsString::from(before.as_deref()?),
                    _ => value.to_owned(),
                };
                Some((name.to_owned(), value))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn home(folder: &tempfile::TempDir) -> Home {
        Home::locate(Some(folder.path()), &Environment::default()).unwrap()
    }

    /// The environment inside a run that sets these variables.
    fn run(home: &Home, before: &Environment, set: &[(&str, &str)]) -> (RunEnvironment, Environment) {
        let set: Vec<(String, String)> = set
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let record = RunEnvironment::record(home, before, &set).unwrap();
        let of_command = before
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let set = set.into_iter().map(|(name, value)| (name, value.into()));
        let inside = of_command.chain(set).chain([record.variable()]).collect();
        (record, inside)
    }

    #[test]
    fn values_before_a_run_are_restored() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let before = Environment::from_iter([("HTTPS_PROXY", "http://corp:3128"), ("HOME", "/home/ana")]);
        let set = [
            ("HTTPS_PROXY", "http://127.0.0.1:1"),
            ("NODE_EXTRA_CA_CERTS", "/b"),
        ];
        let (_record, inside) = run(&home(&folder), &before, &set);
        assert_ne!(inside, before);
        assert_eq!(inside.outside_of_run(), before);
        assert_eq!(before.outside_of_run(), before);
        // A run inside the run notes the values of outside.
        let set = [("HTTPS_PROXY", "http://127.0.0.1:2")];
        let (_record, nested) = run(&home(&other), &inside.outside_of_run(), &set);
        assert_eq!(nested.outside_of_run(), before);
    }

    #[test]
    fn what_was_changed_inside_a_run_stays() {
        let folder = tempfile::tempdir().unwrap();
        let set = [("HTTPS_PROXY", "http://127.0.0.1:1")];
        let (record, inside) = run(&home(&folder), &Environment::default(), &set);
        let changed = inside.iter().map(|(name, value)| match name {
            "HTTPS_PROXY" => (name.to_owned(), "http://mine:1".into()),
            _ => (name.to_owned(), value.to_owned()),
        });
        let changed: Environment = changed.collect();
        let expected = Environment::from_iter([("HTTPS_PROXY", "http://mine:1")]);
        assert_eq!(changed.outside_of_run(), expected);
        std::fs::write(&record.path, "{").unwrap();
        assert_eq!(changed.outside_of_run(), expected, "damaged");
        drop(record);
        assert_eq!(changed.outside_of_run(), expected, "after the run");
    }

    #[test]
    fn replaced_values_are_in_a_private_file_until_the_run_ends() {
        let folder = tempfile::tempdir().unwrap();
        let secret = "http://ana:hunter2@corp:3128";
        let before = Environment::from_iter([("HTTPS_PROXY", secret)]);
        let set = [("HTTPS_PROXY", "http://127.0.0.1:1")];
        let (record, inside) = run(&home(&folder), &before, &set);
        let shown = |(_, value): (&str, &std::ffi::OsStr)| value.to_string_lossy().contains("hunter2");
        assert!(!inside.iter().any(shown));
        let path = record.path.clone();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // One of a run that was killed.
        let killed = path.with_file_name("1.environment");
        let file = std::fs::File::create(&killed).unwrap();
        file.set_modified(SystemTime::now() - STALE - Duration::from_secs(60))
            .unwrap();
        drop(record);
        assert!(!path.exists() && killed.exists());
        drop(run(&home(&folder), &before, &set));
        assert!(!killed.exists());
    }
}
