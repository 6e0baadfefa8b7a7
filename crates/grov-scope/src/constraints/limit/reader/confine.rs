//! "Only …": what alone may change.

use super::ClauseReader;
use crate::constraints::clause::{Token, clauses, is_certain_path, tokens};
use crate::constraints::limit::parts::Parts;
use crate::constraints::limit::parts::has_hump;
use crate::constraints::limit::{ForbiddenCommand, Limit, Place, PlaceRule};
use crate::constraints::place::path_words;
use crate::constraints::place::{environment, environments};
use crate::constraints::vocabulary::Term;
use crate::file_kind::FileKind;
use crate::words::fold;

impl ClauseReader<'_> {
    /// "Only …".
    pub(super) fn confine(&self, cue: usize) -> Vec<Limit> {
        let (mut rule, except) = self.around(cue, false);
        if Parts::of(rule).is_empty() && !Parts::of(&self.clause[..cue]).is_empty() {
            rule = self.clause;
        }
        let parts = Parts::of(rule);
        let whole = Parts::of(self.clause);
        if let Some(limit) = self.only_looks(cue, &parts, &whole) {
            return vec![limit];
        }
        if parts.has_any(OTHER_MATTERS) {
            return Vec::new();
        }
        if parts.has(Term::Branch) {
            return vec![Limit::Command(self.switch())];
        }
        if let Some(limits) = self.only_environment(&whole) {
            return limits;
        }
        // What is named loosely has no boundary that an edit could leave.
        if !parts.groups.is_empty() && parts.places.is_empty() {
            return self.only_component(cue, &parts);
        }
        // "Only `fn next` in src/a.rs"
        let is_inside = matches!(parts.places.as_slice(), [Place::Path(path)] if is_certain_path(path))
            && !parts.literals.is_empty()
            && !parts.literals.iter().any(|literal| literal.contains(['*', '/']));
        let stays = STAYING.contains(&self.clause[cue].folded.as_str()) && self.clause[cue].is_phrase;
        // "Only in libs/data-access" is a path, and "only png/jpg" none.
        let follows_in = |path: &str| {
            self.clause
                .windows(2)
                .any(|pair| IN.contains(&pair[0].folded.as_str()) && pair[1].raw == *path)
        };
        let is_certain = |place: &&Place| {
            stays || !matches!(place, Place::Path(path) if !is_certain_path(path) && !follows_in(path))
        };
        let mut places: Vec<Place> = parts.places.iter().filter(is_certain).cloned().collect();
        places.extend(parts.kinds().into_iter().filter(bounds));
        let names_file = |token: &Token| {
            token.is(Term::That) && (token.is_phrase || THERE.contains(&token.folded.as_str()))
                || token.is(Term::File) && token.folded != "files"
        };
        if places.is_empty()
            && self.clause.iter().any(names_file)
            && parts.has_only(&[Term::That, Term::Only, Term::Change, Term::File])
        {
            return self.only_named();
        }
        // "Globs `**/*.md` only" describes a setting.
        // "Only in the docs folder"
        let is_bare = whole.has_only(ONLY_KINDS) || whole.has_only(KINDS_OF_FOLDERS) && whole.has(Term::File);
        let is_described = !is_bare
            && !parts.words.is_empty()
            && (stays || parts.places.is_empty() || !whole.has(Term::Change))
            || !stays && !is_bare && parts.places.is_empty() && !whole.has(Term::Change);
        if is_inside && !places.is_empty() {
            return only(places, false);
        }
        if places.is_empty() || is_described || !parts.literals.is_empty() {
            return Vec::new();
        }
        places.extend(self.places_in(except));
        let is_strict = self.clause.iter().chain(self.after).any(|token| {
            token.is_any(&[Term::Else, Term::Nothing]) || token.is(Term::That) && token.is_phrase
        });
        only(places, is_strict)
    }

    /// "Only change the Navbar component": a component has files of its own.
    fn only_component(&self, cue: usize, parts: &Parts<'_>) -> Vec<Limit> {
        let names_part =
            |token: &Token| token.is(Term::Component) || COMPONENTS.contains(&token.folded.as_str());
        let changes = self.clause[cue..].iter().any(|token| token.is(Term::Change))
            || self.clause[..cue].iter().any(|token| token.is(Term::Change));
        let [group] = parts.groups.as_slice() else {
            return Vec::new();
        };
        let telling: Vec<String> = group
            .iter()
            .filter(|word| !COMPONENTS.contains(word))
            .map(|word| (*word).to_owned())
            .collect();
        let is_telling = telling.len() == 1 && telling.iter().all(|word| word.len() >= 4);
        if changes && is_telling && self.clause.iter().any(names_part) && parts.literals.is_empty() {
            return only(vec![Place::Words(telling)], false);
        }
        Vec::new()
    }

    /// "Only prod": other environments are out of bounds.
    fn only_environment(&self, whole: &Parts<'_>) -> Option<Vec<Limit>> {
        if !whole.has_only_besides(&[Term::Only, Term::Production, Term::Change, Term::Until]) {
            return None;
        }
        let own = self.clause.iter().find_map(|token| match token.term {
            Some(Term::Production) => Some("prod"),
            _ => environment(&token.folded),
        })?;
        let is_other = |word: &&&str| environment(word).is_none();
        if whole.words.iter().any(|word| is_other(&word)) {
            return None;
        }
        let place = Place::OtherEnvironment(vec![own.to_owned()]);
        Some(vec![
            Limit::Places(vec![place], PlaceRule::default()),
            Limit::Command(ForbiddenCommand::In(environments(own, false))),
        ])
    }

    /// "Only look", "selects only": nothing may change, or no data.
    fn only_looks(&self, cue: usize, parts: &Parts<'_>, whole: &Parts<'_>) -> Option<Limit> {
        if whole.has_only(&[Term::Query, Term::Only, Term::That])
            && self.clause.iter().any(|token| token.is(Term::Query))
        {
            return Some(Limit::Command(ForbiddenCommand::DatabaseWrite));
        }
        if whole.has_only(&[Term::Look, Term::That, Term::Only, Term::Until]) && whole.has(Term::Look) {
            let plans = self.clause.iter().any(|token| token.folded == "plan")
                && (self.context.is_infrastructure
                    || self.context.names_apply
                    || self.after.iter().any(|token| token.is(Term::Apply)));
            return Some(match plans {
                true => Limit::Command(ForbiddenCommand::Infrastructure),
                false => Limit::ReadOnly,
            });
        }
        if parts.has(Term::Query) && parts.places.is_empty() {
            return Some(Limit::Command(ForbiddenCommand::DatabaseWrite));
        }
        // "Just look at the login", but not "only review comments are to be addressed"
        let verb = self.clause[cue + 1..]
            .iter()
            .find(|token| !token.is(Term::Filler));
        let looks = verb.is_some_and(|token| token.is(Term::Look) && token.folded != "plan");
        if looks
            && !whole.has_any(&[
                Term::Change,
                Term::Add,
                Term::Comment,
                Term::Docs,
                Term::Before,
                Term::Until,
            ])
            && !self
                .clause
                .iter()
                .any(|token| matches!(token.folded.as_str(), "first" | "then" | "erst" | "prima"))
        {
            return Some(Limit::ReadOnly);
        }
        None
    }

    /// "Touch what you need in worker/, but nothing else": only what the words before name may change.
    pub(super) fn only_named_before(&self) -> Vec<Limit> {
        let own = Parts::of(self.before).places;
        if !own.is_empty() {
            return only(own, true);
        }
        let clauses = clauses(tokens(&self.context.before, self.context.languages));
        // "Fix a.ts, and nothing else"
        let says = |clause: &&Vec<Token>| {
            !clause
                .iter()
                .all(|token| token.is_any(&[Term::And, Term::Filler]))
        };
        let near = clauses
            .iter()
            .rfind(says)
            .map(|clause| Parts::of(clause).places)
            .unwrap_or_default();
        only(near, true)
    }

    /// Only what the prompt names may change.
    pub(super) fn only_named(&self) -> Vec<Limit> {
        let mut places: Vec<Place> = self
            .context
            .paths
            .iter()
            .filter(|path| !path.starts_with(['~', '/']))
            .map(|path| Place::Path(path.clone()))
            .chain(Parts::of(self.before).places)
            .collect();
        if places.is_empty() && fold(&self.context.around).contains("readme") {
            places.push(Place::Path("README*".to_owned()));
        }
        // "Touch InvoiceCalculator and its test, nothing beyond that"
        if places.is_empty() {
            let types = self.context.identifiers.iter().filter(|name| {
                name.starts_with(|letter: char| letter.is_ascii_uppercase())
                    && has_hump(name)
                    && !name.contains(['(', '.', ':'])
            });
            places.extend(types.map(|name| Place::Words(path_words(name))));
        }
        only(places, true)
    }
}

/// Whether everything else can be told from a place: files of a kind with a firm name, and parts of an application.
fn bounds(place: &Place) -> bool {
    match place {
        Place::Kind(kind) => matches!(
            kind,
            FileKind::Test | FileKind::Docs | FileKind::Styles | FileKind::Migration | FileKind::Pipeline
        ),
        Place::Path(_) | Place::Source | Place::Layer(_) => true,
        Place::Words(_)
        | Place::KindOf(..)
        | Place::OtherEnvironment(_)
        | Place::Translations
        | Place::Assets => false,
    }
}

/// Only these places may change: nothing if there are none.
pub(super) fn only(places: Vec<Place>, is_strict: bool) -> Vec<Limit> {
    if places.is_empty() {
        return Vec::new();
    }
    vec![Limit::Only { places, is_strict }]
}

/// Whether something but looking is all that is asked for: "only comments, no changes of the code".
pub(super) fn confines(clauses: &[Vec<Token>]) -> bool {
    clauses.iter().any(|clause| {
        let parts = Parts::of(clause);
        parts.has(Term::Only)
            && !parts.has_any(&[Term::Look, Term::Query])
            && (parts.has_any(&[Term::Comment, Term::Change, Term::Add])
                || !parts.places.is_empty()
                || !parts.kinds().is_empty())
    })
}

/// Kinds of files to which "only" confines without a verb: "docs only".
const ONLY_KINDS: &[Term] = &[
    Term::Only,
    Term::Until,
    Term::Docs,
    Term::Tests,
    Term::Frontend,
    Term::Backend,
];

/// The same, with a word for the folder.
const KINDS_OF_FOLDERS: &[Term] = &[
    Term::Only,
    Term::Until,
    Term::Docs,
    Term::Tests,
    Term::Frontend,
    Term::Backend,
    Term::Migration,
    Term::Styles,
    Term::File,
];

/// Nouns for a part of a program with files of its own.
#[rustfmt::skip]
const COMPONENTS: &[&str] = &[
    "component", "componente", "componenta", "composant", "komponente", "komponent", "widget", "controller", "controlador", "service", "servicio", "dienst",
];

/// Words before a place.
#[rustfmt::skip]
const IN: &[&str] = &["in", "inside", "within", "under", "im", "unter", "innerhalb", "dans", "en", "em", "nel", "nella", "dentro", "binnen", "w", "we", "na", "sous"];

/// Words for the place that was named before.
#[rustfmt::skip]
const THERE: &[&str] = &["there", "dort", "da", "daar", "la-bas", "ahi", "alli", "li", "la", "acolo", "tam", "aqui", "ali"];

/// First words of phrases that confine to a place: "stay in", "limit yourself to".
#[rustfmt::skip]
const STAYING: &[&str] = &[
    "beschrank", "beschranke", "bleib", "confine", "keep", "limit", "limita", "limitate", "limitati", "limite-se", "limite-toi", "limiteaza-te", "ogranicz", "quedate", "ramai", "resta", "reste", "restrict",
    "rezuma-te", "stay", "stick",
];

/// Meanings of "only" that are about something else than the places that change.
#[rustfmt::skip]
const OTHER_MATTERS: &[Term] = &[
    Term::Use, Term::Run, Term::Apply, Term::Destroy, Term::Deploy, Term::Commit, Term::Push, Term::Merge, Term::Upgrade, Term::Format, Term::Look, Term::Remove, Term::Aspect, Term::Signature, Term::Comment,
    Term::Dependency, Term::Install,
];
