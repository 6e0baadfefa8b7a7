//! Plain HTTP requests in absolute form: `GET http://host/path`.

use crate::answer::{self, AnswerBody};
use crate::listener::Mitm;
use bytes::Bytes;
use grov_proxy_core::{PlainHttp, Upstream, remove_hop_by_hop};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::Either;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::net::TcpStream;

type Driver = http1::Connection<TokioIo<TcpStream>, Incoming>;

/// The body of a server's answer, and the connection that it arrives on. Dropping it closes the connection.
pub(crate) struct DrivenBody {
    body: Incoming,
    /// `None` once it ended.
    driver: Option<Driver>,
}

/// Forwards a request to the server that it names, on a connection of its own.
pub(crate) async fn forward(mitm: &Mitm, request: Request<Incoming>) -> Response<AnswerBody> {
    let server = request
        .uri()
        .authority()
        .and_then(|authority| Upstream::parse(&format!("http://{authority}")).ok());
    let Some(server) = server else {
        mitm.counters.refused.add();
        return answer::text(StatusCode::BAD_REQUEST, "the request names no usable host.");
    };
    let way = PlainHttp::new(server, mitm.limits.connect);
    if way.dialer.server().port() == mitm.own.port() && way.dialer.points_at(mitm.own).is_some() {
        mitm.counters.refused.add();
        return answer::text(
            StatusCode::BAD_GATEWAY,
            "the request names this proxy itself, so that it would loop.",
        );
    }
    mitm.counters.forwarded.add();
    match exchange(&way, request).await {
        Ok(response) => response,
        Err(error) => {
            tracing::warn!(%error, "a plain HTTP request was not answered");
            answer::text(StatusCode::BAD_GATEWAY, error.to_string())
        }
    }
}

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
enum ForwardError {
    #[error(transparent)]
    Dial(#[from] grov_proxy_core::DialError),
    #[error("the server closed the connection or did not answer in HTTP: {0}")]
    Http(#[from] hyper::Error),
}

async fn exchange(
    way: &PlainHttp,
    mut request: Request<Incoming>,
) -> Result<Response<AnswerBody>, ForwardError> {
    let stream = way.dialer.dial().await?;
    let (mut sender, driver) = http1::Builder::new()
        .preserve_header_case(true)
        .handshake(TokioIo::new(stream))
        .await?;
    let host = request
        .uri()
        .authority()
        .and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    remove_hop_by_hop(request.headers_mut());
    remove_own(request.headers_mut());
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, host);
    }
    if way.is_proxied {
        if let Some(authorization) = &way.authorization {
            request
                .headers_mut()
                .insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
    } else {
        let path = request.uri().path_and_query().cloned();
        *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    }
    let mut driver = Some(driver);
    let mut answer = pin!(sender.send_request(request));
    let response = poll_fn(|cx| {
        drive(&mut driver, cx);
        answer.as_mut().poll(cx)
    })
    .await?;
    let mut response = response.map(|body| Either::Right(DrivenBody { body, driver }));
    remove_hop_by_hop(response.headers_mut());
    Ok(response)
}

/// Removes headers for Grov itself, such as a token.
fn remove_own(headers: &mut HeaderMap) {
    let own: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("x-grov-"))
        .cloned()
        .collect();
    for name in own {
        headers.remove(name);
    }
}

fn drive(driver: &mut Option<Driver>, cx: &mut Context<'_>) {
    if driver
        .as_mut()
        .is_some_and(|driver| Pin::new(driver).poll(cx).is_ready())
    {
        *driver = None;
    }
}

impl Body for DrivenBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        drive(&mut this.driver, cx);
        Pin::new(&mut this.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_for_grov_are_not_sent_on() {
        let mut headers = HeaderMap::new();
        headers.insert("x-grov-token", HeaderValue::from_static("t"));
        headers.append("X-Grov-Project", HeaderValue::from_static("p"));
        headers.insert("accept", HeaderValue::from_static("*/*"));
        remove_own(&mut headers);
        assert_eq!(
            headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
            ["accept"]
        );
    }
}
