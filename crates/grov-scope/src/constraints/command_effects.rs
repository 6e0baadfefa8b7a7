//! What commands do, as far as constraints are about it.

use super::effects::{changes_data, does};
use super::limit::ForbiddenCommand;
use super::outputs::{output_place, rewritten};
use super::place::path_words;
use crate::analyzed_action::{AnalyzedAction, updates_snapshots};
use crate::file_kind::{is_build_output, is_temporary};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{EffectKind, Program};

/// Whether an action runs a forbidden command.
pub(super) fn is_run(what: &ForbiddenCommand, action: &AnalyzedAction<'_>) -> bool {
    let has = |effect: EffectKind| action.sketch.effects.contains(&effect);
    let mut programs = action
        .programs()
        .iter()
        .filter(|program| !only_looks(program) && !super::named::looks(program));
    match what {
        ForbiddenCommand::Git(command) => programs.any(|program| program.git().0 == *command),
        ForbiddenCommand::GitOn(command, branches) => {
            let mut is_on_branch = false;
            programs.any(|program| {
                let (name, rest) = program.git();
                let names_branch = |word: &str| {
                    let target = word.rsplit(':').next().unwrap_or(word);
                    branches.iter().any(|branch| branch == target)
                };
                let names_any = rest.iter().any(|word| names_branch(word.as_str()));
                // `git switch main && git commit`
                is_on_branch |= matches!(name, "checkout" | "switch") && names_any;
                name == *command && (names_any || is_on_branch)
            })
        }
        ForbiddenCommand::Delete => {
            let counts = |place: &NormalizedPath| !is_temporary(place) && !is_build_output(place);
            has(EffectKind::Delete) && (action.changed.is_empty() || action.changed.iter().any(counts))
        }
        ForbiddenCommand::Switch(allowed) => programs.any(|program| switches(program, allowed)),
        ForbiddenCommand::Deploy => {
            programs.any(|program| crate::danger::publishes(program) || does(program, &["deploy", "publish"]))
        }
        ForbiddenCommand::Infrastructure => {
            programs.any(|program| does(program, &["infra"]) || changes_cloud(program))
        }
        ForbiddenCommand::Option { words, value } => {
            programs.any(|program| has_option(program, words, value))
        }
        ForbiddenCommand::Install => has(EffectKind::Install),
        ForbiddenCommand::Upgrade => programs
            .any(|program| does(program, &["upgrade"]) || has(EffectKind::Install) && sets_version(program)),
        ForbiddenCommand::Restart => programs.any(|program| does(program, &["restart"])),
        ForbiddenCommand::Named(verb) => {
            !action.is_read_only() && programs.any(|program| is_verb(program, verb))
        }
        ForbiddenCommand::In(environments) => programs.any(|program| acts_in(program, environments)),
        ForbiddenCommand::Format => programs.any(|program| formats(program) || does(program, &["format"])),
        ForbiddenCommand::Tests => has(EffectKind::Test),
        ForbiddenCommand::AllTests => programs.any(runs_all_tests),
        ForbiddenCommand::Snapshots => {
            programs.any(|program| updates_snapshots(program) || does(program, &["snapshots"]))
        }
        ForbiddenCommand::Migrate => programs.any(|program| does(program, &["migrate"])),
        ForbiddenCommand::GenerateMigration => programs.any(|program| does(program, &["migration-new"])),
        ForbiddenCommand::DatabaseWrite => programs.any(writes_data) || removes_outside(action),
        ForbiddenCommand::Containers => programs.any(|program| does(program, &["containers"])),
        ForbiddenCommand::Network => {
            let is_offline =
                programs.any(|program| program.has_word(&["--offline", "--no-index", "--prefer-offline"]));
            (action.uses_network() || has(EffectKind::Install))
                && !is_offline
                && !action.programs().iter().any(crate::danger::is_local)
        }
        ForbiddenCommand::Flag(flag) => programs.any(|program| {
            program.words().any(|word| {
                word == flag
                    || word
                        .strip_prefix(flag.as_str())
                        .is_some_and(|rest| rest.starts_with('='))
            })
        }),
        ForbiddenCommand::ForcePush => programs.any(super::pushes_by_force),
        ForbiddenCommand::Task => programs.any(runs_task),
        ForbiddenCommand::Package(name) => programs
            .any(|program| super::packages::installs(program, name) || upgrades_all_but(program, name)),
        ForbiddenCommand::Script(names) => programs.any(|program| runs_script(program, names)),
        ForbiddenCommand::WetRun(names) => {
            programs.any(|program| runs_script(program, names) && !crate::danger::is_trial(program))
        }
        ForbiddenCommand::Program(line) => programs.any(|program| has_line(program, line)),
    }
}

/// Whether a command installs a package in a version that it names: `npm install react@19`, `pip install -U numpy`.
fn sets_version(program: &Program) -> bool {
    let is_version = |word: &str| {
        let version = word
            .rsplit_once('@')
            .or_else(|| word.split_once("=="))
            .map(|(_, version)| version);
        version.is_some_and(|version| {
            version.starts_with(|letter: char| letter.is_ascii_digit() || letter == '^')
                || version == "latest"
        })
    };
    program.has_word(&["-U", "--upgrade"]) || program.operands().any(is_version)
}

/// Programs that run a file.
#[rustfmt::skip]
const RUNNERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "ksh", "node", "perl", "php", "psql", "mysql", "python", "python3", "Rscript", "ruby", "sh", "source", ".", "sqlite3", "ts-node", "tsx", "zsh",
];

/// Whether a program is a script with one of these names, or runs one.
fn runs_script(program: &Program, names: &[String]) -> bool {
    let is_named = |path: &str| {
        // "Don't run the scripts in ops/bin"
        let whole = path.trim_start_matches("./").to_lowercase();
        let is_below = |name: &String| {
            let folder = name.trim_end_matches('/');
            folder.contains('/')
                && whole
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        if names.iter().any(is_below) {
            return true;
        }
        let file = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let words = path_words(&file);
        names.iter().any(|name| {
            let name = name.rsplit('/').next().unwrap_or(name);
            file == name
                || !name.contains('.')
                    && words
                        .iter()
                        .any(|word| word == name || word.trim_end_matches('s') == name.trim_end_matches('s'))
        })
    };
    let runs_operand = RUNNERS.contains(&program.name());
    program.word.contains('/') && is_named(&program.word)
        || runs_operand
            && program
                .operands()
                .chain(program.reads.iter().map(String::as_str))
                .any(|path| path.contains('.') && is_named(path))
}

/// Whether a program has the words of a line, in order.
fn has_line(program: &Program, line: &[String]) -> bool {
    let Some((name, rest)) = line.split_first() else {
        return false;
    };
    if rest.is_empty() && program.through.contains(name) {
        return true;
    }
    let mut words = program.words();
    let starts = program.name() == name || words.any(|word| word == name);
    let mut words = program.arguments.iter();
    starts && rest.iter().all(|wanted| words.any(|word| word.text == *wanted))
}

/// Forms that change nothing.
pub(super) fn only_looks(program: &Program) -> bool {
    let (command, rest) = program.git();
    let first = rest.first().map(|word| word.as_str());
    let keeps = command == "stash" && matches!(first, Some("list" | "show" | "pop" | "apply"));
    keeps
        || program.words().any(|word| word.starts_with("--dry-run="))
        || program.has_word(&[
            "--dry-run",
            "--dryrun",
            "--sql",
            "--help",
            "--version",
            "--check",
            "--diff",
            "--list",
            "--syntax-check",
            "--abort",
            "-list-avds",
        ])
        || program.name() == "kill" && program.has_word(&["-l", "-L"])
}

/// Whether a program that tests is told no file and no test to run.
fn runs_all_tests(program: &Program) -> bool {
    const CHOOSING: &[&str] = &[
        "-k",
        "-t",
        "-p",
        "--filter",
        "--grep",
        "--package",
        "--test",
        "--tests",
        "--testNamePattern",
        "-g",
        "-run",
        "--run",
        "--lf",
        "-pl",
        "-Dtest",
        "--match",
        "--only",
        "--spec",
    ];
    // What runs tests, and what says that all of them run.
    const GENERAL: &[&str] = &[
        ".", "./...", "all", "artisan", "check", "ci", "exec", "jest", "mocha", "nextest", "phpunit",
        "pytest", "rspec", "run", "spec", "test", "tests", "unittest", "verify", "vitest",
    ];
    let chosen = |word: &str| !GENERAL.contains(&word) && word.parse::<u32>().is_err();
    let mut words = program.words();
    let chooses = words.any(|word| {
        let name = word.split('=').next().unwrap_or(word);
        CHOOSING.contains(&name)
    });
    does(program, &["tests"]) && !chooses && !program.operands().any(chosen)
}

/// Whether a command of a cloud's client changes something: `aws lambda update-function-code`.
fn changes_cloud(program: &Program) -> bool {
    let changes = |word: &str| {
        let verb = word.split('-').next().unwrap_or_default();
        word.contains('-')
            && matches!(
                verb,
                "create"
                    | "update"
                    | "delete"
                    | "put"
                    | "terminate"
                    | "modify"
                    | "stop"
                    | "start"
                    | "reboot"
                    | "attach"
                    | "detach"
            )
    };
    program.name() == "aws" && program.operands().any(changes)
}

/// Whether an option that words name gets another value: `--batch-size 64`.
fn has_option(program: &Program, words: &[String], value: &str) -> bool {
    let next = program.arguments.iter().skip(1).map(|word| word.text.as_str());
    program
        .arguments
        .iter()
        .zip(next.chain([""]))
        .any(|(option, next)| {
            let Some(name) = option.text.strip_prefix("--") else {
                return false;
            };
            let (name, given) = name.split_once('=').unwrap_or((name, next));
            path_words(name) == words && given != value
        })
}

/// Whether a verb is the subcommand of a program, or the last part of its task: `west flash`, `search:reindex`.
fn is_verb(program: &Program, verb: &str) -> bool {
    // A path is the value of an option: `idf.py -p /dev/ttyUSB0 flash`.
    let mut operands = program.operands().filter(|word| !word.contains('/'));
    let first = operands.next().unwrap_or_default();
    let first = if first == "run" {
        operands.next().unwrap_or_default()
    } else {
        first
    };
    // `ansible-playbook`
    if path_words(program.name()).iter().any(|word| word == verb) {
        return true;
    }
    let stem = |word: &str| {
        word.trim_end_matches("ing")
            .trim_end_matches("en")
            .trim_end_matches(['e', 's'])
            .to_owned()
    };
    // `npx prisma db seed`
    const MOST: usize = 2;
    [first].into_iter().chain(operands.take(MOST)).any(|word| {
        let last = word.rsplit(':').next().unwrap_or_default().to_lowercase();
        last.len() >= 4 && verb.len() >= 4 && stem(&last) == stem(verb)
    })
}

/// Programs that act on an environment.
#[rustfmt::skip]
const REMOTE: &[&str] = &[
    "ansible-playbook", "aws", "az", "cap", "fly", "flyctl", "gcloud", "helm", "heroku", "kubectl", "pulumi", "terraform", "tofu", "vercel",
];

/// Subcommands that only look.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "config", "current-context", "describe", "diff", "events", "explain", "get", "history", "list", "logs", "ls", "output", "plan", "port-forward", "ps", "show", "status", "tail", "template", "top", "validate",
    "version", "wait", "whoami",
];

/// Whether a client of infrastructure only looks: `terraform state list`.
pub(super) fn only_shows(program: &Program) -> bool {
    REMOTE.contains(&program.name()) && program.operands().any(|word| LOOKING.contains(&word))
}

/// Whether a program acts in one of these environments, which an argument names: `-n prod`, `--context=prod-eu`.
fn acts_in(program: &Program, environments: &[String]) -> bool {
    let acts = REMOTE.contains(&program.name())
        || writes_data(program)
        || program
            .arguments
            .iter()
            .any(|word| word.text.starts_with("--env"));
    let is_reading = |word: &str| {
        LOOKING.contains(&word)
            || ["describe-", "list-", "get-"]
                .iter()
                .any(|verb| word.starts_with(verb))
    };
    let looks = program.operands().any(is_reading);
    let is_named = |word: &str| {
        let named = path_words(word);
        environments.iter().any(|name| named.contains(name))
    };
    // `DATABASE_URL=postgres://db-prod/app ./run`
    let is_set = program.assignments.iter().any(|assignment| {
        assignment
            .split_once('=')
            .is_some_and(|(_, value)| is_named(value))
    });
    is_set || acts && !looks && program.arguments.iter().any(|word| is_named(&word.text))
}

/// Whether a Git command leaves the current branch or creates another.
fn switches(program: &Program, allowed: &[String]) -> bool {
    let (command, rest) = program.git();
    let is_allowed = rest
        .iter()
        .any(|word| allowed.iter().any(|branch| branch == word.as_str()));
    match command {
        _ if is_allowed => false,
        "switch" => true,
        "checkout" => {
            let names_files = rest.iter().any(|word| {
                *word == "--"
                    || word.text.contains('.')
                    || *word == "-p"
                    || *word == "--ours"
                    || *word == "--theirs"
            });
            !names_files && !rest.is_empty()
        }
        "worktree" => rest.first().is_some_and(|word| *word == "add"),
        _ => false,
    }
}

/// Programs that reformat files.
#[rustfmt::skip]
const FORMATTERS: &[&str] = &[
    "alejandra", "astyle", "autopep8", "black", "brittany", "buildifier", "clang-format", "cljfmt", "cmake-format", "csharpier", "dart-format", "docformatter", "dprint", "elm-format", "fantomas", "findent", "fourmolu", "fprettify", "gdformat", "gersemi", "gofmt",
    "gofumpt", "goimports", "indent", "isort", "ktfmt", "ktlint", "latexindent", "nixfmt", "nixpkgs-fmt", "ocamlformat", "ormolu", "perltidy", "pg_format", "php-cs-fixer", "phpcbf", "pint", "prettier", "pyupgrade", "refmt", "rufo", "rustfmt", "scalafmt", "shfmt",
    "sqlfmt", "sqlfluff", "standard", "standardrb", "stylish-haskell", "stylua", "swift-format", "swiftformat", "taplo", "tidy", "uncrustify", "xmlformat", "yamlfmt", "yapf",
];

/// Formatters that rewrite files without an option.
#[rustfmt::skip]
const BY_DEFAULT: &[&str] = &[
    "alejandra", "astyle", "black", "buildifier", "csharpier", "fantomas", "findent", "fprettify", "gdformat", "indent", "isort", "ktfmt", "nixfmt", "nixpkgs-fmt", "phpcbf", "pint", "pyupgrade", "rufo", "rustfmt", "scalafmt", "stylua", "swiftformat", "uncrustify", "yamlfmt",
];

/// Whether a program rewrites the style of files.
pub(crate) fn formats(program: &Program) -> bool {
    let name = program.name();
    let runs = |names: &[&str]| program.operands().any(|word| names.contains(&word));
    let rewrites = program.has_word(&["-w", "--write", "-i", "--fix", "--in-place"]);
    if runs_format_task(program) {
        return true;
    }
    FORMATTERS.contains(&name)
        && (rewrites || (BY_DEFAULT.contains(&name) || name.starts_with("perltidy") && program.has_word(&["-b"])))
        || matches!(
            name,
            "cargo"
                | "go"
                | "mix"
                | "deno"
                | "dart"
                | "terraform"
                | "zig"
                | "just"
                | "make"
                | "ruff"
        ) && runs(&["fmt", "format", "prettier"])
        // `pnpm test format` tests.
        || matches!(name, "npm" | "pnpm" | "yarn")
            && program.operands().find(|word| *word != "run").is_some_and(|word| ["fmt", "format", "prettier"].contains(&word))
        || name == "google-java-format"
        || runs(&["spotless:apply", "spotlessApply"])
        || name == "rubocop" && program.has_word(&["-a", "-A", "--autocorrect", "--autocorrect-all"])
        || matches!(name, "eslint" | "stylelint" | "biome" | "ruff" | "oxlint") && rewrites
        || matches!(name, "npx" | "pnpm" | "yarn" | "bunx")
            && (runs(FORMATTERS) || runs(&["eslint", "stylelint", "biome", "oxlint"]))
            && rewrites
}

/// Programs that run a task by its name.
#[rustfmt::skip]
const TASK_RUNNERS: &[&str] = &[
    "bun", "composer", "gradle", "gradlew", "invoke", "just", "make", "mvn", "mvnw", "nox", "npm", "pnpm", "rake", "sbt", "task", "tox", "yarn",
];

/// Whether a task of a task runner formats, as its name tells: `ktlintFormat`, `format:all`.
fn runs_format_task(program: &Program) -> bool {
    let task = program.operands().find(|word| *word != "run");
    TASK_RUNNERS.contains(&program.name())
        && task.is_some_and(|task| {
            let words = path_words(task);
            let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
            has(&["fmt", "format", "reformat", "prettier", "prettify", "autofix"])
                && !has(&["check", "test", "lint", "verify"])
        })
}

/// Programs that talk to a database.
const DATABASES: &[&str] = &[
    "clickhouse-client",
    "duckdb",
    "mariadb",
    "mongosh",
    "mysql",
    "psql",
    "sqlcmd",
    "sqlite3",
];

/// Whether a command upgrades all packages.
pub(super) fn upgrades_everything(program: &Program) -> bool {
    does(program, &["upgrade"]) && program.operands().count() == 1
}

/// Whether a command upgrades all packages without an exception for this one.
fn upgrades_all_but(program: &Program, name: &str) -> bool {
    let all = program
        .words()
        .any(|word| matches!(word, "ncu" | "npm-check-updates"))
        && program.has("--upgrade", 'u')
        || upgrades_everything(program);
    all && !program
        .words()
        .any(|word| word.split([',', '=']).any(|part| part == name))
}

/// Whether a task runner runs a task.
fn runs_task(program: &Program) -> bool {
    let runner = program.words().any(|word| {
        matches!(
            word.rsplit('/').next(),
            Some("rake" | "rails" | "artisan" | "mix" | "task")
        )
    });
    runner
        && program
            .operands()
            .any(|word| word.contains(':') || word.contains('.') && !word.contains('/'))
}

/// Whether files outside the project are removed.
fn removes_outside(action: &AnalyzedAction<'_>) -> bool {
    let outside = |place: &NormalizedPath| !place.is_in_project() && !is_temporary(place);
    action.removes && action.changed.iter().any(outside)
}

/// Words of SQL that change data or its structure.
const WRITING_SQL: &[&str] = &[
    "alter",
    "create",
    "delete",
    "drop",
    "grant",
    "insert",
    "merge",
    "replace",
    "truncate",
    "update",
    "vacuum",
    "deletemany",
    "updatemany",
    "insertmany",
];

/// Whether an option selects the database of the tests: `--settings=app.settings.test`, `--env=testing`.
pub(super) fn is_for_tests(program: &Program) -> bool {
    let options = program
        .arguments
        .iter()
        .filter(|word| word.text.starts_with("--"));
    options
        .flat_map(|word| path_words(&word.text))
        .any(|word| word == "test" || word == "testing")
}

/// Whether a command changes stored data.
pub(super) fn writes_data(program: &Program) -> bool {
    if is_for_tests(program) {
        return false;
    }
    if !DATABASES.contains(&program.name()) {
        return changes_data(program);
    }
    let statements = program.words().chain(program.input.as_deref());
    statements.flat_map(|text| text.split(';')).any(|statement| {
        let lower = statement.to_lowercase();
        let mut words = lower
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        let explains = matches!(first, "explain" | "select" | "show" | "describe");
        WRITING_SQL.contains(&first)
            || !explains && words.any(|word| matches!(word, "deletemany" | "updatemany" | "insertmany"))
            || first == "with"
                && [" delete ", " update ", " insert "]
                    .iter()
                    .any(|word| lower.contains(word))
    })
}

/// The text that a program writes into a file: a here-document, the words of `echo`.
pub(super) fn rewrites_text(program: &Program) -> Option<&str> {
    let writes = !program.targets.is_empty() || program.name() == "tee";
    if writes {
        if let Some(input) = &program.input {
            return Some(input);
        }
        return matches!(program.name(), "echo" | "printf")
            .then(|| program.operands().last())
            .flatten();
    }
    None
}

/// Package managers whose commands change a manifest, with the file.
#[rustfmt::skip]
const MANIFESTS: &[(&str, &str)] = &[
    ("bun", "package.json"), ("bundle", "gemfile"), ("cargo", "cargo.toml"), ("composer", "composer.json"), ("dart", "pubspec.yaml"), ("flutter", "pubspec.yaml"), ("go", "go.mod"),
    ("mix", "mix.exs"), ("npm", "package.json"), ("pdm", "pyproject.toml"), ("pipenv", "pipfile"), ("pnpm", "package.json"), ("pod", "podfile.lock"), ("poetry", "pyproject.toml"), ("uv", "pyproject.toml"),
    ("yarn", "package.json"), ("ncu", "package.json"), ("npx", "package.json"),
];

/// Subcommands that change it.
const CHANGING_MANIFESTS: &[&str] = &[
    "add",
    "init",
    "pkg",
    "remove",
    "rm",
    "set-version",
    "uninstall",
    "get",
    "require",
    "update",
    "upgrade",
    "up",
    "npm-check-updates",
];

/// The manifest that a command of a package manager changes.
pub(super) fn changed_manifest(program: &Program) -> Option<&'static str> {
    let (_, manifest) = MANIFESTS.iter().find(|(name, _)| *name == program.name())?;
    let mut operands = program.operands();
    let command = operands.next().unwrap_or_default();
    let installs = matches!(command, "install" | "i")
        && matches!(program.name(), "npm" | "pnpm" | "bun")
        && operands.next().is_some_and(|name| !name.starts_with('.'));
    let nested = command == "pub"
        && operands
            .next()
            .is_some_and(|word| CHANGING_MANIFESTS.contains(&word));
    // `npm pkg get`
    let reads = command == "pkg" && program.has_word(&["get"]);
    (!only_looks(program)
        && (CHANGING_MANIFESTS.contains(&command) && program.name() != "npx" && !reads
            || command == "version" && operands.next().is_some()
            || command == "npm-check-updates"
            || installs
            || nested
            || program.name() == "ncu"
            || program.name() == "go" && command == "get"))
        .then_some(*manifest)
}

/// The places that commands change although they do not name them as files, and whether they remove them: the manifests of
/// package managers, in the folders where they run, and files moved to a store of objects.
pub(super) fn implied_changes(
    root: &ProjectRoot,
    action: &AnalyzedAction<'_>,
) -> Vec<(NormalizedPath, bool)> {
    let mut folder = "";
    let mut found = Vec::new();
    if action.is_read_only() {
        return found;
    }
    for program in action.programs() {
        if program.name() == "cd" {
            folder = program.operands().next().unwrap_or_default();
        } else if let Some(manifest) = changed_manifest(program) {
            let option = program.arguments.iter().zip(program.arguments.iter().skip(1));
            let chosen = option
                .filter(|(name, _)| {
                    matches!(
                        name.as_str(),
                        "--prefix" | "-C" | "--dir" | "--cwd" | "--manifest-path"
                    )
                })
                .map(|(_, value)| value.as_str())
                .next();
            let folder = chosen.unwrap_or(folder);
            let path = if folder.is_empty() {
                manifest.to_owned()
            } else {
                format!("{folder}/{manifest}")
            };
            found.push((NormalizedPath::new(root, &path), false));
        } else if let Some(place) = output_place(root, program) {
            found.push((place, false));
        } else if program.name() == "aws" && program.has_word(&["mv"]) && !only_looks(program) {
            let moved = program.operands().nth(2);
            let moved = moved.filter(|path| !path.contains("://"));
            found.extend(moved.map(|path| (NormalizedPath::new(root, path), true)));
        } else if !only_looks(program) {
            found.extend(rewritten(root, program).into_iter().map(|place| (place, false)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(what: &ForbiddenCommand, command: &str) -> bool {
        let sketch = crate::analyzed_action::tests::bash(command);
        let root = crate::normalized_path::ProjectRoot::new(Some("/home/me/p"));
        is_run(what, &AnalyzedAction::new(&root, &sketch))
    }

    #[test]
    fn commands_are_recognized_by_what_they_do() {
        use ForbiddenCommand::*;
        for (what, command) in [
            (Git("commit"), "git add -A && git commit -m x"),
            (Git("stash"), "git stash && npm test"),
            (Switch(Vec::new()), "git checkout main"),
            (Switch(Vec::new()), "git switch -c x"),
            (Infrastructure, "terraform -chdir=envs/dev apply -auto-approve"),
            (Infrastructure, "helm template x | kubectl apply -f -"),
            (Migrate, "bin/rails db:migrate"),
            (Migrate, "php artisan migrate"),
            (Migrate, "python manage.py migrate"),
            (Migrate, "npx prisma migrate deploy"),
            (GenerateMigration, "bin/rails g migration AddX"),
            (DatabaseWrite, "psql -c 'update orders set total = 0'"),
            (DatabaseWrite, "mysql -e 'DELETE FROM a'"),
            (DatabaseWrite, "sqlite3 a.db 'select 1; drop table a'"),
            (Containers, "docker compose up -d"),
            (Snapshots, "pnpm --filter renderer test -- -u"),
            (Format, "fprettify -i 2 src/a.f90"),
            (Format, "npx prettier --write ."),
            (Flag("--force".to_owned()), "npx ng update --force"),
            (Upgrade, "npm update"),
        ] {
            assert!(runs(&what, command), "{what:?}: {command}");
        }
        for (what, command) in [
            (Git("stash"), "git stash list"),
            (Git("commit"), "git log --oneline"),
            (Switch(Vec::new()), "git checkout -- src/a.rs"),
            (Switch(Vec::new()), "git branch"),
            (Infrastructure, "terraform plan"),
            (Migrate, "bin/rails db:migrate:status"),
            (Migrate, "python manage.py showmigrations"),
            (DatabaseWrite, "psql -c 'select updated_at from orders'"),
            (DatabaseWrite, "psql -c 'explain delete from a'"),
            (Containers, "docker compose ps"),
            (Snapshots, "pnpm test"),
            (Format, "npx prettier --check ."),
            (Flag("--force".to_owned()), "npm install"),
        ] {
            assert!(!runs(&what, command), "{what:?}: {command}");
        }
    }
}
