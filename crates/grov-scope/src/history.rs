//! A compact, bounded record of the agent's actions.

use crate::analyzed_action::AnalyzedAction;
use crate::essential_words::{essential_hash, hides_result};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{ActionType, Program};
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The maximum number of recorded actions; loops are found within far fewer.
const MAX_ENTRIES: usize = 500;

/// The maximum number of recorded files per action.
const MAX_FILES: usize = 8;

/// The maximum number of recorded names (files, words of commands).
const MAX_NAMES: usize = 4_000;

/// Only the beginning of a text is compared.
const MAX_BYTES: usize = 16 * 1024;

/// Texts that share this many first bytes are variants of each other within a loop.
const BEGINNING: usize = 24;

/// The number of smallest word hashes in a fingerprint.
const SKETCH: usize = 32;

/// Identifies a text and texts that are nearly equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    exact: u64,
    /// The hash of the beginning.
    beginning: u64,
    smallest: Vec<u32>,
    pub(crate) bytes: usize,
    /// The hash of the text that an edit replaces, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<u64>,
}

impl Fingerprint {
    fn of(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        if text.trim().is_empty() {
            return None;
        }
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let mut smallest: Vec<u32> = words.filter(|word| !word.is_empty()).map(word_hash).collect();
        smallest.sort_unstable();
        smallest.dedup();
        smallest.truncate(SKETCH);
        smallest.shrink_to_fit();
        Some(Self {
            exact: hash(&text),
            beginning: hash(&&text[..text.floor_char_boundary(BEGINNING)]),
            smallest,
            bytes: text.len(),
            replaced: None,
        })
    }

    /// Whether it is the same text, in place of the same text: the same line may be written in many places of a file.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.exact == other.exact && !self.replaces_another(other)
    }

    fn replaces_another(&self, other: &Self) -> bool {
        matches!((self.replaced, other.replaced), (Some(own), Some(other)) if own != other)
    }

    /// Whether both texts have the same beginning and are longer than it.
    pub(crate) fn begins_as(&self, other: &Self) -> bool {
        self.beginning == other.beginning && self.bytes.min(other.bytes) > BEGINNING
    }

    /// Whether nearly all words are the same.
    pub(crate) fn resembles(&self, other: &Self) -> bool {
        if self.is(other) {
            return true;
        }
        if self.replaces_another(other) {
            return false;
        }
        let shared = self
            .smallest
            .iter()
            .filter(|word| other.smallest.binary_search(word).is_ok())
            .count();
        let most = self.smallest.len().max(other.smallest.len());
        most >= 4 && shared * 10 >= most * 9
    }
}

/// The kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// It changed files.
    Change,
    /// It ran something.
    Run,
    /// It only read.
    Look,
}

/// One action of the past.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    files: Vec<u64>,
    #[serde(rename = "print")]
    pub(crate) fingerprint: Option<Fingerprint>,
    /// The hash of the essential words of its command.
    pub(crate) command: Option<u64>,
    call: Option<u64>,
    pub(crate) failed: Option<bool>,
    /// It repeats an earlier change.
    pub(crate) repeats: bool,
    /// Its success says nothing of the program that counts: `cargo test | tail`.
    #[serde(default)]
    pub(crate) hides_result: bool,
}

/// The working directory, as far as `cd` commands show it. It persists between the agent's commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WorkingDirectory {
    /// The project root.
    #[default]
    Root,
    /// This folder.
    Folder(String),
    /// Unknown.
    Unknown,
}

impl WorkingDirectory {
    /// The maximum length of a path in bytes.
    const MAX_BYTES: usize = 1024;

    /// Follows a command that changes the directory.
    pub(crate) fn follow(&mut self, command: &Program) {
        match command.name() {
            // Whether the command runs is unknown.
            "cd" | "pushd" if command.is_fallback => *self = Self::Unknown,
            "cd" | "pushd" => {
                let path = command.operands().next().unwrap_or("~");
                *self = match self.path(path) {
                    Some(path) if path.len() <= Self::MAX_BYTES && command.words().last() != Some("-") => {
                        Self::Folder(path)
                    }
                    _ => Self::Unknown,
                };
            }
            "popd" => *self = Self::Unknown,
            _ => {}
        }
    }

    /// A path relative to this directory as a path relative to the root; `None` if it cannot be resolved.
    pub(crate) fn path(&self, path: &str) -> Option<String> {
        if let Some(rest) = below(path, HERE) {
            return self.path(&format!(".{rest}"));
        }
        if let Some(rest) = below(path, TOP) {
            return Some(format!(".{rest}"));
        }
        let is_home = path == "$HOME"
            || path == "${HOME}"
            || path.starts_with("$HOME/")
            || path.starts_with("${HOME}/");
        if path.contains(['$', '`']) && !is_home {
            return None;
        }
        let is_rooted =
            is_home || path.starts_with(['/', '~', '\\']) || path.as_bytes().get(1) == Some(&b':');
        match self {
            _ if is_rooted => Some(path.replace("${HOME}", "$HOME")),
            Self::Root => Some(path.to_owned()),
            Self::Folder(folder) => Some(format!("{}/{path}", folder.trim_end_matches('/'))),
            Self::Unknown => None,
        }
    }
}

/// Expansions that are the working directory.
const HERE: &[&str] = &["$PWD", "${PWD}", "$(pwd)", "`pwd`"];

/// Expansions that are the root of the project.
const TOP: &[&str] = &[
    "$(git rev-parse --show-toplevel)",
    "`git rev-parse --show-toplevel`",
];

/// The rest of a path below one of these folders.
fn below<'p>(path: &'p str, folders: &[&str]) -> Option<&'p str> {
    let mut rests = folders.iter().filter_map(|folder| path.strip_prefix(folder));
    rests.find(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The recorded actions of the conversation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct History {
    entries: VecDeque<Entry>,
    touched: HashSet<u64>,
    changed: HashSet<u64>,
    /// Files that were written whole and that nothing touched before.
    #[serde(default)]
    created: HashSet<u64>,
    words: HashSet<u64>,
    #[serde(rename = "here")]
    directory: WorkingDirectory,
}

impl History {
    /// The actions, the newest first.
    pub(crate) fn newest(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().rev()
    }

    /// Earlier actions that touched one of these files, the newest first, among the last `within`.
    pub(crate) fn of_files<'a>(
        &'a self,
        files: &[NormalizedPath],
        within: usize,
    ) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let files: Vec<u64> = files.iter().take(MAX_FILES).map(hash).collect();
        self.newest()
            .take(within)
            .filter(move |entry| entry.files.iter().any(|file| files.contains(file)))
    }

    /// Whether a file was touched before.
    pub(crate) fn knows(&self, place: &NormalizedPath) -> bool {
        self.touched.contains(&hash(place))
    }

    /// Whether a file was changed before.
    pub(crate) fn has_changed(&self, place: &NormalizedPath) -> bool {
        self.changed.contains(&hash(place))
    }

    /// Whether the agent made a file: it wrote it whole, and nothing touched it before.
    pub(crate) fn has_created(&self, place: &NormalizedPath) -> bool {
        self.created.contains(&hash(place))
    }

    /// The working directory of commands.
    pub(crate) fn directory(&self) -> &WorkingDirectory {
        &self.directory
    }

    /// Whether an earlier command contained this word.
    pub(crate) fn has_run(&self, word: &str) -> bool {
        self.words.contains(&hash(&word))
    }

    /// Resets the activity and the entries for a new instruction: the user may have changed something meanwhile, so
    /// earlier actions are no part of a loop.
    pub(crate) fn start_prompt(&mut self) {
        self.entries.clear();
    }

    /// Records an action.
    pub(crate) fn record(
        &mut self,
        action: &AnalyzedAction<'_>,
        fingerprint: Option<Fingerprint>,
        call: Option<&str>,
        repeats: bool,
        root: &ProjectRoot,
    ) {
        let command = essential_hash(action, root, &self.directory);
        let kind = if action.changes_files() {
            Kind::Change
        } else if action.is_read_only() {
            Kind::Look
        } else {
            Kind::Run
        };
        self.record_touched(action);
        self.record_changes(action);
        self.follow_directory(action);
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.pop_front();
        }
        let files = if kind == Kind::Change {
            &action.changed
        } else {
            &action.touched
        };
        self.entries.push_back(Entry {
            kind,
            files: files.iter().take(MAX_FILES).map(hash).collect(),
            fingerprint,
            command,
            call: call.map(|call| hash(&call)),
            failed: action.sketch.failed,
            repeats,
            hides_result: hides_result(action),
        });
    }

    /// Records the files and commands of a subagent's action, without an entry.
    pub(crate) fn record_subagent(&mut self, action: &AnalyzedAction<'_>) {
        self.record_touched(action);
        self.record_changes(action);
    }

    fn record_touched(&mut self, action: &AnalyzedAction<'_>) {
        if action.sketch.action_type == ActionType::Write {
            let is_new = |file: &&NormalizedPath| !self.touched.contains(&hash(*file));
            let new: Vec<u64> = action.changed.iter().filter(is_new).map(hash).collect();
            insert_bounded(&mut self.created, new.into_iter());
        }
        insert_bounded(&mut self.touched, action.touched.iter().map(hash));
    }

    fn record_changes(&mut self, action: &AnalyzedAction<'_>) {
        insert_bounded(&mut self.changed, action.created.iter().map(hash));
        let words = action
            .programs()
            .iter()
            .flat_map(Program::words)
            .flat_map(names_in);
        insert_bounded(&mut self.words, words.map(|word| hash(&word)));
    }

    fn follow_directory(&mut self, action: &AnalyzedAction<'_>) {
        // Other shells, including subshells, do not change this shell's directory.
        for command in action.programs().iter().filter(|command| command.shell == 0) {
            self.directory.follow(command);
        }
    }

    /// Records the result of an earlier action.
    pub(crate) fn record_result(&mut self, call: &str, failed: bool) {
        let call = hash(&call);
        if let Some(entry) = self
            .entries
            .iter_mut()
            .rev()
            .find(|entry| entry.call == Some(call))
        {
            entry.failed = Some(failed);
        }
    }
}

/// The text that a change writes.
pub(crate) fn fingerprint_of(action: &AnalyzedAction<'_>) -> Option<Fingerprint> {
    if !action.changes_files() {
        return None;
    }
    let mut fingerprint = Fingerprint::of(action.content())?;
    let replaced = action
        .sketch
        .change
        .as_deref()
        .filter(|_| action.sketch.action_type == ActionType::Edit)
        .and_then(|change| change.before.as_deref());
    fingerprint.replaced = replaced.filter(|text| !text.is_empty()).map(|text| hash(&text));
    Some(fingerprint)
}

/// The hash by which a tool call is recognised.
pub(crate) fn call_hash(call: &str) -> u64 {
    hash(&call)
}

/// The hash of a command, independent of its spacing.
pub(crate) fn command_hash(action: &AnalyzedAction<'_>) -> Option<u64> {
    if action.programs().is_empty() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    for command in action.programs() {
        command.arguments.len().hash(&mut hasher);
        command.words().for_each(|word| word.hash(&mut hasher));
        command.targets.hash(&mut hasher);
        command.input.hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// The words of a command's word that may name a program: `vite` of `node_modules/.bin/vite`.
pub(crate) fn names_in(word: &str) -> impl Iterator<Item = &str> {
    word.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-')))
        .filter(|part| part.len() >= 3)
}

fn insert_bounded(names: &mut HashSet<u64>, new: impl Iterator<Item = u64>) {
    for name in new {
        if names.len() >= MAX_NAMES {
            return;
        }
        names.insert(name);
    }
}

fn hash<T: Hash + ?Sized>(thing: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// FNV-1a: short words, many of them.
fn word_hash(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_equal_texts_resemble_each_other() {
        let text = "pub fn parse(input: &str) -> Result<Vec<Token>, Error> { let mut tokens = Vec::new(); lex(input) }";
        let fingerprint = |text: &str| Fingerprint::of(text).unwrap();
        assert!(fingerprint(text).is(&fingerprint(text)));
        assert!(fingerprint(text).resembles(&fingerprint(&format!("{} {text}", &text[..40]))));
        assert!(!fingerprint(text).is(&fingerprint(&format!("{text} "))));
        assert!(!fingerprint(text).resembles(&fingerprint(
            "struct Unrelated { names: HashMap<String, u64>, count: usize, size: u8 }"
        )));
        assert_eq!(Fingerprint::of(" \n"), None);
    }
}
