//! The files of the authority: made once under a lock, renewed with an overlap.

use crate::authority::Authority;
use crate::error::CaError;
use crate::name::ServerName;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use time::{Duration, OffsetDateTime};

/// An authority is renewed this long before it expires.
const RENEW_BEFORE: Duration = Duration::days(30);

/// How long the authority before the current one keeps signing for its hosts: a client reads the certificates only when it
/// starts, and one that started before the change knows only the old one.
pub const OVERLAP: Duration = Duration::days(7);

/// A file that [`CaFiles::write_bundle_with`] wrote is deleted this long after the last client started with it. A client reads it
/// only at its start, but may start others.
const UNUSED: Duration = Duration::days(30);

/// The names of files with more certificates than the authority's.
const COMMON_PREFIX: &str = "bundle-";
const COMMON_SUFFIX: &str = ".pem";

/// What happens to the current authority when it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// It signs for [`OVERLAP`], then the new one does.
    Keep,
    /// It is deleted. Clients that run must be restarted.
    None,
}

/// The directory of the authority.
#[derive(Clone, Debug)]
pub struct CaFiles {
    directory: PathBuf,
}

/// The current authority and, during an overlap, the one before it.
#[derive(Debug)]
pub struct Authorities {
    /// The newest.
    pub current: Authority,
    /// The one before it, until it is superseded.
    pub old: Option<Authority>,
    /// What was repaired or replaced, for the user.
    pub notes: Vec<String>,
}

/// Changes when the files change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp([Option<(u64, i64, i64)>; 2]);

impl FileStamp {
    /// Returns whether there are no files.
    pub fn is_deleted(&self) -> bool {
        self.0 == [None, None]
    }
}

impl Authorities {
    /// Returns the authority that signs for a host: the old one as long as the overlap lasts. `None` if none may sign for it.
    pub fn issuer_for(&self, host: &ServerName, now: OffsetDateTime) -> Option<&Authority> {
        let old = self.old.as_ref().filter(|old| is_in_use(old, &self.current, now));
        let mut candidates = old.into_iter().chain(Some(&self.current));
        candidates.find(|authority| authority.permits(host) && authority.is_valid(now))
    }

    /// Returns the certificates that a client must trust, PEM.
    pub fn bundle(&self) -> String {
        let all = [Some(&self.current), self.old.as_ref()];
        all.into_iter().flatten().map(Authority::pem).collect()
    }
}

/// Whether the old authority still signs, and has a day left for a leaf.
fn is_in_use(old: &Authority, current: &Authority, now: OffsetDateTime) -> bool {
    old.is_valid(now) && old.is_valid(now + Duration::days(1)) && now < current.created_at() + OVERLAP
}

/// Whether clients must still trust the old authority: some of its leaves may be in use.
fn is_trusted(old: &Authority, current: &Authority, now: OffsetDateTime) -> bool {
    old.is_valid(now) && now < current.created_at() + OVERLAP + Duration::days(2)
}

/// What is in the files of an authority.
enum Found {
    Nothing,
    Usable(Box<Authority>),
    /// With the reason.
    Unusable(String),
}

impl CaFiles {
    /// The authority in `directory`. Does not access the file system.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the path of the current certificate.
    pub fn certificate(&self) -> PathBuf {
        self.directory.join("ca.crt")
    }

    /// Returns the path of the file with all certificates that a client must trust.
    pub fn bundle(&self) -> PathBuf {
        self.directory.join("bundle.pem")
    }

    /// Writes a file with the certificates of the authority and `more` of the user's own, PEM. Returns its path. Each content has
    /// a file of its own, so that clients that start at the same time do not disturb each other; files that no client started
    /// with for 30 days are deleted.
    ///
    /// # Errors
    /// If the authority's file cannot be read, or the common one cannot be written.
    pub fn write_bundle_with(&self, more: &str, now: OffsetDateTime) -> Result<PathBuf, CaError> {
        // Another process must not delete it as unused between its writing and its next use, nor a client get a mix.
        let _lock = self.lock()?;
        let own = self.bundle();
        let certificates = std::fs::read_to_string(&own).map_err(CaError::io(&own))?;
        let both = format!("{}\n{more}", certificates.trim_end());
        let mut hasher = DefaultHasher::new();
        both.hash(&mut hasher);
        let name = format!("{COMMON_PREFIX}{:016x}{COMMON_SUFFIX}", hasher.finish());
        let path = self.directory.join(name);
        // Written again, so that its time says when it was last used.
        write(&path, &both)?;
        for unused in self.common_bundles() {
            let written = std::fs::metadata(&unused).and_then(|metadata| metadata.modified());
            if written.is_ok_and(|at| OffsetDateTime::from(at) + UNUSED < now) {
                // Another process may have deleted it already. If it stays, the next call tries again.
                let _ = std::fs::remove_file(&unused);
            }
        }
        Ok(path)
    }

    /// The files that [`write_bundle_with`](Self::write_bundle_with) wrote.
    fn common_bundles(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten();
        let is_common = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(COMMON_PREFIX) && name.ends_with(COMMON_SUFFIX))
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter(is_common).collect()
    }

    fn key(&self) -> PathBuf {
        self.directory.join("ca.key")
    }

    fn old_certificate(&self) -> PathBuf {
        self.directory.join("old.crt")
    }

    fn old_key(&self) -> PathBuf {
        self.directory.join("old.key")
    }

    /// Returns the permissions of a key that other users can access, or `None` if there is none. `ensure` takes them back.
    pub fn exposed_key(&self) -> Option<u32> {
        let mut modes = [self.key(), self.old_key()].into_iter().filter_map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some(metadata.permissions().mode() & 0o7777)
        });
        modes.find(|mode| mode & 0o077 != 0)
    }

    /// Returns a value that changes when another process replaces or deletes the files.
    pub fn stamp(&self) -> FileStamp {
        FileStamp([self.certificate(), self.key()].map(|path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.ino(), found.mtime(), found.mtime_nsec()))
        }))
    }

    /// Returns the authorities, and makes or renews one if needed: there is none, it is unusable, it expires within 30 days,
    /// or it may not sign for one of `hosts`. Many processes may call this at once.
    ///
    /// # Errors
    /// If the files cannot be read or written, or belong to another user.
    pub fn ensure(&self, hosts: &[ServerName], now: OffsetDateTime) -> Result<Authorities, CaError> {
        self.ensure_stamped(hosts, now)
            .map(|(authorities, _)| authorities)
    }

    /// Like [`ensure`](Self::ensure). Returns the [`stamp`](Self::stamp) of the files with these authorities too: without the lock
    /// another process may replace them before they are looked at.
    ///
    /// # Errors
    /// Like [`ensure`](Self::ensure).
    pub fn ensure_stamped(
        &self,
        hosts: &[ServerName],
        now: OffsetDateTime,
    ) -> Result<(Authorities, FileStamp), CaError> {
        let _lock = self.lock()?;
        let authorities = self.ensure_locked(hosts, now)?;
        Ok((authorities, self.stamp()))
    }

    fn ensure_locked(&self, hosts: &[ServerName], now: OffsetDateTime) -> Result<Authorities, CaError> {
        let mut notes = Vec::new();
        self.check_permissions(&mut notes)?;
        let old = self.found_old(now);
        let current = match self.found(&self.certificate(), &self.key())? {
            Found::Usable(current) => match reason_to_replace(&current, hosts, now) {
                None => return self.settle(*current, old, now, notes),
                Some(reason) => {
                    notes.push(format!("the certificate authority was renewed: {reason}"));
                    current.is_valid(now).then_some(*current)
                }
            },
            Found::Unusable(reason) => {
                notes.push(format!(
                    "the certificate authority was replaced, because {reason}; clients that run must be restarted"
                ));
                None
            }
            Found::Nothing => None,
        };
        self.replace(hosts, current.or(old), now, notes)
    }

    /// Replaces the authority.
    ///
    /// # Errors
    /// If the files cannot be read or written, or belong to another user.
    pub fn rotate(
        &self,
        hosts: &[ServerName],
        overlap: Overlap,
        now: OffsetDateTime,
    ) -> Result<Authorities, CaError> {
        let _lock = self.lock()?;
        let mut notes = Vec::new();
        self.check_permissions(&mut notes)?;
        let previous = match (overlap, self.found(&self.certificate(), &self.key())?) {
            (Overlap::Keep, Found::Usable(current)) if current.is_valid(now) => Some(*current),
            _ => None,
        };
        self.replace(hosts, previous, now, notes)
    }

    /// Returns the authorities as they are, or `None` if there are none. Changes nothing.
    ///
    /// # Errors
    /// If the files cannot be read. The error says so also if the current authority is unusable.
    pub fn load(&self, now: OffsetDateTime) -> Result<Option<Authorities>, CaError> {
        let current = match self.found(&self.certificate(), &self.key())? {
            Found::Nothing => return Ok(None),
            Found::Usable(current) => *current,
            Found::Unusable(reason) => {
                let source = io::Error::new(ErrorKind::InvalidData, reason);
                return Err(CaError::io(self.certificate())(source));
            }
        };
        Ok(Some(Authorities {
            current,
            old: self.found_old(now),
            notes: Vec::new(),
        }))
    }

    /// Deletes the authority. Returns whether there was one.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    pub fn remove(&self) -> Result<bool, CaError> {
        if !self.directory.exists() {
            return Ok(false);
        }
        // The lock file stays: deleting it would let two processes hold a lock of this name.
        let _lock = self.lock()?;
        let mut found = false;
        let own = [
            self.certificate(),
            self.key(),
            self.old_certificate(),
            self.old_key(),
            self.bundle(),
        ];
        for path in own.into_iter().chain(self.common_bundles()) {
            found |= remove_file(&path)?;
        }
        Ok(found)
    }

    /// Waits for the lock. The system releases it also when a process crashes.
    fn lock(&self) -> Result<File, CaError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .map_err(CaError::io(&self.directory))?;
        let path = self.directory.join("ca.lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(CaError::io(&path))?;
        file.lock().map_err(CaError::io(&path))?;
        Ok(file)
    }

    /// Refuses files of other users, and takes back permissions of other users.
    fn check_permissions(&self, notes: &mut Vec<String>) -> Result<(), CaError> {
        let own = rustix::process::geteuid().as_raw();
        for (path, mode) in [
            (self.directory.clone(), 0o700),
            (self.key(), 0o600),
            (self.old_key(), 0o600),
        ] {
            let metadata = match std::fs::metadata(&path) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(CaError::io(path)(error)),
            };
            if metadata.uid() != own {
                let owner = metadata.uid();
                return Err(CaError::ForeignOwner { path, owner });
            }
            if metadata.permissions().mode() & 0o077 != 0 {
                std::fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(CaError::io(&path))?;
                notes.push(format!(
                    "{} was accessible to other users and no longer is; if one of them may have read the key, run `grov ca rotate --now`",
                    path.display()
                ));
            }
        }
        Ok(())
    }

    /// Reads an authority.
    fn found(&self, certificate: &Path, key: &Path) -> Result<Found, CaError> {
        let read = |path: &Path| match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // Not UTF-8: the content is no PEM file.
            Err(error) if error.kind() == ErrorKind::InvalidData => Ok(Some(String::new())),
            Err(error) => Err(CaError::io(path)(error)),
        };
        Ok(match (read(certificate)?, read(key)?) {
            (None, None) => Found::Nothing,
            (Some(_), None) => Found::Unusable("its key is missing".to_owned()),
            (None, Some(_)) => Found::Unusable("its certificate is missing".to_owned()),
            (Some(certificate), Some(key)) => match Authority::parse(&certificate, &key) {
                Ok(authority) => Found::Usable(Box::new(authority)),
                Err(reason) => Found::Unusable(reason),
            },
        })
    }

    /// Reads the authority before the current one, if it is usable and valid.
    fn found_old(&self, now: OffsetDateTime) -> Option<Authority> {
        match self.found(&self.old_certificate(), &self.old_key()) {
            Ok(Found::Usable(old)) if old.is_valid(now) => Some(*old),
            _ => None,
        }
    }

    /// Keeps the current authority, and drops the old one once it is superseded.
    fn settle(
        &self,
        current: Authority,
        old: Option<Authority>,
        now: OffsetDateTime,
        notes: Vec<String>,
    ) -> Result<Authorities, CaError> {
        let old = old.filter(|old| is_trusted(old, &current, now));
        if old.is_none() {
            remove_file(&self.old_key())?;
            remove_file(&self.old_certificate())?;
        }
        let authorities = Authorities { current, old, notes };
        let bundle = authorities.bundle();
        if std::fs::read(self.bundle()).ok().as_deref() != Some(bundle.as_bytes()) {
            write(&self.bundle(), &bundle)?;
        }
        Ok(authorities)
    }

    /// Makes an authority, in an order that a crash leaves in a state from which `ensure` recovers.
    fn replace(
        &self,
        hosts: &[ServerName],
        previous: Option<Authority>,
        now: OffsetDateTime,
        notes: Vec<String>,
    ) -> Result<Authorities, CaError> {
        let current = Authority::create(hosts, now)?;
        if let Some(previous) = &previous {
            write(&self.old_key(), &previous.key_pem())?;
            write(&self.old_certificate(), previous.pem())?;
        }
        write(&self.key(), &current.key_pem())?;
        write(&self.certificate(), current.pem())?;
        self.settle(current, previous, now, notes)
    }
}

/// Why the current authority must be replaced.
fn reason_to_replace(current: &Authority, hosts: &[ServerName], now: OffsetDateTime) -> Option<String> {
    if now < current.not_before() {
        return Some(
            "it is not valid yet, so the clock was wrong when it was made or is wrong now".to_owned(),
        );
    }
    if !current.is_valid(now) {
        return Some("it has expired".to_owned());
    }
    if !current.is_valid(now + RENEW_BEFORE) {
        return Some(format!("it expires on {}", current.not_after().date()));
    }
    let missing = hosts.iter().find(|host| !current.permits(host))?;
    Some(format!("it was not made for {missing}"))
}

/// Replaces a file atomically. Only its owner can read it.
fn write(path: &Path, content: &str) -> Result<(), CaError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let written = NamedTempFile::new_in(directory).and_then(|mut file| {
        file.write_all(content.as_bytes())?;
        file.persist(path).map_err(io::Error::from)
    });
    written.map(drop).map_err(CaError::io(path))
}

/// Returns whether there was a file.
fn remove_file(path: &Path) -> Result<bool, CaError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(CaError::io(path)(error)),
    }
}

#[cfg(test)]
mod tests;
