//! Material for a request, redacted, and what was left out of it.

use grov_redact::Redactor;
use std::io::Read;

/// The most bytes of standard input that are kept for a prompt.
const MAX_STDIN: usize = 512 * 1024;
/// The most bytes that are read at all.
const MAX_READ: u64 = 1024 * 1024 * 1024;

/// Standard input within its limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piped {
    /// The beginning, as text.
    pub text: String,
    /// Bytes that were left out.
    pub cut: u64,
}

/// Reads all of standard input, so that the program before it does not fail, and keeps its beginning.
///
/// # Errors
///
/// The system's error.
pub fn read_stdin(input: &mut dyn Read) -> std::io::Result<Piped> {
    let mut kept = Vec::new();
    input.take(MAX_STDIN as u64).read_to_end(&mut kept)?;
    let cut = std::io::copy(&mut input.take(MAX_READ), &mut std::io::sink())?;
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if cut > 0 {
        // The last character may be half.
        let end = text.trim_end_matches(char::REPLACEMENT_CHARACTER).len();
        text.truncate(end);
    }
    Ok(Piped { text, cut })
}

impl Piped {
    /// What was left out, for `metadata.omitted`.
    pub(crate) fn omitted(&self) -> Option<String> {
        (self.cut > 0).then(|| {
            format!(
                "stdin: the last {} bytes, because at most {MAX_STDIN} are sent",
                self.cut
            )
        })
    }
}

/// A text without secrets.
pub(crate) fn clean(text: &str) -> String {
    Redactor::shared().whole(text).into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_input_is_cut_and_named() {
        let mut input = std::io::repeat(b'x').take(50 * 1024 * 1024);
        let piped = read_stdin(&mut input).unwrap();
        assert_eq!(
            (piped.text.len(), piped.cut),
            (MAX_STDIN, 50 * 1024 * 1024 - MAX_STDIN as u64)
        );
        assert!(piped.omitted().unwrap().contains("51904512 bytes"));
        assert_eq!(read_stdin(&mut &b"all"[..]).unwrap().omitted(), None);
    }
}
