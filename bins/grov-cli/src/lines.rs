//! Reads a file line by line.

use crate::failure::Failure;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Maximum bytes of a line; longer lines are skipped.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// The lines of a file or of standard input, numbered from 1.
pub(crate) struct Lines {
    reader: Box<dyn BufRead>,
    path: PathBuf,
    number: u64,
    /// Bytes read so far, and in total if known.
    pub(crate) bytes: u64,
    pub(crate) size: Option<u64>,
    buffer: Vec<u8>,
}

/// One line without its end; `bytes` is `None` for a line that is too long.
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) bytes: Option<&'a [u8]>,
}

impl Lines {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let mut size = None;
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let file = File::open(path).map_err(|error| unreadable(path, &error))?;
            let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file);
            size = metadata.map(|metadata| metadata.len());
            Box::new(BufReader::with_capacity(1 << 16, file))
        };
        Ok(Self {
            reader,
            path: path.to_owned(),
            number: 0,
            bytes: 0,
            size,
            buffer: Vec::new(),
        })
    }

    /// The next line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Failure> {
        loop {
            self.buffer.clear();
            let read = io::Read::take(&mut self.reader, MAX_LINE)
                .read_until(b'\n', &mut self.buffer)
                .map_err(|error| unreadable(&self.path, &error))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes += read as u64;
            if self.buffer.len() as u64 == MAX_LINE && !self.buffer.ends_with(b"\n") {
                self.skip_rest()?;
                return Ok(Some(Line {
                    number: self.number,
                    bytes: None,
                }));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let bytes = self
            .buffer
            .strip_prefix("\u{feff}".as_bytes())
            .unwrap_or(&self.buffer);
        Ok(Some(Line {
            number: self.number,
            bytes: Some(bytes.trim_ascii()),
        }))
    }

    /// Skips the lines before this one.
    pub(crate) fn go_to(&mut self, line: u64) -> Result<(), Failure> {
        while self.number + 1 < line && self.skip_rest()? > 0 {
            self.number += 1;
        }
        Ok(())
    }

    /// Skips the rest of a line. Returns the number of skipped bytes.
    fn skip_rest(&mut self) -> Result<usize, Failure> {
        let skipped = self.reader.skip_until(b'\n');
        let skipped = skipped.map_err(|error| unreadable(&self.path, &error))?;
        self.bytes += skipped as u64;
        Ok(skipped)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::error("input", format!("cannot read {}: {error}", path.display()))
}
