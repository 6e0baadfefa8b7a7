//! `grov goal show`

use crate::assembly;
use crate::context::Context;
use crate::format::when;
use crate::output::{Outcome, Style};
use crate::session;
use crate::table::{Fields, one_line, truncated};
use grov_query::{ActiveConstraints, GoalView};

/// Maximum characters of a line.
const MAX_LINE: usize = 160;

pub(super) fn run(context: &Context, session: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let answer = context.read(async |store| {
        let found = session::resolve(store, session, &project).await?;
        let task = found.task().ok_or_else(|| session::not_found(session))?;
        let active = ActiveConstraints::load(store, assembly::intent_reader(), task, None).await?;
        Ok(GoalView::of(task, &active))
    })?;
    context.answer(answer.ok_or_else(|| session::not_found(session))?, text)
}

fn text(answer: &GoalView, style: Style) -> String {
    let session = style.id(&one_line(&answer.client_session_id));
    let heading = format!("session {session} ({}, {})", answer.status, answer.session_mode);
    let mut fields = Fields::new(11, usize::MAX, style);
    let mut add = |name: &str, value: &str, origin: &str| {
        let value = truncated(&one_line(value), MAX_LINE);
        fields.add_noted(name, &value, origin, style);
    };
    if answer.contract.goal.is_empty() {
        add("goal", "unknown", "`grov goal set TEXT` sets it");
    }
    for origin in answer.origins.iter().filter(|origin| origin.part != "keyword") {
        add(
            origin.part,
            &origin.text,
            &format!("{}, {}", origin.from, when(origin.at, style)),
        );
        if origin.part == "goal" && !answer.newest_instruction.is_empty() && !answer.contract.is_goal_newest {
            add("asked last", &answer.newest_instruction, "");
        }
    }
    if !answer.contract.keywords.is_empty() {
        add("keywords", &answer.contract.keywords.join(", "), "task");
    }
    format!("{}\n{}", style.faint(&heading), fields.into_text())
}
