//! A user with a home directory and a working directory, who runs `grov`.

use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) struct Scene {
    /// Removed when the scene ends.
    _directory: TempDir,
    root: PathBuf,
    environment: Vec<(String, String)>,
}

/// The exit code and output of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::create_dir_all(root.join("work")).unwrap();
        let home = root.join("home").to_str().unwrap().to_owned();
        let environment = vec![
            ("HOME".to_owned(), home),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ];
        Self {
            _directory: directory,
            root,
            environment,
        }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn folder(&self, relative: &str) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Creates the files of a git repository.
    pub(crate) fn repository(&self, relative: &str, remote: &str) -> PathBuf {
        self.write(&format!("{relative}/.git/HEAD"), "ref: refs/heads/main\n");
        self.write(
            &format!("{relative}/.git/config"),
            &format!("[remote \"origin\"]\nurl = {remote}\n"),
        );
        self.folder(&format!("{relative}/.git/objects"));
        self.folder(&format!("{relative}/.git/refs"));
        self.path(relative)
    }

    /// Whether the Grov home does not exist yet.
    pub(crate) fn is_untouched(&self) -> bool {
        std::fs::read_dir(self.path("home")).unwrap().count() == 0
    }

    pub(crate) fn within<'a>(&'a self, directory: &'a Path) -> Within<'a> {
        Within {
            scene: self,
            directory,
        }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_grov"));
        command.env_clear().envs(self.environment.iter().cloned());
        command.current_dir(self.root.join("work")).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        Ended::of(&self.command().args(words).output().unwrap())
    }

    pub(crate) fn run_os(&self, words: &[OsString]) -> Ended {
        Ended::of(&self.command().args(words).output().unwrap())
    }

    /// Runs a `grov` that has no `envoy` next to it.
    pub(crate) fn run_alone(&self, words: &[&str]) -> Ended {
        let own = self.folder("alone").join("grov");
        if !own.exists() {
            let grov = env!("CARGO_BIN_EXE_grov");
            if std::fs::hard_link(grov, &own).is_err() {
                std::fs::copy(grov, &own).unwrap();
            }
        }
        let like = self.command();
        let mut command = Command::new(own);
        command.env_clear().envs(self.environment.iter().cloned());
        command
            .current_dir(like.get_current_dir().unwrap())
            .stdin(Stdio::null());
        Ended::of(&command.args(words).output().unwrap())
    }

    /// Runs with a standard output that is closed.
    pub(crate) fn run_with_closed_output(&self, words: &[&str]) -> Ended {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Ended::of(
            &self
                .command()
                .args(words)
                .stdout(writer)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
                .wait_with_output()
                .unwrap(),
        )
    }

    /// Runs with `--json`; the command must succeed.
    pub(crate) fn ask(&self, words: &[&str]) -> Value {
        self.within(&self.path("work")).ask(words)
    }
}

/// A scene in another working directory.
pub(crate) struct Within<'a> {
    scene: &'a Scene,
    directory: &'a Path,
}

impl Within<'_> {
    pub(crate) fn ask(&self, words: &[&str]) -> Value {
        let output = self
            .scene
            .command()
            .current_dir(self.directory)
            .args(words)
            .arg("--json")
            .output()
            .unwrap();
        let ended = Ended::of(&output);
        assert_eq!(ended.code, 0, "{words:?}: {}{}", ended.stdout, ended.stderr);
        json(&ended)
    }
}

impl Ended {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The JSON object on standard output.
pub(crate) fn json(ended: &Ended) -> Value {
    let value: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!(value["schema"], 1, "{value}");
    assert!(value.is_object() && ended.stdout.ends_with("}\n") && ended.stdout.lines().count() == 1);
    value
}
