//! What people do to memories: `grov memory edit`, `supersede`, `audit`, `forget`, `show`, `export` and `import`.

mod audit;
mod edit;
mod editor;
mod export;
mod forget;
mod show;
mod supersede;

use crate::scene::{Ended, Scene, json};
use crate::stored::fill;
use grov_domain::{
    ClientSessionId, Clock, ExchangeId, ExchangeKind, ExchangeRecord, ExchangeStore, FilePin, HistoryKey,
    LedgerEntry, LedgerStore, Lineage, MemoryStore, NewLineage, Outcome, Project, Redacted, SessionId,
    SystemClock, TaskId, TaskStore, TokenUsage,
};
use serde_json::{Value, json as object};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const KEY: &str = "literal-key";

const FIRST: &str = "01890000-0000-7000-8000-0000000000aa";

const SECOND: &str = "01890000-0000-7000-8000-0000000000bb";

fn run(scene: &Scene, words: &[&str]) -> Ended {
    scene.run(&[&["memory"], words, &["--project", KEY]].concat())
}

/// The answer of a command that succeeds.
fn ask(scene: &Scene, words: &[&str]) -> Value {
    let ended = run(scene, &[words, &["--json"]].concat());
    assert_eq!(ended.code, 0, "{words:?}: {ended:?}");
    json(&ended)
}

fn record(id: &str, goal: &str) -> Value {
    object!({
        "id": id, "user": "dev", "original_query": format!("please {goal}"), "goal": goal,
        "reasoning_trace": ["looked into it", "measured it"], "files_touched": ["src/limit.rs", "src/frame.rs"],
        "decisions": [{"choice": "count frames", "reason": "cheap"}], "constraints": ["no buffering"],
        "tags": ["relay"], "file_pins": [{"path": "src/limit.rs", "hash": "00"}, {"path": "src/frame.rs", "hash": null}],
        "created_at": "2026-01-02T03:04:05.678Z",
    })
}

/// A scene with these records in memory.
fn scene_with_memories(records: &[Value]) -> Scene {
    let scene = Scene::new();
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let path = scene.write("records.jsonl", &text);
    let answer = ask(&scene, &["import", path.to_str().unwrap()]);
    assert_eq!(answer["skipped"], 0, "{answer}");
    scene
}

fn exported(scene: &Scene, id: &str) -> Value {
    let lines = run(scene, &["export"]).stdout;
    lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|record| record["id"] == id)
        .unwrap()
}

/// Records that the memory `FIRST` was injected into a session.
fn record_injection(scene: &Scene, model: &str) {
    fill(scene, async |store| {
        let now = SystemClock.now();
        let lineage = Lineage {
            session: ClientSessionId::new("held-session"),
            agent: None,
        };
        let exchange = ExchangeRecord {
            id: ExchangeId::fresh(),
            session_id: SessionId::new("held-session"),
            client_session_id: lineage.session.clone(),
            agent_id: None,
            kind: ExchangeKind::Main,
            project: Project {
                path: Some(KEY.to_owned()),
                remote: None,
            },
            user: None,
            model: Some(model.to_owned()),
            started_at: now,
            ended_at: now,
            prompts: Vec::new(),
            steps: Vec::new(),
            failures: Vec::new(),
            usage: TokenUsage {
                input: 1_000,
                cache_read: 190_000,
                cache_creation: 9_000,
                ..TokenUsage::default()
            },
            stop_reason: None,
            outcome: Outcome::Complete,
            drift: None,
            edits: None,
        };
        store.append(&Redacted::each(&[exchange])).await.unwrap();
        store
            .adopt(&NewLineage {
                lineage: lineage.clone(),
                project_path: KEY.to_owned(),
                model: model.to_owned(),
                history: Vec::new(),
                at: now,
            })
            .await
            .unwrap();
        let entry = LedgerEntry {
            anchor: HistoryKey(7),
            block: Some("{\"type\":\"text\",\"text\":\"zyxwvutsr\"}".to_owned()),
            memories: vec![TaskId::new(FIRST)],
            decided_at: now,
        };
        let until = Instant::now() + Duration::from_secs(60);
        assert!(store.decide(&lineage, &entry.redacted(), until).await.unwrap());
    });
}
