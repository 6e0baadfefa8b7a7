//! Runs the `git` program, which only reads here: no locks, no network, no pager.

mod merged;
mod refs;

pub(crate) use merged::{Comparison, compare};
pub(crate) use refs::Refs;

use crate::{Branch, PlanError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Variables that name another repository or index; git sets some of them for its hooks.
const LOCAL: [&str; 14] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
/// The time limit of one command if the caller sets none.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum length of an error message in characters.
const MAX_MESSAGE: usize = 300;

/// The `git` program in a working tree.
#[derive(Clone, Debug)]
pub struct Git {
    tree: PathBuf,
    until: Option<Instant>,
    /// A directory for objects that a command writes, so that it does not write to the repository.
    objects: Option<(PathBuf, PathBuf)>,
}

/// The result of a command.
struct Output {
    is_success: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Git {
    /// Git in a working tree.
    pub fn at(tree: &Path) -> Self {
        Self {
            tree: tree.to_owned(),
            until: None,
            objects: None,
        }
    }

    /// Ends all commands at this time.
    #[must_use]
    pub fn until(mut self, until: Instant) -> Self {
        self.until = Some(until);
        self
    }

    /// The working tree.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// The checked-out branch and commit, for repositories whose references are not in files that the caller can read.
    ///
    /// # Errors
    /// Git fails or takes too long.
    pub fn head(&self) -> Result<(Branch, Option<String>), PlanError> {
        let name = self.try_read(&["symbolic-ref", "--quiet", "HEAD"])?;
        let branch = name.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
        let commit = self.try_read(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?;
        Ok((Branch::of(branch), commit))
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// New objects go to `objects` instead of the repository, whose own are in `existing`.
    fn writing_to(&self, objects: &Path, existing: &Path) -> Self {
        Self {
            objects: Some((objects.to_owned(), existing.to_owned())),
            ..self.clone()
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for name in LOCAL {
            command.env_remove(name);
        }
        command
            .arg("--no-pager")
            .arg("--literal-pathspecs")
            .args(arguments)
            .current_dir(&self.tree)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // A partial clone must not fetch.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some((objects, existing)) = &self.objects {
            command
                .env("GIT_OBJECT_DIRECTORY", objects)
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", existing);
        }
        command
    }

    fn run(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<Output, PlanError> {
        let mut command = self.command(arguments);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(PlanError::NoGit)?;
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            let input = input.to_vec();
            // A command that ends before it has read everything reports its own error.
            std::thread::spawn(move || stdin.write_all(&input));
        }
        self.finish(arguments, vec![child])
    }

    /// Runs `first` with `second` reading its output.
    fn run_piped(&self, first: &[&str], input: Option<&[u8]>, second: &[&str]) -> Result<Output, PlanError> {
        let mut writer = self.command(first);
        writer.stderr(Stdio::null());
        if input.is_some() {
            writer.stdin(Stdio::piped());
        }
        let mut writer = writer.spawn().map_err(PlanError::NoGit)?;
        if let (Some(input), Some(mut stdin)) = (input, writer.stdin.take()) {
            let input = input.to_vec();
            std::thread::spawn(move || stdin.write_all(&input));
        }
        let mut reader = self.command(second);
        if let Some(output) = writer.stdout.take() {
            reader.stdin(output);
        }
        match reader.spawn() {
            Ok(reader) => self.finish(first, vec![reader, writer]),
            Err(error) => {
                end(&mut writer);
                Err(PlanError::NoGit(error))
            }
        }
    }

    /// Reads the output of the first process and waits for all of them.
    fn finish(&self, arguments: &[&str], mut children: Vec<Child>) -> Result<Output, PlanError> {
        let until = self.until.unwrap_or_else(|| Instant::now() + TIMEOUT);
        let (sender, receiver) = mpsc::channel();
        let (stdout, stderr) = (children[0].stdout.take(), children[0].stderr.take());
        std::thread::spawn(move || {
            let errors = std::thread::spawn(move || read_all(stderr));
            let output = read_all(stdout);
            let errors = errors.join().unwrap_or_default();
            // Nobody waits any more after a timeout.
            let _ = sender.send((output, errors));
        });
        let read = receiver.recv_timeout(until.saturating_duration_since(Instant::now()));
        let Ok((stdout, stderr)) = read else {
            children.iter_mut().for_each(end);
            return Err(PlanError::GitTimedOut {
                command: name(arguments),
            });
        };
        let mut statuses = Vec::new();
        for child in &mut children {
            statuses.push(child.wait().map_err(PlanError::NoGit)?);
        }
        Ok(Output {
            is_success: statuses.iter().all(std::process::ExitStatus::success),
            stdout,
            stderr,
        })
    }

    /// The output of a command that must succeed.
    pub(crate) fn read(&self, arguments: &[&str]) -> Result<String, PlanError> {
        self.read_with(arguments, None)
    }

    /// Like [`Git::read`], with this standard input.
    pub(crate) fn read_with(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<String, PlanError> {
        let output = self.run(arguments, input)?;
        if output.is_success {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim().replace('\n', "; ");
        Err(PlanError::Git {
            command: name(arguments),
            message: message.chars().take(MAX_MESSAGE).collect(),
        })
    }

    /// The output of a command without its last newline; `None` if it fails, which tells that something does not exist.
    pub(crate) fn try_read(&self, arguments: &[&str]) -> Result<Option<String>, PlanError> {
        match self.read(arguments) {
            Ok(text) => Ok(Some(text.trim_end_matches('\n').to_owned())),
            Err(PlanError::Git { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn name(arguments: &[&str]) -> String {
    arguments.first().copied().unwrap_or_default().to_owned()
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

fn read_all(source: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut source) = source {
        // What was read before an error is used; the exit status tells whether it is all.
        let _ = source.read_to_end(&mut bytes);
    }
    bytes
}
