//! Sentences that say how to work, and not what to do: "Use British spelling", "Work in small steps".
//!
//! Beside a request they are no goal. What they ask for holds for the whole work.

use crate::scope::is_path;
use crate::text::{Word, any_phrase_at};

/// Verbs that open such a sentence.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "adhere", "answer", "apply", "be", "comment", "follow", "format", "give", "go", "keep", "make", "move", "name", "prefer", "proceed", "reply",
    "respond", "speak", "stay", "stick", "take", "think", "use", "work", "write",
    "achte", "antworte", "arbeite", "benutze", "bleib", "denk", "halte", "kommentiere", "nimm", "nutze", "schreib", "schreibe", "verwende",
    "adopte", "commente", "ecris", "garde", "prends", "reponds", "respecte", "reste", "travaille", "utilise",
    "comenta", "escribe", "mantem", "manten", "responde", "respeta", "sigue", "trabaja", "usa", "utiliza",
    "escreva", "escreve", "trabalhe", "usa", "use", "commenta", "lavora", "mantieni", "rispondi", "scrivi", "segui",
    "gebruik", "houd", "schrijf", "werk", "uzyj", "uzywaj", "pisz", "pracuj", "foloseste", "scrie", "lucreaza", "pastreaza",
    "используй", "пиши", "отвечай", "соблюдай", "працюй", "використовуй", "kullan", "yaz",
];

/// What such a sentence is about.
#[rustfmt::skip]
const MATTERS: &[&str] = &[
    "active voice", "british english", "american english", "british spelling", "american spelling", "camel case", "camelcase", "carefully",
    "careful", "code style", "coding style", "comments in", "concise", "conventional commits", "conventions", "english", "french", "german", "hard",
    "indentation", "kebab case", "kebab-case", "line length", "naming", "oxford comma", "pascalcase", "plain language", "sentence case",
    "short", "simple", "slowly", "small commits", "small steps", "snake case", "snake_case", "spaces", "spanish", "spelling", "step by step", "steps",
    "strict mode", "strict typing", "style", "style guide", "tabs", "terse", "tone", "type hints", "wording",
    "deutsch", "einfache sprache", "einruckung", "englisch", "formell", "kleinen schritten", "kleinschreibung", "kommentare", "konventionen",
    "kurz", "leerzeichen", "rechtschreibung", "schreibweise", "schritt fur schritt", "schritten", "stil", "ton",
    "anglais", "concis", "conventions", "espaces", "etapes", "francais", "indentation", "l'indentation", "l'orthographe", "orthographe", "l'anglais", "pas a pas", "petites etapes", "style", "ton",
    "convenciones", "espacios", "espanol", "estilo", "ingles", "ortografia", "pasos", "tono", "convencoes", "espacos", "passos", "portugues",
    "italiano", "inglese", "ortografia", "passi", "spazi", "stile", "tono", "engels", "kleine stappen", "nederlands", "spaties", "spelling", "stappen",
    "stijl", "angielski", "krokami", "malymi krokami", "ortografia", "spacje", "styl", "engleza", "ortografie", "pasi mici", "spatii", "stil",
    "английский", "английском", "маленькими шагами", "пробелы", "русском", "стиль", "стиле", "adim adim", "ingilizce",
];

/// What follows its noun: "l'orthographe britannique".
const ADJECTIVES: &[&str] = &[
    "americaine",
    "americana",
    "americano",
    "britanica",
    "britanico",
    "britannica",
    "britannique",
    "inglesa",
];

/// Verbs that also ask for a text.
#[rustfmt::skip]
const WRITING: &[&str] = &[
    "apply", "format", "give", "go", "make", "move", "name", "take", "write", "schreib", "schreibe", "ecris", "escribe", "escreva", "escreve", "scrivi", "schrijf", "pisz", "scrie", "пиши", "yaz",
];

/// The most words of a sentence that begins with one of them.
const MAX_WRITING: usize = 4;

/// The most words of such a sentence.
const MAX_WORDS: usize = 9;

/// Whether words after the lead-ins say how to work.
pub(super) fn says_how(words: &[Word<'_>]) -> bool {
    // "Move the tabs to the left" has an object of its own: what such a sentence is about ends it.
    let of_a_country = words.last().is_some_and(|last| last.is_any(ADJECTIVES));
    let end = words.len() - usize::from(of_a_country);
    let ends =
        (1..words.len()).any(|at| any_phrase_at(words, at, MATTERS).is_some_and(|length| at + length == end));
    // "Write the landing page in German" is work.
    let most = if words.first().is_some_and(|verb| verb.is_any(WRITING)) {
        MAX_WRITING
    } else {
        MAX_WORDS
    };
    words.len() <= most
        && words.first().is_some_and(|verb| verb.is_any(VERBS))
        && ends
        && !words.iter().any(|word| is_path(word.raw))
}
