//! What reaches into the machine itself: permissions, processes, services, the user's own settings.

use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, MINOR, RISKY, finding};
use crate::analyzed_action::AnalyzedAction;
use crate::history::names_in;
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Program};

/// What of a command reaches into the machine; `before` is the command whose output it may read.
pub(super) fn of_command(
    command: &Program,
    before: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let asked = &context.compiled.asked;
    match command.name() {
        "chmod" => {
            let open = command
                .operands()
                .next()
                .is_some_and(|mode| matches!(mode, "777" | "0777" | "a+rwx" | "ugo+rwx"));
            let recursive = command.has("--recursive", 'R');
            let permissions = asked.speaks_of(&["chmod", "permission", "777", "permisiun"]);
            (open && recursive && !permissions).then(|| {
                finding(
                    RISKY,
                    None,
                    "Everybody may write everything afterwards (`chmod -R 777`)",
                )
            })?
        }
        "chown" | "chgrp" if command.has("--recursive", 'R') => {
            let outside = command
                .operands()
                .skip(1)
                .map(|path| NormalizedPath::new(context.root, path))
                .find(|place| !place.is_in_project());
            let place = outside
                .filter(|_| context.root.is_known() && !asked.speaks_of(&["chown", "owner", "permission"]))?;
            finding(
                DESTRUCTIVE,
                Some(place.display()),
                format!("The owner of {} is changed", place.display()),
            )
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => finding(CRITICAL, None, "The machine is stopped"),
        "kill"
            if command.arguments.iter().any(|word| word == "-1")
                && command.arguments.len() > 1
                && command.arguments.last().is_some_and(|word| word == "-1") =>
        {
            finding(CRITICAL, None, "Every process of the user is killed")
        }
        "killall" | "pkill" => {
            let target = command.operands().last().unwrap_or_default();
            // What the conversation started it may stop; names of development servers are of that kind.
            let ours = names_in(target).any(|name| context.has_run(name) || asked.names(name))
                || asked.speaks_of(&["kill", "stop", "restart", "process", "opreste", "reporn"])
                || before.is_some_and(|before| {
                    names_in(target).any(|name| before.words().any(|word| word.contains(name)))
                });
            (!ours && !target.is_empty()).then(|| {
                finding(
                    MINOR,
                    None,
                    format!("Processes are killed by their name ({target}), whoever started them"),
                )
            })?
        }
        "crontab" if !command.arguments.iter().any(|word| word == "-l") => {
            (!asked.speaks_of(&["cron", "schedul"])).then(|| {
                finding(
                    DESTRUCTIVE,
                    None,
                    "The user's crontab is changed; nobody asked for it",
                )
            })?
        }
        "systemctl" | "service" | "launchctl" => {
            let changes = command
                .operands()
                .any(|word| matches!(word, "stop" | "disable" | "mask" | "unload" | "bootout" | "kill"));
            (changes
                && !asked.speaks_of(&[
                    "service",
                    "systemd",
                    "daemon",
                    "systemctl",
                    "launchctl",
                    "stop",
                    "disabl",
                ]))
            .then(|| {
                finding(
                    RISKY,
                    None,
                    "A service of the machine is stopped; nobody asked for it",
                )
            })?
        }
        "userdel" | "useradd" | "usermod" | "passwd" | "visudo" | "iptables" | "nft" | "ufw"
        | "setenforce" | "csrutil" | "spctl" => {
            let name = command.name();
            let looks = command
                .arguments
                .iter()
                .any(|word| matches!(word.as_str(), "-L" | "-S" | "status" | "list"));
            (!looks && !asked.names(name) && !asked.speaks_of(&["user", "firewall", "password"])).then(
                || {
                    finding(
                        DESTRUCTIVE,
                        None,
                        format!("`{name}` changes the machine's accounts or its protection"),
                    )
                },
            )?
        }
        _ if is_grov(command) && frees(command) && !asked.names("grov") => finding(
            DESTRUCTIVE,
            None,
            "The agent frees itself from what it is held to; nobody asked for it",
        ),
        program if !is_grov(command) && !only_reads(program) && !asked.names("grov") => {
            let own = command.operands().find(|path| is_of_grov(path, context))?;
            finding(
                DESTRUCTIVE,
                None,
                format!("`{program}` may change what Grov keeps ({own}); nobody asked for it"),
            )
        }
        _ => None,
    }
}

/// Whether a command is Grov, also by a name that the shell looks up: `$(which grov)`.
fn is_grov(command: &Program) -> bool {
    let first = command.word.as_str();
    command.name() == "grov" || first.starts_with(['$', '`']) && first.to_ascii_lowercase().contains("grov")
}

/// Whether a program looks at its operands and changes none of them. What `cp` writes is among the changed files.
fn only_reads(program: &str) -> bool {
    #[rustfmt::skip]
    const READERS: &[&str] = &[
        "cat", "ls", "ll", "head", "tail", "less", "more", "bat", "grep", "egrep", "fgrep", "rg", "stat", "file", "du", "df",
        "wc", "tree", "cd", "pushd", "echo", "printf", "test", "[", "[[", "diff", "cmp", "jq", "realpath", "readlink", "dirname",
        "basename", "sha256sum", "md5sum", "cp", "find", "fd", "export", "xxd", "strings", "awk", "cut", "sort", "uniq", "which",
    ];
    READERS.contains(&program)
}

/// Whether a path lies in the folder in which Grov keeps what it knows.
fn is_of_grov(path: &str, context: &EvaluationContext<'_>) -> bool {
    let Some(path) = context.directory.path(path) else {
        return false;
    };
    let place = NormalizedPath::new(context.root, &path);
    !place.is_in_project()
        && behind_home(place.as_str()).is_some_and(|rest| rest.split('/').next() == Some(".grov"))
}

/// Whether Grov is told to hold the agent to less: what it may change is for people to say.
fn frees(command: &Program) -> bool {
    let says = |words: &[&str]| command.operands().any(|word| words.contains(&word));
    // These note what the user typed or said yes to; the client alone runs them.
    let is_hook = |word: &str| matches!(word, "hook" | "inject" | "prompt-inject" | "capture");
    says(&["off", "unregister", "uninstall"])
        || command.operands().take(3).any(is_hook)
        || says(&["goal"]) && says(&["allow", "set"])
        || says(&["store"]) && says(&["prune"])
}

/// Changes of files that belong to the user or the system.
pub(super) fn of_files(action: &AnalyzedAction<'_>, context: &EvaluationContext<'_>) -> Option<Finding> {
    action.changed.iter().find_map(|place| {
        let is_client = is_client_setting(place);
        let is_free = place.is_in_project() && !is_client;
        if is_free || context.compiled.is_allowed(place) || context.compiled.is_named(place) {
            return None;
        }
        let what = if is_client {
            "the client's settings, where hooks are switched off"
        } else {
            protected(place)?
        };
        let name = place.display();
        finding(
            DESTRUCTIVE,
            Some(name),
            format!("{name} belongs to {what}; nobody asked for its change"),
        )
    })
}

/// Whether a file is one of the client's settings, of a project or of the user: there hooks are switched off.
fn is_client_setting(place: &NormalizedPath) -> bool {
    let path = place.as_str();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_folder = folder == ".claude" || folder.ends_with("/.claude");
    is_folder && place.name().starts_with("settings") && path.ends_with(".json")
}

/// Whose a file outside of the project is.
fn protected(place: &NormalizedPath) -> Option<&'static str> {
    let text = place.as_str();
    let name = place.name();
    const SYSTEM: &[&str] = &[
        "/etc/",
        "/usr/bin/",
        "/usr/sbin/",
        "/usr/lib/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/boot/",
        "/system/",
        "/library/",
        "/var/spool/cron",
        "c:/windows/",
        "c:/program files",
    ];
    if SYSTEM.iter().any(|folder| text.starts_with(folder)) {
        return Some("the system");
    }
    let shell = matches!(
        name,
        ".bashrc"
            | ".bash_profile"
            | ".profile"
            | ".zshrc"
            | ".zprofile"
            | ".zshenv"
            | ".bash_logout"
            | ".inputrc"
            | "config.fish"
    );
    // A file of that name in a project is the project's: `.npmrc` of a workspace.
    let behind = behind_home(text)?;
    let own = behind.split('/').next().unwrap_or_default();
    let keys = matches!(own, ".ssh" | ".gnupg" | ".aws" | ".kube" | ".grov");
    // There hooks are switched off, and there the client notes what the user typed; the agent's own notes lie beside it.
    let is_record = behind.starts_with(".claude/projects/") && !behind.contains("/memory/");
    let client = own == ".claude" && name.starts_with("settings") || is_record;
    let accounts = matches!(own, ".gitconfig" | ".netrc" | ".npmrc" | ".pypirc");
    let shell = shell && (own == name || own == ".config");
    (shell || keys || accounts || client).then_some("the user's own settings")
}

/// What of a path stands behind somebody's home.
fn behind_home(path: &str) -> Option<&str> {
    if let Some(rest) = ["~", "$home", "${home}", "/root"]
        .iter()
        .find_map(|home| path.strip_prefix(home)?.strip_prefix('/'))
    {
        return Some(rest);
    }
    let drive = path.as_bytes().get(1) == Some(&b':');
    let rest = if drive { path.get(2..)? } else { path };
    let rest = ["/home/", "/users/"]
        .iter()
        .find_map(|homes| rest.strip_prefix(homes))?;
    rest.split_once('/').map(|(_, rest)| rest)
}
