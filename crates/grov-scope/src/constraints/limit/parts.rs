//! The parts of a clause, by meaning.

use super::{Layer, Place};
use crate::constraints::clause::Token;
use crate::constraints::vocabulary::Term;
use crate::file_kind::FileKind;

/// Parts of a clause, by meaning.
#[derive(Debug, Default)]
pub(super) struct Parts<'t> {
    pub(super) places: Vec<Place>,
    pub(super) literals: Vec<&'t str>,
    pub(super) words: Vec<&'t str>,
    pub(super) flags: Vec<String>,
    pub(super) versions: Vec<&'t str>,
    pub(super) terms: Vec<Term>,
}

impl<'t> Parts<'t> {
    pub(super) fn of(tokens: &'t [Token]) -> Self {
        let mut parts = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            if let Some(term) = token.term {
                parts.terms.push(term);
            } else if token.raw.starts_with("--") || token.raw.starts_with('-') && token.raw.len() == 2 {
                parts.flags.push(token.raw.clone());
            } else if token.is_place() {
                parts.places.push(place_of(token, tokens.get(at + 1)));
            } else if is_version(&token.raw) {
                parts.versions.push(&token.raw);
            } else if token.is_quoted
                || !token
                    .raw
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '\'')
                || has_hump(&token.raw)
            {
                parts.literals.push(&token.raw);
            } else {
                parts.words.push(&token.folded);
            }
        }
        parts
    }

    pub(super) fn has(&self, term: Term) -> bool {
        self.terms.contains(&term)
    }

    pub(super) fn has_any(&self, terms: &[Term]) -> bool {
        terms.iter().any(|term| self.has(*term))
    }

    /// Only words without a meaning of their own, besides `terms`.
    pub(super) fn has_only(&self, terms: &[Term]) -> bool {
        self.places.is_empty()
            && self.literals.is_empty()
            && self.words.is_empty()
            && self
                .terms
                .iter()
                .all(|term| *term == Term::Filler || *term == Term::And || terms.contains(term))
    }

    /// Whether it names something.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.literals.is_empty() && self.words.is_empty() && self.kinds().is_empty()
    }

    /// The kinds of files that it names.
    pub(super) fn kinds(&self) -> Vec<Place> {
        let production_config = self.has(Term::Production) && self.has(Term::Config);
        let mut kinds: Vec<Place> = self.terms.iter().filter_map(|term| kind_of(*term)).collect();
        if production_config {
            kinds.retain(|kind| *kind != Place::Kind(FileKind::Config));
        }
        // "The header component"
        if self.has(Term::Component) && !self.words.is_empty() {
            let words = self.words.iter().copied().chain(["component"]);
            kinds = vec![Place::Words(words.map(singular).collect())];
        }
        kinds
    }
}

pub(super) fn has_hump(raw: &str) -> bool {
    raw.as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

pub(super) fn place_of(token: &Token, next: Option<&Token>) -> Place {
    let ending = token.raw.strip_prefix('.').filter(|rest| {
        rest.bytes().all(|byte| byte.is_ascii_lowercase())
            && !matches!(*rest, "env" | "github" | "git" | "vscode" | "idea")
    });
    let of_files = next.is_some_and(|next| next.is_any(&[Term::File, Term::And]));
    match ending {
        Some(ending) if of_files => Place::Path(format!("*.{ending}")),
        _ => Place::Path(token.raw.clone()),
    }
}

pub(super) fn kind_of(term: Term) -> Option<Place> {
    Some(match term {
        Term::Tests => Place::Kind(FileKind::Test),
        Term::Docs => Place::Kind(FileKind::Docs),
        Term::Config => Place::Kind(FileKind::Config),
        Term::Lock => Place::Kind(FileKind::Lock),
        Term::Pipeline => Place::Kind(FileKind::Pipeline),
        Term::Schema => Place::Kind(FileKind::Schema),
        Term::Migration => Place::Kind(FileKind::Migration),
        Term::Styles => Place::Kind(FileKind::Styles),
        Term::Vendored => Place::Kind(FileKind::Vendored),
        Term::Snapshot => Place::Kind(FileKind::Snapshot),
        Term::Source => Place::Source,
        Term::Component => Place::Words(vec!["component".to_owned()]),
        Term::Frontend => Place::Layer(Layer::Frontend),
        Term::Backend => Place::Layer(Layer::Backend),
        Term::Production => Place::Words(vec!["prod".to_owned()]),
        _ => return None,
    })
}

/// Whether a name is that of a function: `run()`, `parse_line`, `berechneRabatt`.
pub(super) fn is_function(name: &str) -> bool {
    name.ends_with("()")
        || name.contains('_')
        || name.starts_with(|letter: char| letter.is_ascii_lowercase()) && has_hump(name)
}

/// Whether a word can be the name of a package or of a construct.
pub(super) fn is_name(name: &str) -> bool {
    name.len() >= 2
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'@' | b'/'))
        && name.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a word is a version: `18`, `7.0`.
pub(super) fn is_version(raw: &str) -> bool {
    let raw = raw.trim_start_matches('v');
    raw.starts_with(|letter: char| letter.is_ascii_digit())
        && raw
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'x'))
}

/// A word without the ending of its plural.
pub(super) fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}
