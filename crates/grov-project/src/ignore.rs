//! `.grovignore`: paths excluded from memory.

mod task;

pub use task::without_ignored;

use crate::ProjectLocation;
use crate::read::{Contents, bounded};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The name of the file in the project's top folder.
const NAME: &str = ".grovignore";
/// The maximum size in bytes; hand-written files are smaller.
const MAX_BYTES: u64 = 64 * 1024;
/// The maximum number of patterns; more would slow down every check.
const MAX_PATTERNS: usize = 1000;
/// The maximum number of bytes of a path that are checked, to bound the time.
const MAX_PATH_BYTES: usize = 1024;

/// The paths that a project excludes from memory.
///
/// An unusable file (too large, unreadable, not a regular file) excludes everything, because its
/// author wanted something excluded. An invalid line is skipped. Both are reported by [`GrovIgnore::problems`].
#[derive(Clone, Debug, Default)]
pub struct GrovIgnore {
    layers: Vec<Layer>,
    problems: Vec<IgnoreProblem>,
}

/// An invalid line or file. Its text is not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreProblem {
    /// The file.
    pub path: PathBuf,
    /// The line, starting at 1; `None` if the problem concerns the whole file.
    pub line: Option<usize>,
    /// What is wrong, and its effect.
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
    /// The folder that contains the file, as given and canonicalized.
    roots: Vec<PathBuf>,
    rules: Rules,
}

#[derive(Clone, Debug)]
enum Rules {
    Patterns(Gitignore),
    Everything,
}

impl GrovIgnore {
    /// Reads the file of a folder. Without a file, nothing is ignored.
    pub fn load(root: &Path) -> Self {
        let mut ignore = Self::default();
        ignore.add(root);
        ignore
    }

    /// Reads the files of the working tree and of the project. A path that either file ignores is ignored,
    /// so that an uncommitted file applies to every working tree.
    pub fn at(location: &ProjectLocation) -> Self {
        let mut ignore = Self::load(location.root());
        if let Some(work_tree) = location.work_tree().filter(|folder| *folder != location.root()) {
            ignore.add(work_tree);
        }
        ignore
    }

    /// Whether nothing is ignored.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The invalid lines and files.
    pub fn problems(&self) -> &[IgnoreProblem] {
        &self.problems
    }

    /// Whether a path, or a folder that it is in, is ignored. The path is relative to the project's top or absolute, and may
    /// contain `.` and `..`. The disk is not read: a path is ignored if it would be ignored either as a file or as a folder. A
    /// path outside the project is matched by its components from the root of the disk.
    pub fn ignores(&self, path: &str) -> bool {
        let path = &path[..path.floor_char_boundary(MAX_PATH_BYTES)];
        !path.is_empty() && self.layers.iter().any(|layer| layer.ignores(path))
    }

    fn add(&mut self, root: &Path) {
        let path = root.join(NAME);
        let rules = match bounded(&path, MAX_BYTES) {
            Contents::Missing => return,
            Contents::Unusable(reason) => {
                self.report(&path, None, format!("{reason}: everything is kept out of memory"));
                Rules::Everything
            }
            Contents::Bytes(bytes) => self.parse(&path, &bytes),
        };
        if matches!(&rules, Rules::Patterns(patterns) if patterns.is_empty()) {
            return;
        }
        let mut roots = vec![root.canonicalize().unwrap_or_else(|_| root.to_owned())];
        if root.is_absolute() && roots.iter().all(|known| known != root) {
            roots.push(root.to_owned());
        }
        self.layers.push(Layer { roots, rules });
    }

    fn parse(&mut self, path: &Path, bytes: &[u8]) -> Rules {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        // Paths are made relative before they are matched.
        let mut builder = GitignoreBuilder::new("");
        let mut patterns = 0;
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let number = Some(index + 1);
            let Ok(line) = std::str::from_utf8(line) else {
                self.report(path, number, "is not UTF-8 and is skipped".to_owned());
                continue;
            };
            patterns += usize::from(!line.trim().is_empty() && !line.starts_with('#'));
            if patterns > MAX_PATTERNS {
                let reason =
                    format!("has more than {MAX_PATTERNS} patterns: everything is kept out of memory");
                self.report(path, None, reason);
                return Rules::Everything;
            }
            if let Err(error) = builder.add_line(None, &escape_braces(line)) {
                let reason = match error {
                    ignore::Error::Glob { err, .. } => err,
                    other => other.to_string(),
                };
                self.report(
                    path,
                    number,
                    format!("is not a valid pattern and is skipped: {reason}"),
                );
            }
        }
        match builder.build() {
            Ok(patterns) => Rules::Patterns(patterns),
            Err(error) => {
                let reason = format!("cannot be used as a whole ({error}): everything is kept out of memory");
                self.report(path, None, reason);
                Rules::Everything
            }
        }
    }

    fn report(&mut self, path: &Path, line: Option<usize>, reason: String) {
        self.problems.push(IgnoreProblem {
            path: path.to_owned(),
            line,
            reason,
        });
    }
}

impl Layer {
    fn ignores(&self, path: &str) -> bool {
        match &self.rules {
            Rules::Everything => true,
            Rules::Patterns(patterns) => is_ignored(patterns, &self.names(Path::new(path))),
        }
    }

    /// The components of a path below the top folder, or from the root of the disk if it is outside.
    fn names(&self, path: &Path) -> Vec<String> {
        let whole = |root: &Path| names(&root.join(path));
        let inside = self.roots.iter().find_map(|root| {
            let (names, above) = (whole(root), self::names(root));
            names.strip_prefix(above.as_slice()).map(<[_]>::to_vec)
        });
        inside.unwrap_or_else(|| names(path))
    }
}

/// Checks folders first, from the top: as in Git, a path in an ignored folder cannot be re-included.
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

/// The components of a path, with `.` and `..` resolved.
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

/// Escapes braces: Git treats them as plain characters, the matcher as alternatives.
fn escape_braces(line: &str) -> String {
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
