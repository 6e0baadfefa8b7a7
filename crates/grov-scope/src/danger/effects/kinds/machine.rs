//! Effects on the machine and on attached devices.

use crate::danger::effects::stems::{CHANGE, DATA, REMOVE, RESET, RESTART, RUN, STOP};
use crate::danger::effects::{Effect, Scope, effect};
use crate::danger::{CRITICAL, DESTRUCTIVE, RISKY};

pub(in crate::danger::effects) const ACCOUNT_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE],
    "removes a user of the machine",
);
#[rustfmt::skip]
pub(in crate::danger::effects) const ACCOUNT: Effect = effect(DESTRUCTIVE, Scope::Machine, &[&["assign", "grant", "unlock", "lock.", "adduser", "useradd", "sudo", "root."]], "changes the users of the machine")
    .of(&[CHANGE, REMOVE, RESET], &["user", "account", "group", "password", "shell", "login", "utilizator", "benutzer", "utilisateur", "usuari", "utent", "uzytkown", "gebruiker", "пользовател", "用户", "ユーザ"]);
#[rustfmt::skip]
pub(in crate::danger::effects) const FIREWALL_OFF: Effect = effect(DESTRUCTIVE, Scope::Machine, &[STOP, REMOVE, &["flush", "reset", "clear", "wipe"]], "turns off the firewall");
#[rustfmt::skip]
pub(in crate::danger::effects) const FIREWALL: Effect = effect(DESTRUCTIVE, Scope::Machine, &[&["firewall", "redirect", "iptables", "ufw", "nftables"]], "changes the firewall")
    .of(&[CHANGE, REMOVE, STOP, &["open", "allow", "block", "forward", "clos", "expos", "let.", "offne", "ouvr", "abre", "apri", "deschid", "otworz", "открой", "打开", "開放"]], &["port", "traffic", "access", "rule", "connection", "ip.", "ssh", "http", "https"]);
#[rustfmt::skip]
pub(in crate::danger::effects) const PROTECTION: Effect = effect(DESTRUCTIVE, Scope::Machine, &[STOP, &["exclu", "permissiv", "turn"]], "turns off a protection of the machine");
pub(in crate::danger::effects) const SERVICE: Effect = effect(
    RISKY,
    Scope::Machine,
    &[STOP, RESTART, REMOVE],
    "stops a service of the machine",
);
pub(in crate::danger::effects) const POWER: Effect = effect(
    CRITICAL,
    Scope::Machine,
    &[RESTART, &["shut", "power", "halt"]],
    "shuts down the machine",
);
#[rustfmt::skip]
pub(in crate::danger::effects) const DISK: Effect = effect(CRITICAL, Scope::Machine, &[&["format", "partition", "formatt", "mkfs", "repartition", "formatier", "форматир", "разме", "格式化", "フォーマット"]], "formats or partitions a disk");
#[rustfmt::skip]
pub(in crate::danger::effects) const VOLUME: Effect = effect(CRITICAL, Scope::Machine, &[&["delet", "remov", "destroy", "rollback", "losch", "entfern", "supprim", "elimin", "borr", "apag", "cancell", "rimuov", "sterg", "usun", "verwijder", "удал", "откат", "删", "削除", "scrub", "format", "wipe", "eras", "overwrit", "restor"]], "destroys a volume or a snapshot");
pub(in crate::danger::effects) const UNINSTALLS: Effect = effect(
    RISKY,
    Scope::Machine,
    &[REMOVE],
    "uninstalls programs of the machine",
);
pub(in crate::danger::effects) const UNCHECKED_PACKAGE: Effect = effect(
    RISKY,
    Scope::Services,
    &[&["http", "url", "tgz", "tarball"]],
    "installs a package from an unprotected address",
);
#[rustfmt::skip]
pub(in crate::danger::effects) const REMOTE_CODE: Effect = effect(RISKY, Scope::Services, &[&["install", "instal", "setup", "bootstrap", "安装", "インストール", "установ", "zainstal"]], "runs code from the network without inspection")
    .of(&[&["run.", "execut", "rul"]], &["script", "installer", "url"]);
#[rustfmt::skip]
pub(in crate::danger::effects) const KERNEL: Effect = effect(RISKY, Scope::Machine, &[&["sysctl", "tun.", "tune.", "tuning", "modprob", "rmmod", "kernel"]], "changes the kernel's settings")
    .of(&[CHANGE, REMOVE, STOP, &["load", "unload", "insert", "activ"]], &["module", "kernel", "limit", "driver", "parameter", "inotify", "watch", "swap", "vm.", "map", "backlog", "somaxconn"]);
#[rustfmt::skip]
pub(in crate::danger::effects) const NETWORK: Effect = effect(RISKY, Scope::Machine, &[REMOVE, RESTART, STOP, RESET, &["route", "configur", "interface", "reconnect"]], "changes the machine's network");
pub(in crate::danger::effects) const SCHEDULE_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&["crontab"]],
    "removes the user's whole schedule",
)
.of(&[REMOVE, RESET], &["crontab", "schedule"]);
#[rustfmt::skip]
pub(in crate::danger::effects) const SCHEDULE: Effect = effect(DESTRUCTIVE, Scope::Machine, &[&["cronjob.", "crontab.", "schedul", "timer", "periodic", "later.", "tomorrow", "remind", "hourly", "daily", "nightly", "weekly", "every.", "programeaz"]], "changes what runs on schedule")
    .of(&[CHANGE, REMOVE, STOP], &["cron", "crontab", "job", "schedule", "task"]);
pub(in crate::danger::effects) const TRACES: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "histor", "clear", "vacuum", "clean", "truncat", "empty", "delet", "rotat",
    ]],
    "removes logs or the shell's history",
);
#[rustfmt::skip]
pub(in crate::danger::effects) const KEYS: Effect = effect(DESTRUCTIVE, Scope::Machine, &[REMOVE, STOP, &["revok", "rotat", "renew", "forget", "log.", "logout", "seal.", "rekey"]], "deletes keys or secrets");
pub(in crate::danger::effects) const NEW_KEY: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&["generat", "creat", "new", "rotat", "regenerat", "renew", "gener"]],
    "may replace a key of the user",
);
pub(in crate::danger::effects) const PROCESSES: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[STOP, &["log"]],
    "ends all processes of a user",
);
pub(in crate::danger::effects) const ARCHIVED: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[REMOVE, &["mov"]],
    "removes the files that it packs",
);
pub(in crate::danger::effects) const RUNS_HIDDEN: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["checkpoint"]],
    "runs a command while it packs",
);
#[rustfmt::skip]
pub(in crate::danger::effects) const FLASHES: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[&["flash", "burn", "eras", "sideload", "flashez", "flashe", "прош", "залей", "刷", "書き込", "upload", "hochlad"]], "writes to a device")
    .of(&[CHANGE, REMOVE, RESET, RESTART, DATA, RUN, &["program", "writ", "boot", "unlock", "load", "format", "test.", "try.", "sube", "carica", "urc"]], &["board", "device", "esp", "phone", "chip", "firmware", "stm", "pico", "arduino", "mcu", "emulator", "simulator", "hardware", "target", "placa", "gerat", "карт"]);
pub(in crate::danger::effects) const SETTINGS_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE, RESET, STOP],
    "removes settings of the system",
);
#[rustfmt::skip]
pub(in crate::danger::effects) const SETTINGS: Effect = effect(RISKY, Scope::Machine, &[REMOVE, RESET, STOP, &["enabl", "unlock", "activat"]], "changes settings of the system")
    .of(&[CHANGE], &["setting", "registry", "default", "preference", "gnome", "finder", "dock", "macos", "windows", "key", "boot", "theme", "permission"]);
#[rustfmt::skip]
pub(in crate::danger::effects) const INSTALLS: Effect = effect(RISKY, Scope::Machine, &[&["install", "instal", "upgrad"]], "installs programs on the machine");
#[rustfmt::skip]
pub(in crate::danger::effects) const SERVICE_CHANGE: Effect = effect(RISKY, Scope::Machine, &[RESTART, STOP, CHANGE], "changes which services run");
#[rustfmt::skip]
pub(in crate::danger::effects) const OVERWRITES: Effect = effect(DESTRUCTIVE, Scope::Machine, &[&["restor", "install", "extract", "unpack", "deploy", "overwrit"]], "overwrites files of the system");
