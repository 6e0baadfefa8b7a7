//! Package managers, build tools, test runners, linters and formatters.

use crate::has_word;
use crate::inline::inline_code;
use crate::shell::options::{Options, Valued, of, skip_options};
use crate::shell::state::{Inner, Shell};
use crate::shell::words::Argument;
use grov_domain::EffectKind::{self, Build, Delete, Execute, Install, Modify, Network, Read, Test, Write};

/// Records the effects of a program. Returns whether this module knows it.
pub(crate) fn record_effects(shell: &mut Shell, name: &str, arguments: &[Argument]) -> bool {
    match name {
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" => node_packages(shell, name, arguments),
        "cargo" => cargo(shell, arguments),
        "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "ninja" | "nx" | "turbo" | "lerna"
        | "grunt" | "gulp" => {
            targets(shell, name, arguments);
        }
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            containers(shell, name, arguments)
        }
        _ if name.starts_with("python") || name == "py" => python(shell, arguments),
        "node" | "deno" => return javascript(shell, name, arguments),
        "tsc" => {
            let only_checks = arguments.iter().any(|argument| argument.text == "--noEmit");
            add(shell, if only_checks { Test } else { Build }, arguments);
        }
        _ => {
            let kind = formatter(name, arguments).or_else(|| subcommand_kind(name, arguments));
            let Some(kind) = kind else { return false };
            add(shell, kind, arguments);
        }
    }
    true
}

/// Records an effect on the paths among the arguments. The name of a test may follow a path after `::`.
fn add(shell: &mut Shell, kind: EffectKind, arguments: &[Argument]) {
    let paths = arguments.iter().map(|argument| {
        let path = argument.text.split("::").next().unwrap_or_default();
        // `./...` means everything below a folder.
        let folder = path.strip_suffix("...").filter(|folder| folder.ends_with('/'));
        argument.with_text(folder.unwrap_or(path))
    });
    let places = shell.likely_places(paths);
    shell.findings.add(kind, places);
}

/// Effects by programs and subcommands. Words are separated by spaces. `*` matches any subcommand, `(none)` a missing
/// one, `x*` those that start with `x`. The first matching row is used.
#[rustfmt::skip]
const EFFECTS: &[(&str, &str, EffectKind)] = &[
    // Tests and linters.
    ("pytest py.test jest vitest mocha ava tap karma cypress playwright phpunit pest rspec minitest ctest tox nox \
      unittest nose2 behave cucumber bats busted ginkgo gotestsum cargo-nextest mypy pyright basedpyright flake8 pylint \
      pyflakes bandit vulture shellcheck hadolint yamllint markdownlint actionlint tflint checkstyle pmd spotbugs \
      phpstan psalm vue-tsc svelte-check oxlint knip depcheck typos codespell pre-commit lefthook coverage valgrind k6 \
      ab clang-tidy cppcheck cpplint credo", "*", Test),
    // Compilers, bundlers and generators.
    ("gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac ghc ld ar as nvcc emcc webpack rollup esbuild parcel tsup \
      swc babel ncc browserify sass lessc postcss tailwindcss protoc buf wasm-pack trunk xcodebuild bazel bazelisk buck2 \
      pants scons meson configure autoconf automake autoreconf latexmk pdflatex xelatex mkdocs sphinx-build hugo jekyll \
      mdbook pyinstaller goreleaser earthly nix-build msbuild cmake", "*", Build),
    // Package managers with the same effect for all subcommands.
    ("apt apt-get aptitude dpkg yum dnf rpm apk pacman yay zypper emerge port choco winget scoop snap flatpak rustup nvm \
      fnm asdf pyenv rbenv sdk easy_install virtualenv corepack cpan cpanm luarocks cabal opam pod carthage vcpkg nuget \
      helmfile", "*", Install),
    ("conda mamba micromamba", "env", Execute),
    (PYTHON, "list show freeze check tree info env inspect", Read),
    (PYTHON, "config", Execute),
    (PYTHON, "publish search download", Network),
    (PYTHON, "build", Build),
    (PYTHON, "test", Test),
    (PYTHON, "(none) version help shell run cache", Execute),
    (PYTHON, "*", Install),
    (NODE, "install i ci add uninstall remove rm un update up upgrade link unlink dedupe prune rebuild import fetch \
            install-test it", Install),
    (NODE, "test t tst", Test),
    (NODE, "build", Build),
    (NODE, "ls list ll why explain config get root prefix bin help fund pm", Read),
    (NODE, "view info show search outdated audit publish login whoami ping dist-tag owner", Network),
    (NODE, "init create", Write),
    (NODE, "start stop restart dev serve version set cache", Execute),
    ("yarn", "(none)", Install),
    (NODE, "(none)", Execute),
    ("npm", "*", Execute),
    ("deno", "test lint check bench", Test),
    ("deno", "fmt", Modify),
    ("deno", "install add remove cache", Install),
    ("deno", "compile bundle", Build),
    ("cargo", "test t nextest bench miri tarpaulin llvm-cov deny audit semver-checks mutants hack machete udeps clippy", Test),
    ("cargo", "build b check c doc d rustc rustdoc package zigbuild ndk", Build),
    ("cargo", "fmt fix sort", Modify),
    ("cargo", "add remove rm install uninstall update fetch vendor binstall generate-lockfile upgrade", Install),
    ("cargo", "metadata tree pkgid locate-project verify-project version help --version expand asm", Read),
    ("cargo", "publish search login owner yank info", Network),
    (CONTAINERS, "build bake", Build),
    (CONTAINERS, "ps images logs inspect version info stats top port diff history ls events config df", Read),
    (CONTAINERS, "pull push login logout search", Network),
    ("go", "get install mod work", Install),
    ("go", "build", Build),
    ("go", "test vet", Test),
    ("go", "fmt fix", Modify),
    ("go", "list env version doc help", Read),
    ("gem bundle bundler", "list info show outdated env which", Read),
    ("gem bundle bundler", "push", Network),
    ("gem bundle bundler", "*", Install),
    ("composer", "show info outdated validate licenses", Read),
    ("composer", "test lint", Test),
    ("composer", "run run-script exec", Execute),
    ("composer", "*", Install),
    ("brew", "list info search config doctor outdated", Read),
    ("brew", "services", Execute),
    ("brew mise volta", "*", Install),
    ("dotnet", "test", Test),
    ("dotnet", "build publish pack msbuild", Build),
    ("dotnet", "add remove restore tool workload", Install),
    ("dotnet", "format", Modify),
    ("mix", "test credo dialyzer", Test),
    ("mix", "compile release", Build),
    ("mix", "format", Modify),
    ("mix", "deps*", Install),
    ("swift", "test", Test),
    ("swift", "build", Build),
    ("swift", "package", Install),
    ("flutter dart", "test analyze", Test),
    ("flutter dart", "build compile", Build),
    ("flutter dart", "pub", Install),
    ("flutter dart", "format", Modify),
    ("zig", "build build-exe build-lib", Build),
    ("zig stack", "test", Test),
    ("zig", "fmt", Modify),
    ("stack", "build install", Build),
    ("nix", "build", Build),
    ("nix", "flake profile", Install),
];

const PYTHON: &str = "pip pip3 uv pipx poetry pipenv pdm rye hatch conda mamba micromamba";
const NODE: &str = "npm pnpm yarn bun cnpm";
const CONTAINERS: &str = "docker podman nerdctl docker-compose podman-compose";

fn effect_of(name: &str, subcommand: &str) -> Option<EffectKind> {
    let subcommand = match subcommand {
        "" => "(none)",
        subcommand => subcommand,
    };
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => subcommand.starts_with(start),
        None => subcommand == pattern,
    };
    let mut rows = EFFECTS.iter().filter(|(programs, ..)| has_word(programs, name));
    let row = rows.find(|(_, subcommands, _)| subcommands.split_whitespace().any(matches));
    row.map(|(.., kind)| *kind)
}

/// The effect of a formatter or linter. Some change files by default, others only with an option.
fn formatter(name: &str, arguments: &[Argument]) -> Option<EffectKind> {
    let has = |flags: &str| arguments.iter().any(|argument| has_word(flags, &argument.text));
    let first = arguments.first().map_or("", |first| first.text.as_str());
    let changes = match name {
        "prettier" => has("--write -w"),
        "black" | "isort" | "rustfmt" | "autoflake" | "ktlint" => !has("--check --check-only --diff -c"),
        "gofmt" | "goimports" | "gofumpt" | "shfmt" | "yapf" | "autopep8" | "clang-format" => {
            has("-w -i --in-place")
        }
        "eslint" | "stylelint" | "standard" | "xo" | "golangci-lint" | "tslint" | "swiftlint" => has("--fix"),
        "rubocop" => has("-a -A --auto-correct --autocorrect"),
        "ruff" => first == "format" && !has("--check --diff") || has("--fix"),
        "biome" | "rome" => has("--write --apply --fix"),
        "php-cs-fixer" => first == "fix" && !has("--dry-run"),
        "dprint" => first == "fmt",
        _ => return None,
    };
    Some(if changes { Modify } else { Test })
}

/// The effect of a program that depends on its first operand.
fn subcommand_kind(name: &str, arguments: &[Argument]) -> Option<EffectKind> {
    let subcommand = arguments
        .iter()
        .find(|argument| !argument.is_option())
        .map_or("", |first| first.text.as_str());
    Some(match name {
        "mvn" | "mvnw" => phases(
            arguments,
            "test verify integration-test",
            "compile package install deploy",
        ),
        "gradle" | "gradlew" | "sbt" | "mill" | "lein" | "ant" => phases(
            arguments,
            "test check lint detekt",
            "build assemble compile jar uberjar package",
        ),
        "next" | "vite" | "nuxt" | "astro" | "ng" | "vue-cli-service" | "react-scripts" | "gatsby"
        | "svelte-kit" | "remix" | "expo" => script_kind(subcommand),
        _ => return effect_of(name, subcommand),
    })
}

/// The effect of a list of tasks. Tests take precedence over builds.
fn phases(arguments: &[Argument], tests: &str, builds: &str) -> EffectKind {
    let tasks: Vec<String> = arguments
        .iter()
        .filter(|argument| !argument.is_option())
        .map(|task| {
            task.text
                .rsplit(':')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase()
        })
        .collect();
    let any = |names: &str| {
        names
            .split_whitespace()
            .any(|name| tasks.iter().any(|task| task.starts_with(name)))
    };
    let phases = [(tests, Test), (builds, Build), ("clean", Delete)];
    let found = phases.iter().find(|(names, _)| any(names));
    found.map_or(Execute, |(_, kind)| *kind)
}

/// Words in the names of scripts and targets, with the effect that they suggest. The first matching row is used.
#[rustfmt::skip]
const SCRIPT_WORDS: &[(&str, EffectKind)] = &[
    ("check checks", Test),
    ("fix format fmt prettier write", Modify),
    ("test tests spec lint typecheck types tsc e2e unit integration coverage cov verify validate clippy bench t vitest \
      jest pytest type", Test),
    ("build compile bundle dist package all release docs doc image", Build),
    ("install bootstrap setup deps dependencies", Install),
    ("clean distclean", Delete),
    ("deploy publish upload", Network),
];

/// The effect that the name of a script or target suggests: `test:unit`, `lint`, `build-prod`.
fn script_kind(name: &str) -> EffectKind {
    let name = name.to_ascii_lowercase();
    let has = |words: &str| {
        name.split([':', '-', '_', '.', '/'])
            .any(|part| has_word(words, part))
    };
    let found = SCRIPT_WORDS.iter().find(|(words, _)| has(words));
    found.map_or(Execute, |(_, kind)| *kind)
}

fn node_packages(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let valued = of("npm");
    let rest = skip_options(arguments, valued);
    let options = Options::parse(&arguments[..arguments.len() - rest.len()], valued);
    let folder = options.value("-C --prefix --cwd --dir").cloned();
    // `yarn workspace name test`
    let rest = match rest {
        [first, _name, others @ ..] if first.text == "workspace" => others,
        rest => rest,
    };
    let (subcommand, rest) = match rest.split_first() {
        Some((first, rest)) => (first.text.as_str(), rest),
        None => ("", rest),
    };
    let kind = if matches!(subcommand, "run" | "run-script" | "rum") {
        let script = rest.iter().find(|argument| !argument.is_option());
        match script.map_or("", |script| script.text.as_str()) {
            script if name == "bun" && script.contains('.') => Execute,
            script => script_kind(script),
        }
    } else {
        // Yarn and pnpm run scripts without `run`.
        effect_of(name, subcommand).unwrap_or_else(|| script_kind(subcommand))
    };
    shell.in_folder(folder.as_ref(), |shell| add(shell, kind, rest));
}

fn cargo(shell: &mut Shell, arguments: &[Argument]) {
    let toolchain = arguments.first().is_some_and(|first| first.text.starts_with('+'));
    let rest = skip_options(&arguments[usize::from(toolchain)..], of("cargo"));
    let Some((subcommand, rest)) = rest.split_first() else {
        return;
    };
    let has = |flag: &str| rest.iter().any(|argument| argument.text == flag);
    let kind = match subcommand.text.as_str() {
        "clippy" if has("--fix") => Modify,
        "fmt" if has("--check") => Test,
        "clean" => {
            let target = shell.folder_places([Argument::new("target")]);
            return shell.findings.add_unnamed(Delete, target);
        }
        "new" | "init" => return create_folder(shell, rest),
        subcommand => effect_of("cargo", subcommand).unwrap_or(Execute),
    };
    // Arguments after `--` belong to the program that is run.
    let own = rest
        .iter()
        .position(|argument| argument.text == "--")
        .unwrap_or(rest.len());
    let paths = if kind == Execute { rest } else { &rest[..own] };
    add(shell, kind, paths);
}

/// Writes the folder in the first operand.
fn create_folder(shell: &mut Shell, arguments: &[Argument]) {
    let folder = shell.folder_places(arguments.iter().find(|argument| !argument.is_option()));
    shell.findings.add(Write, folder);
}

/// `make target…`: the names of the targets suggest the effect.
fn targets(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let options = Options::of("make", arguments);
    let named: Vec<&str> = options
        .operands
        .iter()
        .map(|operand| operand.text.as_str())
        .filter(|target| !target.contains('=') && !matches!(*target, "run" | "run-many" | "affected"))
        .collect();
    let from_option = options
        .values_of("--target -t")
        .map(|target| target.text.as_str());
    let mut kinds: Vec<EffectKind> = Vec::new();
    for target in named.into_iter().chain(from_option) {
        let kind = match script_kind(target) {
            Execute if matches!(name, "make" | "gmake" | "ninja") => Build,
            kind => kind,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        kinds.push(if matches!(name, "just" | "task" | "rake" | "invoke") {
            Execute
        } else {
            Build
        });
    }
    shell.in_folder(options.value("-C --directory"), |shell| {
        for kind in kinds {
            shell.findings.add(kind, Vec::new());
        }
    });
}

/// The subcommand of Docker or a similar program with its arguments, without global options and groups such as
/// `compose`.
pub(crate) fn container_subcommand<'a>(name: &str, arguments: &'a [Argument]) -> &'a [Argument] {
    let valued = Valued::new(
        "fpHcl",
        "file project-name project-directory host context config log-level profile env-file tlscacert tlscert tlskey ansi \
         parallel progress",
    );
    let rest = skip_options(arguments, valued);
    match rest.split_first() {
        Some((group, rest)) if group.text == "compose" && !name.ends_with("compose") => {
            skip_options(rest, valued)
        }
        Some((group, rest)) if has_word("container image buildx volume network system", &group.text) => rest,
        _ => rest,
    }
}

fn containers(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let Some((subcommand, rest)) = container_subcommand(name, arguments).split_first() else {
        return;
    };
    let kind = effect_of(name, &subcommand.text).unwrap_or(Execute);
    let context = if kind == Build { rest } else { &[] };
    let places = shell.likely_places(context);
    shell.findings.add(kind, places);
}

/// `python -m module …` runs the module, `python manage.py test` is a test, anything else runs a script.
fn python(shell: &mut Shell, arguments: &[Argument]) {
    let given = inline_code("python", arguments.iter().map(Argument::written));
    let (first, is_code, is_module) = given.map_or((0, false, false), |given| {
        (given.operands, !given.code.is_empty(), given.is_module)
    });
    let rest = arguments.get(first..).unwrap_or_default();
    match rest {
        _ if is_code => shell.findings.add(Execute, Vec::new()),
        [module, others @ ..] if is_module => match module.text.as_str() {
            "venv" | "virtualenv" => create_folder(shell, others),
            "json.tool" => {
                let places = shell.likely_places(others);
                shell.findings.add(Read, places);
            }
            "build" => add(shell, Build, others),
            "compileall" | "py_compile" => add(shell, Test, others),
            "http.server" | "timeit" | "cProfile" | "pdb" => shell.findings.add(Execute, Vec::new()),
            "coverage" if others.first().is_some_and(|word| word.text == "run") => add(shell, Test, others),
            _ => shell.inner.push(Inner::Program(rest.to_vec())),
        },
        [script, command, others @ ..] if script.text.ends_with("manage.py") && command.text == "test" => {
            add(shell, Test, others);
        }
        _ => add(shell, Execute, rest),
    }
}

/// Tests and tools of Node and Deno. Returns `false` for scripts.
fn javascript(shell: &mut Shell, name: &str, arguments: &[Argument]) -> bool {
    let first = arguments.first().map_or("", |first| first.text.as_str());
    let has = |flag: &str| arguments.iter().any(|argument| argument.text == flag);
    let kind = match (name, first) {
        ("node", _) if has("--test") => Test,
        ("node", _) if has("--check") || first == "-c" => Test,
        ("node", "-e" | "--eval" | "-p" | "--print" | "-v" | "--version") => {
            shell.findings.add(Execute, Vec::new());
            return true;
        }
        ("deno", "task") => script_kind(arguments.get(1).map_or("", |task| task.text.as_str())),
        _ => match effect_of(name, first) {
            Some(kind) => kind,
            None => return false,
        },
    };
    add(shell, kind, arguments);
    true
}
