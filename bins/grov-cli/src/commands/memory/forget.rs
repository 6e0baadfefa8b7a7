//! `grov memory forget ID…`

use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use grov_domain::{MemoryStore, TaskId};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    forgotten: Vec<String>,
    unknown: Vec<String>,
}

pub(super) fn run(context: &Context, ids: &[String], terminal: Terminal) -> Outcome {
    let tasks: Vec<TaskId> = ids.iter().map(TaskId::new).collect();
    let forgotten: Vec<String> = context
        .write(|store| async move { store.forget(&tasks).await })?
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    let unknown: Vec<String> = ids.iter().filter(|id| !forgotten.contains(id)).cloned().collect();
    for id in &unknown {
        say(&format!("there is no memory {id:?}"));
    }
    let verdict = if forgotten.is_empty() {
        Verdict::Nothing
    } else {
        Verdict::Found
    };
    terminal.answer(Answer { forgotten, unknown }, text)?;
    Ok(verdict)
}

fn text(answer: &Answer, _style: Style) -> String {
    format!("forgot {} memories\n", answer.forgotten.len())
}
