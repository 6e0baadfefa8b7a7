//! Removals of what a pronoun stands for: "drop it" asks for a removal of data only if the text before names some, or nothing.
//! "The import crashes with a KeyError, get rid of it" is about the error.

use super::code_objects::Objects;
use super::forms::is_form_of;
use crate::danger::stems::{REMOVE, TIDY};
use crate::words::Word;

/// Pronouns for things.
#[rustfmt::skip]
const PRONOUNS: &[&str] = &[
    "it", "them", "this", "that", "those", "these", "es", "das", "die", "den", "sie", "ihn", "ca", "cela", "eso", "esto", "isso", "isto", "to", "het", "dat", "его", "это", "их", "её", "ее", "onu", "bunu",
];

/// Pronouns at the end of a verb: "quítalo", "scoate-o", "enlève-la".
#[rustfmt::skip]
const ENDINGS: &[&str] = &["lo", "la", "los", "las", "-l", "-o", "-i", "-le", "-la", "-les", "-lo", "-as", "-os", "-a"];

/// The same in languages without spaces.
const UNSPACED: &[&str] = &["它", "这个", "那个", "それ", "これ"];

/// Words between a verb and the end of its clause that name no object.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "of", "rid", "all", "up", "out", "away", "off", "down", "now", "please", "pls", "then", "again", "completely", "entirely", "too", "instead", "mal", "bitte", "weg", "raus", "auf", "einfach", "doch", "jetzt", "wieder", "go", "alle", "ab",
    "por", "favor", "ya", "stp", "svp", "te", "rog", "prosze", "maar", "even", "пожалуйста",
];

/// Verbs that remove something together with "away" or "out".
const THROWING: &[&str] = &["throw", "toss", "chuck", "kick", "make", "take"];

/// Stems of words for what goes wrong, or is only thought of.
#[rustfmt::skip]
const PROBLEMS: &[&str] = &[
    "error", "warning", "bug", "crash", "exception", "failure", "fails", "failing", "flicker", "flaky", "flash", "lag", "leak", "traceback", "glitch", "typo", "noise", "keyerror", "typeerror", "idea", "annoying", "jitter", "deprecat",
    "fehler", "warnung", "absturz", "flacker", "idee", "nervt", "erreur", "avertissement", "plante", "clignot", "idee", "errore", "avviso", "advertencia", "parpade", "fallo", "falla", "aviso", "erro", "eroare", "avertis", "blad", "ostrzez",
    "fout", "waarschuw", "ошибк", "предупрежд", "hata", "uyari", "报错", "错误", "警告", "闪", "エラー", "警告", "ちらつ",
];

/// The most words before a verb among which its object is looked for.
const BEFORE: usize = 30;

/// Whether the word at a position removes what a pronoun stands for, and what stands before is not data or a service.
pub(super) fn is_vague_removal(words: &[Word<'_>], at: usize, objects: &Objects) -> bool {
    let word = &words[at];
    has_pronoun(words, at)
        && (is_form_of(&word.folded, REMOVE) || is_form_of(&word.folded, TIDY))
        && lacks_thing(words, at, objects)
}

/// Whether the word at a position, the last of "throw it away", "make it go away" or "it can go", removes what a pronoun stands for,
/// and what stands before is not data or a service.
pub(super) fn is_vague_phrase(words: &[Word<'_>], at: usize, objects: &Objects) -> bool {
    const NEAR: usize = 3;
    let from = at.saturating_sub(NEAR);
    let pronoun = words[from..at].iter().rposition(|word| word.is_any(PRONOUNS));
    pronoun.is_some_and(|pronoun| lacks_thing(words, from + pronoun, objects))
}

/// Whether the text before a position names no data and no service that could be removed. Nothing before names what was talked of.
fn lacks_thing(words: &[Word<'_>], at: usize, objects: &Objects) -> bool {
    const MIN_LETTERS: usize = 4;
    let from = at.saturating_sub(BEFORE);
    let earlier = &words[from..at];
    // Polite words and the rest of the clause name nothing.
    let names_something = earlier
        .iter()
        .any(|word| word.folded.len() >= MIN_LETTERS && !word.is_any(SMALL) && !word.is_any(THROWING));
    let is_problem = |word: &Word<'_>| is_form_of(&word.folded, PROBLEMS);
    // Languages without spaces have what goes wrong and the verb in one word.
    let own = words
        .get(at)
        .is_some_and(|word| !word.raw.is_ascii() && is_problem(word));
    names_something && (earlier.iter().any(is_problem) || !objects.name_thing(from, at)) || own
}

fn has_pronoun(words: &[Word<'_>], at: usize) -> bool {
    let word = &words[at];
    if !word.raw.is_ascii() && UNSPACED.iter().any(|part| word.folded.contains(part)) {
        return true;
    }
    let end = words[at..]
        .iter()
        .position(Word::pauses)
        .map_or(words.len(), |end| at + end + 1);
    let rest = words[at + 1..end].iter();
    let mut rest = rest.take_while(|word| !word.is_any(super::JOINING));
    let ends_with_pronoun = ENDINGS
        .iter()
        .any(|ending| word.folded.len() > 4 && word.folded.ends_with(ending));
    let mut count = 0;
    let all_small = rest.all(|word| {
        let is_pronoun = word.is_any(PRONOUNS);
        count += usize::from(is_pronoun);
        is_pronoun || word.is_any(SMALL)
    });
    let before = at.checked_sub(1).map(|before| &words[before]);
    let follows = before.is_some_and(|before| before.is_any(PRONOUNS) && !before.pauses());
    let follows_adverb = at >= 2 && words[at - 2].is_any(PRONOUNS) && words[at - 1].is_any(SMALL);
    all_small && (count > 0 || ends_with_pronoun || follows || follows_adverb)
}
