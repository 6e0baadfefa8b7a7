//! Detects prompt injection in memories: text that instructs the agent instead of describing work, impersonates the system,
//! hides characters or asks for secrets.
//!
//! Patterns match several words: "you must run the migrations before the tests" is knowledge, "ignore all previous
//! instructions" is an injection. `grov memory audit` lists the findings. A memory with a finding that
//! [`is_order`](SuspicionKind::is_order) is still found by a search, but all of it is withheld from agents until a user
//! edits it: the author of one field could have written the others, and the id would lead the agent to the text.

mod patterns;
mod phrases;

use crate::quote::{is_hidden, line};
use grov_domain::Task;

/// Maximum number of bytes of a memory checked before it is rendered; far fewer are rendered.
const MAX_CHECKED_BYTES: usize = 64 * 1024;
/// Maximum characters of an excerpt.
const MAX_EXCERPT: usize = 120;
/// Bytes of an excerpt before the match.
const CONTEXT_BYTES: usize = 24;

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
    /// It tells the reader to work without checks or permissions.
    Unchecked,
    /// It has a long run of encoded data.
    Blob,
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
            Self::Unchecked => "unchecked",
            Self::Blob => "blob",
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
            Self::Unchecked => "tells the agent to work without checks or permission",
            Self::Blob => "has a long run of encoded data",
        }
    }

    /// Whether a memory with it is withheld from agents. Unchecked work (teams do agree on "commit with --no-verify, the hook is
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
}

/// The suspicions in a memory: the first of each kind in each field.
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

/// Whether a memory is withheld from agents. Checks its first [`MAX_CHECKED_BYTES`] bytes.
pub(crate) fn is_withheld(task: &Task) -> bool {
    let mut left = MAX_CHECKED_BYTES;
    fields(task).iter().any(|(_, text)| {
        let read = &text[..text.floor_char_boundary(left)];
        left -= read.len();
        instructs_agent(read)
    })
}

/// Whether a text instructs the agent.
pub(crate) fn instructs_agent(text: &str) -> bool {
    found_in(text).iter().any(|(kind, _)| kind.is_order())
}

/// The free-text fields of a memory; those that are rendered come first.
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

/// Each kind found in a text, with the byte offset of its first match.
fn found_in(text: &str) -> Vec<(SuspicionKind, usize)> {
    let mut found = phrases::NormalizedText::of(text).phrases();
    found.extend(patterns::tags(text).map(|at| (SuspicionKind::Impersonation, at)));
    found.extend(patterns::hidden(text).map(|at| (SuspicionKind::Hidden, at)));
    found.extend(patterns::download(text).map(|at| (SuspicionKind::Download, at)));
    found.extend(patterns::blob(text).map(|at| (SuspicionKind::Blob, at)));
    found.sort_unstable();
    found.dedup_by_key(|(kind, _)| *kind);
    found
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
