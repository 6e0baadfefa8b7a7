//! What the user marked as private, where only a part of a text is looked at: a block that a cut went through has lost its
//! opening or its closing, and whoever redacts the part does not see that it is one. Tags are read as redaction reads them:
//! in any case, nested, with attributes, and a block that is not closed reaches to the end.

use std::borrow::Cow;
use std::ops::Range;

const OPENING: &str = "<private";
const CLOSING: &str = "</private";

/// Longer attributes make no tag.
const MAX_ATTRIBUTES: usize = 256;

enum Tag {
    Opening,
    Closing,
}

/// What stands for a private block until all are out, as in redaction: what remains around it may make another tag.
const MARK: &str = "[redacted:private]";

/// `text` without private blocks.
pub(crate) fn without_private(text: &str) -> Cow<'_, str> {
    let Some(mut kept) = marked(text) else {
        return Cow::Borrowed(text);
    };
    while let Some(less) = marked(&kept) {
        kept = less;
    }
    Cow::Owned(kept.replace(MARK, " "))
}

/// `text` with a mark in place of each private block; `None` where there is none.
fn marked(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut copied = 0;
    let mut depth = 0_usize;
    for (at, tag) in tags(text) {
        match tag {
            Tag::Opening => {
                if depth == 0 {
                    kept.push_str(&text[copied..at.start]);
                    kept.push_str(MARK);
                }
                depth += 1;
            }
            Tag::Closing if depth > 0 => {
                depth -= 1;
                copied = at.end;
            }
            Tag::Closing => {}
        }
    }
    if kept.is_empty() {
        return None;
    }
    if depth == 0 {
        kept.push_str(&text[copied..]);
    }
    Some(kept)
}

/// How many private blocks are open where `text` is cut at `cut`, a tag that the cut goes through included.
pub(crate) fn open_at(text: &str, cut: usize) -> usize {
    tags(text)
        .take_while(|(at, _)| at.start < cut)
        .fold(0, |depth: usize, (_, tag)| match tag {
            Tag::Opening => depth + 1,
            Tag::Closing => depth.saturating_sub(1),
        })
}

/// What of a text's `tail` is not private, where `open` private blocks were open before it. Whatever stands before a
/// closing without an opening is dropped even where none was open: another cut may have taken the opening away.
pub(crate) fn behind_cut(tail: &str, open: usize) -> &str {
    let mut within = 0_usize;
    let mut closed = 0_usize;
    let mut start = 0;
    for (at, tag) in tags(tail) {
        match tag {
            Tag::Opening => within += 1,
            Tag::Closing if within > 0 => within -= 1,
            Tag::Closing => {
                closed += 1;
                start = at.end;
            }
        }
    }
    if closed < open { "" } else { &tail[start..] }
}

/// The private tags of a text, in order. Outside of a block a closing that holds another tag is none: redaction, which looks
/// for openings there, sees the tag that it holds.
fn tags(text: &str) -> impl Iterator<Item = (Range<usize>, Tag)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let mut depth = 0_usize;
    std::iter::from_fn(move || {
        loop {
            let start = from + text[from..].find('<')?;
            from = start + 1;
            let tag = |name| named(bytes, start, name).and_then(|end| tag_end(bytes, end));
            if let Some(end) = tag(OPENING) {
                depth += 1;
                from = end;
                return Some((start..end, Tag::Opening));
            }
            if let Some(end) = tag(CLOSING)
                && (depth > 0 || !bytes[from..end].contains(&b'<'))
            {
                depth = depth.saturating_sub(1);
                from = end;
                return Some((start..end, Tag::Closing));
            }
        }
    })
}

/// The end of `name` at `at`, in any case.
fn named(bytes: &[u8], at: usize, name: &str) -> Option<usize> {
    let end = at + name.len();
    bytes
        .get(at..end)?
        .eq_ignore_ascii_case(name.as_bytes())
        .then_some(end)
}

/// The end of a tag whose name ends at `at`: spaces and attributes are allowed, other words are not.
fn tag_end(bytes: &[u8], at: usize) -> Option<usize> {
    let inside = &bytes[at..bytes.len().min(at + MAX_ATTRIBUTES)];
    let close = inside.iter().position(|byte| *byte == b'>')?;
    let attributes = inside[..close].trim_ascii();
    let spaced = inside[..close].first().is_none_or(u8::is_ascii_whitespace);
    (spaced && (attributes.is_empty() || attributes.contains(&b'='))).then_some(at + close + 1)
}

#[cfg(test)]
mod tests;
