//! Requests to providers: time limits, and retries where nothing was billed.

use crate::Surroundings;
use bytes::Bytes;
use grov_llm::{ProviderCallError, ProviderClient, ProviderResponse, ProviderRoute};
use grov_tools::model::status;
use grov_tools::{ErrorKind, HttpCall, ToolError};
use std::io::Read;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The limit of a response body. Twenty pages of two megabytes fit.
const MAX_RESPONSE: usize = 64 * 1024 * 1024;
/// The limit of a stream, of which only the text is kept. A stream may repeat its text in each event.
const MAX_STREAM: usize = 1024 * 1024 * 1024;
/// Requests of one call, the first included.
const MAX_REQUESTS: u32 = 3;
/// The pause before the first retry; doubled before the second.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// A longer `Retry-After` is reported instead of awaited.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Where calls go, and how long they may take.
pub(crate) struct Line<'a> {
    pub(crate) around: &'a Surroundings,
    /// The provider's name in messages.
    pub(crate) provider: &'a str,
    pub(crate) base: &'a str,
    /// The limit of silence.
    pub(crate) silence: Duration,
    /// The end of the whole call; `None` for a stream.
    pub(crate) deadline: Option<Instant>,
}

impl Line<'_> {
    /// Posts a request and reads the whole response.
    pub(crate) async fn post(&self, call: &HttpCall) -> Result<Vec<u8>, ToolError> {
        self.limited(async { self.body(self.open(call).await?).await })
            .await
    }

    /// Posts a request, and has the response read on a thread of its own while it arrives, so that it is in memory only once.
    pub(crate) async fn post_and_read<T: Send + 'static>(
        &self,
        call: &HttpCall,
        read: impl FnOnce(ChunkReader) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        self.limited(async {
            let mut response = self.open(call).await?;
            let (sender, chunks) = mpsc::channel(4);
            let reading = tokio::task::spawn_blocking(move || {
                read(ChunkReader {
                    chunks,
                    current: Bytes::new(),
                })
            });
            while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
                // The reader has given up, and says why.
                if sender.send(chunk).await.is_err() {
                    break;
                }
            }
            drop(sender);
            let lost = |_| ToolError::new(ErrorKind::BadAnswer, "reading the response failed");
            reading.await.map_err(lost)?
        })
        .await
    }

    /// Gets an address whose query is the path, and reads the whole response.
    pub(crate) async fn get(&self, call: &HttpCall) -> Result<Vec<u8>, ToolError> {
        self.limited(async {
            let client = self.client(self.base, call).await?;
            let response = client.get(&call.path).await.map_err(|error| self.failed(error))?;
            let status = response.status();
            let retry_after = response.retry_after();
            let body = self.body(response).await?;
            match status {
                200..300 => Ok(body),
                _ => Err(without_keys(
                    status::error(self.provider, status, retry_after, &body),
                    call,
                )),
            }
        })
        .await
    }

    async fn client(&self, base: &str, call: &HttpCall) -> Result<ProviderClient, ToolError> {
        let route = ProviderRoute {
            timeout: self.silence,
            proxy: self.around.proxy.clone(),
            own_listeners: self.around.own_listeners.clone(),
            max_response_bytes: match self.deadline {
                Some(_) => MAX_RESPONSE,
                None => MAX_STREAM,
            },
        };
        let client = ProviderClient::by_route(base, &call.headers, route);
        client.await.map_err(|error| self.failed(error))
    }

    /// Posts a request, and returns the response with status 200 whose body is not read yet.
    pub(crate) async fn open(&self, call: &HttpCall) -> Result<ProviderResponse, ToolError> {
        let (base, path) = joined(self.base, &call.path);
        let client = self.client(base, call).await?;
        let body = call.body.to_string().into_bytes();
        let mut requests = 1;
        loop {
            let error = match self.attempt(&client, path, body.clone()).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let Some(pause) = self.pause(&error, requests) else {
                return Err(without_keys(error, call));
            };
            (self.around.progress)(&format!(
                "{} is busy, next try in {:.1} s",
                self.provider,
                pause.as_secs_f64()
            ));
            tokio::time::sleep(pause).await;
            requests += 1;
        }
    }

    async fn attempt(
        &self,
        client: &ProviderClient,
        path: &str,
        body: Vec<u8>,
    ) -> Result<ProviderResponse, ToolError> {
        let response = client
            .post(path, body)
            .await
            .map_err(|error| self.failed(error))?;
        let status = response.status();
        if (200..300).contains(&status) {
            return Ok(response);
        }
        let retry_after = response.retry_after();
        // The status tells what happened, even if the body breaks off.
        let body = self.body(response).await.unwrap_or_default();
        Err(status::error(self.provider, status, retry_after, &body))
    }

    /// Reads the rest of a response.
    pub(crate) async fn body(&self, mut response: ProviderResponse) -> Result<Vec<u8>, ToolError> {
        let expected = response.length().unwrap_or_default().min(MAX_RESPONSE as u64);
        // A length below the limit fits.
        let mut body = Vec::with_capacity(expected as usize);
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
            if body.len() + chunk.len() > MAX_RESPONSE {
                return Err(self.too_long(MAX_RESPONSE));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The error of a response that is longer than what is kept.
    pub(crate) fn too_long(&self, most: usize) -> ToolError {
        ToolError::new(
            ErrorKind::BadAnswer,
            format!(
                "{}'s answer is longer than {most} bytes, so it is not read",
                self.provider
            ),
        )
        .hint("it was billed; ask a smaller question")
    }

    /// Ends `work` at the deadline.
    pub(crate) async fn limited<T>(
        &self,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        match self.deadline {
            None => work.await,
            Some(deadline) => match tokio::time::timeout_at(deadline, work).await {
                Ok(result) => result,
                Err(_) => Err(self.failed(ProviderCallError::TimedOut(self.silence))),
            },
        }
    }

    /// The pause before the next request; `None` to give up.
    fn pause(&self, error: &ToolError, requests: u32) -> Option<Duration> {
        if !error.kind.is_unbilled_and_passing() || requests >= MAX_REQUESTS {
            return None;
        }
        let pause = error
            .retry_after
            .unwrap_or_default()
            .max(FIRST_PAUSE * 2_u32.pow(requests - 1));
        let is_late = self
            .deadline
            .is_some_and(|deadline| Instant::now() + pause >= deadline);
        (pause <= MAX_PAUSE && !is_late).then_some(pause)
    }

    /// The error of a failed exchange.
    pub(crate) fn failed(&self, error: ProviderCallError) -> ToolError {
        let provider = self.provider;
        match error {
            ProviderCallError::Setup(reason) => ToolError::new(
                ErrorKind::Configuration,
                format!("{provider} cannot be called: {reason}"),
            )
            .hint("check the base address and the key"),
            ProviderCallError::Unreachable(reason) => ToolError::new(
                ErrorKind::Unreachable,
                format!("{provider} cannot be reached: {reason}"),
            )
            .hint("check the network and the base address"),
            ProviderCallError::TimedOut(limit) => ToolError::new(
                ErrorKind::TimedOut,
                format!("{provider} did not answer within {} ms", limit.as_millis()),
            )
            .hint("it may have been billed; raise ENVOY_TIMEOUT_MS, or ask for less"),
            other => ToolError::new(
                ErrorKind::Incomplete,
                format!("the connection to {provider} broke off: {other}"),
            )
            .hint("it may have been billed; call it again"),
        }
    }
}

/// A response as a reader, on another thread than the one that receives it.
pub(crate) struct ChunkReader {
    chunks: mpsc::Receiver<Bytes>,
    current: Bytes,
}

impl Read for ChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.current.is_empty() {
            match self.chunks.blocking_recv() {
                Some(chunk) => self.current = chunk,
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.current.len());
        buffer[..count].copy_from_slice(&self.current.split_to(count));
        Ok(count)
    }
}

/// A base address with a version at its end, as some write it, and a path that begins with the version.
fn joined<'a>(base: &'a str, path: &'a str) -> (&'a str, &'a str) {
    let base = base.trim_end_matches('/');
    let short = ["/v1beta", "/v1"].iter().find_map(|version| {
        let is_repeated = path.starts_with(&format!("{version}/"));
        base.strip_suffix(version).filter(|_| is_repeated)
    });
    (short.unwrap_or(base), path)
}

/// A provider may repeat the key in its message.
fn without_keys(mut error: ToolError, call: &HttpCall) -> ToolError {
    for (_, value) in &call.headers {
        let key = value.expose().strip_prefix("Bearer ").unwrap_or(value.expose());
        if key.len() >= 6 {
            error.message = error.message.replace(key, "[secret]");
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_in_the_base_is_not_repeated() {
        for (base, path, url) in [
            (
                "http://h/v1/",
                "/v1/chat/completions",
                "http://h/v1/chat/completions",
            ),
            ("http://h", "/v1/chat/completions", "http://h/v1/chat/completions"),
            ("http://h/v1beta", "/v1beta/models/m", "http://h/v1beta/models/m"),
            ("http://h/v1", "/search", "http://h/v1/search"),
        ] {
            let (base, path) = joined(base, path);
            assert_eq!(format!("{base}{path}"), url);
        }
    }
}
