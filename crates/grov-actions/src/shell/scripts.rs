//! Finds the files whose content a program runs: `sh x.sh`, `./x`, `python x.py`, `npm run build`, `make all`.

use crate::has_word;
use crate::inline::{Language, inline_code, language_of as interpreter};
use crate::path;
use crate::script::{ScriptFile, ScriptKind, language_of};
use crate::shell::options::{Options, Valued, of, skip_options};
use crate::shell::state::Shell;
use crate::shell::words::Argument;
use grov_domain::{is_shell, program_name};

/// The maximum number of files of one command line.
const MAX_FILES: usize = 32;
/// The number of parent folders in which a manifest is searched.
const MAX_PARENTS: usize = 3;

/// Options that only list or print what would run.
const LISTING: &str = "-n --dry-run --just-print --recon --list --list-all -l --summary --help -h --version -T -P --tasks \
      --show --evaluate --dump";

/// Clients that run the statements in a file.
const CLIENTS: &str = "psql mysql mariadb sqlite3 sqlcmd cqlsh duckdb clickhouse-client redis-cli valkey-cli bq snowsql trino usql pgcli mycli";

/// Adds the files that a program runs to [`Shell::scripts`].
pub(crate) fn add_files(shell: &mut Shell, program: &Argument, arguments: &[Argument]) {
    if shell.scripts.len() >= MAX_FILES || program.unknown {
        return;
    }
    let name = program_name(&program.text);
    match name {
        "source" | "." => add(shell, ScriptKind::Shell, arguments.first()),
        name if is_shell(name) => {
            let options = Options::of("sh", arguments);
            if !options.has("-c --command -s -n") {
                add(shell, ScriptKind::Shell, options.operands.first().copied());
            }
        }
        "npm" | "pnpm" | "yarn" | "bun" => node_scripts(shell, name, arguments),
        "run-s" | "run-p" | "npm-run-all" | "turbo" | "lerna" | "wireit" => {
            let names = arguments
                .iter()
                .filter(|name| !name.is_option() && name.text != "run");
            manifest(
                shell,
                "package.json",
                "scripts",
                names.map(|name| name.text.clone()).collect(),
            );
        }
        "make" | "gmake" | "just" | "task" | "go-task" | "rake" => targets(shell, name, arguments),
        "composer" => {
            if let [first, rest @ ..] = arguments {
                if matches!(first.text.as_str(), "install" | "update" | "i" | "u") {
                    let hooks = [
                        "pre-install-cmd",
                        "post-install-cmd",
                        "post-update-cmd",
                        "post-autoload-dump",
                    ];
                    let hooks = hooks.map(str::to_owned);
                    return manifest(shell, "composer.json", "scripts", hooks.into());
                }
                let runs = matches!(first.text.as_str(), "run" | "run-script");
                let name = if runs { rest.first() } else { Some(first) };
                let names = name
                    .filter(|name| !name.is_option())
                    .map(|name| name.text.clone());
                manifest(shell, "composer.json", "scripts", names.into_iter().collect());
            }
        }
        "deno" => match arguments {
            [first, task, ..] if first.text == "task" => {
                manifest(shell, "deno.json", "tasks", vec![task.text.clone()]);
            }
            [first, rest @ ..] if first.text == "run" => {
                let script = rest.iter().find(|argument| !argument.is_option());
                add(shell, ScriptKind::Code(Language::JavaScript), script);
            }
            _ => {}
        },
        "blender" | "freecadcmd" | "FreeCADCmd" | "vivado" | "quartus_sh" | "tclsh" | "gdb" | "locust"
        | "k6" | "octave" | "matlab" | "qgis_process" => hosted(shell, name, arguments),
        "snakemake" => snakefile(shell, arguments),
        "pytest" | "py.test" => conftest(shell, arguments),
        name if has_word(CLIENTS, name) => statements(shell, name, arguments),
        name if interpreter(name).is_some() => interpreted(shell, name, arguments),
        _ if program.text.contains('/') || language_of(name).is_some() => executable(shell, program),
        _ => {}
    }
}

/// Adds a file that a shell or a database client reads from its standard input.
pub(crate) fn add_input(shell: &mut Shell, program: &str, arguments: &[Argument], file: &Argument) {
    let runs_input = shell.reads.is_some();
    if is_shell(program) && runs_input {
        add(shell, ScriptKind::Shell, Some(file));
    } else if let Some(language) = interpreter(program).filter(|_| runs_input) {
        add(shell, ScriptKind::Code(language), Some(file));
    } else if has_word(CLIENTS, program) {
        add(shell, statements_kind(program, arguments), Some(file));
    }
}

fn add(shell: &mut Shell, kind: ScriptKind, script: Option<&Argument>) {
    let Some(place) = script.and_then(|script| shell.place(script)) else {
        return;
    };
    let folder = shell.folder.clone();
    push(shell, kind, vec![place.path], Vec::new(), folder);
}

fn push(
    shell: &mut Shell,
    kind: ScriptKind,
    paths: Vec<String>,
    targets: Vec<String>,
    folder: Option<String>,
) {
    let file = ScriptFile {
        paths,
        targets,
        folder,
        kind,
        variables: Vec::new(),
    };
    if !shell.scripts.contains(&file) {
        shell.scripts.push(file);
    }
}

/// A file that is run by its path. Programs of the system and of packages are not scripts of the project.
fn executable(shell: &mut Shell, program: &Argument) {
    const FOREIGN: &[&str] = &["/bin/", "/sbin/", "/usr/", "/opt/", "/nix/", "/snap/"];
    let Some(place) = shell.place(program) else { return };
    let is_foreign = FOREIGN.iter().any(|folder| place.path.starts_with(folder));
    let is_package = ["node_modules/", "/venv/", ".venv/", "vendor/", "/target/"]
        .iter()
        .any(|folder| place.path.contains(folder));
    let wraps = matches!(
        path::file_name(&place.path),
        "gradlew" | "mvnw" | "rails" | "artisan" | "manage.py"
    );
    if !is_foreign && !is_package && !wraps {
        add(shell, ScriptKind::Executable, Some(program));
    }
}

/// The script that an interpreter runs: `python3 x.py`.
fn interpreted(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let runs = arguments
        .first()
        .is_some_and(|first| name == "bun" && first.text == "run");
    let arguments = &arguments[usize::from(runs)..];
    let Some(given) = inline_code(name, arguments.iter().map(Argument::written)) else {
        return;
    };
    if given.is_module {
        let rest = &arguments[arguments.len().min(given.operands + 1)..];
        return module(shell, given.language, arguments.get(given.operands), rest);
    }
    if !given.code.is_empty() || given.reads_input {
        return;
    }
    let script = arguments.get(given.operands);
    let wraps =
        |script: &&Argument| matches!(path::file_name(&script.text), "manage.py" | "artisan" | "rails");
    add(
        shell,
        ScriptKind::Code(given.language),
        script.filter(|script| !wraps(script)),
    );
}

/// Modules that are no part of a project.
const INSTALLED: &str = "http venv pip json unittest timeit cProfile pdb zipfile tarfile base64 compileall ensurepip site sysconfig calendar \
      build twine black ruff mypy flake8 pylint isort coverage tox nox sphinx mkdocs flask uvicorn gunicorn celery alembic django \
      ipykernel jupyter notebook poetry pipx virtualenv isort bandit";

/// A module of the project: `python -m jobs.archive`.
fn module(shell: &mut Shell, language: Language, name: Option<&Argument>, arguments: &[Argument]) {
    let Some(name) = name.filter(|name| !name.unknown) else {
        return;
    };
    if name.text == "pytest" {
        return conftest(shell, arguments);
    }
    let first = name.text.split('.').next().unwrap_or_default();
    if has_word(INSTALLED, first) {
        return;
    }
    let path = name.text.replace('.', "/");
    let folder = shell.folder.clone();
    let places = [
        format!("{path}.py"),
        format!("{path}/__main__.py"),
        format!("src/{path}.py"),
        format!("src/{path}/__main__.py"),
    ];
    let places = places.iter();
    let paths = places.filter_map(|place| path::resolve(folder.as_deref(), place));
    push(
        shell,
        ScriptKind::Code(language),
        paths.collect(),
        Vec::new(),
        folder,
    );
}

/// The script that an application with a language of its own runs: `blender -P x.py`, `vivado -source x.tcl`.
fn hosted(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let options: &[&str] = match name {
        "blender" => &["-P", "--python"],
        "vivado" => &["-source"],
        "quartus_sh" => &["-t"],
        "gdb" => &["-x", "--command"],
        "locust" => &["-f", "--locustfile"],
        _ => &[],
    };
    let is_script = |word: &&Argument| {
        language_of(&word.text).is_some() || word.text.ends_with(".tcl") || word.text.ends_with(".m")
    };
    let script = if options.is_empty() {
        arguments.iter().find(is_script)
    } else {
        let is_option = |word: &Argument| options.contains(&word.text.as_str());
        let at = arguments.iter().position(is_option);
        at.and_then(|at| arguments.get(at + 1))
    };
    let language = script.and_then(|script| language_of(&script.text));
    add(
        shell,
        ScriptKind::Code(language.unwrap_or(Language::Python)),
        script,
    );
}

/// The rules of Snakemake, whose commands are texts.
fn snakefile(shell: &mut Shell, arguments: &[Argument]) {
    const SHOWING: &str = "-n --dry-run --dryrun --lint --dag --rulegraph --summary --list -l --unlock";
    if arguments.iter().any(|word| has_word(SHOWING, &word.text)) {
        return;
    }
    let is_option = |word: &Argument| matches!(word.text.as_str(), "-s" | "--snakefile");
    let named = arguments.iter().position(is_option);
    let named = named.and_then(|at| shell.place(arguments.get(at + 1)?));
    let folder = shell.folder.clone();
    let paths = match named {
        Some(place) => vec![place.path],
        None => ["Snakefile", "workflow/Snakefile"]
            .iter()
            .filter_map(|file| path::resolve(folder.as_deref(), file))
            .collect(),
    };
    push(shell, ScriptKind::Snakefile, paths, Vec::new(), folder);
}

/// The fixtures that pytest loads around the tests it runs.
fn conftest(shell: &mut Shell, arguments: &[Argument]) {
    let folder = shell.folder.clone();
    let tests = arguments.iter().filter(|word| !word.is_option() && !word.unknown);
    let below = tests.take(2).map(|test| {
        let file = test.text.split("::").next().unwrap_or(&test.text);
        match file.rsplit_once('/') {
            Some((below, name)) if name.ends_with(".py") => below,
            _ if file.ends_with(".py") => ".",
            _ => file.trim_end_matches('/'),
        }
    });
    let mut places: Vec<String> = below.map(|below| format!("{below}/conftest.py")).collect();
    places.extend(["tests/conftest.py".to_owned(), "conftest.py".to_owned()]);
    places.dedup();
    for place in places {
        let paths = path::resolve(folder.as_deref(), &place).into_iter().collect();
        push(
            shell,
            ScriptKind::Code(Language::Python),
            paths,
            Vec::new(),
            folder.clone(),
        );
    }
}

/// Subcommands of package managers that are not names of scripts.
const SUBCOMMANDS: &str = "access add adduser audit bin bugs build-binary cache ci completion config create dedupe deploy \
      deprecate diff dist-tag dlx docs doctor edit exec explain explore fetch fund get help help-search i import info init \
      install install-ci-test install-test it link list ll ln login logout ls node org outdated owner pack patch ping pkg \
      plugin pm prefix profile prune publish query rebuild remove repo rm root search set shrinkwrap star store team token \
      un uninstall unlink unpublish unstar up update upgrade version versions view why whoami workspace workspaces x";

/// `npm run build`, `yarn build`.
fn node_scripts(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let valued = of("npm");
    let rest = skip_options(arguments, valued);
    let options = Options::parse(&arguments[..arguments.len() - rest.len()], valued);
    // The scripts of other packages of a workspace are elsewhere.
    let elsewhere = |word: &Argument| {
        matches!(
            word.text.as_str(),
            "-w" | "-F" | "-r" | "--filter" | "--recursive" | "--workspaces" | "-ws"
        ) || word.text.starts_with("--workspace=")
            || word.text.starts_with("--filter=")
    };
    let [subcommand, others @ ..] = rest else { return };
    if arguments
        .iter()
        .take_while(|word| word.text != "--")
        .any(elsewhere)
    {
        return;
    }
    let script = match subcommand.text.as_str() {
        "run" | "run-script" | "rum" => others
            .iter()
            .find(|word| !word.is_option())
            .map(|word| word.text.clone()),
        "start" | "stop" | "restart" | "test" => Some(subcommand.text.clone()),
        // The scripts of the project around an installation, not those of a new package.
        "install" | "i" | "ci" if others.iter().all(Argument::is_option) => Some("install".to_owned()),
        "t" | "tst" => Some("test".to_owned()),
        _ if name == "npm" || has_word(SUBCOMMANDS, &subcommand.text) => None,
        script => Some(script.to_owned()),
    };
    let Some(script) = script else { return };
    if name == "bun" && language_of(&script).is_some() {
        return interpreted(shell, name, arguments);
    }
    let folder = options.value("-C --prefix --cwd --dir").cloned();
    shell.in_folder(folder.as_ref(), |shell| {
        manifest(shell, "package.json", "scripts", vec![script]);
    });
}

/// Scripts of a JSON file in the working folder or above it.
fn manifest(shell: &mut Shell, name: &str, key: &'static str, scripts: Vec<String>) {
    if !scripts.is_empty() {
        let paths = here_and_above(shell, &[name]);
        let folder = shell.folder.clone();
        push(shell, ScriptKind::Manifest(key), paths, scripts, folder);
    }
}

/// The paths of files with these names in the working folder and above it.
fn here_and_above(shell: &Shell, names: &[&str]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folder = shell.folder.clone();
    for _ in 0..=MAX_PARENTS {
        paths.extend(
            names
                .iter()
                .filter_map(|name| path::resolve(folder.as_deref(), name)),
        );
        folder = folder.as_deref().and_then(path::parent).map(str::to_owned);
        if folder.is_none() {
            break;
        }
    }
    paths
}

/// `make all`, `just build`, `task build`, `rake db:clean`.
fn targets(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    const VALUED: Valued = Valued::new(
        "CfjIodt",
        "directory file makefile justfile taskfile rakefile dir working-directory jobs",
    );
    let options = Options::parse(arguments, VALUED);
    let lists = |word: &Argument| has_word(LISTING, &word.text);
    if arguments.iter().any(lists) {
        return;
    }
    let words = options.operands.iter().map(|word| word.text.as_str());
    let (settings, targets): (Vec<&str>, Vec<&str>) = words.partition(|word| word.contains('='));
    let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
    let settings = settings.iter().filter_map(|word| word.split_once('='));
    let variables: Vec<(String, String)> = settings
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let kind = match name {
        "just" => ScriptKind::Justfile,
        "task" | "go-task" => ScriptKind::Taskfile,
        "rake" => ScriptKind::Rakefile,
        _ => ScriptKind::Makefile,
    };
    let named = options
        .value("-f --file --makefile --justfile --taskfile --rakefile")
        .or_else(|| options.value("-t").filter(|_| kind == ScriptKind::Taskfile))
        .cloned();
    let folder = match kind {
        ScriptKind::Taskfile => options.value("-d --dir"),
        ScriptKind::Justfile => options.value("-d --working-directory"),
        _ => options.value("-C --directory"),
    };
    shell.in_folder(folder, |shell| {
        let paths = match (&named, &kind) {
            (Some(file), _) => shell.place(file).map(|place| place.path).into_iter().collect(),
            (None, ScriptKind::Justfile) => here_and_above(shell, &["justfile", "Justfile", ".justfile"]),
            (None, ScriptKind::Taskfile) => {
                here_and_above(shell, &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"])
            }
            (None, ScriptKind::Rakefile) => {
                rake_files(shell, &targets);
                here_and_above(shell, &["Rakefile", "rakefile", "Rakefile.rb"])
            }
            (None, _) => {
                let names = ["GNUmakefile", "makefile", "Makefile"];
                let paths = names
                    .iter()
                    .filter_map(|name| path::resolve(shell.folder.as_deref(), name));
                paths.collect()
            }
        };
        let folder = shell.folder.clone();
        let known = shell.scripts.len();
        push(shell, kind, paths, targets, folder);
        if let Some(file) = shell.scripts.get_mut(known) {
            file.variables = variables;
        }
    });
}

/// Rails keeps the tasks of a namespace in a file of its own.
fn rake_files(shell: &mut Shell, targets: &[String]) {
    for target in targets {
        let namespace = target.split(':').next().unwrap_or_default();
        let path = path::resolve(shell.folder.as_deref(), &format!("lib/tasks/{namespace}.rake"));
        let folder = shell.folder.clone();
        push(
            shell,
            ScriptKind::Rakefile,
            path.into_iter().collect(),
            vec![target.clone()],
            folder,
        );
    }
}

/// `psql -f x.sql`
fn statements(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let options = Options::parse(
        arguments,
        Valued::new(
            "dfhpUcvPuDiSQ",
            "file dbname host port username command queries-file input-file",
        ),
    );
    // For others, `-f` has no value or is something else.
    let file = match name {
        "psql" | "cqlsh" | "duckdb" | "snowsql" | "usql" | "trino" => {
            options.value("-f --file --queries-file")
        }
        "sqlcmd" => options.value("-i --input-file"),
        "clickhouse-client" => options.value("--queries-file"),
        _ => None,
    };
    add(shell, statements_kind(name, arguments), file);
}

/// The statements of a file that a database client runs, with the operands of the client, which may name a database.
fn statements_kind(name: &str, arguments: &[Argument]) -> ScriptKind {
    let operands = arguments.iter().filter(|argument| !argument.unknown);
    let words = std::iter::once(name).chain(operands.map(|argument| argument.text.as_str()));
    ScriptKind::Statements(words.take(16).map(str::to_owned).collect())
}
