//! Delivery to a real receiver, from a real outbox.

use super::*;
use crate::test_store;
use grov_agent_http::verify;
use grov_agent_store::AgentDatabase;
use grov_domain::SystemClock;
use std::sync::Mutex;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A receiver that answers with these statuses, the last one again and again.
struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
    _task: JoinSet<()>,
}

impl Receiver {
    async fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (requests, statuses) = (Arc::clone(&received), statuses.to_vec());
        let mut task = JoinSet::new();
        task.spawn(async move {
            for number in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut bytes = Vec::new();
                while !is_complete(&bytes) && stream.read_buf(&mut bytes).await.unwrap_or(0) > 0 {}
                requests.lock().unwrap().push(String::from_utf8(bytes).unwrap());
                let status = statuses[number.min(statuses.len() - 1)];
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nlocation: http://{address}/else\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self {
            address,
            received,
            _task: task,
        }
    }

    /// Head and body of each request so far.
    fn received(&self) -> Vec<(String, String)> {
        let requests = self.received.lock().unwrap();
        let parts = |request: &String| {
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            (head.to_owned(), body.to_owned())
        };
        requests.iter().map(parts).collect()
    }
}

fn is_complete(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

struct Stage {
    store: Arc<AgentDatabase>,
    webhook: Webhook,
    sender: Arc<Sender>,
    _directory: TempDir,
}

async fn stage(url: &str) -> Stage {
    let (directory, store) = test_store::open().await;
    let webhook = Webhook {
        store: Arc::clone(&store) as Arc<dyn OutboxStore>,
        clock: Arc::new(SystemClock),
        url: url.into(),
        secret: Some("whsec".into()),
        public_url: "https://agent.example".to_owned(),
        own_listeners: vec!["127.0.0.1:1".parse().unwrap()],
        wake: Arc::default(),
    };
    let sender = Arc::new(Sender::new(&webhook).await.unwrap());
    Stage {
        store,
        webhook,
        sender,
        _directory: directory,
    }
}

#[tokio::test]
async fn events_arrive_signed_with_their_key_and_the_address_for_results() {
    let receiver = Receiver::start(&[200]).await;
    let stage = stage(&format!("http://{}/hook/?token=t%20x", receiver.address)).await;
    let id = test_store::add_event(&stage.store).await;
    assert_eq!(deliver_due(&stage.webhook, &stage.sender).await.unwrap(), 1);
    assert_eq!(deliver_due(&stage.webhook, &stage.sender).await.unwrap(), 0);
    let received = receiver.received();
    assert_eq!(received.len(), 1);
    let (head, body) = &received[0];
    assert!(head.starts_with("POST /hook/?token=t%20x HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("idempotency-key: {id}")), "{head}");
    let signature = head
        .lines()
        .find_map(|line| line.strip_prefix("x-grov-signature: "))
        .unwrap();
    let now = SystemClock.now();
    assert_eq!(verify(&"whsec".into(), signature, body.as_bytes(), now), Ok(()));
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["event"], "memory.proposed");
    assert_eq!(body["id"], id.to_string());
    assert_eq!(body["callback_url"], "https://agent.example/tools/result");
    assert!(body["memory_item"]["content"].is_string());
}

#[tokio::test]
async fn what_fails_is_tried_again_with_the_same_key() {
    let receiver = Receiver::start(&[500, 302, 204]).await;
    let stage = stage(&format!("http://{}", receiver.address)).await;
    let id = test_store::add_event(&stage.store).await;
    for _ in 0..3 {
        assert_eq!(deliver_due(&stage.webhook, &stage.sender).await.unwrap(), 1);
        // Now, instead of after the pause.
        stage.store.postpone(id, Some(SystemClock.now())).await.unwrap();
    }
    assert_eq!(deliver_due(&stage.webhook, &stage.sender).await.unwrap(), 0);
    let received = receiver.received();
    assert_eq!(received.len(), 3, "redirects are not followed");
    assert!(received.iter().all(|(head, _)| head.contains(&id.to_string())));
}

#[tokio::test]
async fn a_failed_event_waits_and_is_given_up_after_a_day() {
    let at = SystemClock.now();
    let event = |attempts| PendingEvent {
        id: grov_agent::EventId::fresh(),
        body: String::new(),
        attempts,
        created_at: at,
    };
    let pause = |attempts| (next_attempt(&event(attempts), at).unwrap() - at).whole_seconds();
    assert_eq!([0, 1, 2, 3].map(pause), [2, 4, 8, 16]);
    assert_eq!([20, 4_000_000_000].map(pause), [1800, 1800]);
    let almost = at + time::Duration::hours(24) - time::Duration::seconds(1);
    assert_eq!(
        next_attempt(&event(40), almost),
        Some(at + time::Duration::hours(24))
    );
    assert_eq!(next_attempt(&event(40), at + time::Duration::hours(24)), None);

    let stage = stage("http://127.0.0.1:9/").await;
    let id = test_store::add_event(&stage.store).await;
    assert_eq!(deliver_due(&stage.webhook, &stage.sender).await.unwrap(), 1);
    assert_eq!(
        deliver_due(&stage.webhook, &stage.sender).await.unwrap(),
        0,
        "it waits"
    );
    stage.store.postpone(id, None).await.unwrap();
    assert_eq!(stage.store.given_up_events().await.unwrap(), 1);
}

#[tokio::test]
async fn events_are_never_sent_to_the_service_itself() {
    let receiver = Receiver::start(&[200]).await;
    let mut stage = stage(&format!("http://localhost:{}", receiver.address.port())).await;
    stage.webhook.own_listeners = vec![receiver.address];
    let sender = Arc::new(Sender::new(&stage.webhook).await.unwrap());
    test_store::add_event(&stage.store).await;
    assert_eq!(deliver_due(&stage.webhook, &sender).await.unwrap(), 1);
    assert!(receiver.received().is_empty());
}

#[test]
fn an_address_is_split_behind_the_server() {
    for (url, base, path) in [
        ("https://h:1/a?b=/c", "https://h:1", "/a?b=/c"),
        ("http://u:p@h?x", "http://u:p@h", "?x"),
        ("http://h", "http://h", ""),
    ] {
        assert_eq!(split(url), (base, path));
    }
}
