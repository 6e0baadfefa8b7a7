//! The state of a walk through a command line: the working folder, the findings, and commands still to be analyzed.
//!
//! The tables of programs ([`super::files`], [`super::git`] and others) use only this state. They add the commands
//! that a program runs to [`Shell::inner`], and the walk analyzes these.

use crate::inline::Language;
use crate::path;
use crate::script::ScriptFile;
use crate::shell::words::Argument;
use grov_domain::{Effect, EffectKind};
use std::collections::HashSet;

/// The maximum number of effects of a command line.
pub(crate) const MAX_EFFECTS: usize = 200;

/// The maximum number of folders on the stack of `pushd`.
const MAX_PUSHED: usize = 64;

/// The maximum number of arguments of a command.
pub(crate) const MAX_ARGUMENTS: usize = 4096;

/// The maximum number of changed places of a command.
const MAX_CHANGES: usize = 4096;

/// What stands for a folder that `mktemp` makes.
const TEMPORARY: &str = "/tmp/mktemp";

/// A path, and whether it is known to be a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) is_folder: bool,
}

impl Place {
    /// Marks the place as a folder.
    pub(crate) fn into_folder(self) -> Self {
        Self {
            is_folder: true,
            ..self
        }
    }
}

/// The effects and paths found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) effects: Vec<Effect>,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
    known: HashSet<String>,
    /// The paths that the current program changes.
    pub(crate) changes: Vec<String>,
    /// The current program changes the files in its operands, but none of them is known.
    pub(crate) changes_unknown: bool,
}

impl Findings {
    /// Records an effect and its paths.
    pub(crate) fn add(&mut self, kind: EffectKind, places: impl IntoIterator<Item = Place>) {
        let places: Vec<Place> = places.into_iter().collect();
        if kind.changes_files() {
            // A copy changes only its target.
            let skipped = match kind {
                EffectKind::Copy => places.len().saturating_sub(1),
                _ => 0,
            };
            let room = MAX_CHANGES.saturating_sub(self.changes.len());
            let changed = places.iter().skip(skipped).take(room);
            self.changes.extend(changed.map(|place| place.path.clone()));
            self.changes_unknown |= places.is_empty();
        }
        self.add_unnamed(kind, places);
    }

    /// Records an effect, unless there are no places.
    pub(crate) fn add_if_any(&mut self, kind: EffectKind, places: Vec<Place>) {
        if !places.is_empty() {
            self.add(kind, places);
        }
    }

    /// Records an effect on places that the line does not name: `tar -x` writes into the working folder.
    pub(crate) fn add_unnamed(&mut self, kind: EffectKind, places: impl IntoIterator<Item = Place>) {
        if self.effects.len() >= MAX_EFFECTS {
            return;
        }
        let noted = places.into_iter().inspect(|place| self.note(place));
        let mut paths: Vec<String> = noted.map(|place| place.path).collect();
        paths.truncate(crate::path::MAX_FILES);
        // Repeated equal effects, for example of a loop, count once.
        let repeats = self
            .effects
            .last()
            .is_some_and(|last| last.kind == kind && last.paths == paths);
        if !repeats {
            self.effects.push(Effect { kind, paths });
        }
    }

    /// Records a path without an effect.
    fn note(&mut self, place: &Place) {
        let full = self.files.len() + self.folders.len() >= 2 * crate::path::MAX_FILES;
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
}

/// The kind of code that a program reads from its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Shell commands.
    Shell,
    Code(Language),
}

/// A command or code that a program runs.
#[derive(Debug)]
pub(crate) enum Inner {
    /// A program in the same place: `python -m pytest`.
    Program(Vec<Argument>),
    /// A program that runs for each file found: `find -exec`.
    ForEach(Vec<Argument>),
    /// A script in the same shell: `eval`.
    Script(String),
    /// A script in a separate shell: `bash -c`.
    SeparateScript(String),
    /// Code: `python -c`. `is_whole` means that the line contains all of it.
    Code {
        language: Language,
        code: String,
        is_whole: bool,
    },
}

/// The state of the simulated shell.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    pub(crate) findings: Findings,
    /// The working folder; `None` if it is unknown. It may be relative.
    pub(crate) folder: Option<String>,
    previous_folder: Option<String>,
    pushed: Vec<Option<String>>,
    /// The kind of code that the current command runs from its standard input.
    pub(crate) reads: Option<Reads>,
    /// The commands and code that the current command runs.
    pub(crate) inner: Vec<Inner>,
    /// The files whose content runs.
    pub(crate) scripts: Vec<ScriptFile>,
}

impl Shell {
    pub(crate) fn new(folder: Option<&str>) -> Self {
        Self {
            folder: folder.filter(|folder| !folder.is_empty()).map(str::to_owned),
            ..Self::default()
        }
    }

    /// The place that an argument names; `None` if it is not a path.
    pub(crate) fn place(&self, argument: &Argument) -> Option<Place> {
        let text = argument.text.as_str();
        let device = text.starts_with("/dev/") || text.starts_with("/proc/self/fd");
        // The files that `find -exec` and `xargs -I{}` insert are unknown.
        let placeholder = text == "{}";
        if argument.unknown || device || placeholder || text == "-" || text.is_empty() {
            return None;
        }
        let is_folder = text.ends_with('/') || matches!(path::file_name(text), "." | ".." | "~");
        path::resolve(self.folder.as_deref(), text).map(|path| Place { path, is_folder })
    }

    /// The places of those arguments that look like paths.
    pub(crate) fn likely_places(&self, arguments: impl IntoIterator<Item: AsRef<Argument>>) -> Vec<Place> {
        let arguments = arguments.into_iter();
        let likely = arguments.filter(|argument| path::looks_like_path(&argument.as_ref().text));
        self.places(likely)
    }

    /// The places of arguments that are paths.
    pub(crate) fn places(&self, arguments: impl IntoIterator<Item: AsRef<Argument>>) -> Vec<Place> {
        arguments
            .into_iter()
            .filter_map(|argument| self.place(argument.as_ref()))
            .collect()
    }

    /// The folders of arguments that are paths.
    pub(crate) fn folder_places(&self, arguments: impl IntoIterator<Item: AsRef<Argument>>) -> Vec<Place> {
        let places = self.places(arguments);
        places.into_iter().map(Place::into_folder).collect()
    }

    /// Records an effect on the paths in arguments.
    pub(crate) fn add(&mut self, kind: EffectKind, arguments: impl IntoIterator<Item: AsRef<Argument>>) {
        let places = self.places(arguments);
        self.findings.add(kind, places);
    }

    /// Records an effect on the paths in arguments, unless there are none.
    pub(crate) fn add_if_named(
        &mut self,
        kind: EffectKind,
        arguments: impl IntoIterator<Item: AsRef<Argument>>,
    ) {
        let places = self.places(arguments);
        self.findings.add_if_any(kind, places);
    }

    /// The working folder, if it is known.
    pub(crate) fn here(&self) -> Option<Place> {
        let folder = self.folder.as_deref()?;
        path::resolve(None, folder).map(|path| Place {
            path,
            is_folder: true,
        })
    }

    /// `cd`: changes to a folder, or to the home folder.
    pub(crate) fn change_folder(&mut self, target: Option<&Argument>) {
        let next = match target {
            None => Some("~".to_owned()),
            Some(target) if target.text.is_empty() && !target.unknown => return,
            Some(target) if target.text == "-" => self.previous_folder.clone(),
            // `cd "$(mktemp -d)"`
            Some(target) if target.unknown && target.written().contains("mktemp") => {
                Some(TEMPORARY.to_owned())
            }
            // A variable is kept as the name of a folder. Anything else unknown makes the folder unknown.
            Some(target) if target.unknown && !target.text.starts_with('$') => None,
            Some(target) => {
                let next = path::resolve(self.folder.as_deref(), &target.text);
                if let Some(path) = next.clone().filter(|_| !target.unknown) {
                    self.findings.note(&Place {
                        path,
                        is_folder: true,
                    });
                }
                next
            }
        };
        self.previous_folder = std::mem::replace(&mut self.folder, next);
    }

    /// `pushd`.
    pub(crate) fn push_folder(&mut self, target: Option<&Argument>) {
        if self.pushed.len() < MAX_PUSHED {
            self.pushed.push(self.folder.clone());
        }
        self.change_folder(target);
    }

    /// `popd`.
    pub(crate) fn pop_folder(&mut self) {
        if let Some(folder) = self.pushed.pop() {
            self.previous_folder = std::mem::replace(&mut self.folder, folder);
        }
    }

    /// Calls `look` in another folder: `git -C`, `make -C`.
    pub(crate) fn in_folder(&mut self, folder: Option<&Argument>, look: impl FnOnce(&mut Self)) {
        let Some(folder) = folder else { return look(self) };
        let here = (self.folder.clone(), self.previous_folder.clone());
        self.change_folder(Some(folder));
        look(self);
        (self.folder, self.previous_folder) = here;
    }
}
