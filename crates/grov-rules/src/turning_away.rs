//! Recognizes prompts that turn away from the work so far: "Forget that; rather fix the footer."

use super::goal::Sentence;
use super::text::Word;
use grov_scope::phrases::PhraseList;

/// Phrases at the beginning of a clause, folded: English, German, French, Spanish, Italian, Portuguese, Polish, Dutch,
/// Romanian.
#[rustfmt::skip]
static PHRASES: PhraseList = PhraseList::of(&[
    "alta treaba", "altceva", "altra cosa", "altro compito", "andere aufgabe", "andere taak", "another task",
    "autre chose", "autre tache", "cambio de planes", "cambio di programma", "change of plan", "change of plans",
    "change of subject", "changement de plan", "cos innego", "deixa pra la", "different task", "different topic",
    "dimentica", "dimentichiamo", "esqueca isso", "esquece a", "esquece isso", "esquece o", "etwas anderes",
    "forget about", "forget all", "forget everything", "forget it", "forget that", "forget the", "forget this",
    "forget what i", "iets anders", "inne zadanie", "laat maar", "laisse tomber", "laissons tomber", "las-o balta",
    "lascia perdere", "lasciamo perdere", "let's do something else", "let's drop that", "let's drop this",
    "moving on to", "mudanca de planos", "neue aufgabe", "neuer plan", "new plan", "new task", "new topic",
    "nieuwe taak", "niewazne", "nouvelle tache", "nova tarefa", "nowe zadanie", "nueva tarea", "nuovo compito",
    "olvida eso", "olvida esto", "olvida lo", "olvidalo", "olvidate de", "olvidemos", "on to something else",
    "otra cosa", "otra tarea", "oublie ca", "oublie cela", "oublie tout", "oublions ca", "outra coisa", "outra tarefa",
    "plananderung", "schimbare de plan", "scratch all", "scratch that", "something completely different",
    "something else", "stop working on", "task nou", "uita asta", "uita de", "verandering van plan", "vergeet dat",
    "vergeet het", "vergessen wir das", "vergiss alles", "vergiss das", "vergiss es", "was anderes", "zapomnij o",
    "zapomnijmy o", "zmiana planow",
]);

/// Phrases that turn away only if nothing follows them in the clause: "Drop that, ..." but not "drop that column".
#[rustfmt::skip]
static WHOLE_CLAUSES: PhraseList = PhraseList::of(&[
    "abandon that", "abandon this", "cancel that", "cancel this", "deixa isso", "deja eso", "dejalo", "drop it",
    "drop that", "drop this", "laat dat", "laisse ca", "lasa asta", "lascia stare", "lass das", "lass das sein",
    "lass es", "leave it", "leave that", "leave this", "never mind", "nevermind", "nvm", "renunta la asta", "stop that",
    "stop this", "zostaw to",
]);

/// Beginnings of sentences in Chinese and Japanese.
const UNSPACED: &[&str] = &[
    "算了",
    "忘掉",
    "忘了",
    "忘记",
    "别管",
    "先不管",
    "新任务",
    "换个任务",
    "それは忘れて",
    "忘れて",
    "その件は忘れて",
    "別のタスク",
    "新しいタスク",
    "別の作業",
];

/// Words before such a phrase.
#[rustfmt::skip]
static LEADS: PhraseList = PhraseList::of(&[
    "ach", "actually", "and", "anzi", "bine", "bitte", "bom", "bon", "bueno", "but", "dai", "de", "dobra", "doch",
    "fapt", "finalement", "hm", "hmm", "let's", "mais", "mejor", "nah", "ne", "nee", "nein", "nie", "no", "non", "nu",
    "oh", "ok", "okay", "pero", "please", "sorry", "toch", "wait", "well",
]);

/// Whether a prompt with these sentences turns away from the work so far.
pub(crate) fn turns_away(sentences: &[Sentence<'_>]) -> bool {
    sentences.iter().any(|sentence| {
        let text = sentence.text().trim_start();
        UNSPACED.iter().any(|phrase| text.starts_with(phrase)) || in_words(sentence.words())
    })
}

fn in_words(all: &[Word<'_>]) -> bool {
    let mut at_start = true;
    // Only words of `LEADS` so far.
    let mut is_led = true;
    for (at, word) in all.iter().enumerate() {
        if at_start {
            if PHRASES.at(all, at).is_some() {
                return true;
            }
            let whole = WHOLE_CLAUSES.at(all, at).filter(|_| is_led);
            if whole.is_some_and(|length| all[at + length - 1].pauses() || at + length == all.len()) {
                return true;
            }
        }
        let is_lead = LEADS.contains(&word.folded);
        is_led &= is_lead;
        at_start = word.pauses() || at_start && is_lead;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::extract_intent;
    use grov_domain::IntentQuestion;

    fn turns(prompt: &str) -> bool {
        let question = IntentQuestion {
            prompts: vec![prompt.to_owned()],
            first_files: Vec::new(),
        };
        extract_intent(&question).turns_away
    }

    #[test]
    fn phrases_are_folded_and_sorted() {
        for list in [&PHRASES, &WHOLE_CLAUSES, &LEADS] {
            assert!(list.entries().is_sorted_by(|one, other| one < other));
        }
        let lists = [&PHRASES, &WHOLE_CLAUSES, &LEADS];
        for phrase in lists.into_iter().flat_map(PhraseList::entries) {
            assert_eq!(crate::text::fold(phrase), *phrase);
        }
    }

    #[test]
    fn prompts_that_give_the_work_up_turn_away() {
        for prompt in [
            "Forget that; rather fix the footer.",
            "forget the cache, fix the footer instead",
            "Actually, never mind. Add a dark mode to src/theme.css",
            "ok scratch that - write the release notes",
            "Drop that, and look at the login instead.",
            "New task: translate README.md into French",
            "Change of plans. Upgrade axum first.",
            "Vergiss das, repariere lieber den Footer.",
            "Ach, lass das. Schreib die Doku.",
            "Laisse tomber, corrige plutôt le pied de page.",
            "Olvídalo, mejor arregla el pie de página.",
            "Lascia perdere, sistema il footer.",
            "Esquece isso, corrige o rodapé.",
            "Zapomnij o tym, popraw stopkę.",
            "Laat maar, maak de footer.",
            "Uită de asta, mai bine repară footerul.",
            "算了，先修一下页脚。",
            "それは忘れて、フッターを直して。",
        ] {
            assert!(turns(prompt), "{prompt}");
        }
    }

    #[test]
    fn prompts_that_go_on_do_not_turn_away() {
        for prompt in [
            "Don't forget the tests.",
            "Also fix the footer.",
            "Drop that column and migrate the data.",
            "Drop the table users.",
            "Leave that file alone.",
            "Lass das Menü in Ruhe.",
            "No, use Redis instead.",
            "The form must not forget that the user is logged in.",
            "Users forget the password; add a reset link.",
            "Add a button for a new task.",
            "go on",
            "Never mind the warnings in vendor, but fix ours.",
            "Can the cache forget this entry?",
            "Looks good. prod.py I will write though, leave it",
        ] {
            assert!(!turns(prompt), "{prompt}");
        }
    }
}
