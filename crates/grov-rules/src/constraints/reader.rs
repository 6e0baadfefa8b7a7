//! Finds constraints in languages that separate words.
//!
//! A sentence is split into clauses. A cue counts where an instruction can have it: at the beginning of a clause, after
//! politeness and conjunctions, or after an order. The same words in a description ("läuft nicht", "sin errores") do not count.

use super::Context;
use super::lexicon::*;
use crate::goal;
use crate::lexicon::AFTER_A_NOUN;
use crate::scope::is_path;
use crate::text::Word;
use grov_scope::phrases::{Cue, Languages, Noun, PhraseList, Phrases, Verb};

mod cues;
mod negation;

/// The most words of a clause that continues a constraint after a conjunction.
const MAX_CONTINUATION: usize = 7;

/// Words at the end of a clause that add nothing.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "aub", "bitte", "eh", "favor", "graag", "he", "hoor", "ne", "oder", "ok", "per", "please", "pls", "por", "porfa", "prosze", "stp",
    "svp", "te", "rog",
];

/// The most words of an item of a list between commas.
const MAX_ITEM: usize = 3;

/// The most words of a clause that ends with "max", "only" or "nothing else".
const MAX_SHORT_CLAUSE: usize = 6;

/// First and last word of a clause.
#[derive(Clone, Copy, Debug)]
struct Clause {
    from: usize,
    to: usize,
}

/// A sentence prepared for the search.
struct Reader<'w, 't> {
    words: &'w [Word<'t>],
    clauses: Vec<Clause>,
    tables: Vec<&'static Phrases>,
    context: Context,
    /// Whether the word at an offset is quoted.
    is_quoted: &'w dyn Fn(usize) -> bool,
    /// Some clause starts with an order.
    orders: bool,
    /// The word from which on somebody else is quoted.
    reported: usize,
}

/// The constraints in a sentence as first and last word, in order. `is_quoted` tells whether the word at an offset is quoted.
pub(super) fn find<'w>(
    sentence: &str,
    words: &'w [Word<'_>],
    context: Context,
    is_quoted: &'w dyn Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let tables = context.languages.tables();
    let tables: Vec<&Phrases> = tables.filter(|table| !table.is_unspaced).collect();
    if tables.is_empty() || words.is_empty() {
        return Vec::new();
    }
    let mut reader = Reader {
        words,
        clauses: Vec::new(),
        tables,
        context,
        is_quoted,
        orders: false,
        reported: reported(words),
    };
    reader.split();
    reader.orders = reader.clauses.iter().any(|clause| reader.asks(*clause));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in 0..reader.clauses.len() {
        let clause = reader.clauses[at];
        if clause.from >= reader.reported {
            break;
        }
        if let Some((from, to)) = reader.constraint(at)
            && let from = reader.with_first_subject(at, from)
            // "Nada fora de packages/ui pode mudar"
            && let from = from - usize::from(from > clause.from && words[from - 1].is_any(NOTHING) && !words[from - 1].pauses())
            && let (from, to) = reader.with_objects(at, from, to)
            && !is_quoted(words[from].start)
            && found.last().is_none_or(|(_, last)| *last < from)
        {
            found.push((from, to));
        }
    }
    reader.add_stated(sentence, &mut found);
    found
}

/// Words for a subject that stand as well for an object, or before one: "corrige ça", "corrige el cálculo".
#[rustfmt::skip]
const OBJECTS: &[&str] = &[
    "ca", "cela", "das", "dat", "deze", "dies", "dit", "el", "es", "eso", "esto", "het", "il", "isso", "isto", "it", "quello", "questo", "that", "this", "to",
];

/// The first word of what somebody else says.
fn reported(words: &[Word<'_>]) -> usize {
    let is_in = |at: usize, list: &PhraseList| words.get(at).is_some_and(|word| list.contains(&word.folded));
    let says = |at: usize| {
        is_in(at, &REPORTING) && (words[at].after.contains(':') || is_in(at + 1, &THAT))
            || is_in(at, &SAYING) && (at == 0 || !words[at - 1].is_any(&["as", "i", "we"]))
    };
    (0..words.len())
        .find(|at| says(*at))
        .map_or(words.len(), |at| at + 1)
}

impl Reader<'_, '_> {
    /// Adds the clauses without a cue at their beginning whose words state a limit: "quello italiano resta com'è".
    fn add_stated(&self, sentence: &str, found: &mut Vec<(usize, usize)>) {
        // A question, or the words of somebody else.
        if self.words.last().is_some_and(|word| word.after.contains('?'))
            || sentence.contains(['«', '“', '„'])
        {
            return;
        }
        for (index, clause) in self.clauses.iter().enumerate() {
            let is_known = found
                .iter()
                .any(|(from, to)| *from <= clause.to && clause.from <= *to);
            let start = self.after_parenthesis(*clause);
            // "Du musst keinen PR öffnen" permits.
            let permits = (clause.from..=start).any(|at| self.is_in(at, |table| &table.permissions));
            if is_known
                || permits
                || clause.from >= self.reported
                || start > clause.to
                || (self.is_quoted)(self.words[start].start)
            {
                continue;
            }
            // "Write a hook that refuses commits" asks for work; "leave a.rs alone" does not.
            let leaves = matches!(self.cue(start), Some((_, Cue::Leave | Cue::Keep)));
            let text = &sentence[self.words[start].start..self.words[clause.to].end];
            let read = grov_scope::ReadClause::new(text, self.context.languages);
            let is_order = self.is_order(start) && !leaves && !self.is_idle(start) && clause.to > start + 3;
            if is_order && !read.opens_by_confining() {
                continue;
            }
            if read.states_limit(self.narrates(start, clause.to)) {
                // "Guests must not change the password or delete the account" is what the program has to do.
                let acts = self
                    .clauses
                    .get(index + 1)
                    .is_some_and(|next| self.is_order(self.after_leads(*next)));
                let end = if acts { clause.to } else { self.end(index) };
                let next = found
                    .iter()
                    .map(|(from, _)| *from)
                    .filter(|from| *from > clause.to)
                    .min();
                let end = next.map_or(end, |next| end.min(next - 1));
                let start = self.with_first_subject(index, start);
                let (start, end) = self.with_objects(index, start, end);
                found.push((start, end));
            }
        }
        found.sort_unstable();
    }

    /// The first word of a clause, with what stands in parentheses before it: "the Italian one (README.it.md) stays as it is".
    fn after_parenthesis(&self, clause: Clause) -> usize {
        let start = self.after_leads(clause);
        let is_path_before =
            |before: &&Clause| before.to + 1 == clause.from && self.words[before.to].after.starts_with(')');
        let before = self
            .clauses
            .iter()
            .find(is_path_before)
            .filter(|_| start == clause.from);
        before
            .filter(|before| before.from == before.to && is_path(self.words[before.from].raw))
            .map_or(start, |before| before.from)
    }

    fn any(&self, at: usize, table: impl Fn(&'static Phrases) -> &'static PhraseList) -> Option<usize> {
        self.tables
            .iter()
            .filter_map(|phrases| table(phrases).at(self.words, at))
            .max()
    }

    fn is_in(&self, at: usize, table: impl Fn(&'static Phrases) -> &'static PhraseList) -> bool {
        self.any(at, table).is_some()
    }

    /// The longest cue at `at`.
    fn cue(&self, at: usize) -> Option<(usize, Cue)> {
        if at >= self.reported || (self.is_quoted)(self.words.get(at)?.start) {
            return None;
        }
        let cues = self.tables.iter();
        cues.filter_map(|phrases| phrases.cues.at(self.words, at))
            .max_by_key(|(length, _)| *length)
    }

    /// The cue of one word at `at`.
    fn short_cue(&self, at: usize) -> Option<Cue> {
        let folded = self.words[at].folded.as_str();
        self.tables.iter().find_map(|table| table.cues.get(folded))
    }

    fn verb(&self, at: usize) -> Option<Verb> {
        let verbs = self.tables.iter();
        verbs
            .filter_map(|phrases| phrases.verbs.at(self.words, at))
            .map(|(_, verb)| verb)
            .next()
    }

    fn noun(&self, at: usize) -> Option<Noun> {
        let nouns = self.tables.iter();
        nouns
            .filter_map(|phrases| phrases.nouns.at(self.words, at))
            .map(|(_, noun)| noun)
            .next()
    }

    fn is_order(&self, at: usize) -> bool {
        at < self.words.len()
            && (self.is_in(at, |table| &table.orders)
                || self.verb(at).is_some() && !self.words[at].folded.ends_with("ing"))
            && !self.words[at].after.contains(':')
            && !self.is_plural(at)
            && !self
                .words
                .get(at + 1)
                .is_some_and(|next| AFTER_A_NOUN.contains(&next.folded) && !self.words[at].pauses())
            && !self.words.get(at + 1).is_some_and(|next| {
                SUBJECTS.contains(&next.folded) && !next.pauses() && !next.is_any(OBJECTS)
            })
    }

    /// "Changes to contracts/ are not allowed": a noun.
    fn is_plural(&self, at: usize) -> bool {
        const PLURALS: &[&str] = &["changes", "edits", "updates", "commits", "deploys"];
        let place = |word: &Word<'_>| word.is_any(&["to"]) || PLACES.contains(&word.folded);
        self.words[at].is_any(PLURALS) && self.words.get(at + 1).is_some_and(place)
    }

    /// Whether a clause asks for work.
    fn asks(&self, clause: Clause) -> bool {
        let at = self.after_leads(clause);
        self.is_order(at)
            || self.ends_with_infinitive(clause.to)
                && self.is_in(clause.to, |table| &table.orders)
                && (at > clause.from || !self.narrates(clause.from, clause.to))
    }

    /// Splits the sentence into clauses.
    fn split(&mut self) {
        let mut from = 0;
        for at in 0..self.words.len() {
            let ends = match self.words.get(at + 1) {
                None => true,
                Some(next) => {
                    self.words[at].pauses()
                        || next.before.contains(['(', '—', '¡', '¿'])
                        || next.before.contains("& ")
                        || self.words[at].after.contains(" &")
                        // "Commit but don't push"
                        || at == from && next.is_any(BUT) && self.forbids(at + 2)
                        || at > from
                            && !self.is_exception(at + 1)
                            && (at > from + 1 || !next.is_any(&["aber", "maar"]))
                            && self.is_in(at + 1, |table| &table.conjunctions)
                            && self.cue(at + 1).is_none_or(|(length, _)| length < 2)
                }
            };
            if ends {
                self.clauses.push(Clause { from, to: at });
                from = at + 1;
            }
        }
    }

    /// Whether a cue of a prohibition is at `at`.
    fn forbids(&self, at: usize) -> bool {
        let cue = self.cue(at).map(|(_, cue)| cue);
        matches!(
            cue,
            Some(Cue::Dont | Cue::Negation | Cue::NegationAfter | Cue::Not | Cue::Prohibition)
        )
    }

    /// "Anything but", "nothing but": no new clause.
    fn is_exception(&self, at: usize) -> bool {
        self.words[at].is_any(&["but"])
            && self.words[at - 1].is_any(&[
                "all",
                "anything",
                "anywhere",
                "everything",
                "everywhere",
                "none",
                "nothing",
            ])
    }

    /// The first word of a clause after conjunctions and politeness.
    fn after_leads(&self, clause: Clause) -> usize {
        let mut at = clause.from;
        while at <= clause.to {
            match self.lead(at) {
                Some(length) => at += length,
                None => break,
            }
        }
        at
    }

    fn lead(&self, at: usize) -> Option<usize> {
        self.any(at, |table| &table.leads)
            .max(self.any(at, |table| &table.conjunctions))
    }

    /// The last word of a clause that is more than politeness.
    fn last_word(&self, clause: Clause) -> usize {
        let words = (clause.from + 1..=clause.to).rev();
        words
            .take_while(|at| self.words[*at].is_any(FILLERS))
            .last()
            .map_or(clause.to, |at| at - 1)
    }

    /// Whether one of these words describes.
    fn narrates(&self, from: usize, to: usize) -> bool {
        (from..=to.min(self.words.len() - 1))
            .take_while(|at| *at == from || !SUBORDINATING.contains(&self.words[*at].folded))
            // "CI" is a pronoun of Italian otherwise.
            .any(|at| self.words[at].raw != "CI" && self.is_in(at, |table| &table.narrating))
    }

    fn is_idle(&self, at: usize) -> bool {
        let folded = &self.words[at].folded;
        let bare = folded.strip_prefix("n'").unwrap_or(folded);
        self.is_in(at, |table| &table.idle) || self.tables.iter().any(|table| table.idle.contains(bare))
    }

    /// The constraint in a clause.
    fn constraint(&self, index: usize) -> Option<(usize, usize)> {
        let clause = self.clauses[index];
        if self.words.last().is_some_and(|word| word.after.contains('?')) && !self.orders {
            return None;
        }
        // "Let me review it before you push"
        let leads = clause.from..=self.after_leads(clause).min(clause.to);
        if let Some((from, review)) = leads
            .filter_map(|at| Some((at, grov_scope::review_first(self.words, at)?)))
            .next()
            && review.last < self.reported
        {
            return Some((from, review.last));
        }
        let mut at = clause.from;
        let mut start = clause.from;
        // "You may edit anything except …".
        let mut permitted = false;
        loop {
            if at > clause.to {
                break;
            }
            let cue = self.cue(at);
            let permits = self.any(at, |table| &table.permissions);
            if let Some(length) = permits
                && cue.is_none_or(|(cue, _)| cue <= length)
                && !self.negates(at + length, clause.to)
            {
                permitted = true;
                break;
            }
            if let Some((length, cue)) = cue
                && let Some(from) = self.opens(index, at, at, length, cue)
            {
                return Some((from, self.end(index)));
            }
            // "Não muda nada": the longer cue needs a subject, the shorter one does not.
            if let Some((2.., cue)) = cue
                && cue != Cue::Idle
                && let Some(cue) = self.short_cue(at)
                && let Some(from) = self.opens(index, at, at, 1, cue)
            {
                return Some((from, self.end(index)));
            }
            start = at;
            match self.lead(at) {
                Some(length) if cue.is_none_or(|(cue, _)| cue < length) || length > 0 => at += length,
                _ => break,
            }
        }
        let start = if at > clause.to { start } else { at };
        let mut at = start + 1;
        while at <= clause.to {
            let cue = self.cue(at);
            if let Some((length, cue)) = cue
                && let Some(from) = match (permitted, cue) {
                    // "You may edit anything except …".
                    (true, Cue::Except) => (at + length <= clause.to).then_some(at),
                    (true, _) => None,
                    (false, cue) => self.opens(index, start, at, length, cue),
                }
            {
                return Some((from, self.end(index)));
            }
            at += match cue {
                Some((length, Cue::Idle)) => length,
                _ => 1,
            };
        }
        None
    }

    /// The start of a constraint with the first half of its subject: "existing routes and their answers must not change".
    fn with_first_subject(&self, index: usize, from: usize) -> usize {
        const MOST: usize = 5;
        const JOINTS: &[&str] = &[
            "and", "e", "en", "et", "i", "oder", "or", "oraz", "ou", "sau", "si", "sowie", "und", "y",
        ];
        let clause = self.clauses[index];
        // "Testy, CI i package.json zostają": one word before the conjunction is no clause of its own.
        let is_list = from == clause.from
            && clause.to > from
            && index > 0
            && is_comma(&self.words[from - 1])
            && self.words[from + 1].is_any(JOINTS);
        let is_whole = is_list || from == self.after_leads(clause) && self.words[clause.from].is_any(JOINTS);
        let is_stated = self.cue(from).is_none();
        if !is_whole || !is_stated {
            return from;
        }
        let names_only = |before: Clause| {
            let start = self.after_leads(before);
            let plain = |at: usize| {
                self.cue(at).is_none()
                    // "Changing a.ts or b.ts is not an option"
                    && (self.verb(at).is_none() || self.words[at].folded.ends_with("ing"))
                    && !self.is_in(at, |table| &table.orders)
            };
            (start <= before.to
                && before.to - start < MOST
                && (start..=before.to).all(plain)
                && !self.narrates(start, before.to))
            .then_some(start)
        };
        let mut first = from;
        // Commas separate the items before the last one.
        for (nth, before) in self.clauses[..index].iter().rev().take(MOST).enumerate() {
            let mark = self.words[before.to].after;
            let joins = if nth == 0 && !is_list {
                !mark.contains(['.', ';', ':', '!', '?', '('])
            } else {
                mark.trim() == ","
            };
            match names_only(*before).filter(|_| joins) {
                Some(start) => first = start,
                None => break,
            }
        }
        first
    }

    /// A limit that names nothing, with what a colon separates from it: "Tests and docs: hands off", "must not touch: a, b".
    fn with_objects(&self, index: usize, from: usize, to: usize) -> (usize, usize) {
        const MOST: usize = 10;
        let names = |from: usize, to: usize| {
            (from..=to).any(|at| {
                is_path(self.words[at].raw) || self.noun(at).is_some_and(|noun| noun != Noun::Anything)
            })
        };
        if names(from, to) {
            return (from, to);
        }
        if self.words[to].after.contains(':') {
            let mut end = to;
            for clause in self.clauses.iter().filter(|clause| clause.from > to) {
                let at = self.after_leads(*clause);
                let is_item = clause.to < at + MAX_CONTINUATION
                    && self.cue(at).is_none()
                    && (!self.is_order(at) || self.noun(at).is_some())
                    && !self.narrates(at, clause.to);
                if !is_item {
                    break;
                }
                end = clause.to;
            }
            return if end > to && names(to + 1, end) {
                (from, end)
            } else {
                (from, to)
            };
        }
        let before = index.checked_sub(1).map(|index| self.clauses[index]);
        let is_headed =
            before.is_some_and(|before| self.words[before.to].after.trim() == ":" && before.to < from);
        let plain = |clause: &Clause| {
            let at = self.after_leads(*clause);
            self.cue(at).is_none() && !self.is_order(at) && !self.narrates(at, clause.to)
        };
        if is_headed && from <= MOST && self.clauses[..index].iter().all(plain) && names(0, from - 1) {
            return (0, to);
        }
        (from, to)
    }

    /// Whether one of these words negates.
    fn negates(&self, from: usize, to: usize) -> bool {
        (from..=to).any(|at| {
            let cue = self.cue(at).map(|(_, cue)| cue);
            let negation = matches!(
                cue,
                Some(
                    Cue::Dont
                        | Cue::Negation
                        | Cue::NegationAfter
                        | Cue::NoneOf
                        | Cue::Not
                        | Cue::Nothing
                        | Cue::Prohibition
                        | Cue::Without
                )
            );
            negation || self.words[at].is_any(&["didn't", "doesn't", "nobody", "nothing", "wouldn't"])
        })
    }

    /// Whether something was asked for before, so that a limit can refer to it.
    fn is_asked(&self) -> bool {
        let own = Languages::ENGLISH.with(Languages::ROMANIAN);
        self.orders
            || !self.context.opens
            || !self.context.languages.is_within(own)
            || goal::requests(self.words)
    }

    fn narrates_at(&self, at: usize) -> bool {
        self.is_in(at, |table| &table.narrating)
    }

    /// Whether the list whose item ends at `at` ends with a conjunction: "a, b or c".
    fn is_listed(&self, at: usize) -> bool {
        let next = at + 1;
        !self.words[at].pauses() && next < self.words.len() && self.is_in(next, |table| &table.conjunctions)
    }

    /// The last word of the constraint that a clause opens: with the next clauses if they continue a list, are a path in
    /// parentheses, or an exception.
    fn end(&self, index: usize) -> usize {
        let mut end = self.clauses[index].to;
        let mut is_list = false;
        for (nth, clause) in self.clauses.iter().enumerate().skip(index + 1) {
            let last = &self.words[end];
            if clause.from >= self.reported || last.after.contains(['.', '!', '?', ';', '—', '–']) {
                break;
            }
            let words = &self.words[clause.from..=clause.to];
            let path = words[0].before.contains('(')
                && words.iter().any(|word| is_path(word.raw) || is_host(word.raw));
            let at = self.after_leads(*clause);
            let starts = self.cue(at.min(clause.to)).map(|(_, cue)| cue);
            let excepts =
                starts == Some(Cue::Except) || self.cue(clause.from).map(|(_, cue)| cue) == Some(Cue::Except);
            // "Don't touch a.json, nor b.json", "docs, CI, or lock files"
            let comma = is_comma(last) && (is_list || words[0].is_any(NOR));
            let joined = (!last.pauses() || comma) && self.is_in(clause.from, |table| &table.conjunctions)
                || comma && words[0].is_any(&["neither"]);
            let lists = joined
                && words.len() <= MAX_CONTINUATION
                && at <= clause.to
                && (starts.is_none()
                    // "Don't disable or skip tests"
                    || self.words[clause.from].is_any(&["nor", "or"])
                        && at == clause.from + 1
                        && self.words[at].is_any(&["avoid", "skip", "stop"])
                    || self.words[clause.from].is_any(&["ni", "ani", "nem", "ne", "neither", "nici", "nor"]))
                && !self.narrates(at, clause.to)
                && !self.is_in(at, |table| &table.permissions)
                && (!self.is_order(at) || self.noun(at).is_some() || self.words[clause.from].is_any(OR));
            let item = if path || excepts || lists {
                None
            } else {
                self.item(nth, last)
            };
            if !(path || excepts || lists || item.is_some()) {
                break;
            }
            is_list |= item.is_some();
            end = item.unwrap_or(clause.to);
            if end < clause.to {
                break;
            }
        }
        end
    }

    /// The last word of an item of a list between commas, with the rest of the list in its clause: "b.lock or the tests".
    fn item(&self, index: usize, before: &Word<'_>) -> Option<usize> {
        let clause = self.clauses[index];
        let at = clause.from;
        let opens = is_comma(before)
            && at == self.after_leads(clause)
            && self.cue(at).is_none()
            && !SUBJECTS.contains(&self.words[at].folded)
            && !self.is_in(at, |table| &table.permissions);
        if !opens {
            return None;
        }
        let joint = (at + 1..=clause.to).find(|at| self.is_in(*at, |table| &table.conjunctions));
        let to = joint.map_or(clause.to, |joint| joint - 1);
        let stays = |from: usize, to: usize| {
            (from..=to).any(|at| matches!(self.cue(at), Some((_, Cue::Stays | Cue::StaysAtEnd))))
        };
        let narrates = |from: usize, to: usize| self.narrates(from, to) && !stays(from, to);
        if to - at >= MAX_ITEM || narrates(at, to) {
            return None;
        }
        let names = (at..=to).any(|at| is_path(self.words[at].raw))
            || self.noun(at).is_some_and(|noun| noun != Noun::Anything)
            || self.is_listed(to)
            || self.ends_list(index, |_| true);
        // "Do not stage, commit, or push"
        let is_order = self.is_order(at) && self.noun(at).is_none();
        if !names || is_order && !self.ends_list(index, |joint| joint.is_any(OR)) {
            return None;
        }
        // "Don't touch a.ts, b.ts and fix c.ts"
        let goes_on = joint.filter(|joint| {
            let next = self.lead(*joint).map_or(*joint, |length| joint + length);
            next <= clause.to
                && clause.to - joint <= MAX_CONTINUATION
                && !narrates(next, clause.to)
                && (!self.is_order(next) || self.noun(next).is_some() || self.words[*joint].is_any(OR))
        });
        Some(if goes_on.is_some() { clause.to } else { to })
    }

    /// Whether short clauses after commas follow, of which the last begins with a conjunction: "a, b, or c".
    fn ends_list(&self, index: usize, is_joint: impl Fn(&Word<'_>) -> bool) -> bool {
        for pair in self.clauses[index..].windows(2) {
            let [item, next] = pair else { return false };
            if item.to - item.from >= MAX_ITEM || !is_comma(&self.words[item.to]) {
                return false;
            }
            if self.is_in(next.from, |table| &table.conjunctions) {
                return is_joint(&self.words[next.from]) && next.to > next.from;
            }
        }
        false
    }
}

/// Whether a word is the name of a machine: `db-main.int`.
fn is_host(word: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    word.contains('.') && word.split('.').all(is_part)
}

/// Words for nothing, before what alone may change.
const NOTHING: &[&str] = &[
    "nada", "nic", "nichts", "niente", "niets", "niks", "nimic", "nothing", "nulla", "rien",
];

/// "Nor" after a comma.
const NOR: &[&str] = &["neither", "nor", "or", "ni", "nem", "ne", "ani", "noch", "nici"];

/// Conjunctions before the opposite.
const BUT: &[&str] = &[
    "aber", "ale", "but", "dar", "doch", "ma", "maar", "mais", "mas", "pero",
];

/// Conjunctions that continue what is forbidden, also with another verb.
#[rustfmt::skip]
const OR: &[&str] = &["ni", "ani", "nem", "ne", "nor", "oder", "of", "or", "ou", "o", "lub", "sau"];

/// Whether a comma follows a word.
fn is_comma(word: &Word<'_>) -> bool {
    word.after.trim_start_matches(['`', '"', '\'']).starts_with(',')
}
