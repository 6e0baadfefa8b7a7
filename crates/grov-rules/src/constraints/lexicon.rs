//! Vocabulary of constraints, folded: lower case, without diacritics.

use grov_scope::phrases::PhraseList;

/// Cues at the start of a clause, followed by at least one word.
#[rustfmt::skip]
pub(super) static PLAIN_CUES: PhraseList = PhraseList::of(&[
    "ai grija", "always", "asigura-te", "asigurati-va", "ask before", "ask me before", "ask me first",
    "asteapta", "atentie sa nu", "aveti grija", "avoid", "by no means", "check with me before",
    "e interzis", "ensure", "este interzis", "evita", "evitati", "exclude", "hands off", "i'd rather not",
    "i'd rather you didn't", "in nici un caz", "in niciun caz", "in no case", "interzis",
    "intreaba-ma inainte", "leave out", "limit changes", "limit the change", "limit the changes",
    "limit the scope", "limit yourself", "limiteaza-te la", "maintain backward", "maintain backwards",
    "maintain compatibility", "no touching", "not a single", "not even", "nothing but", "nu cumva sa",
    "on no account", "opreste-te dupa", "please always", "prefer not to", "preserve", "rather not",
    "refrain from", "remember not to", "restrict", "restrict yourself", "rezuma-te la", "sa eviti", "skip",
    "stay in", "stay inside", "stay within", "stick to", "stick with", "stop after", "stop as soon as",
    "stop before", "sub nici o forma", "sub nicio forma", "try not to", "under no circumstances",
    "wait for my", "wait until i",
]);

/// Cues anywhere in an instruction.
#[rustfmt::skip]
pub(super) static CUES_ANYWHERE: PhraseList = PhraseList::of(&[
    "apart from", "aside from", "at most", "at the most", "atat si nimic", "cel mult", "cu exceptia",
    "exceptand", "in afara de", "mai putin de", "maxim", "nimic altceva", "nimic in plus", "no longer than",
    "no more than", "not more than", "nothing else", "nothing more", "nu mai mult de", "other than",
    "with the exception of",
]);

/// Cues after their subject.
#[rustfmt::skip]
pub(super) static CUES_OF_A_STATE: PhraseList = PhraseList::of(&[
    "are forbidden", "are frozen", "are not allowed", "are not to be", "are off limits", "are off-limits",
    "are out of scope", "are read-only", "are untouchable", "aren't allowed", "has to keep",
    "has to remain", "has to stay", "have to remain", "have to stay", "is forbidden", "is frozen",
    "is not allowed", "is not to be", "is off limits", "is off-limits", "is out of scope", "is read-only",
    "is untouchable", "isn't allowed", "isn't to be", "must remain", "must stay", "need to remain",
    "need to stay", "needs to keep", "needs to remain", "needs to stay", "not allowed to", "nu se atinge",
    "nu se modifica", "nu se schimba", "raman asa", "raman cum", "raman neschimbate", "ramane asa",
    "ramane cum", "ramane neschimbat", "remain unchanged", "remains unchanged", "sa ramana",
    "should remain", "should stay", "stay as", "stay green", "stay in place", "stay out of",
    "stay the same", "stay unchanged", "stay untouched", "stay where", "stays as", "stays green",
    "stays in place", "stays out of", "stays the same", "stays unchanged", "stays untouched", "stays where",
]);

/// Words that open a new clause.
#[rustfmt::skip]
pub(super) const CONJUNCTIONS: &[&str] = &[
    "but", "and", "or", "so", "then", "please", "just", "also", "however", "though", "although", "yet",
    "dar", "si", "sau", "iar", "insa", "rog", "plus", "btw", "still", "obviously", "definitely",
    "absolutely", "again", "always", "remember", "note", "important", "oh", "pls", "nor", "apoi", "deci",
    "ca", "sa", "tu",
];

/// Words that start a new thought after a comma.
#[rustfmt::skip]
pub(super) const NEW_THOUGHT: &[&str] = &[
    "i'll", "i've", "i'm", "we'll", "you'll", "it'll", "they're", "max", "maximum", "maxim", "cel", "must",
    "evita", "keeping", "leaving", "trebuie", "otherwise", "altfel", "but", "then", "so", "please", "just",
    "also", "because", "since", "i", "we", "it", "it's", "this", "that", "there", "they", "dar", "apoi",
    "deci", "pentru", "fiindca", "iar", "don't", "do", "never", "only", "keep", "leave", "make", "avoid",
    "without", "no", "nu", "fara", "doar", "numai", "pastreaza", "lasa", "which", "if", "as", "you", "te",
    "instead", "ensure", "thanks", "mersi", "ok",
];

/// Work verbs that are also nouns: after "and" they continue a list.
#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "test", "build", "release", "log", "format", "check", "plan", "search", "list", "set", "change",
    "update", "review", "commit", "run", "read", "support", "store", "design", "debug", "deploy", "export",
    "import", "report", "document", "profile", "return", "load", "save", "open", "start", "stop", "show",
    "patch", "port", "sort", "setup", "benchmark", "modifica",
];

/// Verbs after "you can't" that make it a prohibition.
#[rustfmt::skip]
pub(super) const DENIED_VERBS: &[&str] = &[
    "add", "change", "break", "introduce", "modify", "touch", "rename", "remove", "drop", "alter", "depend",
    "require", "upgrade", "bump", "use", "call", "import", "rely", "edit", "delete", "move", "install",
    "merge", "push", "commit", "deploy",
];

/// English loanwords that "nu da" forbids.
#[rustfmt::skip]
pub(super) const GIVEN_RO: &[&str] = &[
    "commit", "push", "merge", "deploy", "drop", "restart", "rollback", "release", "rebase", "revert",
    "upgrade", "update", "delete", "force", "reset", "publish",
];

/// Words after "don't" that make it no prohibition.
#[rustfmt::skip]
pub(super) const IDLE_AFTER_DONT: &[&str] = &[
    "worry", "know", "think", "understand", "see", "mind", "you", "get", "believe", "care", "recall",
    "remember", "we", "i", "they", "have", "need", "like", "panic", "ask", "seem", "work", "compile",
    "appear", "exist", "happen", "match", "show", "pass", "hesitate", "it", "any", "even", "want", "look",
    "really", "quite", "always", "necessarily", "expect", "the", "fear", "mention", "trust",
];

/// Words after "no" that make it no prohibition.
#[rustfmt::skip]
pub(super) const IDLE_AFTER_NO: &[&str] = &[
    "one", "idea", "way", "problem", "problems", "worries", "thanks", "luck", "need", "longer", "matter",
    "it", "that", "this", "i", "you", "we", "not", "wait", "the", "error", "errors", "clue", "doubt",
    "rush", "hurry", "issues", "issue", "difference", "effect", "success", "reason", "wonder", "more",
    "output", "response", "offense", "such", "thank", "don't", "do", "its", "it's",
];

/// Words of a description, in which "no …" is an observation.
#[rustfmt::skip]
pub(super) const NARRATING: &[&str] = &[
    "is", "are", "was", "were", "has", "happens", "happened", "appears", "works", "worked", "fails",
    "failed", "crashes", "get", "got", "gets", "shows", "seems", "breaks", "broke", "returns", "throws",
];

/// Words after "never" or "only" that describe something.
#[rustfmt::skip]
pub(super) const NARRATED: &[&str] = &[
    "saw", "got", "worked", "ran", "mind", "had", "been", "was", "is", "seen", "knew", "came", "made",
    "did", "went", "found", "understood", "heard", "thought", "again", "ever", "really", "quite", "a",
    "the",
];

/// Words before "not" that make it a statement.
#[rustfmt::skip]
pub(super) const AUXILIARIES: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "had", "can", "could",
    "would", "should", "will", "may", "might", "must", "it's", "that's", "why", "or", "if", "which", "i'm",
    "we're", "they're", "you're", "whether", "still", "currently", "than", "am", "case", "there's", "to",
    "apparently", "obviously", "though", "just", "probably", "shall",
];

/// Complements of "keeping".
#[rustfmt::skip]
pub(super) const KEPT: &[&str] = &[
    "unchanged", "as", "intact", "stable", "working", "compatible", "compatibility", "same", "backwards",
    "backward", "green", "passing", "under", "below", "within", "small", "short", "simple", "minimal",
    "untouched", "public", "api", "out", "behaviour", "behavior", "identical", "alive", "existing",
    "current",
];

/// Complements of "leave".
#[rustfmt::skip]
pub(super) const LEFT: &[&str] = &[
    "day", "later", "now", "it", "there", "here", "alone", "unchanged", "untouched", "as", "out", "intact",
    "place", "be", "exactly", "asa", "pace", "neschimbat", "neschimbata", "neschimbate", "neschimbati",
    "neatins", "neatinsa", "neatinse", "cum", "intacte", "intacta", "locul",
];

/// Words after "must be" that state a requirement.
#[rustfmt::skip]
pub(super) const MEASURES: &[&str] = &[
    "under", "below", "above", "within", "at", "less", "more", "no", "not", "only", "idempotent",
    "deterministic", "valid", "optional", "backward", "backwards", "compatible", "fast", "faster", "able",
];

/// Words after "must be" that state a guess.
#[rustfmt::skip]
pub(super) const GUESSES: &[&str] = &[
    "wrong", "broken", "stale", "missing", "a", "an", "something", "somewhere", "because", "due", "caused",
    "coming", "related", "some", "that", "the", "in", "on", "from", "why", "nice", "kidding", "outdated",
    "corrupt", "corrupted",
];

/// Verbs after "should not" that make it a prohibition; others describe a fault.
#[rustfmt::skip]
pub(super) const FORBIDDEN_VERBS: &[&str] = &[
    "change", "require", "touch", "break", "affect", "depend", "need", "add", "modify", "block", "log",
    "write", "call", "send", "store", "expose", "use", "delete", "include", "contain", "exceed", "alter",
    "remove", "introduce", "rely", "import", "leak", "print", "access", "mutate", "overwrite", "rename",
    "allocate", "edit", "commit",
];

/// Verbs that introduce somebody else's words.
#[rustfmt::skip]
pub(super) const REPORTING: &[&str] = &[
    "says", "said", "say", "saying", "complains", "complaining", "reads", "warns", "prints", "printing",
    "states", "zice", "spune", "claims", "insists",
];

/// Nouns that introduce a message after a colon.
#[rustfmt::skip]
pub(super) const MESSAGES: &[&str] = &[
    "error", "message", "warning", "eroare", "eroarea", "mesaj", "mesajul", "output", "log", "panicked",
    "failed", "exception",
];

/// First words of a sentence that consists of a constraint only.
#[rustfmt::skip]
pub(super) const OPENERS: &[&str] = &[
    "without", "fara", "except", "at", "maxim", "cel", "must", "don't", "do", "never", "nu", "all",
    "everything", "no", "only", "keep", "nothing", "nimic", "max", "maximum", "doar", "numai", "tot",
    "totul", "same", "not",
];

/// Words after "nu" that make it no prohibition.
#[rustfmt::skip]
pub(super) const IDLE_AFTER_NU: &[&str] = &[
    "merge", "merg", "mearga", "functioneaza", "functioneze", "stiu", "stie", "inteleg", "intelege", "e",
    "este", "sunt", "am", "a", "au", "are", "ai", "pot", "poate", "poti", "vad", "vede", "cred", "apare",
    "apar", "apara", "porneste", "compileaza", "compileze", "trece", "trec", "raspunde", "gaseste", "vrea",
    "exista", "conteaza", "pare", "pica", "crapa", "era", "fie", "fi", "mi", "imi", "ti", "iti", "prea",
    "foarte", "asta", "ala", "aia", "cel", "cea", "chiar", "numai", "doar", "prinde", "ajunge", "ramane",
    "vine", "iese", "sta", "inseamna", "stim", "avem", "putem", "ar", "as", "va", "vor", "reuseste",
    "reusesc", "reusim", "da", "arata", "deschide", "incarca", "salveaza", "intra", "tine", "place", "inca",
    "acum", "stiam", "mai", "primesc", "primeste", "vedem",
];

/// Stems of Romanian verbs that "nu" forbids.
#[rustfmt::skip]
pub(super) const FORBIDDEN_RO: &[&str] = &[
    "modific", "schimb", "ating", "adaug", "adaugi", "folos", "utiliz", "sterg", "rula", "rulez", "face",
    "faci", "faceti", "scri", "crea", "creez", "instal", "stric", "muta", "muti", "umbl", "pune", "pui",
    "refactoriz", "refa", "redenum", "introduc", "trimi", "uita", "uiti", "elimin", "scoate", "scoti",
    "rescri", "edit", "comit", "commit", "push", "inlocui", "sparg", "lasa", "lasi", "depas", "genera",
    "generez", "import", "export", "formata", "formatez", "restructur", "public", "hardcod", "apela",
    "apelez", "accesa", "ignor", "sari", "convert", "duplic", "repet", "copi", "invent", "presupun", "bump",
    "actualiz", "upgrad", "incepe", "incepi", "lua", "iei", "dai", "toca", "renunt", "optimiz", "migr",
    "implement", "deploy", "inchid", "declar", "loga", "logh", "testa", "testezi", "amestec", "complic",
    "ascun", "bloca", "blochez", "atinge", "porni", "pornesti", "opri", "opresti", "sterge", "reporn",
    "inghit", "comenta", "comentezi", "dezactiv", "activ", "arunc", "merge-ui",
];

/// Subjects of descriptions.
#[rustfmt::skip]
pub(super) const IDLE_SUBJECTS: &[&str] = &[
    "i", "there", "it", "that", "something", "this", "they", "he", "she",
];

/// Participles after "should not be" that make it a prohibition.
#[rustfmt::skip]
pub(super) const FORBIDDEN_PARTICIPLES: &[&str] = &[
    "changed", "modified", "touched", "removed", "renamed", "edited", "altered", "affected", "exposed",
    "logged", "committed",
];

/// Romanian words of a description.
#[rustfmt::skip]
pub(super) const NARRATING_RO: &[&str] = &[
    "apare", "merge", "pica", "crapa", "functioneaza", "e", "este", "sunt", "cred",
];

/// Words after "trebuie să" that make it a demand.
#[rustfmt::skip]
pub(super) const DEMANDED_RO: &[&str] = &[
    "nu", "ramana", "functioneze", "mearga", "fie", "suporte", "respecte", "pastreze", "treaca",
];

/// Words after "not" that make it no contrast.
#[rustfmt::skip]
pub(super) const IDLE_AFTER_NOT: &[&str] = &[
    "sure", "yet", "only", "working", "found", "just", "necessarily", "because", "necessary", "needed",
    "if", "when", "able", "clear", "what", "how", "why", "ok", "good", "right", "so", "much", "very",
    "really", "that", "as", "being",
];

/// Verbs after "must not" that are about the code and not about what the program does.
#[rustfmt::skip]
pub(super) const UNBEHAVING: &[&str] = &[
    "alter", "break", "change", "depend", "edit", "exceed", "execute", "grow", "import", "install", "introduce", "modify",
    "move", "need", "regress", "remove", "rename", "require", "run", "touch", "use",
];

/// Verbs of what a program does; a limit after them belongs to the goal.
#[rustfmt::skip]
pub(super) const BEHAVING: &[&str] = &[
    "accept", "accepts", "allow", "allows", "display", "displays", "fetch", "fetches", "lets", "permit", "permits", "render",
    "renders", "return", "returns", "send", "sends", "show", "shows", "upload", "uploads",
];

/// Things that are written one per something: "one file per commit".
#[rustfmt::skip]
pub(super) const ARTEFACTS: &[&str] = &[
    "class", "commit", "component", "file", "function", "line", "migration", "module", "package", "page", "pr", "test",
];

/// Stems of Romanian verbs that are about the code and not about what the program does.
pub(super) const CODE_VERBS_RO: &[&str] = &["ating", "edit", "modific", "redenum", "schimb", "sterg", "umbl"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for table in [&CUES_ANYWHERE, &CUES_OF_A_STATE, &PLAIN_CUES] {
            assert!(table.entries().is_sorted_by(|one, other| one < other));
        }
    }
}
