//! Finds and reads configuration files, with line numbers.

use super::error::SettingsError;
use super::keys::{Key, find, nearest};
use super::origin::{Origin, Warning};
use super::table::KEYS;
use super::value::{InvalidValue, Kind, Value, shortened};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Maximum size of a file in bytes. A project's file is untrusted.
const MAX_LENGTH: u64 = 256 * 1024;
/// Maximum number of warnings about unknown names in a file.
const MAX_WARNINGS: usize = 20;

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    User,
    Project,
}

/// One value of a file.
#[derive(Debug)]
pub(super) struct FileValue {
    pub(super) key: &'static Key,
    pub(super) origin: Origin,
    /// Invalid only if the owner of the file may not set it.
    pub(super) parsed: Result<Value, InvalidValue>,
}

/// The settings and warnings of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) found: Vec<FileValue>,
    pub(super) warnings: Vec<Warning>,
}

/// The text of a file; `None` if there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |reason: String| SettingsError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    // Checked before opening, because opening a pipe waits for a writer.
    let metadata = match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        other => other.map_err(|error| unreadable(error.to_string()))?,
    };
    if !metadata.is_file() {
        return Err(unreadable("it is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_LENGTH + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_LENGTH {
        return Err(unreadable("it is longer than 256 KiB".to_owned()));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        unreadable(format!(
            "it is not UTF-8 (byte {})",
            error.utf8_error().valid_up_to()
        ))
    })
}

/// Reads the settings of a TOML file. Unknown names cause warnings; invalid values are errors.
pub(super) fn read(text: &str, path: &Path, owner: Owner) -> Result<Contents, SettingsError> {
    let document = DeTable::parse(text).map_err(|error| SettingsError::Syntax {
        path: path.to_owned(),
        line: Lines::of(text).at(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut reader = Reader {
        lines: Lines::of(text),
        path,
        owner,
        contents: Contents::default(),
    };
    reader.table(document.get_ref(), "")?;
    reader.contents.found.sort_by_key(|found| found.key.name);
    reader.contents.warnings.sort_by_key(|warning| warning.line);
    Ok(reader.contents)
}

struct Reader<'a> {
    lines: Lines,
    path: &'a Path,
    owner: Owner,
    contents: Contents,
}

impl Reader<'_> {
    /// The recursion is bounded, because the parser refuses deeply nested documents.
    fn table(&mut self, table: &DeTable<'_>, section: &str) -> Result<(), SettingsError> {
        for (key, value) in table {
            let name = if section.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{section}.{}", key.get_ref())
            };
            let line = self.lines.at(key.span().start);
            match (find(&name), value.get_ref()) {
                (Some(key), value) => self.setting(key, value, line)?,
                (None, DeValue::Table(inner)) => self.table(inner, &name)?,
                (None, other) => self.unknown(&name, other, line),
            }
        }
        Ok(())
    }

    fn setting(&mut self, key: &'static Key, value: &DeValue<'_>, line: usize) -> Result<(), SettingsError> {
        let path = self.path.to_owned();
        let (origin, is_allowed) = match self.owner {
            Owner::User => (Origin::User { path, line }, true),
            Owner::Project => (Origin::Project { path, line }, key.project),
        };
        let parsed = key.kind.parse_toml(value);
        match &parsed {
            Err(found) if is_allowed => return Err(key.invalid(origin, found.clone())),
            _ if is_allowed => {}
            _ => {
                let mut message = format!("{} is ignored: a project's file may not set it", key.name);
                if key.kind == Kind::Secret {
                    message
                        .push_str("; everyone who has the project can read the key: remove it and revoke it");
                }
                self.warn(line, message);
            }
        }
        self.contents.found.push(FileValue { key, origin, parsed });
        Ok(())
    }

    fn unknown(&mut self, name: &str, value: &DeValue<'_>, line: usize) {
        if self.contents.warnings.len() >= MAX_WARNINGS {
            return;
        }
        let is_section = KEYS.iter().any(|key| {
            key.name
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('.'))
        });
        let shown = shortened(name);
        let message = match nearest(name) {
            _ if is_section && !matches!(value, DeValue::Table(_)) => {
                format!("{shown:?} is a section and holds settings; the value is ignored")
            }
            Some(known) => format!("unknown setting {shown:?} is ignored; did you mean {known}?"),
            None => format!("unknown setting {shown:?} is ignored"),
        };
        self.warn(line, message);
    }

    fn warn(&mut self, line: usize, message: String) {
        self.contents.warnings.push(Warning {
            path: self.path.to_owned(),
            line,
            message,
        });
    }
}

/// The positions of line breaks in a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| at)
                .collect(),
        )
    }

    /// The number, from 1, of the line with the byte at `offset`.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|newline| *newline < offset) + 1
    }
}

/// The project's file for `directory`: the nearest `.grov/config.toml` from there up to the root of the repository. The search
/// ends below the user's home directory, because its `.grov` is Grov's home.
pub(super) fn find_project_file(
    directory: &Path,
    user_home: Option<&Path>,
    grov_home: &Path,
) -> Option<PathBuf> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (directory, grov_home) = (canonical(directory), canonical(grov_home));
    let user_home = user_home.map(canonical);
    for ancestor in directory.ancestors() {
        if Some(ancestor) == user_home.as_deref() {
            return None;
        }
        let folder = ancestor.join(".grov");
        let file = folder.join("config.toml");
        if file.is_file() && canonical(&folder) != grov_home {
            return Some(file);
        }
        if ancestor.join(".git").exists() {
            return None;
        }
    }
    None
}
