//! Translated responses whose upstream does not keep to the rules.

use crate::failover::{BODY, Marked, STREAM_HEAD, before, chunk};
use crate::support::{Act, Scripted, post, until};
use grov_proxy_core::{Target, Timeouts};
use std::sync::Arc;
use std::time::Duration;

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
