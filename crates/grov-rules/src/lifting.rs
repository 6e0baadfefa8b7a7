//! Drops constraints that a later prompt lifts: "ok, you may touch vendor now", "looks good, do it" after "no code yet".

use super::lexicon::is_stop_word;
use super::parsed_prompt::ParsedPrompt;
use super::phrased;
use super::scope::{content_words, is_path, same_stem};
use super::text::{Word, words};
use grov_scope::phrases::{Found, Noun, PhraseList, Verb, nouns, verbs};

/// Words of constraints that hold until the plan is approved.
#[rustfmt::skip]
static PROVISIONAL: PhraseList = PhraseList::of(&[
    "analiza", "analizeaza", "analizuj", "analyse", "ancora", "aplica", "apply", "cod", "code", "codice", "codigo",
    "deocamdata", "diagnosis", "diagnoza", "encore", "erstmal", "for now", "implement", "inca", "jeszcze", "kod",
    "kodu", "moment", "noch", "nog", "now", "piano", "plan", "plano", "planul", "todavia", "yet",
]);

/// Words of constraints that are meant to be lifted: "not yet".
#[rustfmt::skip]
static AWAITING: PhraseList = PhraseList::of(&[
    "ainda", "ancora", "deocamdata", "encore", "erstmal", "for now", "for the moment", "inca", "jeszcze", "momentan",
    "na razie", "noch", "nog", "per ora", "por agora", "por ahora", "por enquanto", "pour l'instant", "todavia",
    "until", "voorlopig", "vorerst", "yet",
]);

/// The same in Chinese and Japanese.
const PROVISIONAL_UNSPACED: &[&str] = &["まだ", "だけして", "のみ", "調査", "先", "暂", "只看", "只分析"];
const AWAITING_UNSPACED: &[&str] = &["まだ", "先", "暂", "とりあえず"];

/// Words that refer to the thing of the constraint before.
const REFERRING: &[&str] = &["es", "it", "lo", "them", "that", "le", "to"];

/// The most words of an assent that names what it is about.
const MAX_ASSENT: usize = 5;

/// Drops from `constraints` what `prompt` lifts.
pub(crate) fn lift(constraints: &mut Vec<String>, prompt: &ParsedPrompt) {
    if constraints.is_empty() {
        return;
    }
    let approves = prompt.opens_with_assent;
    if !approves && prompt.permissions.is_empty() {
        return;
    }
    let said = &prompt.goal().text;
    let assented = Some(said).filter(|said| words(said).len() <= MAX_ASSENT && prompt.constraints.is_empty());
    let mut was_lifted = false;
    constraints.retain(|constraint| {
        let permitted = prompt
            .permissions
            .iter()
            .any(|text| is_about(text, constraint) && !leaves_rest(text, constraint));
        // "Don't run it, only write it": the rest of a limit that is gone.
        let refers = was_lifted
            && (words(constraint).len() <= 5 && has_word(constraint, REFERRING)
                || phrased::confines(constraint));
        // "Jetzt committen": an assent that names what was forbidden.
        let names_it = approves
            && assented.is_some_and(|text| is_about(text, constraint) && !leaves_rest(text, constraint));
        let lifted = permitted || refers || names_it || approves && is_provisional(constraint);
        was_lifted = lifted;
        !lifted
    });
}

/// Whether a constraint is a list of which a permission names only a part: "you may change the tests" after "don't touch tests or
/// package.json".
fn leaves_rest(permission: &str, constraint: &str) -> bool {
    let nouns_of = |text: &str| -> Vec<Noun> { nouns(text).into_iter().map(|found| found.means).collect() };
    let (permitted, named) = (nouns_of(permission), words(permission));
    let items: Vec<Word<'_>> = words(constraint);
    let separates = |word: &Word<'_>| word.after.trim() == "," || word.is_any(SEPARATORS);
    let is_list = items.len() > 1 && items[..items.len() - 1].iter().any(separates);
    let is_other = |word: &Word<'_>| {
        let means = nouns_of(word.raw);
        let is_thing = means
            .iter()
            .any(|noun| !matches!(noun, Noun::Anything | Noun::File | Noun::Folder))
            || is_path(word.raw);
        is_thing
            && !means.iter().any(|noun| permitted.contains(noun))
            && !named
                .iter()
                .any(|known| same_stem(&known.folded, &word.folded) || known.raw.contains(word.raw))
    };
    // "You can edit everything now"
    let is_all = permitted.contains(&Noun::Anything) || named.iter().any(|word| word.is_any(ALL));
    is_list && !is_all && items.iter().any(is_other)
}

/// Words for all items of a list.
#[rustfmt::skip]
const ALL: &[&str] = &[
    "all", "alle", "alles", "allebei", "ambas", "ambele", "ambos", "anything", "beide", "both", "entrambi", "everything", "oba", "obie", "them", "todo", "todos", "tot", "tous", "tout", "tudo", "tutti", "tutto", "wszystko",
];

/// Words between the items of a list.
#[rustfmt::skip]
const SEPARATORS: &[&str] = &[
    "and", "ani", "e", "en", "et", "i", "lub", "nici", "nor", "o", "oder", "of", "or", "oraz", "ou", "sau", "si", "und", "y",
];

fn has_word(text: &str, entries: &[&str]) -> bool {
    words(text).iter().any(|word| word.is_any(entries))
}

fn has_phrase(text: &str, list: &PhraseList, unspaced: &[&str]) -> bool {
    let words = words(text);
    (0..words.len()).any(|at| list.at(&words, at).is_some())
        || !text.is_ascii() && unspaced.iter().any(|entry| text.contains(entry))
}

/// Whether a constraint ends with the plan: "only the plan, no code", "まだ禁止".
fn is_provisional(constraint: &str) -> bool {
    let bound = constraint.contains(['/', '`', '.', '_']);
    !bound && words(constraint).len() <= 6 && has_phrase(constraint, &PROVISIONAL, PROVISIONAL_UNSPACED)
}

/// Whether a permission and a constraint are about the same thing.
fn is_about(permission: &str, constraint: &str) -> bool {
    let things = |text: &str| -> Vec<Noun> {
        let named = nouns(text).into_iter().map(|found: Found<Noun>| found.means);
        named
            .filter(|noun| !matches!(noun, Noun::Anything | Noun::Code | Noun::File))
            .collect()
    };
    let (permitted, forbidden) = (things(permission), things(constraint));
    if permitted.iter().any(|noun| forbidden.contains(noun)) {
        return true;
    }
    let parts = |text: &str| -> Vec<String> {
        let all = content_words(text).flat_map(|word| {
            let parts: Vec<String> = word.split(['/', '.']).map(str::to_owned).collect();
            parts
        });
        all.filter(|part| part.len() > 3 && verbs(part).is_empty() && !phrased::assents(part))
            .collect()
    };
    let (allowed, constrained) = (parts(permission), parts(constraint));
    if allowed
        .iter()
        .any(|word| constrained.iter().any(|other| same_stem(word, other)))
    {
        return true;
    }
    // "Commit it" after "no commits".
    let of_noun = |noun: Noun| match noun {
        Noun::Commit => Some(Verb::Commit),
        Noun::Deployment => Some(Verb::Deploy),
        Noun::Push => Some(Verb::Push),
        _ => None,
    };
    let actions = |text: &str| -> Vec<Verb> {
        let named = nouns(text).into_iter().filter_map(|found| of_noun(found.means));
        verbs(text)
            .into_iter()
            .map(|found| found.means)
            .chain(named)
            .collect()
    };
    let forbidden_actions = actions(constraint);
    let is_same_action = actions(permission)
        .iter()
        .any(|verb| forbidden_actions.contains(verb));
    // "編集していいよ" after "編集はまだ禁止": the permission names nothing but the action.
    let names_nothing = permitted.is_empty() && allowed.is_empty();
    if !has_phrase(constraint, &AWAITING, AWAITING_UNSPACED) {
        return is_same_action && names_nothing && forbidden.is_empty() && constrained.is_empty();
    }
    let awaits_anything = names_nothing && forbidden.is_empty() && constrained.is_empty();
    is_same_action || awaits_anything || share_name(permission, constraint)
}

/// Whether two texts share a short name: "lr".
fn share_name(one: &str, other: &str) -> bool {
    let names = |word: &Word<'_>| word.folded.len() >= 2 && !is_stop_word(&word.folded);
    let others = words(other);
    words(one)
        .iter()
        .filter(|word| names(word))
        .any(|word| others.iter().any(|known| known.folded == word.folded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for list in [&AWAITING, &PROVISIONAL] {
            assert!(list.entries().is_sorted_by(|one, other| one < other));
        }
    }
}
