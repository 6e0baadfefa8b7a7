//! Which client there is, and whether Grov was tried with it.

use super::Check;
use grov_runtime::Environment;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "client version";
const CLIENT: &str = "claude";
/// The client's release that Grov is tested with (`scripts/client/package.json`), and the first that it should get along
/// with: earlier ones do not run hooks at all events that Grov uses.
const TESTED: Version = Version(2, 1, 197);
const OLDEST: Version = Version(2, 1, 0);
/// It starts an interpreter, which takes its time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const LONGEST_ANSWER: u64 = 1024;

/// Major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32, u32);

impl Version {
    /// The first word that is one: `2.1.197 (Claude Code)`.
    fn read(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let mut numbers = word.trim_start_matches('v').splitn(3, '.');
            let mut number = || {
                let digits = numbers.next()?;
                let end = digits.find(|character: char| !character.is_ascii_digit());
                digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
            };
            Some(Self(number()?, number()?, number()?))
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}.{}", self.0, self.1, self.2)
    }
}

pub(super) fn check(environment: &Environment) -> Check {
    let Some(program) = program(environment) else {
        return Check::well(NAME, format!("there is no {CLIENT} on the path"));
    };
    match said(&program).as_deref().and_then(Version::read) {
        Some(version) => judged(version),
        None => Check::well(NAME, format!("{} does not say its version", program.display())),
    }
}

fn program(environment: &Environment) -> Option<PathBuf> {
    let path = environment.get("PATH")?;
    let mut places = std::env::split_paths(path).map(|folder| folder.join(CLIENT));
    places.find(|place| place.is_file())
}

/// What the client answers when it is asked for its version.
fn said(program: &std::path::Path) -> Option<String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let deadline = Instant::now() + PATIENCE;
    // The answer is short, so it waits in the pipe until the client is done.
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    let mut answer = String::new();
    child
        .stdout?
        .take(LONGEST_ANSWER)
        .read_to_string(&mut answer)
        .ok()?;
    Some(answer)
}

fn judged(version: Version) -> Check {
    let evidence = format!("{version}; Grov is tested with {TESTED}");
    if version < OLDEST {
        let consequence = "it may not run all hooks that Grov uses, so memory or corrections may be missing";
        return Check::ill(
            NAME,
            evidence,
            consequence,
            "bring Claude Code up to date: claude update",
        );
    }
    if version.0 > TESTED.0 {
        let consequence = "what it sends may have changed: what Grov does not understand passes untouched";
        return Check::ill(NAME, evidence, consequence, "install the newest version of Grov");
    }
    Check::well(NAME, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_clients_say_them() {
        assert_eq!(Version::read("2.1.197 (Claude Code)\n"), Some(TESTED));
        assert_eq!(Version::read("claude v3.0.1-beta"), Some(Version(3, 0, 1)));
        for text in ["", "Claude Code", "2.1", "a.b.c"] {
            assert_eq!(Version::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_was_never_tried_is_told() {
        for (version, is_well) in [
            (TESTED, true),
            (Version(2, 1, 250), true),
            (Version(2, 4, 0), true),
            (Version(2, 0, 76), false),
            (Version(1, 0, 126), false),
            (Version(3, 0, 0), false),
        ] {
            assert_eq!(judged(version).ok, is_well, "{version}");
        }
    }

    #[test]
    fn the_tested_release_is_the_one_that_tests_install() {
        let manifest = include_str!("../../../../../scripts/client/package.json");
        assert!(manifest.contains(&format!("\"{TESTED}\"")), "{manifest}");
    }
}
