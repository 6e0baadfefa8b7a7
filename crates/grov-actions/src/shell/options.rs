//! Command-line options, told apart from operands.

use crate::shell::words::Argument;

/// Which options of a program take a value: single letters, and long names without their dashes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Valued {
    pub(crate) letters: &'static str,
    pub(crate) names: &'static [&'static str],
}

impl Valued {
    pub(crate) const fn new(letters: &'static str, names: &'static [&'static str]) -> Self {
        Self { letters, names }
    }
}

/// A command line taken apart.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    /// What is no option and no option's value.
    pub(crate) operands: Vec<&'a Argument>,
    /// How many operands stand before a `--`; all of them if there is none.
    pub(crate) before_dashes: usize,
    /// Options as written, letters of a cluster apart: `-r`, `--force`.
    flags: Vec<String>,
    /// Options with their values.
    values: Vec<(String, Argument)>,
}

impl<'a> Options<'a> {
    /// Takes the arguments of a program apart.
    pub(crate) fn parse(arguments: &'a [Argument], valued: Valued) -> Self {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        let mut dashes = None;
        while let Some(argument) = rest.next() {
            let text = argument.text.as_str();
            if dashes.is_some() || !argument.is_option() {
                options.operands.push(argument);
            } else if text == "--" {
                dashes = Some(options.operands.len());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (
                        name,
                        Some(Argument {
                            text: value.to_owned(),
                            ..argument.clone()
                        }),
                    ),
                    None if valued.names.contains(&long) => (long, rest.next().cloned()),
                    None => (long, None),
                };
                options.note(format!("--{name}"), value);
            } else if valued.names.contains(&&text[1..]) {
                // Long names with one dash: `find -name`, `go test -run`.
                options.note(text.to_owned(), rest.next().cloned());
            } else {
                for (at, letter) in text.char_indices().skip(1) {
                    let flag = format!("-{letter}");
                    if valued.letters.contains(letter) {
                        let attached = &text[at + letter.len_utf8()..];
                        let value = if attached.is_empty() {
                            rest.next().cloned()
                        } else {
                            Some(Argument {
                                text: attached.to_owned(),
                                ..argument.clone()
                            })
                        };
                        options.note(flag, value);
                        break;
                    }
                    options.flags.push(flag);
                }
            }
        }
        options.before_dashes = dashes.unwrap_or(options.operands.len());
        options
    }

    fn note(&mut self, flag: String, value: Option<Argument>) {
        if let Some(value) = value {
            self.values.push((flag.clone(), value));
        }
        self.flags.push(flag);
    }

    /// Whether one of these options is given.
    pub(crate) fn has(&self, flags: &[&str]) -> bool {
        self.flags.iter().any(|flag| flags.contains(&flag.as_str()))
    }

    /// The value of the first of these options that is given.
    pub(crate) fn value(&self, flags: &[&str]) -> Option<&Argument> {
        self.values
            .iter()
            .find(|(flag, _)| flags.contains(&flag.as_str()))
            .map(|(_, value)| value)
    }

    /// The values of these options, in order.
    pub(crate) fn values_of<'s>(&'s self, flags: &'s [&str]) -> impl Iterator<Item = &'s Argument> {
        self.values
            .iter()
            .filter(|(flag, _)| flags.contains(&flag.as_str()))
            .map(|(_, value)| value)
    }

    /// Operands behind `--`, if there was one.
    pub(crate) fn after_dashes(&self) -> &[&'a Argument] {
        self.operands.get(self.before_dashes..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_from_operands() {
        let words = [
            "-rf", "a", "-n5", "-o", "out", "--x=1", "--size", "9", "-", "-k", "--", "-b",
        ];
        let arguments: Vec<Argument> = words.into_iter().map(Argument::new).collect();
        let options = Options::parse(&arguments, Valued::new("no", &["size"]));
        let operands: Vec<&str> = options
            .operands
            .iter()
            .map(|operand| operand.text.as_str())
            .collect();
        assert_eq!(operands, ["a", "-", "-b"]);
        assert_eq!(options.after_dashes().len(), 1);
        assert!(
            options.has(&["-r"]) && options.has(&["-f"]) && options.has(&["-k"]) && !options.has(&["-b"])
        );
        let value = |flag: &str| options.value(&[flag]).map(|value| value.text.clone());
        assert_eq!(value("-n").as_deref(), Some("5"));
        assert_eq!(value("-o").as_deref(), Some("out"));
        assert_eq!(value("--x").as_deref(), Some("1"));
        assert_eq!(value("--size").as_deref(), Some("9"));
    }

    #[test]
    fn an_option_that_lacks_its_value_is_still_given() {
        let arguments = [Argument::new("-o")];
        let options = Options::parse(&arguments, Valued::new("o", &[]));
        assert!(options.has(&["-o"]) && options.value(&["-o"]).is_none());
    }
}
