//! Builds the memory items that a finished task proposes.

use grov_domain::{
    Evidence, EvidenceKind, InboxItem, MemoryItem, MemoryScope, MemoryStatus, ProposalMaterial, ProposedItem,
    ReasoningQuestion, Task, TaskProposals, derived_item_id, local_project_id,
};
use time::OffsetDateTime;

/// What is known of a project before a task proposes something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remembered<'a> {
    /// Tasks of the project.
    pub tasks: &'a [Task],
    /// Its memory items in any state.
    pub items: &'a [InboxItem],
}

/// Returns what a saved `task` proposes, whose texts are in `question`. `find` are the rules. The id of evidence is set by the
/// store.
pub fn task_proposals(
    task: &Task,
    question: &ReasoningQuestion,
    remembered: Remembered<'_>,
    find: impl Fn(&ProposalMaterial<'_>) -> Vec<ProposedItem>,
    at: OffsetDateTime,
) -> TaskProposals {
    let is_same_session = |other: &&Task| {
        other.client_session_id.is_some() && other.client_session_id == task.client_session_id
    };
    let others = remembered
        .tasks
        .iter()
        .filter(|other| !is_same_session(other) && other.item.is_none());
    let earlier: Vec<String> = others
        .flat_map(|other| other.constraints.iter().chain([&other.original_query]).cloned())
        .collect();
    let of_others = remembered
        .items
        .iter()
        .filter(|one| !is_of(one, task, remembered.tasks));
    let known: Vec<String> = of_others.map(|one| one.item.content.clone()).collect();
    let found = find(&ProposalMaterial {
        prompts: &question.prompts,
        statements: &question.statements,
        answer: &question.answer,
        decisions: &task.decisions,
        earlier: &earlier,
        known: &known,
    });
    let scope = MemoryScope {
        project_path: task.project_path.clone(),
        project_remote: task.project_remote.clone(),
    };
    TaskProposals {
        task: task.id.clone(),
        items: found.into_iter().map(|one| item(one, &scope, at)).collect(),
    }
}

/// Whether an item comes from this task, by its id or its session.
fn is_of(item: &InboxItem, task: &Task, tasks: &[Task]) -> bool {
    let Some(from) = &item.task_id else { return false };
    let is_source = |other: &&Task| other.id == *from;
    *from == task.id
        || tasks.iter().find(is_source).is_some_and(|source| {
            source.session_id.is_some()
                && source.session_id == task.session_id
                && source.client_session_id == task.client_session_id
        })
}

fn item(proposed: ProposedItem, scope: &MemoryScope, at: OffsetDateTime) -> InboxItem {
    let project_id = local_project_id(scope);
    let item = MemoryItem {
        id: derived_item_id(project_id, proposed.kind, &proposed.content),
        project_id,
        kind: proposed.kind,
        status: MemoryStatus::Proposed,
        content: proposed.content,
        evidence: vec![Evidence {
            kind: EvidenceKind::Task,
            id: String::new(),
            quote: proposed.quote,
        }],
        contradicts: Vec::new(),
        supersedes: None,
        superseded_by: None,
        expires_at: None,
        created_at: at,
        updated_at: at,
        decided_by: None,
        reason: None,
    };
    InboxItem {
        item,
        scope: scope.clone(),
        task_id: None,
    }
}
