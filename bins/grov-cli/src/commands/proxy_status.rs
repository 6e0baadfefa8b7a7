//! `grov proxy-status`

use crate::arguments::Common;
use crate::context::Context;
use crate::daemon_health::{self, ProxyState, ProxyView, taken};
use crate::judge::{JudgeView, spent_today};
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::{ago, count};
use crate::table::{Table, harmless, shortened};
use grov_domain::{Clock, SessionFilter, SystemClock};
use grov_query::SessionView;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Sessions that a person is shown without `--limit`.
const SHOWN: u32 = 20;

/// Indentation that still fits a line.
const DEEPEST: usize = 8;

#[derive(Serialize)]
struct Answer {
    proxy: ProxyView,
    /// What listens on the port of the settings in place of this home's daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    port_taken_by: Option<String>,
    judge: JudgeView,
    sessions: Vec<SessionView>,
}

pub(crate) fn run(common: &Common, limit: Option<u32>, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let limit = match limit {
        Some(0) => None,
        None if terminal.wants_json() => None,
        other => Some(other.unwrap_or(SHOWN)),
    };
    let filter = SessionFilter {
        project_path: context.named_project()?,
        limit,
        ..SessionFilter::default()
    };
    let stored =
        context.read(async |store| Ok((store.sessions(&filter).await?, spent_today(store).await?)))?;
    let (sessions, spent) = stored.unwrap_or_default();
    let proxy = daemon_health::ask(&context.home);
    let answer = Answer {
        port_taken_by: match proxy.state {
            ProxyState::NotRunning => taken(context.settings.proxy()),
            ProxyState::Running | ProxyState::NotAnswering => None,
        },
        proxy,
        judge: JudgeView::of(context.settings.llm(), spent),
        sessions: sessions.into_iter().map(SessionView::from).collect(),
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = match &answer.proxy {
        ProxyView {
            running: true,
            url,
            pid,
            version,
            ..
        } => {
            let of = |value: &Option<String>| harmless(value.as_deref().unwrap_or("unknown"));
            let pid = pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
            format!(
                "proxy {} at {} (pid {pid}, version {})\n",
                style.green("running"),
                of(url),
                of(version)
            )
        }
        view => match (view.no_answer(), &answer.port_taken_by) {
            (Some((what, fix)), _) => format!(
                "proxy {}: {}; {}\n",
                style.red("not answering"),
                harmless(&what),
                harmless(&fix)
            ),
            (None, Some(taken)) => format!(
                "proxy {}: {taken}; stop that program, or set proxy.port to another port\n",
                style.red("not running")
            ),
            (None, None) => format!(
                "proxy {}; `grov proxy --detach` starts it\n",
                style.red("not running")
            ),
        },
    };
    if let Some(store) = answer.proxy.store.as_ref().filter(|store| !store.ok) {
        let why = store.last_error.as_deref().unwrap_or("some records were lost");
        let _ = writeln!(text, "store: {}", style.red(&harmless(why)));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "judge: {}", answer.judge.text(style));
    if let Some(judge) = &answer.proxy.judge
        && let Some(why) = judge.why_rules.as_deref().filter(|why| *why != "offline")
    {
        let why = harmless(&why.replace('_', " "));
        let _ = writeln!(text, "       at present rules answer: {}", style.red(&why));
    }
    if answer.sessions.is_empty() {
        text.push_str("no sessions recorded\n");
        return text;
    }
    let mut table = Table::new(&[
        "SESSION",
        "TASK",
        "STATUS",
        "MODE",
        "PROMPTS#",
        "STEPS#",
        "INPUT#",
        "CACHE READ#",
        "CACHE WRITE#",
        "OUTPUT#",
        "UPDATED",
        "PROJECT",
        "GOAL",
        "LAST ACTION",
    ]);
    let now = SystemClock.now();
    let mut shown = None;
    for Branch { task: session, depth } in branches(&answer.sessions) {
        // Named once, in front of its first task.
        let is_next = shown.replace(&session.client_session_id) != Some(&session.client_session_id);
        let last_action = session
            .last_action
            .as_ref()
            .map(|step| format!("{} {}", step.tool, step.subject()));
        table.row([
            if is_next {
                session.client_session_id.clone()
            } else {
                String::new()
            },
            match depth {
                0 => session.task_type.to_owned(),
                depth => format!("{}└ {}", "  ".repeat(depth.min(DEEPEST) - 1), session.task_type),
            },
            session.status.to_owned(),
            session.session_mode.to_owned(),
            session.prompts.to_string(),
            session.steps.to_string(),
            count(session.tokens.input),
            count(session.tokens.cache_read),
            count(session.tokens.cache_creation),
            count(session.tokens.output),
            ago(session.last_update, now),
            session
                .project_path
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
            shortened(session.original_goal.as_deref().unwrap_or_default(), 48),
            shortened(&last_action.unwrap_or_default(), 48),
        ]);
    }
    text.push_str(&table.render(style));
    text
}

/// A task and how many known tasks are above it.
struct Branch<'a> {
    task: &'a SessionView,
    depth: usize,
}

/// The tasks in the order in which they are shown: client sessions as they come, in each of them the oldest task first
/// and behind every task those that it started. A task whose parent is not among them stands on its own.
fn branches(tasks: &[SessionView]) -> Vec<Branch<'_>> {
    let known: HashSet<&str> = tasks.iter().map(|task| task.session_id.as_str()).collect();
    let parent_of = |task: &'_ SessionView| {
        let parent = task.parent_session_id.as_deref()?;
        known
            .get(parent)
            .copied()
            .filter(|parent| *parent != task.session_id)
    };
    let mut roots: HashMap<&str, Vec<&SessionView>> = HashMap::new();
    let mut children: HashMap<&str, Vec<&SessionView>> = HashMap::new();
    let mut by_age: Vec<&SessionView> = tasks.iter().collect();
    by_age.sort_by_key(|task| task.start_time);
    for task in by_age {
        match parent_of(task) {
            Some(parent) => children.entry(parent).or_default().push(task),
            None => roots.entry(&task.client_session_id).or_default().push(task),
        }
    }
    let mut order = Vec::with_capacity(tasks.len());
    for task in tasks {
        // A client session comes where its first task is; the last one in is the next one out.
        let mut waiting: Vec<Branch<'_>> = roots
            .remove(task.client_session_id.as_str())
            .unwrap_or_default()
            .into_iter()
            .rev()
            .map(|task| Branch { task, depth: 0 })
            .collect();
        while let Some(branch) = waiting.pop() {
            let below = children
                .remove(branch.task.session_id.as_str())
                .unwrap_or_default();
            waiting.extend(below.into_iter().rev().map(|task| Branch {
                task,
                depth: branch.depth + 1,
            }));
            order.push(branch);
        }
    }
    // Tasks that are each other's parents have no root; they are shown all the same.
    let mut circular: Vec<Branch<'_>> = children
        .into_values()
        .flatten()
        .map(|task| Branch { task, depth: 0 })
        .collect();
    circular.sort_by_key(|branch| (branch.task.start_time, &branch.task.session_id));
    order.append(&mut circular);
    order
}
