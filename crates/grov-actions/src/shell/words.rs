//! Words become arguments: variables whose value the script itself shows are put in, braces are expanded.

use crate::shell::lexer::{Piece, Word};
use std::collections::HashMap;

/// More alternatives of one word are not followed.
const MAX_ALTERNATIVES: usize = 64;
/// Longer values of variables are not put in.
const MAX_VALUE: usize = 512;
/// Into longer words no more values are put, in bytes of all alternatives together.
const MAX_WORD: usize = 64 * 1024;
/// More variables are not remembered.
const MAX_VARIABLES: usize = 256;

/// A word as a program gets it, as far as the script shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// The text; variables that are not known stay as `$NAME`, what is unknown otherwise is left out.
    pub(crate) text: String,
    /// Whether something was left out, or nothing but a variable was there: the text is then no path.
    pub(crate) unknown: bool,
    /// Whether it was quoted.
    pub(crate) quoted: bool,
}

impl Argument {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            unknown: false,
            quoted: false,
        }
    }

    /// Whether it is an option.
    pub(crate) fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }
}

/// The variables of which the script shows the value; one that a loop sets has several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(HashMap<String, Vec<String>>);

impl Variables {
    /// Remembers a value, if it is whole.
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

    /// The arguments that the word stands for: usually one.
    pub(crate) fn expand(&self, word: &Word, folder: Option<&str>) -> Vec<Argument> {
        let mut alternatives = vec![String::new()];
        let mut unknown = false;
        let mut variable_only = true;
        let mut put_in = 0_usize;
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => {
                    variable_only = false;
                    alternatives
                        .iter_mut()
                        .for_each(|alternative| alternative.push_str(text));
                }
                Piece::Quoted(text) => {
                    variable_only = false;
                    let text = hide_braces(text);
                    alternatives
                        .iter_mut()
                        .for_each(|alternative| alternative.push_str(&text));
                }
                Piece::Unknown => unknown = true,
                Piece::Variable(name) => {
                    let home_or_here = match name.as_str() {
                        "HOME" => Some("~"),
                        "PWD" => folder,
                        _ => None,
                    };
                    if let Some(text) = home_or_here {
                        variable_only = false;
                        alternatives
                            .iter_mut()
                            .for_each(|alternative| alternative.push_str(text));
                        continue;
                    }
                    match self.0.get(name) {
                        Some(values)
                            if values.len() * alternatives.len() <= MAX_ALTERNATIVES
                                && put_in <= MAX_WORD =>
                        {
                            variable_only = false;
                            alternatives = alternatives
                                .iter()
                                .flat_map(|start| values.iter().map(move |value| format!("{start}{value}")))
                                .collect();
                            put_in = alternatives.iter().map(String::len).sum();
                        }
                        _ => alternatives.iter_mut().for_each(|alternative| {
                            alternative.push('$');
                            alternative.push_str(name);
                        }),
                    }
                }
            }
        }
        let unknown = unknown || variable_only && !word.pieces.is_empty();
        // What a variable holds is split at spaces where it is not quoted.
        let splits = !word.quoted
            && word
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Variable(_)));
        let split = |text: String| match splits && text.contains(char::is_whitespace) {
            true => text.split_whitespace().map(str::to_owned).collect(),
            false => vec![text],
        };
        let expanded = alternatives
            .into_iter()
            .flat_map(braces)
            .map(|text| show_braces(&text))
            .flat_map(split);
        expanded
            .map(|text| Argument {
                text,
                unknown,
                quoted: word.quoted,
            })
            .collect()
    }
}

/// Quoted braces and commas are hidden from the expansion as characters that no text has (Unicode noncharacters).
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

/// `a{b,c}d` becomes `abd acd`. Braces inside braces stay as they are.
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

/// The first braces that hold a list: what is before, inside and behind them.
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
