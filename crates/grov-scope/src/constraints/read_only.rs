//! Detects that the user wants nothing changed: "Explain the login. Don't change anything."
//!
//! Only a clause that forbids every change counts. "Don't change anything else", "… in src/db/" and "don't change the API"
//! are narrower and are parsed by the other modules. The constraint ends when the user requests a change.

use super::command_effects;
use super::grammar::{is_change, is_order, may_forbid, sentences};
use super::limit::ForbiddenCommand;
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::{is_build_output, is_temporary};
use crate::normalized_path::NormalizedPath;
use crate::phrases::Languages;
use crate::words::{Word, fold, words};
use grov_domain::EffectKind;

/// Every read-only constraint contains one of these substrings. Most prompts do not and need not be split into sentences.
#[rustfmt::skip]
const TRACES: &[&str] = &[
    "chang", "modif", "edit", "touch", "alter", "only", "just", "write any", "writing any", "nichts", "keine", "nur ", "schimb", "doar ", "ating",
];

/// Words that may precede the prohibition in a clause.
#[rustfmt::skip]
const OPENINGS: &[&str] = &[
    "please", "pls", "but", "and", "so", "also", "for", "now", "then", "ok", "okay", "bitte", "aber", "und", "te", "rog", "dar", "si", "make",
    "you", "with", "there", "should", "be", "note", "important", "i", "want", "would", "like", "to", "kindly",
];

/// Words allowed between a negation and its verb.
#[rustfmt::skip]
const BETWEEN: &[&str] = &["you", "please", "ever", "actually", "go", "and", "or", "do", "sa", "make", "making", "any", "the", "start"];

/// Words that mean all files.
#[rustfmt::skip]
const ALL: &[&str] = &[
    "anything", "nothing", "file", "files", "code", "thing", "changes", "change", "edits", "modifications", "codebase", "repo", "repository",
    "project", "nimic", "fisiere", "fisier", "cod", "nichts", "etwas", "dateien", "datei", "modificari", "schimbari",
];

/// Nouns for a change.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "changes", "change", "edits", "edit", "editing", "modifications", "modification", "anderungen", "anderung", "modificari", "schimbari",
];

/// Words that do not narrow the meaning of a clause.
#[rustfmt::skip]
const AROUND: &[&str] = &[
    "any", "a", "single", "source", "yet", "please", "now", "at", "all", "here", "to", "or", "and", "nor", "create", "delete", "remove", "write",
    "edit", "modify", "change", "touch", "add", "commit", "of", "my", "our", "in", "this", "whole", "entire", "for", "the", "moment", "just",
    "bitte", "inca", "acum", "vreun", "niciun", "un",
];

/// Words after a clause that introduce an exception.
#[rustfmt::skip]
const EXCEPTIONS: &[&str] = &[
    "except", "besides", "apart", "unless", "if", "other", "else", "but", "outside", "beyond", "when", "before", "excluding", "daca", "decat",
    "ausser", "wenn", "altceva",
];

/// Words that request information instead of a change.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "look", "explain", "analyze", "analyse", "review", "describe", "read", "tell", "inspect", "show", "report", "summarize", "summarise",
    "investigate", "explore", "list", "find", "check", "search", "understand", "walk", "give", "compare", "diagnose", "what", "how", "why",
    "where", "which", "who", "is", "are", "does", "erklare", "erklaren", "analysiere", "analysieren", "lies", "lesen", "zeige", "zeigen",
    "beschreibe", "beschreiben", "anschauen", "ansehen", "explica", "explici", "analizeaza", "citeste", "arata", "descrie", "uita-te", "spune",
];

/// Words for reading that, with "only" or "just", exclude changes.
#[rustfmt::skip]
const ONLY_LOOKING: &[&str] = &[
    "look", "looking", "explain", "analyze", "analyse", "analysis", "review", "describe", "read", "inspect", "report", "summarize", "summarise",
    "explanation", "reading", "investigate", "erklaren", "analysieren", "lesen", "anschauen", "ansehen", "beschreiben", "explica", "analizeaza",
    "citeste", "descrie",
];

/// The only words allowed in a clause with "read only". "The config is read-only" is about the config.
#[rustfmt::skip]
const READ_ONLY: &[&str] = &[
    "read", "only", "read-only", "readonly", "please", "this", "is", "a", "task", "session", "mode", "stay", "it", "purely", "strictly", "review",
    "analysis", "access", "work", "in", "keep", "just", "be", "remain", "question", "audit", "nur-lesen",
];

/// Git commands that change files or the local history.
#[rustfmt::skip]
const GIT: &[&str] = &[
    "add", "am", "apply", "checkout", "cherry-pick", "clean", "commit", "merge", "mv", "pull", "push", "rebase", "reset", "restore", "revert",
    "rm", "stash", "switch",
];

/// A constraint to change nothing, as the user's sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadOnlyConstraint(String);

impl ReadOnlyConstraint {
    /// The newest read-only constraint in `instructions` (oldest first) that no later instruction ended.
    pub(super) fn of(instructions: &[String]) -> Option<Self> {
        let mut found = None;
        for text in instructions {
            match Self::read(text) {
                Some(limit) => found = Some(limit),
                None if found.is_some() && asks_for_change(text) => found = None,
                None => {}
            }
        }
        found
    }

    /// Parses a constraint that occurs in no instruction, unless one of `younger` ended it.
    pub(super) fn of_constraint(constraint: &str, younger: &[String]) -> Option<Self> {
        let limit = Self::read(constraint)?;
        (!younger.iter().any(|text| asks_for_change(text))).then_some(limit)
    }

    /// A constraint known to forbid every change, unless one of `younger` ended it.
    pub(super) fn stated(constraint: &str, younger: &[String]) -> Option<Self> {
        (!younger.iter().any(|text| asks_for_change(text))).then(|| Self(constraint.to_owned()))
    }

    /// Parses an instruction. `None` if it also requests a change.
    fn read(text: &str) -> Option<Self> {
        let folded = fold(text);
        if !TRACES.iter().any(|trace| folded.contains(trace)) {
            return None;
        }
        let sentences = sentences(text);
        let at = sentences.iter().position(|sentence| forbids_all(sentence))?;
        let others = sentences.iter().enumerate().filter(|(place, _)| *place != at);
        let asks = others.into_iter().any(|(_, sentence)| orders_change(sentence));
        (!asks).then(|| Self(sentences[at].clone()))
    }

    /// The user's sentence.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The project files that an action changes, and whether it also changes the repository.
    pub(super) fn breaches<'d>(&self, action: &'d AnalyzedAction<'_>) -> (Vec<&'d NormalizedPath>, bool) {
        let counts = |place: &&NormalizedPath| {
            place.is_in_project() && !is_temporary(place) && !is_build_output(place)
        };
        let changed: Vec<&NormalizedPath> = action.changed.iter().filter(counts).collect();
        let effects = &action.sketch.effects;
        let is_git = effects.contains(&EffectKind::VersionControl)
            && action
                .programs()
                .iter()
                .any(|command| GIT.contains(&command.git().0));
        // A formatter without file arguments changes all files.
        let is_wide = action.sketch.files.is_empty() && effects.contains(&EffectKind::Modify);
        let acts = |what| command_effects::is_run(&what, action);
        let is_outside = acts(ForbiddenCommand::Infrastructure) || acts(ForbiddenCommand::DatabaseWrite);
        (changed, is_git || is_wide || is_outside)
    }
}

/// Whether a sentence forbids every change and requests none.
fn forbids_all(sentence: &str) -> bool {
    let asked = sentence.strip_suffix('?').filter(|asked| {
        let first = fold(asked.split_whitespace().next().unwrap_or_default());
        matches!(first.as_str(), "can" | "could" | "would" | "will" | "please")
    });
    let sentence = asked.unwrap_or(sentence);
    if !may_forbid(sentence) {
        return false;
    }
    let words = words(sentence);
    let mut start = 0;
    for end in 1..=words.len() {
        if end < words.len() && !words[end - 1].pauses() && !words[end - 1].after.contains('-') {
            continue;
        }
        let (before, rest) = (&words[..start], &words[end..]);
        let holds = |list: &[&str]| rest.iter().any(|word| word.is_any(list));
        let is_narrowed = || {
            holds(EXCEPTIONS)
                || holds(&["only", "nur", "doar"]) && !holds(LOOKING)
                || asks_in(before)
                || asks_in(rest)
        };
        if clause_forbids_all(&words[start..end]) && !is_narrowed() {
            return true;
        }
        start = end;
    }
    false
}

/// Whether a clause forbids every change.
fn clause_forbids_all(clause: &[Word<'_>]) -> bool {
    let first = clause.iter().position(|word| !word.is_any(OPENINGS));
    let Some(first) = first else { return false };
    let bare = &clause[first..];
    is_read_only(clause)
        || looks_only(bare)
        || changes_nothing(bare)
        || bare[0].is_any(&["don't", "never", "nu", "mustn't", "shouldn't", "not"]) && negates_all(&bare[1..])
        || bare[0].is_any(&["do", "must", "should", "may"])
            && bare.get(1).is_some_and(|word| word.is_any(&["not"]))
            && negates_all(&bare[2..])
        || bare[0].is_any(&["no", "zero", "keine"]) && is_no_change(&bare[1..])
        || (0..clause.len()).any(|at| {
            let (before, after) = (&clause[..at], &clause[at + 1..]);
            clause[at].is_any(&["without", "fara", "ohne"])
                && !asks_in(before)
                && (negates_all(after) || is_no_change(after))
        })
}

/// "read only", "this is a read-only task".
fn is_read_only(clause: &[Word<'_>]) -> bool {
    let says = clause
        .iter()
        .any(|word| word.is_any(&["read-only", "readonly", "nur-lesen"]))
        || clause
            .windows(2)
            .any(|pair| pair[0].folded == "read" && pair[1].folded == "only");
    says && clause
        .iter()
        .all(|word| word.is_any(READ_ONLY) || word.is_any(OPENINGS))
}

/// "just look at it", "review only".
fn looks_only(clause: &[Word<'_>]) -> bool {
    let is_only = |word: &Word<'_>| word.is_any(&["just", "only", "nur", "doar"]);
    let is_look = |word: &Word<'_>| word.is_any(ONLY_LOOKING);
    let [first, second, ..] = clause else { return false };
    // German puts the verb last: "nur den Login erklären".
    let german = first.folded == "nur" && clause.last().is_some_and(is_look);
    // "Only review comments of Ana are to be addressed"
    let is_noun = clause
        .get(2)
        .is_some_and(|word| word.is_any(&["comments", "findings", "notes", "feedback"]));
    let begins = is_only(first) && is_look(second) && !is_noun || german;
    let ends = is_look(first) && second.folded == "only" && clause.len() == 2;
    (begins || ends)
        && !clause.iter().any(|word| {
            word.is_any(EXCEPTIONS) || word.is_any(&["first", "erst", "after", "then", "once", "prima"])
        })
        && !asks_in(clause)
}

/// "change nothing", "nichts ändern", "ändere nichts".
fn changes_nothing(clause: &[Word<'_>]) -> bool {
    let is_verb = |word: &Word<'_>| {
        is_change(word)
            || word.folded.starts_with("ander")
            || word.folded.starts_with("verander")
            || word.is_any(&["anfassen", "bearbeiten", "bearbeite", "editieren", "umschreiben"])
    };
    let nothing = |word: &Word<'_>| word.is_any(&["nothing", "nichts", "nimic"]);
    match clause {
        [one, other, rest @ ..] => {
            (is_verb(one) && nothing(other) || one.folded == "nichts" && is_verb(other))
                && rest.iter().all(|word| word.is_any(AROUND))
        }
        _ => false,
    }
}

/// Whether the words after a negation are a verb for any change with all files as its object.
fn negates_all(after: &[Word<'_>]) -> bool {
    let verb = after.iter().position(|word| !word.is_any(BETWEEN));
    let Some(verb) = verb else { return false };
    let rest = &after[verb + 1..];
    let is_verb = is_change(&after[verb]) && !after[verb].is_any(&["changes", "edits", "modifications"]);
    let writes = after[verb].is_any(&["write", "writing"])
        && rest.iter().any(|word| word.folded == "code")
        && !rest.iter().any(|word| word.is_any(&["new", "more"]));
    let makes = after[..verb].iter().any(|word| word.is_any(&["make", "making"]));
    if makes && is_no_change(&after[verb..]) {
        return true;
    }
    (is_verb || writes) && is_all(rest)
}

/// Whether the words after "no" are a noun for any change: "changes", "code edits".
fn is_no_change(after: &[Word<'_>]) -> bool {
    let is_kind = |word: &Word<'_>| word.is_any(&["code", "file", "source", "any", "more", "further"]);
    let Some(at) = after.iter().position(|word| !is_kind(word)) else {
        return false;
    };
    let is_noun = after[at].is_any(CHANGES);
    let is_further = after[..at].iter().any(|word| word.is_any(&["more", "further"]));
    is_noun
        && !is_further
        && after[at + 1..]
            .iter()
            .all(|word| word.is_any(AROUND) || word.is_any(ALL))
        && !names_part(&after[at + 1..])
}

/// Whether the object of a verb is all files.
fn is_all(object: &[Word<'_>]) -> bool {
    object.iter().any(|word| word.is_any(ALL))
        && object.iter().all(|word| word.is_any(ALL) || word.is_any(AROUND))
        && !names_part(object)
}

/// Whether an object refers to a specific thing: "the file", "this code". "The project" means all files.
fn names_part(object: &[Word<'_>]) -> bool {
    object.windows(2).any(|pair| {
        pair[0].is_any(&["the", "this", "my", "our"])
            && pair[1].is_any(&["file", "files", "code", "change", "changes", "thing", "edits"])
    })
}

/// Whether words contain an order to change something.
fn asks_in(words: &[Word<'_>]) -> bool {
    !looks_first(words) && words.iter().any(is_order)
        || words
            .windows(2)
            .any(|pair| pair[0].is_any(&["and", "then", "und", "si"]) && is_order(&pair[1]))
}

/// Whether words start with a request for information.
fn looks_first(words: &[Word<'_>]) -> bool {
    let first = words.iter().find(|word| {
        !word.is_any(OPENINGS)
            && !word.is_any(&["can", "could", "just", "only", "me", "us", "let's", "nur", "doar"])
    });
    first.is_some_and(|word| word.is_any(LOOKING))
}

/// Whether a sentence of a text requests a change.
pub(super) fn requests_change(text: &str) -> bool {
    // "Do" and others are usual words of other languages.
    Languages::of(&words(text)).may_be_english()
        && sentences(text).iter().any(|sentence| orders_change(sentence))
}

/// Whether a sentence requests a change.
fn orders_change(sentence: &str) -> bool {
    let words = words(sentence);
    if sentence.ends_with('?') && !words.iter().any(|word| word.folded == "you") {
        return false;
    }
    asks_in(&words) && !super::grammar::forbids(&words)
}

/// Whether an instruction requests a change or agrees to one.
fn asks_for_change(text: &str) -> bool {
    let sentences = sentences(text);
    let agrees = |sentence: &String| {
        let words = words(sentence);
        let agrees = ["yes", "yep", "sure", "da", "ja", "ahead", "proceed"];
        words.len() <= 5 && words.iter().any(|word| word.is_any(&agrees)) && !super::grammar::forbids(&words)
    };
    sentences
        .iter()
        .any(|sentence| orders_change(sentence) || agrees(sentence))
}
