//! The files and folders into which options let programs write: `tsc --outDir lib`, `curl -o a.json`.

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
    let is_output = |option: &str| {
        CERTAIN.contains(&option)
            || writes && UNCERTAIN.contains(&option)
            || name == "wget" && matches!(option, "-O" | "--output-document")
    };
    let words = || program.arguments.iter().map(|word| word.text.as_str());
    let joined = words().find_map(|word| {
        let (option, value) = word.split_once('=')?;
        is_output(option).then_some(value)
    });
    let next = || words().zip(words().skip(1)).find(|(option, _)| is_output(option));
    joined
        .or_else(|| next().map(|(_, value)| value))
        .filter(|value| is_path(value))
}

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
