//! The inbox: memory items of a developer's projects, and the port to them.
//!
//! An item in force is also a memory ([`InboxItem::memory`]), so that it is found, ranked, withheld and forgotten like the
//! record of a task.

use crate::{
    ChangeRefused, Decision, MemoryChange, MemoryItem, MemoryItemId, MemoryScope, MemoryType, ProjectId,
    Statement, StoreError, Task, TaskId,
};
use async_trait::async_trait;
use grov_redact::{FreeText, Redacted};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// The most items that one task proposes.
pub const MAX_PROPOSALS: usize = 3;

/// How often a session start mentions waiting proposals of a project.
pub const NOTICE_INTERVAL: Duration = Duration::days(1);

/// A memory item of a project on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxItem {
    /// The item. Its project id is [`local_project_id`] of the scope.
    pub item: MemoryItem,
    /// The project.
    pub scope: MemoryScope,
    /// The memory of the work that it comes from, if it comes from a session on this machine.
    pub task_id: Option<TaskId>,
}

impl FreeText for InboxItem {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            item,
            scope: _,
            task_id: _,
        } = self;
        item.each_text(visit);
    }
}

impl InboxItem {
    /// Returns the item as a memory; `None` unless it is in force at `now` and was decided by a person. The memory has no end: the
    /// store stops finding it when the item's comes.
    pub fn memory(&self, now: OffsetDateTime) -> Option<Task> {
        let item = &self.item;
        (!item.kind.is_accepted_at_once() && item.is_in_force(now)).then(|| self.as_task())
    }

    /// Returns the item in the form of a memory, whatever its state: for rules that read memories.
    pub fn as_task(&self) -> Task {
        let item = &self.item;
        Task {
            project_remote: self.scope.project_remote.clone(),
            user: item.decided_by.clone(),
            goal: Some(item.content.clone()),
            reasoning_trace: item.evidence.iter().map(|one| one.quote.clone()).collect(),
            tags: vec![item.kind.as_str().to_owned()],
            parent_task_id: self.task_id.clone(),
            item: Some(item.kind),
            created_at: item.updated_at,
            ..Task::new(&item.id.to_string(), &self.scope.project_path, &item.content)
        }
    }
}

/// The id of a project on this machine in memory items: the same on all machines for projects with the same remote.
pub fn local_project_id(scope: &MemoryScope) -> ProjectId {
    let remote = scope
        .project_remote
        .as_deref()
        .filter(|remote| !remote.is_empty());
    let key = remote.unwrap_or(&scope.project_path);
    ProjectId::of(derived_uuid(&format!("grov:project:{key}")))
}

/// The id of an item that says this in a project. It is derived, so that the same is not proposed twice, on any machine. The
/// content has to be redacted.
pub fn derived_item_id(project: ProjectId, kind: MemoryType, content: &str) -> MemoryItemId {
    let words = crate::words(content, 400).join(" ");
    let name = format!("grov:item:{project}:{kind}:{words}");
    MemoryItemId::of(derived_uuid(&name))
}

/// A version 8 UUID: the first bits of a SHA-256.
fn derived_uuid(name: &str) -> Uuid {
    let hash: [u8; 32] = Sha256::digest(name).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The items that a task proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProposals {
    /// The id of the finished task in the same transition.
    pub task: TaskId,
    /// At most [`MAX_PROPOSALS`] items. Proposals of the task that are not among them are withdrawn unless a person edited
    /// them.
    pub items: Vec<InboxItem>,
}

impl FreeText for TaskProposals {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self { task: _, items } = self;
        items.each_text(visit);
    }
}

/// What a task said, from which items are proposed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProposalMaterial<'a> {
    /// The prompts of the task, oldest first.
    pub prompts: &'a [String],
    /// Other texts of the task.
    pub statements: &'a [Statement],
    /// The agent's last text.
    pub answer: &'a str,
    /// The decisions of the task.
    pub decisions: &'a [Decision],
    /// Prompts and constraints of earlier tasks: a rule is repeated across tasks, too.
    pub earlier: &'a [String],
    /// Contents of items that exist already.
    pub known: &'a [String],
}

/// An item that a task proposes, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedItem {
    /// A rule, a decision or an open loop.
    pub kind: MemoryType,
    /// The words.
    pub content: String,
    /// The sentence of the user or the agent that it rests on.
    pub quote: String,
}

/// Selects items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemFilter<'a> {
    /// The project.
    pub scope: Option<&'a MemoryScope>,
    /// Only proposals.
    pub only_proposed: bool,
    /// Maximum number, newest first.
    pub limit: u32,
}

/// The result of a change of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It was changed.
    Done(Box<InboxItem>),
    /// Nothing was changed.
    Refused(ChangeRefused),
    /// There is no such item.
    Unknown,
}

/// The most proposals of a project that wait without having come from a finished task.
pub const MAX_WAITING: usize = 50;

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalOutcome {
    /// It waits for a person.
    Proposed,
    /// It waits already, or a person decided about it or forgot it.
    Known,
    /// [`MAX_WAITING`] proposals of the project wait.
    Full,
}

/// Stores memory items.
#[async_trait]
pub trait ItemStore: Send + Sync {
    /// Returns items, newest first.
    async fn items(&self, filter: &ItemFilter<'_>) -> Result<Vec<InboxItem>, StoreError>;
    /// Returns an item.
    async fn item(&self, id: MemoryItemId) -> Result<Option<InboxItem>, StoreError>;
    /// Returns at most `limit` ids of items that start or end with `part`, sorted.
    async fn item_ids_like(&self, part: &str, limit: u32) -> Result<Vec<MemoryItemId>, StoreError>;
    /// Adds a proposal that does not come from a finished task. What a person decided about or forgot is not proposed again.
    async fn propose_item(&self, item: &Redacted<InboxItem>) -> Result<ProposalOutcome, StoreError>;
    /// Changes an item, and with it the memory that it is while it is in force, in one transaction.
    async fn change_item(
        &self,
        id: MemoryItemId,
        change: &Redacted<MemoryChange>,
        decided_by: &Redacted<String>,
        now: OffsetDateTime,
    ) -> Result<Changed, StoreError>;
    /// Returns the number of proposals of a project if somebody should be told: there are some, and nobody was told for
    /// [`NOTICE_INTERVAL`]. Later calls within that time return `None`. One indexed query if there are none.
    async fn due_notice(&self, scope: &MemoryScope, now: OffsetDateTime) -> Result<Option<u64>, StoreError>;
}
