//! Kinds of things in code that constraints name: classes, recursion, exit codes, visible texts.
//!
//! A kind has words by which people name it, and reads *facts* from lines of code: the name of a class, the code of an exit, a
//! mark such as `async`. What an edit does to a kind is the difference of the facts before and after it, in any language.

use super::Rule;
use super::change::Change;
use super::facts::{Facts, facts_of};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Class,
    Function,
    Async,
    Thread,
    Recursion,
    Regex,
    Sql,
    Orm,
    Retry,
    Skip,
    Sleep,
    Script,
    External,
    Exit,
    Status,
    Macro,
    Default,
    Text,
    Heading,
    ErrorText,
    LogText,
    LogLevel,
    Visibility,
    Global,
    CatchAll,
    Color,
    Environment,
    Http,
    Loop,
    Ternary,
    Nightly,
    Mock,
    Test,
    Declaration,
    Key,
    Column,
    Index,
    Import,
    Order,
    Schema,
    ThirdParty,
    /// Macros that other files see.
    PublicMacro,
    /// Values that come from the environment.
    Hardcoded,
    /// Set-up that tests share.
    Fixture,
    /// A process of the superuser.
    Root,
    /// Code that is read from a text.
    Eval,
    /// A removal of stored data or of its place.
    Drop,
    /// A route of a web interface.
    Route,
    /// Rules of a style sheet.
    Stylesheet,
    /// Personal data and passwords in logs.
    Secret,
    /// A look-up of names while the program runs.
    Reflection,
    /// A conversion that the author enforces.
    Cast,
    /// An access that fails if there is no value.
    Forced,
    /// An end of the program in a fault.
    Panic,
    Inheritance,
    /// Memory that is requested while the program runs.
    Allocation,
    /// A construct that the table tells by its marks alone, by its position.
    Construct(usize),
}

/// Where the marks of a construct are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkScope {
    /// In code without its texts and comments.
    Code,
    /// In code with its texts.
    Line,
    /// Also in comments.
    Text,
}

/// A construct that is told by marks.
#[derive(Debug)]
pub(super) struct Construct {
    pub(super) marks: Vec<&'static str>,
    /// The endings of the files that may have it; none for all.
    pub(super) extensions: Vec<&'static str>,
    pub(super) scope: MarkScope,
}

impl Construct {
    fn of(text: &'static str) -> Self {
        let (extensions, marks) = match text.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((extensions, marks)) => (extensions.split(',').collect(), marks),
            None => (Vec::new(), text),
        };
        let (scope, marks) = match (marks.strip_prefix('~'), marks.strip_prefix('#')) {
            (Some(marks), _) => (MarkScope::Line, marks),
            (_, Some(marks)) => (MarkScope::Text, marks),
            _ => (MarkScope::Code, marks),
        };
        Self {
            marks: marks.split(" ¦ ").collect(),
            extensions,
            scope,
        }
    }

    /// The construct at a position of the table.
    pub(super) fn at(number: usize) -> Option<&'static Self> {
        TABLE.constructs.get(number)
    }
}

/// The kinds by their names in `kinds.txt`.
#[rustfmt::skip]
const NAMES: &[(&str, Kind)] = &[
    ("class", Kind::Class), ("function", Kind::Function), ("async", Kind::Async), ("thread", Kind::Thread), ("recursion", Kind::Recursion), ("regex", Kind::Regex),
    ("sql", Kind::Sql), ("orm", Kind::Orm), ("retry", Kind::Retry), ("skip", Kind::Skip), ("sleep", Kind::Sleep), ("script", Kind::Script), ("external", Kind::External),
    ("exit", Kind::Exit), ("status", Kind::Status), ("macro", Kind::Macro), ("default", Kind::Default), ("text", Kind::Text), ("heading", Kind::Heading),
    ("errortext", Kind::ErrorText), ("logtext", Kind::LogText), ("loglevel", Kind::LogLevel), ("visibility", Kind::Visibility), ("global", Kind::Global),
    ("catchall", Kind::CatchAll), ("color", Kind::Color), ("environment", Kind::Environment), ("http", Kind::Http), ("loop", Kind::Loop), ("ternary", Kind::Ternary),
    ("nightly", Kind::Nightly), ("mock", Kind::Mock), ("test", Kind::Test), ("declaration", Kind::Declaration), ("key", Kind::Key), ("column", Kind::Column),
    ("index", Kind::Index), ("import", Kind::Import), ("order", Kind::Order), ("schema", Kind::Schema), ("thirdparty", Kind::ThirdParty), ("hardcoded", Kind::Hardcoded), ("fixture", Kind::Fixture), ("root", Kind::Root), ("eval", Kind::Eval), ("drop", Kind::Drop), ("route", Kind::Route), ("stylesheet", Kind::Stylesheet), ("secret", Kind::Secret),
    ("reflection", Kind::Reflection), ("cast", Kind::Cast), ("forced", Kind::Forced), ("panic", Kind::Panic), ("inheritance", Kind::Inheritance), ("allocation", Kind::Allocation),
];

/// What must not happen to a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forbidden {
    /// One is added.
    Addition,
    /// One is removed.
    Removal,
    /// One is changed, which removes the one before.
    Change,
}

/// What `kinds.txt` says.
#[derive(Debug, Default)]
struct Table {
    /// Words for kinds, each as its parts.
    words: Vec<(Vec<&'static str>, Kind)>,
    constructs: Vec<Construct>,
}

impl Table {
    fn of(rows: &'static str) -> Self {
        let mut found = Self::default();
        let rows = rows.lines().filter(|row| !row.starts_with('#'));
        for (name, words) in rows.filter_map(|row| row.split_once(" : ")) {
            let (words, marks) = match words.split_once(" :: ") {
                Some((words, marks)) => (words, Some(marks)),
                None => (words, None),
            };
            let known = NAMES
                .iter()
                .find(|(known, _)| *known == name.trim())
                .map(|(_, kind)| *kind);
            let Some(kind) = known.or_else(|| marks.map(|_| Kind::Construct(found.constructs.len()))) else {
                continue;
            };
            found.constructs.extend(marks.map(Construct::of));
            found.words.extend(
                words
                    .split_whitespace()
                    .map(|word| (word.split('_').collect(), kind)),
            );
        }
        found
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(include_str!("kinds.txt")));

/// The positions of words in the table by their first byte.
static BY_FIRST: LazyLock<[Vec<usize>; 256]> = LazyLock::new(|| {
    let mut found = std::array::from_fn(|_| Vec::new());
    for (number, (parts, _)) in TABLE.words.iter().enumerate() {
        if let Some(first) = parts.first().and_then(|part| part.bytes().next()) {
            found[usize::from(first)].push(number);
        }
    }
    found
});

/// The kinds that folded words name.
pub(super) fn named_by(words: &[&str]) -> Vec<Kind> {
    let is_same = |part: &str, word: &str| match part.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => part == word,
    };
    let mut found: Vec<Kind> = Vec::new();
    for at in 0..words.len() {
        let first = words[at].bytes().next();
        let numbers = first.map_or(&[][..], |first| &BY_FIRST[usize::from(first)]);
        for (parts, kind) in numbers.iter().map(|number| &TABLE.words[*number]) {
            let is_named = parts.len() <= words.len() - at
                && parts
                    .iter()
                    .zip(&words[at..])
                    .all(|(part, word)| is_same(part, word));
            if is_named && !found.contains(kind) {
                found.push(*kind);
            }
        }
    }
    prefer_narrow(&mut found);
    found
}

/// The kinds that a folded text without spaces names.
pub(super) fn named_in(text: &str) -> Vec<Kind> {
    let mut found: Vec<Kind> = Vec::new();
    for (parts, kind) in TABLE.words.iter() {
        let is_named = matches!(parts.as_slice(), [part] if !part.is_ascii() && text.contains(part));
        if is_named && !found.contains(kind) {
            found.push(*kind);
        }
    }
    prefer_narrow(&mut found);
    found
}

/// "Error messages of the tests" is about the messages: of several kinds, those that hold the others' words give way.
fn prefer_narrow(found: &mut Vec<Kind>) {
    const WIDE: &[Kind] = &[Kind::Function, Kind::Class, Kind::Test, Kind::Key, Kind::Default];
    if found.iter().any(|kind| !WIDE.contains(kind)) {
        found.retain(|kind| !WIDE.contains(kind));
    }
    if found
        .iter()
        .any(|kind| matches!(kind, Kind::ErrorText | Kind::LogText | Kind::Heading))
    {
        found.retain(|kind| *kind != Kind::Text);
    }
}

impl Kind {
    /// Whether it is a construct that is there or not, and no value that can change.
    fn is_construct(self) -> bool {
        !matches!(
            self,
            Self::Class
                | Self::Function
                | Self::Exit
                | Self::Status
                | Self::Default
                | Self::Text
                | Self::Heading
                | Self::ErrorText
                | Self::LogText
                | Self::LogLevel
                | Self::Test
                | Self::Declaration
                | Self::Key
                | Self::Order
        )
    }

    /// What a rule forbids of this kind; `None` if the kind cannot be meant by it.
    fn forbidden_by(self, rule: Rule, bans: bool) -> Option<Forbidden> {
        let adds = bans || rule == Rule::Add;
        Some(match (self, rule) {
            // "Don't retry" and "no retries" forbid the same.
            (Self::Class | Self::Function, _) if adds => Forbidden::Addition,
            (Self::Class | Self::Function | Self::Test | Self::Key, Rule::Stay) => Forbidden::Removal,
            (Self::Class | Self::Function | Self::Test | Self::Key, _) => return None,
            (Self::Hardcoded, _) => Forbidden::Removal,
            (Self::Drop, Rule::Keep | Rule::Stay | Rule::Any | Rule::Add) => Forbidden::Addition,
            (Self::Default, Rule::Any | Rule::Add) if adds => Forbidden::Addition,
            (Self::Skip | Self::Visibility, Rule::Keep | Rule::Any | Rule::Add) => Forbidden::Addition,
            // "Standard library only"
            (Self::ThirdParty, _) => Forbidden::Addition,
            (_, Rule::Only | Rule::Except) => return None,
            (kind, _) if kind.is_construct() && adds => Forbidden::Addition,
            (kind, Rule::Any) if kind.is_construct() => Forbidden::Addition,
            (Self::Column | Self::Index | Self::Schema, Rule::Keep | Rule::Any | Rule::Add) => {
                Forbidden::Addition
            }
            (kind, _) if kind.is_construct() => return None,
            (_, Rule::Keep | Rule::Any | Rule::Stay) if !adds => Forbidden::Change,
            _ => return None,
        })
    }

    /// Whether a rule can forbid something of this kind. A construct is not what is kept.
    pub(super) fn can_break(self, rule: Rule, bans: bool) -> bool {
        !matches!(self, Self::Construct(_)) || self.forbidden_by(rule, bans).is_some()
    }

    /// Whether it is a value that stays as it is, and its name no part of a project.
    pub(super) fn is_value(self) -> bool {
        !self.is_construct()
    }

    /// Whether a change does to this kind what the rule forbids.
    pub(super) fn is_broken_by(self, change: &Change<'_>, rule: Rule, bans: bool) -> bool {
        let Some(forbidden) = self.forbidden_by(rule, bans) else {
            return false;
        };
        change.sides().iter().any(|side| {
            let before = side
                .before
                .as_deref()
                .map(|text| facts_of(self, text, side.extension));
            let after = facts_of(self, &side.after, side.extension);
            match (forbidden, before) {
                (Forbidden::Addition, before) => exceeds(&after, &before.unwrap_or_default()),
                (_, Some(before)) if self == Self::Order => is_reordered(&before, &after),
                (_, Some(before)) => exceeds(&before, &after),
                (_, None) => false,
            }
        })
    }
}

/// Whether the same things stand in another order, or a sort expression is another one.
fn is_reordered(before: &Facts, after: &Facts) -> bool {
    before
        .iter()
        .filter(|fact| !after.contains(fact))
        .any(|fact| match fact.split_once(" < ") {
            Some((_, words)) => after
                .iter()
                .any(|other| other.split_once(" < ").is_some_and(|(_, same)| same == words)),
            None => true,
        })
}

/// Whether some fact is more often in one list than in the other.
fn exceeds(one: &Facts, other: &Facts) -> bool {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for fact in one {
        *counts.entry(fact.as_str()).or_default() += 1;
    }
    for fact in other {
        if let Some(count) = counts.get_mut(fact.as_str()) {
            *count -= 1;
        }
    }
    counts.values().any(|count| *count > 0)
}
