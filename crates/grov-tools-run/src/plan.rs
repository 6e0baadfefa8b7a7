//! The plan of a branch, as material for an opinion.

use crate::material::clean;
use crate::plan_text::without_own_lines;
use crate::{FileLimits, Surroundings, git, read_files};
use grov_plans::{Branch, PlanDir, PlanError, PlanFile, Validation, ValidationKind};
use grov_tools::opinion::quoted;
use grov_tools::{ErrorKind, ToolError};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// The most bytes of the user's queries.
const MAX_QUERIES: usize = 128 * 1024;

/// A plan, with what the user asked for.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Where it is, as shown.
    pub(crate) path: String,
    pub(crate) text: String,
    /// The user's queries in order; empty if there are none.
    pub(crate) queries: String,
    /// Files that queries mention, between tags.
    pub(crate) files: String,
    pub(crate) omitted: Vec<String>,
    /// The file that a verdict is written to.
    file: Option<PlanFile>,
}

/// Finds the plan: the named file or directory, else the plan of the current branch.
pub(crate) fn find(directory: &Path, root: &Path, named: Option<&str>) -> Result<Plan, ToolError> {
    let named = named.map(|named| {
        let here = directory.join(named);
        let in_root = root.join(named);
        if !here.exists() && in_root.exists() {
            in_root
        } else {
            here
        }
    });
    match named {
        Some(path) if path.is_dir() => of_directory(&open(root, &path)?),
        Some(path) => of_file(root, &path),
        None => of_branch(root),
    }
}

fn of_branch(root: &Path) -> Result<Plan, ToolError> {
    let name = git::branch(root)?;
    let branch = Branch::of(name.as_deref());
    let shown = name.as_deref().unwrap_or("a detached HEAD");
    let none = || {
        ToolError::new(
            ErrorKind::NotFound,
            format!(
                "there is no plan for {shown} in {}",
                grov_plans::plans_folder(root).display()
            ),
        )
        .hint("write the plan there, or name it with --plan FILE or --plan DIRECTORY")
    };
    of_directory(&PlanDir::find(root, &branch).map_err(failed)?.ok_or_else(none)?)
}

fn open(root: &Path, path: &Path) -> Result<PlanDir, ToolError> {
    PlanDir::open(root, path).map_err(failed)
}

fn of_directory(directory: &PlanDir) -> Result<Plan, ToolError> {
    let file = directory.plan_file().map_err(failed)?;
    refuse_keys(file.path(), file.path())?;
    let text = file.text().map_err(failed)?.ok_or_else(|| {
        ToolError::new(
            ErrorKind::NotFound,
            format!("there is no plan in {}", directory.path().display()),
        )
        .hint("write it to plan.md there, or name a file with --plan FILE")
    })?;
    let listed = directory.queries().map_err(failed)?;
    let mut omitted = Vec::new();
    if listed.skipped > 0 {
        omitted.push(format!("{} broken lines of queries.jsonl", listed.skipped));
    }
    if listed.is_cut {
        omitted.push("the end of queries.jsonl, which is too long".to_owned());
    }
    let queries = numbered(
        listed.items.iter().map(|query| query.prompt.as_str()),
        &mut omitted,
    );
    let mentioned = directory.files().map_err(failed)?.items;
    let mut files = String::new();
    for path in mentioned {
        // A file that cannot be sent is no reason to refuse the plan.
        match read_files(
            directory.work_tree(),
            &[path.to_string_lossy().into_owned()],
            false,
            FileLimits::default(),
        ) {
            Ok((text, more)) if files.len() + text.len() <= FileLimits::default().total => {
                files.push_str(&text);
                omitted.extend(more);
            }
            Ok(_) => omitted.push(format!("{}: the limit of all files is reached", path.display())),
            Err(error) => omitted.push(error.message),
        }
    }
    Ok(Plan {
        path: directory.path().join("plan.md").display().to_string(),
        text: clean(&without_own_lines(&text)),
        queries,
        files,
        omitted,
        file: Some(file),
    })
}

fn of_file(root: &Path, path: &Path) -> Result<Plan, ToolError> {
    let shown = path.display().to_string();
    refuse_keys(path, path)?;
    let missing = || {
        ToolError::new(ErrorKind::NotFound, format!("the plan {shown} does not exist"))
            .hint("check the path after --plan")
    };
    let real = path.canonicalize().map_err(|_| missing())?;
    refuse_keys(path, &real)?;
    // A plan outside of the repository is read, and not written.
    let file = match PlanFile::at(root, path) {
        Ok(file) => Some(file),
        Err(PlanError::Outside { .. }) => None,
        Err(error) => return Err(failed(error)),
    };
    let text = match &file {
        Some(file) => file.text().map_err(failed)?.ok_or_else(missing)?,
        None => {
            let folder = path.parent().unwrap_or(Path::new("/"));
            PlanFile::at(folder, path)
                .and_then(|file| file.text())
                .map_err(failed)?
                .ok_or_else(missing)?
        }
    };
    // In a plan directory, the queries are next to it.
    let beside = path
        .parent()
        .filter(|folder| path.ends_with("plan.md") && folder.join("queries.jsonl").is_file());
    let mut plan = match beside.map(|folder| PlanDir::open(root, folder)) {
        Some(Ok(directory)) => of_directory(&directory)?,
        _ => Plan::default(),
    };
    plan.path = shown;
    plan.text = clean(&without_own_lines(&text));
    plan.file = file;
    Ok(plan)
}

/// Refuses a file whose name, with symbolic links resolved, is one of files with keys.
fn refuse_keys(shown: &Path, real: &Path) -> Result<(), ToolError> {
    match grov_tools::is_secret_file(&real.to_string_lossy()) {
        true => Err(ToolError::new(
            ErrorKind::RefusedFile,
            format!(
                "{}: a file of this name usually holds keys, so it is not sent",
                shown.display()
            ),
        )),
        false => Ok(()),
    }
}

/// The user's queries in a file: JSON lines with `prompt`, or a text.
pub(crate) fn queries_of(path: &Path, omitted: &mut Vec<String>) -> Result<String, ToolError> {
    let shown = path.to_string_lossy();
    let most = FileLimits::default().total as u64;
    let (text, cut) = crate::files::read(path, &shown, false, most)?;
    if cut > 0 {
        omitted.push(format!("{shown}: the last {cut} bytes"));
    }
    let lines: Vec<Option<String>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let value: Value = serde_json::from_str(line).ok()?;
            value["prompt"].as_str().map(str::to_owned)
        })
        .collect();
    if lines.iter().all(Option::is_none) {
        return Ok(numbered(std::iter::once(text.as_str()), omitted));
    }
    Ok(numbered(lines.iter().flatten().map(String::as_str), omitted))
}

fn numbered<'t>(queries: impl Iterator<Item = &'t str>, omitted: &mut Vec<String>) -> String {
    let mut text = String::new();
    let mut left_out = 0;
    for (place, query) in queries.enumerate() {
        let query = quoted("query", &[("number", &(place + 1).to_string())], &clean(query));
        if text.len() + query.len() > MAX_QUERIES {
            left_out += 1;
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{query}");
    }
    if left_out > 0 {
        omitted.push(format!(
            "{left_out} queries, because at most {} KiB are sent",
            MAX_QUERIES / 1024
        ));
    }
    text
}

impl Plan {
    /// Writes the verdict of an answer into the plan. Returns whether it has a file.
    pub(crate) fn write(
        &self,
        around: &Surroundings,
        answer: &Value,
        kind: ValidationKind,
        by: &str,
    ) -> Result<bool, ToolError> {
        let Some(file) = &self.file else { return Ok(false) };
        let questions = answer["questions_for_user"].as_array().into_iter().flatten();
        let questions: Vec<String> = questions.filter_map(Value::as_str).map(clean).collect();
        let validation = Validation {
            kind,
            verdict: answer["verdict"].as_str().unwrap_or_default(),
            questions: &questions,
            by,
            at: around.clock.now(),
        };
        file.write_validation(&validation).map_err(failed)?;
        Ok(true)
    }
}

fn failed(error: PlanError) -> ToolError {
    ToolError::new(ErrorKind::Io, error.to_string()).hint("check the plan's path and permissions")
}
