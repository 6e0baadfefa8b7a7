//! The meaning of words in constraints, in eleven languages.

mod asian;
mod germanic;
mod romance;
mod slavic;

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
    /// A property of the code, such as its behaviour. A limit on it cannot be checked.
    Aspect,
    /// A word without a meaning of its own.
    Filler,
}

/// Phrases by meaning.
pub(super) type Phrases = &'static [(Term, &'static [&'static str])];

/// The languages with spaces between words.
const SPACED: &[Phrases] = &[
    germanic::ENGLISH,
    germanic::GERMAN,
    germanic::DUTCH,
    romance::ROMANIAN,
    romance::FRENCH,
    romance::SPANISH,
    romance::ITALIAN,
    romance::PORTUGUESE,
    slavic::POLISH,
];

/// The languages without spaces between words.
const UNSPACED: &[Phrases] = &[asian::CHINESE, asian::JAPANESE];

fn longest<L: Ord>(
    languages: &'static [Phrases],
    length: impl Fn(&'static str) -> Option<L>,
) -> Option<(Term, L)> {
    let mut best: Option<(Term, L)> = None;
    for (term, phrases) in languages.iter().flat_map(|phrases| phrases.iter()) {
        for found in phrases.iter().filter_map(|phrase| length(phrase)) {
            if best.as_ref().is_none_or(|(_, most)| found > *most) {
                best = Some((*term, found));
            }
        }
    }
    best
}

/// The longest phrase that `length` finds in the languages with spaces, and its length. The first language wins.
pub(super) fn longest_spaced(length: impl Fn(&'static str) -> Option<usize>) -> Option<(Term, usize)> {
    longest(SPACED, length)
}

/// The longest phrase at the beginning of a text without spaces, and its length in bytes.
pub(super) fn longest_unspaced(text: &str) -> Option<(Term, usize)> {
    longest(UNSPACED, |phrase| {
        text.starts_with(phrase).then_some(phrase.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold;

    #[test]
    fn phrases_are_folded_and_each_language_lists_one_once() {
        for language in SPACED.iter().chain(UNSPACED) {
            let mut seen = Vec::new();
            for phrase in language.iter().flat_map(|(_, phrases)| *phrases) {
                assert_eq!(*phrase, fold(phrase).as_str());
                assert!(!seen.contains(phrase), "{phrase}");
                seen.push(phrase);
            }
        }
    }
}
