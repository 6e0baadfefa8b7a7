//! A local model server, as people run at home, used by the judge, a chat and the embedder. These tests check the protocol, not
//! the quality of so small a model.

use anyhow::{Result, bail, ensure};
use grov_domain::{
    ActionSketch, ActionType, CallFilter, CallOutcome, ChatMessage, ChatModel, ChatPrompt, ChatRole,
    EmbeddingProgress, ForcedRecoveryQuestion, Judge, LlmCall, MemoryScope, MemoryStore, MicroUsd, Purpose,
    SessionId, SpendingStore, SystemClock, Task,
};
use grov_llm::{
    ChatApi, EmbedderProvider, EmbedderSettings, HttpChat, HttpChatSettings, HttpEmbedder, JudgeSettings,
    ModelJudge, Provider,
};
use grov_memory::{EmbeddingWorker, Query, Ranking, Signal, semantic_search};
use grov_redact::Redacted;
use grov_store::{OpenOptions, SqliteStore};
use grov_tests::LocalModel;
use std::sync::Arc;
use std::time::Duration;

/// An answer takes a few seconds, and tens of seconds on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(55);

/// The question whose answer has no lists: small models do not end lists reliably.
fn question() -> ForcedRecoveryQuestion {
    ForcedRecoveryQuestion {
        goal: "Fix the token refresh".to_owned(),
        newest_instruction: "go on with the tests".to_owned(),
        constraints: vec!["Do not touch the public API".to_owned()],
        actions: vec![ActionSketch {
            action_type: ActionType::Edit,
            files: vec!["src/theme.css".to_owned()],
            command: None,
            effects: Vec::new(),
            reasoning: None,
            failed: None,
            output: None,
            content: None,
            line: None,
            change: None,
        }],
        diagnostics: vec!["Colours were changed".to_owned()],
    }
}

/// Tokens of the prompt, whether or not they were read from a cache.
fn prompt_tokens(call: &LlmCall) -> u64 {
    call.usage.input + call.usage.cache_read
}

#[tokio::test]
async fn a_local_server_answers_in_the_requested_schema_and_its_tokens_are_counted() -> Result<()> {
    let Some(server) = LocalModel::installed()? else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("grov.db"), &OpenOptions::default()).await?;
    let store = Arc::new(store);
    let settings = JudgeSettings {
        provider: Provider::OpenAi,
        base_url: Some(server.url().to_owned()),
        model: Some("SmolLM2-135M-Instruct".to_owned()),
        timeout: TIMEOUT,
        ..JudgeSettings::default()
    };
    let judge = ModelJudge::new(settings, store.clone(), Arc::new(SystemClock))?;
    let session = SessionId::new("local");
    let first = judge
        .generate_forced_recovery(Some(&session), &Redacted::of(&question()))
        .await;
    let second = judge
        .generate_forced_recovery(Some(&session), &Redacted::of(&question()))
        .await;
    judge.close().await;

    let calls = store.calls(&CallFilter::default()).await?;
    let (Some(first), Some(_)) = (first, second) else {
        bail!("the model gave no answer: {calls:?}");
    };
    ensure!(!first.recovery_prompt.is_empty() && !first.mandatory_action.action.is_empty());
    ensure!(calls.len() == 2, "one call a question: {calls:?}");
    for call in &calls {
        ensure!(
            call.outcome == CallOutcome::Answered && call.purpose == Purpose::ForcedRecovery,
            "{call:?}"
        );
        ensure!(call.session_id.as_ref() == Some(&session), "{call:?}");
        ensure!(prompt_tokens(call) > 300 && call.usage.output > 10, "{call:?}");
        ensure!(call.latency > Duration::ZERO, "{call:?}");
    }
    // The server reports the cached part of the prompt, and those tokens are not counted twice.
    ensure!(calls[1].usage.cache_read > 0, "{calls:?}");
    ensure!(prompt_tokens(&calls[0]) == prompt_tokens(&calls[1]), "{calls:?}");
    Ok(())
}

#[tokio::test]
async fn a_local_server_streams_a_chat_answer_in_the_requested_schema() -> Result<()> {
    let Some(server) = LocalModel::installed()? else {
        return Ok(());
    };
    let chat = HttpChat::new(HttpChatSettings {
        base_url: Some(format!("{}/v1", server.url())),
        model: Some("SmolLM2-135M-Instruct".to_owned()),
        timeout: TIMEOUT,
        ..HttpChatSettings::new(ChatApi::OpenAi)
    })?;
    let text = |text: &str| Redacted::of(&text.to_owned());
    let prompt = ChatPrompt {
        system: text("You answer questions about deployments."),
        messages: vec![ChatMessage {
            role: ChatRole::User,
            text: text("When do we deploy?"),
        }],
        schema: r#"{"type":"object","properties":{"decision":{"enum":["ASK","NOOP"]},"sure":{"type":"boolean"}},"required":["decision","sure"],"additionalProperties":false}"#.to_owned(),
        max_output_tokens: 200,
    };
    let mut heard = Vec::new();
    let completion = chat
        .complete(&prompt, &mut |piece| heard.push(piece.to_owned()))
        .await?;
    ensure!(heard.len() > 1 && heard.concat() == completion.text, "{heard:?}");
    let answer: serde_json::Value = serde_json::from_str(&completion.text)?;
    ensure!(answer["sure"].is_boolean(), "{answer}");
    ensure!(
        matches!(answer["decision"].as_str(), Some("ASK" | "NOOP")),
        "{answer}"
    );
    let usage = completion.usage;
    ensure!(
        usage.input + usage.cache_read > 10 && usage.output > 4,
        "{usage:?}"
    );
    ensure!(completion.cost.is_none() && chat.is_ok());
    Ok(())
}

fn memory(id: &str, prompt: &str) -> Task {
    Task::new(id, "/p", prompt)
}

#[tokio::test]
async fn a_local_server_embeds_memories_and_queries() -> Result<()> {
    let Some(server) = LocalModel::embedding()? else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("grov.db"), &OpenOptions::default()).await?;
    let store = Arc::new(store);
    // More tokens than the server accepts at once: every hexadecimal digit is one.
    let digits = "0f1e2d3c4b5a69788796a5b4c3d2e1f0 ".repeat(60);
    store
        .import(&Redacted::each(&[
            memory("limit", "retry the upload with a limit"),
            memory("theme", "paint the settings page"),
            memory("digits", &digits),
        ]))
        .await?;
    let settings = EmbedderSettings {
        base_url: Some(format!("{}/v1", server.url())),
        timeout: TIMEOUT,
        ..EmbedderSettings::new(EmbedderProvider::OpenAi, "SmolLM2-135M-Instruct")
    };
    let embedder = Arc::new(HttpEmbedder::new(settings, store.clone(), Arc::new(SystemClock))?);
    let (mut work, state) = EmbeddingWorker::new(store.clone(), embedder.clone());
    work.step().await;
    let status = state.read();
    ensure!(
        status.progress == EmbeddingProgress { memories: 3, done: 3 } && status.error.is_none(),
        "{status:?}"
    );
    let query = Query {
        scope: MemoryScope {
            project_path: "/p".to_owned(),
            project_remote: None,
        },
        text: "retry the upload with a limit".to_owned(),
        files: Vec::new(),
        before: None,
        limit: 10,
    };
    let answer = semantic_search(store.as_ref(), embedder.as_ref(), &query, &Ranking::default()).await?;
    ensure!(answer.error.is_none(), "{answer:?}");
    let best = answer
        .found
        .first()
        .map(|found| (found.task_id.as_str(), &found.shares));
    let dense = best.and_then(|(_, shares)| shares.iter().find(|share| share.signal == Signal::Dense));
    // The question equals the memory's own text.
    ensure!(
        best.is_some_and(|(id, _)| id == "limit") && dense.is_some_and(|share| share.value > 0.9),
        "{answer:?}"
    );
    let calls = store.calls(&CallFilter::default()).await?;
    let last = calls.last();
    ensure!(
        last.is_some_and(|call| call.purpose == Purpose::Embedding
            && call.outcome == CallOutcome::Answered
            && call.cost == MicroUsd(0)
            && (3..20).contains(&call.usage.input)),
        "{calls:?}"
    );
    Ok(())
}
