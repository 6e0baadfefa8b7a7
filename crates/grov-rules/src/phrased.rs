//! Reads sentences with the tables of phrases: assent, permission, turning away and orders in any of the languages.

use super::goal::is_order;
use super::lexicon::{ACKNOWLEDGING, is_work_verb, lead_in_at};
use super::prompt::APPROVING;
use super::text::Word;
use grov_scope::phrases::{Cue, Languages, PhraseList, Phrases};

/// The most words before a permission that are its object.
const MAX_OBJECT: usize = 2;

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

/// Whether a folded word only assents, in any language.
pub(crate) fn assents(word: &str) -> bool {
    APPROVING.contains(word)
        || ACKNOWLEDGING.contains(word)
        || Languages::NONE.tables().any(|table| table.assents.contains(word))
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
                let assents = |word: &Word<'_>| table.assents.contains(&word.folded);
                words.iter().any(assents)
                    && words.iter().all(|word| assents(word) || assents_in_english(word))
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

/// Whether a sentence without spaces starts with a phrase that drops earlier work: "算了，先修页脚".
pub(crate) fn turns_unspaced(text: &str, languages: Languages) -> bool {
    let text = text.trim_start();
    unspaced(languages).any(|table| {
        let mut phrases = table.turning_away.entries().iter();
        phrases.any(|phrase| text.starts_with(phrase))
    })
}

fn lead(words: &[Word<'_>], at: usize, languages: Languages) -> Option<usize> {
    lead_in_at(words, at).max(any(languages, words, at, |table| &table.leads))
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

/// Words at the beginning of a sentence that continues another.
#[rustfmt::skip]
static JOINING: PhraseList = PhraseList::of(&[
    "+", "a i", "additionally", "also", "and", "e", "en", "et", "i", "next", "now also", "oh and", "ok and", "si",
    "und", "y",
]);

/// Whether a sentence adds to what was asked before: "translate too", "and the footer", "la fel".
pub(crate) fn continues(text: &str, words: &[Word<'_>], languages: Languages) -> bool {
    const MAX_WORDS: usize = 14;
    let text = text.trim_start();
    if unspaced(languages).any(|table| {
        let mut entries = table.continuing.entries().iter();
        entries.any(|entry| text.starts_with(entry))
    }) {
        return true;
    }
    let joins = JOINING.at(words, 0).is_some() || text.starts_with('+');
    joins
        || words.len() <= MAX_WORDS
            && (0..words.len()).any(|at| {
                any(languages, words, at, |table| &table.continuing).is_some_and(|length| {
                    let last = at + length - 1;
                    at <= 2 || words[last].pauses() || last + 1 == words.len()
                })
            })
}

/// Stems of words that say that something is wrong.
#[rustfmt::skip]
static FAULTS: PhraseList = PhraseList::of(&[
    "absturz*", "blad*", "broke*", "bug*", "cade", "caduto", "cae", "crapa", "crash*", "defekt", "does not work",
    "doesn't work", "doet het niet", "don't work", "doppelt", "drops", "duplicat*", "eroare*", "errad*", "erreur*",
    "erro", "error*", "errore*", "erros", "fail*", "falha*", "falla", "fallan", "faute*", "fehler*", "fehlt",
    "fejler", "freez*", "funktioniert nicht", "hangs", "is missing", "isn't working", "kapot", "kaputt", "leaks",
    "loses", "marche pas", "missing", "n'est pas", "nao funciona", "ne marche", "nie dziala", "no funciona",
    "non funziona", "not working", "nu functioneaza", "nu merge", "pica", "plante*", "se cae", "stuck", "twice",
    "typo*", "werkt niet", "wrong",
]);

/// The same in Chinese and Japanese.
const UNSPACED_FAULTS: &[&str] = &[
    "报错",
    "错误",
    "坏了",
    "失败",
    "不对",
    "崩",
    "エラー",
    "落ち",
    "壊れ",
    "おかしい",
    "動かない",
];

/// Whether a sentence states that something is wrong.
pub(crate) fn states_fault(text: &str, words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| FAULTS.at(words, at).is_some())
        || !text.is_ascii() && UNSPACED_FAULTS.iter().any(|fault| text.contains(fault))
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
    let is_lead = |at: usize| lead(words, at, languages).is_some() || only_assents(&words[at..=at]);
    at.is_some_and(|at| (0..at).all(is_lead))
        || !text.contains(['？', '?'])
            && unspaced(languages).any(|table| {
                let mut permissions = table.permissions.entries().iter();
                let mut cues = table.cues.entries().iter();
                permissions.any(|entry| text.contains(entry))
                    && !cues.any(|(entry, _)| text.starts_with(entry))
            })
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
        let mut skipped = 0;
        if ends_a_rule(clause) {
            found.push(&text[clause[0].start..clause[clause.len() - 1].end]);
            from = end + 1;
            continue;
        }
        while at < clause.len() {
            if skipped == 0 && is_addition(&clause[at..], languages) {
                found.push(&text[clause[0].start..clause[clause.len() - 1].end]);
                break;
            }
            if any(languages, clause, at, |table| &table.permissions).is_some() {
                let negates = |word: &Word<'_>| word.is_any(&["not", "nicht", "pas", "niet", "nie"]);
                if !clause[at..].iter().skip(1).any(negates) {
                    found.push(&text[clause[0].start..clause[clause.len() - 1].end]);
                }
                break;
            }
            match lead(clause, at, languages) {
                Some(length) => at += length,
                None if at + 1 < clause.len() && only_assents(&clause[at..=at]) => at += 1,
                // "Stare możesz już kasować": the object comes first.
                None if skipped < MAX_OBJECT && !clause[at].is_any(&["not", "nie", "nicht", "non", "no"]) => {
                    at += 1;
                    skipped += 1;
                }
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
        }) || UNSPACED_RULES.iter().any(|rule| clause.contains(rule))
            && UNSPACED_ENDED.iter().any(|end| clause.contains(end))
        {
            found.push(clause);
        }
    }
    found
}

/// Words for a rule that the user set.
#[rustfmt::skip]
static RULES: PhraseList = PhraseList::of(&[
    "ban", "beperking", "beschrankung", "constraint", "divieto", "einschrankung", "freeze", "interdictia",
    "interdiction", "limit", "limita", "limitation", "limitazione", "limite", "limiti", "ograniczenie", "prohibicion",
    "proibicao", "regel", "regla", "regle", "regola", "regra", "regula", "restricao", "restriccion", "restrictia",
    "restrictie", "restriction", "restrizione", "rule", "sperre", "verbod", "verbot", "vincolo", "zakaz",
]);

/// Words with which it no longer holds.
#[rustfmt::skip]
static ENDED: PhraseList = PhraseList::of(&[
    "anulat", "anulata", "anulowana", "anulowane", "aufgehoben", "caiu", "cancelled", "decade", "does not apply",
    "doesn't apply", "dropped", "entfallt", "geldt niet meer", "gilt nicht mehr", "gone", "hinfallig", "is off",
    "is over", "is void", "ja nao vale", "levantada", "levantado", "levee", "lifted", "n'est plus valable",
    "nao vale mais", "ne s'applique plus", "ne vaut plus", "nie obowiazuje", "no longer applies", "non vale piu",
    "nu mai e valabil", "nu mai e valabila", "nu mai se aplica", "revocada", "ridicata", "rimossa", "tolta",
    "vervallen", "vervalt", "weg", "ya no aplica", "ya no vale", "zniesiona", "zniesione", "zniesiony",
]);

/// The same in Chinese and Japanese.
const UNSPACED_RULES: &[&str] = &["限制", "规定", "禁令", "制限", "ルール", "制約"];
const UNSPACED_ENDED: &[&str] = &["取消", "解除", "不再", "作废", "なくな", "撤廃", "不要に"];

/// Whether a clause says that a rule no longer holds: "the theme restriction is off now".
fn ends_a_rule(clause: &[Word<'_>]) -> bool {
    let has = |list: &PhraseList| (0..clause.len()).any(|at| list.at(clause, at).is_some());
    has(&RULES) && has(&ENDED)
}

/// Whether a clause only names something that is permitted as well: "alerts now too", "die Zahlungen also auch".
fn is_addition(clause: &[Word<'_>], languages: Languages) -> bool {
    const MAX_WORDS: usize = 5;
    let last = clause.len().saturating_sub(1);
    (2..=MAX_WORDS).contains(&clause.len())
        && any(languages, clause, last, |table| &table.continuing).is_some()
        && any(languages, clause, 0, |table| &table.orders).is_none()
        && !spaced(languages).any(|table| (0..last).any(|at| table.cues.at(clause, at).is_some()))
        && (!is_order(clause, 0) || clause[0].is_any(&["do"]))
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
            && (is_order(clause, at) || !is_work_verb(&clause[at].folded))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for list in [&ENDED, &FAULTS, &JOINING, &RULES] {
            assert!(list.entries().is_sorted_by(|one, other| one < other));
        }
    }
}
