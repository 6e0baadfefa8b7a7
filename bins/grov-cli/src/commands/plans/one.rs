//! `grov plans show`, `status`, `approve`, `archive`

use super::Place;
use super::listing::{PlanView, text as table};
use crate::arguments::{ApproveArguments, BranchArguments};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::{Fields, one_line};
use grov_plans::{Archived, Branch, PlanDir, PlanError, Query, Status, Switch, archive_by_hand, states};
use grov_runtime::Environment;
use serde::Serialize;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// The maximum number of characters of a prompt in a list.
const MAX_PROMPT: usize = 200;

#[derive(Serialize)]
struct ShowAnswer {
    /// The plan alone.
    plans: [PlanView; 1],
    text: Option<String>,
    prompts: Vec<Query>,
    paths: Vec<PathBuf>,
    /// Whether one of both lists was too long to be read to its end.
    cut: bool,
}

#[derive(Serialize)]
struct StatusAnswer {
    /// Whether plans are on for the project.
    on: bool,
    branch: String,
    /// The plan of the branch, if it has one.
    plans: Vec<PlanView>,
}

#[derive(Serialize)]
struct ApproveAnswer {
    plans: [PlanView; 1],
    changed: bool,
}

#[derive(Serialize)]
struct ArchiveAnswer {
    /// The new directory.
    dir: String,
    #[serde(flatten)]
    archived: Archived,
}

pub(super) fn show(context: &Context, arguments: &BranchArguments) -> Outcome {
    let place = Place::of(context)?;
    let branch = place.branch(arguments.branch.as_deref())?;
    let plan = find(&place, &branch)?;
    let (queries, files) = (plan.queries()?, plan.mentioned_files()?);
    let answer = ShowAnswer {
        plans: [view(&place, &plan, &branch)?],
        text: plan.text()?,
        cut: queries.is_cut || files.is_cut,
        prompts: queries.items,
        paths: files.items,
    };
    context.answer(answer, show_text)
}

pub(super) fn status(context: &Context, arguments: &BranchArguments) -> Outcome {
    let place = Place::of(context)?;
    let branch = place.branch(arguments.branch.as_deref())?;
    let plan = match PlanDir::find(&place.tree, &branch)? {
        Some(plan) => Some(view(&place, &plan, &branch)?),
        // A name that is given must have a plan; the checked-out branch need not have one yet.
        None if arguments.branch.is_some() => return Err(no_plan(&branch).into()),
        None => None,
    };
    let answer = StatusAnswer {
        on: Switch::of(context.home.root()).is_on(place.location.root())?,
        branch: branch.to_string(),
        plans: plan.into_iter().collect(),
    };
    context.answer(answer, status_text)
}

pub(super) fn approve(context: &Context, arguments: &ApproveArguments) -> Outcome {
    let place = Place::of(context)?;
    let branch = place.branch(arguments.branch.as_deref())?;
    let plan = find(&place, &branch)?;
    let by = match &arguments.by {
        Some(name) => name.clone(),
        None => git_user(&place)?,
    };
    let before = plan.status()?;
    if before.is_some_and(|(status, _)| status == Status::Draft) {
        note!("the plan was not validated yet");
    }
    let changed = plan
        .plan_file()?
        .set_status(Status::Approved, &by, OffsetDateTime::now_utc())?;
    let answer = ApproveAnswer {
        plans: [PlanView::of_directory(&plan, branch.to_string())?],
        changed,
    };
    context.answer(answer, |answer, style| table(&answer.plans, style))
}

pub(super) fn archive(context: &Context, arguments: &BranchArguments) -> Outcome {
    let place = Place::of(context)?;
    let branch = place.branch(arguments.branch.as_deref())?;
    let (path, archived) = archive_by_hand(&place.git(), &branch, OffsetDateTime::now_utc())?;
    let answer = ArchiveAnswer {
        dir: path.to_string_lossy().into_owned(),
        archived,
    };
    context.answer(answer, |answer, style| {
        format!("archived as {}\n", style.bold(&one_line(&answer.dir)))
    })
}

fn find(place: &Place, branch: &Branch) -> Result<PlanDir, PlanError> {
    PlanDir::find(&place.tree, branch)?.ok_or_else(|| no_plan(branch))
}

fn no_plan(branch: &Branch) -> PlanError {
    PlanError::NoPlan {
        branch: branch.to_string(),
    }
}

/// The plan, compared with the branches if git can be run.
fn view(place: &Place, plan: &PlanDir, branch: &Branch) -> Result<PlanView, PlanError> {
    let compared = match states(&place.git()) {
        Ok(states) => states.plans,
        Err(error) => {
            note!("warning: {error}; {}", error.hint());
            Vec::new()
        }
    };
    match compared.iter().find(|state| state.plan.path() == plan.path()) {
        Some(state) => PlanView::of(state),
        None => PlanView::of_directory(plan, branch.to_string()),
    }
}

/// The name of the git user.
fn git_user(place: &Place) -> Result<String, Failure> {
    let environment = Environment::of_process();
    let home = environment.get("HOME").map(Path::new);
    let user = place.location.user(home);
    user.name.or(user.email).ok_or_else(|| {
        Failure::error(
            "user",
            "git has no user name, so nobody can be named as the one who approves",
        )
        .hint("name somebody with --by NAME, or set user.name in git")
    })
}

fn show_text(answer: &ShowAnswer, style: Style) -> String {
    let mut text = answer
        .text
        .clone()
        .unwrap_or_else(|| "there is no plan.md yet\n".to_owned());
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&table(&answer.plans, style));
    let mut fields = Fields::new(8, MAX_PROMPT, style);
    fields.add_all("prompt", answer.prompts.iter().map(|query| &query.prompt));
    fields.add_all("file", answer.paths.iter().map(|path| path.to_string_lossy()));
    text + &fields.into_text()
}

fn status_text(answer: &StatusAnswer, style: Style) -> String {
    let switch = if answer.on { "on" } else { "off" };
    let mut text = format!("plans are {switch} for this project\n");
    match answer.plans.as_slice() {
        [] => text.push_str(&format!(
            "{} has no plan yet\n",
            style.bold(&one_line(&answer.branch))
        )),
        plans => text.push_str(&table(plans, style)),
    }
    if let Some(note) = answer.plans.first().and_then(|plan| plan.status_note.as_ref()) {
        text.push_str(&format!("status set by {}\n", one_line(note)));
    }
    text
}
