//! Ports that the program provides: store and judge.

use grov_domain::{Judge, StoreError, StoreOpener};
use grov_runtime::Settings;
use std::time::Duration;

/// How long a hook waits for a busy store while the client waits for the hook.
pub(crate) const STORE_TIMEOUT: Duration = Duration::from_millis(20);

type BuildJudge = dyn Fn(&Settings) -> Result<Box<dyn Judge>, StoreError> + Send + Sync;

/// Ports that the program provides.
pub struct Services {
    /// Opens the store.
    pub stores: Box<dyn StoreOpener>,
    /// Builds the configured judge, or one that only applies rules. Fails if neither can be set up.
    pub judge: Box<BuildJudge>,
}
