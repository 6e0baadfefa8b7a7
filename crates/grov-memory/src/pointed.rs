//! Short prompts that point at something a memory may name: "why gp3?", "can we use pandas here?", "go on with the
//! metrics", "open Dockerfile".
//!
//! They have few words, so that what memory and prompt share says little by its amount. What they point at is enough.

use crate::mentioned_files;
use crate::prompt_kind::prompt_words;
use crate::vague::{asks_for_earlier_work, is_without_subject};
use grov_domain::{is_common_word, is_stop_word, words};
use std::collections::HashSet;

/// Maximum number of words at which a prompt points.
const MAX_SUBJECT: usize = 3;
/// Maximum length of such a prompt, in characters.
const MAX_CHARACTERS: usize = 120;

/// Beginnings of prompts that go on with work, or ask how far it is.
#[rustfmt::skip]
const GOING_ON: &[&str] = &[
    "go on ", "carry on ", "keep going ", "keep working ", "pick up ", "continue ", "resume ", "finish ", "complete ", "let's finish ",
    "what about the ", "how far ", "mach weiter ", "weiter mit ", "mach mit ", "beende ", "wie weit ", "continue avec ", "reprends ", "termine ",
    "finis ", "ou en est ", "où en est ", "sigue con ", "continúa con ", "termina ", "acaba ", "continua con ", "continua com ", "finisci ",
    "riprendi ", "ga verder met ", "maak ", "kontynuuj ", "dokończ ", "skończ ", "continuă cu ", "termină ", "продолжи ", "закончи ",
    "доделай ", "продовж ", "закінчи ", "继续", "接着", "完成", "続けて", "계속",
];

/// Beginnings of prompts that would use something.
#[rustfmt::skip]
const USING: &[&str] = &[
    "use ", "let's use ", "switch to ", "go back to ", "try ", "install ", "nimm ", "benutze ", "verwende ", "nutze ", "utilise ", "prends ", "usa ",
    "utiliza ", "use o ", "use a ", "gebruik ", "użyj ", "folosește ", "foloseste ", "используй ", "возьми ", "використай ", "用", "使用", "改用",
];

/// Words beside what is asked about: to use, to choose, to open; allowed, fine, better.
#[rustfmt::skip]
const BESIDE: &[&str] = &[
    "use", "used", "using", "choose", "chose", "chosen", "pick", "picked", "take", "took", "taken", "try", "switch", "go", "back", "open", "look",
    "show", "read", "see", "edit", "install", "add", "need", "allowed", "allow", "ok", "okay", "fine", "possible", "better", "good", "instead",
    "really", "still", "based", "built", "made", "bring", "here", "work", "finish", "let's", "ever", "want", "wanted", "like", "mean",
    "may", "must", "dürfen", "darf", "können", "kann", "könnten", "müssen", "sollen", "sollten", "pouvons", "peut", "peux", "faut", "devons", "podemos",
    "puedo", "puede", "debemos", "posso", "possiamo", "possiamo", "dobbiamo", "mogen", "kunnen", "moeten", "możemy", "można", "putem", "pot",
    "нужно", "можемо",
    "benutzen", "nutzen", "verwenden", "verwendet", "nehmen", "genommen", "erlaubt", "gut", "besser", "öffne", "zeig", "wieder", "statt", "wollen",
    "utiliser", "prendre", "utilisé", "utilise", "permis", "possible", "mieux", "ouvre", "montre", "usar", "usamos", "usado", "tomar",
    "permitido", "mejor", "abre", "melhor", "abra", "usare", "usato", "meglio", "apri", "gebruiken", "gebruikt", "beter", "użyć", "używać",
    "używamy", "otwórz", "folosi", "folosim", "deschide", "использовать", "использовали", "взять", "взяли", "открой", "можем", "можно",
    "використати", "відкрий", "kullan", "kullanabilir", "kullanalım",
];

/// What a prompt points at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointed {
    /// The words, as [`words`] returns them; empty if it points at nothing.
    pub(crate) subject: HashSet<String>,
    /// Whether it goes on with work, or asks how far that is.
    pub(crate) goes_on: bool,
}

/// What a prompt points at, which names these files: nothing, if it has more words than a short question or order.
pub(crate) fn pointed(prompt: &str, files: &[String]) -> Pointed {
    let prompt = prompt.trim();
    if prompt.chars().nth(MAX_CHARACTERS).is_some() || prompt.contains('\n') {
        return Pointed::default();
    }
    let lower = prompt.to_lowercase();
    let lower = lower.trim_start_matches(['¿', '¡', ' ']);
    let begins = |table: &[&str]| table.iter().any(|entry| lower.starts_with(entry));
    let spoken = prompt_words(prompt);
    let goes_on = begins(GOING_ON) || spoken.iter().any(|word| asks_for_earlier_work(word));
    let is_question = prompt.ends_with(['?', '？']);
    let subject: Vec<&String> = spoken.iter().filter(|word| is_subject(word)).collect();
    let names_file_only = !files.is_empty() && subject.iter().all(|word| is_of_file(word, files));
    let points = goes_on || is_question || begins(USING) || names_file_only;
    if !points || subject.is_empty() || subject.len() > MAX_SUBJECT {
        return Pointed::default();
    }
    Pointed {
        subject: subject.iter().flat_map(|word| words(word, 8)).collect(),
        goes_on,
    }
}

/// Whether a text names a subject: two words of content, or one that is not common, beside files.
pub(crate) fn has_subject(text: &str) -> bool {
    let files = mentioned_files(text);
    let spoken = prompt_words(text);
    let subject: Vec<&String> = spoken
        .iter()
        .filter(|word| is_subject(word) && !is_of_file(word, &files))
        .collect();
    let is_rare = |word: &&String| words(word, 8).iter().any(|stem| !is_common_word(stem));
    subject.len() > 1 || subject.iter().any(is_rare)
}

/// Whether a word says what the prompt is about.
fn is_subject(word: &str) -> bool {
    let is_filler = |stem: &String| is_stop_word(stem);
    !BESIDE.contains(&word) && !is_without_subject(word) && !words(word, 8).iter().all(is_filler)
}

fn is_of_file(word: &str, files: &[String]) -> bool {
    files.iter().any(|file| file.to_lowercase().ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(prompt: &str) -> Vec<String> {
        let mut subject: Vec<String> = pointed(prompt, &mentioned_files(prompt))
            .subject
            .into_iter()
            .collect();
        subject.sort();
        subject
    }

    #[test]
    fn a_short_question_points_at_its_subject() {
        for (prompt, expected) in [
            ("why distroless?", &["distroless"] as &[&str]),
            ("can we use pandas here?", &["panda"]),
            ("is freezegun ok?", &["freezegun"]),
            ("go on with the metrics", &["metric"]),
            (
                "what is the state of the Redis migration?",
                &["migration", "redis"],
            ),
            ("use moment for this", &["moment"]),
            ("warum distroless?", &["distroless"]),
            ("dürfen wir hier pandas benutzen?", &["panda"]),
            ("pourquoi distroless ?", &["distroless"]),
            ("¿por qué distroless?", &["distroless"]),
            ("perché distroless?", &["distroless"]),
            ("почему distroless?", &["distroless"]),
            ("open Dockerfile", &["dockerfil"]),
        ] {
            assert_eq!(subject(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn other_prompts_point_at_nothing() {
        for prompt in [
            "continue",
            "why?",
            "add a favicon",
            "fix the failing test",
            "rename variable foo in utils.py",
            "the report takes three hours again",
            "how do we deploy the new service to the second region of the cluster?",
        ] {
            assert!(subject(prompt).is_empty(), "{prompt}: {:?}", subject(prompt));
        }
    }
}
