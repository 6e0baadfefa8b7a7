//! The meaning of words in constraints, in eleven languages.

mod asian;
mod germanic;
mod romance;
mod slavic;

use crate::by_beginning::ByBeginning;
use crate::phrases::Languages;
use std::sync::LazyLock;

/// The meaning of a word or phrase in a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    // What kind of limit it is.
    /// "Don't", "without".
    Not,
    /// "Nothing": a negation and all files.
    Nothing,
    /// "No need to": lifts what follows.
    Permit,
    /// "Only".
    Only,
    /// "Except", and "unless it is".
    Except,
    /// "Keep", a limit only with [`Term::Still`].
    Keep,
    /// "Leave", "stays".
    Leave,
    /// "Untouched", "as it is".
    Still,
    /// "Hands off", "frozen".
    HandsOff,
    /// "I'll write them myself".
    Myself,
    /// "Ask me before".
    Ask,
    /// "Before".
    Before,
    /// "Until".
    Until,
    /// "Because": a reason follows.
    Because,
    /// "If", "when".
    If,
    /// "At most".
    Most,
    /// "Outside".
    Outside,
    /// "And", "or".
    And,
    // Verbs.
    /// "Touch", "edit".
    Change,
    /// "Delete".
    Remove,
    /// "Rename", "move".
    Rename,
    /// "Add", "create".
    Add,
    /// "Install".
    Install,
    /// "Upgrade", "bump".
    Upgrade,
    /// "Use".
    Use,
    /// "Run".
    Run,
    /// "Reformat".
    Format,
    /// "Explain", "review".
    Look,
    /// "Commit".
    Commit,
    /// "Push".
    Push,
    /// "Merge".
    Merge,
    /// "Rebase".
    Rebase,
    /// "Stash".
    Stash,
    /// "Switch" to a branch.
    Switch,
    /// "Deploy", "publish".
    Deploy,
    /// "Apply" of infrastructure.
    Apply,
    /// "Destroy" of infrastructure.
    Destroy,
    // Nouns.
    /// "Anything", "everything".
    All,
    /// "Else".
    Else,
    /// "New".
    New,
    /// "Existing", "old".
    Existing,
    /// "File".
    File,
    /// "That file", "it".
    That,
    /// "Tests".
    Tests,
    /// "Docs".
    Docs,
    /// "Config".
    Config,
    /// "Lockfile".
    Lock,
    /// "CI".
    Pipeline,
    /// "Schema".
    Schema,
    /// "Migrations".
    Migration,
    /// "Styles".
    Styles,
    /// "Generated", "vendored".
    Vendored,
    /// "Snapshots".
    Snapshot,
    /// "Production code": sources that are no tests.
    Source,
    /// "Components".
    Component,
    /// "Frontend".
    Frontend,
    /// "Backend".
    Backend,
    /// "Production".
    Production,
    /// "Database", "data".
    Data,
    /// "Queries", "selects".
    Query,
    /// "Dependencies".
    Dependency,
    /// "Comments".
    Comment,
    /// "Mocks".
    Mock,
    /// "Emojis".
    Emoji,
    /// "Badges".
    Badge,
    /// "Inline styles", "custom CSS".
    OwnStyle,
    /// "Debug output": `console.log`.
    DebugOutput,
    /// "Signature", "parameters".
    Signature,
    /// "Public", "exported".
    Public,
    /// "Branch".
    Branch,
    /// "Network".
    Network,
    /// "Containers".
    Container,
    /// "Lines".
    Line,
    /// "Functions", "methods".
    Function,
    /// "Code".
    Code,
    /// "Keys", "identifiers".
    Key,
    /// "Translations".
    Translation,
    /// "Assets", "images".
    Asset,
    /// A property of the code, such as its behaviour. A limit on it cannot be checked.
    Aspect,
    /// A word without a meaning of its own.
    Filler,
}

/// Phrases by meaning.
pub(super) type Phrases = &'static [(Term, &'static [&'static str])];

/// The languages with spaces between words, with their positions in the tables of [`crate::phrases`].
const SPACED: &[(usize, Phrases)] = &[
    (0, germanic::ENGLISH),
    (2, germanic::GERMAN),
    (8, germanic::DUTCH),
    (1, romance::ROMANIAN),
    (3, romance::FRENCH),
    (4, romance::SPANISH),
    (5, romance::ITALIAN),
    (6, romance::PORTUGUESE),
    (7, slavic::POLISH),
];

/// The languages without spaces between words.
const UNSPACED: &[(usize, Phrases)] = &[(9, asian::CHINESE), (10, asian::JAPANESE)];

/// A phrase, its meaning, and the position of its language.
type Entry = (&'static str, Term, usize);

fn index(languages: &[(usize, Phrases)]) -> ByBeginning<Entry> {
    let mut index = ByBeginning::default();
    for (language, all) in languages {
        for (term, phrases) in *all {
            for phrase in *phrases {
                index.add(phrase, (*phrase, *term, *language));
            }
        }
    }
    index
}

// Filled with the first constraint: most contracts have none.
static SPACED_INDEX: LazyLock<ByBeginning<Entry>> = LazyLock::new(|| index(SPACED));
static UNSPACED_INDEX: LazyLock<ByBeginning<Entry>> = LazyLock::new(|| index(UNSPACED));

/// The position of English, whose words for technical things are used in all languages.
const ENGLISH: usize = 0;

/// The longest phrase that `length` finds among those that begin like a word, in the languages of its text and in English.
/// Of several, the first of a likely language wins.
pub(super) fn longest_spaced(
    word: &str,
    languages: Languages,
    length: impl Fn(&'static str) -> Option<usize>,
) -> Option<(Term, usize)> {
    let mut best: Option<(Term, usize, bool)> = None;
    for (phrase, term, language) in SPACED_INDEX.like(word) {
        let is_likely = languages.has(*language);
        if !is_likely && *language != ENGLISH {
            continue;
        }
        if let Some(found) = length(phrase)
            && best.is_none_or(|(_, most, likely)| (found, is_likely) > (most, likely))
        {
            best = Some((*term, found, is_likely));
        }
    }
    best.map(|(term, length, _)| (term, length))
}

/// The longest phrase at the beginning of a text without spaces, and its length in bytes.
pub(super) fn longest_unspaced(text: &str) -> Option<(Term, usize)> {
    let mut best: Option<(Term, usize)> = None;
    for (phrase, term, _) in UNSPACED_INDEX.like(text) {
        if text.starts_with(phrase) && best.is_none_or(|(_, most)| phrase.len() > most) {
            best = Some((*term, phrase.len()));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold;

    #[test]
    fn phrases_are_folded_and_each_language_lists_one_once() {
        for (_, language) in SPACED.iter().chain(UNSPACED) {
            let mut seen = Vec::new();
            for phrase in language.iter().flat_map(|(_, phrases)| *phrases) {
                assert_eq!(*phrase, fold(phrase).as_str());
                assert!(!seen.contains(phrase), "{phrase}");
                seen.push(phrase);
            }
        }
    }
}
