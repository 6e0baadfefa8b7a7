//! `grov watch`.

use crate::scene::Scene;
use crate::stored::{exchange, fill, step};
use grov_domain::{
    ActionType, ClientSessionId, ExchangeRecord, ExchangeStore, Finding, HookProgress, HookSession,
    HookStore, JudgedBy, Redacted, Rule, StepVerdict,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration as Wait;
use time::OffsetDateTime;

const SESSION: &str = "88888888-aaaa-7000-8000-000000000001";
const PATIENCE: Wait = Wait::from_secs(20);

/// A running `grov watch` and the lines that it prints.
struct Watch {
    child: Child,
    lines: Receiver<String>,
    /// The lines of standard error.
    notes: Receiver<String>,
}

fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Watch {
    fn start(scene: &Scene, words: &[&str]) -> Self {
        let mut child = scene
            .command()
            .arg("watch")
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let notes = lines_of(child.stderr.take().unwrap());
        let watch = Self { child, lines, notes };
        let note = watch.notes.recv_timeout(PATIENCE).unwrap();
        assert!(note.starts_with("watching "), "{note}");
        watch
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Sends Ctrl-C and returns the exit code.
    fn interrupt(mut self) -> i32 {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

fn record(session: &str, prompt: &str) -> ExchangeRecord {
    let now = OffsetDateTime::now_utc();
    let mut act = step("Bash", ActionType::Bash, &[], Some("cargo test\u{1b}[2J"), 0);
    act.timestamp = now;
    let mut off = step("Edit", ActionType::Edit, &["docs/a.md"], None, 0);
    off.timestamp = now;
    off.verdict = Some(StepVerdict {
        score: 2,
        by: JudgedBy::Rules,
        findings: vec![Finding::new(
            Rule::Constraint,
            2,
            None,
            "the docs must not change",
        )],
        level: None,
        correction: None,
        recovery_plan: Vec::new(),
    });
    let mut record = exchange(session, session, "/p", 0, vec![act, off]);
    record.started_at = now;
    record.ended_at = now;
    record.prompts[0].text = prompt.to_owned();
    record
}

#[test]
fn what_is_recorded_is_shown_once() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        store
            .append(&Redacted::each(&[record(SESSION, "earlier")]))
            .await
            .unwrap();
    });
    let watch = Watch::start(&scene, &["--json"]);
    fill(&scene, async |store| {
        store
            .append(&Redacted::each(&[record(SESSION, "and now")]))
            .await
            .unwrap();
    });
    let mut kinds = Vec::new();
    for _ in 0..4 {
        let line = watch.json();
        assert_eq!(line["session_id"], SESSION);
        assert!(line["at"].is_string(), "{line}");
        match line["kind"].as_str().unwrap() {
            "prompt" => assert_eq!(line["text"], "and now"),
            "action" => assert_eq!(line["tool"], "Bash"),
            "finding" => assert_eq!(line["reason"], "the docs must not change"),
            "usage" => assert_eq!(line["tokens"]["cache_read"], 20_000),
            other => panic!("{other}"),
        }
        kinds.push(line["kind"].as_str().unwrap().to_owned());
    }
    kinds.sort();
    assert_eq!(kinds, ["action", "finding", "prompt", "usage"]);
    fill(&scene, async |store| {
        let mut next = record(SESSION, "the next one");
        next.steps.clear();
        store.append(&Redacted::each(&[next])).await.unwrap();
    });
    let next: Vec<Value> = (0..2).map(|_| watch.json()).collect();
    assert!(next.iter().any(|line| line["text"] == "the next one"), "{next:?}");
    assert_eq!(watch.interrupt(), 0);
}

#[test]
fn one_session_is_shown_from_an_earlier_time_and_safely() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        let records = [
            record(SESSION, "of this session"),
            record("99999999-other", "of another"),
        ];
        store.append(&Redacted::each(&records)).await.unwrap();
    });
    let watch = Watch::start(&scene, &["8888", "--since", "10m", "--color", "always"]);
    let lines: Vec<String> = (0..4).map(|_| watch.line()).collect();
    let text = lines.concat();
    assert!(
        text.contains("of this session") && text.contains("cargo test"),
        "{text}"
    );
    assert!(
        !text.contains("of another") && !text.contains("\u{1b}[2J"),
        "{text:?}"
    );
    assert_eq!(watch.interrupt(), 0);
    let ended = scene.run(&["watch", "nobody"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
}

#[test]
fn sessions_of_hooks_are_shown_too() {
    let scene = Scene::new();
    let watch = {
        fill(&scene, async |_| ());
        Watch::start(&scene, &["--json"])
    };
    fill(&scene, async |store| {
        let mut session = HookSession::new(
            ClientSessionId::new(SESSION),
            "/p".to_owned(),
            "/p".to_owned(),
            OffsetDateTime::now_utc(),
        );
        session.contract.instructions = vec!["typed with hooks".to_owned()];
        session.prompts = 1;
        session.memories_injected = 2;
        let progress = HookProgress {
            session,
            steps: Vec::new(),
            ended: Vec::new(),
            allowed: Vec::new(),
            check: None,
        };
        assert!(store.save_hook_progress(&Redacted::of(&progress)).await.unwrap());
    });
    let lines = [watch.json(), watch.json()];
    assert!(
        lines
            .iter()
            .any(|line| line["kind"] == "prompt" && line["text"] == "typed with hooks"),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line["kind"] == "injection" && line["memories"] == 2),
        "{lines:?}"
    );
    assert_eq!(watch.interrupt(), 0);
}

#[test]
fn watching_begins_before_the_first_session() {
    let scene = Scene::new();
    let mut child = scene
        .command()
        .arg("watch")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let notes = lines_of(child.stderr.take().unwrap());
    assert!(
        notes
            .recv_timeout(PATIENCE)
            .unwrap()
            .contains("nothing is recorded yet")
    );
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(scene.is_untouched());
}
