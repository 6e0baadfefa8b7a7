//! Negations, which forbid with a verb that commands: "nicht anfassen", "no toques".

use super::super::lexicon::*;
use super::Reader;
use grov_scope::phrases::Cue;

/// The most words between a negation and its verb.
const MAX_CLITICS: usize = 3;

/// The most words before a negation that are its object.
const MAX_OBJECT: usize = 5;

impl Reader<'_, '_> {
    /// "Nicht anfassen", "no toques", "non toccare", "nie ruszaj", "fass die Tests nicht an".
    pub(super) fn negation(&self, index: usize, start: usize, at: usize, length: usize) -> Option<usize> {
        let clause = self.clauses[index];
        let last = self.last_word(clause);
        let elided = self.words[at].folded.starts_with("n'");
        let mut verb = if elided { at } else { at + length };
        let first = at == start;
        if verb > last {
            // "Commite nicht", "verander niets".
            let verb_first = !first && self.is_order(start) && !self.narrates(start, last);
            return verb_first.then_some(start);
        }
        // French: both halves of the negation.
        let halves = (at + 1..=last.min(at + 5)).any(|at| {
            matches!(
                self.cue(at),
                Some((_, Cue::NegationAfter | Cue::NoneOf | Cue::Only))
            ) || self.words[at].is_any(&["jamais", "pas", "que"])
        });
        if elided || self.words[at].folded == "ne" && halves {
            return (first && halves && !self.is_idle(verb) && !self.narrates_at(verb)).then_some(at);
        }
        let verb_last = !self.narrates(start, last) && self.ends_with_infinitive(last);
        if !first {
            // "Reszty flag nie zmieniaj", "il resto non toccare".
            let object_first = at - start <= MAX_OBJECT
                && self.words[at].is_any(&["nie", "non"])
                && self.is_command(verb)
                && !self.is_order(start)
                && !SUBJECTS.contains(&self.words[start].folded)
                && !self.narrates(start, at);
            if object_first {
                return Some(start);
            }
            if verb_last && at > start && self.is_verb_final(at) {
                return Some(start);
            }
            let verb_first =
                self.is_order(start) && self.is_verb_final(at) && !self.narrates(start + 1, last);
            return verb_first.then_some(start);
        }
        if self.is_verb_final(at) {
            if verb_last {
                return Some(at);
            }
            return self.contrast(index, at, verb);
        }
        let mut does = false;
        for _ in 0..MAX_CLITICS {
            does |= self.words[verb].is_any(&["faire", "fare", "fazer", "hacer", "hagas"]);
            if verb < last && CLITICS.contains(&self.words[verb].folded) && !self.is_command(verb) {
                verb += 1;
            }
        }
        // "Não faz push", and not "não faz mal"
        let is_phrase = self.tables.iter().any(|table| {
            let found = table.verbs.at(self.words, verb);
            found.is_some_and(|(length, _)| length > 1)
        });
        if self.is_idle(verb) && !is_phrase {
            return None;
        }
        if is_phrase || self.is_command(verb) || self.is_informal(verb) || does && verb > at + length {
            return Some(at);
        }
        self.contrast(index, at, verb)
    }

    /// "Usa pnpm, no npm": a thing alone after a negation, after an order.
    fn contrast(&self, index: usize, at: usize, thing: usize) -> Option<usize> {
        let clause = self.clauses[index];
        let ordered = self.clauses[..index].iter().any(|clause| self.asks(*clause));
        let short = clause.to - at <= 3 && !self.narrates(at + 1, clause.to) && !self.is_idle(thing);
        (ordered && short).then_some(at)
    }

    /// Whether the language of the cue at `at` puts infinitives at the end: German and Dutch.
    fn is_verb_final(&self, at: usize) -> bool {
        self.words[at].is_any(&[
            "keinesfalls",
            "keineswegs",
            "nicht",
            "nichts",
            "nie",
            "niemals",
            "niet",
            "niets",
            "niks",
            "nix",
            "nooit",
        ]) && !self
            .tables
            .iter()
            .any(|table| table.conjunctions.contains("jednak"))
    }

    /// Whether a verb has a form that commands after a negation.
    fn is_command(&self, at: usize) -> bool {
        let folded = self.words[at].folded.as_str();
        (self
            .tables
            .iter()
            .flat_map(|table| table.endings.entries())
            .any(|ending| folded == *ending || folded.len() > ending.len() + 1 && folded.ends_with(ending))
            || self.is_in(at, |table| &table.forbidden)
            || self.has_no_endings() && (self.verb(at).is_some() || self.is_in(at, |table| &table.orders)))
            && !self.is_idle(at)
            && !self.narrates_at(at)
    }

    /// Whether verbs of the language do not tell by their endings that they command: Romanian.
    fn has_no_endings(&self) -> bool {
        let mut tables = self.tables.iter();
        tables.any(|table| table.endings.entries().is_empty() && !table.forbidden.entries().is_empty())
    }

    /// Whether a German or Dutch clause ends with an infinitive.
    pub(super) fn ends_with_infinitive(&self, last: usize) -> bool {
        let table = self.tables.iter().any(|table| table.endings.contains("en"));
        table && self.words[last].folded.len() >= 4 && self.is_command(last)
    }

    /// Portuguese commands in the form of a statement: "não mexe em nada".
    fn is_informal(&self, at: usize) -> bool {
        let orders = self.is_in(at, |table| &table.orders)
            && self.words[at..]
                .iter()
                .take(4)
                .any(|word| word.is_any(&["ainda", "nada", "nenhum", "nenhuma"]));
        (self.verb(at).is_some() || orders) && self.tables.iter().any(|table| table.leads.contains("blz"))
    }
}
