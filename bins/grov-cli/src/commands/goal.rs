//! `grov goal …`: what the agent is held to.

mod glob;
mod show;
mod whose;

use crate::arguments::{Common, GoalArguments, GoalCommand};
use crate::chosen;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use glob::{Here, normalised};
use grov_domain::{Clock, GoalEdit, GoalEditId, GoalEditKind, SystemClock};
use grov_redact::Redactor;
use serde::Serialize;
use time::OffsetDateTime;

/// More is a document, not a goal.
const LONGEST: usize = 2000;

/// What was changed.
#[derive(Serialize)]
struct Answer {
    client_session_id: String,
    /// `set`, `allow`, `forbid` or `constraint`.
    kind: &'static str,
    /// As it is kept: globs as seen from the top of the project.
    text: String,
    #[serde(with = "time::serde::rfc3339")]
    at: OffsetDateTime,
}

pub(crate) fn run(common: &Common, arguments: &GoalArguments, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let (kind, text) = match &arguments.command {
        GoalCommand::Show => return show::run(&context, arguments.session.as_deref(), terminal),
        GoalCommand::Set { text } => (GoalEditKind::Set, words(text, "goal")?),
        GoalCommand::Constraint { text } => (GoalEditKind::Constraint, words(text, "constraint")?),
        GoalCommand::Allow { glob } => (GoalEditKind::Allow, glob_of(&context, glob)?),
        GoalCommand::Forbid { glob } => (GoalEditKind::Forbid, glob_of(&context, glob)?),
    };
    let wanted = arguments.session.clone();
    let project = context.project()?.key().to_owned();
    let edit = context
        .write(async |store| {
            let edit = GoalEdit {
                id: GoalEditId::fresh(),
                client_session_id: whose::session(store, wanted.as_deref(), &project).await?,
                kind,
                text,
                at: SystemClock.now(),
            };
            let edit = Redactor::shared().clean(edit);
            store.edit_goal(&edit).await?;
            Ok(edit.into_inner())
        })?
        .ok_or_else(|| chosen::none(arguments.session.as_deref()))?;
    let answer = Answer {
        client_session_id: edit.client_session_id.to_string(),
        kind: edit.kind.as_str(),
        text: edit.text,
        at: edit.at,
    };
    terminal.answer(answer, text_of)?;
    say("hooks notice at once, a running grov-proxyd within about a second");
    Ok(Verdict::Found)
}

/// The words of a goal or a constraint.
fn words(words: &[String], what: &str) -> Result<String, Failure> {
    let text = words.join(" ").trim().to_owned();
    match text.chars().count() {
        0 => Err(Failure::usage(format!("the {what} must say something"))),
        1..=LONGEST => Ok(text),
        long => Err(Failure::usage(format!(
            "the {what} must be at most {LONGEST} characters long, but has {long}"
        ))),
    }
}

fn glob_of(context: &Context, typed: &str) -> Result<String, Failure> {
    let directory = context.directory().and_then(|path| path.canonicalize().ok());
    let top = context.top().map(|path| path.canonicalize().unwrap_or(path));
    let here = Here {
        directory: directory.as_deref(),
        top: top.as_deref(),
    };
    normalised(typed, here).map_err(|wrong| Failure::usage(format!("{:?} {wrong}", harmless(typed))))
}

fn text_of(answer: &Answer, style: Style) -> String {
    let session = harmless(&answer.client_session_id);
    let text = style.bold(&harmless(&answer.text));
    match answer.kind {
        "set" => format!("the goal of session {session} is: {text}\n"),
        "allow" => format!("session {session} may change {text}, whatever the rules say\n"),
        "forbid" => format!("session {session} may not change {text}\n"),
        _ => format!("session {session} has to keep to: {text}\n"),
    }
}
