//! The outline of Markdown, by its block structure: a `#` inside a code block is no heading.

use super::outline::{Break, Heading, HeadingPath, Lines, Outline, Section, end_of_line};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Maximum bytes of a heading's title.
const MAX_TITLE_BYTES: usize = 200;
/// Maximum bytes before a block in its line for a break there: more is nesting that no writer uses.
const MAX_PREFIX_BYTES: usize = 64;

/// Returns the outline of a text in Markdown.
pub(super) fn outline(text: &str) -> Outline {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_MATH;
    let mut reader = Reader::of(text);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.read(&event, range);
    }
    reader.finish()
}

/// Collects the outline from the events of the parser.
struct Reader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    outline: Outline,
    /// Open block quotes, lists and other containers.
    depth: usize,
    /// Open code blocks and tables, which have no breaks inside.
    inside_whole: usize,
    /// The level of the open heading.
    heading: Option<u8>,
    title: String,
    path: HeadingPath,
    section_start: usize,
    has_body: bool,
}

impl<'a> Reader<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            lines: Lines::of(text),
            outline: Outline::default(),
            depth: 0,
            inside_whole: 0,
            heading: None,
            title: String::new(),
            path: HeadingPath::default(),
            section_start: 0,
            has_body: false,
        }
    }

    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(end) => self.end(*end),
            Event::Text(text) | Event::Code(text) if self.heading.is_some() => self.say(text),
            Event::SoftBreak | Event::HardBreak if self.heading.is_some() => self.say(" "),
            Event::Rule => {
                self.divide(range.start);
                self.has_body = true;
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } if self.depth == 0 => {
                let start = self.divide(range.start);
                self.close_section(start);
                self.heading = Some(*level as u8);
                self.title.clear();
                self.has_body = false;
                return;
            }
            Tag::CodeBlock(_) | Tag::Table(_) | Tag::MetadataBlock(_) => {
                if self.inside_whole == 0 {
                    let start = self.divide(range.start);
                    let end = end_of_line(self.text, range.end);
                    if start < end && self.outline.wholes.last().is_none_or(|last| last.end <= start) {
                        self.outline.wholes.push(start..end);
                    }
                }
                self.inside_whole += 1;
            }
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_) => {
                self.divide(range.start);
                self.depth += 1;
            }
            Tag::Paragraph | Tag::HtmlBlock | Tag::Heading { .. } => {
                self.divide(range.start);
            }
            _ => return,
        }
        self.has_body = true;
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::CodeBlock | TagEnd::Table | TagEnd::MetadataBlock(_) => {
                self.inside_whole = self.inside_whole.saturating_sub(1);
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.depth = self.depth.saturating_sub(1);
            }
            TagEnd::Heading(_) => {
                if let Some(level) = self.heading.take() {
                    self.path = self.path.followed_by(self.outline.headings.len(), level);
                    let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
                    self.outline.headings.push(Heading { title });
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        let room = MAX_TITLE_BYTES.saturating_sub(self.title.len());
        self.title.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// Notes a break at the line of a place, if nothing but marks of containers is before it. Returns the start of the line.
    fn divide(&mut self, at: usize) -> usize {
        let start = self.lines.start_of(at);
        let prefix = &self.text.as_bytes()[start..at.min(self.text.len())];
        let is_open =
            prefix.len() <= MAX_PREFIX_BYTES && prefix.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'>'));
        let is_new = self.outline.breaks.last().is_none_or(|last| last.at < start);
        if is_open && is_new && self.inside_whole == 0 {
            self.outline.breaks.push(Break {
                at: start,
                depth: u8::try_from(self.depth).unwrap_or(u8::MAX),
            });
        }
        start
    }

    fn close_section(&mut self, end: usize) {
        if end > self.section_start {
            self.outline.sections.push(Section {
                range: self.section_start..end,
                path: self.path,
                is_bare: !self.has_body,
            });
            self.section_start = end;
        }
    }

    fn finish(mut self) -> Outline {
        self.close_section(self.text.len());
        self.outline
    }
}

#[cfg(test)]
mod tests;
