//! Grov's own directory.

use super::{Check, Remedy};
use crate::show::moment;
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
/// The newest faults of hooks that are told.
const TOLD_FAULTS: usize = 3;
/// What went wrong before that may be mended by now.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);
/// A database grows by some megabytes a day, and to forget something it is written anew.
const LEAST_FREE: u64 = 256 * 1024 * 1024;

pub(super) fn checks(home: &Home) -> Vec<Check> {
    let root = home.root();
    if !root.exists() {
        let evidence = format!(
            "{} is not there yet; it is made when there is something to keep",
            root.display()
        );
        return vec![Check::well(NAME, evidence)];
    }
    let mut checks = vec![permissions(home)];
    checks.extend(statvfs(root).ok().map(|found| space(root, &found)));
    checks.push(faults(home, SystemClock.now()));
    checks
}

/// Whether there is room for what is recorded.
fn space(root: &Path, found: &StatVfs) -> Check {
    let name = "disk";
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let evidence = format!("{} MB are free where {} is", free / 1024 / 1024, root.display());
    if free >= LEAST_FREE {
        return Check::well(name, evidence);
    }
    Check::ill(
        name,
        evidence,
        "soon nothing can be recorded or remembered; requests pass all the same",
        "make room on the disk; grov store prune removes what is old",
    )
}

fn permissions(home: &Home) -> Check {
    let not_ours = access(home.root(), Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).err();
    if let Some(error) = not_ours {
        return Check::ill(
            NAME,
            format!("{} cannot be written to: {error}", home.root().display()),
            "nothing can be recorded or remembered, and hooks say nothing; requests pass all the same",
            format!("make {} yours: chown, chmod u+rwx", home.root().display()),
        );
    }
    let files = [
        home.database(),
        home.spool(),
        home.env_file(),
        home.config_file(),
        home.daemon_record(),
    ];
    let expected = files.into_iter().map(|file| (file, PRIVATE_FILE));
    let open: Vec<(PathBuf, u32)> = [(home.root().to_owned(), PRIVATE_DIRECTORY)]
        .into_iter()
        .chain(expected)
        .filter(|(path, _)| {
            let metadata = std::fs::metadata(path);
            metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
        })
        .collect();
    if open.is_empty() {
        return Check::well(NAME, format!("{} is for its owner alone", home.root().display()));
    }
    let paths: Vec<String> = open.iter().map(|(path, _)| path.display().to_string()).collect();
    let evidence = format!("others may look into {}", paths.join(", "));
    let consequence = "other users of this machine can read what you asked and what was done";
    Check::ill(
        NAME,
        evidence,
        consequence,
        format!("chmod go= {}", paths.join(" ")),
    )
    .with(Remedy::MakePrivate(open))
}

/// What went wrong in hooks, which may tell nobody.
fn faults(home: &Home, now: OffsetDateTime) -> Check {
    let name = "hook faults";
    let log = home.logs().join("hooks.log");
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let since = (now - RECENT).unix_timestamp();
    let recent = lines
        .iter()
        .filter(|line| at(line).is_none_or(|at| at >= since))
        .count();
    match (recent, lines.len()) {
        (0, 0) => Check::well(name, "none was noted"),
        (0, count) => Check::well(
            name,
            format!("none in the last day; {count} before in {}", log.display()),
        ),
        (recent, _) => {
            let newest = &lines[lines.len().saturating_sub(TOLD_FAULTS.min(recent))..];
            let newest: Vec<String> = newest.iter().map(|line| with_time(line)).collect();
            let evidence = format!(
                "{recent} in the last day in {}, the newest: {}",
                log.display(),
                newest.join("; ")
            );
            let consequence = "at these times the agent was told nothing";
            Check::ill(
                name,
                evidence,
                consequence,
                format!("mend the cause, then remove {}", log.display()),
            )
        }
    }
}

/// When a line of the log was written.
fn at(line: &str) -> Option<i64> {
    line.split(' ').next()?.parse().ok()
}

/// A line of the log with its time for people.
fn with_time(line: &str) -> String {
    let time = at(line).and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    match (time, line.split_once(' ')) {
        (Some(time), Some((_, fault))) => format!("{} {fault}", moment(time)),
        _ => line.to_owned(),
    }
}

/// Takes from everybody but the owner what they may do with these.
pub(super) fn make_private(paths: &[(PathBuf, u32)]) -> Result<(), String> {
    for (path, mode) in paths {
        std::fs::set_permissions(path, Permissions::from_mode(*mode))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use time::macros::datetime;

    #[test]
    fn faults_of_the_last_day_are_ill_and_older_ones_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let now = datetime!(2026-05-02 12:00 UTC);
        assert!(faults(&home, now).ok);
        let log = home.create_logs().unwrap().join("hooks.log");
        let line = |hours: i64| format!("{} the store is busy\n", now.unix_timestamp() - hours * 3_600);
        std::fs::write(&log, line(30)).unwrap();
        let check = faults(&home, now);
        assert!(check.ok && check.evidence.contains("1 before"), "{check:?}");
        std::fs::write(&log, line(30) + &line(2) + &line(1)).unwrap();
        let check = faults(&home, now);
        assert!(
            !check.ok && check.evidence.starts_with("2 in the last day"),
            "{check:?}"
        );
        assert!(check.evidence.contains("2026-05-02"), "{check:?}");
    }

    #[test]
    fn a_home_that_cannot_be_written_to_is_ill() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        assert!(permissions(&home).ok);
        let gone = Home::locate(Some(&folder.path().join("gone")), &Environment::default()).unwrap();
        assert!(!permissions(&gone).ok);
    }
}
