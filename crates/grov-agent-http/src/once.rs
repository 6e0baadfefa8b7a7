//! `Idempotency-Key`: a POST with the same key and the same body is carried out once, and answered the same each time.
//!
//! Within a process, requests with the same key wait for each other. Across processes and crashes the stored answer decides:
//! a chat, an upload and a change of memory store it in their own transaction; what other requests do is the same if they are
//! carried out again.

use crate::problem::{Code, Problem};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use grov_agent::{KeyId, Replay};
use grov_redact::{Redacted, Redactor};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

/// The header.
pub(crate) const HEADER: &str = "idempotency-key";
/// The header of an answer that was given before.
pub(crate) const REPLAYED: &str = "idempotency-replayed";
/// The longest key.
const MAX_KEY: usize = 255;
/// How long a request waits for another one with the same key: longer than a chat with several calls of the model takes.
const MAX_WAIT: Duration = Duration::from_secs(10 * 60);

type Id = (KeyId, Uuid);

/// A request that is carried out, or waits for its turn.
struct Entry {
    fingerprint: [u8; 32],
    lock: Arc<tokio::sync::Mutex<()>>,
}

/// The requests that are being carried out.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashMap<Id, Entry>>>);

impl Running {
    /// Waits until no other request with this key is being carried out.
    ///
    /// # Errors
    ///
    /// Returns 409 if that takes too long, and at once if the other request has another body.
    pub(crate) async fn enter(
        &self,
        owner: KeyId,
        key: Uuid,
        fingerprint: [u8; 32],
    ) -> Result<Once, Problem> {
        let id = (owner, key);
        let lock = {
            let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = running.entry(id).or_insert_with(|| Entry {
                fingerprint,
                lock: Arc::default(),
            });
            if entry.fingerprint != fingerprint {
                return Err(other_request());
            }
            Arc::clone(&entry.lock)
        };
        // Also removes the entry if the client does not wait.
        let mut turn = Turn {
            running: self.clone(),
            id,
            guard: None,
        };
        turn.guard = tokio::time::timeout(MAX_WAIT, lock.lock_owned()).await.ok();
        if turn.guard.is_none() {
            let detail =
                "a request with the same Idempotency-Key is still being carried out; send it again later";
            return Err(Problem::new(Code::Conflict, detail).retry_after(Duration::from_secs(5)));
        }
        Ok(Once {
            owner,
            key: Redactor::shared().text(&key.to_string()),
            fingerprint,
            _turn: Arc::new(turn),
        })
    }
}

/// The turn of one request. The next one with the same key begins when it is dropped.
struct Turn {
    running: Running,
    id: Id,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard = None;
        let mut running = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running
            .get(&self.id)
            .is_some_and(|entry| Arc::strong_count(&entry.lock) == 1)
        {
            running.remove(&self.id);
        }
    }
}

/// A request that is carried out once. Clones share the turn.
#[derive(Clone)]
pub(crate) struct Once {
    owner: KeyId,
    key: Redacted,
    fingerprint: [u8; 32],
    _turn: Arc<Turn>,
}

impl Once {
    pub(crate) fn owner(&self) -> KeyId {
        self.owner
    }

    pub(crate) fn key(&self) -> &Redacted {
        &self.key
    }

    /// The answer to be stored.
    pub(crate) fn replay(&self, status: StatusCode, body: &str) -> Replay {
        Replay {
            owner: self.owner,
            key: self.key.clone(),
            fingerprint: self.fingerprint,
            status: status.as_u16(),
            body: Redactor::shared().json(body),
        }
    }

    /// The stored answer, or 409 if it was the answer to another request.
    pub(crate) fn check(&self, replay: Replay) -> Result<Replay, Problem> {
        if replay.fingerprint == self.fingerprint {
            return Ok(replay);
        }
        Err(other_request())
    }

    /// An id that is the same whenever the request is carried out, for what it creates.
    pub(crate) fn created_id(&self) -> Uuid {
        let mut hash = Sha256::new();
        hash.update(self.owner.to_string());
        hash.update(self.key.as_bytes());
        hash.update(self.fingerprint);
        digest_uuid(&hash.finalize().into())
    }
}

fn other_request() -> Problem {
    let detail = "the Idempotency-Key was used for another request; use a new key for each request";
    Problem::new(Code::Conflict, detail)
}

/// The key of a request, if it has one.
///
/// # Errors
///
/// Returns 422 for a key that is empty, too long or not visible ASCII.
pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<Uuid>, Problem> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(text) if !text.is_empty() && text.len() <= MAX_KEY => {
            Ok(Some(digest_uuid(&Sha256::digest(text).into())))
        }
        _ => {
            let message = "has to be 1 to 255 visible ASCII characters";
            Err(Problem::invalid("Idempotency-Key", message))
        }
    }
}

/// Distinguishes requests. A multipart body counts without its boundary, which a client chooses anew each time.
pub(crate) fn fingerprint(request: &http::request::Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in [
        request.method.as_str(),
        request.uri.path(),
        request.uri.query().unwrap_or_default(),
    ] {
        hash.update(text);
        hash.update([0]);
    }
    match boundary(&request.headers) {
        Some(boundary) => hash_without(&mut hash, body, format!("--{boundary}").as_bytes()),
        None => hash.update(body),
    }
    hash.finalize().into()
}

fn boundary(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let mut parameters = value.split(';').map(str::trim);
    parameters
        .next()?
        .to_ascii_lowercase()
        .starts_with("multipart/")
        .then_some(())?;
    let boundary = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then_some(value)
    })?;
    Some(boundary.trim().trim_matches('"')).filter(|boundary| !boundary.is_empty())
}

fn hash_without(hash: &mut Sha256, body: &[u8], mark: &[u8]) {
    let mut rest = body;
    while let Some(at) = rest.iter().position(|&byte| byte == b'-') {
        let (before, from) = rest.split_at(at);
        hash.update(before);
        rest = match from.strip_prefix(mark) {
            Some(after) => after,
            None => {
                hash.update(b"-");
                &from[1..]
            }
        };
    }
    hash.update(rest);
}

fn digest_uuid(digest: &[u8; 32]) -> Uuid {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The stored answer as a response: JSON, or the `result` of an event stream if the client asked for one.
pub(crate) fn response(replay: Replay, wants_events: bool) -> Response {
    let body = replay.body.into_inner();
    let (media_type, body) = if wants_events {
        ("text/event-stream", format!("event: result\ndata: {body}\n\n"))
    } else {
        ("application/json", body)
    };
    let status = StatusCode::from_u16(replay.status).unwrap_or(StatusCode::OK);
    let mut response = (status, Body::from(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn print(content_type: &str, body: &str) -> [u8; 32] {
        let request = Request::post("/projects/1/docs")
            .header("content-type", content_type)
            .body(())
            .unwrap();
        fingerprint(&request.into_parts().0, body.as_bytes())
    }

    #[test]
    fn a_multipart_body_counts_without_its_boundary() {
        let body = |boundary: &str, text: &str| {
            print(
                &format!("multipart/form-data; boundary=\"{boundary}\""),
                &format!("--{boundary}\r\n\r\n{text}\r\n--{boundary}--\r\n"),
            )
        };
        assert_eq!(body("abc", "a - b"), body("--xyz-1", "a - b"));
        assert_ne!(body("abc", "a - b"), body("abc", "a  b"));
    }

    #[test]
    fn an_id_is_not_taken_for_a_secret() {
        let id = digest_uuid(&[0xAB; 32]).to_string();
        assert_eq!(Redactor::shared().text(&id).into_inner(), id);
    }

    #[test]
    fn keys_are_checked() {
        let key = |text: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_bytes(text).unwrap());
            key_of(&headers)
        };
        assert!(key(b"a").unwrap().is_some());
        assert_ne!(key(b"a").unwrap(), key(b"b").unwrap());
        assert!(key(b"").is_err() && key("ä".as_bytes()).is_err() && key(&[b'a'; 256]).is_err());
        assert_eq!(key_of(&HeaderMap::new()), Ok(None));
    }

    #[tokio::test]
    async fn requests_with_one_key_take_turns_and_leave_nothing_behind() {
        let running = Running::default();
        let owner = KeyId::fresh();
        let key = Uuid::from_u128(7);
        let first = running.enter(owner, key, [0; 32]).await.unwrap();
        let second = running.enter(owner, key, [0; 32]);
        tokio::pin!(second);
        assert!(
            tokio::time::timeout(Duration::from_millis(20), &mut second)
                .await
                .is_err()
        );
        let other = running.enter(KeyId::fresh(), key, [0; 32]).await.unwrap();
        drop((first, other));
        drop(second.await.unwrap());
        assert!(running.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn another_body_with_the_key_of_a_running_request_is_refused_at_once() {
        let running = Running::default();
        let (owner, key) = (KeyId::fresh(), Uuid::from_u128(7));
        let first = running.enter(owner, key, [0; 32]).await.unwrap();
        let other = running.enter(owner, key, [1; 32]);
        let other = tokio::time::timeout(Duration::from_secs(10), other)
            .await
            .unwrap();
        assert_eq!(other.err().map(|problem| problem.code()), Some(Code::Conflict));
        drop(first);
        drop(running.enter(owner, key, [1; 32]).await.unwrap());
    }

    #[tokio::test]
    async fn a_client_that_does_not_wait_for_its_turn_leaves_nothing_behind() {
        let running = Running::default();
        let (owner, key) = (KeyId::fresh(), Uuid::from_u128(7));
        let first = running.enter(owner, key, [0; 32]).await.unwrap();
        let second = running.enter(owner, key, [0; 32]);
        assert!(
            tokio::time::timeout(Duration::from_millis(20), second)
                .await
                .is_err()
        );
        drop(first);
        assert!(running.0.lock().unwrap().is_empty());
    }
}
