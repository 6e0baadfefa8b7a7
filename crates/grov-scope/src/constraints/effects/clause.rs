//! What a limit says that no command may do.

use super::names::{Said, said_in, with_parts};
use crate::constraints::clause::{Token, clauses};
use crate::constraints::named::is_unspaced_text;
use crate::constraints::place::{environment, environments};
use crate::constraints::vocabulary::Term;
use crate::words::fold;

/// What a limit says that no command may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::constraints) struct Forbidden {
    /// The effects.
    pub(super) effects: Vec<&'static str>,
    /// The words of the object that name no effect: a command must have one of them.
    pub(super) rest: Vec<String>,
    /// What is excepted.
    pub(super) except: Vec<String>,
    /// The environments in which it is forbidden; none for all.
    pub(super) environments: Vec<String>,
    /// The words that name the effects.
    pub(super) named_by: Vec<String>,
    /// The words that name the effects are verbs.
    pub(super) is_verb: bool,
    /// The user ordered some of it later.
    pub(super) is_partly_lifted: bool,
}

/// Conditions that only say when a limit holds.
const TIMES: &[&str] = &[
    "while", "when", "wenn", "mientras", "mentre", "enquanto", "pendant", "terwijl", "podczas",
];

/// Words of an object that tell nothing about it.
#[rustfmt::skip]
const IGNORED: &[&str] = &[
    "again", "already", "anywhere", "anything", "automatically", "box", "by", "command", "commands", "day", "either", "ever", "extra", "here", "home", "itself", "just", "laptop", "local", "locally", "machine", "manually", "mid", "more", "own",
    "please", "pls", "real", "really", "session", "side", "single", "some", "something", "stuff", "there", "they", "thing", "things", "this", "time", "through", "way", "whole", "work", "your", "yourself", "you", "kind", "sort",
    "befehl", "befehle", "dabei", "dafur", "damit", "einfach", "gerade", "hier", "irgendwas", "irgendwelche", "lokal", "mehr", "nochmal", "rechner", "selber", "wieder", "zwischendurch", "ici", "rien", "encore", "ordinateur", "quoi", "soit",
    "locale", "localement", "aqui", "maquina", "nada", "otra", "vez", "ninguna", "ningun", "nuevo", "nueva", "qui", "macchina", "nuovo", "nuova", "niente", "nessun", "nessuna", "cosa", "nenhum", "nenhuma", "coisa", "novo", "nova", "tutaj", "tu",
    "zadnych", "zadnego", "zadnej", "maszynie", "lokalnie", "nic", "niks", "niets", "opnieuw", "lokaal", "aici", "masina", "nimic", "nou", "noua", "user", "users", "people", "customer", "customers",
];

/// What a limit with these words forbids commands to do.
pub(in crate::constraints) fn read(text: &str, words: &[Token]) -> Vec<Forbidden> {
    let folded = is_unspaced_text(text).then(|| fold(text));
    let clauses = clauses(words.to_vec());
    let read = |clause: &Vec<Token>| Clause::of(clause, folded.as_deref()).forbidden();
    clauses.iter().filter_map(read).collect()
}

/// Whether a clause with these words states such a limit without a verb that forbids: "stay offline", "nothing global".
pub(in crate::constraints) fn states(words: &[Token]) -> bool {
    let clause = Clause::of(words, None);
    let first = words.iter().find(|token| !token.is(Term::Filler));
    let opens = first.is_some_and(|token| token.is_any(&[Term::Not, Term::Nothing]));
    let may_state = match clause.kind {
        Some(Kind::Negative) => opens && !clause.acts(),
        Some(Kind::Stated) => true,
        _ => false,
    };
    may_state
        && clause
            .forbidden()
            .is_some_and(|forbidden| forbidden.rest.is_empty())
}

/// What kind of limit a clause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Negative,
    Only,
    Stated,
}

/// A clause prepared for the search.
struct Clause<'t> {
    /// Its words before an exception or a reason, with their tokens.
    words: Vec<(&'t str, &'t Token)>,
    except: Vec<String>,
    /// `None` if it forbids nothing.
    kind: Option<Kind>,
    /// The whole text of a limit without spaces between words.
    unspaced: Option<&'t str>,
}

impl<'t> Clause<'t> {
    fn of(clause: &'t [Token], unspaced: Option<&'t str>) -> Self {
        let has = |terms: &[Term]| clause.iter().any(|token| token.is_any(terms));
        let depends = clause
            .iter()
            .any(|token| token.is(Term::If) && !TIMES.contains(&token.folded.as_str()));
        let negates = has(&[Term::Not, Term::Nothing, Term::HandsOff, Term::Myself, Term::Ask])
            || has(&[Term::Leave, Term::Keep]) && has(&[Term::Still]);
        let kind = match () {
            () if has(&[Term::Permit]) || depends => None,
            () if negates => Some(Kind::Negative),
            () if has(&[Term::Only]) => Some(Kind::Only),
            () => Some(Kind::Stated),
        };
        // "No package manager but pnpm"
        let is_but = |token: &Token| token.folded == "but" && token.is(Term::And) && has(&[Term::Not]);
        let ends = |token: &Token| {
            token.is_any(&[Term::Because, Term::Except, Term::If])
                || is_but(token)
                || token.is(Term::Before) && !has(&[Term::Ask])
        };
        let end = clause.iter().position(ends).unwrap_or(clause.len());
        let (own, rest) = clause.split_at(end);
        let except = match rest.first() {
            Some(first) if first.is(Term::Except) || is_but(first) => &rest[1..],
            _ => &[],
        };
        Self {
            words: own
                .iter()
                .flat_map(|token| token.phrase.split(' ').map(move |word| (word, token)))
                .collect(),
            except: except.iter().map(|token| token.folded.clone()).collect(),
            kind,
            unspaced,
        }
    }

    fn has(&self, terms: &[Term]) -> bool {
        self.words.iter().any(|(_, token)| token.is_any(terms))
    }

    fn forbidden(&self) -> Option<Forbidden> {
        let kind = self.kind?;
        let words: Vec<&str> = self.words.iter().map(|(word, _)| *word).collect();
        let (said, others) = said_in(&words, self.unspaced);
        let (names, verbs): (Vec<Said>, Vec<Said>) =
            said.into_iter().partition(|(phrase, _)| phrase.effect.is_some());
        if names.is_empty() {
            return None;
        }
        let mut reading = Reading::of(self);
        let of_class = |class: &'static str| {
            let has = move |said: &&Said| said.0.classes.contains(&class);
            names.iter().filter(has).collect::<Vec<&Said>>()
        };
        if kind == Kind::Negative && !self.is_about_more(&names) {
            reading.add(&of_class("alone"));
            reading.found.is_verb = !reading.found.effects.is_empty();
        }
        // "Stay offline", and not "the app must work offline".
        let first = self.words.iter().position(|(_, token)| !token.is(Term::Filler));
        let states = |said: &&Said| said.1.start <= first.unwrap_or_default();
        if kind == Kind::Stated {
            reading.add(&of_class("state").into_iter().filter(states).collect::<Vec<_>>());
        }
        // In a text without spaces, a verb of its own has objects, and no further verbs.
        let is_done = self.unspaced.is_some() && !reading.found.effects.is_empty();
        if kind == Kind::Negative && !is_done {
            let classes = self.classes(&verbs, &reading.covered);
            let meets = |said: &&Said| said.0.classes.iter().any(|class| classes.contains(class));
            let used: Vec<&Said> = names.iter().filter(meets).collect();
            reading.add(&used);
            let is_used =
                |class: &&'static str| used.iter().any(|(phrase, _)| phrase.classes.contains(class));
            for (phrase, range) in &verbs {
                if phrase.classes.iter().any(&is_used) {
                    reading.covered[range.clone()].fill(true);
                }
            }
        }
        // "No docker", "only unit tests": the object is a name, and nothing else.
        let bare = match kind {
            Kind::Negative if self.negates() && !self.acts() => of_class("none"),
            Kind::Only => of_class("only"),
            _ => Vec::new(),
        };
        let mut with_bare = reading.covered.clone();
        for (_, range) in names.iter().chain(&others) {
            with_bare[range.clone()].fill(true);
        }
        if self.unspaced.is_none() && self.is_covered(&with_bare) {
            reading.add(&bare);
        }
        for (_, range) in &others {
            reading.covered[range.clone()].fill(true);
        }
        reading.finish(&names)
    }

    /// Whether it has a verb for a change of something: "don't touch the deployment config" forbids no deployment.
    fn is_about_more(&self, names: &[Said]) -> bool {
        let touches = self.has(&[Term::Change, Term::Remove, Term::Rename, Term::HandsOff])
            || self.has(&[Term::Leave, Term::Keep]) && self.has(&[Term::Still]);
        let mut covered = vec![false; self.words.len()];
        for (_, range) in names {
            covered[range.clone()].fill(true);
        }
        touches && !self.has(&[Term::Myself]) && !self.is_covered(&covered)
    }

    /// The classes of its verbs, besides those that are the effect themselves.
    fn classes(&self, verbs: &[Said], covered: &[bool]) -> Vec<&'static str> {
        let is_free = |range: &std::ops::Range<usize>| !covered[range.clone()].contains(&true);
        let free = verbs.iter().filter(|(_, range)| is_free(range));
        let mut found: Vec<&'static str> = free
            .flat_map(|(phrase, _)| phrase.classes.iter().copied())
            .collect();
        let own: Vec<Term> = self
            .words
            .iter()
            .zip(covered)
            .filter(|(_, covered)| !**covered)
            .filter_map(|((_, token), _)| token.term)
            .collect();
        for (terms, classes) in CLASSES {
            if terms.iter().any(|term| own.contains(term)) {
                found.extend(*classes);
            }
        }
        if self.has(&[Term::Leave, Term::Keep]) && self.has(&[Term::Still]) {
            found.push("touch");
        }
        found
    }

    /// Whether it negates something: "no docker", and not "ne touche pas à la base".
    fn negates(&self) -> bool {
        self.has(&[Term::Not, Term::Nothing, Term::Ask]) && !self.has(&[Term::HandsOff])
    }

    /// Whether it has a verb.
    fn acts(&self) -> bool {
        self.words.iter().any(|(_, token)| token.is_action())
    }

    /// Whether all words that tell something are covered.
    fn is_covered(&self, covered: &[bool]) -> bool {
        self.uncovered(covered)
            .iter()
            .all(|(word, token)| !tells(word, token) && !is_noun(token))
    }

    /// The words of tokens of which no word is covered. Words of languages without spaces are found in the text.
    fn uncovered(&self, covered: &[bool]) -> Vec<(&'t str, &'t Token)> {
        let is_covered = |token: &Token| {
            let words = self.words.iter().zip(covered);
            words
                .filter(|((_, other), _)| std::ptr::eq(*other, token))
                .any(|(_, covered)| *covered)
        };
        let words = self.words.iter().copied();
        words
            .filter(|(word, token)| !is_unspaced_text(word) && !is_covered(token))
            .collect()
    }
}

/// What is read of a clause so far.
struct Reading<'c, 't> {
    clause: &'c Clause<'t>,
    found: Forbidden,
    /// The words that are read.
    covered: Vec<bool>,
}

impl<'c, 't> Reading<'c, 't> {
    fn of(clause: &'c Clause<'t>) -> Self {
        Self {
            clause,
            found: Forbidden::default(),
            covered: vec![false; clause.words.len()],
        }
    }

    fn add(&mut self, names: &[&Said]) {
        for (phrase, range) in names {
            self.found
                .effects
                .extend(phrase.effect.map(with_parts).unwrap_or_default());
            let words = self.clause.words[range.clone()].iter();
            self.found
                .named_by
                .extend(words.map(|(word, _)| (*word).to_owned()));
            self.covered[range.clone()].fill(true);
        }
    }

    fn finish(mut self, names: &[Said]) -> Option<Forbidden> {
        let found = &mut self.found;
        if found.effects.is_empty() {
            return None;
        }
        for (phrase, range) in names {
            // "The services" of "don't restart the services" say nothing else.
            let goes_along = phrase.classes.contains(&"with");
            if goes_along
                && phrase
                    .effect
                    .is_some_and(|effect| found.effects.contains(&effect))
            {
                self.covered[range.clone()].fill(true);
            }
        }
        for ((word, token), _) in self
            .clause
            .words
            .iter()
            .zip(&self.covered)
            .filter(|(_, is_read)| !**is_read)
        {
            let known = environment(word).or(token.is(Term::Production).then_some("prod"));
            if let Some(name) = known {
                found.environments.extend(environments(name, true));
                found.environments.push((*word).to_owned());
            }
        }
        let rest = self.clause.uncovered(&self.covered).into_iter();
        let rest = rest.filter(|(word, token)| {
            environment(word).is_none() && !token.is(Term::Production) && tells(word, token)
        });
        found.rest = rest.map(|(word, _)| word.to_owned()).collect();
        found.except.clone_from(&self.clause.except);
        Some(self.found)
    }
}

/// The classes of the verbs of each meaning.
#[rustfmt::skip]
const CLASSES: &[(&[Term], &[&str])] = &[
    (&[Term::Run, Term::Apply], &["run"]),
    (&[Term::Use], &["run", "use", "connect"]),
    (&[Term::Install, Term::Upgrade], &["install"]),
    (&[Term::Add], &["make", "open", "write"]),
    (&[Term::Remove], &["clear", "touch"]),
    (&[Term::Change], &["touch", "record"]),
    (&[Term::HandsOff], &["touch"]),
    (&[Term::Push], &["push"]),
    (&[Term::Myself], &["run", "use", "make", "open", "touch", "send", "record", "clear", "build", "install"]),
];

/// Whether a word of a clause tells something about its object.
fn tells(word: &str, token: &Token) -> bool {
    let is_name = token.term.is_none() || is_noun(token);
    is_name && word.chars().count() >= 3 && !IGNORED.contains(&word) && word.chars().any(char::is_alphabetic)
}

/// Meanings that are no things.
#[rustfmt::skip]
const NO_THINGS: &[Term] = &[
    Term::Not, Term::Nothing, Term::Only, Term::Keep, Term::Leave, Term::Still, Term::HandsOff, Term::Myself, Term::Ask, Term::Before, Term::Until, Term::And, Term::All, Term::Else, Term::New, Term::Existing, Term::That,
    Term::Filler, Term::Outside, Term::Most,
];

/// Whether a token means a thing.
fn is_noun(token: &Token) -> bool {
    !token.is_action() && !token.is_any(NO_THINGS) && token.term.is_some()
}
