//! A user unit with socket activation: systemd listens, and starts the daemon with the first connection.

use super::{Service, ServiceFile, words};
use crate::failure::Failure;
use grov_runtime::Environment;
use std::path::{Path, PathBuf};

const SOCKET: &str = "grov-proxyd.socket";
const SERVICE: &str = "grov-proxyd.service";
const NOTE: &str = "# Written by `grov service install`. `grov service remove` removes it.\n";

pub(super) fn files(service: &Service<'_>, environment: &Environment) -> Result<Vec<ServiceFile>, Failure> {
    let folder = folder(environment)?;
    Ok(vec![
        ServiceFile {
            path: folder.join(SOCKET),
            text: socket(service),
        },
        ServiceFile {
            path: folder.join(SERVICE),
            text: unit(service)?,
        },
    ])
}

fn folder(environment: &Environment) -> Result<PathBuf, Failure> {
    let configured = environment.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = || Some(Path::new(environment.get("HOME")?).join(".config"));
    let folder = configured.filter(|folder| folder.is_absolute()).or_else(home);
    let folder = folder.map(|folder| folder.join("systemd/user"));
    folder.ok_or_else(|| {
        let failure = Failure::error(
            "service",
            "systemd's directory is unknown: there is no home directory",
        );
        failure.hint("set HOME")
    })
}

fn socket(service: &Service<'_>) -> String {
    format!(
        "{NOTE}[Unit]\n\
        Description=Grov's proxy (socket)\n\n\
        [Socket]\n\
        ListenStream={}\n\
        FileDescriptorName=proxy\n\
        Backlog=1024\n\n\
        [Install]\n\
        WantedBy=sockets.target\n",
        service.address
    )
}

/// A restart within the service tells systemd the process id of the successor, hence `NotifyAccess=all`.
fn unit(service: &Service<'_>) -> Result<String, Failure> {
    Ok(format!(
        "{NOTE}[Unit]\n\
        Description=Grov's proxy between coding agents and their models\n\
        Requires={SOCKET}\n\
        After={SOCKET}\n\n\
        [Service]\n\
        Type=notify\n\
        NotifyAccess=all\n\
        ExecStart={} --home {}\n\
        Environment={}\n\
        Restart=on-failure\n\
        RestartSec=1\n\
        WatchdogSec=60\n\
        TimeoutStopSec=45\n\
        NoNewPrivileges=yes\n\n\
        [Install]\n\
        Also={SOCKET}\n\
        WantedBy=default.target\n",
        executable(service.program)?,
        quoted(service.home)?,
        assignment("GROV_LOG_FILE", service.log)?,
    ))
}

pub(super) fn enabling() -> Vec<Vec<String>> {
    vec![
        reload(),
        words(&format!("systemctl --user enable --now {SOCKET}")),
    ]
}

pub(super) fn disabling() -> Vec<Vec<String>> {
    vec![words(&format!(
        "systemctl --user disable --now {SOCKET} {SERVICE}"
    ))]
}

pub(super) fn reload() -> Vec<String> {
    words("systemctl --user daemon-reload")
}

pub(super) fn asking() -> Vec<String> {
    words(&format!("systemctl --user is-enabled {SOCKET}"))
}

/// The program of a command line: systemd accepts no quotes in it, and no variables.
fn executable(path: &Path) -> Result<String, Failure> {
    let text = escaped(path)?;
    if text.contains(['"', '\'', '\\']) {
        let message = format!("systemd cannot start a program with the path {}", path.display());
        return Err(Failure::error("service", message)
            .hint("move grov-proxyd to a directory without quotes in its name"));
    }
    Ok(format!("\"{text}\""))
}

/// A word of a command line in a unit file.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = escaped(path)?;
    // In a command line, `$` begins a variable.
    Ok(format!("\"{}\"", text.replace('$', "$$")))
}

fn assignment(name: &str, path: &Path) -> Result<String, Failure> {
    Ok(format!("\"{name}={}\"", escaped(path)?))
}

/// A path in double quotes, with specifiers (`%`) doubled.
fn escaped(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or_else(|| {
        let message = format!("systemd cannot use the path {}", path.display());
        Failure::error("service", message)
    })?;
    Ok(text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_units_are_valid_for_systemd() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a b $c %d/grov-proxyd");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::copy("/bin/true", &program).unwrap();
        let home = folder.path().join("h \"o\" $m %e");
        let service = Service {
            program: &program,
            home: &home,
            log: &home.join("logs/proxy.log"),
            address: ([127, 0, 0, 1], 8080).into(),
        };
        let config = folder.path().to_str().unwrap();
        let environment: Environment = [("XDG_CONFIG_HOME", config)].into_iter().collect();
        let files = files(&service, &environment).unwrap();
        std::fs::create_dir_all(files[0].path.parent().unwrap()).unwrap();
        for file in &files {
            std::fs::write(&file.path, &file.text).unwrap();
        }
        let mut verify = Command::new("systemd-analyze");
        verify.args(["--user", "verify", "--man=no"]);
        for file in &files {
            verify.arg(&file.path);
        }
        verify.env("XDG_RUNTIME_DIR", folder.path());
        let Ok(output) = verify.output() else {
            eprintln!("SKIPPED: systemd-analyze is not installed");
            return;
        };
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && printed.trim().is_empty(),
            "{printed}\n{}",
            files[1].text
        );
    }

    #[test]
    fn a_path_that_systemd_cannot_use_is_refused() {
        assert!(quoted(Path::new("/a\nb")).is_err() && executable(Path::new("/a\"b")).is_err());
        assert_eq!(quoted(Path::new("/a b$c%d\"")).unwrap(), "\"/a b$$c%%d\\\"\"");
    }
}
