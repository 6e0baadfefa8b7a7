//! `grov memory inbox`, `grov memory approve|reject|done ID`, `grov memory edit ID --content TEXT`

use super::scope;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::{ago, plural};
use crate::link_worker;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::table::{one_line, truncated};
use grov_domain::{
    Changed, Clock, InboxItem, ItemFilter, MemoryChange, MemoryItem, MemoryType, ModelScreening,
    StoreConnection, SystemClock, Task, TaskId,
};
use grov_memory::suspicions;
use grov_project::{ProjectLocation, hash_user};
use grov_query::{Lookup, find_item, short_item_id};
use grov_redact::Redactor;
use grov_runtime::UserMode;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;

/// Proposals that are read; more than a person would go through.
const MAX_PROPOSALS: u32 = 1_000;
/// Items in any state that are looked through for ones that are withheld, newest first.
const MAX_CHECKED: u32 = 2_000;
/// Maximum characters of a content and of a quotation in text output.
const MAX_TEXT: usize = 240;

#[derive(Serialize)]
struct Inbox {
    proposals: Vec<ItemView>,
    /// Items that were changed here and by others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<ConflictView>,
    /// Items in force that are not given to agents, such as orders that came over a link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<ItemView>,
}

#[derive(Serialize)]
struct ConflictView {
    here: MemoryItem,
    there: MemoryItem,
}

/// An item with what a person should know of it.
#[derive(Serialize)]
struct ItemView {
    #[serde(flatten)]
    item: MemoryItem,
    /// The memory of the work that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Why it is not given to agents although it may be approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<&'static str>,
}

impl ItemView {
    /// With what a model found in the memory that the item is.
    fn of(found: InboxItem, model_screening: Option<ModelScreening>) -> Self {
        let orders = suspicions(&Task {
            model_screening,
            ..found.as_task()
        });
        let withheld = orders.iter().find(|one| one.withholds());
        Self {
            withheld: withheld.map(|one| one.kind.reason()),
            task_id: found.task_id.map(|id| id.to_string()),
            item: found.item,
        }
    }
}

#[derive(Serialize)]
struct Answer {
    item: ItemView,
}

/// A decision of a person.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decision {
    Approve,
    Reject,
    Done,
    Edit,
}

/// The id of the memory that an accepted item is.
fn memory_id(found: &InboxItem) -> TaskId {
    TaskId::new(found.item.id.to_string())
}

pub(super) fn list(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let items = context.read(async |store| {
        let filter = ItemFilter {
            scope: Some(&scope),
            only_proposed: true,
            limit: MAX_PROPOSALS,
        };
        let proposals = store.items(&filter).await?;
        let filter = ItemFilter {
            only_proposed: false,
            limit: MAX_CHECKED,
            ..filter
        };
        let items = store.items(&filter).await?;
        let ids: Vec<TaskId> = items.iter().map(memory_id).collect();
        let mut screenings = HashMap::new();
        for memory in store.memories(&ids).await? {
            screenings.insert(memory.id, memory.model_screening);
        }
        let mut conflicts = Vec::new();
        for link in store.links().await? {
            let is_same =
                link.scope.project_remote.is_some() && link.scope.project_remote == scope.project_remote;
            if is_same || link.scope.project_path == scope.project_path {
                conflicts.extend(store.conflicts(&link.scope.project_path).await?);
            }
        }
        Ok((proposals, conflicts, items, screenings))
    })?;
    let (proposals, conflicts, items, mut screenings) = items.unwrap_or_default();
    let now = SystemClock.now();
    let in_force = items.into_iter().filter(|found| found.memory(now).is_some());
    let withheld: Vec<ItemView> = in_force
        .map(|found| {
            let screening = screenings.remove(&memory_id(&found)).flatten();
            ItemView::of(found, screening)
        })
        .filter(|view| view.withheld.is_some())
        .collect();
    let proposals: Vec<ItemView> = proposals
        .into_iter()
        .map(|found| ItemView::of(found, None))
        .collect();
    let conflicts = conflicts.into_iter().map(|conflict| ConflictView {
        here: conflict.here.item,
        there: conflict.there,
    });
    let conflicts: Vec<ConflictView> = conflicts.collect();
    let is_empty = proposals.is_empty();
    let has_conflicts = !conflicts.is_empty();
    let has_withheld = !withheld.is_empty();
    let inbox = Inbox {
        proposals,
        conflicts,
        withheld,
    };
    context.answer(inbox, inbox_text)?;
    if has_conflicts {
        note!("choose the words that hold with: grov memory settle ID --here | --there");
    }
    if has_withheld {
        note!(
            "reword what is withheld with `grov memory edit ID --content TEXT`, or delete it with `grov memory forget ID`"
        );
    }
    if !is_empty {
        note!("decide with: grov memory approve ID | reject ID | edit ID --content TEXT");
    }
    Ok(ExitStatus::Success)
}

/// Decides about an item; `content` are the words to accept or to set instead.
pub(super) fn decide(context: &Context, id: &str, decision: Decision, content: Option<&str>) -> Outcome {
    let content = content.map(str::to_owned);
    if content
        .as_deref()
        .is_some_and(|content| content.trim().is_empty())
    {
        return Err(Failure::usage(
            "the content is empty; to drop a proposal use `grov memory reject ID`",
        ));
    }
    let change = match decision {
        Decision::Approve => MemoryChange::Approve { content },
        Decision::Reject => MemoryChange::Reject { reason: None },
        Decision::Done => MemoryChange::Done,
        Decision::Edit => MemoryChange::Edit {
            content,
            expires_at: None,
        },
    };
    let change = Redactor::shared().clean(change);
    let user = Redactor::shared().text(&user(context));
    let changed = context.write(async |store| {
        let found = find(store, id).await?;
        let now = SystemClock.now();
        match store.change_item(found.item.id, &change, &user, now).await? {
            Changed::Done(item) => Ok(*item),
            Changed::Refused(refused) => Err(Failure::negative("refused", refused.to_string())),
            Changed::Unknown => Err(unknown(id)),
        }
    })?;
    let item = ItemView::of(changed.ok_or_else(|| unknown(id))?, None);
    link_worker::start(context);
    if let (Some(reason), Decision::Approve) = (item.withheld, decision) {
        note!(
            "accepted, but withheld from agents, because it {reason}; reword it with `grov memory edit ID --content TEXT`"
        );
    }
    context.answer(Answer { item }, move |answer, style| {
        decided_text(answer, decision, style)
    })
}

/// Settles a conflict with the words of this machine, or with those of the service.
pub(super) fn settle(context: &Context, id: &str, keep_here: bool) -> Outcome {
    let settled = context.write(async |store| {
        let found = find(store, id).await?;
        let is_settled = store
            .settle_conflict(found.item.id, keep_here, SystemClock.now())
            .await?;
        let item = store.item(found.item.id).await?;
        Ok(item.filter(|_| is_settled))
    })?;
    let Some(item) = settled.flatten() else {
        let message = format!("no conflict about the item {:?}", one_line(id));
        return Err(Failure::negative("no_conflict", message));
    };
    link_worker::start(context);
    let item = ItemView::of(item, None);
    context.answer(Answer { item }, |answer, style| {
        let content = truncated(&one_line(&answer.item.item.content), MAX_TEXT);
        format!(
            "settled {}: {content}\n",
            style.bold(&short_item_id(answer.item.item.id))
        )
    })
}

/// Finds an item by its id, or a unique prefix or suffix of it.
async fn find(store: &dyn StoreConnection, id: &str) -> Result<InboxItem, Failure> {
    match find_item(store, id).await? {
        Lookup::Found(item) => Ok(item),
        Lookup::NotFound => Err(unknown(id)),
        Lookup::Ambiguous(items) => {
            let listed = items.iter().map(|one| {
                format!(
                    "{}  {}",
                    one.item.id,
                    truncated(&one_line(&one.item.content), MAX_TEXT)
                )
            });
            Err(Failure::ambiguous(id, "memory items", listed))
        }
    }
}

fn unknown(id: &str) -> Failure {
    Failure::negative("unknown_item", format!("no memory item {:?}", one_line(id)))
        .hint("`grov memory inbox` lists the proposals of this project")
}

/// Who decides: the git user, as far as the settings allow.
fn user(context: &Context) -> String {
    let place = context.directory().map(ProjectLocation::locate);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let user = place.map(|place| place.user(home.as_deref()));
    let name = user.and_then(|user| match context.settings.user() {
        UserMode::Plain if user.is_unknown() => None,
        UserMode::Plain => Some(user.to_string()),
        UserMode::Hash => hash_user(&user),
        UserMode::Off => None,
    });
    name.unwrap_or_else(|| "somebody on this machine".to_owned())
}

fn kind(kind: MemoryType) -> &'static str {
    match kind {
        MemoryType::OpenLoop => "open end",
        other => other.as_str(),
    }
}

fn inbox_text(inbox: &Inbox, style: Style) -> String {
    let now = SystemClock.now();
    let mut text = String::new();
    for view in &inbox.proposals {
        let item = &view.item;
        text.push_str(&format!(
            "{}  {}, {}\n  {}\n",
            style.bold(&short_item_id(item.id)),
            kind(item.kind),
            ago(item.created_at, now),
            truncated(&one_line(&item.content), MAX_TEXT),
        ));
        for evidence in item.evidence.iter().filter(|one| one.quote != item.content) {
            let quote = truncated(&one_line(&evidence.quote), MAX_TEXT);
            text.push_str(&format!("  said: {}\n", style.faint(&format!("\"{quote}\""))));
        }
        if let Some(reason) = view.withheld {
            text.push_str(&format!(
                "  {}\n",
                style.red(&format!("withheld from agents: it {reason}"))
            ));
        }
    }
    for view in &inbox.withheld {
        let item = &view.item;
        text.push_str(&format!(
            "{}  {}, accepted by {}\n  {}\n  {}\n",
            style.bold(&short_item_id(item.id)),
            kind(item.kind),
            one_line(item.decided_by.as_deref().unwrap_or("somebody")),
            truncated(&one_line(&item.content), MAX_TEXT),
            style.red(&format!(
                "withheld from agents: it {}",
                view.withheld.unwrap_or_default()
            )),
        ));
    }
    for ConflictView { here, there } in &inbox.conflicts {
        let content = |item: &MemoryItem| truncated(&one_line(&item.content), MAX_TEXT);
        text.push_str(&format!(
            "{}  {}, changed on both sides\n  here: {}\n  there: {} ({}, {})\n",
            style.bold(&short_item_id(here.id)),
            kind(here.kind),
            content(here),
            content(there),
            there.status.as_str(),
            one_line(there.decided_by.as_deref().unwrap_or("somebody")),
        ));
    }
    let waiting = inbox.proposals.len() as u64;
    text + &match waiting {
        0 => "no proposals\n".to_owned(),
        1 => "1 proposal waits\n".to_owned(),
        several => format!("{} wait\n", plural(several, "proposal", "proposals")),
    }
}

fn decided_text(answer: &Answer, decision: Decision, style: Style) -> String {
    let item = &answer.item.item;
    let done = match decision {
        Decision::Approve => "approved",
        Decision::Reject => "rejected",
        Decision::Done => "done",
        Decision::Edit => "changed",
    };
    let content = truncated(&one_line(&item.content), MAX_TEXT);
    format!("{done} {}: {content}\n", style.bold(&short_item_id(item.id)))
}
