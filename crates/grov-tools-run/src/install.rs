//! Writes and removes the files for agents. Removal restores every byte.

use grov_domain::MicroUsd;
use grov_plans::Switch;
use grov_tools::install::{files, with_block, without_block};
use grov_tools::{Answer, ErrorKind, Registry, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Where the files are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a project: `.claude` and `CLAUDE.md` below this directory.
    Project(PathBuf),
    /// For the user: `.claude` below this home directory, with `CLAUDE.md` in it.
    User(PathBuf),
}

/// The record of an installation, in `.claude/envoy`.
const RECORD: &str = "envoy/.installed.json";

#[derive(Default, Serialize, Deserialize)]
struct Record {
    /// Files by path below `.claude`, with the hash of what was written.
    files: Vec<(String, String)>,
    /// Directories that were created, outermost first.
    directories: Vec<String>,
    /// Whether CLAUDE.md was created.
    created_claude_md: bool,
}

impl Scope {
    fn claude(&self) -> PathBuf {
        let (Self::Project(root) | Self::User(root)) = self;
        root.join(".claude")
    }

    fn claude_md(&self) -> PathBuf {
        match self {
            Self::Project(root) => root.join("CLAUDE.md"),
            Self::User(home) => home.join(".claude/CLAUDE.md"),
        }
    }
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> ToolError {
    move |error| {
        ToolError::new(ErrorKind::Io, format!("{}: {error}", path.display()))
            .hint("check the path and its permissions")
    }
}

fn hash(content: &[u8]) -> String {
    format!("{:032x}", xxh3_128(content))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, ToolError> {
    match std::fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == IoKind::NotFound => Ok(None),
        Err(error) => Err(io(path)(error)),
    }
}

fn load(claude: &Path) -> Result<Record, ToolError> {
    let path = claude.join(RECORD);
    match read(&path)? {
        None => Ok(Record::default()),
        Some(text) => serde_json::from_slice(&text).map_err(|error| {
            ToolError::new(
                ErrorKind::Io,
                format!("{} cannot be read: {error}", path.display()),
            )
            .hint("restore it, or remove .claude/envoy yourself")
        }),
    }
}

/// Creates a directory and records those that did not exist.
fn create(root: &Path, directory: &Path, record: &mut Record) -> Result<(), ToolError> {
    let mut missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
    missing.reverse();
    std::fs::create_dir_all(directory).map_err(io(directory))?;
    for path in missing {
        let below = path
            .strip_prefix(root)
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned();
        if !record.directories.contains(&below) {
            record.directories.push(below);
        }
    }
    Ok(())
}

/// Installs the files and the block in CLAUDE.md. A file of the user's own is kept.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn install(registry: &Registry, scope: &Scope, dry_run: bool) -> Result<Answer, ToolError> {
    let claude = scope.claude();
    let mut record = load(&claude)?;
    let (mut written, mut kept, mut unchanged) = (Vec::new(), Vec::new(), 0);
    for file in files(registry) {
        let path = claude.join(&file.path);
        let shown = path.display().to_string();
        let present = read(&path)?;
        let known = record
            .files
            .iter()
            .find(|(known, _)| *known == file.path)
            .map(|(_, hash)| hash.clone());
        match &present {
            Some(content) if content == file.content.as_bytes() && known.is_some() => {
                unchanged += 1;
                continue;
            }
            // Not ours, or changed by the user since.
            Some(content) if known.as_ref() != Some(&hash(content)) => {
                kept.push(shown);
                continue;
            }
            _ => written.push(shown),
        }
        if dry_run {
            continue;
        }
        if let Some(folder) = path.parent() {
            create(&claude, folder, &mut record)?;
        }
        std::fs::write(&path, &file.content).map_err(io(&path))?;
        record.files.retain(|(known, _)| *known != file.path);
        record.files.push((file.path, hash(file.content.as_bytes())));
    }
    let path = scope.claude_md();
    let present = read(&path)?;
    let text = String::from_utf8(present.clone().unwrap_or_default()).map_err(|_| {
        ToolError::new(
            ErrorKind::Io,
            format!("{} is not UTF-8, so nothing is added to it", path.display()),
        )
        .hint("convert it to UTF-8")
    })?;
    let with = with_block(&text);
    if with == text {
        unchanged += 1;
    } else {
        written.push(path.display().to_string());
        if !dry_run {
            if let Some(folder) = path.parent() {
                create(&claude, folder, &mut record)?;
            }
            std::fs::write(&path, with).map_err(io(&path))?;
            record.created_claude_md |= present.is_none();
        }
    }
    if !dry_run {
        let path = claude.join(RECORD);
        std::fs::write(&path, json!(record).to_string()).map_err(io(&path))?;
    }
    Ok(answer(
        json!({"written": written, "kept": kept, "unchanged": unchanged, "dry_run": dry_run}),
    ))
}

/// Removes what [`install`] wrote. Files that the user changed are kept.
///
/// # Errors
///
/// If a file cannot be read or removed.
pub fn uninstall(scope: &Scope, dry_run: bool) -> Result<Answer, ToolError> {
    let claude = scope.claude();
    let record = load(&claude)?;
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    let remove = |path: &Path| match std::fs::remove_file(path) {
        Err(error) if error.kind() != IoKind::NotFound => Err(io(path)(error)),
        _ => Ok(()),
    };
    let path = scope.claude_md();
    if let Some(text) = read(&path)?.and_then(|content| String::from_utf8(content).ok())
        && let Some(without) = without_block(&text)
    {
        removed.push(format!("the block in {}", path.display()));
        if !dry_run {
            match without.is_empty() && record.created_claude_md {
                true => remove(&path)?,
                false => std::fs::write(&path, without).map_err(io(&path))?,
            }
        }
    }
    for (file, known) in &record.files {
        let path = claude.join(file);
        let Some(content) = read(&path)? else { continue };
        if hash(&content) != *known {
            kept.push(path.display().to_string());
            continue;
        }
        removed.push(path.display().to_string());
        if !dry_run {
            remove(&path)?;
        }
    }
    if !dry_run {
        remove(&claude.join(RECORD))?;
        for directory in record.directories.iter().rev() {
            // A directory with other files stays.
            let _ = std::fs::remove_dir(claude.join(directory));
        }
    }
    Ok(answer(
        json!({"removed": removed, "kept": kept, "dry_run": dry_run}),
    ))
}

/// Switches plans off for the project that contains `directory`, and takes its git hooks back. Returns the projects.
///
/// # Errors
///
/// If the switch or a git hook cannot be changed.
pub fn plans_off(home: &Path, directory: &Path, dry_run: bool) -> Result<Vec<String>, ToolError> {
    let failed = |error: grov_plans::PlanError| {
        ToolError::new(ErrorKind::Io, format!("plans cannot be switched off: {error}"))
            .hint("run `envoy plans off`")
    };
    let directory = directory.canonicalize().map_err(io(directory))?;
    let switch = Switch::of(home);
    let mut projects = switch.projects().map_err(failed)?;
    projects.retain(|project| directory.starts_with(project));
    for project in projects.iter().filter(|_| !dry_run) {
        switch.off(project).map_err(failed)?;
    }
    Ok(projects
        .iter()
        .map(|project| project.display().to_string())
        .collect())
}

/// Writes the catalogue, all snippets and the prompts to a directory.
///
/// # Errors
///
/// If a file cannot be written.
pub fn docs(registry: &Registry, directory: &Path) -> Result<Answer, ToolError> {
    let mut written = Vec::new();
    for file in files(registry) {
        // Skills belong to an installation.
        let Some(below) = file.path.strip_prefix("envoy/") else {
            continue;
        };
        // Snippets lie directly in the directory, next to the catalogue.
        let path = directory.join(below.strip_prefix("snippets/").unwrap_or(below));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io(folder))?;
        }
        std::fs::write(&path, &file.content).map_err(io(&path))?;
        written.push(path.display().to_string());
    }
    Ok(answer(json!({"written": written})))
}

fn answer(data: Value) -> Answer {
    Answer {
        data,
        cost: Some(MicroUsd(0)),
        ..Answer::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut left = vec![root.to_owned()];
        while let Some(folder) = left.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let content = path.is_file().then(|| std::fs::read(&path).unwrap());
                if content.is_none() {
                    left.push(path.clone());
                }
                found.insert(path, content);
            }
        }
        found
    }

    #[test]
    fn an_installation_is_removed_byte_for_byte() {
        for (claude_md, has_folder) in [
            (None, false),
            (Some("# Mine"), true),
            (Some("# Mine\n\n"), false),
            (Some(""), true),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            if let Some(text) = claude_md {
                std::fs::write(root.join("CLAUDE.md"), text).unwrap();
            }
            if has_folder {
                std::fs::create_dir_all(root.join(".claude/skills/own")).unwrap();
                std::fs::write(root.join(".claude/skills/own/SKILL.md"), "own").unwrap();
            }
            let before = tree(root);
            let scope = Scope::Project(root.to_owned());
            let registry = Registry::built_in();
            install(&registry, &scope, true).unwrap();
            assert_eq!(tree(root), before, "a dry run writes nothing");
            install(&registry, &scope, false).unwrap();
            assert!(root.join(".claude/envoy/snippets/tavily-search.md").is_file());
            let installed = tree(root);
            let again = install(&registry, &scope, false).unwrap();
            assert_eq!(again.data["written"], json!([]));
            assert_eq!(tree(root), installed);
            uninstall(&scope, false).unwrap();
            assert_eq!(tree(root), before);
        }
    }

    #[test]
    fn files_of_the_user_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let (skill, prompt) = (
            root.join(".claude/skills/deep-research/SKILL.md"),
            root.join(".claude/envoy/prompts/review.txt"),
        );
        std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
        std::fs::write(&skill, "mine").unwrap();
        let scope = Scope::Project(root.to_owned());
        let kept = install(&Registry::built_in(), &scope, false).unwrap().data["kept"].clone();
        assert_eq!(kept.as_array().unwrap().len(), 1);
        std::fs::write(&prompt, "changed").unwrap();
        uninstall(&scope, false).unwrap();
        assert_eq!(std::fs::read_to_string(&skill).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(&prompt).unwrap(), "changed");
        assert!(!root.join(".claude/envoy/README.md").exists());
    }
}
