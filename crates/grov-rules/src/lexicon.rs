//! Vocabulary of the rules, folded: lower case, without diacritics.

/// Verbs that request work as an imperative.
#[rustfmt::skip]
pub(crate) const WORK_VERBS: &[&str] = &[
    "add", "adjust", "align", "analyse", "analyze", "apply", "audit", "benchmark", "build", "bump",
    "change", "check", "clean", "combine", "commit", "compare", "complete", "configure", "connect",
    "convert", "copy", "correct", "cover", "create", "debug", "define", "delete", "deploy", "deprecate",
    "design", "disable", "document", "drop", "edit", "enable", "expand", "explain", "export", "expose",
    "extend", "extract", "figure", "find", "finish", "fix", "format", "generate", "get", "give", "handle",
    "harden", "hide", "implement", "import", "improve", "include", "increase", "initialize", "inline",
    "insert", "inspect", "install", "integrate", "introduce", "investigate", "limit", "list", "load", "log",
    "look", "lower", "make", "merge", "migrate", "mock", "modify", "move", "open", "optimise", "optimize",
    "parse", "patch", "plan", "polish", "port", "prepare", "profile", "publish", "pull", "push", "put",
    "raise", "read", "rebase", "reduce", "refactor", "release", "remove", "rename", "render", "reorganize",
    "replace", "reproduce", "reset", "resolve", "restore", "restructure", "return", "revert", "review",
    "rewrite", "run", "save", "scaffold", "search", "send", "separate", "set", "setup", "show", "simplify",
    "sort", "speed", "split", "start", "stop", "store", "summarise", "summarize", "support", "swap",
    "switch", "sync", "take", "tell", "test", "tidy", "translate", "try", "turn", "tweak", "undo", "unify",
    "update", "upgrade", "use", "validate", "verify", "wire", "wrap", "write",
];

/// The same in Romanian: imperatives, and the forms after "să".
#[rustfmt::skip]
pub(crate) const WORK_VERBS_RO: &[&str] = &[
    "adauga", "adaugi", "actualizeaza", "actualizezi", "ajusteaza", "analizeaza", "arata", "cauta", "caută",
    "citeste", "comite", "configureaza", "construieste", "converteste", "copiaza", "corecteaza",
    "corectezi", "creeaza", "creezi", "curata", "depaneaza", "dezactiveaza", "activeaza", "documenteaza",
    "editeaza", "elimina", "elimini", "explica", "extinde", "extrage", "fa", "faci", "fixeaza", "foloseste",
    "folosesti", "formateaza", "genereaza", "generezi", "gaseste", "gasesti", "implementeaza",
    "implementezi", "imbunatateste", "inlocuieste", "inlocuiesti", "instaleaza", "instalezi", "integreaza",
    "intregeste", "introdu", "investigheaza", "listeaza", "modifica", "modifici", "migreaza", "muta",
    "muti", "optimizeaza", "optimizezi", "porneste", "pregateste", "publica", "pune", "pui", "redenumeste",
    "refa", "refactorizeaza", "refactorizezi", "repara", "repari", "rescrie", "rescrii", "reduce",
    "rezolva", "rezolvi", "ruleaza", "rulezi", "schimba", "schimbi", "scoate", "scoti", "scrie", "scrii",
    "simplifica", "spune", "sterge", "stergi", "testeaza", "testezi", "traduce", "trimite", "uita-te",
    "verifica", "verifici",
];

/// Phrases that may precede an imperative.
#[rustfmt::skip]
pub(crate) const LEAD_INS: &[&str] = &[
    "please", "pls", "plz", "kindly", "now", "ok", "okay", "so", "then", "also", "first", "firstly", "next",
    "and", "but", "hey", "hi", "hello", "claude", "great", "thanks", "thank you", "thx", "just", "well",
    "alright", "sure", "yes", "yeah", "perfect", "cool", "nice", "good", "finally", "again", "instead",
    "maybe", "actually", "let's", "lets", "let us", "go ahead", "go ahead and", "could you", "can you",
    "can we", "could we", "would you", "will you", "i want you to", "i'd like you to",
    "i would like you to", "i need you to", "we need to", "i need to", "i want to", "i'd like to",
    "i would like to", "we want to", "we should", "you should", "you need to", "you must", "help me",
    "help me to", "help us", "try to", "i'm trying to", "i am trying to", "time to", "to", "afterwards",
    "after that", "before that", "btw", "by the way", "additionally", "meanwhile", "in parallel",
    "separately", "quickly", "carefully", "while you're at it", "while you are at it", "in addition",
    "besides", "second", "third", "moving on", "your task is to", "the task is to", "the goal is to",
    "task", "goal", "todo", "let me", "need to", "would you mind", "is it possible to",
    "would it be possible to", "new task", "te rog", "va rog", "te rog sa", "vreau sa", "as vrea sa",
    "as dori sa", "vrem sa", "poti sa", "poti", "ai putea", "ai putea sa", "putem sa", "trebuie sa",
    "ar trebui sa", "acum", "apoi", "si", "dar", "hai sa", "hai", "haide sa", "salut", "buna", "mersi",
    "multumesc", "bun", "gata", "mai intai", "intai", "dupa aceea", "dupa asta", "de asemenea", "in plus",
    "in paralel", "doar", "sa", "da", "ajuta-ma", "ajuta-ma sa", "incearca sa", "iar", "intre timp",
    "urmatorul pas", "in continuare", "mai",
];

/// Words after which the verb before them is a noun: "test fails", "build is broken".
#[rustfmt::skip]
pub(crate) const AFTER_A_NOUN: &[&str] = &[
    "fails", "failed", "is", "are", "was", "were", "has", "have", "results", "broke", "breaks", "seems",
    "seem", "does", "doesn't", "isn't", "works", "worked", "time", "takes", "says",
];

/// A sentence of these words only is an acknowledgement.
#[rustfmt::skip]
pub(crate) const ACKNOWLEDGING: &[&str] = &[
    "thanks", "thank", "you", "thx", "ty", "cheers", "ok", "okay", "k", "kk", "great", "good", "nice",
    "perfect", "awesome", "excellent", "cool", "wonderful", "amazing", "brilliant", "lovely", "super",
    "works", "work", "looks", "look", "lgtm", "fine", "done", "well", "job", "that's", "that", "this", "it",
    "is", "it's", "all", "so", "much", "very", "a", "lot", "for", "me", "to", "now", "love", "i",
    "everything", "the", "your", "help", "exactly", "what", "wanted", "needed", "yes", "yep",
    "yeah", "beautiful", "really", "appreciate", "appreciated", "claude", "right", "correct", "alright",
    "got", "nicely", "again", "tests", "pass", "confirmed", "happy", "with", "just", "mersi", "multumesc",
    "merci", "multam", "bun", "buna", "foarte", "bine", "gata", "arata", "merge", "e", "este", "acum",
    "frumos", "fain", "mult", "mulțumesc", "treaba", "da", "excelent", "minunat", "in", "regula", "tare",
    "misto", "totul", "tot", "asa", "exact", "voiam", "ce", "pentru", "ajutor", "functioneaza", "am",
    "inteles",
];

/// An acknowledgement contains at least one of these.
#[rustfmt::skip]
pub(crate) const SATISFIED: &[&str] = &[
    "thanks", "thank", "thx", "ty", "cheers", "ok", "okay", "great", "good", "nice", "perfect", "awesome",
    "excellent", "cool", "wonderful", "amazing", "brilliant", "lovely", "super", "works", "lgtm", "fine",
    "done", "beautiful", "appreciate", "appreciated", "love", "confirmed", "exactly", "alright", "happy",
    "mersi", "multumesc", "merci", "multam", "bun", "bine", "gata", "frumos", "fain", "excelent", "minunat",
    "merge", "functioneaza", "regula", "tare", "misto", "k", "kk", "right", "correct", "looks",
];

/// Stop words, English and Romanian.
#[rustfmt::skip]
pub(crate) const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could", "did",
    "do", "does", "doesn't", "doing", "don't", "down", "each", "else", "few", "first", "for", "from",
    "further", "get", "give", "go", "going", "had", "has", "have", "having", "he", "help", "her", "here",
    "hello", "hey", "hi", "him", "his", "how", "i", "i'd", "i'm", "if", "in", "instead", "into", "is",
    "isn't", "it", "it's", "its", "just", "kindly", "know", "let", "let's", "like", "look", "make", "may",
    "maybe", "me", "might", "more", "most", "must", "my", "need", "needs", "never", "next", "new", "no",
    "nor", "not", "now", "of", "off", "ok", "okay", "on", "once", "one", "only", "or", "other", "our",
    "out", "over", "own", "please", "put", "same", "see", "she", "should", "so", "some", "something",
    "still", "such", "sure", "take", "than", "thank", "thanks", "that", "that's", "the", "their", "them",
    "then", "there", "these", "they", "thing", "things", "this", "those", "through", "to", "too", "try",
    "under", "until", "up", "us", "use", "using", "very", "want", "wants", "was", "we", "well", "were",
    "what", "when", "where", "which", "while", "who", "whole", "why", "will", "with", "without", "work",
    "would", "you", "your", "claude", "etc", "e.g", "i.e", "via", "per", "way", "acest", "aceasta", "acum",
    "ai", "al", "ale", "am", "apoi", "ar", "asta", "astfel", "atunci", "au", "aveti", "avem", "ca", "care",
    "cat", "ce", "cei", "cele", "cel", "cu", "cum", "da", "daca", "dar", "de", "deci", "din", "doar",
    "dupa", "e", "ea", "ei", "el", "este", "eu", "fara", "fi", "fie", "foarte", "hai", "iar", "il", "imi",
    "inainte", "inca", "intr", "intre", "la", "le", "lui", "mai", "ma", "mea", "meu", "mult", "ne", "noi",
    "nu", "numai", "o", "ori", "pe", "pentru", "poate", "poti", "prin", "rog", "sa", "salut", "sau", "se",
    "si", "sunt", "ta", "tau", "te", "toate", "tot", "trebuie", "tu", "un", "una", "unde", "unei", "unui",
    "va", "vreau", "buna",
];
