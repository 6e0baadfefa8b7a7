//! The patches of Codex: `*** Begin Patch`, then a header line for each file.

/// A file that a patch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchedFile<'p> {
    /// Creates it.
    Added(&'p str),
    /// Changes it in place.
    Updated(&'p str),
    /// Deletes it.
    Deleted(&'p str),
    /// The new name of the file before it.
    MovedTo(&'p str),
}

/// Returns the files of a patch, in order.
pub(crate) fn files(patch: &str) -> impl Iterator<Item = PatchedFile<'_>> {
    patch.lines().filter_map(|line| {
        let header = line.strip_prefix("*** ")?;
        let named = |label: &str| Some(header.strip_prefix(label)?.trim()).filter(|path| !path.is_empty());
        None.or_else(|| named("Add File:").map(PatchedFile::Added))
            .or_else(|| named("Update File:").map(PatchedFile::Updated))
            .or_else(|| named("Delete File:").map(PatchedFile::Deleted))
            .or_else(|| named("Move to:").map(PatchedFile::MovedTo))
    })
}

/// Returns the lines that a patch removes and those that it adds, without their marks. Context lines belong to both.
pub(crate) fn before_and_after(patch: &str) -> (String, String) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for line in patch
        .lines()
        .filter(|line| !line.starts_with("***") && !line.starts_with("@@"))
    {
        if let Some(removed) = line.strip_prefix('-') {
            before.push(removed);
        } else if let Some(added) = line.strip_prefix('+') {
            after.push(added);
        } else {
            let context = line.strip_prefix(' ').unwrap_or(line);
            before.push(context);
            after.push(context);
        }
    }
    (before.join("\n"), after.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: notes.md\n+# Notes\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n\
        @@ fn main() {\n let x = 1;\n-let y = 2;\n+let y = 3;\n*** Delete File: old.txt\n*** End Patch\n";

    #[test]
    fn files_of_a_patch_are_found() {
        let found: Vec<_> = files(PATCH).collect();
        assert_eq!(
            found,
            [
                PatchedFile::Added("notes.md"),
                PatchedFile::Updated("src/a.rs"),
                PatchedFile::MovedTo("src/b.rs"),
                PatchedFile::Deleted("old.txt"),
            ]
        );
        assert_eq!(files("no patch\n*** Add File:\n").count(), 0);
    }

    #[test]
    fn removed_and_added_lines_are_separated() {
        let (before, after) = before_and_after(PATCH);
        assert_eq!(before, "let x = 1;\nlet y = 2;");
        assert_eq!(after, "# Notes\nlet x = 1;\nlet y = 3;");
    }
}
