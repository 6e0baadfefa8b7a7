//! Finds the client's transcripts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The client's folders with transcripts: those of `CLAUDE_CONFIG_DIR`, separated by commas, or else `claude` in
/// `XDG_CONFIG_HOME` and `.claude` in the user's home. Only folders that exist.
pub fn client_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let path = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let folders = match path("CLAUDE_CONFIG_DIR") {
        Some(folders) => {
            let text = folders.to_string_lossy().into_owned();
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            parts.map(|part| config_folder(Path::new(part))).collect()
        }
        None => {
            let home = path("HOME");
            let config = path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
            let of_config = config.map(|config| config.join("claude"));
            let of_home = home.map(|home| home.join(".claude"));
            of_config.into_iter().chain(of_home).collect::<Vec<_>>()
        }
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let projects = folder.join("projects");
        if projects.is_dir() && !found.contains(&projects) {
            found.push(projects);
        }
    }
    found
}

/// The folder of a configuration, which may be named by its folder with transcripts.
fn config_folder(path: &Path) -> PathBuf {
    let is_projects = path.file_name().is_some_and(|name| name == "projects") && path.is_dir();
    match path.parent() {
        Some(parent) if is_projects => parent.to_owned(),
        _ => path.to_owned(),
    }
}

/// The transcripts below folders, with their sizes in bytes, in the order of their paths. What cannot be read is left out.
pub fn transcripts_below(folders: &[PathBuf]) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for folder in folders {
        collect(folder, &mut found);
    }
    found.sort_by_cached_key(|(path, _)| path.to_string_lossy().into_owned());
    found
}

/// The transcripts of a session: its own, and those of its subagents in the folder beside it.
pub fn transcripts_of(transcript: &Path) -> Vec<(PathBuf, u64)> {
    let size = std::fs::metadata(transcript)
        .ok()
        .filter(std::fs::Metadata::is_file);
    let mut found: Vec<(PathBuf, u64)> = size
        .map(|metadata| (transcript.to_owned(), metadata.len()))
        .into_iter()
        .collect();
    found.extend(transcripts_below(&[transcript.with_extension("")]));
    found
}

/// The transcript of a session in the client's folders; `None` if there is none, or the id is no file name.
pub fn transcript_named(folders: &[PathBuf], session: &str) -> Option<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if session.is_empty() || !session.bytes().all(is_plain) {
        return None;
    }
    let name = format!("{session}.jsonl");
    let projects = folders.iter().flat_map(std::fs::read_dir);
    let mut transcripts = projects
        .flatten()
        .flatten()
        .map(|project| project.path().join(&name));
    transcripts.find(|path| path.is_file())
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, u64)>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let path = entry.path();
        // Links to folders are not followed: they may form a circle.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl")
            && let Some(metadata) = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)
        {
            found.push((path, metadata.len()));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_found_at_every_depth_and_in_every_folder() {
        let root = tempfile::tempdir().unwrap();
        let one = root.path().join("one");
        let two = root.path().join("two");
        for path in [
            "one/projects/p/s.jsonl",
            "one/projects/p/s/subagents/agent-a.jsonl",
            "two/projects/q/t.jsonl",
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::fs::write(one.join("projects/p/notes.txt"), "x").unwrap();
        let named = format!("{}, {}/projects,/nowhere", one.display(), two.display());
        let folders = client_folders(|name| (name == "CLAUDE_CONFIG_DIR").then(|| named.clone().into()));
        assert_eq!(folders, [one.join("projects"), two.join("projects")]);
        let found: Vec<PathBuf> = transcripts_below(&folders)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        let session = one.join("projects/p/s.jsonl");
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], session);
        let own = transcripts_of(&session);
        assert_eq!(own.len(), 2, "{own:?}");
        assert_eq!(transcripts_of(&one.join("projects/p/gone.jsonl")), []);
    }

    #[test]
    fn the_users_home_is_searched_by_default() {
        let root = tempfile::tempdir().unwrap();
        let projects = root.path().join(".claude/projects");
        std::fs::create_dir_all(&projects).unwrap();
        let home = root.path().as_os_str().to_owned();
        assert_eq!(
            client_folders(|name| (name == "HOME").then(|| home.clone())),
            [projects]
        );
        assert!(client_folders(|_| None).is_empty());
    }
}
