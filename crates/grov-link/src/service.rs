//! Calls to the agent service.

use crate::LinkError;
use grov_domain::{InboxItem, Incoming, MemoryItem, ProjectId, RemoteRecord, SharedKind, Task};
use grov_redact::{Redacted, Secret};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use rustls_platform_verifier::BuilderVerifierExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// How long a call may take, beyond the time that it is asked to wait.
const TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest answer: 200 records, of which few are long.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// Records that are asked for at once.
const PAGE: u32 = 200;

/// The address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress(Url);

impl ServiceAddress {
    /// Checks an address: `https`, or `http` on this machine or if `is_insecure`; without a password, a query or a fragment.
    ///
    /// # Errors
    ///
    /// [`LinkError::Address`] says what does not hold.
    pub fn parse(text: &str, is_insecure: bool) -> Result<Self, LinkError> {
        let refused = |problem: &str| Err(LinkError::Address(format!("the URL {problem}")));
        let Ok(url) = Url::parse(text.trim_end_matches('/')) else {
            return refused("is not a URL; it looks like https://agent.example.org");
        };
        let is_local = url.host_str().is_some_and(|host| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        });
        match url.scheme() {
            "https" => {}
            "http" if is_local || is_insecure => {}
            "http" => {
                return refused(
                    "is not encrypted, and the key would be readable on the way; use https, or --insecure",
                );
            }
            _ => return refused("has to begin with https:// or http://"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("must not contain a password; the key is given with --key or --key-file");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refused("must not have a query or a fragment");
        }
        Ok(Self(url))
    }

    /// The address without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }
}

/// A project of a service.
#[derive(Clone, Debug)]
pub struct Service {
    client: Client,
    base: String,
    project: ProjectId,
    key: Secret,
}

/// A page of changes.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) changes: Vec<Incoming>,
    pub(crate) latest: i64,
}

#[derive(Deserialize)]
struct FeedAnswer {
    changes: Vec<ChangeAnswer>,
    latest: i64,
}

#[derive(Deserialize)]
struct ChangeAnswer {
    revision: i64,
    kind: String,
    id: String,
    #[serde(default)]
    item: Option<MemoryItem>,
    #[serde(default)]
    task: Option<Task>,
    #[serde(default)]
    deleted: bool,
}

#[derive(Serialize)]
struct ItemBody<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    status: &'static str,
    content: &'a str,
    evidence: &'a [grov_domain::Evidence],
    #[serde(skip_serializing_if = "Option::is_none")]
    supersedes: Option<grov_domain::MemoryItemId>,
    #[serde(
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    expires_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    decided_by: Option<&'a str>,
    base_revision: Option<i64>,
}

#[derive(Deserialize)]
struct PutAnswer {
    revision: i64,
}

#[derive(Deserialize)]
struct HealthAnswer {
    version: String,
    #[serde(rename = "database")]
    _database: serde_json::Value,
}

#[derive(Deserialize)]
struct ProblemAnswer {
    code: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    errors: Vec<serde_json::Value>,
}

impl Service {
    /// A client of one project. Makes no call yet.
    ///
    /// # Errors
    ///
    /// [`LinkError::Tls`].
    pub fn new(address: &ServiceAddress, project: ProjectId, key: Secret) -> Result<Self, LinkError> {
        let tls = |error: &dyn std::fmt::Display| LinkError::Tls(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| tls(&error))?;
        let config = if address.0.scheme() == "https" {
            versions
                .with_platform_verifier()
                .map_err(|error| tls(&error))?
                .with_no_client_auth()
        } else {
            versions
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth()
        };
        let client = Client::builder()
            .tls_backend_preconfigured(config)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .user_agent(concat!("grov/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| tls(&error.without_url()))?;
        Ok(Self {
            client,
            base: address.as_str().to_owned(),
            project,
            key,
        })
    }

    /// Checks without the key that the address is an agent service, and returns its version.
    ///
    /// # Errors
    ///
    /// It cannot be reached, or something else answers.
    pub async fn version(&self) -> Result<String, LinkError> {
        let request = self.client.get(format!("{}/health", self.base)).timeout(TIMEOUT);
        let answer: HealthAnswer = answer(sent(request).await?).await?;
        Ok(answer.version)
    }

    /// Checks that the key sees the project and that the service has the calls of a link. Returns the newest revision.
    ///
    /// # Errors
    ///
    /// See [`LinkError`].
    pub async fn check(&self) -> Result<i64, LinkError> {
        Ok(self.changes(i64::MAX / 2, Duration::ZERO).await?.latest)
    }

    /// Returns changes after a revision; if there are none, waits for one.
    pub(crate) async fn changes(&self, after: i64, wait: Duration) -> Result<Changes, LinkError> {
        let path = format!("changes?after={after}&limit={PAGE}&wait={}", wait.as_secs());
        let request = self.request(Method::GET, &path).timeout(TIMEOUT + wait);
        let answer: FeedAnswer = answer(sent(request).await?).await?;
        Ok(Changes {
            changes: answer.changes.into_iter().filter_map(incoming).collect(),
            latest: answer.latest,
        })
    }

    /// Sends an item. Returns its revision.
    pub(crate) async fn put_item(
        &self,
        item: &Redacted<InboxItem>,
        base: Option<i64>,
    ) -> Result<i64, LinkError> {
        let item = &item.item;
        let body = ItemBody {
            kind: item.kind.as_str(),
            status: item.status.as_str(),
            content: &item.content,
            evidence: &item.evidence,
            supersedes: item.supersedes,
            expires_at: item.expires_at,
            created_at: item.created_at,
            decided_by: item.decided_by.as_deref(),
            base_revision: base,
        };
        let request = self
            .request(Method::PUT, &format!("memory/{}", item.id))
            .json_body(&body)?;
        let answer: PutAnswer = answer(sent(request.timeout(TIMEOUT)).await?).await?;
        Ok(answer.revision)
    }

    /// Sends a task. Returns its revision.
    pub(crate) async fn put_task(&self, task: &Redacted<Task>) -> Result<i64, LinkError> {
        let path = format!("tasks/{}", segment(task.id.as_str()));
        let request = self.request(Method::PUT, &path).json_body(&**task)?;
        let answer: PutAnswer = answer(sent(request.timeout(TIMEOUT)).await?).await?;
        Ok(answer.revision)
    }

    /// Deletes a record. One that is gone already is no error.
    pub(crate) async fn delete(&self, kind: SharedKind, id: &str) -> Result<(), LinkError> {
        let path = match kind {
            SharedKind::Item => format!("memory/{}", segment(id)),
            SharedKind::Task => format!("tasks/{}", segment(id)),
        };
        let response = sent(self.request(Method::DELETE, &path).timeout(TIMEOUT)).await?;
        match response.status() {
            StatusCode::NO_CONTENT => Ok(()),
            _ => match answer::<serde::de::IgnoredAny>(response).await {
                Ok(_) | Err(LinkError::NoProject) => Ok(()),
                Err(error) => Err(error),
            },
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/projects/{}/{path}", self.base, self.project);
        let request = self.client.request(method, url);
        // A key that is no header value is refused by the service like any wrong key.
        match reqwest::header::HeaderValue::from_str(self.key.expose()) {
            Ok(mut key) => {
                key.set_sensitive(true);
                request.header("X-AGENT-KEY", key)
            }
            Err(_) => request,
        }
    }
}

/// JSON bodies without the `json` feature of reqwest.
trait JsonBody: Sized {
    fn json_body<T: Serialize>(self, body: &T) -> Result<Self, LinkError>;
}

impl JsonBody for RequestBuilder {
    fn json_body<T: Serialize>(self, body: &T) -> Result<Self, LinkError> {
        let body = serde_json::to_vec(body).map_err(|error| LinkError::Rejected(error.to_string()))?;
        Ok(self.header("Content-Type", "application/json").body(body))
    }
}

/// A path segment: other characters than those of ids are escaped.
fn segment(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

async fn sent(request: RequestBuilder) -> Result<Response, LinkError> {
    request.send().await.map_err(|error| unreachable(&error))
}

fn unreachable(error: &reqwest::Error) -> LinkError {
    let mut text = if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        String::new()
    };
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    LinkError::Unreachable(if text.is_empty() {
        "the connection failed".to_owned()
    } else {
        text
    })
}

/// Reads an answer, or says why there is none.
async fn answer<T: DeserializeOwned>(mut response: Response) -> Result<T, LinkError> {
    let status = response.status();
    let retry_after = response
        .headers()
        .get("retry-after")
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(Duration::from_secs);
    let media_type = response
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(LinkError::NotTheService(
                "its answer is longer than any of the service".to_owned(),
            ));
        }
        body.extend_from_slice(&chunk);
    }
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(|_| not_the_service(status, &media_type));
    }
    let Ok(problem) = serde_json::from_slice::<ProblemAnswer>(&body) else {
        return Err(match status.as_u16() {
            // A gateway in front of the service.
            429 | 502..=504 => LinkError::Busy {
                status: status.as_u16(),
                retry_after,
            },
            _ => not_the_service(status, &media_type),
        });
    };
    Err(match problem.code.as_str() {
        "unauthorized" => LinkError::Unauthorized,
        "forbidden" => LinkError::Forbidden(problem.detail),
        "not_found" if problem.detail.contains("path") => LinkError::OlderService("changes feed"),
        "method_not_allowed" => LinkError::OlderService("calls to share records"),
        "not_found" => LinkError::NoProject,
        "conflict" => LinkError::Conflict,
        "rate_limited" | "unavailable" => LinkError::Busy {
            status: status.as_u16(),
            retry_after,
        },
        _ => {
            let errors = serde_json::to_string(&problem.errors).unwrap_or_default();
            LinkError::Rejected(format!("{} {errors}", problem.detail))
        }
    })
}

fn not_the_service(status: StatusCode, media_type: &str) -> LinkError {
    let what = match media_type.split(';').next().unwrap_or_default().trim() {
        "" => "an answer without a type".to_owned(),
        "text/html" => "it sent an HTML page".to_owned(),
        other => format!("it sent {other}"),
    };
    LinkError::NotTheService(format!("{what}, status {}", status.as_u16()))
}

/// A change of a kind that this version does not know is left out.
fn incoming(change: ChangeAnswer) -> Option<Incoming> {
    let record = match (change.item, change.task) {
        (Some(item), _) => Some(RemoteRecord::Item(Box::new(item))),
        (None, Some(task)) => Some(RemoteRecord::Task(Box::new(task))),
        (None, None) if change.deleted => None,
        (None, None) => return None,
    };
    Some(Incoming {
        revision: change.revision,
        kind: SharedKind::from_name(&change.kind)?,
        id: change.id,
        record,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_or_local() {
        for good in [
            "https://a.example",
            "http://127.0.0.1:8090/",
            "http://localhost:1",
            "http://[::1]:2",
        ] {
            assert!(ServiceAddress::parse(good, false).is_ok(), "{good}");
        }
        for bad in [
            "http://a.example",
            "ftp://a.example",
            "a.example",
            "https://u:p@a.example",
            "https://a.example/?q",
        ] {
            assert!(ServiceAddress::parse(bad, false).is_err(), "{bad}");
        }
        assert!(ServiceAddress::parse("http://a.example", true).is_ok());
        assert_eq!(
            ServiceAddress::parse("https://a.example/x/", false)
                .unwrap()
                .as_str(),
            "https://a.example/x"
        );
    }

    #[test]
    fn an_id_is_one_segment_of_a_path() {
        assert_eq!(segment("a/../b?c"), "a%2F..%2Fb%3Fc");
    }
}
