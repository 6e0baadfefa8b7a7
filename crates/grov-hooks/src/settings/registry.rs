//! Records in Grov's home which settings files it changed and how, so that the changes can be reverted.

use super::change::Change;
use super::error::SettingsError;
use super::file::{SettingsFile, not_writable, replace};
use super::mask::masked;
use super::register::{Registration, register};
use super::unregister::unregister;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const RECORD: &str = "registrations.json";
const LOCK: &str = "registrations.lock";
/// Suffix of backup files.
const BACKUP: &str = ".grov-backup";

/// The record of all changed settings files.
#[derive(Debug)]
pub struct Registry {
    home: PathBuf,
    records: Records,
    /// Prevents two commands from changing the same file; `None` if opened for reading.
    lock: Option<File>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
struct Records {
    schema: u32,
    files: Vec<Record>,
}

/// A changed settings file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct Record {
    path: PathBuf,
    /// Whether Grov created the file.
    created: bool,
    /// The folder that Grov created for it.
    folder: Option<PathBuf>,
    /// The backup of its original contents, without tokens.
    backup: Option<PathBuf>,
    changes: Vec<Change>,
}

/// A planned change of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    file: SettingsFile,
    after: String,
    action: PlannedAction,
    left: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PlannedAction {
    Register(Vec<Change>),
    Unregister,
}

/// The result of an applied plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedPlan {
    /// The backup of the original contents, without tokens, if one was created now.
    pub backup: Option<PathBuf>,
    /// Whether the file was removed because only Grov used it.
    pub removed: bool,
}

impl Plan {
    /// The file's path, with symbolic links resolved.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The current contents.
    pub fn before(&self) -> &str {
        self.file.text()
    }

    /// The planned contents.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// Whether the contents will change.
    pub fn has_changes(&self) -> bool {
        self.before() != self.after
    }

    /// Notes about values that will be kept because they are no longer as Grov wrote them.
    pub fn left(&self) -> &[String] {
        &self.left
    }
}

impl Registry {
    /// Reads the record in Grov's home without locking it. Plans can be made, but not applied.
    ///
    /// # Errors
    /// The record cannot be read or parsed.
    pub fn read(home: &Path) -> Result<Self, SettingsError> {
        Ok(Self {
            home: home.to_owned(),
            records: records(&home.join(RECORD))?,
            lock: None,
        })
    }

    /// Locks and reads the record in Grov's home, which must exist. Waits for other processes that hold the lock.
    ///
    /// # Errors
    /// As [`Registry::read`]; the lock file cannot be opened.
    pub fn open(home: &Path) -> Result<Self, SettingsError> {
        let path = home.join(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| not_writable(&path, error))?;
        Ok(Self {
            lock: Some(lock),
            ..Self::read(home)?
        })
    }

    /// The settings files with recorded changes.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.records.files.iter().map(|record| record.path.as_path())
    }

    /// The recorded changes of a file, in order.
    pub fn changes(&self, file: &SettingsFile) -> &[Change] {
        let record = self.record(file.path());
        record.map(|record| record.changes.as_slice()).unwrap_or_default()
    }

    fn record(&self, path: &Path) -> Option<&Record> {
        self.records.files.iter().find(|record| record.path == path)
    }

    /// Plans to add `wanted` to a file.
    ///
    /// # Errors
    /// The file is not valid JSON.
    pub fn plan_registration(
        &self,
        file: SettingsFile,
        wanted: &Registration,
    ) -> Result<Plan, SettingsError> {
        let registered = register(file.text(), wanted).map_err(|error| file.malformed(error))?;
        Ok(Plan {
            file,
            after: registered.text,
            action: PlannedAction::Register(registered.changes),
            left: Vec::new(),
        })
    }

    /// Plans to revert the changes of a file.
    ///
    /// # Errors
    /// The file is not valid JSON.
    pub fn plan_unregistration(&self, file: SettingsFile) -> Result<Plan, SettingsError> {
        let back = unregister(file.text(), self.changes(&file)).map_err(|error| file.malformed(error))?;
        Ok(Plan {
            file,
            after: back.text,
            action: PlannedAction::Unregister,
            left: back.left,
        })
    }

    /// Whether applying the plan removes the file: Grov created it, and nothing else is in it.
    pub fn removes_file(&self, plan: &Plan) -> bool {
        let created = self.record(plan.path()).is_some_and(|record| record.created);
        created && plan.action == PlannedAction::Unregister && plan.after.trim().is_empty()
    }

    /// Applies a plan.
    ///
    /// # Errors
    /// A file cannot be written, or was changed since it was read. The settings are unchanged then.
    pub fn apply(&mut self, plan: &Plan) -> Result<AppliedPlan, SettingsError> {
        debug_assert!(self.lock.is_some(), "the registry was opened for reading");
        match &plan.action {
            PlannedAction::Register(changes) if changes.is_empty() => Ok(AppliedPlan::default()),
            PlannedAction::Register(changes) => self.apply_registration(plan, changes),
            PlannedAction::Unregister => self.apply_unregistration(plan),
        }
    }

    fn apply_registration(&mut self, plan: &Plan, changes: &[Change]) -> Result<AppliedPlan, SettingsError> {
        let path = plan.path();
        let known = self.records.files.iter_mut().find(|record| record.path == path);
        let backup = match known {
            Some(record) => {
                record.changes.extend_from_slice(changes);
                None
            }
            None => {
                let folder = create_folder(path, &self.records.files)?;
                let backup = plan.file.exists().then(|| backup_path(path));
                if let Some(backup) = &backup {
                    write_backup(&plan.file, backup)?;
                }
                self.records.files.push(Record {
                    path: path.to_owned(),
                    created: !plan.file.exists(),
                    folder,
                    backup: backup.clone(),
                    changes: changes.to_vec(),
                });
                backup
            }
        };
        // Save the record first: an unrecorded change could not be reverted, a recorded one that was not made is harmless.
        self.save()?;
        plan.file.replace(&plan.after)?;
        Ok(AppliedPlan {
            backup,
            removed: false,
        })
    }

    fn apply_unregistration(&mut self, plan: &Plan) -> Result<AppliedPlan, SettingsError> {
        let removed = self.removes_file(plan);
        if removed {
            plan.file.remove()?;
        } else if plan.has_changes() {
            plan.file.replace(&plan.after)?;
        }
        let files = &mut self.records.files;
        if let Some(at) = files.iter().position(|record| record.path == plan.path()) {
            let record = files.remove(at);
            if let Some(folder) = record.folder.filter(|_| removed) {
                // Fails if other files are in it, and then it stays.
                let _ = std::fs::remove_dir(folder);
            }
            // A backup that differs from the file is left to the user.
            if let Some(backup) = &record.backup
                && std::fs::read(backup).is_ok_and(|copy| copy == masked(&plan.after).as_bytes())
            {
                let _ = std::fs::remove_file(backup);
            }
            self.save()?;
        }
        Ok(AppliedPlan {
            backup: None,
            removed,
        })
    }

    fn save(&mut self) -> Result<(), SettingsError> {
        let path = self.home.join(RECORD);
        self.records.schema = 1;
        let text = serde_json::to_vec_pretty(&self.records);
        let text = text.map_err(|error| SettingsError::Record {
            path: path.clone(),
            error,
        })?;
        if self.records.files.is_empty() {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(not_writable(&path, error)),
                _ => Ok(()),
            }
        } else {
            replace(&path, &text).map_err(|error| not_writable(&path, error))
        }
    }
}

fn records(path: &Path) -> Result<Records, SettingsError> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| SettingsError::Record {
            path: path.to_owned(),
            error,
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Records::default()),
        Err(error) => Err(SettingsError::Unreadable {
            path: path.to_owned(),
            error,
        }),
    }
}

fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    path.with_file_name(name)
}

/// Creates the folder of a file. Returns the folder if Grov created it, now or for another file.
fn create_folder(path: &Path, known: &[Record]) -> Result<Option<PathBuf>, SettingsError> {
    let Some(folder) = path.parent() else {
        return Ok(None);
    };
    if !folder.exists() {
        std::fs::create_dir_all(folder).map_err(|error| not_writable(folder, error))?;
        return Ok(Some(folder.to_owned()));
    }
    let made = known
        .iter()
        .any(|record| record.folder.as_deref() == Some(folder));
    Ok(made.then(|| folder.to_owned()))
}

/// Writes a backup with the mode of the file. Tokens are masked, because a backup may be committed by accident.
fn write_backup(file: &SettingsFile, backup: &Path) -> Result<(), SettingsError> {
    let failed = |error| not_writable(backup, error);
    replace(backup, masked(file.text()).as_bytes()).map_err(failed)?;
    let permissions = std::fs::metadata(file.path()).map_err(failed)?.permissions();
    std::fs::set_permissions(backup, permissions).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::super::Hook;
    use super::*;
    use tempfile::TempDir;

    struct Scene {
        folder: TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("home")).unwrap();
            Self { folder }
        }

        fn registry(&self) -> Registry {
            Registry::open(&self.folder.path().join("home")).unwrap()
        }

        fn settings(&self) -> PathBuf {
            self.folder
                .path()
                .canonicalize()
                .unwrap()
                .join("client/settings.json")
        }

        fn write(&self, text: &str) {
            std::fs::create_dir_all(self.settings().parent().unwrap()).unwrap();
            std::fs::write(self.settings(), text).unwrap();
        }

        fn read(&self) -> String {
            std::fs::read_to_string(self.settings()).unwrap()
        }

        fn register(&self, event: &'static str) -> AppliedPlan {
            let mut registry = self.registry();
            let wanted = Registration {
                hooks: vec![Hook::command("grov", event, 5)],
                ..Registration::default()
            };
            let file = SettingsFile::read(&self.settings()).unwrap();
            let plan = registry.plan_registration(file, &wanted).unwrap();
            registry.apply(&plan).unwrap()
        }

        fn unregister(&self) -> AppliedPlan {
            let mut registry = self.registry();
            let file = SettingsFile::read(&self.settings()).unwrap();
            let plan = registry.plan_unregistration(file).unwrap();
            registry.apply(&plan).unwrap()
        }

        /// The names of the files in a folder, sorted.
        fn names(&self, folder: &str) -> Vec<String> {
            let entries = std::fs::read_dir(self.folder.path().join(folder)).unwrap();
            let mut names: Vec<String> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    #[test]
    fn a_file_is_restored_after_several_registrations() {
        let scene = Scene::new();
        let before = "{ // mine\r\n}";
        scene.write(before);
        let backup = scene.register("Stop").backup.unwrap();
        assert_eq!(std::fs::read_to_string(&backup).unwrap(), before);
        assert_eq!(scene.register("Stop"), AppliedPlan::default());
        assert_eq!(
            scene.register("SessionStart").backup,
            None,
            "only the original contents are backed up"
        );
        assert!(scene.read().contains("hook SessionStart"));
        assert_eq!(scene.registry().files().collect::<Vec<_>>(), [scene.settings()]);
        assert!(!scene.unregister().removed);
        assert_eq!(scene.read(), before);
        assert_eq!(scene.names("client"), ["settings.json"]);
        assert_eq!(scene.names("home"), [LOCK]);
    }

    #[test]
    fn a_backup_contains_no_token() {
        let scene = Scene::new();
        let before = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"http\", \"url\": \"http://127.0.0.1:1/other\",\r\n\
            \"headers\": {\"X-Grov-Hook-Token\": \"abc123\"}}]}]}}";
        scene.write(before);
        let backup = scene.register("SessionStart").backup.unwrap();
        assert_eq!(
            std::fs::read_to_string(backup).unwrap(),
            before.replace("abc123", "…")
        );
        scene.unregister();
        assert_eq!(scene.read(), before);
        assert_eq!(scene.names("client"), ["settings.json"]);
    }

    #[test]
    fn a_created_file_is_removed() {
        let scene = Scene::new();
        scene.register("Stop");
        assert!(scene.unregister().removed);
        assert_eq!(scene.names("."), ["home"], "the created folder is removed too");
        scene.register("Stop");
        std::fs::write(scene.settings().with_file_name("other"), "").unwrap();
        assert!(scene.unregister().removed);
        assert_eq!(scene.names("client"), ["other"]);
    }

    #[test]
    fn the_backup_of_an_edited_file_is_kept() {
        let scene = Scene::new();
        scene.write("{\"a\": 1}");
        scene.register("Stop");
        std::fs::write(scene.settings(), scene.read().replace("\"a\": 1", "\"a\": 2")).unwrap();
        scene.unregister();
        assert_eq!(scene.read(), "{\"a\": 2}");
        assert_eq!(
            scene.names("client"),
            ["settings.json", "settings.json.grov-backup"]
        );
    }

    #[test]
    fn a_missing_file_can_be_unregistered() {
        let scene = Scene::new();
        scene.write("{}");
        scene.register("Stop");
        std::fs::remove_file(scene.settings()).unwrap();
        assert_eq!(scene.unregister(), AppliedPlan::default());
        assert_eq!(scene.registry().files().count(), 0);
        assert!(!scene.settings().exists());
    }

    #[test]
    fn recorded_changes_that_were_not_made_are_harmless() {
        let scene = Scene::new();
        scene.write("{\"env\": {\"A\": \"old\"}}");
        let wanted = Registration {
            environment: vec![("A".to_owned(), "new".to_owned())],
            ..Registration::default()
        };
        // The process is killed after saving the record, before writing the file.
        for _ in 0..2 {
            scene.write("{\"env\": {\"A\": \"old\"}}");
            let mut registry = scene.registry();
            let file = SettingsFile::read(&scene.settings()).unwrap();
            let plan = registry.plan_registration(file, &wanted).unwrap();
            registry.apply(&plan).unwrap();
        }
        let registry = scene.registry();
        let plan = registry
            .plan_unregistration(SettingsFile::read(&scene.settings()).unwrap())
            .unwrap();
        assert_eq!(
            (plan.after(), plan.left()),
            ("{\"env\": {\"A\": \"old\"}}", [].as_slice())
        );
    }

    #[test]
    fn a_damaged_record_is_an_error() {
        let scene = Scene::new();
        let path = scene.folder.path().join("home").join(RECORD);
        std::fs::write(&path, "{").unwrap();
        let error = Registry::read(path.parent().unwrap()).unwrap_err();
        assert!(error.to_string().contains(RECORD), "{error}");
    }
}
