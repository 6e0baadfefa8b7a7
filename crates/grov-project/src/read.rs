//! Bounded reads of untrusted files.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// The text of a regular file of at most `limit` bytes; invalid UTF-8 is replaced. `None` for everything else.
pub(crate) fn small_text(path: &Path, limit: u64) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(path, limit)?
        .take(limit)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The contents of a path.
pub(crate) enum Contents {
    /// There is no file.
    Missing,
    /// The file cannot be used, with the reason.
    Unusable(String),
    /// The bytes of a regular file within the limit.
    Bytes(Vec<u8>),
}

/// The bytes of a regular file of at most `limit` bytes; distinguishes a missing file from an unusable one.
pub(crate) fn bounded(path: &Path, limit: u64) -> Contents {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Contents::Missing,
        Err(error) => return Contents::Unusable(format!("cannot be read ({error})")),
    };
    if !metadata.is_file() {
        return Contents::Unusable("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    // Reading one extra byte detects a file that grew meanwhile.
    match File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)) {
        Err(error) => Contents::Unusable(format!("cannot be read ({error})")),
        Ok(read) if read as u64 > limit => Contents::Unusable(format!("has more than {limit} bytes")),
        Ok(_) => Contents::Bytes(bytes),
    }
}

/// The first `Some` that `find` returns for a line of a regular file of at most `limit` bytes.
pub(crate) fn find_line<T>(path: &Path, limit: u64, find: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let mut reader = BufReader::new(open_regular(path, limit)?.take(limit));
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        if let Some(found) = find(line.trim_ascii_end()) {
            return Some(found);
        }
    }
}

/// Opens a regular file of at most `limit` bytes.
pub(crate) fn open_regular(path: &Path, limit: u64) -> Option<File> {
    // Checked before opening, because opening a pipe blocks until it has a writer.
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= limit).then(|| File::open(path).ok())?
}
