//! Translated responses whose upstream does not keep to the rules.

use crate::failover::{BODY, Everywhere, HouseRule, Marked, STREAM_HEAD, before, chunk};
use crate::support::{Act, Running, SOON, Scripted, post, until};
use bytes::{Bytes, BytesMut};
use grov_proxy_core::{Codec, CodecError, Decoder, Delivery, Encoded, Proxy, Target, Timeouts, Upstream};
use http::{StatusCode, request, response};
use std::sync::Arc;
use std::time::Duration;

/// A codec for requests without the text of [`HouseRule`]. Responses that are errors get status 400.
struct Fussy {
    refuses_requests: bool,
    refuses_responses: bool,
}

impl Codec for Fussy {
    fn encode(&self, _: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError> {
        let is_edited = body.windows(6).any(|word| word == b"Tests ");
        if is_edited && self.refuses_requests {
            return Err(CodecError("edited".to_owned()));
        }
        let refuses = is_edited && self.refuses_responses;
        Ok(Encoded {
            body,
            decoder: Some(Box::new(FussyDecoder { refuses })),
        })
    }
}

struct FussyDecoder {
    refuses: bool,
}

impl Decoder for FussyDecoder {
    fn head(&mut self, head: &mut response::Parts) -> Result<Delivery, CodecError> {
        if self.refuses {
            return Err(CodecError("edited".to_owned()));
        }
        if !head.status.is_success() {
            head.status = StatusCode::BAD_REQUEST;
        }
        Ok(Delivery::Stream)
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError> {
        out.extend_from_slice(chunk);
        Ok(())
    }

    fn end(&mut self, _: &mut BytesMut) -> Result<(), CodecError> {
        Ok(())
    }
}

/// Sends a request that is edited. Returns the status for the client, the number of requests to the provider, which answers
/// edited ones with `refusal`, and the number of edits that were blamed.
async fn edited(codec: Fussy, refusal: &'static str) -> (String, usize, u64) {
    let provider = Scripted::start(move |_, request| {
        let status = if request.body == BODY { "200 OK" } else { refusal };
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
        vec![Act::Write(text.into_bytes())]
    })
    .await;
    let builder = Proxy::builder(Upstream::parse("http://127.0.0.1:1").unwrap());
    let upstream = Upstream::parse(&provider.url()).unwrap();
    let router = Everywhere {
        targets: vec![Target {
            codec: Some(Arc::new(codec)),
            ..Target::new(builder.upstreams().add(upstream, SOON))
        }],
        attempts: Arc::default(),
    };
    let proxy = Running::start(builder.router(router).policy(HouseRule)).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, _) = client.receive().await.unwrap();
    let status = head.split(' ').nth(1).unwrap().to_owned();
    let blamed = proxy.metrics.faults("edit_refused_upstream");
    (status, provider.requests().len(), blamed)
}

/// A codec whose responses are collected.
fn whole() -> Marked {
    Marked {
        is_whole: true,
        ..Marked::default()
    }
}

/// A complete stream whose response has no end yet.
fn unended() -> Vec<Act> {
    vec![Act::Write(STREAM_HEAD.into()), chunk("data: [DONE]\n\n")]
}

#[tokio::test]
async fn complete_translation_is_not_cut_if_the_upstream_breaks_off() {
    for last in [Act::Close, Act::Write(b"no chunk\r\n".to_vec())] {
        let acts = [unended(), vec![last]].concat();
        let provider = Scripted::start(move |_, _| acts.clone()).await;
        let (proxy, _attempts, _main) = before(&[provider.url()], |target| Target {
            codec: Some(Arc::new(Marked::default())),
            ..target
        })
        .await;
        let mut client = proxy.client().await;
        for connection in 0..2 {
            client.send(post("/v1/messages", BODY)).await;
            assert_eq!(client.receive().await.unwrap().1, b"data: [DONE]\n\n");
            assert_eq!(provider.requests()[connection].connection, connection);
        }
        assert_eq!(proxy.metrics.faults("upstream_broke"), 0);
    }
}

#[tokio::test]
async fn collected_translation_ends_although_the_upstream_does_not() {
    let provider = Scripted::start(|_, _| [unended(), vec![Act::AwaitClose]].concat()).await;
    let (proxy, attempts, _main) = before(&[provider.url()], |target| Target {
        codec: Some(Arc::new(whole())),
        timeouts: Timeouts {
            idle: Some(Duration::from_secs(3)),
            ..Timeouts::default()
        },
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(body, b"data: [DONE]\n\n");
    assert_eq!(attempts.all(), ["0 200 OK"]);
    until("the end of the connection", || provider.closed_by_peer() == 1).await;
}

#[tokio::test]
async fn connection_of_a_collected_translation_is_reused_if_the_end_arrives_with_it() {
    let text = format!("{STREAM_HEAD}e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
    let provider = Scripted::start(move |_, _| vec![Act::Write(text.clone().into_bytes())]).await;
    let (proxy, _attempts, _main) = before(&[provider.url()], |target| Target {
        codec: Some(Arc::new(whole())),
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    for _ in 0..3 {
        client.send(post("/v1/messages", BODY)).await;
        assert_eq!(client.receive().await.unwrap().1, b"data: [DONE]\n\n");
    }
    assert!(provider.requests().iter().all(|request| request.connection == 0));
}

#[tokio::test]
async fn edit_is_blamed_for_the_upstreams_own_status_not_for_the_translated_one() {
    let ready = || Fussy {
        refuses_requests: false,
        refuses_responses: false,
    };
    for other in ["401 A", "403 A", "404 A", "408 A", "409 A", "429 A", "500 A"] {
        let seen = edited(ready(), other).await;
        assert_eq!(seen, ("400".to_owned(), 1, 0), "{other}");
    }
    for rejection in ["400 A", "413 A", "422 A"] {
        let seen = edited(ready(), rejection).await;
        assert_eq!(seen, ("200".to_owned(), 2, 1), "{rejection}");
    }
}

#[tokio::test]
async fn edit_is_blamed_for_an_untranslatable_request_not_for_a_response() {
    for (refuses_requests, seen) in [
        (true, ("200".to_owned(), 1, 1)),
        (false, ("502".to_owned(), 1, 0)),
    ] {
        let codec = Fussy {
            refuses_requests,
            refuses_responses: !refuses_requests,
        };
        assert_eq!(edited(codec, "200 OK").await, seen);
    }
}

#[tokio::test]
async fn translated_response_with_a_content_coding_goes_to_the_next_target() {
    let coded = |coding: &'static str| {
        Scripted::start(move |_, _| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 2\r\n\r\n");
            vec![Act::Write([head.as_bytes(), b"{}"].concat())]
        })
    };
    let (packed, plain) = (coded("gzip").await, coded("identity").await);
    for (urls, status, seen) in [
        (
            vec![packed.url(), plain.url()],
            200,
            &["0 200 OK", "0 Response", "1 200 OK"][..],
        ),
        (vec![packed.url()], 502, &["0 200 OK", "0 Response"]),
    ] {
        let (proxy, attempts, _main) = before(&urls, |target| Target {
            codec: Some(Arc::new(Marked::default())),
            ..target
        })
        .await;
        let mut client = proxy.client().await;
        client.send(post("/v1/messages", BODY)).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert_eq!(attempts.all(), seen);
        assert_eq!(proxy.metrics.faults("upstream_coding"), 1);
    }
    let request = plain.requests().remove(0);
    assert_eq!(request.header("accept-encoding"), Some("identity"));
}
