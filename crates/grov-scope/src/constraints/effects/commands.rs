//! What commands do, by a table.

use crate::constraints::place::path_words;
use grov_domain::Program;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The most words of a command that are compared with the words of a row.
const MOST_WORDS: usize = 10;

/// The words that tell a task: the runner's own and the name.
const TASK_WORDS: usize = 2;

/// A word of a row, or several of which one must be there.
type Words = Vec<&'static str>;

/// A command, or the words in the name of a task, and what it does. It is split when it is compared: a hook compares few rows.
#[derive(Clone, Copy, Debug)]
struct RowText {
    words: &'static str,
    effects: &'static str,
}

/// A row, split.
#[derive(Debug)]
struct Row {
    needs: Vec<Words>,
    without: Words,
    effects: Words,
}

impl From<RowText> for Row {
    fn from(text: RowText) -> Self {
        let (without, needs): (Words, Words) = text
            .words
            .split_whitespace()
            .partition(|word| word.starts_with('!'));
        Self {
            needs: needs.iter().map(|word| word.split('|').collect()).collect(),
            without: without.iter().map(|word| &word[1..]).collect(),
            effects: text.effects.split_whitespace().collect(),
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    rows: Vec<RowText>,
    /// The rows of a program.
    by_program: HashMap<&'static str, Vec<usize>>,
    /// The rows of any program.
    of_any: Vec<usize>,
    /// The rows about the names of tasks, by the words of which a name needs one.
    by_task: HashMap<&'static str, Vec<usize>>,
    /// Programs that run tasks by their names, and programs that run files.
    runners: Words,
    interpreters: Words,
}

impl Table {
    fn of(text: &'static str) -> Self {
        let mut found = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((left, right)) = line.rsplit_once(" : ") else {
                continue;
            };
            let (programs, words) = left.split_once(' ').unwrap_or((left, ""));
            match programs {
                "runners" => found.runners = right.split_whitespace().collect(),
                "interpreters" => found.interpreters = right.split_whitespace().collect(),
                _ => found.add(programs, words, right),
            }
        }
        found
    }

    fn add(&mut self, programs: &'static str, words: &'static str, effects: &'static str) {
        let number = self.rows.len();
        match programs {
            "*" => self.of_any.push(number),
            "task" => {
                let first = words.split_whitespace().find(|word| !word.starts_with('!'));
                for word in first.into_iter().flat_map(|word| word.split('|')) {
                    self.by_task.entry(word).or_default().push(number);
                }
            }
            _ => {
                for name in programs.split('|') {
                    self.by_program.entry(name).or_default().push(number);
                }
            }
        }
        self.rows.push(RowText { words, effects });
    }

    fn rows(&self, numbers: Option<&Vec<usize>>) -> impl Iterator<Item = Row> {
        let numbers = numbers.into_iter().flatten();
        numbers.filter_map(|number| self.rows.get(*number).copied().map(Row::from))
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(include_str!("commands.txt")));

/// Something that a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) effect: &'static str,
    /// The number of words of the command that tell it.
    pub(super) words: usize,
}

/// What a program does.
pub(super) fn done_by(program: &Program) -> Vec<Done> {
    let table = &*TABLE;
    let mut found = Vec::new();
    let mut add = |row: &Row, words: usize| {
        found.extend(row.effects.iter().map(|effect| Done { effect, words }));
    };
    let words: Vec<&str> = program.words().skip(1).collect();
    for row in table.rows(table.by_program.get(program.name())) {
        if row.is_met_by(&words) {
            add(&row, row.needs.len());
        }
    }
    for wrapper in &program.through {
        let all: Vec<&str> = program.words().collect();
        for row in table.rows(table.by_program.get(wrapper.as_str())) {
            if row.is_met_by(&all) {
                add(&row, row.needs.len());
            }
        }
    }
    let all: Vec<&str> = program
        .assignments
        .iter()
        .map(String::as_str)
        .chain(program.words())
        .collect();
    for row in table.rows(Some(&table.of_any)) {
        if row.is_met_by(&all) {
            add(&row, row.needs.len());
        }
    }
    for task in tasks_of(program, table) {
        let names = path_words(task);
        let rows = names.iter().filter_map(|name| table.by_task.get(name.as_str()));
        let mut numbers: Vec<usize> = rows.flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        for row in table.rows(Some(&numbers)).filter(|row| row.is_named_by(&names)) {
            add(&row, TASK_WORDS);
        }
    }
    found
}

/// Options of task runners whose value is no task.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "--cwd", "--dir", "--directory", "--file", "--filter", "--makefile", "--manifest-path", "--prefix", "--project", "--scope", "--workspace", "--working-dir", "-C", "-F", "-f", "-p", "-w", "-e",
];

/// Words before the name of a task.
const BEFORE_A_TASK: &[&str] = &["run", "run-script", "exec", "run-many", "affected", "-t", "--"];

/// Package managers: their first word is a task only if it is no command of their own.
const MANAGERS: &[&str] = &[
    "bun", "composer", "deno", "hatch", "npm", "pdm", "pixi", "pnpm", "rye", "yarn",
];

/// Runners whose further words are tasks as well.
const OF_SEVERAL: &[&str] = &[
    "ant", "gmake", "gradle", "gradlew", "make", "mvn", "mvnw", "rake", "sbt",
];

/// The tasks that a program runs, by their names: those of a task runner, and scripts.
fn tasks_of<'p>(program: &'p Program, table: &Table) -> Vec<&'p str> {
    let name = program.name();
    let mut words = Vec::new();
    let mut is_value = false;
    for word in program.arguments.iter().map(|argument| argument.text.as_str()) {
        let is_plain = !word.starts_with('-') && !word.contains(['=', ' ']) && !word.starts_with(['/', '.']);
        if is_plain && !is_value {
            words.push(word);
        }
        is_value = VALUED.contains(&word);
        if word == "--" && words.len() > 1 {
            break;
        }
    }
    if table.runners.contains(&name) {
        let is_run = words.first().is_some_and(|word| BEFORE_A_TASK.contains(word));
        let is_nested = words
            .first()
            .is_some_and(|word| matches!(*word, "workspace" | "workspaces"));
        let most = if OF_SEVERAL.contains(&name) { 4 } else { 1 };
        let skipped = if is_nested { 2 } else { usize::from(is_run) };
        let named = words
            .into_iter()
            .skip(skipped)
            .filter(|word| !BEFORE_A_TASK.contains(word));
        let is_own = |word: &&str| MANAGERS.contains(&name) && !is_run && OWN.contains(word);
        return named.take(most).filter(|word| !is_own(word)).collect();
    }
    if table.interpreters.contains(&name) {
        let script = program
            .arguments
            .iter()
            .map(|argument| argument.text.as_str())
            .find(|word| !word.starts_with('-'));
        return script
            .filter(|word| word.contains('.') && !word.contains(' '))
            .map(file_stem)
            .into_iter()
            .collect();
    }
    let word = program.word.as_str();
    let is_script = word.contains('/')
        && !word.starts_with('/')
        && !word.contains("node_modules/.bin")
        && !word.contains("venv/bin");
    if is_script {
        vec![file_stem(word)]
    } else {
        Vec::new()
    }
}

/// Commands of package managers that are no tasks.
#[rustfmt::skip]
const OWN: &[&str] = &[
    "add", "audit", "cache", "config", "create", "dlx", "exec", "get", "i", "info", "init", "install", "link", "list", "ls", "outdated", "pack", "remove", "rm", "set", "show", "uninstall", "unlink", "up", "update", "upgrade", "view", "why", "x",
];

/// The name of a file without folders and ending.
fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

impl Row {
    /// Whether the words after a program are those of the row.
    fn is_met_by(&self, words: &[&str]) -> bool {
        if self
            .without
            .iter()
            .any(|pattern| words.iter().any(|word| matches(pattern, word)))
        {
            return false;
        }
        let mut from = 0;
        self.needs.iter().all(|names| {
            let is_option = |word: &str| {
                names
                    .iter()
                    .any(|name| name.starts_with('-') && matches(name, word))
            };
            if words.iter().any(|word| is_option(word)) {
                return true;
            }
            let wide = names.iter().any(|name| name.starts_with('*') && name.len() > 1);
            let most = if wide {
                words.len()
            } else {
                words.len().min(MOST_WORDS)
            };
            let at = (from..most).find(|at| {
                names
                    .iter()
                    .any(|name| !name.starts_with('-') && matches(name, words[*at]))
            });
            match at {
                Some(at) => from = at + 1,
                None => return false,
            }
            true
        })
    }

    /// Whether the words in the name of a task are those of the row.
    fn is_named_by(&self, words: &[String]) -> bool {
        let has = |names: &[&'static str]| words.iter().any(|word| names.contains(&word.as_str()));
        !has(&self.without) && self.needs.iter().all(|names| has(names))
    }
}

/// Whether a word of a command is one of a row: `db:*` begins, `*train.py` ends, `*e2e*` contains.
fn matches(pattern: &str, word: &str) -> bool {
    if pattern == "*" {
        return !word.starts_with('-');
    }
    // `gradle :app:test`
    let word = word
        .strip_prefix(':')
        .and_then(|rest| rest.rsplit(':').next())
        .unwrap_or(word);
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), Some(_)) => word.contains(rest.trim_end_matches('*')),
        (Some(end), None) => word.ends_with(end),
        (None, Some(beginning)) => word.starts_with(beginning),
        (None, None) => {
            word == pattern
                || word
                    .split_once('@')
                    .is_some_and(|(name, _)| !name.is_empty() && name == pattern)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(command: &str) -> Vec<&'static str> {
        let line = grov_actions::command_line(command);
        line.programs
            .iter()
            .flat_map(done_by)
            .map(|done| done.effect)
            .collect()
    }

    #[test]
    fn words_options_and_tasks_tell_the_effect() {
        for (command, effect) in [
            ("docker compose -f a.yml up -d", "containers"),
            ("npm install -g typescript", "global"),
            ("npm run dev:web", "server"),
            ("make -C app db-seed", "seed"),
            ("./scripts/deploy-prod.sh", "deploy"),
            ("python3 tools/train_model.py", "train"),
            ("sudo apt-get install jq", "sudo"),
            ("npx prisma migrate deploy", "migrate"),
            ("bundle exec rspec spec/system/a_spec.rb", "e2e"),
            ("gradle :app:installDebug", "device"),
        ] {
            assert!(effects(command).contains(&effect), "{command}: {effect}");
        }
        for (command, effect) in [
            ("npm run test:dev", "server"),
            ("npm install docker", "containers"),
            ("pytest -m 'not e2e'", "e2e"),
            ("git commit -m 'push it'", "push"),
            ("vite build", "server"),
            ("make -C docker test", "containers"),
        ] {
            assert!(!effects(command).contains(&effect), "{command}: {effect}");
        }
    }

    /// Every effect that a command has is one that people can name.
    #[test]
    fn effects_have_names() {
        let table = &*TABLE;
        let known = super::super::names::all();
        for row in &table.rows {
            for effect in row.effects.split_whitespace() {
                assert!(known.contains(&effect), "{effect}: {row:?}");
            }
        }
    }
}
