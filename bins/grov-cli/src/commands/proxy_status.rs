//! `grov proxy-status`

use crate::arguments::Common;
use crate::context::Context;
use crate::daemon_health::{self, ProxyView};
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::{SessionView, ago, count};
use crate::table::{Table, harmless, shortened};
use grov_domain::{Clock, SessionFilter, SessionStore, SystemClock};
use serde::Serialize;

/// Sessions that a person is shown without `--limit`.
const SHOWN: u32 = 20;

#[derive(Serialize)]
struct Answer {
    proxy: ProxyView,
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
    let sessions = context
        .read(|store| async move { store.sessions(&filter).await })?
        .unwrap_or_default();
    let answer = Answer {
        proxy: daemon_health::ask(&context.home),
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
        _ => format!(
            "proxy {}; `grov proxy --detach` starts it\n",
            style.red("not running")
        ),
    };
    if answer.sessions.is_empty() {
        text.push_str("no sessions recorded\n");
        return text;
    }
    let mut table = Table::new(&[
        "SESSION",
        "STATUS",
        "PROMPTS#",
        "STEPS#",
        "INPUT#",
        "CACHE READ#",
        "CACHE WRITE#",
        "OUTPUT#",
        "UPDATED",
        "PROJECT",
        "LAST ACTION",
    ]);
    let now = SystemClock.now();
    for session in &answer.sessions {
        let last_action = session
            .last_action
            .as_ref()
            .map(|step| format!("{} {}", step.tool, step.subject()));
        table.row([
            session.session_id.clone(),
            session.status.to_owned(),
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
            shortened(&last_action.unwrap_or_default(), 48),
        ]);
    }
    text.push_str(&table.render(style));
    text
}
