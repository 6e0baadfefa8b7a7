//! What a line of work touched and talked about, and where each word of it came from.
//!
//! The sources are kept because a file must not vouch for itself: a word is known only if something else said it too.

use super::state::ObservedAction;
use super::terms::{TextTerms, weight};
use super::tracked_file::TrackedFile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// So many files are kept in mind.
const MAX_FILES: usize = 4_000;
/// So many words (and identifiers, and names) are kept in mind.
const MAX_WORDS: usize = 20_000;
/// Of files of the same name so many are compared.
const MAX_NAMESAKES: usize = 64;
/// So many sources of a word are told apart.
const MAX_SOURCES: usize = 4;
/// A word of every path says this much less than a word of one.
const COMMON: f64 = 0.8;

/// A file by its number.
pub(super) type FileId = u32;
/// What the user said, and commands that touch no file.
pub(super) const USER: FileId = 0;

/// Numbers for the files of a conversation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Files(HashMap<String, FileId>);

impl Files {
    /// The number of a file. `None` once there are too many.
    pub(super) fn number(&mut self, path: &str) -> Option<FileId> {
        if let Some(id) = self.0.get(path) {
            return Some(*id);
        }
        if self.0.len() >= MAX_FILES {
            return None;
        }
        let id = FileId::try_from(self.0.len() + 1).ok()?;
        self.0.insert(path.to_owned(), id);
        Some(id)
    }
}

/// Files that a word came with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<FileId>", into = "Vec<FileId>")]
enum Sources {
    Few(Vec<FileId>),
    Many,
}

impl From<Vec<FileId>> for Sources {
    fn from(few: Vec<FileId>) -> Self {
        if few.is_empty() {
            Self::Many
        } else {
            Self::Few(few)
        }
    }
}

impl From<Sources> for Vec<FileId> {
    /// No word is without a source: an empty list says that they are many.
    fn from(sources: Sources) -> Self {
        match sources {
            Sources::Few(few) => few,
            Sources::Many => Self::new(),
        }
    }
}

impl Sources {
    fn add(&mut self, more: &[FileId]) {
        for id in more {
            match self {
                Self::Few(few) if few.contains(id) => {}
                Self::Few(few) if few.len() < MAX_SOURCES => few.push(*id),
                Self::Few(_) => *self = Self::Many,
                Self::Many => return,
            }
        }
    }

    fn has_other_than(&self, own: &BTreeSet<FileId>) -> bool {
        match self {
            Self::Few(few) => few.iter().any(|id| !own.contains(id)),
            Self::Many => true,
        }
    }
}

/// Words with their sources.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Vocabulary(HashMap<String, Sources>);

impl Vocabulary {
    fn add(&mut self, word: &str, sources: &[FileId]) {
        if let Some(known) = self.0.get_mut(word) {
            known.add(sources);
        } else if self.0.len() < MAX_WORDS {
            let mut few = Sources::Few(Vec::new());
            few.add(sources);
            self.0.insert(word.to_owned(), few);
        }
    }

    /// Whether something else than these files said the word.
    fn knows(&self, word: &str, own: &BTreeSet<FileId>) -> bool {
        self.0
            .get(word)
            .is_some_and(|sources| sources.has_other_than(own))
    }
}

/// Files by something that they have in common.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Groups(HashMap<String, BTreeSet<FileId>>);

impl Groups {
    fn add(&mut self, key: &str, id: FileId) {
        if let Some(group) = self.0.get_mut(key) {
            group.insert(id);
        } else {
            self.0.insert(key.to_owned(), BTreeSet::from([id]));
        }
    }

    fn has_other_than(&self, key: &str, own: &BTreeSet<FileId>) -> bool {
        self.0
            .get(key)
            .is_some_and(|group| group.iter().any(|id| !own.contains(id)))
    }

    fn count_without(&self, key: &str, own: &BTreeSet<FileId>) -> usize {
        self.0.get(key).map_or(0, |group| count_without(group, own))
    }
}

fn count_without(group: &BTreeSet<FileId>, own: &BTreeSet<FileId>) -> usize {
    group.len() - own.intersection(group).count()
}

/// A file with its number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NumberedFile {
    pub(super) id: FileId,
    #[serde(rename = "subject")]
    pub(super) file: TrackedFile,
}

/// What a line of work touched and talked about.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WorkProfile {
    files: BTreeSet<FileId>,
    edited: HashSet<FileId>,
    /// When a file was looked at first, as the number of the action.
    read: HashMap<FileId, u64>,
    names: HashMap<String, Vec<NumberedFile>>,
    stems: Groups,
    folders: Groups,
    parts: Groups,
    endings: Groups,
    path_words: Groups,
    said: Vocabulary,
    identifiers: Vocabulary,
    said_names: Vocabulary,
    edit_words: HashSet<String>,
    edited_stems: HashSet<String>,
}

impl WorkProfile {
    /// Hears a text that came with some files.
    pub(super) fn record(&mut self, terms: &TextTerms, sources: &[FileId]) {
        for word in &terms.words {
            self.said.add(word, sources);
        }
        for identifier in &terms.identifiers {
            self.identifiers.add(identifier, sources);
        }
        for name in &terms.names {
            self.said_names.add(name, sources);
        }
    }

    /// Takes over files that were changed or looked at, and the text that came with them.
    pub(super) fn add(&mut self, seen: &ObservedAction) {
        let ObservedAction {
            files,
            changes,
            is_edit,
            terms,
            at,
            ..
        } = seen;
        let (changes, is_edit) = (*changes, *is_edit);
        for NumberedFile { id, file } in files {
            if changes {
                self.edited.insert(*id);
                self.edited_stems.insert(file.stem.clone());
            } else {
                self.read.entry(*id).or_insert(*at);
            }
            self.files.insert(*id);
            if file.is_folder() && !is_edit {
                self.folders.add(&file.path, *id);
            }
            if changes || !file.is_folder() {
                self.folders.add(file.parent(), *id);
            }
            self.stems.add(&file.stem, *id);
            self.parts.add(file.part(), *id);
            self.endings.add(file.extension(), *id);
            for word in &file.words {
                self.said.add(word, &[*id]);
                self.path_words.add(word, *id);
            }
            let namesakes = self.names.entry(file.name().to_owned()).or_default();
            if namesakes.len() < MAX_NAMESAKES && namesakes.iter().all(|known| known.id != *id) {
                namesakes.push(NumberedFile {
                    id: *id,
                    file: file.clone(),
                });
            }
        }
        if changes {
            for word in &terms.words {
                if self.edit_words.len() < MAX_WORDS {
                    self.edit_words.insert(word.clone());
                }
            }
        }
        let sources: Vec<FileId> = files.iter().map(|file| file.id).collect();
        self.record(terms, &sources);
    }

    /// The files under which one is known already.
    pub(super) fn forms(&self, file: &TrackedFile) -> impl Iterator<Item = FileId> {
        let namesakes = self.names.get(file.name()).map_or(&[][..], Vec::as_slice);
        namesakes
            .iter()
            .filter(|known| file.is_form_of(&known.file.path))
            .map(|known| known.id)
    }

    /// Whether there is no room for more words: then what is unknown proves nothing.
    pub(super) fn is_full(&self) -> bool {
        [&self.said, &self.identifiers, &self.said_names]
            .iter()
            .any(|words| words.0.len() >= MAX_WORDS)
            || self.edit_words.len() >= MAX_WORDS
            || self.files.len() >= MAX_FILES
    }

    pub(super) fn has_edited(&self, id: FileId) -> bool {
        self.edited.contains(&id)
    }

    pub(super) fn read_at(&self, id: FileId) -> Option<u64> {
        self.read.get(&id).copied()
    }

    /// Whether anything was touched.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// How much of a text the work talks about already, 0 to 1: the mean of what was said anywhere else and what earlier
    /// edits said. `None` for a text that says nothing.
    pub(super) fn talk(&self, terms: &TextTerms, own: &BTreeSet<FileId>) -> Option<f64> {
        let (mut total, mut known) = (0.0, 0.0);
        for word in &terms.words {
            let weight = weight(word);
            total += weight;
            known += if self.said.knows(word, own) { weight } else { 0.0 };
            known += if self.edit_words.contains(word) {
                weight
            } else {
                0.0
            };
        }
        (total > 0.0).then(|| known / total / 2.0)
    }

    /// The share of a path's words that something else said, 0 to 1.
    pub(super) fn path_words(&self, words: &BTreeSet<&str>, own: &BTreeSet<FileId>) -> Option<f64> {
        let others = count_without(&self.files, own);
        let (mut total, mut known) = (0.0, 0.0);
        for word in words {
            let rarity = if others >= 2 {
                1.0 - COMMON * ratio(self.path_words.count_without(word, own), others)
            } else {
                1.0
            };
            total += rarity;
            known += if self.said.knows(word, own) { rarity } else { 0.0 };
        }
        (total > 0.0).then(|| known / total)
    }

    /// How many of the compound identifiers something else said.
    pub(super) fn identifiers(&self, terms: &TextTerms, own: &BTreeSet<FileId>) -> usize {
        terms
            .identifiers
            .iter()
            .filter(|identifier| self.identifiers.knows(identifier, own))
            .count()
    }

    /// Whether something else named the file.
    pub(super) fn names(&self, file: &TrackedFile, own: &BTreeSet<FileId>) -> bool {
        self.said_names.knows(&file.stem, own)
            || self.identifiers.knows(&file.stem.replace(['_', '-'], ""), own)
    }

    pub(super) fn knows_folder(&self, file: &TrackedFile, own: &BTreeSet<FileId>) -> bool {
        self.folders.has_other_than(file.parent(), own)
    }

    pub(super) fn knows_stem(&self, file: &TrackedFile, own: &BTreeSet<FileId>) -> bool {
        self.stems.has_other_than(&file.stem, own)
    }

    pub(super) fn knows_part(&self, file: &TrackedFile, own: &BTreeSet<FileId>) -> bool {
        self.parts.has_other_than(file.part(), own)
    }

    pub(super) fn knows_ending(&self, file: &TrackedFile, own: &BTreeSet<FileId>) -> bool {
        self.endings.has_other_than(file.extension(), own)
    }

    pub(super) fn edited_stem(&self, name: &str) -> bool {
        self.edited_stems.contains(name)
    }
}

/// Two counts as a share.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}
