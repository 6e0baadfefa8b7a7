//! Hosts and origins.

use crate::support::{Act, Running, Scripted, json_answer};

async fn answer(request: &str) -> (String, usize) {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(request).await;
    let (head, _) = client.receive().await.unwrap();
    (head, upstream.requests().len())
}

#[tokio::test]
async fn foreign_hosts_and_origins_get_403_and_go_nowhere() {
    for request in [
        "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET /_grov/health HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n",
        // A page in a sandbox, with a WebSocket.
        "GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ] {
        let (head, forwarded) = answer(request).await;
        assert!(head.starts_with("HTTP/1.1 403 Forbidden"), "{head}");
        assert_eq!(forwarded, 0);
    }
}

#[tokio::test]
async fn absolute_form_is_served_for_this_host_and_refused_for_others() {
    let (head, forwarded) =
        answer("GET http://127.0.0.1:8080/v1/models HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert_eq!(forwarded, 1);
    let (head, forwarded) = answer("GET http://other.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    assert_eq!(forwarded, 0);
    let (head, _) = answer("CONNECT api.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
}
