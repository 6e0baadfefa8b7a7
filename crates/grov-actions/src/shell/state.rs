//! What is known while a command line is walked through: the working folder, what was found, what is to be looked at
//! next.
//!
//! The tables of programs ([`super::files`], [`super::git`] and the like) are given this and nothing else: what a program
//! runs in turn they put into [`Shell::inner`], and the walk takes it from there.

use crate::inline::Language;
use crate::path;
use crate::shell::words::Argument;
use grov_domain::{Effect, EffectKind};
use std::collections::HashSet;

/// More effects of one command line are not told.
pub(crate) const MAX_EFFECTS: usize = 200;

/// More folders of `pushd` are not remembered.
const MAX_PUSHED: usize = 64;

/// More arguments of one command are not looked at.
pub(crate) const MAX_ARGUMENTS: usize = 4096;

/// More places that one command changes are not told.
const MAX_CHANGES: usize = 4096;

/// A path with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) is_folder: bool,
}

impl Place {
    /// The same place, which is known to be a folder.
    pub(crate) fn into_folder(self) -> Self {
        Self {
            is_folder: true,
            ..self
        }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) effects: Vec<Effect>,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
    known: HashSet<String>,
    /// What the program at hand changes.
    pub(crate) changes: Vec<String>,
    /// The program at hand changes files by its operands, and none of them is known.
    pub(crate) changes_unknown: bool,
}

impl Findings {
    /// Notes an effect and the paths it names.
    pub(crate) fn add(&mut self, kind: EffectKind, places: impl IntoIterator<Item = Place>) {
        let places: Vec<Place> = places.into_iter().collect();
        if kind.changes_files() {
            // Of a copy the target alone is another one afterwards.
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

    /// Notes an effect on places that the line does not name: `tar -x` writes where it stands.
    pub(crate) fn add_unnamed(&mut self, kind: EffectKind, places: impl IntoIterator<Item = Place>) {
        if self.effects.len() >= MAX_EFFECTS {
            return;
        }
        let noted = places.into_iter().inspect(|place| self.note(place));
        let mut paths: Vec<String> = noted.map(|place| place.path).collect();
        paths.truncate(crate::path::MAX_FILES);
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

/// What a program runs that it reads from its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Commands.
    Shell,
    Code(Language),
}

/// What a program runs in turn.
#[derive(Debug)]
pub(crate) enum Inner {
    /// A program with its arguments, in its place: `python -m pytest`.
    Program(Vec<Argument>),
    /// A program with its arguments, what is found among them: `find -exec`.
    ForEach(Vec<Argument>),
    /// A script in the same shell: `eval`.
    Script(String),
    /// A script in a shell of its own: `bash -c`.
    Apart(String),
    /// Code: `python -c`. `is_whole`: the line shows all of it.
    Code {
        language: Language,
        code: String,
        is_whole: bool,
    },
}

/// The state of a shell that runs nothing.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    pub(crate) findings: Findings,
    /// The working folder; `None` while unknown. It may be relative.
    pub(crate) folder: Option<String>,
    previous_folder: Option<String>,
    pushed: Vec<Option<String>>,
    /// The command at hand runs what it reads from its input.
    pub(crate) reads: Option<Reads>,
    /// What the command at hand runs in turn.
    pub(crate) inner: Vec<Inner>,
}

impl Shell {
    pub(crate) fn new(folder: Option<&str>) -> Self {
        Self {
            folder: folder.filter(|folder| !folder.is_empty()).map(str::to_owned),
            ..Self::default()
        }
    }

    /// The place an argument names, if it names one.
    pub(crate) fn place(&self, argument: &Argument) -> Option<Place> {
        let text = argument.text.as_str();
        let device = text.starts_with("/dev/") || text.starts_with("/proc/self/fd");
        // What `find -exec` and `xargs -I{}` put in is not known here.
        let placeholder = text == "{}";
        if argument.unknown || device || placeholder || text == "-" || text.is_empty() {
            return None;
        }
        let is_folder = text.ends_with('/') || matches!(path::file_name(text), "." | ".." | "~");
        path::resolve(self.folder.as_deref(), text).map(|path| Place { path, is_folder })
    }

    /// The place an argument names, which is a folder.
    pub(crate) fn folder_place(&self, argument: &Argument) -> Option<Place> {
        self.place(argument).map(Place::into_folder)
    }

    /// The places that arguments name which need not be paths but look like one.
    pub(crate) fn likely_places(&self, arguments: impl IntoIterator<Item: AsRef<Argument>>) -> Vec<Place> {
        let arguments = arguments.into_iter();
        let likely = arguments.filter(|argument| path::looks_like_path(&argument.as_ref().text));
        self.places(likely)
    }

    /// The places that arguments name which are paths by the program's rules.
    pub(crate) fn places(&self, arguments: impl IntoIterator<Item: AsRef<Argument>>) -> Vec<Place> {
        arguments
            .into_iter()
            .filter_map(|argument| self.place(argument.as_ref()))
            .collect()
    }

    /// The places that arguments name, which are folders.
    pub(crate) fn folder_places(&self, arguments: impl IntoIterator<Item: AsRef<Argument>>) -> Vec<Place> {
        let places = self.places(arguments);
        places.into_iter().map(Place::into_folder).collect()
    }

    /// Records an effect on the paths that arguments name.
    pub(crate) fn add(&mut self, kind: EffectKind, arguments: impl IntoIterator<Item: AsRef<Argument>>) {
        let places = self.places(arguments);
        self.findings.add(kind, places);
    }

    /// Records an effect on the paths that arguments name, if they name any.
    pub(crate) fn add_if_named(
        &mut self,
        kind: EffectKind,
        arguments: impl IntoIterator<Item: AsRef<Argument>>,
    ) {
        let places = self.places(arguments);
        self.findings.add_if_any(kind, places);
    }

    /// The working folder as a place, where it is known.
    pub(crate) fn here(&self) -> Option<Place> {
        let folder = self.folder.as_deref()?;
        path::resolve(None, folder).map(|path| Place {
            path,
            is_folder: true,
        })
    }

    /// `cd`: where to, or home.
    pub(crate) fn change_folder(&mut self, target: Option<&Argument>) {
        let next = match target {
            None => Some("~".to_owned()),
            Some(target) if target.text.is_empty() && !target.unknown => return,
            Some(target) if target.text == "-" => self.previous_folder.clone(),
            // A variable stands for a folder of that name; anything else that is unknown leads nowhere known.
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

    /// Runs `look` in another folder: `git -C`, `make -C`.
    pub(crate) fn in_folder(&mut self, folder: Option<&Argument>, look: impl FnOnce(&mut Self)) {
        let Some(folder) = folder else { return look(self) };
        let here = (self.folder.clone(), self.previous_folder.clone());
        self.change_folder(Some(folder));
        look(self);
        (self.folder, self.previous_folder) = here;
    }
}
