//! Sessions that go through the proxy: what it recorded of them.

use crate::call::Call;
use crate::following::{Whose, last, reader};
use crate::services::BRIEF;
use grov_domain::{
    ActionSketch, GoalContract, OFF_GOAL_BELOW, SessionDigest, StepRow, StoreError, SummaryQuestion, in_work,
};
use grov_hooks::capture::relative;
use grov_hooks::memory::is_off;
use grov_project::{GrovIgnore, Place};
use grov_query::Held;
use std::path::Path;

/// What the session is held to and where it stands; `None` where Grov is to be silent or knows nothing.
pub(crate) async fn standing(
    call: &Call<'_>,
    whose: &Whose,
) -> Result<Option<(GoalContract, SessionDigest)>, StoreError> {
    let Some(store) = call.services.existing_store(Some(BRIEF)).await? else {
        return Ok(None);
    };
    let place = Place::locate(&whose.directory);
    let id = whose.id();
    if is_off(&*store, place.project().key(), Some(&id)).await? {
        return Ok(None);
    }
    let tasks = store.client_session(&id).await?;
    let Some(task) = in_work(tasks.iter().map(|task| &task.state)) else {
        return Ok(None);
    };
    let contract = Held::of(&*store, reader(&call.services.intents()), task, None)
        .await?
        .contract;
    let steps = store.steps(&task.session_id).await?;
    let root = place.work_tree().unwrap_or(&whose.directory);
    let ignore = GrovIgnore::at(&place);
    let on_goal = steps.iter().filter(|step| {
        step.drift_score.is_none_or(|score| score >= OFF_GOAL_BELOW)
            && !step.files.iter().any(|file| ignore.ignores(file))
    });
    let question = SummaryQuestion {
        goal: contract.goal.clone(),
        constraints: contract.constraints.clone(),
        prompts: contract.instructions.clone(),
        actions: on_goal.map(|step| sketch(step, root)).collect(),
        answer: last(whose.transcript.as_deref()).answer,
    };
    Ok(Some((contract, call.services.summary(&question))))
}

fn sketch(step: &StepRow, root: &Path) -> ActionSketch {
    ActionSketch {
        files: step.files.iter().map(|file| relative(file, root)).collect(),
        command: step.command.clone(),
        effects: step.effects.iter().map(|effect| effect.kind).collect(),
        reasoning: step.reasoning.clone(),
        ..ActionSketch::empty(step.action_type)
    }
}
