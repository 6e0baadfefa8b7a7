//! The files and words of the work so far, with the source of each word.
//!
//! Sources are recorded so that a file is not evidence for itself: a word is known only if another source contains it.

use super::file_role::subjects;
use super::state::ObservedAction;
use super::terms::{TextTerms, weight};
use super::tracked_file::TrackedFile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The maximum number of recorded files.
const MAX_FILES: usize = 4_000;
/// The maximum number of recorded words, identifiers and names each.
const MAX_WORDS: usize = 20_000;
/// The maximum number of recorded files with the same name.
const MAX_NAMESAKES: usize = 64;
/// The maximum number of distinguished sources of a word.
const MAX_SOURCES: usize = 4;
/// The weight that a word of a path loses if all paths contain it.
const COMMON: f64 = 0.8;

/// The number of a file.
pub(super) type FileId = u32;
/// The source of the user's texts and of commands without files.
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

/// The files that are sources of a word.
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
    /// An empty list represents [`Sources::Many`], because every word has a source.
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

    /// Whether the word has a source other than `own`.
    fn knows(&self, word: &str, own: &BTreeSet<FileId>) -> bool {
        self.0
            .get(word)
            .is_some_and(|sources| sources.has_other_than(own))
    }
}

/// Files grouped by a common property.
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

/// The files and words of the work so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WorkProfile {
    files: BTreeSet<FileId>,
    edited: HashSet<FileId>,
    /// The number of the action that first read each file.
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
    /// The subjects that the names of changed files tell.
    #[serde(default)]
    edited_subjects: HashSet<String>,
}

impl WorkProfile {
    /// Records the terms of a text from these sources.
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

    /// Records the files and the text of an action.
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
                self.edited_subjects.extend(subjects(file));
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

    /// The recorded ids of a file, including those of alternative paths.
    pub(super) fn forms(&self, file: &TrackedFile) -> impl Iterator<Item = FileId> {
        let namesakes = self.names.get(file.name()).map_or(&[][..], Vec::as_slice);
        namesakes
            .iter()
            .filter(|known| file.is_form_of(&known.file.path))
            .map(|known| known.id)
    }

    /// Whether a limit is reached. Then an unknown word is not evidence.
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

    /// Whether files were recorded.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The share of a text's words that the work already uses, 0 to 1: the mean of the share in other sources and the share
    /// in earlier edits. `None` for a text without words.
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

    /// The share of a path's words that other sources contain, 0 to 1.
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

    /// How many of the compound identifiers other sources contain.
    pub(super) fn identifiers(&self, terms: &TextTerms, own: &BTreeSet<FileId>) -> usize {
        terms
            .identifiers
            .iter()
            .filter(|identifier| self.identifiers.knows(identifier, own))
            .count()
    }

    /// Whether another source names the file.
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

    /// Whether a changed file has a name about the same subject: `project.rb` and `projects_controller.rb`.
    pub(super) fn has_edited_kin(&self, file: &TrackedFile) -> bool {
        subjects(file)
            .iter()
            .any(|word| self.edited_subjects.contains(word))
    }

    pub(super) fn edited_stem(&self, name: &str) -> bool {
        self.edited_stems.contains(name)
    }
}

/// The ratio of two counts.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}
