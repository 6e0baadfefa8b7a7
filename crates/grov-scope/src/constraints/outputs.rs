//! The files and folders into which options let programs write: `tsc --outDir lib`, `curl -o a.json`.

use super::command_effects::formats;
use crate::file_kind::is_build_output;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{ExecutionHost, Program};

/// Programs whose `-o` or `--output` is a file or folder. For others it may be a format (`kubectl -o json`), a setting
/// (`ssh -o`) or an option without a value (`grep -o`).
#[rustfmt::skip]
const COMPILERS_AND_CONVERTERS: &[&str] = &[
    "as", "asciidoctor", "c++", "cc", "clang", "clang++", "curl", "dot", "esbuild", "g++", "gcc", "gfortran", "go", "javadoc", "ld", "mmdc", "openapi-generator", "openapi-generator-cli", "openapi-typescript",
    "pandoc", "pip-compile", "protoc", "redocly", "rollup", "rustc", "sass", "shuf", "sort", "sphinx-build", "svgo", "swc", "swiftc", "tailwindcss", "tsc", "tsup", "uglifyjs", "terser", "webpack", "xmllint",
];

/// Programs that run other ones from packages.
const RUNNERS: &[&str] = &["bunx", "npx", "pnpm", "yarn"];

/// Options that mean an output place in every program that has them.
const CERTAIN: &[&str] = &[
    "--outdir",
    "--outDir",
    "--out-dir",
    "--output-dir",
    "--outfile",
    "--output-file",
];

/// Options that mean one in some programs only.
const UNCERTAIN: &[&str] = &["-o", "--out", "--output"];

/// Programs whose option `-o` or `--output` is no file.
#[rustfmt::skip]
const NO_OUTPUT: &[&str] = &[
    "ack", "ag", "aws", "az", "bash", "cargo", "docker", "egrep", "fgrep", "gcloud", "gh", "grep", "helm", "ip", "jest", "jq", "kubectl", "ls", "mount", "nvidia-smi", "oc", "ps", "pytest", "rg", "rsync", "scp", "set", "sh", "ssh", "terraform", "vitest", "yarn", "zsh",
];

/// Programs that rewrite the files that they are given, without an option.
#[rustfmt::skip]
const IN_PLACE: &[&str] = &["black", "dos2unix", "exiftool", "isort", "jpegoptim", "mogrify", "optipng", "pngquant", "strip", "unix2dos"];

/// The paths that a program rewrites in place: `yq -i … a.yml`, `rubocop -a lib`, `mogrify a.jpg`.
pub(super) fn rewritten(root: &ProjectRoot, program: &Program) -> Vec<NormalizedPath> {
    let short = match program.name() {
        "yq" | "clang-format" | "google-java-format" | "xmlstarlet" | "tomlq" => "-i",
        "rubocop" => "-a",
        "gofmt" | "goimports" | "shfmt" => "-w",
        _ => "--in-place",
    };
    let rewrites = IN_PLACE.contains(&program.name())
        || program.has_word(&[
            short,
            "--in-place",
            "--inplace",
            "--write",
            "--fix",
            "--autocorrect",
            "--autocorrect-all",
            "--auto-correct",
        ]);
    if !(rewrites || formats(program)) || program.host != ExecutionHost::Local {
        return Vec::new();
    }
    // `black vendor`: what a formatter is given is a place, also without a sign of a path.
    let is_formatter = formats(program);
    let paths = program
        .operands()
        .filter(|word| (is_formatter && FOLDERS.contains(word) || is_path(word)) && !word.starts_with('.'));
    let places = paths.map(|path| NormalizedPath::new(root, path));
    // Who formats build output names it.
    places
        .filter(|place| place.is_in_project() && (is_formatter || !is_build_output(place)))
        .collect()
}

/// The place of the project into which an option lets a program write. Build output does not count.
pub(super) fn output_place(root: &ProjectRoot, program: &Program) -> Option<NormalizedPath> {
    if program.host != ExecutionHost::Local {
        return None;
    }
    let place = NormalizedPath::new(root, output_of(program)?);
    (place.is_in_project() && !is_build_output(&place)).then_some(place)
}

fn output_of(program: &Program) -> Option<&str> {
    let name = program.name();
    let writes = COMPILERS_AND_CONVERTERS.contains(&name)
        || RUNNERS.contains(&name)
            && program
                .operands()
                .any(|word| COMPILERS_AND_CONVERTERS.contains(&word));
    let may_write = |value: &str| {
        !NO_OUTPUT.contains(&name)
            && value.contains('/')
            && value.rsplit('/').next().is_some_and(|file| file.contains('.'))
    };
    let is_output = |option: &str, value: &str| {
        CERTAIN.contains(&option)
            || (writes || may_write(value)) && UNCERTAIN.contains(&option)
            || name == "wget" && matches!(option, "-O" | "--output-document")
    };
    let words = || program.arguments.iter().map(|word| word.text.as_str());
    let joined = words().find_map(|word| {
        let (option, value) = word.split_once('=')?;
        is_output(option, value).then_some(value)
    });
    let next = || {
        words()
            .zip(words().skip(1))
            .find(|(option, value)| is_output(option, value))
    };
    joined
        .or_else(|| next().map(|(_, value)| value))
        .filter(|value| is_path(value))
}

/// Folders that are named without a sign of a path. Other words of a formatter are subcommands and values of options.
#[rustfmt::skip]
const FOLDERS: &[&str] = &[
    "app", "apps", "backend", "client", "cmd", "config", "crates", "docs", "external", "frontend", "generated", "include", "internal", "legacy", "lib", "libs", "migrations", "packages", "pkg", "scripts", "server", "src", "test",
    "tests", "third_party", "vendor", "web",
];

/// Whether a value is a path, and no pattern, template or address.
fn is_path(value: &str) -> bool {
    value.contains(['/', '.']) && !value.contains(['{', '[', '*', '=', '$']) && !value.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzed_action::AnalyzedAction;

    fn output(command: &str) -> Option<String> {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let sketch = crate::analyzed_action::tests::bash(command);
        AnalyzedAction::new(&root, &sketch)
            .programs()
            .iter()
            .find_map(|program| output_place(&root, program))
            .map(|place| place.as_str().to_owned())
    }

    #[test]
    fn outputs_of_compilers_and_converters_are_seen() {
        for (command, place) in [
            ("gcc -o src/a.out src/a.c", "src/a.out"),
            ("npx esbuild src/a.ts --outfile=lib/a.js", "lib/a.js"),
            ("npx openapi-typescript api.yaml -o src/api.d.ts", "src/api.d.ts"),
            ("curl -o data/a.json https://example.com/a", "data/a.json"),
            ("wget -O data/a.json https://example.com/a", "data/a.json"),
            ("sort -o names.txt names.txt", "names.txt"),
        ] {
            assert_eq!(output(command).as_deref(), Some(place), "{command}");
        }
    }

    #[test]
    fn files_that_are_rewritten_in_place_are_seen() {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let places = |command: &str| -> Vec<String> {
            let sketch = crate::analyzed_action::tests::bash(command);
            let action = AnalyzedAction::new(&root, &sketch);
            let found = action
                .programs()
                .iter()
                .flat_map(|program| rewritten(&root, program));
            found.map(|place| place.as_str().to_owned()).collect()
        };
        assert_eq!(places("yq -i '.a = 1' compose.yml"), ["compose.yml"]);
        assert_eq!(places("rubocop -a lib/pagos"), ["lib/pagos"]);
        assert_eq!(places("mogrify -resize 800x foto/a.jpg"), ["foto/a.jpg"]);
        assert!(places("yq '.a' compose.yml").is_empty() && places("grep -i x a.yml").is_empty());
    }

    #[test]
    fn an_option_o_that_is_no_output_file_changes_nothing() {
        for command in [
            "grep -o \"v[0-9.]*\" package.json",
            "grep -o version.txt package.json",
            "kubectl get pods -o jsonpath='{.items[0].metadata.name}'",
            "ssh -o UserKnownHostsFile=/dev/null host uptime",
            "curl -s -o /dev/null https://example.com/a",
            "curl -o https://example.com/a",
            "gcc -o \"$OUT/a.o\" a.c",
            "go build -o dist/app ./cmd",
        ] {
            assert_eq!(output(command), None, "{command}");
        }
    }
}
