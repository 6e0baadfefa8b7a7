//! The embedder with a real server on a socket that gives all kinds of wrong answers.

use crate::ledger::Book;
use crate::server::{Line, Server};
use grov_domain::{
    CallOutcome, EmbedError, Embedder, Embedding, MAX_TEXT_BYTES, MAX_TEXTS, MicroUsd, Purpose, SystemClock,
};
use grov_llm::{EmbedderProvider, EmbedderSettings, HttpEmbedder, SetupError};
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "own-key-7f3a";
const PROVIDERS: [EmbedderProvider; 2] = [EmbedderProvider::OpenAi, EmbedderProvider::Ollama];

struct Stage {
    server: Server,
    embedder: HttpEmbedder,
    book: Arc<Book>,
}

async fn stage(provider: EmbedderProvider, script: Vec<Line>) -> Stage {
    stage_with(provider, script, |settings| settings).await
}

async fn stage_with(
    provider: EmbedderProvider,
    script: Vec<Line>,
    change: impl FnOnce(EmbedderSettings) -> EmbedderSettings,
) -> Stage {
    let server = Server::play(script).await;
    let book = Arc::new(Book::default());
    let settings = change(EmbedderSettings {
        base_url: Some(format!("http://{}", server.address)),
        timeout: Duration::from_secs(20),
        ..EmbedderSettings::new(provider, "all-minilm")
    });
    let embedder = HttpEmbedder::new(settings, Arc::clone(&book) as _, Arc::new(SystemClock)).unwrap();
    Stage {
        server,
        embedder,
        book,
    }
}

impl Stage {
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let texts: Vec<Redacted> = texts.iter().map(|text| Redactor::shared().text(text)).collect();
        self.embedder.embed(&texts).await
    }

    fn received(&self, at: usize) -> (String, Value) {
        let received = self.server.received();
        let (head, body) = received[at].split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), serde_json::from_str(body).unwrap())
    }
}

fn reply(body: &Value) -> Line {
    Line::Reply(200, "", body.to_string())
}

fn of_openai(data: &Value) -> Line {
    reply(&json!({"object": "list", "data": data, "usage": {"prompt_tokens": 9, "total_tokens": 9}}))
}

fn of_ollama(embeddings: &Value) -> Line {
    reply(&json!({"model": "all-minilm", "embeddings": embeddings, "prompt_eval_count": 9}))
}

/// A response with these vectors in the provider's format.
fn vectors(provider: EmbedderProvider, vectors: &[&[f32]]) -> Line {
    match provider {
        EmbedderProvider::OpenAi => {
            let item = |(index, vector): (usize, &&[f32])| json!({"index": index, "embedding": vector});
            of_openai(&vectors.iter().enumerate().map(item).collect())
        }
        EmbedderProvider::Ollama => of_ollama(&json!(vectors)),
    }
}

fn embedding(values: &[f32]) -> Embedding {
    Embedding::of(values).unwrap()
}

#[tokio::test]
async fn each_provider_gets_its_request_format_and_the_call_is_in_the_ledger() {
    for (provider, path) in PROVIDERS.into_iter().zip(["/v1/embeddings", "/api/embed"]) {
        let script = vec![vectors(provider, &[&[1.0, 0.5], &[-1.0, 0.25]])];
        let stage = stage(provider, script).await;
        let found = stage.embed(&["one", "two"]).await.unwrap();
        assert_eq!(found, [embedding(&[1.0, 0.5]), embedding(&[-1.0, 0.25])]);
        let (head, body) = stage.received(0);
        assert!(head.starts_with(&format!("post {path} http/1.1")), "{head}");
        assert!(!head.contains("authorization"), "no key, no header: {head}");
        assert!(head.contains("x-grov-bypass: 1"), "{head}");
        assert_eq!(body["model"], "all-minilm");
        assert_eq!(body["input"], json!(["one", "two"]));
        let calls = stage.book.all();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].purpose, Purpose::Embedding);
        assert_eq!(calls[0].provider, provider.as_str());
        assert_eq!(calls[0].outcome, CallOutcome::Answered);
        assert_eq!(
            (calls[0].usage.input, calls[0].cost),
            (9, MicroUsd(0)),
            "on this machine"
        );
    }
}

#[tokio::test]
async fn a_key_is_sent_but_never_shown() {
    let script = vec![vectors(EmbedderProvider::OpenAi, &[&[1.0]])];
    let with_key = |settings| EmbedderSettings {
        api_key: Some(KEY.into()),
        ..settings
    };
    let stage = stage_with(EmbedderProvider::OpenAi, script, with_key).await;
    stage.embed(&["one"]).await.unwrap();
    assert!(
        stage
            .received(0)
            .0
            .contains(&format!("authorization: bearer {KEY}"))
    );
    assert!(!format!("{:?}", stage.embedder).contains(KEY));
}

#[tokio::test]
async fn embeddings_are_in_the_order_of_their_texts() {
    let data = json!([{"index": 1, "embedding": [2, 1]}, {"index": 0, "embedding": [1, 2]}]);
    let unnumbered = json!([{"embedding": [1, 2]}, {"embedding": [2, 1]}]);
    for data in [data, unnumbered] {
        let stage = stage(EmbedderProvider::OpenAi, vec![of_openai(&data)]).await;
        let found = stage.embed(&["one", "two"]).await.unwrap();
        assert_eq!(found, [embedding(&[1.0, 2.0]), embedding(&[2.0, 1.0])]);
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_answers_are_rejected_and_count_with_their_maximum_cost() {
    let item = |index: i64, vector: Value| json!({"index": index, "embedding": vector});
    let wrong = [
        (EmbedderProvider::OpenAi, of_openai(&json!([]))),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(0, json!([1]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(2, json!([1]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(-1, json!([1]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1, 2])), item(1, json!([1]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(1, json!([0]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([])), item(1, json!([]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(1, json!([null]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(1, json!("AACAPw=="))])),
        ),
        (
            EmbedderProvider::OpenAi,
            of_openai(&json!([item(0, json!([1])), item(1, json!([1e39]))])),
        ),
        (
            EmbedderProvider::OpenAi,
            Line::Reply(
                200,
                "",
                r#"{"data":[{"embedding":[NaN]},{"embedding":[1]}]}"#.to_owned(),
            ),
        ),
        (
            EmbedderProvider::OpenAi,
            Line::Reply(200, "", "<html>".to_owned()),
        ),
        (EmbedderProvider::OpenAi, Line::Broken),
        (EmbedderProvider::Ollama, of_ollama(&json!([[1]]))),
        (EmbedderProvider::Ollama, of_ollama(&json!([[1], [1], [1]]))),
        (EmbedderProvider::Ollama, of_ollama(&json!([[1], [1, 2]]))),
        (EmbedderProvider::Ollama, of_ollama(&json!([1, 2]))),
        (EmbedderProvider::Ollama, reply(&json!({"embedding": [1]}))),
    ];
    for (provider, line) in wrong {
        let (shown, outcome) = match &line {
            Line::Reply(_, _, body) => (body.clone(), CallOutcome::Unusable),
            _ => ("broken".to_owned(), CallOutcome::Failed),
        };
        let stage = stage(provider, vec![line]).await;
        let error = stage.embed(&["one", "two"]).await.unwrap_err();
        assert!(matches!(error, EmbedError::Failed(_)), "{error:?} of {shown}");
        assert_eq!(stage.book.outcomes(), [outcome; 3], "{shown}");
        let most = stage.book.all()[0].usage.input;
        assert!(most >= 3, "nothing is given back: {most} of {shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn transient_errors_are_retried_and_others_reported() {
    let failure = |status| {
        let body = json!({"error": {"type": "some_error", "message": format!("key {KEY} said so")}});
        Line::Reply(status, "", body.to_string())
    };
    let good = || vectors(EmbedderProvider::OpenAi, &[&[1.0]]);
    let recovering = stage(EmbedderProvider::OpenAi, vec![failure(503), failure(429), good()]).await;
    recovering.embed(&["one"]).await.unwrap();
    assert_eq!(recovering.server.received().len(), 3);

    for (status, calls) in [(400, 1), (413, 1), (422, 1), (404, 1), (401, 1), (500, 3)] {
        let stage = stage(EmbedderProvider::OpenAi, vec![failure(status)]).await;
        let error = stage.embed(&["one"]).await.unwrap_err();
        let about_the_texts = matches!(error, EmbedError::Refused(_));
        assert_eq!(
            about_the_texts,
            matches!(status, 400 | 413 | 422),
            "{status}: {error:?}"
        );
        assert!(!error.to_string().contains(KEY), "{error}");
        assert_eq!(stage.server.received().len(), calls, "{status}");
        let free: Vec<MicroUsd> = stage.book.all().iter().map(|call| call.cost).collect();
        assert_eq!(free, vec![MicroUsd(0); calls], "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_refuses_the_key_or_keeps_failing_is_paused() {
    let refusing = stage(
        EmbedderProvider::OpenAi,
        vec![Line::Reply(401, "", "{}".to_owned())],
    )
    .await;
    assert!(matches!(
        refusing.embed(&["one"]).await,
        Err(EmbedError::Failed(_))
    ));
    assert!(matches!(
        refusing.embed(&["one"]).await,
        Err(EmbedError::Paused(_))
    ));
    assert_eq!(refusing.server.received().len(), 1);

    let failing = stage(
        EmbedderProvider::Ollama,
        vec![Line::Reply(500, "", "{}".to_owned())],
    )
    .await;
    assert!(matches!(
        failing.embed(&["one"]).await,
        Err(EmbedError::Failed(_))
    ));
    assert!(matches!(
        failing.embed(&["one"]).await,
        Err(EmbedError::Paused(_))
    ));
    assert_eq!(failing.server.received().len(), 5);

    // Refused texts do not count as a failure of the provider.
    let picky = stage(
        EmbedderProvider::Ollama,
        vec![Line::Reply(400, "", "{}".to_owned())],
    )
    .await;
    for _ in 0..9 {
        assert!(matches!(picky.embed(&["one"]).await, Err(EmbedError::Refused(_))));
    }
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let impatient = |settings| EmbedderSettings {
        timeout: Duration::from_millis(50),
        ..settings
    };
    let stage = stage_with(EmbedderProvider::OpenAi, vec![Line::Hang], impatient).await;
    let error = stage.embed(&["one"]).await.unwrap_err();
    assert!(matches!(&error, EmbedError::Failed(_)), "{error:?}");
    assert_eq!(stage.book.outcomes(), [CallOutcome::Failed]);
}

#[tokio::test]
async fn sent_texts_are_redacted_and_bounded() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let texts = [
        format!("push with {secret} please"),
        "<private>the merger</private> and the rest".to_owned(),
        "word ".repeat(2_000),
        String::new(),
    ];
    let script = vec![vectors(
        EmbedderProvider::Ollama,
        &[&[1.0], &[1.0], &[1.0], &[1.0]],
    )];
    let stage = stage(EmbedderProvider::Ollama, script).await;
    stage.embedder.embed(&Redacted::each(&texts)).await.unwrap();
    let (_, body) = stage.received(0);
    let sent: Vec<&str> = body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    assert!(
        sent[0].starts_with("push with [redacted") && !sent[0].contains(&secret),
        "{}",
        sent[0]
    );
    assert!(
        !sent[1].contains("merger") && sent[1].ends_with("and the rest"),
        "{}",
        sent[1]
    );
    assert!(sent[2].len() <= MAX_TEXT_BYTES && sent[2].len() > MAX_TEXT_BYTES / 2);
    assert_eq!(sent[3], "-");
}

#[tokio::test]
async fn too_many_texts_or_none_cause_no_call() {
    let stage = stage(EmbedderProvider::Ollama, vec![Line::Broken]).await;
    assert_eq!(stage.embed(&[]).await, Ok(Vec::new()));
    let many = vec![String::new(); MAX_TEXTS + 1];
    assert!(matches!(
        stage.embedder.embed(&Redacted::each(&many)).await,
        Err(EmbedError::Refused(_))
    ));
    assert_eq!(stage.server.received().len(), 0);
    assert!(stage.book.all().is_empty());
}

#[tokio::test]
async fn an_own_listener_is_refused_and_a_model_is_required() {
    let set_up = |settings| {
        HttpEmbedder::new(
            settings,
            Arc::new(Book::default()) as _,
            Arc::new(SystemClock) as _,
        )
    };
    let own = "127.0.0.1:8080".parse().unwrap();
    let looped = EmbedderSettings {
        base_url: Some("http://localhost:8080/v1".to_owned()),
        own_listeners: vec![own],
        ..EmbedderSettings::new(EmbedderProvider::OpenAi, "m")
    };
    assert!(matches!(set_up(looped), Err(SetupError::OwnListener { .. })));
    let nameless = EmbedderSettings::new(EmbedderProvider::Ollama, " ");
    assert!(matches!(set_up(nameless), Err(SetupError::NoModel)));
    let ours = EmbedderSettings::new(EmbedderProvider::Ollama, "all-minilm");
    assert_eq!(set_up(ours).unwrap().model(), "ollama/all-minilm");
}

async fn unmetered(provider: EmbedderProvider, script: Vec<Line>, path: &str) -> (Server, HttpEmbedder) {
    let server = Server::play(script).await;
    let settings = EmbedderSettings {
        base_url: Some(format!("http://{}{path}", server.address)),
        dimensions: Some(3),
        ..EmbedderSettings::new(provider, "all-minilm")
    };
    (server, HttpEmbedder::unmetered(settings).unwrap())
}

fn bodies(server: &Server) -> Vec<Value> {
    let body = |request: &String| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    server.received().iter().map(body).collect()
}

#[tokio::test]
async fn a_dimension_is_asked_for_until_the_server_does_not_know_it() {
    for provider in PROVIDERS {
        let answer = vectors(provider, &[&[1.0, 0.0, 0.0]]);
        let refusal = r#"{"message":"this model does not support dimensions"}"#.to_owned();
        let script = vec![answer.clone(), Line::Reply(400, "", refusal), answer];
        let (server, embedder) = unmetered(provider, script, "/v1").await;
        for _ in 0..3 {
            assert_eq!(
                embedder
                    .embed(&[Redactor::shared().text("a")])
                    .await
                    .unwrap()
                    .len(),
                1
            );
        }
        let wishes: Vec<bool> = bodies(&server)
            .iter()
            .map(|body| body["dimensions"] == 3)
            .collect();
        assert_eq!(wishes, [true, true, false, false]);
        assert!(embedder.model().ends_with("all-minilm/3"));
    }
}

#[tokio::test]
async fn a_server_without_v1_is_found() {
    let answer = vectors(EmbedderProvider::OpenAi, &[&[1.0, 0.0, 0.0]]);
    let script = vec![Line::Reply(404, "", String::new()), answer];
    let (server, embedder) = unmetered(EmbedderProvider::OpenAi, script, "/gate").await;
    for _ in 0..2 {
        embedder.embed(&[Redactor::shared().text("a")]).await.unwrap();
    }
    let paths: Vec<String> = server
        .received()
        .iter()
        .map(|request| request.split(' ').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(
        paths,
        ["/gate/v1/embeddings", "/gate/embeddings", "/gate/embeddings"]
    );
}
