//! What the prompt of a constraint tells about it.

use super::ForbiddenCommand;
use crate::constraints::clause::{BUT, Token, clauses, is_certain_path, is_place, tokens};
use crate::constraints::request::requests_change;
use crate::constraints::vocabulary::Term;
use crate::names::{named, paths};
use crate::phrases::Languages;
use crate::words::{fold, words};
use grov_domain::both_ends;

/// The bytes at each end of a prompt that are read.
const END: usize = 2 * 1024;

/// The bytes before and after a constraint that are read with it.
const NEAR: usize = 200;

/// What the other words of the user tell about a constraint.
#[derive(Clone, Debug)]
pub(in crate::constraints) struct Context {
    /// The paths that the constraint's own prompt names outside it.
    pub(in crate::constraints) paths: Vec<String>,
    /// The identifiers that it names.
    pub(in crate::constraints) identifiers: Vec<String>,
    /// The words before it in its sentence.
    pub(in crate::constraints) before: String,
    /// The words before and after it.
    pub(in crate::constraints) around: String,
    /// The words directly after it.
    pub(in crate::constraints) after: String,
    /// The words of the constraint that have no meaning here.
    pub(in crate::constraints) names: Vec<String>,
    /// Its likely languages.
    pub(in crate::constraints) languages: Languages,
    /// The first part of its object, of which a mark within a name separated it: "a.json and" before "b.lock stay".
    pub(in crate::constraints) lead: Vec<Token>,
    /// The exception directly after it: "but the README".
    pub(in crate::constraints) exception: Vec<Token>,
    /// A condition follows the constraint.
    pub(in crate::constraints) is_conditional: bool,
    /// Its other sentences request a change.
    pub(in crate::constraints) requests_change: bool,
    /// Its other words name work on files, in another language than English.
    pub(in crate::constraints) names_work: bool,
    /// The words before the constraint request something: "translate all pages" before "except the landing page".
    pub(in crate::constraints) requests_before: bool,
    /// Its other words name "apply" as a command.
    pub(in crate::constraints) names_apply: bool,
    /// It is about infrastructure.
    pub(in crate::constraints) is_infrastructure: bool,
    /// Its other words name a script.
    pub(in crate::constraints) tells_script: bool,
    /// The other words that may name one.
    pub(in crate::constraints) script_words: Vec<String>,
    /// The commands by which what it asks for is run.
    pub(in crate::constraints) told: Option<ForbiddenCommand>,
}

impl Default for Context {
    fn default() -> Self {
        Self::of("", "", "", &[])
    }
}

impl Context {
    /// Reads the prompt that contains a constraint, and the one before it.
    pub(in crate::constraints) fn of(prompt: &str, earlier: &str, constraint: &str, said: &[Token]) -> Self {
        let other = both_ends(prompt, END, "\n").replace(constraint, " ");
        let mut names = Vec::new();
        named(&other, &mut names);
        let files = paths(&other);
        names.retain(|name| !files.contains(name));
        let words = words(&other);
        let languages = Languages::of(&words);
        let loose = words
            .iter()
            .filter(|word| is_place(word.raw) && is_certain_path(word.raw))
            .map(|word| word.raw.to_owned());
        let mut all = files;
        all.extend(loose);
        all.dedup();
        let lower = fold(&other);
        let earlier = fold(&both_ends(earlier, END, "\n"));
        let (before, after) = prompt.split_once(constraint).unwrap_or_default();
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(NEAR))..];
        let after = &after[..after.floor_char_boundary(NEAR)];
        let sentence = before
            .rfind(['\n', '!', '?', '。', '！', '？'])
            .max(before.rfind(". "))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let told = [
            ("rake", ForbiddenCommand::Task),
            ("task", ForbiddenCommand::Task),
            ("migra", ForbiddenCommand::Migrate),
            ("迁移", ForbiddenCommand::Migrate),
            ("マイグレーション", ForbiddenCommand::Migrate),
            ("sql", ForbiddenCommand::DatabaseWrite),
            ("query", ForbiddenCommand::DatabaseWrite),
        ];
        Self {
            exception: exception(after, languages),
            languages,
            paths: all,
            identifiers: names,
            names: said
                .iter()
                .filter(|token| token.term.is_none())
                .map(|token| token.raw.clone())
                .collect(),
            is_conditional: {
                let rest = after.trim_start_matches([' ', '.', ',', '!', ';']);
                let first = |bytes: usize| {
                    tokens(&rest[..rest.floor_char_boundary(bytes)], languages)
                        .into_iter()
                        .next()
                };
                // "Unless I say so" waits for the user.
                if rest.starts_with("unless") {
                    first(40).is_some_and(|token| !token.is(Term::Until))
                } else {
                    // "Don't touch x; if something there is broken, tell me" is no condition of the limit.
                    let ends = after.trim_start().starts_with(['.', '!', ';']);
                    !ends && !tells(rest) && first(12).is_some_and(|token| token.is(Term::If))
                }
            },
            lead: lead(&before[sentence..], languages),
            before: before[sentence..].to_owned(),
            around: format!("{before}; {after}"),
            after: after.lines().next().unwrap_or_default().to_owned(),
            requests_change: requests_change(&other),
            names_work: !languages.may_be_english() && names_work(&other, languages),
            requests_before: requests(&before[sentence..]),
            tells_script: words
                .iter()
                .any(|word| SCRIPTS.iter().any(|stem| word.folded.starts_with(stem))),
            script_words: {
                const LETTERS: usize = 6;
                let long = words.iter().filter(|word| {
                    word.folded.chars().count() >= LETTERS && !word.folded.starts_with("script")
                });
                long.map(|word| word.folded.clone()).collect()
            },
            names_apply: words.iter().any(|word| word.folded == "apply"),
            is_infrastructure: INFRASTRUCTURE.iter().any(|word| lower.contains(word)),
            told: told
                .into_iter()
                .find(|(word, _)| lower.contains(word) || earlier.contains(word))
                .map(|(_, command)| command),
        }
    }
}

/// Whether the first sentence of a text asks to be told something.
fn tells(text: &str) -> bool {
    let end = text.find(['.', ';', '!', '?', '\n']).unwrap_or(text.len());
    let folded = fold(&text[..end]);
    TELLING.iter().any(|phrase| folded.contains(phrase))
}

/// "Tell me", folded.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "tell me", "let me know", "ask me", "ping me", "report it", "report back", "say so", "note it", "sag mir", "sag bescheid", "sag's mir", "melde", "frag mich", "gib bescheid", "dis-le", "dis-moi", "dis le moi", "previens",
    "avisame", "dimelo", "dime", "dimmi", "avvisami", "fammi sapere", "me avisa", "me avise", "me fala", "me diga", "powiedz", "daj znac", "zapytaj", "zeg het", "laat het", "vertel", "spune-mi", "anunta-ma", "zi-mi", "告诉我", "跟我说", "教えて", "知らせて",
];

/// Whether a text names a change of files without forbidding it.
fn names_work(text: &str, languages: Languages) -> bool {
    let is_work =
        |token: &Token| token.is_any(&[Term::Change, Term::Add, Term::Remove, Term::Rename, Term::Upgrade]);
    let forbids = |token: &Token| token.is_any(&[Term::Not, Term::Nothing, Term::Only, Term::HandsOff]);
    let clauses = clauses(tokens(text, languages));
    clauses
        .iter()
        .any(|clause| clause.iter().any(is_work) && !clause.iter().any(forbids))
}

/// Whether a text requests an action, and does not say how things are: "all pass" before "except the login test".
fn requests(text: &str) -> bool {
    const STATES: &[&str] = &[
        "are",
        "fail",
        "fails",
        "is",
        "pass",
        "passes",
        "run",
        "runs",
        "seem",
        "seems",
        "was",
        "were",
        "work",
        "works",
        "funciona",
        "funktioniert",
        "marche",
        "funziona",
        "dziala",
        "werkt",
        "merge",
    ];
    let words = words(text);
    !words.is_empty() && !words.iter().any(|word| word.is_any(STATES))
}

/// The last clause of a text that ends with "and".
fn lead(text: &str, languages: Languages) -> Vec<Token> {
    let words = tokens(text, languages);
    if !words
        .last()
        .is_some_and(|last| last.is(Term::And) && !last.pauses && !BUT.contains(&last.folded.as_str()))
    {
        return Vec::new();
    }
    let from = words
        .iter()
        .rposition(|token| token.pauses)
        .map_or(0, |at| at + 1);
    // "Fix a.ts and b.ts stays as it is"
    if words[from..].iter().any(Token::is_action) {
        return Vec::new();
    }
    words[from..].to_vec()
}

/// The words of an exception that a text begins with, up to the end of its sentence.
fn exception(text: &str, languages: Languages) -> Vec<Token> {
    if !text.starts_with(' ') {
        return Vec::new();
    }
    let end = text
        .find(['\n', '.', ';', '!', '?'])
        .filter(|end| !text[end + 1..].starts_with(char::is_alphanumeric));
    let mut words = tokens(&text[..end.unwrap_or(text.len())], languages);
    match words.first_mut() {
        Some(first) if first.is(Term::Except) || first.folded == "but" => first.term = Some(Term::Except),
        _ => return Vec::new(),
    }
    words
}

/// Stems of words for a program that is run.
const SCRIPTS: &[&str] = &["script", "skript", "skrypt", "playbook", "notebook"];

/// Words of prompts about infrastructure.
const INFRASTRUCTURE: &[&str] = &[
    "terraform",
    "tofu",
    "helm",
    "kubectl",
    "pulumi",
    "state",
    "cluster",
    "k8s",
    "infra",
    "staging",
    "replica",
    "cloudfront",
    "vpc",
    "rds",
];
