//! Regular cleaning.

use crate::service::Service;
use std::time::{Duration, SystemTime};

/// Expires tool calls, deletes what is past its lifetime, and removes uploaded files that no document has. Errors are logged:
/// the next time does what was left.
pub async fn tidy(service: &Service) {
    let now = service.now();
    match service.store().expire_tool_calls(now).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "tool calls expired"),
        Err(error) => tracing::warn!(%error, "tool calls could not be expired"),
    }
    if let Err(error) = service.store().tidy(now).await {
        tracing::warn!(%error, "old rows could not be deleted");
    }
    service.chat_limits.tidy();
}

/// Removes uploaded files that no document has.
pub async fn tidy_uploads(service: &Service) {
    let uploads = service.parts.uploads.clone();
    let found = tokio::task::spawn_blocking({
        let uploads = uploads.clone();
        move || uploads.removable(SystemTime::now())
    });
    let hashes = match found.await {
        Ok(Ok(hashes)) => hashes,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the upload directory cannot be read");
            return;
        }
        Err(_) => return,
    };
    for hash in hashes {
        match service.store().is_content_used(&hash).await {
            Ok(true) => {}
            Ok(false) => {
                if let Err(error) = uploads.remove(&hash, SystemTime::now()) {
                    tracing::warn!(%error, "an unused upload cannot be removed");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "unused uploads could not be found");
                return;
            }
        }
        // Many old uploads must not keep the database busy.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
