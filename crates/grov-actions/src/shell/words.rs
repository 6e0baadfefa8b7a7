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

    /// Whether a variable selects the environment of tests: `RAILS_ENV=test`.
    pub(crate) fn is_trial(&self) -> bool {
        let names = [
            "RAILS_ENV",
            "RACK_ENV",
            "NODE_ENV",
            "APP_ENV",
            "FLASK_ENV",
            "DJANGO_SETTINGS_MODULE",
            "DATABASE_URL",
        ];
        let values = names.iter().filter_map(|name| self.0.get(*name)?.first());
        values
            .into_iter()
            .any(|value| value.contains("test") || value.contains(":memory:"))
    }

    /// The arguments that a word expands to, usually one.
    pub(crate) fn expand(&self, word: &Word, folder: Option<&str>) -> Vec<Argument> {
        let parts = parts(word);
        let has_variable = parts.iter().any(|part| matches!(part, Part::Variable(_)));
        let mut unknown = word
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown { .. }));
        let mut is_known = parts
            .iter()
            .any(|part| matches!(part, Part::Sign(_) | Part::Text(_)));
        let mut expansions = Vec::new();
        for alternative in expand_braces(&parts) {
            let mut texts = vec![Expansion::default()];
            for part in alternative.into_iter().flatten() {
                is_known |= self.expand_part(*part, folder, &mut texts);
            }
            expansions.append(&mut texts);
        }
        unknown |= !is_known && !parts.is_empty();
        let substitution = word.pieces.iter().find_map(|piece| match piece {
            Piece::Unknown { substitution, .. } => Some(*substitution),
            Piece::Text(text) | Piece::Quoted(text) if text.trim().is_empty() => None,
            _ => Some(None),
        });
        // Unquoted values of variables are split at whitespace.
        let splits = has_variable && !word.quoted;
        let split = |Expansion { text, written }: Expansion| match splits && text == written {
            true if text.contains(char::is_whitespace) => text
                .split_whitespace()
                .map(|word| (word.to_owned(), None))
                .collect(),
            _ => {
                let written = (written != text).then_some(written);
                vec![(text, written)]
            }
        };
        let argument = |(text, written)| Argument {
            text,
            written,
            substitution: substitution.flatten(),
            output_of: 0..0,
            unknown,
            quoted: word.quoted,
        };
        expansions.into_iter().flat_map(split).map(argument).collect()
    }

    /// Appends a part to each text. Returns whether its value is known.
    fn expand_part(&self, part: Part<'_>, folder: Option<&str>, texts: &mut Vec<Expansion>) -> bool {
        let (text, written) = match (part, folder) {
            (Part::Sign(text) | Part::Text(text), _) => (text, text),
            (Part::Unknown(written), _) => ("", written),
            (Part::Variable("HOME"), _) => ("~", "~"),
            (Part::Variable("PWD"), Some(folder)) => (folder, "$PWD"),
            (Part::Variable(name), _) => {
                let length: usize = texts.iter().map(|text| text.text.len()).sum();
                let values = self.0.get(name).filter(|_| length <= MAX_WORD);
                let values = values.filter(|values| values.len() * texts.len() <= MAX_ALTERNATIVES);
                let Some(values) = values else {
                    let name = format!("${name}");
                    texts.iter_mut().for_each(|text| text.push(&name, &name));
                    return false;
                };
                *texts = texts
                    .iter()
                    .flat_map(|start| values.iter().map(|value| start.clone().with(value)))
                    .collect();
                return true;
            }
        };
        texts.iter_mut().for_each(|start| start.push(text, written));
        !matches!(part, Part::Unknown(_))
    }
}

/// A text that a word expands to, resolved and in its source form.
#[derive(Clone, Default)]
struct Expansion {
    text: String,
    written: String,
}

impl Expansion {
    fn push(&mut self, text: &str, written: &str) {
        self.text.push_str(text);
        self.written.push_str(written);
    }

    fn with(mut self, text: &str) -> Self {
        self.push(text, text);
        self
    }
}

/// A part of a word: an unquoted brace or comma, other text, a variable, or the source form of an unknown piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part<'w> {
    Sign(&'w str),
    Text(&'w str),
    Variable(&'w str),
    Unknown(&'w str),
}

fn parts(word: &Word) -> Vec<Part<'_>> {
    const SIGNS: [char; 3] = ['{', ',', '}'];
    let mut parts = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) => {
                for run in text.split_inclusive(SIGNS) {
                    let (text, sign) = run.split_at(run.trim_end_matches(SIGNS).len());
                    parts.extend([Part::Text(text), Part::Sign(sign)]);
                }
            }
            Piece::Quoted(text) => parts.push(Part::Text(text)),
            Piece::Variable(name) => parts.push(Part::Variable(name)),
            Piece::Unknown { text, .. } => parts.push(Part::Unknown(text)),
        }
    }
    parts
}

/// Expands `a{b,c}d` to `abd acd`. Nested braces are not expanded.
fn expand_braces<'p, 'w>(parts: &'p [Part<'w>]) -> Vec<Vec<&'p [Part<'w>]>> {
    let mut done = vec![Vec::new()];
    let mut rest = parts;
    while let Some((open, close)) = next_braces(rest) {
        let choices = rest[open + 1..close].split(|part| *part == Part::Sign(","));
        let choices: Vec<&[Part<'_>]> = choices.collect();
        if choices.len() * done.len() > MAX_ALTERNATIVES {
            return vec![vec![parts]];
        }
        let before = &rest[..open];
        done = done
            .iter()
            .flat_map(|start| {
                choices
                    .iter()
                    .map(|choice| [start.as_slice(), &[before, choice]].concat())
            })
            .collect();
        rest = &rest[close + 1..];
    }
    done.iter_mut().for_each(|word| word.push(rest));
    done
}

/// The positions of the first braces, if they contain a list.
fn next_braces(parts: &[Part<'_>]) -> Option<(usize, usize)> {
    let open = parts.iter().position(|part| *part == Part::Sign("{"))?;
    let close = open + parts[open..].iter().position(|part| *part == Part::Sign("}"))?;
    let inside = &parts[open + 1..close];
    let is_list = inside.contains(&Part::Sign(",")) && !inside.contains(&Part::Sign("{"));
    is_list.then_some((open, close))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Vec<String> {
        let mut word = Word::default();
        word.pieces.push(Piece::Text(text.to_owned()));
        let arguments = Variables::default().expand(&word, None);
        arguments.into_iter().map(|argument| argument.text).collect()
    }

    #[test]
    fn braces_with_a_list_are_expanded() {
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
            assert_eq!(expanded(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn variables_of_a_very_long_word_are_not_inserted() {
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
    fn too_many_alternatives_are_not_expanded() {
        let text = "{a,b,c,d}".repeat(8);
        assert_eq!(expanded(&text), [text]);
    }
}
