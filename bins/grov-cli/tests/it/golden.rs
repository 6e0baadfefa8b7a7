//! What commands print on terminals of 60, 80 and 120 columns, as golden files. `GOLDEN_UPDATE=1` writes them anew.

use crate::scene::Scene;
use crate::stored::{exchange, fill, step};
use grov_domain::{
    ActionType, AgentId, ClientSessionId, Decision, DriftEvent, DriftEventId, DriftStore, ExchangeStore,
    Redacted, SessionId, StepOutcome, StepResult, Task, TaskStore,
};
use std::path::{Path, PathBuf};
use time::{Duration, OffsetDateTime};
use unicode_width::UnicodeWidthStr;

const SESSION: &str = "3f2a91c0-aaaa-7000-8000-000000000001";
const OTHER: &str = "7b11d2e4-bbbb-7000-8000-000000000002";
const MEMORY: &str = "01890d3c-1111-7000-8000-000000000003";

/// Commands with tables and fields: none of their lines is wider than the terminal.
const FITTED: &[&str] = &[
    "status",
    "sessions",
    "sessions --all",
    "steps 3f2a91c0",
    "steps 7b11",
    "goal show --session 3f2a91c0",
    "drift status",
    "drift log",
    "drift explain 5d1e02ab",
    "memory list",
    "memory list --limit 1",
    "memory search login",
    "memory search --why lost session",
    "memory show 01890d3c",
    "memory stats",
    "memory audit",
    "proxy-status",
    "usage",
    "usage --by day",
    "cost",
    "cost --by model",
    "store prune --dry-run",
    "token list",
];

/// The same, whose text grows with Grov: only the width is checked.
const GROWING: &[&str] = &["config list", "doctor", "store stats"];

/// Commands whose lines may be wider: prose, paths and commands to copy.
const OTHERS: &[&str] = &[
    "plans list",
    "sessions --wide",
    "memory list --wide",
    "memory search nothing-like-this",
    "memory show nothing",
    "injected 3f2a91c0",
    "config explain proxy.port",
    "config explain proxy.prot",
    "proxy status",
    "ca show",
    "route check",
    "context status 3f2a91c0",
    "steps nothing",
    "status --project misspelt",
    "init",
    "unregister",
    "sessions --help",
    "memory search --help",
    "no-such-command",
    "drift-test rm -rf src --goal x",
];

fn start() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_780_000_000).unwrap()
}

fn filled() -> Scene {
    // Nothing listens there.
    let scene = Scene::new().env("GROV_PROXY_PORT", "1");
    let work = scene.path("work").to_str().unwrap().to_owned();
    fill(&scene, async |store| {
        let goal = "Fix the login, and explain to me why the session was lost after the second request";
        let long = format!("{work}/src/authentication/session_store/with_a_long_name.rs");
        let mut steps = vec![
            step(
                "Read",
                ActionType::Read,
                &[&format!("{work}/src/login.rs")],
                None,
                0,
            ),
            step("Edit", ActionType::Edit, &[&long], None, 1),
            step(
                "Bash",
                ActionType::Bash,
                &[],
                Some("cargo test --workspace --all-features -- login session --nocapture"),
                2,
            ),
            step("Bash", ActionType::Bash, &[], Some("git push --force"), 3),
        ];
        for (number, step) in steps.iter_mut().enumerate() {
            step.action.tool_use_id = Some(format!("toolu_{number}"));
        }
        let mut first = exchange(SESSION, SESSION, &work, 0, steps);
        first.prompts[0].text = goal.to_owned();
        first.model = Some("claude-opus-4-8".to_owned());
        let mut refused = exchange(SESSION, SESSION, &work, 5, Vec::new());
        refused.prompts.clear();
        refused.failures = vec![StepResult {
            tool_use_id: "toolu_3".to_owned(),
            outcome: StepOutcome::Denied,
        }];
        let mut by_agent = exchange(
            OTHER,
            OTHER,
            "/srv/other",
            9,
            vec![step("Read", ActionType::Read, &["README.md"], None, 9)],
        );
        by_agent.agent_id = Some(AgentId::new("a8b4a2e7beda78101"));
        let mut second = exchange(
            OTHER,
            OTHER,
            "/srv/other",
            8,
            vec![step("Write", ActionType::Write, &["说明.md"], None, 8)],
        );
        second.prompts[0].text = "修正登录并解释为什么会话丢失了以及如何避免再次发生这种情况".to_owned();
        let records: Vec<_> = [first, refused, second, by_agent]
            .iter()
            .map(Redacted::of)
            .collect();
        store.append(&records).await.unwrap();
        let mut task = Task::new(MEMORY, &work, goal);
        task.goal = Some("Keep failed logins in an outbox".to_owned());
        task.created_at = start();
        task.user = Some("dev".to_owned());
        task.files_touched = vec!["src/login.rs".to_owned(), "src/outbox.rs".to_owned()];
        task.decisions = vec![Decision {
            choice: "An outbox table".to_owned(),
            reason: "failed logins survive a restart of the service, which a queue in memory does not"
                .to_owned(),
        }];
        task.constraints = vec!["no new dependencies".to_owned()];
        store.save_task(&Redacted::of(&task)).await.unwrap();
        let event = DriftEvent {
            id: DriftEventId::new("5d1e02ab-1111-7000-8000-000000000004"),
            session_id: SessionId::new(SESSION),
            timestamp: start() + Duration::minutes(3),
            action_type: Some(ActionType::Bash),
            files: Vec::new(),
            drift_score: Some(2),
            level: Some("halt".to_owned()),
            reason: Some(
                "`git push --force` rewrites what others may have fetched; nobody asked for it".to_owned(),
            ),
            correction_given: None,
            recovery_plan: Vec::new(),
            client_session_id: Some(ClientSessionId::new(SESSION)),
            step_id: None,
            tool_use_id: None,
            command: Some("git push --force".to_owned()),
            findings: Vec::new(),
            judged_by: None,
            outcome: None,
        };
        store.append_drift(&Redacted::of(&event)).await.unwrap();
    });
    scene
}

/// The output of a command on a terminal with this number of columns, without what differs from run to run.
fn printed(scene: &Scene, line: &str, columns: usize) -> String {
    let mut command = scene.command();
    command.env("COLUMNS", columns.to_string()).args(line.split(' '));
    let ended = crate::scene::Ended::of(&command.output().unwrap());
    let root = scene.path("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    // As long as a real one, so that tables keep their form.
    let name = "x".repeat(root.len() - "/tmp/".len());
    let text = format!(
        "$ grov {line}   # exit code {}\n{}{}",
        ended.code, ended.stdout, ended.stderr
    );
    let text = text.replace(root, &format!("/tmp/{name}"));
    let stable = text.lines().map(without_amounts);
    stable.collect::<Vec<_>>().join("\n") + "\n\n"
}

/// A line without the size of the database and the place of the program.
fn without_amounts(line: &str) -> String {
    if line.contains("MB are free") || line.starts_with("schema ") {
        return line
            .chars()
            .map(|character| {
                if character.is_ascii_digit() {
                    '0'
                } else {
                    character
                }
            })
            .collect();
    }
    line.to_owned()
}

fn golden(columns: usize) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden");
    folder.join(format!("{columns}.txt"))
}

fn compare(columns: usize) {
    let scene = filled();
    let mut text = String::new();
    let mut wide = Vec::new();
    for line in FITTED.iter().chain(GROWING) {
        let shown = printed(&scene, line, columns);
        let too_wide = |line: &&str| line.width() > columns && line.trim().contains(' ');
        wide.extend(
            shown
                .lines()
                .skip(1)
                .filter(too_wide)
                .map(|wide| format!("grov {line}: {wide}")),
        );
        if FITTED.contains(line) {
            text.push_str(&shown);
        }
    }
    for line in OTHERS {
        text.push_str(&printed(&scene, line, columns));
    }
    assert!(
        wide.is_empty(),
        "wider than {columns} columns:\n{}",
        wide.join("\n")
    );
    let path = golden(columns);
    if std::env::var_os("GOLDEN_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (shown, expected) in text.split("\n\n$ ").zip(expected.split("\n\n$ ")) {
        assert_eq!(shown, expected, "GOLDEN_UPDATE=1 writes {} anew", path.display());
    }
    assert_eq!(
        text.len(),
        expected.len(),
        "GOLDEN_UPDATE=1 writes {} anew",
        path.display()
    );
}

#[test]
fn commands_read_well_at_60_columns() {
    compare(60);
}

#[test]
fn commands_read_well_at_80_columns() {
    compare(80);
}

#[test]
fn commands_read_well_at_120_columns() {
    compare(120);
}
