//! Development tasks: `cargo xtask ci`, `tidy`, `lines`, `test`, `fuzz` and `real`.
//!
//! Start at [`ci::run`] for the checks that a change must pass, at [`tidy::check`] for the rules that the compiler does
//! not check, and at [`test::run`] for how the tests are started. No shipped crate depends on this one.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool for the terminal of a developer"
)]

mod ci;
mod fuzz;
mod lines;
mod phases;
mod real;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;
use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci             all static checks: fmt, tidy, clippy, docs, doctests, examples
  tidy           project rules that the compiler does not check
  lines [--json] lines of shipped code, per crate and in total
  test [ARGS…]   all tests, with cargo-nextest where it is installed; ARGS go to the test runner
  fuzz [--seconds N] [TARGET…]
                 run libFuzzer on the parsers of untrusted bytes, 60 seconds each
  real NAME…|--changed
                 tests with real programs that are too slow for every run: browser, mcp, metrics, mitmproxy
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let outcome = match (command.as_deref(), rest.is_empty()) {
        (Some("ci"), true) => Workspace::locate().and_then(|workspace| ci::run(&workspace)),
        (Some("tidy"), true) => Workspace::locate().and_then(|workspace| tidy::run(&workspace)),
        (Some("test"), _) => Workspace::locate().and_then(|workspace| test::run(&workspace, &rest)),
        (Some("fuzz"), _) => Workspace::locate().and_then(|workspace| fuzz::run(&workspace, &rest)),
        (Some("real"), _) => Workspace::locate().and_then(|workspace| real::run(&workspace, &rest)),
        (Some("lines"), _) => Workspace::locate().and_then(|workspace| lines::run(&workspace, &rest)),
        (Some("help" | "--help" | "-h"), _) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(64);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
