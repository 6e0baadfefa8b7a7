//! Whether the files that a connection opened are still the ones on disk.

use crate::files::{Identity, beside};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of the log's header, see <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
const HEADER: usize = 32;
/// The header begins with this number; its lowest bit is the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;

/// The database, its write-ahead log and the log's shared index, as a connection opened them.
///
/// SQLite keeps them open and never looks at their names again: after `rm grov.db-wal` it goes on writing to a file that
/// disappears with the last process that holds it, and other processes begin a log of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFiles {
    database: Option<Identity>,
    log: Option<Identity>,
    index: Option<Identity>,
}

impl OpenFiles {
    /// The files of a database that a connection has just read. Where the file system allows no log there is none.
    pub(super) fn of(path: &Path, database: Option<Identity>) -> Self {
        Self {
            database,
            log: Identity::of(&beside(path, "-wal")),
            index: Identity::of(&beside(path, "-shm")),
        }
    }

    /// Which database file was opened.
    pub(super) fn identity(self) -> Option<Identity> {
        self.database
    }

    /// Whether the database file that was opened is still the one under its path.
    pub(super) fn has_database(self, path: &Path) -> bool {
        self.database.is_some() && self.database == Identity::of(path)
    }

    /// Whether all files are still in place and the log begins as SQLite writes it. Only the last process that closes a
    /// database deletes them. A few system calls, no SQLite.
    pub(super) fn are_in_place(self, path: &Path) -> bool {
        let log = beside(path, "-wal");
        let is_same = |opened: Option<Identity>, path: &Path| {
            opened.is_none_or(|opened| Identity::of(path) == Some(opened))
        };
        // Another process may be writing the header right now, so a bad one is read twice.
        self.has_database(path)
            && is_same(self.log, &log)
            && is_same(self.index, &beside(path, "-shm"))
            && (self.log.is_none() || begins_well(&log) || begins_well(&log))
    }
}

/// Whether the log is empty or begins with a valid header. SQLite locks the database and the index, not the log, so
/// opening and closing it here drops no lock.
fn begins_well(log: &Path) -> bool {
    let mut header = Vec::with_capacity(HEADER);
    let read = File::open(log).and_then(|file| file.take(HEADER as u64).read_to_end(&mut header));
    read.is_ok() && (header.is_empty() || is_header(&header))
}

fn is_header(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<4>();
    let [magic, .., first, second] = words else {
        return false;
    };
    let magic = u32::from_be_bytes(*magic);
    if bytes.len() != HEADER || !rest.is_empty() || magic & !1 != MAGIC {
        return false;
    }
    let word = |bytes: [u8; 4]| match magic & 1 {
        0 => u32::from_le_bytes(bytes),
        _ => u32::from_be_bytes(bytes),
    };
    let mut sums = (0_u32, 0_u32);
    for pair in words[..words.len() - 2].chunks_exact(2) {
        sums.0 = sums.0.wrapping_add(word(pair[0])).wrapping_add(sums.1);
        sums.1 = sums.1.wrapping_add(word(pair[1])).wrapping_add(sums.0);
    }
    sums == (u32::from_be_bytes(*first), u32::from_be_bytes(*second))
}
