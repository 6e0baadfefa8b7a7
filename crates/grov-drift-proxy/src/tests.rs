//! The whole, with a store and a judge in memory.

mod double;

use crate::testing::{bash, edit, read, read_intent};
use crate::{Drift, DriftSettings};
use double::{Answers, Kept, Ticking};
use grov_domain::{
    Action, ActionSketch, AgentId, ClientSessionId, CorrectionLevel, CorrectionOutcome, DriftState,
    EffectKind, ExchangeId, ExchangeKind, ExchangeRecord, GoalEdit, GoalEditId, GoalEditKind, GoalStore,
    JudgedBy, Lineage, Outcome, Project, Prompt, SessionMode, Step, StepId, TokenUsage,
};
use grov_proxy_core::{
    ActionWatch, ContextSource, Location, Occasion, ToolOutcome, Watched, WatchedExchange,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const ROOT: &str = "/home/me/app";

/// A proxy that is watched, as far as drift sees it.
struct Bench {
    drift: Arc<Drift>,
    store: Arc<Kept>,
    judge: Arc<Answers>,
    clock: Arc<Ticking>,
    /// Dropped with the bench, which stops it.
    _work: JoinSet<()>,
    calls: AtomicUsize,
}

/// What a response did.
#[derive(Default)]
struct Response<'a> {
    prompts: &'a [&'a str],
    actions: Vec<ActionSketch>,
    agent: Option<&'a str>,
    begins: bool,
    ends: bool,
    answered: &'a [String],
}

impl Bench {
    fn new() -> Self {
        Self::with(DriftSettings::default(), Arc::default(), Arc::default())
    }

    fn with(settings: DriftSettings, store: Arc<Kept>, judge: Arc<Answers>) -> Self {
        let clock = Arc::new(Ticking::default());
        let (drift, work) = Drift::new(
            settings,
            Arc::<Answers>::clone(&judge),
            Arc::<Kept>::clone(&store),
            Arc::<Ticking>::clone(&clock),
            Arc::new(read_intent),
        );
        let mut running = JoinSet::new();
        running.spawn(work.run(std::future::pending()));
        Self {
            drift,
            store,
            judge,
            clock,
            _work: running,
            calls: AtomicUsize::new(0),
        }
    }

    /// The same session in a program that was started anew.
    fn restarted(&self) -> Self {
        let bench = Self::with(
            DriftSettings::default(),
            Arc::clone(&self.store),
            Arc::clone(&self.judge),
        );
        bench
            .calls
            .store(self.calls.load(Ordering::Relaxed), Ordering::Relaxed);
        bench.clock.set(self.clock.get() + 60);
        bench
    }

    /// One exchange; the record goes into the store. Its tool calls and what was found.
    fn exchange(&self, response: Response<'_>) -> (Vec<String>, Watched) {
        let record = self.record(&response);
        let calls: Vec<String> = record
            .steps
            .iter()
            .filter_map(|step| step.action.tool_use_id.clone())
            .collect();
        let results: Vec<ToolOutcome> = response
            .answered
            .iter()
            .map(|call| ToolOutcome {
                tool_use_id: call.clone(),
                failed: false,
                output: None,
            })
            .collect();
        let watched = self.drift.watch(&WatchedExchange {
            record: &record,
            actions: &response.actions,
            results: &results,
            working_directory: Some(ROOT.as_ref()),
            begins: response.begins,
            ends_turn: response.ends,
        });
        self.store.record(record, &watched);
        (calls, watched)
    }

    fn record(&self, response: &Response<'_>) -> ExchangeRecord {
        let id = ExchangeId::fresh();
        let now = self.clock.tick();
        let step = |(index, action): (usize, &ActionSketch)| Step {
            id: StepId::of(&id, index),
            action: Action {
                tool: action.action_type.as_str().to_owned(),
                tool_use_id: Some(format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed))),
                action_type: action.action_type,
                files: action.files.clone(),
                folders: Vec::new(),
                command: action.command.clone(),
                effects: Vec::new(),
            },
            reasoning: None,
            keywords: Vec::new(),
            is_key_decision: false,
            timestamp: now,
            verdict: None,
        };
        let prompt = |text: &&str| Prompt {
            text: (*text).to_owned(),
            queued: false,
        };
        ExchangeRecord {
            session_id: session().first_task(),
            client_session_id: session(),
            agent_id: response.agent.map(AgentId::new),
            kind: if response.agent.is_some() {
                ExchangeKind::Subagent
            } else {
                ExchangeKind::Main
            },
            project: Project {
                path: Some(ROOT.to_owned()),
                remote: None,
            },
            user: None,
            model: None,
            started_at: now,
            ended_at: now,
            prompts: response.prompts.iter().map(prompt).collect(),
            steps: response.actions.iter().enumerate().map(step).collect(),
            usage: TokenUsage::default(),
            stop_reason: None,
            outcome: Outcome::Complete,
            drift: None,
            id,
        }
    }

    /// One change in a tool loop.
    fn change(&self, file: &str, text: &str) -> (Vec<String>, Watched) {
        self.exchange(Response {
            actions: vec![edit(&format!("{ROOT}/{file}"), text)],
            ..Response::default()
        })
    }

    fn occasion(&self, prompt: &str, answered: &[String]) -> Occasion {
        Occasion {
            lineage: lineage(None),
            location: Arc::new(Location {
                project: Project {
                    path: Some(ROOT.to_owned()),
                    remote: None,
                },
                root: PathBuf::from(ROOT),
                exists: true,
            }),
            prompt: prompt.to_owned(),
            answered: answered.to_vec(),
            quoted: Default::default(),
            deadline: Instant::now() + Duration::from_millis(500),
        }
    }

    /// What is said at the next request of the main conversation.
    async fn next_request(&self, prompt: &str, answered: &[String]) -> Option<String> {
        let occasion = self.occasion(prompt, answered);
        if !self.drift.applies(&occasion) {
            return None;
        }
        let words = self.drift.words(&occasion).await?;
        self.drift.said(&occasion);
        Some(words.text)
    }

    /// A person changes the contract, and the daemon has taken it over.
    async fn edit_goal(&self, kind: GoalEditKind, text: &str) {
        let edit = GoalEdit {
            id: GoalEditId::fresh(),
            client_session_id: session(),
            kind,
            text: text.to_owned(),
            at: self.clock.tick(),
        };
        self.store.edit_goal(&edit).await.unwrap();
        let slot = self.drift.shared.slot(&session());
        until(|| {
            let session = slot.session();
            let contract = session.agreement.contract();
            [&contract.allowed, &contract.forbidden, &contract.constraints]
                .iter()
                .any(|list| list.iter().any(|entry| entry == text))
        })
        .await;
    }

    fn state(&self) -> DriftState {
        self.drift
            .shared
            .slot(&session())
            .session()
            .course
            .state()
            .clone()
    }

    fn counted(&self, name: &str) -> u64 {
        let all = self.drift.counters().all();
        all.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// The first exchange of a session, and a person who forbade some folders.
    async fn begin(&self, prompt: &str) {
        self.exchange(Response {
            prompts: &[prompt],
            begins: true,
            actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "const ttl = 60;")],
            ..Response::default()
        });
        self.edit_goal(GoalEditKind::Forbid, "src/styles/**").await;
        self.edit_goal(GoalEditKind::Forbid, "src/components/**").await;
    }
}

fn session() -> ClientSessionId {
    ClientSessionId::new("session")
}

fn lineage(agent: Option<&str>) -> Lineage {
    Lineage {
        session: session(),
        agent: agent.map(AgentId::new),
    }
}

fn level(watched: &Watched) -> Option<CorrectionLevel> {
    watched
        .verdicts
        .iter()
        .flatten()
        .find_map(|verdict| verdict.level)
}

/// Waits for a condition; fails when it does not come true.
async fn until(condition: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it did not come true");
}

const GOAL: &str = "Fix the token refresh in src/auth/token.ts";

#[tokio::test(start_paused = true)]
async fn what_was_ruled_out_is_caught_at_the_action_and_corrected_at_the_next_request() {
    let bench = Bench::new();
    bench.begin(GOAL).await;

    // On track: nobody says anything.
    let (calls, watched) = bench.change("src/auth/token.ts", "const ttl = 90;");
    assert!(
        watched
            .verdicts
            .iter()
            .flatten()
            .all(|verdict| !verdict.is_off_goal())
    );
    assert_eq!(bench.next_request("", &calls).await, None);

    // Off track: the verdict is recorded with the step, and the next request says so, in the tool loop's own form.
    let (calls, watched) = bench.change("src/styles/theme.css", "a { color: teal; }");
    assert_eq!(level(&watched), Some(CorrectionLevel::Intervene));
    assert_eq!(watched.state.as_ref().unwrap().mode, SessionMode::Drifted);
    let said = bench.next_request("", &calls).await.unwrap();
    assert!(said.starts_with("<system-reminder>\n<grov-context") && said.ends_with("</system-reminder>"));
    assert!(
        said.contains("theme.css") && said.contains("Fix the token refresh"),
        "{said}"
    );

    // It is said once.
    assert_eq!(bench.next_request("", &calls).await, None);
    let delivered = bench.state().correction.unwrap();
    assert!(delivered.delivered_at.is_some());
    until(|| {
        bench
            .store
            .state()
            .is_some_and(|state| state.correction == Some(delivered.clone()))
    })
    .await;

    // It is followed, and the work goes on.
    let undo = bash(
        "git checkout -- src/styles/theme.css",
        EffectKind::VersionControl,
        &["/home/me/app/src/styles/theme.css"],
    );
    let (_, watched) = bench.exchange(Response {
        actions: vec![undo],
        ..Response::default()
    });
    assert!(!watched.verdicts[0].as_ref().unwrap().is_off_goal());
    assert_eq!(bench.state().mode, SessionMode::Normal);
    until(|| bench.store.outcome(&delivered.id) == Some(CorrectionOutcome::Followed)).await;
    assert_eq!(bench.counted("delivered"), 1);
    assert_eq!(bench.counted("followed"), 1);
}

#[tokio::test(start_paused = true)]
async fn ignored_corrections_lead_to_a_demand_and_back() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let mut said = Vec::new();
    for number in 0..4 {
        let (calls, _) = bench.change(&format!("src/components/Part{number}.tsx"), "<div/>");
        said.push(bench.next_request("", &calls).await.unwrap());
    }
    assert_eq!(bench.state().mode, SessionMode::Forced);
    assert!(said[3].contains("exactly this one action"), "{}", said[3]);
    for (place, text) in said.iter().enumerate() {
        assert!(!said[..place].contains(text));
    }
    assert_eq!(bench.counted("ignored"), 3);
    bench.change("src/auth/token.ts", "const ttl = 120;");
    assert_eq!(bench.state().mode, SessionMode::Normal);
    assert_eq!(bench.counted("forced"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_subagent_that_explores_widely_gives_no_alarm() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    for number in 0..40 {
        let (calls, watched) = bench.exchange(Response {
            actions: vec![
                read(&format!("{ROOT}/docs/{number}.md")),
                edit(&format!("{ROOT}/tmp/notes{number}.md"), "notes"),
            ],
            agent: Some("explorer"),
            ..Response::default()
        });
        assert_eq!(level(&watched), None);
        let mut occasion = bench.occasion("", &calls);
        occasion.lineage = lineage(Some("explorer"));
        assert!(!bench.drift.applies(&occasion));
    }
    assert_eq!(bench.state().mode, SessionMode::Normal);
    assert_eq!(bench.next_request("go on", &[]).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_a_subagent_was_forbidden_is_told_to_the_main_conversation() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    bench.exchange(Response {
        actions: vec![edit(&format!("{ROOT}/src/styles/theme.css"), "a {}")],
        agent: Some("worker"),
        ..Response::default()
    });
    let said = bench.next_request("", &[]).await.unwrap();
    assert!(said.contains("theme.css"));
}

#[tokio::test(start_paused = true)]
async fn a_user_who_changes_the_goal_is_followed_at_once() {
    let bench = Bench::new();
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        ends: true,
        ..Response::default()
    });
    let (_, watched) = bench.exchange(Response {
        prompts: &["Translate docs/README.md into French"],
        actions: vec![edit(&format!("{ROOT}/docs/README.md"), "Bonjour")],
        ..Response::default()
    });
    assert_eq!(level(&watched), None);
    assert_eq!(bench.state().mode, SessionMode::Normal);
    let contract = bench
        .drift
        .shared
        .slot(&session())
        .session()
        .agreement
        .contract()
        .clone();
    assert_eq!(contract.goal, "Translate docs/README.md into French");
}

#[tokio::test(start_paused = true)]
async fn a_correction_survives_a_restart_before_and_after_it_is_said() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");

    let later = bench.restarted();
    let said = later.next_request("", &calls).await;
    assert!(said.is_some_and(|said| said.contains("theme.css")));
    until(|| {
        let state = later.store.state();
        state.is_some_and(|state| state.correction.is_some_and(|one| one.delivered_at.is_some()))
    })
    .await;

    let latest = later.restarted();
    // The first request after the start brings back where the session stood.
    assert_eq!(latest.next_request("", &calls).await, None);
    assert_eq!(latest.state().mode, SessionMode::Drifted);
    let (calls, watched) = latest.change("src/components/Button.tsx", "<b/>");
    assert_eq!(level(&watched), Some(CorrectionLevel::Halt));
    assert_eq!(watched.state.as_ref().unwrap().failed_recoveries, 1);
    assert!(latest.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_happens_while_a_session_is_loaded_is_not_lost() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    // Seen before anything could be loaded: the state that was stored is not overwritten.
    let (_, watched) = later.change("src/auth/token.ts", "const ttl = 5;");
    assert_eq!(watched.state, None);
    until(|| {
        let slot = later.drift.shared.slot(&session());
        slot.session().loading == crate::session::Loading::Done
    })
    .await;
    assert_eq!(later.state().prompts, bench.state().prompts);
    let (_, watched) = later.change("src/styles/theme.css", "a {}");
    assert_eq!(level(&watched), Some(CorrectionLevel::Intervene));
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_the_rules_and_no_longer_than_it_may() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let unknown = ["never-assessed".to_owned()];
    assert_eq!(bench.next_request("", &unknown).await, None);
    assert_eq!(bench.counted("waited"), 1);

    // The verdict comes while the request waits.
    let calls = [format!("call-{}", bench.calls.load(Ordering::Relaxed))];
    let (said, _) = tokio::join!(bench.next_request("", &calls), async {
        tokio::task::yield_now().await;
        bench.change("src/styles/theme.css", "a {}")
    });
    assert!(said.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_back_is_said_again() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    assert!(bench.next_request("", &calls).await.is_some());
    bench.drift.taken_back(&lineage(None));
    assert!(bench.next_request("", &calls).await.is_some());
    // Another source's words were taken back: that is none of ours.
    assert_eq!(bench.next_request("", &calls).await, None);
    bench.drift.taken_back(&lineage(None));
    assert!(bench.state().correction.unwrap().delivered_at.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_judge_is_asked_every_third_prompt_and_sees_no_prose() {
    let bench = Bench::new();
    for number in 0..6 {
        let prompt = format!("Fix the token refresh in src/auth/token{number}.ts");
        let mut action = edit(&format!("{ROOT}/src/auth/token{number}.ts"), "x");
        action.reasoning = Some("I am sure that this is right".to_owned());
        action.output = Some("ok".to_owned());
        bench.exchange(Response {
            prompts: &[&prompt],
            begins: number == 0,
            actions: vec![action],
            ..Response::default()
        });
        let asked = usize::from(number >= 2) + usize::from(number >= 5);
        until(|| bench.judge.questions().len() == asked).await;
        until(|| !bench.drift.shared.slot(&session()).session().is_judging).await;
    }
    for question in bench.judge.questions() {
        assert!(!question.actions.is_empty() && question.goal.contains("token"));
        for action in question.actions.iter().chain(&question.earlier) {
            assert_eq!(
                (&action.reasoning, &action.output, &action.content),
                (&None, &None, &None)
            );
        }
    }
    // By rules: it changed nothing.
    assert_eq!(bench.counted("judged"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_models_verdict_is_written_to_the_steps_and_spoken_of() {
    let judge = Arc::new(Answers::model(2, "The cache has nothing to do with the goal."));
    let settings = DriftSettings {
        check_interval: 1,
        ..DriftSettings::default()
    };
    let bench = Bench::with(settings, Arc::default(), judge);
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "cache")],
        ..Response::default()
    });
    until(|| bench.store.judged().len() == 1).await;
    let (_, verdict) = &bench.store.judged()[0];
    assert_eq!((verdict.score, verdict.by), (2, JudgedBy::Model));
    assert!(verdict.level.is_some());
    let said = bench.next_request("", &[]).await.unwrap();
    assert!(
        said.contains("The cache has nothing to do with the goal"),
        "{said}"
    );
    assert_eq!(bench.counted("judged"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_words_the_demand_if_it_answers_in_time() {
    let judge = Arc::new(Answers::model(9, ""));
    let bench = Bench::with(DriftSettings::default(), Arc::default(), judge);
    bench.begin(GOAL).await;
    for number in 0..3 {
        let (calls, _) = bench.change(&format!("src/components/Part{number}.tsx"), "<div/>");
        assert!(bench.next_request("", &calls).await.is_some());
    }
    bench.change("src/components/Last.tsx", "<div/>");
    until(|| {
        let correction = bench.state().correction;
        correction.is_some_and(|one| one.text.contains("Open the token file"))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn observing_only_records_and_says_nothing() {
    let settings = DriftSettings {
        corrections: false,
        ..DriftSettings::default()
    };
    let bench = Bench::with(settings, Arc::default(), Arc::default());
    bench.begin(GOAL).await;
    let (calls, watched) = bench.change("src/styles/theme.css", "a {}");
    assert!(watched.verdicts[0].as_ref().unwrap().is_off_goal());
    assert_eq!(level(&watched), None);
    assert_eq!(bench.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_has_no_project_and_what_is_no_turn_is_left_alone() {
    let bench = Bench::new();
    let mut record = bench.record(&Response {
        prompts: &[GOAL],
        actions: vec![edit("a.rs", "x")],
        ..Response::default()
    });
    record.project = Project::default();
    let watched = bench.drift.watch(&WatchedExchange {
        record: &record,
        actions: &[edit("a.rs", "x")],
        results: &[],
        working_directory: None,
        begins: true,
        ends_turn: false,
    });
    assert_eq!(watched, Watched::default());
    assert!(bench.drift.shared.known(&session()).is_none());
}

#[test]
fn the_rules_are_quick_after_five_hundred_steps() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let (drift, _work) = Drift::new(
        DriftSettings::default(),
        Arc::new(Answers::default()),
        Arc::new(Kept::default()),
        Arc::new(Ticking::default()),
        Arc::new(read_intent),
    );
    let bench = Bench {
        drift,
        store: Arc::default(),
        judge: Arc::default(),
        clock: Arc::default(),
        _work: JoinSet::new(),
        calls: AtomicUsize::new(0),
    };
    let mut took = Vec::new();
    for number in 0..1000_usize {
        let file = format!("{ROOT}/src/auth/part{}.ts", number % 60);
        let response = Response {
            prompts: if number == 0 { &[GOAL] } else { &[] },
            begins: number == 0,
            actions: vec![read(&file), edit(&file, &"const a = 1;\n".repeat(200))],
            ..Response::default()
        };
        let record = bench.record(&response);
        let exchange = WatchedExchange {
            record: &record,
            actions: &response.actions,
            results: &[],
            working_directory: Some(ROOT.as_ref()),
            begins: response.begins,
            ends_turn: false,
        };
        let began = Instant::now();
        bench.drift.watch(&exchange);
        if number >= 250 {
            took.push(began.elapsed());
        }
    }
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], took[took.len() * 99 / 100]);
    println!("median {median:?}, p99 {most:?}");
    // Far more than it takes, also without optimisation and beside other work.
    assert!(median < Duration::from_millis(20), "{median:?}");
}
