//! Names of the code: what they were imported as, and the one text that they are given.

use super::Language;
use super::token::{Text, Token};
use std::collections::HashMap;

/// More names of one piece of code are not remembered.
const MAX_NAMES: usize = 512;

/// What is known of names.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The text; `None` where it is another one at another time.
    texts: HashMap<String, Option<Text>>,
    /// Where a name was imported from, with dots: `run` is `subprocess.run`.
    origins: HashMap<String, String>,
}

impl Names {
    /// The text that a name always stands for.
    pub(super) fn text(&self, name: &str) -> Option<&Text> {
        self.texts.get(name)?.as_ref()
    }

    /// What a name was imported as.
    pub(super) fn origin(&self, name: &str) -> Option<&str> {
        self.origins.get(name).map(String::as_str)
    }

    /// A name is given a text; `None`: something else.
    pub(super) fn give(&mut self, name: &str, text: Option<Text>) {
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

/// The names that are given a value, in order, and where the value begins; `None`: it is changed or goes through many.
pub(super) fn assignments(tokens: &[Token]) -> Vec<(&str, Option<usize>)> {
    let mut found = Vec::new();
    // Whether a statement may stand in the bracket at hand: `f(name="x")` gives no name a value.
    let mut brackets: Vec<bool> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(sign @ ('(' | '[' | '{')) => brackets.push(*sign == '{'),
            Token::Sign(')' | ']' | '}') => {
                brackets.pop();
            }
            Token::Name(name) if brackets.last().is_none_or(|may| *may) => {
                let before = at.checked_sub(1).map(|at| &tokens[at]);
                if before.is_some_and(|before| before.is('.')) {
                    continue;
                }
                if name == "for" {
                    let targets = tokens[at + 1..].iter().take(8).map_while(|token| match token {
                        Token::Name(name) if name == "in" => None,
                        Token::Name(name) => Some(Some(name.as_str())),
                        Token::Sign(',' | '(' | ')') => Some(None),
                        _ => None,
                    });
                    found.extend(targets.flatten().map(|name| (name, None)));
                    continue;
                }
                let signs = |places: [usize; 2]| places.map(|place| tokens.get(at + place));
                match signs([1, 2]) {
                    [Some(Token::Sign('=')), Some(Token::Sign('=' | '>' | '~'))] => {}
                    [Some(Token::Sign('=')), _] => found.push((name.as_str(), Some(at + 2))),
                    [
                        Some(Token::Sign('+' | '-' | '.' | '*' | '/' | '|' | '&' | '?')),
                        Some(Token::Sign('=')),
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

/// Learns what the code imports.
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
            (
                Some("require"),
                [
                    Token::Sign('('),
                    Token::Text(module),
                    Token::Sign(')'),
                    behind @ ..,
                ],
            ) => {
                let mut module = module_name(&module.value);
                if let [Token::Sign('.'), Token::Name(part), ..] = behind
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
                    bound(before, &module, names);
                }
            }
            (Some("from"), [Token::Text(module), ..]) => {
                bound(&tokens[..at], &module_name(&module.value), names);
            }
            _ => {}
        }
    }
}

/// The names that stand at the end of these tokens are bound to a module or to what it holds.
fn bound(before: &[Token], module: &str, names: &mut Names) {
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

/// A module's name with dots: `fs.promises` of `node:fs/promises`.
pub(super) fn module_name(module: &str) -> String {
    module.trim_start_matches("node:").replace('/', ".")
}
