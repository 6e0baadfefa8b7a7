//! From turns to tasks with the real client: its prompts become the tasks that a person would expect.

use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result};
use grov_tests::{Grov, eventually};
use serde_json::{Value, json};

/// One prompt of a story: the text, and the model's actions.
struct Turn {
    prompt: &'static str,
    steps: Value,
}

fn turn(prompt: &'static str, steps: Value) -> Turn {
    Turn { prompt, steps }
}

fn says(text: &str) -> Value {
    json!({"blocks": [{"type": "text", "text": text}]})
}

fn writes(file: &str) -> Value {
    json!({"blocks": [
        {"type": "text", "text": format!("Writing {file}.")},
        {"type": "tool_use", "name": "Write", "input": {"file_path": format!("{{cwd}}/{file}"), "content": "x\n"}},
    ]})
}

fn runs(command: &str) -> Value {
    json!({"blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": command}}]})
}

/// A client session in which these prompts are typed in order.
struct Story {
    work: Work,
    session: String,
    typed_turns: usize,
}

impl Story {
    fn begin(turns: &[Turn], environment: &[(&str, &str)]) -> Result<Option<Self>> {
        let scenarios: serde_json::Map<String, Value> = turns
            .iter()
            .enumerate()
            .map(|(number, turn)| (format!("turn{number}"), json!({"steps": turn.steps})))
            .collect();
        let upstream = Upstream::with(&json!({"scenarios": scenarios}))?;
        let Some(work) = Work::against(upstream, environment)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            work,
            session: String::new(),
            typed_turns: 0,
        }))
    }

    /// Types the next prompt.
    fn tell(&mut self, turn: &Turn) -> Result<()> {
        let prompt = format!("{} [[scenario:turn{}]]", turn.prompt, self.typed_turns);
        let arguments: &[&str] = if self.typed_turns == 0 {
            &[]
        } else {
            &["--continue"]
        };
        let run = self.work.prompt(&prompt, arguments)?;
        run.result()?;
        self.session = run.session()?.to_owned();
        self.typed_turns += 1;
        Ok(())
    }

    fn grov(&self) -> Grov {
        self.work.grov()
    }

    /// The tasks of the session, oldest first, once `wanted` holds for them.
    fn wait_for_tasks(&self, what: &str, wanted: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        let tasks = || -> Option<Vec<Value>> {
            let mut tasks = self.grov().sessions().ok()?;
            tasks.retain(|task| task["client_session_id"] == self.session.as_str());
            tasks.sort_by_key(|task| {
                (
                    task["session_id"] != self.session.as_str(),
                    task["session_id"].to_string(),
                )
            });
            Some(tasks)
        };
        eventually(what, || tasks().filter(|tasks| wanted(tasks)))
            .with_context(|| format!("the tasks are {:#?}", tasks()))
    }

    fn status(&self) -> Result<Value> {
        Ok(self.grov().run_json(&["status"])?.json)
    }
}

fn has(task: &Value, task_type: &str, status: &str, prompts: u64) -> bool {
    task["task_type"] == task_type && task["status"] == status && task["prompts"] == prompts
}

/// A main task with a subtask and a parallel task, then another main task.
fn day_of_work() -> [Turn; 7] {
    [
        turn(
            "Add dark mode to the settings page. Do not touch the header.",
            json!([
                writes("theme.css"),
                says("The stylesheet is there. Shall I wire the toggle next?")
            ]),
        ),
        turn(
            "Why did you use CSS variables there?",
            json!([says("Because they can be changed at run time without a rebuild.")]),
        ),
        turn(
            "First I need to install the deps for the toggle.",
            json!([
                runs("echo installing"),
                writes("package.json"),
                says("The installation is under way.")
            ]),
        ),
        turn(
            "Go on and finish the installation.",
            json!([runs("echo ok"), says("Done. All dependencies are installed.")]),
        ),
        turn(
            "Also update the tests for the settings page.",
            json!([
                writes("settings_test.js"),
                says("I have begun with the tests; more cases are needed.")
            ]),
        ),
        turn(
            "Now fix the login bug in login.js.",
            json!([
                writes("login.js"),
                says("I found the cause and changed login.js. Should I also log failures?")
            ]),
        ),
        turn(
            "Yes, log them.",
            json!([
                writes("login.js"),
                runs("true # npm test"),
                says("Done. All tests pass. Task complete.")
            ]),
        ),
    ]
}

#[test]
fn a_day_of_work_becomes_tasks() -> Result<()> {
    let turns = day_of_work();
    let Some(mut story) = Story::begin(&turns, &[])? else {
        return Ok(());
    };
    story.tell(&turns[0])?;
    let tasks = story.wait_for_tasks("the first task", |tasks| {
        tasks.len() == 1 && has(&tasks[0], "main", "active", 1) && tasks[0]["steps"] == 1
    })?;
    assert_eq!(tasks[0]["session_id"], story.session.as_str());
    let goal = tasks[0]["original_goal"].as_str().context("no goal")?;
    assert!(goal.contains("dark mode"), "{goal}");

    story.tell(&turns[1])?;
    story.wait_for_tasks("the follow-up in the same task", |tasks| {
        tasks.len() == 1 && has(&tasks[0], "main", "active", 2)
    })?;

    story.tell(&turns[2])?;
    let tasks = story.wait_for_tasks("a subtask", |tasks| {
        tasks.len() == 2 && has(&tasks[1], "subtask", "active", 1) && has(&tasks[0], "main", "active", 2)
    })?;
    assert_eq!(tasks[1]["parent_session_id"], story.session.as_str());

    story.tell(&turns[3])?;
    story.wait_for_tasks("the subtask to be complete", |tasks| {
        tasks.len() == 2 && has(&tasks[1], "subtask", "completed", 2)
    })?;
    assert_eq!(story.status()?["tasks"], 2, "the parent is saved as unfinished");

    story.tell(&turns[4])?;
    let tasks = story.wait_for_tasks("a parallel task", |tasks| {
        tasks.len() == 3 && has(&tasks[2], "parallel", "active", 1)
    })?;
    assert_eq!(tasks[2]["parent_session_id"], story.session.as_str());

    story.tell(&turns[5])?;
    story.wait_for_tasks("new work", |tasks| {
        tasks.len() == 4 && has(&tasks[3], "main", "active", 1) && tasks[3]["parent_session_id"].is_null()
    })?;

    story.tell(&turns[6])?;
    let tasks = story.wait_for_tasks("the new work to be complete", |tasks| {
        tasks.len() == 4 && has(&tasks[3], "main", "completed", 2)
    })?;
    let status = story.status()?;
    assert_eq!(status["tasks"], 4, "{status:#}");
    let last = &status["last_task"];
    assert_eq!(
        (&last["status"], &last["trigger_reason"]),
        (&json!("complete"), &json!("complete"))
    );
    assert_eq!(last["files_touched"], json!(["login.js"]), "{last:#}");
    assert!(
        last["goal"].as_str().is_some_and(|goal| goal.contains("login")),
        "{last:#}"
    );
    // Every step belongs to the task of its turn, exactly once.
    let counted: Vec<u64> = tasks
        .iter()
        .map(|task| task["steps"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!(counted, [1, 3, 1, 3]);
    assert_eq!(story.grov().steps(&story.session)?.len(), 8);
    Ok(())
}

#[test]
fn a_cleared_conversation_is_a_new_task() -> Result<()> {
    let turns = [
        turn(
            "Add dark mode to theme.css.",
            json!([writes("theme.css"), says("Shall I go on?")]),
        ),
        turn(
            "Fix the login bug.",
            json!([writes("login.js"), says("Shall I go on?")]),
        ),
    ];
    let Some(mut story) = Story::begin(&turns, &[])? else {
        return Ok(());
    };
    story.tell(&turns[0])?;
    let first = story.session.clone();
    // The client starts a cleared conversation under a new session id, like any new conversation.
    let run = story.work.prompt("Fix the login bug. [[scenario:turn1]]", &[])?;
    run.result()?;
    story.session = run.session()?.to_owned();
    assert_ne!(story.session, first);
    let tasks = story.wait_for_tasks("a separate task", |tasks| {
        tasks.len() == 1 && has(&tasks[0], "main", "active", 1)
    })?;
    assert!(tasks[0]["parent_session_id"].is_null());
    Ok(())
}

#[test]
fn subagents_and_side_requests_are_not_turns() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt("Count, with help. [[scenario:subagent]]", &[])?;
    run.result()?;
    work.agree(run.session()?)?;
    let session = work.session(run.session()?)?;
    assert_eq!((&session["prompts"], &session["steps"]), (&json!(1), &json!(4)));
    Ok(())
}
