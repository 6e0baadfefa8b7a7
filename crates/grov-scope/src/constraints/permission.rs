//! Later permissions, which lift a constraint: "ok, you may touch vendor now".

use super::clause::{Token, clauses, tokens};
use super::vocabulary::Term;
use crate::phrases::Languages;
use crate::words::words;
use grov_domain::both_ends;

/// The bytes at each end of a prompt that are read.
const END: usize = 1024;

/// What a clause of a later prompt permits.
#[derive(Clone, Debug)]
pub(super) struct Permission {
    actions: Vec<Term>,
    objects: Vec<String>,
}

/// Meanings that are neither an action nor an object.
#[rustfmt::skip]
const IDLE: &[Term] = &[
    Term::Permit, Term::Filler, Term::And, Term::Until, Term::Not, Term::Nothing, Term::Only, Term::Keep, Term::Leave, Term::Still, Term::That, Term::All, Term::File, Term::Because, Term::Existing, Term::New,
];

/// Meanings with which a clause permits nothing.
#[rustfmt::skip]
const LIMITING: &[Term] = &[
    Term::Not, Term::Nothing, Term::Else, Term::Only, Term::Except, Term::Keep, Term::Leave, Term::HandsOff, Term::Ask, Term::Myself,
];

/// Maximum number of words of a clause that includes something: "the views too".
const MAX_INCLUSION: usize = 5;

/// Words for "too".
const ALSO: &[&str] = &[
    "also", "too", "auch", "ook", "aussi", "tambien", "anche", "tambem", "tez",
];

impl Permission {
    /// The permissions in a prompt.
    pub(super) fn all(prompt: &str) -> Vec<Self> {
        let ends = both_ends(prompt, END, "\n");
        let languages = Languages::of(&words(&ends));
        let clauses = clauses(tokens(&ends, languages));
        let permits = |clause: &&Vec<Token>| {
            let has = |terms: &[Term]| clause.iter().any(|token| token.is_any(terms));
            // "The views too": what was excepted is included. "… is too slow" and "does it also …?" include nothing.
            let is_also =
                |token: Option<&Token>| token.is_some_and(|token| ALSO.contains(&token.folded.as_str()));
            let includes =
                clause.len() <= MAX_INCLUSION && (is_also(clause.first()) || is_also(clause.last()));
            (has(&[Term::Permit]) || includes) && !has(LIMITING)
        };
        clauses
            .iter()
            .filter(permits)
            .map(|clause| Self::of(clause))
            .collect()
    }

    fn of(clause: &[Token]) -> Self {
        let (actions, objects) = clause
            .iter()
            .filter(|token| !token.is_any(IDLE))
            .partition::<Vec<&Token>, _>(|token| token.is_action());
        Self {
            actions: actions.into_iter().filter_map(|token| token.term).collect(),
            objects: objects.into_iter().map(Token::key).collect(),
        }
    }

    /// The words of a constraint that it lifts in part: it permits some of the things that a list forbids. `None` if the constraint
    /// is no list, or nothing of it is left or lifted.
    pub(super) fn rest_of(&self, constraint: &[Token]) -> Option<Vec<Token>> {
        const SEPARATORS: &[&str] = &[
            "or", "nor", "oder", "ou", "o", "e", "et", "y", "lub", "ani", "ni", "of", "en", "sau", "si",
            "und", "and", "i",
        ];
        let is_separated = |token: &Token| {
            token.pauses || token.is(Term::And) || SEPARATORS.contains(&token.folded.as_str())
        };
        let is_list = constraint.iter().rev().skip(1).any(is_separated);
        let is_permitted = |token: &Token| self.objects.contains(&token.key());
        if !is_list || self.objects.is_empty() || !constraint.iter().any(is_permitted) {
            return None;
        }
        let rest: Vec<Token> = constraint
            .iter()
            .filter(|token| !is_permitted(token))
            .cloned()
            .collect();
        (!Self::of(&rest).objects.is_empty()).then_some(rest)
    }

    /// Whether it lifts a constraint with these words: it permits the action that the constraint forbids, of the same
    /// object or of any.
    pub(super) fn lifts(&self, constraint: &[Token]) -> bool {
        let forbidden = Self::of(constraint);
        let is_shared = self
            .actions
            .iter()
            .any(|action| forbidden.actions.contains(action));
        let is_same = self
            .objects
            .iter()
            .any(|object| forbidden.objects.contains(object));
        // "You can upgrade axios now" after "no upgrades of dependencies".
        let is_one = forbidden.objects == [format!("{:?}", Term::Dependency)]
            && self
                .actions
                .iter()
                .any(|action| matches!(action, Term::Install | Term::Upgrade));
        is_shared && (is_same || is_one || self.objects.is_empty() || forbidden.objects.is_empty())
            || is_same && (forbidden.actions.is_empty() || self.actions.is_empty())
    }
}
