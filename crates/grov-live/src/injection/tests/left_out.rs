//! What is left out of histories.

use super::*;
use crate::injection::lineage_state::{LineageState, history_key};
use grov_domain::{CutEffect, CutNote, CutStore, HistoryCut, LineageCuts, NewLineage};
use grov_store::OnCorruption;
use grov_wire::{Key128, RequestIndex};

const BOTH: ContextEdits = ContextEdits {
    clear: true,
    trim: true,
};

fn lineage() -> Lineage {
    Lineage {
        session: ClientSessionId::new("s"),
        agent: None,
    }
}

fn content(of: &str) -> String {
    format!("{of}\n").repeat(200)
}

/// A conversation that reads a file `reads` times, and then has a prompt.
fn reading(reads: usize) -> Value {
    let mut messages = vec![user(json!("read it"))];
    for read in 1..=reads {
        let input = json!({"file_path": "/a"});
        messages.push(assistant(json!([
            {"type": "tool_use", "id": format!("r{read}"), "name": "Read", "input": input},
        ])));
        messages.push(user(json!([
            {"type": "tool_result", "tool_use_id": format!("r{read}"), "content": content("line")},
        ])));
    }
    messages.push(assistant(json!([text("read")])));
    messages.push(user(json!([marked(&format!("go on after {reads}"))])));
    Value::from(messages)
}

fn result_of(messages: &Value, message: usize) -> &str {
    messages[message]["content"][0]["content"].as_str().unwrap()
}

impl Home {
    async fn leaving_out(&self, source: TestSource) -> Daemon {
        let store = self.store().await;
        self.leaving_out_with(store, source)
    }

    fn leaving_out_with(&self, store: Arc<SqliteStore>, source: TestSource) -> Daemon {
        let source = Arc::new(source);
        let sources = vec![Arc::clone(&source) as Arc<dyn ContextSource>];
        let (policy, work) = Injection::for_tests(LONG_TIMEOUTS, BOTH, store, sources);
        let (stop, stopped) = oneshot::channel();
        #[allow(clippy::disallowed_methods, reason = "awaited in stop")]
        let work = tokio::spawn(work.run(async {
            let _ = stopped.await;
        }));
        Daemon {
            policy,
            source,
            stop,
            work,
        }
    }

    async fn trims(&self) -> usize {
        let store = self.store().await;
        store.cuts(&lineage()).await.unwrap().trims.len()
    }

    /// Sends the conversation until its superseded result is trimmed: on a busy machine, storing that may take too long.
    async fn trimmed(&self, daemon: &Daemon, messages: &Value) -> Value {
        loop {
            let sent = daemon.send(&self.request("s", messages)).await;
            if daemon.count("trimmed") > 0 {
                return sent;
            }
        }
    }
}

#[tokio::test]
async fn a_trim_is_taken_back_if_its_edits_are_discarded() {
    let home = Home::new();
    let daemon = home.leaving_out(TestSource::default()).await;
    let request = loop {
        let request = home.request("s", &reading(2));
        daemon.edits(&request).await;
        if daemon.count("trimmed") > 0 {
            break request;
        }
    };
    assert_eq!(home.trims().await, 1);
    daemon.policy.edits_discarded(&request);
    // The request went out whole, and its content is in the cache.
    daemon.policy.accepted(&request);
    let sent = daemon.send(&home.request("s", &reading(2))).await;
    assert_eq!(result_of(&sent, 2), content("line"));
    wait_until(async || home.trims().await == 0).await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_trim_is_taken_back_if_the_request_stops_waiting_for_new_text() {
    let home = Home::new();
    let slow = TestSource {
        delay: Duration::from_secs(3600),
        ..TestSource::default()
    };
    let daemon = home.leaving_out(slow).await;
    // So that the history is known.
    let first = home.request("s", &reading(1));
    daemon.policy.prepare(&first).await;
    let started = tokio::time::timeout(Duration::from_millis(50), daemon.policy.propose(&first)).await;
    assert!(started.is_err(), "the source is slow");
    for attempt in 0.. {
        // Another prompt each time, because nothing is added to one that a request gave up.
        let mut messages = reading(2);
        messages[6] = user(json!([marked(&format!("attempt {attempt}"))]));
        let request = home.request("s", &messages);
        daemon.policy.prepare(&request).await;
        assert!(daemon.policy.replay(&request).is_empty());
        let stored = async {
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_millis(2)).await;
                if home.trims().await > 0 {
                    return true;
                }
            }
            false
        };
        tokio::select! {
            biased;
            is_stored = stored => if is_stored { break },
            _ = daemon.policy.propose(&request) => unreachable!("the source is slow"),
        }
    }
    wait_until(async || home.trims().await == 0).await;
    let again = home.request("s", &reading(2));
    daemon.policy.prepare(&again).await;
    assert!(daemon.policy.replay(&again).is_empty());
    assert_eq!(daemon.count("trimmed"), 0);
    daemon.stop().await;
}

#[tokio::test]
async fn a_result_returns_when_the_user_goes_back_to_before_the_second_read() {
    let home = Home::new();
    let daemon = home.leaving_out(TestSource::default()).await;
    let sent = home.trimmed(&daemon, &reading(2)).await;
    assert!(result_of(&sent, 2).contains("read again"), "{sent}");
    assert_eq!(result_of(&sent, 4), content("line"));
    let back = daemon.send(&home.request("s", &reading(1))).await;
    assert_eq!(result_of(&back, 2), content("line"));
    let again = daemon.send(&home.request("s", &reading(2))).await;
    assert_eq!(result_of(&again, 2), result_of(&sent, 2));
    daemon.stop().await;
}

#[tokio::test]
async fn another_model_trims_nothing_while_the_cache_of_the_first_is_warm() {
    let home = Home::new();
    let daemon = home.leaving_out(TestSource::default()).await;
    let first = home.request("s", &reading(1));
    daemon.edits(&first).await;
    daemon.policy.accepted(&first);
    let of_first = home.request("s", &reading(2));
    let body = String::from_utf8(of_first.body().to_vec()).unwrap();
    let body = body.replace("claude-test", "claude-other");
    let request = MessagesRequest::new(of_first.headers().clone(), body.into(), OffsetDateTime::now_utc());
    let sent = daemon.send(&request).await;
    assert_eq!(result_of(&sent, 2), content("line"));
    assert_eq!(daemon.count("trimmed"), 0);
    daemon.stop().await;
}

/// A stored cut before the part with the key, already in use.
async fn store_cut(store: &SqliteStore, key: Key128) {
    let new = NewLineage {
        lineage: lineage(),
        project_path: String::new(),
        model: String::new(),
        history: Vec::new(),
        at: OffsetDateTime::now_utc(),
    };
    grov_domain::LedgerStore::adopt(store, &new).await.unwrap();
    let summary = Redactor::shared().text("the summary");
    let cut = HistoryCut {
        anchor: history_key(key),
        block: crate::injection::shared::block_of(&[summary]),
        decided_at: new.at,
        applied_at: None,
        is_measured: false,
        effect: CutEffect::default(),
    };
    assert!(store.save_cut(&lineage(), &cut).await.unwrap());
    let note = CutNote::Applied(new.at);
    store.note_cut(&lineage(), cut.anchor, note).await.unwrap();
}

#[tokio::test]
async fn a_cleared_conversation_waits_for_a_store_that_fails_for_a_moment() {
    let home = Home::new();
    let (good, path) = (home.0.path().join("good.db"), home.0.path().join("grov.db"));
    let mut messages = reading(2);
    messages[2]["content"][0]["content"] = Value::from(content("x").repeat(2000));
    let request = home.request("s", &messages);
    let link = request.skeleton().unwrap().links()[3];
    let store = SqliteStore::open(&good, &OpenOptions::default()).await.unwrap();
    store_cut(&store, link.key).await;
    drop(store);
    std::fs::write(
        &path,
        b"this is no database, but long enough to be taken for a broken one",
    )
    .unwrap();
    let store = SqliteStore::reopening(&path, &OpenOptions::default(), OnCorruption::Fail);
    let daemon = home.leaving_out_with(Arc::new(store), TestSource::default());
    let repaired = async {
        wait_until(async || daemon.count("not_loaded") > 0).await;
        for suffix in ["", "-wal", "-shm"] {
            let from = home.0.path().join(format!("good.db{suffix}"));
            if from.exists() {
                std::fs::rename(from, home.0.path().join(format!("grov.db{suffix}"))).unwrap();
            }
        }
    };
    let (sent, ()) = tokio::join!(daemon.send(&request), repaired);
    assert_eq!(sent[0]["content"][0]["text"], "the summary", "{sent}");
    daemon.stop().await;
}

fn index(messages: &Value) -> RequestIndex {
    let body = json!({"model": "m", "messages": messages}).to_string();
    RequestIndex::parse(&Bytes::from(body)).unwrap()
}

#[test]
fn the_retry_of_the_first_cut_request_is_measured() {
    let index = index(&reading(2));
    let skeleton = index.skeleton();
    let key = skeleton.links()[3].key;
    let mut state = LineageState::default();
    state.add_cut(key, Bytes::from_static(b"{}"));
    assert!(state.replay(&index, &skeleton, true).started_cut.is_some());
    // The first request failed, and its retry starts no cut.
    let retried = state.replay(&index, &skeleton, true);
    assert_eq!((retried.started_cut, retried.beginning.key()), (None, Some(key)));
    assert!(state.is_to_be_measured(key) && !state.is_to_be_measured(key));
}

#[test]
fn a_cut_that_was_never_applied_is_replaced_in_the_store_too() {
    let keys = [1, 2, 3].map(Key128::from_u128);
    let mut state = LineageState::default();
    assert!(state.add_cut(keys[0], Bytes::from_static(b"1")).is_empty());
    assert_eq!(state.add_cut(keys[1], Bytes::from_static(b"2")), [keys[0]]);
    assert_eq!(state.add_cut(keys[2], Bytes::from_static(b"3")), [keys[1]]);
}

#[test]
fn a_forgotten_summary_is_replaced_in_running_conversations() {
    let index = index(&reading(2));
    let skeleton = index.skeleton();
    let key = skeleton.links()[3].key;
    let stored = |block: &str| LineageCuts {
        cuts: vec![HistoryCut {
            anchor: history_key(key),
            block: block.to_owned(),
            decided_at: OffsetDateTime::UNIX_EPOCH,
            applied_at: Some(OffsetDateTime::UNIX_EPOCH),
            is_measured: true,
            effect: CutEffect::default(),
        }],
        trims: Vec::new(),
    };
    let mut state = LineageState::default();
    state.load_cuts(stored("\"a secret plan\""));
    let sent = |state: &mut LineageState| format!("{:?}", state.replay(&index, &skeleton, true).edits);
    assert!(sent(&mut state).contains("a secret plan"));
    state.reload_cuts(stored("\"deleted\""));
    let after = sent(&mut state);
    assert!(after.contains("deleted") && !after.contains("secret"), "{after}");
    // A cut that waits for its first request goes; one in use stays, because the window may not hold the whole history.
    let pending = Key128::from_u128(9);
    state.add_cut(pending, Bytes::from_static(b"{}"));
    state.reload_cuts(LineageCuts::default());
    assert!(sent(&mut state).contains("deleted"));
    assert!(!state.is_to_be_measured(pending));
}
