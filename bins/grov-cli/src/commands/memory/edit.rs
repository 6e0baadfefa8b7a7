//! `grov memory edit ID`

mod changes;
mod draft;
mod editor;

use super::named;
use crate::arguments::{ChangeArguments, EditArguments};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::some;
use crate::table::harmless;
use editor::Draft;
use grov_domain::Task;
use grov_query::TaskView;
use grov_redact::Redacted;
use serde::Serialize;
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

#[derive(Serialize)]
struct Answer {
    changed: bool,
    memory: TaskView,
    #[serde(skip)]
    fields: Vec<&'static str>,
}

/// What became of an edit.
struct Saved {
    task: Task,
    fields: Vec<&'static str>,
    /// Sessions whose history holds the text as it was.
    holders: usize,
}

pub(super) fn run(context: &Context, arguments: &EditArguments, terminal: Terminal) -> Outcome {
    let wanted = arguments.id.clone();
    let before = context
        .read(async |store| Ok(named::one(store, &wanted).await?))?
        .ok_or_else(|| named::unknown(&arguments.id))?;
    let saved = match &arguments.from {
        Some(file) => save(context, &before, draft::understood(&contents(file)?, &before)?)?,
        None if arguments.changes != ChangeArguments::default() => save(
            context,
            &before,
            changes::apply(before.clone(), &arguments.changes)?,
        )?,
        None => by_editor(context, &before, terminal)?,
    };
    if saved.holders > 0 {
        say(&format!(
            "{} in the history; it stays as it was told, so that no prompt cache is lost",
            some(
                saved.holders as u64,
                "running session has the old text",
                "running sessions have the old text"
            )
        ));
    }
    let answer = Answer {
        changed: !saved.fields.is_empty(),
        memory: TaskView::from(saved.task),
        fields: saved.fields,
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

/// What a person makes of it. Whatever goes wrong, what they wrote is kept.
fn by_editor(context: &Context, before: &Task, terminal: Terminal) -> Result<Saved, Failure> {
    let draft = Draft::of(before)?;
    let saved = draft.open(terminal).and_then(|()| draft.text()).and_then(|text| {
        let after = if text.trim_ascii().is_empty() {
            before.clone()
        } else {
            draft::understood(&text, before)?
        };
        save(context, before, after)
    });
    saved.map_err(|failure| match draft.keep_if_changed() {
        Some(path) => failure.with_hint(format!(
            "what you wrote is kept in {path}; mend it and run: grov memory edit {} --from {path}",
            before.id,
            path = path.display(),
        )),
        None => failure,
    })
}

fn save(context: &Context, before: &Task, mut after: Task) -> Result<Saved, Failure> {
    let gone: HashSet<&String> = before
        .files_touched
        .iter()
        .filter(|file| !after.files_touched.contains(file))
        .collect();
    after.file_pins.retain(|pin| !gone.contains(&pin.path));
    let saved = context.write(async |store| {
        let stored = store.task(&before.id).await?;
        let stored = stored.ok_or_else(|| named::unknown(before.id.as_str()))?;
        if stored != *before {
            return Err(Failure::error(
                "changed_meanwhile",
                format!("the memory {} was changed by somebody else meanwhile", before.id),
                Some("look at it again with `grov memory show`"),
            ));
        }
        if after == stored {
            return Ok(Saved {
                task: stored,
                fields: Vec::new(),
                holders: 0,
            });
        }
        store.import(&[Redacted::of(&after)]).await?;
        let uses = store.uses(std::slice::from_ref(&before.id)).await?;
        let holders: HashSet<_> = uses.into_iter().map(|held| held.lineage).collect();
        // What is stored was redacted.
        let task = store.task(&before.id).await?;
        let task = task.ok_or_else(|| named::unknown(before.id.as_str()))?;
        Ok(Saved {
            fields: changed(before, &task),
            holders: holders.len(),
            task,
        })
    })?;
    saved.ok_or_else(|| named::unknown(before.id.as_str()))
}

fn changed(before: &Task, after: &Task) -> Vec<&'static str> {
    let fields = [
        ("goal", before.goal != after.goal),
        ("original_query", before.original_query != after.original_query),
        ("status", before.status != after.status),
        ("decisions", before.decisions != after.decisions),
        ("constraints", before.constraints != after.constraints),
        ("reasoning_trace", before.reasoning_trace != after.reasoning_trace),
        ("files_touched", before.files_touched != after.files_touched),
        ("tags", before.tags != after.tags),
        ("user", before.user != after.user),
        ("linked_commit", before.linked_commit != after.linked_commit),
    ];
    fields
        .into_iter()
        .filter_map(|(name, is_changed)| is_changed.then_some(name))
        .collect()
}

fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    read.map_err(|error| {
        Failure::error(
            "input",
            format!("{} cannot be read: {error}", file.display()),
            None,
        )
    })
}

fn text(answer: &Answer, style: Style) -> String {
    let id = style.bold(&harmless(&answer.memory.id));
    if answer.changed {
        format!("changed {} of {id}\n", answer.fields.join(", "))
    } else {
        format!("nothing was changed in {id}\n")
    }
}
