//! Text in memories that speaks to the agent instead of telling what was done: orders, posing as the system, hidden
//! characters, requests for secrets.
//!
//! Patterns of words, not of single ones: "you must run the migrations before the tests" is knowledge, "ignore all previous
//! instructions" is none. What is found is shown by `grov memory audit`; a memory with something that is an order
//! ([`SuspicionKind::is_order`]) is not told to an agent until somebody edits it, although it is found by a search.
//! The whole memory, because who could write one of its fields could write the others, and because its id would lead the
//! agent to the text.

mod marks;
mod phrases;

use crate::quote::{is_hidden, line};
use grov_domain::Task;

/// Bytes of a memory that are looked at before it is told: far more than is told.
const READ_BEFORE_TELLING: usize = 64 * 1024;
/// Characters of an excerpt.
const EXCERPT: usize = 120;
/// Bytes before the place found that an excerpt begins with.
const BEFORE: usize = 24;

/// What is suspicious about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuspicionKind {
    /// It tells the reader to drop its instructions, to take a role, to keep something from the user.
    Order,
    /// It has tags or lines that pose as the system, the client, a speaker or Grov.
    Impersonation,
    /// It has characters that a person does not see.
    Hidden,
    /// It asks for secrets to be sent or shown.
    Exfiltration,
    /// It runs what it downloads.
    Download,
    /// It tells to work without checks or permissions.
    Unchecked,
    /// It has a long piece of encoded data.
    Blob,
}

impl SuspicionKind {
    /// The name that a script sees.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Impersonation => "impersonation",
            Self::Hidden => "hidden",
            Self::Exfiltration => "exfiltration",
            Self::Download => "download",
            Self::Unchecked => "unchecked",
            Self::Blob => "blob",
        }
    }

    /// What it means, for a person.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Order => "addresses the agent with an order",
            Self::Impersonation => "poses as the system, the client, a speaker or Grov",
            Self::Hidden => "holds characters that nobody sees",
            Self::Exfiltration => "asks for secrets to be sent or shown",
            Self::Download => "runs what it downloads",
            Self::Unchecked => "tells to work without checks or permission",
            Self::Blob => "holds a long piece of encoded data",
        }
    }

    /// Whether a memory with it is kept from agents. What teams really agree on ("commit with --no-verify, the hook is
    /// broken") and data that says nothing to a reader are shown to people alone.
    pub fn is_order(self) -> bool {
        !matches!(self, Self::Unchecked | Self::Blob)
    }
}

/// A suspicious text in a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// The field, as it is called in an export, with the place in a list: `decisions[0].reason`.
    pub field: String,
    /// The text around the place, made harmless: one line without hidden characters, tags and secrets.
    pub excerpt: String,
    /// What is suspicious.
    pub kind: SuspicionKind,
}

/// Everything suspicious in a memory: of each kind the first place in each field.
pub fn suspicions(task: &Task) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for (field, text) in fields(task) {
        for (kind, at) in found_in(text) {
            found.push(Suspicion {
                field: field.clone(),
                excerpt: excerpt(text, at),
                kind,
            });
        }
    }
    found
}

/// Whether a memory is kept from agents, as far as they would read.
pub(crate) fn is_withheld(task: &Task) -> bool {
    let mut left = READ_BEFORE_TELLING;
    fields(task).iter().any(|(_, text)| {
        let read = &text[..text.floor_char_boundary(left)];
        left -= read.len();
        addresses_the_agent(read)
    })
}

/// Whether a text is an order.
pub(crate) fn addresses_the_agent(text: &str) -> bool {
    found_in(text).iter().any(|(kind, _)| kind.is_order())
}

/// The free text of a memory, the parts that are told first.
fn fields(task: &Task) -> Vec<(String, &str)> {
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

/// Each kind that is in a text, with its first place in bytes.
fn found_in(text: &str) -> Vec<(SuspicionKind, usize)> {
    let visible = phrases::Visible::of(text);
    let mut found: Vec<(SuspicionKind, usize)> = visible.phrases();
    found.extend(marks::tags(text).map(|at| (SuspicionKind::Impersonation, at)));
    found.extend(marks::hidden(text).map(|at| (SuspicionKind::Hidden, at)));
    found.extend(marks::download(text).map(|at| (SuspicionKind::Download, at)));
    found.extend(marks::blob(text).map(|at| (SuspicionKind::Blob, at)));
    found.sort_unstable();
    found.dedup_by_key(|(kind, _)| *kind);
    found
}

fn excerpt(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(BEFORE));
    let end = text.floor_char_boundary((at + 8 * EXCERPT).min(text.len()));
    let excerpt = line(&text[start..end], EXCERPT);
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
