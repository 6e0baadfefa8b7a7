//! Writes and removes the files for agents. Removal restores every byte.

use grov_domain::MicroUsd;
use grov_plans::Switch;
use grov_tools::install::{BrokenBlock, files, with_block, without_block};
use grov_tools::{Answer, ErrorKind, Registry, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::ErrorKind as IoKind;
use std::path::{Component, Path, PathBuf};
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

/// Whether a path below `.claude` contains a link, which may lead anywhere. The user's own `.claude` may be one.
fn is_linked(scope: &Scope, path: &Path) -> bool {
    let claude = scope.claude();
    let is_checked = |path: &&Path| match scope {
        Scope::Project(_) => path.starts_with(&claude),
        Scope::User(_) => path.starts_with(&claude) && **path != *claude,
    };
    let mut parts = path.ancestors().take_while(is_checked);
    parts.any(Path::is_symlink)
}

/// Whether [`install`] could have written a path below `.claude`.
fn is_own(path: &str) -> bool {
    let path = Path::new(path);
    let is_normal = |part| matches!(part, Component::Normal(_));
    let folders = ["envoy", "skills", "agents"];
    path.components().all(is_normal) && folders.iter().any(|folder| path.starts_with(folder))
}

/// The record, without paths that are not ours: a project may bring a record of its own.
fn load(scope: &Scope) -> Result<Record, ToolError> {
    let path = scope.claude().join(RECORD);
    if is_linked(scope, &path) {
        return Err(ToolError::new(
            ErrorKind::Io,
            format!(
                "{} is reached through a link, so nothing is written there",
                path.display()
            ),
        )
        .hint("replace the link, or use --scope user"));
    }
    let Some(text) = read(&path)? else {
        return Ok(Record::default());
    };
    let mut record: Record = serde_json::from_slice(&text).map_err(|error| {
        ToolError::new(
            ErrorKind::Io,
            format!("{} cannot be read: {error}", path.display()),
        )
        .hint("restore it, or remove .claude/envoy yourself")
    })?;
    record.files.retain(|(path, _)| is_own(path));
    record.directories.retain(|path| path.is_empty() || is_own(path));
    Ok(record)
}

/// The content of CLAUDE.md. A link of a project must not lead out of it.
fn claude_md_of(scope: &Scope) -> Result<Option<Vec<u8>>, ToolError> {
    let path = scope.claude_md();
    if let Scope::Project(root) = scope
        && path.is_symlink()
    {
        let (root, real) = (
            root.canonicalize().map_err(io(root))?,
            path.canonicalize().map_err(io(&path))?,
        );
        if !real.starts_with(root) {
            return Err(ToolError::new(
                ErrorKind::Io,
                format!(
                    "{} is a link to a file outside of the project, so it is not changed",
                    path.display()
                ),
            )
            .hint("replace the link by a file"));
        }
    }
    read(&path)
}

/// Creates a directory and records those that did not exist.
fn create(root: &Path, directory: &Path, record: &mut Record) -> Result<(), ToolError> {
    let mut missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
    missing.reverse();
    std::fs::create_dir_all(directory).map_err(io(directory))?;
    for path in missing {
        let Ok(below) = path.strip_prefix(root) else {
            continue;
        };
        let below = below.to_string_lossy().into_owned();
        if !record.directories.contains(&below) {
            record.directories.push(below);
        }
    }
    Ok(())
}

/// What an installation did.
#[derive(Default)]
struct Done {
    written: Vec<String>,
    kept: Vec<String>,
    unchanged: usize,
}

/// CLAUDE.md before and after the block is added.
struct ClaudeMd {
    path: PathBuf,
    is_new: bool,
    old: String,
    new: String,
}

impl ClaudeMd {
    fn read(scope: &Scope) -> Result<Self, ToolError> {
        let path = scope.claude_md();
        let present = claude_md_of(scope)?;
        let is_new = present.is_none();
        let old = String::from_utf8(present.unwrap_or_default()).map_err(|_| {
            ToolError::new(
                ErrorKind::Io,
                format!("{} is not UTF-8, so nothing is added to it", path.display()),
            )
            .hint("convert it to UTF-8")
        })?;
        let new = with_block(&old).map_err(broken(&path))?;
        Ok(Self {
            path,
            is_new,
            old,
            new,
        })
    }
}

fn broken(path: &Path) -> impl Fn(BrokenBlock) -> ToolError {
    move |error| {
        ToolError::new(ErrorKind::Io, format!("{}: {error}", path.display()))
            .hint("restore the end of the block, or remove the block yourself")
    }
}

/// Installs the files and the block in CLAUDE.md. A file of the user's own is kept.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn install(registry: &Registry, scope: &Scope, dry_run: bool) -> Result<Answer, ToolError> {
    let claude = scope.claude();
    let mut record = load(scope)?;
    // Read before anything is written, so that nothing is left behind if it cannot be changed.
    let claude_md = ClaudeMd::read(scope)?;
    let mut done = Done::default();
    let result = install_files(registry, scope, dry_run, &mut record, &mut done)
        .and_then(|()| install_block(&claude_md, &claude, dry_run, &mut record, &mut done));
    if !dry_run {
        // Also after an error, so that what was written can be removed.
        let path = claude.join(RECORD);
        let saved = std::fs::write(&path, json!(record).to_string()).map_err(io(&path));
        result.and(saved)?;
    } else {
        result?;
    }
    let Done {
        written,
        kept,
        unchanged,
    } = done;
    Ok(answer(
        json!({"written": written, "kept": kept, "unchanged": unchanged, "dry_run": dry_run}),
    ))
}

fn install_files(
    registry: &Registry,
    scope: &Scope,
    dry_run: bool,
    record: &mut Record,
    done: &mut Done,
) -> Result<(), ToolError> {
    let claude = scope.claude();
    for file in files(registry) {
        let path = claude.join(&file.path);
        let shown = path.display().to_string();
        if is_linked(scope, &path) {
            done.kept.push(shown);
            continue;
        }
        let present = read(&path)?;
        let mut known = record.files.iter().filter(|(known, _)| *known == file.path);
        let known = known.next().map(|(_, hash)| hash.clone());
        let is_same = present.as_deref() == Some(file.content.as_bytes());
        match &present {
            _ if is_same => done.unchanged += 1,
            // Not ours, or changed by the user since.
            Some(content) if known.as_ref() != Some(&hash(content)) => {
                done.kept.push(shown);
                continue;
            }
            _ => done.written.push(shown),
        }
        if dry_run {
            continue;
        }
        if !is_same {
            if let Some(folder) = path.parent() {
                create(&claude, folder, record)?;
            }
            std::fs::write(&path, &file.content).map_err(io(&path))?;
        }
        record.files.retain(|(known, _)| *known != file.path);
        record.files.push((file.path, hash(file.content.as_bytes())));
    }
    Ok(())
}

fn install_block(
    claude_md: &ClaudeMd,
    claude: &Path,
    dry_run: bool,
    record: &mut Record,
    done: &mut Done,
) -> Result<(), ToolError> {
    let path = &claude_md.path;
    if claude_md.new == claude_md.old {
        done.unchanged += 1;
        return Ok(());
    }
    if !dry_run {
        if let Some(folder) = path.parent() {
            create(claude, folder, record)?;
        }
        std::fs::write(path, &claude_md.new).map_err(io(path))?;
        record.created_claude_md |= claude_md.is_new;
    }
    done.written.push(path.display().to_string());
    Ok(())
}

/// Removes what [`install`] wrote. Files that the user changed are kept.
///
/// # Errors
///
/// If a file cannot be read or removed.
pub fn uninstall(scope: &Scope, dry_run: bool) -> Result<Answer, ToolError> {
    let claude = scope.claude();
    let record = load(scope)?;
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    let remove = |path: &Path| match std::fs::remove_file(path) {
        Err(error) if error.kind() != IoKind::NotFound => Err(io(path)(error)),
        _ => Ok(()),
    };
    let path = scope.claude_md();
    if let Some(text) = claude_md_of(scope)?.and_then(|content| String::from_utf8(content).ok())
        && let Some(without) = without_block(&text).map_err(broken(&path))?
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
        let is_linked = is_linked(scope, &path);
        let Some(content) = read(&path)? else { continue };
        if is_linked || hash(&content) != *known {
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
            if is_linked(scope, &claude.join(directory)) {
                continue;
            }
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
    fn a_record_of_the_project_removes_nothing_outside_of_the_installation() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        let (outside, source) = (folder.path().join("notes"), root.join("main.rs"));
        std::fs::create_dir_all(root.join(".claude/envoy")).unwrap();
        std::fs::create_dir_all(folder.path().join("empty")).unwrap();
        for path in [&outside, &source] {
            std::fs::write(path, "mine").unwrap();
        }
        let known = hash(b"mine");
        std::os::unix::fs::symlink(folder.path(), root.join(".claude/skills")).unwrap();
        let record = json!({
            "files": [["../../notes", known], [outside, known], ["envoy/../../main.rs", known], ["skills/notes", known]],
            "directories": ["../../empty", folder.path().join("empty"), "skills/empty"],
            "created_claude_md": false,
        });
        std::fs::write(root.join(".claude").join(RECORD), record.to_string()).unwrap();
        uninstall(&Scope::Project(root), false).unwrap();
        assert!(outside.exists() && source.exists() && folder.path().join("empty").exists());
    }

    #[test]
    fn nothing_is_written_through_links_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let (root, target) = (folder.path().join("project"), folder.path().join("target"));
        std::fs::create_dir_all(root.join(".claude")).unwrap();
        std::fs::create_dir(&target).unwrap();
        let scope = Scope::Project(root.clone());
        let install = || install(&Registry::built_in(), &scope, false);
        let link = |path: &str| {
            std::os::unix::fs::symlink(&target, root.join(path)).unwrap();
            root.join(path)
        };
        let envoy = link(".claude/envoy");
        assert_eq!(install().unwrap_err().kind, ErrorKind::Io);
        std::fs::remove_file(envoy).unwrap();
        link(".claude/skills");
        let kept = install().unwrap().data["kept"].as_array().unwrap().len();
        assert_eq!((kept, tree(&target).len()), (3, 0));
        uninstall(&scope, false).unwrap();
        let notes = folder.path().join("notes.md");
        std::fs::write(&notes, "mine").unwrap();
        std::os::unix::fs::symlink(&notes, root.join("CLAUDE.md")).unwrap();
        assert_eq!(install().unwrap_err().kind, ErrorKind::Io);
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
    }

    #[test]
    fn nothing_is_installed_if_claude_md_cannot_be_changed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("CLAUDE.md"), b"\xff").unwrap();
        let before = tree(folder.path());
        let scope = Scope::Project(folder.path().to_owned());
        assert!(install(&Registry::built_in(), &scope, false).is_err());
        assert_eq!(tree(folder.path()), before);
    }

    #[test]
    fn an_installation_that_failed_is_recorded_and_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join(".claude")).unwrap();
        std::fs::write(root.join(".claude/skills"), "a file").unwrap();
        let before = tree(root);
        let scope = Scope::Project(root.to_owned());
        assert!(install(&Registry::built_in(), &scope, false).is_err());
        assert!(root.join(".claude").join(RECORD).is_file());
        uninstall(&scope, false).unwrap();
        assert_eq!(tree(root), before);
    }

    #[test]
    fn identical_files_without_a_record_are_adopted() {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::Project(folder.path().to_owned());
        install(&Registry::built_in(), &scope, false).unwrap();
        std::fs::remove_file(folder.path().join(".claude").join(RECORD)).unwrap();
        let again = install(&Registry::built_in(), &scope, false).unwrap();
        assert_eq!(again.data["kept"], json!([]));
        uninstall(&scope, false).unwrap();
        assert!(!folder.path().join(".claude/envoy/README.md").exists());
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
