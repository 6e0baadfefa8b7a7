//! `grov completions SHELL`

use crate::arguments;
use crate::output::{Outcome, Terminal};
use clap_complete::Shell;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    shell: String,
    script: String,
}

pub(crate) fn run(shell: Shell, terminal: Terminal) -> Outcome {
    let script = String::from_utf8_lossy(&arguments::completions(shell)).into_owned();
    let answer = Answer {
        shell: shell.to_string(),
        script,
    };
    terminal.answer(answer, |answer, _| answer.script.clone())
}
