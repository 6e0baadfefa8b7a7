//! Finds paths in the arguments of unknown tools by the usual names of such arguments.

use crate::has_word;
use crate::path::looks_like_path;
use serde_json::Value;

/// The maximum nesting of arguments.
const MAX_DEPTH: usize = 6;

/// The kind of value that an argument of some name has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A path if it looks like one.
    MaybePath,
    /// A URI. It is a file if its scheme is `file`.
    Uri,
}

fn kind(name: &str) -> Option<ArgumentKind> {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let found = ARGUMENT_NAMES.iter().find(|(_, names)| has_word(names, &name));
    found.map(|(kind, _)| *kind)
}

/// Argument names, in lower case without separators.
#[rustfmt::skip]
const ARGUMENT_NAMES: &[(ArgumentKind, &str)] = &[
    (ArgumentKind::File, "path paths file files filepath filepaths filename filenames notebookpath absolutepath relativepath \
      oldpath newpath sourcepath destinationpath targetpath outputpath inputpath scriptpath outputfile \
      inputfile targetfile sourcefile configpath configfile filetoedit"),
    (ArgumentKind::Folder, "dir directory directories folder folders cwd workdir workingdirectory rootdir rootpath localdir \
      outputdir basedir projectpath projectroot repopath directorypath dirpath folderpath"),
    (ArgumentKind::MaybePath, "source destination src dst dest from to target output input root location"),
    (ArgumentKind::Uri, "uri uris url fileuri documenturi resource"),
];

/// A path found in arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) path: &'a str,
    pub(crate) is_folder: bool,
}

/// The paths in the arguments, in order.
pub(crate) fn paths(input: &Value) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    walk(input, None, 0, &mut found);
    found
}

fn walk<'a>(value: &'a Value, kind_here: Option<ArgumentKind>, depth: usize, found: &mut Vec<Found<'a>>) {
    if depth > MAX_DEPTH || found.len() >= 2 * crate::MAX_FILES {
        return;
    }
    match value {
        Value::String(text) => found.extend(kind_here.and_then(|kind| as_path(text, kind))),
        Value::Array(values) => values
            .iter()
            .for_each(|value| walk(value, kind_here, depth + 1, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(value, kind(name), depth + 1, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn as_path(text: &str, kind: ArgumentKind) -> Option<Found<'_>> {
    let is_file_uri = text.starts_with("file://");
    let fits = match kind {
        ArgumentKind::File => !text.is_empty() && (is_file_uri || !crate::path::is_url(text)),
        ArgumentKind::Folder => !text.is_empty() && !crate::path::is_url(text),
        ArgumentKind::MaybePath => is_file_uri || looks_like_path(text),
        ArgumentKind::Uri => is_file_uri,
    };
    (fits && !text.contains('\n')).then(|| Found {
        path: text,
        is_folder: kind == ArgumentKind::Folder || text.ends_with('/'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_found_by_argument_names() {
        let input = json!({
            "path": "/a/b.rs",
            "query": "/no/path.rs",
            "edits": [{"file_path": "c.rs", "new_text": "/not/me"}, {"filePath": "d.rs"}],
            "paths": ["e", "f/"],
            "directory": "src",
            "uri": "file:///g/h.txt",
            "url": "https://example.com/x.html",
            "source": "from.txt",
            "target": "production",
            "to": "somebody",
            "file": "",
        });
        let mut found: Vec<(&str, bool)> = paths(&input)
            .iter()
            .map(|found| (found.path, found.is_folder))
            .collect();
        found.sort_unstable();
        let expected = [
            ("/a/b.rs", false),
            ("c.rs", false),
            ("d.rs", false),
            ("e", false),
            ("f/", true),
            ("file:///g/h.txt", false),
            ("from.txt", false),
            ("src", true),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_nesting_of_arguments_is_limited() {
        let mut value = json!("x.rs");
        for _ in 0..100 {
            value = json!({ "path": value });
        }
        assert_eq!(paths(&value), []);
    }
}
