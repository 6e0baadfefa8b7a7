//! Turns words into arguments: inserts variables whose values the script shows, and expands braces.

use crate::shell::lexer::{Piece, Word};
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of arguments that one word expands to.
const MAX_ALTERNATIVES: usize = 64;
/// The maximum length of an inserted value in bytes.
const MAX_VALUE: usize = 512;
/// The length of all alternatives of a word, in bytes, above which no more values are inserted.
const MAX_WORD: usize = 64 * 1024;
/// The maximum number of variables.
const MAX_VARIABLES: usize = 256;

/// A word as a program receives it, as far as the script shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// The text. Unknown variables stay as `$NAME`, other unknown pieces are left out.
    pub(crate) text: String,
    /// The text with unknown pieces in their source form, if it differs.
    written: Option<String>,
    /// The number of the substitution at the start of the word.
    pub(crate) substitution: Option<usize>,
    /// The numbers of the programs in that substitution.
    pub(crate) output_of: Range<usize>,
    /// A piece was left out, or the word is only a variable. The text is then not a path.
    pub(crate) unknown: bool,
    pub(crate) quoted: bool,
}

impl Argument {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            written: None,
            substitution: None,
            output_of: 0..0,
            unknown: false,
            quoted: false,
        }
    }

    /// The text with unknown pieces in their source form: `$(date).txt`.
    pub(crate) fn written(&self) -> &str {
        self.written.as_deref().unwrap_or(&self.text)
    }

    /// The argument with another text, often a suffix of its text: the value in `--name=value`.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        let begins = self.text.strip_suffix(text);
        let written = || Some(self.written.as_deref()?.strip_prefix(begins?)?.to_owned());
        Self {
            text: text.to_owned(),
            written: written(),
            ..self.clone()
        }
    }

    /// Sets the programs in the substitution at its start.
    pub(crate) fn with_output_of(self, output_of: Range<usize>) -> Self {
        Self { output_of, ..self }
    }

    pub(crate) fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }
}

impl AsRef<Self> for Argument {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The variables with known values. The variable of a loop has several values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(HashMap<String, Vec<String>>);

impl Variables {
    /// Stores the values of a variable if they are completely known.
    pub(crate) fn set(&mut self, name: &str, values: Vec<Argument>) {
        let usable = !values.is_empty()
            && values.len() <= MAX_ALTERNATIVES
            && values
                .iter()
                .all(|value| !value.unknown && value.text.len() <= MAX_VALUE);
        if !usable {
            self.0.remove(name);
        } else if self.0.len() < MAX_VARIABLES || self.0.contains_key(name) {
            self.0.insert(
                name.to_owned(),
                values.into_iter().map(|value| value.text).collect(),
            );
        }
    }

    /// The arguments that a word expands to, usually one.
    pub(crate) fn expand(&self, word: &Word, folder: Option<&str>) -> Vec<Argument> {
        let mut alternatives = vec![String::new()];
        let mut unknown = false;
        let mut variable_only = true;
        let mut put_in = 0_usize;
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => {
                    variable_only = false;
                    push(&mut alternatives, text);
                }
                Piece::Quoted(text) => {
                    variable_only = false;
                    push(&mut alternatives, &hide_braces(text));
                }
                Piece::Unknown { text, .. } => {
                    unknown = true;
                    push(&mut alternatives, &with_forms(text, ""));
                }
                Piece::Variable(name) => match (name.as_str(), self.0.get(name), folder) {
                    ("HOME", ..) => {
                        variable_only = false;
                        push(&mut alternatives, "~");
                    }
                    ("PWD", _, Some(folder)) => {
                        variable_only = false;
                        push(&mut alternatives, &with_forms("$PWD", folder));
                    }
                    (_, Some(values), _)
                        if values.len() * alternatives.len() <= MAX_ALTERNATIVES && put_in <= MAX_WORD =>
                    {
                        variable_only = false;
                        alternatives = alternatives
                            .iter()
                            .flat_map(|start| values.iter().map(move |value| format!("{start}{value}")))
                            .collect();
                        put_in = alternatives.iter().map(String::len).sum();
                    }
                    _ => push(&mut alternatives, &format!("${name}")),
                },
            }
        }
        let unknown = unknown || variable_only && !word.pieces.is_empty();
        // Unquoted values of variables are split at whitespace.
        let splits = !word.quoted
            && word
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Variable(_)));
        let split = |text: String| match splits && text.contains(char::is_whitespace) && !text.contains(FORMS)
        {
            true => text.split_whitespace().map(str::to_owned).collect(),
            false => vec![text],
        };
        let substitution = word.pieces.iter().find_map(|piece| match piece {
            Piece::Unknown { substitution, .. } => Some(*substitution),
            Piece::Text(text) | Piece::Quoted(text) if text.trim().is_empty() => None,
            _ => Some(None),
        });
        alternatives
            .into_iter()
            .flat_map(braces)
            .map(|text| show_braces(&text))
            .flat_map(split)
            .map(|text| {
                let (text, written) = split_forms(text);
                Argument {
                    text,
                    written,
                    substitution: substitution.flatten(),
                    output_of: 0..0,
                    unknown,
                    quoted: word.quoted,
                }
            })
            .collect()
    }
}

fn push(alternatives: &mut [String], text: &str) {
    for alternative in alternatives {
        alternative.push_str(text);
    }
}

/// Separates the source form of a piece from its resolved text. It is a Unicode noncharacter, so texts do not contain
/// it.
const FORMS: char = '\u{fdd3}';

/// A piece with both forms, enclosed and separated by [`FORMS`].
fn with_forms(written: &str, resolved: &str) -> String {
    format!(
        "{FORMS}{}{FORMS}{}{FORMS}",
        hide_braces(written),
        hide_braces(resolved)
    )
}

/// Splits a text into its resolved text and, if it has one, its source form.
fn split_forms(text: String) -> (String, Option<String>) {
    if !text.contains(FORMS) {
        return (text, None);
    }
    let (mut resolved, mut written) = (String::new(), String::new());
    for (at, piece) in text.split(FORMS).enumerate() {
        if at % 3 != 1 {
            resolved.push_str(piece);
        }
        if at % 3 != 2 {
            written.push_str(piece);
        }
    }
    (resolved, Some(written))
}

/// Quoted braces and commas are replaced by Unicode noncharacters, which hides them from the expansion.
const HIDDEN: [(char, char); 3] = [('{', '\u{fdd0}'), (',', '\u{fdd1}'), ('}', '\u{fdd2}')];

fn hide_braces(text: &str) -> String {
    let hide = |c| {
        HIDDEN
            .iter()
            .find(|(shown, _)| *shown == c)
            .map_or(c, |(_, hidden)| *hidden)
    };
    text.chars().map(hide).collect()
}

fn show_braces(text: &str) -> String {
    let show = |c| {
        HIDDEN
            .iter()
            .find(|(_, hidden)| *hidden == c)
            .map_or(c, |(shown, _)| *shown)
    };
    text.chars().map(show).collect()
}

/// Expands `a{b,c}d` to `abd acd`. Nested braces are not expanded.
fn braces(text: String) -> Vec<String> {
    let mut done = vec![String::new()];
    let mut rest = text.as_str();
    while let Some((before, inside, after)) = next_braces(rest) {
        let choices: Vec<&str> = inside.split(',').collect();
        if choices.len() * done.len() > MAX_ALTERNATIVES {
            return vec![text];
        }
        done = done
            .iter()
            .flat_map(|start| {
                choices
                    .iter()
                    .map(move |choice| format!("{start}{before}{choice}"))
            })
            .collect();
        rest = after;
    }
    done.iter_mut().for_each(|word| word.push_str(rest));
    done
}

/// The first braces with a list: the text before, inside and after them.
fn next_braces(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find('{')?;
    let close = open + text[open..].find('}')?;
    let inside = &text[open + 1..close];
    let lists = inside.contains(',') && !inside.contains(['{', '$']) && !text[..open].ends_with('$');
    lists.then(|| (&text[..open], inside, &text[close + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_that_hold_a_list_are_expanded() {
        let cases = [
            ("a{b,c}d", "abd acd"),
            ("x/{a,b}/{c,d}", "x/a/c x/a/d x/b/c x/b/d"),
            ("f{,.bak}", "f f.bak"),
            ("{}", "{}"),
            ("{a}", "{a}"),
            ("a{b", "a{b"),
            ("{a,{b,c}}", "{a,{b,c}}"),
        ];
        for (text, expected) in cases {
            assert_eq!(braces(text.to_owned()).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn many_long_values_in_one_word_are_left_as_names() {
        let mut variables = Variables::default();
        let value = |letter: &str| Argument::new(letter.repeat(MAX_VALUE));
        variables.set("X", (0..MAX_ALTERNATIVES).map(|_| value("x")).collect());
        variables.set("Y", vec![value("y")]);
        let mut word = Word::default();
        word.pieces.push(Piece::Variable("X".to_owned()));
        word.pieces
            .extend((0..4000).map(|_| Piece::Variable("Y".to_owned())));
        let expanded = variables.expand(&word, None);
        assert_eq!(expanded.len(), MAX_ALTERNATIVES);
        assert!(expanded.iter().all(|argument| argument.text.ends_with("$Y$Y")));
    }

    #[test]
    fn too_many_alternatives_are_left_as_they_stand() {
        let text = "{a,b,c,d}".repeat(8);
        assert_eq!(braces(text.clone()), [text]);
    }
}
