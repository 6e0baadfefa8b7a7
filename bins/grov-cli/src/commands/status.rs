//! `grov status`

use crate::context::Context;
use crate::daemon_health::{self, LiveMemory, ProxyView};
use crate::format::{plural, when};
use crate::judge::{JudgeView, spent_today};
use crate::output::{Outcome, Style};
use crate::table::{Fields, one_line, truncated};
use grov_domain::{MemoryScope, SwitchScope, Task};
use grov_query::{project_status, title};
use serde::Serialize;

/// Maximum number of decisions, and of constraints, that are shown as text.
const MAX_SHOWN: usize = 8;
/// Shown below zeros.
const NOTHING_YET: &str = "Nothing is recorded for this project yet. `grov run -- claude` records one session, `grov init` every one.";
/// Maximum characters of a decision or constraint.
const MAX_LINE: usize = 160;

#[derive(Serialize)]
struct Answer {
    project_path: Option<String>,
    project_remote: Option<String>,
    /// Saved tasks, which `grov memory list` lists.
    tasks: u64,
    memory_items: u64,
    sessions: u64,
    steps: u64,
    last_task: Option<Task>,
    switch: SwitchView,
    judge: JudgeView,
    proxy: ProxyView,
}

/// Whether Grov adds text to prompts.
#[derive(Serialize)]
struct SwitchView {
    on: bool,
    /// What turned it off: `project` (`grov off`) or `setting` (`memory.enabled`).
    off_by: Option<&'static str>,
    /// Sessions of all projects that are switched off individually.
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
            let sessions = plural(self.sessions_off.len() as u64, "session", "sessions");
            text.push_str(&format!("; off for {sessions}"));
        }
        text
    }
}

pub(crate) fn run(context: &Context) -> Outcome {
    let project = context.project()?;
    let key = project.key().to_owned();
    let scope = MemoryScope {
        project_path: key.clone(),
        project_remote: project.remote.clone(),
    };
    let stored = context.read(async |store| {
        let mut status = project_status(store, &key).await?;
        // Those of clones at other places too, as everywhere.
        status.tasks = store.memory_stats(Some(&scope)).await?.memories;
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
        last_task: stored.last_task,
        switch: SwitchView::of(&key, context.settings.memory().enabled, off),
        judge: JudgeView::of(context.settings.llm(), spent),
        proxy: daemon_health::query(&context.home),
    };
    context.answer(answer, text)
}

fn text(answer: &Answer, style: Style) -> String {
    let mut fields = Fields::new(9, usize::MAX, style);
    let path = one_line(answer.project_path.as_deref().unwrap_or("unknown"));
    fields.add_styled("project", &style.bold(&path));
    if let Some(remote) = &answer.project_remote {
        fields.add("remote", remote);
    }
    fields.add(
        "sessions",
        &format!("{} with {} steps", answer.sessions, answer.steps),
    );
    fields.add("memories", &answer.tasks.to_string());
    if answer.memory_items > 0 {
        fields.add("items", &answer.memory_items.to_string());
    }
    fields.add_styled("injection", &answer.switch.text(style));
    let memory = answer.proxy.memory.as_ref();
    if let Some(lateness) = memory.and_then(LiveMemory::lateness) {
        fields.add_styled("", &style.yellow(&lateness));
    }
    fields.add_styled("judge", &answer.judge.text(style));
    for line in answer.judge.live_lines(&answer.proxy, style) {
        fields.add_styled("", &line);
    }
    let proxy = match (&answer.proxy.url, answer.proxy.running) {
        (Some(url), true) => format!("running at {url}"),
        _ => "not running".to_owned(),
    };
    fields.add("proxy", &proxy);
    if let Some(task) = &answer.last_task {
        add_task(&mut fields, task, style);
    }
    let mut text = fields.into_text();
    if answer.sessions == 0 && answer.tasks == 0 {
        text.push_str(&style.faint(&style.prose(NOTHING_YET)));
    }
    text
}

fn add_task(fields: &mut Fields, task: &Task, style: Style) {
    let goal = truncated(&one_line(title(task)), 72);
    let status = task.status.as_str();
    let saved = match task.trigger_reason {
        Some(reason) if reason.as_str() != status => format!("{status}, saved because {}", reason.as_str()),
        _ => status.to_owned(),
    };
    let at = when(task.created_at, style);
    fields.add("last task", &format!("{goal} ({saved}, {at})"));
    for decision in task.decisions.iter().take(MAX_SHOWN) {
        let decision = format!("{} ({})", decision.choice, decision.reason);
        fields.add("  decided   ", &truncated(&decision, MAX_LINE));
    }
    for constraint in task.constraints.iter().take(MAX_SHOWN) {
        fields.add("  constraint", &truncated(constraint, MAX_LINE));
    }
    let more = |count: usize| count.saturating_sub(MAX_SHOWN);
    let hidden = more(task.decisions.len()) + more(task.constraints.len());
    if hidden > 0 {
        fields.add("", &format!("{hidden} more with --json"));
    }
}
