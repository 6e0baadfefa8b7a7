//! Records the effects of single programs.

use crate::has_word;
use crate::shell::options::Options;
use crate::shell::state::{Inner, Reads, Shell};
use crate::shell::words::Argument;
use crate::shell::{embedded, files, git, inline, network, packages, windows};
use grov_domain::{EffectKind, is_shell, program_name};

/// Records the effects of a program that is not a wrapper. Code and commands that it runs are added to
/// [`Shell::inner`].
pub(crate) fn record_effects(shell: &mut Shell, program: &Argument, arguments: &[Argument]) {
    let name = program_name(&program.text);
    if program.unknown || name.is_empty() {
        return shell
            .findings
            .add(EffectKind::Execute, shell.likely_places(arguments));
    }
    let is_about_files = files::record_effects(shell, name, arguments);
    let known = is_about_files
        || builtin(shell, name, arguments)
        || git::record_effects(shell, name, arguments)
        || packages::record_effects(shell, name, arguments)
        || network::record_effects(shell, name, arguments);
    if !known {
        run_program(shell, program, arguments);
    }
    shell.findings.changes_unknown &= is_about_files;
    inline::add_code(shell, name, arguments);
    embedded::add_commands(shell, name, arguments);
}

/// A program without a table entry may do anything with the files in its arguments.
fn run_program(shell: &mut Shell, program: &Argument, arguments: &[Argument]) {
    let script = program.text.contains('/').then(|| shell.place(program)).flatten();
    let script = script.filter(|script| !is_system_program(&script.path));
    let mut places: Vec<_> = script.into_iter().collect();
    places.extend(shell.likely_places(arguments));
    shell.findings.add(EffectKind::Execute, places);
}

fn is_system_program(path: &str) -> bool {
    ["/bin/", "/usr/", "/sbin/", "/opt/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Shell builtins without effects, and programs that only print or wait.
const HARMLESS: &str = "echo printf true false : test [ ] [[ export unset set shopt declare typeset local readonly alias \
      unalias shift return exit break continue sleep wait jobs fg bg disown ulimit umask read mapfile \
      getopts let pwd date whoami id hostname uname arch nproc which whereis type hash history seq yes \
      basename dirname expr bc tty clear reset tput stty printenv env locale groups uptime free ps top \
      htop pgrep lsof df man help info tr cal in";

/// Shell builtins, and programs that only print or wait. Returns whether it is one of them.
fn builtin(shell: &mut Shell, name: &str, arguments: &[Argument]) -> bool {
    let target = || {
        arguments
            .iter()
            .find(|argument| !argument.is_option() || argument.text == "-")
    };
    match name {
        "cd" | "chdir" => shell.change_folder(target()),
        "pushd" => shell.push_folder(target()),
        "popd" => shell.pop_folder(),
        "eval" => {
            let script: Vec<&str> = arguments.iter().map(Argument::written).collect();
            shell.inner.push(Inner::Script(script.join(" ")));
        }
        "source" | "." => {
            shell.add(EffectKind::Execute, arguments.first());
        }
        "su" => run_shell(shell, arguments),
        name if is_shell(name) => run_shell(shell, arguments),
        "powershell" | "pwsh" | "cmd" => windows::run_shell(shell, name, arguments),
        // Run their standard input later.
        "at" | "batch" => shell.reads = Some(Reads::Shell),
        "trap" => shell
            .inner
            .extend(target().map(|script| Inner::SeparateScript(script.written().to_owned()))),
        _ if has_word(HARMLESS, name) => {}
        _ => return false,
    }
    true
}

/// `bash script.sh`, `bash -c '…'`.
fn run_shell(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("sh", arguments);
    if let Some(script) = options.value("-c --command") {
        if script.unknown {
            shell.findings.add(EffectKind::Execute, Vec::new());
        }
        return shell
            .inner
            .push(Inner::SeparateScript(script.written().to_owned()));
    }
    let script = options
        .operands
        .first()
        .copied()
        .filter(|script| script.text != "-");
    let reads_input = script.is_none() || options.has("-s");
    shell.reads = reads_input.then_some(Reads::Shell);
    shell.add(EffectKind::Execute, script);
}
