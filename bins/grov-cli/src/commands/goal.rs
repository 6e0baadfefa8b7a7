//! `grov goal …`: the goal contract.

mod glob;
mod show;

use crate::arguments::{GoalArguments, GoalCommand};
use crate::assembly;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::session;
use crate::table::one_line;
use grov_domain::{Clock, GoalEdit, GoalEditId, GoalEditKind, SystemClock};
use grov_query::ActiveConstraints;
use grov_redact::Redactor;

/// Maximum characters of a goal or a constraint.
const MAX_TEXT: usize = 2000;

pub(crate) fn run(context: &Context, arguments: &GoalArguments) -> Outcome {
    let session = arguments.session.as_deref();
    let (kind, text) = match &arguments.command {
        GoalCommand::Show => return show::run(context, session),
        GoalCommand::Set { text } => (GoalEditKind::Set, joined(text, "goal")?),
        GoalCommand::Constraint { text } => (GoalEditKind::Constraint, joined(text, "constraint")?),
        GoalCommand::Allow { glob } => (GoalEditKind::Allow, glob_of(context, glob)?),
        GoalCommand::Forbid { glob } => (GoalEditKind::Forbid, glob_of(context, glob)?),
    };
    let project = context.project()?.key().to_owned();
    let edit = context.write(async |store| {
        let found = session::resolve(store, session, &project).await?;
        let since_prompt = match found.task() {
            Some(task) => {
                let active = ActiveConstraints::load(store, assembly::intent_reader(), task, None).await?;
                Some(active.contract.newest_prompt())
            }
            None => None,
        };
        let is_ended = found.has_ended();
        let edit = Redactor::shared().clean(GoalEdit {
            id: GoalEditId::fresh(),
            client_session_id: found.id,
            kind,
            text,
            at: SystemClock.now(),
            since_prompt,
        });
        store.edit_goal(&edit).await?;
        Ok((edit.into_inner(), is_ended))
    })?;
    let (edit, is_ended) = edit.ok_or_else(|| session::not_found(session))?;
    context.answer(edit, text_of)?;
    if is_ended {
        note!("this session has ended: it applies if the session is resumed, and not to the next session");
    } else {
        note!("hooks apply this at once, a running grov-proxyd within a second");
    }
    Ok(ExitStatus::Success)
}

/// Joins the words of a goal or a constraint.
fn joined(words: &[String], what: &str) -> Result<String, Failure> {
    let text = words.join(" ").trim().to_owned();
    match text.chars().count() {
        0 => Err(Failure::usage(format!("the {what} must not be empty"))),
        1..=MAX_TEXT => Ok(text),
        length => Err(Failure::usage(format!(
            "the {what} must be at most {MAX_TEXT} characters long, but has {length}"
        ))),
    }
}

fn glob_of(context: &Context, typed: &str) -> Result<String, Failure> {
    let directory = context.directory().and_then(|path| path.canonicalize().ok());
    let top = context.top().map(|path| path.canonicalize().unwrap_or(path));
    glob::relative_to_top(typed, directory.as_deref(), top.as_deref())
        .map_err(|problem| Failure::usage(format!("{:?} {problem}", one_line(typed))))
}

fn text_of(edit: &GoalEdit, style: Style) -> String {
    let session = one_line(edit.client_session_id.as_str());
    let text = style.bold(&one_line(&edit.text));
    match edit.kind {
        GoalEditKind::Set => format!("goal of session {session}: {text}\n"),
        GoalEditKind::Allow => {
            format!("session {session} may change {text}, even if the rules would object\n")
        }
        GoalEditKind::Forbid => format!("session {session} must not change {text}\n"),
        GoalEditKind::Constraint => format!("session {session} must keep to: {text}\n"),
    }
}
