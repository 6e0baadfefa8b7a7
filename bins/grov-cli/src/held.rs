//! What an agent is held to: what its task knows, and what a person changed of it.

use grov_domain::{
    ClientSessionId, GoalContract, GoalEdit, GoalEditKind, GoalStore, Intent, IntentQuestion,
    OrchestrationStore, SessionState, StoreError, without_own_text,
};
use grov_llm::offline::extract_intent;
use grov_store::SqliteStore;
use time::OffsetDateTime;

/// What the agent is held to in a task.
pub(crate) struct Held {
    pub(crate) contract: GoalContract,
    /// What a person changed, oldest first.
    edits: Vec<GoalEdit>,
}

impl Held {
    /// As it was at `until`, or as it is now.
    pub(crate) async fn of(
        store: &SqliteStore,
        task: &SessionState,
        until: Option<OffsetDateTime>,
    ) -> Result<Self, StoreError> {
        let edits = edits(store, &task.client_session_id, until).await?;
        let prompts = store.prompts(&task.session_id, until).await?;
        let instructions = prompts
            .iter()
            .map(|prompt| without_own_text(&prompt.text).trim().to_owned())
            .filter(|text| !text.is_empty());
        let instructions: Vec<String> = instructions.collect();
        let newest = intent(&instructions[instructions.len().saturating_sub(1)..]);
        let all = intent(&instructions);
        let goal = task.original_goal.clone().filter(|goal| !goal.is_empty());
        let contract = GoalContract {
            goal: goal.unwrap_or_else(|| all.goal.clone()),
            scope: joined([&newest.scope, &all.scope, &task.expected_scope]),
            constraints: joined([&newest.constraints, &all.constraints, &task.constraints]),
            keywords: joined([&newest.keywords, &all.keywords, &task.keywords]),
            instructions,
            ..GoalContract::default()
        };
        Ok(Self {
            contract: contract.with_edits(&edits),
            edits,
        })
    }

    /// The edit that a part of the contract comes from; `None` where it comes from the task.
    pub(crate) fn edit(&self, kind: GoalEditKind, text: &str) -> Option<&GoalEdit> {
        self.edits
            .iter()
            .rev()
            .find(|edit| edit.kind == kind && edit.text == text)
    }
}

/// What prompts ask for, by the rules that live sessions are read with.
fn intent(prompts: &[String]) -> Intent {
    extract_intent(&IntentQuestion {
        prompts: prompts.to_vec(),
        first_files: Vec::new(),
    })
}

fn joined(lists: [&Vec<String>; 3]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for entry in lists.into_iter().flatten() {
        if !joined.contains(entry) {
            joined.push(entry.clone());
        }
    }
    joined
}

async fn edits(
    store: &SqliteStore,
    session: &ClientSessionId,
    until: Option<OffsetDateTime>,
) -> Result<Vec<GoalEdit>, StoreError> {
    let mut edits = store.goal_edits(session).await?;
    edits.retain(|edit| until.is_none_or(|until| edit.at <= until));
    Ok(edits)
}
