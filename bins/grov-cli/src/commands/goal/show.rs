//! `grov goal show`

use crate::assembly;
use crate::chosen::{self, chosen};
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::ago;
use crate::table::{harmless, shortened};
use grov_domain::{Clock, SystemClock};
use grov_query::{ActiveConstraints, GoalView};
use std::fmt::Write;

/// Characters of one line.
const LINE: usize = 160;

pub(super) fn run(context: &Context, session: Option<&str>, terminal: Terminal) -> Outcome {
    let wanted = session.map(str::to_owned);
    let project = context.project()?.key().to_owned();
    let answer = context
        .read(async |store| {
            let chosen = chosen(store, wanted.as_deref(), &project).await?;
            let task = chosen.task().ok_or_else(|| chosen::none(wanted.as_deref()))?;
            let constraints = ActiveConstraints::load(store, assembly::intent_reader(), task, None).await?;
            Ok(GoalView::of(task, &constraints))
        })?
        .ok_or_else(|| chosen::none(session))?;
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

fn text(answer: &GoalView, style: Style) -> String {
    let now = SystemClock.now();
    let mut text = format!(
        "{}\n",
        style.faint(&format!(
            "session {} ({}, {})",
            harmless(&answer.client_session_id),
            answer.status,
            answer.session_mode
        ))
    );
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: &str, from: &str| {
        let words = shortened(&harmless(words), LINE);
        let _ = writeln!(text, "{name:<11} {words}  {}", style.faint(from));
    };
    if answer.goal.is_empty() {
        line("goal", "not known yet", "`grov goal set TEXT` says it");
    }
    let keywords: Vec<&str> = answer.keywords.iter().map(String::as_str).collect();
    for origin in answer.origins.iter().filter(|origin| origin.part != "keyword") {
        let from = format!("{}, {}", origin.from, ago(origin.at, now));
        line(origin.part, &origin.text, &from);
        if origin.part == "goal" && !answer.newest_instruction.is_empty() {
            line("asked last", &answer.newest_instruction, "");
        }
    }
    if !keywords.is_empty() {
        line("keywords", &keywords.join(", "), "task");
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}
