//! `grov completions SHELL`

use crate::arguments::Grov;
use crate::output::{Outcome, Terminal};
use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    shell: String,
    script: String,
}

pub(crate) fn run(shell: Shell, terminal: Terminal) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Grov::command(), "grov", &mut script);
    let answer = Answer {
        shell: shell.to_string(),
        script: String::from_utf8_lossy(&script).into_owned(),
    };
    terminal.answer(answer, |answer, _| answer.script.clone())
}
