//! Paths in the arguments of tools whose meaning is not known: by the names that arguments usually have.

use crate::path::looks_like_path;
use serde_json::Value;

/// Deeper arguments are not looked at.
const MAX_DEPTH: usize = 6;

/// What an argument of some name holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A file, whatever it looks like.
    File,
    /// A folder.
    Folder,
    /// Perhaps a path, if it looks like one.
    Perhaps,
    /// A URI, which is a file if its scheme says so.
    Uri,
}

fn holds(name: &str) -> Option<Holds> {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    Some(match name.as_str() {
        "path" | "paths" | "file" | "files" | "filepath" | "filepaths" | "filename" | "filenames"
        | "notebookpath" | "absolutepath" | "relativepath" | "oldpath" | "newpath" | "sourcepath"
        | "destinationpath" | "targetpath" | "outputpath" | "inputpath" | "scriptpath" | "outputfile"
        | "inputfile" | "targetfile" | "sourcefile" | "configpath" | "configfile" | "filetoedit" => {
            Holds::File
        }
        "dir" | "directory" | "directories" | "folder" | "folders" | "cwd" | "workdir"
        | "workingdirectory" | "rootdir" | "rootpath" | "localdir" | "outputdir" | "basedir"
        | "projectpath" | "projectroot" | "repopath" | "directorypath" | "dirpath" | "folderpath" => {
            Holds::Folder
        }
        "source" | "destination" | "src" | "dst" | "dest" | "from" | "to" | "target" | "output" | "input"
        | "root" | "location" => Holds::Perhaps,
        "uri" | "uris" | "url" | "fileuri" | "documenturi" | "resource" => Holds::Uri,
        _ => return None,
    })
}

/// A path found in arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) path: &'a str,
    pub(crate) is_folder: bool,
}

/// The paths in the arguments, in their order.
pub(crate) fn paths(input: &Value) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    walk(input, None, 0, &mut found);
    found
}

fn walk<'a>(value: &'a Value, holds_here: Option<Holds>, depth: usize, found: &mut Vec<Found<'a>>) {
    if depth > MAX_DEPTH || found.len() >= 2 * crate::MAX_FILES {
        return;
    }
    match value {
        Value::String(text) => found.extend(holds_here.and_then(|holds| as_path(text, holds))),
        Value::Array(values) => values
            .iter()
            .for_each(|value| walk(value, holds_here, depth + 1, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(value, holds(name), depth + 1, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn as_path(text: &str, holds: Holds) -> Option<Found<'_>> {
    let is_file_uri = text.starts_with("file://");
    let fits = match holds {
        Holds::File => !text.is_empty() && (is_file_uri || !crate::path::is_url(text)),
        Holds::Folder => !text.is_empty() && !crate::path::is_url(text),
        Holds::Perhaps => is_file_uri || looks_like_path(text),
        Holds::Uri => is_file_uri,
    };
    (fits && !text.contains('\n')).then(|| Found {
        path: text,
        is_folder: holds == Holds::Folder || text.ends_with('/'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_found_by_the_names_of_their_arguments() {
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
    fn deep_arguments_end() {
        let mut value = json!("x.rs");
        for _ in 0..100 {
            value = json!({ "path": value });
        }
        assert_eq!(paths(&value), []);
    }
}
