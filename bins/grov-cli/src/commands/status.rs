//! `grov status`

use crate::arguments::Common;
use crate::context::Context;
use crate::judge::{JudgeView, spent_today};
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::{moment, some};
use crate::table::{harmless, shortened};
use grov_domain::SwitchScope;
use grov_query::{TaskView, project_status};
use serde::Serialize;
use std::fmt::Write;

/// Decisions, and constraints, that a person is shown.
const MOST: usize = 8;
/// Characters of one of them.
const LINE: usize = 160;

#[derive(Serialize)]
struct Answer {
    project_path: Option<String>,
    project_remote: Option<String>,
    tasks: u64,
    memory_items: u64,
    sessions: u64,
    steps: u64,
    last_task: Option<TaskView>,
    switch: SwitchView,
    judge: JudgeView,
}

/// Whether Grov adds anything to prompts.
#[derive(Serialize)]
struct SwitchView {
    on: bool,
    /// Why not: `project` (`grov off`) or `setting` (`memory.enabled`).
    off_by: Option<&'static str>,
    /// Sessions that are turned off by themselves, of all projects.
    sessions_off: Vec<String>,
}

impl SwitchView {
    fn of(project: &str, enabled: bool, off: Vec<SwitchScope>) -> Self {
        let mut view = Self {
            on: enabled,
            off_by: (!enabled).then_some("setting"),
            sessions_off: Vec::new(),
        };
        for scope in off {
            match scope {
                SwitchScope::Session(session) => view.sessions_off.push(session.to_string()),
                SwitchScope::Project(key) if key == project => {
                    view.on = false;
                    view.off_by = Some("project");
                }
                SwitchScope::Project(_) => {}
            }
        }
        view
    }

    fn text(&self, style: Style) -> String {
        let mut text = match self.off_by {
            None => "on".to_owned(),
            Some("project") => style.red("off for this project; `grov on` turns it on"),
            Some(_) => style.red("off; memory.enabled is false"),
        };
        if !self.sessions_off.is_empty() {
            let number = some(self.sessions_off.len() as u64, "session", "sessions");
            text.push_str(&format!("; off for {number}"));
        }
        text
    }
}

pub(crate) fn run(common: &Common, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let project = context.project()?;
    let key = project.key().to_owned();
    let asked = key.clone();
    let stored = context.read(async |store| {
        let status = project_status(store, &asked).await?;
        Ok((status, spent_today(store).await?, store.switched_off().await?))
    })?;
    let (stored, spent, off) = stored.unwrap_or_default();
    let answer = Answer {
        project_path: project.path,
        project_remote: project.remote,
        tasks: stored.tasks,
        memory_items: stored.memory_items,
        sessions: stored.sessions,
        steps: stored.steps,
        last_task: stored.last_task.map(TaskView::from),
        switch: SwitchView::of(&key, context.settings.memory().enabled, off),
        judge: JudgeView::of(context.settings.llm(), spent),
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    let path = harmless(answer.project_path.as_deref().unwrap_or("unknown"));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "project   {}", style.bold(&path));
    if let Some(remote) = &answer.project_remote {
        let _ = writeln!(text, "remote    {}", harmless(remote));
    }
    let _ = writeln!(text, "sessions  {} with {} steps", answer.sessions, answer.steps);
    let _ = writeln!(text, "tasks     {}", answer.tasks);
    let _ = writeln!(text, "memories  {}", answer.memory_items);
    let _ = writeln!(text, "switch    {}", answer.switch.text(style));
    let _ = writeln!(text, "judge     {}", answer.judge.text(style));
    if let Some(task) = &answer.last_task {
        text.push_str(&task_text(task));
    }
    text
}

fn task_text(task: &TaskView) -> String {
    let line = |words: &str| shortened(&harmless(words), LINE);
    let goal = task.goal.as_deref().unwrap_or(&task.original_query);
    let trigger = task
        .trigger_reason
        .map(|reason| format!(", saved because {reason}"))
        .unwrap_or_default();
    let mut text = format!(
        "last task {} ({}{trigger}, {})\n",
        shortened(&harmless(goal), 72),
        task.status,
        moment(task.created_at)
    );
    // Writing to a string cannot fail.
    for decision in task.decisions.iter().take(MOST) {
        let _ = writeln!(
            text,
            "  decided    {}",
            line(&format!("{} ({})", decision.choice, decision.reason))
        );
    }
    for constraint in task.constraints.iter().take(MOST) {
        let _ = writeln!(text, "  constraint {}", line(constraint));
    }
    let hidden = task.decisions.len().saturating_sub(MOST) + task.constraints.len().saturating_sub(MOST);
    if hidden > 0 {
        let _ = writeln!(text, "  {hidden} more with --json");
    }
    text
}
