//! The machine: users, firewall, services, disks, packages, keys, attached devices.

use super::super::EvaluationContext;
use super::kinds::{
    ACCOUNT, ACCOUNT_REMOVAL, ARCHIVED, DISK, EXPOSES, FIREWALL, FIREWALL_OFF, FLASHES, INSTALLS, KERNEL,
    KEYS, NETWORK, NEW_KEY, OVERWRITES, POWER, PROCESSES, PROTECTION, RUNS_HIDDEN, SCHEDULE,
    SCHEDULE_REMOVAL, SERVICE, SERVICE_CHANGE, SETTINGS, TRACES, UNINSTALLS, VOLUME,
};
use super::{Row, row};
use crate::danger::system::ends_named_user;
use crate::normalized_path::NormalizedPath;
use grov_domain::Program;

pub(super) const USER_REMOVAL: &[Row] = &[row("", "", &ACCOUNT_REMOVAL).unless("-h")];
#[rustfmt::skip]
pub(super) const USER: &[Row] = &[row("", "", &ACCOUNT).only_if(is_not_the_named_lock).unless("-S|--status|-c|--check")];
pub(super) const DIRECTORY: &[Row] = &[
    row("** -delete", "", &ACCOUNT_REMOVAL),
    row("", "-delete", &ACCOUNT_REMOVAL),
    row("", "-create|-append|-passwd|-deleteUser", &ACCOUNT),
];

#[rustfmt::skip]
pub(super) const IPTABLES: &[Row] = &[
    row("", "-F|--flush|-X|--delete-chain|-P|--policy", &FIREWALL_OFF).unless("-L|-S|--list-rules"),
    row("", "", &FIREWALL).unless("-L|-S|--list-rules|-C|--check|-n"),
];
#[rustfmt::skip]
pub(super) const NFT: &[Row] = &[row("flush|delete|reset|destroy", "", &FIREWALL_OFF), row("add|insert|replace|create", "", &FIREWALL), row("", "-f|--file", &FIREWALL)];
#[rustfmt::skip]
pub(super) const UFW: &[Row] = &[
    row("disable|reset", "", &FIREWALL_OFF),
    row("allow|deny|reject|limit|delete|default|route|insert|enable|reload", "", &FIREWALL),
];
#[rustfmt::skip]
pub(super) const FIREWALL_CMD: &[Row] = &[
    row("", "--panic-*|--remove-*", &FIREWALL_OFF),
    row("", "--add-*|--set-*|--reload|--complete-reload|--permanent", &FIREWALL).unless("--list-*|--get-*|--query-*"),
];
pub(super) const PACKET_FILTER: &[Row] = &[
    row("", "-d|-F", &FIREWALL_OFF),
    row("", "-f", &FIREWALL).unless("-n"),
];

#[rustfmt::skip]
pub(super) const PROTECTIONS: &[Row] = &[
    row("0|permissive", "", &PROTECTION),
    row("** remove|delete|disable|uninstall|unload|down|stop|exclusions|exclusion|off|--disable", "", &PROTECTION).unless("status|list"),
    row("0|permissive|disable|disabled|off|teardown|unload", "", &PROTECTION),
    row("** disable|off|stop|disabled", "", &PROTECTION),
    row("", "--master-disable|--global-disable|--disable|-D|-R|--remove", &PROTECTION),
    row("authenticated-root|system disable|delete", "", &PROTECTION),
];

#[rustfmt::skip]
pub(super) const SYSTEMCTL: &[Row] = &[
    row("poweroff|reboot|halt|kexec|suspend|hibernate", "", &POWER),
    row("stop|disable|mask|kill|isolate", "", &SERVICE),
    row("unload|bootout|remove|disable|stop|kill|delete|revert|set-default|emergency|rescue", "", &SERVICE),
    row("restart|start|reload|try-restart|reload-or-restart|enable|kickstart|bootstrap|load", "", &SERVICE_CHANGE).only_if(only_looks).unless("--user"),
];
/// `service nginx stop`
#[rustfmt::skip]
pub(super) const SERVICE_LAST: &[Row] = &[row("* restart|start|reload", "", &SERVICE_CHANGE).only_if(only_looks), row("* stop|disable|remove|delete|force-stop", "", &SERVICE), row("stop|del|delete|disable|remove|shutdown", "", &SERVICE)];
/// Managers of processes.
#[rustfmt::skip]
pub(super) const PROCESS_MANAGERS: &[Row] = &[row("delete|del|kill|stop|flush|stopall|shutdown|remove|stop-all", "all|*", &SERVICE), row("kill|shutdown|unstartup|deleteall", "", &SERVICE)];

pub(super) const POWER_OFF: &[Row] = &[row("", "", &POWER).unless("-c|-w")];
pub(super) const RUNLEVEL: &[Row] = &[row("0|6|1|s", "", &POWER)];

#[rustfmt::skip]
pub(super) const PARTITIONS: &[Row] = &[row("", "", &DISK).unless("-l|-p|-s|--print|print|-d|--dump|-x|-J|-i|--info|--verify|-v|-V|-L|-N").only_if(names_device)];
#[rustfmt::skip]
pub(super) const SCRIPTED_PARTITIONS: &[Row] = &[
    row("", "mklabel|mkpart|mkpartfs|mkfs|rm|resizepart|resize|move|cp|mktable|set|name|toggle|disk_set|disk_toggle|rescue", &DISK),
    row("", "-z|--zap|-Z|--zap-all|-o|--clear|-n|--new|-d|--delete|-t|--typecode|-g", &DISK),
];
pub(super) const FILE_SYSTEMS: &[Row] = &[row("", "/dev/*|$*|\\\\.\\*|-U|-L", &DISK)
    .only_if(formats_device)
    .unless("-n|-N|*.img|*.iso|*.raw|*.qcow2|/dev/loop*")];
pub(super) const WIPES: &[Row] = &[
    row("", "-a|--all|-o|--offset|-f", &DISK).unless("-n|--no-act"),
    row("/dev/*", "", &DISK)
        .unless("-n|--no-act|-s|--show|-l|-L|-i")
        .only_if(overwrites),
];

/// Package managers of the machine. In containers they build images.
#[rustfmt::skip]
pub(super) const PACKAGES: &[Row] = &[
    row("install|add|upgrade|update|in|localinstall|reinstall|refresh|dist-upgrade", "", &INSTALLS).only_if(only_looks).unless("-s|--download-only|-d"),
    row("", "-i|--install|-U|-S|-Sy|-Syu", &INSTALLS).only_if(installs_unasked),
    row("self|toolchain|kernel|history|module|group|pkg ** uninstall|remove|undo|rollback|reset|disable|delete|erase", "", &UNINSTALLS),
    row("repo|source|tap|untap|key|mark ** remove|delete|rm|disable", "", &UNINSTALLS).unless("list"),
    row("untap|unlink|cleanup", "-f|--force|--prune=all", &UNINSTALLS),
    row("remove|purge|autoremove|erase|del|uninstall|rm|autopurge|un|dist-upgrade|full-upgrade", "", &UNINSTALLS).unless("-s"),
    row("", "-R|-Rs|-Rns|-Rdd|-Rsc|-Rcns|-r|-P|--purge|--remove|-e|--erase", &UNINSTALLS).unless("-s|-Q|-q|-S"),
    row("services stop|kill", "", &SERVICE),
    row("profile|env remove|wipe-history|uninstall|rollback", "", &UNINSTALLS),
    row("delete", "", &UNINSTALLS),
];
pub(super) const NIX_GARBAGE: &[Row] = &[row("", "-d|--delete-old|--delete-older-than", &UNINSTALLS)];

pub(super) const SWAP: &[Row] = &[row("", "", &KERNEL).unless("--show|-s|-h")];
#[rustfmt::skip]
pub(super) const UNMOUNT: &[Row] = &[row("", "-f|-l|-a|--force|--lazy|--all", &SETTINGS), row("/*", "", &SETTINGS).only_if(only_looks)];
pub(super) const MOUNT: &[Row] = &[row("", "-o=*remount*|--options=*remount*", &SETTINGS)];
#[rustfmt::skip]
pub(super) const HOST_SETTINGS: &[Row] = &[row("set-*|hostname|revert", "", &SETTINGS), row("", "--set|--remove|--remove-all|--config|--install|--set-*|-s|-w", &SETTINGS).unless("--list|--display|--query|-l"), row("upgrade|apply|try|down|block|up|logout", "", &SETTINGS)];
#[rustfmt::skip]
pub(super) const ACLS: &[Row] = &[row("", "-b|--remove-all|-R|--recursive|-k", &SETTINGS).only_if(is_outside)];
#[rustfmt::skip]
pub(super) const RESTORERS: &[Row] = &[row("undochange|rollback|delete|restore|--restore|--delete|--delete-all|apply", "", &VOLUME), row("", "--restore|--delete|--delete-all|--delete-snapshot", &VOLUME)];
/// Programs that end what a user works with.
#[rustfmt::skip]
pub(super) const KILLERS: &[Row] = &[row("*", "", &PROCESSES).only_if(only_looks)];
/// Directories of users and machines.
#[rustfmt::skip]
pub(super) const LDAP: &[Row] = &[
    row("** delete|remove|del|*-del|*-remove|*-disable|delprinc|delete_principal|disable|leave|demote|reset|setpassword|cpw|addprinc|modprinc|*-mod|*-add", "", &ACCOUNT_REMOVAL).unless("list|show|get"),
    row("", "*", &ACCOUNT_REMOVAL).only_if(is_ldap).unless("-n"),
];

fn is_ldap(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.name().starts_with("ldap")
}

/// Servers that a signal stops: `nginx -s stop`, `apachectl -k stop`.
#[rustfmt::skip]
pub(super) const WEB_SERVERS: &[Row] = &[row("", "-s=stop|-s=quit|-k=stop|-k=graceful-stop", &SERVICE), row("stop|graceful-stop|restart", "", &SERVICE)];
/// `osascript -e 'tell application "Finder" to empty trash'`
#[rustfmt::skip]
pub(super) const SCRIPTS: &[Row] = &[
    row("", "*empty?trash*|*empty?the?trash*|*?delete?*|*move?*to?trash*", &TRACES),
    row("", "*shut?down*|*to?restart*|*log?out*|*quit?every*", &POWER),
];
/// Jobs of a printer.
pub(super) const PRINTERS: &[Row] = &[row("", "-a|-x|-u", &SERVICE), row("-", "", &SERVICE)];
/// `ssh -R 0.0.0.0:5432:db:5432`: others reach what this machine reaches.
pub(super) const SSH: &[Row] = &[row("", "-R", &EXPOSES).only_if(forwards_back)];
pub(super) const SYSCTL: &[Row] = &[row("", "-w|-p|--write|--load*|--system|*=*", &KERNEL).unless("-n")];
#[rustfmt::skip]
pub(super) const MODULES: &[Row] = &[row("", "", &KERNEL).unless("-n|-D|--show-depends|-c|-l")];
pub(super) const BOOT: &[Row] = &[row("", "", &KERNEL).unless("-v|-p|--print*|-l|--probe")];

#[rustfmt::skip]
pub(super) const IP: &[Row] = &[
    row("link|addr|address|a|route|r|rule|neigh|netns del|delete|flush|replace", "", &NETWORK),
    row("link set ** down", "", &NETWORK),
    row("con|connection|c|device|d|networking|radio delete|down|off|disconnect|modify", "", &NETWORK),
    row("route|link|addr|address flush|delete|down", "", &NETWORK),
    row("delete|del|flush|down", "", &NETWORK),
    row("* down", "", &NETWORK),
];
pub(super) const NETWORK_SETUP: &[Row] = &[
    row("", "-set*|-remove*|-delete*|-create*", &NETWORK),
    row("delete|del|flush", "", &NETWORK),
    row("down|reset|remove|delete|logout", "", &NETWORK),
];

#[rustfmt::skip]
pub(super) const CRONTAB: &[Row] = &[row("", "-r", &SCHEDULE_REMOVAL), row("", "", &SCHEDULE).unless("-l|-e|-T|-V")];
pub(super) const LATER: &[Row] = &[
    row("", "", &SCHEDULE).unless("-l|-V|-c|-q"),
    row("", "-r|-d", &SCHEDULE),
];

#[rustfmt::skip]
pub(super) const HISTORY: &[Row] = &[row("", "-c|-d", &TRACES), row("clear|delete|clear-session", "", &TRACES)];
pub(super) const JOURNAL: &[Row] = &[row("", "--vacuum-*|--rotate", &TRACES)];
pub(super) const LOG_FILES: &[Row] = &[
    row("erase", "", &TRACES),
    row("", "-C|--clear|-c", &TRACES),
    row("", "-f|--force", &TRACES),
];

/// Keys and stores of passwords.
#[rustfmt::skip]
pub(super) const GPG: &[Row] = &[
    row("", "--delete-*|--gen-revoke|--generate-revocation", &KEYS),
    row("", "--quick-gen*|--gen-key|--generate-key|--full-gen*|--quick-generate-key", &NEW_KEY).only_if(is_users_keyring),
];
pub(super) const SSH_KEYGEN: &[Row] = &[
    row("", "-f=*.ssh/id_*|-f=~/.ssh/*", &NEW_KEY).unless("-l|-y|-R|-F|-e|-i|-L|-H|-B|-p"),
    row("", "-t|-b", &NEW_KEY).unless("-f|-l|-y"),
];
pub(super) const SSH_ADD: &[Row] = &[row("", "-D", &KEYS)];
#[rustfmt::skip]
pub(super) const SECRETS: &[Row] = &[
    row("rm|delete|remove|clear|destroy|revoke|reset|wipe|purge|del", "", &KEYS),
    row("delete-*|remove-*", "", &KEYS),
    row("item|vault|user|group|secret|secrets|document|key|certificate|configs|keys delete|remove|archive|trash|revoke", "", &KEYS),
    row("", "-delete|-deleteentry|--delete", &KEYS),
    row("account forget", "", &KEYS),
];
pub(super) const PREFERENCES: &[Row] = &[
    row("delete", "", &SETTINGS),
    row("reset|reset-recursively|factory-reset", "", &SETTINGS),
    row("import|load", "", &SETTINGS),
];
pub(super) const PRIVACY: &[Row] = &[row("reset", "", &SETTINGS), row("", "-a|-c -d", &SETTINGS)];

pub(super) const KILL_USER: &[Row] = &[
    row("", "-u|-U|--user|--uid|--euid", &PROCESSES).only_if(ends_other_users),
    row("*", "", &PROCESSES).only_if(ends_users_program),
    row(
        "terminate-user|kill-user|kill-session|terminate-session",
        "",
        &PROCESSES,
    ),
];

/// Archivers that remove the files they packed, or run commands.
pub(super) const ARCHIVERS: &[Row] = &[
    row("", "-C=/|--directory=/ -x|--extract|x*|-*x*", &OVERWRITES),
    row("", "-P|--absolute-names|--overwrite -x|--extract", &OVERWRITES).only_if(only_looks),
    row(
        "",
        "--checkpoint-action=*exec*|--to-command|-I=*sh*|--use-compress-program=*sh*",
        &RUNS_HIDDEN,
    )
    .unless("-I=*zstd*|-I=*pigz*"),
    row("", "--remove-files", &ARCHIVED),
];
/// `zip -m` moves files into the archive.
pub(super) const ZIP: &[Row] = &[row("", "-m|--move", &ARCHIVED)];

/// Programs that write to attached devices.
#[rustfmt::skip]
pub(super) const FLASHERS: &[Row] = &[
    row("erase*|write*|flash*|upload|program|load|download|partition-table|update|install|reset_chip|burn*|recover|sideload|oem|flashing|format|wipe|-w|mass-erase", "", &FLASHES),
    row("", "-w|--write|-E|--erase|-D|--download|-U|--program|--recover|--eraseall|--upload", &FLASHES).unless("-l|--list|-r|*:r:*|-U=*:r:*"),
    row("", "-c=*program*|-c=*erase*|-c=*flash*|-c=*write_image*", &FLASHES),
    row("run|device|remote", "-t=upload|--target=upload|-t=erase|--target=erase|-t=uploadfs|--target=uploadfs", &FLASHES),
    row("device purge|shutdown", "", &FLASHES),
    row("push|deploy", "", &FLASHES),
    row("", "-e", &FLASHES).only_if(erases),
];
#[rustfmt::skip]
pub(super) const ADB: &[Row] = &[
    row("uninstall|reboot|sideload|root|remount|disable-verity", "", &FLASHES),
    row("shell rm|pm|wipe|reboot|recovery|settings", "-r|-rf|clear|uninstall|--wipe_data|delete|disable-user", &FLASHES),
    row("shell *", "*pm?clear*|*clear*|*uninstall*|*rm?-rf*", &FLASHES),
];
#[rustfmt::skip]
pub(super) const SIMULATORS: &[Row] = &[row("simctl erase|delete all", "", &FLASHES).unless("unavailable"), row("devicectl|simctl device|runtime uninstall|delete|process", "", &FLASHES)];

/// Whether `-e` erases: for PlatformIO, it selects an environment.
fn erases(command: &Program, _: &EvaluationContext<'_>) -> bool {
    matches!(
        command.name(),
        "avrdude" | "nrfjprog" | "stm32flash" | "bossac" | "mspdebug"
    )
}

fn only_looks(_: &Program, context: &EvaluationContext<'_>) -> bool {
    context.compiled.request.only_looks()
}

fn ends_other_users(command: &Program, context: &EvaluationContext<'_>) -> bool {
    !ends_named_user(command, context)
}

/// Whether a command does more than to lock the account of a user whom the request names: "block the account of jlopez".
fn is_not_the_named_lock(command: &Program, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const LOCK: &[&str] = &["lock", "block", "bloq", "bloc", "sperr", "verrouill", "zablok", "blokk", "disabl", "deaktiv", "desactiv", "disattiv", "suspend", "锁", "封", "禁用", "ロック"];
    let request = &context.compiled.request;
    let locks = command.has_word(&["-L", "-l", "--lock"]);
    let user = command.operands().last();
    let is_named = user.is_some_and(|user| request.is_about(&[crate::words::fold(user).as_str()]));
    !(locks && is_named && request.mentions_any(LOCK))
}

/// Whether packages are installed from files, with `dpkg -i`, `rpm -U` or `pacman -S`, and nothing is to be done.
fn installs_unasked(command: &Program, context: &EvaluationContext<'_>) -> bool {
    matches!(command.name(), "dpkg" | "rpm" | "pacman" | "yay" | "paru")
        && !command.has_word(&["-Ss", "-Si"])
        && context.compiled.request.only_looks()
}

fn is_outside(command: &Program, context: &EvaluationContext<'_>) -> bool {
    command
        .operands()
        .any(|path| path.starts_with(['/', '~']) && !NormalizedPath::new(context.root, path).is_in_project())
}

/// Whether the option precedes the host: later ones belong to the remote command.
fn forwards_back(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let is_host = |word: &&grov_domain::Argument| word.role == grov_domain::Role::Operand;
    let host = command
        .arguments
        .iter()
        .position(|word| is_host(&word))
        .unwrap_or(command.arguments.len());
    command.arguments[..host]
        .iter()
        .any(|word| word.starts_with('-') && word.contains('R'))
}

/// Whether a program is ended that a person or the whole machine uses.
fn ends_users_program(command: &Program, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const USED: &[&str] = &[
        "chrome", "chromium", "firefox", "safari", "slack", "teams", "zoom", "finder", "dock", "windowserver", "systemuiserver", "explorer", "code", "cursor", "idea", "pycharm",
        "xorg", "gnome-shell", "plasmashell", "kwin", "sshd", "systemd", "dockerd", "containerd", "kubelet", "postgres", "mysqld", "mariadbd", "mongod", "redis-server",
        "nginx", "apache2", "httpd", "java", "cron", "crond", "networkmanager", "loginwindow", "keycloak", "vault", "consul", "etcd", "tmux", "screen", "bash", "zsh",
    ];
    let names = command
        .operands()
        .map(|name| name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase());
    let is_used = |name: &String| {
        USED.contains(&name.as_str()) && !context.has_run(name) && !context.compiled.request.names(name)
    };
    names.collect::<Vec<_>>().iter().any(is_used) && !command.has_word(&["-0", "-l", "-HUP", "-USR1"])
}

/// Whether the keys are the user's, not those of a directory for a test.
fn is_users_keyring(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let mut set = command.assignments.iter().chain(&context.environment);
    !set.any(|one| one.starts_with("GNUPGHOME="))
        && !command.words().any(|word| word.starts_with("--homedir"))
}

fn names_device(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command
        .arguments
        .iter()
        .any(|argument| argument.starts_with("/dev/"))
}

fn overwrites(command: &Program, _: &EvaluationContext<'_>) -> bool {
    matches!(command.name(), "blkdiscard" | "mkswap" | "badblocks") && command.name() != "badblocks"
        || command.has("", 'w')
}

/// Whether a file system is made on a device and not in a file of the project.
fn formats_device(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command
        .operands()
        .any(|word| word.starts_with("/dev/") || word.starts_with('$') || word.starts_with(r"\\.\"))
}
