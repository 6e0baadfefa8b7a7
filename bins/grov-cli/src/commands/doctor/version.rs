//! The client's version, and whether Grov is tested with it.

use super::Check;
use crate::programs::in_path;
use grov_runtime::Environment;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "client version";
const CLIENT: &str = "claude";
/// The client's release that Grov is tested with (`scripts/client/package.json`).
const TESTED: Version = [2, 1, 197];
/// The first release that runs hooks at all events that Grov uses.
const OLDEST: Version = [2, 1, 0];
/// The client starts an interpreter, which is slow on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const MAX_OUTPUT: u64 = 1024;

/// Major, minor, patch.
type Version = [u32; 3];

/// The first word that is a version: `2.1.197 (Claude Code)`.
fn find(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_start_matches('v').splitn(3, '.');
        let mut number = || {
            let digits = numbers.next()?;
            let end = digits.find(|character: char| !character.is_ascii_digit());
            digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
        };
        Some([number()?, number()?, number()?])
    })
}

fn shown(version: Version) -> String {
    version.map(|number| number.to_string()).join(".")
}

pub(super) fn check(environment: &Environment) -> Check {
    let Some(program) = in_path(CLIENT, environment).next() else {
        return Check::ok(NAME, format!("{CLIENT} is not in PATH"));
    };
    match version_output(&program).as_deref().and_then(find) {
        Some(version) => compared(version),
        None => Check::ok(NAME, format!("{} prints no version", program.display())),
    }
}

/// What `claude --version` prints.
fn version_output(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + TIMEOUT;
    // The output is short, so it fits into the pipe until the client has ended.
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let mut output = String::new();
    child.stdout?.take(MAX_OUTPUT).read_to_string(&mut output).ok()?;
    Some(output)
}

fn compared(version: Version) -> Check {
    let evidence = format!("{}; Grov is tested with {}", shown(version), shown(TESTED));
    if version < OLDEST {
        return Check::fail(NAME, evidence)
            .consequence("It may not run all hooks that Grov uses, so memory or corrections may be missing.")
            .fix("update Claude Code: claude update");
    }
    if version[0] > TESTED[0] {
        return Check::warn(NAME, evidence)
            .consequence("Its requests may have changed. What Grov does not understand passes unchanged.")
            .fix("install the newest version of Grov");
    }
    Check::ok(NAME, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_the_output_of_clients() {
        assert_eq!(find("2.1.197 (Claude Code)\n"), Some(TESTED));
        assert_eq!(find("claude v3.0.1-beta"), Some([3, 0, 1]));
        for text in ["", "Claude Code", "2.1", "a.b.c"] {
            assert_eq!(find(text), None, "{text:?}");
        }
    }

    #[test]
    fn untested_versions_are_reported() {
        for (version, is_ok) in [
            (TESTED, true),
            ([2, 1, 250], true),
            ([2, 4, 0], true),
            ([2, 0, 76], false),
            ([1, 0, 126], false),
            ([3, 0, 0], false),
        ] {
            assert_eq!(compared(version).ok, is_ok, "{version:?}");
        }
    }

    #[test]
    fn the_tested_release_is_the_one_that_tests_install() {
        let manifest = include_str!("../../../../../scripts/client/package.json");
        assert!(manifest.contains(&format!("\"{}\"", shown(TESTED))), "{manifest}");
    }
}
