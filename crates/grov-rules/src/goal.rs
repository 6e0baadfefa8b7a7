//! Finds the sentence that states the goal.

mod style;

use super::constraints::Context;
use super::lexicon::{AFTER_A_NOUN, is_stop_word, is_work_verb, lead_in_at};
use super::prompt::Assent;
use super::text::{Word, ends_with_question, fold, shorten, words};
use super::{own_subject, phrased, scope};

use grov_scope::phrases::{Languages, PhraseList, Votes};
use serde::{Deserialize, Serialize};

/// The longest goal, in characters.
pub(crate) const MAX_CHARACTERS: usize = 200;

/// The most lead-ins in a row.
const MAX_LEAD_INS: usize = 8;

/// Phrases that request work without an imperative.
#[rustfmt::skip]
static REQUESTS: PhraseList = PhraseList::of(&[
    "ai putea", "am nevoie", "ar trebui", "as dori", "as vrea", "avem nevoie", "can you", "could you",
    "help me", "i just want", "i need", "i only want", "i want", "i would like", "i'd like", "it should",
    "need to", "needs to", "please", "poti sa", "should have", "te rog", "there should be", "trebuie sa",
    "va rog", "vreau", "we need", "we should", "we want", "will you", "would you",
]);

/// Whether one of the phrases that request work occurs.
pub(crate) fn requests(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| REQUESTS.at(words, at).is_some())
}

/// The index of the first word after the lead-ins.
pub(crate) fn skip_lead_ins(words: &[Word<'_>]) -> usize {
    let mut at = 0;
    for _ in 0..MAX_LEAD_INS {
        match lead_in_at(words, at) {
            Some(length) => at += length,
            None => break,
        }
    }
    at
}

/// Words after the Romanian verb "merge" (works).
#[rustfmt::skip]
const ROMANIAN_AFTER_MERGE: &[&str] = &[
    "doar", "numai", "bine", "acum", "pe", "dar", "greu", "prost", "foarte", "la", "cu", "si", "asa",
    "cand", "daca", "perfect",
];

/// Whether the word at `at` is an imperative.
pub(crate) fn is_order(words: &[Word<'_>], at: usize) -> bool {
    let Some(verb) = words.get(at) else {
        return false;
    };
    if !is_work_verb(&verb.folded) {
        return false;
    }
    let next = words.get(at + 1);
    let next_is = |words: &[&str]| next.is_some_and(|next| next.is_any(words));
    // Romanian "merge" states that something works.
    let works = verb.folded == "merge" && (next.is_none() || next_is(ROMANIAN_AFTER_MERGE));
    let logs_in = verb.folded == "log" && next_is(&["in", "into", "out"]);
    !works
        && !logs_in
        && !verb.after.contains(':')
        && !next.is_some_and(|next| AFTER_A_NOUN.contains(&next.folded))
}

/// Whether the word at `at` may be an imperative that no table knows: "Paint the shed".
fn commands(words: &[Word<'_>], at: usize) -> bool {
    let Some([verb, next, _, ..]) = words.get(at..) else {
        return false;
    };
    let plain = verb.folded.len() > 3 && verb.folded.bytes().all(|letter| letter.is_ascii_lowercase());
    plain
        && !verb.pauses()
        && !is_stop_word(&verb.folded)
        && !verb.folded.ends_with(['s', 'd'])
        && !verb.is_any(NO_COMMANDS)
        && next.is_any(&["a", "all", "an", "every", "my", "our", "the", "this"])
}

/// Words before an article that are no imperatives.
#[rustfmt::skip]
const NO_COMMANDS: &[&str] = &[
    "about", "again", "almost", "around", "behind", "beside", "despite", "during", "even", "inside", "only", "outside", "probably",
    "since", "still", "such", "that", "under", "unlike", "within", "without",
];

/// Whether a sentence asks for work.
pub(crate) fn asks_for_work(words: &[Word<'_>]) -> bool {
    is_order(words, skip_lead_ins(words)) || orders_later(words)
}

/// An imperative after a pause or an "and": "The page crashes, fix it".
fn orders_later(words: &[Word<'_>]) -> bool {
    (1..words.len()).any(|at| {
        let before = &words[at - 1];
        (before.pauses() || before.is_any(&["please", "rog"])) && {
            let behind = at + skip_lead_ins(&words[at..]);
            is_order(words, behind)
        }
    })
}

/// A sentence, its words and its constraints.
#[derive(Clone, Debug)]
pub(crate) struct Sentence<'t> {
    text: &'t str,
    words: Vec<Word<'t>>,
    constraints: Vec<String>,
    languages: Languages,
}

impl<'t> Sentence<'t> {
    /// Parses the sentences of a prompt.
    pub(crate) fn read(texts: &'t [String]) -> Vec<Self> {
        let mut whole = Votes::default();
        let mut sentences: Vec<Self> = texts
            .iter()
            .map(|text| {
                let words = words(text);
                let votes = Votes::of(&words);
                whole.add(&votes);
                Self {
                    languages: votes.languages(),
                    text,
                    words,
                    constraints: Vec::new(),
                }
            })
            .collect();
        let whole = whole.languages();
        let mut opens = true;
        for sentence in &mut sentences {
            let languages = sentence.languages.within(whole);
            sentence.languages = languages;
            let context = Context { languages, opens };
            let (text, words) = (sentence.text, &sentence.words);
            super::constraints::of_sentence(text, words, context, &mut sentence.constraints);
            opens &= !is_order(words, skip_lead_ins(words));
        }
        sentences
    }

    /// Its text.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Its words.
    pub(crate) fn words(&self) -> &[Word<'t>] {
        &self.words
    }

    /// Its constraints.
    pub(crate) fn constraints(&self) -> &[String] {
        &self.constraints
    }

    /// The clauses that permit something.
    pub(crate) fn permissions(&self) -> Vec<&'t str> {
        phrased::permissions(self.text, &self.words, self.languages)
    }

    /// Whether it asks for work.
    pub(crate) fn asks_for_work(&self) -> bool {
        self.weight() >= 4
    }

    /// Whether it starts with a clause of assent.
    pub(crate) fn opens_with_assent(&self) -> bool {
        let wide = self.text.split(['、', '，', '。']).next().unwrap_or_default();
        phrased::after_assent(&self.words) > 0
            || wide.len() < self.text.len() && phrased::only_assents(&words(wide))
    }

    /// How well it states the goal, 0 to 5.
    fn weight(&self) -> u8 {
        let (sentence, words) = (self.text, &*self.words);
        if words.is_empty() || phrased::only_assents(words) {
            return 0;
        }
        if words.iter().all(|word| GREETINGS.contains(&word.folded)) {
            return 0;
        }
        let from = phrased::after_assent(words);
        let words = &words[from..];
        let words = &words[phrased::after_turning(words, self.languages).unwrap_or(0)..];
        let at = skip_lead_ins(words);
        if at >= words.len() {
            return 0;
        }
        if sentence.trim_end().ends_with([':', '：'])
            || super::text::is_quotation(sentence)
            || self.opens_with_constraint()
            || phrased::opens_with_permission(words, sentence, self.languages)
        {
            return 1;
        }
        let other = phrased::order_weight(sentence, words, self.languages);
        // "Task: a responsive grid".
        if at > 0 && words[at - 1].is_any(&["goal", "task", "todo"]) && words[at - 1].after.contains(':') {
            return 6;
        }
        if is_order(words, at) || other == Some(5) {
            return if self.is_limited(9) { 4 } else { 5 };
        }
        if orders_later(words)
            || other.is_some()
            || commands(words, at)
            || requests(words) && !self.is_limited(6)
        {
            return 4;
        }
        if !self.constraints.is_empty() {
            return 1;
        }
        if ends_with_question(sentence) { 3 } else { 2 }
    }

    /// Whether constraints take at least so many tenths of the sentence.
    fn is_limited(&self, tenths: usize) -> bool {
        let length: usize = self.constraints.iter().map(String::len).sum();
        length > 0 && length * 10 >= self.text.len() * tenths
    }

    /// Whether it starts with a constraint that is no request itself, and asks for nothing else.
    fn opens_with_constraint(&self) -> bool {
        let Some(first) = self.constraints.first() else {
            return false;
        };
        let found = self.text.find(first.trim_end_matches('…'));
        let from = found.unwrap_or(self.text.len());
        let end = self.constraints.iter().fold(from, |end, constraint| {
            let constraint = constraint.trim_end_matches('…');
            self.text[end..]
                .find(constraint)
                .map_or(end, |at| end + at + constraint.len())
        });
        let before = self.words.partition_point(|word| word.end <= from);
        let after = self.words.partition_point(|word| word.start < end);
        let (before, own, after) = (
            &self.words[..before],
            &self.words[before..after],
            &self.words[after..],
        );
        let asks = |words: &[Word<'_>]| {
            asks_for_work(words) || phrased::order_weight("", words, self.languages).is_some()
        };
        if letters_of(self.text) > 0 {
            let rest = self.text.len().saturating_sub(end) + from;
            return rest * 10 <= self.text.len() * 6;
        }
        before.len() <= 2 && !asks(before) && !is_order(own, 0) && !asks(after)
    }

    /// Its words up to the first pause or constraint.
    pub(crate) fn head(&self) -> &[Word<'t>] {
        let limit = self.constraints.first();
        let limit = limit.and_then(|first| self.text.find(first.trim_end_matches('…')));
        let words = self.words.iter();
        let before = words
            .take_while(|word| limit.is_none_or(|limit| word.start < limit))
            .count();
        let ends = |at: &usize| {
            self.words[*at].pauses()
                || self
                    .words
                    .get(at + 1)
                    .is_some_and(|next| next.before.contains('('))
        };
        let end = (0..before).find(ends).map_or(before, |at| at + 1);
        &self.words[..end]
    }

    /// Whether it needs the sentence before it: "Find out why and fix it."
    fn depends(&self) -> bool {
        let head = self.head();
        let text = head.last().map_or("", |last| &self.text[..last.end]);
        let names = head
            .iter()
            .any(|word| word.raw.len() > 3 && scope::is_path(word.raw));
        let unspaced = letters_of(self.text);
        let refers = head.iter().any(|word| word.is_any(REFERRING)) && head.len() <= 8;
        refers
            || !names
                && (head.len() <= 8 && unspaced <= 16
                    || unspaced == 0 && scope::subject(text).len() <= 1 && head.len() <= 10)
    }

    /// Whether it can be understood without what was asked before.
    fn is_complete(&self) -> bool {
        let long = match letters_of(self.text) {
            0 => self.head().len() >= MIN_REQUEST,
            letters => letters >= MIN_LETTERS,
        };
        let refers =
            |word: &Word<'_>| word.is_any(REFERRING) && !word.is_any(&["to", "ca", "es", "lo", "das", "het"]);
        long && !self.continues() && !self.words.iter().any(refers) && !scope::subject(self.text).is_empty()
    }

    /// Whether it adds to what was asked before: "translate too", "and the footer", "la fel".
    pub(crate) fn continues(&self) -> bool {
        phrased::continues(self.text, &self.words, self.languages)
    }

    /// Whether it asks for work by more than a "please": "ten attempts, please" names something and asks for nothing of its own.
    pub(crate) fn asks_by_itself(&self) -> bool {
        let words = &self.words[phrased::after_assent(&self.words)..];
        let is_requested = (0..words.len()).any(|at| {
            let is_polite = words[at].is_any(&["please", "rog", "te", "va"]);
            !is_polite && REQUESTS.at(words, at).is_some()
        });
        is_requested
            || asks_for_work(words)
            || commands(words, skip_lead_ins(words))
            || phrased::order_weight(self.text, words, self.languages).is_some()
    }

    /// Whether it says how to work, and not what to do.
    fn says_how(&self) -> bool {
        let from = phrased::after_assent(&self.words);
        let words = &self.words[from..];
        style::says_how(&words[skip_lead_ins(words).min(words.len())..])
    }

    /// Whether it states that something is wrong.
    pub(crate) fn states_fault(&self) -> bool {
        phrased::states_fault(self.text, &self.words)
    }
}

/// Words that refer to the sentence before.
#[rustfmt::skip]
const REFERRING: &[&str] = &[
    "arreglalo", "ca", "corrigelo", "es", "eso", "het", "isso", "it", "lo", "perche", "pourquoi", "sistemalo", "that", "them", "this",
    "to", "waarom", "warum", "why", "corrige-le", "fixe-le", "das", "raus",
];

/// What a prompt does to the goal of the prompts before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// It says nothing about the goal: an answer, a question, a limit, "run the tests", "do it".
    #[default]
    Keeps,
    /// It asks for more: "translate too".
    Adds,
    /// It asks for something else.
    Replaces,
}

/// The goal of a prompt.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Goal {
    /// At most 200 characters; empty for an empty prompt.
    pub(crate) text: String,
    /// The prompt only acknowledges or approves.
    pub(crate) assents: bool,
    /// What it does to an earlier goal.
    pub(crate) role: Role,
    /// The text states what is wanted, and is more than a limit or a permission.
    pub(crate) is_firm: bool,
    /// It begins with "go on".
    pub(crate) goes_on: bool,
    /// It asks a question and for no work.
    pub(crate) asks: bool,
    /// It turns away from what was asked before.
    pub(crate) turns: bool,
    /// It asks for something and has a subject of its own, which may be that of an earlier prompt.
    #[serde(default)]
    pub(crate) is_own: bool,
    /// It asks for work: "the search finds nothing" does not.
    #[serde(default)]
    pub(crate) orders: bool,
}

impl AsRef<Self> for Goal {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Goal {
    /// The goal of a prompt with these sentences.
    pub(crate) fn of(sentences: &[Sentence<'_>]) -> Self {
        let mut weights: Vec<u8> = sentences.iter().map(Sentence::weight).collect();
        for place in styles(sentences, &weights) {
            weights[place] = 1;
        }
        let Some((best, at)) = best_of(&weights) else {
            return Self::default();
        };
        Self {
            text: stated(sentences, &weights, at),
            assents: assents(sentences),
            role: role(sentences, best, at),
            is_firm: best >= 2,
            goes_on: goes_on(sentences),
            asks: best == 3,
            turns: turns(sentences),
            orders: best >= 4,
            is_own: (best >= 4 || best == 2 && own_subject::states_need(&sentences[at]))
                && !goes_on(sentences)
                && own_subject::has_own_subject(sentences, at),
        }
    }
}

/// The sentences of these weights that say how to work, beside one that asks for the work.
fn styles(sentences: &[Sentence<'_>], weights: &[u8]) -> Vec<usize> {
    let (how, what): (Vec<usize>, Vec<usize>) = (0..sentences.len())
        .filter(|at| weights[*at] >= 2)
        .partition(|at| sentences[*at].says_how());
    let has_work = what.iter().any(|at| weights[*at] >= 4);
    if has_work { how } else { Vec::new() }
}

/// What the sentences that say how to work ask for, beside a request: "Use British spelling".
pub(crate) fn style_limits<'t>(sentences: &[Sentence<'t>]) -> Vec<&'t str> {
    let weights: Vec<u8> = sentences.iter().map(Sentence::weight).collect();
    let stated = styles(sentences, &weights).into_iter().map(|at| &sentences[at]);
    // "Think hard" limits nothing.
    let limits = |sentence: &&Sentence<'_>| {
        !sentence
            .words
            .iter()
            .any(|word| word.is_any(&["think", "denk", "denke"]))
    };
    let unlimited = stated.filter(|sentence| sentence.constraints.is_empty() && limits(sentence));
    unlimited
        .map(|sentence| sentence.text.trim().trim_end_matches(['.', '!']))
        .collect()
}

/// Whether a prompt only acknowledges or approves.
fn assents(sentences: &[Sentence<'_>]) -> bool {
    let read = sentences.iter().map(|sentence| (sentence.text, &*sentence.words));
    if Assent::of(read) != Assent::None {
        return true;
    }
    let all = || sentences.iter().flat_map(|sentence| &sentence.words);
    phrased::may_assent(all().count()) && {
        let asks = sentences.iter().any(|sentence| ends_with_question(sentence.text));
        !asks && phrased::only_assents(&all().cloned().collect::<Vec<_>>())
    }
}

/// The highest weight and the first sentence that has it.
fn best_of(weights: &[u8]) -> Option<(u8, usize)> {
    let best = weights.iter().max().copied()?;
    Some((best, weights.iter().position(|weight| *weight == best)?))
}

/// Phrases that let work go on.
#[rustfmt::skip]
const GOING_ON: &[&str] = &[
    "avanti", "carry on", "continua", "continue", "continuez", "continuar", "dalej", "devam", "ga door", "ga verder", "go on", "keep going",
    "kontynuuj", "mach weiter", "mergi mai departe", "prosegui", "sigue", "weiter", "продолжай", "继续", "続けて",
];

/// Words of an apology.
#[rustfmt::skip]
const APOLOGIES: &[&str] = &[
    "desculpa", "entschuldigung", "lo", "oh", "oops", "pardon", "perdon", "scusa", "siento", "sorry", "wait",
];

/// The first words of a prompt that turns to the next work, before a colon or comma.
#[rustfmt::skip]
const NEXT: &[&str] = &[
    "als nachstes", "apoi", "ensuite", "lo siguiente", "nachste aufgabe", "nachstes", "nastepne", "nastepnie", "next", "next one",
    "next task", "next thing", "next up", "poi", "prochaine tache", "proxima tarefa", "proximo", "prossimo", "siguiente", "sıradaki",
    "siradaki", "urmatorul", "volgende", "дальше", "следующее", "接下来", "次は",
];

/// Whether the prompt begins with a clause that only lets the work go on: "sorry, go on. But …".
fn goes_on(sentences: &[Sentence<'_>]) -> bool {
    let Some(first) = sentences.first().map(Sentence::words) else {
        return false;
    };
    let from = first.iter().take_while(|word| word.is_any(APOLOGIES)).count();
    let Some(length) = super::text::any_phrase_at(first, from, GOING_ON) else {
        return false;
    };
    let end = from + length;
    end == first.len() || first[end - 1].pauses()
}

/// Whether the prompt begins with "next:".
fn turns_to_next(sentences: &[Sentence<'_>]) -> bool {
    sentences.first().map(Sentence::words).is_some_and(|first| {
        super::text::any_phrase_at(first, 0, NEXT)
            .is_some_and(|length| first[length - 1].after.contains([':', ',']))
    })
}

/// The fewest words of a request that needs no earlier one to be understood.
const MIN_REQUEST: usize = 6;

/// The same in letters of Chinese and Japanese.
const MIN_LETTERS: usize = 14;

/// Whether one of the first sentences turns away from what was asked before.
fn turns(sentences: &[Sentence<'_>]) -> bool {
    let mut first = sentences.iter().take(3);
    first.any(|sentence| {
        phrased::after_turning(&sentence.words, sentence.languages).is_some()
            || phrased::turns_unspaced(sentence.text, sentence.languages)
    })
}

/// The most words of a prompt that only permits something.
const MAX_PERMISSION: usize = 8;

/// What a prompt whose best sentence is at `at` does to an earlier goal.
fn role(sentences: &[Sentence<'_>], best: u8, at: usize) -> Role {
    let sentence = &sentences[at];
    if turns_to_next(sentences) {
        return Role::Replaces;
    }
    // "You may change the tests"
    let permits = phrased::opens_with_permission(&sentence.words, sentence.text, sentence.languages);
    if best <= 1 || permits && sentences.len() == 1 && sentence.words.len() <= MAX_PERMISSION {
        return Role::Keeps;
    }
    if goes_on(sentences) || best >= 4 && is_bare_order(sentences) {
        return Role::Adds;
    }
    if turns(sentences) {
        let asks = best >= 4 || sentence.states_fault();
        return if asks { Role::Replaces } else { Role::Keeps };
    }
    let length: usize = sentences.iter().map(|sentence| sentence.words.len()).sum();
    let is_routine = length <= 12
        && scope::subject(sentence.text)
            .iter()
            .all(|word| super::prompt::ROUTINE.contains(word));
    match best {
        // "The filter doesn't work either" is another problem, "we're on python 3.9" is none.
        2 if sentence.states_fault() => Role::Adds,
        2 | 3 => Role::Keeps,
        _ if is_routine && sentence.text.is_ascii() && !sentence.continues() => Role::Keeps,
        _ => {
            // "Do that", and "resolve, mas não usa --force": nothing but a verb beside the limit.
            let all = &sentence.words;
            let from = phrased::after_assent(all);
            let bare = (from..all.len())
                .find(|at| all[*at].pauses())
                .map_or(all.len(), |at| at + 1)
                - from;
            let verb_only = bare <= 1 && !sentence.constraints.is_empty() && letters_of(sentence.text) == 0;
            let refers = at == 0 && sentence.depends() && from > 0;
            if verb_only || refers {
                Role::Keeps
            } else if from == 0 && sentence.is_complete() {
                Role::Replaces
            } else {
                Role::Adds
            }
        }
    }
}

/// Whether the prompt is a verb without an object in a script without spaces: "直して".
fn is_bare_order(sentences: &[Sentence<'_>]) -> bool {
    let mut letters = sentences.iter().flat_map(|sentence| sentence.text.chars());
    let unspaced = sentences.iter().map(|sentence| letters_of(sentence.text)).sum();
    (1..=MAX_BARE_ORDER).contains(&unspaced) && !letters.any(|letter| letter.is_ascii_alphanumeric())
}

/// The most letters of an order without an object.
const MAX_BARE_ORDER: usize = 6;

/// The number of Chinese and Japanese letters.
fn letters_of(text: &str) -> usize {
    text.chars().filter(|letter| *letter > '\u{3040}').count()
}

/// Whether some words begin with an order.
pub(crate) fn opens_with_order(words: &[Word<'_>]) -> bool {
    is_order(words, skip_lead_ins(words))
}

/// The goal stated in sentences: at most 200 characters; empty for no sentences.
pub(crate) fn goal_of(sentences: &[String]) -> String {
    Goal::of(&Sentence::read(sentences)).text
}

/// The goal of sentences of which the one at `at` states it best.
fn stated(sentences: &[Sentence<'_>], weights: &[u8], at: usize) -> String {
    let sentence = without_greeting(&sentences[at]);
    let tells_problem = at
        .checked_sub(1)
        .is_some_and(|before| matches!(weights[before], 2..=3) && sentences[before].states_fault());
    if weights[at] < 4 || !tells_problem && !sentences[at].depends() {
        return shorten(sentence, MAX_CHARACTERS);
    }
    // "Fix it." needs the sentence that says what: before it, or after it.
    let is_statement = |at: usize| {
        sentences[at].words.len() >= 3 || sentences[at].text.chars().any(|letter| letter > '\u{3040}')
    };
    let states = |at: &usize| matches!(weights[*at], 2..=4) && is_statement(*at);
    let before = (0..at)
        .rev()
        .find(states)
        .or_else(|| at.checked_sub(1).filter(|at| weights[*at] > 1));
    let after = || (at + 1..weights.len()).find(states);
    let joined = match before.or_else(after) {
        Some(other) => {
            let context = without_greeting(&sentences[other]);
            if other < at {
                format!("{context} {sentence}")
            } else {
                format!("{sentence} {context}")
            }
        }
        None => return shorten(sentence, MAX_CHARACTERS),
    };
    shorten(&joined, MAX_CHARACTERS)
}

/// Words of greetings and thanks.
#[rustfmt::skip]
static GREETINGS: PhraseList = PhraseList::of(&[
    "all", "boa", "bom", "bonjour", "bonsoir", "buenas", "buenos", "buna", "buongiorno", "ciao", "claude", "cool",
    "czesc", "dag", "dia", "dias", "dimineata", "everyone", "goedemorgen", "great", "guten", "hallo", "hej", "hello",
    "hey", "hi", "hoi", "hola", "mersi", "moin", "morgen", "morning", "multumesc", "nice", "noite", "oi", "ok", "okay",
    "ola", "perfect", "salut", "servus", "super", "tag", "tarde", "team", "thank", "thanks", "there", "you", "ziua",
]);

/// The sentence without a leading greeting or thanks.
fn without_greeting<'t>(sentence: &Sentence<'t>) -> &'t str {
    let (found, languages, sentence) = (&sentence.words, sentence.languages, sentence.text);
    let turned = phrased::after_turning(found, languages).filter(|at| *at < found.len());
    if let Some(next) = turned.map(|at| &found[at]) {
        return sentence[next.start - next.before.len()..].trim();
    }
    let mut from = 0;
    for (at, word) in found.iter().enumerate().take(5) {
        let greets = GREETINGS.contains(&word.folded);
        if !greets {
            break;
        }
        if word.pauses() || fold(word.after).contains('!') {
            from = found.get(at + 1).map_or(0, |next| next.start - next.before.len());
        }
    }
    sentence[from..].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for list in [&GREETINGS, &REQUESTS] {
            assert!(list.entries().is_sorted_by(|one, other| one < other));
        }
    }

    #[test]
    fn the_goal_is_the_sentence_that_asks_for_work() {
        let cases = [
            (
                "Hi Claude! The parser is slow. Please make it faster.",
                "The parser is slow. Please make it faster.",
            ),
            (
                "Hey, can you add a dark mode toggle to the settings page?",
                "can you add a dark mode toggle to the settings page?",
            ),
            (
                "We ship on Friday. Fix the flaky login test in tests/login.rs. Do not touch CI.",
                "Fix the flaky login test in tests/login.rs.",
            ),
            (
                "Do not touch CI. Fix the flaky login test in tests/login.rs.",
                "Fix the flaky login test in tests/login.rs.",
            ),
            (
                "Salut! Te rog să adaugi un test pentru parser. Mersi!",
                "Te rog să adaugi un test pentru parser.",
            ),
            (
                "The login page crashes on an empty address.",
                "The login page crashes on an empty address.",
            ),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(goal_of(&crate::text::sentences(text)), expected);
        }
    }

    #[test]
    fn a_sentence_about_style_is_no_goal_beside_a_request() {
        let cases = [
            (
                "Use British spelling. Rewrite the intro in a.tex.",
                "Rewrite the intro in a.tex.",
            ),
            (
                "Use TypeScript strict mode. Convert the api client to modules.",
                "Convert the api client to modules.",
            ),
            (
                "Work in small steps. Add a login form to the page.",
                "Add a login form to the page.",
            ),
            (
                "Write comments in English. Split the parser into modules.",
                "Split the parser into modules.",
            ),
            (
                "Schreib auf Deutsch. Füge der Seite ein Anmeldeformular hinzu.",
                "Füge der Seite ein Anmeldeformular hinzu.",
            ),
            (
                "Utilise l'orthographe britannique. Ajoute un formulaire à la page.",
                "Ajoute un formulaire à la page.",
            ),
            (
                "Usa espacios. Añade un formulario a la página.",
                "Añade un formulario a la página.",
            ),
            // The style is the work.
            (
                "Use British spelling in README.md.",
                "Use British spelling in README.md.",
            ),
            ("Use British spelling.", "Use British spelling."),
            (
                "Use Redis for the cache. Then document it.",
                "Use Redis for the cache.",
            ),
            (
                "Use the new style sheet in app/main.css. Add a favicon.",
                "Use the new style sheet in app/main.css.",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(goal_of(&crate::text::sentences(text)), expected);
        }
    }
}
