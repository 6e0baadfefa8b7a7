//! Vocabulary of the rules, folded: lower case, without diacritics.

use grov_scope::phrases::PhraseList;

/// Verbs that request work as an imperative, sorted.
#[rustfmt::skip]
static WORK_VERBS: PhraseList = PhraseList::of(&[
    "add", "adjust", "align", "analyse", "analyze", "apply", "audit", "benchmark", "build", "bump",
    "change", "check", "clean", "combine", "commit", "compare", "complete", "configure", "connect",
    "convert", "copy", "correct", "cover", "create", "debug", "define", "delete", "deploy", "deprecate",
    "design", "disable", "document", "drop", "edit", "enable", "expand", "explain", "export", "expose",
    "extend", "extract", "figure", "find", "finish", "fix", "format", "generate", "get", "give", "handle",
    "harden", "hide", "implement", "import", "improve", "include", "increase", "initialize", "inline",
    "insert", "inspect", "install", "integrate", "introduce", "investigate", "limit", "list", "load",
    "log", "look", "lower", "make", "merge", "migrate", "mock", "modify", "move", "open", "optimise",
    "optimize", "parse", "patch", "plan", "polish", "port", "prepare", "profile", "publish", "pull",
    "push", "put", "raise", "read", "rebase", "reduce", "refactor", "release", "remove", "rename",
    "render", "reorganize", "replace", "reproduce", "reset", "resolve", "restore", "restructure", "return",
    "revert", "review", "rewrite", "run", "save", "scaffold", "search", "send", "separate", "set", "setup",
    "show", "simplify", "sort", "speed", "split", "start", "stop", "store", "summarise", "summarize",
    "support", "swap", "switch", "sync", "take", "tell", "test", "tidy", "translate", "try", "turn",
    "tweak", "undo", "unify", "update", "upgrade", "use", "validate", "verify", "wire", "wrap", "write",
]);

/// The same in Romanian: imperatives, and the forms after "să".
#[rustfmt::skip]
static WORK_VERBS_RO: PhraseList = PhraseList::of(&[
    "activeaza", "actualizeaza", "actualizezi", "adauga", "adaugi", "ajusteaza", "analizeaza", "arata",
    "cauta", "citeste", "comite", "configureaza", "construieste", "converteste", "copiaza", "corecteaza",
    "corectezi", "creeaza", "creezi", "curata", "depaneaza", "dezactiveaza", "documenteaza", "editeaza",
    "elimina", "elimini", "explica", "extinde", "extrage", "fa", "faci", "fixeaza", "foloseste",
    "folosesti", "formateaza", "gaseste", "gasesti", "genereaza", "generezi", "imbunatateste",
    "implementeaza", "implementezi", "inlocuieste", "inlocuiesti", "instaleaza", "instalezi", "integreaza",
    "intregeste", "introdu", "investigheaza", "listeaza", "migreaza", "modifica", "modifici", "muta",
    "muti", "optimizeaza", "optimizezi", "porneste", "pregateste", "publica", "pui", "pune", "redenumeste",
    "reduce", "refa", "refactorizeaza", "refactorizezi", "repara", "repari", "rescrie", "rescrii",
    "rezolva", "rezolvi", "ruleaza", "rulezi", "schimba", "schimbi", "scoate", "scoti", "scrie", "scrii",
    "simplifica", "spune", "sterge", "stergi", "testeaza", "testezi", "traduce", "trimite", "uita-te",
    "verifica", "verifici",
]);

/// Whether a folded word requests work as an imperative.
pub(crate) fn is_work_verb(word: &str) -> bool {
    WORK_VERBS.contains(word) || WORK_VERBS_RO.contains(word)
}

/// Whether a folded word has no meaning of its own.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Phrases that may precede an imperative.
#[rustfmt::skip]
pub(crate) static LEAD_INS: PhraseList = PhraseList::of(&[
    "actually", "acum", "additionally", "after that", "afterwards", "again", "ai putea", "ai putea sa",
    "ajuta-ma", "ajuta-ma sa", "alright", "also", "and", "apoi", "ar trebui sa", "as dori sa", "as vrea sa",
    "before that", "besides", "btw", "bun", "buna", "but", "by the way", "can we", "can you", "carefully",
    "claude", "cool", "could we", "could you", "da", "dar", "de asemenea", "doar", "dupa aceea",
    "dupa asta", "finally", "first", "firstly", "gata", "go ahead", "go ahead and", "goal", "good", "great",
    "hai", "hai sa", "haide sa", "hello", "help me", "help me to", "help us", "hey", "hi", "i am trying to",
    "i need to", "i need you to", "i want to", "i want you to", "i would like to", "i would like you to",
    "i'd like to", "i'd like you to", "i'm trying to", "iar", "in addition", "in continuare", "in paralel",
    "in parallel", "in plus", "incearca sa", "instead", "intai", "intre timp", "is it possible to", "just",
    "kindly", "let me", "let us", "let's", "lets", "mai", "mai intai", "maybe", "meanwhile", "mersi",
    "moving on", "multumesc", "need to", "new task", "next", "nice", "now", "ok", "okay", "perfect",
    "please", "pls", "plz", "poti", "poti sa", "putem sa", "quickly", "sa", "salut", "second", "separately",
    "si", "so", "sure", "task", "te rog", "te rog sa", "thank you", "thanks", "the goal is to",
    "the task is to", "then", "third", "thx", "time to", "to", "todo", "trebuie sa", "try to",
    "urmatorul pas", "va rog", "vreau sa", "vrem sa", "we need to", "we should", "we want to", "well",
    "while you are at it", "while you're at it", "will you", "would it be possible to", "would you",
    "would you mind", "yeah", "yes", "you must", "you need to", "you should", "your task is to",
]);

/// Words after which the verb before them is a noun: "test fails", "build is broken".
#[rustfmt::skip]
pub(crate) static AFTER_A_NOUN: PhraseList = PhraseList::of(&[
    "are", "breaks", "broke", "does", "doesn't", "failed", "fails", "has", "have", "is", "isn't", "results", "says",
    "seem", "seems", "takes", "time", "was", "were", "worked", "works",
]);

/// A sentence of these words only is an acknowledgement.
#[rustfmt::skip]
pub(crate) static ACKNOWLEDGING: PhraseList = PhraseList::of(&[
    "a", "acum", "again", "ajutor", "all", "alright", "am", "amazing", "appreciate", "appreciated", "arata", "asa",
    "awesome", "beautiful", "bine", "brilliant", "bun", "buna", "ce", "cheers", "claude", "confirmed", "cool",
    "correct", "da", "done", "e", "este", "everything", "exact", "exactly", "excelent", "excellent", "fain", "fine",
    "foarte", "for", "frumos", "functioneaza", "gata", "good", "got", "great", "happy", "help", "i", "in", "inteles",
    "is", "it", "it's", "job", "just", "k", "kk", "lgtm", "look", "looks", "lot", "love", "lovely", "me", "merci",
    "merge", "mersi", "minunat", "misto", "much", "mult", "multam", "multumesc", "needed", "nice",
    "nicely", "now", "ok", "okay", "pass", "pentru", "perfect", "really", "regula", "right", "so", "super", "tare",
    "tests", "thank", "thanks", "that", "that's", "the", "this", "thx", "to", "tot", "totul", "treaba", "ty", "very",
    "voiam", "wanted", "well", "what", "with", "wonderful", "work", "works", "yeah", "yep", "yes", "you", "your",
]);

/// An acknowledgement contains at least one of these.
#[rustfmt::skip]
pub(crate) static SATISFIED: PhraseList = PhraseList::of(&[
    "alright", "amazing", "appreciate", "appreciated", "awesome", "beautiful", "bine", "brilliant", "bun", "cheers",
    "confirmed", "cool", "correct", "done", "exactly", "excelent", "excellent", "fain", "fine", "frumos",
    "functioneaza", "gata", "good", "great", "happy", "k", "kk", "lgtm", "looks", "love", "lovely", "merci", "merge",
    "mersi", "minunat", "misto", "multam", "multumesc", "nice", "ok", "okay", "perfect", "regula", "right", "super",
    "tare", "thank", "thanks", "thx", "ty", "wonderful", "works",
]);

/// Stop words, English and Romanian.
#[rustfmt::skip]
static STOP_WORDS: PhraseList = PhraseList::of(&[
    "a", "about", "above", "aceasta", "acest", "acum", "after", "again", "ai", "al", "ale", "all", "also",
    "am", "an", "and", "any", "apoi", "ar", "are", "as", "asta", "astfel", "at", "atunci", "au", "avem",
    "aveti", "be", "because", "been", "before", "being", "below", "between", "both", "buna", "but", "by",
    "ca", "can", "care", "cat", "ce", "cei", "cel", "cele", "claude", "could", "cu", "cum", "da", "daca",
    "dar", "de", "deci", "did", "din", "do", "doar", "does", "doesn't", "doing", "don't", "down", "dupa",
    "e", "e.g", "ea", "each", "ei", "el", "else", "este", "etc", "eu", "fara", "few", "fi", "fie", "first",
    "foarte", "for", "from", "further", "get", "give", "go", "going", "had", "hai", "has", "have",
    "having", "he", "hello", "help", "her", "here", "hey", "hi", "him", "his", "how", "i", "i'd", "i'm",
    "i.e", "iar", "if", "il", "imi", "in", "inainte", "inca", "instead", "into", "intr", "intre", "is",
    "isn't", "it", "it's", "its", "just", "kindly", "know", "la", "le", "let", "let's", "like", "look",
    "lui", "ma", "mai", "make", "may", "maybe", "me", "mea", "meu", "might", "more", "most", "mult",
    "must", "my", "ne", "need", "needs", "never", "new", "next", "no", "noi", "nor", "not", "now", "nu",
    "numai", "o", "of", "off", "ok", "okay", "on", "once", "one", "only", "or", "ori", "other", "our",
    "out", "over", "own", "pe", "pentru", "per", "please", "poate", "poti", "prin", "put", "rog", "sa",
    "salut", "same", "sau", "se", "see", "she", "should", "si", "so", "some", "something", "still", "such",
    "sunt", "sure", "ta", "take", "tau", "te", "than", "thank", "thanks", "that", "that's", "the", "their",
    "them", "then", "there", "these", "they", "thing", "things", "this", "those", "through", "to", "toate",
    "too", "tot", "trebuie", "try", "tu", "un", "una", "unde", "under", "unei", "until", "unui", "up",
    "us", "use", "using", "va", "very", "via", "vreau", "want", "wants", "was", "way", "we", "well",
    "were", "what", "when", "where", "which", "while", "who", "whole", "why", "will", "with", "without",
    "work", "would", "you", "your",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for table in [
            &ACKNOWLEDGING,
            &AFTER_A_NOUN,
            &LEAD_INS,
            &SATISFIED,
            &STOP_WORDS,
            &WORK_VERBS,
            &WORK_VERBS_RO,
        ] {
            assert!(table.entries().is_sorted_by(|one, other| one < other));
        }
    }
}
