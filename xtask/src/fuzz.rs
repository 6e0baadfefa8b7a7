//! `cargo xtask fuzz`: runs libFuzzer on the parsers of untrusted bytes.
//!
//! Works with a stable compiler: coverage counters come from LLVM's own pass, which needs no sanitizer.

use crate::phases::succeed;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Child;

/// The targets, named as in `tests/fuzz`, with recorded inputs of the repository to start from.
const TARGETS: [(&str, &[&str]); 9] = [
    ("event-stream", &["crates/grov-wire/tests/golden/responses"]),
    ("json-repair", &[]),
    ("redactor", &["tests/fuzz/corpus/shell"]),
    ("request-index", &["crates/grov-wire/tests/golden/requests"]),
    ("route-answer", &[]),
    ("route-request", &[]),
    ("settings", &[]),
    ("shell", &[]),
    ("transcript", &[]),
];

/// The compiler flags for libFuzzer's coverage counters.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions";

/// How long each target runs in CI, in seconds.
const SECONDS: u64 = 60;
/// The number of targets that run in parallel.
const AT_ONCE: usize = 2;
/// Property tests and benchmarks cover longer inputs.
const MAX_BYTES: usize = 16 * 1024;

/// Runs the named targets, or all of them. `--seconds N` sets how long each runs.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let (seconds, names) = parse(arguments)?;
    let folder = workspace.built().with_file_name("fuzz");
    // With an explicit target triple, cargo does not apply the flags to build scripts and macros, which run without
    // libFuzzer.
    let host = workspace.host()?;
    let mut build = workspace.cargo(&["build", "--release", "-p", "grov-fuzz", "--target", &host]);
    build
        .arg("--target-dir")
        .arg(&folder)
        .env("RUSTFLAGS", COVERAGE)
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    succeed(&mut build)?;
    let program = folder.join(&host).join("release/grov-fuzz");
    for group in names.chunks(AT_ONCE) {
        let mut running: Vec<(&str, Child)> = Vec::new();
        for &name in group {
            running.push((name, start(workspace, &program, &folder, name, seconds)?));
        }
        let mut failed = Vec::new();
        for (name, mut child) in running {
            let status = child.wait().with_context(|| format!("cannot wait for {name}"))?;
            if status.success() {
                println!("fuzzed {name} for {seconds} s: no findings");
            } else {
                eprintln!("{}", log(&folder, name)?);
                let kept = artifacts(&folder, name);
                failed.push(format!("{name} ({status}, {})", kept.display()));
            }
        }
        ensure!(
            failed.is_empty(),
            "fuzz targets failed, their inputs are printed above and kept in: {}",
            failed.join(", ")
        );
    }
    Ok(())
}

fn start(workspace: &Workspace, program: &Path, folder: &Path, name: &str, seconds: u64) -> Result<Child> {
    let found = folder.join("corpus").join(name);
    let artifacts = artifacts(folder, name);
    let log = std::fs::File::create(folder.join(format!("{name}.log")))
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    for folder in [&found, &artifacts] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let seeds = TARGETS.iter().find(|target| target.0 == name);
    let seeds = seeds.map(|target| target.1).unwrap_or_default();
    let mut command = workspace.command(program);
    command
        .env("GROV_FUZZ_TARGET", name)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={MAX_BYTES}"))
        .args(["-timeout=10", "-rss_limit_mb=2048", "-verbosity=0"])
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(found)
        .arg(Path::new("tests/fuzz/corpus").join(name))
        .args(seeds)
        .stderr(log);
    command
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))
}

/// The output of a target.
fn log(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(format!("{name}.log"));
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn artifacts(folder: &Path, name: &str) -> PathBuf {
    folder.join("artifacts").join(name)
}

fn parse(arguments: &[String]) -> Result<(u64, Vec<&'static str>)> {
    let mut seconds = SECONDS;
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--seconds" {
            let value = arguments.next().context("--seconds needs a number")?;
            seconds = value
                .parse()
                .with_context(|| format!("--seconds takes a number, not {value:?}"))?;
        } else if let Some(target) = TARGETS.iter().find(|target| target.0 == argument) {
            names.push(target.0);
        } else {
            let known = TARGETS.map(|target| target.0).join(", ");
            bail!("there is no fuzz target {argument:?}; there are: {known}");
        }
    }
    if names.is_empty() {
        names = TARGETS.map(|target| target.0).to_vec();
    }
    Ok((seconds, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<(u64, Vec<&'static str>)> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        parse(&arguments)
    }

    #[test]
    fn targets_are_chosen_by_name_and_all_run_by_default() {
        let (seconds, names) = parsed(&[]).unwrap();
        assert_eq!((seconds, names.len()), (SECONDS, TARGETS.len()));
        let chosen = parsed(&["shell", "--seconds", "5"]).unwrap();
        assert_eq!(chosen, (5, vec!["shell"]));
        for wrong in [&["sea"][..], &["--seconds"], &["--seconds", "x"]] {
            assert!(parsed(wrong).is_err());
        }
    }
}
