//! `.grovignore`: paths that never enter memory.

mod task;

pub use task::without_ignored;

use crate::ProjectLocation;
use crate::read::{Contents, bounded};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The file's name, in the top folder of a project.
const NAME: &str = ".grovignore";
/// In bytes; a hand-written file is smaller.
const MAX_BYTES: u64 = 64 * 1024;
/// More patterns would make every check slow.
const MAX_PATTERNS: usize = 1000;
/// The bytes of a path that are checked, against denial of service.
const MAX_PATH_BYTES: usize = 1024;

/// The paths that a project keeps out of memory.
///
/// A file that cannot be used as a whole (too large, unreadable, no regular file) keeps everything out of memory, since its
/// author wants something kept out. An invalid line is skipped. Both are reported by [`GrovIgnore::problems`].
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
    /// The line, counted from 1; `None` when it is about the whole file.
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
    /// The folder of the file, under each of its names.
    roots: Vec<PathBuf>,
    rules: Rules,
}

#[derive(Clone, Debug)]
enum Rules {
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

    /// Reads the files of a location: that of its working tree and that of its project. A path that either ignores is ignored,
    /// so that a file that is in no commit applies to every working tree.
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
    /// contain `.` and `..`. The disk is not read: a path that may be a folder or a file is ignored if either would be. A
    /// path outside of the project is matched by its names.
    pub fn ignores(&self, path: &str) -> bool {
        !path.is_empty() && self.layers.iter().any(|layer| layer.ignores(beginning(path)))
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
                    format!("is no valid pattern and is skipped: {reason}"),
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

/// Folders first, from the top: as in git, a path in an ignored folder cannot be re-included.
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

/// The names in a path, with `.` and `..` resolved.
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
    let mut end = path.len().min(MAX_PATH_BYTES);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    &path[..end]
}

/// Escapes braces: plain characters to git, alternatives to the matcher.
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
