//! `grov proxy-status`

use crate::context::Context;
use crate::daemon_health::{self, ProxyState, ProxyView, port_taken_by};
use crate::format::{ago, count, short_ids, when};
use crate::judge::{JudgeView, spent_today};
use crate::output::{Outcome, Style};
use crate::table::{Table, one_line, truncated};
use grov_domain::{
    ClearSummary, ClientSessionId, Clock, SessionFilter, SessionId, SessionSummary, SystemClock,
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

/// Maximum number of sessions that are shown as text without `--limit`.
const DEFAULT_LIMIT: u32 = 20;

/// Maximum indentation of a task, so that lines remain readable.
const MAX_INDENTATION: usize = 8;

#[derive(Serialize)]
struct Answer {
    proxy: ProxyView,
    /// The other program that listens on the configured port.
    #[serde(skip_serializing_if = "Option::is_none")]
    port_taken_by: Option<String>,
    judge: JudgeView,
    sessions: Vec<SessionView>,
}

#[derive(Serialize)]
struct SessionView {
    #[serde(flatten)]
    summary: SessionSummary,
    /// The last clear of the client session's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    clear: Option<ClearSummary>,
}

pub(crate) fn run(context: &Context, limit: Option<u32>) -> Outcome {
    let filter = SessionFilter {
        project_path: context.named_project()?,
        limit: context.terminal.limit(limit, DEFAULT_LIMIT),
        ..SessionFilter::default()
    };
    let stored = context.read(async |store| {
        let sessions = store.sessions(&filter).await?;
        let clears = store.clears(&client_sessions(&sessions)).await?;
        Ok((with_clears(sessions, &clears), spent_today(store).await?))
    })?;
    let (sessions, spent) = stored.unwrap_or_default();
    let proxy = daemon_health::query(&context.home);
    let configured = context.settings.proxy();
    let answer = Answer {
        port_taken_by: match proxy.state {
            ProxyState::NotRunning => {
                port_taken_by(SocketAddr::new(configured.local_host(), configured.port))
            }
            ProxyState::Running | ProxyState::NotAnswering => None,
        },
        proxy,
        judge: JudgeView::of(context.settings.llm(), spent),
        sessions,
    };
    context.answer(answer, text)
}

fn client_sessions(sessions: &[SessionSummary]) -> Vec<ClientSessionId> {
    let ids = sessions
        .iter()
        .map(|summary| summary.state.client_session_id.clone());
    ids.collect()
}

fn with_clears(sessions: Vec<SessionSummary>, clears: &[ClearSummary]) -> Vec<SessionView> {
    let view = |summary: SessionSummary| {
        let of_session = |clear: &&ClearSummary| clear.client_session_id == summary.state.client_session_id;
        SessionView {
            clear: clears.iter().find(of_session).cloned(),
            summary,
        }
    };
    sessions.into_iter().map(view).collect()
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = proxy_text(answer, style);
    if let Some(store) = answer.proxy.store.as_ref().filter(|store| !store.ok) {
        let error = store.last_error.as_deref().unwrap_or("some records were lost");
        text.push_str(&format!("store: {}\n", style.red(&one_line(error))));
    }
    if let Some(access) = &answer.proxy.access
        && (access.reachable
            || access.tls.is_some()
            || access.tokens.is_some()
            || access.rate_limit.is_some())
    {
        let summary = access.summary();
        let summary = if access.insecure {
            style.red(&summary)
        } else {
            summary
        };
        text.push_str(&format!("access: {summary}\n"));
    }
    text.push_str(&format!("judge: {}\n", answer.judge.text(style)));
    for line in answer.judge.live_lines(&answer.proxy, style) {
        text.push_str(&format!("       {line}\n"));
    }
    if answer.sessions.is_empty() {
        text.push_str("no session went through the proxy; `grov sessions --all` lists those of hooks too\n");
    } else {
        let summaries: Vec<&SessionSummary> = answer.sessions.iter().map(|view| &view.summary).collect();
        text.push_str(&session_table(&summaries, style).render(style));
        text.push_str(&clears_text(&answer.sessions));
    }
    text
}

/// One line for each client session whose context was cleared.
fn clears_text(sessions: &[SessionView]) -> String {
    let now = SystemClock.now();
    let mut shown = HashSet::new();
    let mut text = String::new();
    for clear in sessions.iter().filter_map(|view| view.clear.as_ref()) {
        if !shown.insert(&clear.client_session_id) {
            continue;
        }
        let times = match clear.count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let about = if clear.is_measured { "" } else { "about " };
        text.push_str(&format!(
            "context of {} cleared {times}, last {}: {} → {about}{} tokens{}\n",
            clear.client_session_id,
            ago(clear.last_clear_at, now),
            count(clear.tokens_before),
            count(clear.tokens_after),
            money_text(clear)
        ));
    }
    text
}

fn money_text(clear: &ClearSummary) -> String {
    let usd = |micro: u64| format!("{:.2} USD", micro as f64 / 1e6);
    match (clear.cost_micro_usd, clear.saving_micro_usd) {
        (Some(cost), Some(saving)) => format!("; cost {}, saves {} in ten requests", usd(cost), usd(saving)),
        _ => String::new(),
    }
}

fn proxy_text(answer: &Answer, style: Style) -> String {
    let proxy = &answer.proxy;
    if proxy.running {
        let shown = |value: &Option<String>| one_line(value.as_deref().unwrap_or("unknown"));
        let pid = proxy.pid.map_or("unknown".to_owned(), |pid| pid.to_string());
        let (url, version) = (shown(&proxy.url), shown(&proxy.version));
        return format!(
            "proxy {} at {url} (pid {pid}, version {version})\n",
            style.green("running")
        );
    }
    if let Some((problem, fix)) = proxy.not_answering() {
        let state = style.red("not answering");
        return format!("proxy {state}: {}; {}\n", one_line(&problem), one_line(&fix));
    }
    let state = style.red("not running");
    match &answer.port_taken_by {
        Some(taken) => {
            format!("proxy {state}: {taken}; stop that program, or set proxy.port to another port\n")
        }
        None => format!("proxy {state}; `grov proxy start` starts it\n"),
    }
}

fn session_table(sessions: &[&SessionSummary], style: Style) -> Table {
    let mut table = Table::new(
        "SESSION, TASK, STATUS, MODE?, PROMPTS#?, STEPS#, INPUT#?, CACHE READ#?, CACHE WRITE#?, OUTPUT#?, UPDATED, PROJECT~?, GOAL~, LAST ACTION~?",
    );
    let ids = sessions.iter().map(|one| one.state.client_session_id.as_str());
    let short = short_ids(ids, style);
    let mut last_session = None;
    for (summary, depth) in task_tree(sessions) {
        let task = &summary.state;
        // Only the row of a session's first task names the session.
        let session = Some(&task.client_session_id);
        let is_first = last_session != session;
        last_session = session;
        let last_action = summary.last_action.as_ref();
        let last_action = last_action.map(|step| format!("{} {}", step.tool, step.subject()));
        table.row([
            session
                .filter(|_| is_first)
                .map(|session| short(session.as_str()))
                .unwrap_or_default(),
            match depth.min(MAX_INDENTATION) {
                0 => task.task_type.as_str().to_owned(),
                depth => format!("{}└ {}", "  ".repeat(depth - 1), task.task_type.as_str()),
            },
            task.status.as_str().to_owned(),
            task.session_mode.as_str().to_owned(),
            summary.prompts.to_string(),
            summary.steps.to_string(),
            count(summary.tokens.input),
            count(summary.tokens.cache_read),
            count(summary.tokens.cache_creation),
            count(summary.tokens.output),
            when(task.last_update, style),
            match task.project_path.as_str() {
                "" => "unknown".to_owned(),
                path => style.path(path),
            },
            truncated(task.original_goal.as_deref().unwrap_or_default(), 48),
            truncated(&last_action.unwrap_or_default(), 48),
        ]);
    }
    table
}

/// The tasks in display order, each with its depth. Client sessions keep the given order; within a session the oldest task is
/// first, and each task is followed by the tasks that it started. A task whose parent is not listed is a root.
fn task_tree<'a>(tasks: &[&'a SessionSummary]) -> Vec<(&'a SessionSummary, usize)> {
    let mut session_order: HashMap<&ClientSessionId, usize> = HashMap::new();
    for (place, task) in tasks.iter().enumerate() {
        session_order
            .entry(&task.state.client_session_id)
            .or_insert(place);
    }
    let mut sorted: Vec<&SessionSummary> = tasks.to_vec();
    sorted.sort_by_key(|task| {
        (
            session_order.get(&task.state.client_session_id),
            task.state.start_time,
        )
    });
    let known: HashSet<&SessionId> = tasks.iter().map(|task| &task.state.session_id).collect();
    let mut children: HashMap<Option<&SessionId>, Vec<&SessionSummary>> = HashMap::new();
    for task in sorted {
        let parent = task.state.parent_session_id.as_ref();
        let parent = parent.filter(|parent| known.contains(parent) && **parent != task.state.session_id);
        children.entry(parent).or_default().push(task);
    }
    let mut tree = Vec::with_capacity(tasks.len());
    add_children(None, 0, &mut children, &mut tree);
    // The remaining tasks are their own ancestors.
    let mut cyclic: Vec<&SessionSummary> = children.into_values().flatten().collect();
    cyclic.sort_by_key(|task| (task.state.start_time, &task.state.session_id));
    tree.extend(cyclic.into_iter().map(|task| (task, 0)));
    tree
}

/// Adds the tasks below `parent`, each followed by its own.
fn add_children<'a>(
    parent: Option<&'a SessionId>,
    depth: usize,
    children: &mut HashMap<Option<&'a SessionId>, Vec<&'a SessionSummary>>,
    tree: &mut Vec<(&'a SessionSummary, usize)>,
) {
    for task in children.remove(&parent).unwrap_or_default() {
        tree.push((task, depth));
        add_children(Some(&task.state.session_id), depth + 1, children, tree);
    }
}
