//! What fills a context window, by tool and by file.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The number of largest parts that are named.
pub const MAX_LARGEST: usize = 10;
/// The number of kinds and tools that are named. The others are added up.
const MAX_TOOLS: usize = 24;
/// Name of the rest.
const OTHERS: &str = "others";
/// Tokens of an image or a page, whose bytes say nothing about its tokens: the API's maximum for an image.
const MEDIA_TOKENS: u64 = 1_600;
/// Bytes per token without a usage to compare with.
const BYTES_PER_TOKEN: u64 = 4;

/// The kind of a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// The system prompt.
    System,
    /// The definitions of the tools.
    Definitions,
    /// Texts of the user and of the client: prompts, reminders, summaries.
    User,
    /// Texts of the assistant.
    Assistant,
    /// Reasoning of the assistant.
    Thinking,
    /// Calls of a tool and their results.
    Tool(String),
}

impl PartKind {
    /// The name that is shown.
    pub fn name(&self) -> &str {
        match self {
            Self::System => "system prompt",
            Self::Definitions => "tool definitions",
            Self::User => "prompts and reminders",
            Self::Assistant => "answers",
            Self::Thinking => "thinking",
            Self::Tool(name) => name,
        }
    }
}

/// A part of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPart {
    /// Its kind.
    pub kind: PartKind,
    /// What it is about: a file, a command. Empty if that is unknown.
    pub subject: String,
    /// Its size as it is sent, in bytes, without media.
    pub bytes: u64,
    /// Its images and pages.
    pub media: u64,
}

/// The share of a context, by tool or by subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The tool, or the kind of other parts.
    pub tool: String,
    /// The file or command; empty in sums of a whole tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Estimated tokens.
    pub tokens: u64,
    /// Number of parts.
    pub parts: u64,
}

/// What fills a context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextContent {
    /// Shares by tool or kind, largest first.
    pub by_tool: Vec<Share>,
    /// The largest single parts, largest first: results for the same file or command are one part.
    pub largest: Vec<Share>,
}

impl ContextContent {
    /// Adds up parts. `tokens` are those of the whole context as the API reported them, to which the estimates are scaled;
    /// 0 if unknown.
    pub fn of(parts: impl IntoIterator<Item = ContentPart>, tokens: u64) -> Self {
        let mut by_tool: HashMap<String, Sum> = HashMap::new();
        let mut by_subject: HashMap<(String, String), Sum> = HashMap::new();
        let mut total = Sum::default();
        for part in parts {
            total.add(&part);
            let name = part.kind.name().to_owned();
            by_subject
                .entry((name.clone(), part.subject.clone()))
                .or_default()
                .add(&part);
            by_tool.entry(name).or_default().add(&part);
        }
        let scale = Scale::new(&total, tokens);
        let share = |tool: String, subject: String, sum: &Sum| Share {
            tool,
            subject,
            tokens: scale.tokens(sum),
            parts: sum.parts,
        };
        let tools = by_tool
            .into_iter()
            .map(|(tool, sum)| share(tool, String::new(), &sum));
        let mut by_tool = sorted(tools.collect());
        if by_tool.len() > MAX_TOOLS {
            let rest = by_tool.split_off(MAX_TOOLS - 1);
            by_tool.push(Share {
                tool: OTHERS.to_owned(),
                subject: String::new(),
                tokens: rest.iter().map(|share| share.tokens).sum(),
                parts: rest.iter().map(|share| share.parts).sum(),
            });
        }
        let subjects = by_subject
            .into_iter()
            .map(|((tool, subject), sum)| share(tool, subject, &sum));
        let mut largest = sorted(subjects.collect());
        largest.truncate(MAX_LARGEST);
        Self { by_tool, largest }
    }
}

fn sorted(mut shares: Vec<Share>) -> Vec<Share> {
    shares.retain(|share| share.tokens > 0);
    shares.sort_by(|one, other| {
        let by_size = other.tokens.cmp(&one.tokens);
        by_size.then_with(|| (&one.tool, &one.subject).cmp(&(&other.tool, &other.subject)))
    });
    shares
}

#[derive(Default)]
struct Sum {
    bytes: u64,
    media: u64,
    parts: u64,
}

impl Sum {
    fn add(&mut self, part: &ContentPart) {
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.media = self.media.saturating_add(part.media);
        self.parts += 1;
    }
}

/// Converts bytes to tokens.
struct Scale {
    bytes: u128,
    tokens: u128,
}

impl Scale {
    fn new(total: &Sum, tokens: u64) -> Self {
        let text = tokens.saturating_sub(total.media.saturating_mul(MEDIA_TOKENS));
        if total.bytes == 0 || text == 0 {
            return Self {
                bytes: u128::from(BYTES_PER_TOKEN),
                tokens: 1,
            };
        }
        Self {
            bytes: u128::from(total.bytes),
            tokens: u128::from(text),
        }
    }

    fn tokens(&self, sum: &Sum) -> u64 {
        let text = u128::from(sum.bytes) * self.tokens / self.bytes;
        u64::try_from(text)
            .unwrap_or(u64::MAX)
            .saturating_add(sum.media.saturating_mul(MEDIA_TOKENS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(tool: &str, subject: &str, bytes: u64) -> ContentPart {
        ContentPart {
            kind: PartKind::Tool(tool.to_owned()),
            subject: subject.to_owned(),
            bytes,
            media: 0,
        }
    }

    #[test]
    fn bytes_become_tokens_of_the_reported_usage() {
        let parts = [
            part("Read", "a.rs", 3000),
            part("Read", "a.rs", 1000),
            part("Read", "b.rs", 1000),
            part("Bash", "cargo test", 5000),
        ];
        let content = ContextContent::of(parts, 2_500);
        let tools: Vec<_> = content
            .by_tool
            .iter()
            .map(|share| (share.tool.as_str(), share.tokens, share.parts))
            .collect();
        assert_eq!(tools, [("Bash", 1250, 1), ("Read", 1250, 3)]);
        let largest: Vec<_> = content
            .largest
            .iter()
            .map(|share| (share.subject.as_str(), share.tokens))
            .collect();
        assert_eq!(largest, [("cargo test", 1250), ("a.rs", 1000), ("b.rs", 250)]);
    }

    #[test]
    fn images_count_by_number_and_not_by_size() {
        let image = ContentPart {
            media: 2,
            ..part("Read", "shot.png", 100)
        };
        let content = ContextContent::of([image, part("Bash", "ls", 900)], 4_200);
        assert_eq!(content.largest[0].tokens, 3_300);
        assert_eq!(content.largest[1].tokens, 900);
    }

    #[test]
    fn many_tools_are_added_up_and_ten_parts_are_named() {
        let parts =
            (1..=60).map(|number| part(&format!("tool {number:02}"), &number.to_string(), number * 100));
        let content = ContextContent::of(parts, 0);
        assert_eq!(content.by_tool.len(), MAX_TOOLS);
        assert_eq!(content.by_tool[MAX_TOOLS - 1].tool, OTHERS);
        assert_eq!(content.by_tool.iter().map(|share| share.parts).sum::<u64>(), 60);
        assert_eq!(content.largest.len(), MAX_LARGEST);
        assert_eq!(content.largest[0].tokens, 1_500);
        assert_eq!(ContextContent::of([], 5_000), ContextContent::default());
    }
}
