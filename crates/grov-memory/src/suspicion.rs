//! Detects prompt injection in memories: text that instructs the agent instead of describing work, impersonates the system,
//! hides characters or asks for secrets.
//!
//! [`meaning`] reads what the words of a memory mean, in twelve languages, and which of it is harm together; the other modules
//! read commands, addresses, tags, hidden characters and disguises. Phrases match several words: "you must run the migrations
//! before the tests" is knowledge, "ignore all previous instructions" is an injection. What is ordinary by itself counts only together with something else in a nearby sentence
//! ([`COMBINATIONS`]): "push to main" with "without asking the user". Text that the memory quotes as an example does not
//! count. `grov memory audit` lists the findings. A memory with a finding that
//! [`is_order`](SuspicionKind::is_order) is still found by a search, but all of it is withheld from agents until a user
//! edits or trusts it: the author of one field could have written the others, and the id would lead the agent to the text.

mod address;
mod commands;
mod disguise;
mod features;
mod hosts;
mod look_alikes;
mod meaning;
mod mention;
mod patterns;
mod phrases;
mod screening;
mod secret_files;

use crate::model_screening::verdict;
use crate::quote::{is_hidden, line};
use address::Address;
use commands::{Command, commands};
pub(crate) use features::{COMBINATIONS, Feature, Finding};
use grov_domain::{Harm, HarmKind, JudgedBy, Task};
use mention::{Quotations, is_about_texts, is_rejected};
use phrases::{NormalizedText, PhraseMatch};
pub(crate) use screening::add_texts;
pub use screening::{rescreen, screened};
use std::collections::{BTreeSet, HashSet};

/// Maximum number of bytes of a memory checked before it is rendered; far fewer are rendered.
const MAX_CHECKED_BYTES: usize = 64 * 1024;
/// Maximum characters of an excerpt.
const MAX_EXCERPT: usize = 120;
/// Bytes of an excerpt before the match.
const CONTEXT_BYTES: usize = 24;
/// The distance in sentences within which two features count together.
const NEARBY: usize = 3;

/// What is suspicious about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuspicionKind {
    /// It tells the reader to ignore its instructions, to take a role, or to hide something from the user.
    Order,
    /// It has tags or lines that impersonate the system, the client, a speaker or Grov.
    Impersonation,
    /// It has invisible characters.
    Hidden,
    /// It asks for secrets to be sent or shown.
    Exfiltration,
    /// It downloads and runs code.
    Download,
    /// It takes packages or code from another source.
    Redirection,
    /// It is disguised: digits for letters, spaced letters, backwards, encoded.
    Disguise,
    /// It tells the reader to work without checks or permissions.
    Unchecked,
    /// It has a long run of encoded data.
    Blob,
    /// It falsifies results or weakens the product. Only a model finds it.
    Sabotage,
}

impl SuspicionKind {
    /// The name in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Impersonation => "impersonation",
            Self::Hidden => "hidden",
            Self::Exfiltration => "exfiltration",
            Self::Download => "download",
            Self::Redirection => "redirection",
            Self::Disguise => "disguise",
            Self::Unchecked => "unchecked",
            Self::Blob => "blob",
            Self::Sabotage => "sabotage",
        }
    }

    /// A description for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Order => "instructs the agent",
            Self::Impersonation => "impersonates the system, the client, a speaker or Grov",
            Self::Hidden => "has invisible characters",
            Self::Exfiltration => "asks for secrets to be sent or shown",
            Self::Download => "downloads and runs code",
            Self::Redirection => "takes packages or code from another source",
            Self::Disguise => "instructs the agent in disguise",
            Self::Unchecked => "tells the agent to work without checks or permission",
            Self::Blob => "has a long run of encoded data",
            Self::Sabotage => "falsifies results or weakens the product",
        }
    }

    /// Whether a memory in which rules find it is withheld from agents. Unchecked work (teams do agree on "commit with --no-verify, the hook is
    /// broken") and encoded data are only reported to people.
    pub fn is_order(self) -> bool {
        !matches!(self, Self::Unchecked | Self::Blob)
    }
}

/// A suspicious text in a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// The field as named in an export, with the index in a list: `decisions[0].reason`.
    pub field: String,
    /// The text around the match on one line, without hidden characters, tags and secrets.
    pub excerpt: String,
    /// The kind.
    pub kind: SuspicionKind,
    /// Who found it.
    pub by: JudgedBy,
}

impl Suspicion {
    /// Whether a memory with it is withheld from agents.
    pub fn withholds(&self) -> bool {
        self.by == JudgedBy::Model || self.kind.is_order()
    }
}

impl From<HarmKind> for SuspicionKind {
    fn from(kind: HarmKind) -> Self {
        match kind {
            HarmKind::Order => Self::Order,
            HarmKind::Impersonation => Self::Impersonation,
            HarmKind::Exfiltration => Self::Exfiltration,
            HarmKind::Download => Self::Download,
            HarmKind::Redirection => Self::Redirection,
            HarmKind::Disguise => Self::Disguise,
            HarmKind::Unchecked => Self::Unchecked,
            HarmKind::Sabotage => Self::Sabotage,
        }
    }
}

/// The suspicions in a memory: the first of each kind in each field, and what a model found. None in a text that the user
/// trusts.
pub fn suspicions(task: &Task) -> Vec<Suspicion> {
    match verdict(task) {
        Some(verdict) if verdict.trusted => Vec::new(),
        Some(verdict) => {
            let mut found = found_by_rules(task);
            found.extend(verdict.harms.iter().map(|harm| found_by_model(task, harm)));
            found
        }
        None => found_by_rules(task),
    }
}

/// What a model found, in the field that has its words.
fn found_by_model(task: &Task, harm: &Harm) -> Suspicion {
    let words = |text: &str| -> String {
        let letters = text.chars().filter(|character| character.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    // A quotation may leave something out.
    let first = harm.quote.split(['\u{2026}']).next().unwrap_or_default();
    let quoted = words(first.split("...").next().unwrap_or_default());
    let fields = fields(task);
    let field = fields.iter().find(|(_, text)| words(text).contains(&quoted));
    Suspicion {
        field: field.map_or_else(|| "memory".to_owned(), |(name, _)| name.clone()),
        excerpt: line(&harm.quote, MAX_EXCERPT),
        kind: harm.kind.into(),
        by: JudgedBy::Model,
    }
}

fn found_by_rules(task: &Task) -> Vec<Suspicion> {
    let fields = fields(task);
    let texts: Vec<&str> = fields.iter().map(|(_, text)| *text).collect();
    found_in(&texts)
        .into_iter()
        .filter_map(|(place, kind, at)| {
            let (field, text) = fields.get(place)?;
            Some(Suspicion {
                field: field.clone(),
                excerpt: excerpt(text, at),
                kind,
                by: JudgedBy::Rules,
            })
        })
        .collect()
}

/// The suspicions in a text from outside: the first of each kind, in its first 64 KiB. The field is `place`.
pub fn suspicions_in(place: &str, text: &str) -> Vec<Suspicion> {
    let text = &text[..text.floor_char_boundary(MAX_CHECKED_BYTES)];
    let found = found_in(&[text]).into_iter();
    found
        .map(|(_, kind, at)| Suspicion {
            field: place.to_owned(),
            excerpt: excerpt(text, at),
            kind,
            by: JudgedBy::Rules,
        })
        .collect()
}

/// Whether a memory is withheld from agents: a model found harm in it, or rules do. The user's word overrules both. Rules check
/// its first [`MAX_CHECKED_BYTES`] bytes, unless [`screened`] did.
pub(crate) fn is_withheld(task: &Task) -> bool {
    if let Some(verdict) = verdict(task) {
        return !verdict.trusted;
    }
    if screening::is_screened(task) {
        return false;
    }
    is_found_to_order(task)
}

fn is_found_to_order(task: &Task) -> bool {
    let mut left = MAX_CHECKED_BYTES;
    let fields = fields(task);
    let texts: Vec<&str> = fields
        .iter()
        .map(|(_, text)| {
            let read = &text[..text.floor_char_boundary(left)];
            left -= read.len();
            read
        })
        .collect();
    found_in(&texts).iter().any(|(_, kind, _)| kind.is_order())
}

/// Whether a text instructs the agent.
pub(crate) fn instructs_agent(text: &str) -> bool {
    found_in(&[text]).iter().any(|(_, kind, _)| kind.is_order())
}

/// The free-text fields of a memory; those that are rendered come first.
pub(crate) fn fields(task: &Task) -> Vec<(String, &str)> {
    let mut fields = vec![("original_query".to_owned(), task.original_query.as_str())];
    fields.extend(task.goal.as_deref().map(|goal| ("goal".to_owned(), goal)));
    for (place, decision) in task.decisions.iter().enumerate() {
        fields.push((format!("decisions[{place}].choice"), &decision.choice));
        fields.push((format!("decisions[{place}].reason"), &decision.reason));
    }
    let lists = [
        ("constraints", &task.constraints),
        ("tags", &task.tags),
        ("files_touched", &task.files_touched),
        ("reasoning_trace", &task.reasoning_trace),
    ];
    for (name, texts) in lists {
        let named = texts.iter().enumerate();
        fields.extend(named.map(|(place, text)| (format!("{name}[{place}]"), text.as_str())));
    }
    fields.extend(task.user.as_deref().map(|user| ("user".to_owned(), user)));
    fields
}

/// A feature in a text.
struct Sighting {
    feature: Feature,
    /// The position of the text.
    place: usize,
    at: usize,
    sentence: usize,
}

/// The first of each kind in each text: the position of the text, the kind, and the byte offset.
fn found_in(texts: &[&str]) -> Vec<(usize, SuspicionKind, usize)> {
    let mut found = Vec::new();
    let mut sightings: Vec<Sighting> = Vec::new();
    let mut sentences = 0;
    let is_about = is_about_texts(texts);
    let agents_are_people = mention::are_agents_people(texts);
    let quotations: Vec<Quotations<'_>> = texts.iter().map(|text| Quotations::of(text, is_about)).collect();
    for (place, text) in texts.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        let normalized = NormalizedText::of(text);
        let quoted = &quotations[place];
        let mut add = |finding, at, sentence: usize| match finding {
            Finding::Kind(kind) => found.push((place, kind, at)),
            Finding::Feature(feature) => sightings.push(Sighting {
                feature,
                place,
                at,
                sentence: sentences + sentence,
            }),
        };
        let phrases = normalized.phrases(agents_are_people);
        for phrase in &phrases {
            if !quoted.has_mention(phrase.at) {
                add(phrase.finding, phrase.at, phrase.sentence);
            }
        }
        // A text has one address, at its beginning, and few commands: they count as if in all of its sentences.
        let last = normalized.sentences().saturating_sub(1);
        let mut add_all = |finding, at| {
            add(finding, at, 0);
            if last > 0 {
                add(finding, at, last);
            }
        };
        let is_meant = |address: &(Address, usize)| {
            let is_person = agents_are_people && address.0 == Address::Possible;
            !is_person && !quoted.has_mention(address.1)
        };
        if let Some((address, at)) = address::addressed(text).filter(is_meant) {
            add_all(address.finding(), at);
            add_all(Finding::Feature(Feature::Named), at);
        }
        for (command, at) in commands(text) {
            let is_example = is_about && (quoted.has_mention(at) || mention::is_narrated(text, at));
            if !is_example && !is_rejected(text, at) {
                add_all(command.finding(), at);
            }
        }
        let patterns = [
            (SuspicionKind::Impersonation, patterns::tags(text, quoted)),
            (SuspicionKind::Impersonation, address::posed_notice(text)),
            (SuspicionKind::Exfiltration, patterns::leaking_address(text)),
            (SuspicionKind::Impersonation, patterns::posed_message(text)),
            (SuspicionKind::Disguise, patterns::mixed_words(text)),
            (SuspicionKind::Hidden, patterns::hidden(text)),
            (SuspicionKind::Blob, patterns::blob(text)),
        ];
        found.extend(
            patterns
                .into_iter()
                .filter_map(|(kind, at)| Some((place, kind, at?))),
        );
        if disguise::is_disguised(text) || says_more_in_disguise(text, &phrases) {
            found.push((place, SuspicionKind::Disguise, 0));
        }
        sentences += last + 1;
    }
    combine(&sightings, &mut found);
    let quotations: Vec<Quotations<'_>> = texts.iter().map(|text| Quotations::of(text, is_about)).collect();
    found.extend(meaning::harms(texts, &quotations));
    found.sort_unstable();
    found.dedup_by_key(|(place, kind, _)| (*place, *kind));
    found
}

impl Address {
    fn finding(self) -> Finding {
        match self {
            Self::Certain => Finding::Kind(SuspicionKind::Order),
            Self::Possible => Finding::Feature(Feature::Addressed),
        }
    }
}

impl Command {
    fn finding(self) -> Finding {
        match self {
            Self::Download => Finding::Kind(SuspicionKind::Download),
            Self::Installer => Finding::Feature(Feature::Installer),
            Self::Secret => Finding::Kind(SuspicionKind::Exfiltration),
            Self::UncheckedSource => Finding::Kind(SuspicionKind::Redirection),
            Self::ForeignSource => Finding::Feature(Feature::ForeignSource),
        }
    }
}

/// Adds the combinations of features, at the place of the second one.
fn combine(sightings: &[Sighting], found: &mut Vec<(usize, SuspicionKind, usize)>) {
    for (kind, ones, others) in COMBINATIONS {
        let ones = sightings.iter().filter(|one| ones.contains(&one.feature));
        let sentences: BTreeSet<usize> = ones.map(|one| one.sentence).collect();
        for other in sightings.iter().filter(|other| others.contains(&other.feature)) {
            let near = other.sentence.saturating_sub(NEARBY)..=other.sentence + NEARBY;
            if sentences.range(near).next().is_some() {
                found.push((other.place, *kind, other.at));
            }
        }
    }
}

/// Whether a disguised reading of a text says something suspicious that the plain text does not say.
fn says_more_in_disguise(text: &str, plain: &[PhraseMatch]) -> bool {
    let is_strong = |finding: Finding| match finding {
        Finding::Kind(kind) => kind.is_order(),
        Finding::Feature(feature) => {
            use Feature::*;
            matches!(feature, Disarmed | Weakened | Destroyed | Concealed | Sent)
        }
    };
    let plain: HashSet<Finding> = plain.iter().map(|one| one.finding).collect();
    let more = |reading: &String| -> HashSet<Finding> {
        let said = NormalizedText::of(reading).phrases(false).into_iter();
        said.map(|one| one.finding)
            .filter(|finding| is_strong(*finding) && !plain.contains(finding))
            .collect()
    };
    let is_kind = |finding: &Finding| matches!(finding, Finding::Kind(_));
    let is_addressed = |text: &str| matches!(address::addressed(text), Some((Address::Certain, _)));
    let readings = disguise::readings(text);
    let turned = disguise::turned(text);
    let mut meant = None;
    let mut means_more = |reading: &String| {
        let harms = meaning::harms(&[reading.as_str()], &[]).len();
        harms > 0 && harms > *meant.get_or_insert_with(|| meaning::harms(&[text], &[]).len())
    };
    readings.iter().chain(&turned).any(&mut means_more)
        || readings
            .iter()
            .any(|reading| !more(reading).is_empty() || is_addressed(reading) && !is_addressed(text))
        || turned.iter().any(|reading| {
            let more = more(reading);
            more.len() > 1 || more.iter().any(is_kind)
        })
}

fn excerpt(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(CONTEXT_BYTES));
    let end = text.floor_char_boundary((at + 8 * MAX_EXCERPT).min(text.len()));
    let excerpt = line(&text[start..end], MAX_EXCERPT);
    if excerpt.is_empty() {
        let hidden = text[start..end]
            .chars()
            .filter(|character| is_hidden(*character))
            .count();
        return format!("({hidden} hidden characters)");
    }
    excerpt
}

#[cfg(test)]
mod tests;
