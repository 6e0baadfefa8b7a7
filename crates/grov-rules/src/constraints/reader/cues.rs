//! What each kind of cue needs to open a constraint.

use super::super::lexicon::*;
use super::{Clause, MAX_SHORT_CLAUSE, Reader};
use crate::scope::is_path;
use crate::text::Word;
use grov_scope::phrases::{Cue, Verb};

/// Words before "only" that make it describe something.
#[rustfmt::skip]
const NOT_BEFORE_ONLY: &[&str] = &[
    "an", "are", "i", "if", "is", "it", "it's", "its", "not", "read", "that", "the", "they", "this", "was", "we're",
];

/// Words after which "no" is a limit: "with no new crates".
#[rustfmt::skip]
const JOINING: &[&str] = &[
    "add", "adding", "avec", "com", "con", "cu", "introduce", "met", "mit", "prefer", "use", "want", "with", "z",
];

/// First words of impersonal prohibitions.
const IMPERSONAL: &[&str] = &["on", "no", "non", "nao", "nu", "se"];

/// Words for all there is.
const EVERYTHING: &[&str] = &[
    "all",
    "alles",
    "everything",
    "tot",
    "tout",
    "todo",
    "tudo",
    "tutto",
    "wszystko",
];

/// Verbs of obligation: after them, even "it" is what has to stay.
#[rustfmt::skip]
const OBLIGING: &[&str] = &[
    "deve", "debe", "doit", "has", "have", "ma", "moet", "musi", "muss", "must", "need", "needs", "should", "tem", "tiene", "trebuie",
];

/// Words that are an article before a noun, and a pronoun before a verb.
const ARTICLES: &[&str] = &["das", "dat", "deze", "dies"];

impl Reader<'_, '_> {
    /// The first word of the constraint that a cue opens in a clause whose instruction starts at `start`.
    pub(super) fn opens(
        &self,
        index: usize,
        start: usize,
        at: usize,
        length: usize,
        cue: Cue,
    ) -> Option<usize> {
        let clause = self.clauses[index];
        let following = at + length;
        let first = at == start;
        let has_more = following <= clause.to;
        let before = at.saturating_sub(1);
        let described_before = !first && self.narrates(start, before) && !self.is_order(start);
        match cue {
            Cue::Idle => None,
            Cue::Own => {
                let words = &self.words[start..at];
                let will = words.iter().any(|word| word.is_any(&["i'll", "want", "will"]));
                (will && !self.narrates(start, at)).then_some(start)
            }
            Cue::Prohibition => (first && (has_more || length > 1)).then_some(at),
            Cue::Dont => {
                let counts = first || self.runs_on(start, at, length);
                (counts && self.dont(index, at, length)).then_some(at)
            }
            Cue::Must => self.must(start, at, length).then_some(start),
            Cue::Not => self.not(index, start, at),
            Cue::NotYet => (first && (!has_more || self.words[following - 1].pauses())).then_some(at),
            Cue::Nothing if first => {
                let place = has_more
                    && (PLACES.contains(&self.words[following].folded)
                        || self.words[following].is_any(&["from", "outside", "that"]));
                (place && self.is_asked() && !self.narrates(following, clause.to)).then_some(at)
            }
            // "Change nothing yet".
            Cue::Nothing => (at == start + 1 && self.is_order(start)).then_some(start),
            Cue::Wish => (first && self.negates(following, self.words.len() - 1)).then_some(at),
            Cue::Leave => self.leave(index, start, at, length),
            Cue::Negation => self.negation(index, start, at, length),
            // "Neither a.ts nor b.ts may be modified"
            Cue::NegationAfter if first && self.words[at].is_any(&["neither", "weder"]) => {
                let names =
                    (following..=clause.to).any(|at| is_path(self.words[at].raw) || self.noun(at).is_some());
                names.then_some(at)
            }
            // "Tu peux commiter, mais pas pusher"
            Cue::NegationAfter if first && self.words[at].is_any(&["pas"]) && has_more => {
                let acts = self.verb(following).is_some() && self.words[following].folded.ends_with("er");
                (acts && !self.narrates(following, clause.to)).then_some(at)
            }
            Cue::NegationAfter => {
                let verb = !first && at - start <= 2 && self.is_order(start) && !self.is_idle(start);
                (verb && !self.narrates(start, before)).then_some(start)
            }
            Cue::NoneOf => self.none_of(clause, start, at, length),
            Cue::Without => {
                let idle = !has_more || self.is_idle(following);
                let narrates_after = self.narrates(following, clause.to) && !self.is_order(start);
                (!idle && !described_before && !narrates_after && self.is_asked()).then_some(at)
            }
            Cue::Only => self.only(clause, start, at, length),
            Cue::Except => {
                let counts = at > 0
                    && self.words[at - 1]
                        .is_any(&["al", "lo", "mas", "mais", "o", "piu", "plus", "po", "un"]);
                // "Everything except src/http should remain untouched"
                let is_all = self.words[start].is_any(EVERYTHING);
                let is_rest = at == start + 1 && is_all;
                (has_more
                    && !counts
                    && !described_before
                    && (self.is_asked() || index == 0 && first || is_all))
                    .then_some(if is_rest { start } else { at })
            }
            // "On ne touche pas au CSS", "no se toca el módulo"
            Cue::Stays if first && has_more && self.words[at].is_any(IMPERSONAL) => Some(at),
            Cue::Stays => self.stays(clause, start, at, length, false),
            Cue::StaysAtEnd => self.stays(clause, start, at, length, true),
            Cue::Keep => self.keep(clause, at, length, first),
            Cue::ReadOnly => {
                let short = clause.to + 1 - at <= length + 4;
                (first && short && !self.narrates(following, clause.to)).then_some(at)
            }
            Cue::AtMost => self.at_most(clause, start, at, length),
            Cue::AskFirst => self.ask_first(index, start, at, length),
            Cue::NothingElse => {
                let short = clause.to - clause.from < MAX_SHORT_CLAUSE;
                (first || short && !self.narrates(start, before)).then_some(start)
            }
            Cue::Before => None,
        }
    }

    /// "No new crates", "with no new crates", "use no unsafe".
    fn none_of(&self, clause: Clause, start: usize, at: usize, length: usize) -> Option<usize> {
        let (following, first) = (at + length, at == start);
        let has_more = following <= clause.to;
        // "No, please revert it".
        if has_more
            && self.words[at].is_any(&["no"])
            && self.words[following].is_any(&["please", "pls", "plz"])
        {
            return None;
        }
        // "pas d'" takes its noun along.
        let noun = if self.words[following - 1].folded.contains('\'') {
            following - 1
        } else {
            following
        };
        if noun > clause.to || self.is_idle(noun) || self.narrates(following, clause.to) {
            return None;
        }
        let joined = !first && self.words[at - 1].is_any(JOINING);
        if first || joined {
            Some(at)
        } else {
            (self.is_order(start) && at - start <= 4).then_some(start)
        }
    }

    /// "The API stays as it is", "min iOS stays 15"; `at_end`, if the cue needs the end or a number.
    fn stays(&self, clause: Clause, start: usize, at: usize, length: usize, at_end: bool) -> Option<usize> {
        let following = at + length;
        let number = (following..=clause.to.min(following + 1)).any(|at| {
            self.words[at]
                .folded
                .contains(|letter: char| letter.is_ascii_digit())
        });
        let ends = !at_end || following > clause.to || number;
        let denied = at > start && self.words[at - 1].is_any(&["not", "nu"]);
        // "Il README lascialo stare"
        let is_object = self.words[at].folded.starts_with("lascial");
        let is_article = at > start + 1 && (is_object || self.words[start].is_any(ARTICLES));
        let is_pronoun =
            SUBJECTS.contains(&self.words[start].folded) && !is_article && !self.words[at].is_any(OBLIGING);
        let subject = at > start && !denied && !is_pronoun && !self.is_order(start);
        (ends && subject && !self.narrates(start, at - 1)).then_some(start)
    }

    /// "Ask me first", "before you push, ask me".
    fn ask_first(&self, index: usize, start: usize, at: usize, length: usize) -> Option<usize> {
        let (clause, following, first) = (self.clauses[index], at + length, at == start);
        let before = index
            .checked_sub(1)
            .map(|index| self.clauses[index])
            .filter(|clause| {
                let start = self.after_leads(*clause);
                matches!(self.cue(start), Some((_, Cue::Before)))
            });
        match before {
            Some(clause) => Some(self.after_leads(clause)),
            // "Vor dem Commit bitte fragen"
            None if !first && matches!(self.cue(start), Some((_, Cue::Before))) => {
                (following > clause.to).then_some(start)
            }
            None => (first
                && (length > 1 || clause.to <= at + 2 || self.words[at].folded.len() > 7)
                && !self.narrates(following, clause.to))
            .then_some(at),
        }
    }

    /// "Fix the rounding dont touch tests": an order, and a prohibition of what only the agent does, without a pause between them.
    fn runs_on(&self, start: usize, at: usize, length: usize) -> bool {
        const AGENTS: &[&str] = &[
            "bump", "commit", "deploy", "edit", "install", "modify", "push", "rebase", "refactor",
            "reformat", "touch",
        ];
        const RUN_ON: &[&str] = &["do", "don't", "dont"];
        let before = &self.words[at - 1];
        self.words[at].is_any(RUN_ON)
            && self.is_order(start)
            && !self.is_idle(start)
            && !SUBJECTS.contains(&before.folded)
            && !self.narrates(start, at - 1)
            && self
                .words
                .get(at + length)
                .is_some_and(|verb| verb.is_any(AGENTS))
    }

    /// "Don't", "do not" and "never" before a verb.
    fn dont(&self, index: usize, at: usize, length: usize) -> bool {
        let Some(verb) = self.words.get(at + length) else {
            return false;
        };
        let clause = self.clauses[index];
        let never = length <= 2 && self.words[at].is_any(&["never", "niciodata"]);
        // "They don't run here and don't fail there" continues a description.
        let goes_on = index > 0 && !self.words[clause.from.saturating_sub(1)].pauses() && {
            let before = self.clauses[index - 1];
            (before.from + 1..=before.to).any(|at| {
                self.words[at].is_any(&["didn't", "doesn't", "don't"]) && at > self.after_leads(before)
            })
        };
        let pauses = self.words[at + length - 1].pauses() || verb.is_any(&["not"]);
        let is_polite = at > 0 && self.words[at - 1].is_any(&["please", "pls", "plz"]);
        // "Columns must be nullable, don't drop any": a pause ends what the program has to do.
        let from = match index.checked_sub(1).map(|index| self.clauses[index]) {
            Some(before) if !self.words[before.to].pauses() => before.from,
            _ => clause.from,
        };
        let is_specified =
            (from..at).any(|at| self.words[at].is_any(&["must", "mustn't", "shall", "should"])) && !is_polite;
        let describes = goes_on || pauses || is_specified || never && is_narrated(verb);
        at + length <= clause.to && !describes
    }

    /// Whether the words before `at` say what the program has to do.
    fn is_specified(&self, at: usize) -> bool {
        (0..at).any(|at| self.words[at].is_any(&["must", "mustn't", "shall", "should"]))
    }

    /// Whether "must", "should not" and "can't" at `at` are about the work or the code: "you must not …", "the API must not
    /// change". What the program has to do is part of the goal: "users must not see the price".
    fn must(&self, start: usize, at: usize, length: usize) -> bool {
        let (word, Some(verb)) = (&self.words[at], self.words.get(at + length)) else {
            return false;
        };
        // "Write the validation: a coupon must not be edited once …".
        let specifies = self.orders && self.words[..start].iter().any(|word| word.after.contains(':'));
        if self.words[start].is_any(&["i"]) || specifies {
            return false;
        }
        let last = &self.words[at + length - 1];
        let is_own = at > 0 && self.words[at - 1].is_any(&["we", "you"]);
        let is_part = |pair: &[Word<'_>]| {
            pair[0].is_any(&["part"]) && pair[1].is_any(&["of"])
                || pair[1].is_any(&["diff", "pr", "patch", "changeset"]) && pair[0].is_any(&["in", "the"])
        };
        let touched = verb.is_any(&["be"])
            && (self.words[at..]
                .iter()
                .take(5)
                .any(|word| FORBIDDEN_PARTICIPLES.contains(&word.folded))
                || self.words[at..].windows(2).take(5).any(is_part));
        if word.is_any(&["can", "can't", "cannot", "may"]) && !last.is_any(&["never"]) {
            let stays = verb.is_any(&["change", "move"]) && !SUBJECTS.contains(&self.words[start].folded);
            return at > start && (is_own && DENIED_VERBS.contains(&verb.folded) || touched || stays);
        }
        if word.is_any(&["can", "may", "should", "shouldn't"]) {
            return touched || FORBIDDEN_VERBS.contains(&verb.folded);
        }
        if length > 1 || word.is_any(&["mustn't"]) {
            let changes = word.is_any(&["nu", "trebuie"])
                && matches!(
                    self.verb(at + length),
                    Some(Verb::Change | Verb::Delete | Verb::Rename)
                );
            return touched || changes || UNBEHAVING.contains(&verb.folded) || is_own;
        }
        let still = usize::from(verb.is_any(&["always", "continue", "still"]));
        let (next, after) = (self.words.get(at + 1 + still), self.words.get(at + 2 + still));
        let measured = next.is_some_and(|next| next.is_any(&["be"]))
            && !SUBJECTS.contains(&self.words[start].folded)
            && after.is_some_and(|word| MEASURES.contains(&word.folded));
        still > 0 || measured || next.is_some_and(|next| LASTING.contains(&next.folded))
    }

    /// "Use pnpm, not npm", "not in the generated client".
    fn not(&self, index: usize, start: usize, at: usize) -> Option<usize> {
        let clause = self.clauses[index];
        let next = self.words.get(at + 1).filter(|_| at < clause.to)?;
        let before = at.checked_sub(1).map(|at| &self.words[at]);
        if before.is_some_and(|before| !before.pauses() && AUXILIARIES.contains(&before.folded)) {
            return None;
        }
        let short = clause.to - at < MAX_SHORT_CLAUSE && !self.narrates(at, clause.to);
        // "Make it not fail", "the label is 'Deutsch', not 'German'".
        if next.before.ends_with(['"', '\'', '“']) || self.words[start].is_any(&["get", "let", "make"]) {
            return None;
        }
        if at == start {
            let ordered = self.clauses[..index].iter().any(|clause| self.asks(*clause));
            let thing = next.is_any(&[
                "in", "the", "those", "these", "for", "on", "under", "inside", "outside", "from",
            ]);
            let ends = at + 1 == clause.to;
            return (ordered || short && (thing || ends && !self.context.opens)).then_some(at);
        }
        (self.is_order(start) && !self.narrates(start, at)).then_some(start)
    }

    /// "Leave the old ones alone", "lass die Tests in Ruhe", "die Tests lässt du in Ruhe".
    fn leave(&self, index: usize, start: usize, at: usize, length: usize) -> Option<usize> {
        let clause = self.clauses[index];
        let following = at + length;
        if following > clause.to {
            return None;
        }
        let (word, next) = (&self.words[at], &self.words[following]);
        let idle = match word.folded.get(..4).unwrap_or_default() {
            "laat" => next.is_any(&["even", "maar", "me", "mij", "ons", "we", "weten", "zien"]),
            "lass" => next.is_any(&["mal", "mich", "uns"]),
            _ => false,
        };
        let left = self.words[following..=self.end(index)]
            .iter()
            .any(|word| LEFT.contains(&word.folded));
        if idle || !left || word.folded.ends_with("ing") && !self.is_asked() {
            return None;
        }
        let is_addressed = SUBJECTS.contains(&self.words[start].folded) || self.is_order(start);
        if at == start {
            Some(at)
        } else {
            (!is_addressed && !self.narrates(start, at - 1)).then_some(start)
        }
    }

    /// "Only" confines if it is not about what the work itself does: "cambia solo X", and not "solo cachea X".
    fn only(&self, clause: Clause, start: usize, at: usize, length: usize) -> Option<usize> {
        let mut following = at + length;
        let is_path_only = self.words[at].is_any(&["just"]) && length == 1;
        if is_path_only && (following > clause.to || !is_path(self.words[following].raw)) {
            return None;
        }
        // "Docs only please", "selects only there!".
        let mut tail = following;
        while tail <= clause.to
            && let Some(length) = self
                .lead(tail)
                .or_else(|| self.words[tail].is_any(&["here", "there"]).then_some(1))
        {
            tail += length;
        }
        if at > start && tail > clause.to {
            following = tail;
        }
        if following > clause.to {
            // "Migrate the dates in src/utils only"
            let names_path = at > start && is_path(self.words[at - 1].raw);
            if names_path && at > start + 1 && PLACES.contains(&self.words[at - 2].folded) && self.is_asked()
            {
                return Some(at - 2);
            }
            let short = clause.to - clause.from < MAX_SHORT_CLAUSE;
            return (at > start && short && !self.narrates(start, clause.to)).then_some(start);
        }
        let before = at.checked_sub(1).map(|at| &self.words[at]);
        let refers = before.is_some_and(|before| !before.pauses() && before.is_any(NOT_BEFORE_ONLY));
        // "Only admins can create coupons" is what the program has to do.
        let behaves = self.words[at].is_any(&["only"])
            && (self.is_specified(at)
                || self.words[..at]
                    .iter()
                    .any(|word| BEHAVING.contains(&word.folded))
                || at == start
                    && self.words[following..=clause.to]
                        .iter()
                        .take(4)
                        .any(|word| word.is_any(&["can", "could", "may"])));
        // "It doesn't work, only on mobile".
        let described = clause.from > 0 && !self.orders && self.narrates(0, clause.from - 1);
        if self.narrates_at(following) || described || refers || behaves {
            return None;
        }
        let place = is_path(self.words[following].raw) || PLACES.contains(&self.words[following].folded);
        // "Only GET endpoints": in capitals it is no verb.
        let next = self.words[following].raw;
        let is_shouted = next.len() > 1 && next.bytes().all(|byte| byte.is_ascii_uppercase());
        if at == start && is_shouted && following < clause.to && !self.narrates(following + 1, clause.to) {
            return Some(at);
        }
        if at == start {
            if self.narrates(start, clause.to) && !place {
                return None;
            }
            return match self.verb(following) {
                Some(verb) => (verb == Verb::Change || verb == Verb::Format).then_some(at),
                None => (!self.is_in(following, |table| &table.orders)
                    || self.ends_with_infinitive(clause.to))
                .then_some(at),
            };
        }
        if self.verb(start) == Some(Verb::Change) && at - start <= 3 {
            return Some(start);
        }
        // "Ajoute juste /v2/factures" is the work itself.
        let adds = self.is_order(start) && is_path(self.words[following].raw);
        (place && !adds && self.words[following].folded.len() > 1 && !self.narrates(start, at)).then_some(at)
    }

    /// "Lascia le viste come sono", "lass die Tests in Ruhe".
    fn keep(&self, clause: Clause, at: usize, length: usize, first: bool) -> Option<usize> {
        let following = at + length;
        if !first {
            return None;
        }
        let word = &self.words[at];
        let whole = word.is_any(&[
            "dejalo", "dejala", "dejalos", "dejalas", "lascialo", "lasciala", "lasciali", "lasciale",
        ]);
        if following > clause.to {
            return whole.then_some(at);
        }
        let next = &self.words[following];
        let idle = match word.folded.get(..4).unwrap_or_default() {
            "deix" => next.is_any(&["eu", "isso", "me", "para", "pra", "que", "quieto"]),
            "deja" | "deje" => next.is_any(&["de", "eso", "me", "que"]),
            "lais" => next.is_any(&["m'en", "moi", "tomber"]),
            "lasc" => next.is_any(&["che", "fare", "perdere", "stare"]),
            _ => false,
        };
        if idle {
            return None;
        }
        let lets = self.words[following].folded.len() > 4
            && self.words[following].folded.ends_with(['r', 'e'])
            && self.verb(following).is_some();
        (!lets).then_some(at)
    }

    /// "Max 30 lines", "30 lines at most".
    fn at_most(&self, clause: Clause, start: usize, at: usize, length: usize) -> Option<usize> {
        let following = at + length;
        let is_number = |at: usize| {
            self.words[at]
                .folded
                .contains(|letter: char| letter.is_ascii_digit())
                || NUMBERS.contains(&self.words[at].folded)
        };
        let number = (following..=clause.to.min(following + 1)).any(is_number);
        if number {
            let unit =
                (following..=clause.to.min(following + 3)).any(|at| UNITS.contains(&self.words[at].folded));
            let limits = unit
                || matches!(
                    self.verb(start),
                    Some(Verb::Add | Verb::Change | Verb::Run | Verb::Use)
                );
            let behaves = BEHAVING.contains(&self.words[start].folded);
            if at > start && !unit {
                return (limits && !behaves && !self.narrates(start, at)).then_some(start);
            }
            return (at == start || !self.narrates(start, at)).then_some(at);
        }
        let ends = following > clause.to && clause.to - start < MAX_SHORT_CLAUSE;
        (ends && (start..at).any(is_number) && !self.narrates(start, at)).then_some(start)
    }
}

/// Third-person and past forms after "never" and "only", which describe instead of instruct.
fn is_narrated(word: &Word<'_>) -> bool {
    let folded = &word.folded;
    folded.is_ascii()
        && (folded.len() > 3
            && folded.ends_with('s')
            && !folded.ends_with("ss")
            && !word.is_any(&["access", "address", "docs", "files", "focus", "process", "tests"])
            && !is_path(word.raw)
            || folded.ends_with("ed") && !word.is_any(&["embed", "feed", "need", "seed", "shed", "speed"]))
}
