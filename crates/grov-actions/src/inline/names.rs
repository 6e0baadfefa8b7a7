//! The names in a piece of code: the imported ones and those with a known text.

use super::Language;
use super::token::{Text, Token};
use std::collections::HashMap;

/// The maximum number of names.
const MAX_NAMES: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// The text assigned to a name; `None` if it is unknown or not always the same.
    texts: HashMap<String, Option<Text>>,
    /// The full name of an imported name: `run` is `subprocess.run`.
    origins: HashMap<String, String>,
}

impl Names {
    /// The text of a name, if it is always the same.
    pub(super) fn text(&self, name: &str) -> Option<&Text> {
        self.texts.get(name)?.as_ref()
    }

    pub(super) fn origin(&self, name: &str) -> Option<&str> {
        self.origins.get(name).map(String::as_str)
    }

    /// Assigns a text to a name; `None` is any other value.
    pub(super) fn assign(&mut self, name: &str, text: Option<Text>) {
        if let Some(known) = self.texts.get_mut(name) {
            if *known != text {
                *known = None;
            }
        } else if self.texts.len() < MAX_NAMES {
            self.texts.insert(name.to_owned(), text);
        }
    }

    fn import(&mut self, name: &str, origin: String) {
        if self.origins.len() < MAX_NAMES {
            self.origins.insert(name.to_owned(), origin);
        }
    }
}

/// The assignments in order: the name, and the index of the first token of the value. The index is `None` if the
/// value is changed in place or set by a loop.
pub(super) fn assignments(tokens: &[Token]) -> Vec<(&str, Option<usize>)> {
    let mut found = Vec::new();
    // Whether statements may occur in the current brackets: `f(name="x")` is not an assignment.
    let mut brackets: Vec<bool> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(sign @ ('(' | '[' | '{')) => brackets.push(*sign == '{'),
            Token::Sign(')' | ']' | '}') => {
                brackets.pop();
            }
            // `[unlink(x) for x in values]`
            Token::Name(name) if name == "for" && brackets.last() == Some(&false) => {
                found.extend(loop_target(tokens, at));
            }
            Token::Name(name) if brackets.last().is_none_or(|may| *may) => {
                if tokens[..at].last().is_some_and(|before| before.is('.')) {
                    continue;
                }
                if name == "for" {
                    if let Some(one) = loop_target(tokens, at) {
                        found.push(one);
                        continue;
                    }
                    let targets = tokens[at + 1..].iter().take(8).map_while(|token| match token {
                        Token::Name(name) if name == "in" => None,
                        Token::Name(name) => Some(Some(name.as_str())),
                        Token::Sign(',' | '(' | ')') => Some(None),
                        _ => None,
                    });
                    found.extend(targets.flatten().map(|name| (name, None)));
                    continue;
                }
                match &tokens[at + 1..] {
                    [Token::Sign('='), Token::Sign('=' | '>' | '~'), ..] => {}
                    [Token::Sign('='), ..] => found.push((name.as_str(), Some(at + 2))),
                    [
                        Token::Sign('+' | '-' | '.' | '*' | '/' | '|' | '&' | '?'),
                        Token::Sign('='),
                        ..,
                    ] => {
                        found.push((name.as_str(), None));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// The only variable of a loop, and the index of its values: `for x in values`, `for (const x of values)`.
fn loop_target(tokens: &[Token], at: usize) -> Option<(&str, Option<usize>)> {
    let head = &tokens[at + 1..tokens.len().min(at + 6)];
    let mut names = head
        .iter()
        .enumerate()
        .filter_map(|(at, token)| Some((at, token.name()?)));
    let mut target = names.next()?;
    if matches!(target.1, "const" | "let" | "var") {
        target = names.next()?;
    }
    let (word, _) = names.next().filter(|(_, word)| matches!(*word, "in" | "of"))?;
    (word == target.0 + 1).then_some((target.1, Some(at + 1 + word + 1)))
}

/// Adds the imported names.
pub(super) fn imports(language: Language, tokens: &[Token], names: &mut Names) {
    match language {
        Language::Python => imports_of_python(tokens, names),
        Language::JavaScript => imports_of_javascript(tokens, names),
        Language::Perl | Language::Ruby | Language::Php => {}
    }
}

/// `import a.b as c, d`, `from a.b import c as d, e`.
fn imports_of_python(tokens: &[Token], names: &mut Names) {
    let dotted = |tokens: &[Token]| {
        tokens
            .iter()
            .filter_map(Token::name)
            .collect::<Vec<_>>()
            .join(".")
    };
    let position = |tokens: &[Token], word: &str| tokens.iter().position(|token| token.name() == Some(word));
    for statement in tokens.split(|token| *token == Token::Line || token.is(';')) {
        let Some(at) = position(statement, "import") else {
            continue;
        };
        let (before, imported) = (&statement[..at], &statement[at + 1..]);
        let module = position(before, "from").map(|from| dotted(&before[from + 1..]) + ".");
        for part in imported.split(|token| token.is(',')) {
            let alias = position(part, "as");
            let name = dotted(&part[..alias.unwrap_or(part.len())]);
            let own = match alias {
                Some(at) => part.get(at + 1).and_then(Token::name),
                None => module.as_ref().map(|_| name.as_str()),
            };
            if let Some(own) = own {
                names.import(own, format!("{}{name}", module.as_deref().unwrap_or_default()));
            }
        }
    }
}

/// `fs = require("fs")`, `{ execSync: run } = require("child_process")`, `import { rmSync } from "node:fs"`.
fn imports_of_javascript(tokens: &[Token], names: &mut Names) {
    for (at, token) in tokens.iter().enumerate() {
        match (token.name(), &tokens[at + 1..]) {
            (Some("require"), [Token::Sign('('), Token::Text(module), Token::Sign(')'), rest @ ..]) => {
                let mut module = module_name(&module.value);
                if let [Token::Sign('.'), Token::Name(part), ..] = rest
                    && part == "promises"
                {
                    module.push_str(".promises");
                }
                let before = &tokens[..at];
                let before = match before {
                    [before @ .., Token::Name(word)] if word == "await" => before,
                    before => before,
                };
                if let [before @ .., Token::Sign('=')] = before {
                    import_names(before, &module, names);
                }
            }
            (Some("from"), [Token::Text(module), ..]) => {
                import_names(&tokens[..at], &module_name(&module.value), names);
            }
            _ => {}
        }
    }
}

/// Imports the names at the end of `before`: a module, or members of it in braces.
fn import_names(before: &[Token], module: &str, names: &mut Names) {
    match before {
        [.., Token::Name(name)] => names.import(name, module.to_owned()),
        [inside @ .., Token::Sign('}')] => {
            let open = inside.iter().rposition(|token| token.is('{'));
            let inside = &inside[open.map_or(inside.len(), |open| open + 1)..];
            for part in inside.split(|token| token.is(',')) {
                let part: Vec<&str> = part
                    .iter()
                    .filter_map(Token::name)
                    .filter(|name| *name != "as")
                    .collect();
                if let [name, .., own] | [name @ own] = part.as_slice() {
                    names.import(own, format!("{module}.{name}"));
                }
            }
        }
        _ => {}
    }
}

/// The name of a module with dots: `fs.promises` for `node:fs/promises`.
pub(super) fn module_name(module: &str) -> String {
    module.trim_start_matches("node:").replace('/', ".")
}
