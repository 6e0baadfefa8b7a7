//! `grov memory forget ID…`

mod cost;

use super::named::ambiguous;
use crate::arguments::ForgetArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Outcome, Style, Terminal, Verdict, say};
use crate::show::some;
use crate::table::harmless;
use cost::Cost;
use grov_domain::{Clock, MemoryStore, SystemClock, TaskId};
use grov_query::{Lookup, find_memory};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    forgotten: Vec<String>,
    /// With `dry_run`: those that are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_forget: Option<Vec<String>>,
    unknown: Vec<String>,
    #[serde(flatten)]
    cost: Cost,
}

/// What is to go.
#[derive(Default)]
struct Plan {
    known: Vec<TaskId>,
    unknown: Vec<String>,
    cost: Cost,
}

pub(super) fn run(context: &Context, arguments: &ForgetArguments, terminal: Terminal) -> Outcome {
    if terminal.wants_json() && !arguments.yes && !arguments.dry_run {
        return Err(Failure::usage(
            "forgetting cannot be undone, and with --json nobody is asked: add --yes, or --dry-run to see what it costs",
        ));
    }
    let ids = arguments.ids.clone();
    let plan = context.read(async |store| {
        let mut plan = Plan::default();
        for id in ids {
            match find_memory(store, &id).await? {
                Lookup::Found(task) if plan.known.contains(&task.id) => {}
                Lookup::Found(task) => plan.known.push(task.id),
                Lookup::NotFound => plan.unknown.push(id),
                Lookup::Ambiguous(tasks) => return Err(ambiguous(&id, &tasks)),
            }
        }
        plan.cost = Cost::of(store.uses(&plan.known).await?, SystemClock.now());
        Ok(plan)
    })?;
    let Plan { known, unknown, cost } = plan.unwrap_or_else(|| Plan {
        unknown: arguments.ids.clone(),
        ..Plan::default()
    });
    for id in &unknown {
        say(&format!("there is no memory {:?}", harmless(id)));
    }
    let mut answer = Answer {
        dry_run: arguments.dry_run,
        forgotten: Vec::new(),
        would_forget: None,
        unknown,
        cost,
    };
    if arguments.dry_run {
        answer.would_forget = Some(known.iter().map(ToString::to_string).collect());
    } else if !known.is_empty() {
        if !terminal.wants_json() {
            say(answer.cost.text().trim_end());
        }
        let question = format!("Forget {} for good?", memories(known.len()));
        if !arguments.yes {
            match output::ask(&question) {
                Some(true) => {}
                Some(false) => {
                    say("nothing was forgotten");
                    return Ok(Verdict::Nothing);
                }
                None => {
                    return Err(Failure::error(
                        "confirmation",
                        "nothing was forgotten: forgetting cannot be undone, and there is no terminal to ask at",
                        Some("add --yes to forget without being asked, or --dry-run to see what it costs"),
                    ));
                }
            }
        }
        let forgotten = context
            .write(async |store| Ok(MemoryStore::forget(store, &known).await?))?
            .unwrap_or_default();
        answer.forgotten = forgotten.iter().map(ToString::to_string).collect();
    }
    let found = answer.would_forget.as_ref().unwrap_or(&answer.forgotten);
    let verdict = if found.is_empty() {
        Verdict::Nothing
    } else {
        Verdict::Found
    };
    terminal.answer(answer, text)?;
    Ok(verdict)
}

fn memories(number: usize) -> String {
    some(number as u64, "memory", "memories")
}

fn text(answer: &Answer, _style: Style) -> String {
    match &answer.would_forget {
        Some(ids) => format!(
            "would forget {}\n{}",
            memories(ids.len()),
            if ids.is_empty() {
                String::new()
            } else {
                answer.cost.text()
            }
        ),
        None => format!("forgot {}\n", memories(answer.forgotten.len())),
    }
}
