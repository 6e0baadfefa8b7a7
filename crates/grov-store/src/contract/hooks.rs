//! Records of hooks: sessions, actions, checks and guard verdicts.

use super::sample::{
    at, client, guarded, hook_check, hook_session, hook_step, progress, session, state, task,
};
use grov_domain::{
    AskedCall, CorrectionLevel, GoalContract, GuardRecord, GuardVerdict, HookProgress, HookSession, HookStep,
    HookStepResult, MemoryStore, PromptReading, ReadLimit, ReadRequest, Redacted, Retention, SessionStatus,
    StepId, Store, Task,
};
use std::sync::Arc;

async fn kept(store: &Arc<dyn Store>, name: &str) -> HookSession {
    let found = store.hook_session(&client(name)).await.unwrap();
    found.expect("the session is stored")
}

async fn steps(store: &Arc<dyn Store>, name: &str) -> Vec<HookStep> {
    store.hook_steps(&client(name)).await.unwrap()
}

async fn follow(store: &Arc<dyn Store>, progress: &HookProgress) -> bool {
    store.save_hook_progress(&Redacted::of(progress)).await.unwrap()
}

fn stored(session: &HookSession) -> HookSession {
    HookSession {
        revision: session.revision + 1,
        ..session.clone()
    }
}

/// A session is loaded as saved, with all its fields.
pub async fn hook_session_is_loaded_as_saved(store: Arc<dyn Store>) {
    assert_eq!(store.hook_session(&client("a")).await.unwrap(), None);
    assert_eq!(steps(&store, "a").await, []);
    let first = progress("a", 1);
    assert!(follow(&store, &first).await);
    assert_eq!(kept(&store, "a").await, stored(&first.session));
    assert_eq!(steps(&store, "a").await, first.steps);
    let checks = store.hook_checks(&client("a")).await.unwrap();
    assert_eq!(checks, [first.check.clone().unwrap()]);

    let bare = HookProgress {
        session: HookSession::new(client("b"), "/p".to_owned(), "/p/sub".to_owned(), at(5)),
        steps: Vec::new(),
        ended: Vec::new(),
        allowed: Vec::new(),
        check: None,
    };
    assert!(follow(&store, &bare).await);
    assert_eq!(kept(&store, "b").await, stored(&bare.session));
    assert_eq!(store.hook_checks(&client("b")).await.unwrap(), []);

    // Fields can also become empty.
    let less = HookProgress {
        session: HookSession {
            revision: 1,
            read_to: 0,
            ..bare.session.clone()
        },
        ..bare.clone()
    };
    let again = HookProgress {
        session: HookSession {
            client_session_id: client("a"),
            ..less.session.clone()
        },
        ..bare
    };
    assert!(follow(&store, &again).await);
    assert_eq!(kept(&store, "a").await, stored(&again.session));
}

/// Progress based on an old revision is refused completely: no step and no check is stored.
pub async fn progress_is_refused_after_a_newer_revision(store: Arc<dyn Store>) {
    let first = progress("a", 1);
    assert!(follow(&store, &first).await);
    let found = (kept(&store, "a").await, steps(&store, "a").await);
    let late = |revision| {
        let mut late = progress("a", 9);
        late.session.revision = revision;
        late
    };
    for revision in [0, 2, u64::MAX >> 1] {
        assert!(!follow(&store, &late(revision)).await, "{revision}");
        let now = (kept(&store, "a").await, steps(&store, "a").await);
        assert_eq!(now, found, "{revision}");
        assert_eq!(store.hook_checks(&client("a")).await.unwrap().len(), 1);
    }
    assert!(
        !follow(
            &store,
            &HookProgress {
                session: hook_session("unknown", 1, 3),
                ..progress("unknown", 1)
            }
        )
        .await,
        "a removed session can only be created again"
    );
    assert_eq!(store.hook_session(&client("unknown")).await.unwrap(), None);
    assert_eq!(steps(&store, "unknown").await, []);

    assert!(follow(&store, &late(1)).await);
    assert!(!follow(&store, &late(1)).await, "the same again is late");
    assert_eq!(kept(&store, "a").await.revision, 2);
    assert_eq!(steps(&store, "a").await.len(), 4);
}

/// Of many writers with the same revision, one succeeds.
pub async fn one_of_many_concurrent_writers_succeeds(store: Arc<dyn Store>) {
    const HOOKS: i64 = 12;
    let attempts = (0..HOOKS).map(|number| {
        let store = Arc::clone(&store);
        async move {
            let mut mine = progress("a", number);
            mine.session.read_to = number.unsigned_abs();
            for attempt in 0_u32.. {
                assert!(attempt < 1000);
                let found = store.hook_session(&client("a")).await.unwrap();
                mine.session.revision = found.map_or(0, |session| session.revision);
                tokio::task::yield_now().await;
                if store.save_hook_progress(&Redacted::of(&mine)).await.unwrap() {
                    break;
                }
            }
        }
    });
    futures_util::future::join_all(attempts).await;
    assert_eq!(kept(&store, "a").await.revision, HOOKS.unsigned_abs());
    assert_eq!(steps(&store, "a").await.len(), 2 * HOOKS as usize);
}

/// Actions are returned in the order in which they were stored, each once. Results that are known later are added.
pub async fn hook_steps_come_in_order_once(store: Arc<dyn Store>) {
    // More rows than one statement inserts, in descending order of time and name.
    let many: Vec<HookStep> = (0..150)
        .map(|number| hook_step(&format!("s{:03}", 999 - number), 1000 - number))
        .collect();
    let mut first = progress("a", 1);
    first.steps = many.clone();
    assert!(follow(&store, &first).await);
    assert_eq!(steps(&store, "a").await, many);

    let mut judged = many[3].clone();
    judged.action.failed = Some(true);
    judged.action.output = Some("error: no such file".to_owned());
    judged.score = Some(2);
    let mut unjudged = many[5].clone();
    unjudged.score = None;
    unjudged.findings.clear();
    unjudged.action.failed = None;
    unjudged.action.output = None;
    let new = hook_step("s000", 0);
    let mut second = progress("a", 2);
    second.session.revision = 1;
    second.check = None;
    // The time and the prompt are those of the first save.
    let moved = HookStep {
        prompt: 9,
        timestamp: at(9_999),
        ..judged.clone()
    };
    second.steps = vec![moved, unjudged, new.clone(), new.clone()];
    assert!(follow(&store, &second).await);
    let mut expected = many;
    expected[3] = judged;
    expected.push(new);
    let found = store.off_goal_findings(&client("a")).await.unwrap();
    let off_goal = expected.iter().map(|step| step.findings.clone());
    assert_eq!(found, off_goal.collect::<Vec<_>>(), "all scores are below 5");
    assert_eq!(
        steps(&store, "a").await,
        expected,
        "what is known is not taken back"
    );
    assert_eq!(steps(&store, "b").await, []);

    // Another session has its own actions, even with the same ids.
    assert!(
        follow(
            &store,
            &HookProgress {
                steps: vec![hook_step("s000", 5)],
                ..progress("b", 1)
            }
        )
        .await
    );
    assert_eq!(steps(&store, "b").await, [hook_step("s000", 5)]);
    assert_eq!(steps(&store, "a").await, expected);
}

/// The result of an action can be stored later, and only for that action.
pub async fn hook_steps_end_later(store: Arc<dyn Store>) {
    let running = |id: &str| {
        let mut step = hook_step(id, 1);
        step.action.failed = None;
        step.action.output = None;
        step
    };
    for name in ["a", "b"] {
        let mut first = progress(name, 1);
        first.steps = vec![running("s1"), running("s2"), running("s3")];
        assert!(follow(&store, &first).await);
    }
    let ended = |id: &str, failed, output: Option<&str>| HookStepResult {
        id: StepId::new(id),
        failed,
        output: output.map(str::to_owned),
    };
    let mut second = progress("a", 2);
    second.session.revision = 1;
    second.steps.clear();
    second.ended = vec![
        ended("s1", true, Some("denied by the user")),
        ended("s3", false, None),
        ended("unknown", true, None),
    ];
    assert!(follow(&store, &second).await);
    let mut third = progress("a", 3);
    third.session.revision = 2;
    third.steps.clear();
    third.allowed = vec![StepId::new("s2"), StepId::new("unknown")];
    assert!(follow(&store, &third).await);
    let found = steps(&store, "a").await;
    let ends: Vec<_> = found
        .iter()
        .map(|step| (step.action.failed, step.action.output.as_deref()))
        .collect();
    let expected = [
        (Some(true), Some("denied by the user")),
        (None, None),
        (Some(false), None),
    ];
    assert_eq!(ends, expected);
    assert_eq!(steps(&store, "b").await[0], running("s1"));

    // Progress based on an old revision is refused completely: no step and no check is stored.
    second.ended = vec![ended("s2", true, None)];
    assert!(!follow(&store, &second).await);
    assert_eq!(steps(&store, "a").await, found);
    let judged: Vec<_> = found
        .iter()
        .map(|step| (step.score, step.findings.is_empty()))
        .collect();
    let off = (running("s1").score, running("s1").findings.is_empty());
    assert_eq!(
        judged,
        [off, (Some(10), true), off],
        "the user allowed the second"
    );
}

/// Checks are returned oldest first, each once.
pub async fn hook_checks_come_in_order(store: Arc<dyn Store>) {
    let mut made = Vec::new();
    for (revision, (id, seconds)) in (0..).zip([("z", 1), ("y", 2), ("x", 3)]) {
        let mut next = progress("a", seconds);
        next.session.revision = revision;
        let mut check = hook_check(id, seconds);
        check.level = CorrectionLevel::ALL.get(revision as usize).copied();
        next.check = Some(check.clone());
        made.push(check);
        assert!(follow(&store, &next).await);
    }
    assert_eq!(store.hook_checks(&client("a")).await.unwrap(), made);
    let mut again = progress("a", 4);
    again.session.revision = 3;
    made[1].score = 10;
    made[1].level = None;
    made[1].reason = None;
    made[1].files.clear();
    made[1].recovery_plan.clear();
    made[1].correction = None;
    again.check = Some(made[1].clone());
    assert!(follow(&store, &again).await);
    assert_eq!(store.hook_checks(&client("a")).await.unwrap(), made);
}

/// Sessions of a project are returned newest first.
pub async fn hook_sessions_are_listed_newest_first(store: Arc<dyn Store>) {
    for (name, seconds) in [("b", 2), ("d", 9), ("a", 2), ("c", 1)] {
        let bare = HookProgress {
            steps: Vec::new(),
            check: None,
            ..progress(name, seconds)
        };
        assert!(follow(&store, &bare).await);
    }
    let mut elsewhere = progress("e", 3);
    elsewhere.session.project_path = "/elsewhere".to_owned();
    assert!(follow(&store, &elsewhere).await);
    let names = async |project: &str, limit| {
        let found = store.hook_sessions(project, limit).await.unwrap();
        let names = found.iter().map(|session| session.client_session_id.to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(super::sample::PROJECT, 9).await, ["d", "b", "a", "c"]);
    assert_eq!(names(super::sample::PROJECT, 2).await, ["d", "b"]);
    assert_eq!(names(super::sample::PROJECT, 0).await, [""; 0]);
    assert_eq!(names("/elsewhere", 9).await, ["e"]);
    assert_eq!(names("/unknown", 9).await, [""; 0]);
    let listed = store.hook_sessions("/elsewhere", 1).await.unwrap().remove(0);
    assert_eq!(listed, without_course(kept(&store, "e").await));
}

fn without_course(session: HookSession) -> HookSession {
    HookSession {
        engine_state: None,
        ..session
    }
}

/// A prompt can be stored without reading or writing the engine state.
pub async fn a_prompt_is_saved_without_the_engine_state(store: Arc<dyn Store>) {
    assert_eq!(store.hook_session_summary(&client("a")).await.unwrap(), None);
    assert!(follow(&store, &progress("a", 1)).await);
    let whole = kept(&store, "a").await;
    let mut standing = store.hook_session_summary(&client("a")).await.unwrap().unwrap();
    assert_eq!(standing, without_course(whole.clone()));
    standing.contract.goal = "Something else".to_owned();
    standing.prompts += 1;
    standing.waiting.clear();
    standing.is_unchecked = false;
    assert!(store.save_hook_session(&Redacted::of(&standing)).await.unwrap());
    let now = kept(&store, "a").await;
    let expected = HookSession {
        engine_state: whole.engine_state.clone(),
        revision: whole.revision + 1,
        ..standing.clone()
    };
    assert_eq!(now, expected);
    // A writer with the old revision fails.
    assert!(!store.save_hook_session(&Redacted::of(&standing)).await.unwrap());
    let late = HookProgress {
        session: whole,
        ..progress("a", 1)
    };
    assert!(!follow(&store, &late).await);
    // A session can begin with a prompt.
    let begun = HookSession {
        revision: 0,
        ..without_course(progress("b", 1).session)
    };
    assert!(store.save_hook_session(&Redacted::of(&begun)).await.unwrap());
    assert!(!store.save_hook_session(&Redacted::of(&begun)).await.unwrap());
    let begun = HookSession { revision: 1, ..begun };
    assert_eq!(kept(&store, "b").await, begun);
}

/// A guard verdict is stored once per call, and whether the call ran.
pub async fn guard_log_marks_calls_that_ran(store: Arc<dyn Store>) {
    let ran = async |session: &str, call: &str| store.mark_guarded_run(&client(session), call).await.unwrap();
    let log = async |session: &str| store.guard_log(&client(session)).await.unwrap();
    assert!(!ran("a", "t1").await, "the guard has no verdict on it");
    assert_eq!(log("a").await, []);
    let (mut asked, denied) = (
        guarded("a", "t9", 1),
        GuardRecord {
            verdict: GuardVerdict::Deny,
            ..guarded("a", "t1", 2)
        },
    );
    store.save_guard_record(&Redacted::of(&denied)).await.unwrap();
    store.save_guard_record(&Redacted::of(&asked)).await.unwrap();
    store
        .save_guard_record(&Redacted::of(&guarded("b", "t9", 3)))
        .await
        .unwrap();
    assert_eq!(log("a").await, [asked.clone(), denied.clone()]);
    assert!(!ran("a", "t2").await);
    assert!(!ran("c", "t9").await);
    assert!(ran("a", "t9").await);
    assert!(ran("a", "t9").await, "also when it was noted before");
    asked.ran = true;
    assert_eq!(log("a").await, [asked.clone(), denied.clone()]);
    let unattended = GuardRecord {
        verdict: GuardVerdict::AskUnattended,
        ..guarded("d", "t1", 2)
    };
    store.save_guard_record(&Redacted::of(&unattended)).await.unwrap();
    assert_eq!(log("d").await, [unattended]);
    assert_eq!(store.asked_calls(&client("d")).await.unwrap(), []);
    // A denied call was not shown to the user.
    let call = AskedCall {
        tool_use_id: "t9".to_owned(),
        ran: true,
    };
    assert_eq!(store.asked_calls(&client("a")).await.unwrap(), [call]);
    assert_eq!(log("b").await, [guarded("b", "t9", 3)]);
    // The same call is checked again.
    let again = GuardRecord {
        subject: "another".to_owned(),
        reason: "another".to_owned(),
        verdict: GuardVerdict::Deny,
        ..guarded("a", "t9", 7)
    };
    store.save_guard_record(&Redacted::of(&again)).await.unwrap();
    assert_eq!(log("a").await, [denied, again]);
    assert_eq!(store.hook_session(&client("a")).await.unwrap(), None);
}

/// Any text is loaded as saved.
pub async fn texts_of_hooks_survive(store: Arc<dyn Store>) {
    let odd = [
        "Grüße, 世界 👩‍👩‍👧 \u{202e}reversed\u{202c} \u{feff}".to_owned(),
        "'; DROP TABLE hook_steps; -- \"quoted\" ?1 :x @y \\ \\u0000 \\ud800".to_owned(),
        "nul \0 inside, bell \u{7}, escape \u{1b}[31m".to_owned(),
        String::new(),
        "Lörem ipsum dolor. ".repeat(200 * 1024 / 20),
    ];
    for (number, text) in odd.into_iter().enumerate() {
        let name = format!("s{number}");
        let is_long = text.len() > 100 << 10;
        let mut given = progress(&name, 1);
        given.steps.truncate(1);
        let session = &mut given.session;
        session.engine_state = Some(serde_json::json!({ "said": [&text], &text: 1 }).to_string());
        let step = &mut given.steps[0];
        step.action.content = Some(text.clone());
        if !is_long {
            session.working_directory = text.clone();
            session.transcript_path = Some(text.clone());
            session.contract.instructions = vec![text.clone(), text.clone()];
            step.tool = text.clone();
            step.action.files = vec![text.clone()];
            step.action.output = Some(text.clone());
            step.findings[0].reason = text.clone();
            let check = given.check.as_mut().unwrap();
            check.correction = Some(text.clone());
            check.recovery_plan[0].action = text.clone();
        }
        assert!(follow(&store, &given).await);
        assert_eq!(kept(&store, &name).await, stored(&given.session));
        assert_eq!(steps(&store, &name).await, given.steps);
        assert_eq!(
            store.hook_checks(&client(&name)).await.unwrap(),
            [given.check.unwrap()]
        );
        let record = GuardRecord {
            subject: text.clone(),
            reason: text.clone(),
            tool_use_id: text,
            ..guarded(&Redacted::of(&name), "", 1)
        };
        store.save_guard_record(&Redacted::of(&record)).await.unwrap();
        assert!(
            store
                .mark_guarded_run(&client(&name), &record.tool_use_id)
                .await
                .unwrap()
        );
        assert_eq!(
            store.guard_log(&client(&name)).await.unwrap(),
            [GuardRecord { ran: true, ..record }]
        );
    }
    // Values that no program writes are loaded too, if they are valid.
    let mut given = progress("surrogate", 1);
    given.session.engine_state = Some(r#"{"half": "\ud800 of a pair", "nul": "\u0000"}"#.to_owned());
    assert!(follow(&store, &given).await);
    assert_eq!(kept(&store, "surrogate").await, stored(&given.session));
}

/// Assembled here, so that scanners do not report this file.
fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

fn leaky(text: &str) -> String {
    format!("{text} {} <private>my own words</private> {text}", secret())
}

/// A progress with a secret and private text in every field.
fn leaky_progress() -> HookProgress {
    let mut given = progress("a", 1);
    given.session.working_directory = leaky("/directory");
    given.session.transcript_path = Some(leaky("/transcript"));
    given.session.contract = GoalContract {
        goal: leaky("goal"),
        instructions: vec![leaky("instruction")],
        scope: vec![leaky("scope")],
        allowed: vec![leaky("allowed")],
        forbidden: vec![leaky("forbidden")],
        constraints: vec![leaky("constraint")],
        keywords: vec![leaky("keyword")],
        reading: Some(PromptReading {
            limits: vec![ReadLimit {
                words: leaky("limit"),
                adds: vec![leaky("added")],
                ..ReadLimit::default()
            }],
            asked: vec![ReadRequest {
                words: leaky("asked"),
                ..ReadRequest::default()
            }],
        }),
        is_goal_newest: false,
    };
    given.session.engine_state = Some(
        serde_json::json!({
            "said": [{ "text": leaky("said"), "at": u64::MAX }, [leaky("nested")]],
            leaky("member"): null,
        })
        .to_string(),
    );
    let step = &mut given.steps[0];
    step.action.files = vec![leaky("/file")];
    step.action.command = Some(leaky("command"));
    step.action.reasoning = Some(leaky("reasoning"));
    step.action.output = Some(leaky("output"));
    step.action.content = Some(leaky("content"));
    step.findings[0].file = Some(leaky("/found"));
    step.findings[0].reason = leaky("because");
    given.ended = vec![HookStepResult {
        id: given.steps[1].id.clone(),
        failed: false,
        output: Some(leaky("ended")),
    }];
    let check = given.check.as_mut().unwrap();
    check.reason = Some(leaky("reason"));
    check.files = vec![leaky("/deviates")];
    check.recovery_plan[0].file = Some(leaky("/back"));
    check.recovery_plan[0].action = leaky("action");
    check.correction = Some(leaky("correction"));
    given
}

/// Secrets and private text in records of hooks are redacted.
pub async fn secrets_in_hook_records_are_redacted(store: Arc<dyn Store>) {
    let given = leaky_progress();
    assert!(follow(&store, &given).await);
    let record = GuardRecord {
        subject: leaky("subject"),
        reason: leaky("guards"),
        ..guarded("a", "t", 1)
    };
    store.save_guard_record(&Redacted::of(&record)).await.unwrap();
    let session = kept(&store, "a").await;
    let course: serde_json::Value = serde_json::from_str(session.engine_state.as_deref().unwrap()).unwrap();
    assert_eq!(course["said"][0]["at"], u64::MAX);
    let everything = format!(
        "{session:?} {:?} {:?} {:?} {:?}",
        store.hook_sessions(super::sample::PROJECT, 9).await.unwrap(),
        steps(&store, "a").await,
        store.hook_checks(&client("a")).await.unwrap(),
        store.guard_log(&client("a")).await.unwrap(),
    );
    for words in [
        "/directory",
        "/transcript",
        "goal",
        "instruction",
        "scope",
        "allowed",
        "forbidden",
        "constraint",
        "keyword",
        "said",
        "nested",
        "member",
        "/file",
        "command",
        "reasoning",
        "output",
        "ended",
        "content",
        "/found",
        "because",
        "reason",
        "/deviates",
        "/back",
        "action",
        "correction",
        "subject",
        "guards",
    ] {
        assert!(
            everything.contains(&format!("\"{words} ")),
            "{words}: {everything}"
        );
    }
    assert!(!everything.contains("a1B2c3"), "{everything}");
    assert!(!everything.contains("my own words"), "{everything}");
    // Saving the loaded records changes nothing.
    let again = HookProgress {
        session,
        steps: steps(&store, "a").await,
        ended: Vec::new(),
        allowed: Vec::new(),
        check: None,
    };
    assert!(follow(&store, &again).await);
    assert_eq!(kept(&store, "a").await, stored(&again.session));
    assert_eq!(steps(&store, "a").await, again.steps);
}

fn saved(name: &str, seconds: i64) -> Task {
    Task {
        client_session_id: Some(client(name)),
        session_id: Some(session(name)),
        ..task(name, seconds)
    }
}

/// Forgetting a memory erases the texts of its session up to the time when it was saved. Counts, scores and other
/// sessions are kept. A hook that has read the texts cannot restore them, and the session continues.
pub async fn forgetting_a_memory_erases_hook_records(store: Arc<dyn Store>) {
    for name in ["c", "other"] {
        let mut given = progress(name, 2);
        given.steps.push(hook_step("later", 20));
        assert!(follow(&store, &given).await);
        store
            .save_guard_record(&Redacted::of(&guarded(name, "t1", 2)))
            .await
            .unwrap();
        store
            .save_guard_record(&Redacted::of(&guarded(name, "t2", 20)))
            .await
            .unwrap();
        store.save_task(&Redacted::of(&saved(name, 10))).await.unwrap();
    }
    let unrelated = (kept(&store, "other").await, steps(&store, "other").await);
    let before = kept(&store, "c").await;
    MemoryStore::forget(store.as_ref(), &[saved("c", 10).id])
        .await
        .unwrap();

    assert_eq!(
        (kept(&store, "other").await, steps(&store, "other").await),
        unrelated
    );
    assert_eq!(store.guard_log(&client("other")).await.unwrap().len(), 2);
    let now = kept(&store, "c").await;
    assert_eq!(
        (now.engine_state.clone(), now.contract.clone()),
        (None, GoalContract::default())
    );
    assert_eq!((now.read_to, now.prompts), (before.read_to, before.prompts));
    let wordless = |step: &HookStep| {
        let action = &step.action;
        action.files.is_empty()
            && action.effects.is_empty()
            && step.findings.is_empty()
            && [
                &action.command,
                &action.reasoning,
                &action.output,
                &action.content,
            ]
            .into_iter()
            .all(Option::is_none)
    };
    let left = steps(&store, "c").await;
    assert_eq!(left.iter().map(wordless).collect::<Vec<_>>(), [true, true, false]);
    assert!(left.iter().all(|step| step.score.is_some()));
    let check = store.hook_checks(&client("c")).await.unwrap().remove(0);
    assert_eq!((check.reason, check.correction), (None, None));
    assert!(check.files.is_empty() && check.recovery_plan.is_empty() && check.score > 0);
    assert_eq!(
        store.guard_log(&client("c")).await.unwrap(),
        [guarded("c", "t2", 20)]
    );

    let mut late = progress("c", 3);
    late.session = before;
    assert!(!follow(&store, &late).await, "it contains the words");
    // The transcript is read again and has the same text.
    let mut again = progress("c", 2);
    again.session = HookSession {
        read_to: 999,
        ..now.clone()
    };
    again.steps.push(hook_step("newer", 21));
    assert!(follow(&store, &again).await);
    let left = steps(&store, "c").await;
    assert_eq!(
        left.iter().map(wordless).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    let check = store.hook_checks(&client("c")).await.unwrap().remove(0);
    assert_eq!((check.reason, check.correction), (None, None));
    assert_eq!(kept(&store, "c").await, stored(&again.session));
}

/// The steps of sessions that are over are removed first; their checks are kept as long as the drift log. Guard
/// verdicts are removed with the session or, without one, by their own age.
pub async fn prune_removes_hook_sessions(store: Arc<dyn Store>) {
    const HOUR: i64 = 3600;
    let hours = |hours: i64| std::time::Duration::from_secs(hours.unsigned_abs() * HOUR.unsigned_abs());
    let retention = Retention {
        completed_sessions: hours(24),
        drift_log: hours(48),
        idle_sessions: hours(100),
        spending: hours(200),
        ledger: hours(300),
    };
    // Name, age, whether it ended, whether its steps stay, whether it stays.
    let cases = [
        ("just-ended", 23, true, true, true),
        ("ended", 25, true, false, true),
        ("ended-long-ago", 49, true, false, false),
        ("in-work", 99, false, true, true),
        ("idle", 101, false, false, false),
    ];
    for (name, age, ended, ..) in cases {
        let mut given = progress(name, -age * HOUR);
        given.session.ended_at = ended.then_some(given.session.updated_at);
        assert!(follow(&store, &given).await);
        store
            .save_guard_record(&Redacted::of(&guarded(name, "t", -age * HOUR)))
            .await
            .unwrap();
    }
    for number in 0..40 {
        let mut given = progress(&format!("many-{number}"), -60 * HOUR);
        given.session.ended_at = Some(at(0));
        assert!(follow(&store, &given).await);
    }
    store
        .save_guard_record(&Redacted::of(&guarded("proxied", "recent", -47 * HOUR)))
        .await
        .unwrap();
    store
        .save_guard_record(&Redacted::of(&guarded("proxied", "old", -49 * HOUR)))
        .await
        .unwrap();
    // Records of the proxy path are removed independently.
    let over = grov_domain::SessionState {
        status: SessionStatus::Completed,
        ..state("in-work", "in-work", -60 * HOUR)
    };
    store.save_session(&Redacted::of(&over)).await.unwrap();
    let prune = async |dry_run| store.prune(&retention, at(0), dry_run).await.unwrap();
    let expected = grov_domain::PruneReport {
        sessions: 1,
        hook_sessions: 42,
        hook_steps: 86,
        hook_checks: 42,
        guarded: 3,
        ..Default::default()
    };
    assert_eq!(prune(true).await, expected);
    assert_eq!(prune(true).await, expected, "a dry run removes nothing");
    assert_eq!(prune(false).await, expected);
    assert_eq!(prune(true).await, Default::default());
    assert_eq!(prune(false).await, Default::default());
    for (name, _, _, keeps_steps, stays) in cases {
        let count = usize::from(stays);
        assert_eq!(
            store.hook_session(&client(name)).await.unwrap().is_some(),
            stays,
            "{name}"
        );
        assert_eq!(
            steps(&store, name).await.len(),
            if keeps_steps { 2 } else { 0 },
            "{name}"
        );
        assert_eq!(
            store.hook_checks(&client(name)).await.unwrap().len(),
            count,
            "{name}"
        );
        assert_eq!(
            store.guard_log(&client(name)).await.unwrap().len(),
            count,
            "{name}"
        );
    }
    let left = store.guard_log(&client("proxied")).await.unwrap();
    assert_eq!(left, [guarded("proxied", "recent", -47 * HOUR)]);
}
