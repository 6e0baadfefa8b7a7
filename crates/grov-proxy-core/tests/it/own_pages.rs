//! `/_grov/`.

use crate::support::{Act, Running, Scripted, json_answer, post};

#[tokio::test]
async fn health_and_metrics_are_ours_and_nothing_else_is() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client
        .send("GET /_grov/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let health: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(health["status"], "ok");
    assert!(health["version"].is_string());
    client
        .send("GET /_grov/other HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 404"));
    assert_eq!(upstream.requests().len(), 0);
    client.send(post("/v1/messages", b"{}")).await;
    client.receive().await.unwrap();
    client
        .send("GET /_grov/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    let text = String::from_utf8(client.receive().await.unwrap().1).unwrap();
    assert!(text.contains("grov_responses_total{status=\"200\"} 2"), "{text}");
    assert!(
        text.contains("grov_upstream_connections_opened_total 1"),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
}
