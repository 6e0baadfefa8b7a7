//! The words of a constraint with their meanings, and its clauses.

mod repair;

use super::vocabulary::{Term, longest_spaced, longest_unspaced};
use crate::names::is_path;
use crate::phrases::{self, Languages, Noun, Verb};
use crate::review_first::review_first;
use crate::words::{Word, phrase_at, words};
use repair::{action_pair, file_pair, pauses_after, plain_token};

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
    /// The first word in backticks, and the last.
    pub(super) opens: bool,
    pub(super) closes: bool,
    /// A pause follows.
    pub(super) pauses: bool,
    /// All its words, folded.
    pub(super) phrase: String,
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

    /// "Nothing but", "nic poza": what follows is all that may change.
    pub(super) fn is_nothing_but(&self) -> bool {
        const FIRST: &[&str] = &[
            "nic ", "nichts ", "niente ", "niets ", "nigdzie ", "nimic ", "nada ", "nothing ", "rien ",
        ];
        self.is(Term::Only) && FIRST.iter().any(|word| self.phrase.starts_with(word))
    }

    /// Whether it means an action.
    pub(super) fn is_action(&self) -> bool {
        self.is_any(ACTIONS)
    }

    /// What it means or says, to compare it with others.
    pub(super) fn key(&self) -> String {
        match self.term {
            Some(term) => format!("{term:?}"),
            None => self.folded.trim_end_matches(['/', 's']).to_owned(),
        }
    }

    /// Whether it is a path, a file name without an extension, or the ending of files.
    pub(super) fn is_place(&self) -> bool {
        self.term.is_none() && is_place(&self.raw)
    }
}

/// Whether a word is a path, a file name without an extension, or the ending of files.
pub(super) fn is_place(raw: &str) -> bool {
    let is_name = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(raw));
    let is_ending = |ending: &str| is_path(&format!("a.{ending}")) || ENDINGS.contains(&ending);
    !is_name(NO_FILES)
        && (raw.strip_prefix('.').is_some_and(is_ending)
            || has_folders(raw)
            || is_path(raw)
            || is_name(FILE_NAMES)
            || CAPITALS.contains(&raw)
            || is_branch_of_files(raw)
            || has_known_ending(raw))
}

/// Words with slashes between them that are a path: "data/raw", and not "and/or".
fn has_folders(raw: &str) -> bool {
    let is_plain = |part: &str| {
        part.len() >= 2
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-*".contains(&byte))
    };
    raw.contains('/') && raw.trim_end_matches('/').split('/').all(is_plain) && !PAIRS.contains(&raw)
}

/// Pairs of words with a slash between them.
#[rustfmt::skip]
const PAIRS: &[&str] = &[
    "and/or", "async/await", "client/server", "dark/light", "either/or", "hit/miss", "input/output", "light/dark", "on/off", "read/write", "request/response", "start/stop", "true/false", "try/catch", "yes/no",
];

/// Endings of files that prompts name seldom, besides those of [`is_path`].
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "adoc", "anim", "arb", "asm", "asset", "astro", "avsc", "bas", "bat", "bib", "cbl", "clj", "cljs", "cmake", "cob", "controller", "cpy", "cshtml", "cu", "d.ts", "edn", "ejs", "elm", "erb", "f", "f90", "fish",
    "frag", "fs", "fsx", "geo", "glsl", "gql", "groovy", "gs", "haml", "hbs", "hcl", "hlsl", "ino", "j2", "jcl", "jsp", "kts", "ld", "m", "mat", "meta", "metal", "mk", "mm", "mo", "pas", "pbxproj", "plist", "po",
    "pot", "prefab", "prisma", "properties", "pug", "qml", "razor", "resx", "rmd", "s", "scm", "sol", "st", "storyboard", "strings", "sv", "tex", "tfvars", "tmx", "tpl", "twig", "unity", "v", "vb", "vert", "vhd",
    "vim", "wgsl", "wxml", "wxss", "xcassets", "xib", "xlf", "xliff", "xlsx",
];

fn has_known_ending(raw: &str) -> bool {
    let name = raw.rsplit('/').next().unwrap_or(raw);
    let is_plain = name
        .chars()
        .all(|letter| letter.is_alphanumeric() || "._-*".contains(letter));
    is_plain
        && name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
        })
}

/// Whether a place can only be a path, and no words with slashes between them: "light/dark/system".
pub(super) fn is_certain_path(raw: &str) -> bool {
    let name = raw.rsplit('/').next().unwrap_or(raw);
    let first = raw.split('/').next().unwrap_or(raw);
    name.is_empty()
        || name.contains(['.', '*'])
        || raw.starts_with(['.', '~', '/'])
        || !raw.contains('/')
        // The first folder is a usual one.
        || is_path(&format!("{first}/x"))
        || is_branch_of_files(raw)
}

/// Names of files that have no extension.
#[rustfmt::skip]
const FILE_NAMES: &[&str] = &[
    "brewfile", "cmakelists.txt", "codeowners", "dockerfile", "gemfile", "gemfile.lock", "go.mod", "go.sum", "jenkinsfile", "justfile", "makefile", "pipfile", "podfile", "procfile",
    "rakefile", "vagrantfile",
];

/// Names of files that are written in capitals.
const CAPITALS: &[&str] = &[
    "AUTHORS",
    "CONTRIBUTING",
    "COPYING",
    "LICENCE",
    "LICENSE",
    "NOTICE",
    "VERSION",
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

pub(crate) fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff66}'..='\u{ff9f}')
}

/// The text with spaces between scripts, after elided articles, and with ASCII punctuation.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut word = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        // "src\\core\\a.cs", and not "My\\ Notes"
        let letter = if letter == '\\' && before.is_ascii_alphanumeric() && letters.peek() != Some(&' ') {
            '/'
        } else {
            letter
        };
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
pub(super) fn tokens(text: &str, prompt: Languages) -> Vec<Token> {
    let text = spaced(text);
    let words = words(&text);
    // A short text tells less of its language than its prompt.
    let languages = Languages::of(&words).of_part(prompt);
    let named = NamedByPhrase::of(&text);
    let mut found = Vec::new();
    let mut at = 0;
    // The last word of what waits until the user has seen something.
    let mut waiting = 0;
    while let Some(word) = words.get(at) {
        if let Some(review) = review_first(&words, at) {
            found.push(plain_token("ask", Some(Term::Ask)));
            found.push(plain_token("before", Some(Term::Before)));
            at = review.action;
            waiting = review.last;
            continue;
        }
        // "Before anything gets committed"
        if at < waiting && word.is_any(&["get", "gets", "is", "are", "wird", "werden"]) {
            at += 1;
            continue;
        }
        let is_quoted = word.before.ends_with(['`', '"', '\'', '«', '„'])
            && word.after.starts_with(['`', '"', '\'', '»', '“']);
        if word.raw.contains(is_unspaced) {
            segment(word, &mut found);
            at += 1;
            continue;
        }
        let is_name = is_quoted || is_path(word.raw);
        let known = if is_name || CAPITALS.contains(&word.raw) {
            None
        } else {
            longest_spaced(&word.folded, languages, |phrase| phrase_at(&words, at, phrase))
        };
        let (term, length) = match known {
            Some((term, length)) => (Some(term), length),
            None if is_name => (None, 1),
            None if let Some(term) = compound(&word.folded, languages) => (Some(term), 1),
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
        // "Commit/push"
        if term.is_none()
            && length == 1
            && !is_quoted
            && let Some(pair) = action_pair(&raw, languages)
        {
            found.extend(pair.map(|(part, term)| plain_token(part, Some(term))));
            if let Some(last) = found.last_mut() {
                last.pauses = pauses_after(word);
            }
            at += 1;
            continue;
        }
        if term.is_none()
            && length == 1
            && !is_quoted
            && let Some((first, second)) = file_pair(&raw)
        {
            found.extend([first, second].map(|name| plain_token(name, None)));
            if let Some(last) = found.last_mut() {
                last.pauses = pauses_after(word);
            }
            at += 1;
            continue;
        }
        found.push(Token {
            term,
            raw,
            is_phrase: length > 1,
            phrase: words[at..at + length]
                .iter()
                .map(|word| word.folded.as_str())
                .collect::<Vec<_>>()
                .join(" "),
            folded: word.folded.clone(),
            is_quoted,
            opens: word.before.ends_with('`'),
            closes: last.after.starts_with('`'),
            pauses: last.after.contains([',', ';', '—', '–', ')', '(', '.', '!', '?'])
                || words
                    .get(at + length)
                    .is_some_and(|next| next.before.contains('(')),
        });
        at += length;
    }
    // "Don't disable or skip tests": the second negation is a verb.
    let mut is_negated = false;
    for token in &mut found {
        let skips = token.is(Term::Not) && matches!(token.folded.as_str(), "skip" | "stop" | "avoid");
        if skips && is_negated {
            token.term = None;
        }
        is_negated = (is_negated || token.is(Term::Not)) && !token.pauses;
    }
    repair::repair(&mut found);
    // "The package internal/parser" is a folder.
    for at in 1..found.len() {
        if found[at - 1].is(Term::Dependency) && !found[at - 1].pauses && found[at].is_place() {
            found[at - 1].term = Some(Term::File);
        }
    }
    found
}

/// The meaning of a compound by its last part: "npm-Pakete", "db-schema".
fn compound(word: &str, languages: Languages) -> Option<Term> {
    let (_, last) = word.rsplit_once('-')?;
    let (term, _) = longest_spaced(last, languages, |phrase| (phrase == last).then_some(1))?;
    matches!(
        term,
        Term::Dependency | Term::Schema | Term::Migration | Term::Tests
    )
    .then_some(term)
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
                phrase: rest[..length].to_owned(),
                is_quoted: false,
                opens: false,
                closes: false,
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
            phrase: String::new(),
            is_quoted: false,
            opens: false,
            closes: false,
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

/// "Nor".
const NOR: &[&str] = &["nor", "ni", "nem", "ani", "noch", "nici"];

/// Negations of nouns, which follow the negation of a verb.
#[rustfmt::skip]
const NONE: &[&str] = &[
    "aucun", "aucune", "nenhum", "nenhuma", "nessun", "nessuna", "niciun", "nicio", "ningun", "ninguna", "ninguno", "zaden", "zadnego", "zadnej", "zadnych", "zadna",
];

/// Meanings of actions.
#[rustfmt::skip]
const ACTIONS: &[Term] = &[
    Term::Change, Term::Remove, Term::Rename, Term::Add, Term::Install, Term::Upgrade, Term::Use, Term::Run, Term::Format, Term::Commit, Term::Push, Term::Merge, Term::Rebase,
    Term::Stash, Term::Switch, Term::Deploy, Term::Apply, Term::Destroy,
];

/// Meanings that are no objects.
#[rustfmt::skip]
const NO_OBJECTS: &[Term] = &[
    Term::Permit, Term::Myself, Term::Still, Term::If, Term::Before, Term::Look, Term::Because,
];

/// Whether a clause merely continues the list of the clause before it: of objects, or of actions.
fn continues(clause: &[Token]) -> bool {
    let is_joint = |token: &Token| token.is_any(&[Term::And, Term::Filler, Term::Until]);
    let is_object = |token: &Token| {
        token.is_place()
            || token.is_quoted
            || token.folded == "new"
            || token.term.is_some_and(|term| {
                !CUES.contains(&term) && !ACTIONS.contains(&term) && !NO_OBJECTS.contains(&term)
            })
    };
    let all = |test: &dyn Fn(&Token) -> bool| clause.iter().all(|token| is_joint(token) || test(token));
    all(&is_object) || all(&|token| token.is_any(ACTIONS))
}

/// "…, nor the charts in deploy/": without a verb of its own.
fn is_nor(clause: &[Token]) -> bool {
    clause
        .first()
        .is_some_and(|first| first.is(Term::Not) && NOR.contains(&first.folded.as_str()))
        && !clause.iter().any(Token::is_action)
        && !clause.iter().skip(1).any(|token| token.is_any(CUES))
}

/// The last items of a list: "b.ts and the header" after "don't touch a.ts,", "or push anything" after "don't commit,".
fn is_rest(clause: &[Token]) -> bool {
    let states = |token: &Token| token.is_any(CUES) || token.is_any(NO_OBJECTS) && !token.is(Term::Still);
    let first = clause.iter().find(|token| !token.is(Term::Filler));
    let lists = clause.first().is_some_and(Token::is_place)
        && clause
            .iter()
            .any(|token| token.is(Term::And) && !BUT.contains(&token.folded.as_str()))
        && !clause.iter().any(Token::is_action);
    let goes_on = first.is_some_and(|first| first.is(Term::And) && OR.contains(&first.folded.as_str()))
        && clause
            .iter()
            .filter(|token| !token.is_any(&[Term::Filler, Term::And]))
            .take(1)
            .any(Token::is_action);
    (lists || goes_on) && !clause.iter().any(states)
}

/// "Or", after which a negation goes on.
const OR: &[&str] = &["or", "oder", "ou", "o", "of", "lub", "albo", "sau", "u"];

/// Conjunctions that end a list.
pub(super) const BUT: &[&str] = &[
    "but", "aber", "mais", "pero", "ma", "mas", "dar", "insa", "ale", "maar", "但",
];

/// The permission that is denied: "du darfst a.ts nicht anfassen", "no puedes tocar a.ts".
pub(super) fn denies_permission(clause: &[Token]) -> bool {
    let modal =
        |token: &Token| token.is(Term::Permit) && MODAL.iter().any(|word| token.phrase.contains(word));
    let Some(at) = clause.iter().position(modal) else {
        return false;
    };
    let follows = NEGATED_AFTER.iter().any(|word| clause[at].phrase.contains(word));
    let after = || {
        clause[at + 1..]
            .iter()
            .any(|token| token.is_any(&[Term::Not, Term::HandsOff]))
    };
    at > 0 && clause[at - 1].is(Term::Not) || follows && after()
}

/// Permissions that a negation turns into prohibitions.
#[rustfmt::skip]
const MODAL: &[&str] = &["darfst", "kannst", "je mag", "mag je", "tu peux", "vous pouvez", "puedes", "puoi", "pode", "poti", "ai voie", "mozesz", "可以"];

/// Those of them that have their negation after them.
const NEGATED_AFTER: &[&str] = &["darfst", "kannst", "je mag", "mag je", "tu peux", "vous pouvez"];

/// The clauses of a constraint. A clause that merely continues a list belongs to the one before it.
pub(super) fn clauses(tokens: Vec<Token>) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = Vec::new();
    let mut clause: Vec<Token> = Vec::new();
    let mut is_reason = false;
    let mut tokens = tokens;
    // "Don't use frameworks nor touch a.js": a second verb has a clause of its own.
    for at in 1..tokens.len().saturating_sub(1) {
        let goes_on = NOR.contains(&tokens[at].folded.as_str())
            && tokens[at].is(Term::Not)
            && tokens[at + 1].is_action();
        tokens[at - 1].pauses |= goes_on;
    }
    let mut tokens = tokens.into_iter().peekable();
    while let Some(mut token) = tokens.next() {
        let ends = token.pauses;
        // "Anything but a.rs"
        if token.folded == "but" && clause.last().is_some_and(|before| before.is(Term::All)) {
            token.term = Some(Term::Except);
        }
        // What follows "because" is a reason, and says nothing about what is forbidden.
        is_reason |= token.is(Term::Because) && clause.iter().any(|token| token.is_any(CUES));
        // "Não altere nenhum arquivo": the second negation means all.
        if NONE.contains(&token.folded.as_str()) && clause.iter().any(|before| before.is(Term::Not)) {
            token.term = Some(Term::All);
        }
        if !is_reason && !token.is(Term::Because) {
            clause.push(token);
        }
        let opens = |next: &Token| {
            next.is_any(CUES) && !next.is(Term::Not)
                || next.is(Term::Not)
                    && !matches!(
                        next.folded.as_str(),
                        "nor" | "ni" | "nem" | "ani" | "noch" | "nici"
                    )
        };
        let splits = clause
            .last()
            .is_some_and(|token| token.is(Term::And) && token.folded != "も")
            && clause.len() > 1
            && tokens.peek().is_some_and(opens);
        if !(ends || splits || tokens.peek().is_none()) {
            continue;
        }
        is_reason = false;
        let whole = std::mem::take(&mut clause);
        match found.last_mut() {
            _ if whole.is_empty() => {}
            Some(before)
                if before.iter().any(|token| token.is_any(CUES))
                    && (continues(&whole) || is_nor(&whole) || is_rest(&whole)) =>
            {
                before.extend(whole);
            }
            // "The tests, CI and package.json stay as they are"
            Some(before) if lists_only(before) && says_of_objects(&whole) => before.extend(whole),
            _ => found.push(whole),
        }
    }
    join_actions(&mut found);
    found
}

/// "Don't reformat, rename things, or edit a.ts": what is negated goes on to the "or".
fn join_actions(clauses: &mut Vec<Vec<Token>>) {
    let acts = |clause: &[Token]| {
        let first = clause
            .iter()
            .find(|token| !token.is_any(&[Term::Filler, Term::And]));
        first.is_some_and(Token::is_action)
            && !clause
                .iter()
                .any(|token| token.is_any(CUES) || token.is_any(NO_OBJECTS))
    };
    let is_or = |clause: &[Token]| {
        clause
            .first()
            .is_some_and(|first| first.is(Term::And) && OR.contains(&first.folded.as_str()))
    };
    let Some(last) = clauses.iter().rposition(|clause| is_or(clause) && acts(clause)) else {
        return;
    };
    let listed = clauses[..last]
        .iter()
        .rev()
        .take_while(|clause| acts(clause))
        .count();
    let Some(first) = (last - listed).checked_sub(1).filter(|_| listed > 0) else {
        return;
    };
    if clauses[first].iter().any(|token| token.is(Term::Not)) {
        let joined: Vec<Token> = clauses.drain(first + 1..=last).flatten().collect();
        clauses[first].extend(joined);
    }
}

/// Whether a clause is nothing but the first items of a list.
fn lists_only(clause: &[Token]) -> bool {
    !clause.iter().any(|token| token.is_any(CUES))
        && !clause.iter().any(Token::is_action)
        && continues(clause)
}

/// Whether a clause begins with an object, and then says that it stays.
fn says_of_objects(clause: &[Token]) -> bool {
    let first = clause
        .iter()
        .find(|token| !token.is_any(&[Term::Filler, Term::And]));
    let cue = clause.iter().position(|token| token.is_any(CUES));
    let is_object = first.is_some_and(|first| {
        first.is_place()
            || first
                .term
                .is_some_and(|term| super::limit::kind_of(term).is_some())
    });
    is_object
        && cue.is_some_and(|cue| {
            clause[cue].is_any(&[Term::HandsOff, Term::Leave, Term::Keep])
                || clause[cue].is(Term::Not) && !clause[cue].raw.is_ascii()
        })
}
