//! Files outside the home that Grov wrote or added lines to, recorded in the home so that each change can be reverted byte for byte.

use crate::failure::Failure;
use grov_hooks::settings::{SettingsError, SettingsFile};
use grov_runtime::{Home, create_private, write_private};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const RECORD: &str = "written-files.json";
const LOCK: &str = "written-files.lock";

/// Why a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// The proxy as a service of the user.
    Service,
    /// The shell function that runs the client by `grov run`.
    Shell,
    /// The settings of Codex.
    Codex,
    /// The environment of Gemini CLI.
    Gemini,
    /// The configuration of opencode.
    Opencode,
}

/// The record of these files.
pub(crate) struct WrittenFiles {
    path: PathBuf,
    records: Records,
    _lock: File,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Records {
    schema: u32,
    files: Vec<Record>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    purpose: Purpose,
    path: PathBuf,
    /// The whole file, or what was added to its end.
    text: String,
    /// Whether Grov created the file.
    created: bool,
    /// Folders that Grov created for it, the deepest first.
    folders: Vec<PathBuf>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) change: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeKind {
    Unchanged,
    Written,
    /// Grov's lines were removed.
    Restored,
    Removed,
    /// It is not as Grov wrote it, and stays.
    Left,
}

impl WrittenFiles {
    /// Locks and reads the record, creating the home if needed.
    pub(crate) fn open(home: &Home) -> Result<Self, Failure> {
        home.create()?;
        let path = home.root().join(RECORD);
        let lock = home.root().join(LOCK);
        let failed = |path: &Path, error: io::Error| {
            Failure::error("home", format!("{} cannot be used: {error}", path.display()))
        };
        let lock = create_private(&lock, OpenOptions::new().write(true).create(true).truncate(false))
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| failed(&lock, error))?;
        let records = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(&path, error.into()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Records::default(),
            Err(error) => return Err(failed(&path, error)),
        };
        Ok(Self {
            path,
            records,
            _lock: lock,
        })
    }

    /// The files of a purpose.
    pub(crate) fn paths(&self, purpose: Purpose) -> impl Iterator<Item = &Path> {
        let of_purpose = self
            .records
            .files
            .iter()
            .filter(move |record| record.purpose == purpose);
        of_purpose.map(|record| record.path.as_path())
    }

    /// The files of a purpose, and whether each still has what Grov wrote.
    pub(crate) fn intact(&self, purpose: Purpose) -> impl Iterator<Item = (&Path, bool)> {
        let of_purpose = self
            .records
            .files
            .iter()
            .filter(move |record| record.purpose == purpose);
        of_purpose.map(|record| {
            let text = std::fs::read_to_string(&record.path).unwrap_or_default();
            (record.path.as_path(), text.contains(&record.text))
        })
    }

    /// Writes a whole file. One that somebody else wrote is left alone.
    ///
    /// # Errors
    /// The file exists and is not Grov's, or cannot be written.
    pub(crate) fn write(&mut self, purpose: Purpose, path: &Path, text: &str) -> Result<FileChange, Failure> {
        let file = SettingsFile::read(path)?;
        let known = self
            .records
            .files
            .iter()
            .position(|record| record.path == file.path());
        let is_own = known.is_some_and(|at| self.records.files[at].text == file.text());
        if file.exists() && !is_own {
            let shown = file.path().display();
            let message = format!("{shown} exists and is not as Grov wrote it");
            return Err(Failure::error("files", message).hint("move it away, then try again"));
        }
        if file.exists() && file.text() == text {
            return Ok(change(&file, ChangeKind::Unchanged));
        }
        let record = Record {
            purpose,
            path: file.path().to_owned(),
            text: text.to_owned(),
            created: true,
            folders: match known {
                Some(at) => self.records.files.remove(at).folders,
                None => missing_folders(file.path()),
            },
        };
        self.put(record, &file, text)
    }

    /// Adds lines to the beginning of a file, unless it has them. Creates the file if needed.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn prepend(
        &mut self,
        purpose: Purpose,
        path: &Path,
        lines: &str,
    ) -> Result<FileChange, Failure> {
        let file = SettingsFile::read(path)?;
        if file.text().contains(lines) {
            return Ok(change(&file, ChangeKind::Unchanged));
        }
        let text = format!("{lines}{}", file.text());
        let record = Record {
            purpose,
            path: file.path().to_owned(),
            text: lines.to_owned(),
            created: !file.exists(),
            folders: missing_folders(file.path()),
        };
        self.put(record, &file, &text)
    }

    /// Adds lines to the end of a file, unless it has them. Creates the file if needed.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn append(
        &mut self,
        purpose: Purpose,
        path: &Path,
        lines: &str,
    ) -> Result<FileChange, Failure> {
        let file = SettingsFile::read(path)?;
        if file.text().contains(lines) {
            return Ok(change(&file, ChangeKind::Unchanged));
        }
        let is_partial = !file.text().is_empty() && !file.text().ends_with('\n');
        let added = format!("{}{lines}", if is_partial { "\n" } else { "" });
        let text = format!("{}{added}", file.text());
        let record = Record {
            purpose,
            path: file.path().to_owned(),
            text: added,
            created: !file.exists(),
            folders: missing_folders(file.path()),
        };
        self.put(record, &file, &text)
    }

    fn put(&mut self, record: Record, file: &SettingsFile, text: &str) -> Result<FileChange, Failure> {
        if let Some(folder) = record.folders.first() {
            let created = std::fs::create_dir_all(folder);
            created.map_err(|error| {
                Failure::error("files", format!("cannot create {}: {error}", folder.display()))
            })?;
        }
        // First the record: a change that is not recorded could not be reverted, a recorded one that was not made is harmless.
        self.records.files.push(record);
        self.save()?;
        file.replace(text)?;
        Ok(change(file, ChangeKind::Written))
    }

    /// Reverts the changes of a purpose, the newest first. What is not as Grov wrote it stays.
    ///
    /// # Errors
    /// A file cannot be read or written. The changes before it are reverted.
    pub(crate) fn revert(&mut self, purpose: Purpose) -> Result<Vec<FileChange>, Failure> {
        let mut changes = Vec::new();
        while let Some(at) = self
            .records
            .files
            .iter()
            .rposition(|record| record.purpose == purpose)
        {
            let change = reverted(&self.records.files[at])?;
            self.records.files.remove(at);
            self.save()?;
            changes.push(change);
        }
        Ok(changes)
    }

    fn save(&mut self) -> Result<(), Failure> {
        self.records.schema = 1;
        let saved = match self.records.files.is_empty() {
            true => match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            false => serde_json::to_vec_pretty(&self.records)
                .map_err(io::Error::from)
                .and_then(|text| write_private(&self.path, &text)),
        };
        saved.map_err(|error| {
            Failure::error(
                "home",
                format!("{} cannot be written: {error}", self.path.display()),
            )
        })
    }
}

fn reverted(record: &Record) -> Result<FileChange, SettingsError> {
    let file = SettingsFile::read(&record.path)?;
    if !file.exists() {
        return Ok(change(&file, ChangeKind::Unchanged));
    }
    let Some(at) = file.text().rfind(&record.text) else {
        return Ok(change(&file, ChangeKind::Left));
    };
    let mut text = file.text().to_owned();
    let end = at + record.text.len();
    // The line break before the lines still ends the line above if something was appended below them.
    let is_followed = record.text.starts_with('\n') && end < text.len();
    text.replace_range(at..end, if is_followed { "\n" } else { "" });
    if !text.is_empty() || !record.created {
        file.replace(&text)?;
        return Ok(change(&file, ChangeKind::Restored));
    }
    file.remove()?;
    for folder in &record.folders {
        // Fails if other files are in it, and then it stays.
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(change(&file, ChangeKind::Removed))
}

fn change(file: &SettingsFile, change: ChangeKind) -> FileChange {
    FileChange {
        path: file.path().to_string_lossy().into_owned(),
        change,
    }
}

/// The folders above a file that do not exist, the deepest first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    folders.map(Path::to_owned).collect()
}

impl FileChange {
    /// For a person.
    pub(crate) fn text(&self) -> String {
        let what = match self.change {
            ChangeKind::Unchanged => "unchanged",
            ChangeKind::Written => "written",
            ChangeKind::Restored => "restored",
            ChangeKind::Removed => "removed",
            ChangeKind::Left => "is not as Grov wrote it, and stays",
        };
        format!("{} {what}\n", crate::table::one_line(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use tempfile::TempDir;

    fn scene() -> (TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(&folder.path().join("home")), &Environment::default()).unwrap();
        (folder, home)
    }

    fn kinds(changes: &[FileChange]) -> Vec<ChangeKind> {
        changes.iter().map(|change| change.change).collect()
    }

    #[test]
    fn added_lines_are_removed_byte_for_byte() {
        for before in ["", "alias a=b\n", "no newline at the end", "\r\nodd\r\n\r\n"] {
            let (folder, home) = scene();
            let path = folder.path().join("rc");
            std::fs::write(&path, before).unwrap();
            let mut files = WrittenFiles::open(&home).unwrap();
            let lines = "# grov\nclaude() { :; }\n";
            assert_eq!(
                files.append(Purpose::Shell, &path, lines).unwrap().change,
                ChangeKind::Written
            );
            assert_eq!(
                files.append(Purpose::Shell, &path, lines).unwrap().change,
                ChangeKind::Unchanged
            );
            drop(files);
            let mut files = WrittenFiles::open(&home).unwrap();
            assert_eq!(files.paths(Purpose::Shell).count(), 1);
            assert_eq!(kinds(&files.revert(Purpose::Service).unwrap()), []);
            assert_eq!(
                kinds(&files.revert(Purpose::Shell).unwrap()),
                [ChangeKind::Restored]
            );
            assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
            assert!(!home.root().join(RECORD).exists());
        }
    }

    #[test]
    fn lines_before_a_file_are_removed_byte_for_byte() {
        for before in ["", "model = \"m\"", "\r\nodd\r\n\r\n", "[table]\n"] {
            let (folder, home) = scene();
            let path = folder.path().join("config.toml");
            std::fs::write(&path, before).unwrap();
            let mut files = WrittenFiles::open(&home).unwrap();
            let added = files.prepend(Purpose::Codex, &path, "# grov\na = 1\n").unwrap();
            assert_eq!(added.change, ChangeKind::Written);
            let again = files.prepend(Purpose::Codex, &path, "# grov\na = 1\n").unwrap();
            assert_eq!(again.change, ChangeKind::Unchanged);
            assert_eq!(
                std::fs::read_to_string(&path).unwrap(),
                format!("# grov\na = 1\n{before}")
            );
            files.revert(Purpose::Codex).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
        }
    }

    #[test]
    fn what_the_user_added_stays() {
        let (folder, home) = scene();
        let path = folder.path().join("rc");
        let mut files = WrittenFiles::open(&home).unwrap();
        files.append(Purpose::Shell, &path, "grov\n").unwrap();
        std::fs::write(&path, "before\ngrov\nafter\n").unwrap();
        assert_eq!(
            kinds(&files.revert(Purpose::Shell).unwrap()),
            [ChangeKind::Restored]
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before\nafter\n");
        files.append(Purpose::Shell, &path, "grov\n").unwrap();
        std::fs::write(&path, "changed\n").unwrap();
        assert_eq!(kinds(&files.revert(Purpose::Shell).unwrap()), [ChangeKind::Left]);
    }

    #[test]
    fn lines_appended_after_a_file_without_a_last_line_break_stay_lines() {
        let (folder, home) = scene();
        let path = folder.path().join("rc");
        std::fs::write(&path, "export A=1").unwrap();
        let mut files = WrittenFiles::open(&home).unwrap();
        files.append(Purpose::Shell, &path, "grov\n").unwrap();
        std::fs::write(&path, "export A=1\ngrov\nexport B=2\n").unwrap();
        files.revert(Purpose::Shell).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "export A=1\nexport B=2\n"
        );
    }

    #[test]
    fn a_created_file_is_removed_with_its_folders() {
        let (folder, home) = scene();
        let path = folder.path().canonicalize().unwrap().join("a/b/unit");
        let mut files = WrittenFiles::open(&home).unwrap();
        assert_eq!(
            files.write(Purpose::Service, &path, "one").unwrap().change,
            ChangeKind::Written
        );
        assert_eq!(
            files.write(Purpose::Service, &path, "two").unwrap().change,
            ChangeKind::Written
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(
            kinds(&files.revert(Purpose::Service).unwrap()),
            [ChangeKind::Removed]
        );
        assert!(!folder.path().join("a").exists());
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone() {
        let (folder, home) = scene();
        let path = folder.path().join("unit");
        std::fs::write(&path, "mine").unwrap();
        let mut files = WrittenFiles::open(&home).unwrap();
        assert!(files.write(Purpose::Service, &path, "grov").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(kinds(&files.revert(Purpose::Service).unwrap()), []);
    }
}
