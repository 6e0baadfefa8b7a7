//! `grov memory edit ID`

mod changes;
mod draft;
mod editor;

use super::named;
use crate::arguments::{ChangeArguments, EditArguments};
use crate::context::Context;
use crate::failure::Failure;
use crate::format::plural;
use crate::output::{Outcome, Style, note};
use crate::table::one_line;
use editor::Draft;
use grov_domain::{MemoryEdits, Task};
use grov_memory::screened;
use grov_redact::{Redacted, Redactor};
use serde::Serialize;
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

#[derive(Serialize)]
struct Answer {
    changed: bool,
    memory: Task,
    #[serde(skip)]
    fields: Vec<&'static str>,
}

/// The result of an edit.
struct Saved {
    task: Task,
    /// The fields that were changed.
    fields: Vec<&'static str>,
    /// Running sessions that have the old text in their history.
    sessions: usize,
}

pub(super) fn run(context: &Context, arguments: &EditArguments) -> Outcome {
    let before = context
        .read(async |store| named::find(store, &arguments.id).await)?
        .ok_or_else(|| named::unknown(&arguments.id))?;
    if before.item.is_some() {
        return Err(Failure::usage(
            "this memory is an item that was approved; it has no other fields than its words",
        )
        .hint("set them with --content TEXT"));
    }
    let saved = if let Some(file) = &arguments.from {
        save(context, &before, draft::parse(&read(file)?, &before)?)?
    } else if arguments.changes != ChangeArguments::default() {
        let after = changes::apply(before.clone(), &arguments.changes)?;
        save(context, &before, after)?
    } else {
        edit_interactively(context, &before)?
    };
    if saved.sessions > 0 {
        note!(
            "{}; the history is not rewritten, because that would invalidate the prompt cache",
            plural(
                saved.sessions as u64,
                "running session has the old text in its history",
                "running sessions have the old text in their history"
            )
        );
    }
    let answer = Answer {
        changed: !saved.fields.is_empty(),
        memory: saved.task,
        fields: saved.fields,
    };
    context.answer(answer, text)
}

/// Opens the record in an editor. If anything fails, the edited file is kept.
fn edit_interactively(context: &Context, before: &Task) -> Result<Saved, Failure> {
    let draft = Draft::of(before)?;
    let saved = draft
        .open(context.terminal)
        .and_then(|()| draft.text())
        .and_then(|text| {
            let after = match text.trim_ascii() {
                [] => before.clone(),
                _ => draft::parse(&text, before)?,
            };
            save(context, before, after)
        });
    saved.map_err(|failure| match draft.keep_if_changed() {
        Some(path) => failure.hint(format!(
            "your text is in {path}; correct it and run: grov memory edit {} --from {path}",
            before.id,
            path = path.display(),
        )),
        None => failure,
    })
}

fn save(context: &Context, before: &Task, mut after: Task) -> Result<Saved, Failure> {
    let files = &after.files_touched;
    let is_removed = |file: &String| before.files_touched.contains(file) && !files.contains(file);
    after.file_pins.retain(|pin| !is_removed(&pin.path));
    let unknown = || named::unknown(before.id.as_str());
    let saved = context.write(async |store| {
        let stored = store.task(&before.id).await?.ok_or_else(unknown)?;
        // What was found in the text meanwhile does not change it.
        let stored = Task {
            screened: before.screened,
            model_screening: before.model_screening.clone(),
            ..stored
        };
        if stored != *before {
            let message = format!(
                "the memory {} was changed by another process meanwhile",
                before.id
            );
            let hint = "see the current version with `grov memory show`";
            return Err(Failure::error("changed_meanwhile", message).hint(hint));
        }
        if after == stored {
            return Ok(Saved {
                task: stored,
                fields: Vec::new(),
                sessions: 0,
            });
        }
        let edits = before.edits.clone();
        after.edits = edits.then(MemoryEdits::between(before, &after));
        let after = Redactor::shared().clean(after).into_inner();
        store.import(&[Redacted::of(&screened(after))]).await?;
        let uses = store.uses(std::slice::from_ref(&before.id)).await?;
        let lineages: HashSet<_> = uses.into_iter().map(|found| found.lineage).collect();
        // Redaction may have changed it.
        let task = store.task(&before.id).await?.ok_or_else(unknown)?;
        Ok(Saved {
            fields: draft::changed(before, &task)?,
            sessions: lineages.len(),
            task,
        })
    })?;
    saved.ok_or_else(unknown)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    read.map_err(|error| Failure::error("input", format!("cannot read {}: {error}", file.display())))
}

fn text(answer: &Answer, style: Style) -> String {
    let id = style.bold(&one_line(answer.memory.id.as_str()));
    match answer.changed {
        true => format!("changed {} of {id}\n", answer.fields.join(", ")),
        false => format!("nothing was changed in {id}\n"),
    }
}
