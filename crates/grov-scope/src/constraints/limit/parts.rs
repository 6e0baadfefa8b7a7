//! The parts of a clause, by meaning.

use super::{Layer, Place};
use crate::constraints::clause::{Token, is_place};
use crate::constraints::place::language_code;
use crate::constraints::vocabulary::Term;
use crate::file_kind::FileKind;

/// Parts of a clause, by meaning.
#[derive(Debug, Default)]
pub(super) struct Parts<'t> {
    pub(super) places: Vec<Place>,
    pub(super) literals: Vec<&'t str>,
    pub(super) words: Vec<&'t str>,
    /// The words, by what they name: "scene or prefab files" names two things.
    pub(super) groups: Vec<Vec<&'t str>>,
    /// The kinds of files that it names, with the words that narrow each.
    kinds: Vec<(Term, Vec<&'t str>)>,
    pub(super) flags: Vec<String>,
    pub(super) versions: Vec<&'t str>,
    pub(super) terms: Vec<Term>,
}

impl<'t> Parts<'t> {
    pub(super) fn of(tokens: &'t [Token]) -> Self {
        let mut parts = Self::default();
        // The words of the thing that is being named.
        let mut group: Vec<&'t str> = Vec::new();
        for token in tokens {
            let is_word = parts.add(token);
            if is_word {
                group.push(&token.folded);
            } else if let Some(term) = token.term.filter(|term| kind_of(*term).is_some()) {
                parts.kinds.push((term, group.clone()));
            }
            if !is_word && !token.is_any(&[Term::Filler, Term::File, Term::Component]) || token.pauses {
                parts.close(&mut group);
            }
        }
        parts.close(&mut group);
        parts
    }

    fn close(&mut self, group: &mut Vec<&'t str>) {
        if !group.is_empty() {
            self.groups.push(std::mem::take(group));
        }
    }

    /// Adds a token. Returns whether it is a word without a meaning of its own.
    fn add(&mut self, token: &'t Token) -> bool {
        if token.is(Term::Snapshot) && token.folded.starts_with("fixture") {
            // "Fixtures" are inputs in a folder of that name, and no recorded outputs.
            self.words.push(&token.folded);
            return true;
        }
        if let Some(term) = token.term {
            self.terms.push(term);
        } else if token.raw.starts_with("--") || token.raw.starts_with('-') && token.raw.len() == 2 {
            self.flags.push(token.raw.clone());
        } else if token.is_place() {
            self.places.push(place_of(token));
            // ".xcstrings" is an ending, unless it is a file.
            let ending = token
                .raw
                .strip_prefix('.')
                .filter(|ending| ending.chars().all(char::is_alphanumeric));
            self.places
                .extend(ending.map(|ending| Place::Path(format!("*.{ending}"))));
        } else if is_version(&token.raw) {
            self.versions.push(&token.raw);
        } else if token.is_quoted
            || has_hump(&token.raw)
            || !token
                .raw
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '\'')
        {
            self.literals.push(&token.raw);
        } else {
            self.words.push(&token.folded);
            return true;
        }
        false
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

    /// Like [`Self::has_only`], with any words.
    pub(super) fn has_only_besides(&self, terms: &[Term]) -> bool {
        let is_known = |term: &Term| matches!(term, Term::Filler | Term::And) || terms.contains(term);
        self.places.is_empty() && self.literals.is_empty() && self.terms.iter().all(is_known)
    }

    /// Whether it names something.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
            && self.literals.is_empty()
            && self.words.is_empty()
            && self.flags.is_empty()
            && self.kinds().is_empty()
    }

    /// The kinds of files that it names.
    pub(super) fn kinds(&self) -> Vec<Place> {
        let production_config = self.has(Term::Production) && self.has(Term::Config);
        let mut found: Vec<Place> = Vec::new();
        for (term, words) in &self.kinds {
            let words: Vec<String> = words.iter().map(|word| singular(word)).collect();
            let place = match (term, kind_of(*term)) {
                // "The header component"
                (Term::Component, _) if !words.is_empty() => Place::Words(words),
                (Term::Component, _) if !self.literals.is_empty() => continue,
                (_, Some(Place::Kind(FileKind::Config))) if production_config => continue,
                (_, Some(Place::Kind(kind))) if !words.is_empty() => Place::KindOf(kind, words),
                (_, Some(place)) => place,
                (_, None) => continue,
            };
            if !found.contains(&place) {
                found.push(place);
            }
        }
        found
    }

    /// The things that it names by up to three words each, without those that say nothing: "section", "values".
    pub(super) fn named(&self) -> Vec<Vec<String>> {
        let groups = self.groups.iter().filter(|group| group.len() <= 3);
        let plain = groups.map(|group| {
            let telling = group.iter().filter(|word| !GENERAL.contains(word));
            let found: Vec<String> = telling.map(|word| singular(word)).collect();
            if found.is_empty() {
                group.iter().map(|word| singular(word)).collect()
            } else {
                found
            }
        });
        plain.collect()
    }
}

/// Nouns that say nothing of the thing that they name.
#[rustfmt::skip]
pub(super) const GENERAL: &[&str] = &[
    "area", "bereich", "bits", "block", "blocks", "constants", "consts", "part", "parts", "piece", "section", "sections", "strings", "texts", "seccion", "sezione", "secao", "sectie", "things", "values",
];

pub(in crate::constraints) fn has_hump(raw: &str) -> bool {
    raw.as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

pub(super) fn place_of(token: &Token) -> Place {
    let names_files = |ending: &&str| {
        ending.bytes().all(|byte| byte.is_ascii_lowercase())
            && !matches!(*ending, "env" | "github" | "git" | "vscode" | "idea")
            && is_place(&format!("a.{ending}"))
    };
    match token.raw.strip_prefix('.').filter(names_files) {
        Some(ending) => Place::Path(format!("*.{ending}")),
        None => Place::Path(token.raw.clone()),
    }
}

/// The files that a word means.
pub(in crate::constraints) fn kind_of(term: Term) -> Option<Place> {
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
        Term::Translation => Place::Translations,
        Term::Asset => Place::Assets,
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
    // "Inglés" is one language.
    if language_code(word).is_some() {
        return word.to_owned();
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}
