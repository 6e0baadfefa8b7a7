//! Options with which nothing happens: help, versions, dry runs.

use grov_domain::{Argument, Program, Role, is_shell};

/// Options with which nothing happens, for every program.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "--help", "-help", "--dry-run", "-dry-run", "--dryrun", "--dry_run", "--noop", "--no-op", "--simulate", "--just-print", "--what-if", "-whatif",
    "--list", "--check-only", "--plan", "--preview", "--preview-only", "--pretend", "--dry", "--validate-only", "--print-only", "--whatif", "--check",
    "--no-execute", "--show-only", "--explain-only", "--usage", "--dryRun", "--noexec",
];

/// Options of any program that need a value: a word after one of them is no option, whatever it looks like.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "--config", "--context", "--cri-socket", "--db", "--description", "--instance-ids", "--kube-context", "--kubeconfig", "--namespace", "--otp", "--pattern", "--region", "--registry",
    "--revision", "--selector", "--timeout", "--userconfig",
];

/// Letters of options that need a value, by program.
const VALUED_LETTERS: &[(&str, &str)] = &[
    ("docker", "fpt"),
    ("docker-compose", "fpt"),
    ("helm", "fn"),
    ("kubectl", "fln"),
    ("mongorestore", "cd"),
    ("oc", "fln"),
];

/// Whether nothing happens when a command runs.
pub(in crate::danger) fn is_harmless(command: &Program) -> bool {
    let shows_version = command.arguments.len() == 1 && command.has_word(&["--version", "-V", "-v"]);
    shows_version || shows_help(command) || is_trial_run(command)
}

/// Whether an option selects a dry run or help, and no later one takes it back: `--dry-run --no-dry-run`.
fn is_trial_run(command: &Program) -> bool {
    let mut is_trial = false;
    for (at, argument) in command.arguments.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| command.arguments.get(at));
        if !argument.starts_with('-') || before.is_some_and(|option| takes_value(command, option, argument)) {
            continue;
        }
        let (name, value) = argument.split_once(['=', ':']).unwrap_or((argument, ""));
        if HARMLESS.iter().any(|one| one.eq_ignore_ascii_case(name)) {
            is_trial = !is_off(value) || is_trial && !name.contains("dry");
        } else if takes_back(name) {
            is_trial = false;
        }
    }
    is_trial
}

/// Whether a dry run happens after all: a later option takes it back, or a shell runs what it prints.
pub(super) fn happens_anyway(command: &Program, programs: &[Program]) -> bool {
    let last = |wanted: &dyn Fn(&Argument) -> bool| command.arguments.iter().rposition(wanted);
    let is_dry = |argument: &Argument| argument.is_short_with('n') || argument.contains("dry");
    last(&|argument| takes_back(argument)).is_some_and(|at| last(&is_dry) == Some(at))
        || is_run(command, programs)
}

/// Whether a shell runs what a command prints: `zfs destroy -nv pool/data | tail -1 | sh`.
fn is_run(command: &Program, programs: &[Program]) -> bool {
    const MAX_FILTERS: usize = 16;
    programs
        .iter()
        .skip_while(|other| !std::ptr::eq(*other, command))
        .skip(1)
        .take(MAX_FILTERS)
        .filter(|other| is_shell(other.name()))
        .any(|shell| {
            let printed = crate::danger::source(shell, programs);
            printed.is_some_and(|printed| std::ptr::eq(printed, command))
        })
}

fn takes_back(name: &str) -> bool {
    matches!(name, "--no-dry-run" | "--no-dryrun" | "--nodry-run")
}

fn is_off(value: &str) -> bool {
    ["none", "false", "$false", "0", "no", "off"]
        .iter()
        .any(|off| off.eq_ignore_ascii_case(value))
}

/// Whether an argument is the value of the option before it.
fn takes_value(command: &Program, option: &Argument, argument: &Argument) -> bool {
    // `pnpm -w publish`: an option of npm with the same letter takes a value.
    let is_known = argument.role == Role::Value && command.name() != "pnpm";
    let letters = || {
        VALUED_LETTERS
            .iter()
            .filter(|(program, _)| *program == command.name())
            .any(|(_, letters)| {
                let letter = option.strip_prefix('-').unwrap_or_default();
                letter.len() == 1 && letters.contains(letter)
            })
    };
    option.role == Role::Option && (is_known || VALUED.contains(&option.as_str()) || letters())
}

/// Whether a command ends with `-h` (`help` for AWS), or begins with the subcommand `help`.
fn shows_help(command: &Program) -> bool {
    // Programs for which `-h` or the operand `help` is something else.
    #[rustfmt::skip]
    const OTHERWISE: &[&str] = &[
        "shutdown", "halt", "poweroff", "reboot", "init", "chown", "chgrp", "chmod", "touch", "cp", "ln", "setfacl", "lp", "lpr", "mail", "mailx", "mutt", "echo", "rm", "trash", "tee",
    ];
    let arguments = &command.arguments;
    let ends = arguments
        .last()
        .is_some_and(|last| last == "-h" || last == "help" && command.name() == "aws");
    let begins = arguments.len() >= 2
        && arguments.first().is_some_and(|first| first == "help")
        && !arguments.iter().any(|word| word.starts_with('-'));
    (ends || begins)
        && command.through.iter().all(|program| program != "xargs")
        && !OTHERWISE.contains(&command.name())
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::under;

    #[test]
    fn the_last_option_decides_about_a_dry_run() {
        under("Fix the parser").asked(&[
            "git push --force -n --no-dry-run origin main",
            "git clean -fdn --no-dry-run",
            "kubectl drain node-1 --dry-run=client --dry-run=none",
            "kubectl delete ns prod --dry-run --dry-run=False",
            "npm unpublish a@1 --dry-run --no-dry-run",
            "kubectl delete ns prod --namespace --dry-run=client",
            "helm uninstall web --kube-context --dry-run",
            "docker compose -f --dry-run down -v",
            "sudo kubeadm reset --dry-run | sh",
            "zfs destroy -nv tank/data@x | tail -1 | sudo sh",
            "python -m django migrate app zero",
            "yarn npm unpublish a",
            "mongorestore --drop --dir /tmp/dump",
            "velero restore create --from-backup nightly",
        ]);
        under("Fix the parser").silent(&[
            "aws ec2 terminate-instances --instance-ids i-1 --no-dry-run --dry-run",
            "terraform state mv -dry-run=false -dry-run a.b a.c",
            "kubectl delete ns prod --namespace x --dry-run=server",
            "pnpm -w publish --dry-run",
            "zfs destroy -nv tank/data@x | tail -1",
            "terraform destroy -help",
            "aws s3 rb help",
            "pulumi destroy --preview-only",
            "flask db downgrade base --sql",
            "velero restore create --from-backup nightly -o yaml",
            "kubectl annotate deploy api team=x",
        ]);
    }
}
