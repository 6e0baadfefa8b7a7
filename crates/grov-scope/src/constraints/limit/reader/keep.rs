//! "Leave …", "keep …", "except …": what stays as it is.

use super::confine::only;
use super::{COMMANDS, ClauseReader};
use crate::constraints::clause::Token;
use crate::constraints::limit::forbidden_texts::{signatures, versions};
use crate::constraints::limit::parts::{Parts, is_name, is_version, singular};
use crate::constraints::limit::{ForbiddenCommand, Limit, Place, PlaceRule};
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;
use crate::words::fold;

impl ClauseReader<'_> {
    /// "Leave …", "… stays".
    pub(super) fn leave(&self, cue: usize) -> Vec<Limit> {
        let all = Parts::of(self.clause);
        let is_still = all.has(Term::Still);
        let (rule, except) = self.around(cue, false);
        let mut parts = Parts::of(rule);
        if let Some(limits) = self.kept_property(&all, is_still) {
            return limits;
        }
        // "Leave everything else alone"
        if is_still
            && parts.is_empty()
            && all.has(Term::Else)
            && all.places.is_empty()
            && !all.has_any(COMMANDS)
        {
            return self.only_named();
        }
        let is_property = all.has_any(&[Term::Aspect, Term::Line, Term::Most]);
        // "Keep the Makefile around"
        if !is_still
            && self.clause[cue].is(Term::Keep)
            && !is_property
            && parts.words.is_empty()
            && parts.literals.is_empty()
        {
            return removal_of(parts.places);
        }
        // "Everything except src/http should remain untouched"
        let before = &self.clause[..cue];
        if is_still
            && let Some(at) = before.iter().position(|token| token.is(Term::Except))
            && before[..at].iter().any(|token| token.is(Term::All))
        {
            return only(self.places_in(&before[at + 1..]), true);
        }
        if !is_still && (self.clause[cue].is(Term::Keep) || is_property) {
            return Vec::new();
        }
        // "The tests in src/a.rs must stay as they are" is about the tests.
        if parts.has_any(&[
            Term::Signature,
            Term::Function,
            Term::Aspect,
            Term::Line,
            Term::Comment,
        ]) {
            return Vec::new();
        }
        if parts.is_empty() && (parts.has(Term::That) || is_still) {
            parts.places = self.places_before();
        }
        let mut places = parts.places.clone();
        places.extend(parts.kinds());
        let words: Vec<&&str> = parts.words.iter().filter(|word| !is_version(word)).collect();
        if places.is_empty()
            && words.len() == 1
            && parts.literals.is_empty()
            && (is_still
                || rule.iter().all(|token| {
                    token.term.is_none() || token.is_any(&[Term::Filler, Term::Leave, Term::File])
                }))
        {
            places.push(Place::Words(vec![singular(words[0])]));
            if !is_still {
                return removal_of(places);
            }
        } else if !is_still && (!words.is_empty() || !parts.literals.is_empty()) {
            return Vec::new();
        }
        // "Leave vendor and third_party alone"
        if is_still {
            let names = parts.literals.iter().filter(|name| is_name(name));
            places.extend(
                names.flat_map(|name| [Place::Path(format!("{name}.*")), Place::Path((*name).to_owned())]),
            );
        }
        if is_still && parts.places.is_empty() && parts.kinds().is_empty() {
            let named = parts.named();
            let is_telling = |group: &&Vec<String>| group.iter().all(|word| word.len() >= 3);
            places.extend(named.iter().filter(is_telling).cloned().map(Place::Words));
        }
        if places.is_empty() {
            return Vec::new();
        }
        let rule = PlaceRule {
            existing_only: parts.has(Term::Existing),
            except: self.places_in(except),
            ..PlaceRule::default()
        };
        let mut found = vec![Limit::Places(places, rule)];
        if is_still {
            found.extend(self.listed(self.clause, true, &[]));
        }
        if parts.has(Term::Snapshot) {
            found.push(Limit::Command(ForbiddenCommand::Snapshots));
        }
        found
    }

    /// What is kept besides places: packages, signatures, the branch, keys, versions, values.
    fn kept_property(&self, all: &Parts<'_>, is_still: bool) -> Option<Vec<Limit>> {
        // "Keep lodash out"
        if let ([name, "out"], []) = (all.words.as_slice(), all.places.as_slice()) {
            return Some(vec![Limit::Package(Some((*name).to_owned()))]);
        }
        if (all.has(Term::Signature) || all.has(Term::Public) && is_still)
            && !all.has_any(&[Term::Tests, Term::Docs])
        {
            return Some(signatures(all, self.context));
        }
        if all.has(Term::Branch) {
            return Some(vec![Limit::Command(self.switch())]);
        }
        if all.has(Term::Key) {
            return Some(vec![Limit::Written(Construct::Keys)]);
        }
        if is_still && names_versions(self.clause) {
            let named = all.named();
            if named.is_empty() && all.places.is_empty() {
                return Some(vec![
                    version_of("", ""),
                    Limit::Command(ForbiddenCommand::Upgrade),
                ]);
            }
            let first = named.iter().filter_map(|group| group.first());
            return Some(first.map(|name| version_of(name, "")).collect());
        }
        self.kept_value()
    }

    /// "Stay on react 17", "keep the batch size at 256": a value that stays.
    fn kept_value(&self) -> Option<Vec<Limit>> {
        let at = self.clause.iter().position(|token| is_version(&token.raw))?;
        let value = &self.clause[at];
        // "Keep the batch size at 256", and not "keep 2 columns".
        let cue = self.clause.iter().find(|token| token.is(Term::Keep));
        let is_at = at > 0 && VALUED.contains(&self.clause[at - 1].folded.as_str());
        if cue.is_some_and(|cue| !cue.is_phrase)
            && !is_at
            && !self.clause.iter().any(|token| token.is(Term::Still))
        {
            return None;
        }
        let parts = Parts::of(self.clause);
        if !parts.places.is_empty() || parts.has_any(&[Term::Line, Term::Most, Term::Tests, Term::Production])
        {
            return None;
        }
        // "The batch size"
        let names = |token: &Token| token.term.is_none() && !is_version(&token.raw) && !token.is_quoted;
        let at = self.clause.iter().rposition(|token| token.is(Term::Aspect));
        if let Some(at) = at.filter(|at| *at > 0 && names(&self.clause[at - 1])) {
            let group = self.clause[at - 1..=at].iter().map(|token| token.folded.clone());
            return Some(setting(group.collect(), &value.raw));
        }
        let literals = parts.literals.iter().map(|name| vec![fold(name)]);
        let mut named: Vec<Vec<String>> = parts.named().into_iter().chain(literals).collect();
        for group in &mut named {
            group.retain(|word| !matches!(word.as_str(), "min" | "minimum" | "level" | "version"));
        }
        named.retain(|group| !group.is_empty());
        match named.as_slice() {
            [group] => Some(match group.as_slice() {
                [name] => vec![version_of(name, &value.raw)],
                _ => setting(group.clone(), &value.raw),
            }),
            _ => None,
        }
    }

    /// "… except x".
    pub(super) fn exclude(&self, cue: usize) -> Vec<Limit> {
        let after = Parts::of(&self.clause[cue + 1..]);
        // "src/kernel/ 除外"
        let parts = match after.is_empty() && !self.clause[cue].raw.is_ascii() {
            true => Parts::of(&self.clause[..cue]),
            false => after,
        };
        if parts.has_any(&[Term::Aspect, Term::Change, Term::Add]) && parts.places.is_empty() {
            return versions(&parts);
        }
        let mut found = Vec::new();
        let mut places = parts.places.clone();
        places.extend(parts.kinds());
        if !places.is_empty() {
            found.push(Limit::Places(places, PlaceRule::default()));
        }
        let named: Vec<Vec<String>> = parts.named();
        let literals = parts.literals.iter().filter(|name| is_name(name));
        let excepts = cue > 0 || self.context.requests_before;
        found.extend(literals.clone().filter(|_| excepts).map(|name| {
            Limit::Places(
                vec![Place::Path(format!("{name}.*")), Place::Path((*name).to_owned())],
                PlaceRule::default(),
            )
        }));
        let words = named
            .iter()
            .filter(|group| excepts && group.iter().all(|word| word.len() >= 3));
        found.extend(
            words
                .clone()
                .map(|group| Limit::Places(vec![Place::Words(group.clone())], PlaceRule::default())),
        );
        // A name of one word may be that of a package, section or setting. "The ones pinned by hash" is none.
        let single = parts.groups.iter().filter(|group| group.len() == 1).flatten();
        for name in single
            .copied()
            .chain(literals.copied())
            .filter(|name| is_name(name) && !is_version(name))
        {
            found.push(Limit::Written(Construct::Section(fold(name))));
            found.push(Limit::Command(ForbiddenCommand::Package(fold(name))));
            found.push(Limit::Written(Construct::Declared(fold(name))));
        }
        found
    }
}

/// These places must not be removed.
fn removal_of(places: Vec<Place>) -> Vec<Limit> {
    if places.is_empty() {
        return Vec::new();
    }
    let rule = PlaceRule {
        removal_only: true,
        ..PlaceRule::default()
    };
    vec![Limit::Places(places, rule)]
}

/// Another value of a setting, in a file or as an option.
fn setting(words: Vec<String>, value: &str) -> Vec<Limit> {
    let option = ForbiddenCommand::Option {
        words: words.clone(),
        value: value.to_owned(),
    };
    vec![Limit::Written(Construct::Setting(words)), Limit::Command(option)]
}

fn version_of(name: &str, version: &str) -> Limit {
    Limit::Written(Construct::Version {
        name: name.to_owned(),
        version: version.to_owned(),
    })
}

/// Whether a clause is about versions.
fn names_versions(clause: &[Token]) -> bool {
    clause.iter().any(|token| {
        matches!(
            token.folded.as_str(),
            "version" | "versions" | "versionen" | "versiones" | "versioni" | "versoes" | "wersje"
        )
    })
}

/// Words between a setting and its value.
const VALUED: &[&str] = &[
    "at", "auf", "bei", "op", "a", "en", "su", "em", "na", "la", "version", "=",
];
