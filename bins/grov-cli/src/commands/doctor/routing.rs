//! The provider file, and the agents that are meant for other models.

use super::Check;
use crate::commands::route::provider_file;
use crate::context::Context;
use grov_route::{Problem, near_miss_in};
use std::path::{Path, PathBuf};

const NAME: &str = "other models";
const AGENTS: &str = "marked agents";

/// Empty if there is no provider file and no misspelled marker. Providers are not contacted.
pub(super) fn checks(context: &Context) -> Vec<Check> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders = context.top().into_iter().chain(home);
    let misspelled = folders.filter_map(|folder| misspelled_agent(&folder.join(".claude/agents")));
    provider_file_check(context)
        .into_iter()
        .chain(misspelled.map(|(file, spelling)| {
            Check::warn(AGENTS, format!("{} has {spelling:?}", file.display()))
                .consequence(
                    "This is no marker, so the agent's requests go where those of unmarked agents go.",
                )
                .fix("write the marker exactly as `grov route agent` does")
        }))
        .collect()
}

/// The first agent file of a folder with a misspelled marker, and its spelling.
fn misspelled_agent(folder: &Path) -> Option<(PathBuf, String)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files.into_iter().find_map(|file| {
        let spelling = near_miss_in(&std::fs::read_to_string(&file).ok()?)?;
        Some((file, spelling))
    })
}

fn provider_file_check(context: &Context) -> Option<Check> {
    let file = match provider_file(context) {
        Ok(None) => return None,
        Ok(Some(file)) => file,
        Err(error) => {
            return Some(
                Check::fail(NAME, error.to_string())
                    .consequence(
                        "A running proxy keeps the last version that worked; after a restart marked agents get an error, \
                         and rules route nothing.",
                    )
                    .fix("`grov route check` lists every problem; the file is read again when it changes"),
            );
        }
    };
    let models = file.targets().len();
    let evidence = format!("{models} model(s) in the provider file");
    Some(match file.warnings().first() {
        None => Check::ok(NAME, evidence),
        Some(Problem { line, message, .. }) => {
            Check::warn(NAME, format!("{evidence}; line {line}: {message}"))
                .fix("`grov route check` lists all warnings")
        }
    })
}
