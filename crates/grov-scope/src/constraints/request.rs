//! What sentences of the user request, because a later request lifts a constraint.

use super::sentences::sentences;
use crate::file_kind::FileKind;
use crate::names::{is_path, named, paths};
use crate::normalized_path::ProjectRoot;
use crate::pattern::Pattern;
use crate::phrases::{self, Found, Languages, Verb};
use crate::words::{Word, words};

/// A sentence of a prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Sentence {
    pub(super) text: String,
    words: Vec<SentenceWord>,
    /// It forbids or limits something.
    forbids: bool,
    /// It requests an action.
    orders: bool,
    /// It requests a change of files.
    changes: bool,
    /// What it asks to change, if it does.
    pub(super) change: Option<RequestedChange>,
    /// The paths that it names, unless it forbids something, asks, or only points to them.
    pub(super) places: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct SentenceWord {
    folded: String,
    pauses: bool,
    forbids: bool,
}

/// What a sentence asks to change.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestedChange {
    /// The paths it names.
    pub(super) paths: Vec<Pattern>,
    /// The identifiers it names.
    pub(super) names: Vec<Pattern>,
    /// The kinds of files it names.
    pub(super) kinds: Vec<FileKind>,
    /// The words after its verbs, folded.
    pub(super) objects: Vec<String>,
}

impl Sentence {
    /// The sentences of a typed text.
    pub(super) fn all(root: &ProjectRoot, text: &str) -> Vec<Self> {
        sentences(text)
            .into_iter()
            .map(|sentence| Self::of(root, sentence))
            .collect()
    }

    fn of(root: &ProjectRoot, text: String) -> Self {
        let read = words(&text);
        let verbs = Verbs::of(&text, &read);
        let forbids = forbids(&read);
        let asks_another = text.ends_with('?') && !read.iter().any(|word| word.folded == "you");
        let points = read.iter().any(|word| word.is_any(POINTING));
        let places = if forbids || points || text.ends_with('?') {
            Vec::new()
        } else {
            paths(&text).iter().map(|path| Pattern::new(root, path)).collect()
        };
        Self {
            places,
            orders: !forbids && read.iter().any(|word| verbs.orders(word)),
            changes: !forbids && !asks_another && verbs.asks(),
            change: (!forbids && !asks_another)
                .then(|| RequestedChange::of(root, &text, &verbs))
                .flatten(),
            forbids,
            words: read
                .iter()
                .map(|word| SentenceWord {
                    folded: word.folded.clone(),
                    pauses: word.pauses(),
                    forbids: is_forbidding(word),
                })
                .collect(),
            text,
        }
    }

    fn is_question(&self) -> bool {
        self.text.ends_with('?')
    }

    /// Whether it has one of these (folded) words.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        self.words
            .iter()
            .any(|word| names.contains(&word.folded.as_str()))
    }

    /// Whether one of its words begins so.
    pub(super) fn has_word_of(&self, beginning: &str) -> bool {
        self.words.iter().any(|word| word.folded.starts_with(beginning))
    }

    /// Whether it requests an action and has one of these words.
    pub(super) fn requests(&self, names: &[&str]) -> bool {
        self.orders && self.has_any(names)
    }

    /// Whether it requests an action.
    pub(super) fn orders(&self) -> bool {
        self.orders
    }

    /// Whether a clause opens with one of these words: "looks good, apply it".
    pub(super) fn opens_with(&self, names: &[&str]) -> bool {
        let opens = |at: usize| match at.checked_sub(1).and_then(|before| self.words.get(before)) {
            Some(before) => before.pauses || JOINING.contains(&before.folded.as_str()),
            None => true,
        };
        let is_named = |word: &SentenceWord| names.contains(&word.folded.as_str());
        !self.forbids
            && !self.is_question()
            && self
                .words
                .iter()
                .enumerate()
                .any(|(at, word)| is_named(word) && opens(at))
    }

    /// Whether a clause of it permits something and has one of these words: "you can commit now, still no push".
    pub(super) fn permits(&self, names: &[&str]) -> bool {
        let mut clauses = self.words.split_inclusive(|word| word.pauses);
        let has = |clause: &[SentenceWord], names: &[&str]| {
            clause.iter().any(|word| names.contains(&word.folded.as_str()))
        };
        clauses.any(|clause| {
            clause.len() < self.words.len()
                && has(clause, PERMITTING)
                && has(clause, names)
                && !clause.iter().any(|word| word.forbids)
        })
    }

    /// Whether it requests a change of files or agrees to one.
    pub(super) fn asks_for_change(&self) -> bool {
        self.changes || self.agrees()
    }

    /// Whether it answers a question with yes: a clause of it begins so, and none of it forbids.
    pub(super) fn answers_yes(&self) -> bool {
        let begins = |at: usize| at == 0 || self.words[at - 1].pauses;
        let says_yes = |(at, word): (usize, &SentenceWord)| {
            // The others mean something else in another language: "si" is "if", "da" is "there".
            YES.contains(&word.folded.as_str()) && begins(at)
                || at == 0 && word.pauses && YES_ALONE.contains(&word.folded.as_str())
        };
        !self.forbids && !self.is_question() && (self.words.iter().enumerate().any(says_yes) || self.agrees())
    }

    fn agrees(&self) -> bool {
        const MOST: usize = 5;
        if self.words.len() > MOST || self.forbids || self.is_question() {
            return false;
        }
        let folded: Vec<&str> = self.words.iter().map(|word| word.folded.as_str()).collect();
        self.has_any(&["yes", "yep", "sure", "da", "ja", "ahead", "proceed"])
            || !folded.is_empty()
                && Languages::of(&words(&self.text))
                    .tables()
                    .any(|language| folded.iter().all(|word| language.assents.contains(word)))
    }
}

impl RequestedChange {
    /// The maximum number of words after a verb that belong to its object.
    const OBJECT: usize = 6;

    fn of(root: &ProjectRoot, text: &str, verbs: &Verbs<'_, '_>) -> Option<Self> {
        let words = verbs.words;
        let is_order = |word: &Word<'_>| verbs.orders(word) || word.is_any(MORE);
        if !words.iter().any(is_order) {
            return None;
        }
        let mut names = Vec::new();
        named(text, &mut names);
        let patterns = |names: Vec<String>| names.iter().map(|name| Pattern::new(root, name)).collect();
        let mut change = Self {
            paths: patterns(paths(text)),
            names: patterns(names),
            ..Self::default()
        };
        for at in (0..words.len()).filter(|at| verbs.changes(&words[*at])) {
            let after = words[at + 1..].iter().take(Self::OBJECT);
            for word in after.take_while(|word| !is_path(word.raw)) {
                change.kinds.extend(named_kind(word));
                change.objects.push(word.folded.clone());
                if word.pauses() {
                    break;
                }
            }
        }
        Some(change)
    }
}

/// Verbs with which a sentence only points to a file: "see docs/api.md".
#[rustfmt::skip]
const POINTING: &[&str] = &[
    "as", "check", "cf", "comme", "como", "compare", "come", "consulta", "guarda", "jak", "like", "look", "lies", "mira", "read", "regarde", "see", "siehe", "veja", "vezi", "vgl", "voir", "wie", "zie", "zobacz", "zoals", "参考", "参照",
];

/// Words for yes.
const YES: &[&str] = &[
    "yes", "yep", "yeah", "yup", "sure", "oui", "tak", "sim", "好的", "可以", "はい",
];

/// Words for yes that mean something else in another language.
const YES_ALONE: &[&str] = &["ja", "jo", "si", "da", "ok", "okay"];

/// Words for kinds of files.
const KINDS: &[(&str, FileKind)] = &[
    ("tests", FileKind::Test),
    ("test", FileKind::Test),
    ("teste", FileKind::Test),
    ("testele", FileKind::Test),
    ("schema", FileKind::Schema),
    ("schemas", FileKind::Schema),
    ("migrations", FileKind::Migration),
    ("migration", FileKind::Migration),
    ("docs", FileKind::Docs),
    ("documentation", FileKind::Docs),
    ("readme", FileKind::Docs),
    ("styles", FileKind::Styles),
    ("css", FileKind::Styles),
    ("workflows", FileKind::Pipeline),
    ("ci", FileKind::Pipeline),
    ("pipeline", FileKind::Pipeline),
    ("lockfile", FileKind::Lock),
    ("generated", FileKind::Vendored),
    ("snapshots", FileKind::Snapshot),
    ("config", FileKind::Config),
];

fn named_kind(word: &Word<'_>) -> Option<FileKind> {
    KINDS
        .iter()
        .find(|(name, _)| *name == word.folded)
        .map(|(_, kind)| *kind)
}

/// Words that negate the verb after them.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "don't", "not", "never", "without", "avoid", "no", "nu", "fara", "mustn't", "shouldn't", "can't", "cannot",
    "evita", "forbidden", "prohibited", "w/o", "zero", "n-ai",
];

/// Words that request or permit an action.
#[rustfmt::skip]
const ORDERS: &[&str] = &[
    "fix", "change", "edit", "update", "modify", "add", "implement", "refactor", "move", "rename", "rewrite", "adapt",
    "touch", "remove", "delete", "create", "write", "adjust", "improve", "extend", "clean", "revert", "include", "use", "may", "can",
    "allowed", "repara", "schimba", "modifica", "actualizeaza", "adauga", "sterge", "rescrie", "poti", "muta", "corecteaza",
    "run", "push", "commit", "publish", "deploy", "install", "ruleaza", "instaleaza", "merge", "bump", "upgrade",
];

/// Words that extend an earlier request: "now do the same for src/b.rs".
#[rustfmt::skip]
const MORE: &[&str] = &[
    "do", "same", "make", "apply", "handle", "also", "too", "put", "let's", "port", "convert", "continue", "extinde", "aplica", "fa", "si",
];

/// Words of `ORDERS` that do not change files.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "run", "push", "commit", "publish", "deploy", "install", "ruleaza", "instaleaza", "merge", "use", "may", "can", "allowed", "poti",
];

/// Words that request a change, in addition to [`ORDERS`].
#[rustfmt::skip]
const OTHER_ORDERS: &[&str] = &[
    "make", "apply", "fixing", "convert", "port", "do", "put", "extinde", "aplica", "implementeaza", "andere",
    "behebe", "fixe", "implementiere", "schreibe", "mach", "korrigiere", "fuge",
];

/// Words that forbid or limit without a negation.
#[rustfmt::skip]
const CONFINING: &[&str] = &[
    "keep", "leave", "except", "only", "hands", "frozen", "read-only", "untouched", "lasa",
];

/// Words that forbid or limit in other languages, sorted. None of them is a usual word of English or Romanian.
#[rustfmt::skip]
const FORBIDDING_ELSEWHERE: &[&str] = &[
    "alleen", "aucun", "aucune", "ausser", "behalve", "bez", "chiedimi", "deja", "excepto", "exceto", "geen", "jamais", "kein", "keine", "keinen", "lascia", "lass", "menos", "nada", "nao", "ne",
    "nenhum", "nenhuma", "nessun", "nessuna", "nicht", "nichts", "nie", "niente", "niet", "niets", "ningun", "ninguna", "non", "nunca", "nur", "oprocz", "pas", "preguntame", "rien", "salvo", "sans", "sauf", "sem",
    "senza", "seulement", "sin", "sobald", "solo", "somente", "tranne", "tylko", "uniquement", "zonder", "zostaw",
];

/// Parts of words that forbid or limit in Chinese and Japanese.
const FORBIDDING_PARTS: &[&str] = &[
    "不",
    "别",
    "勿",
    "禁止",
    "只",
    "仅",
    "ない",
    "ないで",
    "だけ",
    "のみ",
    "まま",
];

/// Words before the verb of a request.
#[rustfmt::skip]
const OPENINGS: &[&str] = &[
    "please", "pls", "but", "and", "so", "also", "for", "now", "then", "ok", "okay", "bitte", "aber", "und", "te", "rog", "dar", "si", "make",
    "you", "with", "there", "should", "be", "note", "important", "i", "want", "would", "like", "to", "kindly", "can", "could", "just", "only", "me", "us", "let's", "nur", "doar",
];

/// Words that request information instead of a change.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "look", "explain", "analyze", "analyse", "review", "describe", "read", "tell", "inspect", "show", "report", "summarize", "summarise",
    "investigate", "explore", "list", "find", "check", "search", "understand", "walk", "give", "compare", "diagnose", "what", "how", "why",
    "where", "which", "who", "is", "are", "does", "erklare", "erklaren", "analysiere", "analysieren", "lies", "lesen", "zeige", "zeigen",
    "beschreibe", "beschreiben", "anschauen", "ansehen", "explica", "explici", "analizeaza", "citeste", "arata", "descrie", "uita-te", "spune",
];

/// Words between clauses after which a request may begin.
const JOINING: &[&str] = &["and", "now", "please", "then", "ok"];

/// Words that permit something.
const PERMITTING: &[&str] = &["can", "may", "now", "please", "ok", "okay", "yes", "poti"];

/// Whether a word negates.
pub(super) fn is_negation(word: &Word<'_>) -> bool {
    word.is_any(NEGATIONS)
}

/// Whether words forbid or limit something.
fn forbids(words: &[Word<'_>]) -> bool {
    words.iter().any(is_forbidding)
}

/// Whether a word forbids or limits something.
pub(super) fn is_forbidding(word: &Word<'_>) -> bool {
    is_negation(word)
        || word.is_any(CONFINING)
        || FORBIDDING_ELSEWHERE.binary_search(&word.folded.as_str()).is_ok()
        || !word.raw.is_ascii() && FORBIDDING_PARTS.iter().any(|part| word.raw.contains(part))
}

/// The words of a sentence, and the actions it names in another language than English.
struct Verbs<'w, 't> {
    words: &'w [Word<'t>],
    elsewhere: Vec<Found<Verb>>,
}

impl<'w, 't> Verbs<'w, 't> {
    fn of(text: &str, words: &'w [Word<'t>]) -> Self {
        // "Do" and others are usual words of other languages.
        let is_english = Languages::of(words).may_be_english();
        Self {
            words,
            elsewhere: if is_english {
                Vec::new()
            } else {
                phrases::verbs(text)
            },
        }
    }

    fn elsewhere(&self, word: &Word<'_>) -> Option<Verb> {
        let at = self
            .elsewhere
            .iter()
            .find(|found| (word.start..word.end).contains(&found.start));
        at.map(|found| found.means)
    }

    /// Whether a word requests an action.
    fn orders(&self, word: &Word<'_>) -> bool {
        word.is_any(ORDERS) || self.elsewhere(word).is_some()
    }

    /// Whether a word requests a change of its object.
    fn changes(&self, word: &Word<'_>) -> bool {
        word.is_any(ORDERS) && !word.is_any(HARMLESS)
            || matches!(
                self.elsewhere(word),
                Some(
                    Verb::Add
                        | Verb::Change
                        | Verb::Create
                        | Verb::Delete
                        | Verb::Move
                        | Verb::Refactor
                        | Verb::Rename
                        | Verb::Upgrade
                )
            )
    }

    /// Whether a word of a sentence that forbids nothing requests a change of files.
    fn is_order(&self, word: &Word<'_>) -> bool {
        self.changes(word) && !word.is_any(&["touch", "include", "clean"]) || word.is_any(OTHER_ORDERS)
    }

    /// Whether they ask for a change of files.
    fn asks(&self) -> bool {
        !looks_first(self.words) && self.words.iter().any(|word| self.is_order(word))
            || self.words.windows(2).any(|pair| {
                pair[0].is_any(&["and", "then", "und", "si"]) && self.is_order(&pair[1])
                        // "I need a script that …"
                        || pair[0].is_any(&["need", "want"]) && pair[1].is_any(&["a", "an"])
            })
    }
}

/// Whether words start with a request for information.
fn looks_first(words: &[Word<'_>]) -> bool {
    let first = words.iter().find(|word| !word.is_any(OPENINGS));
    first.is_some_and(|word| word.is_any(LOOKING))
}

/// Whether a text requests a change of files.
pub(super) fn requests_change(text: &str) -> bool {
    sentences(text).iter().any(|sentence| {
        let words = words(sentence);
        // Other languages are read by their verbs, which describe as often as they request.
        Languages::of(&words).may_be_english()
            && !forbids(&words)
            && !asks_for_opinion(&words)
            && (!sentence.ends_with('?') || words.iter().any(|word| word.folded == "you"))
            && Verbs::of(sentence, &words).asks()
    })
}

/// "Tell me what you'd improve" asks for no change.
fn asks_for_opinion(words: &[Word<'_>]) -> bool {
    let tells = words
        .windows(2)
        .any(|pair| pair[0].is_any(&["tell", "let", "show"]) && pair[1].is_any(&["me", "us"]));
    let would = words.windows(2).any(|pair| {
        pair[0].is_any(&["what", "how"]) && pair[1].is_any(&["you'd", "youd"])
            || pair[0].is_any(&["you"]) && pair[1].is_any(&["would"])
    });
    tells && would
}

/// Whether a question proposes a change.
pub(crate) fn proposes_change(question: &str) -> bool {
    let words = words(question);
    let verbs = Verbs::of(question, &words);
    words
        .iter()
        .any(|word| verbs.is_order(word) || word.is_any(&["ahead", "proceed", "start"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_searched_table_is_sorted() {
        assert!(FORBIDDING_ELSEWHERE.is_sorted());
    }
}
