//! Edits of pipelines and of the settings of tools: checks that no longer run or no longer fail.

use super::Weakening;
use super::file_change::FileChange;
use super::file_removal::is_hook;
use super::language::Language;
use crate::file_kind::FileKind;

/// Parts of a command that tests or checks the code.
#[rustfmt::skip]
const CHECKERS: &[&str] = &[
    "test", "lint", "check", "mypy", "pyright", "tsc", "clippy", "ruff", "flake8", "pylint", "vet", "rspec", "pytest", "jest", "vitest", "audit", "phpstan", "psalm",
    "rubocop", "verify", "detekt", "spotbugs", "credo", "dialyzer", "cargo fmt", "gofmt", "prettier", "black", "tox", "nox", "playwright", "cypress", "semgrep", "trivy", "gitleaks",
];

/// Ends of a command that hide its failure.
#[rustfmt::skip]
const HIDING: &[&str] = &["|| true", "|| :", "|| exit 0", "|| echo", "; true", "; exit 0", "--exit-zero", "||true", "--soft-fail", "--no-error-on-unmatched-pattern || true"];

/// Programs whose failure may be ignored: they look, or clean up.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "[", "cat", "command", "cp", "curl", "docker", "docker-compose", "echo", "find", "git", "grep", "kill", "kubectl", "ls", "mkdir", "mv", "pkill", "rm", "test",
    "wget", "which",
];

/// Keys of a required test coverage.
#[rustfmt::skip]
const THRESHOLDS: &[&str] = &[
    "fail_under", "fail-under", "cov-fail-under", "minimum_coverage", "branches", "functions", "lines", "statements", "minimum", "threshold", "target", "min_coverage", "check-coverage",
    "coverageThreshold", "--fail-under-lines",
];

/// The weakenings that an edit of settings shows.
pub(super) fn weakenings(change: &FileChange<'_>) -> Vec<Weakening> {
    let place = change.place;
    let mut found = Vec::new();
    if is_hook(place) {
        found.extend(is_emptied(change).then_some(Weakening::HookOff));
        return found;
    }
    let name = place.name();
    let runs_checks = FileKind::Pipeline.is(place)
        || matches!(
            name,
            "package.json"
                | "makefile"
                | "justfile"
                | "tox.ini"
                | "noxfile.py"
                | "composer.json"
                | "rakefile"
                | "taskfile.yml"
                | "pyproject.toml"
                | "deno.json"
        );
    if runs_checks && !change.is_new_file() {
        let added = change.added();
        if added.iter().any(|line| hides_failure(line)) {
            found.push(Weakening::FailureIgnored);
        }
        if added.iter().any(|line| is_command_off(line)) {
            found.push(Weakening::CommandOff);
        }
        if removes_step(change) {
            found.push(Weakening::StepRemoved);
        }
    }
    let is_ignore_file = matches!(
        name,
        ".eslintignore" | ".stylelintignore" | ".flake8" | ".golangciignore" | ".swiftlintignore"
    );
    if is_ignore_file && !change.added().is_empty() {
        found.push(Weakening::RulesOff);
    }
    if lowers_threshold(change) {
        found.push(Weakening::LowersCoverage);
    }
    found
}

/// Whether a line runs a check and hides that it fails.
fn hides_failure(line: &str) -> bool {
    let line = line.trim_end_matches([',', '"', '\'']);
    let Some(command) = HIDING
        .iter()
        .find_map(|end| line.split_once(end))
        .map(|(command, _)| command)
    else {
        return false;
    };
    let command = command.trim_start_matches(['-', ' ', '"']);
    let command = command.strip_prefix("run:").unwrap_or(command).trim_start();
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_look = HARMLESS.contains(&program);
    !is_look && !line.starts_with('#') && CHECKERS.iter().any(|part| command.contains(part))
}

/// Whether a line makes a check do nothing: `"lint": "echo skipped"`, `if: false`.
fn is_command_off(line: &str) -> bool {
    if matches!(line, "if: false" | "if: ${{ false }}" | "when: never") {
        return true;
    }
    let script = line.strip_prefix('"').and_then(|line| line.split_once("\":"));
    let Some((key, value)) = script else {
        return false;
    };
    let value = value.trim().trim_end_matches(',').trim_matches('"');
    let is_check = matches!(
        key,
        "test"
            | "lint"
            | "check"
            | "typecheck"
            | "type-check"
            | "lint:ci"
            | "test:ci"
            | "test:unit"
            | "test:e2e"
            | "pretest"
            | "precommit"
    ) || key.starts_with("test:")
        || key.starts_with("lint:");
    // `npm init` writes a test that fails.
    is_check
        && (matches!(value, "true" | ":" | "exit 0" | "")
            || value.starts_with("echo ") && !value.contains("exit 1") && !value.contains("&&"))
}

/// Whether a pipeline has fewer steps that test or check the code.
fn removes_step(change: &FileChange<'_>) -> bool {
    let Some(before) = change
        .before
        .as_deref()
        .filter(|_| FileKind::Pipeline.is(change.place))
    else {
        return false;
    };
    let steps = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let is_step = |line: &&str| {
            let command = line
                .trim_start_matches("- ")
                .strip_prefix("run:")
                .or_else(|| line.strip_prefix("- "));
            command.is_some_and(|command| {
                !command.contains("name:")
                    && CHECKERS.iter().any(|part| command.contains(part))
                    && !command.contains("checkout")
            })
        };
        lines.filter(is_step).count()
    };
    steps(before) > steps(&change.after)
}

/// Whether a hook or its settings are left without commands.
fn is_emptied(change: &FileChange<'_>) -> bool {
    let commands = |text: &str| {
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| {
                !line.is_empty()
                    && !line.starts_with('#')
                    && !matches!(*line, "exit 0" | "true" | ":" | "set -e" | "{}" | "repos: []")
            })
            .count()
    };
    let is_left = commands(&change.after) > 0;
    match change.before.as_deref() {
        Some(before) => commands(before) > 0 && !is_left,
        None => change.is_whole && !is_left,
    }
}

/// Whether an edit lowers a required coverage.
fn lowers_threshold(change: &FileChange<'_>) -> bool {
    let name = change.place.name();
    let is_settings = matches!(change.language, Language::Settings | Language::JavaScript)
        && !FileKind::Test.is(change.place)
        || name == ".simplecov"
        || name.contains("spec_helper");
    let Some(before) = change.before.as_deref().filter(|_| is_settings) else {
        return false;
    };
    let is_about_coverage = |text: &str| {
        ["cov", "branches", "fail_under", "fail-under", "threshold"]
            .iter()
            .any(|part| text.contains(part))
    };
    if !is_about_coverage(before) && !name.contains("cov") && !name.contains("nyc") {
        return false;
    }
    let old: Vec<(&str, f64)> = before.lines().filter_map(threshold).collect();
    let mut new = change.after.lines().filter_map(threshold);
    new.any(|(key, value)| {
        let known = old.iter().filter(|(known, _)| *known == key);
        known
            .map(|(_, old)| *old)
            .reduce(f64::min)
            .is_some_and(|old| value < old)
    })
}

/// The required coverage in a line: its key and its value.
fn threshold(line: &str) -> Option<(&str, f64)> {
    let key = THRESHOLDS.iter().find(|key| line.contains(**key))?;
    let rest = &line[line.find(key)? + key.len()..];
    let start = rest.find(|letter: char| letter.is_ascii_digit())?;
    let digits = &rest[start..];
    let end = digits
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(digits.len());
    let value = digits[..end].trim_end_matches('.').parse().ok()?;
    // A negative number is the count of lines that may be uncovered.
    (start <= 6 && !rest[..start].ends_with('-')).then_some((*key, value))
}
