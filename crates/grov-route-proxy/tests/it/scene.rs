//! The proxy with a provider file, in front of a simulated Anthropic and simulated providers.

use grov_domain::RoutedUsage;
use grov_proxy_core::{MetricKind, ObservedExchange, Outcome, Proxy, TurnObserver, Upstream};
use grov_route_proxy::{Counters, ProviderSource, RouteSettings, Routes};
use grov_sim::wire::Wire;
use grov_sim::{Behaviour, Rule, Scenario, ScenarioSet, Sim, SimConfig, When};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Maximum wait for an expected event.
const SOON: Duration = Duration::from_secs(20);

/// A provider file with one provider per simulated one: `p0` with the label `l0`, and so on. `more` is added to each.
pub(crate) fn file(providers: &[&Sim], more: &str) -> String {
    let mut text = "providers:\n".to_owned();
    for (number, sim) in providers.iter().enumerate() {
        text.push_str(&format!(
            "  - name: p{number}\n    endpoint: {}/v1\n    api_key: provider-key-{number}\n{more}    models:\n      l{number}: model-{number}\n",
            sim.url()
        ));
    }
    text
}

/// A simulated provider with scenarios, each a list of steps.
pub(crate) async fn provider(scenarios: &Value) -> Sim {
    let script = json!({"scenarios": scenarios}).to_string();
    let scenarios = ScenarioSet::default().with_json(script.as_bytes()).unwrap();
    Sim::start(SimConfig {
        scenarios,
        ..SimConfig::default()
    })
    .await
    .unwrap()
}

/// A provider that says one text.
pub(crate) async fn saying(text: &str) -> Sim {
    let step = json!({"blocks": [{"type": "text", "text": text}]});
    provider(&json!({"say": {"steps": [step]}})).await
}

/// Makes every answer of a provider behave like this.
pub(crate) fn behave(sim: &Sim, behaviour: &str) {
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let behaviour: Behaviour = behaviour.parse().unwrap();
        sim.inject(Rule::new(When::Path(path.to_owned()), behaviour));
    }
}

/// A proxy that routes.
pub(crate) struct Scene {
    pub(crate) anthropic: Sim,
    pub(crate) file: PathBuf,
    pub(crate) counters: Arc<Counters>,
    /// What exchanges used.
    pub(crate) usage: Mutex<mpsc::Receiver<RoutedUsage>>,
    pub(crate) seen: Seen,
    address: SocketAddr,
    _directory: tempfile::TempDir,
    _tasks: JoinSet<()>,
}

/// The exchanges that the observers saw.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<SeenExchange>>>);

/// Outcome, and usage as input, cached, output.
pub(crate) type SeenExchange = (Outcome, [u64; 3]);

impl TurnObserver for Seen {
    fn name(&self) -> &'static str {
        "seen"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let usage = &exchange.turn.usage;
        let seen = (exchange.outcome, [usage.input, usage.cache_read, usage.output]);
        self.0.lock().unwrap().push(seen);
    }
}

impl Seen {
    pub(crate) async fn next(&self) -> SeenExchange {
        until("an observed exchange", || !self.0.lock().unwrap().is_empty()).await;
        self.0.lock().unwrap().remove(0)
    }
}

impl Scene {
    /// Starts a proxy with this provider file; without a text there is none.
    pub(crate) async fn with(text: Option<&str>) -> Self {
        Self::with_settings(text, SOON).await
    }

    /// Like [`Scene::with`], with a limit for pauses inside a response.
    pub(crate) async fn with_settings(text: Option<&str>, idle: Duration) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("providers.yaml");
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let source = ProviderSource {
            candidates: vec![file.clone()],
            variables: Vec::new(),
            environment: Box::new(|name| (name == "KEY").then(|| "key-from-variable".to_owned())),
        };
        let anthropic = Sim::start(SimConfig::default()).await.unwrap();
        let builder = Proxy::builder(Upstream::parse(&anthropic.url()).unwrap());
        let settings = RouteSettings {
            connect: SOON,
            first_byte: SOON,
            idle,
            ping: Duration::from_millis(50),
        };
        let routes = Routes::new(source, builder.upstreams(), settings);
        let seen = Seen::default();
        let proxy = routes
            .configure(builder)
            .observer(seen.clone())
            .metric(MetricKind::Gauge, "test", "A metric of the test", || 1)
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counters = routes.counters();
        let usage = Mutex::new(routes.usage());
        let mut tasks = JoinSet::new();
        tasks.spawn(routes.run(std::future::pending()));
        tasks.spawn(async move {
            proxy.serve(listener, std::future::pending()).await.unwrap();
        });
        Self {
            anthropic,
            file,
            counters,
            usage,
            seen,
            address,
            _directory: directory,
            _tasks: tasks,
        }
    }

    /// Sends a body and returns the answer.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string()).await
    }

    /// Sends a body that need not be JSON and returns the answer.
    pub(crate) async fn post_text(&self, path: &str, body: &str) -> Answer {
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: client-secret\r\nAuthorization: Bearer client-secret\r\n\
             Anthropic-Version: 2023-06-01\r\nAnthropic-Beta: oauth-2025-04-20\r\nCookie: client-secret\r\n\
             X-Claude-Code-Session-Id: s1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await
    }

    /// Sends a message of an agent with that label, or without a marker.
    pub(crate) async fn ask(&self, label: Option<&str>, stream: bool) -> Answer {
        self.post("/v1/messages?beta=true", &message(label, stream)).await
    }

    /// Returns an admin page.
    pub(crate) async fn page(&self, path: &str) -> Value {
        let answer = self
            .send(&format!("GET /_grov/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .await;
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Returns the value of a counter.
    pub(crate) fn counter(&self, name: &str) -> u64 {
        let all = self.counters.all();
        all.into_iter().find(|(counter, _)| *counter == name).unwrap().1
    }

    async fn send(&self, request: &str) -> Answer {
        let exchange = async {
            let mut wire = Wire::new(TcpStream::connect(self.address).await.unwrap());
            wire.send(request.as_bytes()).await.unwrap();
            let head = wire.read_head().await.unwrap().unwrap();
            let framing = head.response_framing(false).unwrap();
            let body = wire.body(framing).collect().await.unwrap();
            Answer {
                status: head.status().unwrap(),
                route: head.header("x-grov-route").map(str::to_owned),
                retry_after: head.header("retry-after").map(str::to_owned),
                body: String::from_utf8(body.to_vec()).unwrap(),
            }
        };
        tokio::time::timeout(SOON, exchange).await.unwrap()
    }
}

/// A message with a tool, in two blocks of system prompt, each with a marker of the label.
pub(crate) fn message(label: Option<&str>, stream: bool) -> Value {
    let marker = label.map_or(String::new(), |label| {
        format!("<!-- @proxy-local-route:af83e9 model={label} -->")
    });
    json!({
        "model": "claude-opus-4-8", "max_tokens": 1000, "stream": stream,
        "system": [{"type": "text", "text": format!("{marker} Be brief.")}, {"type": "text", "text": format!("Really. {marker}")}],
        "tools": [{"name": "Write", "description": "Writes", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Go. [[scenario:say]]"}]}],
    })
}

/// A response as the client received it.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) route: Option<String>,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }

    /// The message of an error.
    pub(crate) fn error(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap().to_owned()
    }

    /// The data of the events of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    /// The blocks of a streamed message: kind, and the joined deltas.
    pub(crate) fn blocks(&self) -> Vec<(String, String)> {
        let mut blocks: Vec<(String, String)> = Vec::new();
        for event in self.events() {
            if event["type"] == "content_block_start" {
                let kind = event["content_block"]["type"].as_str().unwrap().to_owned();
                blocks.push((kind, String::new()));
            }
            for field in ["text", "thinking", "partial_json"] {
                if let Some(text) = event["delta"][field].as_str() {
                    blocks.last_mut().unwrap().1.push_str(text);
                }
            }
        }
        blocks
    }
}

/// Waits until the condition holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < SOON, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A scenario of one text, for the simulated Anthropic.
pub(crate) fn scenario(text: &str) -> ScenarioSet {
    let blocks = vec![grov_sim::scenario::Block::Text(text.to_owned())];
    ScenarioSet::default().with("say", Scenario::of(vec![grov_sim::Step::of(blocks)]))
}

/// The address of a provider that gives every request this body as JSON, with status 200. The connection's end is the body's.
pub(crate) fn answering(body: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the process of the test.
    std::thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let (mut request, mut part) = (Vec::new(), [0; 4096]);
            while !is_whole(&request) {
                match client.read(&mut part) {
                    Ok(length @ 1..) => request.extend_from_slice(&part[..length]),
                    _ => break,
                }
            }
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
            let _ = client.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}
