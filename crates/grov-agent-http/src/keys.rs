//! Which key a request has.

use grov_agent::{AgentStore, AgentStoreError, Key, KeyId, KeyRole};
use grov_redact::Secret;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{Duration, Instant};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use time::OffsetDateTime;
use tokio::sync::Mutex;
use uuid::Uuid;

/// How old the list of keys may be. A revoked key works no longer than this, on every instance.
const FRESH: Duration = Duration::from_secs(1);

/// How old the list may be while the database does not answer.
const FRESH_ENOUGH: Duration = Duration::from_secs(2);

/// How long the database may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// How long after an error the database is not asked again.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// How old the list may be if it does not have a key. The command that creates a key takes longer, so a new key works at once;
/// and wrong keys do not keep the database busy.
const FRESH_FOR_UNKNOWN: Duration = Duration::from_millis(2);

/// The name of the key that the settings give.
pub const ADMIN_NAME: &str = "admin";

/// Returns the hash under which the secret of a key is stored. The secrets are random, so one round is enough.
pub fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// The keys in force.
pub(crate) struct KeyRing {
    store: Arc<dyn AgentStore>,
    admin: Entry,
    stored: Mutex<Stored>,
}

/// What is known of the stored keys.
#[derive(Default)]
struct Stored {
    /// When the last good list was asked for, and the list.
    list: Option<(Instant, Arc<[Entry]>)>,
    /// When the last attempt ended, and its error.
    ended: Option<(Instant, Option<String>)>,
}

impl Stored {
    fn younger_than(&self, age: Duration) -> Option<Arc<[Entry]>> {
        let (at, list) = self.list.as_ref()?;
        (at.elapsed() < age).then(|| Arc::clone(list))
    }
}

#[derive(Clone)]
struct Entry {
    key: Arc<Key>,
    hash: [u8; 32],
}

impl KeyRing {
    /// Creates a ring of the stored keys and the admin key of the settings.
    pub(crate) fn new(store: Arc<dyn AgentStore>, admin: &Secret) -> Self {
        let key = Key {
            id: KeyId::of(Uuid::from_u128(1)),
            name: ADMIN_NAME.to_owned(),
            role: KeyRole::Admin,
            projects: Vec::new(),
            created_at: OffsetDateTime::UNIX_EPOCH,
            revoked_at: None,
        };
        let admin = Entry {
            key: Arc::new(key),
            hash: secret_hash(admin.expose()),
        };
        Self {
            store,
            admin,
            stored: Mutex::default(),
        }
    }

    /// Returns the key with this secret, or `None` if no key in force has it.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if the keys cannot be read. The admin key needs no store.
    pub(crate) async fn find(&self, secret: &str) -> Result<Option<Arc<Key>>, AgentStoreError> {
        let hash = secret_hash(secret);
        if bool::from(hash.ct_eq(&self.admin.hash)) {
            return Ok(Some(Arc::clone(&self.admin.key)));
        }
        for freshness in [FRESH, FRESH_FOR_UNKNOWN] {
            let stored = self.stored(freshness).await?;
            // Every key is compared, so that the time tells nothing about which one fits.
            let mut found = u64::MAX;
            for (index, entry) in (0_u64..).zip(stored.iter()) {
                let fits: Choice = hash.ct_eq(&entry.hash);
                found.conditional_assign(&index, fits);
            }
            let found = usize::try_from(found).ok().and_then(|index| stored.get(index));
            if let Some(entry) = found {
                return Ok(Some(Arc::clone(&entry.key)));
            }
        }
        Ok(None)
    }

    /// Reads the keys. Requests that wait meanwhile share the result, also if it is an error.
    async fn stored(&self, freshness: Duration) -> Result<Arc<[Entry]>, AgentStoreError> {
        let arrived = Instant::now();
        let mut stored = self.stored.lock().await;
        if let Some(list) = stored.younger_than(freshness) {
            return Ok(list);
        }
        if let Some((ended, error)) = &stored.ended {
            let list = || stored.list.as_ref().map(|(_, list)| Arc::clone(list));
            match error {
                None if *ended >= arrived => {
                    if let Some(list) = list() {
                        return Ok(list);
                    }
                }
                Some(error) if ended.elapsed() < ERROR_PAUSE => {
                    let unavailable = || AgentStoreError::Unavailable(error.clone());
                    return stored.younger_than(FRESH_ENOUGH).ok_or_else(unavailable);
                }
                _ => {}
            }
        }
        let began = Instant::now();
        let read = tokio::time::timeout(TIME_LIMIT, self.store.keys()).await;
        let late = |_| {
            Err(AgentStoreError::Unavailable(format!(
                "the keys were not read within {TIME_LIMIT:?}"
            )))
        };
        let read = read.unwrap_or_else(late);
        stored.ended = Some((Instant::now(), read.as_ref().err().map(ToString::to_string)));
        match read {
            Ok(keys) => {
                let entries = in_force(keys);
                stored.list = Some((began, Arc::clone(&entries)));
                Ok(entries)
            }
            Err(error) => stored.younger_than(FRESH_ENOUGH).ok_or(error),
        }
    }
}

fn in_force(keys: Vec<(Key, [u8; 32])>) -> Arc<[Entry]> {
    let keys = keys.into_iter().filter(|(key, _)| key.revoked_at.is_none());
    keys.map(|(key, hash)| Entry {
        key: Arc::new(key),
        hash,
    })
    .collect()
}
