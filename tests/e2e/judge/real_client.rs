//! The real client, judged by a model.

use super::{OWN_KEY, finished_at_once, has, intent, reasoning, settings, verdict};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::{JudgeScript, Rule, When};
use grov_tests::{ClientRun, Grov, Terminal, eventually};
use serde_json::{Value, json};
use std::thread;

/// A client with its proxy and API, and a judge.
struct Story {
    work: Work,
    judge: Upstream,
}

impl Story {
    fn begin() -> Result<Option<Self>> {
        let judge = Upstream::start()?;
        let settings = settings(&judge);
        let environment: Vec<(&str, &str)> = settings
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let Some(work) = Work::against(Upstream::start()?, &environment)? else {
            return Ok(None);
        };
        Ok(Some(Self { work, judge }))
    }

    fn grov(&self) -> Grov {
        settings(&self.judge)
            .into_iter()
            .fold(self.work.grov(), |grov, (name, value)| grov.env(name, &value))
    }

    fn types(&self, prompt: &str, arguments: &[&str]) -> Result<ClientRun> {
        let run = self.work.prompt(prompt, arguments)?;
        run.result()?;
        Ok(run)
    }

    /// Waits until `count` turns have been judged.
    fn judged(&self, number: usize) -> Result<()> {
        eventually("the verdict", || {
            let calls = self.judge.sim().judge_calls();
            let verdicts = calls.iter().filter(|(request, call)| {
                call.purpose == Some(Purpose::AnalyzeTaskContext) && request.delivery().is_some()
            });
            (verdicts.count() >= number).then_some(())
        })
    }

    /// The tasks, oldest first, once `wanted` holds for them.
    fn wait_for_tasks(&self, what: &str, wanted: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        let tasks = || -> Option<Vec<Value>> {
            let mut tasks = self.grov().sessions().ok()?;
            tasks.sort_by_key(|task| {
                (
                    task["session_id"] != task["client_session_id"],
                    task["session_id"].to_string(),
                )
            });
            Some(tasks)
        };
        eventually(what, || tasks().filter(|tasks| wanted(tasks)))
            .with_context(|| format!("the tasks are {:#?}", tasks()))
    }
}

/// Checks the output for a user.
fn check_output(story: &Story) -> Result<()> {
    let status = story.grov().run_json(&["status"])?.json;
    // Two complete ones, and one whose work went on.
    assert_eq!(status["tasks"], 3, "{status:#}");
    let last = &status["last_task"];
    assert_eq!(
        (&last["goal"], &last["status"]),
        (&json!("Repair the login"), &json!("complete"))
    );
    assert_eq!(last["reasoning_trace"], json!(["The session was read too early"]));
    assert_eq!(last["decisions"][0]["choice"], "Variables");
    assert_eq!(last["tags"], json!(["work"]));
    assert_eq!(last["constraints"], json!(["Do not touch the header"]));
    let output = story.grov().run(&["status"])?.stdout;
    assert!(
        output.contains("judge     anthropic claude-haiku-4-5") && output.contains("Repair the login"),
        "{output}"
    );
    let output = story.grov().run(&["proxy-status"])?.stdout;
    assert!(
        output.contains("running") && output.contains("subtask") && output.contains("parallel"),
        "{output}"
    );
    let usage = story.grov().run_json(&["usage", "--by", "purpose"])?.json;
    let groups: Vec<(&str, u64)> = usage["groups"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|group| Some((group["key"].as_str()?, group["calls"].as_u64()?)))
        .collect();
    for expected in [
        ("extract_intent", 4),
        ("analyze_task_context", 7),
        ("extract_reasoning", 2),
    ] {
        assert!(groups.contains(&expected), "{groups:?}");
    }
    assert!(usage["total_usd"].as_f64() > Some(0.0));
    Ok(())
}

/// Checks that Grov asked the judge directly, with its own key, and sent no request to the client's API.
fn check_requests(story: &Story) {
    let requests = story.judge.sim().requests();
    assert_eq!(requests.len(), 13);
    for request in &requests {
        let head = String::from_utf8_lossy(&request.head.raw);
        assert_eq!(request.header("x-api-key"), Some(OWN_KEY), "{head}");
        assert!(request.header("authorization").is_none(), "{head}");
        assert!(
            !head.contains("sk-ant-api03-test") && !head.contains("claude-cli"),
            "{head}"
        );
        assert!(!String::from_utf8_lossy(&request.body).contains("sk-ant-api03-test"));
    }
    assert!(story.work.upstream.sim().judge_calls().is_empty());
    for request in story.work.upstream.sim().requests() {
        assert!(!String::from_utf8_lossy(&request.head.raw).contains(OWN_KEY));
    }
}

#[test]
fn every_task_action_of_the_model_has_its_effect() -> Result<()> {
    let Some(story) = Story::begin()? else {
        return Ok(());
    };
    let actions = [
        "new_task",
        "continue",
        "subtask",
        "subtask_complete",
        "parallel_task",
        "new_task",
        "task_complete",
    ];
    let mut script = JudgeScript::default()
        .with(Purpose::ExtractIntent, intent("Dark mode for the settings page")?)
        .with(Purpose::ExtractIntent, intent("Install what the toggle needs")?)
        .with(Purpose::ExtractIntent, intent("Tests for the settings page")?)
        .with(Purpose::ExtractIntent, intent("Repair the login")?)
        .with(
            Purpose::ExtractReasoning,
            reasoning("The toggle needs one package")?,
        )
        .with(
            Purpose::ExtractReasoning,
            reasoning("The session was read too early")?,
        );
    for action in actions {
        script = script.with(Purpose::AnalyzeTaskContext, verdict(action)?);
    }
    story.judge.sim().set_judge(script);

    let run = story.types("Prompt one. [[scenario:tools]]", &[])?;
    let session = run.session()?.to_owned();
    let tasks = story.wait_for_tasks("the first task", |tasks| {
        tasks.len() == 1
            && has(&tasks[0], "main", "active", 1)
            && tasks[0]["original_goal"] == "Dark mode for the settings page"
    })?;
    assert_eq!(tasks[0]["session_id"], session.as_str());
    story.judged(1)?;
    story.types("Prompt two. [[scenario:text]]", &["--continue"])?;
    story.judged(2)?;
    story.wait_for_tasks("the follow-up", |tasks| {
        tasks.len() == 1 && has(&tasks[0], "main", "active", 2)
    })?;
    story.types("Prompt three. [[scenario:parallel]]", &["--continue"])?;
    let tasks = story.wait_for_tasks("a subtask", |tasks| {
        tasks.len() == 2 && has(&tasks[1], "subtask", "active", 1) && tasks[1]["steps"] == 5
    })?;
    assert_eq!(tasks[1]["parent_session_id"], session.as_str());
    story.types("Prompt four. [[scenario:text]]", &["--continue"])?;
    story.wait_for_tasks("the end of the subtask", |tasks| {
        tasks.len() == 2 && has(&tasks[1], "subtask", "completed", 2)
    })?;
    story.types("Prompt five. [[scenario:text]]", &["--continue"])?;
    let tasks = story.wait_for_tasks("a parallel task", |tasks| {
        tasks.len() == 3 && has(&tasks[2], "parallel", "active", 1)
    })?;
    assert_eq!(
        tasks[2]["parent_session_id"],
        session.as_str(),
        "the parent of the subtask went on"
    );
    story.types("Prompt six. [[scenario:parallel]]", &["--continue"])?;
    story.wait_for_tasks("new work", |tasks| {
        tasks.len() == 4 && has(&tasks[3], "main", "active", 1) && tasks[3]["parent_session_id"].is_null()
    })?;
    story.types("Prompt seven. [[scenario:text]]", &["--continue"])?;
    let tasks = story.wait_for_tasks("the end of the new work", |tasks| {
        tasks.len() == 4 && has(&tasks[3], "main", "completed", 2)
    })?;
    let goals: Vec<&str> = tasks
        .iter()
        .filter_map(|task| task["original_goal"].as_str())
        .collect();
    assert_eq!(
        goals,
        [
            "Dark mode for the settings page",
            "Install what the toggle needs",
            "Tests for the settings page",
            "Repair the login"
        ]
    );
    let steps: Vec<u64> = tasks.iter().filter_map(|task| task["steps"].as_u64()).collect();
    assert_eq!(steps, [4, 5, 0, 5]);

    check_output(&story)?;
    check_requests(&story);
    Ok(())
}

#[test]
fn the_client_exits_while_the_judge_is_still_silent() -> Result<()> {
    let Some(story) = Story::begin()? else {
        return Ok(());
    };
    story
        .judge
        .sim()
        .inject(Rule::new(When::Judge, "head-delay=600000".parse()?));
    let run = story.types("Fix the login form. [[scenario:tools]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(run.retries(), 0);
    let sim = story.judge.sim();
    story
        .judge
        .block_on(sim.wait_until(|requests| !requests.is_empty()));
    assert!(sim.requests().iter().all(|request| request.delivery().is_none()));
    story.work.agree(run.session()?)?;
    Ok(())
}

#[test]
fn two_terminals_on_one_project_do_not_mix_their_tasks() -> Result<()> {
    let Some(story) = Story::begin()? else {
        return Ok(());
    };
    story.judge.sim().set_judge(
        JudgeScript::default()
            .with(Purpose::AnalyzeTaskContext, finished_at_once()?)
            .with(Purpose::ExtractReasoning, reasoning("It was easy")?),
    );
    let prompts = [
        "Fix the left side. [[scenario:tools]]",
        "Fix the right side. [[scenario:parallel]]",
    ];
    let runs: Vec<ClientRun> = thread::scope(|scope| {
        let terminals: Vec<_> = prompts
            .iter()
            .map(|prompt| scope.spawn(|| story.types(prompt, &[])))
            .collect();
        terminals
            .into_iter()
            .map(|terminal| {
                terminal
                    .join()
                    .map_err(|_| anyhow::anyhow!("a terminal panicked"))?
            })
            .collect::<Result<_>>()
    })?;
    let sessions = [runs[0].session()?, runs[1].session()?];
    assert_ne!(sessions[0], sessions[1]);
    let tasks = story.wait_for_tasks("both tasks to be complete", |tasks| {
        tasks.len() == 2 && tasks.iter().all(|task| task["status"] == "completed")
    })?;
    for (session, steps) in sessions.iter().zip([4, 5]) {
        let own: Vec<&Value> = tasks
            .iter()
            .filter(|task| task["client_session_id"] == *session)
            .collect();
        assert_eq!(own.len(), 1, "{tasks:#?}");
        assert_eq!((&own[0]["steps"], &own[0]["prompts"]), (&json!(steps), &json!(1)));
        assert_eq!(story.grov().steps(session)?.len(), steps);
    }
    assert_eq!(story.grov().run_json(&["status"])?.json["tasks"], 2);
    Ok(())
}

#[test]
fn a_conversation_cleared_on_a_terminal_is_a_new_task() -> Result<()> {
    let Some(story) = Story::begin()? else {
        return Ok(());
    };
    story
        .judge
        .sim()
        .set_judge(JudgeScript::default().with(Purpose::AnalyzeTaskContext, verdict("new_task")?));
    let mut terminal = Terminal::open(&story.work.client, &story.work.daemon.url())?;
    terminal.enter("Fix the [[scenario:tools]] login-form")?;
    let tasks = story.wait_for_tasks("the first task", |tasks| {
        tasks.len() == 1 && has(&tasks[0], "main", "active", 1) && tasks[0]["steps"] == 4
    })?;
    let first = tasks[0]["client_session_id"].clone();
    story.judged(1)?;
    terminal.wait_for_text("greeting is written")?;
    terminal.clear()?;
    terminal.enter("Fix the [[scenario:parallel]] log-out")?;
    let tasks = story
        .wait_for_tasks("a separate task", |tasks| {
            tasks.len() == 2 && tasks.iter().all(|task| has(task, "main", "active", 1)) && steps(tasks) == 9
        })
        .with_context(|| terminal.screen())?;
    for task in &tasks {
        let is_first = task["client_session_id"] == first;
        assert_eq!(task["steps"], if is_first { 4 } else { 5 }, "{tasks:#?}");
        assert!(task["parent_session_id"].is_null(), "{tasks:#?}");
    }
    // The title requests before each first prompt and the cleared conversation were not judged.
    story.judged(2)?;
    let usage = story.grov().run_json(&["usage"])?.json;
    assert_eq!(story.judge.sim().requests().len(), 4, "{usage:#}");
    // Work that changed something is kept; clearing completes none.
    let status = story.grov().run_json(&["status"])?.json;
    assert_ne!(status["last_task"]["status"], "complete", "{status:#}");
    terminal.leave()
}

/// The steps of all these tasks.
fn steps(tasks: &[Value]) -> u64 {
    tasks.iter().filter_map(|task| task["steps"].as_u64()).sum()
}
