//! `grov memory supersede OLD NEW`, `grov memory supersede OLD --undo`

use super::named;
use crate::assembly::CommandStore;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::table::harmless;
use grov_domain::{Task, TaskId};
use grov_query::replacements;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    id: String,
    superseded_by: Option<String>,
    /// Whether it was otherwise before.
    changed: bool,
}

pub(super) fn run(context: &Context, old: &str, new: Option<&str>, terminal: Terminal) -> Outcome {
    let (name_of_old, name_of_new) = (old.to_owned(), new.map(str::to_owned));
    let answer = context.write(async |store| {
        let old = named::one(store, &name_of_old).await?;
        let new = match &name_of_new {
            Some(name) => Some(named::one(store, name).await?.id),
            None => None,
        };
        let changed = old.superseded_by != new;
        if changed && !store.supersede(&old.id, new.as_ref()).await? {
            return Err(refused(store, &old, new.as_ref()).await?);
        }
        Ok(Answer {
            id: old.id.to_string(),
            superseded_by: new.map(|id| id.to_string()),
            changed,
        })
    })?;
    let answer = answer.ok_or_else(|| named::unknown(old))?;
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

/// Why a replacement is none.
async fn refused(store: &dyn CommandStore, old: &Task, new: Option<&TaskId>) -> Result<Failure, Failure> {
    let Some(new) = new else {
        return Ok(named::unknown(old.id.as_str()));
    };
    if *new == old.id {
        let message = "a memory cannot replace itself";
        return Ok(Failure::negative("cycle", message, None));
    }
    let mut chain = vec![new.clone()];
    for id in replacements(store, new).await? {
        let is_end = id == old.id;
        chain.push(id);
        if is_end {
            let names: Vec<String> = chain.iter().map(|id| harmless(id.as_str())).collect();
            return Ok(Failure::negative(
                "cycle",
                format!(
                    "{} is itself replaced by {}, so nothing would be left that holds: {}",
                    harmless(new.as_str()),
                    harmless(old.id.as_str()),
                    names.join(" → ")
                ),
                Some("take the other replacement back first: grov memory supersede ID --undo"),
            ));
        }
    }
    // Somebody forgot it in between.
    Ok(named::unknown(new.as_str()))
}

fn text(answer: &Answer, style: Style) -> String {
    let id = style.bold(&harmless(&answer.id));
    match &answer.superseded_by {
        Some(by) => format!("{id} is replaced by {}; both are kept\n", harmless(by)),
        None if answer.changed => format!("{id} is replaced no more\n"),
        None => format!("{id} was not replaced\n"),
    }
}
