//! Files with tests and hooks that an action removes or disables by renaming.

use super::Weakening;
use super::language::Language;
use crate::analyzed_action::AnalyzedAction;
use crate::danger::EvaluationContext;
use crate::file_kind::{FileKind, is_build_output, is_temporary, tested_stem};
use crate::normalized_path::NormalizedPath;
use crate::words::fold;
use grov_domain::{ExecutionHost, Program};

/// Names of folders that hold tests alone.
const TEST_FOLDERS: &[&str] = &[
    "__tests__",
    "e2e",
    "integration_tests",
    "spec",
    "specs",
    "test",
    "tests",
    "unittests",
];

/// Parts of names of files that were only tried out.
const TRIALS: &[&str] = &[
    "debug",
    "playground",
    "repro",
    "sandbox",
    "scratch",
    "temp",
    "tmp",
];

/// The tests and hooks that an action removes.
pub(super) fn weakenings(
    action: &AnalyzedAction<'_>,
    context: &EvaluationContext<'_>,
) -> Vec<(Weakening, NormalizedPath)> {
    let mut found = Vec::new();
    let mut gone: Vec<NormalizedPath> = Vec::new();
    let mut directory = context.directory.clone();
    for program in action
        .programs()
        .iter()
        .filter(|program| program.host != ExecutionHost::Remote)
    {
        for path in removed(program) {
            let Some(path) = directory.path(path) else {
                continue;
            };
            let place = NormalizedPath::new(context.root, &path);
            gone.push(place.clone());
            let weakening = if is_hook(&place) {
                Weakening::HookOff
            } else if FileKind::Pipeline.is(&place) && matches!(place.extension(), "yml" | "yaml") {
                Weakening::PipelineRemoved
            } else if is_tests(&place) {
                Weakening::RemovesTestFiles
            } else {
                continue;
            };
            let is_own = context.has_changed(&place) || context.compiled.is_allowed(&place);
            if !is_own && !found.iter().any(|(_, known)| *known == place) {
                found.push((weakening, place));
            }
        }
        directory.follow(program);
    }
    // Tests go with what they test.
    found.retain(|(weakening, place)| {
        *weakening != Weakening::RemovesTestFiles || !gone.iter().any(|other| is_tested_by(other, place))
    });
    found
}

/// Whether a file is what tests in another one are about, by their names.
fn is_tested_by(file: &NormalizedPath, tests: &NormalizedPath) -> bool {
    let (file_name, tests_name) = (fold(file.stem()), fold(tests.stem()));
    !is_tests(file) && FileKind::Test.is(tests) && file_name == tested_stem(&tests_name)
}

/// The paths that a program removes, or renames so that they no longer run.
fn removed(program: &Program) -> Vec<&str> {
    let operands = || program.operands();
    match (program.name(), program.git()) {
        ("rm" | "unlink" | "trash" | "rimraf" | "shred", _) => operands().collect(),
        ("git", ("rm", rest)) if !rest.iter().any(|word| word == "--cached") => {
            let is_path = |word: &&str| !word.starts_with('-');
            rest.iter().map(|word| word.as_str()).filter(is_path).collect()
        }
        ("mv", _) | ("git", ("mv", _)) => {
            let paths: Vec<&str> = operands().filter(|word| *word != "mv").collect();
            match paths.as_slice() {
                [from, to] if is_disabled_name(to) => vec![from],
                _ => Vec::new(),
            }
        }
        ("chmod", _) => {
            let mut words = program.arguments.iter().map(|word| word.as_str());
            match words.next() {
                Some("-x" | "a-x" | "000" | "644" | "0644") => words
                    .filter(|path| path.contains("hook") || path.contains("husky"))
                    .collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Whether a name shows that a file was put out of use.
fn is_disabled_name(path: &str) -> bool {
    const ENDINGS: &[&str] = &[
        ".bak",
        ".disabled",
        ".off",
        ".old",
        ".orig",
        ".skip",
        ".skipped",
        ".broken",
        ".ignore",
        ".txt",
    ];
    ENDINGS.iter().any(|ending| path.ends_with(ending)) || path == "/dev/null"
}

/// Whether a path is a file of tests, or a folder of them.
fn is_tests(place: &NormalizedPath) -> bool {
    let name = place.name();
    let is_trial = TRIALS.iter().any(|part| name.contains(part));
    if is_trial || is_temporary(place) || is_build_output(place) || !place.is_in_project() {
        return false;
    }
    if place
        .components()
        .any(|part| matches!(part, "__snapshots__" | "fixtures" | "testdata" | "snapshots"))
    {
        return false;
    }
    let is_folder = !name.contains('.') && place.components().any(|part| TEST_FOLDERS.contains(&part));
    // The whole folder of tests is reported with the other source folders.
    is_folder && place.components().count() > 1 || Language::of(place).is_code() && FileKind::Test.is(place)
}

/// Whether a path is a Git hook, or the folder of the hooks.
pub(super) fn is_hook(place: &NormalizedPath) -> bool {
    let path = place.as_str();
    let name = place.name();
    let is_sample = name.ends_with(".sample");
    !is_sample
        && (path.contains(".git/hooks/")
            || path.ends_with(".git/hooks")
            || place.components().next() == Some(".husky")
                && name != ".gitignore"
                && name != "husky.sh"
                && name != "_"
            || matches!(name, ".pre-commit-config.yaml" | "lefthook.yml" | ".lefthook.yml"))
}
