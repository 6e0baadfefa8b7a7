//! Recognizes prompts that turn away from the work so far: "Forget that; rather fix the footer."

use super::text::{Word, any_phrase_at, words};

/// Phrases at the beginning of a clause, folded: English, German, French, Spanish, Italian, Portuguese, Polish, Dutch,
/// Romanian.
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "forget that", "forget this", "forget it", "forget about", "forget the", "forget all", "forget everything",
    "forget what i", "scratch that", "scratch all", "change of plan",
    "change of plans", "change of subject", "new plan", "new task", "different task", "another task", "new topic",
    "different topic", "something else", "something completely different", "let's do something else",
    "let's drop that", "let's drop this", "moving on to", "on to something else", "stop working on", "vergiss das",
    "vergiss es", "vergiss alles", "vergessen wir das", "neue aufgabe", "andere aufgabe", "etwas anderes",
    "was anderes", "plananderung", "neuer plan", "oublie ca", "oublie cela", "oublie tout", "oublions ca",
    "laisse tomber", "laissons tomber", "nouvelle tache", "autre tache", "autre chose", "changement de plan",
    "olvida eso", "olvida esto", "olvida lo", "olvidalo", "olvidate de", "olvidemos", "nueva tarea", "otra tarea",
    "otra cosa", "cambio de planes", "dimentica", "dimentichiamo", "lascia perdere", "lasciamo perdere",
    "nuovo compito", "altro compito", "altra cosa", "cambio di programma", "esquece isso", "esqueca isso",
    "esquece o", "esquece a", "deixa pra la", "nova tarefa", "outra tarefa", "outra coisa", "mudanca de planos",
    "zapomnij o", "zapomnijmy o", "niewazne", "nowe zadanie", "inne zadanie", "cos innego", "zmiana planow",
    "vergeet dat", "vergeet het", "laat maar", "nieuwe taak", "andere taak", "iets anders", "verandering van plan",
    "uita de", "uita asta", "las-o balta", "task nou", "alta treaba", "altceva", "schimbare de plan",
];

/// Phrases that turn away only if nothing follows them in the clause: "Drop that, ..." but not "drop that column".
#[rustfmt::skip]
const WHOLE_CLAUSES: &[&str] = &[
    "never mind", "nevermind", "nvm", "drop that", "drop this", "drop it", "stop that", "stop this", "cancel that", "cancel this", "abandon that",
    "abandon this", "leave that", "leave this", "leave it", "lass das", "lass es", "lass das sein", "laisse ca",
    "dejalo", "deja eso", "lascia stare", "deixa isso", "zostaw to", "laat dat", "lasa asta", "renunta la asta",
];

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
const LEADS: &[&str] = &[
    "ok", "okay", "no", "nah", "actually", "oh", "hm", "hmm", "wait", "please", "sorry", "well", "and", "but",
    "let's", "ach", "nein", "ne", "bitte", "doch", "non", "bon", "mais", "finalement", "bueno", "pero", "mejor",
    "dai", "anzi", "bom", "nie", "dobra", "nee", "toch", "nu", "bine", "de", "fapt",
];

/// Whether a prompt with these sentences turns away from the work so far.
pub(crate) fn turns_away<'a>(mut sentences: impl Iterator<Item = &'a str>) -> bool {
    sentences.any(|sentence| {
        UNSPACED
            .iter()
            .any(|phrase| sentence.trim_start().starts_with(phrase))
            || in_words(&words(sentence))
    })
}

fn in_words(all: &[Word<'_>]) -> bool {
    let mut at_start = true;
    for (at, word) in all.iter().enumerate() {
        if at_start {
            if any_phrase_at(all, at, PHRASES).is_some() {
                return true;
            }
            let whole = any_phrase_at(all, at, WHOLE_CLAUSES);
            if whole.is_some_and(|length| all[at + length - 1].pauses() || at + length == all.len()) {
                return true;
            }
        }
        at_start = word.pauses() || at_start && word.is_any(LEADS);
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
    fn phrases_are_folded() {
        let all = PHRASES.iter().chain(WHOLE_CLAUSES).chain(LEADS);
        for phrase in all {
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
        ] {
            assert!(!turns(prompt), "{prompt}");
        }
    }
}
