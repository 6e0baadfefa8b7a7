//! `grov upgrade`: says how this installation is upgraded. It downloads nothing.

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style};
use crate::table::one_line;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Answer {
    version: &'static str,
    program: String,
    /// `package`, `cargo` or `archive`.
    installed_by: &'static str,
    /// What to run, in order.
    steps: Vec<String>,
}

pub(crate) fn run(context: &Context) -> Outcome {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program =
        program.map_err(|error| Failure::error("upgrade", format!("cannot find this program: {error}")))?;
    let (installed_by, mut steps) = steps(&program);
    // The hooks may name another place, and a running daemon is still the old one.
    steps.push("grov doctor --fix".to_owned());
    steps.push("grov proxy restart".to_owned());
    let answer = Answer {
        version: env!("CARGO_PKG_VERSION"),
        program: program.to_string_lossy().into_owned(),
        installed_by,
        steps,
    };
    context.answer(answer, text)
}

fn steps(program: &Path) -> (&'static str, Vec<String>) {
    let folder = program.parent().unwrap_or(Path::new("/"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let is_cargo = folder.ends_with(".cargo/bin") || cargo.is_some_and(|cargo| folder == cargo.join("bin"));
    if folder == Path::new("/usr/bin") {
        return (
            "package",
            vec!["sudo apt install ./grov_VERSION_ARCHITECTURE.deb".to_owned()],
        );
    }
    if is_cargo {
        let install = "git pull && cargo install --locked --path bins/grov-cli && cargo install --locked --path bins/grov-proxyd";
        return ("cargo", vec![format!("{install}   # in the source directory")]);
    }
    let unpack = format!(
        "tar -xf grov-VERSION-TARGET.tar.xz --strip-components=2 --wildcards -C {} '*/bin/*'",
        folder.display()
    );
    ("archive", vec![unpack])
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = format!(
        "grov {} at {}\n",
        style.bold(answer.version),
        one_line(&answer.program)
    );
    text.push_str("To upgrade, replace the programs; sessions go on, and the proxy hands its port over:\n");
    for step in &answer.steps {
        text.push_str(&format!("  {}\n", one_line(step)));
    }
    text.push_str("Your data stays. An older version does not read the database of a newer one.\n");
    text
}
