//! The words of a constraint with their meanings, and its clauses.

use super::vocabulary::{Term, longest_spaced, longest_unspaced};
use crate::names::is_path;
use crate::phrases::{self, Noun, Verb};
use crate::words::{Word, phrase_at, words};

/// A word or phrase of a constraint.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// Its meaning; `None` for names and unknown words.
    pub(super) term: Option<Term>,
    /// As written.
    pub(super) raw: String,
    /// Folded.
    pub(super) folded: String,
    /// In backticks or quotation marks.
    pub(super) is_quoted: bool,
    /// A pause follows.
    pub(super) pauses: bool,
    /// It has several words, or belongs to a language without spaces.
    pub(super) is_phrase: bool,
}

impl Token {
    pub(super) fn is(&self, term: Term) -> bool {
        self.term == Some(term)
    }

    pub(super) fn is_any(&self, terms: &[Term]) -> bool {
        self.term.is_some_and(|term| terms.contains(&term))
    }

    /// Whether it is a path, a file name without an extension, or the ending of files.
    pub(super) fn is_place(&self) -> bool {
        self.term.is_none() && is_place(&self.raw)
    }
}

/// Whether a word is a path, a file name without an extension, or the ending of files.
pub(super) fn is_place(raw: &str) -> bool {
    let is_name = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(raw));
    !is_name(NO_FILES) && (is_path(raw) || is_name(FILE_NAMES) || is_branch_of_files(raw))
}

/// Names of files that have no extension.
#[rustfmt::skip]
const FILE_NAMES: &[&str] = &[
    "brewfile", "cmakelists.txt", "codeowners", "dockerfile", "gemfile", "gemfile.lock", "go.mod", "go.sum", "jenkinsfile", "justfile", "makefile", "pipfile", "podfile", "procfile",
    "rakefile", "vagrantfile",
];

/// A folder with a slash at its end, or below one: `bin/import`.
fn is_branch_of_files(raw: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._-*".contains(letter))
    };
    matches!(raw.split_once('/'), Some(("bin" | "ios" | "android" | "db" | "infra" | "deploy" | "charts" | "include" | "script", rest)) if rest.split('/').all(is_plain))
}

/// Letters that elided articles and pronouns leave: "l'api", "n'applique".
const ELIDED: &str = "cdjlmnstCDJLMNST";

/// Names with a dot that are no files.
const NO_FILES: &[&str] = &[
    "console.error",
    "console.log",
    "d3.js",
    "express.js",
    "next.js",
    "node.js",
    "nuxt.js",
    "three.js",
    "vue.js",
];

fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff66}'..='\u{ff9f}')
}

/// The text with spaces between scripts, after elided articles, and with ASCII punctuation.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut word = 0;
    for letter in text.chars() {
        let mark = match letter {
            '，' | '、' => ", ",
            '。' => ". ",
            '；' => "; ",
            '：' => ": ",
            '！' => "! ",
            '？' => "? ",
            '（' => " (",
            '）' => ") ",
            '「' | '『' | '“' | '”' | '」' | '』' => "\"",
            _ => "",
        };
        if !mark.is_empty() {
            spaced.push_str(mark);
            before = ' ';
            continue;
        }
        let changes_script = is_unspaced(letter) && before.is_ascii_alphanumeric()
            || letter.is_ascii_alphanumeric() && is_unspaced(before)
            || is_unspaced(before) && matches!(letter, '`' | '"' | '(')
            || is_unspaced(letter) && matches!(before, '/' | '`' | '"' | ')');
        if changes_script {
            spaced.push(' ');
        }
        // "n'applique", "l'api"
        word = if letter.is_alphabetic() { word + 1 } else { word };
        spaced.push(letter);
        if matches!(letter, '\'' | '’') && word == 1 && ELIDED.contains(before) {
            spaced.push(' ');
        }
        if !letter.is_alphabetic() {
            word = 0;
        }
        before = letter;
    }
    spaced
}

/// The words of a constraint with their meanings.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let text = spaced(text);
    let words = words(&text);
    let named = NamedByPhrase::of(&text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let is_quoted = word.before.ends_with(['`', '"', '\'', '«', '„'])
            && word.after.starts_with(['`', '"', '\'', '»', '“']);
        if word.raw.contains(is_unspaced) {
            segment(word, &mut found);
            at += 1;
            continue;
        }
        let is_name = is_quoted || is_path(word.raw);
        let first = word.folded.as_bytes().first();
        let (term, length) = match longest_spaced(|phrase| {
            (phrase.as_bytes().first() == first && !is_name)
                .then(|| phrase_at(&words, at, phrase))
                .flatten()
        }) {
            Some((term, length)) => (Some(term), length),
            None if is_name => (None, 1),
            None => named.at(word.start, &words[at..]),
        };
        let last = &words[at + length - 1];
        let is_flag = word.before.ends_with("--");
        let (term, raw) = match (is_flag, word.raw) {
            (true, raw) => (None, format!("--{raw}")),
            // Without its accent it is an English word.
            (false, "só" | "Só") => (Some(Term::Only), word.raw.to_owned()),
            (false, raw) => (term, raw.to_owned()),
        };
        found.push(Token {
            term,
            raw,
            is_phrase: length > 1,
            folded: word.folded.clone(),
            is_quoted,
            pauses: last.after.contains([',', ';', '—', '–', ')', '(', '.', '!', '?'])
                || words
                    .get(at + length)
                    .is_some_and(|next| next.before.contains('(')),
        });
        at += length;
    }
    found
}

/// Splits a word of a language without spaces. Unknown letters are dropped.
fn segment(word: &Word<'_>, found: &mut Vec<Token>) {
    let mut rest = word.folded.as_str();
    let known = found.len();
    while let Some(letter) = rest.chars().next() {
        let (term, length) =
            longest_unspaced(rest).map_or((None, letter.len_utf8()), |(term, length)| (Some(term), length));
        if term.is_some() {
            found.push(Token {
                term,
                raw: rest[..length].to_owned(),
                is_phrase: true,
                folded: rest[..length].to_owned(),
                is_quoted: false,
                pauses: false,
            });
        }
        rest = &rest[length..];
    }
    if found.len() == known {
        found.push(Token {
            term: Some(Term::Filler),
            raw: String::new(),
            is_phrase: false,
            folded: String::new(),
            is_quoted: false,
            pauses: false,
        });
    }
    if let Some(last) = found.last_mut() {
        last.pauses = word.after.contains([',', ';', '(', ')', '.', '!', '?']);
    }
}

/// The things and actions that the phrase tables find in a text.
struct NamedByPhrase(Vec<(usize, usize, Term)>);

impl NamedByPhrase {
    fn of(text: &str) -> Self {
        let verbs = phrases::verbs(text);
        let nouns = phrases::nouns(text);
        let verbs = verbs
            .iter()
            .map(|found| (found.start, found.end, of_verb(found.means)));
        let nouns = nouns
            .iter()
            .map(|found| (found.start, found.end, of_noun(found.means)));
        Self(verbs.chain(nouns).collect())
    }

    /// The meaning of the phrase that begins at a word, and its length in words.
    fn at(&self, start: usize, words: &[Word<'_>]) -> (Option<Term>, usize) {
        match self.0.iter().find(|(from, ..)| *from == start) {
            Some((_, end, term)) => {
                let length = words.iter().take_while(|word| word.end <= *end).count();
                (Some(*term), length.max(1))
            }
            None => (None, 1),
        }
    }
}

fn of_verb(verb: Verb) -> Term {
    match verb {
        Verb::Add | Verb::Create => Term::Add,
        Verb::Change | Verb::Refactor => Term::Change,
        Verb::Commit => Term::Commit,
        Verb::Delete => Term::Remove,
        Verb::Deploy => Term::Deploy,
        Verb::Format => Term::Format,
        Verb::Install => Term::Install,
        Verb::Merge => Term::Merge,
        Verb::Move | Verb::Rename => Term::Rename,
        Verb::Push => Term::Push,
        Verb::Run => Term::Run,
        Verb::Upgrade => Term::Upgrade,
        Verb::Use => Term::Use,
    }
}

fn of_noun(noun: Noun) -> Term {
    match noun {
        Noun::Anything => Term::All,
        Noun::Ci => Term::Pipeline,
        Noun::Code => Term::Code,
        Noun::Comment => Term::Comment,
        Noun::Commit => Term::Commit,
        Noun::Config => Term::Config,
        Noun::Database => Term::Data,
        Noun::Dependency => Term::Dependency,
        Noun::Deployment => Term::Production,
        Noun::Docs | Noun::Readme => Term::Docs,
        Noun::File | Noun::Folder => Term::File,
        Noun::Migration => Term::Migration,
        Noun::Push => Term::Push,
        Noun::Schema => Term::Schema,
        Noun::Signature => Term::Signature,
        Noun::Snapshot => Term::Snapshot,
        Noun::Style => Term::Format,
        Noun::Test => Term::Tests,
    }
}

/// Meanings that open a limit.
const CUES: &[Term] = &[
    Term::Not,
    Term::Nothing,
    Term::Only,
    Term::Except,
    Term::Leave,
    Term::Keep,
    Term::HandsOff,
    Term::Ask,
    Term::Most,
];

/// Meanings that can continue a list of objects.
fn continues(token: &Token) -> bool {
    token.term != Some(Term::Filler) && token.is_place()
        || token.term.is_some_and(|term| {
            !CUES.contains(&term)
                && !matches!(
                    term,
                    Term::Permit | Term::Myself | Term::Still | Term::If | Term::Before
                )
        })
        || token.is_quoted
}

/// The clauses of a constraint. A clause that merely continues a list belongs to the one before it.
pub(super) fn clauses(tokens: Vec<Token>) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = Vec::new();
    let mut clause: Vec<Token> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let ends = token.pauses;
        clause.push(token);
        let opens = |next: &Token| {
            next.is_any(CUES) && !next.is(Term::Not)
                || next.is(Term::Not)
                    && !matches!(
                        next.folded.as_str(),
                        "nor" | "ni" | "nem" | "ani" | "noch" | "nici"
                    )
        };
        let splits = clause.last().is_some_and(|token| token.is(Term::And))
            && clause.len() > 1
            && tokens.peek().is_some_and(opens);
        if ends || splits || tokens.peek().is_none() {
            let whole = std::mem::take(&mut clause);
            match found.last_mut() {
                Some(before)
                    if before.iter().any(|token| token.is_any(CUES)) && whole.iter().all(continues) =>
                {
                    before.extend(whole);
                }
                _ => found.push(whole),
            }
        }
    }
    found
}
