//! What reaches into the machine itself: permissions, processes, services, the user's own settings.

use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, MINOR, RISKY, Unrequested, finding, unrequested};
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
    let asked = &context.compiled.request;
    match command.name() {
        "chmod" => {
            let mode = command.operands().next().unwrap_or_default();
            let opens =
                matches!(mode, "777" | "0777" | "a+rwx" | "ugo+rwx") && command.has("--recursive", 'R');
            opens.then(|| WORLD_WRITABLE.finding(context))?
        }
        "chown" | "chgrp" if command.has("--recursive", 'R') => owner(command, context),
        "shutdown" | "reboot" | "halt" | "poweroff" => finding(CRITICAL, None, "The machine is shut down"),
        "kill"
            if command.arguments.len() > 1 && command.arguments.last().is_some_and(|word| word == "-1") =>
        {
            finding(CRITICAL, None, "Every process of the user is killed")
        }
        "killall" | "pkill" => kill_by_name(command, before, context),
        "crontab" if !command.has_word(&["-l"]) => CRONTAB.finding(context),
        "systemctl" | "service" | "launchctl" => {
            let stops = command.operands().any(|word| STOPPING.contains(&word));
            stops.then(|| SERVICE.finding(context))?
        }
        name @ ("userdel" | "useradd" | "usermod" | "passwd" | "visudo" | "iptables" | "nft" | "ufw"
        | "setenforce" | "csrutil" | "spctl") => {
            let looks = command.has_word(&["-L", "-S", "status", "list"]);
            if looks || asked.names(name) || asked.mentions_any(&["user", "firewall", "password"]) {
                return None;
            }
            let reason = format!("`{name}` changes user accounts or security settings");
            finding(DESTRUCTIVE, None, reason)
        }
        _ if is_grov(command) && frees(command) && !asked.names("grov") => finding(
            DESTRUCTIVE,
            None,
            "The agent loosens its own constraints, which was not requested",
        ),
        program if !is_grov(command) && !only_reads(program) && !asked.names("grov") => {
            let own = command.operands().find(|path| is_of_grov(path, context))?;
            let reason = format!("`{program}` may change Grov's own files ({own}), which was not requested");
            finding(DESTRUCTIVE, None, reason)
        }
        _ => None,
    }
}

const STOPPING: &[&str] = &["stop", "disable", "mask", "unload", "bootout", "kill"];
const WORLD_WRITABLE: Unrequested = unrequested(
    RISKY,
    &["chmod", "permission", "777", "permisiun"],
    "`chmod -R 777` makes everything writable for everybody",
);
const CRONTAB: Unrequested = unrequested(
    DESTRUCTIVE,
    &["cron", "schedul"],
    "The user's crontab is changed, which was not requested",
);
#[rustfmt::skip]
const SERVICE: Unrequested = unrequested(
    RISKY, &["service", "systemd", "daemon", "systemctl", "launchctl", "stop", "disabl"],
    "A service of the machine is stopped, which was not requested",
);

/// A change of owner outside of the project.
fn owner(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let mut paths = command
        .operands()
        .skip(1)
        .map(|path| NormalizedPath::new(context.root, path));
    let place = paths.find(|place| !place.is_in_project())?;
    let asked = context
        .compiled
        .request
        .mentions_any(&["chown", "owner", "permission"]);
    if asked || !context.root.is_known() {
        return None;
    }
    let name = place.display();
    finding(DESTRUCTIVE, Some(name), format!("The owner of {name} is changed"))
}

/// Processes that are killed by their name and that the conversation did not start.
fn kill_by_name(
    command: &Program,
    before: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let asked = &context.compiled.request;
    let target = command.operands().last().filter(|target| !target.is_empty())?;
    let is_ours = |name: &str| {
        context.has_run(name)
            || asked.names(name)
            || before.is_some_and(|before| before.words().any(|word| word.contains(name)))
    };
    if names_in(target).any(is_ours)
        || asked.mentions_any(&["kill", "stop", "restart", "process", "opreste", "reporn"])
    {
        return None;
    }
    let reason =
        format!("Processes are killed by name ({target}), including ones that the agent did not start");
    finding(MINOR, None, reason)
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
        && below_home(place.as_str()).is_some_and(|rest| rest.split('/').next() == Some(".grov"))
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
            "the client's settings, which can disable hooks"
        } else {
            protected(place)?
        };
        let name = place.display();
        finding(
            DESTRUCTIVE,
            Some(name),
            format!("{name} belongs to {what}, and its change was not requested"),
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

/// Files that shells read at their start.
#[rustfmt::skip]
const SHELL_FILES: &[&str] = &[
    ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".zshenv", ".bash_logout", ".inputrc",
    "config.fish",
];

/// Whose a file outside of the project is.
fn protected(place: &NormalizedPath) -> Option<&'static str> {
    let text = place.as_str();
    let name = place.name();
    #[rustfmt::skip]
    const SYSTEM: &[&str] = &[
        "/etc/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/bin/", "/sbin/", "/lib/", "/boot/", "/system/",
        "/library/", "/var/spool/cron", "c:/windows/", "c:/program files",
    ];
    if SYSTEM.iter().any(|folder| text.starts_with(folder)) {
        return Some("the system");
    }
    let shell = SHELL_FILES.contains(&name);
    // A file of that name in a project is the project's: `.npmrc` of a workspace.
    let after = below_home(text)?;
    let own = after.split('/').next().unwrap_or_default();
    let keys = matches!(own, ".ssh" | ".gnupg" | ".aws" | ".kube" | ".grov");
    // There hooks are switched off, and there the client notes what the user typed; the agent's own notes lie beside it.
    let is_record = after.starts_with(".claude/projects/") && !after.contains("/memory/");
    let client = own == ".claude" && name.starts_with("settings") || is_record;
    let accounts = matches!(own, ".gitconfig" | ".netrc" | ".npmrc" | ".pypirc");
    let shell = shell && (own == name || own == ".config");
    (shell || keys || accounts || client).then_some("the user's own settings")
}

/// What of a path stands behind somebody's home.
fn below_home(path: &str) -> Option<&str> {
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
