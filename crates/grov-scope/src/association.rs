//! Files that work on other files legitimately touches: tests, imports, manifests, documentation.

use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::{FileKind, is_build_output, is_temporary, tested_stem};
use crate::normalized_path::NormalizedPath;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The maximum number of recorded file names.
const MAX_NAMES: usize = 2_000;

/// The number of first lines that are searched for imports.
const MAX_LINES: usize = 300;

/// Names that too many files share to identify one.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "index", "mod", "main", "lib", "init", "__init__", "test", "tests", "utils", "util", "types", "common", "src", "super", "self", "crate", "std",
    "react", "core", "self", "config", "constants", "helpers", "errors", "error", "app", "path", "default", "from", "import", "type", "const",
];

/// The files that the work is about, and the names that associate other files with them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AssociatedFiles {
    /// Stems of files that the work is about.
    stems: HashSet<String>,
    /// The folders that contain them.
    folders: HashSet<String>,
    /// Names that their text imports.
    imported: HashSet<String>,
}

/// How a file is associated with the files that the work is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Association {
    /// It tests one of them, or is tested by one of them.
    Test,
    /// One of them imports it.
    Imported,
    /// It imports one of them.
    Imports,
    /// It is the index of a folder that contains one of them.
    Index,
    /// It is a lock file, or a manifest of an enclosing folder.
    Settings,
    /// It is documentation in an enclosing folder.
    Docs,
    /// It is temporary or build output.
    Temporary,
}

impl AssociatedFiles {
    /// Adds a file that the work is about.
    pub(crate) fn add(&mut self, place: &NormalizedPath) {
        if self.stems.len() < MAX_NAMES {
            self.stems.insert(base(place).to_owned());
            self.folders.insert(place.parent().to_owned());
        }
    }

    /// Adds the imports in the text of such a file.
    pub(crate) fn read(&mut self, text: &str) {
        for name in imports(text) {
            if self.imported.len() >= MAX_NAMES {
                return;
            }
            self.imported.insert(name);
        }
    }

    /// How a file of an action is associated with the work, if it is.
    pub(crate) fn association(
        &self,
        place: &NormalizedPath,
        action: &AnalyzedAction<'_>,
    ) -> Option<Association> {
        if is_temporary(place) || is_build_output(place) {
            return Some(Association::Temporary);
        }
        let base = base(place);
        if self.stems.contains(base) && !COMMON.contains(&base) {
            return Some(Association::Test);
        }
        if FileKind::Lock.is(place) {
            return Some(Association::Settings);
        }
        // Whether the file's folder contains one of the folders.
        let folder = place.parent();
        let is_above = || {
            self.folders.iter().any(|other| {
                folder.is_empty()
                    || other
                        .strip_prefix(folder)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let role = if FileKind::Manifest.is(place) || place.name() == ".gitignore" {
            Some(Association::Settings)
        } else if FileKind::Docs.is(place) {
            Some(Association::Docs)
        } else if FileKind::Index.is(place) {
            Some(Association::Index)
        } else {
            None
        };
        if role.is_some() && is_above() {
            return role;
        }
        if !COMMON.contains(&base) && base.len() >= 3 && self.imported.contains(base) {
            return Some(Association::Imported);
        }
        let imports_ours =
            |name: String| !COMMON.contains(&name.as_str()) && name.len() >= 4 && self.stems.contains(&name);
        if imports(action.content()).any(imports_ours) {
            return Some(Association::Imports);
        }
        None
    }
}

/// The name that a file shares with its tests: `form` of `form.test.ts`, `test_form.py`, `form.rs`.
fn base(place: &NormalizedPath) -> &str {
    let name = place.name();
    let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
    let base = if base.is_empty() { name } else { base };
    tested_stem(base)
}

/// The names that lines of code bring in, folded: the last parts of paths and modules.
fn imports(text: &str) -> impl Iterator<Item = String> {
    #[rustfmt::skip]
    const BEGINNINGS: &[&str] = &[
        "import ", "from ", "use ", "pub use ", "mod ", "pub mod ", "require ", "#include", "@import", "export ",
        "\"", "} from", "include ", "using ", "const ", "pub(crate) use ", "pub(crate) mod ", "load(", "source ",
        ". ",
    ];
    text.lines()
        .take(MAX_LINES)
        .map(str::trim)
        .filter(|line| line.len() < 300 && BEGINNINGS.iter().any(|begin| line.starts_with(begin)))
        .filter(|line| {
            // A quoted line is a Go import if it is only a path; a `const` line is an import if it contains `require`.
            (!line.starts_with('"') || line.ends_with('"') && line.contains('/'))
                && (!line.starts_with("const ") || line.contains("require(") || line.contains("import("))
                && (!line.starts_with("export ") || line.contains(" from "))
        })
        .flat_map(|line| {
            // Of a quoted path the last component counts; of a bare module every part.
            let quoted: Vec<&str> = line.split(['"', '\'']).skip(1).step_by(2).collect();
            let parts: Vec<&str> = if quoted.is_empty() {
                line.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-')))
                    .collect()
            } else {
                quoted.iter().filter_map(|path| path.rsplit('/').next()).collect()
            };
            parts
                .into_iter()
                .map(|part| {
                    let part = part
                        .rsplit_once('.')
                        .map_or(part, |(stem, _)| if stem.is_empty() { part } else { stem });
                    part.to_lowercase()
                })
                .filter(|part| part.len() >= 3)
                .collect::<Vec<_>>()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzed_action::tests::edit;
    use crate::normalized_path::ProjectRoot;

    fn why(work: &[&str], text: &str, path: &str, content: &str) -> Option<Association> {
        let root = ProjectRoot::default();
        let mut around = AssociatedFiles::default();
        work.iter()
            .for_each(|path| around.add(&NormalizedPath::new(&root, path)));
        around.read(text);
        let action = edit(path, content);
        around.association(
            &NormalizedPath::new(&root, path),
            &AnalyzedAction::new(&root, &action),
        )
    }

    #[test]
    fn neighbours_are_known() {
        use Association::*;
        for (work, text, path, content, expected) in [
            ("src/form.ts", "", "src/form.test.ts", "", Some(Test)),
            ("src/form.ts", "", "tests/test_form.py", "", Some(Test)),
            ("pkg/form_test.go", "", "pkg/form.go", "", Some(Test)),
            (
                "src/form.rs",
                "use crate::lexer::Token;",
                "src/lexer.rs",
                "",
                Some(Imported),
            ),
            (
                "web/form.ts",
                "import { a } from \"../shared/fields\";",
                "shared/fields.ts",
                "",
                Some(Imported),
            ),
            (
                "cmd/form.go",
                "import (\n\t\"x.io/cli/paths\"\n)",
                "cli/paths/paths.go",
                "",
                Some(Imported),
            ),
            (
                "src/form.ts",
                "",
                "src/page.ts",
                "import { Form } from './form';",
                Some(Imports),
            ),
            ("src/a/form.rs", "", "src/a/mod.rs", "", Some(Index)),
            ("src/a/form.rs", "", "src/mod.rs", "", Some(Index)),
            ("src/a/form.rs", "", "Cargo.toml", "", Some(Settings)),
            ("src/a/form.rs", "", "other/Cargo.lock", "", Some(Settings)),
            ("src/a/form.rs", "", "CHANGELOG.md", "", Some(Docs)),
            ("src/a/form.rs", "", "/tmp/try.rs", "", Some(Temporary)),
            ("src/a/form.rs", "", "web/site.css", "a { color: red }", None),
            ("src/a/form.rs", "", "web/docs/x.md", "", None),
            ("src/index.ts", "", "web/index.ts", "", None),
        ] {
            assert_eq!(why(&[work], text, path, content), expected, "{work}: {path}");
        }
    }
}
