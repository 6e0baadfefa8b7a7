//! `grov drift …`

mod replay;

use crate::arguments::DriftCommand;
use crate::output::{Outcome, Terminal};

pub(crate) fn run(command: &DriftCommand, terminal: Terminal) -> Outcome {
    match command {
        DriftCommand::Replay { file } => replay::file(file, terminal),
    }
}
