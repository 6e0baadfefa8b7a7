//! `grov memory supersede OLD NEW`, `grov memory supersede OLD --undo`

use super::named;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style};
use crate::table::one_line;
use grov_domain::{StoreConnection, Task, TaskId};
use grov_query::replacements;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    id: String,
    superseded_by: Option<String>,
    changed: bool,
}

pub(crate) fn run(context: &Context, old: &str, new: Option<&str>) -> Outcome {
    let answer = context.write(async |store| {
        let old = named::find(store, old).await?;
        let new = match new {
            Some(name) => Some(named::find(store, name).await?.id),
            None => None,
        };
        let changed = old.superseded_by != new;
        if changed && !store.supersede(&old.id, new.as_ref()).await? {
            return Err(refusal(store, &old, new.as_ref()).await?);
        }
        Ok(Answer {
            id: old.id.to_string(),
            superseded_by: new.map(|id| id.to_string()),
            changed,
        })
    })?;
    context.answer(answer.ok_or_else(|| named::unknown(old))?, text)
}

/// Why the store did not record a replacement.
async fn refusal(store: &dyn StoreConnection, old: &Task, new: Option<&TaskId>) -> Result<Failure, Failure> {
    let Some(new) = new else {
        return Ok(named::unknown(old.id.as_str()));
    };
    if *new == old.id {
        return Ok(Failure::negative("cycle", "a memory cannot replace itself"));
    }
    let mut chain = vec![new.clone()];
    for id in replacements(store, new).await? {
        let is_cycle = id == old.id;
        chain.push(id);
        if is_cycle {
            let chain: Vec<String> = chain.iter().map(|id| one_line(id.as_str())).collect();
            let message = format!(
                "{} is itself replaced by {}, so no memory would remain valid: {}",
                one_line(new.as_str()),
                one_line(old.id.as_str()),
                chain.join(" → ")
            );
            let hint = "undo the other replacement first: grov memory supersede ID --undo";
            return Ok(Failure::negative("cycle", message).hint(hint));
        }
    }
    // The memory was deleted meanwhile.
    Ok(named::unknown(new.as_str()))
}

fn text(answer: &Answer, style: Style) -> String {
    let id = style.bold(&one_line(&answer.id));
    match &answer.superseded_by {
        Some(by) => format!("{id} is replaced by {}; both are kept\n", one_line(by)),
        None if answer.changed => format!("{id} is no longer replaced\n"),
        None => format!("{id} was not replaced\n"),
    }
}
