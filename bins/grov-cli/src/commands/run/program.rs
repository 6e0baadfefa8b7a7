//! The command of `grov run`.

use crate::failure::Failure;
use crate::programs::{in_path, is_executable};
use grov_runtime::Environment;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The client, which runs if no command is named.
const CLIENT: &str = "claude";
/// Exit codes of shells for a command that does not exist and one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// A program that exists, and its arguments.
pub(super) struct Program {
    named: OsString,
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    /// Finds the program of a command line. One that is empty or begins with a dash is for the client, as in claude-hybrid.
    pub(super) fn find(words: &[OsString], environment: &Environment) -> Result<Self, Failure> {
        let (named, arguments) = match words {
            [first, rest @ ..] if !first.as_encoded_bytes().starts_with(b"-") => (first.clone(), rest),
            words => (CLIENT.into(), words),
        };
        let path = resolve(&named, environment)?;
        Ok(Self {
            named,
            path,
            arguments: arguments.to_vec(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// The name to run it by: as given, for programs that act by their name.
    pub(super) fn name(&self) -> &OsStr {
        &self.named
    }

    /// Whether it is the client.
    pub(super) fn is_client(&self) -> bool {
        Path::new(&self.named).file_name() == Some(OsStr::new(CLIENT))
    }

    pub(super) fn not_started(&self, error: &io::Error) -> Failure {
        let code = match error.kind() {
            ErrorKind::NotFound => NOT_FOUND,
            _ => NOT_EXECUTABLE,
        };
        let message = format!("cannot run {}: {error}", self.path.display());
        Failure::new("command", code, message)
    }
}

fn resolve(named: &OsStr, environment: &Environment) -> Result<PathBuf, Failure> {
    let shown = Path::new(named).display();
    if named.as_encoded_bytes().contains(&b'/') {
        let path = PathBuf::from(named);
        return match (path.exists(), is_executable(&path)) {
            (_, true) => Ok(path),
            (true, false) => Err(Failure::new(
                "command",
                NOT_EXECUTABLE,
                format!("{shown} is not executable"),
            )),
            (false, _) => Err(Failure::new(
                "command",
                NOT_FOUND,
                format!("{shown} does not exist"),
            )),
        };
    }
    // The client's own installer may put it there and define an alias, which programs do not see.
    let local = || Some(Path::new(environment.get("HOME")?).join(".claude/local/claude"));
    let local = || local().filter(|path| named == CLIENT && is_executable(path));
    let found = named.to_str().and_then(|name| in_path(name, environment).next());
    let found = found.or_else(local);
    found.ok_or_else(|| {
        let failure = Failure::new("command", NOT_FOUND, format!("{shown} is not in PATH"));
        failure.hint(match named == CLIENT {
            true => "install Claude Code, or name its program: grov run -- /path/to/claude",
            false => "name a program that is installed: grov run -- COMMAND",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_alone_are_for_the_client() {
        let folder = tempfile::tempdir().unwrap();
        let environment: Environment = [("PATH", folder.path().to_str().unwrap())].into_iter().collect();
        let words = |words: &[&str]| -> Vec<OsString> { words.iter().map(OsString::from).collect() };
        let missing = Program::find(&words(&["-p", "hi"]), &environment);
        assert!(matches!(missing, Err(Failure::Report(report)) if report.exit_code == NOT_FOUND));
        for name in ["claude", "other"] {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let found = Program::find(&words(&["-p", "hi"]), &environment).unwrap();
        assert!(found.is_client() && found.arguments() == words(&["-p", "hi"]));
        assert!(Program::find(&[], &environment).unwrap().is_client());
        let other = Program::find(&words(&["other", "-p"]), &environment).unwrap();
        assert!(!other.is_client() && other.path() == folder.path().join("other"));
    }
}
