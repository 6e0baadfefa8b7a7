//! The changes of files that an action makes.

use super::language::Language;
use crate::analyzed_action::AnalyzedAction;
use crate::normalized_path::NormalizedPath;
use crate::words::fold;
use grov_domain::{ActionType, ExecutionHost, Program};
use std::borrow::Cow;
use std::collections::HashMap;

/// The change of a file.
#[derive(Debug)]
pub(crate) struct FileChange<'a> {
    pub(crate) place: &'a NormalizedPath,
    pub(super) language: Language,
    /// The replaced text, if known.
    pub(crate) before: Option<Cow<'a, str>>,
    pub(crate) after: Cow<'a, str>,
    /// The whole file is written.
    pub(super) is_whole: bool,
}

impl<'a> FileChange<'a> {
    /// The changes that an action shows.
    pub(crate) fn of_action(action: &'a AnalyzedAction<'_>) -> Vec<Self> {
        if action.sketch.action_type.modifies_files() {
            return Self::of_tool(action).into_iter().collect();
        }
        let here = |program: &&Program| program.host != ExecutionHost::Remote && !program.changes.is_empty();
        let programs = action.programs().iter().filter(here);
        programs
            .flat_map(|program| Self::of_program(program, action))
            .collect()
    }

    fn of_tool(action: &'a AnalyzedAction<'_>) -> Option<Self> {
        let place = action.changed.first()?;
        let is_write = action.sketch.action_type == ActionType::Write;
        let (before, after) = match &action.sketch.change {
            Some(change) => (change.before.as_deref(), change.after.as_str()),
            None => (None, action.content()),
        };
        Some(Self::new(
            place,
            before.map(Cow::Borrowed),
            Cow::Borrowed(after),
            is_write,
        ))
    }

    fn new(
        place: &'a NormalizedPath,
        before: Option<Cow<'a, str>>,
        after: Cow<'a, str>,
        is_whole: bool,
    ) -> Self {
        Self {
            language: Language::of(place),
            place,
            before,
            after,
            is_whole,
        }
    }

    /// The changes that a program makes: `sed -i 's/a/b/' file`, `cat > file <<EOF`, `echo a >> file`.
    fn of_program(program: &'a Program, action: &'a AnalyzedAction<'_>) -> Vec<Self> {
        let is_in_place = matches!(program.name(), "sed" | "gsed" | "perl");
        let appends = action
            .sketch
            .command
            .as_deref()
            .is_some_and(|command| command.contains(">>"));
        let unknown = || appends.then(String::new);
        let (before, after): (Option<String>, Cow<'a, str>) = if is_in_place {
            let (before, after) = substitutions(program);
            (Some(before), Cow::Owned(after))
        } else {
            match (program.name(), &program.input) {
                ("cat" | "tee" | "sponge" | "dd", Some(input)) => (unknown(), Cow::Borrowed(input)),
                ("echo" | "printf", _) => {
                    let words: Vec<&str> = program.arguments.iter().map(|word| word.as_str()).collect();
                    (unknown(), Cow::Owned(words.join(" ").replace("\\n", "\n")))
                }
                _ => return Vec::new(),
            }
        };
        if after.is_empty() && before.as_deref().is_none_or(str::is_empty) {
            return Vec::new();
        }
        let places = program.changes.iter().filter_map(|path| {
            let path = fold(path.trim_start_matches("./"));
            let is_end = |long: &str, short: &str| {
                long.strip_suffix(short)
                    .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
            };
            // The path may be relative to another folder than the known path.
            action
                .changed
                .iter()
                .find(|known| is_end(known.as_str(), &path) || is_end(&path, known.as_str()))
        });
        places
            .map(|place| {
                Self::new(
                    place,
                    before.clone().map(Cow::Owned),
                    after.clone(),
                    !is_in_place && !appends,
                )
            })
            .collect()
    }

    /// Whether the change creates the file.
    pub(super) fn is_new_file(&self) -> bool {
        self.is_whole
            && self
                .before
                .as_deref()
                .is_some_and(|before| before.trim().is_empty())
    }

    /// The lines that are added, without those that are only moved. Empty lines are left out.
    pub(super) fn added(&self) -> Vec<&str> {
        let mut known: HashMap<&str, usize> = HashMap::new();
        for line in self.before.as_deref().unwrap_or_default().lines() {
            *known.entry(line.trim()).or_default() += 1;
        }
        let is_new = |line: &&str| match known.get_mut(*line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => !line.is_empty(),
        };
        self.after.lines().map(str::trim).filter(is_new).collect()
    }
}

/// What the substitutions of `sed` or `perl` replace, and by what, one per line. A deleted pattern is replaced by nothing.
fn substitutions(program: &Program) -> (String, String) {
    let mut before = String::new();
    let mut after = String::new();
    let files = &program.changes;
    for script in program.arguments.iter().map(|word| word.as_str()) {
        if files.iter().any(|file| file == script) || script.starts_with('-') {
            continue;
        }
        for command in script.lines().map(str::trim) {
            let (old, new) = substitution(command);
            for (text, part) in [(&mut before, old), (&mut after, new)] {
                text.push_str(&unescaped(part));
                text.push('\n');
            }
        }
    }
    (before, after)
}

/// What one command of `sed` replaces and by what.
fn substitution(command: &str) -> (&str, &str) {
    // An address: `/x/s/a/b/`, `1,5s/a/b/`.
    if let Some(rest) = command.strip_prefix('/')
        && let Some((pattern, rest)) = rest.split_once('/')
    {
        return match rest.trim_start().chars().next() {
            Some('d') => (pattern, ""),
            Some('s') => substitution(rest.trim_start()),
            Some('a' | 'i') => ("", rest.trim_start()[1..].trim_start_matches(['\\', ' '])),
            Some('c') => (pattern, rest.trim_start()[1..].trim_start_matches(['\\', ' '])),
            _ => ("", ""),
        };
    }
    let bare = command
        .trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, ',' | '$' | ' '));
    let mut letters = bare.chars();
    match (letters.next(), letters.next()) {
        (Some('i' | 'a'), Some(next)) if bare.len() < command.len() && (next == '\\' || next == ' ') => {
            ("", bare[1..].trim_start_matches(['\\', ' ']))
        }
        (Some('s'), Some(mark)) if !mark.is_alphanumeric() && mark != '\\' => {
            let parts = &bare[1 + mark.len_utf8()..];
            let Some(middle) = delimiter(parts, mark) else {
                return ("", "");
            };
            let new = &parts[middle + mark.len_utf8()..];
            let end = delimiter(new, mark).unwrap_or(new.len());
            (&parts[..middle], &new[..end])
        }
        _ => ("", ""),
    }
}

/// The offset of the first delimiter that no backslash escapes.
fn delimiter(text: &str, mark: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let ends = letter == mark && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

/// A pattern without escapes and anchors.
fn unescaped(pattern: &str) -> String {
    let mut found = String::with_capacity(pattern.len());
    let mut letters = pattern.trim_start_matches('^').chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => found.push('\n'),
                Some('t') => found.push('\t'),
                Some('b' | 's' | '<' | '>') | None => {}
                Some(other) => found.push(other),
            },
            other => found.push(other),
        }
    }
    found
}
