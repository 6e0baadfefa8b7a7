//! `grov injected [SESSION]`

mod transcript;

use crate::client_spending::folders;
use crate::context::Context;
use crate::daemon_health;
use crate::format::{bytes, when};
use crate::output::{Outcome, Style, note};
use crate::session;
use crate::table::{Fields, one_line, truncated};
use grov_cost::transcript_named;
use grov_domain::{ClientSessionId, SwitchScope, TaskId};
use grov_drift::DeliveryLog;
use grov_query::{InjectionView, PromptView, injections};
use serde::Serialize;
use std::path::PathBuf;
use transcript::Conversation;

/// Maximum characters of a line of text.
const MAX_LINE: usize = 160;
/// Maximum lines of a text.
const MAX_LINES: usize = 12;

#[derive(Serialize)]
struct Answer {
    session_id: ClientSessionId,
    injections: Vec<InjectionView>,
    /// What the user typed, of a session that only hooks saw.
    prompts: Vec<PromptView>,
}

pub(crate) fn run(context: &Context, wanted: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let home = context.home.root();
    let answer = context.read(async |store| {
        let session = session::resolve(store, wanted, &project).await?.id;
        let hooked = store.hook_session_summary(&session).await?;
        let recorded = hooked
            .and_then(|session| session.transcript_path)
            .map(PathBuf::from);
        // Also in a session that goes through the proxy, hooks restore what a compaction lost.
        let transcript = recorded.or_else(|| transcript_named(&folders(), session.as_str()));
        let said = transcript.map(|path| transcript::read(&path));
        let Conversation { prompts, hooked } = said.unwrap_or_default();
        let delivered = DeliveryLog::of(home, &session).map(|log| log.read());
        let delivered: Vec<TaskId> = delivered.into_iter().flatten().collect();
        let injections = injections(store, &session, hooked, &delivered).await?;
        let is_proxied = !store.client_session(&session).await?.is_empty();
        Ok(Answer {
            session_id: session,
            injections,
            prompts: if is_proxied { Vec::new() } else { prompts },
        })
    })?;
    let answer = answer.ok_or_else(|| session::not_found(wanted))?;
    if answer.injections.is_empty() {
        match why_nothing(context, &answer.session_id, &project) {
            Some(why) => note!("nothing was said to the agent in this session: {why}"),
            None => note!("nothing was said to the agent in this session"),
        }
    }
    context.answer(answer, text)
}

/// Why a session may have got nothing, as far as it is known: Grov is off, or memory came too late for prompts.
fn why_nothing(context: &Context, session: &ClientSessionId, project: &str) -> Option<String> {
    if !context.settings.memory().enabled {
        return Some("memory.enabled is false".to_owned());
    }
    let off = context
        .read(async |store| Ok(store.switched_off().await?))
        .ok()
        .flatten();
    for scope in off.unwrap_or_default() {
        match scope {
            SwitchScope::Session(off) if off == *session => return Some("Grov is off for it".to_owned()),
            SwitchScope::Project(off) if off == project => {
                return Some("Grov is off for this project; `grov on` turns it on".to_owned());
            }
            SwitchScope::Session(_) | SwitchScope::Project(_) => {}
        }
    }
    daemon_health::query(&context.home).memory?.lateness()
}

fn text(answer: &Answer, style: Style) -> String {
    let shown = answer.injections.iter().map(|one| injection(one, style));
    shown.collect::<Vec<_>>().join("\n")
}

fn injection(one: &InjectionView, style: Style) -> String {
    let place = match one.place {
        "tool_result" => "after a tool result",
        "session_start" => "at the start of the session",
        _ => "with a prompt",
    };
    let mut heading = format!(
        "{}  {} {place}, {}, by {}",
        when(one.at, style),
        style.bold(one.kind),
        bytes(one.bytes as u64),
        match one.path {
            "proxy" => "the proxy",
            _ => "a hook",
        }
    );
    match one.followed {
        Some(true) => heading.push_str(&style.green(", followed")),
        Some(false) => heading.push_str(&style.red(", not followed")),
        None => {}
    }
    let mut fields = Fields::new(10, usize::MAX, style);
    if let Some(reason) = &one.reason {
        fields.add("  why", reason);
    }
    let mut lines = one.text.lines();
    let (most, longest) = if style.is_wide() {
        (usize::MAX, usize::MAX)
    } else {
        (MAX_LINES, MAX_LINE)
    };
    for (place, line) in lines.by_ref().take(most).enumerate() {
        let name = if place == 0 { "  text" } else { "" };
        fields.add(name, &truncated(&one_line(line), longest));
    }
    let more = lines.count();
    if more > 0 {
        fields.add("", &format!("… {more} more lines; --wide shows all"));
    }
    format!("{heading}\n{}", fields.into_text())
}
