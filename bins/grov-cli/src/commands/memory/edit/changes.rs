//! Applies the changes that flags describe.

use crate::arguments::ChangeArguments;
use crate::failure::Failure;
use crate::table::one_line;
use grov_domain::{Decision, Task, TaskStatus};

/// The task with the changes.
///
/// # Errors
/// Bad usage for empty or ambiguous texts; a negative result for something to remove that does not exist.
pub(super) fn apply(mut task: Task, changes: &ChangeArguments) -> Result<Task, Failure> {
    if let Some(goal) = &changes.goal {
        task.goal = Some(goal.clone()).filter(|goal| !goal.trim().is_empty());
    }
    if let Some(query) = &changes.query {
        if query.trim().is_empty() {
            return Err(Failure::usage("--query must not be empty"));
        }
        task.original_query.clone_from(query);
    }
    if let Some(status) = changes.status.as_deref().and_then(TaskStatus::from_name) {
        task.status = status;
    }
    for choice in &changes.remove_decision {
        remove(&mut task.decisions, "decision", choice, |decision| {
            &decision.choice
        })?;
    }
    for text in &changes.add_decision {
        let decision = decision(text)?;
        if !task.decisions.contains(&decision) {
            task.decisions.push(decision);
        }
    }
    let lists = [
        (
            "constraint",
            &mut task.constraints,
            &changes.remove_constraint,
            &changes.add_constraint,
        ),
        (
            "finding",
            &mut task.reasoning_trace,
            &changes.remove_finding,
            &changes.add_finding,
        ),
        (
            "file",
            &mut task.files_touched,
            &changes.remove_file,
            &changes.add_file,
        ),
        ("tag", &mut task.tags, &changes.remove_tag, &changes.add_tag),
    ];
    for (name, list, removed, added) in lists {
        for text in removed {
            remove(list, name, text, |item| item)?;
        }
        for text in added {
            if text.trim().is_empty() {
                return Err(Failure::usage(format!("--add-{name} must not be empty")));
            }
            if !list.contains(text) {
                list.push(text.clone());
            }
        }
    }
    Ok(task)
}

fn decision(text: &str) -> Result<Decision, Failure> {
    let parts = text
        .split_once(": ")
        .map(|(choice, reason)| (choice.trim(), reason.trim()));
    match parts {
        Some((choice, reason)) if !choice.is_empty() && !reason.is_empty() => Ok(Decision {
            choice: choice.to_owned(),
            reason: reason.to_owned(),
        }),
        _ => Err(Failure::usage(format!(
            "--add-decision must be a choice and its reason, as in \"count frames: reading all is slow\", but is {:?}",
            one_line(text)
        ))),
    }
}

/// Removes the item that equals `text`, or else the only one that contains it.
fn remove<T>(
    list: &mut Vec<T>,
    name: &str,
    text: &str,
    text_of: impl Fn(&T) -> &String,
) -> Result<(), Failure> {
    let exact = list.iter().position(|item| text_of(item) == text);
    let mut containing = list
        .iter()
        .enumerate()
        .filter(|(_, item)| !text.is_empty() && text_of(item).contains(text))
        .map(|(place, _)| place);
    let place = match (exact, containing.next(), containing.next()) {
        (Some(place), ..) | (None, Some(place), None) => place,
        (None, None, _) => {
            return Err(Failure::negative(
                "unknown",
                format!("no {name} {:?}; nothing was changed", one_line(text)),
            )
            .hint("`grov memory show` lists them"));
        }
        (None, Some(_), Some(_)) => {
            return Err(Failure::usage(format!(
                "{:?} matches several {name}s; give the whole text",
                one_line(text)
            )));
        }
    };
    list.remove(place);
    Ok(())
}
