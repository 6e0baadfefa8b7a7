//! Reads transcripts line by line.

use crate::UsageEntry;
use crate::line;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Maximum bytes of a line. Longer ones are skipped; the client writes none.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Reads the usage in transcripts. Its buffers are used again for each file.
#[derive(Debug, Default)]
pub struct UsageReader {
    buffer: Vec<u8>,
}

impl UsageReader {
    /// Reads a transcript and passes each usage in it to `found`. What is not usage is ignored.
    ///
    /// # Errors
    /// The file cannot be read, or not to its end.
    pub fn read(&mut self, path: &Path, mut found: impl FnMut(UsageEntry)) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
        loop {
            self.buffer.clear();
            let read = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(());
            }
            if self.buffer.len() as u64 == MAX_LINE && !self.buffer.ends_with(b"\n") {
                reader.skip_until(b'\n')?;
                continue;
            }
            line::read(self.buffer.trim_ascii())
                .into_iter()
                .for_each(&mut found);
        }
    }
}

/// The session that a transcript's path names: its file, or the folder above `subagents`.
pub(crate) fn session_of(path: &Path) -> String {
    let name = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let folder = path.parent();
    if name(folder) == "subagents" {
        return name(folder.and_then(Path::parent));
    }
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The subagent that a transcript's name tells: `agent-ID.jsonl`.
pub(crate) fn agent_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    stem.strip_prefix("agent-").map(str::to_owned)
}

/// The project's folder of a transcript, which stands for the project if no line names a directory.
pub(crate) fn folder_of(path: &Path) -> Option<String> {
    let mut parts = path.components().rev().skip(1);
    let folder = parts.find(|part| part.as_os_str().to_string_lossy().starts_with('-'))?;
    Some(folder.as_os_str().to_string_lossy().into_owned())
}
