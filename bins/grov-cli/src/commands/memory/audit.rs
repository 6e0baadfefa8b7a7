//! `grov memory audit`

use super::scope;
use crate::context::Context;
use crate::format::plural;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::table::{one_line, truncated};
use grov_domain::{Clock, Decision, JudgedBy, SystemClock, Task};
use grov_memory::suspicions;
use grov_project::{GrovIgnore, without_ignored};
use grov_query::title;
use grov_runtime::LlmProvider;
use serde::Serialize;
use std::ops::ControlFlow;

/// Maximum characters of an excerpt, and of a goal.
const MAX_EXCERPT: usize = 120;

#[derive(Serialize)]
struct Answer {
    project_path: String,
    checked: u64,
    /// Memories that the judging model has yet to read; `null` if there is no model.
    waiting: Option<u64>,
    findings: Vec<FindingView>,
}

#[derive(Serialize)]
struct FindingView {
    id: String,
    goal: String,
    /// A kind of `grov-memory`, or `ignored_path`.
    kind: &'static str,
    reason: &'static str,
    /// The field of the record, with the index in a list.
    field: String,
    excerpt: String,
    /// `rules`, or `model` for the judging model.
    found_by: &'static str,
    /// Whether the memory is not given to agents because of this.
    withheld: bool,
}

pub(super) fn run(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let ignore = context.ignore();
    let mut findings = Vec::new();
    let mut checked = 0;
    let has_model = context.settings.llm().provider != LlmProvider::Offline;
    let mut waiting = has_model.then_some(0);
    context.read(async |store| {
        let mut check = |task: Task| {
            checked += 1;
            findings.extend(suspicious(&task));
            findings.extend(ignored(&task, &ignore));
            ControlFlow::Continue(())
        };
        store.each_memory(&scope, &mut check).await?;
        if has_model {
            waiting = Some(store.unjudged(Some(&scope), SystemClock.now()).await?);
        }
        Ok(())
    })?;
    let is_clean = findings.is_empty();
    let is_withheld = findings.iter().any(|finding| finding.withheld);
    let has_ignored = findings.iter().any(|finding| finding.kind == IGNORED);
    let answer = Answer {
        project_path: scope.project_path,
        checked,
        waiting,
        findings,
    };
    context.answer(answer, text)?;
    if !is_clean {
        note!("correct a memory with `grov memory edit ID`, or delete it with `grov memory forget ID`");
    }
    if is_withheld {
        note!("give a withheld memory to agents, if it is fine as it reads, with `grov memory trust ID`");
    }
    if has_ignored {
        note!("remove what .grovignore excludes: grov memory export | grov memory import -");
    }
    Ok(ExitStatus::success_if(is_clean))
}

/// The kind of a finding that `.grovignore` excludes.
const IGNORED: &str = "ignored_path";

fn suspicious(task: &Task) -> Vec<FindingView> {
    suspicions(task)
        .into_iter()
        .map(|found| FindingView {
            kind: found.kind.as_str(),
            reason: found.kind.reason(),
            found_by: found.by.as_str(),
            withheld: found.withholds(),
            ..finding(task, found.field.clone(), &found.excerpt)
        })
        .collect()
}

/// The texts that `.grovignore` would remove from the task.
fn ignored(task: &Task, ignore: &GrovIgnore) -> Vec<FindingView> {
    let kept = without_ignored(task.clone(), ignore);
    let mut found = Vec::new();
    for ((name, before), (_, after)) in texts(task).into_iter().zip(texts(&kept)) {
        let mut after = after.iter().peekable();
        for (place, item) in before.iter().enumerate() {
            // Kept items are in the same order.
            if after.next_if_eq(&item).is_none() {
                let field = match name {
                    "original_query" | "goal" => name.to_owned(),
                    list => format!("{list}[{place}]"),
                };
                found.push(finding(task, field, item));
            }
        }
    }
    found
}

/// The fields of a task, with their texts.
fn texts(task: &Task) -> [(&'static str, Vec<String>); 7] {
    let decided = |decision: &Decision| format!("{} ({})", decision.choice, decision.reason);
    [
        ("original_query", vec![task.original_query.clone()]),
        ("goal", task.goal.iter().cloned().collect()),
        ("decisions", task.decisions.iter().map(decided).collect()),
        ("constraints", task.constraints.clone()),
        ("tags", task.tags.clone()),
        ("files_touched", task.files_touched.clone()),
        ("reasoning_trace", task.reasoning_trace.clone()),
    ]
}

/// A finding of a path that `.grovignore` excludes.
fn finding(task: &Task, field: String, excerpt: &str) -> FindingView {
    FindingView {
        id: task.id.to_string(),
        goal: title(task).to_owned(),
        kind: IGNORED,
        reason: "contains a path that .grovignore excludes",
        field,
        excerpt: truncated(&one_line(excerpt), MAX_EXCERPT),
        found_by: JudgedBy::Rules.as_str(),
        withheld: false,
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    let mut last = None;
    for finding in &answer.findings {
        if last != Some(&finding.id) {
            let goal = truncated(&one_line(&finding.goal), MAX_EXCERPT);
            text.push_str(&format!("{}  {goal}\n", style.bold(&one_line(&finding.id))));
        }
        last = Some(&finding.id);
        let (kind, field) = (style.red(finding.kind), one_line(&finding.field));
        let withheld = if finding.withheld {
            " (withheld from agents)"
        } else {
            ""
        };
        let by = match finding.found_by {
            "model" => ", found by the judging model",
            _ => "",
        };
        text.push_str(&format!("  {kind} {field}{by}{withheld}: {}\n", finding.excerpt));
    }
    let findings = match answer.findings.len() as u64 {
        0 => "no findings".to_owned(),
        number => plural(number, "finding", "findings"),
    };
    let checked = plural(answer.checked, "memory", "memories");
    let waiting = match answer.waiting {
        None | Some(0) => String::new(),
        Some(waiting) => format!("; the judging model has yet to read {waiting}"),
    };
    text + &format!("{checked} checked, {findings}{waiting}\n")
}
