//! Finds the newest title of a session in its transcript.

use super::line::Line;
use crate::redacted_call::redacted;

/// The type of a line with a title that a model wrote.
pub(super) const TITLE: &str = "ai-title";

/// The title that the client's model gave the session, redacted. The bytes may begin and end within a line.
pub fn newest_title(bytes: &[u8]) -> Option<String> {
    let titles = memchr::memmem::rfind_iter(bytes, TITLE.as_bytes());
    titles
        .filter_map(|at| {
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let end = at + memchr::memchr(b'\n', &bytes[at..])?;
            let line = Line::parse(&bytes[start..end])?;
            let title = line.title()?;
            let title = redacted(title.trim()).into_owned();
            (!title.is_empty()).then_some(title)
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_title_counts_and_a_text_that_mentions_one_does_not() {
        let lines = concat!(
            r#"{"type":"ai-title","aiTitle":"First","sessionId":"s"}"#,
            "\n",
            r#"{"type":"ai-title","aiTitle":" Retry uploads ","sessionId":"s"}"#,
            "\n",
            r#"{"type":"user","message":{"role":"user","content":"what is \"ai-title\"?"},"aiTitle":"no"}"#,
            "\n",
            r#"{"type":"ai-title","aiTitle":"cut"#,
        );
        assert_eq!(newest_title(lines.as_bytes()).as_deref(), Some("Retry uploads"));
        assert_eq!(newest_title(b"{}\n"), None);
    }

    #[test]
    fn a_title_is_redacted() {
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let line = format!("{{\"type\":\"ai-title\",\"aiTitle\":\"Use {secret}\"}}\n");
        let title = newest_title(line.as_bytes()).unwrap();
        assert!(title.starts_with("Use ") && !title.contains(&secret), "{title}");
    }
}
