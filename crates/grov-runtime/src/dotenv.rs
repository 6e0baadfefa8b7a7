//! `.env` files: `KEY=VALUE` lines with `export`, quotes and comments. Variables are not expanded.

/// An assignment and its line number, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) line: usize,
}

/// The assignments of a file, and its invalid lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) broken_lines: Vec<usize>,
}

/// Parses each line separately, so that an invalid line does not affect others. The last assignment of a name is used.
pub(crate) fn parse(text: &str) -> Contents {
    let mut contents = Contents::default();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = index + 1;
        match parse_line(line) {
            Line::Nothing => {}
            Line::Broken => contents.broken_lines.push(line_number),
            Line::Assignment { name, value } => {
                contents.assignments.retain(|earlier| earlier.name != name);
                contents.assignments.push(Assignment {
                    name,
                    value,
                    line: line_number,
                });
            }
        }
    }
    contents
}

enum Line {
    Nothing,
    Broken,
    Assignment { name: String, value: String },
}

fn parse_line(line: &str) -> Line {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Line::Nothing;
    }
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let Some((name, rest)) = line.split_once('=') else {
        return Line::Broken;
    };
    let name = name.trim_end();
    let well_formed = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match (well_formed, parse_value(rest.trim_start())) {
        (true, Some(value)) => Line::Assignment {
            name: name.to_owned(),
            value,
        },
        _ => Line::Broken,
    }
}

/// The value after `=`; `None` if a quote is not closed or text follows the closing quote.
fn parse_value(text: &str) -> Option<String> {
    let mut characters = text.chars();
    match characters.next() {
        Some('\'') => {
            let (value, rest) = characters.as_str().split_once('\'')?;
            only_comment(rest).then(|| value.to_owned())
        }
        Some('"') => {
            let mut value = String::new();
            loop {
                match characters.next()? {
                    '"' => break,
                    '\\' => match characters.next()? {
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        'r' => value.push('\r'),
                        other @ ('"' | '\\' | '$' | '`') => value.push(other),
                        other => value.extend(['\\', other]),
                    },
                    other => value.push(other),
                }
            }
            only_comment(characters.as_str()).then_some(value)
        }
        _ => {
            // A `#` starts a comment only after a space, so that URLs and passwords may contain one.
            let end = text
                .char_indices()
                .find(|&(at, c)| c == '#' && (at == 0 || text[..at].ends_with([' ', '\t'])))
                .map_or(text.len(), |(at, _)| at);
            Some(text[..end].trim_end().to_owned())
        }
    }
}

fn only_comment(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text)
            .assignments
            .into_iter()
            .map(|a| (a.name, a.value))
            .collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn quotes_comments_and_export() {
        let text = "\u{feff}# head\n\nA=1\nexport B = two words # note\nC='sin # gle' # x\nD=\"a\\\"b\\nc\"\r\nE=http://h/#frag\nF=\nexported=1\n";
        assert_eq!(
            pairs(text),
            [
                pair("A", "1"),
                pair("B", "two words"),
                pair("C", "sin # gle"),
                pair("D", "a\"b\nc"),
                pair("E", "http://h/#frag"),
                pair("F", ""),
                pair("exported", "1"),
            ]
        );
    }

    #[test]
    fn broken_lines_are_listed_and_do_not_affect_others() {
        let contents = parse("A=1\nno equals sign\n=x\n1A=2\nB='open\nC=\"x\" y\nD=4");
        assert_eq!(contents.broken_lines, [2, 3, 4, 5, 6]);
        assert_eq!(contents.assignments.len(), 2);
        assert_eq!(
            (
                contents.assignments[1].name.as_str(),
                contents.assignments[1].line
            ),
            ("D", 7)
        );
    }

    #[test]
    fn the_last_assignment_of_a_name_is_used() {
        assert_eq!(
            parse("A=1\nA=2").assignments,
            [Assignment {
                name: "A".into(),
                value: "2".into(),
                line: 2
            }]
        );
    }

    proptest! {
        #[test]
        fn any_value_survives_double_quotes(value in "[^\r\n]*") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(pairs(&format!("K=\"{escaped}\"")), [pair("K", &value)]);
        }

        #[test]
        fn never_panics(text in any::<String>()) {
            parse(&text);
        }
    }
}
