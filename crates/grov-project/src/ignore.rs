//! `.grovignore`: paths whose names and contents never enter memory.

mod task;

pub use task::without_ignored;

use crate::Place;
use crate::read::{Contents, bounded};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The file's name, in the top folder of a project.
const NAME: &str = ".grovignore";
/// Larger files are none that a person wrote.
const MOST_BYTES: u64 = 64 * 1024;
/// More patterns would make every path slow to look at.
const MOST_PATTERNS: usize = 1000;
/// Bytes of a path that are looked at: what is longer is made to keep us busy.
const MOST_OF_A_PATH: usize = 1024;

/// What a project wants kept out of memory.
///
/// A file that is there and cannot be understood as a whole (too large, unreadable, no file) keeps everything out: who
/// wrote one wants something kept out. A line that cannot be understood is left out alone. Both are in
/// [`GrovIgnore::problems`], to be told.
#[derive(Clone, Debug, Default)]
pub struct GrovIgnore {
    layers: Vec<Layer>,
    problems: Vec<IgnoreProblem>,
}

/// Something in a `.grovignore` that could not be understood. Its text is not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreProblem {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1; `None` when it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what follows from it.
    pub reason: String,
}

impl fmt::Display for IgnoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// One file.
#[derive(Clone, Debug)]
struct Layer {
    /// The folder that it stands in, under each of its names.
    roots: Vec<PathBuf>,
    wanted: Wanted,
}

#[derive(Clone, Debug)]
enum Wanted {
    Patterns(Gitignore),
    Everything,
}

impl GrovIgnore {
    /// Reads the file of a folder. Without one nothing is ignored.
    pub fn load(root: &Path) -> Self {
        let mut ignore = Self::default();
        ignore.add(root);
        ignore
    }

    /// Reads the files of a place: that of its working tree and that of its project. What either ignores is ignored, so
    /// that a file that is in no commit holds in every working tree.
    pub fn at(place: &Place) -> Self {
        let mut ignore = Self::load(place.root());
        if let Some(work_tree) = place.work_tree().filter(|folder| *folder != place.root()) {
            ignore.add(work_tree);
        }
        ignore
    }

    /// Whether nothing is ignored.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// What could not be understood.
    pub fn problems(&self) -> &[IgnoreProblem] {
        &self.problems
    }

    /// Whether a path is ignored: it, or a folder that it is in. The path is relative to the project's top or absolute,
    /// with `.` and `..` as they come. Nothing is asked of the disk: a path that may be a folder or a file is ignored if
    /// either would be, and one outside of the project by the names in it.
    pub fn ignores(&self, path: &str) -> bool {
        !path.is_empty() && self.layers.iter().any(|layer| layer.ignores(beginning(path)))
    }

    fn add(&mut self, root: &Path) {
        let path = root.join(NAME);
        let wanted = match bounded(&path, MOST_BYTES) {
            Contents::Missing => return,
            Contents::Unusable(reason) => {
                self.tell(&path, None, format!("{reason}: everything is kept out of memory"));
                Wanted::Everything
            }
            Contents::Bytes(bytes) => self.understand(&path, &bytes),
        };
        if matches!(&wanted, Wanted::Patterns(patterns) if patterns.is_empty()) {
            return;
        }
        let mut roots = vec![root.canonicalize().unwrap_or_else(|_| root.to_owned())];
        if root.is_absolute() && roots.iter().all(|known| known != root) {
            roots.push(root.to_owned());
        }
        self.layers.push(Layer { roots, wanted });
    }

    fn understand(&mut self, path: &Path, bytes: &[u8]) -> Wanted {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        // Paths are made relative before they are asked about.
        let mut builder = GitignoreBuilder::new("");
        let mut patterns = 0;
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let number = Some(index + 1);
            let Ok(line) = std::str::from_utf8(line) else {
                self.tell(path, number, "is not UTF-8 and is left out".to_owned());
                continue;
            };
            patterns += usize::from(!line.trim().is_empty() && !line.starts_with('#'));
            if patterns > MOST_PATTERNS {
                let reason =
                    format!("has more than {MOST_PATTERNS} patterns: everything is kept out of memory");
                self.tell(path, None, reason);
                return Wanted::Everything;
            }
            if let Err(error) = builder.add_line(None, &without_alternatives(line)) {
                let reason = match error {
                    ignore::Error::Glob { err, .. } => err,
                    other => other.to_string(),
                };
                self.tell(path, number, format!("is no pattern and is left out: {reason}"));
            }
        }
        match builder.build() {
            Ok(patterns) => Wanted::Patterns(patterns),
            Err(error) => {
                let reason = format!("cannot be used as a whole ({error}): everything is kept out of memory");
                self.tell(path, None, reason);
                Wanted::Everything
            }
        }
    }

    fn tell(&mut self, path: &Path, line: Option<usize>, reason: String) {
        self.problems.push(IgnoreProblem {
            path: path.to_owned(),
            line,
            reason,
        });
    }
}

impl Layer {
    fn ignores(&self, path: &str) -> bool {
        match &self.wanted {
            Wanted::Everything => true,
            Wanted::Patterns(patterns) => is_ignored(patterns, &self.names(Path::new(path))),
        }
    }

    /// The names of a path from the top folder down, and of one that is outside from the root of the disk down.
    fn names(&self, path: &Path) -> Vec<String> {
        let whole = |root: &Path| names(&root.join(path));
        let inside = self.roots.iter().find_map(|root| {
            let (names, above) = (whole(root), self::names(root));
            names.strip_prefix(above.as_slice()).map(<[_]>::to_vec)
        });
        inside.unwrap_or_else(|| names(path))
    }
}

/// Folders first, from the top: what is in an ignored folder cannot be taken back in, as git has it.
fn is_ignored(patterns: &Gitignore, names: &[String]) -> bool {
    let mut path = String::new();
    for (index, name) in names.iter().enumerate() {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
        let is_last = index + 1 == names.len();
        if patterns.matched(&path, true).is_ignore()
            || (is_last && patterns.matched(&path, false).is_ignore())
        {
            return true;
        }
    }
    false
}

/// The names that a path is made of, without `.`, and without what `..` leaves.
fn names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                names.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    names
}

fn beginning(path: &str) -> &str {
    let mut end = path.len().min(MOST_OF_A_PATH);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    &path[..end]
}

/// Braces are plain characters to git; the matcher would take them for alternatives.
fn without_alternatives(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let (mut is_escaped, mut in_class) = (false, false);
    for character in line.chars() {
        if matches!(character, '{' | '}') && !is_escaped && !in_class {
            plain.push('\\');
        }
        plain.push(character);
        if !is_escaped {
            in_class = (in_class || character == '[') && character != ']';
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    plain
}

#[cfg(test)]
mod tests;
