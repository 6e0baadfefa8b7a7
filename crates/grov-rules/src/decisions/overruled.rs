//! Decisions that the user overruled later: "No, take the dict instead" against "I chose Redis over a dict".
//!
//! A later order overrules a choice if it rejects what was chosen, or chooses what was rejected.

use super::lexicon::{ALTERNATIVES, DETERMINERS};
use super::{Candidate, is_unspaced};
use crate::text::{Word, has_phrase, words};
use grov_domain::{is_function_word, is_stop_word};
use grov_scope::phrases::any_at;
use std::collections::BTreeSet;

/// Before what the user wants to be used.
#[rustfmt::skip]
const USING: &[&str] = &[
    "benutz", "benutze", "bruk", "change to", "folosește", "foloseste", "gebruik", "go back to", "go for", "go with", "ia", "kullan", "make it",
    "neem", "nimm", "nutze", "prefer", "prendi", "prends", "przejdz na", "revert to", "stick to", "stick with", "switch to", "take",
    "treci la", "usa", "use", "utiliser", "utilise", "utiliza", "utilizza", "uzyj", "verwende", "wechsel auf", "wez", "возьми", "используй",
    "перейди на", "використай",
];

/// Before what the user does not want.
#[rustfmt::skip]
const REJECTING: &[&str] = &[
    "aucun", "away from", "bez", "don't use", "do not use", "drop", "elimina", "entferne", "fara", "get rid of", "geen", "instead of", "jamais",
    "kein", "keine", "keinen", "never", "never use", "nie", "niemals", "no", "no more", "nooit", "not", "nunca", "ohne", "pas de", "plus de",
    "rather than", "remove", "retire", "rip out", "sans", "scoate", "sem", "senza", "sin", "statt", "throw out", "usun", "without", "zamiast",
    "zonder", "без", "вместо", "не используй", "никогда", "убери",
];

/// Those of them that also tell what is not there.
#[rustfmt::skip]
const DENYING: &[&str] = &[
    "aucun", "bez", "fara", "geen", "jamais", "kein", "keine", "keinen", "never", "nie", "niemals", "no", "no more", "nooit", "not", "nunca", "ohne",
    "pas de", "plus de", "sans", "sem", "senza", "sin", "without", "zonder", "без", "никогда",
];

/// What opens an objection to what was done.
#[rustfmt::skip]
const OBJECTING: &[&str] = &[
    "actually", "doch", "hayir", "hayır", "instead", "nah", "nao", "não", "nee", "nein", "nie", "no", "non", "nope", "nu", "lieber", "liever", "plutot",
    "rather", "wait", "нет", "ні", "лучше",
];

/// Around what is chosen and rejected in scripts without spaces.
const UNSPACED_USING: &[&str] = &["改用", "换成", "用", "使って", "にして", "使おう"];
const UNSPACED_REJECTING: &[&str] = &["不要用", "别用", "不用", "不要", "去掉"];
const UNSPACED_REJECTED: &[&str] = &[
    "ではなく",
    "じゃなくて",
    "じゃなく",
    "はやめ",
    "は使わ",
    "をやめ",
    "말고",
    "대신",
];

/// The most words of content of what is rejected: "do not restart Redis" is about restarting.
const MAX_REJECTED: usize = 1;
/// The same of what is chosen.
const MAX_CHOSEN: usize = 4;

/// The most words among which a name is searched.
const MAX_NAME: usize = 6;

/// What an order of the user chooses and rejects: words of content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    chosen: Vec<BTreeSet<String>>,
    rejected: Vec<BTreeSet<String>>,
    /// It objects to what was done.
    objects: bool,
    /// It takes back what was done.
    pub(super) reverts: bool,
}

/// Orders to take back what was done.
#[rustfmt::skip]
const REVERTING: &[&str] = &[
    "back it out", "revert all", "revert everything", "revert it", "revert that", "revert the change", "revert the changes", "revert this", "roll it back",
    "roll that back", "take it back", "take that back", "undo all", "undo everything", "undo it", "undo that", "undo the change", "undo this",
    "mach das ruckgangig", "mach es ruckgangig", "nimm das zuruck", "nimm es zuruck", "annule ca", "annule tout", "annule les changements",
    "reviens en arriere", "deshaz eso", "deshazlo", "revierte", "reviertelo", "desfaz isso", "reverte", "annulla", "annulla tutto", "ripristina",
    "draai het terug", "maak het ongedaan", "cofnij to", "wycofaj to", "anuleaza", "da inapoi", "geri al", "откати", "отмени", "верни как было",
    "скасуй", "відкоти",
];

/// The same in Chinese and Japanese.
const REVERTING_UNSPACED: &[&str] = &["撤销", "回滚", "还原", "元に戻し", "取り消し", "되돌려"];

impl Order {
    /// The orders of a prompt.
    pub(super) fn read(prompt: &str) -> Self {
        let mut order = Self::default();
        for sentence in crate::text::sentences(prompt) {
            order.read_sentence(&sentence);
        }
        order
    }

    fn read_sentence(&mut self, sentence: &str) {
        self.reverts |= has_phrase(&words(sentence), REVERTING)
            || REVERTING_UNSPACED.iter().any(|mark| sentence.contains(mark));
        if sentence.chars().any(is_unspaced) {
            self.read_unspaced(sentence);
            return;
        }
        let all = words(sentence);
        let is_objection = |word: &Word<'_>| word.is_any(OBJECTING);
        let opens = all
            .first()
            .is_some_and(|first| is_objection(first) && first.pauses());
        let objects = opens
            || all
                .iter()
                .any(|word| word.is_any(&["instead", "lieber", "liever", "plutot"]));
        self.objects |= objects;
        let mut at = 0;
        while at < all.len() {
            let is_opening = at == 0 && opens;
            // "There is no index" states something.
            let states = at > 0
                && !objects
                && !all[at - 1].pauses()
                && any_at(DENYING, &all, at) == any_at(REJECTING, &all, at);
            if let Some(length) = any_at(REJECTING, &all, at).filter(|_| !is_opening && !states) {
                // "Don't use Redis": the verb belongs to it.
                let from = at + length;
                let from = from + any_at(USING, &all, from).unwrap_or(0);
                push(&mut self.rejected, name(&all[from..], MAX_REJECTED));
                at = from.max(at + 1);
            } else if let Some(length) = any_at(USING, &all, at) {
                push(&mut self.chosen, name(&all[at + length..], MAX_CHOSEN));
                at += length;
            } else {
                // "No, the dict": what follows is wanted.
                if at == 1 && opens {
                    push(&mut self.chosen, name(&all[at..], MAX_CHOSEN));
                }
                at += 1;
            }
        }
    }

    fn read_unspaced(&mut self, sentence: &str) {
        let mut rest = sentence;
        while !rest.is_empty() {
            let found = |table: &[&str]| {
                table
                    .iter()
                    .find(|mark| rest.starts_with(**mark))
                    .map(|mark| mark.len())
            };
            if let Some(length) = found(UNSPACED_REJECTING) {
                rest = &rest[length..];
                push(&mut self.rejected, latin_start(rest));
            } else if let Some(length) = found(UNSPACED_USING) {
                rest = &rest[length..];
                push(&mut self.chosen, latin_start(rest));
            } else if let Some(length) = found(UNSPACED_REJECTED) {
                push(
                    &mut self.rejected,
                    latin_end(&sentence[..sentence.len() - rest.len()]),
                );
                rest = &rest[length..];
                push(&mut self.chosen, latin_start(rest));
            } else {
                rest = rest.chars().next().map_or("", |first| &rest[first.len_utf8()..]);
            }
        }
    }

    /// Whether it overrules a choice that was made before it.
    pub(super) fn overrules(&self, candidate: &Candidate) -> bool {
        let (chosen, rejected) = parts(&candidate.choice);
        let is_rejected = self.rejected.iter().any(|name| {
            let is_kept = self.chosen.iter().any(|chosen| chosen == name);
            !is_kept
                && name.iter().any(|word| contains(&chosen, word))
                && name.iter().all(|word| !contains(&rejected, word))
        });
        let is_reversed = self.chosen.iter().any(|name| {
            let known = name.iter().filter(|word| contains(&rejected, word)).count();
            let is_named = name
                .iter()
                .any(|word| contains(&rejected, word) && !contains(&chosen, word));
            is_named && (known == name.len() || self.objects)
        });
        is_rejected || is_reversed
    }
}

fn push(names: &mut Vec<BTreeSet<String>>, name: BTreeSet<String>) {
    if !name.is_empty() {
        names.push(name);
    }
}

/// The words of content at the beginning, up to a pause or another part of the sentence.
fn name(words: &[Word<'_>], most: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut read = 0;
    for word in words.iter().take(MAX_NAME) {
        let is_article = any_at(DETERMINERS, std::slice::from_ref(word), 0).is_some()
            || word.is_any(&[
                "an", "any", "un", "une", "una", "ein", "eine", "einen", "een", "my", "our", "simple",
                "plain",
            ]);
        if !is_article {
            if any_at(REJECTING, std::slice::from_ref(word), 0).is_some() {
                break;
            }
            let content = content(word.raw);
            if content.is_empty() && !found.is_empty() {
                break;
            }
            read += usize::from(!content.is_empty());
            found.extend(content);
        }
        if read >= most || word.pauses() || word.after.contains(['.', ';', ':', '(']) {
            break;
        }
    }
    found
}

/// What a choice chooses, and what it rejects by name.
fn parts(choice: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let all = words(choice);
    let rejects = |at: &usize| {
        let length = any_at(ALTERNATIVES, &all, *at);
        length.or_else(|| all[*at].is_any(&["over", "not"]).then_some(1))
    };
    let Some(at) = (0..all.len()).find(|at| rejects(at).is_some()) else {
        return (content(choice), BTreeSet::new());
    };
    let from = at + rejects(&at).unwrap_or(1);
    if at == 0 {
        // "Instead of Redis the cache is a dict".
        let rejected = name(&all[from.min(all.len())..], MAX_REJECTED);
        let mut chosen = content(choice);
        chosen.retain(|word| !rejected.contains(word));
        return (chosen, rejected);
    }
    let rejected = all.get(from).map_or("", |first| &choice[first.start..]);
    (content(&choice[..all[at].start]), content(rejected))
}

/// The words of content of a text; a compound counts as its parts.
fn content(text: &str) -> BTreeSet<String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric());
    let lower = parts.map(str::to_lowercase);
    lower
        .filter(|word| word.chars().count() > 1 && !is_filler(word))
        .collect()
}

fn is_filler(word: &str) -> bool {
    is_stop_word(word) || is_function_word(word)
}

/// Whether a word is among others, the ending of a plural aside.
fn contains(words: &BTreeSet<String>, word: &str) -> bool {
    let is_same = |other: &String| {
        let (short, long) = if other.len() < word.len() {
            (other.as_str(), word)
        } else {
            (word, other.as_str())
        };
        long.strip_prefix(short)
            .is_some_and(|end| matches!(end, "" | "s" | "es" | "n" | "en" | "js"))
    };
    words.iter().any(is_same)
}

/// The name in Latin letters at the beginning.
fn latin_start(text: &str) -> BTreeSet<String> {
    let text = text.trim_start();
    let end = text.find(|letter: char| !is_latin(letter)).unwrap_or(text.len());
    content(&text[..end])
}

/// The name in Latin letters at the end.
fn latin_end(text: &str) -> BTreeSet<String> {
    let text = text.trim_end();
    let start = text.rfind(|letter: char| !is_latin(letter));
    let start = start.map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    content(&text[start..])
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || ".-_".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrules(prompt: &str, choice: &str) -> bool {
        let candidate = Candidate {
            choice: choice.to_owned(),
            reason: "several workers share it".to_owned(),
            weight: 3,
        };
        Order::read(prompt).overrules(&candidate)
    }

    #[test]
    fn a_later_order_overrules_the_choice_against_it() {
        let choice = "I chose Redis over an in-process dict";
        for prompt in [
            "No, take the dict instead, because we have only one worker and Redis is one more service.",
            "we have one worker only. use a dict",
            "don't use Redis, it is one more service",
            "Please drop Redis again",
            "No, the dict please",
            "use an in-process dict instead of Redis",
            "nein, nimm das dict",
            "kein Redis bitte",
            "non, prends le dict",
            "no, usa el dict",
            "no, usa il dict",
            "nee, gebruik de dict",
            "используй dict",
            "不要用Redis，改用dict",
            "Redisではなくdictにして",
        ] {
            assert!(overrules(prompt, choice), "{prompt}");
        }
        assert!(overrules("use date-fns, never moment", "I used moment.js"));
        assert!(overrules(
            "no, per folder",
            "The lock is per file, not per folder"
        ));
    }

    #[test]
    fn other_orders_leave_a_choice() {
        let choice = "I chose Redis over an in-process dict";
        for prompt in [
            "use the Redis client for the session too",
            "thanks, now add a test",
            "No, the test is still red",
            "Never flush the old store",
            "Add logging, without changing the API",
            "use tabs",
            "do not restart Redis",
            "good. use Redis rather than a dict for the sessions as well",
            "不要改测试",
        ] {
            assert!(!overrules(prompt, choice), "{prompt}");
        }
        assert!(!overrules(
            "use the folder name as the title",
            "The lock is per file, not per folder"
        ));
    }
}
