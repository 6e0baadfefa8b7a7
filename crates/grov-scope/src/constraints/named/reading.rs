//! Reads which things a constraint names, and what must not happen to them.

use super::areas::{self, Area};
use super::aspects::{self, Aspect};
use super::branches;
use super::change::words_of;
use super::kinds::Kind;
use super::stem::{cognate, is_cognate, is_same_word, is_unspaced_text};
use super::{Named, Rule};
use super::{amounts, concepts, kinds, labels, platforms};
use crate::constraints::clause::{Token, clauses};
use crate::constraints::limit::{PROGRAMS, has_hump};
use crate::constraints::request::Sentence;
use crate::constraints::vocabulary::Term;
use crate::constraints::written::KEYWORDS;
use crate::phrases::Languages;
use crate::words::fold;
use grov_domain::both_ends;

/// The bytes at each end of a prompt that are read.
const END: usize = 2 * 1024;

/// The fewest letters of a word that names a thing.
const MIN_NAME: usize = 3;

/// Words that occur in too many paths and texts to name a thing.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "about", "access", "app", "approve", "array", "back", "bad", "base", "big", "bits", "bug", "case", "check", "class", "client", "code", "come", "const", "copy", "core", "course", "customer", "day", "default", "diff",
    "dir", "drop", "edit", "end", "even", "export", "extra", "feature", "fields", "file", "first", "fix", "for", "format", "from", "full", "function", "get", "good", "group", "hand", "half", "help", "home", "idea", "import", "info",
    "input", "issue", "item", "job", "just", "key", "kind", "last", "later", "let", "lib", "line", "list", "local", "look", "main", "make", "model", "module", "month", "monday", "most", "name", "need", "new", "next", "note", "now",
    "number", "object", "once", "one", "open", "order", "other", "own", "page", "part", "path", "people", "place", "please", "problem", "project", "public", "read", "real", "really", "repo", "request", "result", "return",
    "right", "root", "same", "save", "section", "self", "server", "service", "set", "show", "side", "site", "size", "some", "sort", "source", "src", "start", "state", "static", "step", "stuff", "style", "system", "task", "team",
    "text", "thing", "things", "time", "today", "tomorrow", "tool", "type", "under", "unless", "user", "value", "var", "version", "want", "way", "week", "whole", "with", "word", "work", "world", "write", "year", "yet",
    "heute", "alles", "teil", "sache", "todo", "toda", "coisa", "cosa", "chose", "lucru", "acum", "nadal", "jeszcze", "wszystko", "mismo", "misma", "igual", "asi", "encore", "comme", "elles", "sono", "anche", "esta", "este", "estos", "estas", "esses", "essas", "outros", "otros", "altri", "autres", "andere", "anderen",
];

/// Words that begin what is said about an object.
#[rustfmt::skip]
const RELATIVE: &[&str] = &[
    "which", "who", "whose", "that's", "thats", "while", "since", "die", "das", "qui", "que", "che", "ktore", "ktory", "ktora", "omdat", "want", "weil", "wegen", "parce", "porque", "pq", "xq", "poi", "perche", "pentru", "car", "fiindca",
    "where", "until", "after", "as",
];

/// Conditions that only say when a limit holds.
const TIMES: &[&str] = &[
    "while", "when", "wenn", "mientras", "mentre", "enquanto", "pendant", "terwijl", "podczas",
];

/// Meanings of verbs that forbid to change something.
const CHANGING: &[Term] = &[
    Term::Change,
    Term::Remove,
    Term::Rename,
    Term::Upgrade,
    Term::Format,
];

/// "No tests needed": a permission, and no limit on those that exist.
#[rustfmt::skip]
const NEEDED: &[&str] = &["needed", "necessary", "required", "notig", "necesario", "necesarios", "necessaire", "necessaires", "necessario", "necessari", "nodig", "potrzebne", "potrzebny"];

/// Meanings of properties of code: a limit on one is none on the files that have it.
#[rustfmt::skip]
const PROPERTIES: &[Term] = &[
    Term::Aspect, Term::Signature, Term::Public, Term::Comment, Term::Function, Term::Line, Term::Key, Term::Dependency, Term::Query, Term::Network, Term::Format, Term::Mock, Term::Emoji, Term::Badge,
    Term::OwnStyle, Term::DebugOutput,
];

/// Reads what a constraint with these words in a prompt names.
pub(in crate::constraints) fn read(text: &str, words: Vec<Token>, prompt: &str) -> Vec<Named> {
    // What is requested is no limit.
    let others = both_ends(prompt, END, "\n").replace(text, " ");
    let requested = &Requested {
        words: words_of(&fold(&others)),
        paths: crate::names::paths(&others),
        is_foreign: !Languages::of(&crate::words::words(prompt)).contains(Languages::ENGLISH),
    };
    let clauses = &clauses(words);
    let mut found = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .map_or(&[][..], |before| clauses[before].as_slice());
        let (rule, object) = match rule_of(clause) {
            Some(found) => found,
            // "No sleeps, retries or skips"
            None if continues(clause) => match rule_of(before) {
                Some((rule, _)) => (rule, clause.iter().collect()),
                None => continue,
            },
            // "At most three times" has no verb.
            None => {
                let amounts = amounts::named_by(clause, text);
                let words: Vec<&str> = clause.iter().flat_map(|token| token.phrase.split(' ')).collect();
                // "Must compile as C99"
                let platforms = platforms::named_by(&words);
                if !amounts.is_empty() || !platforms.is_empty() {
                    found.push(Named {
                        rule: Rule::Only,
                        amounts,
                        platforms,
                        ..Named::default()
                    });
                }
                continue;
            }
        };
        let verb_at = verb_of(clause, &object);
        let object = without_verb(object, verb_at);
        let mut named = Named::of(rule, clause, &object, requested);
        let environments = clause.iter().filter_map(|token| match token.term {
            Some(Term::Production) => Some("prod"),
            _ => crate::constraints::place::environment(&token.folded),
        });
        named.environments = environments
            .flat_map(|name| crate::constraints::place::environments(name, true))
            .collect();
        // "En and de are the customer's, nothing changes there"
        let is_pronoun = object.iter().any(|token| token.is(Term::That));
        if named.is_empty()
            && at == 0
            && is_pronoun
            && !clause.iter().any(|token| token.is_any(&[Term::Run, Term::Apply]))
        {
            let languages = Languages::of(&crate::words::words(prompt));
            let antecedent = crate::constraints::clause::tokens(subject_before(prompt, text), languages);
            let antecedent: Vec<&Token> = antecedent
                .iter()
                .take_while(|token| !AUXILIARY.contains(&token.folded.as_str()))
                .collect();
            named = Named::of(rule, clause, &antecedent, &Requested::default());
            named.areas.clear();
        }
        if named.is_empty() && rule_of(before).is_none() {
            let before: Vec<&Token> = before.iter().collect();
            named = Named::of(rule, clause, &before, requested);
        }
        if is_unspaced_text(text) {
            named.add_unspaced(text, clause, requested);
        }
        if clauses.len() == 1 || at == 0 {
            named.quoted = quoted_in(text);
        }
        if !named.is_empty() {
            found.push(named);
        }
    }
    found
}

/// The texts between quotation marks of a constraint that name no file.
fn quoted_in(text: &str) -> Vec<String> {
    let straight = text.replace(['“', '”', '„'], "\"");
    let parts = straight
        .split('"')
        .skip(1)
        .step_by(2)
        .chain(straight.split('`').skip(1).step_by(2));
    let is_text = |part: &&str| {
        part.len() >= 3 && !crate::names::is_path(part) && part.contains(' ')
            || part.len() >= 3 && part.chars().all(|letter| letter.is_uppercase() || letter == '_')
    };
    parts.filter(is_text).map(str::to_owned).collect()
}

/// What the rest of a prompt asks for.
#[derive(Debug, Default)]
struct Requested {
    /// Its words, folded.
    words: Vec<String>,
    /// The paths that it names.
    paths: Vec<String>,
    /// It is not in English.
    is_foreign: bool,
}

/// Negations that a verb follows.
#[rustfmt::skip]
const BEFORE_A_VERB: &[&str] = &[
    "do not", "don't", "dont", "must not", "mustn't", "nao", "ne", "never", "non", "nu", "should not", "shouldn't", "you may not",
];

/// Verbs for what all code does.
const EVERYWHERE: &[&str] = &["log", "print", "show", "render", "return"];

/// "Don't …": what follows is a verb, also an unknown one.
fn negates_verb_next(token: &Token) -> bool {
    token.is(Term::Not) && BEFORE_A_VERB.contains(&token.phrase.as_str())
}

/// The verb of an object, if that is an unknown word and others follow: "don't log card numbers" is about the numbers.
fn verb_of(clause: &[Token], object: &[&Token]) -> Option<usize> {
    if !clause.iter().any(negates_verb_next) || clause.iter().any(Token::is_action) {
        return None;
    }
    let is_name = |token: &Token| token.term.is_none() && !token.is_place() && !token.is_quoted;
    let at = object.iter().position(|token| !token.is(Term::Filler))?;
    // "Don't flash the board" is about flashing.
    let means = |token: &Token| {
        !EVERYWHERE.contains(&token.folded.as_str()) && concepts::named_by(&token.folded).next().is_some()
    };
    let names_more = object[at + 1..].iter().any(|token| {
        is_name(token) && token.folded.len() > 2 || token.is_place() || token.is_quoted || noun(token)
    });
    let verb = object[at];
    (is_name(verb) && !means(verb) && !verb.pauses && names_more).then_some(at)
}

/// The object without its verb.
fn without_verb(mut object: Vec<&Token>, verb: Option<usize>) -> Vec<&Token> {
    if let Some(at) = verb {
        object.remove(at);
    }
    object
}

/// Verbs after a subject.
const AUXILIARY: &[&str] = &[
    "is", "are", "was", "were", "come", "comes", "has", "have", "ist", "sind", "est", "sont", "es", "son",
    "sono", "sao",
];

/// The words of the sentence before a constraint, up to the pause before them.
fn subject_before<'p>(prompt: &'p str, constraint: &str) -> &'p str {
    const MOST: usize = 120;
    let Some(at) = prompt.find(constraint) else {
        return "";
    };
    let before = prompt[..at].trim_end_matches([' ', ',', ';', '-', '–', '—', '(']);
    let before = &before[before.ceil_char_boundary(before.len().saturating_sub(MOST))..];
    let start = before
        .rfind([',', ';', '\n', ':', '!', '?'])
        .max(before.rfind(". "))
        .map_or(0, |at| at + 1);
    before[start..].trim()
}

/// Words before a place.
const IN: &[&str] = &[
    "in",
    "into",
    "inside",
    "im",
    "dans",
    "en",
    "em",
    "nel",
    "nella",
    "nei",
    "w",
    "in the",
    "within the",
];

/// The most words of a clause that continues a list.
const MAX_CONTINUATION: usize = 7;

/// Whether a clause without a verb of its own goes on with the objects of the one before it.
fn continues(clause: &[Token]) -> bool {
    let may_follow =
        |token: &Token| !token.is_any(&[Term::Permit, Term::If, Term::Because, Term::That, Term::Only]);
    clause.len() <= MAX_CONTINUATION
        && clause.iter().any(|token| token.is(Term::And))
        && clause.iter().all(may_follow)
}

/// What a clause forbids, and the words of its object.
fn rule_of(clause: &[Token]) -> Option<(Rule, Vec<&Token>)> {
    let has = |term: Term| clause.iter().any(|token| token.is(term));
    let at = |terms: &[Term]| clause.iter().position(|token| token.is_any(terms));
    let excepts = at(&[Term::Except]);
    // "Don't send mails while testing"
    let is_condition = |token: &Token| token.is(Term::If) && !TIMES.contains(&token.folded.as_str());
    if has(Term::Permit) || clause.iter().any(is_condition) && excepts.is_none() {
        return None;
    }
    let keeps = |cue: usize| Some((Rule::Keep, object_of(clause, cue)));
    if let Some(cue) = at(&[Term::HandsOff, Term::Myself]) {
        // "It is forbidden to use mocks"
        let adds = clause[cue + 1..]
            .iter()
            .any(|token| token.is_any(&[Term::Add, Term::Use, Term::Install]));
        let changes = clause.iter().any(|token| token.is_any(CHANGING));
        if adds && !changes && BANNING.iter().any(|stem| clause[cue].phrase.contains(stem)) {
            return Some((Rule::Add, object_of(clause, cue)));
        }
        // "Mocks are forbidden", and not "src/legacy is forbidden"
        let is_banned = BANNING.iter().any(|stem| clause[cue].phrase.contains(stem));
        if is_banned && !changes && clause.iter().any(|token| token.is_any(BANNED)) {
            return Some((Rule::Add, object_of(clause, cue)));
        }
        return keeps(cue);
    }
    let changes = at(CHANGING).is_some();
    if let Some(cue) = at(&[Term::Ask]) {
        let removes = has(Term::Remove) && !has(Term::Change) && !has(Term::Rename);
        let rule = if removes { Rule::Stay } else { Rule::Keep };
        return changes.then(|| (rule, object_of(clause, cue)));
    }
    if let Some(cue) = at(&[Term::Not, Term::Nothing]) {
        if let Some(except) = excepts {
            return (except < cue && !has(Term::Nothing) && !has(Term::All))
                .then(|| (Rule::Except, object_of(clause, except)));
        }
        let is_verb =
            |token: &Token| token.is_any(&[Term::Add, Term::Use, Term::Install]) && token.folded != "build";
        let excludes = clause[cue].folded == "skip";
        let removes = !clause
            .iter()
            .any(|token| token.is_any(&[Term::Change, Term::Rename, Term::Upgrade, Term::Format]));
        if changes && removes {
            return Some((Rule::Stay, object_of(clause, cue)));
        }
        let rule = match (changes || excludes, clause.iter().any(is_verb)) {
            (true, _) => Rule::Keep,
            (_, true) => Rule::Add,
            _ => Rule::Any,
        };
        return Some((rule, object_of(clause, cue)));
    }
    if let (Some(cue), None) = (at(&[Term::Only]), at(&[Term::Leave])) {
        return Some((Rule::Only, object_of(clause, cue)));
    }
    if let Some(cue) = at(&[Term::Leave, Term::Keep]) {
        // "Cookies must stay secure"
        let says = clause[cue + 1..].iter().any(|token| token.term.is_none());
        let is_property = has(Term::Schema) || has(Term::Public) || has(Term::Signature);
        let stays = has(Term::Still)
            || is_property && STAYING.contains(&clause[cue].phrase.as_str())
            || names_version(clause)
            || says && STAYING.contains(&clause[cue].phrase.as_str());
        let rule = if stays { Rule::Keep } else { Rule::Stay };
        return Some((rule, object_of(clause, cue)));
    }
    let is_still =
        |token: &Token| token.is(Term::Still) && !matches!(token.folded.as_str(), "be" | "read" | "out");
    match clause.iter().position(is_still) {
        Some(cue) if excepts.is_none() => keeps(cue),
        // "Nothing else", "no drive-by changes"
        None if clause.iter().any(|token| token.is(Term::Else) && token.is_phrase) && excepts.is_none() => {
            Some((Rule::Keep, clause.iter().collect()))
        }
        _ => excepts.map(|cue| (Rule::Except, object_of(clause, cue))),
    }
}

/// Meanings of things that are forbidden to be made, and not to be changed.
const BANNED: &[Term] = &[
    Term::Mock,
    Term::Comment,
    Term::Emoji,
    Term::DebugOutput,
    Term::OwnStyle,
    Term::Snapshot,
    Term::Dependency,
    Term::Network,
];

/// Beginnings of words that forbid a thing, and no change.
const BANNING: &[&str] = &[
    "interdi",
    "prohibi",
    "proibi",
    "vietat",
    "verboten",
    "forbidden",
    "not allowed",
    "zabroni",
    "interzis",
    "toegestaan",
];

/// Phrases before what something stays: "must stay secure".
#[rustfmt::skip]
const STAYING: &[&str] = &[
    "stays", "stay", "remain", "remains", "has to stay", "have to stay", "must stay", "must remain", "should stay", "should remain", "needs to stay", "need to stay", "bleibt", "bleiben", "reste", "restent", "doit rester", "doivent rester", "queda",
    "quedan", "sigue", "siguen", "resta", "restano", "fica", "ficam", "continua", "continuam", "zostaje", "zostaja", "blijft", "blijven", "ramane", "raman",
];

fn names_version(clause: &[Token]) -> bool {
    clause.iter().any(|token| is_number(&token.raw))
}

/// The words after a cue up to a relative clause, or those before it if they say nothing.
fn object_of(clause: &[Token], cue: usize) -> Vec<&Token> {
    let names = |token: &&Token| token.term.is_none() || noun(token);
    let is_kana = |token: &Token| {
        token
            .raw
            .chars()
            .any(|letter| matches!(letter, '\u{3040}'..='\u{30ff}'))
    };
    if is_kana(&clause[cue]) && clause[..cue].iter().any(|token| names(&token)) {
        return clause[..cue].iter().collect();
    }
    let mut found: Vec<&Token> = Vec::new();
    for token in &clause[cue + 1..] {
        let says_more = RELATIVE.contains(&token.folded.as_str()) && found.iter().any(names);
        if says_more || token.is_any(&[Term::Until, Term::Before, Term::Because, Term::Except, Term::If]) {
            break;
        }
        found.push(token);
    }
    if !found.iter().any(names) || clause[cue].is_any(&[Term::HandsOff, Term::Leave, Term::Still]) {
        found.extend(&clause[..cue]);
    }
    found
}

/// Whether a token means a thing that the tables of concepts and properties may know.
fn noun(token: &Token) -> bool {
    token.is_any(&[
        Term::Aspect,
        Term::Signature,
        Term::Public,
        Term::Comment,
        Term::Key,
        Term::Deploy,
        Term::Production,
        Term::Asset,
        Term::Code,
        Term::Format,
        Term::Query,
        Term::Data,
        Term::Badge,
    ])
}

/// Whether a word is a path of names with capitals, and no alternative ("iOS/Android").
fn is_capital_path(raw: &str) -> bool {
    let is_name = |part: &str| {
        part.len() > 2
            && part
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._-".contains(letter))
    };
    raw.trim_end_matches('/').split('/').count() > 1
        && raw.trim_end_matches('/').split('/').all(is_name)
        && raw.contains(char::is_uppercase)
}

/// Whether a word names a generation of an interface: `v1`.
fn is_generation(raw: &str) -> bool {
    let digits = raw.strip_prefix('v').unwrap_or_default();
    !digits.is_empty() && digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word has the form of a name in code.
fn is_identifier(raw: &str) -> bool {
    raw.len() > 3 && (raw.ends_with("()") || raw.contains('_') || has_hump(raw)) && !raw.contains(['/', '.'])
}

/// Meanings of things that a ban names, and that are recognized by their words.
const BANNED_NOUNS: &[Term] = &[Term::Snapshot, Term::Container, Term::Asset, Term::Badge];

fn is_number(raw: &str) -> bool {
    let raw = raw.trim_start_matches('v');
    raw.starts_with(|letter: char| letter.is_ascii_digit())
        && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

impl Named {
    fn of(rule: Rule, clause: &[Token], object: &[&Token], request: &Requested) -> Self {
        let requested = request.words.as_slice();
        let mut named = Self {
            rule,
            is_foreign: request.is_foreign,
            ..Self::default()
        };
        let has_action = clause.iter().any(Token::is_action);
        let negates_verb = ["not", "don't", "do", "never", "nicht", "ne", "niet", "nie"];
        let bans = |token: &&Token| token.is(Term::Not) && !negates_verb.contains(&token.folded.as_str());
        // "Skip the ones without an address"
        let leaves_out = clause.iter().any(|token| token.folded == "skip");
        named.bans = matches!(rule, Rule::Any | Rule::Add)
            && !has_action
            && !leaves_out
            && clause.iter().any(|token| bans(&token));
        named.is_switch = clause.iter().any(branches::is_switch);
        let mut has_verb = false;
        for (at, token) in object.iter().enumerate() {
            named.rest |= token.is_any(&[Term::Else, Term::Source]);
            if is_ip_address(&token.raw) {
                named.hosts.push(token.raw.clone());
                continue;
            }
            // "Don't touch the import": the second verb is a noun.
            let is_verb = token.is_action();
            let is_noun = token.term.is_none()
                || noun(token)
                || named.bans && token.is_any(BANNED_NOUNS)
                || is_verb && has_verb && rule == Rule::Keep;
            has_verb |= is_verb;
            let is_route = token.raw.starts_with('/');
            // "Classes/Online"
            let is_path = token.term.is_none() && !token.is_place() && is_capital_path(&token.raw);
            if is_path {
                named.areas.push(Area::Path(token.raw.clone()));
                named.places.push(token.raw.clone());
                continue;
            }
            if token.is_place() {
                named.places.push(token.raw.clone());
                // "release/7.x", "gl/"
                named
                    .branches
                    .extend(token.raw.contains('/').then(|| token.raw.clone()));
            }
            if !is_noun || token.is_place() && !is_route || PROGRAMS.contains(&token.folded.as_str()) {
                continue;
            }
            // "Don't touch v1"
            if is_generation(&token.raw) {
                named.areas.push(Area::Path(token.raw.clone()));
                continue;
            }
            if is_number(&token.raw) {
                named.numbers.push(token.raw.trim_start_matches('v').to_owned());
                continue;
            }
            if KEYWORDS.contains(&token.folded.as_str()) {
                continue;
            }
            if is_identifier(&token.raw)
                || token.is_quoted
                    && token
                        .raw
                        .chars()
                        .all(|letter| letter.is_alphanumeric() || letter == '_')
            {
                named
                    .identifiers
                    .push(token.raw.trim_end_matches("()").trim_end_matches("'s").to_owned());
            }
            if branches::is_named(object, at) {
                named.branches.push(token.folded.clone());
            }
            if token.raw.contains('.') && token.raw.contains('-') {
                named.hosts.push(token.raw.clone());
            }
            // A domain, or a call that is recognized as it is written.
            if token.raw.contains(['.', '(']) && !token.is_quoted {
                continue;
            }
            if token.is_quoted || token.raw.contains('_') {
                named.literals.push(token.raw.clone());
            }
            for word in words_of(&token.raw) {
                named.aspects.extend(aspects::named_by(&word));
                named.add(&word, token, requested);
            }
        }
        // "No renaming", "don't rename the classes": of files where it names some.
        if named.aspects.is_empty()
            && named.places.is_empty()
            && clause.iter().any(|token| token.is(Term::Rename))
            && rule == Rule::Keep
        {
            named.aspects.push(Aspect::Names);
        }
        let is_property = clause
            .iter()
            .any(|token| token.is_any(PROPERTIES) && !areas::is_styles(token))
            || !named.aspects.is_empty();
        let is_of_files = match rule {
            Rule::Keep | Rule::Except | Rule::Stay => true,
            // "Not the landing page", but not "no sleeps".
            Rule::Any => !has_action && !clause.iter().any(negates_verb_next),
            Rule::Add | Rule::Only => false,
        };
        let has = |terms: &[Term]| clause.iter().any(|token| token.is_any(terms));
        // "Everything except src/" and "outside src/" name what may change.
        let is_inverted = has(&[Term::Outside])
            || clause.iter().any(Token::is_nothing_but)
            || has(&[Term::Except])
                && (has(&[Term::All, Term::Nothing, Term::Else])
                    // "docs 以外は変更しない"
                    || has(&[Term::Not]) && clause.iter().any(|token| is_unspaced_text(&token.raw)));
        let is_permission = clause.iter().any(|token| NEEDED.contains(&token.folded.as_str()));
        // "No sidebar" is about what is made, and not about the files that have one.
        let generations = std::mem::take(&mut named.areas);
        if is_of_files && !named.bans && !is_inverted && !is_permission && !has(&[Term::Myself]) {
            let has_verb = has(&[Term::HandsOff, Term::Leave, Term::Still]);
            // "The other validators" are files although the request is about one of them.
            let known = if named.rest { &[] } else { requested };
            named.areas = areas::of(object, known, has_verb, request.is_foreign);
            if named.rest {
                named.areas.retain(|area| matches!(area, Area::Words(_)));
                named.spared = request.paths.clone();
                named.requested = request.words.clone();
            }
            // "Java stays 17" is about a version.
            if !named.numbers.is_empty() {
                named.areas.retain(|area| !matches!(area, Area::Words(_)));
            }
            // "The login API" is a part of the project, and "the API" a property of all.
            if is_property {
                named.areas.retain(Area::is_narrow);
            }
            named.areas.extend(generations);
        }
        // "No f-strings in log calls" is about the strings.
        let is_place_word = |token: &&&Token| token.is(Term::Filler) && IN.contains(&token.folded.as_str());
        let own = object
            .iter()
            .skip(1)
            .position(|token| named.bans && is_place_word(&token))
            .map_or(object.len(), |at| at + 1);
        let words: Vec<&str> = object[..own]
            .iter()
            .flat_map(|token| token.phrase.split(' '))
            .collect();
        named.kinds = kinds::named_by(&words);
        // "No function longer than 20 lines", "no JavaScript in the result".
        if has(&[Term::Line, Term::Most]) {
            named
                .kinds
                .retain(|kind| !matches!(kind, Kind::Class | Kind::Function));
        }
        let known: Vec<&str> = requested.iter().map(String::as_str).collect();
        let asked = kinds::named_by(&known);
        named
            .kinds
            .retain(|kind| kind.can_break(rule, named.bans) && (kind.is_value() || !asked.contains(kind)));
        if has(&[Term::Public]) {
            named
                .kinds
                .iter_mut()
                .filter(|kind| **kind == Kind::Macro)
                .for_each(|kind| *kind = Kind::PublicMacro);
        }
        let all: Vec<String> = clause.iter().flat_map(|token| words_of(&token.raw)).collect();
        named.labels = labels::kinds_of(&all);
        // "The signature of f stays"
        if rule == Rule::Keep
            && has(&[Term::Signature, Term::Public])
            && !named.aspects.contains(&Aspect::Interface)
        {
            named.aspects.push(Aspect::Interface);
        }
        named.platforms = platforms::named_by(&words);
        named.amounts = amounts::named_by(clause, "");
        // "The exit codes stay": their values, and neither the output nor the code.
        if named.kinds.iter().any(|kind| {
            kind.is_value()
                && !matches!(
                    kind,
                    Kind::Class | Kind::Function | Kind::Test | Kind::Key | Kind::Declaration
                )
        }) {
            named.areas.retain(|area| !area.is_of_kind());
            named
                .aspects
                .retain(|aspect| !matches!(aspect, Aspect::Format | Aspect::Names));
        }
        let is_stating = |token: &Token| token.is(Term::Leave) && STAYING.contains(&token.phrase.as_str());
        named.states = rule == Rule::Keep && !has(&[Term::Still]) && clause.iter().any(is_stating);
        named.pushes = has(&[Term::Push]) && !has(&[Term::Commit, Term::Change, Term::Merge]);
        named.is_existing = has(&[Term::Existing]);
        // "Don't change the names of exported functions"
        if has(&[Term::Public]) && named.aspects.contains(&Aspect::Names) {
            named.aspects = vec![Aspect::Interface];
        }
        if object.iter().any(|token| token.is(Term::Key)) {
            named.aspects.push(Aspect::Names);
        }
        // "The class names" are names.
        if named.aspects.contains(&Aspect::Names) {
            named
                .kinds
                .retain(|kind| !matches!(kind, Kind::Class | Kind::Function));
        }
        named.renames = rule == Rule::Keep && has(&[Term::Rename]) && !has(&[Term::Change]);
        named
    }

    /// Adds a word, with what the thing that it names is called elsewhere.
    fn add(&mut self, word: &str, token: &Token, requested: &[String]) {
        let is_requested = requested.iter().any(|known| is_same_word(known, word));
        if is_requested && !token.is_quoted && self.rule != Rule::Only {
            return;
        }
        let mut is_known = false;
        for concept in concepts::named_by(word) {
            is_known = true;
            let is_asked = |name: &&&str| requested.iter().any(|known| known == **name);
            if concept.words.iter().find(is_asked).is_none() {
                self.translated
                    .extend(concept.words.iter().map(|word| (*word).to_owned()));
            }
        }
        let is_name = token.term.is_none() || self.bans && token.is_any(BANNED_NOUNS);
        let is_plain = is_name && word.chars().count() >= MIN_NAME && !COMMON.contains(&word);
        if is_plain && self.is_foreign && !token.is_quoted {
            let stem = cognate(word).filter(|stem| !requested.iter().any(|known| is_cognate(known, stem)));
            self.translated.extend(stem.map(|stem| format!("{stem}*")));
        }
        if is_plain && !is_unspaced_text(word) || is_known && !COMMON.contains(&word) {
            self.words.push(word.to_owned());
        }
    }

    /// Adds the things that a text of a language without spaces names.
    fn add_unspaced(&mut self, text: &str, clause: &[Token], request: &Requested) {
        let requested = request.words.as_slice();
        let has = |terms: &[Term]| clause.iter().any(|token| token.is_any(terms));
        self.aspects.extend(aspects::named_in(text));
        self.labels.extend(labels::kinds_in(text));
        let keeps = matches!(self.rule, Rule::Keep | Rule::Stay)
            && has(&[
                Term::Change,
                Term::HandsOff,
                Term::Still,
                Term::Leave,
                Term::Remove,
            ])
            && !has(&[Term::Except, Term::Outside, Term::Else, Term::Only])
            && !has(PROPERTIES);
        if keeps && self.aspects.is_empty() && self.areas.is_empty() {
            self.areas = areas::in_unspaced(&fold(text), requested);
        }
        self.kinds.extend(kinds::named_in(&fold(text)));
        for concept in concepts::named_in(&fold(text)) {
            if !concept
                .words
                .iter()
                .any(|word| requested.iter().any(|known| known == word))
            {
                self.translated
                    .extend(concept.words.iter().map(|word| (*word).to_owned()));
            }
        }
    }

    /// Whether a sentence that requests something names it.
    pub(in crate::constraints) fn is_lifted_by(&self, sentence: &Sentence) -> bool {
        let words: Vec<&str> = self
            .words
            .iter()
            .chain(&self.translated)
            .map(String::as_str)
            .collect();
        sentence.requests(&words)
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.translated.is_empty()
            && self.aspects.is_empty()
            && self.numbers.is_empty()
            && self.places.is_empty()
            && self.hosts.is_empty()
            && self.branches.is_empty()
            && self.areas.is_empty()
            && self.kinds.is_empty()
            && self.platforms.is_empty()
            && self.amounts.is_empty()
            && !self.rest
    }
}

/// Whether a word is an address such as `10.0.0.5`, with or without a port.
fn is_ip_address(word: &str) -> bool {
    let host = word.split(':').next().unwrap_or(word);
    host.parse::<std::net::Ipv4Addr>().is_ok()
}
