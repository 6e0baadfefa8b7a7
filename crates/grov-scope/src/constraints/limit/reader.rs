//! Reads the clauses of a constraint.

mod confine;
mod dry_runs;
mod forbid;
mod keep;
mod knobs;
mod listed;

use super::forbidden_texts::{LITERALS, newer_than};
use super::parts::Parts;
use super::{Context, ForbiddenCommand, Limit, Place};
use crate::constraints::clause::{Token, clauses, denies_permission, tokens};
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;
use crate::words::fold;
use confine::confines;

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
        for mut limit in reader.limits() {
            // "Write lib/test_util.py, leave the other files in lib/ alone"
            if let Limit::Places(_, rule) = &mut limit
                && clause.iter().any(|token| token.is(Term::Else))
            {
                rule.except.extend(context.paths.iter().cloned().map(Place::Path));
            }
            if !found.contains(&limit) {
                found.push(limit);
            }
        }
        before = clause.clone();
    }
    // "Standard library only"
    let folded = fold(text);
    if STANDARD.iter().any(|phrase| folded.contains(phrase))
        && !clauses.iter().flatten().any(|token| token.is(Term::Permit))
    {
        found.push(Limit::Package(None));
    }
    // "Update the README; nothing changes in the code" is no reading task.
    let is_code = clauses.iter().flatten().any(|token| token.is(Term::Code));
    if found.contains(&Limit::ReadOnly)
        && (context.requests_change
            || is_code && context.names_work
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

/// Phrases for what a language brings along, folded.
#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "standard library only", "stdlib only", "only the standard library", "only stdlib", "use the standard library", "only use the standard library", "nur standardbibliothek", "nur die standardbibliothek", "bibliotheque standard uniquement",
    "uniquement la bibliotheque standard", "solo la biblioteca estandar", "solo biblioteca estandar", "so a biblioteca padrao", "solo la libreria standard", "solo libreria standard", "tylko biblioteka standardowa", "alleen de standaardbibliotheek",
    "只用标准库", "標準ライブラリのみ", "標準ライブラリだけ",
];

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
        // "You may only touch src/" permits nothing else.
        let permits = has(Term::Permit) && !has(Term::Only) && !denies_permission(self.clause);
        if depends || permits || has(Term::If) && !has(Term::Except) {
            return Vec::new();
        }
        if let Some(limit) = self.only_dry_runs() {
            return vec![limit];
        }
        // "Read only on the db"
        if self.reads_only_data() {
            return vec![Limit::Command(ForbiddenCommand::DatabaseWrite)];
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
        // "Nic poza packages/ui nie może się zmienić"
        if let Some(cue) = self
            .clause
            .iter()
            .position(Token::is_nothing_but)
            .filter(|_| has(Term::HandsOff))
        {
            return self.confine(cue);
        }
        if let Some(cue) = at(&[Term::HandsOff]) {
            return if self.is_rule_of_the_program(cue) {
                Vec::new()
            } else {
                self.forbid(cue, true)
            };
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
                (Some(cue), except)
                    if except.is_none_or(|except| cue < except || has(Term::All) && has(Term::Still)) =>
                {
                    self.leave(cue)
                }
                (_, Some(cue)) => self.exclude(cue),
                // "You may edit config/, nothing else"
                _ if self
                    .clause
                    .iter()
                    .find(|token| !token.is_any(&[Term::And, Term::Filler]))
                    .is_some_and(|token| {
                        token.is(Term::Else) && (token.is_phrase || token.folded == "nient'altro")
                    }) =>
                {
                    self.only_named_before()
                }
                // "Fix a.py and nothing else"
                _ if self
                    .clause
                    .iter()
                    .rev()
                    .find(|token| !token.is_any(&[Term::Filler, Term::Until]))
                    .is_some_and(|token| {
                        token.is(Term::Else) && (token.is_phrase || token.folded == "nient'altro")
                    })
                    && self.clause.iter().any(|token| token.is(Term::And)) =>
                {
                    confine::only(Parts::of(self.clause).places, true)
                }
                _ => Vec::new(),
            },
        }
    }

    /// Whether stored data alone may only be read.
    fn reads_only_data(&self) -> bool {
        let says = |pair: &[Token]| pair[0].folded == "read" && pair[1].is(Term::Only);
        let is_adjective = |token: &Token| {
            matches!(token.folded.as_str(), "read-only" | "readonly")
                || token.folded == "read" && token.is(Term::Still)
        };
        let names_data = |token: &Token| matches!(token.folded.as_str(), "db" | "database" | "databases");
        let is_said = self.clause.windows(2).any(says) || self.clause.iter().any(is_adjective);
        is_said && self.clause.iter().any(names_data) && !self.clause.iter().any(Token::is_place)
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

    /// "Empty names are not allowed", "tests are not allowed to use the network": no limit on changes.
    fn is_rule_of_the_program(&self, cue: usize) -> bool {
        const ALLOWING: &[&str] = &[
            "allowed",
            "permitted",
            "prohibited",
            "forbidden",
            "verboten",
            "erlaubt",
            "interdit",
            "interdite",
            "interdits",
            "prohibido",
            "permite",
            "vietato",
            "proibito",
            "proibido",
            "permitido",
            "zabronione",
            "verboden",
            "toegestaan",
        ];
        let is_allowing = ALLOWING
            .iter()
            .any(|word| self.clause[cue].phrase.ends_with(word));
        let before = Parts::of(&self.clause[..cue]);
        let names_no_change =
            before.places.is_empty() && !before.has_any(&[Term::Change, Term::Remove, Term::Rename]);
        is_allowing && names_no_change && !before.is_empty()
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
        // "Die Datei a.rs nicht anfassen"
        let is_verb_last = names_nothing
            && says.has_any(&[Term::Change, Term::Remove, Term::Rename])
            && !says.has_any(&[Term::That, Term::All])
            && !before.iter().any(|token| token.is(Term::Except))
            && !Parts::of(before).is_empty();
        let is_last = names_nothing && Parts::of(before).has_any(NOUNS) || is_said_before || is_verb_last;
        // Japanese puts the verb first: "コミットしないで".
        let is_verb_first = names_nothing && !says.has_any(VERBS) && Parts::of(before).has_any(VERBS);
        if is_last || is_verb_first {
            let end = end.map_or(self.clause.len(), |end| cue + 1 + end);
            (&self.clause[..end], except)
        } else {
            (rule, except)
        }
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
