//! What many open pages show alike is read once for each change, not once for each page.

use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long a value is used if nothing changes.
const LIFETIME: Duration = Duration::from_secs(1);

/// A value that is read again when something changed. Readers at the same time wait for one of them.
pub(crate) struct Memo<T>(Mutex<Option<Kept<T>>>);

struct Kept<T> {
    version: u64,
    read_at: Instant,
    value: Arc<T>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Memo<T> {
    /// Returns the value for a version; without a version it is read each time.
    ///
    /// # Errors
    /// Returns the error of the reader. Nothing is kept then.
    pub(crate) async fn get<E>(
        &self,
        version: Option<u64>,
        read: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let Some(version) = version else {
            return read().await.map(Arc::new);
        };
        let mut kept = self.0.lock().await;
        let usable = kept
            .as_ref()
            .filter(|kept| kept.version >= version && kept.read_at.elapsed() < LIFETIME);
        if let Some(kept) = usable {
            return Ok(Arc::clone(&kept.value));
        }
        // What changes while it is read may be missing, and has a later version.
        let read_at = Instant::now();
        let value = Arc::new(read().await?);
        *kept = Some(Kept {
            version,
            read_at,
            value: Arc::clone(&value),
        });
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn a_value_is_read_once_for_each_version() {
        let (memo, reads) = (Memo::default(), Cell::new(0));
        let get = async |version| {
            let read = async || {
                reads.set(reads.get() + 1);
                Ok::<_, ()>(reads.get())
            };
            memo.get(version, read).await.map(|value| *value)
        };
        assert_eq!([get(Some(1)).await, get(Some(1)).await], [Ok(1), Ok(1)]);
        assert_eq!(get(Some(2)).await, Ok(2));
        // Nobody tells of changes: each time is the first.
        assert_eq!([get(None).await, get(None).await], [Ok(3), Ok(4)]);
        let failed = memo.get(Some(3), async || Err::<i32, _>("busy")).await;
        assert_eq!(failed, Err("busy"));
        assert_eq!(get(Some(3)).await, Ok(5));
    }
}
