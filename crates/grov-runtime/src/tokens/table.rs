//! The tokens in a running daemon: checked without I/O, read again when the file changes.

use super::TokenHash;
use super::file::{LastUses, TokenError, Tokens};
use crate::Home;
use crate::home::write_private;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use subtle::ConstantTimeEq;
use time::OffsetDateTime;

/// Why a token is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenFault {
    /// No token of the home.
    Unknown,
    /// The token with this name has expired.
    Expired(Arc<str>),
    /// The token with this name was revoked.
    Revoked(Arc<str>),
}

/// The tokens of a home in memory.
pub struct TokenTable {
    home: Home,
    entries: RwLock<Arc<Entries>>,
    reading: Mutex<Reading>,
    /// The uses that are in the file.
    saved: Mutex<BTreeMap<String, i64>>,
}

/// The entries by the first bytes of their hash. An attacker cannot choose the hash, so it may decide where is looked.
type Entries = HashMap<[u8; 8], Vec<Entry>>;

struct Entry {
    hash: TokenHash,
    name: Arc<str>,
    /// `None` for never.
    expires_at: Option<OffsetDateTime>,
    is_revoked: bool,
    /// Seconds since 1970; 0 for never. Shared with the entries that replace these.
    used_at: Arc<AtomicI64>,
}

impl Entry {
    fn is_expired(&self, now: OffsetDateTime) -> bool {
        self.expires_at.is_some_and(|expires| expires <= now)
    }
}

/// What is known of the file.
struct Reading {
    /// The file that was read last with success.
    read: FileStamp,
    /// The file whose error was returned.
    reported: Option<FileStamp>,
}

/// Tells whether a file was replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FileStamp(Option<(u64, u64, i64, i64, u64)>);

impl TokenTable {
    /// Reads the tokens of a home.
    ///
    /// # Errors
    /// The file cannot be read or is malformed.
    pub fn load(home: &Home) -> Result<Self, TokenError> {
        let stamp = stamp(home);
        let tokens = Tokens::read(home)?;
        let uses = Tokens::last_uses(home);
        let seen = |hash: &TokenHash| Arc::new(AtomicI64::new(uses.seconds(hash).unwrap_or(0)));
        let table = Self {
            home: home.clone(),
            entries: RwLock::new(Arc::new(entries(&tokens, seen))),
            reading: Mutex::new(Reading {
                read: stamp,
                reported: None,
            }),
            saved: Mutex::default(),
        };
        *table.saved.lock().unwrap_or_else(PoisonError::into_inner) = table.uses();
        Ok(table)
    }

    /// Reads the file again if it changed. Returns whether it did. If it cannot be read, the old tokens stay in force, and every
    /// further call tries again: a revocation must not be missed because no file could be opened for a moment.
    ///
    /// # Errors
    /// The file cannot be read or is malformed. The error is not repeated until the file changes again.
    pub fn refresh(&self) -> Result<bool, TokenError> {
        let now = stamp(&self.home);
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if reading.read == now {
            // Also if another file was there for a while.
            reading.reported = None;
            return Ok(false);
        }
        let tokens = match Tokens::read(&self.home) {
            Ok(tokens) => tokens,
            Err(_) if reading.reported == Some(now) => return Ok(false),
            Err(error) => {
                reading.reported = Some(now);
                return Err(error);
            }
        };
        *reading = Reading {
            read: now,
            reported: None,
        };
        let old = self.entries();
        let used_at = |hash: &TokenHash| {
            let known = find(&old, hash).map(|entry| Arc::clone(&entry.used_at));
            known.unwrap_or_default()
        };
        let new = Arc::new(entries(&tokens, used_at));
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(true)
    }

    /// Returns the name of the token that a client shows, and notes its use. Does no I/O. Hashes are compared in constant time.
    ///
    /// # Errors
    /// Why the token is refused.
    pub fn check(&self, shown: &[u8], now: OffsetDateTime) -> Result<Arc<str>, TokenFault> {
        let entries = self.entries();
        let Some(entry) = find(&entries, &TokenHash::of(shown)) else {
            return Err(TokenFault::Unknown);
        };
        if entry.is_revoked {
            return Err(TokenFault::Revoked(Arc::clone(&entry.name)));
        }
        if entry.is_expired(now) {
            return Err(TokenFault::Expired(Arc::clone(&entry.name)));
        }
        entry.used_at.fetch_max(now.unix_timestamp(), Ordering::Relaxed);
        Ok(Arc::clone(&entry.name))
    }

    /// Returns the number of tokens that are served.
    pub fn active(&self, now: OffsetDateTime) -> usize {
        let entries = self.entries();
        let all = entries.values().flatten();
        all.filter(|entry| !entry.is_revoked && !entry.is_expired(now))
            .count()
    }

    /// Writes when tokens were last used, if that changed by a minute.
    ///
    /// # Errors
    /// The system's error.
    pub fn save_uses(&self) -> io::Result<()> {
        let uses = self.uses();
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let minutes =
            |uses: &BTreeMap<String, i64>| -> Vec<i64> { uses.values().map(|at| at / 60).collect() };
        if uses.len() == saved.len() && minutes(&uses) == minutes(&saved) {
            return Ok(());
        }
        let content = serde_json::to_vec(&LastUses::new(uses.clone()))?;
        write_private(&self.home.token_uses(), &content)?;
        *saved = uses;
        Ok(())
    }

    fn uses(&self) -> BTreeMap<String, i64> {
        let entries = self.entries();
        let all = entries.values().flatten();
        all.map(|entry| (entry.hash.label(), entry.used_at.load(Ordering::Relaxed)))
            .filter(|(_, used_at)| *used_at > 0)
            .collect()
    }

    fn entries(&self) -> Arc<Entries> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn find<'e>(entries: &'e Entries, hash: &TokenHash) -> Option<&'e Entry> {
    let group = entries.get(&hash.group())?;
    group.iter().find(|entry| bool::from(entry.hash.0.ct_eq(&hash.0)))
}

fn entries(tokens: &Tokens, used_at: impl Fn(&TokenHash) -> Arc<AtomicI64>) -> Entries {
    let mut entries = Entries::new();
    for token in tokens.iter() {
        let entry = Entry {
            hash: token.hash,
            name: token.name.as_str().into(),
            expires_at: token.expires_at,
            is_revoked: token.revoked_at.is_some(),
            used_at: used_at(&token.hash),
        };
        entries.entry(token.hash.group()).or_default().push(entry);
    }
    entries
}

fn stamp(home: &Home) -> FileStamp {
    let metadata = std::fs::metadata(home.tokens()).ok();
    FileStamp(metadata.map(|of| (of.dev(), of.ino(), of.mtime(), of.mtime_nsec(), of.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use grov_redact::Secret;
    use time::Duration;

    const NOW: OffsetDateTime = time::macros::datetime!(2026-01-02 03:04:05 UTC);

    fn home(folder: &tempfile::TempDir) -> Home {
        Home::locate(Some(folder.path()), &Environment::default()).unwrap()
    }

    fn create(home: &Home, name: &str, expires_at: Option<OffsetDateTime>) -> Secret {
        Tokens::update(home, |tokens| tokens.create(name, expires_at, None, NOW)).unwrap()
    }

    #[test]
    fn tokens_are_valid_until_they_expire_or_are_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        let table = TokenTable::load(&home).unwrap();
        assert_eq!(table.check(b"", NOW), Err(TokenFault::Unknown));
        let ana = create(&home, "ana", None);
        let ben = create(&home, "ben", Some(NOW + Duration::days(1)));
        assert_eq!(
            table.check(ana.expose().as_bytes(), NOW),
            Err(TokenFault::Unknown)
        );
        assert!(table.refresh().unwrap() && !table.refresh().unwrap());
        assert_eq!(table.active(NOW), 2);
        let check = |token: &Secret, at| table.check(token.expose().as_bytes(), at);
        assert_eq!(check(&ana, NOW).as_deref(), Ok("ana"));
        assert_eq!(check(&ben, NOW).as_deref(), Ok("ben"));
        let tomorrow = NOW + Duration::days(1);
        assert_eq!(check(&ben, tomorrow), Err(TokenFault::Expired("ben".into())));
        Tokens::update(&home, |tokens| Ok(tokens.revoke("ana", NOW).is_some())).unwrap();
        assert_eq!(check(&ana, NOW).as_deref(), Ok("ana"), "not read yet");
        assert!(table.refresh().unwrap());
        assert_eq!(check(&ana, NOW), Err(TokenFault::Revoked("ana".into())));
        let mut changed = ben.expose().to_owned();
        changed.pop();
        assert_eq!(table.check(changed.as_bytes(), NOW), Err(TokenFault::Unknown));
    }

    #[test]
    fn a_malformed_file_keeps_the_old_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        let ana = create(&home, "ana", None);
        let table = TokenTable::load(&home).unwrap();
        let good = std::fs::read(home.tokens()).unwrap();
        std::fs::write(home.tokens(), "{").unwrap();
        assert!(table.refresh().is_err());
        assert!(!table.refresh().unwrap(), "the error is reported once");
        assert!(table.check(ana.expose().as_bytes(), NOW).is_ok());
        assert!(TokenTable::load(&home).is_err());
        std::fs::write(home.tokens(), good).unwrap();
        assert!(table.refresh().unwrap());
        // Without a file there are no tokens.
        std::fs::remove_file(home.tokens()).unwrap();
        assert!(table.refresh().unwrap());
        assert_eq!(table.active(NOW), 0);
    }

    #[test]
    fn a_revocation_that_could_not_be_read_once_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        let ana = create(&home, "ana", None);
        let table = TokenTable::load(&home).unwrap();
        Tokens::update(&home, |tokens| Ok(tokens.revoke("ana", NOW).is_some())).unwrap();
        let good = std::fs::read(home.tokens()).unwrap();
        // A test cannot make a single read fail, not even by permissions if it runs as root. This file has another content
        // of the same size and time instead.
        let time = std::fs::metadata(home.tokens()).unwrap().modified().unwrap();
        let write = |content: &[u8]| {
            let mut file = std::fs::File::options().write(true).open(home.tokens()).unwrap();
            std::io::Write::write_all(&mut file, content).unwrap();
            file.set_modified(time).unwrap();
        };
        write(&vec![b'x'; good.len()]);
        assert!(table.refresh().is_err());
        assert!(!table.refresh().unwrap(), "reported once");
        assert!(table.check(ana.expose().as_bytes(), NOW).is_ok());
        write(&good);
        assert!(table.refresh().unwrap());
        assert!(table.check(ana.expose().as_bytes(), NOW).is_err());
    }

    #[test]
    fn a_fault_ends_when_the_old_file_comes_back_and_is_reported_anew() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        create(&home, "ana", None);
        let table = TokenTable::load(&home).unwrap();
        let (aside, damaged) = (folder.path().join("aside"), folder.path().join("damaged"));
        std::fs::write(&damaged, "{").unwrap();
        for _ in 0..2 {
            std::fs::rename(home.tokens(), &aside).unwrap();
            std::fs::rename(&damaged, home.tokens()).unwrap();
            assert!(table.refresh().is_err());
            std::fs::rename(home.tokens(), &damaged).unwrap();
            std::fs::rename(&aside, home.tokens()).unwrap();
            assert!(!table.refresh().unwrap());
        }
    }

    #[test]
    fn uses_survive_changes_and_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        let ana = create(&home, "ana", None);
        let table = TokenTable::load(&home).unwrap();
        table.save_uses().unwrap();
        assert!(!home.token_uses().exists(), "nothing to save");
        table.check(ana.expose().as_bytes(), NOW).unwrap();
        create(&home, "ben", None);
        table.refresh().unwrap();
        table.save_uses().unwrap();
        let uses = Tokens::last_uses(&home);
        let tokens = Tokens::read(&home).unwrap();
        let used: Vec<_> = tokens.iter().map(|token| uses.of(token)).collect();
        assert_eq!(used, [Some(NOW), None]);
        let restarted = TokenTable::load(&home).unwrap();
        assert_eq!(restarted.uses(), table.uses());
    }
}
