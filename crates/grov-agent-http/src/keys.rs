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
    stored: Mutex<Option<(Instant, Arc<[Entry]>)>>,
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
            stored: Mutex::new(None),
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

    async fn stored(&self, freshness: Duration) -> Result<Arc<[Entry]>, AgentStoreError> {
        let mut stored = self.stored.lock().await;
        if let Some((at, entries)) = &*stored
            && at.elapsed() < freshness
        {
            return Ok(Arc::clone(entries));
        }
        let at = Instant::now();
        let keys = self.store.keys().await?;
        let in_force = keys.into_iter().filter(|(key, _)| key.revoked_at.is_none());
        let entries: Arc<[Entry]> = in_force
            .map(|(key, hash)| Entry {
                key: Arc::new(key),
                hash,
            })
            .collect();
        *stored = Some((at, Arc::clone(&entries)));
        Ok(entries)
    }
}
