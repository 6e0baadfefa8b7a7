//! Whether a clause states a limit, by the meanings of its words in any order.

use super::clause::{Token, denies_permission, tokens};
use super::vocabulary::Term;
use crate::phrases::Languages;

/// The fewest and most words of a clause that is read.
const WORDS: std::ops::RangeInclusive<usize> = 2..=22;

/// Meanings with which a clause states something else.
const OTHERS: &[Term] = &[Term::Permit, Term::If, Term::Look];

/// Words of negation that mean something else in most clauses.
#[rustfmt::skip]
const WEAK: &[&str] = &[
    "zero", "minus", "stop", "skip", "no", "avoid", "cannot", "can't", "didn't", "neither", "must not", "mustn't", "should not", "shouldn't", "may not", "never",
];

/// Persons and things that a statement is about, before its negation.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "i", "we", "he", "she", "they", "it", "users", "user", "nobody", "somebody", "that", "which", "who", "ich", "wir", "man", "je", "j'ai", "nous", "yo", "io", "eu", "noi", "ik", "wij", "ja", "my", "es", "er", "che", "que", "qui", "care", "ktory", "ktora", "ktore", "die",
];

/// Words before what something has happened since.
#[rustfmt::skip]
const SINCE: &[&str] = &[
    "after", "since", "nach", "seit", "seitdem", "depuis", "apres", "desde", "despues", "depois", "apos", "dopo", "dupa", "po", "od", "sinds", "na",
];

/// A negated command, and nothing else.
const COMMANDS: &[Term] = &[
    Term::Commit,
    Term::Push,
    Term::Deploy,
    Term::Install,
    Term::Merge,
    Term::Not,
    Term::Filler,
];

fn is_kana_letter(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}')
}

/// A clause of a prompt, with the meanings of its words.
pub struct ReadClause<'a> {
    text: &'a str,
    words: Vec<Token>,
}

impl<'a> ReadClause<'a> {
    /// Reads a clause of a prompt in these languages.
    pub fn new(text: &'a str, prompt: Languages) -> Self {
        let words = tokens(text, prompt);
        Self { text, words }
    }

    /// Whether it states a limit: it negates a change, says what stays as it is, or confines to a path. `narrates` says that its
    /// words may also tell a story: then it must name files, too.
    pub fn states_limit(&self, narrates: bool) -> bool {
        WORDS.contains(&self.words.len()) && states(self.text, &self.words, narrates)
    }

    /// Whether it begins with words that confine: "limit your changes to src/".
    pub fn opens_by_confining(&self) -> bool {
        let first = self.words.iter().find(|token| !token.is(Term::Filler));
        first.is_some_and(|token| token.is(Term::Only) && token.is_phrase)
    }
}

fn states(clause: &str, words: &[Token], narrates: bool) -> bool {
    let has = |terms: &[Term]| words.iter().any(|token| token.is_any(terms));
    let is_thing =
        |token: &Token| token.is_place() || token.is_quoted || token.term.is_none() || names_thing(token);
    if !narrates && super::effects::states(words) {
        return true;
    }
    // "The only file you may edit is a.ts"
    let is_only = words.iter().position(|token| token.is(Term::Only))
        < words.iter().position(|token| token.is(Term::Permit))
        && has(&[Term::Only]);
    let states_other = |token: &Token| {
        token.is_any(OTHERS) && !(token.is(Term::Permit) && (denies_permission(words) || is_only))
    };
    // "コミットしない"
    let is_command = |token: &Token| token.is_any(COMMANDS) && !token.is_any(&[Term::Not, Term::Filler]);
    if clause.contains(is_kana_letter)
        && words.iter().all(|token| token.is_any(COMMANDS))
        && words.iter().any(is_command)
        && words.last().is_some_and(|last| last.is(Term::Not))
    {
        return true;
    }
    if words.iter().any(states_other) || !words.iter().any(is_thing) {
        return false;
    }
    let negation = |token: &Token| {
        token.is_any(&[Term::Not, Term::Nothing])
            && (!WEAK.contains(&token.folded.as_str()) || narrates && token.folded == "no")
    };
    let negation = words.iter().position(negation);
    let speaks = |until: usize| {
        words[..until]
            .iter()
            .any(|token| SUBJECTS.contains(&token.folded.as_str()))
    };
    // Japanese negates at the end.
    let is_kana = clause.contains(is_kana_letter);
    let negates = |from: usize| {
        const NEAR: usize = 6;
        let changes = |token: &Token| token.is_any(&[Term::Change, Term::Remove, Term::Rename]);
        // "Startet nicht mehr nach dem Update": what happened before is a noun.
        let near = words[from + 1..].iter().take(NEAR);
        let mut near = near.take_while(|token| !SINCE.contains(&token.folded.as_str()));
        is_kana && words[..=from].iter().any(changes) || near.any(changes)
    };
    let stays = is_kana && has(&[Term::Still])
        || has(&[Term::Leave, Term::Keep]) && has(&[Term::Still])
        || has(&[Term::HandsOff]);
    if narrates {
        let is_file = |token: &Token| token.is_place() || token.is_quoted || names_files(token);
        let is_confined = is_only && words.iter().any(Token::is_place);
        return is_confined || words.iter().any(is_file) && (stays || negation.is_some_and(negates));
    }
    stays
        || negation.is_some_and(|at| !speaks(at) && negates(at))
        // "Just add /v2/invoices" requests.
        || words.iter().any(Token::is_place) && has(&[Term::Only]) && !has(&[Term::Add])
}

/// Whether a word means files.
fn names_files(token: &Token) -> bool {
    token.is_any(&[
        Term::Tests,
        Term::Config,
        Term::Lock,
        Term::Pipeline,
        Term::Schema,
        Term::Migration,
        Term::Styles,
        Term::Vendored,
        Term::Snapshot,
        Term::Source,
        Term::Translation,
        Term::Signature,
        Term::Public,
    ])
}

/// Whether a word means a thing.
fn names_thing(token: &Token) -> bool {
    token.term.is_some_and(|term| {
        matches!(
            term,
            Term::That
                | Term::All
                | Term::Tests
                | Term::Docs
                | Term::Config
                | Term::Lock
                | Term::Pipeline
                | Term::Schema
                | Term::Migration
                | Term::Styles
                | Term::Vendored
                | Term::Snapshot
                | Term::Source
                | Term::Component
                | Term::Frontend
                | Term::Backend
                | Term::Production
                | Term::Data
                | Term::Dependency
                | Term::Comment
                | Term::Signature
                | Term::Public
                | Term::Branch
                | Term::Function
                | Term::Code
                | Term::Key
                | Term::Translation
                | Term::Asset
                | Term::Aspect
                | Term::File
        )
    })
}
