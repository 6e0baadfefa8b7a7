//! Finds constraints in languages whose vocabulary is in [`grov_scope::phrases`].
//!
//! A sentence is split into clauses. A cue counts where an instruction can have it: at the beginning of a clause, after
//! politeness and conjunctions, or after an order. The same words in a description ("läuft nicht", "sin errores") do not count.

use crate::scope::is_path;
use crate::text::Word;
use grov_scope::phrases::{Cue, Languages, Noun, PhraseList, Phrases, Verb};

/// The most words of a clause that continues a constraint after a conjunction.
const MAX_CONTINUATION: usize = 7;

/// The most words between a negation and its verb.
const MAX_CLITICS: usize = 3;

/// The most words of a clause that ends with "max", "only" or "nothing else".
const MAX_SHORT_CLAUSE: usize = 6;

/// Words between a negation and its verb.
#[rustfmt::skip]
const CLITICS: &[&str] = &[
    "a", "absolutamente", "ao", "aux", "ci", "de", "en", "fare", "fazer", "faire", "gli", "go", "hacer",
    "hagas", "i", "ich", "im", "je", "jej", "la", "las", "le", "les", "lhe", "li", "lo", "los", "mai", "mas", "me",
    "mi", "mu", "nada", "ne", "nic", "niczego", "nos", "nous", "o", "os", "pas", "piu", "rien", "se", "si", "sie",
    "surtout", "te", "tego", "ti", "to", "tutto", "um", "va", "vayas", "vi", "vous", "w", "y",
];

/// Pronouns after a verb, which make it a statement or question.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "ca", "cela", "das", "dat", "deze", "dies", "dit", "ecco", "ele", "ella", "elle", "er", "es", "esto", "eso", "est", "el",
    "het", "hij", "hoe", "ich", "ik", "il", "ils", "isso", "isto", "je", "man", "me", "men", "on", "ono", "questo", "quello",
    "sie", "to", "we", "wir", "yo",
];

/// Complements of "let" that make it "leave".
#[rustfmt::skip]
const LEFT: &[&str] = &[
    "aus", "ausser", "bestehen", "da", "draussen", "drin", "gelijk", "gleich", "heel", "hetzelfde", "in", "intact",
    "met", "ongemoeid", "ongewijzigd", "raus", "rust", "ruhe", "so", "staan", "stehen", "unangetastet",
    "unberuhrt", "unberuehrt", "unverandert", "unveraendert", "weg", "wie", "zo", "zoals", "zufrieden",
];

/// Units of what is written, which "at most" limits anywhere.
#[rustfmt::skip]
const UNITS: &[&str] = &[
    "caracteres", "caratteri", "characters", "chars", "commits", "lignes", "lijnes", "linee", "lineas", "lines", "linhas", "linii",
    "linijek", "mots", "pagina", "pagina's", "paginas", "pagine", "page", "pages", "palabras", "palavras", "parole", "regels", "righe",
    "seite", "seiten", "slow", "strona", "strony", "testow", "tests", "test", "testes", "woerter", "woorden", "words", "worte", "zeichen", "zeilen",
    "zdan", "znakow",
];

/// Words that introduce somebody else's words.
#[rustfmt::skip]
const REPORTING: &[&str] = &[
    "dice", "dit", "diz", "error", "erreur", "errore", "erro", "fehler", "fehlermeldung", "log", "logs", "meldet", "mensagem",
    "mensaje", "message", "messaggio", "mowi", "pise", "pisze", "sagt", "says", "staat", "steht", "zegt", "blad",
];

/// Words after "says" that begin what is said.
const THAT: &[&str] = &["che", "dass", "dat", "que", "ze"];

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
    /// Some clause starts with an order.
    orders: bool,
    /// The word from which on somebody else is quoted.
    reported: usize,
}

/// The constraints in a sentence as first and last word, in order. `is_quoted` tells whether the word at an offset is quoted.
pub(super) fn find(
    words: &[Word<'_>],
    languages: Languages,
    is_quoted: &dyn Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let tables: Vec<&Phrases> = languages
        .tables()
        .filter(|table| !table.is_unspaced && !table.leads.entries().is_empty())
        .collect();
    if tables.is_empty() || words.is_empty() {
        return Vec::new();
    }
    let mut reader = Reader {
        words,
        clauses: Vec::new(),
        tables,
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
            && !is_quoted(words[from].start)
            && found.last().is_none_or(|(_, last)| *last < from)
        {
            found.push((from, to));
        }
    }
    found
}

/// The first word of what somebody else says.
fn reported(words: &[Word<'_>]) -> usize {
    let says = |at: usize| {
        words[at].is_any(REPORTING)
            && (words[at].after.contains(':') || words.get(at + 1).is_some_and(|next| next.is_any(THAT)))
    };
    (0..words.len())
        .find(|at| says(*at))
        .map_or(words.len(), |at| at + 1)
}

impl Reader<'_, '_> {
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
            && (self.is_in(at, |table| &table.orders) || self.verb(at).is_some())
            && !self
                .words
                .get(at + 1)
                .is_some_and(|next| next.is_any(SUBJECTS) && !next.pauses())
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
                        || at > from
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

    /// Whether one of these words describes.
    fn narrates(&self, from: usize, to: usize) -> bool {
        (from..=to.min(self.words.len() - 1)).any(|at| self.is_in(at, |table| &table.narrating))
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
        let mut at = clause.from;
        let mut start = clause.from;
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
                return None;
            }
            if let Some((length, cue)) = cue
                && let Some(from) = self.opens(index, at, at, length, cue)
            {
                return Some((from, self.end(index)));
            }
            // "Não muda nada": the longer cue needs a subject, the shorter one does not.
            if let Some((2.., _)) = cue
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
            if let Some((length, cue)) = self.cue(at)
                && let Some(from) = self.opens(index, start, at, length, cue)
            {
                return Some((from, self.end(index)));
            }
            at += 1;
        }
        None
    }

    /// Whether one of these words negates.
    fn negates(&self, from: usize, to: usize) -> bool {
        (from..=to).any(|at| {
            matches!(
                self.cue(at),
                Some((_, Cue::Negation | Cue::NegationAfter | Cue::NoneOf | Cue::Without))
            )
        })
    }

    /// The first word of the constraint that a cue opens in a clause whose instruction starts at `start`.
    fn opens(&self, index: usize, start: usize, at: usize, length: usize, cue: Cue) -> Option<usize> {
        let clause = self.clauses[index];
        let following = at + length;
        let first = at == start;
        let has_more = following <= clause.to;
        let before = at.saturating_sub(1);
        let told_before = !first && self.narrates(start, before) && !self.is_order(start);
        match cue {
            Cue::Prohibition => first.then_some(at),
            Cue::Negation => self.negation(index, start, at, length),
            Cue::NegationAfter => {
                let verb = !first && at - start <= 2 && self.is_order(start) && !self.is_idle(start);
                (verb && !self.narrates(start, before)).then_some(start)
            }
            Cue::NoneOf => {
                // "pas d'" takes its noun along.
                let noun = if self.words[following - 1].folded.contains('\'') {
                    following - 1
                } else {
                    following
                };
                if noun > clause.to || self.is_idle(noun) || self.narrates(following, clause.to) {
                    return None;
                }
                let joined = !first && self.words[before].is_any(&["mit", "avec", "con", "com", "met", "z"]);
                if first || joined {
                    Some(at)
                } else {
                    (self.is_order(start) && at - start <= 4).then_some(start)
                }
            }
            Cue::Without => {
                let idle = !has_more || self.is_idle(following);
                let narrates_after = self.narrates(following, clause.to) && !self.is_order(start);
                (!idle && !told_before && !narrates_after).then_some(at)
            }
            Cue::Only => self.only(clause, start, at, length),
            Cue::Except => {
                let counts = at > 0
                    && self.words[at - 1]
                        .is_any(&["al", "lo", "mas", "mais", "o", "piu", "plus", "po", "un"]);
                (has_more && !counts && !told_before && (first || self.orders)).then_some(at)
            }
            Cue::Stays | Cue::StaysAtEnd => {
                let number = (following..=clause.to.min(following + 1)).any(|at| {
                    self.words[at]
                        .folded
                        .contains(|letter: char| letter.is_ascii_digit())
                });
                let ends = cue == Cue::Stays || !has_more || number;
                let subject = !first && !self.words[start].is_any(SUBJECTS) && !self.is_order(start);
                (ends && subject && !self.narrates(start, before)).then_some(start)
            }
            Cue::Keep => self.keep(clause, at, length, first),
            Cue::ReadOnly => {
                let short = clause.to + 1 - at <= length + 4;
                (first && short && !self.narrates(following, clause.to)).then_some(at)
            }
            Cue::AtMost => self.at_most(clause, start, at, length),
            Cue::AskFirst => {
                let before = index
                    .checked_sub(1)
                    .map(|index| self.clauses[index])
                    .filter(|clause| {
                        let start = self.after_leads(*clause);
                        matches!(self.cue(start), Some((_, Cue::Before)))
                    });
                match before {
                    Some(clause) => Some(self.after_leads(clause)),
                    None => (first
                        && (length > 1 || clause.to <= at + 2 || self.words[at].folded.len() > 7)
                        && !self.narrates(following, clause.to))
                    .then_some(at),
                }
            }
            Cue::NothingElse => {
                let short = clause.to - clause.from < MAX_SHORT_CLAUSE;
                (first || short && !self.narrates(start, before)).then_some(start)
            }
            Cue::Before => None,
        }
    }

    /// "Nicht anfassen", "no toques", "non toccare", "nie ruszaj", "fass die Tests nicht an".
    fn negation(&self, index: usize, start: usize, at: usize, length: usize) -> Option<usize> {
        let clause = self.clauses[index];
        let last = clause.to;
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
            return (first && halves && !self.is_idle(verb) && !self.is_told(verb)).then_some(at);
        }
        let verb_last = !self.narrates(start, last) && self.ends_with_infinitive(last);
        if !first {
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
            if verb < last && self.words[verb].is_any(CLITICS) && !self.is_command(verb) {
                verb += 1;
            }
        }
        if self.is_idle(verb) {
            return None;
        }
        if self.is_command(verb) || self.is_informal(verb) || does && verb > at + length {
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
        self.tables
            .iter()
            .flat_map(|table| table.endings.entries())
            .any(|ending| folded == *ending || folded.len() > ending.len() + 1 && folded.ends_with(ending))
            && !self.is_idle(at)
            && !self.is_told(at)
    }

    /// Whether a German or Dutch clause ends with an infinitive.
    fn ends_with_infinitive(&self, last: usize) -> bool {
        let table = self.tables.iter().any(|table| table.endings.contains("en"));
        table && self.words[last].folded.len() >= 4 && self.is_command(last)
    }

    /// Portuguese commands in the form of a statement: "não mexe em nada".
    fn is_informal(&self, at: usize) -> bool {
        self.verb(at).is_some() && self.tables.iter().any(|table| table.leads.contains("blz"))
    }

    fn is_told(&self, at: usize) -> bool {
        self.is_in(at, |table| &table.narrating)
    }

    /// "Only" confines if it is not about what the work itself does: "cambia solo X", and not "solo cachea X".
    fn only(&self, clause: Clause, start: usize, at: usize, length: usize) -> Option<usize> {
        let following = at + length;
        if following > clause.to {
            let short = clause.to - clause.from < MAX_SHORT_CLAUSE;
            return (at > start && short && !self.narrates(start, clause.to)).then_some(start);
        }
        if self.is_told(following) {
            return None;
        }
        let place = is_path(self.words[following].raw)
            || self.words[following].is_any(&[
                "a",
                "aan",
                "auf",
                "bei",
                "beim",
                "bij",
                "chez",
                "dans",
                "de",
                "em",
                "en",
                "fur",
                "fuer",
                "im",
                "in",
                "na",
                "nel",
                "nella",
                "nei",
                "no",
                "op",
                "para",
                "per",
                "pour",
                "sur",
                "su",
                "sul",
                "voor",
                "w",
                "we",
                "dla",
                "innerhalb",
                "unter",
            ]);
        if at == start {
            if self.narrates(start, clause.to) && !place {
                return None;
            }
            return match self.verb(following) {
                Some(verb) => (verb == Verb::Change).then_some(at),
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
            "laat" => next.is_any(&["even", "maar", "me", "mij", "ons", "we", "weten", "zien"]),
            "lais" => next.is_any(&["m'en", "moi", "tomber"]),
            "lasc" => next.is_any(&["che", "fare", "perdere", "stare"]),
            "lass" => next.is_any(&["mal", "mich", "uns"]),
            _ => false,
        };
        if idle {
            return None;
        }
        if word.is_any(&["laat", "laten", "lass", "lasse", "lassen", "lasst"]) {
            let left = self.words[following..=clause.to]
                .iter()
                .any(|word| word.is_any(LEFT));
            return left.then_some(at);
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
                || self.words[at].is_any(&[
                    "drei", "due", "dos", "duas", "dwa", "ein", "eine", "een", "one", "two", "three", "un",
                    "una", "une", "uma", "deux", "trois", "twee", "drie", "zwei", "tres", "tre", "jeden",
                    "jedna", "um", "dois", "fuenf", "funf", "cinco", "cinq", "cinque",
                ])
        };
        let number = (following..=clause.to.min(following + 1)).any(is_number);
        if number {
            let unit = (following..=clause.to.min(following + 3)).any(|at| self.words[at].is_any(UNITS));
            return (at == start || unit && !self.narrates(start, at)).then_some(at);
        }
        let ends = following > clause.to && clause.to - start < MAX_SHORT_CLAUSE;
        (ends && (start..at).any(is_number) && !self.narrates(start, at)).then_some(start)
    }

    /// The last word of the constraint that a clause opens: with the next clauses if they continue a list, are a path in
    /// parentheses, or an exception.
    fn end(&self, index: usize) -> usize {
        let mut end = self.clauses[index].to;
        for clause in &self.clauses[index + 1..] {
            let last = &self.words[end];
            if clause.from >= self.reported || last.after.contains(['.', '!', '?', ';', '—', '–']) {
                break;
            }
            let words = &self.words[clause.from..=clause.to];
            let path = words[0].before.contains('(') && words.iter().any(|word| is_path(word.raw));
            let at = self.after_leads(*clause);
            let starts = self.cue(at.min(clause.to)).map(|(_, cue)| cue);
            let excepts =
                starts == Some(Cue::Except) || self.cue(clause.from).map(|(_, cue)| cue) == Some(Cue::Except);
            let joined = !last.pauses() && self.is_in(clause.from, |table| &table.conjunctions);
            let lists = joined
                && words.len() <= MAX_CONTINUATION
                && at <= clause.to
                && (starts.is_none() || self.words[clause.from].is_any(&["ni", "ani", "nem", "ne"]))
                && !self.narrates(clause.from, clause.to)
                && !self.is_in(at, |table| &table.permissions)
                && (!self.is_order(at)
                    || self.noun(at).is_some()
                    || self.words[clause.from]
                        .is_any(&["ni", "ani", "nem", "ne", "oder", "of", "ou", "o", "lub"]));
            if !(path || excepts || lists) {
                break;
            }
            end = clause.to;
        }
        end
    }
}
