//! Vocabulary and sentence structure of constraints: negations, verbs of change, conditions.

use crate::names::is_path;
use crate::words::{Word, fold, words};
use grov_domain::both_ends;
use std::borrow::Cow;

/// Words that make a constraint conditional.
#[rustfmt::skip]
const CONDITIONS: &[&str] = &[
    "if", "unless", "when", "after", "before", "until", "while", "yet", "first", "needed", "necessary",
    "daca", "cand", "dupa", "inainte", "pana", "inca",
];

/// Stems of verbs that mean any change of a file, English and Romanian.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "touch", "chang", "modif", "edit", "alter", "overwrit", "rewrit", "refactor", "reformat", "patch", "ating", "umbl", "schimb",
    "rescri",
];

/// Stems of verbs that mean removing or renaming a file.
#[rustfmt::skip]
const REMOVALS: &[&str] = &["delet", "remov", "renam", "mov", "sterg", "elimin", "redenum", "mut"];

/// Words that negate the verb after them.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "don't", "not", "never", "without", "avoid", "no", "nu", "fara", "mustn't", "shouldn't", "can't", "cannot",
    "evita", "forbidden", "prohibited", "w/o", "zero", "n-ai",
];

/// Words that request or permit an action.
#[rustfmt::skip]
const ORDERS: &[&str] = &[
    "fix", "change", "edit", "update", "modify", "add", "implement", "refactor", "move", "rename", "rewrite", "adapt",
    "touch", "remove", "delete", "create", "write", "adjust", "improve", "extend", "clean", "revert", "include", "use", "may", "can",
    "allowed", "repara", "schimba", "modifica", "actualizeaza", "adauga", "sterge", "rescrie", "poti", "muta", "corecteaza",
    "run", "push", "commit", "publish", "deploy", "install", "ruleaza", "instaleaza", "merge", "bump", "upgrade",
];

/// Words that extend an earlier request: "now do the same for src/b.rs".
#[rustfmt::skip]
const MORE: &[&str] = &[
    "do", "same", "make", "apply", "handle", "also", "too", "put", "let's", "port", "convert", "continue", "extinde", "aplica", "fa", "si",
];

/// Words of `ORDERS` that do not change files.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "run", "push", "commit", "publish", "deploy", "install", "ruleaza", "instaleaza", "merge", "use", "may", "can", "allowed", "poti",
];

/// Whether a constraint is conditional.
pub(super) fn is_uncertain(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| word.is_any(CONDITIONS))
}

fn has_stem(word: &Word<'_>, stems: &[&str]) -> bool {
    stems.iter().any(|stem| {
        word.folded
            .strip_prefix(stem)
            .is_some_and(|ending| ending.len() <= 4)
    }) && !is_path(word.raw)
}

/// Whether a verb or noun means a change.
pub(super) fn is_change(word: &Word<'_>) -> bool {
    has_stem(word, CHANGES) && !word.is_any(&["alternative", "editor"])
        || word.is_any(&["modification", "modifications", "modificari", "modificare"])
}

/// Whether a verb means removing or renaming.
pub(super) fn is_removal(word: &Word<'_>) -> bool {
    has_stem(word, REMOVALS) && !word.is_any(&["movie", "mutex", "mutable"])
}

/// Whether a word negates.
pub(super) fn is_negation(word: &Word<'_>) -> bool {
    word.is_any(NEGATIONS)
}

/// The index of the first verb for which `means` is true within three words after a negation.
pub(super) fn forbidden(words: &[Word<'_>], means: fn(&Word<'_>) -> bool) -> Option<usize> {
    (0..words.len())
        .filter(|at| is_negation(&words[*at]))
        .find_map(|negation| (negation + 1..words.len().min(negation + 4)).find(|at| means(&words[*at])))
}

/// Both ends of a long text, without truncated sentences, because half a sentence may mean the opposite of the whole.
fn whole_sentences(text: &str, most: usize) -> Cow<'_, str> {
    // A Unicode noncharacter, which texts do not contain.
    const CUT: &str = "\u{fdd0}";
    let is_end = |letter: char| matches!(letter, '.' | '!' | '?' | '\n');
    let ends = both_ends(text, most, CUT);
    let Some((head, tail)) = ends.split_once(CUT) else {
        return ends;
    };
    let head = head.rfind(is_end).map_or("", |end| &head[..=end]);
    let tail = tail.find(is_end).map_or("", |end| &tail[end + 1..]);
    Cow::Owned([head, "\n\n", tail].concat())
}

/// The sentences of a typed text, without pasted code and logs. Only both ends of a long text are read.
pub(super) fn sentences(text: &str) -> Vec<String> {
    const END: usize = 8 * 1024;
    let ends = whole_sentences(text, END);
    let mut found = Vec::new();
    let mut fenced = false;
    let mut commented = false;
    for line in ends.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        // A pasted block comment.
        commented |= line.starts_with("/*");
        if commented {
            commented = !line.contains("*/");
            continue;
        }
        if fenced || line.is_empty() || is_pasted(line) {
            continue;
        }
        let mut start = 0;
        for (at, mark) in line.match_indices(['.', '!', '?', ';']) {
            let end = at + mark.len();
            if line[end..].starts_with(' ') {
                found.push(line[start..end].trim().to_owned());
                start = end;
            }
        }
        found.push(line[start..].trim().to_owned());
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Whether a line was pasted: a quotation, a comment or log output.
fn is_pasted(line: &str) -> bool {
    const LEVELS: &[&str] = &[
        "error", "warning", "warn", "info", "debug", "trace", "note", "hint", "help", "fatal",
    ];
    if line.starts_with(['>', '|', '$', '#'])
        || line.starts_with("//")
        || line.starts_with("--")
        || line.starts_with("<!--")
    {
        return true;
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    // `[12:03:04]`, `2026-01-31T…`, `12:03:04,120`
    let bare = first.trim_matches(['[', ']']);
    let numbers = bare.bytes().filter(u8::is_ascii_digit).count();
    let is_time = numbers >= 6
        && bare.contains([':', '-'])
        && bare.bytes().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'.' | b',' | b'T' | b'Z' | b'+' | b'/')
        });
    let level = fold(bare.split(['[', '(', ':']).next().unwrap_or_default());
    let is_level = LEVELS.contains(&level.as_str()) && (first.contains(':') || first.contains('['));
    // People write "Note: do not touch src/".
    is_time || is_level && !matches!(level.as_str(), "note" | "hint" | "info")
}

/// Whether a sentence may be a prohibition rather than a description such as "it doesn't change src/a.rs".
pub(super) fn may_forbid(sentence: &str) -> bool {
    if sentence.ends_with('?') || sentence.contains('"') {
        return false;
    }
    let words = words(sentence);
    !words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_subject = |word: &Word<'_>| {
            word.is_any(&[
                "i", "we", "they", "it", "does", "did", "is", "was", "are", "were", "has", "have", "had",
                "that", "which", "why", "could", "would", "this",
            ])
        };
        is_negation(word) && before.is_some_and(is_subject)
            || word.is_any(&[
                "doesn't", "didn't", "isn't", "wasn't", "haven't", "hasn't", "why", "error", "de", "says",
            ]) && is_later_negated(&words[at..])
    })
}

fn is_later_negated(words: &[Word<'_>]) -> bool {
    words
        .iter()
        .any(|word| is_negation(word) || word.is_any(&["doesn't", "didn't"]))
}

/// Whether a sentence requests an action and forbids nothing.
pub(super) fn orders(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| word.is_any(ORDERS)) && !forbids(words)
}

/// Like [`orders`], for a later sentence, which may also extend an earlier request.
pub(super) fn orders_more(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| word.is_any(ORDERS) || word.is_any(MORE)) && !forbids(words)
}

/// Whether a verb requests a change of its object.
pub(super) fn orders_change(word: &Word<'_>) -> bool {
    word.is_any(ORDERS) && !word.is_any(HARMLESS)
}

/// Words that request a change, in addition to [`ORDERS`].
#[rustfmt::skip]
const OTHER_ORDERS: &[&str] = &[
    "make", "apply", "fixing", "convert", "port", "do", "put", "extinde", "aplica", "implementeaza", "andere",
    "behebe", "fixe", "implementiere", "schreibe", "mach", "korrigiere", "fuge",
];

/// Whether a word, at any position in a sentence that forbids nothing, requests a change of files.
pub(super) fn is_order(word: &Word<'_>) -> bool {
    orders_change(word) && !word.is_any(&["touch", "include", "clean"]) || word.is_any(OTHER_ORDERS)
}

/// Words that forbid or limit without a negation.
#[rustfmt::skip]
const CONFINING: &[&str] = &[
    "keep", "leave", "except", "only", "hands", "frozen", "read-only", "untouched", "lasa",
];

/// Words that forbid or limit in other languages, sorted. None of them is a usual word of English or Romanian.
#[rustfmt::skip]
const FORBIDDING_ELSEWHERE: &[&str] = &[
    "alleen", "aucun", "aucune", "ausser", "behalve", "bez", "chiedimi", "deja", "excepto", "exceto", "geen", "jamais", "kein", "keine", "keinen", "lascia", "lass", "menos", "nada", "nao", "ne",
    "nenhum", "nenhuma", "nessun", "nessuna", "nicht", "nichts", "nie", "niente", "niet", "niets", "ningun", "ninguna", "non", "nunca", "nur", "oprocz", "pas", "preguntame", "rien", "salvo", "sans", "sauf", "sem",
    "senza", "seulement", "sin", "sobald", "solo", "somente", "tranne", "tylko", "uniquement", "zonder", "zostaw",
];

/// Parts of words that forbid or limit in Chinese and Japanese.
const FORBIDDING_PARTS: &[&str] = &[
    "不",
    "别",
    "勿",
    "禁止",
    "只",
    "仅",
    "ない",
    "ないで",
    "だけ",
    "のみ",
    "まま",
];

fn forbids_elsewhere(word: &Word<'_>) -> bool {
    FORBIDDING_ELSEWHERE.binary_search(&word.folded.as_str()).is_ok()
        || !word.raw.is_ascii() && FORBIDDING_PARTS.iter().any(|part| word.raw.contains(part))
}

/// Whether words forbid or limit something.
pub(super) fn forbids(words: &[Word<'_>]) -> bool {
    words
        .iter()
        .any(|word| is_negation(word) || word.is_any(CONFINING) || forbids_elsewhere(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_searched_table_is_sorted() {
        assert!(FORBIDDING_ELSEWHERE.is_sorted());
    }
}
