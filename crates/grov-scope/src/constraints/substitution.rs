//! What commands replace in files by themselves: `sed -i 's/old/new/'`, `sed -i '/old/d'`, `perl -pi -e`.

use grov_domain::Program;

/// A replacement as plain text: the old text and the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Substitution {
    pub(super) old: String,
    pub(super) new: String,
}

/// The replacements of a program that rewrites files in place.
pub(super) fn in_place(program: &Program) -> Vec<Substitution> {
    let rewrites = matches!(program.name(), "sed" | "gsed" | "perl" | "ruby")
        && program.arguments.iter().any(|argument| {
            let text = argument.text.as_str();
            text == "--in-place"
                || text.starts_with("--in-place=")
                || text.starts_with('-') && !text.starts_with("--") && text.contains('i')
        });
    if !rewrites {
        return Vec::new();
    }
    let scripts = program.arguments.iter().map(|argument| argument.text.as_str());
    scripts.flat_map(str::lines).filter_map(of_script).collect()
}

/// The replacement of one command of an editor: `s/old/new/g`, `/old/d`, `/here/s/old/new/`.
fn of_script(script: &str) -> Option<Substitution> {
    let script = script.trim();
    // A deletion: the lines with a text, or a range of them.
    let deletes = script.strip_prefix('/').and_then(|rest| rest.strip_suffix("/d"));
    if let Some(pattern) = deletes {
        return Some(Substitution {
            old: plain(pattern.split("/,/").next().unwrap_or(pattern)),
            new: String::new(),
        });
    }
    let at = script.char_indices().find_map(|(at, letter)| {
        let before = script[..at].chars().next_back();
        let mark = script[at + letter.len_utf8()..].chars().next()?;
        let opens =
            before.is_none_or(|before| before.is_ascii_digit() || matches!(before, '/' | '$' | ' ' | '!'));
        (letter == 's' && opens && mark.is_ascii_punctuation() && !"-._".contains(mark)).then_some(at)
    })?;
    let rest = &script[at + 1..];
    let mark = rest.chars().next()?;
    let parts = split_unescaped(&rest[mark.len_utf8()..], mark);
    let [old, new, ..] = parts.as_slice() else {
        return None;
    };
    (!old.is_empty()).then(|| Substitution {
        old: plain(old),
        new: plain(new),
    })
}

/// The parts of a text between marks that no backslash precedes.
fn split_unescaped(text: &str, mark: char) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_escaped = false;
    for letter in text.chars() {
        if letter == mark && !is_escaped {
            found.push(String::new());
        } else if let Some(last) = found.last_mut() {
            last.push(letter);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    found
}

/// A pattern as the text that it most likely finds: without anchors, wildcards and escapes.
fn plain(pattern: &str) -> String {
    let mut found = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => found.push('\n'),
                Some('t' | 's') => found.push(' '),
                // Groups, classes and word boundaries stand for no letter.
                Some(other) if other.is_alphanumeric() || matches!(other, '<' | '>') => {}
                Some(other) => found.push(other),
                None => {}
            },
            '^' if found.is_empty() => {}
            '$' if letters.peek().is_none() => {}
            '.' if letters.peek() == Some(&'*') => {
                letters.next();
            }
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzed_action::AnalyzedAction;
    use crate::normalized_path::ProjectRoot;

    fn replaced(command: &str) -> Vec<(String, String)> {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let sketch = crate::analyzed_action::tests::bash(command);
        let action = AnalyzedAction::new(&root, &sketch);
        let found = action.programs().iter().flat_map(in_place);
        found.map(|one| (one.old, one.new)).collect()
    }

    #[test]
    fn replacements_are_read_as_plain_texts() {
        for (command, old, new) in [
            ("sed -i 's/def f(a)/def f(a, b)/' a.py", "def f(a)", "def f(a, b)"),
            (
                r"sed -i 's/void f(list \*l)/void f(int l)/' a.c",
                "void f(list *l)",
                "void f(int l)",
            ),
            ("sed -i '/shields.io/d' README.md", "shields.io", ""),
            (r"sed -i 's/\bold\b/new/g' a.cpp", "old", "new"),
            ("sed -i.bak 's|a/b|c|' a.txt", "a/b", "c"),
            ("sed -i '/x/s/log: .*/log: warn/' a.yml", "log: ", "log: warn"),
            ("perl -pi -e 's/a b/c/' a.txt", "a b", "c"),
        ] {
            assert_eq!(replaced(command), [(old.to_owned(), new.to_owned())], "{command}");
        }
    }

    #[test]
    fn printing_replaces_nothing() {
        for command in [
            "sed 's/a/b/' a.txt",
            "sed -n '/a/p' a.txt",
            "sed -i -f script.sed a.txt",
            "awk '/a/d' a",
        ] {
            assert!(replaced(command).is_empty(), "{command}");
        }
    }
}
