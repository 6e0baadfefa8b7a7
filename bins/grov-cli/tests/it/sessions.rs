//! `grov sessions`, `grov injected`, and the session that commands take by default.

use crate::scene::{Scene, json};
use crate::stored::{exchange, fill, step};
use grov_domain::{
    ActionType, ActivityStore, ClientSessionId, Correction, CorrectionId, CorrectionLevel, CorrectionOutcome,
    DriftStore, ExchangeRecord, ExchangeStore, GuardRecord, GuardVerdict, HookProgress, HookSession,
    HookStore, Redacted, SessionId, StepOutcome, StepResult,
};
use serde_json::{Value, json as object};
use time::{Duration, OffsetDateTime};

const PROXIED: &str = "33333333-aaaa-7000-8000-000000000001";
const HOOKED: &str = "44444444-aaaa-7000-8000-000000000002";

fn ago(minutes: i64) -> OffsetDateTime {
    OffsetDateTime::now_utc() - Duration::minutes(minutes)
}

fn project(scene: &Scene) -> String {
    scene.path("work").to_str().unwrap().to_owned()
}

/// An exchange of the wire that ended some minutes ago.
fn recent(scene: &Scene, session: &str, minutes: i64, stop_reason: &str) -> ExchangeRecord {
    let mut record = exchange(session, session, &project(scene), 0, Vec::new());
    record.started_at = ago(minutes);
    record.ended_at = ago(minutes);
    record.stop_reason = Some(stop_reason.to_owned());
    record.model = Some("claude-opus-4-8".to_owned());
    record.prompts[0].text = "Fix the login".to_owned();
    record
}

/// A session of hooks with this goal, updated some minutes ago.
fn hooked(scene: &Scene, session: &str, goal: &str, minutes: i64) -> HookSession {
    let project = project(scene);
    let mut hooked = HookSession::new(
        ClientSessionId::new(session),
        project.clone(),
        project,
        ago(minutes + 5),
    );
    hooked.contract.goal = goal.to_owned();
    hooked.contract.instructions = vec![goal.to_owned()];
    hooked.prompts = 1;
    hooked.updated_at = ago(minutes);
    hooked
}

async fn save(store: &impl HookStore, session: HookSession) {
    let progress = HookProgress {
        session,
        steps: Vec::new(),
        ended: Vec::new(),
        allowed: Vec::new(),
        check: None,
    };
    assert!(store.save_hook_progress(&Redacted::of(&progress)).await.unwrap());
}

fn listed(answer: &Value) -> Vec<(&str, &str, &str)> {
    let sessions = answer["sessions"].as_array().unwrap().iter();
    sessions
        .map(|session| {
            (
                session["short_id"].as_str().unwrap(),
                session["path"].as_str().unwrap(),
                session["state"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn sessions_of_both_paths_are_one_list() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        let both = "55555555-aaaa-7000-8000-000000000003";
        let records = [
            recent(&scene, PROXIED, 3, "tool_use"),
            recent(&scene, both, 20, "end_turn"),
            recent(&scene, "66666666-a", 90, "end_turn"),
        ];
        store.append(&Redacted::each(&records)).await.unwrap();
        save(&store, hooked(&scene, HOOKED, "Write the notes", 1)).await;
        save(&store, hooked(&scene, both, "Fix the login", 30)).await;
        let mut ended = hooked(&scene, "77777777-a", "Print one answer", 2);
        ended.turn_ended_at = Some(ended.updated_at);
        ended.ended_at = Some(ended.updated_at);
        save(&store, ended).await;
    });
    let answer = scene.ask(&["sessions"]);
    assert_eq!(
        listed(&answer),
        [
            ("44444444", "hooks", "working"),
            ("77777777", "hooks", "ended"),
            ("33333333", "proxy", "working"),
            ("55555555", "proxy", "waiting"),
            ("66666666", "proxy", "ended"),
        ]
    );
    let first = &answer["sessions"][0];
    assert_eq!(first["goal"], "Write the notes");
    assert_eq!(first["project_path"], project(&scene));
    assert_eq!(
        (&first["id"], &first["client_session_id"]),
        (&object!(HOOKED), &object!(HOOKED))
    );
    assert_eq!(first["cost_usd"], Value::Null, "there is no transcript");
    let cost = answer["sessions"][2]["cost_usd"].as_f64().unwrap();
    // 10 input, 40 output, 20,000 cache read and 300 cache written of Opus.
    assert!((cost - 0.012_925).abs() < 1e-9, "{cost}");
    let other = scene.folder("elsewhere");
    assert_eq!(listed(&scene.within(&other).ask(&["sessions"])).len(), 0);
    assert_eq!(listed(&scene.within(&other).ask(&["sessions", "--all"])).len(), 5);
    assert_eq!(listed(&scene.ask(&["sessions", "--limit", "2"])).len(), 2);
}

#[test]
fn the_end_of_a_session_on_the_wire_is_told_by_its_hook() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        store
            .append(&Redacted::each(&[recent(&scene, PROXIED, 5, "end_turn")]))
            .await
            .unwrap();
        store
            .record_session_end(&ClientSessionId::new(PROXIED), ago(4))
            .await
            .unwrap();
    });
    assert_eq!(
        listed(&scene.ask(&["sessions"])),
        [("33333333", "proxy", "ended")]
    );
    fill(&scene, async |store| {
        let resumed = recent(&scene, PROXIED, 1, "end_turn");
        store.append(&Redacted::each(&[resumed])).await.unwrap();
    });
    assert_eq!(
        listed(&scene.ask(&["sessions"])),
        [("33333333", "proxy", "waiting")]
    );
}

#[test]
fn commands_take_the_newest_working_session_and_say_so() {
    let scene = Scene::new();
    assert_eq!(scene.run(&["steps"]).code, 1);
    fill(&scene, async |store| {
        store
            .append(&Redacted::each(&[recent(&scene, PROXIED, 10, "tool_use")]))
            .await
            .unwrap();
        let mut waiting = hooked(&scene, HOOKED, "Write the notes", 1);
        waiting.turn_ended_at = Some(waiting.updated_at);
        save(&store, waiting).await;
    });
    for words in [&["steps"][..], &["goal", "show"], &["injected"]] {
        let ended = scene.run(&[words, &["--json"]].concat());
        assert_eq!(ended.code, 0, "{words:?}: {ended:?}");
        assert!(
            ended
                .stderr
                .contains("session 33333333 (working, 10m ago): Fix the login"),
            "{words:?}: {ended:?}"
        );
        assert!(json(&ended).to_string().contains(PROXIED), "{words:?}");
    }
    let ended = scene.run(&["steps", "4444"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for words in [
        &["steps", "4"][..],
        &["goal", "show", "--session", "4444"],
        &["injected", "4444"],
        &["drift", "status", "--session", "4444"],
    ] {
        assert_eq!(scene.run(words).code, 0, "{words:?}");
    }
}

#[test]
fn actions_that_failed_or_were_refused_are_marked() {
    let scene = Scene::new();
    fill(&scene, async |store| {
        let call = |tool: &str, id: &str| {
            let mut step = step(tool, ActionType::Bash, &[], Some("run"), 0);
            step.action.tool_use_id = Some(id.to_owned());
            step
        };
        let mut first = recent(&scene, PROXIED, 5, "tool_use");
        let steps = ["toolu_a", "toolu_b", "toolu_c", "toolu_d", "toolu_e"].map(|id| call("Bash", id));
        let filled = exchange(PROXIED, PROXIED, &project(&scene), 0, steps.into());
        first.steps = filled.steps;
        first.id = filled.id;
        let mut second = recent(&scene, PROXIED, 4, "end_turn");
        second.failures = [
            ("toolu_a", StepOutcome::Failed),
            ("toolu_b", StepOutcome::Denied),
            ("toolu_c", StepOutcome::Stopped),
            ("toolu_d", StepOutcome::Failed),
        ]
        .map(|(id, outcome)| StepResult {
            tool_use_id: id.to_owned(),
            outcome,
        })
        .into();
        store.append(&Redacted::each(&[first, second])).await.unwrap();
        let guarded = GuardRecord {
            client_session_id: ClientSessionId::new(PROXIED),
            tool_use_id: "toolu_d".to_owned(),
            verdict: GuardVerdict::Deny,
            subject: "run".to_owned(),
            reason: "it is forbidden".to_owned(),
            ran: false,
            at: ago(5),
        };
        store.save_guard_record(&Redacted::of(&guarded)).await.unwrap();
    });
    let answer = scene.ask(&["steps", PROXIED]);
    let outcomes: Vec<&Value> = answer["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["outcome"])
        .collect();
    assert_eq!(
        object!(outcomes),
        object!(["failed", "denied", "stopped", "denied", null])
    );
    let text = scene.run(&["steps", PROXIED]).stdout;
    assert!(text.contains("stopped") && text.contains("RESULT"), "{text}");
}

#[test]
fn what_was_said_is_listed_with_its_reason() {
    let scene = Scene::new();
    let record = object!({
        "id": "0190aaaa-0000-7000-8000-00000000beef", "original_query": "Retry the upload", "goal": "Retry the upload with backoff",
        "files_touched": ["src/upload.rs"], "created_at": "2026-01-02T03:04:05Z",
    });
    let path = scene.write("records.jsonl", &format!("{record}\n"));
    scene.ask(&["memory", "import", path.to_str().unwrap()]);
    let memory = "<grov-context source=\"team-memory\">\nTeam memory.\n- 0000beef: retry\n</grov-context>";
    let line = |value: Value| format!("{value}\n");
    let transcript = [
        line(object!({"type": "user", "timestamp": "2026-05-01T10:00:00Z",
                "message": {"role": "user", "content": "the upload in src/upload.rs needs a retry"}})),
        line(object!({"type": "user", "timestamp": "2026-05-01T10:00:01Z",
                "message": {"role": "user", "content": [{"type": "tool_result", "content": "not typed"}]}})),
        line(
            object!({"type": "attachment", "timestamp": "2026-05-01T10:00:00.500Z", "attachment": {
            "type": "hook_additional_context", "hookEvent": "UserPromptSubmit", "content": [memory]}}),
        ),
        line(
            object!({"type": "attachment", "timestamp": "2026-05-01T10:00:01Z", "attachment": {
            "type": "hook_additional_context", "hookEvent": "PreToolUse", "content": ["of another program"]}}),
        ),
        "not json\n".to_owned(),
    ];
    let transcript = scene.write("transcript.jsonl", &transcript.concat());
    scene.write(
        &format!("home/.grov/hooks/told/{HOOKED}"),
        "0190aaaa-0000-7000-8000-00000000beef\n",
    );
    fill(&scene, async |store| {
        let mut session = hooked(&scene, HOOKED, "Retry", 1);
        session.transcript_path = Some(transcript.to_str().unwrap().to_owned());
        save(&store, session).await;
        let correction = Correction {
            id: CorrectionId::new("c"),
            client_session_id: ClientSessionId::new(HOOKED),
            session_id: SessionId::new(HOOKED),
            step_id: None,
            tool_use_id: None,
            level: CorrectionLevel::Halt,
            score: 2,
            reason: "it deletes the docs".to_owned(),
            text: "Stop and restore the docs\u{1b}[2J.".to_owned(),
            recovery_plan: Vec::new(),
            made_at: ago(3),
            delivered_at: Some(ago(2)),
            outcome: Some(CorrectionOutcome::Followed),
        };
        store.save_correction(&Redacted::of(&correction)).await.unwrap();
    });
    let answer = scene.ask(&["injected", HOOKED]);
    let said = answer["injections"].as_array().unwrap();
    assert_eq!(said.len(), 2, "{answer}");
    assert_eq!(
        answer["prompts"],
        object!([{"at": "2026-05-01T10:00:00Z", "text": "the upload in src/upload.rs needs a retry"}])
    );
    assert_eq!(
        (
            &said[0]["kind"],
            &said[0]["place"],
            &said[0]["text"],
            &said[0]["followed"]
        ),
        (
            &object!("memory"),
            &object!("prompt"),
            &object!(memory),
            &Value::Null
        )
    );
    assert_eq!(said[0]["at"], "2026-05-01T10:00:00.5Z");
    assert_eq!(said[0]["bytes"], memory.len());
    assert_eq!(
        said[0]["memories"],
        object!(["0190aaaa-0000-7000-8000-00000000beef"])
    );
    let reason = said[0]["reason"].as_str().unwrap();
    for part in ["0000beef", "score ", "words ", "upload", "files src/upload.rs"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert_eq!(
        (&said[1]["kind"], &said[1]["followed"], &said[1]["reason"]),
        (
            &object!("drift"),
            &object!(true),
            &object!("score 2 of 10: it deletes the docs")
        )
    );
    let text = scene.run(&["injected", HOOKED]).stdout;
    assert!(
        text.contains(", followed") && text.contains("team-memory"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn injected_lists_what_a_hook_restored_in_a_session_of_the_proxy() {
    let scene = Scene::new();
    let session = "0190cccc-0000-7000-8000-000000000001";
    let text = "<grov-context source=\"compaction\">\nGoal: page the archive\n</grov-context>";
    fill(&scene, async |store| {
        let record = crate::stored::exchange(session, session, "/p", 0, Vec::new());
        assert_eq!(store.append(&Redacted::each(&[record])).await.unwrap(), 1);
    });
    let line = object!({
        "type": "attachment", "timestamp": "2026-05-01T10:00:00Z",
        "attachment": {"type": "hook_additional_context", "hookEvent": "SessionStart", "content": [text]},
    });
    scene.write(
        &format!("home/.claude/projects/-p/{session}.jsonl"),
        &format!("{line}\n"),
    );
    let answer = scene.ask(&["injected", session]);
    let said = answer["injections"].as_array().unwrap();
    assert_eq!(said.len(), 1, "{answer}");
    assert_eq!(
        (&said[0]["kind"], &said[0]["place"], &said[0]["path"]),
        (&object!("context"), &object!("session_start"), &object!("hooks"))
    );
}

#[test]
fn goals_cannot_control_the_terminal() {
    let scene = Scene::new();
    let hostile = "Fix\u{1b}]0;owned\u{7}\n\u{202e}it\u{1b}[2J";
    fill(&scene, async |store| {
        save(&store, hooked(&scene, HOOKED, hostile, 1)).await;
    });
    for words in [
        &["sessions", "--color", "always"][..],
        &["steps", "--color", "always"],
        &["goal", "show", "--color", "always"],
    ] {
        let ended = scene.run(words);
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!shown.contains(['\u{7}', '\u{202e}']), "{shown:?}");
        assert!(
            !shown.contains("\u{1b}]") && !shown.contains("\u{1b}[2J"),
            "{shown:?}"
        );
    }
}
