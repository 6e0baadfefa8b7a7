//! Finds the newest usage in the end of a transcript.

use super::Usage;
use super::line::Line;

/// The usage of the newest response of the main conversation. The bytes may begin and end within a line.
pub fn newest_usage(bytes: &[u8]) -> Option<Usage> {
    let mut end = memchr::memrchr(b'\n', bytes)?;
    loop {
        let start = memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |newline| newline + 1);
        if let Some(usage) = Line::parse(&bytes[start..end]).as_ref().and_then(usage) {
            return Some(usage);
        }
        end = start.checked_sub(1)?;
    }
}

fn usage(line: &Line<'_>) -> Option<Usage> {
    if line.kind().as_deref() != Some("assistant") || line.agent().is_some() {
        return None;
    }
    let message = line.message()?;
    let model = message
        .model()
        .filter(|model| model != "<synthetic>")?
        .into_owned();
    Some(Usage {
        message_id: message.id()?.into_owned(),
        model,
        tokens: message.usage()?,
    })
}
