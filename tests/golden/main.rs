//! Plays whole sessions on both paths and compares their findings for every action.
//!
//! Each file of `sessions/` is a session with its expected findings; `README.md` describes the format. One adapter
//! turns it into requests and responses of the Messages API, the other into a Claude Code transcript. `GOLDEN_UPDATE=1`
//! rewrites the expectations: review the diff.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic, wherever it is"
)]

mod hooks;
mod proxy;
mod session;

use serde_json::{Map, Value, json};
use session::Session;
use std::fs;
use std::path::{Path, PathBuf};

/// The agent's working directory.
pub(crate) const ROOT: &str = "/home/me/app";
/// The client's session id.
pub(crate) const SESSION: &str = "golden";

/// The client's note where the user interrupted a turn.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user for tool use]";

/// The findings of one path for a session.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Score and findings of each action, in file order.
    pub(crate) actions: Vec<Value>,
    /// Mode and escalation at the end of each turn.
    pub(crate) turns: Vec<Value>,
    /// The injected texts.
    pub(crate) said: Vec<Value>,
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/sessions");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

/// One value if the paths agree, otherwise one for each path.
fn both(proxy: &Value, hooks: &Value) -> Value {
    if proxy == hooks {
        proxy.clone()
    } else {
        json!({"proxy": proxy, "hooks": hooks})
    }
}

fn all(proxy: &[Value], hooks: &[Value]) -> Value {
    assert_eq!(proxy.len(), hooks.len());
    let pairs = proxy.iter().zip(hooks);
    pairs.map(|(proxy, hooks)| both(proxy, hooks)).collect()
}

/// The findings of both paths, in the form of the file.
fn expectation(proxy: &Seen, hooks: &Seen) -> Value {
    json!({
        "actions": all(&proxy.actions, &hooks.actions),
        "turns": all(&proxy.turns, &hooks.turns),
        "said": {"proxy": proxy.said, "hooks": hooks.said},
    })
}

/// Whether the paths differ in more than when they inject.
fn differs(expected: &Value) -> bool {
    let has_both = |value: &Value| value.get("proxy").is_some();
    let lists = ["actions", "turns"].map(|name| &expected[name]);
    lists
        .iter()
        .any(|list| list.as_array().into_iter().flatten().any(has_both))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_paths_report_the_same_findings() {
    let is_update = std::env::var_os("GOLDEN_UPDATE").is_some();
    let mut failures = Vec::new();
    let files = files();
    assert!(files.len() >= 12, "{files:?}");
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let mut whole: Map<String, Value> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let session: Session = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let hooks = hooks::follow(&session);
        let proxy = proxy::watch(&session).await;
        let found = expectation(&proxy, &hooks);
        if differs(&found) && !whole.contains_key("differs") {
            failures.push(format!("{name}: the paths differ, and the file does not say why"));
        }
        if whole.get("expected") == Some(&found) {
            continue;
        }
        if is_update {
            whole.insert("expected".to_owned(), found);
            fs::write(&file, format!("{:#}\n", Value::Object(whole))).unwrap();
        } else {
            failures.push(format!("{name}: found is {found:#}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
