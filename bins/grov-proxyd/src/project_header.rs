//! The directory that a client names in a header.
//!
//! Headers have no agreed encoding: programs send a path as UTF-8, as Latin-1 (Node.js) or percent-encoded. The reading is used that names
//! a directory; the bytes as they came win.

use grov_drift::PROJECT_HEADER;
use http::HeaderMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the directory of the header; `None` without the header or with an empty one.
///
/// # Errors
/// Returns the message for the client if the header names no directory of this machine.
pub(crate) fn directory(headers: &HeaderMap) -> Result<Option<PathBuf>, String> {
    let sent = headers
        .get(PROJECT_HEADER)
        .map(|value| value.as_bytes().trim_ascii());
    let Some(sent) = sent.filter(|sent| !sent.is_empty()) else {
        return Ok(None);
    };
    let found = readings(sent).find(|path| path.is_absolute() && path.is_dir());
    found.map(Some).ok_or_else(|| {
        let shown = String::from_utf8_lossy(sent);
        format!(
            "the header {PROJECT_HEADER} names no directory of this machine: {shown:?}; \
             send an absolute path, as UTF-8 or percent-encoded"
        )
    })
}

/// What the bytes of a header may mean as a path.
fn readings(sent: &[u8]) -> impl Iterator<Item = PathBuf> {
    let path = |bytes: &[u8]| Path::new(OsStr::from_bytes(bytes)).to_owned();
    let is_utf8 = std::str::from_utf8(sent).is_ok();
    let latin = (!is_utf8).then(|| PathBuf::from(sent.iter().copied().map(char::from).collect::<String>()));
    let decoded = percent_decoded(sent).map(|bytes| path(&bytes));
    [path(sent)].into_iter().chain(latin).chain(decoded)
}

/// The bytes with each `%XX` decoded; `None` if there is none, or a `%` is something else.
fn percent_decoded(sent: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(sent.len());
    let mut rest = sent;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        decoded.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    (decoded != sent).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn named(bytes: &[u8]) -> Result<Option<PathBuf>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(PROJECT_HEADER, HeaderValue::from_bytes(bytes).unwrap());
        directory(&headers)
    }

    #[test]
    fn a_path_with_an_umlaut_is_found_in_every_encoding() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("Büro 100%");
        std::fs::create_dir(&project).unwrap();
        let text = project.to_str().unwrap();
        let latin: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
        let percent = text
            .replace('%', "%25")
            .replace('ü', "%C3%bc")
            .replace(' ', "%20");
        for sent in [text.as_bytes(), &latin, percent.as_bytes()] {
            assert_eq!(named(sent).unwrap().as_deref(), Some(project.as_path()));
        }
    }

    #[test]
    fn an_unknown_directory_is_an_error_that_names_it() {
        for sent in ["/nowhere/at/all", "src/app", "/nowhere/%zz", "/nowhere/%4"] {
            let message = named(sent.as_bytes()).unwrap_err();
            assert!(
                message.contains(sent) && message.contains("X-Grov-Project-Dir"),
                "{message}"
            );
        }
        assert_eq!(named(b" "), Ok(None));
        assert_eq!(directory(&HeaderMap::new()), Ok(None));
    }
}
