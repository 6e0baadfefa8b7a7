//! The outline of source code: items and blank lines, by indentation. No language is parsed.

use super::outline::{Break, Heading, HeadingPath, Outline, Section, lines};

/// The depth of a line that neither starts an item nor follows an empty line.
const LINE_DEPTH: u8 = 6;
/// Maximum bytes of a name.
const MAX_NAME_BYTES: usize = 100;
/// Words before the keyword of an item.
const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "const",
    "data",
    "default",
    "export",
    "extern",
    "final",
    "inline",
    "internal",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "static",
    "unsafe",
    "virtual",
];
/// Keywords that name an item.
const KEYWORDS: &[&str] = &[
    "class",
    "def",
    "defmodule",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "macro_rules!",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "protocol",
    "record",
    "struct",
    "trait",
    "type",
    "union",
];

/// Returns the outline of source code. A section is an item without indentation, and its heading is the item's name.
pub(super) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut start = 0;
    let mut path = HeadingPath::default();
    // The first line of comments, attributes and empty lines before the current line.
    let mut lead = None;
    let mut after_blank = false;
    for (at, line) in lines(text) {
        let content = line.trim_start_matches([' ', '\t']);
        let indentation = line.len() - content.len();
        let is_blank = content.trim().is_empty();
        if at > 0 && !is_blank {
            let depth = match (after_blank, indentation) {
                (true, 0) => 0,
                (true, columns) => u8::try_from(columns / 2)
                    .unwrap_or(LINE_DEPTH)
                    .clamp(1, LINE_DEPTH - 1),
                (false, _) => LINE_DEPTH,
            };
            outline.breaks.push(Break { at, depth });
        }
        if indentation == 0 && !is_blank {
            if let Some(name) = item_name(content) {
                let begin = lead.unwrap_or(at);
                if begin > start {
                    outline.sections.push(section(start..begin, path));
                    start = begin;
                }
                path = HeadingPath::default().followed_by(outline.headings.len(), 1);
                outline.headings.push(Heading {
                    title: name.to_owned(),
                });
            }
            lead = is_lead(content).then(|| lead.unwrap_or(at));
        } else if is_blank {
            lead = None;
        }
        after_blank = is_blank;
    }
    if start < text.len() {
        outline.sections.push(section(start..text.len(), path));
    }
    outline
}

fn section(range: std::ops::Range<usize>, path: HeadingPath) -> Section {
    Section {
        range,
        path,
        is_bare: false,
    }
}

/// Whether a line belongs to the item below it: a comment, an attribute or a decorator.
fn is_lead(line: &str) -> bool {
    ["//", "/*", " *", "*", "#", "@", "--", ";;"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The name of the item that a line starts.
fn item_name(line: &str) -> Option<&str> {
    let words = |rest: &str| {
        rest.split([' ', '\t', '(', '{', ':', '<', '=', ';', '\r', '\n'])
            .next()
            .map(str::len)
    };
    let mut rest = line;
    for _ in 0..8 {
        let word = &rest[..words(rest)?];
        let after = rest[word.len()..].trim_start();
        if KEYWORDS.contains(&word) {
            // `impl<T> Store for Memory` and `func (s *Store) Open`: what is between is no name.
            let after = skip_group(after);
            let name = &after[..after.floor_char_boundary(MAX_NAME_BYTES.min(words(after)?))];
            return (!name.is_empty()).then_some(name);
        }
        let is_modifier = MODIFIERS.contains(&word);
        if !is_modifier {
            return None;
        }
        // `pub(crate)`.
        rest = skip_group(after);
    }
    None
}

/// The text behind a group in brackets or angle brackets at its beginning.
fn skip_group(text: &str) -> &str {
    let close = match text.as_bytes().first() {
        Some(b'(') => ')',
        Some(b'<') => '>',
        _ => return text,
    };
    text.find(close).map_or(text, |end| text[end + 1..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_items_are_found() {
        for (line, name) in [
            ("fn main() {", Some("main")),
            ("pub(crate) async fn open<T>(", Some("open")),
            ("impl<T> Store for Memory {", Some("Store")),
            ("class Basket(Base):", Some("Basket")),
            ("def total(self):", Some("total")),
            ("func (s *Server) Listen() error {", Some("Listen")),
            ("export default function handler() {", Some("handler")),
            ("interface Shape {", Some("Shape")),
            ("const x = 3;", None),
            ("let type = 3;", None),
            ("functional style", None),
            ("fn", None),
            ("", None),
        ] {
            assert_eq!(item_name(line), name, "{line}");
        }
    }

    #[test]
    fn an_item_begins_with_its_comment() {
        let text = "use a;\n\n// One.\n#[test]\nfn one() {\n}\n\nfn two() {}\n";
        let outline = outline(text);
        let sections: Vec<&str> = outline
            .sections
            .iter()
            .map(|section| &text[section.range.clone()])
            .collect();
        assert_eq!(
            sections,
            [
                "use a;\n\n",
                "// One.\n#[test]\nfn one() {\n}\n\n",
                "fn two() {}\n"
            ]
        );
        let names: Vec<&str> = outline
            .headings
            .iter()
            .map(|heading| heading.title.as_str())
            .collect();
        assert_eq!(names, ["one", "two"]);
    }
}
