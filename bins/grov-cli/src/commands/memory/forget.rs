//! `grov memory forget ID…`

mod cost;

use super::named::ambiguous;
use crate::arguments::ForgetArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::plural;
use crate::output::{self, ExitStatus, Outcome, Style, note};
use crate::progress::Waiting;
use crate::table::one_line;
use cost::Cost;
use grov_domain::{Clock, MemoryStore, SystemClock, TaskId};
use grov_query::{Lookup, find_item, find_memory};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    forgotten: Vec<String>,
    /// With `dry_run`: the memories that exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_forget: Option<Vec<String>>,
    unknown: Vec<String>,
    #[serde(flatten)]
    cost: Cost,
}

pub(super) fn run(context: &Context, arguments: &ForgetArguments) -> Outcome {
    if context.terminal.wants_json() && !arguments.yes && !arguments.dry_run {
        return Err(Failure::usage(
            "deletion cannot be undone, and --json does not ask for confirmation: add --yes, or --dry-run to see the cost",
        ));
    }
    let mut known: Vec<TaskId> = Vec::new();
    let mut unknown = Vec::new();
    let cost = context.read(async |store| {
        for id in &arguments.ids {
            match find_memory(store, id).await? {
                Lookup::Found(task) if known.contains(&task.id) => {}
                Lookup::Found(task) => known.push(task.id),
                Lookup::NotFound => match find_item(store, id).await? {
                    Lookup::Found(found) => known.push(TaskId::new(found.item.id.to_string())),
                    _ => unknown.push(id.clone()),
                },
                Lookup::Ambiguous(tasks) => return Err(ambiguous(id, &tasks)),
            }
        }
        Ok(Cost::of(store.uses(&known).await?, SystemClock.now()))
    })?;
    if cost.is_none() {
        unknown.clone_from(&arguments.ids);
    }
    for id in &unknown {
        note!("no memory {:?}", one_line(id));
    }
    let ids = |ids: &[TaskId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut answer = Answer {
        dry_run: arguments.dry_run,
        forgotten: Vec::new(),
        would_forget: arguments.dry_run.then(|| ids(&known)),
        unknown,
        cost: cost.unwrap_or_default(),
    };
    if !arguments.dry_run && !known.is_empty() {
        if !context.terminal.wants_json() {
            note!("{}", answer.cost.text().trim_end());
        }
        if !arguments.yes && !confirm(known.len())? {
            note!("nothing was deleted");
            return Ok(ExitStatus::Negative);
        }
        let _waiting = Waiting::with("deleting, and writing the database anew");
        let forgotten = context.write(async |store| Ok(MemoryStore::forget(store, &known).await?))?;
        answer.forgotten = ids(&forgotten.unwrap_or_default());
    }
    let found = answer.would_forget.as_ref().unwrap_or(&answer.forgotten);
    let status = ExitStatus::success_if(!found.is_empty());
    context.answer(answer, text)?;
    Ok(status)
}

fn confirm(number: usize) -> Result<bool, Failure> {
    output::ask(&format!("Delete {} for good?", memories(number))).ok_or_else(|| {
        let message =
            "nothing was deleted: this cannot be undone, and there is no terminal to ask for confirmation";
        let hint = "add --yes to skip the question, or --dry-run to see the cost";
        Failure::error("confirmation", message).hint(hint)
    })
}

fn memories(number: usize) -> String {
    plural(number as u64, "memory", "memories")
}

fn text(answer: &Answer, _style: Style) -> String {
    match answer.would_forget.as_deref() {
        Some([]) => format!("would forget {}\n", memories(0)),
        Some(ids) => format!("would forget {}\n{}", memories(ids.len()), answer.cost.text()),
        None => format!("forgot {}\n", memories(answer.forgotten.len())),
    }
}
