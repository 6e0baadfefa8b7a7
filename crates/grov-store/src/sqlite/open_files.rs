//! Detects that the files of an open connection were deleted or replaced on disk.

use crate::files::{Identity, with_suffix};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Size of the log's header in bytes, see <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
const HEADER: usize = 32;
/// The header begins with this number; its lowest bit is the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;

/// The database, its write-ahead log and the log's shared index, as a connection opened them.
///
/// SQLite keeps them open and does not check their names again: after `rm grov.db-wal` it writes to a deleted file,
/// while other processes create a new log.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFiles {
    database: Option<Identity>,
    log: Option<Identity>,
    index: Option<Identity>,
}

impl OpenFiles {
    /// Identifies the files of a database that a connection has just read. On some file systems there is no log.
    pub(super) fn of(path: &Path, database: Option<Identity>) -> Self {
        Self {
            database,
            log: Identity::of(&with_suffix(path, "-wal")),
            index: Identity::of(&with_suffix(path, "-shm")),
        }
    }

    /// Returns the identity of the database file.
    pub(super) fn identity(self) -> Option<Identity> {
        self.database
    }

    /// Whether the path still names the database file that was opened.
    pub(super) fn has_database(self, path: &Path) -> bool {
        self.database.is_some() && self.database == Identity::of(path)
    }

    /// Whether all files are in place and the log has a valid header. Only the last process that closes a database
    /// deletes them. Takes a few system calls and no SQLite.
    pub(super) fn are_in_place(self, path: &Path) -> bool {
        let log = with_suffix(path, "-wal");
        let is_same = |opened: Option<Identity>, path: &Path| {
            opened.is_none_or(|opened| Identity::of(path) == Some(opened))
        };
        // Another process may be writing the header, so an invalid one is read again.
        self.has_database(path)
            && is_same(self.log, &log)
            && is_same(self.index, &with_suffix(path, "-shm"))
            && (self.log.is_none() || begins_well(&log) || begins_well(&log))
    }
}

/// Whether the log is empty or has a valid header. SQLite locks the database and the index but not the log, so closing
/// it here releases no lock.
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
