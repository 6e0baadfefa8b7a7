//! Changes one setting in a configuration file; comments, order and layout of the rest are kept.

use super::error::SettingsError;
use super::file::{self, Owner};
use super::keys::{Key, find, nearest};
use super::value::{Kind, shortened};
use crate::{Environment, Home, create_directory, write_private};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// A configuration file that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    path: PathBuf,
    owner: Owner,
}

/// The change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEdit {
    /// The old text; empty without a file.
    pub before: String,
    /// The new text.
    pub after: String,
}

impl ConfigFile {
    /// The user's file: that of `GROV_CONFIG`, or else the one in the home.
    pub fn of_user(home: &Home, environment: &Environment) -> Self {
        let named = environment.get("GROV_CONFIG").map(PathBuf::from);
        Self {
            path: named.unwrap_or_else(|| home.config_file()),
            owner: Owner::User,
        }
    }

    /// The file of the project of a directory: the one that is used there, or else a new one in `top`, the top of its working
    /// tree.
    pub fn of_project(directory: &Path, top: &Path, home: &Home, environment: &Environment) -> Self {
        let user_home = environment.get("HOME").map(Path::new);
        let existing = file::find_project_file(directory, user_home, home.root());
        Self {
            path: existing.unwrap_or_else(|| top.join(".grov/config.toml")),
            owner: Owner::Project,
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The change that sets a setting to a value in the syntax of an environment variable. Nothing is written.
    ///
    /// # Errors
    /// There is no such setting, the file may not set it, the value is not valid, or the file is not valid.
    pub fn set(&self, name: &str, text: &str) -> Result<ConfigEdit, SettingsError> {
        let key = self.key(name)?;
        let value = key.kind.parse_text(text).and_then(|parsed| {
            let value = toml_value(&key.kind, text.trim());
            // Numbers and lists are written as such, and must mean the same.
            match read_back(key, &value) {
                Some(same) if same == parsed => Ok(value),
                _ => Err(super::value::InvalidValue::Text(shortened(text))),
            }
        });
        let value = value.map_err(|found| SettingsError::InvalidText {
            key: key.name,
            expected: key.kind.expected(),
            found,
        })?;
        self.edit(|document| {
            put(document, key.name, value);
            true
        })
        .map(Option::unwrap_or_default)
    }

    /// The change that removes a setting; `None` if the file does not set it. Nothing is written.
    ///
    /// # Errors
    /// There is no such setting, or the file is not valid.
    pub fn unset(&self, name: &str) -> Result<Option<ConfigEdit>, SettingsError> {
        let key = known(name)?;
        self.edit(|document| remove(document, key.name))
    }

    /// Replaces the file atomically. A new user's file is private, an existing file keeps its permissions.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self, edit: &ConfigEdit) -> io::Result<()> {
        // A link is kept: it may lead to where the user keeps such files.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let permissions = match std::fs::metadata(&path) {
            Ok(metadata) => Some(metadata.permissions()),
            Err(_) if self.owner == Owner::Project => Some(Permissions::from_mode(0o644)),
            Err(_) => None,
        };
        if let Some(folder) = path.parent() {
            match self.owner {
                Owner::User => create_directory(folder)?,
                Owner::Project => std::fs::create_dir_all(folder)?,
            }
        }
        write_private(&path, edit.after.as_bytes())?;
        match permissions {
            Some(permissions) => std::fs::set_permissions(&path, permissions),
            None => Ok(()),
        }
    }

    fn key(&self, name: &str) -> Result<&'static Key, SettingsError> {
        let key = known(name)?;
        if self.owner == Owner::Project && !key.project {
            return Err(SettingsError::NotForProjects { key: key.name });
        }
        Ok(key)
    }

    /// Applies a change to the text and checks the result as loading would.
    fn edit(
        &self,
        change: impl FnOnce(&mut DocumentMut) -> bool,
    ) -> Result<Option<ConfigEdit>, SettingsError> {
        let before = file::read_text(&self.path)?.unwrap_or_default();
        // The error has a line number; the parser of this module has not.
        file::read(&before, &self.path, self.owner).or_else(|error| match error {
            // The change may correct an invalid value.
            SettingsError::Invalid { .. } => Ok(file::Contents::default()),
            other => Err(other),
        })?;
        let mut document: DocumentMut = before.parse().map_err(|_| SettingsError::Unreadable {
            path: self.path.clone(),
            reason: "it is not valid TOML".to_owned(),
        })?;
        if !change(&mut document) {
            return Ok(None);
        }
        let mut after = document.to_string();
        if before.contains("\r\n") {
            // The document has forgotten how its lines end.
            after = after.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        file::read(&after, &self.path, self.owner)?;
        Ok(Some(ConfigEdit { before, after }))
    }
}

impl Default for ConfigEdit {
    /// No change.
    fn default() -> Self {
        Self {
            before: String::new(),
            after: String::new(),
        }
    }
}

fn known(name: &str) -> Result<&'static Key, SettingsError> {
    find(name).ok_or_else(|| SettingsError::UnknownKey {
        name: shortened(name),
        nearest: nearest(name),
    })
}

/// A value as it is written to a file.
fn toml_value(kind: &Kind, text: &str) -> Value {
    let number = || text.parse::<i64>().ok().map(Value::from);
    let value = match kind {
        Kind::Boolean => {
            let is_true = matches!(text.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on");
            Some(Value::from(is_true))
        }
        Kind::Integer { .. } | Kind::Size { .. } | Kind::Duration { .. } => number(),
        Kind::Dollars { .. } => number().or_else(|| text.parse::<f64>().ok().map(Value::from)),
        Kind::List | Kind::ToolGrants => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Some(Value::Array(items.collect::<Array>()))
        }
        _ => None,
    };
    value.unwrap_or_else(|| Value::from(text))
}

/// The value that loading reads.
fn read_back(key: &Key, value: &Value) -> Option<super::Value> {
    let text = format!("x = {value}");
    let document = toml::de::DeTable::parse(&text).ok()?;
    let (_, read) = document.get_ref().iter().next()?;
    key.kind.parse_toml(read.get_ref()).ok()
}

/// Sets a value, in the section where it is or else at the section's end.
fn put(document: &mut DocumentMut, name: &str, mut value: Value) {
    let (section, key) = name
        .split_once('.')
        .map_or((None, name), |(section, key)| (Some(section), key));
    let root: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let table = match section {
        None => Some(root),
        Some(section) => root
            .entry(section)
            .or_insert_with(|| Item::Table(Table::new()))
            .as_table_like_mut(),
    };
    // Loading refuses a section that is not a table.
    let Some(table) = table else { return };
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        // A comment behind the value is part of what surrounds it.
        *value.decor_mut() = old.decor().clone();
    }
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(value),
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// Removes a value, and its section if nothing else is in it. Whether there was one.
fn remove(document: &mut DocumentMut, name: &str) -> bool {
    let Some((section, key)) = name.split_once('.') else {
        return document.remove(name).is_some();
    };
    let Some(table) = document.get_mut(section).and_then(Item::as_table_like_mut) else {
        return false;
    };
    let is_removed = table.remove(key).is_some();
    let is_bare = |table: &Table| {
        let before = table
            .decor()
            .prefix()
            .and_then(|prefix| prefix.as_str())
            .unwrap_or_default();
        table.is_empty() && before.trim().is_empty()
    };
    if is_removed
        && document
            .get(section)
            .and_then(Item::as_table)
            .is_some_and(is_bare)
    {
        document.remove(section);
    }
    is_removed
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\nuser = \"hash\"   # why\n\n[proxy]\n# the port\nport = 8080 # fixed\nupstream = \"https://example.com\"\n\n[memory]\nenabled = true\n";

    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { folder }
        }

        fn file(&self, owner: Owner, text: Option<&str>) -> ConfigFile {
            let path = self.folder.path().join("config.toml");
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            ConfigFile { path, owner }
        }
    }

    #[test]
    fn the_rest_of_the_file_is_kept() {
        let scene = Scene::new();
        let file = scene.file(Owner::User, Some(TEXT));
        let after = |name, value| file.set(name, value).unwrap().after;
        assert_eq!(after("proxy.port", "9000"), TEXT.replace("8080", "9000"));
        assert_eq!(after("user", "off"), TEXT.replace("hash", "off"));
        let added = after("proxy.body_limit", "8MiB");
        assert_eq!(
            added,
            TEXT.replace("example.com\"\n", "example.com\"\nbody_limit = \"8MiB\"\n")
        );
        let section = after("llm.daily_budget_usd", "1.25");
        assert_eq!(section, format!("{TEXT}\n[llm]\ndaily_budget_usd = 1.25\n"));
        assert_eq!(
            file.unset("memory.enabled").unwrap().unwrap().after,
            TEXT.replace("\n[memory]\nenabled = true\n", "")
        );
        assert_eq!(file.unset("drift.enabled").unwrap(), None);
    }

    #[test]
    fn a_file_is_created_privately_and_replaced_with_its_permissions() {
        let scene = Scene::new();
        let file = scene.file(Owner::User, None);
        let edit = file.set("proxy.port", "0").unwrap();
        assert_eq!(
            (edit.before.as_str(), edit.after.as_str()),
            ("", "[proxy]\nport = 0\n")
        );
        file.write(&edit).unwrap();
        let mode = || std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(file.path(), Permissions::from_mode(0o640)).unwrap();
        file.write(&file.set("proxy.port", "1").unwrap()).unwrap();
        assert_eq!(mode(), 0o640);
        assert_eq!(
            std::fs::read_to_string(file.path()).unwrap(),
            "[proxy]\nport = 1\n"
        );
    }

    #[test]
    fn what_loading_would_refuse_is_not_written() {
        let scene = Scene::new();
        let file = scene.file(Owner::User, Some(TEXT));
        for (name, value) in [
            ("proxy.port", "no"),
            ("proxy.port", "70000"),
            ("proxy.prot", "1"),
            ("guard.mode", "sometimes"),
            ("proxy.upstream", "ftp://x"),
        ] {
            assert!(file.set(name, value).is_err(), "{name} {value}");
        }
        let broken = scene.file(Owner::User, Some("[proxy\n"));
        assert!(matches!(
            broken.set("proxy.port", "1"),
            Err(SettingsError::Syntax { line: 1, .. })
        ));
        let wrong = scene.file(Owner::User, Some("[proxy]\nport = \"no\"\n"));
        assert_eq!(wrong.set("proxy.port", "1").unwrap().after, "[proxy]\nport = 1\n");
        assert!(wrong.set("user", "off").is_err(), "another value is invalid");
    }

    #[test]
    fn a_project_may_not_set_everything() {
        let scene = Scene::new();
        let file = scene.file(Owner::Project, None);
        assert!(matches!(
            file.set("proxy.upstream", "https://example.com"),
            Err(SettingsError::NotForProjects {
                key: "proxy.upstream"
            })
        ));
        let edit = file.set("drift.check_interval", "5").unwrap();
        assert_eq!(edit.after, "[drift]\ncheck_interval = 5\n");
    }

    #[test]
    fn sections_may_be_written_in_every_way() {
        let scene = Scene::new();
        for (text, expected) in [
            ("proxy = { port = 1 } # x\n", "proxy = { port = 2 } # x\n"),
            ("proxy.port = 1\n", "proxy.port = 2\n"),
            ("[proxy]\r\nport = 1 # x\r\n", "[proxy]\r\nport = 2 # x\r\n"),
        ] {
            let file = scene.file(Owner::User, Some(text));
            assert_eq!(file.set("proxy.port", "2").unwrap().after, expected);
        }
    }

    #[test]
    fn every_default_can_be_set() {
        let scene = Scene::new();
        let file = scene.file(Owner::User, None);
        for key in super::super::table::KEYS
            .iter()
            .filter(|key| !key.default.is_empty())
        {
            let edit = file.set(key.name, key.default);
            assert!(edit.is_ok(), "{}: {edit:?}", key.name);
        }
    }
}
