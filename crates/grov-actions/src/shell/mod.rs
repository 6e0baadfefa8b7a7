//! What a command line does, as far as the line shows: effects, files, folders.

mod files;
mod git;
mod inline;
mod lexer;
mod network;
mod options;
mod packages;
mod programs;
mod run;
mod words;

use grov_domain::{Effect, EffectKind};
use run::Shell;
use std::collections::HashSet;

/// What a command line does.
#[derive(Debug, Default)]
pub(crate) struct Understood {
    pub(crate) effects: Vec<Effect>,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
}

/// Understands a command line that runs in `folder`.
pub(crate) fn understand(script: &str, folder: Option<&str>) -> Understood {
    let mut shell = Shell::new(folder);
    shell.script(script);
    shell.findings.into_understood()
}

/// More effects of one command line are not told.
const MAX_EFFECTS: usize = 200;

/// What was found so far.
#[derive(Debug, Default)]
struct Findings {
    effects: Vec<Effect>,
    files: Vec<String>,
    folders: Vec<String>,
    known: HashSet<String>,
}

/// A path with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: String,
    is_folder: bool,
}

impl Findings {
    /// Notes an effect and the paths it names.
    fn add(&mut self, kind: EffectKind, places: Vec<Place>) {
        if self.effects.len() >= MAX_EFFECTS {
            return;
        }
        for place in &places {
            self.note(place);
        }
        let paths: Vec<String> = places
            .into_iter()
            .map(|place| place.path)
            .take(crate::MAX_FILES)
            .collect();
        // A loop or a list of like commands is one effect.
        let repeats = self
            .effects
            .last()
            .is_some_and(|last| last.kind == kind && last.paths == paths);
        if !repeats {
            self.effects.push(Effect { kind, paths });
        }
    }

    /// Notes a path without an effect.
    fn note(&mut self, place: &Place) {
        let full = self.files.len() + self.folders.len() >= 2 * crate::MAX_FILES;
        if full || !self.known.insert(place.path.clone()) {
            return;
        }
        let list = if place.is_folder {
            &mut self.folders
        } else {
            &mut self.files
        };
        list.push(place.path.clone());
    }

    fn into_understood(self) -> Understood {
        let Self {
            effects,
            mut files,
            mut folders,
            ..
        } = self;
        files.truncate(crate::MAX_FILES);
        folders.truncate(crate::MAX_FILES);
        Understood {
            effects,
            files,
            folders,
        }
    }
}

#[cfg(test)]
mod tests;
