//! Commands that change the machine: permissions, processes, services, the user's settings.

mod modes;

use super::oversight;
use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, MINOR, RISKY, Unrequested, finding, unrequested};
use crate::analyzed_action::AnalyzedAction;
use crate::history::names_in;
use crate::normalized_path::NormalizedPath;
use grov_domain::{ExecutionHost, Finding, Program};

/// The finding for a command that changes the machine. `before` is the previous command of the line.
pub(super) fn of_command(
    command: &Program,
    before: Option<&Program>,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let asked = &context.compiled.request;
    match command.name() {
        "chmod" => modes::changed(command, context),
        "install" => {
            let mode = command
                .arguments
                .windows(2)
                .find(|pair| pair[0] == "-m")
                .map(|pair| pair[1].as_str());
            mode.is_some_and(is_set_id).then(|| SET_ID.finding(context))?
        }
        "find" | "fd"
            if command
                .for_each
                .iter()
                .any(|program| matches!(program.as_str(), "chmod" | "chown" | "sudo")) =>
        {
            opened_below(command, context)
        }
        program if changes_machine_unasked(program, command, context) => finding(
            RISKY,
            None,
            match context.compiled.request.is_question() {
                true => format!("`sudo {program}` changes the machine although only a look was asked for"),
                false => format!("`sudo {program}` changes the machine, which was not requested"),
            },
        ),
        "chown" | "chgrp" if command.has("--recursive", 'R') => owner(command, context),
        "kill"
            if command.arguments.len() > 1 && command.arguments.last().is_some_and(|word| word == "-1") =>
        {
            finding(CRITICAL, None, "Every process of the user is killed")
        }
        "kill" | "killall" | "pkill"
            if command.host == ExecutionHost::Remote
                && !ends_named_user(command, context)
                && !asked.orders_any(super::effects::stems::STOP)
                && !asked.orders_any(super::effects::stems::RESTART)
                && !command.words().any(|word| matches!(word, "-0" | "-l" | "-L")) =>
        {
            finding(
                RISKY,
                None,
                "A process is ended on another machine, which was not requested",
            )
        }
        "kill" if command.host == ExecutionHost::Local && ends_first_process(command) => finding(
            CRITICAL,
            None,
            "The process that keeps the machine running is ended",
        ),
        "kill" if ends_all_of(command, programs, context) => {
            finding(RISKY, None, "Processes are ended that the agent did not start")
        }
        "killall" | "pkill" => kill_by_name(command, before, context),
        _ if is_grov(command) && !asked.names("grov") => {
            let reason = if loosens_constraints(command) {
                "The agent loosens its own constraints, which was not requested"
            } else if decides_for_user(command) {
                "The agent decides about Grov's memory or settings in place of the user"
            } else {
                return None;
            };
            finding(DESTRUCTIVE, None, reason)
        }
        program if !is_grov(command) && !only_reads(program) && !asked.names("grov") => {
            let own = command.operands().find(|path| is_in_grov_home(path, context))?;
            let reason = format!("`{program}` may change Grov's own files ({own}), which was not requested");
            finding(DESTRUCTIVE, None, reason)
        }
        _ => None,
    }
}

#[rustfmt::skip]
const SET_ID: Unrequested = unrequested(
    DESTRUCTIVE, &["setuid", "suid", "setgid", "sticky"],
    "A program gets the rights of its owner (setuid), which was not requested",
);

/// Whether a mode lets a program run with the rights of its owner: `4755`, `u+s`.
fn is_set_id(mode: &str) -> bool {
    let is_number = mode.len() == 4
        && mode.bytes().all(|digit| digit.is_ascii_digit())
        && mode.starts_with(['2', '4', '6']);
    is_number || mode.ends_with("+s") || mode.ends_with("+xs")
}

/// Whether a mode takes permissions away from others.
fn is_restricting(mode: &str) -> bool {
    matches!(
        mode,
        "600" | "700" | "400" | "0600" | "0700" | "644" | "go-rwx" | "og-rwx" | "u+rw" | "u=rw"
    )
}

/// The finding for `find /srv -exec chmod a+rwX {} +`.
fn opened_below(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    const OPEN: &[&str] = &[
        "777", "0777", "666", "a+rwX", "a+rwx", "o+w", "a+w", "ugo+rwx", "o+rwX", "o+rwx", "+w",
    ];
    let place = NormalizedPath::new(context.root, command.operands().next()?);
    let opens = command.has_word(OPEN) || command.has_word(&["chown"]);
    let asked = context
        .compiled
        .request
        .orders_any(&["chmod", "chown", "permission", "writable"]);
    let name = place.display();
    let reason = format!("The permissions of everything below {name} are changed, which was not requested");
    finding(RISKY, Some(name), reason).filter(|_| opens && !asked && !place.is_in_project())
}

/// Whether a program that runs as root changes the machine while the request only asks to look.
fn changes_machine_unasked(program: &str, command: &Program, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const CHANGING: &[&str] = &[
        "pip", "pip3", "npm", "gem", "mv", "cp", "ln", "install", "make", "rm", "perf", "snap", "flatpak", "dpkg", "apt", "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "python", "python3",
        "bash", "sh", "tee", "sed", "systemctl", "service", "kill", "killall", "pkill", "truncate", "chmod", "chown", "mkdir", "touch", "setcap", "sysctl", "modprobe", "ldconfig", "hostnamectl",
    ];
    const READING: &[&str] = &[
        "status",
        "show",
        "list",
        "list-units",
        "is-active",
        "is-enabled",
        "cat",
        "search",
        "policy",
        "info",
        "-l",
        "--list",
        "-n",
        "get",
        "freeze",
        "ls",
        "report",
        "check",
        "stat",
        "list-unit-files",
        "-0",
    ];
    command
        .through
        .iter()
        .any(|outer| matches!(outer.as_str(), "sudo" | "doas"))
        && CHANGING.contains(&program)
        && !command.has_word(READING)
        && context.compiled.request.only_looks()
        && !ends_named_user(command, context)
}

/// "Close the sessions of jlopez": `pkill -u jlopez`.
pub(super) fn ends_named_user(command: &Program, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const SESSIONS: &[&str] = &["session", "sesion", "sitzung", "sessao", "sesoes", "sessoes", "sessione", "sesj", "sessie", "sesiun", "login", "process", "会话", "セッション"];
    let request = &context.compiled.request;
    let pair = command
        .arguments
        .windows(2)
        .find(|pair| matches!(pair[0].as_str(), "-u" | "-U" | "--user" | "--euid"));
    command.name() == "pkill"
        && !request.is_question()
        && request.is_about(SESSIONS)
        && pair.is_some_and(|pair| request.is_about(&[crate::words::fold(&pair[1]).as_str()]))
}

/// The finding for a change of owner outside the project.
fn owner(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let mut paths = command
        .operands()
        .skip(1)
        .map(|path| NormalizedPath::new(context.root, path));
    let place = paths.find(|place| !place.is_in_project())?;
    if matches!(place.as_str(), "" | "/" | "/usr" | "/etc" | "/var" | "/home") {
        return finding(CRITICAL, None, "The owner of a whole system is changed");
    }
    let is_own = command.operands().next().is_some_and(is_user)
        && (matches!(place.as_str(), "~" | "$home") || below_home(place.as_str()).is_some());
    let asked = is_own || context.compiled.request.orders_any(&["chown", "owner"]);
    if asked || !context.root.is_known() {
        return None;
    }
    let name = place.display();
    finding(DESTRUCTIVE, Some(name), format!("The owner of {name} is changed"))
}

/// Whether the owner that `chown` sets is the user who runs it, which repairs files in the own home directory.
fn is_user(owner: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &["$USER", "${USER}", "$LOGNAME", "${LOGNAME}", "$(whoami)", "`whoami`", "$(id -u)", "$(id -un)", "$UID"];
    NAMES.contains(&owner.split(':').next().unwrap_or(owner))
}

/// The finding for processes that are killed by name and that the agent did not start.
fn kill_by_name(
    command: &Program,
    before: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let asked = &context.compiled.request;
    let target = command.operands().last().filter(|target| !target.is_empty())?;
    let asks =
        asked.orders_any(super::effects::stems::STOP) || asked.orders_any(super::effects::stems::RESTART);
    if SHARED_NAMES.contains(&target) && !asks && !asked.names(target) && command.has("", '9') {
        return finding(
            RISKY,
            None,
            format!("Every process named {target} is killed, which was not requested"),
        );
    }
    if PROTECTORS.contains(&target) && !asked.names(target) {
        return finding(
            RISKY,
            None,
            format!("{target}, which protects the machine, is ended"),
        );
    }
    let is_ours = |name: &str| {
        context.has_run(name)
            || asked.names(name)
            || before.is_some_and(|before| before.words().any(|word| word.contains(name)))
    };
    if names_in(target).any(is_ours)
        || asked.orders_any(&["kill", "stop", "restart", "process", "opreste", "reporn"])
    {
        return None;
    }
    let reason =
        format!("Processes are killed by name ({target}), including ones that the agent did not start");
    finding(MINOR, None, reason)
}

/// Whether `kill` ends the process with number 1: `kill -9 1`, `kill -s KILL 1`.
fn ends_first_process(command: &Program) -> bool {
    let mut is_signal = false;
    let words = command.arguments.iter().enumerate();
    let mut numbers = words.filter(|(at, word)| {
        let is_value = std::mem::replace(
            &mut is_signal,
            matches!(word.as_str(), "-s" | "-n" | "--signal" | "-q"),
        );
        // `kill -1 4242` sends signal 1.
        !(is_value || *at == 0 && word.starts_with('-'))
    });
    let is_question = command.has_word(&["-0", "-l", "-L"]);
    numbers.any(|(_, word)| word == "1") && !is_question
}

/// Programs that watch over the machine.
#[rustfmt::skip]
const PROTECTORS: &[&str] = &[
    "auditd", "clamd", "falcon-sensor", "falcond", "mdatp", "osqueryd", "ossec-agentd", "santad", "sentineld", "wazuh-agentd", "wdavdaemon",
];

/// Interpreters and servers: others than the agent's processes have these names.
#[rustfmt::skip]
const SHARED_NAMES: &[&str] = &[
    "python", "python3", "node", "ruby", "java", "php", "perl", "dotnet", "bash", "sh", "zsh", "ssh", "docker", "postgres", "mysqld", "mongod", "redis-server", "nginx", "chrome", "firefox", "code",
];

/// Whether `kill $(pgrep postgres)` ends every process of a common name.
fn ends_all_of(command: &Program, programs: &[Program], context: &EvaluationContext<'_>) -> bool {
    let outputs = command
        .arguments
        .iter()
        .flat_map(|word| programs.get(word.output_of.clone()).unwrap_or_default());
    let fed = command.source.and_then(|number| programs.get(number));
    let lists = |program: &Program| matches!(program.name(), "pgrep" | "pidof");
    let is_shared = |program: &Program| {
        program
            .operands()
            .any(|name| SHARED_NAMES.contains(&name) && !context.compiled.request.names(name))
    };
    let asked = context.compiled.request.orders_any(super::effects::stems::STOP)
        || context
            .compiled
            .request
            .orders_any(super::effects::stems::RESTART);
    !asked
        && outputs
            .chain(fed)
            .any(|program| lists(program) && is_shared(program))
}

/// Whether a command runs Grov, also through an expansion such as `$(which grov)`.
fn is_grov(command: &Program) -> bool {
    let first = command.word.as_str();
    command.name() == "grov" || first.starts_with(['$', '`']) && first.to_ascii_lowercase().contains("grov")
}

/// Whether a program does not change its operands. The target of `cp` is checked as a changed file.
fn only_reads(program: &str) -> bool {
    #[rustfmt::skip]
    const READERS: &[&str] = &[
        "cat", "ls", "ll", "head", "tail", "less", "more", "bat", "grep", "egrep", "fgrep", "rg", "stat", "file", "du", "df",
        "wc", "tree", "cd", "pushd", "echo", "printf", "test", "[", "[[", "diff", "cmp", "jq", "realpath", "readlink", "dirname",
        "basename", "sha256sum", "md5sum", "cp", "find", "fd", "export", "xxd", "strings", "awk", "cut", "sort", "uniq", "which",
    ];
    READERS.contains(&program)
}

/// Whether a path is in Grov's home directory.
fn is_in_grov_home(path: &str, context: &EvaluationContext<'_>) -> bool {
    if ["$GROV_HOME", "${GROV_HOME"]
        .iter()
        .any(|home| path.starts_with(home))
    {
        return true;
    }
    let Some(path) = context.directory.path(path) else {
        return false;
    };
    let place = NormalizedPath::new(context.root, &path);
    !place.is_in_project()
        && below_home(place.as_str()).is_some_and(|rest| rest.split('/').next() == Some(".grov"))
}

/// Whether a Grov command loosens the agent's constraints, which only people may do.
fn loosens_constraints(command: &Program) -> bool {
    let has = |words: &[&str]| command.operands().any(|word| words.contains(&word));
    // These record what the user typed or approved; only the client may run them.
    let is_hook = |word: &str| matches!(word, "hook" | "inject" | "prompt-inject" | "capture");
    has(&["off", "unregister", "uninstall"])
        || command.operands().take(3).any(is_hook)
        || has(&["goal"]) && has(&["allow", "set"])
        || has(&["store"]) && has(&["prune"])
        || has(&["memory"]) && has(&["trust"])
}

/// Commands of Grov that delete or approve memories, stop Grov, or change its settings.
#[rustfmt::skip]
const OWN_DECISIONS: &[(&str, &[&str])] = &[
    ("agent", &["forget", "unlink"]),
    ("config", &["set", "unset"]),
    ("memory", &["approve", "edit", "forget", "reject", "supersede"]),
    ("proxy", &["move", "stop"]),
    ("service", &["remove"]),
];

/// Whether a command of Grov decides what the user should decide.
fn decides_for_user(command: &Program) -> bool {
    let words: Vec<&str> = command.operands().collect();
    words.windows(2).any(|pair| {
        let is_row = |(first, then): &(&str, &[&str])| pair[0] == *first && then.contains(&pair[1]);
        OWN_DECISIONS.iter().any(is_row)
    })
}

/// The finding for a changed file that belongs to the user or the system.
pub(super) fn of_files(action: &AnalyzedAction<'_>, context: &EvaluationContext<'_>) -> Option<Finding> {
    // `chmod 600 ~/.ssh/id_ed25519` makes a key usable.
    let only_restricts = |command: &Program| {
        command.changes.is_empty()
            || command.name() == "chmod" && command.operands().next().is_some_and(is_restricting)
    };
    if action.programs().iter().any(|command| command.name() == "chmod")
        && action.programs().iter().all(only_restricts)
    {
        return None;
    }
    action.changed.iter().find_map(|place| {
        let owner = oversight::owner(place, &context.compiled.request);
        let request = &context.compiled.request;
        if is_git_hook(place) && !request.is_about(HOOK_WORDS) {
            let name = place.display();
            let reason = format!("{name} runs with every commit or push, and its change was not requested");
            return finding(RISKY, Some(name), reason);
        }
        let is_free = place.is_in_project() && owner.is_none();
        if is_free || context.compiled.is_allowed(place) || context.compiled.is_named(place) {
            return None;
        }
        if place.as_str().contains(".grov/") && context.compiled.request.names("grov") {
            return None;
        }
        let what = match owner {
            Some(client) => client?,
            None => protected(place)?,
        };
        // "Raise fs.inotify.max_user_watches permanently" is about `60-inotify.conf`.
        let request = &context.compiled.request;
        let mut words = place.name().split(|letter: char| !letter.is_alphanumeric());
        let is_about = request.names_path(place.name())
            || words.any(|word| {
                word.len() >= 4 && word != "conf" && word != "config" && request.is_about(&[word])
            });
        let is_key = matches!(what, "the user's own settings")
            && (place.as_str().contains("/.ssh/")
                || place.as_str().contains("/.grov/")
                || place.as_str().contains("/.aws/"));
        let is_access = [
            "sudoers",
            "pam.d",
            "shadow",
            "passwd",
            "sshd",
            "cron",
            "security/",
        ]
        .iter()
        .any(|part| place.as_str().contains(part));
        if owner.is_none() && !is_access && !is_key && request.is_order() && is_about {
            return None;
        }
        // "Add the cluster to my kubeconfig"
        if place.as_str().ends_with("/.kube/config")
            && request.is_about(&["kubeconfig"])
            && !request.only_looks()
        {
            return None;
        }
        let name = place.display();
        finding(
            DESTRUCTIVE,
            Some(name),
            format!("{name} belongs to {what}, and its change was not requested"),
        )
    })
}

/// Stems of words for hooks of Git.
#[rustfmt::skip]
const HOOK_WORDS: &[&str] = &["hook", "husky", "lefthook", "pre-commit", "crochet", "gancho", "хук", "钩子", "フック"];

/// Whether a file is a hook of Git. Samples do not run.
fn is_git_hook(place: &NormalizedPath) -> bool {
    place.as_str().contains(".git/hooks/") && !place.as_str().ends_with(".sample")
}

/// Files that shells read when they start.
#[rustfmt::skip]
const SHELL_FILES: &[&str] = &[
    ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".zshenv", ".bash_logout", ".inputrc",
    "config.fish",
];

/// The owner of a protected file outside the project.
fn protected(place: &NormalizedPath) -> Option<&'static str> {
    let text = place.as_str();
    let name = place.name();
    #[rustfmt::skip]
    const SYSTEM: &[&str] = &[
        "/etc/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/bin/", "/sbin/", "/lib/", "/boot/", "/system/",
        "/library/", "/var/spool/cron", "/proc/sys", "/sys/", "c:/windows/", "c:/program files",
    ];
    if SYSTEM.iter().any(|folder| text.starts_with(folder)) {
        return Some("the system");
    }
    let shell = SHELL_FILES.contains(&name);
    // A file with one of these names in a project belongs to the project.
    let after = below_home(text)?;
    let own = after.split('/').next().unwrap_or_default();
    let keys = matches!(own, ".ssh" | ".gnupg" | ".aws" | ".kube" | ".grov");
    // Settings can disable hooks, and transcripts record what the user typed. The agent may change its own notes.
    let is_record = after.starts_with(".claude/projects/") && !after.contains("/memory/");
    let client = own == ".claude" && name.starts_with("settings") || is_record;
    let accounts = matches!(own, ".gitconfig" | ".netrc" | ".npmrc" | ".pypirc");
    let shell = shell && (own == name || own == ".config");
    (shell || keys || accounts || client).then_some("the user's own settings")
}

/// The part of a path below a home directory.
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
