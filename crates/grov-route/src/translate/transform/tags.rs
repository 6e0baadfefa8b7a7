//! Thinking between tags in the text.

use super::chain::Step;
use crate::translate::event::Event;

/// An opening and a closing tag.
pub(super) type Tags = (&'static str, &'static str);

/// The tags that reasoning models write.
pub(super) const THINK_TAGS: Tags = ("<think>", "</think>");

/// The tags that `forcereasoning` asks for.
pub(super) const REASONING_TAGS: Tags = ("<reasoning_content>", "</reasoning_content>");

/// Splits a complete text at its first pair of tags: the thinking, and the trimmed rest.
fn split(text: &str, (open, close): Tags) -> Option<(String, String)> {
    let (before, rest) = text.split_once(open)?;
    let (thinking, after) = rest.split_once(close)?;
    let rest = format!("{before}{after}");
    Some((thinking.to_owned(), rest.trim().to_owned()))
}

/// White space is not held back beyond this size, in bytes.
const MAX_BLANK: usize = 4 << 10;

/// Turns the text between the first pair of tags into thinking.
///
/// White space around the thinking and at the end of the answer is dropped; nothing else is.
pub(super) struct TagSplitter {
    tags: Tags,
    place: Place,
    /// Text that may be part of a tag, or white space that may be dropped.
    held: String,
    /// Whether there was text other than white space.
    any_text: bool,
    whole: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    Inside,
    After,
}

impl TagSplitter {
    pub(super) fn new(tags: Tags) -> Self {
        Self {
            tags,
            place: Place::Before,
            held: String::new(),
            any_text: false,
            whole: false,
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<Event>) {
        self.held.push_str(text);
        if self.place == Place::Before {
            match self.held.find(self.tags.0) {
                Some(at) => {
                    let rest = self.held.split_off(at + self.tags.0.len());
                    self.held.truncate(at);
                    let before = std::mem::replace(&mut self.held, rest);
                    self.write(before, out);
                    self.place = Place::Inside;
                }
                None => {
                    let keep = self.held.len() - partial(&self.held, self.tags.0);
                    // White space at the beginning counts only if no tag follows.
                    if self.any_text || keep > MAX_BLANK || !self.held[..keep].trim().is_empty() {
                        let rest = self.held.split_off(keep);
                        let text = std::mem::replace(&mut self.held, rest);
                        self.write(text, out);
                    }
                    return;
                }
            }
        }
        if self.place == Place::Inside {
            let (end, skip) = match self.held.find(self.tags.1) {
                Some(at) => (at, self.tags.1.len()),
                None => (self.held.len() - partial(&self.held, self.tags.1), 0),
            };
            let rest = self.held.split_off(end + skip);
            self.held.truncate(end);
            out.push(Event::Thinking(std::mem::replace(&mut self.held, rest)));
            if skip == 0 {
                return;
            }
            self.place = Place::After;
        }
        let start = if self.any_text {
            0
        } else {
            self.held.len() - self.held.trim_start().len()
        };
        let end = self.held.trim_end().len();
        let end = if self.held.len() - end > MAX_BLANK {
            self.held.len()
        } else {
            end.max(start)
        };
        let rest = self.held.split_off(end);
        let text = std::mem::replace(&mut self.held, rest);
        self.write(text[start..].to_owned(), out);
    }

    fn write(&mut self, text: String, out: &mut Vec<Event>) {
        let blank = text.trim().is_empty();
        if blank && !self.any_text && text.len() <= MAX_BLANK {
            return;
        }
        self.any_text |= !blank;
        out.push(Event::Text(text));
    }

    /// Writes what was held back, because no text follows for now.
    fn flush(&mut self, out: &mut Vec<Event>) {
        match self.place {
            Place::Before => {
                let text = std::mem::take(&mut self.held);
                if !text.is_empty() {
                    self.any_text |= !text.trim().is_empty();
                    out.push(Event::Text(text));
                }
            }
            Place::Inside => {
                let text = std::mem::take(&mut self.held);
                if !text.is_empty() {
                    out.push(Event::Thinking(text));
                }
            }
            Place::After => {}
        }
    }
}

impl Step for TagSplitter {
    fn whole(&mut self) {
        self.whole = true;
    }

    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::Text(text) if self.whole => match split(&text, self.tags) {
                Some((thinking, rest)) => out.extend([Event::Thinking(thinking), Event::Text(rest)]),
                None => out.push(Event::Text(text)),
            },
            Event::Text(text) => self.text(&text, out),
            Event::Finish(_) | Event::End | Event::ToolStart { .. } => {
                self.flush(out);
                out.push(event);
            }
            other => out.push(other),
        }
    }
}

/// The length of the longest end of `text` that is a beginning of `tag`.
pub(super) fn partial(text: &str, tag: &str) -> usize {
    let longest = tag.len().min(text.len() + 1) - 1;
    (1..=longest)
        .rev()
        .find(|len| text.as_bytes().ends_with(&tag.as_bytes()[..*len]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(text: &str, size: usize) -> (String, String) {
        let mut step = TagSplitter::new(THINK_TAGS);
        let mut out = Vec::new();
        let chars: Vec<char> = text.chars().collect();
        for chunk in chars.chunks(size.max(1)) {
            step.event(Event::Text(chunk.iter().collect()), &mut out);
        }
        step.event(Event::End, &mut out);
        let mut result = (String::new(), String::new());
        for event in out {
            match event {
                Event::Thinking(text) => result.0 += &text,
                Event::Text(text) => result.1 += &text,
                _ => {}
            }
        }
        result
    }

    #[test]
    fn tags_are_found_in_any_split() {
        for (text, thinking, answer) in [
            ("<think>a</think>b c", "a", "b c"),
            ("\n<think>\na\n</think>\n\nb\n", "\na\n", "b"),
            ("x <think>a</think> y", "a", "x  y"),
            ("a < b <thin", "", "a < b <thin"),
            ("<think>a </thin", "a </thin", ""),
            ("<think>a</think>é </think> <think>b", "a", "é </think> <think>b"),
            (" no tags ", "", " no tags "),
        ] {
            for size in 1..12 {
                assert_eq!(
                    run(text, size),
                    (thinking.into(), answer.into()),
                    "{text} by {size}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "(<think>|</think>|<|>|[ab é\n]|thi){0,12}", size in 1usize..7) {
            prop_assert_eq!(run(&text, size), run(&text, 1000));
        }
    }
}
