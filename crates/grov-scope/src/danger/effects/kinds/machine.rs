//! Effects on the machine and on attached devices.

use crate::danger::effects::stems::{CHANGE, REMOVE, RESET, RESTART, STOP};
use crate::danger::effects::{Effect, Scope, effect};
use crate::danger::{CRITICAL, DESTRUCTIVE, RISKY};

pub(in crate::danger::effects) const ACCOUNT_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE],
    "removes a user of the machine",
);
pub(in crate::danger::effects) const ACCOUNT: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "add", "creat", "set", "chang", "reset", "assign", "grant", "unlock", "lock", "adaug", "schimb",
    ]],
    "changes the users of the machine",
);
pub(in crate::danger::effects) const FIREWALL_OFF: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[STOP, &["flush", "reset", "clear", "wipe"]],
    "turns off the firewall",
);
pub(in crate::danger::effects) const FIREWALL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "firewall", "open", "allow", "block", "forward", "rul", "redirect", "clos", "expos", "nat",
    ]],
    "changes the firewall",
);
pub(in crate::danger::effects) const PROTECTION: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[STOP, &["exclu", "permissiv", "turn", "allow"]],
    "turns off a protection of the machine",
);
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
pub(in crate::danger::effects) const DISK: Effect =
    effect(CRITICAL, Scope::Machine, &[], "formats or partitions a disk");
pub(in crate::danger::effects) const VOLUME: Effect = effect(
    CRITICAL,
    Scope::Machine,
    &[&["delet", "remov", "destroy", "rollback"]],
    "destroys a volume or a snapshot",
);
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
pub(in crate::danger::effects) const REMOTE_CODE: Effect = effect(
    RISKY,
    Scope::Services,
    &[&[
        "install",
        "setup",
        "bootstrap",
        "script",
        "run",
        "execut",
        "instal",
    ]],
    "runs code from the network without inspection",
);
pub(in crate::danger::effects) const KERNEL: Effect = effect(
    RISKY,
    Scope::Machine,
    &[&[
        "set", "sysctl", "tun", "increas", "rais", "enabl", "disabl", "chang", "load", "unload", "remov",
        "insert", "modprob", "rmmod", "activ", "appl",
    ]],
    "changes the kernel's settings",
);
pub(in crate::danger::effects) const NETWORK: Effect = effect(
    RISKY,
    Scope::Machine,
    &[REMOVE, RESTART, STOP, RESET, &["route", "configur", "set"]],
    "changes the machine's network",
);
pub(in crate::danger::effects) const SCHEDULE_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&["crontab"]],
    "removes the user's whole schedule",
);
pub(in crate::danger::effects) const SCHEDULE: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "cron.",
        "cronjob.",
        "crontab.",
        "schedul",
        "timer",
        "periodic",
        "later.",
        "tomorrow",
        "remind",
        "hourly",
        "daily",
        "nightly",
        "weekly",
        "every.",
        "programeaz",
    ]],
    "changes what runs on schedule",
);
pub(in crate::danger::effects) const TRACES: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "histor", "clear", "vacuum", "clean", "truncat", "empty", "delet", "rotat",
    ]],
    "removes logs or the shell's history",
);
pub(in crate::danger::effects) const KEYS: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE, &["revok", "rotat", "renew"]],
    "deletes keys or secrets",
);
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
pub(in crate::danger::effects) const FLASHES: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&[
        "flash", "upload", "program", "burn", "writ", "eras", "deploy", "run", "instal", "boot", "unlock",
        "load", "format",
    ]],
    "writes to a device",
);
pub(in crate::danger::effects) const SETTINGS_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE, RESET, STOP],
    "removes settings of the system",
);
pub(in crate::danger::effects) const SETTINGS: Effect = effect(
    RISKY,
    Scope::Machine,
    &[REMOVE, RESET, CHANGE, STOP],
    "changes settings of the system",
);
