//! A function of the user's shell that runs the client by `grov run`: every session in a terminal then goes through the proxy,
//! and no setting of the client is changed.

use crate::context::Context;
use crate::failure::Failure;
use crate::written_files::{ChangeKind, FileChange, Purpose, WrittenFiles};
use grov_runtime::Environment;
use std::path::{Path, PathBuf};

const NOTE: &str = "# Claude Code runs through Grov. `grov unregister` removes these lines.";

/// The file for the function, and its text.
struct ShellFile {
    path: PathBuf,
    text: String,
    /// Whether the file has nothing else, so that the text is the whole of it.
    is_whole: bool,
}

/// Writes the function. `program` is this program as a shell word.
pub(super) fn write(
    context: &Context,
    environment: &Environment,
    program: &str,
) -> Result<FileChange, Failure> {
    let file = shell_file(environment, program)?;
    let mut written = WrittenFiles::open(&context.home)?;
    match file.is_whole {
        true => written.write(Purpose::Shell, &file.path, &file.text),
        false => written.append(Purpose::Shell, &file.path, &file.text),
    }
}

/// What [`write`](fn@write) would do.
pub(super) fn planned(environment: &Environment, program: &str) -> Result<FileChange, Failure> {
    let file = shell_file(environment, program)?;
    Ok(FileChange {
        path: file.path.to_string_lossy().into_owned(),
        change: ChangeKind::Written,
    })
}

/// Removes the function wherever Grov wrote it.
pub(super) fn remove(context: &Context, dry_run: bool) -> Result<Vec<FileChange>, Failure> {
    if !context.home.root().is_dir() {
        return Ok(Vec::new());
    }
    let mut written = WrittenFiles::open(&context.home)?;
    if !dry_run {
        return written.revert(Purpose::Shell);
    }
    let planned = |path: &Path| FileChange {
        path: path.to_string_lossy().into_owned(),
        change: ChangeKind::Restored,
    };
    Ok(written.paths(Purpose::Shell).map(planned).collect())
}

fn shell_file(environment: &Environment, program: &str) -> Result<ShellFile, Failure> {
    let shell = environment.get("SHELL").map(Path::new).and_then(Path::file_name);
    let shell = shell.and_then(|name| name.to_str()).unwrap_or_default();
    let folder = |name: &str| environment.get(name).map(PathBuf::from);
    let home = folder("HOME").ok_or_else(|| {
        let failure = Failure::error(
            "shell",
            "the shell's files cannot be found: there is no home directory",
        );
        failure.hint("set HOME")
    })?;
    // `function` keeps an alias of that name from being expanded.
    let posix = format!(
        "{NOTE}\n\
        function claude {{\n\
        \x20 if command -v {program} >/dev/null 2>&1; then {program} run -- claude \"$@\"; else command claude \"$@\"; fi\n\
        }}\n"
    );
    let appended = |path: PathBuf| ShellFile {
        path,
        text: posix.clone(),
        is_whole: false,
    };
    match shell {
        "bash" => Ok(appended(home.join(".bashrc"))),
        "zsh" => Ok(appended(folder("ZDOTDIR").unwrap_or(home).join(".zshrc"))),
        "fish" => {
            let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            Ok(ShellFile {
                path: config.join("fish/functions/claude.fish"),
                text: format!(
                    "{NOTE}\n\
                    function claude --wraps claude\n\
                    \x20   if command -q {program}\n\
                    \x20       {program} run -- claude $argv\n\
                    \x20   else\n\
                    \x20       command claude $argv\n\
                    \x20   end\n\
                    end\n"
                ),
                is_whole: true,
            })
        }
        other => {
            let message = format!("--mitm knows bash, zsh and fish, but SHELL is {other:?}");
            let failure = Failure::error("shell", message);
            Err(failure.hint(format!(
                "start the client with `{program} run -- claude`, or define a function that does"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn file(shell: &str) -> ShellFile {
        let variables = [("SHELL", shell), ("HOME", "/home/u")];
        shell_file(&variables.into_iter().collect(), "/opt/grov").unwrap()
    }

    #[test]
    fn each_shell_has_its_file() {
        assert_eq!(file("/bin/bash").path, Path::new("/home/u/.bashrc"));
        assert_eq!(file("/usr/bin/zsh").path, Path::new("/home/u/.zshrc"));
        assert_eq!(
            file("/usr/bin/fish").path,
            Path::new("/home/u/.config/fish/functions/claude.fish")
        );
        let variables = [("SHELL", "/bin/tcsh"), ("HOME", "/home/u")];
        assert!(shell_file(&variables.into_iter().collect(), "grov").is_err());
    }

    #[test]
    fn the_function_passes_every_argument() {
        let folder = tempfile::tempdir().unwrap();
        let fake = folder.path().join("grov");
        std::fs::write(&fake, "#!/bin/sh\nprintf '<%s>' \"$@\"\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        let variables = [("SHELL", "/bin/bash"), ("HOME", "/home/u")];
        let file = shell_file(&variables.into_iter().collect(), fake.to_str().unwrap()).unwrap();
        let script = format!("{}\nclaude -p 'a  b' '' \"c'd\"", file.text);
        for shell in ["bash", "zsh"] {
            let Ok(output) = Command::new(shell).args(["-c", &script]).output() else {
                continue;
            };
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                printed, "<run><--><claude><-p><a  b><><c'd>",
                "{shell}: {output:?}"
            );
        }
    }

    #[test]
    fn without_grov_the_client_runs_alone() {
        let folder = tempfile::tempdir().unwrap();
        let fake = folder.path().join("claude");
        std::fs::write(&fake, "#!/bin/sh\necho alone\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        let script = format!("{}\nclaude", file("bash").text);
        let mut bash = Command::new("bash");
        bash.args(["-c", &script])
            .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        let output = bash.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "alone\n");
    }
}
