//! Whether a prompt can be understood without the prompts before it, so that it may ask for other work although it is short:
//! "translate the emails to French".

use super::goal::{Sentence, skip_lead_ins};
use super::prompt::{Objection, Relation, objection, relation};
use super::scope;
use super::text::{Word, has_phrase};
use grov_domain::is_function_word;

/// The fewest subject words of a request of its own.
const MIN_SUBJECT: usize = 2;

/// The fewest of a prompt that states a fault: "the page crashes, fix it" is about the work.
const MIN_SUBJECT_OF_FAULT: usize = 3;

/// The fewest words of a statement of what something needs.
const MIN_NEED: usize = 4;

/// Words that refer to earlier text, or compare with it.
#[rustfmt::skip]
const REFERRING: &[&str] = &[
    "aceasta", "acesta", "again", "asta", "aussi", "ca", "ceci", "cela", "celle", "celui", "celui-ci", "da", "daar", "dabei", "dafur",
    "damit", "daran", "darauf", "daraus", "das", "davon", "dazu", "dazwischen", "deze", "dies", "diese", "diesen", "dieses", "disso", "dit",
    "dort", "erin", "ervan", "ervoor", "eso", "esta", "estas", "este", "esto", "here", "het", "hier", "hierfur", "hiermee", "hierzu",
    "idem", "igual", "instead", "isso", "isto", "it", "it's", "its", "la-fel", "lo", "lo-mismo", "mismo", "nisso", "nochmal", "pareil",
    "previous", "questa", "questo", "same", "stattdessen", "tam", "tego", "tej", "that", "that's", "them", "there", "these", "they", "this",
    "those", "to", "too", "tutaj", "uguale", "wieder", "y", "там", "это", "этого", "этот",
];

/// Words by which a statement says what is wanted: "the home page needs a dark mode".
#[rustfmt::skip]
const NEEDS: &[&str] = &[
    "a besoin d'", "a besoin d'un", "a besoin d'une", "a besoin de", "ar trebui", "are nevoie", "benotigt", "braucht", "deberia", "deveria",
    "devrait", "doit avoir", "dovrebbe", "fehlt ein", "fehlt eine", "ha bisogno", "hace falta", "heeft een", "il faudrait", "il faut",
    "necesita", "needs a", "needs an", "needs more", "needs some", "potrzebuje", "powinien", "powinna", "powinno", "precisa de",
    "should get", "should have", "soll", "sollte", "zou moeten", "нужен", "нужна", "нужно",
];

/// Verbs of orders that say how the work is to be done: "use the existing component".
#[rustfmt::skip]
const MANNERS: &[&str] = &[
    "avoid", "behalte", "behoud", "benutze", "call", "conserva", "evita", "evite", "foloseste", "garde", "gardez", "gebruik", "keep", "lass",
    "leave", "mantem", "manten", "mantieni", "name", "neem", "nenne", "nimm", "noem", "nomme", "pastreaza", "prefer", "prends", "prendi", "stick",
    "toma", "usa", "use", "uses", "utilisa", "utilise", "utilisez", "utiliza", "utilizza", "uzyj", "vermeide", "verwende", "zachowaj", "zostaw",
    "используй", "оставь", "сохрани",
];

/// Whether a statement says what something is to have.
pub(super) fn states_need(sentence: &Sentence<'_>) -> bool {
    let words = sentence.words();
    words.len() >= MIN_NEED && sentence.constraints().is_empty() && has_phrase(words, NEEDS)
}

/// Whether a prompt whose sentence at `at` states its goal has a subject of its own. It may be about the same as an earlier one.
pub(super) fn has_own_subject(sentences: &[Sentence<'_>], at: usize) -> bool {
    let sentence = &sentences[at];
    let read: Vec<&[Word<'_>]> = sentences.iter().map(Sentence::words).collect();
    let joins = matches!(
        relation(&read),
        Relation::Before | Relation::Beside | Relation::Back
    );
    let objects = read
        .iter()
        .take(3)
        .any(|words| objection(words) == Objection::Plain);
    // Scripts without spaces have no words to compare.
    let is_spaced = !sentence.text().chars().any(|letter| letter > '\u{3040}');
    let asks = sentence.asks_by_itself() || sentence.states_fault() || states_need(sentence);
    if joins || objects || !asks || !is_spaced || sentences.iter().any(Sentence::continues) {
        return false;
    }
    let head = sentence.head();
    let refers = |word: &Word<'_>| {
        // English "to" and French "y" are no pronouns; Polish "to" and Spanish "lo" are.
        let is_english = sentence
            .words()
            .iter()
            .any(|word| word.is_any(&["the", "a", "an"]));
        word.is_any(REFERRING) && !(is_english && word.is_any(&["to", "y", "lo", "das", "da"]))
    };
    // "Hazlo", "cámbialo", "corrige-le".
    let is_enclitic = head.first().is_some_and(|first| {
        let ends = |ending: &&str| first.folded.ends_with(*ending);
        ["-la", "-le", "-les", "lo"].iter().any(ends) && first.folded.len() > 4
    });
    let opens = skip_lead_ins(head);
    let tells_manner = head.get(opens).is_some_and(|verb| verb.is_any(MANNERS));
    let names = head
        .iter()
        .any(|word| word.raw.len() > 3 && scope::is_path(word.raw));
    let text = head.last().map_or("", |last| &sentence.text()[..last.end]);
    let least = if sentence.states_fault() {
        MIN_SUBJECT_OF_FAULT
    } else {
        MIN_SUBJECT
    };
    !is_enclitic && !tells_manner && !head.iter().any(refers) && (names || subject(text).len() >= least)
}

/// The subject words of a text in any language.
fn subject(text: &str) -> Vec<String> {
    let mut words = scope::subject(text);
    words.retain(|word| !is_function_word(word));
    words
}

/// Whether a goal shares no subject word with the parts of an earlier one.
pub(super) fn is_about_other_work(goal: &str, earlier: &[String]) -> bool {
    let own = subject(goal);
    let is_shared = |word: &String| own.iter().any(|own| is_same_word(own, word));
    !earlier.iter().any(|part| subject(part).iter().any(is_shared))
}

/// Whether two words are equal but for an ending: "parser" and "parsers", and not "correos" and "corrige".
fn is_same_word(one: &str, other: &str) -> bool {
    let letters = one.chars().zip(other.chars());
    let common = letters.take_while(|(one, other)| one == other).count();
    let longest = one.chars().count().max(other.chars().count());
    one == other || common >= 4 && common * 4 >= longest * 3
}
