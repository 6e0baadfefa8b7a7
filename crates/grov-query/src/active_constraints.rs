//! The active constraints of a task: its goal contract and contract edits.

use grov_domain::{
    ClientSessionId, GoalContract, GoalEdit, GoalEditKind, SessionState, Store, StoreError, without_own_text,
};
use grov_session::{GoalContractBuilder, IntentReader, instructions};
use time::OffsetDateTime;

/// The active constraints of a task.
pub struct ActiveConstraints {
    /// Goal, constraints, scope and instructions.
    pub contract: GoalContract,
    /// Contract edits, oldest first.
    edits: Vec<GoalEdit>,
}

impl ActiveConstraints {
    /// Loads the constraints as of `until`, or the current ones.
    pub async fn load(
        store: &dyn Store,
        reader: IntentReader,
        task: &SessionState,
        until: Option<OffsetDateTime>,
    ) -> Result<Self, StoreError> {
        let edits = edits(store, &task.client_session_id, until).await?;
        let prompts = store.prompts(&task.session_id, until).await?;
        let prompts: Vec<String> = prompts
            .iter()
            .map(|prompt| without_own_text(&prompt.text).into_owned())
            .collect();
        // Without stored prompts, the session bypassed the proxy.
        if prompts.is_empty()
            && let Some(hook_sessions) = store.hook_session_summary(&task.client_session_id).await?
        {
            return Ok(Self {
                contract: hook_sessions.contract.with_edits(&edits),
                edits,
            });
        }
        let prompts = instructions(&reader, &prompts);
        let mut builder = GoalContractBuilder::new(reader);
        builder.resume(task.intent(), prompts);
        builder.set_edits(edits.clone());
        Ok(Self {
            contract: builder.contract().clone(),
            edits,
        })
    }

    /// Returns the edit that added a part of the contract; `None` if it comes from the task.
    pub fn edit(&self, kind: GoalEditKind, text: &str) -> Option<&GoalEdit> {
        self.edits
            .iter()
            .rev()
            .find(|edit| edit.kind == kind && edit.text == text)
    }
}

async fn edits(
    store: &dyn Store,
    session: &ClientSessionId,
    until: Option<OffsetDateTime>,
) -> Result<Vec<GoalEdit>, StoreError> {
    let mut edits = store.goal_edits(session).await?;
    edits.retain(|edit| until.is_none_or(|until| edit.at <= until));
    Ok(edits)
}
