//! File edits with their positions, taken from the results of tools.

use super::line::{Line, Message};
use super::{MAX_SAID, speaker};
use crate::has_word;
use crate::redacted_call::redacted;
use grov_domain::{AgentId, end_of};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use time::OffsetDateTime;

/// The number of lines above an edit that are searched for the enclosing symbol.
const MAX_LINES: usize = 400;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The id of the tool call.
    pub tool_use_id: Option<String>,
    /// The subagent that made the change; `None` for the main conversation.
    pub agent: Option<AgentId>,
    /// The absolute path of the file.
    pub file: String,
    /// The file did not exist before.
    pub is_new: bool,
    /// The first and last changed line, counted from 1 in the changed file, if the client reports them.
    pub lines: Option<(u32, u32)>,
    /// The function, type or section that contains the change.
    pub symbol: Option<String>,
    /// The new text.
    pub code: String,
    /// The assistant's last text before the change: its last 1,000 characters.
    pub said: Option<String>,
    /// The time of the change.
    pub at: Option<OffsetDateTime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(borrow)]
    file_path: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    new_string: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    original_file: Option<Cow<'a, str>>,
    #[serde(default)]
    structured_patch: Vec<Hunk>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hunk {
    old_start: u32,
    new_start: u32,
    new_lines: u32,
    #[serde(default)]
    lines: Vec<String>,
}

/// The edits in a transcript, in order. Failed and denied calls are left out.
pub fn edits(bytes: &[u8]) -> Vec<Edited> {
    let mut said: HashMap<String, String> = HashMap::new();
    let mut found = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(line) = Line::parse(line) else { continue };
        match (line.kind().as_deref(), line.message()) {
            (Some("assistant"), Some(message)) => {
                if let Some(text) = last_text(&message) {
                    said.insert(speaker(&line), text);
                }
            }
            (Some("user"), Some(message)) => {
                let said = said.get(&speaker(&line)).cloned();
                found.extend(of_line(&line, &message, said));
            }
            _ => {}
        }
    }
    found
}

fn last_text(message: &Message<'_>) -> Option<String> {
    let blocks = message.blocks();
    let mut texts = blocks.iter().rev().filter_map(|block| block.text());
    let text = texts.find(|text| !text.trim().is_empty())?;
    Some(end_of(&redacted(text.trim()), MAX_SAID).to_owned())
}

fn of_line(line: &Line<'_>, message: &Message<'_>, said: Option<String>) -> Vec<Edited> {
    let Some(written) = line.result::<Written<'_>>() else {
        return Vec::new();
    };
    let result = message
        .blocks()
        .into_iter()
        .find(|block| block.tool_use_id().is_some());
    let Some(result) = result.filter(|result| !result.is_error()) else {
        return Vec::new();
    };
    // Results of reads have other fields.
    let is_write = written.new_string.is_some() || written.content.is_some();
    if !is_write {
        return Vec::new();
    }
    let original = written.original_file.as_deref();
    let whole = Edited {
        tool_use_id: result.tool_use_id().map(Cow::into_owned),
        agent: line.agent(),
        file: redacted(&written.file_path).into_owned(),
        is_new: original.is_none() && written.content.is_some(),
        lines: None,
        symbol: None,
        code: String::new(),
        said,
        at: line.timestamp(),
    };
    if written.structured_patch.is_empty() {
        let code = written.new_string.or(written.content).unwrap_or_default();
        let lines = u32::try_from(code.lines().count())
            .ok()
            .filter(|lines| *lines > 0);
        return vec![Edited {
            lines: lines.filter(|_| whole.is_new).map(|lines| (1, lines)),
            symbol: if whole.is_new {
                None
            } else {
                code.lines().find_map(symbol)
            },
            code: code.into_owned(),
            ..whole
        }];
    }
    let of_hunk = |hunk: &Hunk| {
        let (first, last) = hunk.changed();
        Edited {
            lines: Some((first, last)),
            symbol: hunk.symbol(original),
            code: hunk.code(),
            ..whole.clone()
        }
    };
    written.structured_patch.iter().map(of_hunk).collect()
}

impl Hunk {
    /// The first and last changed line in the new file. For a deletion, the line that followed.
    fn changed(&self) -> (u32, u32) {
        let mut at = self.new_start;
        let mut changed: Option<(u32, u32)> = None;
        for line in &self.lines {
            match line.as_bytes().first() {
                Some(b'+') => {
                    changed = Some((changed.map_or(at, |(first, _)| first), at));
                    at += 1;
                }
                Some(b'-') => changed = changed.or(Some((at, at))),
                Some(b'\\') => {}
                _ => at += 1,
            }
        }
        let whole = (self.new_start, self.new_start + self.new_lines.saturating_sub(1));
        changed.unwrap_or(whole)
    }

    /// The added lines.
    fn code(&self) -> String {
        let added = self.lines.iter().filter_map(|line| line.strip_prefix('+'));
        added.collect::<Vec<_>>().join("\n")
    }

    /// The symbol that contains the change: the nearest definition at or above its first line.
    fn symbol(&self, original: Option<&str>) -> Option<String> {
        let changed = self.lines.iter().position(|line| line.starts_with(['+', '-']));
        let changed = changed.unwrap_or(0);
        let own = self.lines[changed..]
            .iter()
            .take_while(|line| line.starts_with(['+', '-']));
        let added = own.filter_map(|line| line.strip_prefix('+'));
        if let Some(symbol) = added.clone().take(1).find_map(symbol) {
            return Some(symbol);
        }
        let above = self.lines[..changed]
            .iter()
            .rev()
            .filter_map(|line| line.get(1..));
        if let Some(symbol) = above.into_iter().find_map(enclosing) {
            return Some(symbol);
        }
        let before = original.map(|text| {
            let lines: Vec<&str> = text
                .lines()
                .take(self.old_start.saturating_sub(1) as usize)
                .collect();
            lines.into_iter().rev().take(MAX_LINES).find_map(enclosing)
        });
        before.flatten().or_else(|| added.into_iter().find_map(symbol))
    }
}

/// The name that a line defines for the lines below it. A definition that ends on its own line encloses nothing.
fn enclosing(line: &str) -> Option<String> {
    symbol(line).filter(|_| !line.trim_end().ends_with([';', '}']))
}

/// The name that a line defines: in most languages a keyword is followed by the name.
fn symbol(line: &str) -> Option<String> {
    const INTRODUCING: &str = "fn def class function func struct enum trait interface impl module mod namespace type record \
        object protocol extension macro_rules! sub proc defmodule defp contract";
    const BEFORE: &str = "pub async const unsafe export default static public private protected abstract final override \
        virtual inline extern data sealed open internal suspend declare partial local";
    let trimmed = line.trim_start();
    if let Some(heading) = trimmed.strip_prefix('#') {
        let heading = heading.trim_start_matches('#');
        let is_heading = heading.starts_with(' ') && line.starts_with('#');
        return is_heading
            .then(|| bounded(&redacted(heading.trim())))
            .filter(|text| !text.is_empty());
    }
    let mut words = trimmed.split_whitespace();
    let mut word = words.next()?;
    while has_word(BEFORE, word) || word.starts_with("pub(") {
        word = words.next()?;
    }
    // `function*`, `impl<T>`.
    let introducing = word.trim_end_matches('*');
    let introducing = introducing.split_once('<').map_or(introducing, |(word, _)| word);
    if !has_word(INTRODUCING, introducing) {
        return None;
    }
    let rest: Vec<&str> = words.collect();
    if introducing == "impl" {
        let of = rest.iter().position(|word| *word == "for").map_or(0, |at| at + 1);
        return rest.get(of).and_then(|word| name(word));
    }
    // In Go the receiver precedes the name of a method.
    let rest = rest.join(" ");
    let rest = match rest.strip_prefix('(') {
        Some(receiver) if introducing == "func" => receiver.split_once(')').map_or("", |(_, rest)| rest),
        _ => &rest,
    };
    name(rest.trim_start())
}

/// The identifier at the beginning of a text.
fn name(text: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.' | ':');
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches([':', '.']);
    let begins = name.starts_with(|letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$'));
    begins.then(|| bounded(name))
}

fn bounded(text: &str) -> String {
    text.chars().take(120).collect()
}
