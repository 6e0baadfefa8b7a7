//! Translated responses whose upstream does not keep to the rules.

use crate::failover::{BODY, Marked, STREAM_HEAD, before, chunk};
use crate::support::{Act, Scripted, post};
use grov_proxy_core::Target;
use std::sync::Arc;

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
