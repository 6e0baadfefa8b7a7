//! Reading files that may be anything.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
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

/// The first line of a regular file of at most `limit` bytes that `wanted` finds something in.
pub(crate) fn find_line<T>(path: &Path, limit: u64, wanted: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let mut reader = BufReader::new(open_regular(path, limit)?.take(limit));
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        if let Some(found) = wanted(line.trim_ascii_end()) {
            return Some(found);
        }
    }
}

fn open_regular(path: &Path, limit: u64) -> Option<File> {
    // Asked before opening: opening a pipe would wait for its writer.
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= limit).then(|| File::open(path).ok())?
}
