//! Deep research as a job: polled, resumed after a cancelled command or a lost connection, and paid once.

use crate::server::{Reply, Server};
use crate::world::World;
use grov_domain::{CallOutcome, MicroUsd};
use serde_json::json;

const CREATED: &str = r#"{"id":"job-1","model":"sonar-deep-research","status":"CREATED","response":null}"#;
const RUNNING: &str =
    r#"{"id":"job-1","model":"sonar-deep-research","status":"IN_PROGRESS","response":null}"#;
const DONE: &str = r#"{"id":"job-1","status":"COMPLETED","response":{"model":"sonar-deep-research","choices":[{"finish_reason":"stop","message":{"content":"<think>a</think>found [1]"}}],"search_results":[{"title":"A","url":"https://a"}],"usage":{"cost":{"total_cost":0.4}}}}"#;
const FAILED: &str = r#"{"id":"job-1","status":"FAILED","error_message":"no sources","response":null}"#;
const ARGUMENTS: [(&str, &str); 3] = [("query", "q"), ("async", ""), ("strip_thinking", "")];

fn lines(server: &Server) -> Vec<String> {
    server
        .requests()
        .into_iter()
        .map(|request| request.line)
        .collect()
}

#[tokio::test]
async fn a_job_is_submitted_once_and_polled_through_faults() {
    let server = Server::start(vec![
        Reply::json(202, CREATED),
        Reply::json(200, RUNNING),
        Reply::cut("{\"id\":"),
        Reply::with(503, "application/json", "retry-after: 0\r\n", "{}"),
        Reply::json(200, DONE),
    ]);
    let world = World::of_web(&server.url);
    let printed = world.run("perplexity-research", &ARGUMENTS).await;
    assert_eq!(printed.code, 0, "{}", printed.value);
    assert_eq!(
        printed.value["data"],
        json!({"content": "found [1]", "citations": ["https://a"], "thinking": null})
    );
    assert_eq!(printed.value["metadata"]["cost_usd"], 0.4);
    let requests = server.requests();
    let submitted = &requests[0];
    assert_eq!(submitted.line, "POST /async/chat/completions HTTP/1.1");
    assert_eq!(submitted.body["request"]["model"], "sonar-deep-research");
    assert_eq!(submitted.body["request"].get("stream"), None);
    assert!(
        submitted.body["idempotency_key"]
            .as_str()
            .unwrap()
            .starts_with("grov-")
    );
    assert!(
        requests[1..].iter().all(
            |request| request.line == "GET /async/chat/completions/job-1 HTTP/1.1"
                && request.head.contains("authorization: Bearer pplx-secret-key")
        ),
        "{requests:?}"
    );
    assert_eq!(requests.len(), 5);
    let again = world.run("perplexity-research", &ARGUMENTS).await;
    assert_eq!(again.value["metadata"]["cached"], true);
}

#[tokio::test]
async fn a_cancelled_job_is_resumed_by_the_same_command_and_paid_once() {
    let server = Server::start(vec![
        Reply::json(202, CREATED),
        Reply::json(200, RUNNING).after(std::time::Duration::from_secs(60)),
        Reply::json(200, DONE),
    ]);
    let world = World::of_web(&server.url);
    let polled = async {
        while server.requests().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    let printed = world
        .run_with("perplexity-research", &ARGUMENTS, None, polled)
        .await;
    assert_eq!((printed.kind(), printed.code), ("cancelled", 130));
    assert!(
        printed.value["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("same command")
    );
    assert_eq!(printed.value["metadata"]["cost_usd"], 1.0);
    assert_eq!(world.calls().await[0].outcome, CallOutcome::Failed);
    let again = world.run("perplexity-research", &ARGUMENTS).await;
    assert_eq!(again.code, 0, "{}", again.value);
    assert_eq!(lines(&server)[2], "GET /async/chat/completions/job-1 HTTP/1.1");
    let calls = world.calls().await;
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(
        (calls[0].cost, calls[0].outcome),
        (MicroUsd(400_000), CallOutcome::Answered)
    );
}

#[tokio::test]
async fn a_submission_without_answer_is_repeated_with_the_same_key() {
    let server = Server::start(vec![
        Reply::cut("{"),
        Reply::json(202, CREATED),
        Reply::json(200, DONE),
    ]);
    let world = World::of_web(&server.url);
    let printed = world.run("perplexity-research", &ARGUMENTS).await;
    assert_eq!(printed.kind(), "incomplete");
    let again = world.run("perplexity-research", &ARGUMENTS).await;
    assert_eq!(again.code, 0, "{}", again.value);
    let requests = server.requests();
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(world.calls().await.len(), 1);
}

#[tokio::test]
async fn a_failed_or_forgotten_job_is_an_error_and_the_next_call_a_new_job() {
    for (reply, kind) in [
        (Reply::json(200, FAILED), "provider_error"),
        (Reply::json(404, "{}"), "invalid_request"),
    ] {
        let server = Server::start(vec![
            Reply::json(202, CREATED),
            reply,
            Reply::json(202, CREATED),
            Reply::json(200, DONE),
        ]);
        let world = World::of_web(&server.url);
        let printed = world.run("perplexity-research", &ARGUMENTS).await;
        assert_eq!(printed.kind(), kind, "{}", printed.value);
        assert_eq!(world.run("perplexity-research", &ARGUMENTS).await.code, 0);
        assert!(lines(&server)[2].starts_with("POST"));
        let requests = server.requests();
        assert_ne!(
            requests[0].body["idempotency_key"],
            requests[2].body["idempotency_key"]
        );
        assert_eq!(world.calls().await.len(), 2);
    }
}

#[tokio::test]
async fn a_silent_provider_ends_the_wait_and_keeps_the_job() {
    let server = Server::start(vec![
        Reply::json(202, CREATED),
        Reply::with(503, "application/json", "", "{}"),
    ]);
    let world = World::new(&[
        ("PERPLEXITY_API_KEY", "k"),
        ("PERPLEXITY_BASE_URL", &server.url),
        ("ENVOY_TIMEOUT_MS", "700"),
    ]);
    let printed = world.run("perplexity-research", &ARGUMENTS).await;
    assert_eq!(printed.kind(), "unreachable", "{}", printed.value);
    assert!(
        printed.value["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("goes on")
    );
    assert_eq!(
        world.calls().await[0].cost,
        MicroUsd(1_000_000),
        "the job may still cost that"
    );
    let shown = world
        .run(
            "perplexity-research",
            &[ARGUMENTS.as_slice(), &[("show_request", "")]].concat(),
        )
        .await;
    assert!(
        shown.value["data"]["url"]
            .as_str()
            .unwrap()
            .ends_with("/async/chat/completions")
    );
    assert_eq!(
        lines(&server)
            .iter()
            .filter(|line| line.starts_with("POST"))
            .count(),
        1
    );
}
