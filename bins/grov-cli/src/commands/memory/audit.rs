//! `grov memory audit`

use super::scope;
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::some;
use crate::table::{harmless, shortened};
use grov_domain::{Decision, Task};
use grov_memory::suspicions;
use grov_project::{GrovIgnore, without_ignored};
use grov_query::title;
use serde::Serialize;
use std::fmt::Write;
use std::ops::ControlFlow;

/// Characters of an excerpt, and of a goal.
const EXCERPT: usize = 120;

#[derive(Serialize)]
struct Answer {
    project_path: String,
    checked: u64,
    findings: Vec<FindingView>,
}

#[derive(Serialize)]
struct FindingView {
    id: String,
    goal: String,
    /// As `grov-memory` names it, or `ignored_path`.
    kind: &'static str,
    reason: &'static str,
    /// The field of the record, with the place in a list.
    field: String,
    excerpt: String,
    /// Whether the memory is kept from agents because of it.
    withheld: bool,
}

pub(super) fn run(context: &Context, terminal: Terminal) -> Outcome {
    let scope = scope(context)?;
    let ignore = context.ignore();
    let project_path = scope.project_path.clone();
    let checked = context.read(async |store| {
        let mut findings = Vec::new();
        let mut checked = 0_u64;
        let mut check = |task: Task| {
            checked += 1;
            findings.extend(suspicious(&task));
            findings.extend(ignored(&task, &ignore));
            ControlFlow::Continue(())
        };
        store.each_memory(&scope, &mut check).await?;
        Ok((checked, findings))
    })?;
    let (checked, findings) = checked.unwrap_or_default();
    let verdict = if findings.is_empty() {
        Verdict::Found
    } else {
        Verdict::Nothing
    };
    let holds_ignored = findings.iter().any(|finding| finding.kind == IGNORED);
    let answer = Answer {
        project_path,
        checked,
        findings,
    };
    let is_clean = answer.findings.is_empty();
    terminal.answer(answer, text)?;
    if !is_clean {
        say("mend a memory with `grov memory edit ID`, or delete it with `grov memory forget ID`");
    }
    if holds_ignored {
        say("take out what .grovignore keeps out: grov memory export | grov memory import -");
    }
    Ok(verdict)
}

const IGNORED: &str = "ignored_path";

fn suspicious(task: &Task) -> Vec<FindingView> {
    suspicions(task)
        .into_iter()
        .map(|found| FindingView {
            kind: found.kind.as_str(),
            reason: found.kind.reason(),
            withheld: found.kind.is_order(),
            ..finding(task, found.field, &found.excerpt)
        })
        .collect()
}

/// What the task would lose.
fn ignored(task: &Task, ignore: &GrovIgnore) -> Vec<FindingView> {
    let kept = without_ignored(task.clone(), ignore);
    let mut found = Vec::new();
    if kept.original_query != task.original_query {
        found.push(finding(task, "original_query".to_owned(), &task.original_query));
    }
    if let Some(goal) = task.goal.as_ref().filter(|_| kept.goal != task.goal) {
        found.push(finding(task, "goal".to_owned(), goal));
    }
    let decided = |decisions: &[Decision]| -> Vec<String> {
        let words = |decision: &Decision| format!("{} ({})", decision.choice, decision.reason);
        decisions.iter().map(words).collect()
    };
    let lists = [
        ("decisions", decided(&task.decisions), decided(&kept.decisions)),
        ("constraints", task.constraints.clone(), kept.constraints.clone()),
        ("tags", task.tags.clone(), kept.tags.clone()),
        (
            "files_touched",
            task.files_touched.clone(),
            kept.files_touched.clone(),
        ),
        (
            "reasoning_trace",
            task.reasoning_trace.clone(),
            kept.reasoning_trace.clone(),
        ),
    ];
    for (name, before, after) in lists {
        let mut kept = after.iter().peekable();
        for (place, item) in before.iter().enumerate() {
            // What is kept is in the same order.
            if kept.next_if_eq(&item).is_none() {
                found.push(finding(task, format!("{name}[{place}]"), item));
            }
        }
    }
    found
}

/// A finding of an ignored path.
fn finding(task: &Task, field: String, excerpt: &str) -> FindingView {
    FindingView {
        id: task.id.to_string(),
        goal: title(task).to_owned(),
        kind: IGNORED,
        reason: "holds a path that .grovignore keeps out",
        field,
        excerpt: shortened(&harmless(excerpt), EXCERPT),
        withheld: false,
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    let mut last = None;
    for finding in &answer.findings {
        // Writing to a string cannot fail.
        if last != Some(&finding.id) {
            let goal = shortened(&harmless(&finding.goal), EXCERPT);
            let _ = writeln!(text, "{}  {goal}", style.bold(&harmless(&finding.id)));
        }
        last = Some(&finding.id);
        let _ = writeln!(
            text,
            "  {} {}{}: {}",
            style.red(finding.kind),
            harmless(&finding.field),
            if finding.withheld {
                " (not told to agents)"
            } else {
                ""
            },
            finding.excerpt
        );
    }
    let _ = writeln!(
        text,
        "{} checked, {}",
        some(answer.checked, "memory", "memories"),
        match answer.findings.len() as u64 {
            0 => "nothing found".to_owned(),
            number => some(number, "finding", "findings"),
        }
    );
    text
}
