//! Limits on what commands do: "no docker", "don't restart anything", "stay offline".
//!
//! `names.txt` tells how people name an effect, and `commands.txt` which commands have it. What is found is a reason to ask the user.

mod clause;
mod commands;
mod names;
mod ordered;

use super::command_effects::{is_for_tests, only_looks, writes_data};
use super::named::{command_words, concept_names, is_same_word, looks, only_reads};
use super::place::path_words;
use super::request::Sentence;
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::is_temporary;
use crate::normalized_path::NormalizedPath;
pub(super) use clause::{Forbidden, read, states};
use commands::{Done, done_by};
use grov_domain::{ActionType, EffectKind, ExecutionHost, Program};
pub(super) use ordered::{OrderedEffects, waits_for_the_user};

/// A limit on what commands do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EffectConstraint {
    /// The text of the constraint.
    pub(super) text: String,
    pub(super) forbidden: Forbidden,
}

/// Whether a program does something with one of these names.
pub(super) fn does(program: &Program, effects: &[&str]) -> bool {
    acts(program).iter().any(|done| effects.contains(&done.effect))
}

/// Whether the table says of a program, other than a client of a database, that it changes stored data.
pub(super) fn changes_data(program: &Program) -> bool {
    done_by(program).iter().any(|done| done.effect == "dbwrite")
}

/// Whether a limit may be about a command that only reads or tests.
pub(crate) fn is_known(program: &Program) -> bool {
    !acts(program).is_empty()
}

/// What a program does unless it only looks.
fn acts(program: &Program) -> Vec<Done> {
    let is_git = !program.git().0.is_empty();
    // `npm version minor`
    let sets_version = program.operands().next() == Some("version") && program.operands().count() > 1;
    let reads = only_looks(program) || program.through.is_empty() && only_reads(program);
    if reads || !is_git && !sets_version && looks(program) {
        return Vec::new();
    }
    let mut found = done_by(program);
    if is_for_tests(program) {
        found.retain(|done| !matches!(done.effect, "migrate" | "dbwrite" | "seed" | "database"));
    }
    if crate::danger::is_local(program) {
        found.retain(|done| !matches!(done.effect, "network" | "api" | "download" | "upload" | "send"));
    }
    if program.has_word(&["--offline", "--no-index", "--prefer-offline"]) {
        found.retain(|done| !matches!(done.effect, "network" | "install" | "download" | "fetch"));
    }
    if writes_data(program) {
        found.push(Done {
            effect: "dbwrite",
            words: 0,
        });
    }
    if program.host == ExecutionHost::Remote {
        found.push(Done {
            effect: "remote",
            words: 0,
        });
    }
    found
}

impl Forbidden {
    /// Whether an action does what the limit forbids.
    pub(super) fn is_broken_by(&self, action: &AnalyzedAction<'_>) -> bool {
        self.is_run(action) || self.changes_place(action) || self.asks_the_web(action)
    }

    fn is_run(&self, action: &AnalyzedAction<'_>) -> bool {
        action.programs().iter().any(|program| {
            let done = acts(program);
            let mut breaking = done
                .iter()
                .filter(|done| self.effects.contains(&done.effect))
                .peekable();
            if breaking.peek().is_none() || self.excepts(program) {
                return false;
            }
            let is_any = |words: &[String], names: &[String]| {
                names
                    .iter()
                    .any(|name| words.iter().any(|word| is_same_word(word, name)))
            };
            if !self.environments.is_empty() && !is_any(&command_words(program), &self.environments) {
                return false;
            }
            let names: Vec<String> = self.rest.iter().flat_map(|word| concept_names(word)).collect();
            // The message of a commit mentions more than it holds.
            let words = match program.git().1 {
                [] => command_words(program),
                _ => program.operands().flat_map(path_words).collect(),
            };
            // `docker compose restart` restarts everything.
            let is_whole = |done: &Done| {
                self.is_verb
                    && matches!(done.effect, "restart" | "stop" | "kill")
                    && program.operands().count() <= done.words
            };
            names.is_empty() || is_any(&words, &names) || breaking.any(is_whole)
        })
    }

    /// Whether a file is changed where the limit forbids it.
    fn changes_place(&self, action: &AnalyzedAction<'_>) -> bool {
        let forbids = |effect: &str| self.effects.contains(&effect);
        if !self.rest.is_empty() || !(forbids("outside") || forbids("dotfiles") || forbids("system")) {
            return false;
        }
        let is_broken = |place: &NormalizedPath| {
            let path = place.display();
            let is_home = path.starts_with("~/.")
                || ["/home/", "/Users/"].iter().any(|home| {
                    path.strip_prefix(home).is_some_and(|rest| {
                        rest.split_once('/')
                            .is_some_and(|(_, rest)| rest.starts_with('.'))
                    })
                })
                || path.starts_with("/root/.");
            let is_system = SYSTEM.iter().any(|folder| path.starts_with(folder));
            !place.is_in_project()
                && !is_temporary(place)
                && (forbids("outside") || forbids("dotfiles") && is_home || forbids("system") && is_system)
        };
        action.changed.iter().any(is_broken)
    }

    fn asks_the_web(&self, action: &AnalyzedAction<'_>) -> bool {
        let is_web = action.sketch.action_type == ActionType::Web;
        let installs = action.sketch.effects.contains(&EffectKind::Install);
        self.rest.is_empty()
            && self.environments.is_empty()
            && (is_web && self.effects.contains(&"network") && self.effects.contains(&"fetch")
                || installs
                    && self.effects.contains(&"install")
                    && !action.programs().iter().any(|program| {
                        self.excepts(program)
                            || only_looks(program)
                            || program.has_word(&["--offline", "--no-index"])
                    }))
    }

    /// Whether a program, or one of its words, is excepted.
    fn excepts(&self, program: &Program) -> bool {
        self.except.iter().any(|name| {
            program
                .words()
                .any(|word| word == name || is_same_word(word, name))
                || program.name() == name
        })
    }

    /// Takes back what the user ordered later. "Commit it" after "don't commit or push" leaves the push forbidden. Whether nothing is left.
    pub(super) fn give_back(&mut self, ordered: &[&'static str]) -> bool {
        if !self.rest.is_empty() || !self.effects.iter().any(|effect| ordered.contains(effect)) {
            return false;
        }
        self.effects.retain(|effect| !ordered.contains(effect));
        self.is_partly_lifted = true;
        self.effects.is_empty()
    }

    /// Whether a sentence that requests something names it.
    pub(super) fn is_lifted_by(&self, sentence: &Sentence) -> bool {
        // "Commit it" after "no commits"
        let singular = self.named_by.iter().filter_map(|name| name.strip_suffix('s'));
        let names: Vec<&str> = self.named_by.iter().map(String::as_str).chain(singular).collect();
        if self.is_partly_lifted {
            return false;
        }
        sentence.requests(&names) || sentence.opens_with(&names) || sentence.permits(&names)
    }
}

/// Folders of the system.
const SYSTEM: &[&str] = &[
    "/etc/",
    "/usr/",
    "/opt/",
    "/var/",
    "/boot/",
    "/lib/",
    "/Library/",
    "/System/",
    "/Applications/",
];
