//! What constraints in words forbid, and which action breaks one.
//!
//! Only what is certain counts: a file, folder, command or package named as the very object of a word that forbids.
//! "Do not change the signature of `f` in src/a.rs" forbids no file. English and Romanian, with or without diacritics.

mod commands;
mod packages;
mod paths;
mod reading;

use crate::contract::Compiled;
use crate::deed::Deed;
use crate::place::{Place, Root};
use crate::words::words;
use commands::CommandLimit;
pub(crate) use commands::pushes_by_force;
use grov_domain::{Finding, Rule};
use packages::PackageLimit;
use paths::PathLimits;
use reading::is_uncertain;

/// At most so many constraints are read, and so much of each.
const MOST: usize = 60;
const MOST_BYTES: usize = 400;

/// The score of an action that breaks a constraint, and of one that very likely does.
const BROKEN: u8 = 3;
const LIKELY_BROKEN: u8 = 4;

/// What constraints forbid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    paths: PathLimits,
    commands: Vec<CommandLimit>,
    packages: Vec<PackageLimit>,
}

impl Limits {
    /// The limits in `constraints` and in the newest instruction.
    pub(crate) fn new(root: &Root, constraints: &[String], newest: &str) -> Self {
        let mut limits = Self::default();
        for text in constraints.iter().take(MOST) {
            limits.read(root, text);
        }
        let sentences = reading::sentences(newest);
        for sentence in &sentences {
            if reading::may_forbid(sentence) {
                limits.read_instruction(root, sentence);
            }
        }
        limits.paths.lift(root, &sentences);
        limits.commands.retain(|limit| !limit.is_lifted_by(&sentences));
        limits.packages.retain(|limit| !limit.is_lifted_by(&sentences));
        limits
    }

    fn read(&mut self, root: &Root, text: &str) {
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let words = words(text);
        self.commands.extend(commands::read(text, &words));
        // What holds only sometimes is not certain.
        if is_uncertain(&words) {
            return;
        }
        self.packages.extend(packages::read(text, &words));
        self.paths.read(root, text, &words);
    }

    /// Reads a sentence that may forbid in passing: what allows one thing alone is left to constraints.
    fn read_instruction(&mut self, root: &Root, text: &str) {
        let only = self.paths.only_count();
        self.read(root, text);
        self.paths.forget_only_behind(only);
    }

    /// What of the deed breaks a constraint.
    pub(crate) fn findings(&self, deed: &Deed<'_>, compiled: &Compiled) -> Vec<Finding> {
        let mut found = Vec::new();
        for place in &deed.changed {
            if compiled.is_allowed(place) {
                continue;
            }
            if let Some(text) = self.paths.breach(place, deed) {
                found.push(finding(
                    BROKEN,
                    Some(place.shown()),
                    format!("{} was changed against \"{}\"", place.shown(), shown(text)),
                ));
            }
        }
        if let Some(limit) = self.commands.iter().find(|limit| limit.is_broken_by(deed)) {
            found.push(finding(
                BROKEN,
                None,
                format!("A command was run against \"{}\"", shown(limit.text())),
            ));
        }
        if let Some((limit, certain)) = self
            .packages
            .iter()
            .find_map(|limit| limit.broken_by(deed, compiled).map(|certain| (limit, certain)))
        {
            found.push(finding(
                if certain { BROKEN } else { LIKELY_BROKEN },
                deed.changed.first().map(Place::shown),
                format!("A dependency was brought in against \"{}\"", shown(limit.text())),
            ));
        }
        found
    }
}

/// A constraint as it is told in a reason.
fn shown(text: &str) -> String {
    const MOST_CHARACTERS: usize = 160;
    let text = text.trim().trim_end_matches(['.', ';']);
    let mut shown: String = text.chars().take(MOST_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn finding(at_most: u8, file: Option<&str>, reason: String) -> Finding {
    Finding {
        rule: Rule::Constraint,
        file: file.map(str::to_owned),
        reason,
        at_most,
    }
}

#[cfg(test)]
mod tests;
