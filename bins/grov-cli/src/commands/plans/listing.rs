//! `grov plans list`, and plans as they are shown.

use super::Place;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::Table;
use grov_plans::{PlanDir, PlanError, PlanState, Switch, states};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    plans: Vec<PlanView>,
}

/// A plan.
#[derive(Serialize)]
pub(super) struct PlanView {
    pub(super) branch: String,
    dir: String,
    /// `draft`, `validating` or `approved`; `None` without a `plan.md`.
    pub(super) status: Option<&'static str>,
    /// Who set the status, and when.
    pub(super) status_note: Option<String>,
    pub(super) queries: usize,
    pub(super) files: usize,
    /// Lines of both lists that could not be used.
    skipped_lines: usize,
    pub(super) merged: bool,
    pub(super) gone: bool,
    checked_out: bool,
    renamed_to: Option<String>,
}

impl PlanView {
    pub(super) fn of(state: &PlanState) -> Result<Self, PlanError> {
        let view = Self::of_directory(&state.plan, state.branch.to_string())?;
        Ok(Self {
            merged: state.merged,
            gone: state.gone,
            checked_out: state.checked_out,
            renamed_to: state.renamed_to.as_ref().map(ToString::to_string),
            ..view
        })
    }

    /// A plan that was not compared with the branches.
    pub(super) fn of_directory(plan: &PlanDir, branch: String) -> Result<Self, PlanError> {
        let (status, status_note) = plan.status()?.unzip();
        let (queries, files) = (plan.queries()?, plan.mentioned_files()?);
        Ok(Self {
            branch,
            dir: plan.path().to_string_lossy().into_owned(),
            status: status.map(grov_plans::Status::word),
            status_note: status_note.flatten(),
            queries: queries.items.len(),
            files: files.items.len(),
            skipped_lines: queries.skipped + files.skipped,
            merged: false,
            gone: false,
            checked_out: false,
            renamed_to: None,
        })
    }

    fn state(&self) -> String {
        let words = [
            (self.checked_out, "checked out"),
            (self.merged, "merged"),
            (self.gone, "branch deleted"),
        ];
        let mut words: Vec<String> = words
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, word)| word.to_owned())
            .collect();
        words.extend(self.renamed_to.as_ref().map(|name| format!("renamed to {name}")));
        words.join(", ")
    }
}

pub(super) fn list(context: &Context) -> Outcome {
    let place = Place::of(context)?;
    let states = states(&place.git())?;
    for fault in &states.faults {
        note!("warning: {fault}; {}", fault.hint());
    }
    let plans = views(&states.plans)?;
    let is_on = Switch::of(context.home.root()).is_on(place.location.root())?;
    context.answer(Answer { plans }, |answer, style| {
        if answer.plans.is_empty() && is_on {
            return "no plans; plans are on, and the next prompt starts one for its branch\n".to_owned();
        }
        text(&answer.plans, style)
    })
}

/// The plans; one that cannot be read is reported.
pub(super) fn views(states: &[PlanState]) -> Result<Vec<PlanView>, Failure> {
    let mut views = Vec::new();
    for state in states {
        match PlanView::of(state) {
            Ok(view) => views.push(view),
            Err(error) => note!("warning: {error}; {}", error.hint()),
        }
    }
    Ok(views)
}

pub(super) fn text(plans: &[PlanView], style: Style) -> String {
    if plans.is_empty() {
        return "no plans; `grov plans on` keeps one for each branch\n".to_owned();
    }
    let mut table = Table::new("BRANCH~, STATUS, PROMPTS#, FILES#, STATE~");
    for plan in plans {
        table.row([
            plan.branch.clone(),
            plan.status.unwrap_or("no plan.md").to_owned(),
            plan.queries.to_string(),
            plan.files.to_string(),
            plan.state(),
        ]);
    }
    table.render(style)
}
