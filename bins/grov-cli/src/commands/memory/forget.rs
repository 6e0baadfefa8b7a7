//! `grov memory forget ID…`

mod cost;

use super::named::ambiguous;
use crate::arguments::ForgetArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::plural;
use crate::output::{self, ExitStatus, Outcome, Style, note};
use crate::progress::Waiting;
use crate::table::{one_line, truncated};
use cost::Cost;
use grov_domain::{
    Clock, InboxItem, ItemFilter, MemoryItem, MemoryStore, StoreConnection, StoreError, SystemClock, TaskId,
};
use grov_drift::DeliveryLog;
use grov_query::{Lookup, find_item, find_memory, short_item_id};
use serde::Serialize;

/// Maximum characters of an item's content.
const MAX_TEXT: usize = 100;

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    forgotten: Vec<String>,
    /// With `dry_run`: the memories that exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_forget: Option<Vec<String>>,
    unknown: Vec<String>,
    /// The proposals and other items that come from these memories, which are deleted with them.
    items: Vec<MemoryItem>,
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
        let items = items_of(store, &known).await?;
        let mut all = known.clone();
        all.extend(items.iter().map(memory_id));
        let told = DeliveryLog::sessions_told(context.home.root(), &all);
        Ok((items, Cost::of(store.uses(&all).await?, &told, SystemClock.now())))
    })?;
    if cost.is_none() {
        unknown.clone_from(&arguments.ids);
    }
    let (items, cost) = cost.unwrap_or_default();
    for id in &unknown {
        note!("no memory {:?}", one_line(id));
    }
    let ids = |ids: &[TaskId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let would_forget = || {
        let memories = ids(&known).into_iter();
        memories
            .chain(items.iter().map(|found| found.item.id.to_string()))
            .collect()
    };
    let mut answer = Answer {
        dry_run: arguments.dry_run,
        forgotten: Vec::new(),
        would_forget: arguments.dry_run.then(would_forget),
        unknown,
        items: items.into_iter().map(|found| found.item).collect(),
        cost,
    };
    if !arguments.dry_run && !known.is_empty() {
        if !context.terminal.wants_json() {
            note!("{}{}", answer.items_text(), answer.cost.text().trim_end());
        }
        if !arguments.yes && !confirm(&answer.what(known.len()))? {
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

/// The items that come from these memories, other than those that are named themselves.
async fn items_of(store: &dyn StoreConnection, memories: &[TaskId]) -> Result<Vec<InboxItem>, StoreError> {
    let all = ItemFilter {
        scope: None,
        only_proposed: false,
        limit: u32::MAX,
    };
    let mut items = store.items(&all).await?;
    items.retain(|found| {
        let is_named = memories.contains(&memory_id(found));
        !is_named && found.task_id.as_ref().is_some_and(|task| memories.contains(task))
    });
    Ok(items)
}

fn memory_id(found: &InboxItem) -> TaskId {
    TaskId::new(found.item.id.to_string())
}

fn confirm(what: &str) -> Result<bool, Failure> {
    output::ask(&format!("Delete {what} for good?")).ok_or_else(|| {
        let message =
            "nothing was deleted: this cannot be undone, and there is no terminal to ask for confirmation";
        let hint = "add --yes to skip the question, or --dry-run to see the cost";
        Failure::error("confirmation", message).hint(hint)
    })
}

impl Answer {
    /// `number` memories, and the items that come from them.
    fn what(&self, number: usize) -> String {
        let memories = plural(number as u64, "memory", "memories");
        match self.items.len() as u64 {
            0 => memories,
            items => format!(
                "{memories} and {} from it",
                plural(items, "proposal", "proposals")
            ),
        }
    }

    /// A line for each item.
    fn items_text(&self) -> String {
        let line = |item: &MemoryItem| {
            format!(
                "  {} {}: {}\n",
                item.kind.as_str(),
                short_item_id(item.id),
                truncated(&one_line(&item.content), MAX_TEXT)
            )
        };
        self.items.iter().map(line).collect()
    }
}

fn text(answer: &Answer, _style: Style) -> String {
    let ids = answer.would_forget.as_ref().unwrap_or(&answer.forgotten);
    let what = answer.what(ids.len().saturating_sub(answer.items.len()));
    match (answer.dry_run, ids.is_empty()) {
        (true, true) => format!("would forget {what}\n"),
        (true, false) => format!(
            "would forget {what}\n{}{}",
            answer.items_text(),
            answer.cost.text()
        ),
        (false, _) => format!("forgot {what}\n"),
    }
}
