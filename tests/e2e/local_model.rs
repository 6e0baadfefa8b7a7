//! A server of the kind that people run models on at home, asked by the judge. It is about the protocol: how well so small
//! a model judges does not matter.

use anyhow::{Result, ensure};
use grov_domain::{
    ActionSketch, ActionType, CallFilter, CallOutcome, ForcedRecoveryQuestion, Judge, JudgedBy, LlmCall,
    Purpose, SessionId, SpendingStore, SystemClock,
};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_store::{OpenOptions, SqliteStore};
use grov_tests::LocalModel;
use std::sync::Arc;
use std::time::Duration;

/// An answer takes a few seconds, and some tens on a machine that is busy otherwise.
const TIMEOUT: Duration = Duration::from_secs(55);

/// The question whose answer has no lists: small models do not find the end of those.
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
        }],
        diagnostics: vec!["Colours were changed".to_owned()],
    }
}

/// Tokens of the prompt, wherever they were read from.
fn prompt_tokens(call: &LlmCall) -> u64 {
    call.usage.input + call.usage.cache_read
}

#[tokio::test]
async fn a_local_server_answers_by_schema_and_its_tokens_are_counted() -> Result<()> {
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
    let first = judge.generate_forced_recovery(Some(&session), &question()).await;
    let second = judge.generate_forced_recovery(Some(&session), &question()).await;
    judge.close().await;

    let calls = store.calls(&CallFilter::default()).await?;
    ensure!(first.by == JudgedBy::Model, "rules answered: {calls:?}");
    ensure!(second.by == JudgedBy::Model, "rules answered: {calls:?}");
    ensure!(!first.answer.recovery_prompt.is_empty() && !first.answer.mandatory_action.action.is_empty());
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
    // The server kept the first prompt, says so, and what it kept is not counted twice.
    ensure!(calls[1].usage.cache_read > 0, "{calls:?}");
    ensure!(prompt_tokens(&calls[0]) == prompt_tokens(&calls[1]), "{calls:?}");
    Ok(())
}
