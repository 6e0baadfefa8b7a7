//! What a line of code shows to others: exported definitions, options of a command line, and keys of data.

use super::source::is_comment;

/// Words that begin statements, and no definitions.
#[rustfmt::skip]
const STATEMENTS: &[&str] = &[
    "await", "case", "catch", "delete", "do", "elif", "else", "expect", "for", "foreach", "if", "new", "return", "super", "switch", "throw", "try", "until", "when", "while", "with", "yield", "describe", "it", "test",
];

/// Modifiers of definitions that others cannot use.
const HIDDEN: &[&str] = &[
    "private",
    "internal",
    "fileprivate",
    "static",
    "pub(crate)",
    "pub(super)",
    "#",
    "protected",
];

/// The definition that a line shows to others, without its body.
pub(super) fn exported(line: &str, extension: &str) -> Option<String> {
    let is_outer = !line.starts_with([' ', '\t']);
    let code = line.trim();
    if code.is_empty() || is_comment(code, extension) {
        return None;
    }
    let begins = |words: &[&str]| words.iter().any(|word| code.starts_with(word));
    let plain = code
        .trim_start_matches("async ")
        .trim_start_matches("static ")
        .trim_start_matches("export ");
    let name = |rest: &str| rest.trim_start().chars().next();
    let is_shown = match extension {
        "py" | "pyi" => ["def ", "class "].iter().any(|word| {
            plain
                .strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with('_') || rest.starts_with("__init__"))
        }),
        "rb" | "ex" | "exs" => begins(&["def ", "attr_accessor", "attr_reader", "class ", "module "]),
        "go" => {
            let after = |word: &str| {
                let rest = code.strip_prefix(word)?;
                // A receiver stands before the name of a method.
                let rest = if rest.starts_with('(') {
                    rest.split_once(')')?.1
                } else {
                    rest
                };
                name(rest)
            };
            ["func ", "type ", "const ", "var "]
                .iter()
                .any(|word| after(word).is_some_and(char::is_uppercase))
                || code.contains("`json:\"")
        }
        "rs" => begins(&[
            "pub fn",
            "pub async",
            "pub struct",
            "pub enum",
            "pub trait",
            "pub type",
            "pub const",
            "pub mod",
            "pub use",
            "pub static",
            "pub unsafe",
            "#[no_mangle",
        ]),
        "h" | "hpp" | "hh" => {
            code.contains('(') && code.ends_with([';', '{', ')']) && !code.contains(" = ")
                || begins(&["#define "])
        }
        "c" | "cc" | "cpp" | "cxx" => {
            is_outer && code.contains('(') && !code.ends_with(';') && !begins(&["static ", "#", "}"])
        }
        "kt" | "swift" | "dart" | "scala" => {
            let first = code.split_whitespace().next().unwrap_or_default();
            !HIDDEN.contains(&first)
                && ([
                    "fun ",
                    "func ",
                    "class ",
                    "struct ",
                    "interface ",
                    "protocol ",
                    "enum ",
                    "def ",
                ]
                .iter()
                .any(|word| code.contains(word)))
        }
        "proto" | "graphql" | "graphqls" | "thrift" | "avsc" | "wsdl" | "xsd" => true,
        "java" | "cs" | "php" | "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "vue" | "svelte" => {
            begins(&[
                "export ",
                "public ",
                "module.exports",
                "exports.",
                "interface ",
                "abstract ",
                "open ",
            ]) || is_method(code)
        }
        _ => begins(&["export ", "pub ", "public ", "module.exports", "__all__", "open "]),
    };
    is_shown.then(|| head(code).to_owned())
}

/// "getUser(id: string): Promise<User> {": a method without a modifier.
fn is_method(code: &str) -> bool {
    let Some((before, after)) = code.split_once('(') else {
        return false;
    };
    let name = before.rsplit(' ').next().unwrap_or_default();
    let is_name = !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_');
    let first = before.split(' ').next().unwrap_or_default();
    is_name
        && !STATEMENTS.contains(&first)
        && !HIDDEN.contains(&first)
        && !before.contains(['=', '.', '!'])
        && after.contains(')')
        && (code.ends_with('{') && !code.ends_with("=> {") || code.ends_with(");") && before.contains(' '))
}

/// A definition without its body.
fn head(code: &str) -> &str {
    let end = [" {", " =>", "=>"]
        .iter()
        .filter_map(|mark| code.find(mark))
        .min();
    code[..end.unwrap_or(code.len())].trim_end_matches(['{', ' ', ';', ':'])
}

/// The options of a command line and the keys of data that a line has between quotation marks.
pub(super) fn names(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut parts = line.split(['"', '\'', '`']);
    parts.next();
    while let (Some(text), Some(rest)) = (parts.next(), parts.next()) {
        let is_option = text.starts_with("--") && text.len() > 3;
        let is_key = !text.is_empty()
            && text
                .chars()
                .all(|letter| letter.is_alphanumeric() || "_-$.".contains(letter))
            && [":", "=>", "]"]
                .iter()
                .any(|mark| rest.trim_start().starts_with(mark));
        if is_option || is_key {
            found.push(text.to_owned());
        }
    }
    found
}
