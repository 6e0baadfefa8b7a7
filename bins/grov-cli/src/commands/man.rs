//! `grov man DIR`: a manual page for each command.

use crate::arguments::Grov;
use crate::failure::Failure;
use crate::output::{Outcome, Terminal};
use clap::CommandFactory;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Answer {
    directory: String,
    pages: usize,
}

pub(crate) fn run(directory: &Path, terminal: Terminal) -> Outcome {
    let failed = |error: std::io::Error| Failure::error("man", format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(Grov::command().disable_help_subcommand(true), directory).map_err(failed)?;
    let pages = std::fs::read_dir(directory).map_err(failed)?.count();
    let answer = Answer {
        directory: directory.to_string_lossy().into_owned(),
        pages,
    };
    terminal.answer(answer, |answer, _| {
        format!("{} pages in {}\n", answer.pages, answer.directory)
    })
}
