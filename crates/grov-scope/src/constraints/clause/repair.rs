//! Words that mean something else beside others: names of folders, mistyped verbs, pairs, changes that are kept within a place.

use super::{ACTIONS, Token};
use crate::constraints::vocabulary::{Term, longest_spaced};
use crate::names::is_path;
use crate::phrases::Languages;
use crate::words::{Word, fold};

/// Gives words the meaning that they have beside others.
pub(super) fn repair(found: &mut Vec<Token>) {
    // "No git commits"
    for at in 1..found.len() {
        let is_command =
            found[at].is_any(&[Term::Commit, Term::Push, Term::Merge, Term::Rebase, Term::Stash]);
        if is_command && found[at - 1].folded == "git" && found[at - 1].term.is_none() {
            found[at - 1].term = Some(Term::Filler);
        }
    }
    for at in 0..found.len() {
        // "CI" is a pronoun of some languages.
        if found[at].raw == "CI" || found[at].raw.starts_with("CI-") {
            found[at].term = Some(Term::Pipeline);
        }
        // "Preserve a.ts exactly"
        let is_last = found[at].pauses || at + 1 == found.len();
        if at > 0 && found[at].folded == "exactly" && is_last && found[at - 1].is_place() {
            found[at].term = Some(Term::Still);
        }
    }
    name_folders(found);
    correct_verbs(found);
    confine_changes(found);
    // "Weder a noch b"
    let mut is_neither = false;
    for token in found {
        is_neither |= token.folded == "weder";
        if is_neither && token.folded == "noch" && token.term != Some(Term::Not) {
            token.term = Some(Term::And);
        }
    }
}

/// A token of one word.
pub(super) fn plain_token(raw: &str, term: Option<Term>) -> Token {
    Token {
        term,
        raw: raw.to_owned(),
        folded: fold(raw),
        is_quoted: false,
        opens: false,
        closes: false,
        pauses: false,
        phrase: fold(raw),
        is_phrase: false,
    }
}

/// Whether a pause follows a word.
pub(super) fn pauses_after(word: &Word<'_>) -> bool {
    word.after.contains([',', ';', '—', '–', ')', '(', '.', '!', '?'])
}

/// Two actions with a slash between them: "commit/push".
pub(super) fn action_pair(raw: &str, languages: Languages) -> Option<[(&str, Term); 3]> {
    let (first, second) = raw.split_once('/')?;
    let action = |part: &str| {
        let folded = fold(part);
        let (term, _) = longest_spaced(&folded, languages, |phrase| (phrase == folded).then_some(1))?;
        ACTIONS.contains(&term).then_some(term)
    };
    Some([
        (first, action(first)?),
        ("/", Term::And),
        (second, action(second)?),
    ])
}

/// Two files with a slash between them: "lexer.go/ast.go".
pub(super) fn file_pair(raw: &str) -> Option<(&str, &str)> {
    let (first, second) = raw.split_once('/')?;
    let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    let is_pair = !second.contains('/')
        && !first.contains('*')
        && is_path(first)
        && !first.starts_with('.')
        && is_path(second)
        && (ending(first) == ending(second) || first.split('.').next() == second.split('.').next());
    is_pair.then_some((first, second))
}

/// "The public folder", "der Ordner public": a word that means something else elsewhere names a folder.
fn name_folders(tokens: &mut [Token]) {
    let is_folder = |token: &Token| token.is(Term::File) && FOLDERS.contains(&token.folded.as_str());
    let is_name = |token: &Token| {
        !token.is_phrase
            && token.raw.len() >= 2
            && token
                .raw
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_')
            && token.is_any(FOLDER_NAMES)
    };
    for at in 0..tokens.len() {
        let named = if at > 0 && is_folder(&tokens[at]) && !tokens[at - 1].pauses && is_name(&tokens[at - 1])
        {
            at - 1
        } else if is_folder(&tokens[at])
            && !tokens[at].pauses
            && tokens[at].folded != "folder"
            && tokens.get(at + 1).is_some_and(is_name)
        {
            at + 1
        } else {
            continue;
        };
        let token = &mut tokens[named];
        token.term = None;
        token.raw.push('/');
        token.folded.push('/');
    }
}

/// Words for a folder.
#[rustfmt::skip]
const FOLDERS: &[&str] = &["folder", "folders", "directory", "directories", "dir", "ordner", "verzeichnis", "dossier", "carpeta", "directorio", "cartella", "directory", "pasta", "diretorio", "map", "katalog", "folderul"];

/// Meanings of words that are names of folders as well.
#[rustfmt::skip]
const FOLDER_NAMES: &[Term] = &[
    Term::Public, Term::Data, Term::Dependency, Term::Code, Term::Use, Term::Run, Term::Deploy, Term::Format, Term::Network, Term::Container, Term::Existing, Term::Mock, Term::Filler, Term::Aspect, Term::Switch,
];

/// "Keep all edits within lib/", "limita los cambios a src": what may change is confined, like with "only".
fn confine_changes(tokens: &mut Vec<Token>) {
    for at in 0..tokens.len() {
        if !CONFINING.contains(&tokens[at].folded.as_str())
            || tokens[at].is_phrase && tokens[at].is(Term::Only)
        {
            continue;
        }
        let mut next = at + 1;
        let mut names_change = false;
        while let Some(token) = tokens.get(next) {
            let is_change = token.is(Term::Change) || WORK.contains(&token.folded.as_str());
            let goes_on = !token.pauses
                && next - at <= 4
                && (is_change
                    || token.is_any(&[Term::All, Term::That])
                    || token.is(Term::Filler) && !WITHIN.contains(&token.folded.as_str()));
            if !goes_on {
                break;
            }
            names_change |= is_change;
            next += 1;
        }
        let is_within = tokens
            .get(next)
            .is_some_and(|token| WITHIN.contains(&token.folded.as_str()));
        if names_change && is_within {
            tokens.drain(at + 1..=next);
            tokens[at].term = Some(Term::Only);
            tokens[at].is_phrase = true;
            return;
        }
    }
}

/// Verbs that confine.
#[rustfmt::skip]
const CONFINING: &[&str] = &[
    "keep", "limit", "restrict", "confine", "constrain", "beschranke", "beschrank", "begrenze", "halte", "halt", "limite", "limitez", "restreins", "cantonne", "garde", "limita", "restringe", "manten", "limiti", "restringi",
    "mantieni", "tieni", "restrinja", "mantenha", "limiteaza", "restrange", "pastreaza", "tine", "ogranicz", "zawez", "beperk", "houd", "hou",
];

/// Nouns for what is confined.
const WORK: &[&str] = &["work", "diff", "patch", "yourself", "scope", "fix", "pr"];

/// Words before the place to which changes are confined.
#[rustfmt::skip]
const WITHIN: &[&str] = &["to", "within", "inside", "in", "under", "auf", "innerhalb", "a", "aux", "au", "dans", "en", "dentro", "al", "alla", "ai", "nel", "dentro", "em", "la", "in", "do", "w", "tot", "binnen"];

/// "Don't chnage a.rb": a change with two letters swapped, or one letter left out or doubled.
fn correct_verbs(tokens: &mut [Token]) {
    let mut is_negated = false;
    for at in 0..tokens.len() {
        let token = &tokens[at];
        let is_typo = is_negated
            && token.term.is_none()
            && !token.is_quoted
            && token.raw.len() >= 4
            && !token.is_place();
        let verb = TYPED
            .iter()
            .find(|(verb, _)| is_typo && is_mistyped(&token.folded, verb));
        let next = tokens
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .find(|token| !token.is(Term::Filler));
        let binds = next.is_some_and(|token| token.is_place() || token.is_quoted || token.term.is_some());
        match verb {
            Some((_, term)) if binds => tokens[at].term = Some(*term),
            _ => {}
        }
        is_negated =
            tokens[at].is(Term::Not) || is_negated && tokens[at].is(Term::Filler) && !tokens[at].pauses;
    }
}

/// Verbs that are mistyped often.
const TYPED: &[(&str, Term)] = &[
    ("change", Term::Change),
    ("touch", Term::Change),
    ("modify", Term::Change),
    ("edit", Term::Change),
    ("alter", Term::Change),
    ("delete", Term::Remove),
    ("remove", Term::Remove),
    ("commit", Term::Commit),
    ("install", Term::Install),
    ("deploy", Term::Deploy),
];

/// Whether a word is another with two neighbouring letters swapped, or one letter left out or doubled.
fn is_mistyped(word: &str, meant: &str) -> bool {
    if word == meant || !word.is_ascii() || word.as_bytes().first() != meant.as_bytes().first() {
        return false;
    }
    let (word, meant) = (word.as_bytes(), meant.as_bytes());
    let same = word
        .iter()
        .zip(meant)
        .take_while(|(one, other)| one == other)
        .count();
    let (rest, wanted) = (&word[same..], &meant[same..]);
    match (rest, wanted) {
        ([a, b, rest @ ..], [c, d, wanted @ ..]) if a == d && b == c && rest == wanted => true,
        (rest, [_, wanted @ ..]) if rest == wanted => true,
        ([letter, rest @ ..], wanted) => rest == wanted && same > 0 && word[same - 1] == *letter,
        _ => false,
    }
}
