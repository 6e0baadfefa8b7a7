//! Walks through the commands of a script as a shell would, without running them: keeps the working folder and the
//! variables, takes off what wraps a command, and asks the table of programs for the effects.

use crate::inline::Allowance;
use crate::path;
use crate::shell::inline::{self, Reads};
use crate::shell::lexer::{self, Command, Direction, Event, Redirection};
use crate::shell::words::{Argument, Variables};
use crate::shell::{Findings, Place, programs};
use grov_domain::EffectKind;

/// Scripts inside scripts (`bash -c '…'`) are followed this deep.
const MAX_DEPTH: usize = 6;

/// More arguments of one command are not looked at.
pub(crate) const MAX_ARGUMENTS: usize = 4096;

/// More folders of `pushd` are not remembered.
const MAX_PUSHED: usize = 64;

/// A shell that runs nothing.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) findings: Findings,
    /// The working folder; `None` while unknown. It may be relative.
    folder: Option<String>,
    previous_folder: Option<String>,
    pushed: Vec<Option<String>>,
    variables: Variables,
    /// Scripts that are open at the moment.
    depth: usize,
    /// What may still be walked through of scripts inside the script.
    pub(crate) allowance: Allowance,
    /// The command at hand runs what it reads from its input.
    pub(crate) reads: Option<Reads>,
    /// Programs that run programs, open at the moment.
    pub(crate) nesting: usize,
}

impl Shell {
    pub(crate) fn new(folder: Option<&str>) -> Self {
        Self {
            findings: Findings::default(),
            folder: folder.filter(|folder| !folder.is_empty()).map(str::to_owned),
            previous_folder: None,
            pushed: Vec::new(),
            variables: Variables::default(),
            depth: 0,
            allowance: Allowance::default(),
            reads: None,
            nesting: 0,
        }
    }

    /// Walks through a script. What it changes of the working folder stays.
    pub(crate) fn script(&mut self, script: &str) {
        let script = match self.depth {
            0 => Some(script),
            MAX_DEPTH.. => None,
            _ => self.allowance.take(script),
        };
        let Some(script) = script else { return };
        self.depth += 1;
        let mut outer: Vec<Option<String>> = Vec::new();
        for event in lexer::parse(script) {
            match event {
                Event::Enter => outer.push(self.folder.clone()),
                Event::Leave => self.folder = outer.pop().unwrap_or_else(|| self.folder.clone()),
                Event::Command(command) => self.command(&command),
            }
        }
        self.depth -= 1;
    }

    /// Walks through a script that another shell runs.
    pub(crate) fn inner_script(&mut self, script: &str) {
        let folder = self.folder.clone();
        self.script(script);
        self.folder = folder;
    }

    fn command(&mut self, command: &Command) {
        let mut words = command.words.as_slice();
        while let [first, rest @ ..] = words {
            match first.bare() {
                Some(reserved) if lexer::opens_commands(reserved) => words = rest,
                Some("}" | "fi" | "done" | "esac" | "]]") => words = rest,
                Some("for" | "select") => {
                    if let [variable, _in, values @ ..] = rest {
                        let values = values.iter().flat_map(|word| self.expand(word)).collect();
                        self.variables.set(variable.bare().unwrap_or_default(), values);
                    }
                    words = &[];
                }
                Some("case" | "function" | "[[") => words = &[],
                _ => break,
            }
        }
        let mut arguments = Vec::new();
        for word in words {
            if arguments.is_empty()
                && let Some((name, value)) = assignment(word)
            {
                let values = self.expand(&value);
                self.variables.set(&name, values);
                continue;
            }
            let room = MAX_ARGUMENTS.saturating_sub(arguments.len());
            if room == 0 {
                break;
            }
            arguments.extend(self.expand(word).into_iter().take(room));
        }
        self.reads = None;
        self.program(&arguments);
        let reads = self.reads.take();
        for redirection in &command.redirections {
            self.redirection(redirection, reads);
        }
    }

    fn expand(&self, word: &lexer::Word) -> Vec<Argument> {
        self.variables.expand(word, self.folder.as_deref())
    }

    /// Looks at a program and its arguments, wrappers and all.
    pub(crate) fn program(&mut self, arguments: &[Argument]) {
        if let Some((program, rest)) = arguments.split_first() {
            programs::look(self, program, rest);
        }
    }

    fn redirection(&mut self, redirection: &Redirection, reads: Option<Reads>) {
        let kind = match redirection.direction {
            Direction::Read => EffectKind::Read,
            Direction::Write | Direction::Duplicate => EffectKind::Write,
            Direction::Append => EffectKind::Modify,
            Direction::HereDocument | Direction::HereString => {
                let script = match (&redirection.body, redirection.direction) {
                    (Some(body), _) => Some(body.clone()),
                    (None, Direction::HereString) => redirection.target.literal(),
                    _ => None,
                };
                if let (Some(script), Some(reads)) = (script, reads) {
                    inline::look_at_input(self, reads, &script);
                }
                return;
            }
        };
        for target in self.expand(&redirection.target) {
            let descriptor = redirection.direction == Direction::Duplicate
                && (target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit()));
            if let Some(place) = self.place(&target).filter(|_| !descriptor) {
                self.findings.add(kind, vec![place]);
            } else if target.unknown && kind != EffectKind::Read {
                self.findings.add(kind, Vec::new());
            }
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
        self.place(argument).map(|place| Place {
            is_folder: true,
            ..place
        })
    }

    /// The places that arguments name which need not be paths but look like one.
    pub(crate) fn likely_places<'a>(&self, arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<Place> {
        let likely = |argument: &&Argument| path::looks_like_path(&argument.text);
        arguments
            .into_iter()
            .filter(likely)
            .filter_map(|argument| self.place(argument))
            .collect()
    }

    /// The places that arguments name which are paths by the program's rules.
    pub(crate) fn places<'a>(&self, arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<Place> {
        arguments
            .into_iter()
            .filter_map(|argument| self.place(argument))
            .collect()
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

/// The name and the value of an assignment in front of a command.
fn assignment(word: &lexer::Word) -> Option<(String, lexer::Word)> {
    let lexer::Piece::Text(first) = word.pieces.first()? else {
        return None;
    };
    let (name, start) = first.split_once('=')?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !valid {
        return None;
    }
    let mut pieces = vec![lexer::Piece::Text(start.to_owned())];
    pieces.extend(word.pieces[1..].iter().cloned());
    Some((name.to_owned(), lexer::Word { pieces, quoted: true }))
}
