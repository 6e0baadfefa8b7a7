//! Finds decisions with their reasons in texts of the agent and of the user.
//!
//! A decision is a choice and its reason in one sentence ("kept gp3, as io2 would triple the bill"), in two ("I left it out.
//! Otherwise …"), or in a row of a table. A choice needs a word of choosing, a rejected alternative, or an order of the user;
//! a reason needs a connective, a label, or a clause after a colon, dash or parenthesis. Narration ("the test failed because
//! …"), questions and advice are left out.

mod commit;
mod deeds;
mod lexicon;
mod overruled;
mod report;
mod spaced;
mod units;
mod unspaced;

use super::clean::clean;
use super::goal::Sentence;
use super::text::{Word, ends_with_question, fold, shorten, words};
use grov_domain::Decision;
use grov_scope::phrases::any_at;
use overruled::Order;
use std::borrow::Cow;
use units::{Label, Unit, units};

/// The most decisions of a task.
pub(crate) const MAX_DECISIONS: usize = 8;

/// The longest choice and the longest reason, in characters.
const MAX_CHARACTERS: usize = 200;

/// The most words of a choice.
const MAX_CHOICE_WORDS: usize = 32;

/// The most words of an answer; a longer text is a prompt of its own.
const MAX_ANSWER_WORDS: usize = 30;

/// The share of words, in tenths, from which on two decisions are the same.
const SAME_TENTHS: usize = 6;

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A prompt of the user.
    Prompt,
    /// The user's answer to a question.
    Answer,
    /// The agent's last text of a turn, a plan, or a summary.
    Closing,
    /// The agent's last text of a turn that changed something: it tells how the work does things.
    Report,
    /// The message of a commit.
    Commit,
    /// What the agent said before an action.
    Remark,
}

/// The most candidates that are compared with each other.
const MAX_CANDIDATES: usize = 64;

/// A possible decision.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    choice: String,
    reason: String,
    /// How sure it is, from 1.
    weight: u8,
}

/// Returns the decisions in texts, oldest first: at most 8, the surest ones. The prompts come first, and the last text was said
/// after all of them. What a later prompt overrules is left out.
pub(crate) fn decisions<'a>(texts: impl IntoIterator<Item = (Source, &'a str)>) -> Vec<Decision> {
    let mut known = Known::default();
    let mut last: Option<&str> = None;
    let texts: Vec<(Source, &str)> = texts.into_iter().collect();
    let orders = orders(&texts);
    let reverted = reverted(&texts, &orders);
    for (place, (source, text)) in texts.iter().copied().enumerate() {
        if last == Some(text) {
            continue;
        }
        last = Some(text);
        let is_newest = texts[place..].iter().all(|(_, later)| *later == text);
        let is_answer = texts.last().is_some_and(|(_, answer)| *answer == text);
        let is_overruled = |candidate: &Candidate| {
            let of_user = source == Source::Prompt;
            let mut later = orders.iter().filter(|(prompt, _)| !of_user || *prompt > place);
            !is_newest && !is_answer && later.any(|(_, order)| order.overrules(candidate))
        };
        for mut candidate in candidates(source, text) {
            if reverted == Some(place) || is_overruled(&candidate) {
                continue;
            }
            candidate.weight += match source {
                Source::Answer => 4,
                Source::Prompt => 3,
                Source::Closing | Source::Report => 2,
                Source::Commit => 1,
                Source::Remark => 0,
            };
            known.add(candidate);
        }
    }
    let mut found: Vec<Candidate> = known.list.into_iter().map(|(one, _)| one).collect();
    let mut weights: Vec<u8> = found.iter().map(|one| one.weight).collect();
    weights.sort_unstable_by(|one, other| other.cmp(one));
    let least = weights.get(MAX_DECISIONS).map_or(0, |next| next + 1);
    // Of equal ones the first are kept.
    let mut equal = MAX_DECISIONS.saturating_sub(weights.iter().filter(|weight| **weight >= least).count());
    found.retain(|one| {
        let fits = one.weight >= least || equal > 0;
        equal -= usize::from(one.weight < least && equal > 0);
        fits
    });
    found
        .into_iter()
        .take(MAX_DECISIONS)
        .map(Candidate::into_decision)
        .collect()
}

/// The orders of all prompts but the first, which comes before what the agent decided, with their places.
fn orders(texts: &[(Source, &str)]) -> Vec<(usize, Order)> {
    let prompts = texts
        .iter()
        .enumerate()
        .filter(|(_, (source, _))| *source == Source::Prompt);
    let later = prompts
        .skip(1)
        .map(|(place, (_, prompt))| (place, Order::read(clean(prompt).best())));
    later.collect()
}

/// The text before the last one, if the newest prompt took back what it tells of.
fn reverted(texts: &[(Source, &str)], orders: &[(usize, Order)]) -> Option<usize> {
    let (_, newest) = orders.last()?;
    let (_, answer) = texts.last()?;
    let earlier = texts.iter().rposition(|(_, text)| text != answer)?;
    (newest.reverts && texts[earlier].0 == Source::Report).then_some(earlier)
}

/// Whether a prompt states a decision, and whether it asks for work, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatedDecision {
    /// It states none.
    None,
    /// It states one, and asks for nothing.
    Alone,
    /// It states one in an order, or beside one.
    WithOrder,
}

/// Whether a prompt states a decision, and asks for work. What a label announces is no order: "Decision: use Postgres".
pub(crate) fn stated_in_prompt(prompt: &str) -> StatedDecision {
    if candidates(Source::Prompt, prompt).is_empty() {
        return StatedDecision::None;
    }
    let cleaned = clean(prompt);
    let rest = units(cleaned.best())
        .into_iter()
        .filter(|unit| unit.label.is_none() && !unit.is_in_section);
    let rest: Vec<String> = rest.map(|unit| unit.text).collect();
    if Sentence::read(&rest).iter().any(Sentence::asks_for_work) {
        StatedDecision::WithOrder
    } else {
        StatedDecision::Alone
    }
}

/// Different candidates with their terms, oldest first.
#[derive(Default)]
struct Known {
    list: Vec<(Candidate, Vec<String>)>,
}

impl Known {
    /// Adds a candidate. Of two that say the same, the surer one is kept; of too many, the surest and oldest.
    fn add(&mut self, candidate: Candidate) {
        let terms = candidate.terms();
        if let Some(same) = self.list.iter_mut().find(|(_, known)| is_same(known, &terms)) {
            if same.0.weight < candidate.weight {
                *same = (candidate, terms);
            }
            return;
        }
        self.list.push((candidate, terms));
        if self.list.len() > MAX_CANDIDATES {
            let places = self.list.iter().enumerate().rev();
            let least = places
                .min_by_key(|(_, (one, _))| one.weight)
                .map(|(place, _)| place);
            self.list.remove(least.unwrap_or(0));
        }
    }
}

/// Whether two candidates with these terms, which are sorted, say the same in similar words.
fn is_same(one: &[String], other: &[String]) -> bool {
    let shared = one
        .iter()
        .filter(|term| other.binary_search(term).is_ok())
        .count();
    shared * 10 >= one.len().min(other.len()) * SAME_TENTHS
}

impl Candidate {
    fn into_decision(self) -> Decision {
        Decision {
            choice: self.choice,
            reason: self.reason,
        }
    }

    fn terms(&self) -> Vec<String> {
        let text = format!("{} {}", self.choice, self.reason);
        let mut terms = Vec::new();
        for word in words(&text) {
            if word.raw.chars().any(is_unspaced) {
                terms.extend(word.raw.chars().map(String::from));
            } else {
                terms.push(word.folded);
            }
        }
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

/// Whether a letter is of a script without spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// The possible decisions of a text, in order.
fn candidates(source: Source, text: &str) -> Vec<Candidate> {
    let cleaned = clean(text);
    // Pasted logs decide nothing.
    let text = match source {
        Source::Prompt | Source::Answer => cleaned.best(),
        _ => cleaned.whole.as_str(),
    };
    let is_report = source == Source::Report;
    let mut source = if is_report { Source::Closing } else { source };
    if source == Source::Answer {
        if words(text).len() <= MAX_ANSWER_WORDS {
            let found = spaced::answer(text).or_else(|| unspaced::answer(text));
            return found.and_then(sound).into_iter().collect();
        }
        // A prompt of its own, whatever was asked before it.
        source = Source::Prompt;
    }
    let text = match source {
        Source::Commit => commit::without_trailers(text),
        _ => text.to_owned(),
    };
    let units = units(&text);
    // A list before a question offers its items: nothing was chosen.
    let offers = source == Source::Closing && ends_with_question(text.trim_end());
    let mut found = Vec::new();
    for (place, unit) in units.iter().enumerate() {
        if offers && unit.is_item && unit.label.is_none() && !unit.is_in_section {
            continue;
        }
        let next = units.get(place + 1);
        let one = of_unit((source, is_report), unit, next)
            .filter(|one| words(&one.choice).len() <= MAX_CHOICE_WORDS);
        found.extend(one.and_then(tidied).and_then(sound));
    }
    if found.is_empty() && source == Source::Commit {
        found.extend(commit::subject_and_body(&text).and_then(tidied));
    }
    found
}

fn of_unit((source, is_report): (Source, bool), unit: &Unit, next: Option<&Unit>) -> Option<Candidate> {
    if let Some(reason) = &unit.reason {
        return Some(Candidate {
            choice: unit.text.clone(),
            reason: reason.clone(),
            weight: 4,
        });
    }
    if unit.label == Some(Label::Reason) || ends_with_question(&unit.text) || unit.text.ends_with(':') {
        return None;
    }
    let is_announced = unit.label == Some(Label::Decision) || unit.is_in_section;
    let context = Context {
        source,
        is_report,
        is_announced,
        is_item: unit.is_item,
    };
    // A reason of its own: "Decision: …" and then "Reason: …".
    let labelled = next
        .filter(|next| next.label == Some(Label::Reason))
        .map(|next| next.text.as_str());
    if let Some(reason) = labelled
        && (is_announced || spaced::is_choice(&unit.text, context) || unspaced::is_choice(&unit.text))
    {
        return Some(Candidate {
            choice: unit.text.clone(),
            reason: reason.to_owned(),
            weight: 4,
        });
    }
    let next = next
        .filter(|next| next.label.is_none())
        .map(|next| next.text.as_str());
    let found = if unit.text.chars().any(is_unspaced) {
        unspaced::decision(&unit.text, next, context)
    } else {
        spaced::decision(&unit.text, next, context)
    };
    found.map(|mut one| {
        one.weight += u8::from(is_announced);
        one
    })
}

/// What is known of a sentence.
#[derive(Clone, Copy, Debug)]
struct Context {
    source: Source,
    /// The text tells of work that changed something.
    is_report: bool,
    /// A label or a heading says that it is a decision.
    is_announced: bool,
    /// It begins a list item.
    is_item: bool,
}

/// A candidate without stray punctuation, within its limits; `None` if nothing is left of a part.
fn tidied(candidate: Candidate) -> Option<Candidate> {
    let tidy = |text: &str| {
        let stray = [
            ',', '.', ';', ':', '-', '—', '–', '(', ')', ' ', '、', '，', '。', '：', '；',
        ];
        shorten(&quoted_whole(text.trim().trim_matches(stray)), MAX_CHARACTERS)
    };
    let (choice, reason) = (tidy(&candidate.choice), tidy(&candidate.reason));
    let is_enough = |text: &str, least: usize| {
        let letters = text.chars().filter(|letter| is_unspaced(*letter)).count();
        letters >= 2 * least || words(text).len() >= least
    };
    // "Because of XSS" names a reason.
    let is_name = |text: &str| {
        text.len() > 1
            && text
                .chars()
                .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
    };
    let has_reason = is_enough(&reason, 2) || candidate.weight >= 3 && is_name(&reason);
    (is_enough(&choice, 1) && has_reason && fold(&choice) != fold(&reason)).then_some(Candidate {
        choice,
        reason,
        ..candidate
    })
}

/// A part of a sentence with both backticks around a name: it may begin or end inside one.
fn quoted_whole(text: &str) -> Cow<'_, str> {
    if text.matches('`').count().is_multiple_of(2) {
        return Cow::Borrowed(text);
    }
    let closes_first = text
        .find('`')
        .is_some_and(|at| at > 0 && !text[..at].contains(char::is_whitespace));
    let opens_last = text
        .rfind('`')
        .is_some_and(|at| at + 1 < text.len() && !text[at + 1..].contains(char::is_whitespace));
    match (closes_first, opens_last) {
        (true, _) => Cow::Owned(format!("`{text}")),
        (_, true) => Cow::Owned(format!("{text}`")),
        _ => Cow::Owned(text.replace('`', "")),
    }
}

/// A candidate that reads as a decision: neither part is an order to someone, an example, or a line of a log.
fn sound(candidate: Candidate) -> Option<Candidate> {
    let is_log = |text: &str| {
        let mut parts = text.split(|letter: char| !matches!(letter, '0'..='9' | ':'));
        let time =
            parts.any(|part| part.len() == 8 && part.bytes().filter(|byte| *byte == b':').count() == 2);
        time || text.contains(['✖', '✗', '│'])
    };
    let is_torn = |text: &str| {
        let count = |mark: char| text.matches(mark).count();
        count('"') % 2 == 1 || count('(') > count(')')
    };
    let reason = words(&candidate.reason);
    let is_aside = any_at(lexicon::ASIDES, &reason, 0).is_some();
    (!is_aside && !is_torn(&candidate.choice) && !is_log(&candidate.choice) && !is_log(&candidate.reason))
        .then_some(candidate)
}

/// Whether one of these sorted entries occurs.
fn has_any(table: &[&str], words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| any_at(table, words, at).is_some())
}

pub(crate) use commit::message as commit_message;

#[cfg(test)]
mod tests;
