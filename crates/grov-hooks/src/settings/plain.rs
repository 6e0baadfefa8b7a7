//! Plain JSON of a settings file with comments or trailing commas, which the client does not read.

use super::change::edited;
use super::error::SyntaxError;
use super::scan::{Document, Node};
use serde::de::IgnoredAny;

/// The text without comments and trailing commas; `None` if it has none, or is empty.
///
/// Claude Code 2.1.197 and 2.1.330 read a settings file as plain JSON, with or without a byte order mark. They ignore the whole
/// file otherwise.
///
/// # Errors
/// The text is not valid JSON, even with comments and trailing commas.
pub fn plain(text: &str) -> Result<Option<String>, SyntaxError> {
    let document = Document::scan(text)?;
    let strict = text.trim_start_matches('\u{feff}');
    if serde_json::from_str::<IgnoredAny>(strict).is_ok() || strict.trim().is_empty() {
        return Ok(None);
    }
    let mut edits: Vec<_> = document
        .comments()
        .map(|span| (whole_line(text, span), String::new()))
        .collect();
    if let Some(root) = &document.root {
        trailing_commas(root, &mut |at| edits.push((at..at + 1, String::new())));
    }
    Ok(Some(edited(text, edits)))
}

/// The span of a comment; with its line break and indentation if nothing else is on its lines, else with the white space before
/// it.
fn whole_line(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let before = text.get(..span.start).unwrap_or_default();
    let start = before.trim_end_matches([' ', '\t']).len();
    let begins_line = start == 0 || before.get(..start).is_some_and(|text| text.ends_with('\n'));
    let rest = text.get(span.end..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    let ends_line = rest.get(blank..).is_some_and(|rest| rest.starts_with('\n'));
    match (begins_line, ends_line) {
        (true, true) => start..span.end + blank + 1,
        (false, true) => start..span.end,
        _ => span,
    }
}

/// Passes the offset of each comma after the last item of a container.
fn trailing_commas(node: &Node, found: &mut impl FnMut(usize)) {
    if let Some(at) = node.items().last().and_then(|item| item.comma) {
        found(at);
    }
    for item in node.items() {
        trailing_commas(&item.node, found);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_removed_and_the_rest_stays() {
        let text = "// settings\n{\n  // the model\n  \"model\": \"opus\", // mine\n  \"url\": \"http://x\", /* a */\n  \"list\": [1, 2,],\n}\n";
        assert_eq!(
            plain(text).unwrap().unwrap(),
            "{\n  \"model\": \"opus\",\n  \"url\": \"http://x\",\n  \"list\": [1, 2]\n}\n"
        );
    }

    #[test]
    fn plain_text_needs_no_change() {
        for text in ["", " \n", "{}", "\u{feff}{\"a\": \"// no comment\"}"] {
            assert_eq!(plain(text).unwrap(), None, "{text:?}");
        }
        assert!(plain("{\"a\" 1}").is_err());
    }
}
