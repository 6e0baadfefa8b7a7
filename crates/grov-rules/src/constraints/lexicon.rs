//! Vocabulary of constraints that is the same in several languages, folded: lower case, without diacritics.

use grov_scope::phrases::PhraseList;

/// Words between a negation and its verb.
#[rustfmt::skip]
pub(super) static CLITICS: PhraseList = PhraseList::of(&[
    "a", "absolutamente", "ao", "aux", "ci", "cumva", "de", "en", "faire", "fare", "fazer", "gli", "go", "hacer",
    "hagas", "i", "ich", "ii", "il", "im", "imi", "je", "jej", "l", "la", "las", "le", "les", "lhe", "li", "lo",
    "los", "mai", "mas", "me", "mi", "mu", "nada", "ne", "nic", "niczego", "nos", "nous", "o", "os", "pas", "piu",
    "rien", "se", "si", "sie", "surtout", "te", "tego", "ti", "to", "tutto", "um", "va", "vayas", "vi", "vous", "w",
    "y",
]);

/// Pronouns: after a verb they make it a statement or question, before it a description.
#[rustfmt::skip]
pub(super) static SUBJECTS: PhraseList = PhraseList::of(&[
    "ca", "cela", "das", "dat", "deze", "dies", "dit", "ecco", "el", "ele", "ella", "elle", "er", "es", "eso", "est",
    "esto", "he", "het", "hij", "hoe", "i", "ich", "ik", "il", "ils", "isso", "isto", "it", "je", "man", "me", "men",
    "on", "ono", "quello", "questo", "she", "sie", "something", "that", "there", "they", "this", "to", "we", "wir",
    "yo",
]);

/// Complements of "leave" and "let" that make them a constraint.
#[rustfmt::skip]
pub(super) static LEFT: PhraseList = PhraseList::of(&[
    "alone", "as", "asa", "aus", "ausser", "backward", "backwards", "be", "below", "bestehen", "com'e", "come",
    "compatibility", "compatible", "cum", "da", "day", "draussen", "drin", "exactly", "existing", "frozen", "gelijk",
    "gleich", "green", "heel", "here", "hetzelfde", "identical", "in", "intact", "intacta", "intacte", "it", "later",
    "locked", "locul", "met", "neatins", "neatinsa", "neatinse", "neschimbat", "neschimbata", "neschimbate",
    "neschimbati", "now", "ongemoeid", "ongewijzigd", "out", "pace", "passing", "pinned", "place", "raus", "ruhe",
    "rust", "same", "so", "staan", "stable", "stehen", "there", "unangetastet", "unberuehrt", "unberuhrt",
    "unchanged", "under", "untouched", "unveraendert", "unverandert", "weg", "wie", "within", "zo", "zoals",
    "zufrieden",
]);

/// Units of what is written, which "at most" limits anywhere.
#[rustfmt::skip]
pub(super) static UNITS: PhraseList = PhraseList::of(&[
    "caracteres", "caratteri", "characters", "chars", "commits", "filas", "fois", "gb", "heures", "horas", "hours",
    "kb", "keer", "lignes", "lijnes", "lineas", "linee", "lines", "linhas", "linii", "linijek", "mb", "megabytes",
    "milliseconds", "minut", "minute", "minuten", "minutes", "minuti", "minutos", "minuty", "mots", "ms", "page",
    "pages", "pagina", "pagina's", "paginas", "pagine", "palabras", "palavras", "parole", "razy", "records", "regels",
    "righe", "rows", "seconden", "secondes", "secondi", "seconds", "secunde", "segundos", "seite", "seiten", "sekund",
    "sekunden", "slow", "strona", "strony", "stunden", "test", "testes", "testow", "tests", "veces", "vezes", "volte",
    "woerter", "woorden", "words", "worte", "zdan", "zeichen", "zeilen", "znakow",
]);

/// Words that introduce somebody else's words before a colon or "that".
#[rustfmt::skip]
pub(super) static REPORTING: PhraseList = PhraseList::of(&[
    "blad", "dice", "dit", "diz", "eroare", "eroarea", "erreur", "erro", "error", "errore", "exception", "failed",
    "fehler", "fehlermeldung", "log", "logs", "meldet", "mensagem", "mensaje", "mesaj", "mesajul", "message",
    "messaggio", "mowi", "output", "panicked", "pise", "pisze", "sagt", "says", "staat", "steht", "warning", "zegt",
]);

/// English and Romanian verbs that introduce somebody else's words.
#[rustfmt::skip]
pub(super) static SAYING: PhraseList = PhraseList::of(&[
    "claims", "complaining", "complains", "insists", "printing", "prints", "reads", "said", "say", "saying", "says",
    "spune", "states", "warns", "zice",
]);

/// Words after "says" that begin the words of somebody else.
#[rustfmt::skip]
pub(super) static THAT: PhraseList = PhraseList::of(&[
    "che", "dass", "dat", "que", "ze",
]);

/// Words before a place.
#[rustfmt::skip]
pub(super) static PLACES: PhraseList = PhraseList::of(&[
    "a", "aan", "auf", "bei", "beim", "bij", "chez", "cu", "dans", "de", "din", "dla", "em", "en", "fisierele",
    "fisierul", "for", "fuer", "fur", "im", "in", "innerhalb", "inside", "la", "na", "nei", "nel", "nella", "no",
    "on", "op", "para", "pe", "pentru", "per", "pour", "su", "sul", "sur", "under", "unter", "voor", "w", "we",
    "within",
]);

/// Numbers in words.
#[rustfmt::skip]
pub(super) static NUMBERS: PhraseList = PhraseList::of(&[
    "cinco", "cinq", "cinque", "deux", "dois", "dos", "drei", "drie", "duas", "due", "dwa", "een", "ein", "eine",
    "five", "four", "fuenf", "funf", "jeden", "jedna", "one", "single", "ten", "three", "tre", "tres", "trois",
    "twee", "two", "um", "uma", "un", "una", "une", "zwei",
]);

/// Verbs after "should not" that make it a prohibition; others describe a fault.
#[rustfmt::skip]
pub(super) static FORBIDDEN_VERBS: PhraseList = PhraseList::of(&[
    "access", "add", "affect", "allocate", "alter", "block", "break", "call", "change", "commit", "contain", "delete",
    "depend", "edit", "exceed", "expose", "import", "include", "introduce", "leak", "log", "modify", "mutate", "need",
    "overwrite", "print", "rely", "remove", "rename", "require", "send", "store", "touch", "use", "write",
]);

/// Participles after "must not be" that make it a prohibition.
#[rustfmt::skip]
pub(super) static FORBIDDEN_PARTICIPLES: PhraseList = PhraseList::of(&[
    "affected", "altered", "bumped", "changed", "committed", "deleted", "disabled", "downgraded", "dropped", "edited",
    "exposed", "installed", "logged", "merged", "migrated", "mocked", "modified", "moved", "overwritten", "published",
    "pushed", "reformatted", "released", "removed", "renamed", "replaced", "restarted", "rewritten", "skipped",
    "touched", "upgraded", "weakened",
]);

/// Verbs after "must not" that are about the code and not about what the program does.
#[rustfmt::skip]
pub(super) static UNBEHAVING: PhraseList = PhraseList::of(&[
    "alter", "break", "change", "depend", "edit", "exceed", "execute", "grow", "import", "install", "introduce",
    "modify", "move", "need", "regress", "remove", "rename", "require", "run", "touch", "use",
]);

/// Verbs after "you can't" that make it a prohibition.
#[rustfmt::skip]
pub(super) static DENIED_VERBS: PhraseList = PhraseList::of(&[
    "add", "alter", "break", "bump", "call", "change", "commit", "delete", "depend", "deploy", "drop", "edit",
    "import", "install", "introduce", "merge", "modify", "move", "push", "rely", "remove", "rename", "require",
    "touch", "upgrade", "use",
]);

/// Verbs after "must" of what is there already.
#[rustfmt::skip]
pub(super) static LASTING: PhraseList = PhraseList::of(&[
    "compile", "keep", "pass", "remain", "run", "stay",
]);

/// Words after "must be" that state a requirement.
#[rustfmt::skip]
pub(super) static MEASURES: PhraseList = PhraseList::of(&[
    "able", "above", "at", "backward", "backwards", "below", "compatible", "deterministic", "fast", "faster",
    "idempotent", "less", "more", "no", "not", "only", "optional", "signed", "under", "valid", "within",
]);

/// Words before "not" that make it a statement.
#[rustfmt::skip]
pub(super) static AUXILIARIES: PhraseList = PhraseList::of(&[
    "am", "apparently", "are", "be", "been", "can", "case", "could", "currently", "did", "do", "does", "had", "has",
    "have", "i'm", "if", "is", "it's", "just", "may", "might", "must", "obviously", "or", "probably", "shall",
    "should", "still", "than", "that's", "there's", "they're", "though", "to", "was", "we're", "were", "whether",
    "which", "why", "will", "would", "you're",
]);

/// Verbs of what a program does; a limit after them belongs to the goal.
#[rustfmt::skip]
pub(super) static BEHAVING: PhraseList = PhraseList::of(&[
    "accept", "accepts", "allow", "allows", "display", "displays", "fetch", "fetches", "lets", "permit", "permits",
    "render", "renders", "return", "returns", "send", "sends", "show", "shows", "upload", "uploads",
]);

/// Words that open a subordinate clause.
#[rustfmt::skip]
pub(super) static SUBORDINATING: PhraseList = PhraseList::of(&[
    "bc", "because", "bis", "bo", "cuando", "daca", "fiindca", "gdy", "if", "omdat", "pana", "parce", "pentru",
    "perche", "porque", "pq", "puisque", "since", "solang", "solange", "tant", "totdat", "unless", "until", "want",
    "weil", "wenn", "when", "where", "while",
]);

/// Headings that are nothing but a negation.
#[rustfmt::skip]
pub(super) static NEGATIONS: PhraseList = PhraseList::of(&[
    "do not", "don't", "don'ts", "dont", "dont's", "evita", "evite", "evitez", "nao", "ne pas", "never", "nicht", "nie", "niet", "no", "non", "nu", "please do not", "please don't", "vermeide", "vermijd", "不要", "禁止",
]);

/// Headings for what stays as it is.
#[rustfmt::skip]
pub(super) static STATES: PhraseList = PhraseList::of(&[
    "files not to touch", "forbidden", "frozen", "hands off", "intocables", "intouchable", "leave alone", "no-go", "not in scope", "nu se ating", "off limits", "off-limits", "out of bounds", "out of scope", "protected", "read only", "read-only", "tabu", "verboten",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for list in [
            &CLITICS,
            &SUBJECTS,
            &LEFT,
            &UNITS,
            &REPORTING,
            &SAYING,
            &THAT,
            &PLACES,
            &NUMBERS,
            &FORBIDDEN_VERBS,
            &FORBIDDEN_PARTICIPLES,
            &UNBEHAVING,
            &DENIED_VERBS,
            &LASTING,
            &SUBORDINATING,
            &MEASURES,
            &NEGATIONS,
            &STATES,
            &AUXILIARIES,
            &BEHAVING,
        ] {
            assert!(list.entries().is_sorted_by(|one, other| one < other));
        }
    }
}
