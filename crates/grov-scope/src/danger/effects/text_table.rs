//! The table of programs that is a text: `programs.txt`. Each row stands beside its examples, which are tests.
//!
//! A block begins with `= program program …`. A row is `effect | subcommand | needs | unless`, written like a [`Row`] of the
//! other tables. Lines that begin with `?` are commands that it asks about; those with `-` run silently.

use super::kinds;
use super::{Effect, Row};
use std::collections::HashMap;
use std::sync::OnceLock;

const TEXT: &str = include_str!("programs.txt");

/// The rows of a program.
pub(super) fn rows_of(program: &str) -> &'static [Row] {
    static INDEX: OnceLock<HashMap<&'static str, Vec<Row>>> = OnceLock::new();
    INDEX.get_or_init(index).get(program).map_or(&[], Vec::as_slice)
}

fn index() -> HashMap<&'static str, Vec<Row>> {
    let mut found: HashMap<&'static str, Vec<Row>> = HashMap::new();
    let mut programs: Vec<&'static str> = Vec::new();
    for line in TEXT.lines() {
        if let Some(names) = line.strip_prefix("= ") {
            programs = names.split_ascii_whitespace().collect();
        } else if let Some((effect, path, needs, unless)) = parse(line) {
            for program in &programs {
                let row = Row {
                    path,
                    needs,
                    unless,
                    condition: None,
                    effect,
                };
                found.entry(program).or_default().push(row);
            }
        }
    }
    found
}

/// The parts of a row; `None` for other lines.
fn parse(line: &'static str) -> Option<(&'static Effect, &'static str, &'static str, &'static str)> {
    if line.starts_with(['#', '?', '-', '=']) {
        return None;
    }
    // Alternatives contain bars without spaces.
    let mut parts = line.split(" | ").map(str::trim);
    let effect = effect_of(parts.next()?)?;
    let path = parts.next().unwrap_or_default();
    Some((
        effect,
        path,
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    ))
}

/// The effects that rows name.
#[rustfmt::skip]
fn effect_of(name: &str) -> Option<&'static Effect> {
    Some(match name {
        "data" => &kinds::DROPS,
        "restores" => &kinds::RESTORES,
        "backups" => &kinds::BACKUPS,
        "messages" => &kinds::EMPTIES_QUEUE,
        "shared-data" => &kinds::CHANGES_DATA,
        "cluster" => &kinds::CLUSTER,
        "cluster-change" => &kinds::CLUSTER_CHANGE,
        "cloud" => &kinds::CLOUD,
        "cloud-change" => &kinds::CLOUD_CHANGE,
        "access" => &kinds::ACCESS,
        "infrastructure" => &kinds::PROVISIONS,
        "destroys" => &kinds::DESTROYS,
        "project" => &kinds::HOSTED,
        "project-change" => &kinds::HOSTED_CHANGE,
        "publishes" => &kinds::PUBLISHES,
        "retracts" => &kinds::RETRACTS,
        "registry" => &kinds::REGISTRY,
        "shares" => &kinds::SHARES,
        "exposes" => &kinds::EXPOSES,
        "mails" => &kinds::MAILS,
        "removes" => &kinds::REMOVES_SOMETHING,
        "flashes" => &kinds::FLASHES,
        "disk" => &kinds::DISK,
        "volume" => &kinds::VOLUME,
        "keys" => &kinds::KEYS,
        "protection" => &kinds::PROTECTION,
        "unchecked" => &kinds::TLS_OFF,
        "settings" => &kinds::SETTINGS,
        "service" => &kinds::SERVICE,
        "account" => &kinds::ACCOUNT,
        "silences" => &kinds::SILENCES,
        "prints" => &kinds::PRINTS_PAPER,
        "irreversible" => &kinds::IRREVERSIBLE,
        "files" => &kinds::REPLACES_FILES,
        "load" => &kinds::LOADS,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::danger::tests::is_asked;

    /// A request that asks for none of the commands.
    const OTHER_WORK: &str = "Improve the error message of the parser";

    #[test]
    fn every_row_has_an_effect_and_examples() {
        let (mut asks, mut is_silent, mut row) = (true, true, "");
        for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
            match line.get(..2) {
                Some("? ") => asks = true,
                Some("- ") => is_silent = true,
                Some("= ") | None => {}
                Some(_) => {
                    assert!(asks, "no example that asks: {row}");
                    assert!(parse(line).is_some(), "no row: {line}");
                    asks = false;
                    row = line;
                }
            }
            if line.starts_with("= ") {
                assert!(is_silent, "no silent example before {line}");
                is_silent = false;
            }
        }
        assert!(asks && is_silent);
    }

    #[test]
    fn examples_are_asked_about_or_silent() {
        let mut wrong = Vec::new();
        for line in TEXT.lines() {
            let (expected, command) = match line.split_at_checked(2) {
                Some(("? ", command)) => (true, command),
                Some(("- ", command)) => (false, command),
                _ => continue,
            };
            if is_asked(OTHER_WORK, command) != expected {
                wrong.push(line);
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
