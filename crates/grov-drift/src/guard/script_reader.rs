//! Reads the scripts that a command runs.
//!
//! Only regular files are read: those of the project, temporary files, and files written today. At most
//! [`MAX_FILES`] files of at most 64 KiB each, and scripts that they run in turn.

use grov_actions::{ScriptFile, script_files};
use grov_scope::RunScript;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Maximum number of files that are read for one command.
const MAX_FILES: usize = 6;
/// Maximum length of a file in bytes. Longer ones are not read.
const MAX_BYTES: u64 = 64 * 1024;
/// Maximum nesting of scripts that run scripts.
const MAX_DEPTH: usize = 2;
/// A file outside the project is read only if it is younger: the session may have written it.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the scripts that a command runs in `directory`. Each comes after the one that runs it.
pub(super) fn read_scripts(command: &str, directory: &Path, root: &Path) -> Vec<RunScript> {
    let mut scripts: Vec<RunScript> = Vec::new();
    let files = script_files(command, directory.to_str());
    if files.is_empty() {
        return scripts;
    }
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut waiting: VecDeque<(ScriptFile, Option<usize>, usize)> =
        files.into_iter().map(|file| (file, None, 1)).collect();
    while let Some((file, run_by, depth)) = waiting.pop_front() {
        if scripts.len() >= MAX_FILES {
            break;
        }
        let Some((path, text)) = file.paths.iter().find_map(|path| read(path, directory, &root)) else {
            continue;
        };
        let is_known =
            |script: &RunScript| script.path == path && script.targets == file.targets && script.text == text;
        if scripts.iter().any(is_known) {
            continue;
        }
        let commands = file.commands(&path, &text);
        if depth < MAX_DEPTH {
            let number = Some(scripts.len());
            waiting.extend(commands.files.into_iter().map(|inner| (inner, number, depth + 1)));
        }
        scripts.push(RunScript {
            path,
            targets: file.targets,
            folder: file.folder,
            text,
            line: commands.line,
            run_by,
        });
    }
    scripts
}

/// The path and the text of a file; `None` if it may not be read.
fn read(path: &str, directory: &Path, root: &Path) -> Option<(String, String)> {
    if path.starts_with(['~', '$']) {
        return None;
    }
    let place = directory.join(path).canonicalize().ok()?;
    // These are no ordinary files: reading them can block or have effects.
    if ["/proc", "/sys", "/dev"]
        .iter()
        .any(|folder| place.starts_with(folder))
    {
        return None;
    }
    let metadata = place.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
    if !belongs_to_work(&place, root, age) {
        return None;
    }
    let mut bytes = Vec::new();
    let length = File::open(&place)
        .ok()?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|_| length as u64 <= MAX_BYTES)?;
    Some((place.to_str()?.to_owned(), text))
}

/// Whether a file belongs to the project or may have been written in this session. Links are already resolved.
fn belongs_to_work(place: &Path, root: &Path, age: Option<Duration>) -> bool {
    let temporary = std::env::temp_dir();
    let is_temporary = place.starts_with(&temporary)
        || place.starts_with("/tmp")
        || temporary
            .canonicalize()
            .is_ok_and(|folder| place.starts_with(folder));
    place.starts_with(root) || is_temporary || age.is_some_and(|age| age < MAX_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The paths below the project that are read for a command, and the number of programs in each.
    fn read_for(command: &str, project: &Path) -> Vec<(String, usize)> {
        let scripts = read_scripts(command, project, project);
        let root = project.canonicalize().unwrap();
        let name = |script: &RunScript| {
            Path::new(&script.path)
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        };
        scripts
            .iter()
            .map(|script| (name(script), script.line.programs.len()))
            .collect()
    }

    #[test]
    fn scripts_are_read_with_those_that_they_run() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path();
        fs::write(project.join("a.sh"), "rm x\nsh b.sh\n").unwrap();
        fs::write(project.join("b.sh"), "ls\nsh c.sh\n").unwrap();
        fs::write(project.join("c.sh"), "ls\n").unwrap();
        assert_eq!(
            read_for("sh a.sh", project),
            [("a.sh".to_owned(), 2), ("b.sh".to_owned(), 2)]
        );
        assert_eq!(read_for("sh missing.sh; ls a.sh", project), []);
        fs::write(project.join("loop.sh"), "sh loop.sh\n").unwrap();
        assert_eq!(read_for("sh loop.sh", project), [("loop.sh".to_owned(), 1)]);
    }

    #[test]
    fn long_files_binaries_and_folders_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path();
        fs::write(project.join("long.sh"), "#".repeat(65 * 1024)).unwrap();
        fs::write(project.join("binary"), [0xff, 0xfe, 0, 1]).unwrap();
        fs::create_dir(project.join("folder")).unwrap();
        assert_eq!(
            read_for(
                "sh long.sh; ./binary; sh folder; sh /dev/zero; sh /proc/version",
                project
            ),
            []
        );
    }

    #[test]
    fn old_files_outside_the_project_are_not_read() {
        let root = Path::new("/home/me/p");
        let belongs = |place: &str, hours: u64| {
            belongs_to_work(Path::new(place), root, Some(Duration::from_secs(hours * 3600)))
        };
        assert!(belongs("/home/me/p/x.sh", 999) && belongs("/tmp/x.sh", 999) && belongs("/home/me/x.sh", 1));
        assert!(!belongs("/home/me/x.sh", 999) && !belongs_to_work(Path::new("/home/me/x.sh"), root, None));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_opened_and_links_are_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path();
        let pipe = project.join("pipe.sh");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(read_for("sh pipe.sh", project), []);
        }
        std::os::unix::fs::symlink("/dev/tty", project.join("link.sh")).unwrap();
        assert_eq!(read_for("sh link.sh", project), []);
        fs::write(project.join("own.sh"), "ls\n").unwrap();
        std::os::unix::fs::symlink(project.join("own.sh"), project.join("inside.sh")).unwrap();
        assert_eq!(read_for("sh inside.sh", project), [("own.sh".to_owned(), 1)]);
    }
}
