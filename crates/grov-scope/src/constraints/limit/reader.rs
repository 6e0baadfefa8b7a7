//! Reads the clauses of a constraint.

use super::forbidden_commands::commands;
use super::forbidden_texts::{LITERALS, newer_than, signatures, versions, written};
use super::parts::{Parts, is_name, is_version, singular};
use super::{Context, ForbiddenCommand, Limit, Place, PlaceRule};
use crate::constraints::clause::{Token, clauses, is_certain_path, tokens};
use crate::constraints::place::{environment, environments};
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;
use crate::file_kind::FileKind;
use crate::words::fold;

/// Reads what a constraint with these words forbids.
pub(in crate::constraints) fn read(text: &str, mut words: Vec<Token>, context: &Context) -> Vec<Limit> {
    let mut found: Vec<Limit> = Vec::new();
    if context.is_conditional {
        return found;
    }
    // "A.json and b.lock stay untouched", of which the constraint has the second half.
    if context.lead.iter().any(Token::is_place) && words.first().is_some_and(Token::is_place) {
        words.splice(0..0, context.lead.iter().cloned());
    }
    words.extend(context.exception.iter().cloned());
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
            || confines(&crate::constraints::clause::clauses(tokens(
                &context.around,
                context.languages,
            ))))
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

/// Whether everything else can be told from a place: files of a kind with a firm name, and parts of an application.
fn bounds(place: &Place) -> bool {
    match place {
        Place::Kind(kind) => matches!(
            kind,
            FileKind::Test | FileKind::Docs | FileKind::Styles | FileKind::Migration | FileKind::Pipeline
        ),
        Place::Path(_) | Place::Source | Place::Layer(_) => true,
        Place::Words(_) | Place::KindOf(..) | Place::OtherEnvironment(_) => false,
    }
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
        let parts = Parts::of(clause);
        parts.has(Term::Only)
            && !parts.has_any(&[Term::Look, Term::Query])
            && (parts.has_any(&[Term::Comment, Term::Change, Term::Add])
                || !parts.places.is_empty()
                || !parts.kinds().is_empty())
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
        if self.is_read_only() {
            return vec![Limit::ReadOnly];
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

    /// "Read only", "this is a read-only task". "The config is read-only" is about the config.
    fn is_read_only(&self) -> bool {
        let says = |token: &Token| matches!(token.folded.as_str(), "read-only" | "readonly");
        let is_only = |pair: &[Token]| pair[0].folded == "read" && pair[1].is(Term::Only);
        let is_about = |token: &Token| {
            says(token)
                || token.is_any(&[Term::Filler, Term::Look, Term::Only, Term::Still])
                || matches!(
                    token.folded.as_str(),
                    "task" | "session" | "mode" | "access" | "work" | "purely" | "strictly" | "question"
                )
        };
        let spaced = |token: &Token| token.folded == "read" && token.is(Term::Still);
        (self.clause.iter().any(|token| says(token) || spaced(token)) || self.clause.windows(2).any(is_only))
            && self.clause.iter().all(is_about)
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
        // "X is frozen for the demo", "x belongs to y": what follows says nothing of what is forbidden.
        if is_state && !Parts::of(before).is_empty() {
            return (before, except);
        }
        let is_last = names_nothing && Parts::of(before).has_any(NOUNS) || is_said_before;
        // Japanese puts the verb first: "コミットしないで".
        let is_verb_first = names_nothing && !says.has_any(VERBS) && Parts::of(before).has_any(VERBS);
        if is_last || is_verb_first {
            let end = end.map_or(self.clause.len(), |end| cue + 1 + end);
            (&self.clause[..end], except)
        } else {
            (rule, except)
        }
    }

    /// "Don't …", "hands off …", "ask before …".
    fn forbid(&self, cue: usize, is_state: bool) -> Vec<Limit> {
        let (mut rule, mut except) = self.around(cue, is_state);
        // "Except a.rs change nothing"
        if let Some(at) = self.clause[..cue].iter().position(|token| token.is(Term::Except)) {
            except = &self.clause[at + 1..cue];
        }
        // "In the parser change nothing"
        let all = Parts::of(rule);
        let before = Parts::of(&self.clause[..cue]);
        let nothing = self.clause.iter().any(|token| token.is(Term::Nothing));
        let is_unnamed = all.has(Term::All) || nothing;
        if is_unnamed && all.is_empty() && except.is_empty() && !before.is_empty() {
            rule = self.clause;
        }
        let mut parts = Parts::of(rule);
        // "It", "there", "them": what the clause before names.
        // Japanese puts the object before a pause: "*.g.dart) は手で編集しない".
        let is_verb_last = cue + 1 == self.clause.len() && parts.has_only(&[Term::Change, Term::Not]);
        if parts.is_empty() && (parts.has(Term::That) || is_state || is_verb_last) {
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
            && except.is_empty()
            && parts.has_any(&[Term::Change, Term::Apply])
            && !parts.has_any(NARROWING)
        {
            return vec![Limit::ReadOnly];
        }
        if is_all && !except_places.is_empty() && is_change {
            return only(except_places, true);
        }
        // "No edits", "without changes"
        let is_noun = |token: &Token| CHANGES.contains(&token.folded.as_str());
        if except.is_empty()
            && rule.iter().any(is_noun)
            && parts.has_only(&[
                Term::Change,
                Term::Code,
                Term::File,
                Term::All,
                Term::Add,
                Term::Until,
                Term::Not,
            ])
        {
            return vec![Limit::ReadOnly];
        }
        if except.is_empty()
            && parts.has_only(&[
                Term::Apply,
                Term::Until,
                Term::Change,
                Term::Code,
                Term::All,
                Term::Add,
                Term::Not,
            ])
            && (parts.has_any(&[Term::Apply, Term::Code])
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
        if parts.has(Term::Key) && (is_state || is_change) {
            return vec![Limit::Written(Construct::Keys)];
        }
        let is_layer = parts.kinds().iter().any(|kind| matches!(kind, Place::Layer(_)));
        if is_state && parts.has_any(&[Term::Signature, Term::Public]) && !is_layer {
            return signatures(&parts, self.context);
        }
        // "I'll upload it myself"
        if let (true, [verb], true) = (
            self.clause[cue].is(Term::Myself),
            parts.words.as_slice(),
            parts.has(Term::That),
        ) {
            return vec![Limit::Command(ForbiddenCommand::Named((*verb).to_owned()))];
        }
        let mut found = commands(&parts, rule, is_state, self.context);
        found.extend(written(&parts, rule, is_state, self.context));
        if parts.has(Term::Dependency)
            && !parts.has(Term::Aspect)
            && !parts.has_any(&[Term::Remove, Term::Rename])
            && parts.places.is_empty()
            && (parts.words.is_empty() || parts.has_any(&[Term::New, Term::Else]))
            && (parts.literals.is_empty()
                || parts.has_any(&[Term::New, Term::Else])
                || !parts.literals.iter().any(|name| is_name(name)))
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
            is_state || nothing || self.clause[cue].is(Term::Ask) || self.is_exclusion(cue, &parts),
            except_places,
        ));
        found
    }

    /// "Not the partner pages", "but not in batch07": an object of what the prompt requests.
    fn is_exclusion(&self, cue: usize, parts: &Parts<'_>) -> bool {
        let negates = matches!(
            self.clause[cue].folded.as_str(),
            "not" | "nicht" | "niet" | "nie" | "nao" | "pas"
        );
        let next = self.clause.get(cue + 1);
        let is_noun =
            next.is_some_and(|token| token.is(Term::Filler) && ARTICLES.contains(&token.folded.as_str()));
        negates
            && is_noun
            && !parts.has_any(VERBS)
            && !parts.has_any(&[Term::Look, Term::Aspect, Term::Code, Term::That])
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
            && parts.literals.is_empty()
            // "Existing invoices" are data.
            && !parts.has(Term::Existing)
            && !parts.has_any(COMMANDS);
        let mut found = Vec::new();
        if is_named {
            let named = parts.named();
            let is_telling = |group: &&Vec<String>| group.iter().all(|word| word.len() >= 3);
            places.extend(named.iter().filter(is_telling).cloned().map(Place::Words));
            found.extend(
                named
                    .into_iter()
                    .map(|group| Limit::Written(Construct::Setting(group))),
            );
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
            return found;
        }
        let rule = PlaceRule {
            removal_only: removes && !changes,
            existing_only: parts.has(Term::Existing),
            except,
        };
        found.push(Limit::Places(places, rule));
        found
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
            return vec![Limit::ReadOnly];
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
            Term::Format,
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
        if let Some(limits) = self.only_environment(&whole) {
            return limits;
        }
        // What is named loosely has no boundary that an edit could leave.
        if !parts.groups.is_empty() && parts.places.is_empty() {
            return Vec::new();
        }
        let stays = STAYING.contains(&self.clause[cue].folded.as_str()) && self.clause[cue].is_phrase;
        let is_certain =
            |place: &&Place| stays || !matches!(place, Place::Path(path) if !is_certain_path(path));
        let mut places: Vec<Place> = parts.places.iter().filter(is_certain).cloned().collect();
        places.extend(parts.kinds().into_iter().filter(bounds));
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
        let is_bare = whole.has_only(ONLY_KINDS);
        let is_described = !stays
            && !is_bare
            && !parts.words.is_empty()
            && (parts.places.is_empty() || !whole.has(Term::Change))
            || !stays && !is_bare && parts.places.is_empty() && !whole.has(Term::Change);
        if places.is_empty() || is_described || !parts.literals.is_empty() {
            return Vec::new();
        }
        places.extend(self.places_in(except));
        let is_strict = self.clause.iter().chain(self.after).any(|token| {
            token.is_any(&[Term::Else, Term::Nothing]) || token.is(Term::That) && token.is_phrase
        });
        only(places, is_strict)
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

    /// The places that the words before the clause name: those that "it" and "there" mean.
    fn places_before(&self) -> Vec<Place> {
        let places = Parts::of(self.before).places;
        if !places.is_empty() || self.before.iter().any(|token| token.term != Some(Term::Filler)) {
            return places;
        }
        // "Those" are the ones named last.
        let clauses = clauses(tokens(&self.context.before, self.context.languages));
        let mut named = clauses.iter().rev().map(|clause| Parts::of(clause).places);
        named.find(|places| !places.is_empty()).unwrap_or_default()
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
            .chain(Parts::of(self.before).places)
            .collect();
        only(places, true)
    }

    /// "Leave …", "… stays".
    fn leave(&self, cue: usize) -> Vec<Limit> {
        let all = Parts::of(self.clause);
        let is_still = all.has(Term::Still);
        let (rule, except) = self.around(cue, false);
        let mut parts = Parts::of(rule);
        // "Keep lodash out"
        if let ([name, "out"], []) = (all.words.as_slice(), all.places.as_slice()) {
            return vec![Limit::Package(Some((*name).to_owned()))];
        }
        if (all.has(Term::Signature) || all.has(Term::Public) && is_still)
            && !all.has_any(&[Term::Tests, Term::Docs])
        {
            return signatures(&all, self.context);
        }
        if all.has(Term::Branch) {
            return vec![Limit::Command(self.switch())];
        }
        if all.has(Term::Key) {
            return vec![Limit::Written(Construct::Keys)];
        }
        if is_still && names_versions(self.clause) {
            let named = all.named();
            if named.is_empty() && all.places.is_empty() {
                return vec![version_of("", ""), Limit::Command(ForbiddenCommand::Upgrade)];
            }
            let first = named.iter().filter_map(|group| group.first());
            return first.map(|name| version_of(name, "")).collect();
        }
        if let Some(limits) = self.kept_value() {
            return limits;
        }
        let is_property = all.has_any(&[Term::Aspect, Term::Line, Term::Most]);
        // "Keep the Makefile around"
        if !is_still
            && self.clause[cue].is(Term::Keep)
            && !is_property
            && parts.words.is_empty()
            && parts.literals.is_empty()
        {
            let rule = PlaceRule {
                removal_only: true,
                ..PlaceRule::default()
            };
            return if parts.places.is_empty() {
                Vec::new()
            } else {
                vec![Limit::Places(parts.places, rule)]
            };
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
                let removal_only = PlaceRule {
                    removal_only: true,
                    ..PlaceRule::default()
                };
                return vec![Limit::Places(places, removal_only)];
            }
        } else if !is_still && (!words.is_empty() || !parts.literals.is_empty()) {
            return Vec::new();
        }
        if places.is_empty() && is_still {
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
        if parts.has(Term::Snapshot) {
            found.push(Limit::Command(ForbiddenCommand::Snapshots));
        }
        found
    }

    /// "Stay on react 17", "keep the batch size at 256": a value that stays.
    fn kept_value(&self) -> Option<Vec<Limit>> {
        let value = self.clause.iter().find(|token| is_version(&token.raw))?;
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
        let named: Vec<Vec<String>> = parts.named();
        let literals = parts.literals.iter().filter(|name| is_name(name));
        found.extend(literals.clone().map(|name| {
            Limit::Places(
                vec![Place::Path(format!("{name}.*")), Place::Path((*name).to_owned())],
                PlaceRule::default(),
            )
        }));
        let words = named
            .iter()
            .filter(|group| group.iter().all(|word| word.len() >= 3));
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

/// Kinds of files to which "only" confines without a verb: "docs only".
const ONLY_KINDS: &[Term] = &[
    Term::Only,
    Term::Until,
    Term::Docs,
    Term::Tests,
    Term::Styles,
    Term::Frontend,
    Term::Backend,
];

/// First words of phrases that confine to a place: "stay in", "limit yourself to".
#[rustfmt::skip]
const STAYING: &[&str] = &[
    "beschrank", "beschranke", "bleib", "confine", "keep", "limit", "limita", "limitate", "limitati", "limite-se", "limite-toi", "limiteaza-te", "ogranicz", "quedate", "ramai", "resta", "reste", "restrict",
    "rezuma-te", "stay", "stick",
];

/// Articles and prepositions before an object.
#[rustfmt::skip]
const ARTICLES: &[&str] = &[
    "the", "in", "die", "der", "das", "den", "dem", "im", "de", "het", "w", "we", "na", "as", "os", "le", "la", "les", "dans",
];

/// Nouns for any change.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "changes", "change", "edits", "modifications", "modification", "anderungen", "anderung", "modificari", "schimbari", "modifications", "changements", "cambios", "modificaciones", "modifiche", "cambiamenti",
    "mudancas", "alteracao", "alteracoes", "zmian", "zmiany", "wijzigingen", "any changes", "make changes to",
];

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
