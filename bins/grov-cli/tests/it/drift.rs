//! `grov goal`, `grov drift status`, `log`, `explain` and `replay` of what is stored.

use crate::scene::{Scene, json};
use crate::stored::{exchange, fill, step};
use grov_domain::{
    ActionSketch, ActionType, ClientSessionId, Correction, CorrectionId, CorrectionLevel, CorrectionOutcome,
    DriftState, DriftStore, ExchangeStore, Finding, GuardRecord, GuardVerdict, HookProgress, HookSession,
    HookStep, HookStore, JudgedBy, RecoveryStep, Redacted, Rule, SessionId, SessionMode, SessionStore, Step,
    StepId, StepVerdict,
};
use serde_json::{Value, json as object};
use time::{Duration, OffsetDateTime};

const SESSION: &str = "22222222-aaaa-7000-8000-000000000001";
const OLDER: &str = "22222222-bbbb-7000-8000-000000000002";

fn start() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_780_000_000).unwrap()
}

fn judged(step: Step, score: u8, level: Option<CorrectionLevel>) -> Step {
    let finding = |score| {
        Finding::new(
            Rule::Tangent,
            score,
            Some("src/theme.css"),
            "src/theme.css has nothing to do with the login",
        )
    };
    Step {
        verdict: Some(StepVerdict {
            score,
            by: JudgedBy::Rules,
            findings: (score < 8).then(|| finding(score)).into_iter().collect(),
            level,
            correction: level.map(|_| "Go back to the login.".to_owned()),
            recovery_plan: level.map(|_| way_back()).into_iter().collect(),
        }),
        ..step
    }
}

fn way_back() -> RecoveryStep {
    RecoveryStep {
        file: Some("src/auth.rs".to_owned()),
        action: "open it and go on with the login".to_owned(),
    }
}

/// A session in the scene's working directory that left its goal at its third action, and an older one that did not.
fn a_drifted_session(scene: &Scene) {
    let project = scene.path("work").to_str().unwrap().to_owned();
    let file = |name: &str| format!("{project}/{name}");
    let (auth, theme) = (file("src/auth.rs"), file("src/theme.css"));
    fill(scene, async |store| {
        let edit = |file: &str| step("Edit", ActionType::Edit, &[file], None, 0);
        let off = judged(edit(&theme), 2, Some(CorrectionLevel::Halt));
        let steps = vec![
            judged(edit(&auth), 10, None),
            judged(edit(&auth), 7, None),
            off,
            edit(&auth),
        ];
        let mut record = exchange(SESSION, SESSION, &project, 5, steps);
        record.prompts[0].text = "Fix the login in src/auth.rs. Do not touch the docs.".to_owned();
        record.drift = None;
        let off_goal = record.steps[2].id.clone();
        let older = exchange(OLDER, OLDER, &project, 0, Vec::new());
        assert_eq!(store.append(&Redacted::each(&[record, older])).await.unwrap(), 2);
        let mut task = store
            .session(&SessionId::new(SESSION))
            .await
            .unwrap()
            .unwrap()
            .state;
        task.original_goal = Some("Fix the login".to_owned());
        task.expected_scope = vec!["src/auth.rs".to_owned()];
        task.keywords = vec!["login".to_owned()];
        task.working_directory = Some(project.clone());
        store.save_session(&Redacted::of(&task)).await.unwrap();
        let made_at = start() + Duration::minutes(6);
        let correction = Correction {
            id: CorrectionId::new("correction-1"),
            client_session_id: ClientSessionId::new(SESSION),
            session_id: SessionId::new(SESSION),
            step_id: Some(off_goal),
            tool_use_id: None,
            level: CorrectionLevel::Halt,
            score: 2,
            reason: "src/theme.css has nothing to do with the login".to_owned(),
            text: "Go back to the login.".to_owned(),
            recovery_plan: vec![way_back()],
            made_at,
            delivered_at: Some(made_at + Duration::seconds(3)),
            outcome: None,
        };
        store.save_correction(&Redacted::of(&correction)).await.unwrap();
        let state = DriftState {
            mode: SessionMode::Drifted,
            escalation: 1,
            correction: Some(correction),
            prompts: 1,
            ..DriftState::new(ClientSessionId::new(SESSION), made_at)
        };
        store
            .save_drift_state(&Redacted::of(&state), &task.session_id)
            .await
            .unwrap();
    });
}

/// The id of the only event.
fn event(scene: &Scene) -> String {
    let events = scene.ask(&["drift", "log"])["events"].clone();
    assert_eq!(events.as_array().unwrap().len(), 1, "{events}");
    events[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn without_records_there_are_no_answers() {
    let scene = Scene::new();
    assert_eq!(scene.ask(&["drift", "status"])["sessions"], object!([]));
    assert_eq!(scene.ask(&["drift", "log"])["events"], object!([]));
    for words in [
        &["goal", "show"][..],
        &["goal", "set", "x"],
        &["goal", "show", "--session", "x"],
        &["drift", "status", "--session", "x"],
        &["drift", "log", "--session", "x"],
        &["drift", "explain", "x"],
        &["drift", "replay"],
    ] {
        let ended = scene.run(&[words, &["--json"]].concat());
        assert_eq!(ended.code, 1, "{words:?}: {ended:?}");
        assert!(json(&ended)["error"]["hint"].is_string(), "{words:?}: {ended:?}");
    }
    assert!(scene.is_untouched(), "looking makes no database");
}

#[test]
fn the_contract_is_shown_with_the_origin_of_each_part() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let ended = scene.run(&["goal", "show", "--json"]);
    assert!(ended.stderr.contains("session 22222222-a (ended, "), "{ended:?}");
    let answer = json(&ended);
    assert_eq!(answer["client_session_id"], SESSION);
    assert_eq!(answer["goal"], "Fix the login");
    assert_eq!(
        answer["newest_instruction"],
        "Fix the login in src/auth.rs. Do not touch the docs."
    );
    assert_eq!(answer["scope"], object!(["src/auth.rs"]));
    assert_eq!(answer["constraints"], object!(["Do not touch the docs"]));
    assert_eq!(answer["session_mode"], "drifted");

    scene.folder("work/src");
    scene.ask(&["goal", "set", "Fix", "the", "login", "and", "its", "tests"]);
    let allowed = scene.ask(&["goal", "allow", "src", "--session", "22222222-a"]);
    assert_eq!(
        (&allowed["kind"], &allowed["text"]),
        (&object!("allow"), &object!("src/**"))
    );
    let secret = scene.path("work/src/secret.rs").to_str().unwrap().to_owned();
    assert_eq!(scene.ask(&["goal", "forbid", &secret])["text"], "src/secret.rs");
    scene.ask(&["goal", "constraint", "no new dependencies"]);
    let answer = scene.ask(&["goal", "show"]);
    for (part, expected) in [
        ("goal", object!("Fix the login and its tests")),
        ("allowed", object!(["src/**"])),
        ("forbidden", object!(["src/secret.rs"])),
        (
            "constraints",
            object!(["Do not touch the docs", "no new dependencies"]),
        ),
    ] {
        assert_eq!(answer[part], expected, "{part}");
    }
    let from: Vec<(&str, &str)> = answer["origins"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|origin| origin["part"] != "keyword")
        .map(|origin| (origin["part"].as_str().unwrap(), origin["from"].as_str().unwrap()))
        .collect();
    let expected = [
        ("goal", "you"),
        ("allowed", "you"),
        ("forbidden", "you"),
        ("constraint", "task"),
        ("constraint", "you"),
    ];
    assert_eq!(from, expected);
    let text = scene.run(&["goal", "show"]).stdout;
    for part in [
        "goal        Fix the login and its tests  you, ",
        "allowed     src/**",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("asked last"), "{text}");
    // The other session is unchanged.
    assert_eq!(
        scene.ask(&["goal", "show", "--session", OLDER])["allowed"],
        object!([])
    );
}

#[test]
fn invalid_goals_and_sessions_are_bad_usage() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let long = "x".repeat(2001);
    for words in [
        &["goal", "set", " "][..],
        &["goal", "constraint", ""],
        &["goal", "allow", ""],
        &["goal", "forbid", "../../../../../../../../../../../../../../x"],
        &["goal", "set", &long],
        &["goal", "set"],
        &["goal", "show", "--session", "2222"],
        &["goal", "show", "--session", ""],
    ] {
        assert_eq!(scene.run(words).code, 64, "{words:?}");
    }
    assert_eq!(scene.ask(&["goal", "show"])["goal"], "Fix the login");
}

#[test]
fn status_shows_the_drift_state_of_active_sessions() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let answer = scene.ask(&["drift", "status"]);
    let sessions = answer["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    let session = &sessions[0];
    let expected = object!({
        "client_session_id": SESSION, "session_id": SESSION, "goal": "Fix the login", "session_mode": "drifted",
        "escalation": 1, "failed_recoveries": 0, "awaited": "src/auth.rs: open it and go on with the login",
        "scores": [10, 7, 2, null],
        "counts": {"actions": 4, "judged": 3, "off_goal": 1, "drifts": 0, "doubts": 1, "corrections": 1, "delivered": 1, "followed": 0,
            "ignored": 0, "overtaken": 0},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&session[name], value, "{name}");
    }
    assert_eq!(session["correction"]["level"], "halt");
    assert_eq!(session["correction"]["delivered_at"], "2026-05-28T20:32:43Z");
    assert_eq!(session["correction"]["outcome"], Value::Null);
    assert_eq!(
        (&sessions[1]["session_mode"], &sessions[1]["awaited"]),
        (&object!("normal"), &Value::Null)
    );
    let text = scene.run(&["drift", "status"]).stdout;
    for part in [
        ": drifted, escalation 1 of 3",
        "█▅▁·",
        "expected   src/auth.rs",
        "3 judged, 0 drifts, 1 doubt",
        "1 delivered, 0 followed",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let one = scene.ask(&["drift", "status", "--session", OLDER]);
    assert_eq!(one["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn the_log_lists_actions_off_the_goal() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let events = scene.ask(&["drift", "log"])["events"].clone();
    let event = &events[0];
    let expected = object!({
        "session_id": SESSION, "client_session_id": SESSION, "action_type": "edit", "drift_score": 2,
        "level": "halt", "reason": "src/theme.css has nothing to do with the login", "judged_by": "rules",
        "correction_given": "Go back to the login.", "command": null,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&event[name], value, "{name}");
    }
    assert_eq!(event["recovery_plan"].as_array().unwrap().len(), 1);
    assert_eq!(event["findings"][0]["rule"], "tangent");
    assert!(event["timestamp"].as_str().unwrap().ends_with('Z'));
    for words in [
        &["--session", SESSION][..],
        &["--session", "22222222-a"],
        &["--limit", "1"],
    ] {
        let answer = scene.ask(&[&["drift", "log"], words].concat());
        assert_eq!(answer["events"].as_array().unwrap().len(), 1, "{words:?}");
    }
    let answer = scene.ask(&["drift", "log", "--session", OLDER]);
    assert_eq!(answer["events"], object!([]));
    let misspelt = scene.run(&["drift", "log", "--project", "another"]);
    assert_eq!(misspelt.code, 1, "{misspelt:?}");
    let known = scene.path("work");
    assert!(
        misspelt.stderr.contains("another") && misspelt.stderr.contains(known.to_str().unwrap()),
        "says not which projects exist: {misspelt:?}"
    );
    let text = scene.run(&["drift", "log"]).stdout;
    for part in ["SCORE", "halt", "theme.css", "nothing to do with the login"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn an_action_off_the_goal_that_was_denied_is_said_to_be() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let id = event(&scene);
    let before = scene.ask(&["steps", SESSION])["steps"].clone();
    assert_eq!(before.as_array().unwrap().len(), 4, "{before}");
    assert_eq!(before[2]["id"], id.as_str(), "in its place: {before}");
    assert_eq!(before[2]["outcome"], Value::Null);
    let record = GuardRecord {
        client_session_id: ClientSessionId::new(SESSION),
        tool_use_id: "toolu_1".to_owned(),
        verdict: GuardVerdict::Deny,
        subject: "change of src/theme.css".to_owned(),
        reason: "why".to_owned(),
        ran: false,
        at: start(),
    };
    fill(&scene, async |store| {
        store.save_guard_record(&Redacted::of(&record)).await.unwrap();
    });
    assert_eq!(scene.ask(&["drift", "log"])["events"][0]["outcome"], "denied");
    let explained = scene.ask(&["drift", "explain", &id]);
    assert_eq!(explained["event"]["outcome"], "denied");
    let steps = scene.ask(&["steps", SESSION])["steps"].clone();
    assert_eq!(steps[2]["outcome"], "denied", "{steps}");
    for (words, part) in [
        (&["drift", "log"][..], " denied "),
        (&["drift", "explain", &id], "it did not run"),
    ] {
        let text = scene.run(words).stdout;
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn sessions_show_the_goal_that_was_set() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let goal = |scene: &Scene| {
        let sessions = scene.ask(&["sessions", "--all"])["sessions"].clone();
        let mut sessions = sessions.as_array().unwrap().iter();
        let found = sessions.find(|session| session["id"] == SESSION).unwrap();
        found["goal"].clone()
    };
    assert_eq!(goal(&scene), "Fix the login");
    scene.ask(&["goal", "set", "Write the report"]);
    assert_eq!(goal(&scene), "Write the report");
    let ended = scene.run(&["goal", "show"]);
    assert!(ended.stderr.contains("): Write the report"), "{ended:?}");
    let answer = scene.ask(&["goal", "show"]);
    assert_eq!(answer["newest_instruction"], "Write the report");
    assert_eq!(answer["scope"], object!([]), "{answer}");
}

#[test]
fn an_event_is_explained() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let id = event(&scene);
    let answer = scene.ask(&["drift", "explain", &id]);
    assert_eq!(
        (&answer["event"]["id"], &answer["drift_type"]),
        (&object!(id), &object!("critical"))
    );
    assert_eq!(answer["held_to"]["goal"], "Fix the login");
    assert_eq!(answer["correction"]["id"], "correction-1");
    assert_eq!(
        answer["allow"],
        object!([format!("grov goal allow src/theme.css --session {SESSION}")])
    );
    let text = scene.run(&["drift", "explain", &id[id.len() - 8..]]).stdout;
    for part in [
        "score      2 of 10 (critical), judged by rules",
        "found      tangent (score at most 2): src/theme.css has nothing",
        "delivered 2026-05-28T20:32:43Z",
        "outcome not known yet",
        "recovery",
        "to allow   grov goal allow src/theme.css",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }

    fill(&scene, async |store| {
        let session = ClientSessionId::new(SESSION);
        let mut correction = store.corrections(&session).await.unwrap().remove(0);
        correction.outcome = Some(CorrectionOutcome::Followed);
        store.save_correction(&Redacted::of(&correction)).await.unwrap();
    });
    assert_eq!(
        scene.ask(&["drift", "explain", &id])["correction"]["outcome"],
        "followed"
    );
    assert_eq!(scene.run(&["drift", "explain", "nothing-like-it"]).code, 1);
}

#[test]
fn an_explanation_says_what_the_user_answered_the_guard() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let id = event(&scene);
    assert_eq!(
        scene.ask(&["drift", "explain", &id])["allowed_by_user"],
        Value::Null
    );
    for (verdict, ran, expected, part) in [
        (
            GuardVerdict::Ask,
            false,
            object!(false),
            "refused    the user was asked",
        ),
        (
            GuardVerdict::Ask,
            true,
            object!(true),
            "allowed    the user said yes",
        ),
        (GuardVerdict::AskUnattended, false, Value::Null, "score"),
    ] {
        let record = GuardRecord {
            client_session_id: ClientSessionId::new(SESSION),
            tool_use_id: "toolu_1".to_owned(),
            verdict,
            subject: "change of src/theme.css".to_owned(),
            reason: "why".to_owned(),
            ran,
            at: start(),
        };
        fill(&scene, async |store| {
            store.save_guard_record(&Redacted::of(&record)).await.unwrap();
        });
        assert_eq!(scene.ask(&["drift", "explain", &id])["allowed_by_user"], expected);
        let text = scene.run(&["drift", "explain", &id]).stdout;
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn a_session_is_replayed_in_chronological_order() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let answer = scene.ask(&["drift", "replay"]);
    let actions = answer["actions"].as_array().unwrap();
    let then: Vec<Value> = actions.iter().map(|action| action["then"].clone()).collect();
    assert_eq!(then, [object!(10), object!(7), object!(2), Value::Null]);
    for action in actions {
        let now = action["now"].as_u64().unwrap();
        assert!((1..=10).contains(&now), "{action}");
    }
    assert!(
        actions[2]["files"][0]
            .as_str()
            .unwrap()
            .ends_with("src/theme.css")
    );
    let text = scene.run(&["drift", "replay", "--session", SESSION]).stdout;
    assert!(text.contains("4 actions: 1 off goal then, "), "{text}");
    // A replay uses the current contract.
    scene.ask(&["goal", "forbid", "src/auth.rs"]);
    assert_eq!(
        scene
            .run(&["drift", "replay", "x.jsonl", "--session", SESSION])
            .code,
        64
    );
}

/// An action as hooks store it.
fn hooked(session: &str, call: Option<&str>, file: &str, score: u8, second: i64) -> HookStep {
    HookStep {
        id: StepId::new(format!("{session}-{second}")),
        tool_use_id: call.map(str::to_owned),
        agent_id: None,
        tool: "Edit".to_owned(),
        action: ActionSketch {
            action_type: ActionType::Edit,
            files: vec![file.to_owned()],
            command: None,
            line: None,
            change: None,
            effects: Vec::new(),
            reasoning: None,
            failed: Some(false),
            output: None,
            content: None,
        },
        prompt: 1,
        score: Some(score),
        findings: Vec::new(),
        timestamp: start() + Duration::minutes(10) + Duration::seconds(second),
    }
}

/// Stores actions of a session as hooks do.
fn follow(scene: &Scene, session: &str, steps: Vec<HookStep>) {
    let project = scene.path("work").to_str().unwrap().to_owned();
    let begun = HookSession::new(ClientSessionId::new(session), project.clone(), project, start());
    fill(scene, async |store| {
        let progress = HookProgress {
            session: begun,
            steps,
            ended: Vec::new(),
            allowed: Vec::new(),
            check: None,
        };
        assert!(store.save_hook_progress(&Redacted::of(&progress)).await.unwrap());
    });
}

#[test]
fn a_replay_shows_what_each_path_stored() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let file = |name: &str| scene.path("work").join(name).to_str().unwrap().to_owned();
    let (auth, theme) = (file("src/auth.rs"), file("src/theme.css"));
    follow(
        &scene,
        SESSION,
        vec![
            hooked(SESSION, Some("toolu_1"), &auth, 9, 0),
            hooked(SESSION, Some("toolu_off"), &theme, 3, 1),
            hooked(SESSION, Some("toolu_only"), &file("src/new.rs"), 8, 2),
        ],
    );
    let answer = scene.ask(&["drift", "replay", "--session", SESSION]);
    let actions = answer["actions"].as_array().unwrap();
    let live: Vec<Value> = actions.iter().map(|action| action["live"].clone()).collect();
    assert_eq!(
        live,
        [
            object!({"proxy": 10, "hooks": 9}),
            object!({"proxy": 7}),
            object!({"proxy": 2, "hooks": 3}),
            object!({"proxy": null}),
            object!({"hooks": 8}),
        ],
        "{answer}"
    );
    assert_eq!(
        (&actions[2]["then"], &actions[4]["then"]),
        (&object!(2), &object!(8))
    );
    let text = scene.run(&["drift", "replay", "--session", SESSION]).stdout;
    assert!(
        text.contains("PROXY") && text.contains("HOOKS") && text.contains("NOW"),
        "{text}"
    );
    assert!(
        text.contains("5 actions: 1 off goal by proxy, 1 off goal by hooks, "),
        "{text}"
    );
}

#[test]
fn a_session_recorded_only_by_hooks_is_replayed() {
    let scene = Scene::new();
    let file = scene
        .path("work")
        .join("src/auth.rs")
        .to_str()
        .unwrap()
        .to_owned();
    follow(
        &scene,
        "hooked",
        vec![hooked("hooked", Some("toolu_1"), &file, 4, 0)],
    );
    let answer = scene.ask(&["drift", "replay", "--session", "hooked"]);
    assert_eq!(answer["actions"][0]["live"], object!({"hooks": 4}));
    let text = scene.run(&["drift", "replay", "--session", "hooked"]).stdout;
    assert!(text.contains("1 action: 1 off goal then, "), "{text}");
    assert!(text.contains("HOOKS") && !text.contains("PROXY"), "{text}");
}

#[test]
fn sessions_and_steps_show_their_drift_state() {
    let scene = Scene::new();
    a_drifted_session(&scene);
    let sessions = scene.ask(&["proxy-status"])["sessions"].clone();
    let session = sessions
        .as_array()
        .unwrap()
        .iter()
        .find(|session| session["session_id"] == SESSION);
    assert_eq!(session.unwrap()["session_mode"], "drifted");
    let steps = scene.ask(&["steps", SESSION])["steps"].clone();
    let scores: Vec<Value> = steps
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["drift_score"].clone())
        .collect();
    assert_eq!(
        scores,
        [object!(10), object!(7), object!(2), Value::Null],
        "what is off goal is among them"
    );
    let text = scene.run(&["proxy-status"]).stdout;
    assert!(text.contains("MODE") && text.contains("drifted"), "{text}");
    let text = scene.run(&["steps", SESSION]).stdout;
    assert!(text.contains("SCORE"), "{text}");
}
