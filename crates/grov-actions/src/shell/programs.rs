//! The table of programs: what each does with its arguments.

use crate::path;
use crate::prefix::{Ground, prefix};
use crate::shell::inline::{self, Reads};
use crate::shell::options::{Options, Valued};
use crate::shell::run::Shell;
use crate::shell::words::Argument;
use crate::shell::{files, git, network, packages};
use grov_domain::EffectKind;

/// Wrappers around wrappers, and programs that run programs, are followed this deep.
const MAX_NESTING: usize = 12;

/// Looks at one program. Wrappers are taken off, then the table is asked.
pub(crate) fn look(shell: &mut Shell, program: &Argument, arguments: &[Argument]) {
    if shell.nesting >= MAX_NESTING {
        return shell.findings.add(EffectKind::Execute, Vec::new());
    }
    shell.nesting += 1;
    match unwrapped(shell, program_name(&program.text), arguments) {
        Some([]) => {}
        Some([next, others @ ..]) => look(shell, next, others),
        None => look_unwrapped(shell, program, arguments),
    }
    shell.nesting -= 1;
}

fn look_unwrapped(shell: &mut Shell, program: &Argument, arguments: &[Argument]) {
    let name = program_name(&program.text);
    if program.unknown || name.is_empty() {
        return shell
            .findings
            .add(EffectKind::Execute, shell.likely_places(arguments));
    }
    let known = builtin(shell, name, arguments)
        || files::look(shell, name, arguments)
        || git::look(shell, name, arguments)
        || packages::look(shell, name, arguments)
        || network::look(shell, name, arguments);
    if !known {
        run_program(shell, program, arguments);
    }
    inline::look(shell, name, arguments);
}

/// A program that the table does not know: it is run, and may do anything with the files it is given.
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

/// The program's name without its folder and without `.exe`.
pub(crate) fn program_name(program: &str) -> &str {
    let name = path::file_name(program);
    name.strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".cmd"))
        .unwrap_or(name)
}

/// The options with a value of a package runner, or `None` if it is none.
fn wrapper(name: &str) -> Option<Valued> {
    let letters = |letters| Some(Valued { letters, names: &[] });
    match name {
        "npx" | "bunx" | "pnpx" => Some(Valued::new("pc", &["package", "call"])),
        "uvx" | "pipx" => Some(Valued::new("p", &["from", "with", "python", "spec"])),
        "cross-env" | "dotenv" | "dotenvx" => letters("ef"),
        _ => None,
    }
}

/// The command that a wrapper runs; `None` if the program wraps none.
fn unwrapped<'a>(shell: &mut Shell, name: &str, arguments: &'a [Argument]) -> Option<&'a [Argument]> {
    if let Some(rest) = packages::runner(name, arguments) {
        return Some(skip_assignments(rest));
    }
    let words: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    if let Some(prefix) = prefix(name, &words).filter(|prefix| prefix.ground == Ground::Here) {
        for script in &prefix.scripts {
            shell.inner_script(script);
        }
        let rest = arguments.get(prefix.command..).unwrap_or_default();
        return (name != "su" || !prefix.scripts.is_empty()).then_some(rest);
    }
    let valued = wrapper(name)?;
    let mut rest = skip_options(arguments, valued);
    match name {
        "pipx" if rest.first().is_some_and(|word| word.text == "run") => rest = &rest[1..],
        "pipx" => return None,
        "cross-env" | "dotenv" => rest = skip_assignments(rest),
        _ => {}
    }
    if matches!(name, "npx" | "bunx" | "pnpx" | "uvx")
        && let Some(call) = Options::parse(arguments, valued).value(&["-c", "--call"])
    {
        shell.inner_script(&call.text);
        return Some(&[]);
    }
    // `env` alone prints, a wrapper without a command does nothing.
    Some(rest)
}

/// The arguments behind the leading options.
pub(crate) fn skip_options(arguments: &[Argument], valued: Valued) -> &[Argument] {
    let mut rest = arguments;
    while let [first, others @ ..] = rest {
        if !first.is_option() {
            break;
        }
        rest = others;
        if first.text == "--" {
            break;
        }
        let takes_next = match first.text.strip_prefix("--") {
            Some(name) => valued.names.contains(&name),
            None => {
                first.text.chars().count() == 2
                    && first.text.ends_with(|letter| valued.letters.contains(letter))
            }
        };
        if takes_next {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    rest
}

fn skip_assignments(arguments: &[Argument]) -> &[Argument] {
    let assigns = |argument: &Argument| {
        argument.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let count = arguments.iter().take_while(|argument| assigns(argument)).count();
    &arguments[count..]
}

/// What the shell does itself, and programs that only print or wait. Whether it was one of them.
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
            let script: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
            shell.script(&script.join(" "));
        }
        "source" | "." => {
            let places = shell.places(arguments.first());
            shell.findings.add(EffectKind::Execute, places);
        }
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "su" => run_shell(shell, arguments),
        "echo" | "printf" | "true" | "false" | ":" | "test" | "[" | "]" | "[[" | "export" | "unset"
        | "set" | "shopt" | "declare" | "typeset" | "local" | "readonly" | "alias" | "unalias" | "shift"
        | "return" | "exit" | "break" | "continue" | "sleep" | "wait" | "jobs" | "fg" | "bg" | "disown"
        | "trap" | "ulimit" | "umask" | "read" | "mapfile" | "getopts" | "let" | "pwd" | "date"
        | "whoami" | "id" | "hostname" | "uname" | "arch" | "nproc" | "which" | "whereis" | "type"
        | "hash" | "history" | "seq" | "yes" | "basename" | "dirname" | "expr" | "bc" | "tty" | "clear"
        | "reset" | "tput" | "stty" | "printenv" | "env" | "locale" | "groups" | "uptime" | "free" | "ps"
        | "top" | "htop" | "pgrep" | "lsof" | "df" | "man" | "help" | "info" | "tr" | "cal" | "in" => {}
        _ => return false,
    }
    true
}

/// `bash script.sh`, `bash -c '…'`.
fn run_shell(shell: &mut Shell, arguments: &[Argument]) {
    let valued = Valued::new("coO", &["command", "rcfile", "init-file"]);
    let options = Options::parse(arguments, valued);
    if let Some(script) = options.value(&["-c", "--command"]) {
        if script.unknown {
            return shell.findings.add(EffectKind::Execute, Vec::new());
        }
        return shell.inner_script(&script.text);
    }
    let script = options
        .operands
        .first()
        .copied()
        .filter(|script| script.text != "-");
    let reads_input = script.is_none() || options.has(&["-s"]);
    shell.reads = reads_input.then_some(Reads::Shell);
    let places = shell.places(script);
    shell.findings.add(EffectKind::Execute, places);
}
