//! Admin routes.

use crate::support::{Act, Running, Scripted, json_answer, post};
use async_trait::async_trait;
use grov_proxy_core::{AdminRequest, AdminResponse, AdminRoute, Proxy, Upstream};
use http::{HeaderMap, StatusCode};
use std::sync::Arc;

#[tokio::test]
async fn only_health_and_metrics_are_admin_routes_by_default() {
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
    // The end mark belongs to OpenMetrics, which a client has to ask for.
    assert!(!text.contains("# EOF"), "{text}");
}

/// Echoes the request, or panics or refuses on request.
struct Echo;

#[async_trait]
impl AdminRoute for Echo {
    fn body_limit(&self) -> u64 {
        8
    }

    fn authorize(&self, headers: &HeaderMap) -> Result<(), AdminResponse> {
        let verdict = headers.get("x-admits").map(|value| value.as_bytes());
        assert_ne!(verdict, Some(b"panic".as_slice()));
        if verdict != Some(b"no") {
            return Ok(());
        }
        Err(AdminResponse {
            status: StatusCode::FORBIDDEN,
            content_type: "text/plain",
            body: "not you".into(),
        })
    }

    async fn handle(&self, request: AdminRequest) -> AdminResponse {
        assert_ne!(request.rest, "panic");
        let body = request
            .body
            .map(|body| String::from_utf8_lossy(&body).into_owned());
        AdminResponse {
            status: StatusCode::ACCEPTED,
            content_type: "text/plain",
            body: format!("{} {} {body:?}", request.method, request.rest).into(),
        }
    }
}

#[tokio::test]
async fn admin_route_refuses_requests_with_an_origin() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap());
    let proxy = Running::start(builder.admin_route("echo/", Arc::new(Echo))).await;
    for (method, path, header, body, answered) in [
        (
            "POST",
            "echo/a/b?q",
            "x: y",
            "text",
            "202 POST a/b Some(\"text\")",
        ),
        ("GET", "echo/", "x: y", "", "202 GET  Some(\"\")"),
        ("POST", "echo/", "x: y", "123456789", "202 POST  None"),
        ("POST", "echo", "x: y", "", "404"),
        ("POST", "echo/panic", "x: y", "", "500"),
        ("POST", "echo/", "x-admits: panic", "", "500"),
        ("POST", "echo/", "x-admits: no", "text", "403 not you"),
        ("POST", "echo/", "Origin: null", "", "403"),
        ("POST", "echo/", "Origin: http://localhost:1", "", "403"),
        ("POST", "echo/", "Origin: vscode-webview://a", "", "403"),
    ] {
        let length = body.len();
        let request = format!(
            "{method} /_grov/{path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut client = proxy.client().await;
        client.send(&request).await;
        let (head, body) = client.receive().await.unwrap();
        let status = head.split(' ').nth(1).unwrap();
        let body = String::from_utf8(body).unwrap();
        let expected = answered.split_once(' ').unwrap_or((answered, &body));
        assert_eq!((status, body.as_str()), expected, "{method} {path} {header}");
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn unauthorized_admin_request_is_refused_before_its_body() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap());
    let proxy = Running::start(builder.admin_route("echo/", Arc::new(Echo))).await;
    let mut client = proxy.client().await;
    // The announced 8 bytes are never sent.
    client
        .send("POST /_grov/echo/ HTTP/1.1\r\nHost: localhost\r\nx-admits: no\r\nContent-Length: 8\r\n\r\n")
        .await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    assert_eq!(body, b"not you");
}
