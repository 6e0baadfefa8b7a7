//! Separates command-line options from operands.

mod table;

pub(crate) use table::{GIT, of, of_git, roles_of};

use crate::has_word;
use crate::shell::words::Argument;
use grov_domain::Role;

/// The options of a program that take a value: short ones as letters, long ones without their dashes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Valued {
    pub(crate) letters: &'static str,
    /// Separated by spaces.
    pub(crate) names: &'static str,
}

impl Valued {
    pub(crate) const fn new(letters: &'static str, names: &'static str) -> Self {
        Self { letters, names }
    }
}

/// The parsed arguments of a program.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    /// Arguments that are neither options nor their values.
    pub(crate) operands: Vec<&'a Argument>,
    /// The number of operands before `--`; all of them if there is none.
    pub(crate) before_dashes: usize,
    /// The options with their values. Groups of short options are split: `-r`, `--force`.
    options: Vec<(String, Option<Argument>)>,
}

/// The role of each argument.
pub(crate) fn roles<'t>(arguments: impl Iterator<Item = &'t str>, valued: Valued) -> Vec<Role> {
    let mut dashes = false;
    let mut takes_next = false;
    let role = |text: &str| {
        if std::mem::take(&mut takes_next) {
            return Role::Value;
        }
        if dashes || !text.starts_with('-') || text.len() < 2 {
            return Role::Operand;
        }
        dashes = text == "--";
        takes_next = match text.strip_prefix("--") {
            Some(long) => has_word(valued.names, long),
            // Long names with a single dash: `find -name`, `go test -run`.
            None => {
                let letter = text.char_indices().skip(1);
                let mut valued_letters = letter.filter(|(_, letter)| valued.letters.contains(*letter));
                let is_last = |(at, letter): (usize, char)| at + letter.len_utf8() == text.len();
                has_word(valued.names, &text[1..]) || valued_letters.next().is_some_and(is_last)
            }
        };
        Role::Option
    };
    arguments.map(role).collect()
}

impl<'a> Options<'a> {
    /// Parses the arguments of a known program.
    pub(crate) fn of(program: &str, arguments: &'a [Argument]) -> Self {
        Self::parse(arguments, of(program))
    }

    pub(crate) fn parse(arguments: &'a [Argument], valued: Valued) -> Self {
        let mut parsed = Self::default();
        let mut dashes = None;
        let roles = roles(arguments.iter().map(|argument| argument.text.as_str()), valued);
        for (at, argument) in arguments.iter().enumerate() {
            let text = argument.text.as_str();
            let next = || {
                arguments
                    .get(at + 1)
                    .filter(|_| roles.get(at + 1) == Some(&Role::Value))
            };
            let value = |attached: &str| match attached {
                "" => next().cloned(),
                attached => Some(argument.with_text(attached)),
            };
            match roles[at] {
                Role::Operand => parsed.operands.push(argument),
                Role::Value => {}
                Role::Option if text == "--" => dashes = Some(parsed.operands.len()),
                Role::Option if text.starts_with("--") => parsed.options.push(match text.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(argument.with_text(value))),
                    None => (text.to_owned(), next().cloned()),
                }),
                Role::Option if has_word(valued.names, &text[1..]) => {
                    parsed.options.push((text.to_owned(), next().cloned()));
                }
                Role::Option => {
                    for (at, letter) in text.char_indices().skip(1) {
                        let takes_value = valued.letters.contains(letter);
                        let value = takes_value.then(|| value(&text[at + letter.len_utf8()..]));
                        parsed.options.push((format!("-{letter}"), value.flatten()));
                        if takes_value {
                            break;
                        }
                    }
                }
            }
        }
        parsed.before_dashes = dashes.unwrap_or(parsed.operands.len());
        parsed
    }

    /// Whether any of these options is present.
    pub(crate) fn has(&self, flags: &str) -> bool {
        self.options.iter().any(|(flag, _)| has_word(flags, flag))
    }

    /// The value of the first of these options.
    pub(crate) fn value<'s>(&'s self, flags: &'s str) -> Option<&'s Argument> {
        self.values_of(flags).next()
    }

    /// The values of these options, in order.
    pub(crate) fn values_of<'s>(&'s self, flags: &'s str) -> impl Iterator<Item = &'s Argument> {
        let options = self.options.iter().filter(|(flag, _)| has_word(flags, flag));
        options.filter_map(|(_, value)| value.as_ref())
    }

    /// The operands after `--`.
    pub(crate) fn after_dashes(&self) -> &[&'a Argument] {
        self.operands.get(self.before_dashes..).unwrap_or_default()
    }
}

/// The arguments after the leading options.
pub(crate) fn skip_options(arguments: &[Argument], valued: Valued) -> &[Argument] {
    let roles = roles(arguments.iter().map(|argument| argument.text.as_str()), valued);
    let first = roles.iter().position(|role| *role == Role::Operand);
    &arguments[first.unwrap_or(arguments.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_separated_from_operands() {
        let words = [
            "-rf", "a", "-n5", "-o", "out", "--x=1", "--size", "9", "-", "-k", "--", "-b",
        ];
        let arguments: Vec<Argument> = words.into_iter().map(Argument::new).collect();
        let options = Options::parse(&arguments, Valued::new("no", "size"));
        let operands: Vec<&str> = options
            .operands
            .iter()
            .map(|operand| operand.text.as_str())
            .collect();
        assert_eq!(operands, ["a", "-", "-b"]);
        assert_eq!(options.after_dashes().len(), 1);
        assert!(options.has("-r") && options.has("-f") && options.has("-k") && !options.has("-b"));
        let value = |flag: &str| options.value(flag).map(|value| value.text.clone());
        assert_eq!(value("-n").as_deref(), Some("5"));
        assert_eq!(value("-o").as_deref(), Some("out"));
        assert_eq!(value("--x").as_deref(), Some("1"));
        assert_eq!(value("--size").as_deref(), Some("9"));
    }

    #[test]
    fn an_option_without_its_value_is_present() {
        let arguments = [Argument::new("-o")];
        let options = Options::parse(&arguments, Valued::new("o", ""));
        assert!(options.has("-o") && options.value("-o").is_none());
    }
}
