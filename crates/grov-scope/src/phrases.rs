//! Phrases of eleven languages: what opens and lifts a constraint, what assents, and what names things and actions.
//!
//! One module per language contains its tables, as data only. Of several matching entries the longest
//! counts. Chinese and Japanese do not separate words: their
//! entries match anywhere in a text.

use crate::words::{Word, words};

mod de;
mod en;
mod es;
mod fr;
mod it;
mod ja;
mod languages;
mod nl;
mod pl;
mod pt;
mod ro;
mod table;
mod zh;

pub use languages::{Languages, Votes};
pub use table::{PhraseList, PhraseMap, any_at};

/// The tables, one per language. English is first.
static LANGUAGES: [&Phrases; 11] = [
    &en::PHRASES,
    &ro::PHRASES,
    &de::PHRASES,
    &fr::PHRASES,
    &es::PHRASES,
    &it::PHRASES,
    &pt::PHRASES,
    &pl::PHRASES,
    &nl::PHRASES,
    &zh::PHRASES,
    &ja::PHRASES,
];

/// The tables of a language.
#[derive(Debug)]
pub struct Phrases {
    /// Words that name a kind of thing.
    pub nouns: PhraseMap<Noun>,
    /// Words that name an action, in any form: "rename", "umbenennen", "renommez".
    pub verbs: PhraseMap<Verb>,
    /// The commonest words, by which the language is recognized.
    pub function_words: PhraseList,
    /// Words that open a constraint.
    pub cues: PhraseMap<Cue>,
    /// Phrases before an instruction: politeness, connection, "can you".
    pub leads: PhraseList,
    /// Verbs that ask for work, as imperative or infinitive.
    pub orders: PhraseList,
    /// Words between two clauses.
    pub conjunctions: PhraseList,
    /// Words of a description: finite verbs, pronouns of those who act.
    pub narrating: PhraseList,
    /// Words after a cue that make it no constraint: "no idea", "without success".
    pub idle: PhraseList,
    /// Endings of verbs after a negation that make it a prohibition.
    pub endings: PhraseList,
    /// Stems of verbs that a negation forbids, beside those of `verbs` and `orders`.
    pub forbidden: PhraseList,
    /// Phrases that permit something or lift a constraint.
    pub permissions: PhraseList,
    /// Words of assent and thanks; a prompt of nothing else has no content.
    pub assents: PhraseList,
    /// Phrases that drop what was asked before.
    pub turning_away: PhraseList,
    /// Words that add to what was asked before.
    pub continuing: PhraseList,
    /// Whether words are written without spaces between them.
    pub is_unspaced: bool,
}

/// How a constraint opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// "Ask me first".
    AskFirst,
    /// "At most", before a number.
    AtMost,
    /// "Before you …", which needs [`Cue::AskFirst`].
    Before,
    /// "Don't", before any verb.
    Dont,
    /// "Except", "unless".
    Except,
    /// No constraint: "don't worry", "no idea", "without success".
    Idle,
    /// "Keep", before what is kept.
    Keep,
    /// "Leave", before something and a complement: "leave it alone".
    Leave,
    /// "Must", "must not", "can't", after a subject.
    Must,
    /// "Not", "never", which needs a verb.
    Negation,
    /// The second half of a negation: "touche *pas*".
    NegationAfter,
    /// "No", before a noun.
    NoneOf,
    /// "Not", before a thing, in contrast to another: "pnpm, not npm".
    Not,
    /// "Not yet", alone.
    NotYet,
    /// "Nothing in", before a place.
    Nothing,
    /// "Nothing else".
    NothingElse,
    /// "Only".
    Only,
    /// A whole prohibition: "hands off", "under no circumstances".
    Prohibition,
    /// "Myself", after what the user wants to do.
    Own,
    /// "Read only", "only look".
    ReadOnly,
    /// "Stays as it is", after its subject.
    Stays,
    /// "Stays", after its subject and at the end or before a number.
    StaysAtEnd,
    /// "It would be nice if", which forbids if a negation follows.
    Wish,
    /// "Without".
    Without,
}

/// A kind of thing that constraints are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// Nothing, anything, everything.
    Anything,
    /// The build server's pipelines.
    Ci,
    /// Source code in general.
    Code,
    /// Comments in code.
    Comment,
    /// A commit.
    Commit,
    /// Configuration and settings.
    Config,
    /// A database, its tables and rows.
    Database,
    /// Packages, libraries, modules of others.
    Dependency,
    /// A deployment or release.
    Deployment,
    /// Documentation.
    Docs,
    /// Files in general.
    File,
    /// Folders in general.
    Folder,
    /// Database migrations.
    Migration,
    /// A push to a remote repository.
    Push,
    /// The file README.
    Readme,
    /// The structure of a database.
    Schema,
    /// Functions, signatures, interfaces.
    Signature,
    /// Recorded outputs of tests.
    Snapshot,
    /// Formatting and style of code.
    Style,
    /// Tests.
    Test,
}

/// An action that constraints are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// To add something to what exists.
    Add,
    /// To change, edit or touch.
    Change,
    /// To commit.
    Commit,
    /// To create or write something new.
    Create,
    /// To delete, remove or drop.
    Delete,
    /// To deploy, release or publish.
    Deploy,
    /// To reformat.
    Format,
    /// To install.
    Install,
    /// To merge or rebase.
    Merge,
    /// To move.
    Move,
    /// To push.
    Push,
    /// To restructure.
    Refactor,
    /// To rename.
    Rename,
    /// To run, execute, start or restart.
    Run,
    /// To update or upgrade.
    Upgrade,
    /// To use.
    Use,
}

/// A phrase found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// What it means.
    pub means: T,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

/// The things that a text names, in the languages it is likely written in and in English, in order.
pub fn nouns(text: &str) -> Vec<Found<Noun>> {
    find_all(text, |language| &language.nouns)
}

/// The actions that a text names, in the languages it is likely written in and in English, in order.
pub fn verbs(text: &str) -> Vec<Found<Verb>> {
    find_all(text, |language| &language.verbs)
}

/// The phrases of one table per language in a text, in order. They do not overlap.
fn find_all<T: Copy + 'static>(
    text: &str,
    table: impl Fn(&'static Phrases) -> &'static PhraseMap<T>,
) -> Vec<Found<T>> {
    let words = words(text);
    let languages = Languages::of(&words);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let likely = languages.with_english().tables();
        let best = likely
            .filter(|language| !language.is_unspaced)
            .filter_map(|language| table(language).at(&words, at))
            .max_by_key(|(length, _)| *length);
        match best {
            Some((length, means)) => {
                let (start, end) = (word.start, words[at + length - 1].end);
                found.push(Found { means, start, end });
                at += length;
            }
            None => {
                if !word.raw.is_ascii() {
                    for language in languages.tables().filter(|language| language.is_unspaced) {
                        inside(table(language), word, &mut found);
                    }
                }
                at += 1;
            }
        }
    }
    found
}

/// Adds the entries inside a word of a language without spaces.
fn inside<T: Copy>(table: &PhraseMap<T>, word: &Word<'_>, found: &mut Vec<Found<T>>) {
    // Folding changes the length of some letters that these languages do not have.
    if word.folded.len() != word.raw.len() {
        return;
    }
    let known = found.len();
    let mut at = 0;
    while at < word.folded.len() {
        let rest = &word.folded[at..];
        let length = match table.before(rest) {
            Some((length, means)) => {
                let start = word.start + at;
                let end = start + length;
                if !found[..known]
                    .iter()
                    .any(|other| other.start < end && start < other.end)
                {
                    found.push(Found { means, start, end });
                }
                length
            }
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += length;
    }
}

#[cfg(test)]
mod tests;
