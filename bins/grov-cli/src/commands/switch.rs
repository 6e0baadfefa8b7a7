//! `grov off`, `grov on`

use crate::arguments::SwitchArguments;
use crate::cleared;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::session;
use crate::table::one_line;
use grov_domain::{ClientSessionId, StoreConnection, SwitchScope};
use grov_runtime::GuardMode;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    on: bool,
    /// `project` or `session`.
    scope: &'static str,
    key: String,
    /// Whether the command changed anything.
    changed: bool,
}

pub(crate) fn run(context: &Context, arguments: &SwitchArguments, on: bool) -> Outcome {
    let scope = match &arguments.session {
        Some(session) => SwitchScope::Session(session_id(context, session, on)?),
        None => SwitchScope::Project(context.project()?.key().to_owned()),
    };
    let switch = async |store: &dyn StoreConnection| {
        let was_on = !store.switched_off().await?.contains(&scope);
        store.switch(&scope, on).await?;
        Ok(was_on != on)
    };
    // Without a database everything is on, so `on` need not create one.
    let changed = match on {
        true => context.write(switch)?.unwrap_or_default(),
        false => context.create(switch)?,
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
    context.answer(answer, text)?;
    if !on {
        note!(
            "text that was already added to running sessions stays in their history, so that their prompt cache remains valid"
        );
    }
    if !on && !cleared::recent(context)?.is_empty() {
        note!(
            "contexts that were cleared stay cleared while the client uses the proxy; without it, their history may not fit into the \
             model's context window"
        );
    }
    if !on && context.settings.guard().mode != GuardMode::Off {
        note!(
            "the guard still asks before dangerous or forbidden actions; guard.mode = \"off\" turns it off"
        );
    }
    if on && !context.settings.memory().enabled {
        note!("memory.enabled is false, so no memories are added");
    }
    if changed {
        note!("a running grov-proxyd applies this within a second");
    }
    Ok(ExitStatus::Success)
}

/// The id of the session that `wanted` names. Of a session whose records were deleted the switch may remain, and can be
/// removed.
fn session_id(context: &Context, wanted: &str, on: bool) -> Result<ClientSessionId, Failure> {
    let project = context.project()?.key().to_owned();
    let found = context.read(async |store| {
        if let Some(session) = session::find(store, wanted, &project).await? {
            return Ok(Some(session.id));
        }
        let id = ClientSessionId::new(wanted);
        let switched_off = store.switched_off().await?;
        let remains = on && switched_off.contains(&SwitchScope::Session(id.clone()));
        Ok(remains.then_some(id))
    })?;
    found.flatten().ok_or_else(|| session::not_found(Some(wanted)))
}

fn text(answer: &Answer, style: Style) -> String {
    let verb = if answer.on {
        "adds matching memories"
    } else {
        "adds no new text"
    };
    let key = style.bold(&one_line(&answer.key));
    format!("Grov {verb} to prompts of the {} {key}\n", answer.scope)
}
