//! Grov's own directory.

use super::{Check, Remedy};
use grov_runtime::Home;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const NAME: &str = "home";
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
/// The newest faults of hooks that are told.
const TOLD_FAULTS: usize = 3;

pub(super) fn checks(home: &Home) -> Vec<Check> {
    let root = home.root();
    if !root.exists() {
        let evidence = format!(
            "{} is not there yet; it is made when there is something to keep",
            root.display()
        );
        return vec![Check::well(NAME, evidence)];
    }
    vec![permissions(home), faults(home)]
}

fn permissions(home: &Home) -> Check {
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
fn faults(home: &Home) -> Check {
    let name = "hook faults";
    let log = home.logs().join("hooks.log");
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        0 => Check::well(name, "none was noted"),
        count => {
            let newest = &lines[count.saturating_sub(TOLD_FAULTS)..];
            let evidence = format!("{count} in {}, the newest: {}", log.display(), newest.join("; "));
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

/// Takes from everybody but the owner what they may do with these.
pub(super) fn make_private(paths: &[(PathBuf, u32)]) -> Result<(), String> {
    for (path, mode) in paths {
        std::fs::set_permissions(path, Permissions::from_mode(*mode))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
