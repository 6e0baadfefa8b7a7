use super::*;
use grov_domain::Purpose;
use std::sync::mpsc;
use std::time::Duration;

fn request() -> ModelRequest {
    ModelRequest {
        purpose: Purpose::ExtractIntent,
        system: String::new(),
        user: "x".to_owned(),
        schema: serde_json::Value::Null,
        max_tokens: 1,
    }
}

async fn never() -> Outcome {
    std::future::pending().await
}

/// A runtime that is shutting down drops a task while it is spawned.
#[test]
fn a_question_during_runtime_shutdown_does_not_deadlock() {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        let entered = handle.enter();
        let singleflight = Singleflight::default();
        let share = singleflight.join(&request(), never).unwrap();
        let outcome = tokio::runtime::Builder::new_current_thread().build().unwrap();
        drop(entered);
        done.send(outcome.block_on(share.outcome())).unwrap();
    });
    // Only a deadlock takes that long.
    let outcome = is_done.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(outcome, Err(NoAnswer::Lost));
}

#[tokio::test]
async fn dropping_the_singleflight_aborts_its_calls() {
    let singleflight = Singleflight::default();
    let share = singleflight.join(&request(), never).unwrap();
    drop(singleflight);
    let mut outcome = share.outcome;
    assert!(outcome.wait_for(Option::is_some).await.is_err());
}

#[tokio::test]
async fn a_closed_singleflight_starts_no_call() {
    let singleflight = Singleflight::default();
    singleflight.close().await;
    assert!(matches!(
        singleflight.join(&request(), never),
        Err(NoAnswer::Closed)
    ));
    assert!(lock(&singleflight.in_flight).is_empty());
}
