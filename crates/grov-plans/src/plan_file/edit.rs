//! Edits of a plan's text. Line ends, and all lines but the edited ones, stay as they are.

use super::Status;

/// The title of the section.
const SECTION: &str = "validation";

/// An entry of the Validation section.
pub(super) struct Entry {
    name: &'static str,
    value: String,
    items: Vec<String>,
}

impl Entry {
    pub(super) fn new(name: &'static str, value: String) -> Self {
        Self {
            name,
            value,
            items: Vec::new(),
        }
    }

    /// An entry with a list below it.
    pub(super) fn list(name: &'static str, items: Vec<String>) -> Self {
        let value = if items.is_empty() { "none" } else { "" };
        Self {
            name,
            value: value.to_owned(),
            items,
        }
    }

    fn lines(&self) -> Vec<String> {
        let first = format!("- {}: {}", self.name, self.value);
        let items = self.items.iter().map(|item| format!("  - {item}"));
        std::iter::once(first.trim_end().to_owned())
            .chain(items)
            .collect()
    }

    /// Whether a line is the first line of this entry.
    fn is(&self, line: &str) -> bool {
        let entry = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        let name = entry
            .and_then(|entry| entry.split_once(':'))
            .map(|(name, _)| name.trim());
        name.is_some_and(|name| name.trim_matches('*').eq_ignore_ascii_case(self.name))
    }
}

/// The lines of a text without their ends, and the end that the text uses.
struct Lines<'a> {
    lines: Vec<&'a str>,
    end: &'static str,
    /// Whether each line is in a fenced code block or an HTML comment.
    is_quoted: Vec<bool>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let end = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let is_quoted = quoted(&lines);
        Self {
            lines,
            end,
            is_quoted,
        }
    }

    fn visible(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let lines = self.lines.iter().copied().enumerate();
        lines.filter(|(at, _)| !self.is_quoted[*at])
    }

    /// The text with the lines of a range replaced. The new ones have no ends.
    fn replaced(&self, range: std::ops::Range<usize>, new: &[String]) -> String {
        let mut text: String = self.lines[..range.start].concat();
        if !new.is_empty() && !text.is_empty() && !text.ends_with('\n') {
            text.push_str(self.end);
        }
        for line in new {
            text.push_str(line);
            text.push_str(self.end);
        }
        text.push_str(&self.lines[range.end..].concat());
        text
    }
}

/// Whether each line is in a fenced code block or a comment. One that never ends is none.
fn quoted(lines: &[&str]) -> Vec<bool> {
    /// What the current line is in, and its first line.
    enum Open {
        Fence(&'static str, usize),
        Comment(usize),
    }
    let mut is_quoted = vec![false; lines.len()];
    let mut open: Option<Open> = None;
    for (at, line) in lines.iter().map(|line| line.trim()).enumerate() {
        let first = match open {
            Some(Open::Fence(marker, first)) if line.starts_with(marker) => first,
            Some(Open::Comment(first)) if line.contains("-->") => first,
            Some(_) => continue,
            None => {
                let marker = ["```", "~~~"].into_iter().find(|marker| line.starts_with(marker));
                // A comment that ends on its own line quotes nothing.
                let is_comment = line.rfind("<!--") > line.rfind("-->");
                open = match marker {
                    Some(marker) => Some(Open::Fence(marker, at)),
                    None => is_comment.then_some(Open::Comment(at)),
                };
                continue;
            }
        };
        is_quoted[first..=at].fill(true);
        open = None;
    }
    is_quoted
}

/// The level and title of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..).filter(|title| title.starts_with([' ', '\t']))?;
    (1..=6).contains(&level).then(|| (level, title.trim()))
}

/// The status of a line, as the bytes of its value; `None` if it is no status line: a heading, a bold label, or the label with
/// the word of a status or nothing.
fn status_value(line: &str) -> Option<std::ops::Range<usize>> {
    let start = line.len() - line.trim_start_matches(['#', ' ', '*', '-', '_']).len();
    let rest = &line[start..];
    let after = rest
        .get(..6)
        .filter(|word| word.eq_ignore_ascii_case("status"))?
        .len();
    let colon = rest[after..].find(|c| !matches!(c, '*' | '_' | ' '))?;
    let value = rest[after + colon..].strip_prefix(':')?;
    let value_start = line.len() - value.trim_start_matches([' ', '*', '_', '\t']).len();
    let value_end = line.trim_end().len().max(value_start);
    let is_bold = line[..start].ends_with("**") || line[..start].ends_with("__");
    let is_title = heading(line).is_some() || (is_bold && !is_item(line));
    // In any other form it may be a sentence of the user, such as `- Status: 404 if there is none`.
    (is_title || is_status_word(&line[value_start..value_end])).then_some(value_start..value_end)
}

/// Whether a line is an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    ["- ", "* "].iter().any(|marker| line.starts_with(marker))
}

/// Whether a value is empty or begins with the word of a status.
fn is_status_word(value: &str) -> bool {
    let words = [Status::Draft, Status::Validating, Status::Approved].map(Status::word);
    // A template may have brackets: [draft | validating | approved].
    let word = value.trim_start_matches(['[', '<', '`']);
    let first = word
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    value.is_empty() || words.iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// The status of a plan, and the text after it without its brackets.
pub(super) fn status(text: &str) -> (Status, Option<String>) {
    let lines = Lines::of(text);
    let value = lines
        .visible()
        .find_map(|(_, line)| Some(&line[status_value(line)?]));
    let Some(value) = value else {
        return (Status::Draft, None);
    };
    let end = value
        .find(|character: char| !character.is_ascii_alphabetic())
        .unwrap_or(value.len());
    let note = value[end..].trim().trim_matches(['*', '_']).trim();
    // The template names all words: draft | validating | approved.
    let status = match value[..end].to_ascii_lowercase().as_str() {
        _ if note.starts_with('|') => return (Status::Draft, None),
        "approved" => Status::Approved,
        "validating" => Status::Validating,
        _ => Status::Draft,
    };
    let note = note
        .strip_prefix('(')
        .and_then(|note| note.strip_suffix(')'))
        .unwrap_or(note);
    (status, (!note.is_empty()).then(|| note.to_owned()))
}

/// The text with another status. A plan without a status line gets one below its title.
pub(super) fn with_status(text: &str, status: Status, note: &str) -> String {
    let lines = Lines::of(text);
    let value = format!("{status} ({note})");
    let found = lines
        .visible()
        .find_map(|(at, line)| Some((at, line, status_value(line)?)));
    if let Some((at, line, range)) = found {
        let (before, after) = (&line[..range.start], line[range.end..].trim_end());
        let space = if before.ends_with(':') { " " } else { "" };
        return lines.replaced(at..at + 1, &[format!("{before}{space}{value}{after}")]);
    }
    let line = format!("## Status: {value}");
    let title = lines
        .visible()
        .find(|(_, line)| heading(line).is_some_and(|(level, _)| level == 1));
    match title {
        Some((at, _)) => lines.replaced(at + 1..at + 1, &[String::new(), line]),
        None => lines.replaced(0..0, &[line, String::new()]),
    }
}

/// The text with these entries in its Validation section.
pub(super) fn with_validation(text: &str, entries: &[Entry]) -> String {
    let lines = Lines::of(text);
    let is_section = |line: &str| heading(line).is_some_and(|(_, title)| title.eq_ignore_ascii_case(SECTION));
    let Some((at, line)) = lines.visible().find(|(_, line)| is_section(line)) else {
        let mut new = vec!["## Validation".to_owned(), String::new()];
        if lines.lines.last().is_some_and(|line| !line.trim().is_empty()) {
            new.insert(0, String::new());
        }
        new.extend(entries.iter().flat_map(Entry::lines));
        return lines.replaced(lines.lines.len()..lines.lines.len(), &new);
    };
    let level = heading(line).map_or(2, |(level, _)| level);
    let ends = |line: &str| heading(line).is_some_and(|(other, _)| other <= level);
    let end = lines.visible().find(|(other, line)| *other > at && ends(line));
    let end = end.map_or(lines.lines.len(), |(end, _)| end);
    let (before, section, after) = (
        lines.lines[..=at].concat(),
        &lines.lines[at + 1..end],
        lines.lines[end..].concat(),
    );
    let line_end = if before.ends_with('\n') { "" } else { lines.end };
    let section = edited_section(section, entries, lines.end).concat();
    format!("{before}{line_end}{section}{after}")
}

/// The lines of the section with the entries replaced or added. All other lines are kept, with their ends.
fn edited_section(old: &[&str], entries: &[Entry], end: &str) -> Vec<String> {
    let mut lines: Vec<String> = old.iter().map(|line| (*line).to_owned()).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
        last.push_str(end);
    }
    let is_nested = |line: &&String| line.starts_with([' ', '\t']) && !line.trim().is_empty();
    // New entries stand below the empty lines that follow the heading.
    let mut next = lines.iter().take_while(|line| line.trim().is_empty()).count();
    if next == lines.len() {
        next = next.min(1);
    }
    for entry in entries {
        let new = entry
            .lines()
            .into_iter()
            .map(|line| line + end)
            .collect::<Vec<_>>();
        let (at, old) = match lines.iter().position(|line| entry.is(line)) {
            Some(at) => (at, 1 + lines[at + 1..].iter().take_while(is_nested).count()),
            None => (next, 0),
        };
        next = at + new.len();
        lines.splice(at..at + old, new);
    }
    lines
}

#[cfg(test)]
mod tests;
