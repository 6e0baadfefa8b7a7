//! `grov off`, `grov on`

use crate::arguments::{Common, SwitchArguments};
use crate::assembly::CommandStore;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use grov_domain::{ClientSessionId, SessionFilter, StoreError, SwitchScope};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
struct Answer {
    on: bool,
    /// `project` or `session`.
    scope: &'static str,
    key: String,
    /// Whether it was the other way before.
    changed: bool,
}

/// What `--session` names.
enum Named {
    Session(ClientSessionId),
    Several(BTreeSet<String>),
}

pub(crate) fn run(common: &Common, arguments: &SwitchArguments, on: bool, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let scope = match &arguments.session {
        Some(session) => SwitchScope::Session(session_named(&context, session)?),
        None => SwitchScope::Project(context.project()?.key().to_owned()),
    };
    let wanted = scope.clone();
    let turn = async |store: &dyn CommandStore| {
        let was_on = !store.switched_off().await?.contains(&wanted);
        store.switch(&wanted, on).await?;
        Ok(was_on != on)
    };
    // What is off nowhere is on already, and no database has to be made for that.
    let changed = if on {
        context.write(turn)?.unwrap_or_default()
    } else {
        context.create(turn)?
    };
    let (scope, key) = match scope {
        SwitchScope::Project(key) => ("project", key),
        SwitchScope::Session(session) => ("session", session.to_string()),
    };
    let answer = Answer {
        on,
        scope,
        key,
        changed,
    };
    terminal.answer(answer, text)?;
    if !on {
        say(
            "what is in the history of running sessions already stays there, byte for byte, so that no prompt cache is lost",
        );
    }
    if on && !context.settings.memory().enabled {
        say("memory.enabled is false, so nothing is added all the same");
    }
    if changed {
        say("a running grov-proxyd notices within about a second");
    }
    Ok(Verdict::Found)
}

/// A session that was recorded, by a beginning of its id; else the id itself, for one that is still to come.
fn session_named(context: &Context, session: &str) -> Result<ClientSessionId, Failure> {
    if session.is_empty() {
        return Err(Failure::usage("--session must name a session"));
    }
    let wanted = session.to_owned();
    let named = context
        .read(async |store| Ok(named(store, wanted).await?))?
        .unwrap_or_else(|| Named::Session(ClientSessionId::new(session)));
    match named {
        Named::Session(session) => Ok(session),
        Named::Several(ids) => Err(Failure::usage(format!(
            "{} sessions begin with {session:?}: {}",
            ids.len(),
            ids.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
        ))),
    }
}

async fn named(store: &dyn CommandStore, wanted: String) -> Result<Named, StoreError> {
    let exact = ClientSessionId::new(wanted);
    if !store.client_session(&exact).await?.is_empty() {
        return Ok(Named::Session(exact));
    }
    let sessions = store.sessions(&SessionFilter::default()).await?;
    let ids: BTreeSet<String> = sessions
        .into_iter()
        .map(|session| session.state.client_session_id.to_string())
        .filter(|id| id.starts_with(exact.as_str()))
        .collect();
    Ok(match ids.first() {
        Some(only) if ids.len() == 1 => Named::Session(ClientSessionId::new(only.as_str())),
        None => Named::Session(exact),
        Some(_) => Named::Several(ids),
    })
}

fn text(answer: &Answer, style: Style) -> String {
    format!(
        "Grov adds {} to prompts of the {} {}\n",
        if answer.on {
            "what fits from memory"
        } else {
            "nothing new"
        },
        answer.scope,
        style.bold(&harmless(&answer.key))
    )
}
