//! Reads from the records what a session is about.

use crate::assembly::DaemonStore;
use async_trait::async_trait;
use grov_domain::{ClientSessionId, SessionStore, Statement, StoreError, active_task};
use grov_live::{MaterialReader, SessionMaterial};
use grov_project::{GrovIgnore, ProjectLocation};
use grov_query::ActiveConstraints;
use grov_session::capture::{PerformedAction, TaskMaterial, prompts};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads the goal contract and the actions of the active task.
pub(crate) struct RecordedMaterial {
    store: Arc<DaemonStore>,
}

impl RecordedMaterial {
    pub(crate) fn new(store: Arc<DaemonStore>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl MaterialReader for RecordedMaterial {
    async fn material(
        &self,
        session: &ClientSessionId,
        mut closings: Vec<Statement>,
    ) -> Result<Option<SessionMaterial>, StoreError> {
        let tasks = self.store.client_session(session).await?;
        let Some(task) = active_task(tasks.iter().map(|task| &task.state)) else {
            return Ok(None);
        };
        let reader = Arc::new(grov_rules::extract_intent);
        let contract = ActiveConstraints::load(&*self.store, reader, task, None)
            .await?
            .contract;
        let steps = self.store.steps(&task.session_id).await?;
        let done: Vec<PerformedAction> = steps.iter().map(PerformedAction::from).collect();
        let directory = task
            .working_directory
            .clone()
            .unwrap_or_else(|| task.project_path.clone());
        let typed = prompts(contract.instructions.iter().map(String::as_str));
        let answer = closings.pop().map(|closing| closing.text).unwrap_or_default();
        let material = collect(PathBuf::from(directory), typed, done).await?;
        let question = material.with_statements(closings).summary_question(
            &contract.goal,
            &contract.constraints,
            &answer,
        );
        Ok(Some(SessionMaterial {
            task: Some(task.session_id.clone()),
            prompts: tasks.iter().map(|task| task.prompts).sum(),
            contract,
            question,
        }))
    }
}

/// Leaves out ignored files, which reads files of the project.
async fn collect(
    directory: PathBuf,
    typed: Vec<String>,
    done: Vec<PerformedAction>,
) -> Result<TaskMaterial, StoreError> {
    let collected = tokio::task::spawn_blocking(move || {
        let place = ProjectLocation::locate(&directory);
        let root: &Path = place.work_tree().unwrap_or(&directory);
        let ignore = GrovIgnore::at(&place);
        TaskMaterial::new(typed, done, Some(root), |file| ignore.ignores(file))
    });
    collected
        .await
        .map_err(|error| StoreError::Other(format!("cannot read the session's project: {error}")))
}
