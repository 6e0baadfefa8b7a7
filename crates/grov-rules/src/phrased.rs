//! Reads sentences with the tables of phrases: assent, permission, turning away and orders in any of the languages.

use super::lexicon::{ACKNOWLEDGING, LEAD_INS};
use super::prompt::APPROVING;
use super::text::Word;
use grov_scope::phrases::{Cue, Languages, PhraseList, Phrases};

/// The most words of a clause that only assents.
const MAX_ASSENT: usize = 6;

/// Permissions that are also requests: "you can", "puedes".
#[rustfmt::skip]
const AMBIGUOUS: &[&str] = &[
    "dale", "mozesz", "pode", "podes", "poti", "poti sa", "poti si", "puedes", "puoi", "tu peux", "vc pode", "voce pode",
    "vous pouvez", "you can", "you can also", "you could",
];

/// Punctuation of Chinese and Japanese.
const WIDE_MARKS: &[char] = &['。', '、', '，', '！', '？', '；', ',', '.', '!', ' '];

fn spaced(languages: Languages) -> impl Iterator<Item = &'static Phrases> {
    languages.tables().filter(|table| !table.is_unspaced)
}

fn unspaced(languages: Languages) -> impl Iterator<Item = &'static Phrases> {
    languages.tables().filter(|table| table.is_unspaced)
}

fn any(
    languages: Languages,
    words: &[Word<'_>],
    at: usize,
    table: impl Fn(&'static Phrases) -> &'static PhraseList,
) -> Option<usize> {
    spaced(languages)
        .filter_map(|phrases| table(phrases).at(words, at))
        .max()
}

fn assents_in_english(word: &Word<'_>) -> bool {
    APPROVING.contains(&word.folded) || ACKNOWLEDGING.contains(&word.folded)
}

/// Whether a prompt of so many words may only assent.
pub(crate) fn may_assent(count: usize) -> bool {
    (1..=2 * MAX_ASSENT).contains(&count)
}

/// Whether words, at most a few, only assent: "ja, mach weiter", "oui continue".
pub(crate) fn only_assents(words: &[Word<'_>]) -> bool {
    let any = |word: &Word<'_>| {
        // Chinese and Japanese: nothing but phrases of assent.
        !word.raw.is_ascii() && assents_unspaced(word.raw)
    };
    may_assent(words.len())
        && (words.iter().all(any)
            || Languages::NONE.tables().any(|table| {
                let told = |word: &Word<'_>| table.assents.contains(&word.folded);
                words.iter().any(told) && words.iter().all(|word| told(word) || assents_in_english(word))
            }))
}

/// Whether a text without spaces consists of phrases of assent only.
fn assents_unspaced(text: &str) -> bool {
    let folded = text.to_lowercase();
    let mut parts = folded
        .split(WIDE_MARKS)
        .filter(|part| !part.is_empty())
        .peekable();
    parts.peek().is_some()
        && parts.all(|part| {
            Languages::EAST_ASIAN.tables().any(|table| {
                table
                    .assents
                    .entries()
                    .iter()
                    .any(|entry| entry.eq_ignore_ascii_case(part))
            })
        })
}

/// The first word after leading clauses that only assent: "ok.", "arată bine, ".
pub(crate) fn after_assent(words: &[Word<'_>]) -> usize {
    let mut from = 0;
    for at in 0..words.len().min(2 * MAX_ASSENT) {
        if !words[at].pauses() && at + 1 < words.len() {
            continue;
        }
        let clause = &words[from..=at];
        let english = clause.len() <= MAX_ASSENT && clause.iter().all(assents_in_english);
        if !english && !only_assents(clause) {
            break;
        }
        from = at + 1;
    }
    from
}

/// The first word after a leading clause that drops earlier work: "mejor no, olvídalo. ". `None` if there is none.
pub(crate) fn after_turning(words: &[Word<'_>], languages: Languages) -> Option<usize> {
    let mut at = 0;
    while at < words.len() {
        if let Some(length) = any(languages, words, at, |table| &table.turning_away) {
            let mut end = at + length;
            // The rest of a short clause: "forget that one, …", "laisse tomber ce bouton, …".
            let pause = (at..words.len()).find(|at| words[*at].pauses());
            if let Some(pause) = pause.filter(|pause| *pause < at + length + 4) {
                end = end.max(pause + 1);
            }
            return Some(after_turning(&words[end..], languages).map_or(end, |more| end + more));
        }
        match lead(words, at, languages) {
            Some(length) => at += length,
            None => return None,
        }
    }
    None
}

fn lead(words: &[Word<'_>], at: usize, languages: Languages) -> Option<usize> {
    LEAD_INS
        .at(words, at)
        .max(any(languages, words, at, |table| &table.leads))
}

/// The first word after politeness and conjunctions.
fn after_leads(words: &[Word<'_>], languages: Languages) -> usize {
    let mut at = 0;
    while let Some(length) =
        lead(words, at, languages).or_else(|| any(languages, words, at, |table| &table.conjunctions))
    {
        at += length;
    }
    at
}

/// Whether a sentence starts with a permission that is no request: "no need to avoid vendor/".
pub(crate) fn opens_with_permission(words: &[Word<'_>], text: &str, languages: Languages) -> bool {
    let at = (0..words.len().min(4)).find(|at| {
        spaced(languages).any(|table| {
            table.permissions.at(words, *at).is_some_and(|length| {
                let phrase: Vec<&str> = words[*at..*at + length]
                    .iter()
                    .map(|word| word.folded.as_str())
                    .collect();
                !AMBIGUOUS.contains(&&*phrase.join(" "))
            })
        })
    });
    let leads = at.is_some_and(|at| (0..at).all(|before| lead(words, before, languages).is_some()));
    leads || {
        let first = text.split(['。', '，', '、']).next().unwrap_or_default();
        unspaced(languages).any(|table| {
            table
                .permissions
                .entries()
                .iter()
                .any(|entry| first.contains(entry))
                && !text.contains(['？', '?'])
        })
    }
}

/// The clauses of a sentence that permit something.
pub(crate) fn permissions<'t>(text: &'t str, words: &[Word<'_>], languages: Languages) -> Vec<&'t str> {
    let mut found = Vec::new();
    if text.trim_end().ends_with(['?', '？']) {
        return found;
    }
    let mut from = 0;
    for end in 0..words.len() {
        if !words[end].pauses() && end + 1 < words.len() {
            continue;
        }
        let clause = &words[from..=end];
        let mut at = 0;
        while at < clause.len() {
            if any(languages, clause, at, |table| &table.permissions).is_some() {
                let negates = |word: &Word<'_>| word.is_any(&["not", "nicht", "pas", "niet", "nie"]);
                if !clause[at..].iter().skip(1).any(negates)
                    || spaced(languages).all(|table| table.leads.entries().is_empty())
                {
                    found.push(&text[clause[0].start..clause[clause.len() - 1].end]);
                }
                break;
            }
            match lead(clause, at, languages) {
                Some(length) => at += length,
                None => break,
            }
        }
        from = end + 1;
    }
    let clauses = text.split(['。', '，', '、', '！']);
    for clause in clauses {
        if unspaced(languages).any(|table| {
            table
                .permissions
                .entries()
                .iter()
                .any(|entry| clause.contains(entry))
        }) {
            found.push(clause);
        }
    }
    found
}

/// Whether a sentence asks for work in one of the languages with tables of orders: 5 at its beginning, 4 later.
pub(crate) fn order_weight(text: &str, words: &[Word<'_>], languages: Languages) -> Option<u8> {
    if unspaced(languages).any(|table| asks_unspaced(text, table)) {
        return Some(5);
    }
    let mut best = None;
    let mut from = 0;
    for end in 0..words.len() {
        let joins = any(languages, words, end + 1, |table| &table.conjunctions).is_some();
        if !words[end].pauses() && !joins && end + 1 < words.len() {
            continue;
        }
        let clause = &words[from..=end];
        let mut at = after_leads(clause, languages);
        // "Solo cachea las respuestas".
        let only = spaced(languages).filter_map(|table| table.cues.at(clause, at));
        if let Some((length, _)) = only
            .filter(|(_, cue)| *cue == Cue::Only)
            .max_by_key(|(length, _)| *length)
        {
            at += length;
        }
        let starts = at < clause.len()
            && any(languages, clause, at, |table| &table.orders).is_some()
            && !clause
                .get(at + 1)
                .is_some_and(|next| next.is_any(&["ich", "wir", "man", "ik", "we", "je"]));
        let last = clause.len() - 1;
        let infinitive = spaced(languages).any(|table| {
            table.endings.contains("en")
                && clause[last].folded.ends_with("en")
                && table.orders.at(clause, last).is_some()
                && (at > 0 || !clause.iter().any(|word| table.narrating.contains(&word.folded)))
        });
        if starts || infinitive {
            best = best.max(Some(if from == 0 { 5 } else { 4 }));
        }
        from = end + 1;
    }
    best
}

fn asks_unspaced(text: &str, table: &Phrases) -> bool {
    let japanese = table.orders.contains("直して");
    text.split(['。', '，', '！', '；']).any(|clause| {
        let clause = clause.trim();
        let clause = clause.trim_start_matches([
            '请', '先', '就', '再', '现', '在', '直', '接', '然', '后', '麻', '烦', '你', '帮', '我', ' ',
        ]);
        table.orders.entries().iter().any(|entry| {
            let long = entry.chars().count() > 1;
            clause.starts_with(entry)
                || long && !japanese && clause.contains(entry)
                || japanese
                    && clause
                        .rfind(entry)
                        .is_some_and(|at| clause.len() - at - entry.len() <= 36)
        })
    }) && !text.trim_end().ends_with(['？', '?'])
}

/// English and Romanian words of constraints that say where the work is, and not where it is not.
#[rustfmt::skip]
const CONFINING: &[&str] = &[
    "doar", "inside", "just", "limit", "numai", "only", "restrict", "rezuma-te", "stay", "stick", "within",
];

/// Whether a constraint says where the work is: "only in src/".
pub(crate) fn confines(constraint: &str) -> bool {
    let words = super::text::words(constraint);
    let languages = Languages::of(&words);
    words.iter().any(|word| word.is_any(CONFINING))
        || (0..words.len()).any(|at| {
            spaced(languages).any(|table| matches!(table.cues.at(&words, at), Some((_, Cue::Only))))
        })
        || unspaced(languages).any(|table| {
            let mut cues = table.cues.entries().iter().filter(|(_, cue)| *cue == Cue::Only);
            cues.any(|(entry, _)| constraint.contains(entry) && !constraint.contains("以外"))
        })
}
