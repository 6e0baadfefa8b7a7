//! A diff within a size that a model can read. Reads the output of `git diff` line by line and keeps only what fits.

/// Files that are named as left out; others are counted.
const SHOWN: usize = 20;

/// Limits of a diff, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The whole diff.
    pub total: usize,
    /// One file.
    pub file: usize,
    /// One line.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: 400 * 1024,
            file: 64 * 1024,
            line: 2000,
        }
    }
}

/// A diff within its limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundedDiff {
    /// The diff.
    pub text: String,
    /// Number of changed files.
    pub files: usize,
    /// Number of added lines, also of parts that are left out.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
    /// What was left out or summarised, with the reason.
    pub omitted: Vec<String>,
}

/// Reads a diff.
#[derive(Debug)]
pub struct DiffReader {
    limits: Limits,
    result: BoundedDiff,
    file: Option<File>,
    /// Files left out because the diff is full.
    left_out: Vec<String>,
    /// Files that are not shown, or cut, and not named.
    more: usize,
}

#[derive(Debug)]
struct File {
    path: String,
    text: String,
    /// Lines that the current hunk still has: of the old file, of the new file.
    hunk: (u64, u64),
    added: u64,
    removed: u64,
    is_binary: bool,
    is_cut: bool,
    /// Whether it is renamed or copied from a file that may hold keys.
    is_secret: bool,
}

impl DiffReader {
    /// A reader with these limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            result: BoundedDiff::default(),
            file: None,
            left_out: Vec::new(),
            more: 0,
        }
    }

    /// Adds a line without its end.
    pub fn line(&mut self, line: &[u8]) {
        let in_hunk = self.file.as_ref().is_some_and(|file| file.hunk != (0, 0));
        if !in_hunk && line.starts_with(b"diff --") {
            self.end_file();
            let header = String::from_utf8_lossy(line);
            self.file = Some(File::new(&header));
        }
        let limits = self.limits;
        if let Some(file) = &mut self.file {
            file.line(line, limits);
        }
    }

    /// The bounded diff.
    pub fn finish(mut self) -> BoundedDiff {
        self.end_file();
        if !self.left_out.is_empty() {
            let more = self.left_out.len().saturating_sub(SHOWN);
            let named = self.left_out[..self.left_out.len() - more].join(", ");
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            self.result.omitted.push(format!(
                "{} files, because the diff is longer than {} KiB: {named}{more}",
                self.left_out.len(),
                self.limits.total / 1024
            ));
        }
        if self.more > 0 {
            let note = format!("{} more files", self.more);
            self.result
                .text
                .push_str(&format!("changed, not shown or cut: {note}\n"));
            self.result.omitted.push(note);
        }
        self.result
    }

    fn end_file(&mut self) {
        let Some(file) = self.file.take() else { return };
        let result = &mut self.result;
        result.files += 1;
        result.added += file.added;
        result.removed += file.removed;
        let File {
            path, added, removed, ..
        } = &file;
        let reason = if file.is_binary {
            Some("binary file".to_owned())
        } else if is_lock_file(path) {
            Some(format!("lock file, +{added} -{removed} lines"))
        } else if file.is_secret || crate::is_secret_file(path) {
            Some(format!("file that may hold keys, +{added} -{removed} lines"))
        } else {
            None
        };
        if let Some(reason) = reason {
            if result.omitted.len() >= SHOWN {
                self.more += 1;
                return;
            }
            let note = format!("{path} ({reason})");
            result.text.push_str(&format!("changed, not shown: {note}\n"));
            result.omitted.push(note);
            return;
        }
        if result.text.len() + file.text.len() > self.limits.total {
            self.left_out.push(format!("{path} (+{added} -{removed})"));
            return;
        }
        result.text.push_str(&file.text);
        if file.is_cut && result.omitted.len() >= SHOWN {
            self.more += 1;
            result.text.push_str("[cut: the rest of the file's diff]\n");
        } else if file.is_cut {
            let note = format!("{path}: the rest of the file's diff (+{added} -{removed} lines in all)");
            result.text.push_str(&format!("[cut: {note}]\n"));
            result.omitted.push(note);
        }
    }
}

impl File {
    fn new(header: &str) -> Self {
        // `diff --git a/path b/path`; the lines `---` and `+++` are exact, this one is for files without them.
        let path = header.rsplit_once(" b/").map_or(header, |(_, path)| path);
        Self {
            path: path.trim_end_matches('"').to_owned(),
            text: String::new(),
            hunk: (0, 0),
            added: 0,
            removed: 0,
            is_binary: false,
            is_cut: false,
            is_secret: false,
        }
    }

    fn line(&mut self, line: &[u8], limits: Limits) {
        let (old, new) = &mut self.hunk;
        if (*old, *new) != (0, 0) {
            match line.first() {
                Some(b'+') => {
                    *new = new.saturating_sub(1);
                    self.added += 1;
                }
                Some(b'-') => {
                    *old = old.saturating_sub(1);
                    self.removed += 1;
                }
                Some(b'\\') => {}
                _ => {
                    *old = old.saturating_sub(1);
                    *new = new.saturating_sub(1);
                }
            }
        } else if line.starts_with(b"@@ ") {
            self.hunk = hunk_size(&String::from_utf8_lossy(line));
        } else if let Some(path) = line.strip_prefix(b"+++ b/").or(line.strip_prefix(b"--- a/")) {
            self.path = String::from_utf8_lossy(path).trim_end().to_owned();
            self.is_secret |= crate::is_secret_file(&self.path);
        } else if let Some(path) = line
            .strip_prefix(b"rename from ")
            .or(line.strip_prefix(b"copy from "))
        {
            self.is_secret |= crate::is_secret_file(String::from_utf8_lossy(path).trim_matches('"'));
        } else if line.starts_with(b"Binary files ") || line.starts_with(b"GIT binary patch") {
            self.is_binary = true;
        }
        if self.is_cut || self.is_binary {
            return;
        }
        let kept = &line[..line.len().min(limits.line)];
        if self.text.len() + kept.len() > limits.file {
            self.is_cut = true;
            return;
        }
        self.text.push_str(&String::from_utf8_lossy(kept));
        if kept.len() < line.len() {
            self.text.push_str(&format!(
                "[cut: {} more bytes of the line]",
                line.len() - kept.len()
            ));
        }
        self.text.push('\n');
    }
}

/// The lines of the old and the new file in a hunk: `@@ -1,2 +3,4 @@`.
fn hunk_size(header: &str) -> (u64, u64) {
    let mut ranges = header.split(' ').skip(1);
    let mut size = |sign: char| -> u64 {
        let Some(range) = ranges.next().and_then(|range| range.strip_prefix(sign)) else {
            return 0;
        };
        range
            .split_once(',')
            .map_or(1, |(_, count)| count.parse().unwrap_or(0))
    };
    (size('-'), size('+'))
}

/// Whether a file is written by a package manager.
fn is_lock_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let known = [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "bun.lock",
        "bun.lockb",
        "go.sum",
        "composer.lock",
        "flake.lock",
        "packages.lock.json",
    ];
    known.contains(&name) || name.ends_with(".lock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, limits: Limits) -> BoundedDiff {
        let mut reader = DiffReader::new(limits);
        text.lines().for_each(|line| reader.line(line.as_bytes()));
        reader.finish()
    }

    fn change(path: &str, lines: &[&str]) -> String {
        let body = lines.iter().map(|line| format!("+{line}\n")).collect::<String>();
        format!(
            "diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{body}",
            lines.len()
        )
    }

    #[test]
    fn small_diffs_are_whole() {
        let text = change("src/a.rs", &["one", "two"]);
        let diff = read(&text, Limits::default());
        assert_eq!(
            (diff.text.as_str(), diff.files, diff.added),
            (text.as_str(), 1, 2)
        );
        assert!(diff.omitted.is_empty());
    }

    #[test]
    fn lock_files_binary_files_and_key_files_are_summarised() {
        let text = [
            change("Cargo.lock", &["x"; 5]),
            "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n".to_owned(),
            change(".env", &["TOKEN=secret"]),
        ]
        .concat();
        let diff = read(&text, Limits::default());
        assert!(!diff.text.contains("secret"));
        assert_eq!(
            diff.omitted,
            [
                "Cargo.lock (lock file, +5 -0 lines)",
                "i.png (binary file)",
                ".env (file that may hold keys, +1 -0 lines)"
            ]
        );
    }

    #[test]
    fn a_file_renamed_from_a_key_file_is_not_shown() {
        let text = "diff --git a/.env b/notes.txt\nsimilarity index 80%\nrename from .env\nrename to notes.txt\n\
             --- a/.env\n+++ b/notes.txt\n@@ -1 +1,2 @@\n TOKEN=hunter2\n+x\n";
        let diff = read(text, Limits::default());
        assert!(!diff.text.contains("hunter2"), "{}", diff.text);
        assert_eq!(diff.omitted, ["notes.txt (file that may hold keys, +1 -0 lines)"]);
    }

    #[test]
    fn many_files_that_are_left_out_are_counted() {
        let text: String = (0..1000).map(|n| change(&format!("{n}.lock"), &["x"])).collect();
        let diff = read(&text, Limits::default());
        assert_eq!((diff.omitted.len(), diff.files), (21, 1000));
        assert_eq!(diff.omitted[20], "980 more files");
        assert!(diff.text.len() < 2000);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let limits = Limits {
            total: 300,
            file: 200,
            line: 40,
        };
        let long = "y".repeat(100);
        let lines = vec![long.as_str(); 20];
        let diff = read(
            &[
                change("a", &["x", &long]),
                change("b", &lines),
                change("c", &lines),
            ]
            .concat(),
            limits,
        );
        assert!(
            diff.text.len() < 800 && diff.text.contains("more bytes of the line"),
            "{}",
            diff.text
        );
        assert_eq!(diff.files, 3);
        assert!(
            diff.omitted
                .iter()
                .any(|note| note.contains("2 files") && note.contains("b (+20 -0), c (+20 -0)")),
            "{:?}",
            diff.omitted
        );
    }

    #[test]
    fn changed_lines_that_look_like_headers_are_changes() {
        let text = change("a.md", &["++ b/other", "diff"]);
        let text = text.replace("+diff", "+diff --git a/x b/x");
        let diff = read(&text, Limits::default());
        assert_eq!((diff.files, diff.added), (1, 2));
    }

    proptest! {
        #[test]
        fn any_lines_stay_within_the_limits(lines in proptest::collection::vec(".{0,40}", 0..60), headers in proptest::collection::vec(0usize..60, 0..6)) {
            let limits = Limits { total: 500, file: 200, line: 30 };
            let mut reader = DiffReader::new(limits);
            for (place, line) in lines.iter().enumerate() {
                if headers.contains(&place) {
                    reader.line(b"diff --git a/x b/x");
                }
                reader.line(line.as_bytes());
            }
            // Notes about files come on top, one for each.
            prop_assert!(reader.finish().text.len() < 500 + 7 * 400);
        }
    }
}
