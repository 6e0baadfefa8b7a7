//! Calls to a provider of routing.

use crate::server::{Line, Server};
use grov_llm::{ProviderCallError, ProviderClient};
use grov_redact::Secret;
use std::time::Duration;

async fn client(server: &Server) -> ProviderClient {
    let headers = [("authorization", Secret::new("Bearer hunter2"))];
    let base = format!("http://{}/v1/", server.address);
    ProviderClient::new(&base, &headers, Duration::from_millis(500))
        .await
        .unwrap()
}

#[tokio::test]
async fn any_status_is_a_response() {
    let server = Server::play(vec![Line::Reply(429, "", "{\"error\":1}".to_owned())]).await;
    let response = client(&server)
        .await
        .post("/chat/completions", b"{}".to_vec())
        .await
        .unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.content_type(), Some("application/json"));
    assert_eq!(response.body().await.unwrap(), b"{\"error\":1}");
    let request = &server.received()[0];
    assert!(
        request.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{request}"
    );
    assert!(request.contains("authorization: Bearer hunter2"), "{request}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::play(vec![Line::Reply(200, "", "{}".to_owned())]).await;
    let location = format!("location: http://{}/v1/models\r\n", other.address);
    let server = Server::play(vec![Line::Reply(307, location.leak(), String::new())]).await;
    let response = client(&server).await.get("/models").await.unwrap();
    assert_eq!(response.status(), 307);
    assert!(other.received().is_empty());
}

#[tokio::test]
async fn each_failure_has_its_own_error() {
    let server = Server::play(vec![Line::Hang]).await;
    let silent = client(&server).await.get("/models").await.err();
    assert_eq!(
        silent,
        Some(ProviderCallError::TimedOut(Duration::from_millis(500)))
    );
    let server = Server::play(vec![Line::Broken]).await;
    let broken = client(&server).await.get("/models").await.unwrap().body().await;
    assert!(matches!(broken, Err(ProviderCallError::Broken(_))), "{broken:?}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let client = ProviderClient::new(&format!("http://{closed}"), &[], Duration::from_secs(5))
        .await
        .unwrap();
    let refused = client.get("/models").await.err();
    assert!(
        matches!(refused, Some(ProviderCallError::Unreachable(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_not_shown() {
    let headers = [("authorization", Secret::new("hun\nter2"))];
    let error = ProviderClient::new("http://localhost", &headers, Duration::from_secs(1))
        .await
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "`authorization` cannot be sent in a header");
}
