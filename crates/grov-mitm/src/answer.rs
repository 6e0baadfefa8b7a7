//! The CONNECT proxy's own answers. They are read by people, in the error message of a client.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{Either, Full};

/// The body of an answer: a text of the proxy, or the answer of a server.
pub(crate) type AnswerBody = Either<Full<Bytes>, crate::forward::DrivenBody>;

/// Returns a text with a status. It ends the connection, because the rest of the client's bytes may have another meaning for it.
pub(crate) fn text(status: StatusCode, message: impl AsRef<str>) -> Response<AnswerBody> {
    let body = format!("grov-proxyd: {}\n", message.as_ref());
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(body))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Returns the answer to an accepted CONNECT.
pub(crate) fn established() -> Response<AnswerBody> {
    Response::new(Either::Left(Full::new(Bytes::new())))
}

/// The bytes of the answer to plain HTTP inside a connection that must be TLS.
pub(crate) fn plain_http_inside() -> Vec<u8> {
    let body = "grov-proxyd: this connection was opened with CONNECT to a host that is decrypted, so it must begin with TLS. \
                Send plain HTTP requests to the proxy in absolute form, without CONNECT.\n";
    format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
