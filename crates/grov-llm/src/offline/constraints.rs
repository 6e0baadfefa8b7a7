//! What a prompt forbids or demands of the work.

use super::goal;
use super::lexicon::{WORK_VERBS, WORK_VERBS_RO};
use super::text::{Word, any_phrase_at, ends_with_question, phrase_at, push_new, sentences, shorten, words};

/// At most so many constraints of a task.
pub(super) const MOST: usize = 20;

/// At most so many characters of one.
const MOST_CHARACTERS: usize = 200;

/// The constraints in a prompt's prose, in order.
pub(super) fn find(prose: &str, found: &mut Vec<String>) {
    for sentence in sentences(prose).iter().take(400) {
        of_sentence(sentence, found);
    }
}

/// Whether a sentence holds one.
pub(super) fn is_constraint(sentence: &str) -> bool {
    let mut found = Vec::new();
    of_sentence(sentence, &mut found);
    !found.is_empty()
}

fn of_sentence(sentence: &str, found: &mut Vec<String>) {
    let all = words(sentence);
    let asks = ends_with_question(sentence) && !goal::asks_for_work(&all);
    if asks || all.is_empty() {
        return;
    }
    let quoted = quotations(sentence);
    let starts = clause_starts(&all);
    let mut at = 0;
    while at < all.len() {
        let is_quoted = quoted
            .iter()
            .any(|(from, to)| (*from..*to).contains(&all[at].start));
        match (!is_quoted).then(|| cue(&all, at, &starts)).flatten() {
            Some(from) => {
                let end = clause_end(&all, at);
                let text = &sentence
                    [all[from].start - leading_mark(&all[from])..all[end].end + closing_mark(&all[end])];
                push_new(found, shorten(text.trim(), MOST_CHARACTERS), MOST);
                at = end + 1;
            }
            None => at += 1,
        }
    }
}

/// A backtick or quotation mark that opens right before a word belongs to it.
fn leading_mark(word: &Word<'_>) -> usize {
    if word.before.ends_with(['`', '"', '\'']) {
        1
    } else {
        0
    }
}

fn closing_mark(word: &Word<'_>) -> usize {
    if word.after.starts_with(['`', '"', '\'']) {
        1
    } else {
        0
    }
}

/// Byte ranges in quotation marks: what is quoted is not said.
fn quotations(sentence: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, letter) in sentence.char_indices() {
        match open {
            Some((from, mark)) if letter == mark => {
                let next = sentence[at + letter.len_utf8()..].chars().next();
                // An apostrophe inside a word closes nothing.
                if mark != '\'' || next.is_none_or(|next| !next.is_alphanumeric()) {
                    ranges.push((from, at));
                    open = None;
                }
            }
            Some(_) => {}
            None => {
                let mark = match letter {
                    '"' => Some('"'),
                    '“' | '„' => Some('”'),
                    '«' => Some('»'),
                    '`' => Some('`'),
                    '\'' if !before.is_alphanumeric() => Some('\''),
                    _ => None,
                };
                open = mark.map(|mark| (at, mark));
            }
        }
        before = letter;
    }
    ranges
}

/// Words that open a new clause.
const CONJUNCTIONS: &[&str] = &[
    "but",
    "and",
    "or",
    "so",
    "then",
    "please",
    "just",
    "also",
    "however",
    "though",
    "although",
    "yet",
    "dar",
    "si",
    "sau",
    "iar",
    "insa",
    "rog",
    "plus",
    "btw",
    "still",
    "obviously",
    "definitely",
    "absolutely",
    "again",
    "you",
    "always",
    "remember",
    "note",
    "important",
    "oh",
    "pls",
    "nor",
    "apoi",
    "deci",
    "doar",
    "ca",
    "sa",
    "tu",
];

/// For each word, whether a clause begins with it.
fn clause_starts(words: &[Word<'_>]) -> Vec<bool> {
    let mut starts = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let begins = at == 0
            || words[at - 1].pauses()
            || word.before.contains(['(', '—'])
            || words[at - 1].is_any(CONJUNCTIONS)
            || (words[at - 1].is_any(goal::LEADING_WORDS) && starts[at - 1]);
        starts.push(begins);
    }
    starts
}

/// Verbs behind "don't" that forbid nothing.
const IDLE_AFTER_DONT: &[&str] = &[
    "worry",
    "know",
    "think",
    "understand",
    "see",
    "mind",
    "you",
    "get",
    "believe",
    "care",
    "recall",
    "remember",
    "we",
    "i",
    "they",
    "have",
    "need",
    "like",
    "panic",
    "ask",
    "seem",
    "work",
    "compile",
    "appear",
    "exist",
    "happen",
    "match",
    "show",
    "pass",
    "hesitate",
    "it",
    "any",
    "even",
];

/// Third persons and past forms behind "never".
fn is_narrated(word: &Word<'_>) -> bool {
    let folded = &word.folded;
    (folded.len() > 3
        && folded.ends_with('s')
        && !folded.ends_with("ss")
        && !word.is_any(&["focus", "process", "access", "address"]))
        || (folded.ends_with("ed") && !word.is_any(&["need", "embed", "feed", "seed", "speed", "shed"]))
        || word.is_any(&[
            "saw",
            "got",
            "worked",
            "ran",
            "mind",
            "had",
            "been",
            "was",
            "is",
            "seen",
            "knew",
            "came",
            "made",
            "did",
            "went",
            "found",
            "understood",
        ])
}

/// Stems of Romanian verbs that "nu" forbids.
const FORBIDDEN_RO: &[&str] = &[
    "modific",
    "schimb",
    "ating",
    "adaug",
    "folos",
    "utiliz",
    "sterg",
    "rul",
    "face",
    "fac",
    "scri",
    "crea",
    "creez",
    "instal",
    "stric",
    "mut",
    "umbl",
    "pune",
    "pun",
    "pui",
    "refactoriz",
    "redenum",
    "introduc",
    "trimit",
    "uit",
    "elimin",
    "scoate",
    "rescri",
    "edit",
    "comit",
    "commit",
    "push",
    "inlocui",
    "sparge",
    "las",
    "depas",
    "genera",
    "import",
    "export",
    "format",
    "restructur",
    "public",
    "hardcod",
    "apela",
    "accesa",
    "ignor",
    "sari",
    "convert",
    "duplic",
    "repet",
    "copi",
    "invent",
    "presupun",
    "bump",
    "actualiz",
    "upgrad",
    "incepe",
    "lua",
    "da",
    "toca",
    "renunt",
    "optimiz",
    "atinge",
    "migr",
    "implement",
    "deploy",
    "inchide",
    "declar",
    "log",
    "merge-ui",
    "testa",
    "amesteca",
    "complica",
];

/// Where the constraint begins whose cue stands at `at`.
fn cue(all: &[Word<'_>], at: usize, starts: &[bool]) -> Option<usize> {
    let word = &all[at];
    let next = all.get(at + 1);
    let begins = starts[at];
    let start = (0..=at).rev().find(|index| starts[*index]).unwrap_or(0);
    let first = &all[start];
    match word.folded.as_str() {
        "don't" | "dont" | "do" | "never" => {
            let length = any_phrase_at(all, at, &["don't", "dont", "do not", "never"])?;
            let verb = all.get(at + length)?;
            let wishes = at > 0
                && word.folded != "never"
                && all[at - 1].is_any(&["i", "we"])
                && verb.is_any(&["want", "need"]);
            if wishes {
                return verb.is_any(&["want"]).then_some(at - 1);
            }
            let never = word.folded == "never";
            (begins && !verb.is_any(IDLE_AFTER_DONT) && !(never && is_narrated(verb))).then_some(at)
        }
        "avoid" | "evita" | "preserve" | "ensure" => (begins && next.is_some()).then_some(at),
        "make" | "be" => (begins
            && any_phrase_at(all, at, &["make sure", "be sure", "be careful not to"]).is_some())
        .then_some(at),
        "must" | "mustn't" | "shall" => {
            let odd = next.is_none_or(|next| {
                next.is_any(&["have", "be", "i"]) && first.is_any(&["i", "there", "it", "that", "something"])
            }) || first.is_any(&["i"]);
            (!odd).then_some(start)
        }
        "without" => {
            let idle = next
                .is_none_or(|next| next.is_any(&["success", "luck", "any", "problems", "issues", "errors"]));
            (!idle && is_instruction(all)).then_some(at)
        }
        "only" => only(all, at, start, begins),
        "no" => {
            let idle = word.after.starts_with([',', '.', '!'])
                || next.is_none_or(|next| {
                    next.is_any(&[
                        "one", "idea", "way", "problem", "problems", "worries", "thanks", "luck", "need",
                        "longer", "matter", "it", "that", "this", "i", "you", "we", "not", "wait", "the",
                        "error", "errors",
                    ])
                });
            let after_with = at > 0 && all[at - 1].is_any(&["with", "adding", "use", "add", "introduce"]);
            let finite = all[at..].iter().any(|word| {
                word.is_any(&[
                    "is", "are", "was", "were", "has", "have", "happens", "appears", "works",
                ])
            });
            (!idle && !finite && (begins || after_with)).then_some(at)
        }
        "keep" | "leave" | "pastreaza" | "lasa" | "pastrati" | "lasati" => {
            let idle = next.is_none_or(|next| {
                next.is_any(&[
                    "going", "getting", "in", "working", "seeing", "me", "up", "trying",
                ])
            });
            (begins && !idle).then_some(at)
        }
        "except" | "cu" | "in" => {
            let phrase = any_phrase_at(all, at, &["except", "cu exceptia", "in afara de"])?;
            (all.len() > at + phrase
                && is_instruction(all)
                && !all.get(at + 1)?.is_any(&["that", "when", "if"]))
            .then_some(at)
        }
        "stop" => (begins && phrase_at(all, at, "stop after").is_some()).then_some(at),
        "at" | "no-more" => phrase_at(all, at, "at most").and((is_instruction(all)).then_some(at)),
        "cel" | "maxim" | "maximum" => (is_instruction(all)
            && (word.folded != "cel" || next.is_some_and(|next| next.is_any(&["mult"]))))
        .then_some(at),
        "stay" | "stick" | "limit" => (begins
            && any_phrase_at(
                all,
                at,
                &[
                    "stay within",
                    "stay in",
                    "stick to",
                    "stick with",
                    "limit yourself",
                    "limit changes",
                    "limit the",
                ],
            )
            .is_some())
        .then_some(at),
        "nu" => {
            let mut verb_at = at + 1;
            while all
                .get(verb_at)?
                .is_any(&["mai", "te", "va", "se", "ii", "le", "il", "o", "imi", "ne"])
            {
                verb_at += 1;
            }
            let verb = all.get(verb_at)?;
            let wishes = verb.is_any(&["vreau", "vrem", "ai"])
                && (verb.folded != "ai" || all.get(verb_at + 1).is_some_and(|word| word.is_any(&["voie"])));
            let narrated =
                verb.folded.ends_with("eaza") || verb.folded.ends_with("este") || verb.folded.ends_with("am");
            let forbids = FORBIDDEN_RO.iter().any(|stem| verb.folded.starts_with(stem)) && !narrated;
            ((begins && forbids) || wishes).then_some(at)
        }
        "fara" => (is_instruction(all)
            && next.is_some_and(|next| !next.is_any(&["succes", "probleme", "erori"])))
        .then_some(at),
        "doar" | "numai" => {
            let idle = next.is_none_or(|next| next.is_any(&["ca", "cand", "daca", "o", "un"]));
            let after_order = at > 0
                && (all[at - 1].is_any(WORK_VERBS_RO)
                    || starts[at.saturating_sub(1)] && goal::is_order(all, at - 1));
            (!idle && (begins || after_order) && is_instruction_ro(all, at)).then_some(if after_order {
                at - 1
            } else {
                at
            })
        }
        "niciodata" => (is_instruction(all) || begins).then_some(at),
        "trebuie" => {
            let length = any_phrase_at(all, at, &["trebuie sa nu", "trebuie sa ramana", "trebuie sa"])?;
            let odd = all.get(at + length).is_none()
                || at > 0 && all[at - 1].is_any(&["ar"])
                || goal::is_order(all, at + length);
            (!odd).then_some(start)
        }
        "asigura-te" | "asigurati-va" => Some(at),
        "ai" => phrase_at(all, at, "ai grija").and(begins.then_some(at)),
        _ => None,
    }
}

/// "Only": beside an order, or before what is meant.
fn only(all: &[Word<'_>], at: usize, start: usize, begins: bool) -> Option<usize> {
    let next = all.get(at + 1);
    if at > 0
        && all[at - 1].is_any(&[
            "the", "not", "if", "it", "an", "is", "are", "was", "an", "its", "this", "that", "they", "i",
        ])
    {
        return None;
    }
    if begins {
        let next = next?;
        let idle = next.is_any(&[
            "when", "if", "because", "the", "thing", "one", "a", "problem", "works", "happens", "fails",
        ]) || is_narrated(next) && !super::scope::is_path(next.raw);
        return (!idle).then_some(at);
    }
    if all[at - 1].is_any(&["should", "must", "may", "can"]) {
        return Some(start);
    }
    let order = goal::is_order(all, start + goal::behind_lead_ins(&all[start..]));
    if order {
        return Some(start);
    }
    (next.is_none() && at - start <= 5).then_some(start)
}

/// Whether a sentence tells somebody to do something.
fn is_instruction(all: &[Word<'_>]) -> bool {
    goal::asks_for_work(all)
        || all.first().is_some_and(|word| {
            word.is_any(&[
                "without",
                "fara",
                "except",
                "at",
                "maxim",
                "cel",
                "must",
                "don't",
                "do",
                "never",
                "nu",
                "all",
                "everything",
                "no",
                "only",
                "keep",
            ])
        })
}

fn is_instruction_ro(all: &[Word<'_>], at: usize) -> bool {
    at == 0 || is_instruction(all) || all[at - 1].pauses()
}

/// Words behind a comma with which something else begins.
const NEW_THOUGHT: &[&str] = &[
    "but",
    "then",
    "so",
    "please",
    "just",
    "also",
    "because",
    "since",
    "i",
    "we",
    "it",
    "it's",
    "this",
    "that",
    "there",
    "they",
    "dar",
    "apoi",
    "deci",
    "pentru",
    "fiindca",
    "iar",
    "don't",
    "dont",
    "do",
    "never",
    "only",
    "keep",
    "leave",
    "make",
    "avoid",
    "must",
    "without",
    "no",
    "nu",
    "fara",
    "doar",
    "numai",
    "pastreaza",
    "lasa",
    "which",
    "if",
    "as",
    "you",
    "te",
    "instead",
    "ensure",
    "thanks",
    "mersi",
    "ok",
];

/// The last word of the clause whose cue stands at `at`.
fn clause_end(all: &[Word<'_>], at: usize) -> usize {
    let mut end = at;
    for index in at..all.len() {
        end = index;
        let word = &all[index];
        if word.after.contains([';', '—', '–', '(', ')'])
            || (word.after.contains([':', '.', '!', '?']) && index > at)
        {
            break;
        }
        let Some(next) = all.get(index + 1) else {
            break;
        };
        if next.before.contains('(') {
            break;
        }
        let is_verb = |word: &Word<'_>| word.is_any(WORK_VERBS) || word.is_any(WORK_VERBS_RO);
        if index > at && word.after.contains(',') {
            let thought = if next.is_any(&["and", "or", "si", "sau"]) {
                all.get(index + 2)
            } else {
                Some(next)
            };
            if next.is_any(NEW_THOUGHT)
                || thought.is_some_and(|word| word.is_any(NEW_THOUGHT) || is_verb(word))
            {
                break;
            }
        }
        if index > at && next.is_any(&["but", "because", "dar", "fiindca", "deoarece", "pentruca", "insa"]) {
            break;
        }
        if index > at && next.is_any(&["and", "si"]) {
            let behind = all.get(index + 2);
            if behind.is_some_and(|word| word.is_any(NEW_THOUGHT) && !word.is_any(&["that", "this", "it"])) {
                break;
            }
        }
    }
    end
}
