//! `grov route check`

use super::source::{Source, problem_line};
use crate::context::Context;
use crate::format::plural;
use crate::output::{ExitStatus, Outcome, Style};
use grov_route::Problem;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    ok: bool,
    file: String,
    errors: Vec<ProblemView>,
    warnings: Vec<ProblemView>,
    /// The number of labels of a valid file.
    models: usize,
}

#[derive(Serialize)]
struct ProblemView {
    file: String,
    line: Option<u64>,
    message: String,
    hint: Option<String>,
}

pub(super) fn run(context: &Context, source: &Source) -> Outcome {
    let file = source.path().display().to_string();
    let views = |problems: &[Problem]| -> Vec<ProblemView> {
        let view = |problem: &Problem| ProblemView {
            file: file.clone(),
            line: Some(problem.line),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        };
        problems.iter().map(view).collect()
    };
    let mut answer = Answer {
        ok: false,
        file: file.clone(),
        errors: Vec::new(),
        warnings: Vec::new(),
        models: 0,
    };
    match source.text()?.map(|text| source.parse(&text)) {
        None => answer.errors.push(ProblemView {
            file: file.clone(),
            line: None,
            message: "there is no provider file".to_owned(),
            hint: Some("create one with grov route add".to_owned()),
        }),
        Some(Err(error)) => answer.errors = views(&error.problems),
        Some(Ok(parsed)) => {
            answer.ok = true;
            answer.warnings = views(parsed.warnings());
            answer.models = parsed.targets().len();
        }
    }
    let ok = answer.ok;
    context.answer(answer, text)?;
    Ok(ExitStatus::success_if(ok))
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    let line = |view: &ProblemView| match view.line {
        Some(line) => problem_line(
            &view.file,
            &Problem {
                line,
                message: view.message.clone(),
                hint: view.hint.clone(),
            },
        ),
        None => format!(
            "{}: {}\n  hint: {}",
            view.file,
            view.message,
            view.hint.as_deref().unwrap_or_default()
        ),
    };
    for error in &answer.errors {
        text.push_str(&format!("{} {}\n", style.red("error"), line(error)));
    }
    for warning in &answer.warnings {
        text.push_str(&format!("warning {}\n", line(warning)));
    }
    if answer.ok {
        let models = plural(answer.models as u64, "model", "models");
        text.push_str(&format!("{} {}: {models}\n", style.green("ok"), answer.file));
    }
    text
}
