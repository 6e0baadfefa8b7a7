//! The database.

use super::{Check, Remedy};
use crate::assembly::{self, IntegrityReport, set_aside_databases};
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::format::plural;
use grov_domain::{Clock, SystemClock};
use std::path::{Path, PathBuf};
use std::time::Duration;
use time::OffsetDateTime;

const DATABASE: &str = "database";
const CLOCK: &str = "clock";
const MAY_HOLD_SECRETS: &str =
    "Older versions could keep parts of secrets in scopes, keywords and file names. They may still be there.";
/// Clocks of machines that share a home may differ this much.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(5 * 60);

pub(super) fn checks(context: &Context) -> Vec<Check> {
    let database = context.database();
    let path = database.display().to_string();
    let mut checks = match block_on(assembly::examine(&database)) {
        Ok(Some((found, spooled))) => {
            let mut checks = vec![integrity(&found, &path), clock(&found, SystemClock.now())];
            checks.extend(spool(spooled));
            checks.extend(refused_injections(&found));
            checks.extend(uncleaned(&found, &database));
            checks
        }
        Ok(None) => vec![Check::ok(DATABASE, format!("{path} does not exist yet"))],
        Err(Failure::Report(report)) if report.kind == "store_corrupt" => {
            vec![unusable(report.message, &database)]
        }
        Err(Failure::Report(report)) => {
            let fix = report.hint.unwrap_or_else(|| "see the error".to_owned());
            let check = Check::fail(DATABASE, report.message).fix(fix);
            vec![check.consequence(
                "Hooks record and remember nothing; a running proxy keeps new records in a separate file. Requests still pass.",
            )]
        }
        Err(Failure::BrokenPipe) => Vec::new(),
    };
    checks.extend(set_aside(&database));
    checks
}

fn integrity(found: &IntegrityReport, path: &str) -> Check {
    if found.faults.is_empty() {
        let version = found.schema_version;
        return Check::ok(DATABASE, format!("{path} is intact, schema version {version}"));
    }
    Check::fail(
        DATABASE,
        format!("{path} is damaged: {}", found.faults.join("; ")),
    )
    .consequence("Some records may be lost, and new ones may get lost as well.")
    .fix(format!(
        "save what can be read with `grov memory export`, then move {path} away; Grov creates a new one"
    ))
}

/// A database that cannot be opened.
fn unusable(damage: String, database: &Path) -> Check {
    let path = database.display();
    Check::fail(DATABASE, damage)
        .consequence("Hooks record and remember nothing. A running proxy keeps new records in a separate file; requests still pass.")
        .fix(format!(
            "restore {path} from a copy if you have one; else `grov proxy start`, which renames it and begins an empty one. Your memories stay \
             in the renamed file, and `grov doctor` then says how to read them"
        ))
}

/// How to get memories back from a database that was set aside.
fn recovery(database: &Path) -> String {
    let path = database.display();
    format!(
        "`mkdir ~/grov-old && cp {path} ~/grov-old/grov.db`, with its -wal as grov.db-wal if it has one; then in each project \
         `grov --home ~/grov-old memory export >old.jsonl` and `grov memory import old.jsonl`. If Grov cannot read it, make ~/grov-old/grov.db with \
         `sqlite3 {path} .recover | sqlite3 ~/grov-old/grov.db`, which some builds of sqlite3 cannot"
    )
}

fn clock(found: &IntegrityReport, now: OffsetDateTime) -> Check {
    match found.newest {
        Some(newest) if newest > now + CLOCK_TOLERANCE => Check::fail(
            CLOCK,
            format!("the newest record is from {newest}, but it is {now} now"),
        )
        .consequence("New memories count as old and rank wrongly, and records are removed too late.")
        .fix("set this machine's clock"),
        _ => Check::ok(CLOCK, "no record is from the future"),
    }
}

/// Reports records that wait outside the database because it was not available.
fn spool(waiting: u64) -> Option<Check> {
    let records = plural(waiting, "record waits", "records wait");
    (waiting > 0).then(|| {
        Check::warn("spool", format!("{records} outside the database"))
            .consequence("They do not appear in steps, sessions and memory yet.")
            .fix("grov proxy start; a running proxy stores them")
    })
}

/// Reports rows of an older version.
fn uncleaned(found: &IntegrityReport, database: &Path) -> Option<Check> {
    found.may_hold_secrets.then(|| {
        let path = database.display();
        Check::warn(
            "old rows",
            format!("{path} holds rows of an older version that were not cleaned"),
        )
        .consequence(MAY_HOLD_SECRETS)
        .fix("grov doctor --fix; a running proxy cleans them when it starts")
        .remedy(Remedy::Clean(vec![database.to_owned()]))
    })
}

/// Reports renamed databases: damaged ones, and ones that lost their log.
fn set_aside(database: &Path) -> Option<Check> {
    let name = "databases set aside";
    let kept = set_aside_databases(database);
    if kept.is_empty() {
        return None;
    }
    let listed = |paths: &[PathBuf]| {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        paths.join(", ")
    };
    // The newest has the most.
    let recovery = kept.last().map(|path| recovery(path)).unwrap_or_default();
    let fix = format!(
        "{recovery}. The log of grov-proxyd has the reason; delete the file with its -wal and -shm when you no longer need it"
    );
    let may_hold_secrets = |path: &&PathBuf| !block_on(assembly::is_scrubbed(path)).unwrap_or(false);
    let unclean: Vec<PathBuf> = kept.iter().filter(may_hold_secrets).cloned().collect();
    let evidence = format!(
        "damaged, or separated from its write-ahead log, and renamed: {}",
        listed(&kept)
    );
    if unclean.is_empty() {
        let check = Check::warn(name, evidence).fix(fix);
        return Some(
            check.consequence("Memories and records from before the damage are only in these files."),
        );
    }
    Some(
        Check::warn(name, format!("{evidence}; not cleaned: {}", listed(&unclean)))
            .consequence(
                "Memories and records from before the damage are only in these files. Older versions could keep parts of secrets in them.",
            )
            .fix(format!("{fix}. `grov doctor --fix` cleans those that can be read"))
            .remedy(Remedy::Clean(unclean)),
    )
}

/// Redacts what an older version wrote.
pub(super) fn clean(databases: &[PathBuf]) -> Result<(), Failure> {
    let clean = |path: &PathBuf| block_on(assembly::scrub_secrets(path)).err();
    let errors = databases
        .iter()
        .filter_map(|path| Some(format!("{}: {}", path.display(), clean(path)?)));
    match errors.collect::<Vec<_>>().join("; ") {
        errors if errors.is_empty() => Ok(()),
        errors => Err(Failure::error("store", errors)),
    }
}

/// Reports conversations in which the API refused a request with an injection.
fn refused_injections(found: &IntegrityReport) -> Option<Check> {
    let conversations = plural(found.edits_disabled, "conversation", "conversations");
    (found.edits_disabled > 0).then(|| {
        let evidence =
            format!("in {conversations} the API refused an injected request and accepted the original");
        Check::warn("refused additions", evidence)
            .consequence("Grov injects nothing into these conversations any more.")
            .fix("start a new session; if it happens again, report it with the client's version")
    })
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
            may_hold_secrets: false,
            edits_disabled: 0,
        }
    }

    #[test]
    fn a_record_from_the_future_fails_the_clock_check() {
        for (newest, is_ok) in [
            (None, true),
            (Some(NOW), true),
            (Some(NOW + Duration::from_secs(60)), true),
            (Some(NOW + Duration::from_secs(3_600)), false),
        ] {
            assert_eq!(clock(&found(newest), NOW).ok, is_ok, "{newest:?}");
        }
    }

    #[test]
    fn databases_set_aside_are_listed() {
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
            assert!(check.evidence.contains(name), "{check:?}");
        }
    }

    #[test]
    fn a_database_set_aside_is_said_to_have_the_memories() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("grov.db");
        std::fs::write(folder.path().join("grov.db.corrupt-1"), "no database").unwrap();
        let check = set_aside(&database).unwrap();
        assert!(
            check.consequence.is_some_and(|text| text.starts_with("Memories")),
            "{check:?}"
        );
        let fix = check.fix.unwrap();
        assert!(
            fix.contains("grov memory import") && fix.contains("grov.db.corrupt-1 .recover"),
            "{fix}"
        );
        let check = unusable("the store is damaged".to_owned(), &database);
        assert!(
            check
                .consequence
                .is_some_and(|text| text.contains("Hooks record and remember nothing"))
        );
    }

    #[test]
    fn damage_and_spooled_records_are_reported() {
        assert!(integrity(&found(None), "/db").ok);
        let damaged = IntegrityReport {
            faults: vec!["row 1 missing from index i".to_owned()],
            ..found(None)
        };
        let check = integrity(&damaged, "/db");
        assert!(!check.ok && check.evidence.contains("row 1 missing"), "{check:?}");
        assert_eq!(spool(0), None);
        assert!(spool(2).is_some_and(|check| !check.ok));
        assert_eq!(refused_injections(&damaged), None);
    }
}
