//! Commands in the arguments of programs that do something else besides: `tar --to-command`, `git bisect run`.

use crate::has_word;
use crate::shell::state::{Inner, Shell};
use crate::shell::words::Argument;
use Place::{After, Each, Value};

/// Where a program has its commands.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the values of these options.
    Value(&'static str),
    /// All words after these words.
    After(&'static str),
    /// Each operand that contains a space.
    Each,
}

/// Programs with the places of their commands. Names are separated by spaces.
#[rustfmt::skip]
const COMMANDS: &[(&str, Place)] = &[
    ("concurrently hyperfine", Each),
    ("doppler infisical aws-vault chamber op teller envchain with-contenv", After("--")),
    ("entr watchexec chokidar dbus-run-session xvfb-run ssh-agent faketime proxychains proxychains4", After("")),
    ("git", After("bisect run")),
    ("git", After("submodule foreach")),
    ("git", Value("--exec -x --tree-filter --index-filter")),
    ("gcloud nix-shell", Value("--command --run")),
    ("hyperfine", Value("--prepare --setup --cleanup --conclude -p -s -c")),
    ("nodemon watchexec", Value("--exec -x")),
    ("osascript", Value("-e")),
    ("tar bsdtar", Value("--checkpoint-action --to-command --use-compress-program -I --info-script --new-volume-script")),
    ("tmux", After("new-session")), ("tmux", After("new")), ("tmux", After("send-keys")), ("tmux", After("run-shell")), ("tmux", After("split-window")),
    ("vim vi nvim", Value("-c --cmd")),
];

/// Adds the commands in the arguments of a program to [`Shell::inner`].
pub(crate) fn add_commands(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    for (_, place) in COMMANDS.iter().filter(|(names, _)| has_word(names, name)) {
        let scripts = match place {
            Value(options) => values(options, arguments),
            After(words) => after(words, arguments).into_iter().collect(),
            Each => {
                let operands = arguments
                    .iter()
                    .filter(|word| !word.is_option() && word.text.contains(' '));
                operands.map(|word| word.written().to_owned()).collect()
            }
        };
        let scripts = scripts.iter().filter_map(|script| shell_command(name, script));
        shell.inner.extend(scripts.map(Inner::SeparateScript));
    }
}

/// The values of options, which may be attached: `--to-command=CMD`.
fn values(options: &str, arguments: &[Argument]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let written = argument.written();
        match written.split_once('=') {
            Some((option, value)) if has_word(options, option) => found.push(value.to_owned()),
            _ if has_word(options, written) => {
                found.extend(arguments.get(at + 1).map(|value| value.written().to_owned()));
            }
            _ => {}
        }
    }
    found
}

/// The words after a sequence of words. Options before them do not count.
fn after(words: &str, arguments: &[Argument]) -> Option<String> {
    let mut rest = arguments;
    for word in words.split_ascii_whitespace() {
        let at = rest.iter().position(|argument| argument.text == word)?;
        rest = &rest[at + 1..];
    }
    let start = rest.iter().position(|argument| !argument.is_option())?;
    let words: Vec<&str> = rest[start..].iter().map(Argument::written).collect();
    Some(words.join(" "))
}

/// The shell command in a script of a program.
fn shell_command(name: &str, script: &str) -> Option<String> {
    match name {
        // Other actions are `dot` and `echo`.
        "tar" | "bsdtar" => Some(script.strip_prefix("exec=").unwrap_or(script).to_owned()),
        "vim" | "vi" | "nvim" => Some(script.trim_start_matches(':').strip_prefix('!')?.to_owned()),
        "osascript" => {
            let (_, command) = script.split_once("do shell script \"")?;
            Some(command.split('"').next().unwrap_or_default().to_owned())
        }
        _ => Some(script.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_in_arguments_are_found() {
        for line in [
            "tar cf a.tar a --checkpoint=1 --checkpoint-action=exec='sh -c \"rm -rf ~/x\"'",
            "tar xf a.tar --to-command 'rm -rf ~/x'",
            "git rebase -i main --exec 'rm -rf ~/x'",
            "git bisect run rm -rf ~/x",
            "git submodule foreach --recursive 'rm -rf ~/x'",
            "concurrently -n a,b 'npm start' 'rm -rf ~/x'",
            "nodemon --exec 'rm -rf ~/x' src",
            "ls | entr rm -rf ~/x",
            "tmux new-session -d 'rm -rf ~/x'",
            "nix-shell -p jq --run 'rm -rf ~/x'",
            "parallel 'rm -rf ~/x' ::: a b",
            "op run -- rm -rf ~/x",
            "dotenv -f .env run -- rm -rf ~/x",
            "doppler run -- rm -rf ~/x",
            "osascript -e 'do shell script \"rm -rf ~/x\"'",
            "vim -es -c ':!rm -rf ~/x' a",
            "echo 'rm -rf ~/x' | at now + 1 hour",
        ] {
            let programs = crate::command_line(line).programs;
            let removes = programs
                .iter()
                .any(|program| program.words().eq(["rm", "-rf", "~/x"]));
            assert!(removes, "{line}: {programs:?}");
        }
        for line in [
            "tar czf a.tgz rm",
            "git commit -m 'rm -rf ~/x'",
            "git log --grep 'rm -rf ~/x'",
            "vim -c 'rm' a",
        ] {
            let programs = crate::command_line(line).programs;
            assert!(
                !programs.iter().any(|program| program.name() == "rm"),
                "{line}: {programs:?}"
            );
        }
    }
}
