//! Commands that show records of the database.

use crate::scene::{Scene, json};
use grov_domain::{
    Action, ActionType, AgentId, ClientSessionId, Decision, DriftEvent, DriftEventId, DriftStore, Effect,
    EffectKind, ExchangeId, ExchangeKind, ExchangeRecord, ExchangeStore, Outcome, Project, Prompt, Redacted,
    SessionId, SessionState, SessionStatus, SessionStore, Step, StepId, Task, TaskId, TaskStore, TaskType,
    TokenUsage, TriggerReason,
};
use grov_store::{OpenOptions, SqliteStore};
use serde_json::json as object;
use std::future::Future;
use time::{Duration, OffsetDateTime};

const FIRST: &str = "11111111-aaaa-7000-8000-000000000001";
const SECOND: &str = "11111111-bbbb-7000-8000-000000000002";

fn start() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_780_000_000).unwrap()
}

/// Runs `work` on the scene's database, which is created if needed.
pub(crate) fn fill<T, F: Future<Output = T>>(scene: &Scene, work: impl FnOnce(SqliteStore) -> F) -> T {
    let path = scene.path("home/.grov/grov.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async { work(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap()).await })
}

pub(crate) fn exchange(
    client: &str,
    task: &str,
    project: &str,
    minute: i64,
    steps: Vec<Step>,
) -> ExchangeRecord {
    let id = ExchangeId::fresh();
    let steps = steps.into_iter().enumerate().map(|(index, step)| Step {
        id: StepId::of(&id, index),
        ..step
    });
    let started_at = start() + Duration::minutes(minute);
    ExchangeRecord {
        session_id: SessionId::new(task),
        client_session_id: ClientSessionId::new(client),
        agent_id: None,
        kind: ExchangeKind::Main,
        project: Project {
            path: Some(project.to_owned()),
            remote: None,
        },
        user: None,
        model: Some("model".to_owned()),
        started_at,
        ended_at: started_at + Duration::seconds(5),
        prompts: vec![Prompt {
            text: "please".to_owned(),
            queued: false,
        }],
        steps: steps.collect(),
        failures: Vec::new(),
        usage: TokenUsage {
            input: 10,
            cache_read: 20_000,
            cache_creation: 300,
            output: 40,
            ..TokenUsage::default()
        },
        stop_reason: Some("tool_use".to_owned()),
        outcome: Outcome::Complete,
        id,
        drift: None,
        edits: None,
    }
}

pub(crate) fn step(
    tool: &str,
    action_type: ActionType,
    files: &[&str],
    command: Option<&str>,
    minute: i64,
) -> Step {
    let effect = Effect {
        kind: EffectKind::Delete,
        paths: vec!["x".to_owned()],
    };
    Step {
        id: StepId::new("set by the exchange"),
        action: Action {
            tool: tool.to_owned(),
            tool_use_id: Some("toolu_1".to_owned()),
            action_type,
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            folders: Vec::new(),
            command: command.map(str::to_owned),
            effects: command.map(|_| effect).into_iter().collect(),
            line: None,
            change: None,
        },
        reasoning: Some("because".to_owned()),
        keywords: Vec::new(),
        is_key_decision: action_type == ActionType::Edit,
        timestamp: start() + Duration::minutes(minute),
        verdict: None,
    }
}

/// Two client sessions in two projects; the first has a second task.
pub(crate) fn two_sessions(scene: &Scene) {
    fill(scene, async |store| {
        let edit = step("Edit", ActionType::Edit, &["src/a.rs"], None, 0);
        let run = step("Bash", ActionType::Bash, &[], Some("rm x"), 1);
        let read = step("Read", ActionType::Read, &["src/b.rs"], None, 2);
        let mut by_agent = exchange(
            FIRST,
            FIRST,
            "/p",
            3,
            vec![step("Grep", ActionType::Search, &[], Some("needle"), 3)],
        );
        by_agent.agent_id = Some(AgentId::new("agent-7"));
        by_agent.kind = ExchangeKind::Subagent;
        by_agent.prompts.clear();
        let batch = [
            exchange(FIRST, FIRST, "/p", 0, vec![edit, run]),
            exchange(FIRST, "task-two", "/p", 2, vec![read]),
            by_agent,
            exchange(SECOND, SECOND, "/q", 9, Vec::new()),
        ];
        assert_eq!(store.append(&Redacted::each(&batch)).await.unwrap(), 4);
    });
}

#[test]
fn proxy_status_lists_sessions_newest_first() {
    let scene = Scene::new();
    two_sessions(&scene);
    let answer = scene.ask(&["proxy-status"]);
    let sessions = answer["sessions"].as_array().unwrap();
    let ids: Vec<_> = sessions
        .iter()
        .map(|session| session["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [SECOND, FIRST, "task-two"]);
    let first = &sessions[1];
    let expected = object!({
        "client_session_id": FIRST, "project_path": "/p", "task_type": "main", "parent_session_id": null,
        "session_mode": "normal", "status": "active", "prompts": 1, "steps": 3, "exchanges": 2,
        "tokens": {"input": 20, "cache_read": 40_000, "cache_creation": 600, "cache_creation_5m": 0, "cache_creation_1h": 0, "output": 80},
        "start_time": "2026-05-28T20:26:40Z", "last_update": "2026-05-28T20:29:45Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&first[name], value, "{name}");
    }
    assert!(first.get("original_goal").is_some());
    assert_eq!(first["last_action"]["tool"], "Grep");
    assert_eq!(sessions[0]["last_action"], object!(null));

    assert_eq!(
        scene.ask(&["proxy-status", "--project", "/q"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        scene.ask(&["proxy-status", "--limit", "2"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        scene.ask(&["proxy-status", "--limit", "0"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let text = scene.run(&["proxy-status"]).stdout;
    for part in ["proxy not running", FIRST, "40.0k", "/q", "Grep needle"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn steps_of_a_client_session_are_those_of_all_its_tasks_in_order() {
    let scene = Scene::new();
    two_sessions(&scene);
    let answer = scene.ask(&["steps", FIRST]);
    assert_eq!(answer["session_id"], FIRST);
    let steps = answer["steps"].as_array().unwrap();
    let shown: Vec<_> = steps
        .iter()
        .map(|step| {
            (
                step["action_type"].as_str().unwrap(),
                step["timestamp"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("edit", "2026-05-28T20:26:40Z"),
            ("bash", "2026-05-28T20:27:40Z"),
            ("read", "2026-05-28T20:28:40Z"),
            ("search", "2026-05-28T20:29:40Z"),
        ]
    );
    let expected = object!({
        "files": [], "folders": [], "command": "rm x", "drift_score": null, "drift_type": null,
        "is_key_decision": false, "agent_id": null, "tool": "Bash",
        "effects": [{"kind": "delete", "paths": ["x"]}],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&steps[1][name], value, "{name}");
    }
    assert_eq!(
        (&steps[0]["files"], &steps[0]["is_key_decision"]),
        (&object!(["src/a.rs"]), &object!(true))
    );
    assert_eq!(steps[3]["agent_id"], "agent-7");
    let text = scene.run(&["steps", FIRST]).stdout;
    assert!(text.contains("rm x") && text.contains("src/a.rs"));
    let tasks: Vec<_> = steps
        .iter()
        .map(|step| step["task_id"].as_str().unwrap())
        .collect();
    assert_eq!(tasks, [FIRST, FIRST, "task-two", FIRST]);
}

/// A task of the client session of `base`.
fn task(
    base: &SessionState,
    id: &str,
    parent: Option<&str>,
    task_type: TaskType,
    goal: &str,
    minute: i64,
) -> SessionState {
    SessionState {
        session_id: SessionId::new(id),
        parent_session_id: parent.map(SessionId::new),
        task_type,
        original_goal: Some(goal.to_owned()),
        start_time: start() + Duration::minutes(minute),
        ..base.clone()
    }
}

#[test]
fn steps_are_shown_under_the_goal_of_their_task() {
    let scene = Scene::new();
    two_sessions(&scene);
    fill(&scene, async |store| {
        let first = store.session(&SessionId::new(FIRST)).await.unwrap().unwrap();
        let done = SessionState {
            status: SessionStatus::Completed,
            ..task(
                &first.state,
                "task-two",
                Some(FIRST),
                TaskType::Subtask,
                "Find\nthe cause",
                2,
            )
        };
        store.save_session(&Redacted::of(&done)).await.unwrap();
    });
    let text = scene.run(&["steps", FIRST]).stdout;
    let first_words: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .map(|line| line.split(" (").next().unwrap_or_default().to_owned())
        .collect();
    let task = |id: &str| format!("task {id}");
    assert_eq!(
        first_words,
        [
            format!("session {FIRST}"),
            "TIME".to_owned(),
            task(FIRST),
            "2026-05-28 20:26:40 edit".to_owned(),
            "2026-05-28 20:27:40 bash".to_owned(),
            "2026-05-28 20:29:40 search".to_owned(),
            task("task-two"),
            "2026-05-28 20:28:40 read".to_owned(),
        ]
    );
    assert!(text.contains("(main, active): please"), "{text}");
    assert!(text.contains("(subtask, completed): Find the cause"), "{text}");
    let text = scene.run(&["steps", "task-two"]).stdout;
    assert!(
        text.contains("Find the cause") && text.lines().count() == 4,
        "{text}"
    );
}

#[test]
fn the_tasks_of_a_client_session_are_a_tree() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        let record = exchange(FIRST, FIRST, "/p", 0, Vec::new());
        store.append(&Redacted::each(&[record])).await.unwrap();
        let first = store.session(&SessionId::new(FIRST)).await.unwrap().unwrap();
        let task = |id: &str, parent, task_type, goal: &str, minute| {
            task(&first.state, id, parent, task_type, goal, minute)
        };
        for task in [
            task(FIRST, None, TaskType::Main, "Ship the release", 0),
            task("fix", Some(FIRST), TaskType::Subtask, "Fix the build", 1),
            task("cause", Some("fix"), TaskType::Subtask, "Find the cause", 2),
            task("docs", Some(FIRST), TaskType::Parallel, "Write the notes", 3),
            task("next", None, TaskType::Main, "Plan the next one", 4),
            task("orphan", Some("gone"), TaskType::Subtask, "Left over", 5),
            task("a", Some("b"), TaskType::Subtask, "Round", 6),
            task("b", Some("a"), TaskType::Subtask, "And round", 7),
        ] {
            store.save_session(&Redacted::of(&task)).await.unwrap();
        }
    });
    let text = scene.run(&["proxy-status"]).stdout;
    let shown: Vec<(usize, &str)> = text
        .lines()
        .skip_while(|line| !line.starts_with("SESSION"))
        .skip(1)
        .map(|line| {
            let goals = ["Ship", "Fix", "Find", "Write", "Plan", "Left", "Round", "And"];
            let goal = goals.into_iter().find(|goal| line.contains(goal)).unwrap();
            let kinds = ["main", "subtask", "parallel"];
            let at = kinds
                .into_iter()
                .filter_map(|kind| line.find(kind))
                .min()
                .unwrap();
            (line[..at].chars().count(), goal)
        })
        .collect();
    let root = FIRST.len() + 2;
    assert_eq!(
        shown,
        [
            (root, "Ship"),
            (root + 2, "Fix"),
            (root + 4, "Find"),
            (root + 2, "Write"),
            (root, "Plan"),
            (root, "Left"),
            (root, "Round"),
            (root, "And"),
        ],
        "{text}"
    );
    assert_eq!(text.matches(FIRST).count(), 1, "a session is named once\n{text}");
    let answer = scene.ask(&["proxy-status"]);
    let cause = answer["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|session| session["session_id"] == "cause")
        .unwrap();
    for (name, value) in [
        ("task_type", "subtask"),
        ("parent_session_id", "fix"),
        ("original_goal", "Find the cause"),
        ("status", "active"),
    ] {
        assert_eq!(cause[name], value, "{name}");
    }
}

#[test]
fn a_session_is_found_by_a_task_or_a_unique_prefix() {
    let scene = Scene::new();
    two_sessions(&scene);
    let count = |id: &str| {
        let answer = scene.ask(&["steps", id]);
        (
            answer["session_id"].as_str().unwrap().to_owned(),
            answer["steps"].as_array().unwrap().len(),
        )
    };
    assert_eq!(count("task-two"), ("task-two".to_owned(), 1));
    assert_eq!(count("task"), ("task-two".to_owned(), 1));
    assert_eq!(count("11111111-a"), (FIRST.to_owned(), 4));
    assert_eq!(
        count(SECOND),
        (SECOND.to_owned(), 0),
        "a session without steps is found"
    );
    let ended = scene.run(&["steps", "11111111", "--json"]);
    assert_eq!(ended.code, 64);
    let message = json(&ended)["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(FIRST) && message.contains(SECOND), "{message}");
    assert_eq!(scene.run(&["steps", "%"]).code, 1);
    assert_eq!(scene.run(&["steps", ""]).code, 1);
}

#[test]
fn status_counts_the_records_of_the_project() {
    let scene = Scene::new();
    let repository = scene.repository("work/repo", "git@h.example:o/r.git");
    let path = repository.to_str().unwrap();
    fill(&scene, async |store| {
        let edit = step("Edit", ActionType::Edit, &["a"], None, 0);
        store
            .append(&Redacted::each(&[exchange(FIRST, FIRST, path, 0, vec![edit])]))
            .await
            .unwrap();
        let task = Task {
            goal: Some("It is\ndone".to_owned()),
            reasoning_trace: vec!["read a".to_owned()],
            files_touched: vec!["a".to_owned()],
            decisions: (1..=9)
                .map(|number| Decision {
                    choice: format!("choice {number}"),
                    reason: "it is\u{1b}[2J shorter".to_owned(),
                })
                .collect(),
            constraints: vec!["do not touch b".to_owned()],
            trigger_reason: Some(TriggerReason::Complete),
            linked_commit: Some("0123abc".to_owned()),
            parent_task_id: Some(TaskId::new("task-0")),
            tags: vec!["greeting".to_owned()],
            created_at: start(),
            ..Task::new("task-1", path, "do it")
        };
        store.save_task(&Redacted::of(&task)).await.unwrap();
    });
    let answer = scene.within(&repository).ask(&["status"]);
    assert_eq!(
        (&answer["project_path"], &answer["project_remote"]),
        (&path.into(), &"h.example/o/r".into())
    );
    assert_eq!(
        [
            &answer["tasks"],
            &answer["memory_items"],
            &answer["sessions"],
            &answer["steps"]
        ],
        [1, 0, 1, 1]
    );
    let task = &answer["last_task"];
    assert_eq!(
        (&task["id"], &task["goal"], &task["status"]),
        (&"task-1".into(), &"It is\ndone".into(), &"complete".into())
    );
    for (name, value) in [
        ("original_query", object!("do it")),
        ("trigger_reason", object!("complete")),
        ("constraints", object!(["do not touch b"])),
        ("reasoning_trace", object!(["read a"])),
        ("files_touched", object!(["a"])),
        ("tags", object!(["greeting"])),
        ("linked_commit", object!("0123abc")),
        ("parent_task_id", object!("task-0")),
        ("created_at", object!("2026-05-28T20:26:40Z")),
    ] {
        assert_eq!(task[name], value, "{name}");
    }
    assert_eq!(task["decisions"].as_array().unwrap().len(), 9);
    assert_eq!(task["decisions"][0]["choice"], "choice 1");
    let text = scene.run(&["status", "--project", path]).stdout;
    assert!(
        text.contains("1 with 1 steps") && text.contains("It is done"),
        "{text}"
    );
    for part in [
        "(complete, ",
        "choice 8 (it is",
        "constraint do not touch b",
        "1 more with --json",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains("choice 9"), "{text}");
    assert_eq!(
        scene.ask(&["status"])["tasks"],
        0,
        "another directory is another project"
    );
}

#[test]
fn pruning_follows_the_retention_and_has_a_dry_run() {
    let scene = Scene::new();
    two_sessions(&scene);
    fill(&scene, async |store| {
        let summary = store.session(&SessionId::new(SECOND)).await.unwrap().unwrap();
        let ended = SessionState {
            status: SessionStatus::Completed,
            task_type: TaskType::Main,
            ..summary.state
        };
        store.save_session(&Redacted::of(&ended)).await.unwrap();
        let event = DriftEvent {
            id: DriftEventId::fresh(),
            session_id: SessionId::new(SECOND),
            timestamp: OffsetDateTime::now_utc() - Duration::days(2),
            action_type: None,
            files: Vec::new(),
            drift_score: Some(3),
            level: None,
            reason: None,
            correction_given: None,
            recovery_plan: Vec::new(),
            client_session_id: None,
            step_id: None,
            tool_use_id: None,
            command: None,
            findings: Vec::new(),
            judged_by: None,
            outcome: None,
        };
        store.append_drift(&Redacted::of(&event)).await.unwrap();
    });
    let removed = |words: &[&str], name: &str| scene.ask(words)["removed"][name].as_u64().unwrap();
    assert_eq!(
        removed(&["store", "prune", "--dry-run"], "drift_events"),
        0,
        "30 days are the default"
    );
    scene.write("home/.grov/config.toml", "[store]\nretention_drift = '1d'\n");
    assert_eq!(removed(&["store", "prune", "--dry-run"], "drift_events"), 1);
    assert_eq!(
        removed(&["store", "prune", "--dry-run"], "drift_events"),
        1,
        "a dry run removes nothing"
    );
    let would = scene.ask(&["store", "prune", "--dry-run"]);
    let did = scene.ask(&["store", "prune"]);
    assert_eq!(
        (&would["dry_run"], &did["dry_run"]),
        (&true.into(), &false.into())
    );
    assert_eq!(would["removed"], did["removed"]);
    assert_eq!(removed(&["store", "prune"], "drift_events"), 0);
    assert!(
        scene
            .run(&["store", "prune"])
            .stdout
            .starts_with("removed nothing")
    );
}

#[test]
fn stats_count_rows() {
    let scene = Scene::new();
    two_sessions(&scene);
    let answer = scene.ask(&["store", "stats"]);
    assert_eq!(
        (&answer["backend"], &answer["exists"]),
        (&"sqlite".into(), &true.into())
    );
    assert!(answer["bytes"].as_u64().unwrap() > 0 && answer["schema_version"].as_i64().unwrap() > 0);
    let steps = answer["tables"]
        .as_array()
        .unwrap()
        .iter()
        .find(|table| table["table"] == "steps")
        .unwrap();
    assert_eq!(steps["rows"], 4);
    let text = scene.run(&["store", "stats"]).stdout;
    assert!(text.contains("grov.db") && text.contains("steps"), "{text}");
}

#[test]
fn an_agents_text_cannot_control_the_terminal() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        let nasty = step(
            "Bash",
            ActionType::Bash,
            &[],
            Some("echo \u{1b}]0;owned\u{7}\nfaked row"),
            0,
        );
        store
            .append(&Redacted::each(&[exchange(
                FIRST,
                FIRST,
                "/p\u{1b}[2J",
                0,
                vec![nasty],
            )]))
            .await
            .unwrap();
    });
    for words in [&["steps", FIRST][..], &["proxy-status"]] {
        let text = scene.run(words).stdout;
        assert!(
            text.contains("faked row") && !text.contains(['\u{1b}', '\u{7}']),
            "{text:?}"
        );
        assert!(!text.lines().any(|line| line.starts_with("faked")), "{text}");
    }
    assert!(
        scene.ask(&["steps", FIRST])["steps"][0]["command"]
            .as_str()
            .unwrap()
            .contains('\u{1b}')
    );
}

#[test]
fn a_closed_output_is_not_an_error_for_long_answers() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        let steps = (0..2000)
            .map(|_| step("Bash", ActionType::Bash, &[], Some("true"), 0))
            .collect();
        store
            .append(&Redacted::each(&[exchange(FIRST, FIRST, "/p", 0, steps)]))
            .await
            .unwrap();
    });
    for words in [&["steps", FIRST][..], &["steps", FIRST, "--json"]] {
        let ended = scene.run_with_closed_output(words);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    }
}
