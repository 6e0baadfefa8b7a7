//! The shell function of `grov init --mitm`.

use super::Check;
use crate::context::Context;
use crate::written_files::{Purpose, WrittenFiles};

const NAME: &str = "shell function";

/// `None` if there is none.
pub(super) fn check(context: &Context) -> Option<Check> {
    // Reading the record locks it, for which the home must exist.
    context.home.root().is_dir().then_some(())?;
    let written = match WrittenFiles::open(&context.home) {
        Ok(written) => written,
        Err(error) => {
            let check = Check::fail(NAME, error.to_string());
            return Some(check.fix("restore the file, or remove Grov's lines by hand"));
        }
    };
    let (path, is_there) = written.intact(Purpose::Shell).next()?;
    let path = path.display();
    if is_there {
        return Some(Check::ok(NAME, format!("{path} runs claude through grov run")));
    }
    let check = Check::warn(
        NAME,
        format!("{path} no longer has the lines that `grov init --mitm` added"),
    );
    let check = check.consequence("New shells run claude without the proxy.");
    Some(check.fix("grov init --mitm, or grov unregister"))
}

/// Whether the user's shell runs the client through `grov run`, which needs no setting of the client.
pub(super) fn runs_claude(context: &Context) -> bool {
    let is_there = |written: WrittenFiles| {
        written
            .intact(Purpose::Shell)
            .next()
            .is_some_and(|(_, is_there)| is_there)
    };
    context.home.root().is_dir() && WrittenFiles::open(&context.home).is_ok_and(is_there)
}
