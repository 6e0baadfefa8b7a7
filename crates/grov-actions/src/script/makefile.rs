//! The recipes of a makefile.

use super::{MAX_COMMANDS, ScriptPart};
use std::collections::HashMap;

/// The maximum nesting of prerequisites and of variables.
const MAX_DEPTH: usize = 8;
/// The maximum length of an expanded line in bytes.
const MAX_LINE: usize = 8 * 1024;

/// A rule.
#[derive(Debug, Default)]
struct Rule {
    targets: Vec<String>,
    prerequisites: Vec<String>,
    recipe: Vec<String>,
}

/// A parsed makefile.
#[derive(Debug, Default)]
struct Makefile {
    rules: Vec<Rule>,
    variables: HashMap<String, String>,
}

/// The recipes of targets and of their prerequisites; of the first target if none is given.
pub(super) fn parts(text: &str, targets: &[String], variables: &[(String, String)]) -> Vec<ScriptPart> {
    let mut makefile = Makefile::parse(text);
    makefile.variables.extend(variables.iter().cloned());
    let mut targets = targets.to_vec();
    if targets.is_empty() {
        let named = makefile.variables.get(".DEFAULT_GOAL").cloned();
        let is_target = |name: &&String| !name.starts_with('.') && !name.contains('%');
        let first = makefile
            .rules
            .iter()
            .flat_map(|rule| &rule.targets)
            .find(is_target);
        targets.extend(named.or_else(|| first.cloned()));
    }
    let mut run = Run {
        makefile: &makefile,
        done: Vec::new(),
        commands: Vec::new(),
    };
    for target in &targets {
        run.target(target, 0);
    }
    run.commands.into_iter().map(ScriptPart::Shell).collect()
}

impl Makefile {
    fn parse(text: &str) -> Self {
        let mut makefile = Self::default();
        let mut in_rule = false;
        let mut is_definition = false;
        for line in logical_lines(text) {
            if is_definition {
                is_definition = line.trim() != "endef";
                continue;
            }
            if let Some(command) = line.strip_prefix('\t') {
                if let Some(rule) = makefile.rules.last_mut().filter(|_| in_rule) {
                    rule.recipe.push(command.to_owned());
                }
                continue;
            }
            let line = line.split(" #").next().unwrap_or_default().trim();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let first = line.split_ascii_whitespace().next().unwrap_or_default();
            match first {
                "" | "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" | "include" | "-include"
                | "unexport" | "vpath" => continue,
                "define" => is_definition = true,
                _ if first.starts_with('#') => continue,
                _ => in_rule = makefile.definition(line),
            }
        }
        makefile
    }

    /// Adds a variable or a rule. Returns whether it is a rule.
    fn definition(&mut self, line: &str) -> bool {
        let colon = line.find(':').unwrap_or(line.len());
        let equals = line.find('=').unwrap_or(line.len());
        let assigns = equals < colon || line[colon..].trim_start_matches(':').starts_with('=');
        if assigns && equals < line.len() {
            let name = line[..equals].trim_end_matches([':', '?', '+', '!']).trim();
            let value = line[equals + 1..].trim();
            if line[..equals].ends_with('+') {
                let known = self.variables.entry(name.to_owned()).or_default();
                known.push(' ');
                known.push_str(value);
            } else {
                self.variables.insert(name.to_owned(), value.to_owned());
            }
            return false;
        }
        if colon == line.len() {
            return false;
        }
        let rest = line[colon..].trim_start_matches(':');
        let (prerequisites, command) = match rest.split_once(';') {
            Some((prerequisites, command)) => (prerequisites, Some(command.trim().to_owned())),
            None => (rest, None),
        };
        let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect();
        // The variable of a single target: `debug: CFLAGS += -g`.
        let prerequisites = if prerequisites.contains('=') {
            ""
        } else {
            prerequisites
        };
        self.rules.push(Rule {
            targets: words(&line[..colon]),
            prerequisites: words(prerequisites),
            recipe: command.into_iter().collect(),
        });
        true
    }

    /// Inserts the values of variables. Unknown ones become variables of the shell.
    fn expand(&self, text: &str, rule: &Rule, target: &str, depth: usize) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if expanded.len() > MAX_LINE {
                break;
            }
            let closes = match rest.chars().next() {
                Some('(') => ')',
                Some('{') => '}',
                other => {
                    rest = &rest[other.map_or(0, char::len_utf8)..];
                    match other {
                        Some('$') => expanded.push('$'),
                        Some('@') => expanded.push_str(target),
                        Some('<') => expanded.push_str(rule.prerequisites.first().map_or("", String::as_str)),
                        Some('^') => expanded.push_str(&rule.prerequisites.join(" ")),
                        _ => expanded.push_str("$_"),
                    }
                    continue;
                }
            };
            let Some(end) = closing(rest, closes) else { break };
            let name = &rest[1..end];
            rest = &rest[end + 1..];
            match (name, self.variables.get(name)) {
                (_, Some(value)) if depth < MAX_DEPTH => {
                    expanded.push_str(&self.expand(value, rule, target, depth + 1));
                }
                ("RM", _) => expanded.push_str("rm -f"),
                ("MAKE", _) => expanded.push_str("make"),
                ("HOME", _) => expanded.push_str("$HOME"),
                _ => expanded.push_str("$_"),
            }
        }
        expanded.push_str(rest);
        expanded
    }
}

/// The position of the bracket that closes the one at the start.
fn closing(text: &str, closes: char) -> Option<usize> {
    let opens = text.chars().next()?;
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == opens {
            depth += 1;
        } else if letter == closes {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The lines, with continued ones joined.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut continues = false;
    for line in text.lines() {
        let (line, goes_on) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| continues) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            None => lines.push(line.to_owned()),
        }
        continues = goes_on;
    }
    lines
}

/// Collects the commands of targets.
struct Run<'m> {
    makefile: &'m Makefile,
    done: Vec<String>,
    commands: Vec<String>,
}

impl Run<'_> {
    fn target(&mut self, target: &str, depth: usize) {
        if depth > MAX_DEPTH
            || self.commands.len() >= MAX_COMMANDS
            || self.done.iter().any(|done| done == target)
        {
            return;
        }
        self.done.push(target.to_owned());
        let makefile = self.makefile;
        let is_target = |rule: &&Rule| {
            let mut targets = rule.targets.iter();
            targets
                .any(|one| one == target || one.contains('$') && makefile.expand(one, rule, "", 0) == target)
        };
        for rule in makefile.rules.iter().filter(is_target) {
            for prerequisite in &rule.prerequisites {
                let expanded = makefile.expand(prerequisite, rule, target, 0);
                for one in expanded.split_ascii_whitespace() {
                    self.target(one, depth + 1);
                }
            }
            for command in &rule.recipe {
                let command = command.trim_start_matches(['@', '-', '+', ' ', '\t']);
                if !command.is_empty() && self.commands.len() < MAX_COMMANDS {
                    self.commands.push(makefile.expand(command, rule, target, 0));
                }
            }
        }
    }
}
