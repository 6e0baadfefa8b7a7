//! Header filtering in both directions.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Which request headers are forwarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderPolicy {
    /// Every end-to-end header, except `x-grov-*`. The default: clients depend on headers that no list can name.
    #[default]
    Open,
    /// Only the headers that the Messages API requires.
    Strict,
}

/// Headers that [`HeaderPolicy::Strict`] forwards.
const STRICT: &[&str] = &[
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "content-type",
    "content-length",
    "authorization",
    "accept-encoding",
    "user-agent",
];

/// Hop-by-hop headers (RFC 9110 §7.6.1), except `te`.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Prefix of headers for the proxy itself.
const OWN_PREFIX: &str = "x-grov-";

/// Removes hop-by-hop headers and `x-grov-*` from a request, and sets `host`. Keeps the order of the others.
pub(crate) fn for_upstream(headers: &mut HeaderMap, policy: HeaderPolicy, host: &HeaderValue) {
    let trailers_only = headers.get(header::TE).is_some_and(|te| te == "trailers");
    let named = named_by_connection(headers);
    keep(headers, |name| {
        is_end_to_end(name, &named)
            && (*name != header::TE || trailers_only)
            && !name.as_str().starts_with(OWN_PREFIX)
            && (policy == HeaderPolicy::Open || *name == header::HOST || STRICT.contains(&name.as_str()))
    });
    // Takes the place of the client's, if it sent one.
    headers.insert(header::HOST, host.clone());
}

/// Keeps only what an upstream of another provider may see: not the client's credentials, nor what identifies it.
pub(crate) fn keep_for_foreign(headers: &mut HeaderMap) {
    const KEPT: [HeaderName; 2] = [header::CONTENT_TYPE, header::ACCEPT];
    keep(headers, |name| KEPT.contains(name));
}

/// Removes hop-by-hop headers from a message (RFC 9110 §7.6.1).
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for_client(headers);
}

/// Removes hop-by-hop headers from a response.
pub(crate) fn for_client(headers: &mut HeaderMap) {
    let named = named_by_connection(headers);
    keep(headers, |name| is_end_to_end(name, &named));
}

/// Returns whether a request has no transfer coding besides a plain `chunked`. hyper decodes `chunked` and passes a coding
/// before it on without its name. Unusual spellings are refused, to prevent request smuggling.
pub(crate) fn is_request_coding_understood(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    }
}

/// Like [`is_request_coding_understood`] for a response. The obsolete `identity` and repeated `chunked` headers of some gateways
/// are accepted.
pub(crate) fn is_response_coding_understood(headers: &HeaderMap) -> bool {
    let values = || headers.get_all(header::TRANSFER_ENCODING).iter();
    if values().all(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked")) {
        return true;
    }
    let mut codings = values()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .skip_while(|coding| coding.eq_ignore_ascii_case(b"identity"));
    match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    }
}

/// Returns whether a body has no content coding.
pub(crate) fn is_content_plain(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
}

/// Returns the content codings of a body, joined. `None` if it has none.
pub(crate) fn content_coding(headers: &HeaderMap) -> Option<String> {
    if is_content_plain(headers) {
        return None;
    }
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let texts: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    Some(texts.join(", "))
}

/// Headers that `connection` declares to belong to this connection.
fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        // A peer must not be able to have the framing of the message removed.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::HOST)
        .collect()
}

fn is_end_to_end(name: &HeaderName, named: &[HeaderName]) -> bool {
    !HOP_BY_HOP.contains(name) && !named.contains(name)
}

/// Returns whether a text is a token (RFC 9110 §5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_allowed)
}

/// Keeps some headers, in their order: taking single ones out of the map would move others.
fn keep(headers: &mut HeaderMap, wanted: impl Fn(&HeaderName) -> bool) {
    if headers.keys().all(&wanted) {
        return;
    }
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| wanted(name)) {
        kept.append(name.clone(), value.clone());
    }
    *headers = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    const HOST: HeaderValue = HeaderValue::from_static("api.example");

    #[test]
    fn only_hop_by_hop_and_own_headers_are_removed() {
        let mut headers = map(&[
            ("host", "127.0.0.1:8080"),
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("x-grov-project", "/p"),
            ("x-grov-bypass", "1"),
            ("anthropic-beta", "a,b"),
            ("x-api-key", "k"),
            ("accept-encoding", "gzip, br"),
            ("x-unknown", "kept"),
            ("x-unknown", "twice"),
        ]);
        for_upstream(&mut headers, HeaderPolicy::Open, &HOST);
        let expected = map(&[
            ("host", "api.example"),
            ("anthropic-beta", "a,b"),
            ("x-api-key", "k"),
            ("accept-encoding", "gzip, br"),
            ("x-unknown", "kept"),
            ("x-unknown", "twice"),
        ]);
        assert_eq!(headers, expected);
    }

    #[test]
    fn strict_keeps_what_the_api_needs() {
        let mut headers = map(&[
            ("authorization", "Bearer x"),
            ("anthropic-beta", "oauth"),
            ("x-stainless-os", "Linux"),
            ("user-agent", "claude-cli"),
        ]);
        for_upstream(&mut headers, HeaderPolicy::Strict, &HOST);
        let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["anthropic-beta", "authorization", "host", "user-agent"]);
    }

    #[test]
    fn a_transfer_coding_besides_chunked_is_not_understood() {
        let codings = |values: &[&'static str]| {
            let pairs: Vec<_> = values.iter().map(|value| ("transfer-encoding", *value)).collect();
            map(&pairs)
        };
        for (values, of_request, of_response) in [
            (&[][..], true, true),
            (&["chunked"], true, true),
            (&["Chunked"], true, true),
            (&["gzip, chunked"], false, false),
            (&["gzip", "chunked"], false, false),
            (&["chunked, chunked"], false, false),
            (&["chunked", "chunked"], false, true),
            (&["chunked;q=1"], false, false),
            (&["x-chunked"], false, false),
            (&[",chunked"], false, false),
            (&["gzip"], false, false),
            (&[""], false, false),
            (&["identity"], false, true),
            (&["identity, chunked"], false, true),
            (&["chunked, identity"], false, false),
        ] {
            let headers = codings(values);
            assert_eq!(is_request_coding_understood(&headers), of_request, "{values:?}");
            assert_eq!(is_response_coding_understood(&headers), of_response, "{values:?}");
        }
    }

    #[test]
    fn only_identity_is_no_content_coding() {
        for (values, is_plain) in [
            (&[][..], true),
            (&["identity"], true),
            (&["Identity", ""], true),
            (&["gzip"], false),
            (&["identity, br"], false),
            (&["identity", "x-own"], false),
        ] {
            let pairs: Vec<_> = values.iter().map(|value| ("content-encoding", *value)).collect();
            assert_eq!(is_content_plain(&map(&pairs)), is_plain, "{values:?}");
        }
    }

    #[test]
    fn connection_header_cannot_remove_framing_headers() {
        let mut headers = map(&[("connection", "content-length, host"), ("content-length", "5")]);
        for_client(&mut headers);
        assert_eq!(headers.get("content-length").unwrap(), "5");
    }
}
