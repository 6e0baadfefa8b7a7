//! Reads the clauses of a constraint.

use super::forbidden_commands::commands;
use super::forbidden_texts::{LITERALS, newer_than, signatures, versions, written};
use super::parts::{Parts, is_name, is_version, singular};
use super::{Context, ForbiddenCommand, Limit, Place, PlaceRule};
use crate::constraints::clause::{Token, clauses, tokens};
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;
use crate::file_kind::FileKind;
use crate::words::fold;

/// Reads what a constraint with these words forbids.
pub(in crate::constraints) fn read(text: &str, words: Vec<Token>, context: &Context) -> Vec<Limit> {
    let mut found: Vec<Limit> = Vec::new();
    if context.is_conditional {
        return found;
    }
    let clauses = clauses(words);
    let mut before: Vec<Token> = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        let reader = ClauseReader {
            clause,
            after: clauses.get(at + 1).map_or(&[], Vec::as_slice),
            before: &before,
            context,
        };
        for limit in reader.limits() {
            if !found.contains(&limit) {
                found.push(limit);
            }
        }
        before = clause.clone();
    }
    if found.contains(&Limit::ReadOnly)
        && (context.requests_change
            || confines(&clauses)
            || confines(&crate::constraints::clause::clauses(tokens(&context.around))))
    {
        found.retain(|limit| *limit != Limit::ReadOnly);
    }
    for clause in &clauses {
        let versions = clause
            .iter()
            .filter(|_| clause.len() <= 2)
            .filter_map(|token| newer_than(&token.folded));
        found.extend(
            versions
                .flatten()
                .map(|literal| Limit::Written(Construct::literal(literal))),
        );
    }
    let length = text.len();
    // A pause may have cut it off: "don't add type: ignore".
    let lower = fold(&format!("{text}{}", context.after));
    let forbids = clauses
        .iter()
        .flatten()
        .any(|token| token.is_any(&[Term::Not, Term::Except]));
    let changes = clauses
        .iter()
        .flatten()
        .any(|token| token.is_any(&[Term::Change, Term::Remove, Term::Permit]));
    if forbids && !changes {
        let literals = LITERALS
            .iter()
            .filter(|literal| lower.find(**literal).is_some_and(|at| at < length));
        found.extend(literals.map(|literal| Limit::Written(Construct::literal(literal))));
    }
    found
}

/// Only these places may change: nothing if there are none.
fn only(places: Vec<Place>, is_strict: bool) -> Vec<Limit> {
    if places.is_empty() {
        return Vec::new();
    }
    vec![Limit::Only { places, is_strict }]
}

/// Whether something but looking is all that is asked for: "only comments, no changes of the code".
fn confines(clauses: &[Vec<Token>]) -> bool {
    clauses.iter().any(|clause| {
        let has = |terms: &[Term]| clause.iter().any(|token| token.is_any(terms));
        has(&[Term::Only]) && !has(&[Term::Look, Term::Query])
    })
}

/// Reads one clause.
struct ClauseReader<'t> {
    clause: &'t [Token],
    /// The clause before it.
    before: &'t [Token],
    /// The clause after it.
    after: &'t [Token],
    context: &'t Context,
}

impl ClauseReader<'_> {
    fn limits(&self) -> Vec<Limit> {
        let has = |term| self.clause.iter().any(|token| token.is(term));
        let depends = self.after.iter().any(|token| token.is(Term::If))
            && self.after.first().is_some_and(|token| token.is(Term::If));
        if depends || has(Term::Permit) || has(Term::If) && !has(Term::Except) {
            return Vec::new();
        }
        if let Some(limits) = self.at_most() {
            return limits;
        }
        let at = |terms: &[Term]| self.clause.iter().position(|token| token.is_any(terms));
        let ask = at(&[Term::Ask]).filter(|_| has(Term::Before) || self.clause.len() > 1);
        if has(Term::Before) && ask.is_none() && !self.is_of_the_user(Term::Before)
            || self.ends_with_the_build()
        {
            return Vec::new();
        }
        if let Some(cue) = at(&[Term::Myself]) {
            return self.forbid(cue, true);
        }
        if let Some(cue) = at(&[Term::HandsOff]) {
            return self.forbid(cue, true);
        }
        if let Some(ask) = ask {
            return self.forbid(ask, false);
        }
        let not = at(&[Term::Not, Term::Nothing]);
        let only = at(&[Term::Only]);
        match (not, only) {
            (Some(not), Some(only)) if only < not => {
                // "only docs, no code" has two clauses; "solo niente apply" is one limit.
                self.forbid(not, false)
            }
            (Some(not), _) => self.forbid(not, false),
            (None, Some(only)) => self.confine(only),
            (None, None) => match (at(&[Term::Leave, Term::Keep]), at(&[Term::Except])) {
                (Some(cue), except) if except.is_none_or(|except| cue < except) => self.leave(cue),
                (_, Some(cue)) => self.exclude(cue),
                _ => Vec::new(),
            },
        }
    }

    /// Whether what follows `term` is the user: "before I have seen it", "until I confirm".
    fn is_of_the_user(&self, term: Term) -> bool {
        let at = self.clause.iter().position(|token| token.is(term));
        at.is_some_and(|at| {
            self.clause[at + 1..].iter().any(|token| {
                matches!(
                    token.folded.as_str(),
                    "i" | "me" | "my" | "ich" | "eu" | "je" | "yo" | "io" | "ik"
                )
            })
        })
    }

    /// "Until the tests pass" ends by itself.
    fn ends_with_the_build(&self) -> bool {
        let until = self
            .clause
            .iter()
            .position(|token| token.is(Term::Until) && !matches!(token.folded.as_str(), "yet" | "today"));
        until.is_some_and(|at| {
            self.clause[at + 1..].iter().any(|token| {
                token.is_any(&[Term::Tests, Term::Pipeline, Term::Merge])
                    || matches!(
                        token.folded.as_str(),
                        "pass" | "green" | "passes" | "build" | "done" | "works"
                    )
            })
        })
    }

    /// The words of the rule and of its exceptions: those after the cue, or those before it if none follow.
    fn around(&self, cue: usize, is_state: bool) -> (&[Token], &[Token]) {
        let after = &self.clause[cue + 1..];
        let end = after
            .iter()
            .position(|token| token.is_any(&[Term::Until, Term::Before, Term::Except]) && !after.is_empty());
        let (rule, rest) = after.split_at(end.unwrap_or(after.len()));
        let except = match rest.first() {
            Some(first) if first.is(Term::Except) => &rest[1..],
            // "Ask me before touching x"
            Some(first) if first.is(Term::Before) && self.clause.iter().any(|token| token.is(Term::Ask)) => {
                return (&rest[1..], &[]);
            }
            _ => &[],
        };
        let says = Parts::of(rule);
        let before = &self.clause[..cue];
        let is_said_before =
            says.is_empty() && !says.has_any(VERBS) && !says.has_any(NOUNS) && !Parts::of(before).is_empty()
                || is_state && !Parts::of(before).is_empty();
        let names_nothing = says.is_empty() && !says.has_any(NOUNS);
        let is_last = names_nothing && Parts::of(before).has_any(NOUNS) || is_said_before;
        // Japanese puts the verb first: "コミットしないで".
        let is_verb_first = names_nothing && !says.has_any(VERBS) && Parts::of(before).has_any(VERBS);
        if is_last || is_verb_first {
            (self.clause, except)
        } else {
            (rule, except)
        }
    }

    /// "Don't …", "hands off …", "ask before …".
    fn forbid(&self, cue: usize, is_state: bool) -> Vec<Limit> {
        let (rule, except) = self.around(cue, is_state);
        let mut parts = Parts::of(rule);
        let nothing = self.clause.iter().any(|token| token.is(Term::Nothing));
        // "It", "there", "them": what the clause before names.
        if parts.is_empty() && (parts.has(Term::That) || is_state) {
            parts.places.extend(self.places_before());
        }
        if parts.has(Term::Outside) && !parts.places.is_empty() {
            let mut places = parts.places;
            places.extend(Parts::of(except).places);
            return only(places, true);
        }
        let except_places = self.places_in(except);
        let is_all = (parts.has(Term::All) || nothing) && parts.is_empty();
        let is_change = parts.has(Term::Change) || is_state;
        if parts.has(Term::Else) && parts.is_empty() && (is_change || nothing) && !parts.has_any(COMMANDS) {
            return self.only_named();
        }
        if is_all
            && !self.names_apply()
            && except_places.is_empty()
            && parts.has_any(&[Term::Change, Term::Apply])
            && !parts.has_any(NARROWING)
        {
            return vec![Limit::ReadOnly];
        }
        if is_all && !except_places.is_empty() && is_change {
            return only(except_places, true);
        }
        if parts.has_only(&[
            Term::Apply,
            Term::Until,
            Term::Change,
            Term::Code,
            Term::All,
            Term::Add,
            Term::Not,
        ]) && (parts.has_any(&[Term::Apply, Term::Code])
            && !parts.has(Term::New)
            && !is_state
            && parts.has_any(&[Term::Apply, Term::Add, Term::Until, Term::Change])
            || parts.has(Term::Code) && rule.len() == 1)
        {
            return vec![if self.names_apply() || self.tells_infrastructure() {
                Limit::Command(ForbiddenCommand::Infrastructure)
            } else {
                Limit::ReadOnly
            }];
        }
        if is_state && parts.has_any(&[Term::Signature, Term::Public]) {
            return signatures(&parts, self.context);
        }
        let mut found = commands(&parts, rule, is_state, self.context);
        found.extend(written(&parts, rule, self.context));
        if parts.has(Term::Dependency)
            && !parts.has(Term::Aspect)
            && !parts.has_any(&[Term::Remove, Term::Rename])
            && parts.places.is_empty()
            && (parts.words.is_empty() || parts.has(Term::New))
            && parts.literals.is_empty()
        {
            found.push(Limit::Package(None));
        }
        if parts.has(Term::Install)
            && (parts.has_any(&[Term::All, Term::Nothing]) || nothing || parts.has_only(&[Term::Install]))
        {
            found.push(Limit::Package(None));
        }
        if parts.has(Term::File)
            && parts.has_any(&[Term::New, Term::Add])
            && parts.is_empty()
            && !parts.has(Term::Change)
        {
            found.push(Limit::NewFiles);
        }
        found.extend(self.places(
            &parts,
            is_state || nothing || self.clause[cue].is(Term::Ask),
            except_places,
        ));
        found
    }

    /// Whether "apply" is the command: "no apply", and not "don't apply anything".
    fn names_apply(&self) -> bool {
        let verb = ["don't", "do not", "not", "never"];
        self.clause.iter().any(|token| token.folded == "apply")
            && !self.clause.iter().any(|token| {
                verb.contains(&token.folded.as_str()) || token.is(Term::Not) && token.folded == "do"
            })
    }

    /// "Terraform" or "helm" is the subject.
    fn tells_infrastructure(&self) -> bool {
        self.context.is_infrastructure
            || self.clause.iter().chain(self.before).any(|token| {
                matches!(
                    token.folded.as_str(),
                    "terraform" | "plan" | "helm" | "kubectl" | "tofu" | "pulumi"
                )
            })
    }

    /// The places that must not change.
    fn places(&self, parts: &Parts<'_>, binds_without_verb: bool, except: Vec<Place>) -> Vec<Limit> {
        // "Nothing in src/a.rs may panic"
        let states = self.clause.iter().any(|token| token.is(Term::Nothing));
        let is_statement = states && !parts.words.is_empty() && !parts.places.is_empty();
        let binds_without_verb = binds_without_verb && !is_statement;
        let removes = parts.has_any(&[Term::Remove, Term::Rename]);
        let changes = parts.has(Term::Change) || parts.has(Term::Merge);
        let adds = parts.has_any(&[Term::Add, Term::Upgrade]);
        // "Don't change the signature of f in src/a.rs" is not about the file.
        if parts.has_any(&[
            Term::Aspect,
            Term::Signature,
            Term::Function,
            Term::Comment,
            Term::Line,
            Term::Use,
            Term::Run,
            Term::Look,
            Term::Network,
            Term::Dependency,
            Term::Query,
        ]) {
            return Vec::new();
        }
        let is_plain = parts.words.is_empty() && parts.literals.is_empty();
        if !(changes || removes || binds_without_verb || adds || is_plain && !parts.places.is_empty()) {
            return Vec::new();
        }
        let mut places = parts.places.clone();
        if changes || removes || binds_without_verb {
            places.extend(parts.kinds());
        } else if adds || is_plain {
            let kinds = parts
                .kinds()
                .into_iter()
                .filter(|kind| matches!(kind, Place::Kind(FileKind::Migration | FileKind::Docs)));
            places.extend(kinds);
        }
        // Named by words: "the billing code".
        let is_named = (changes || binds_without_verb)
            && places.is_empty()
            && (1..=3).contains(&parts.words.len())
            && parts.literals.is_empty();
        if is_named && parts.words.iter().all(|word| word.len() >= 3) && !parts.has_any(COMMANDS) {
            places.push(Place::Words(
                parts.words.iter().map(|word| singular(word)).collect(),
            ));
        }
        // The file of a type, the folder of a name.
        let names = parts
            .literals
            .iter()
            .filter(|name| is_name(name) && (changes || binds_without_verb));
        places.extend(
            names.flat_map(|name| [Place::Path(format!("{name}.*")), Place::Path((*name).to_owned())]),
        );
        if places.is_empty() {
            return Vec::new();
        }
        let rule = PlaceRule {
            removal_only: removes && !changes,
            existing_only: parts.has(Term::Existing),
            except,
        };
        vec![Limit::Places(places, rule)]
    }

    /// "Only …".
    fn confine(&self, cue: usize) -> Vec<Limit> {
        let (mut rule, except) = self.around(cue, false);
        if Parts::of(rule).is_empty() && !Parts::of(&self.clause[..cue]).is_empty() {
            rule = self.clause;
        }
        let parts = Parts::of(rule);
        if Parts::of(self.clause).has_only(&[Term::Query, Term::Only, Term::That])
            && self.clause.iter().any(|token| token.is(Term::Query))
        {
            return vec![Limit::Command(ForbiddenCommand::DatabaseWrite)];
        }
        let whole = Parts::of(self.clause);
        if whole.has_only(&[Term::Look, Term::That, Term::Only, Term::Until]) && whole.has(Term::Look) {
            let plans = self.clause.iter().any(|token| token.folded == "plan")
                && (self.context.is_infrastructure || self.after.iter().any(|token| token.is(Term::Apply)));
            return vec![match plans {
                true => Limit::Command(ForbiddenCommand::Infrastructure),
                false => Limit::ReadOnly,
            }];
        }
        if parts.has(Term::Query) && parts.places.is_empty() {
            return vec![Limit::Command(ForbiddenCommand::DatabaseWrite)];
        }
        if parts.has_any(&[
            Term::Use,
            Term::Run,
            Term::Apply,
            Term::Destroy,
            Term::Deploy,
            Term::Commit,
            Term::Push,
            Term::Merge,
            Term::Upgrade,
            Term::Look,
            Term::Remove,
            Term::Aspect,
            Term::Signature,
            Term::Comment,
            Term::Dependency,
            Term::Install,
        ]) {
            return Vec::new();
        }
        if parts.has(Term::Branch) {
            return vec![Limit::Command(self.switch())];
        }
        let mut places = parts.places.clone();
        places.extend(parts.kinds());
        let names_file = |token: &Token| {
            token.is(Term::That) && token.is_phrase || token.is(Term::File) && token.folded != "files"
        };
        if places.is_empty()
            && self.clause.iter().any(names_file)
            && parts.has_only(&[Term::That, Term::Only, Term::Change, Term::File])
        {
            return self.only_named();
        }
        // "Globs `**/*.md` only" describes a setting.
        let is_described = !parts.words.is_empty() && (parts.places.is_empty() || !whole.has(Term::Change))
            || parts.places.is_empty() && !whole.has(Term::Change);
        if places.is_empty() || is_described || !parts.literals.is_empty() {
            return Vec::new();
        }
        places.extend(self.places_in(except));
        let is_strict = self.clause.iter().chain(self.after).any(|token| {
            token.is_any(&[Term::Else, Term::Nothing]) || token.is(Term::That) && token.is_phrase
        });
        only(places, is_strict)
    }

    /// The places that the words before the clause name: those that "it" and "there" mean.
    fn places_before(&self) -> Vec<Place> {
        let places = Parts::of(self.before).places;
        if !places.is_empty() || self.before.iter().any(|token| token.term != Some(Term::Filler)) {
            return places;
        }
        Parts::of(&tokens(&self.context.before)).places
    }

    fn switch(&self) -> ForbiddenCommand {
        ForbiddenCommand::Switch(self.context.names.clone())
    }

    /// Only what the prompt names may change.
    fn only_named(&self) -> Vec<Limit> {
        let places: Vec<Place> = self
            .context
            .paths
            .iter()
            .filter(|path| !path.starts_with(['~', '/']))
            .map(|path| Place::Path(path.clone()))
            .collect();
        only(places, true)
    }

    /// "Leave …", "… stays".
    fn leave(&self, cue: usize) -> Vec<Limit> {
        let all = Parts::of(self.clause);
        let is_still = all.has(Term::Still);
        let (rule, except) = self.around(cue, false);
        let mut parts = Parts::of(rule);
        if (all.has(Term::Signature) || all.has(Term::Public) && is_still)
            && !all.has_any(&[Term::Tests, Term::Docs])
        {
            return signatures(&all, self.context);
        }
        if all.has(Term::Branch) {
            return vec![Limit::Command(self.switch())];
        }
        let is_property = all.has_any(&[Term::Aspect, Term::Line, Term::Most]);
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
        let version = self.clause.iter().find(|token| is_version(&token.raw));
        let mut places = parts.places.clone();
        places.extend(parts.kinds());
        let words: Vec<&&str> = parts.words.iter().filter(|word| !is_version(word)).collect();
        if let (Some(version), true) = (version, places.is_empty() || !parts.has(Term::Production)) {
            let subject = words
                .iter()
                .map(|word| word.to_string())
                .chain(parts.literals.iter().map(|name| fold(name)));
            let subject: Vec<String> = subject
                .filter(|word| !matches!(word.as_str(), "min" | "minimum" | "level"))
                .collect();
            return match subject.as_slice() {
                [name] => vec![Limit::Written(Construct::Version {
                    name: name.clone(),
                    version: version.raw.clone(),
                })],
                _ => Vec::new(),
            };
        }
        if places.is_empty()
            && words.len() == 1
            && parts.literals.is_empty()
            && (is_still
                || rule
                    .iter()
                    .all(|token| token.term.is_none() || token.is_any(&[Term::Filler, Term::Leave])))
        {
            places.push(Place::Words(vec![singular(words[0])]));
            if !is_still {
                let removal_only = PlaceRule {
                    removal_only: true,
                    ..PlaceRule::default()
                };
                return vec![Limit::Places(places, removal_only)];
            }
        } else if !is_still && (!words.is_empty() && version.is_none() || !parts.literals.is_empty()) {
            return Vec::new();
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
        if parts.has(Term::Snapshot) {
            found.push(Limit::Command(ForbiddenCommand::Snapshots));
        }
        found
    }

    /// "… except x".
    fn exclude(&self, cue: usize) -> Vec<Limit> {
        let parts = Parts::of(&self.clause[cue + 1..]);
        if parts.has_any(&[Term::Aspect, Term::Change, Term::Add]) && parts.places.is_empty() {
            return versions(&parts);
        }
        let mut found = Vec::new();
        let mut places = parts.places.clone();
        places.extend(parts.kinds());
        if !places.is_empty() {
            found.push(Limit::Places(places, PlaceRule::default()));
        }
        let names = parts
            .words
            .iter()
            .chain(&parts.literals)
            .filter(|name| is_name(name) && !is_version(name));
        for name in names {
            found.push(Limit::Written(Construct::Section(fold(name))));
            found.push(Limit::Command(ForbiddenCommand::Package(fold(name))));
            found.push(Limit::Written(Construct::Declared(fold(name))));
        }
        found
    }

    fn places_in(&self, tokens: &[Token]) -> Vec<Place> {
        let parts = Parts::of(tokens);
        let mut places = parts.places.clone();
        places.extend(parts.kinds());
        places
    }

    /// "At most 40 lines".
    fn at_most(&self) -> Option<Vec<Limit>> {
        let most = self.clause.iter().position(|token| token.is(Term::Most))?;
        let number = self.clause[most..]
            .iter()
            .find_map(|token| token.raw.parse::<usize>().ok())?;
        let has = |term| self.clause.iter().any(|token| token.is(term));
        let construct = if has(Term::Tests) {
            Construct::Tests(number)
        } else if has(Term::Line) {
            Construct::Lines(number)
        } else {
            return Some(Vec::new());
        };
        Some(vec![Limit::Written(construct)])
    }
}

/// Verbs that a limit is about.
#[rustfmt::skip]
const VERBS: &[Term] = &[
    Term::Change, Term::Remove, Term::Rename, Term::Add, Term::Install, Term::Upgrade, Term::Use, Term::Run, Term::Format, Term::Commit, Term::Push, Term::Merge, Term::Rebase,
    Term::Stash, Term::Switch, Term::Deploy, Term::Apply, Term::Destroy,
];

/// Verbs that mean commands.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Term] = &[
    Term::Install, Term::Run, Term::Format, Term::Commit, Term::Push, Term::Merge, Term::Rebase, Term::Stash, Term::Switch, Term::Deploy, Term::Apply, Term::Destroy,
];

/// Nouns that name no files.
#[rustfmt::skip]
const NOUNS: &[Term] = &[
    Term::All, Term::Dependency, Term::Comment, Term::Mock, Term::Emoji, Term::Badge, Term::OwnStyle, Term::DebugOutput, Term::Signature, Term::Public, Term::Network, Term::Container,
    Term::Data, Term::Query, Term::Code, Term::Branch, Term::File, Term::That, Term::Else, Term::Function,
];

/// Nouns that narrow "anything".
#[rustfmt::skip]
const NARROWING: &[Term] = &[
    Term::Else, Term::Aspect, Term::Signature, Term::Public, Term::Dependency, Term::Function, Term::Data, Term::Comment, Term::Install, Term::Run, Term::Branch, Term::Outside,
];
