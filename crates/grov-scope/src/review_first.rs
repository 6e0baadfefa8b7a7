//! "Let me review it before you push": the user wants to see something first. It is a way to say "ask me before you push".

use crate::phrases::PhraseList;
use crate::words::Word;

/// The most words between the wish and "before".
const MAX_BETWEEN: usize = 10;

/// The most words after "before".
const MAX_ACTION: usize = 7;

/// What opens the wish, if a word for seeing follows.
#[rustfmt::skip]
static WISHES: PhraseList = PhraseList::of(&[
    "arata-mi", "as vrea sa", "chce", "chcialbym", "daj mi", "deixa eu", "deixa-me", "deixe-me", "dejame", "ensename", "fammi", "i have to", "i need to", "i want to", "i'd like to", "ich mochte", "ich muss", "ich will",
    "ik moet", "ik wil", "j'aimerais", "je veux", "je voudrais", "laat me", "laat mij", "laisse moi", "laisse-moi", "laissez-moi", "lasa-ma", "lasciami", "lass mich", "let me", "let us", "me deixa", "me deixe",
    "me mostra", "me mostre", "montre moi", "montre-moi", "montrez-moi", "mostra-me", "mostrami", "muestrame", "pokaz mi", "quero", "quiero", "quisiera", "show me", "show us", "toon me", "voglio", "vorrei",
    "vreau sa", "we want to", "zeig mir", "zeige mir",
]);

/// Wishes that need no word for seeing.
#[rustfmt::skip]
const SHOWING: &[&str] = &[
    "arata-mi", "ensename", "me", "montre", "montre-moi", "montrez-moi", "mostra-me", "mostrami", "muestrame", "pokaz", "show", "toon", "zeig", "zeige",
];

/// Words for seeing.
#[rustfmt::skip]
const SEEING: &[&str] = &[
    "approve", "check", "confirm", "inspect", "look", "read", "review", "see", "test", "try", "verify", "anschauen", "ansehen", "anseh", "durchlesen", "draufschauen", "druberschauen", "freigeben", "lesen", "prufen",
    "reviewen", "sehen", "testen", "drauf", "drubersehen", "lire", "regarder", "relire", "revoir", "tester", "valider", "verifier", "voir", "comprobar", "comprobarlo", "leer", "leerlo", "mirar", "mirarlo", "probar",
    "revisar", "revisarlo", "revisarla", "ver", "verla", "verlo", "controllare", "guardare", "leggere", "provare", "rivedere", "rileggere", "vedere", "verificare", "conferir", "ler", "olhar", "testar", "verificar",
    "bekijken", "controleren", "kijken", "lezen", "nakijken", "zien", "obejrzec", "przeczytac", "przejrzec", "przetestowac", "sprawdzic", "zerknac", "zobaczyc", "citesc", "revizuiesc", "testez", "uit", "vad", "verific",
];

/// Words for "before", longest first.
#[rustfmt::skip]
static BEFORE: PhraseList = PhraseList::of(&[
    "antes de", "antes de que", "antes do", "antes que", "avant d'", "avant de", "avant le", "avant que", "before", "bevor", "ehe", "inainte de", "inainte sa", "prima che", "prima del", "prima di", "przed",
    "voor de", "voor het", "voor je", "voordat", "vor dem", "vor der", "zanim",
]);

/// Words with which "before" tells of an event of something else: "before the chart is drawn".
#[rustfmt::skip]
const THINGS: &[&str] = &[
    "the", "a", "an", "it", "they", "he", "she", "der", "die", "das", "er", "sie", "le", "la", "les", "il", "elle", "el", "los", "las", "lo", "gli", "o", "os", "de", "het",
];

/// A wish to see something first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewFirst {
    /// The first word of what waits for it, after "before".
    pub action: usize,
    /// The last word of that.
    pub last: usize,
}

/// The wish that begins at a word.
pub fn review_first(words: &[Word<'_>], from: usize) -> Option<ReviewFirst> {
    let wish = WISHES.at(words, from)?;
    let shows = words[from..from + wish]
        .iter()
        .all(|word| word.is_any(SHOWING) || word.is_any(&["mi", "mir", "moi", "mostra", "mostre", "us"]));
    let after = from + wish;
    let end = words.len().min(after + MAX_BETWEEN + 1);
    let (before, length) = (after..end).find_map(|at| Some((at, BEFORE.at(words, at)?)))?;
    let between = &words[after..before];
    let sees = shows || between.iter().any(|word| word.is_any(SEEING));
    let ends = between
        .iter()
        .any(|word| word.after.contains(['.', '!', '?', ';', ':']));
    let action = before + length;
    let last = (action..words.len()).find(|at| words[*at].pauses() || at + 1 == words.len())?;
    // "Before the push" is an action of the agent, "before the chart is drawn" is none.
    let is_noun = length > 1
        && !words[before..action]
            .iter()
            .any(|word| word.is_any(&["che", "que", "sa", "je"]));
    let is_event = !is_noun && words[action].is_any(THINGS) && last > action + 1;
    (sees && !ends && !is_event && last - action < MAX_ACTION).then_some(ReviewFirst { action, last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn searched_tables_are_sorted() {
        for list in [&WISHES, &BEFORE] {
            assert!(list.entries().is_sorted_by(|one, other| one < other));
        }
    }

    #[test]
    fn a_wish_to_see_it_first_waits_for_the_user() {
        let action = |text: &str| {
            let words = words(text);
            let found = (0..words.len()).find_map(|at| review_first(&words, at))?;
            Some(
                words[found.action..=found.last]
                    .iter()
                    .map(|word| word.raw)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        for (text, expected) in [
            ("let me review before you push", "you push"),
            (
                "fix it and let me have a look before you commit, please",
                "you commit",
            ),
            (
                "show me the numbers before anything is written",
                "anything is written",
            ),
            ("I'd like to look at it before you merge", "you merge"),
            ("lass mich das ansehen, bevor du pushst", "du pushst"),
            ("laisse-moi relire avant de pousser", "pousser"),
            ("déjame revisarlo antes de hacer push", "hacer push"),
            ("fammi rivedere prima di fare push", "fare push"),
            ("deixa eu revisar antes de fazer push", "fazer push"),
            ("laat me het nakijken voordat je pusht", "je pusht"),
            ("daj mi przejrzeć, zanim wypchniesz", "wypchniesz"),
            ("lasă-mă să verific înainte de push", "push"),
        ] {
            assert_eq!(action(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "the user can review before you push the order",
            "show the numbers before the chart is drawn",
            "show me the numbers before the chart is drawn",
            "let me know before Friday what you think, or rather tell me what it is that you want to do next",
            "I want to upgrade before the release",
            "let me see. Before you push to the queue, check the size",
        ] {
            assert_eq!(action(text), None, "{text}");
        }
    }
}
