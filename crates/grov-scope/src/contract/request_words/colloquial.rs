//! Requests in ordinary speech that name no verb of the tables: "cut 0.14.0", "bring it live", "raus damit", "make some room".
//!
//! Pairs of words near each other stand for the words of an order ([`meanings`]); the pairs are in a table beside this file.

mod slots;

use super::parts;
use crate::by_beginning::ByBeginning;
use slots::{is_any, is_small};
use std::sync::LazyLock;

const TABLE: &str = include_str!("colloquial.txt");

/// The most words from one word of a pair to the other.
const NEAR: usize = 6;

/// Orders stand at the beginning or at the end of a text; of what is pasted in between, nothing is read.
const FIRST: usize = 60;
const LAST: usize = 40;

/// A go-ahead has at most this number of words.
const MAX_GO_AHEAD: usize = 6;

/// A word of a prompt, as far as pairs need it.
#[derive(Clone, Debug)]
pub(super) struct Spoken {
    pub(super) folded: String,
    /// Whether it may be the verb of an order: no part of a question or of a name.
    pub(super) may_order: bool,
    /// Whether a negation is next to it.
    pub(super) is_negated: bool,
    /// Whether a phrase ends after it.
    pub(super) ends: bool,
}

impl Spoken {
    /// A word that is part of an order, without a negation.
    pub(super) fn new(folded: &str) -> Self {
        Self {
            folded: folded.to_owned(),
            may_order: true,
            is_negated: false,
            ends: false,
        }
    }
}

/// A pair of the table.
struct Pair {
    one: Vec<&'static str>,
    other: Vec<&'static str>,
    /// The words that it stands for.
    meaning: Vec<&'static str>,
    /// Only small words may stand between them.
    is_tight: bool,
    /// It counts only if a later prompt says to go ahead.
    is_prepared: bool,
    /// It counts with a negation, too.
    may_be_negated: bool,
}

/// All pairs, in the order of the table.
#[derive(Default)]
struct Pairs {
    all: Vec<Pair>,
    /// Their positions by their first words.
    by_beginning: ByBeginning<usize>,
    /// The positions of those of which a first word is a sign of the table, one letter, or matches within words.
    by_any: Vec<usize>,
}

impl Pairs {
    fn add(&mut self, pair: Pair) {
        let number = self.all.len();
        for stem in &pair.one {
            match stem.as_bytes() {
                [one, other, ..] if one.is_ascii_alphabetic() && other.is_ascii_alphabetic() => {
                    self.by_beginning.add(stem, number);
                }
                _ if self.by_any.last() == Some(&number) => {}
                _ => self.by_any.push(number),
            }
        }
        self.all.push(pair);
    }

    /// The pairs that a word may be the first of, with their positions; some twice.
    fn like(&self, word: &str) -> impl Iterator<Item = (usize, &Pair)> {
        let numbers = self.by_beginning.like(word).iter().chain(&self.by_any);
        numbers.filter_map(|number| Some((*number, self.all.get(*number)?)))
    }
}

static PAIRS: LazyLock<Pairs> = LazyLock::new(|| {
    let mut pairs = Pairs::default();
    let (mut meaning, mut is_prepared, mut may_be_negated) = (Vec::new(), false, false);
    for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("# ") {
            continue;
        }
        if let Some(heading) = line.strip_prefix("= ") {
            may_be_negated = heading.ends_with(" even if negated");
            is_prepared = heading.ends_with(" if prepared");
            let words = heading
                .split(" if ")
                .next()
                .unwrap_or(heading)
                .trim_end_matches(" even");
            meaning = words.split(' ').collect();
            continue;
        }
        let is_tight = line.contains(" ~ ");
        if let Some((one, other)) = line.split_once(if is_tight { " ~ " } else { " + " }) {
            pairs.add(Pair {
                one: one.split('|').collect(),
                other: other.split('|').collect(),
                meaning: meaning.clone(),
                is_tight,
                is_prepared,
                may_be_negated,
            });
        }
    }
    pairs
});

/// Words of a prompt that only says to go ahead.
#[rustfmt::skip]
const GO_AHEAD: &[&str] = &[
    "go", "ahead", "do", "it", "proceed", "ship", "send", "yes", "yep", "yeah", "sure", "ok", "okay", "please", "now", "then", "lgtm", "good", "looks", "great", "perfect", "nice", "fine", "let's", "this", "that",
    "mach", "macht", "los", "leg", "passt", "gut", "ja", "raus", "damit", "bitte", "weg", "jetzt", "super", "alles", "klar", "gib", "ihm", "go!", "sieht", "aus", "das", "es", "mal",
    "vas-y", "vas", "allez", "allez-y", "c'est", "bon", "oui", "envoie", "envoyez", "parfait", "fonce", "lance", "maintenant",
    "dale", "venga", "adelante", "si", "hazlo", "vale", "listo", "perfecto", "bien", "va", "vamos", "ya", "mandalo",
    "vai", "avanti", "procedi", "bene", "perfetto", "fallo", "andiamo", "pure", "manda",
    "pode", "mandar", "sim", "bora", "beleza", "perfeito", "faz", "isso", "segue", "tudo", "certo", "ta", "otimo", "bom",
    "da", "da-i", "drumul", "drumu", "bun", "perfect", "hai", "dai", "e", "bine", "acum",
    "dawaj", "lec", "leci", "tak", "dobra", "dobrze", "smialo", "jedziemy", "rob", "zrob", "to", "no",
    "doe", "maar", "goed", "prima", "akkoord", "toe", "gaan", "met", "die", "banaan", "gas", "erop",
];

/// The same in languages without spaces.
const GO_AHEAD_PARTS: &[&str] = &[
    "可以",
    "好的",
    "发吧",
    "来吧",
    "开始吧",
    "搞吧",
    "上吧",
    "行",
    "没问题",
    "出して",
    "やって",
    "進めて",
    "お願い",
    "いいよ",
    "どうぞ",
    "了解",
];

/// Of those, at least one of these: "ok" alone says too little.
#[rustfmt::skip]
const DECISIVE: &[&str] = &[
    "go", "ahead", "do", "proceed", "ship", "send", "yes", "mach", "macht", "los", "raus", "vas-y", "vas", "allez", "allez-y", "envoie", "fonce", "lance", "dale", "adelante", "hazlo", "venga", "mandalo", "vai", "avanti", "procedi",
    "fallo", "andiamo", "manda", "pode", "mandar", "bora", "segue", "da-i", "drumul", "hai", "dawaj", "lec", "leci", "smialo", "jedziemy", "rob", "zrob", "doe", "gaan", "gas", "ja",
];

/// Whether a prompt only says to go ahead with what was prepared.
pub(super) fn is_go_ahead(words: &[Spoken]) -> bool {
    let is_said = |word: &Spoken, list: &[&str]| {
        parts(&word.folded).any(|part| list.contains(&part.as_str()))
            || GO_AHEAD_PARTS.iter().any(|part| word.folded.contains(part))
    };
    (1..=MAX_GO_AHEAD).contains(&words.len())
        && words.iter().all(|word| is_said(word, GO_AHEAD))
        && words.iter().any(|word| is_said(word, DECISIVE))
}

/// The words that the pairs of a prompt stand for. `prepared` chooses those that count only after a go-ahead.
pub(super) fn meanings(words: &[Spoken], prepared: bool) -> Vec<&'static str> {
    let first = &words[..words.len().min(FIRST)];
    let last = &words[words.len().saturating_sub(LAST).max(first.len())..];
    let mut found: Vec<(usize, &Pair)> = Vec::new();
    for words in [first, last] {
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.may_order) {
            let like = PAIRS.like(&word.folded);
            found
                .extend(like.filter(|(_, pair)| pair.is_prepared == prepared && is_said_at(pair, words, at)));
        }
    }
    found.sort_unstable_by_key(|(number, _)| *number);
    found.dedup_by_key(|(number, _)| *number);
    found
        .iter()
        .flat_map(|(_, pair)| &pair.meaning)
        .copied()
        .collect()
}

/// Whether words contain both words of a pair, the first of them at a position.
fn is_said_at(pair: &Pair, words: &[Spoken], at: usize) -> bool {
    (pair.may_be_negated || !words[at].is_negated)
        && is_any(words, at, &pair.one, false)
        && partners(words, at).any(|other| {
            let between = &words[(at.min(other) + 1).min(at.max(other))..at.max(other)];
            let is_next = between.iter().all(is_small);
            (is_next || !pair.is_tight) && is_any(words, other, &pair.other, is_next)
        })
}

/// The positions of the words near another in the same phrase. Languages without spaces have both words of a pair in one.
fn partners(words: &[Spoken], at: usize) -> impl Iterator<Item = usize> {
    let begin = words[..at]
        .iter()
        .rposition(|word| word.ends)
        .map_or(0, |end| end + 1);
    let end = words[at..]
        .iter()
        .position(|word| word.ends)
        .map_or(words.len(), |end| at + end + 1);
    let may_be_same = !words[at].folded.is_ascii();
    (begin.max(at.saturating_sub(NEAR))..end.min(at + NEAR + 1))
        .filter(move |other| *other != at || may_be_same)
}

#[cfg(test)]
mod tests {
    use crate::contract::RequestWords;

    #[test]
    fn ordinary_speech_stands_for_orders() {
        for (text, stem, expected) in [
            ("cut 0.14.0", "publish", true),
            ("cut the function in half", "publish", false),
            ("bring it live", "publish", true),
            ("make the live preview faster", "publish", false),
            ("make it work with python 3.12", "publish", false),
            ("i get an error on production", "publish", false),
            ("set the log level to debug in production", "publish", false),
            ("put the github icon into the footer", "push", false),
            ("get the values out of the config", "publish", false),
            ("推荐一下合适的库", "push", false),
            ("生产环境上的日志在哪", "publish", false),
            ("don't bring it live", "publish", false),
            ("how do we get this on npm?", "publish", false),
            ("cut 0.14.0. wait, not yet", "publish", false),
            ("hau's hoch", "push", true),
            ("bau die infra wieder ab", "destroy", true),
            ("mach platz auf der platte", "freespace", true),
            ("how full is the disk?", "freespace", false),
            ("本番に上げて", "publish", true),
            ("sors la 2.4", "publish", true),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert_eq!(request.orders_any(&[stem]), expected, "{text}: {stem}");
        }
    }

    #[test]
    fn a_go_ahead_asks_for_what_was_prepared() {
        for (first, then, expected) in [
            ("prepare 1.4.0", "go ahead", true),
            ("prepare 1.4.0", "wait, not yet", false),
            ("prepare 1.4.0", "hm, the notes are wrong", false),
            ("fix the timezone bug", "go", false),
            ("bereite 1.4.0 vor", "passt, raus damit", true),
        ] {
            let request = RequestWords::new(vec![first, then, first], &[]);
            assert_eq!(request.orders_any(&["publish"]), expected, "{first}; {then}");
        }
    }
}
