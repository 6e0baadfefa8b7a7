//! The whole, with a store and a judge in memory.

mod double;

use crate::session::Loading;
use crate::testing::{bash, edit, read, read_intent};
use crate::{Drift, DriftSettings};
use double::{Answers, Kept, Ticking};
use grov_domain::{
    Action, ActionSketch, AgentId, ClientSessionId, CorrectionLevel, CorrectionOutcome, DriftState,
    EffectKind, ExchangeId, ExchangeKind, ExchangeRecord, GoalEdit, GoalEditId, GoalEditKind, GoalStore,
    JudgedBy, Lineage, Outcome, Project, Prompt, SessionMode, Step, StepId, SwitchScope, SwitchStore,
    TokenUsage,
};
use grov_proxy_core::{
    ActionWatch, Answered, ContextSource, Location, Occasion, Question, ToolOutcome, Watched, WatchedExchange,
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
    failed: &'a [String],
    answer: Option<&'a str>,
    questions: Vec<Question>,
    output: Option<&'a str>,
    earlier: &'a [&'a str],
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
                failed: response.failed.contains(call),
                output: response.output.map(str::to_owned),
            })
            .collect();
        let earlier = || {
            response
                .earlier
                .iter()
                .map(|prompt| (*prompt).to_owned())
                .collect()
        };
        let watched = self.drift.watch(&WatchedExchange {
            record: &record,
            actions: &response.actions,
            results: &results,
            working_directory: Some(ROOT.as_ref()),
            begins: response.begins,
            ends_turn: response.ends,
            answer: response.answer,
            questions: &response.questions,
            earlier_prompts: &earlier,
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
            answered: answered
                .iter()
                .map(|call| Answered {
                    tool_use_id: call.clone(),
                    failed: false,
                })
                .collect(),
            begins: false,
            body: self.history().into(),
            quoted: Default::default(),
            deadline: Instant::now() + Duration::from_millis(500),
        }
    }

    /// A request whose history holds every call so far.
    fn history(&self) -> String {
        let calls = 0..self.calls.load(Ordering::Relaxed);
        calls.map(|call| format!("\"call-{call}\",")).collect()
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

    fn contract(&self) -> grov_domain::GoalContract {
        let slot = self.drift.shared.slot(&session());
        slot.session().agreement.contract().clone()
    }

    fn session_is_loaded(&self) -> bool {
        self.drift.shared.slot(&session()).session().loading == Loading::Done
    }

    fn session_is_under_way(&self) -> bool {
        self.drift.shared.slot(&session()).session().loading == Loading::UnderWay
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
async fn of_a_change_that_was_denied_nothing_is_said() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, watched) = bench.change("src/styles/theme.css", "a {}");
    assert!(level(&watched).is_some());
    let mut occasion = bench.occasion("", &calls);
    occasion.answered[0].failed = true;
    assert!(bench.drift.words(&occasion).await.is_none());
    bench.exchange(Response {
        answered: &calls,
        failed: &calls,
        ..Response::default()
    });
    assert_eq!(bench.state().mode, SessionMode::Normal);
    assert_eq!(bench.state().escalation, 0);
    assert_eq!(bench.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_another_history_of_the_session_did_is_not_said() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let mut elsewhere = bench.occasion("", &["call-of-another-client".to_owned()]);
    elsewhere.body = "\"call-of-another-client\"".into();
    assert!(bench.drift.words(&elsewhere).await.is_none());
    assert!(bench.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_correction_that_was_loaded_is_not_said_where_calls_failed() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let later = bench.restarted();
    let mut occasion = later.occasion("", &calls);
    occasion.answered[0].failed = true;
    assert!(later.drift.applies(&occasion));
    assert!(later.drift.words(&occasion).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_yes_allows_what_the_agent_asked_for() {
    for (prompt, is_asked_for) in [("yes", true), ("no", false)] {
        let bench = Bench::new();
        bench.exchange(Response {
            prompts: &[GOAL],
            begins: true,
            ends: true,
            answer: Some("The token refresh is fixed. Shall I publish the package to npm?"),
            ..Response::default()
        });
        let (_, watched) = bench.exchange(Response {
            prompts: &[prompt],
            actions: vec![bash("npm publish", EffectKind::Network, &[])],
            ..Response::default()
        });
        let verdict = watched.verdicts[0].clone().unwrap();
        assert_eq!(verdict.is_off_goal(), !is_asked_for, "{prompt}: {verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answered_question_and_an_approved_plan_allow_what_they_speak_of() {
    let question = |plan: Option<&str>| Question {
        tool_use_id: "question".to_owned(),
        plan: plan.map(str::to_owned),
    };
    let told = "User has answered your questions: \"Shall I publish it with npm?\"=\"Yes\".";
    let denied = "User has answered your questions: \"Shall I publish it with npm?\"=\"No\".";
    let plan = "1. Fix the refresh. 2. Publish the package to npm.";
    for (question, output, is_asked_for) in [
        (question(None), told, true),
        (question(None), denied, false),
        (question(Some(plan)), "User has approved your plan.", true),
    ] {
        let bench = Bench::new();
        bench.exchange(Response {
            prompts: &[GOAL],
            begins: true,
            questions: vec![question],
            ..Response::default()
        });
        let (_, watched) = bench.exchange(Response {
            answered: &["question".to_owned()],
            output: Some(output),
            actions: vec![bash("npm publish", EffectKind::Network, &[])],
            ..Response::default()
        });
        let verdict = watched.verdicts[0].clone().unwrap();
        assert_eq!(verdict.is_off_goal(), !is_asked_for, "{output}: {verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fact_is_not_said_with_the_prompt_that_allows_it() {
    let bench = Bench::new();
    let publish = || vec![bash("npm publish", EffectKind::Network, &[])];
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: publish(),
        ..Response::default()
    });
    assert!(bench.state().correction.is_some());
    assert_eq!(bench.next_request("Publish it to npm as well", &[]).await, None);
    assert!(
        bench
            .next_request("Look at src/auth/token.ts again", &[])
            .await
            .is_some()
    );

    let bench = Bench::new();
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: publish(),
        ..Response::default()
    });
    bench.exchange(Response {
        prompts: &["Publish it to npm as well"],
        ..Response::default()
    });
    assert_eq!(bench.state().correction, None);
    assert_eq!(bench.state().mode, SessionMode::Normal);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_judged_by_a_goal_that_is_not_known() {
    let bench = Bench::new();
    // A fork whose history was summed up: nothing tells what it is about.
    bench.exchange(Response {
        prompts: &["CI passed, go ahead"],
        ..Response::default()
    });
    let work = || {
        vec![
            bash("cargo publish", EffectKind::Network, &[]),
            edit(&format!("{ROOT}/docs/guide.md"), "A guide"),
        ]
    };
    until(|| bench.session_is_loaded()).await;
    for _ in 0..3 {
        let (_, watched) = bench.exchange(Response {
            actions: work(),
            ..Response::default()
        });
        assert!(
            watched
                .verdicts
                .iter()
                .flatten()
                .all(|verdict| !verdict.is_off_goal()),
            "{watched:?}"
        );
    }
    let (_, watched) = bench.exchange(Response {
        actions: vec![bash("rm -rf /", EffectKind::Delete, &["/"])],
        ..Response::default()
    });
    assert!(level(&watched).is_some(), "{watched:?}");
}

#[tokio::test(start_paused = true)]
async fn a_fork_is_held_to_what_its_history_says() {
    let bench = Bench::new();
    bench.exchange(Response {
        prompts: &["continue"],
        earlier: &[GOAL, "yes", "For the token refresh do not touch db/schema.sql"],
        ..Response::default()
    });
    until(|| bench.session_is_loaded()).await;
    let contract = bench.contract();
    assert_eq!(contract.goal, GOAL);
    assert_eq!(
        contract.instructions,
        [GOAL, "For the token refresh do not touch db/schema.sql"]
    );
    let (_, watched) = bench.change("db/schema.sql", "DROP TABLE users;");
    assert!(level(&watched).is_some(), "{watched:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_goes_on_is_loaded_at_its_first_prompt() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    assert_eq!(later.next_request("also cover it with a test", &[]).await, None);
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.contract().goal, GOAL);
    let mut fresh = bench.occasion("Fix it", &[]);
    fresh.begins = true;
    fresh.lineage.session = ClientSessionId::new("fresh");
    assert!(!later.drift.applies(&fresh));
}

#[tokio::test(start_paused = true)]
async fn the_path_of_a_request_does_not_wait_for_a_busy_session() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let slot = bench.drift.shared.slot(&session());
    let occasion = bench.occasion("", &calls);
    let busy = slot.session();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| bench.drift.applies(&occasion));
        assert!(asked.join().unwrap());
    });
    drop(busy);
    assert!(bench.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_gone_when_its_words_were_forgotten() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    bench.store.forget_words();
    until(|| bench.state().correction.is_none()).await;
    assert_eq!(bench.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn work_that_breaks_off_is_not_under_way_for_ever() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    later.store.panics(true);
    later.exchange(Response::default());
    until(|| !later.session_is_under_way()).await;
    assert!(!later.session_is_loaded());
    later.store.panics(false);
    later.exchange(Response::default());
    until(|| later.session_is_loaded()).await;
}

#[tokio::test(start_paused = true)]
async fn where_it_is_switched_off_nothing_is_made_to_be_said_later() {
    let bench = Bench::new();
    bench.begin(GOAL).await;
    let scope = SwitchScope::Project(ROOT.to_owned());
    let is_off = || bench.drift.shared.is_switched_off(&session(), ROOT);
    bench.change("src/styles/theme.css", "a {}");
    bench.store.switch(&scope, false).await.unwrap();
    until(is_off).await;
    let (calls, watched) = bench.change("src/components/Button.tsx", "<b/>");
    assert_eq!(level(&watched), None);
    assert_eq!((bench.state().correction, bench.state().escalation), (None, 0));
    bench.store.switch(&scope, true).await.unwrap();
    until(|| !is_off()).await;
    assert_eq!(bench.next_request("", &calls).await, None);
    let (calls, _) = bench.change("src/styles/theme.css", "b {}");
    assert!(bench.next_request("", &calls).await.is_some());
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
        answer: None,
        questions: &[],
        earlier_prompts: &Vec::new,
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
            answer: None,
            questions: &[],
            earlier_prompts: &Vec::new,
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
