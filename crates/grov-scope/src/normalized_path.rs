//! Paths normalised as text, so that two spellings of a file compare equal. No file system is used.
//!
//! Comparison ignores case, as the file systems of Windows and macOS do. People type paths as they remember them, and two
//! files of a project rarely differ in case alone.

use crate::words::fold;
use std::hash::{Hash, Hasher};

/// The maximum bytes of a path that are read, as in Linux.
const MAX_BYTES: usize = 4096;

/// The folder that relative paths are resolved against, and the home directory that contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectRoot {
    /// The components of the absolute path, folded; empty if the root is unknown.
    parts: Vec<String>,
    /// The number of components that form the home directory.
    home: usize,
}

impl ProjectRoot {
    /// The root with an absolute path; unknown for anything else.
    pub fn new(path: Option<&str>) -> Self {
        let Some(path) = path.map(unified).filter(|path| is_absolute(path)) else {
            return Self::default();
        };
        let parts: Vec<String> = reduced(path.split('/'));
        let first = parts.first().map_or("", String::as_str);
        let drive = usize::from(is_drive(first));
        let home = match parts.get(drive).map(String::as_str) {
            Some("home" | "users") if parts.len() >= drive + 2 => drive + 2,
            Some("root") => drive + 1,
            _ => 0,
        };
        Self { parts, home }
    }

    /// Whether a root is known.
    pub fn is_known(&self) -> bool {
        !self.parts.is_empty()
    }
}

/// The path of a file or folder in normalised form: `/` as separator, no `.` and `..`, case-folded, relative if it is below
/// the root.
#[derive(Clone, Debug)]
pub struct NormalizedPath {
    text: String,
    /// The path in its original case.
    shown: String,
    /// The byte range of each component.
    bounds: Vec<(usize, usize)>,
    /// Where the last component begins, and where its stem ends.
    name: usize,
    stem_end: usize,
    relative: bool,
}

impl NormalizedPath {
    /// Normalises a path relative to `root`.
    pub fn new(root: &ProjectRoot, path: &str) -> Self {
        let original = path;
        let path = unified(path);
        let mut absolute = is_absolute(&path);
        let mut parts: Vec<String>;
        let rest = path.strip_prefix("~/").or_else(|| path.strip_prefix("$home/"));
        if let Some(rest) = rest.filter(|_| root.home > 0) {
            parts = root.parts[..root.home].to_vec();
            extend(&mut parts, rest.split('/'), true);
            absolute = true;
        } else if absolute {
            parts = reduced(path.split('/'));
            // Shells on Windows write `C:\x` as `/c/x` or `/mnt/c/x`.
            if root.parts.first().is_some_and(|first| is_drive(first)) {
                let at = usize::from(parts.first().is_some_and(|part| part == "mnt"));
                if let Some(letter) = parts.get(at).filter(|part| part.len() == 1) {
                    let drive = format!("{letter}:");
                    if root.parts.first() == Some(&drive) {
                        parts.splice(..=at, [drive]);
                    }
                }
            }
        } else if path.split('/').next() == Some("..") && root.is_known() {
            parts = root.parts.clone();
            extend(&mut parts, path.split('/'), true);
            absolute = true;
        } else {
            parts = Vec::new();
            extend(&mut parts, path.split('/'), false);
        }
        if absolute && root.is_known() && parts.starts_with(&root.parts) {
            parts.drain(..root.parts.len());
            absolute = false;
        }

        let leaves = parts.first().is_some_and(|part| part == "..");
        let aside = parts
            .first()
            .is_some_and(|part| part.starts_with(['~', '$', '<']) || is_drive(part));
        let mut text = parts.join("/");
        if absolute && !aside {
            text.insert(0, '/');
        }
        let name = text.rfind('/').map_or(0, |slash| slash + 1);
        let stem_end = match text[name..].find('.') {
            None | Some(0) => text.len(),
            Some(dot) => name + dot,
        };
        let mut end = 0;
        let bounds = text.split('/').map(|part| {
            let start = end;
            end = start + part.len() + 1;
            (start, start + part.len())
        });
        Self {
            bounds: bounds.filter(|(start, end)| start < end).collect(),
            shown: as_written(original, &text),
            text,
            name,
            stem_end,
            relative: !absolute && !leaves && !aside,
        }
    }

    /// The normalised path.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path for display, in its original case.
    pub fn display(&self) -> &str {
        &self.shown
    }

    /// Whether it is below the root, or relative where no root is known.
    pub fn is_in_project(&self) -> bool {
        self.relative
    }

    /// The last component.
    pub fn name(&self) -> &str {
        &self.text[self.name..]
    }

    /// The name without its endings: `a` of `a.test.ts`; the name itself where it begins with the dot.
    pub fn stem(&self) -> &str {
        &self.text[self.name..self.stem_end]
    }

    /// The text after the name's last dot.
    pub fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// The containing folder; empty for a single component.
    pub fn parent(&self) -> &str {
        &self.text[..self.name.saturating_sub(1)]
    }

    /// The components.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.bounds.iter().map(|(start, end)| &self.text[*start..*end])
    }

    /// The number of components.
    pub(crate) fn depth(&self) -> usize {
        self.bounds.len()
    }

    /// One component; empty if there is none.
    pub(crate) fn component(&self, at: usize) -> &str {
        self.bounds
            .get(at)
            .map_or("", |(start, end)| &self.text[*start..*end])
    }
}

impl PartialEq for NormalizedPath {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for NormalizedPath {}

impl Hash for NormalizedPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// The folded path in the case of the original, if the original ends with it.
fn as_written(original: &str, text: &str) -> String {
    let original = original
        .trim()
        .trim_matches(['"', '\'', '`'])
        .trim_end_matches(['/', '\\'])
        .replace('\\', "/");
    let end = original
        .len()
        .checked_sub(text.len())
        .and_then(|start| original.get(start..));
    end.filter(|end| end.eq_ignore_ascii_case(text))
        .unwrap_or(text)
        .to_owned()
}

/// The path, folded and bounded, with `/` as separator.
fn unified(path: &str) -> String {
    let path = path.trim().trim_matches(['"', '\'', '`']);
    let path = path.strip_prefix("file://").unwrap_or(path);
    let path = &path[..path.floor_char_boundary(MAX_BYTES)];
    let folded = fold(path);
    if !folded.contains('\\') {
        return folded;
    }
    // A backslash before a space escapes the space.
    folded.replace("\\ ", " ").replace('\\', "/")
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.split('/').next().is_some_and(is_drive)
}

fn is_drive(part: &str) -> bool {
    let bytes = part.as_bytes();
    bytes.len() == 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

fn reduced<'a>(parts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    extend(&mut found, parts, true);
    found
}

/// Adds components. `..` removes the last one, and is ignored at the top of an absolute path.
fn extend<'a>(found: &mut Vec<String>, parts: impl Iterator<Item = &'a str>, absolute: bool) {
    for part in parts {
        match part {
            "" | "." => {}
            ".." => match found.last() {
                Some(last) if last == ".." || last.starts_with(['~', '$']) => found.push("..".to_owned()),
                Some(last) if is_drive(last) => {}
                Some(_) => {
                    found.pop();
                }
                None if absolute => {}
                None => found.push("..".to_owned()),
            },
            _ => found.push(part.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_a_file_are_one() {
        let cases = [
            ("/home/me/p", "/home/me/p/src/a.rs", "src/a.rs"),
            ("/home/me/p/", "src/./x/../A.rs", "src/a.rs"),
            ("/home/me/p", "~/p/src/a.rs", "src/a.rs"),
            ("/home/me/p", "$HOME/p/src/a.rs", "src/a.rs"),
            ("/home/me/p", "../p/src/a.rs", "src/a.rs"),
            ("/home/me/p", "../q/a.rs", "/home/me/q/a.rs"),
            ("/home/me/p", "/home/me/p2/a.rs", "/home/me/p2/a.rs"),
            ("/home/me/p", "src//a.rs/", "src/a.rs"),
            (r"C:\w\p", r"c:\W\p\src\a.rs", "src/a.rs"),
            (r"C:\w\p", r"src\a.rs", "src/a.rs"),
            (r"D:\p", "/d/p/src/a.rs", "src/a.rs"),
            (r"D:\p", "/mnt/d/p/src/a.rs", "src/a.rs"),
            ("/home/me/p", "file:///home/me/p/a.rs", "a.rs"),
            ("", "./src/a.rs", "src/a.rs"),
            ("", "../a.rs", "../a.rs"),
            ("/p", "~/x", "~/x"),
            ("/p", "/../../etc/hosts", "/etc/hosts"),
            ("/p", "/p", ""),
            ("/p", "", ""),
        ];
        for (root, path, expected) in cases {
            let root = ProjectRoot::new(Some(root));
            assert_eq!(NormalizedPath::new(&root, path).as_str(), expected, "{path}");
        }
    }

    #[test]
    fn people_see_what_was_written() {
        let root = ProjectRoot::new(Some("/home/me/P"));
        assert_eq!(
            NormalizedPath::new(&root, "/home/me/p/src/UserStore.ts").display(),
            "src/UserStore.ts"
        );
        assert_eq!(NormalizedPath::new(&root, "SRC/./a.rs").display(), "src/a.rs");
    }

    #[test]
    fn what_lies_outside_is_known() {
        let root = ProjectRoot::new(Some("/home/me/p"));
        for (path, inside) in [
            ("src/a.rs", true),
            ("/home/me/p/a", true),
            ("/tmp/a", false),
            ("../a", false),
            ("~/.bashrc", false),
            ("$TMPDIR/a", false),
            (r"C:\a", false),
        ] {
            assert_eq!(NormalizedPath::new(&root, path).is_in_project(), inside, "{path}");
        }
    }

    #[test]
    fn names_have_stems() {
        let place = NormalizedPath::new(&ProjectRoot::default(), "web/Form.test.tsx");
        assert_eq!(
            (place.name(), place.stem(), place.extension(), place.parent()),
            ("form.test.tsx", "form", "tsx", "web")
        );
        assert_eq!(
            NormalizedPath::new(&ProjectRoot::default(), ".env").stem(),
            ".env"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_place(root in any::<String>(), path in any::<String>()) {
            let place = NormalizedPath::new(&ProjectRoot::new(Some(&root)), &path);
            let _ = (place.name(), place.stem(), place.parent(), place.components().count());
        }

        #[test]
        fn normalizing_twice_changes_nothing(path in "[a-z./~]{0,20}") {
            let root = ProjectRoot::new(Some("/home/me/p"));
            let once = NormalizedPath::new(&root, &path);
            if once.is_in_project() {
                let twice = NormalizedPath::new(&root, once.as_str());
                prop_assert_eq!(twice.as_str(), once.as_str());
            }
        }
    }
}
