//! Opens the client's transcripts.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Opens a transcript; `None` if it is no readable file.
pub(crate) fn open(path: &str) -> Option<BufReader<File>> {
    let path = Path::new(path);
    // Checked before opening, because opening a pipe waits for a writer.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(BufReader::with_capacity(256 * 1024, File::open(path).ok()?))
}
