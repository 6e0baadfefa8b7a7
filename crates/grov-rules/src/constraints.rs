//! Finds the constraints in a prompt: what it forbids or demands.
//!
//! A constraint starts with a cue ("don't", "only", "fără") where an instruction can start: at the beginning of a clause. The
//! same word elsewhere describes something ("it doesn't compile", "only happens when").

use super::goal;
use super::lexicon::is_work_verb;
use super::scope::is_path;
use super::text::{Word, any_phrase_at, ends_with_question, has_phrase, phrase_at, push_new, shorten, words};

use grov_scope::phrases::Languages;
use std::cell::OnceCell;

mod clauses;
mod lexicon;
mod unspaced;

use lexicon::*;

/// The most constraints of a task.
pub(crate) const MAX_CONSTRAINTS: usize = 20;

/// The most words of a constraint without a verb.
const MAX_TERSE: usize = 8;

/// The longest constraint, in characters.
const MAX_CHARACTERS: usize = 200;

/// The constraints in a prompt's sentences, in order.
pub(crate) fn find(sentences: &[String], found: &mut Vec<String>) {
    for sentence in goal::Sentence::read(sentences) {
        for constraint in sentence.constraints() {
            push_new(found, constraint.clone(), MAX_CONSTRAINTS);
        }
    }
}

/// Whether `sentence`, which contains `constraints`, starts with a prohibition.
pub(crate) fn opens_with_one(sentence: &str, constraints: &[String]) -> bool {
    constraints.first().is_some_and(|first| {
        let forbids = words(first).first().is_some_and(|word| {
            word.is_any(&[
                "don't",
                "do",
                "never",
                "no",
                "nu",
                "not",
                "avoid",
                "evita",
                "under",
                "without",
                "fara",
                "skip",
                "limit",
                "restrict",
                "stay",
                "stick",
                "hands",
                "ask",
                "preserve",
                "leave",
                "keep",
                "always",
                "must",
                "read-only",
            ])
        });
        let lead = sentence
            .find(first.trim_end_matches('…'))
            .unwrap_or(sentence.len());
        let before = words(&sentence[..lead]);
        forbids && before.len() <= 2 && !goal::asks_for_work(&before)
    })
}

/// What is known of a sentence's prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The likely languages of the sentence.
    pub(crate) languages: Languages,
    /// No sentence before it asks for work, so that "users must not …" is what is asked for.
    pub(crate) opens: bool,
}

/// The constraints in a sentence with these words, in order.
pub(crate) fn of_sentence(sentence: &str, all: &[Word<'_>], context: Context, found: &mut Vec<String>) {
    if all.is_empty() {
        return;
    }
    let quoted = quotations(sentence);
    let is_quoted = |at: usize| quoted.iter().any(|(from, to)| (*from..*to).contains(&at));
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let [english, romanian] =
        [Languages::ENGLISH, Languages::ROMANIAN].map(|one| context.languages.contains(one));
    if (english || romanian) && (!ends_with_question(sentence) || goal::asks_for_work(all)) {
        let spans = english_and_romanian(all, context, &quoted);
        ranges.extend(spans.into_iter().map(|span| range(all, span)));
    }
    let spans = clauses::find(all, context.languages, &is_quoted);
    let others = spans.into_iter().map(|span| range(all, span));
    let others = others.chain(unspaced::find(sentence, context.languages, &is_quoted));
    for (from, to) in others {
        if !ranges.iter().any(|(start, end)| from < *end && *start < to) {
            ranges.push((from, to));
        }
    }
    ranges.sort_unstable();
    for (from, to) in ranges {
        push_new(
            found,
            shorten(sentence[from..to].trim(), MAX_CHARACTERS),
            MAX_CONSTRAINTS,
        );
    }
}

/// The byte range of some words, with quotation marks around them.
fn range(all: &[Word<'_>], (from, to): (usize, usize)) -> (usize, usize) {
    (
        all[from].start - leading_mark(&all[from]),
        all[to].end + closing_mark(&all[to]),
    )
}

/// The constraints in an English or Romanian sentence as first and last words, in order.
fn english_and_romanian(
    all: &[Word<'_>],
    context: Context,
    quoted: &[(usize, usize)],
) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let sentence_words = Sentence {
        starts: clause_starts(all),
        quoted,
        all,
        reported: all
            .iter()
            .position(|word| word.is_any(REPORTING) || (word.is_any(MESSAGES) && word.after.contains(':')))
            .filter(|at| *at == 0 || !all[at - 1].is_any(&["i", "we", "as"])),
        instruction: OnceCell::new(),
        context,
    };
    let mut at = 0;
    while at < all.len() {
        match sentence_words.constraint_at(at) {
            Some((from, to)) => {
                spans.push((from, to));
                at = to + 1;
            }
            None => at += 1,
        }
    }
    spans
}

/// The length of a backtick or quotation mark directly before a word.
fn leading_mark(word: &Word<'_>) -> usize {
    usize::from(word.before.ends_with(['`', '"', '\'']))
}

fn closing_mark(word: &Word<'_>) -> usize {
    usize::from(word.after.starts_with(['`', '"', '\'']))
}

/// The byte ranges of quotations, which contain no constraints of the speaker.
fn quotations(sentence: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, letter) in sentence.char_indices() {
        match open {
            Some((from, mark)) if letter == mark || mark == '“' && letter == '”' => {
                let next = sentence[at + letter.len_utf8()..].chars().next();
                // An apostrophe inside a word does not close a quotation.
                if mark != '\'' || next.is_none_or(|next| !next.is_alphanumeric()) {
                    ranges.push((from, at));
                    open = None;
                }
            }
            Some(_) => {}
            None => {
                let mark = match letter {
                    '"' => Some('"'),
                    '“' | '„' | '”' => Some(if letter == '„' { '“' } else { '”' }),
                    '«' => Some('»'),
                    '「' => Some('」'),
                    '『' => Some('』'),
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

/// For each word, whether it starts a clause.
fn clause_starts(words: &[Word<'_>]) -> Vec<bool> {
    let mut starts: Vec<bool> = Vec::with_capacity(words.len());
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

/// A sentence prepared for the search.
struct Sentence<'s, 't> {
    all: &'s [Word<'t>],
    starts: Vec<bool>,
    quoted: &'s [(usize, usize)],
    context: Context,
    /// The word from which on somebody else is quoted.
    reported: Option<usize>,
    /// See [`Sentence::is_instruction`].
    instruction: OnceCell<bool>,
}

impl Sentence<'_, '_> {
    /// The first and last word of the constraint whose cue is at `at`.
    fn constraint_at(&self, at: usize) -> Option<(usize, usize)> {
        let position = self.all[at].start;
        if self
            .quoted
            .iter()
            .any(|(from, to)| (*from..*to).contains(&position))
            || self.reported.is_some_and(|from| at > from)
        {
            return None;
        }
        let from = self.cue(at)?;
        // "Docs only, please": the limited thing comes before the cue.
        let ends_here = from < at && self.all[at].pauses();
        Some((from, if ends_here { at } else { clause_end(self.all, at) }))
    }

    /// The start of the clause that contains `at`.
    fn clause(&self, at: usize) -> usize {
        (0..=at).rev().find(|index| self.starts[*index]).unwrap_or(0)
    }

    /// The start of the constraint whose cue is at `at`, if there is one.
    fn cue(&self, at: usize) -> Option<usize> {
        let all = self.all;
        let word = &all[at];
        let next = all.get(at + 1);
        let next_is = |words: &[&str]| next.is_some_and(|next| next.is_any(words));
        let begins = self.starts[at];
        let start = self.clause(at);
        if let Some(length) = PLAIN_CUES.at(all, at) {
            return (all.len() > at + length && begins).then_some(at);
        }
        if let Some(length) = CUES_ANYWHERE.at(all, at) {
            // "Accept at most 20 files" is what the program has to do.
            let counts = all.get(at + length).is_some_and(|next| is_number(next));
            if counts && all[..at].iter().any(|word| word.is_any(BEHAVING)) {
                return None;
            }
            // "Nothing else" needs the text before it.
            let from = if word.is_any(&["nothing", "nimic"]) {
                0
            } else if begins {
                at
            } else {
                start
            };
            return (at == 0 || self.is_instruction()).then_some(from);
        }
        if CUES_OF_A_STATE.at(all, at).is_some() {
            // "You" is the subject of the state here, not a lead-in.
            let from = if at > 0 && all[at - 1].is_any(&["you", "we"]) {
                at - 1
            } else {
                start
            };
            return (from < at && !all[start].is_any(IDLE_SUBJECTS)).then_some(from);
        }
        if let Some(from) = self.terse(at, start, begins) {
            return Some(from);
        }
        match word.folded.as_str() {
            "don't" | "do" | "never" => self.dont(at, start, begins),
            "must" | "mustn't" | "shall" | "should" | "shouldn't" | "can't" | "cannot" | "may" | "can" => {
                self.modal(at, start)
            }
            "make" | "be" => {
                let length = any_phrase_at(all, at, &["make sure", "be sure", "be careful"])?;
                (begins && all.len() > at + length).then_some(at)
            }
            "without" | "w/o" => {
                let idle = next.is_none()
                    || next_is(&[
                        "success", "luck", "any", "problems", "issues", "errors", "knowing", "asking",
                    ]) && !all.get(at + 2).is_some_and(|word| {
                        !word.is_any(&[
                            "luck", "success", "problems", "issues", "errors", "problem", "issue", "error",
                        ])
                    });
                (!idle && self.is_instruction()).then_some(at)
            }
            "only" => self.only(at, start, begins),
            "no" | "zero" => {
                let idle = !word.after.is_empty() || next.is_none() || next_is(IDLE_AFTER_NO);
                let after_with = at > 0
                    && all[at - 1].is_any(&["with", "adding", "use", "add", "introduce", "prefer", "want"]);
                let end = clause_end(all, at);
                let end = (at..end).find(|at| all[*at].pauses()).unwrap_or(end);
                let narrates = all[at..=end].iter().any(|word| word.is_any(NARRATING));
                (!idle && !narrates && (begins || after_with)).then_some(at)
            }
            "not" => self.contrast(at, start),
            "keep" => {
                let idle = next.is_none()
                    || next_is(&[
                        "going", "getting", "in", "working", "seeing", "me", "up", "trying", "having",
                        "running", "failing",
                    ]);
                (begins && !idle).then_some(at)
            }
            "keeping" | "leaving" => {
                let end = clause_end(all, at);
                let complement = all[at..=end]
                    .iter()
                    .any(|word| word.is_any(KEPT) || word.is_any(LEFT));
                (complement && self.is_instruction()).then_some(at)
            }
            "leave" => {
                let end = clause_end(all, at);
                let complement = all[at..=end].iter().any(|word| word.is_any(LEFT));
                (begins && complement).then_some(at)
            }
            "except" | "excluding" | "unless" => {
                let idle = next.is_none()
                    || word.folded != "unless" && next_is(&["that", "when", "if", "it", "i", "now"]);
                let asked = self.is_instruction()
                    || !self.context.opens && !all[..at].iter().any(|word| is_told(word));
                (!idle && asked).then_some(at)
            }
            "max" | "maximum" | "max." => (next
                .is_some_and(|next| next.folded.starts_with(|letter: char| letter.is_ascii_digit()))
                && self.is_instruction())
            .then_some(at),
            _ => self.cue_ro(at, start, begins),
        }
    }

    /// Constraints without a verb: "just src/", "one page max", "same format as 0011", "nothing in backend/", "read only",
    /// "min iOS stays 15".
    fn terse(&self, at: usize, start: usize, begins: bool) -> Option<usize> {
        let all = self.all;
        let word = &all[at];
        let next = all.get(at + 1);
        let end = (at..all.len())
            .find(|at| all[*at].pauses())
            .unwrap_or(all.len() - 1);
        let clause = &all[at..=end];
        let is_short = clause.len() <= MAX_TERSE && !clause.iter().any(is_told);
        let asked = self.is_instruction() || !self.context.opens;
        if !begins {
            let ends = end == at || all[at + 1..].iter().take(2).any(is_number);
            return (word.is_any(&["remain", "remains", "stay", "stays"])
                && ends
                && !all[start].is_any(IDLE_SUBJECTS)
                && !all[start..at].iter().any(is_told))
            .then_some(start);
        }
        let next = next?;
        let opens = match word.folded.as_str() {
            "just" => {
                let thing = is_path(next.raw)
                    || next.is_any(&[
                        "in", "inside", "that", "the", "this", "those", "these", "under", "within",
                    ]);
                thing
                    && asked
                    && !clause.iter().any(|word| {
                        is_work_verb(&word.folded)
                            || word.is_any(IDLE_SUBJECTS) && !word.is_any(&["that", "this"])
                    })
            }
            "nothing" => next.is_any(&["from", "in", "inside", "on", "outside", "under"]) && asked,
            "same" => {
                clause.iter().any(|word| word.is_any(&["as"]))
                    && asked
                    && !next.is_any(&[
                        "error", "goes", "here", "issue", "problem", "thing", "with", "for", "result",
                        "story", "as",
                    ])
            }
            "read-only" | "readonly" => true,
            "read" => next.is_any(&["only"]),
            _ => {
                let count = is_number(word);
                let unit = clause
                    .iter()
                    .skip(1)
                    .any(|word| word.is_any(&["max", "maximum", "per", "tops"]));
                let per = clause.iter().position(|word| word.is_any(&["per"]));
                let per = per.is_none_or(|at| clause.get(at + 1).is_some_and(|word| word.is_any(ARTEFACTS)));
                count && unit && per && asked
            }
        };
        (opens && is_short).then_some(at)
    }

    /// "Don't", "do not" and "never" before a verb.
    fn dont(&self, at: usize, start: usize, begins: bool) -> Option<usize> {
        let all = self.all;
        let word = &all[at];
        let length = any_phrase_at(all, at, &["don't", "do not", "never"])?;
        let verb = all.get(at + length)?;
        let never = word.folded == "never";
        // "They don't run here and don't fail there" continues a description.
        let goes_on = at > 0
            && all[at - 1].is_any(&["and", "or", "but"])
            && (1..at).any(|index| !self.starts[index] && all[index].is_any(&["don't", "doesn't", "didn't"]));
        if goes_on {
            return None;
        }
        if at > 0 && !never && all[at - 1].is_any(&["i", "we"]) {
            return verb.is_any(&["want"]).then_some(at - 1);
        }
        if at > 0 && never && all[at - 1].is_any(&["should", "must", "can", "may", "shall"]) {
            return (!self.context.opens || !self.demands_behaviour(at - 1, start)).then_some(start);
        }
        let idle =
            verb.is_any(IDLE_AFTER_DONT) && !(never && verb.is_any(&["ask", "get", "show", "pass", "run"]));
        let narrates = never && is_narrated(verb);
        let forbids = begins && !idle && !narrates && !word.pauses();
        forbids.then_some(at)
    }

    /// "Must", "should not" and "can't" after their subject.
    fn modal(&self, at: usize, start: usize) -> Option<usize> {
        let all = self.all;
        let next = all.get(at + 1);
        let next_is = |words: &[&str]| next.is_some_and(|next| next.is_any(words));
        match all[at].folded.as_str() {
            "must" | "mustn't" | "shall" => {
                let guesses = next.is_none()
                    || next_is(&["have", "i"])
                    || (next_is(&["be"])
                        && (all[start].is_any(IDLE_SUBJECTS) && !next_is(&["not"]))
                        && all.get(at + 2).is_none_or(|word| !word.is_any(MEASURES)))
                    || (next_is(&["be"])
                        && all
                            .get(at + 2)
                            .is_some_and(|word| word.is_any(GUESSES) || word.folded.ends_with("ing")));
                let behaves = self.context.opens && self.demands_behaviour(at, start);
                (!guesses && !behaves && !all[start].is_any(&["i"])).then_some(start)
            }
            "should" | "shouldn't" => {
                let length = any_phrase_at(all, at, &["should not", "shouldn't"])?;
                let verb = all.get(at + length)?;
                let touched = verb.is_any(&["be"])
                    && all
                        .get(at + length + 1)
                        .is_some_and(|word| word.is_any(FORBIDDEN_PARTICIPLES));
                (touched || verb.is_any(FORBIDDEN_VERBS)).then_some(start)
            }
            _ => {
                let length = any_phrase_at(all, at, &["can't", "cannot", "may not", "can not"])?;
                let verb = all.get(at + length)?;
                let whose = at > 0 && all[at - 1].is_any(&["we", "you"]);
                (whose && verb.is_any(DENIED_VERBS)).then_some(start)
            }
        }
    }

    /// Whether "must not" at `at` says what the program has to do, which is the goal of a prompt that opens with it: "users must
    /// not see the price".
    fn demands_behaviour(&self, at: usize, start: usize) -> bool {
        let all = self.all;
        let negation = any_phrase_at(
            all,
            at,
            &["must not", "mustn't", "must never", "shall not", "shall never"],
        );
        let Some(verb) = negation.and_then(|length| all.get(at + length)) else {
            return false;
        };
        let about_code = verb.is_any(&["be"])
            && all[at..]
                .iter()
                .take(5)
                .any(|word| word.is_any(FORBIDDEN_PARTICIPLES))
            || verb.is_any(UNBEHAVING);
        !about_code && !all[start].is_any(&["you", "we", "it", "this", "that"])
    }

    /// The Romanian cues.
    fn cue_ro(&self, at: usize, start: usize, begins: bool) -> Option<usize> {
        let all = self.all;
        let word = &all[at];
        let next = all.get(at + 1);
        match word.folded.as_str() {
            "nu" | "nu-l" | "nu-i" | "nu-mi" | "nu-ti" | "nu-o" | "n-o" => self.nu(at, begins),
            "n-ai" => next.is_some_and(|next| next.is_any(&["voie"])).then_some(at),
            "fara" => {
                let idle = next.is_none_or(|next| {
                    next.is_any(&["succes", "probleme", "erori", "sens", "noroc", "indoiala"])
                });
                (!idle && self.is_instruction()).then_some(at)
            }
            "doar" | "numai" => {
                let idle = next.is_none_or(|next| next.is_any(&["ca", "cand", "daca", "o", "un", "eu"]));
                let after_order = at > 0 && goal::is_order(all, at - 1);
                let late = !begins
                    && !after_order
                    && self.is_instruction()
                    && next.is_some_and(|next| {
                        next.is_any(&["in", "pe", "pentru", "la", "cu", "din", "fisierul", "fisierele"])
                            || is_path(next.raw)
                    });
                let narrates = all.iter().any(|word| word.is_any(NARRATING_RO)) && !after_order;
                (!idle && !narrates && (begins || after_order || late)).then_some(if after_order {
                    at - 1
                } else {
                    at
                })
            }
            "niciodata" => (begins || self.is_instruction()).then_some(at),
            "pastreaza" | "pastrati" | "pastrezi" => (begins && next.is_some()).then_some(at),
            "lasa" | "lasati" | "lasi" | "las'" => {
                let end = clause_end(all, at);
                let complement = all[at..=end].iter().any(|word| word.is_any(LEFT));
                (begins && complement).then_some(at)
            }
            "trebuie" => {
                let length = phrase_at(all, at, "trebuie sa")?;
                let verb = all.get(at + length)?;
                let demands = verb.is_any(DEMANDED_RO);
                let softened = at > 0 && all[at - 1].is_any(&["ar", "nu", "ca"]);
                let guesses = verb.is_any(&["fie"])
                    && all
                        .get(at + length + 1)
                        .is_none_or(|word| word.is_any(&["o", "un", "ceva", "vreo", "vreun", "din", "de"]));
                (demands && !softened && !guesses).then_some(start)
            }
            _ => None,
        }
    }

    /// "Nu modifica …", "să nu adaugi …", "nu vreau …".
    fn nu(&self, at: usize, begins: bool) -> Option<usize> {
        let all = self.all;
        if all[at].pauses() {
            return None;
        }
        let mut verb_at = at + 1;
        while all.get(verb_at)?.is_any(&[
            "mai", "te", "va", "se", "ii", "le", "il", "o", "imi", "ne", "ma", "i", "cumva",
        ]) {
            verb_at += 1;
        }
        let verb = all.get(verb_at)?;
        let behind = all.get(verb_at + 1);
        if verb.is_any(&["vreau", "vrem", "doresc"]) {
            return Some(at);
        }
        if verb.is_any(&["ai", "aveti", "e", "este"]) {
            return behind
                .is_some_and(|word| word.is_any(&["voie", "permis"]))
                .then_some(at);
        }
        if verb.is_any(&["da", "dai", "dati"]) {
            return (begins && behind.is_some_and(|word| word.is_any(GIVEN_RO))).then_some(at);
        }
        if verb.is_any(&["trebuie"]) {
            // "Aplicația nu trebuie să trimită …" at the beginning is the goal.
            let forbidden = |word: &Word<'_>| {
                forbidden_ro(word) && (!self.context.opens || has_any_stem(word, CODE_VERBS_RO))
            };
            let forbids = behind.is_some_and(|word| word.is_any(&["sa"]))
                && all.get(verb_at + 2).is_some_and(forbidden);
            return forbids.then_some(self.clause(at));
        }
        if all[at..]
            .iter()
            .take(6)
            .any(|word| word.is_any(&["griji", "problema"]))
        {
            return None;
        }
        let wished = at > 0 && all[at - 1].is_any(&["sa"]);
        let idle =
            verb.is_any(IDLE_AFTER_NU) || verb.folded.ends_with("eaza") || verb.folded.ends_with("este");
        let infinitive = verb.folded.len() >= 4
            && verb.folded.ends_with(['a', 'e', 'i'])
            && behind.is_some()
            && at > 0
            && self.is_instruction();
        let forbids = !idle && !verb.folded.ends_with("am") && (forbidden_ro(verb) || infinitive || wished);
        (begins && forbids).then_some(at)
    }

    /// "Only" next to an instruction, or before the thing it limits.
    fn only(&self, at: usize, start: usize, begins: bool) -> Option<usize> {
        let all = self.all;
        let next = all.get(at + 1);
        if at > 0
            && all[at - 1].is_any(&[
                "the", "not", "if", "it", "an", "is", "are", "was", "its", "this", "that", "they", "i",
                "it's", "we're", "read",
            ])
        {
            return None;
        }
        if all[..at].iter().any(|word| word.is_any(BEHAVING)) {
            return None;
        }
        if begins {
            let next = next?;
            let end = clause_end(all, at);
            // "It doesn't work, only on mobile".
            if !self.is_instruction() && all[..at].iter().any(is_told) {
                return None;
            }
            if !goal::is_order(all, at + 1) && all[at..=end].iter().any(|word| word.is_any(NARRATING)) {
                return None;
            }
            let idle = next.is_any(&[
                "when", "if", "because", "the", "thing", "one", "problem", "works", "happens", "fails",
                "after", "then", "once", "you", "i", "it",
            ]) && !(next.is_any(&["the", "one", "a"]) && self.is_instruction());
            return (!idle && (is_path(next.raw) || !is_narrated(next) || self.is_instruction()))
                .then_some(at);
        }
        if all[at - 1].is_any(&["should", "must", "may", "can", "shall"]) && !all[start].is_any(&["i", "it"])
        {
            return Some(start);
        }
        if goal::is_order(all, start + goal::skip_lead_ins(&all[start..])) {
            return Some(start);
        }
        let narrates = all[start..at]
            .iter()
            .any(|word| word.is_any(NARRATING) || word.is_any(&["i", "it", "we"]));
        let ends =
            next.is_none_or(|next| next.is_any(&["here", "there"]) && (next.pauses() || at + 2 == all.len()));
        ((ends || all[at].pauses()) && at - start <= 5 && !narrates).then_some(start)
    }

    /// "Use pnpm, not npm": a contrast after an instruction.
    fn contrast(&self, at: usize, start: usize) -> Option<usize> {
        let all = self.all;
        let next = all.get(at + 1)?;
        let before = all.get(at.checked_sub(1)?)?;
        let idle = before.is_any(AUXILIARIES) || next.is_any(IDLE_AFTER_NOT);
        // "Use slog. log/slog, not zap": after an order in an earlier sentence.
        let short = self.starts[at] && !self.context.opens && (next.pauses() || at + 2 == all.len());
        if !idle && short && !all[start..at].iter().any(is_told) {
            return Some(at);
        }
        (!idle && goal::asks_for_work(&all[..at])).then_some(if self.starts[at] { at } else { start })
    }

    /// Whether the sentence is an instruction.
    fn is_instruction(&self) -> bool {
        *self.instruction.get_or_init(|| self.instructs())
    }

    fn instructs(&self) -> bool {
        goal::asks_for_work(self.all)
            || has_phrase(
                self.all,
                &[
                    "i want", "i need", "i'd like", "we want", "we need", "vreau", "as vrea", "vrem",
                ],
            )
            || (self.all[0].is_any(OPENERS)
                && !self
                    .all
                    .iter()
                    .any(|word| word.is_any(NARRATING) || word.is_any(&["i", "it"])))
    }
}

/// Whether a word describes.
fn is_told(word: &Word<'_>) -> bool {
    word.is_any(NARRATING) || word.is_any(&["didn't", "doesn't", "i", "isn't", "it", "they", "wasn't"])
}

fn is_number(word: &Word<'_>) -> bool {
    word.folded.starts_with(|letter: char| letter.is_ascii_digit())
        || word.is_any(&["five", "four", "one", "single", "ten", "three", "two"])
}

/// Third-person and past forms after "never" and "only", which describe instead of instruct.
fn is_narrated(word: &Word<'_>) -> bool {
    let folded = &word.folded;
    (folded.len() > 3
        && folded.ends_with('s')
        && !folded.ends_with("ss")
        && !word.is_any(&["focus", "process", "access", "address", "tests", "files", "docs"])
        && !is_path(word.raw))
        || (folded.ends_with("ed") && !word.is_any(&["need", "embed", "feed", "seed", "speed", "shed"]))
        || word.is_any(NARRATED)
}

fn has_any_stem(word: &Word<'_>, stems: &[&str]) -> bool {
    stems.iter().any(|stem| word.folded.starts_with(stem))
}

/// Whether a Romanian verb is one of those that "nu" forbids.
fn forbidden_ro(word: &Word<'_>) -> bool {
    FORBIDDEN_RO.iter().any(|stem| {
        word.folded
            .strip_prefix(stem)
            .is_some_and(|ending| ending.len() <= 6 && (stem.len() > 2 || ending.len() <= 2))
    })
}

/// The last word of the clause whose cue is at `at`.
fn clause_end(all: &[Word<'_>], at: usize) -> usize {
    let is_verb = |word: &Word<'_>| is_work_verb(&word.folded);
    let mut end = at;
    for index in at..all.len() {
        end = index;
        let word = &all[index];
        let Some(next) = all.get(index + 1) else {
            break;
        };
        if word.after.contains([';', '—', '–', '(', ')'])
            || next.before.contains('(')
            || (word.after.contains([':', '.', '!', '?']) && index > at)
        {
            break;
        }
        if index == at {
            continue;
        }
        if word.after.contains(',') {
            let thought = if next.is_any(&["and", "or", "si", "sau", "nor"]) {
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
        let is_list = word.after.contains(',') && next.is_any(&["and", "or", "si"]);
        if is_list && (index + 2..all.len().min(index + 7)).any(|at| CUES_OF_A_STATE.at(all, at).is_some()) {
            break;
        }
        if next.is_any(&["but", "because", "dar", "fiindca", "deoarece", "insa"]) {
            break;
        }
        if next.is_any(&["and", "si"]) {
            let behind = all.get(index + 2);
            if behind.is_some_and(|word| is_verb(word) && !word.is_any(NOUNS)) {
                break;
            }
            if behind.is_some_and(|word| {
                word.is_any(NEW_THOUGHT) && !word.is_any(&["that", "this", "it", "there", "te"])
            }) {
                break;
            }
        }
    }
    end
}

#[cfg(test)]
mod tests;
