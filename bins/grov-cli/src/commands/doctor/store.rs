//! The database.

use super::{Check, Remedy};
use crate::assembly::{self, IntegrityReport, set_aside_databases};
use crate::context::Context;
use crate::failure::Failure;
use grov_domain::{Clock, StoreError, SystemClock};
use std::path::{Path, PathBuf};
use std::time::Duration;
use time::OffsetDateTime;

const DATABASE: &str = "database";
const CLOCK: &str = "clock";
const SPOOL: &str = "spool";
const REFUSED: &str = "refused additions";
const OLD_ROWS: &str = "old rows";
const ASIDE: &str = "databases set aside";
const MAY_HOLD: &str =
    "older versions kept words of secrets among scopes, keywords and names of files; they may still be there";
/// Clocks of machines that share a home may differ so much.
const TOLERATED: Duration = Duration::from_secs(5 * 60);

pub(super) fn checks(context: &Context) -> Vec<Check> {
    let path = context.database();
    let looked = context
        .wait(assembly::examine(&path))
        .and_then(|looked| Ok(looked?));
    let path = path.display();
    match looked {
        Ok(Some((found, spooled))) => {
            let mut checks = vec![
                database(&found, &path.to_string()),
                clock(&found, SystemClock.now()),
            ];
            checks.extend(spool(spooled));
            checks.extend(refused(&found));
            checks.extend(uncleaned(&found, context.database()));
            checks.extend(set_aside(&context.database()));
            checks
        }
        Ok(None) => {
            let mut checks = vec![Check::well(DATABASE, format!("{path} is not there yet"))];
            checks.extend(set_aside(&context.database()));
            checks
        }
        Err(Failure::Told(told)) => {
            let consequence =
                "nothing is remembered, and what is recorded waits in a file; requests pass all the same";
            let fix = told.hint.unwrap_or_else(|| "see what was seen".to_owned());
            vec![Check::ill(DATABASE, told.message, consequence, fix)]
        }
        Err(Failure::BrokenPipe) => vec![Check::well(DATABASE, "nobody reads the answer")],
    }
}

fn database(found: &IntegrityReport, path: &str) -> Check {
    if found.faults.is_empty() {
        let evidence = format!("{path} is sound, schema version {}", found.schema_version);
        return Check::well(DATABASE, evidence);
    }
    Check::ill(
        DATABASE,
        format!("{path} is damaged: {}", found.faults.join("; ")),
        "some of what was recorded may be lost, and what is recorded next may be as well",
        format!("grov memory export saves what can be read; then move {path} away: a new one is made"),
    )
}

fn clock(found: &IntegrityReport, now: OffsetDateTime) -> Check {
    match found.newest {
        Some(newest) if newest > now + TOLERATED => Check::ill(
            CLOCK,
            format!("the newest record is of {newest}, and now it is {now}"),
            "what is new counts as old: memories are ranked wrongly, and records are removed too late",
            "set this machine's clock",
        ),
        _ => Check::well(CLOCK, "no record is of the future"),
    }
}

/// What was recorded while the database took nothing.
fn spool(waiting: u64) -> Option<Check> {
    let what = match waiting {
        0 => return None,
        1 => "1 record waits".to_owned(),
        count => format!("{count} records wait"),
    };
    Some(Check::ill(
        SPOOL,
        format!("{what} outside the database"),
        "they are not in steps, sessions and memory yet",
        "grov proxy --detach; a running proxy takes them in",
    ))
}

/// Rows that an older version wrote.
fn uncleaned(found: &IntegrityReport, database: PathBuf) -> Option<Check> {
    let check = || {
        let evidence = format!(
            "{} holds rows of an older version that were not cleaned",
            database.display()
        );
        Check::ill(
            OLD_ROWS,
            evidence,
            MAY_HOLD,
            "grov doctor --fix; a running proxy cleans them when it starts",
        )
        .with(Remedy::Clean(vec![database.clone()]))
    };
    found.needs_cleaning.then(check)
}

/// Databases that were damaged, or whose log was deleted or overwritten, and were kept.
fn set_aside(database: &Path) -> Option<Check> {
    let kept = set_aside_databases(database);
    if kept.is_empty() {
        return None;
    }
    let named = |paths: &[PathBuf]| {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    };
    let reason = "look for the reason in the proxy's log; delete the file with its -wal and -shm when you do not need it";
    let unclean: Vec<PathBuf> = kept
        .iter()
        .filter(|path| may_hold_secrets(path))
        .cloned()
        .collect();
    if unclean.is_empty() {
        let lost = "what was recorded last before that may be only in there";
        let what = format!("damaged or cut off from its log, and set aside: {}", named(&kept));
        return Some(Check::ill(ASIDE, what, lost, reason));
    }
    let what = format!("damaged and set aside, not cleaned: {}", named(&unclean));
    let fix = format!("grov doctor --fix cleans those that can be read; {reason}");
    Some(Check::ill(ASIDE, what, MAY_HOLD, fix).with(Remedy::Clean(unclean)))
}

/// Whether it is not known to be clean.
fn may_hold_secrets(database: &Path) -> bool {
    let is_clean = with_runtime(assembly::is_clean(database));
    !is_clean.unwrap_or(false)
}

/// Takes secrets out of what an older version wrote.
pub(super) fn clean(databases: &[PathBuf]) -> Result<(), String> {
    let mut faults = Vec::new();
    for path in databases {
        let cleaned = with_runtime(assembly::clean(path));
        if let Err(error) = cleaned {
            faults.push(format!("{}: {error}", path.display()));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("; "))
    }
}

fn with_runtime<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(work).map_err(|error| error.to_string())
}

/// Histories in which the API did not take what was added.
fn refused(found: &IntegrityReport) -> Option<Check> {
    let what = match found.edits_disabled {
        0 => return None,
        1 => "1 conversation".to_owned(),
        count => format!("{count} conversations"),
    };
    Some(Check::ill(
        REFUSED,
        format!("in {what} the API refused a request with an addition and took it without"),
        "nothing is added to these any more: the agent is told nothing there",
        "begin a new session; if it happens again, report it with the client's version",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

    fn found(newest: Option<OffsetDateTime>) -> IntegrityReport {
        IntegrityReport {
            schema_version: 8,
            faults: Vec::new(),
            newest,
            needs_cleaning: false,
            edits_disabled: 0,
        }
    }

    #[test]
    fn records_of_the_future_mean_that_the_clock_is_wrong() {
        for (newest, is_well) in [
            (None, true),
            (Some(NOW), true),
            (Some(NOW + Duration::from_secs(60)), true),
            (Some(NOW + Duration::from_secs(3_600)), false),
        ] {
            assert_eq!(clock(&found(newest), NOW).ok, is_well, "{newest:?}");
        }
    }

    #[test]
    fn a_database_that_was_set_aside_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("grov.db");
        std::fs::write(&database, "").unwrap();
        assert_eq!(set_aside(&database), None);
        for name in ["grov.db.corrupt-1", "grov.db.corrupt-1-wal", "grov.db.corrupt-2"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let check = set_aside(&database).unwrap();
        assert!(!check.ok, "{check:?}");
        for name in ["grov.db.corrupt-1", "grov.db.corrupt-2"] {
            assert_eq!(check.evidence.matches(name).count(), 1, "{check:?}");
        }
    }

    #[test]
    fn what_is_broken_is_told() {
        assert!(database(&found(None), "/db").ok);
        let damaged = IntegrityReport {
            faults: vec!["row 1 missing from index i".to_owned()],
            ..found(None)
        };
        let check = database(&damaged, "/db");
        assert!(!check.ok && check.evidence.contains("row 1 missing"), "{check:?}");
        assert_eq!(spool(0), None);
        assert!(spool(2).is_some_and(|check| !check.ok));
        assert_eq!(refused(&damaged), None);
    }
}
