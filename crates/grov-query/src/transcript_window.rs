//! What is in the window of a session, from the client's transcript.

use grov_actions::transcript::{WindowPartKind, WindowReader};
use grov_context::{ContentPart, ContextContent, MAX_LARGEST, PartKind, Share};
use grov_redact::Redactor;
use std::io::{BufRead, Read};

/// Maximum bytes of a line. The client writes no longer ones.
const MAX_LINE: u64 = 64 * 1024 * 1024;
/// Name of what a transcript does not contain.
const REST: &str = "system prompt and tools";

/// Reads a transcript; `None` if it cannot be read.
pub fn read_window(mut transcript: impl BufRead) -> Option<WindowReader> {
    let mut reader = WindowReader::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = transcript
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .ok()?;
        if read == 0 {
            return Some(reader);
        }
        reader.read_line(&line);
    }
}

/// Adds up what fills a window of `tokens`.
pub fn window_content(reader: &WindowReader, tokens: u64) -> ContextContent {
    let parts = || {
        reader.parts.iter().map(|part| ContentPart {
            kind: match &part.kind {
                WindowPartKind::User => PartKind::User,
                WindowPartKind::Assistant => PartKind::Assistant,
                WindowPartKind::Thinking => PartKind::Thinking,
                WindowPartKind::Tool(name) => PartKind::Tool(name.clone()),
            },
            subject: part.subject.clone(),
            bytes: part.bytes,
            media: part.media,
        })
    };
    let mut content = ContextContent::of(parts(), 0);
    let counted: u64 = content.by_tool.iter().map(|share| share.tokens).sum();
    if counted > tokens {
        content = ContextContent::of(parts(), tokens);
    } else {
        let rest = Share {
            tool: REST.to_owned(),
            subject: String::new(),
            tokens: tokens - counted,
            parts: 1,
        };
        for list in [&mut content.by_tool, &mut content.largest] {
            let at = list.partition_point(|share| share.tokens >= rest.tokens);
            list.insert(at, rest.clone());
        }
        content.largest.truncate(MAX_LARGEST);
    }
    for share in &mut content.largest {
        let subject = Redactor::shared().redact(&share.subject);
        share.subject = subject.lines().next().unwrap_or_default().to_owned();
    }
    content
}
