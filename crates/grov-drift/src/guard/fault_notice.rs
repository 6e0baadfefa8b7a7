//! Shows the user a fault of the guard or of the database, once a session.

use crate::error_log::single_line;
use crate::private_file;
use grov_hooks::event::with_notice;
use grov_runtime::Home;
use std::fs::OpenOptions;
use std::io::Write;

/// The lists of sessions with a notice, in the log folder.
const GUARD_FAULTS: &str = "guard-faults-shown";
const DATABASE_FAULTS: &str = "database-faults-shown";
/// The list of sessions with a notice is emptied when it exceeds this size in bytes.
const MAX_BYTES: usize = 4 * 1024;

/// The reply that shows a fault to the user and lets the call run; `None` if the user has seen one in this session. If that
/// cannot be recorded, the fault is shown again.
pub(super) fn notice(home: Option<&Home>, session: Option<&str>, fault: &str) -> Option<String> {
    if !home.is_none_or(|home| is_first(home, GUARD_FAULTS, session.unwrap_or_default())) {
        return None;
    }
    let fault = single_line(fault.lines().next().unwrap_or_default());
    let fault = fault.trim_end_matches('.');
    Some(with_notice(
        None,
        &format!(
            "Grov's guard could not check a call, and the call was not stopped: {fault}. Until this is fixed, calls may run unchecked. Run grov doctor for details."
        ),
    ))
}

/// The notice that the database is damaged; `None` if the user has seen one in this session.
pub(crate) fn damaged_database(home: &Home, session: Option<&str>, damage: &str) -> Option<String> {
    if !is_first(home, DATABASE_FAULTS, session.unwrap_or_default()) {
        return None;
    }
    let damage = single_line(damage.lines().next().unwrap_or_default());
    Some(with_notice(
        None,
        &format!(
            "Grov: the database is damaged, so nothing is remembered or recorded: {}. Run grov doctor for what to do.",
            damage.trim_end_matches('.')
        ),
    ))
}

/// Whether the session is not in the list yet, to which it is added.
fn is_first(home: &Home, list: &str, session: &str) -> bool {
    let Ok(logs) = home.create_logs() else {
        return true;
    };
    let path = logs.join(list);
    let session = single_line(session);
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    if shown.lines().any(|line| line == session) {
        return false;
    }
    let keeps = shown.len() < MAX_BYTES;
    let mut options = OpenOptions::new();
    options.append(keeps).write(!keeps).truncate(!keeps);
    if let Ok(mut file) = private_file::open(&path, &mut options) {
        let _ = writeln!(file, "{session}");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;

    #[test]
    fn a_fault_is_shown_once_a_session() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let shown = |session: Option<&str>| notice(Some(&home), session, "config.toml: line 3.\n  | more");
        let text = shown(Some("one")).unwrap();
        let reply: serde_json::Value = serde_json::from_str(&text).unwrap();
        let message = reply["systemMessage"].as_str().unwrap();
        assert!(
            message.contains("could not check") && message.contains("line 3. Until"),
            "{message}"
        );
        assert!(!message.contains("more"), "{message}");
        assert_eq!(shown(Some("one")), None);
        assert!(shown(Some("two")).is_some() && shown(None).is_some());
        assert_eq!(shown(Some("two")), None);
        for number in 0..1_000 {
            assert!(shown(Some(&format!("session-{number}"))).is_some());
        }
        let list = home.logs().join("guard-faults-shown");
        assert!(std::fs::metadata(list).unwrap().len() < 2 * MAX_BYTES as u64);
    }

    #[test]
    fn a_damaged_database_is_shown_once_a_session() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let shown = |session| damaged_database(&home, Some(session), "grov.db: not a database.");
        assert!(shown("one").is_some_and(|text| text.contains("grov.db: not a database. Run grov doctor")));
        assert_eq!(shown("one"), None);
        // Faults of the guard are another list.
        assert!(notice(Some(&home), Some("one"), "fault").is_some() && shown("two").is_some());
    }

    #[test]
    fn without_a_home_the_fault_is_shown() {
        assert!(notice(None, Some("s"), "no home").is_some());
    }
}
