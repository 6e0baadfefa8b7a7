//! The recipes of a justfile.

use super::{MAX_COMMANDS, ScriptPart, by_first_line};
use std::collections::HashMap;

/// The maximum nesting of dependencies.
const MAX_DEPTH: usize = 8;

#[derive(Debug, Default)]
struct Recipe {
    name: String,
    dependencies: Vec<String>,
    body: Vec<String>,
}

/// The recipes with these names and their dependencies; the first recipe if none is named.
pub(super) fn parts(text: &str, names: &[String]) -> Vec<ScriptPart> {
    let (recipes, variables) = parse(text);
    let is_recipe = |name: &&String| recipes.iter().any(|recipe| recipe.name == **name);
    // Other words are arguments of a recipe.
    let mut names: Vec<&str> = names.iter().filter(is_recipe).map(String::as_str).collect();
    if names.is_empty() {
        names.extend(recipes.first().map(|recipe| recipe.name.as_str()));
    }
    let mut done = Vec::new();
    let mut parts = Vec::new();
    for name in names {
        run(name, &recipes, &variables, 0, &mut done, &mut parts);
    }
    parts
}

fn run<'r>(
    name: &'r str,
    recipes: &'r [Recipe],
    variables: &HashMap<String, String>,
    depth: usize,
    done: &mut Vec<&'r str>,
    parts: &mut Vec<ScriptPart>,
) {
    let Some(recipe) = recipes.iter().find(|recipe| recipe.name == name) else {
        return;
    };
    if depth > MAX_DEPTH || done.contains(&name) || parts.len() >= MAX_COMMANDS {
        return;
    }
    done.push(name);
    for dependency in &recipe.dependencies {
        run(dependency, recipes, variables, depth + 1, done, parts);
    }
    let lines: Vec<String> = recipe.body.iter().map(|line| expand(line, variables)).collect();
    let body = lines.join("\n");
    if body.starts_with("#!") {
        parts.extend(by_first_line(&body));
        return;
    }
    let commands = lines.iter().map(|line| line.trim_start_matches(['@', '-', ' ']));
    parts.extend(commands.map(|command| ScriptPart::Shell(command.to_owned())));
}

/// The recipes, and the variables with known values.
fn parse(text: &str) -> (Vec<Recipe>, HashMap<String, String>) {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut variables = HashMap::new();
    let mut in_recipe = false;
    let mut aliases: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = recipes.last_mut().filter(|_| in_recipe) {
                recipe.body.push(line.trim_start().to_owned());
            }
            continue;
        }
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        in_recipe = false;
        if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().trim_start_matches("export ").trim();
            match name.strip_prefix("alias ") {
                Some(alias) => aliases.push((alias.trim().to_owned(), value.trim().to_owned())),
                None => drop(variables.insert(name.to_owned(), literal(value.trim()))),
            }
        } else if let Some((head, dependencies)) = line.split_once(':') {
            let name = head.split_ascii_whitespace().next().unwrap_or_default();
            let words = dependencies.split_ascii_whitespace();
            let words = words.filter(|word| !word.starts_with(['"', '\'', '&']));
            recipes.push(Recipe {
                name: name.trim_start_matches('@').to_owned(),
                dependencies: words
                    .map(|word| word.trim_matches(['(', ')']).to_owned())
                    .collect(),
                body: Vec::new(),
            });
            in_recipe = true;
        }
    }
    for (name, recipe) in aliases {
        recipes.push(Recipe {
            name,
            dependencies: vec![recipe],
            body: Vec::new(),
        });
    }
    (recipes, variables)
}

/// The text of a quoted value; of any other expression, an unknown variable of the shell.
fn literal(value: &str) -> String {
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let text = quoted('"').or_else(|| quoted('\''));
    text.filter(|text| !text.contains(['"', '\'']))
        .unwrap_or("$_")
        .to_owned()
}

/// Inserts the values of variables: `{{name}}`.
fn expand(line: &str, variables: &HashMap<String, String>) -> String {
    let mut expanded = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        expanded.push_str(before);
        expanded.push_str(variables.get(name.trim()).map_or("$_", String::as_str));
        rest = after;
    }
    expanded + rest
}
