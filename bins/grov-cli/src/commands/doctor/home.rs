//! Grov's home directory.

use super::{Check, Remedy};
use crate::failure::Failure;
use crate::format::timestamp;
use grov_domain::{Clock, SystemClock};
use grov_runtime::Home;
use rustix::fs::{Access, StatVfs, access, statvfs};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use time::OffsetDateTime;

const NAME: &str = "home";
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
/// Maximum number of hook errors that are shown, the newest.
const MAX_SHOWN_ERRORS: usize = 3;
/// Older hook errors are not reported, because they may be solved.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);
/// A database grows by some megabytes a day, and `grov memory forget` writes it again.
const MIN_FREE_BYTES: u64 = 256 * 1024 * 1024;

pub(super) fn checks(home: &Home) -> Vec<Check> {
    let root = home.root();
    if !root.exists() {
        let evidence = format!(
            "{} does not exist yet; Grov creates it when needed",
            root.display()
        );
        return vec![Check::ok(NAME, evidence)];
    }
    let mut checks = vec![permissions(home)];
    checks.extend(statvfs(root).ok().map(|found| space(root, &found)));
    checks.push(hook_errors(home, SystemClock.now()));
    checks
}

/// Whether the disk has room for new records.
fn space(root: &Path, found: &StatVfs) -> Check {
    let name = "disk";
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let evidence = format!(
        "{} MB are free on the disk of {}",
        free / 1024 / 1024,
        root.display()
    );
    if free >= MIN_FREE_BYTES {
        return Check::ok(name, evidence);
    }
    Check::warn(name, evidence)
        .consequence("Grov will soon be unable to record sessions and memories. Requests still pass.")
        .fix("free disk space; `grov store prune` removes old records")
}

fn permissions(home: &Home) -> Check {
    let root = home.root().display();
    if let Err(error) = access(home.root(), Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        return Check::fail(NAME, format!("cannot write to {root}: {error}"))
            .consequence(
                "Grov cannot record or remember anything, and hooks do nothing. Requests still pass.",
            )
            .fix(format!(
                "make {root} yours with chown, and run chmod u+rwx {root}"
            ));
    }
    let files = [
        home.database(),
        home.spool(),
        home.env_file(),
        home.config_file(),
        home.daemon_record(),
    ];
    let is_open = |path: &Path| {
        let metadata = std::fs::metadata(path);
        metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    };
    let mut open = vec![(home.root().to_owned(), PRIVATE_DIRECTORY)];
    open.extend(files.into_iter().map(|file| (file, PRIVATE_FILE)));
    open.retain(|(path, _)| is_open(path));
    if open.is_empty() {
        return Check::ok(NAME, format!("only its owner can read {root}"));
    }
    let paths: Vec<String> = open.iter().map(|(path, _)| path.display().to_string()).collect();
    Check::fail(NAME, format!("other users can access {}", paths.join(", ")))
        .consequence("Other users of this machine can read your prompts and the agent's actions.")
        .fix(format!("chmod go= {}", paths.join(" ")))
        .remedy(Remedy::MakePrivate(open))
}

/// Reports errors of hooks, which only their log contains.
fn hook_errors(home: &Home, now: OffsetDateTime) -> Check {
    let name = "hook faults";
    let log = home.logs().join("hooks.log");
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let log = log.display();
    let lines: Vec<&str> = text.lines().collect();
    let since = (now - RECENT).unix_timestamp();
    let is_recent = |line: &&&str| logged_at(line).is_none_or(|at| at >= since);
    let recent = lines.iter().filter(is_recent).count();
    if lines.is_empty() {
        return Check::ok(name, "none");
    }
    if recent == 0 {
        return Check::ok(
            name,
            format!("none in the last day; {} before in {log}", lines.len()),
        );
    }
    let newest = &lines[lines.len().saturating_sub(MAX_SHOWN_ERRORS.min(recent))..];
    let newest: Vec<String> = newest.iter().map(|line| with_time(line)).collect();
    let newest = newest.join("; ");
    Check::warn(
        name,
        format!("{recent} in the last day in {log}, the newest: {newest}"),
    )
    .consequence("The hooks that failed did nothing for the agent.")
    .fix(format!("solve the cause, then remove {log}"))
}

/// The Unix time at the beginning of a log line.
fn logged_at(line: &str) -> Option<i64> {
    line.split(' ').next()?.parse().ok()
}

/// A log line with its time for people.
fn with_time(line: &str) -> String {
    let time = logged_at(line).and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    match (time, line.split_once(' ')) {
        (Some(time), Some((_, error))) => format!("{} {error}", timestamp(time)),
        _ => line.to_owned(),
    }
}

pub(super) fn set_permissions(paths: &[(PathBuf, u32)]) -> Result<(), Failure> {
    for (path, mode) in paths {
        std::fs::set_permissions(path, Permissions::from_mode(*mode))
            .map_err(|error| Failure::error("home", format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use time::macros::datetime;

    #[test]
    fn recent_hook_errors_fail_the_check_and_older_ones_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let now = datetime!(2026-05-02 12:00 UTC);
        assert!(hook_errors(&home, now).ok);
        let log = home.create_logs().unwrap().join("hooks.log");
        let line = |hours: i64| format!("{} the store is busy\n", now.unix_timestamp() - hours * 3_600);
        std::fs::write(&log, line(30)).unwrap();
        let check = hook_errors(&home, now);
        assert!(check.ok && check.evidence.contains("1 before"), "{check:?}");
        std::fs::write(&log, line(30) + &line(2) + &line(1)).unwrap();
        let check = hook_errors(&home, now);
        assert!(
            !check.ok && check.evidence.starts_with("2 in the last day"),
            "{check:?}"
        );
        assert!(check.evidence.contains("2026-05-02"), "{check:?}");
    }

    #[test]
    fn a_home_that_is_not_writable_fails_the_check() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        assert!(permissions(&home).ok);
        let gone = Home::locate(Some(&folder.path().join("gone")), &Environment::default()).unwrap();
        assert!(!permissions(&gone).ok);
    }
}
