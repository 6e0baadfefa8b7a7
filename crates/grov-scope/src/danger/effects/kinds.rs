//! The effects of the table, with the words of a request that ask for them.

use super::super::{CRITICAL, DESTRUCTIVE, RISKY};
use super::stems::{CHANGE, DATA, PUBLISH, REMOVE, RESET, RESTART, SEND, STOP};
use super::{Effect, Scope, effect};

// Data.
pub(super) const DROPS: Effect = effect(
    DESTRUCTIVE,
    Scope::Services,
    &[REMOVE, RESET, DATA],
    "removes stored data",
);
pub(super) const RESTORES: Effect = effect(
    DESTRUCTIVE,
    Scope::OwnThings,
    &[
        RESET,
        &[
            "import", "load", "restor", "seed", "einspiel", "overwrit", "replac", "fill", "incarc",
        ],
    ],
    "replaces stored data",
);
pub(super) const EMPTIES_QUEUE: Effect = effect(
    DESTRUCTIVE,
    Scope::Services,
    &[REMOVE, RESET, DATA],
    "removes messages of a queue",
);
pub(super) const BACKUPS: Effect = effect(
    DESTRUCTIVE,
    Scope::Services,
    &[REMOVE, &["forget", "expir", "compact"]],
    "removes backups",
);

// Services.
pub(super) const DESTROYS: Effect = effect(
    DESTRUCTIVE,
    Scope::OwnThings,
    &[REMOVE, RESET],
    "destroys infrastructure",
);
pub(super) const CLUSTER: Effect = effect(
    DESTRUCTIVE,
    Scope::OwnThings,
    &[REMOVE],
    "deletes something in a cluster",
);
/// Pods are deleted to restart them.
pub(super) const PODS: Effect = effect(
    DESTRUCTIVE,
    Scope::OwnThings,
    &[REMOVE, RESTART],
    "deletes something in a cluster",
);
pub(super) const CLUSTER_CHANGE: Effect = effect(
    RISKY,
    Scope::OwnThings,
    &[
        CHANGE,
        RESTART,
        STOP,
        &["sync", "drain", "cordon", "mainten", "evict"],
    ],
    "changes a cluster",
);
/// Taking capacity away: other changes do not ask for it.
pub(super) const CLUSTER_STOP: Effect = effect(
    RISKY,
    Scope::OwnThings,
    &[STOP, &["scal", "drain", "cordon", "mainten", "evict", "replica"]],
    "stops something in a cluster",
);
pub(super) const CLOUD: Effect = effect(
    DESTRUCTIVE,
    Scope::OwnThings,
    &[
        REMOVE,
        STOP,
        &["revok", "detach", "deregist", "retir", "decommission"],
    ],
    "deletes something in the cloud",
);
pub(super) const CLOUD_CHANGE: Effect = effect(
    RISKY,
    Scope::Services,
    &[
        CHANGE,
        RESTART,
        SEND,
        &[
            "trigger", "invok", "call", "test", "authori", "allow", "open", "promot", "fail", "associat",
        ],
    ],
    "changes something in the cloud",
);
pub(super) const ACCESS: Effect = effect(
    DESTRUCTIVE,
    Scope::Services,
    &[&[
        "grant", "giv", "attach", "allow", "authori", "open", "add", "creat", "set", "permit", "policy",
        "chang", "acord", "adaug",
    ]],
    "changes who has access",
);
pub(super) const HOSTED: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[REMOVE, &["clos", "archiv", "unpublish"]],
    "deletes something of the project",
);
pub(super) const HOSTED_CHANGE: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[
        CHANGE,
        SEND,
        RESTART,
        &[
            "merg", "land", "approv", "trigger", "dispatch", "rerun", "kick", "clos", "repl", "comment",
            "answer", "cancel", "protect", "review", "address",
        ],
    ],
    "changes something of the project",
);
pub(super) const MERGES: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&[
        "merg",
        "land",
        "ship",
        "integr",
        "combin",
        "unific",
        "fusion",
        "合并",
        "マージ",
    ]],
    "merges changes for everybody",
);
pub(super) const BYPASSES: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["admin", "bypass", "overrid", "anyway", "regardless"]],
    "bypasses the rules of the project",
);
pub(super) const STARTS_WORKFLOW: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[&[
        "trigger", "dispatch", "deploy", "start", "rerun", "run", "kick", "launch", "releas", "rerul",
        "ruleaz", "porn", "declans", "retry",
    ]],
    "starts a workflow",
);
pub(super) const SHARES: Effect = effect(
    DESTRUCTIVE,
    Scope::Services,
    &[SEND, PUBLISH, &["paste", "link"]],
    "sends files to others",
);
pub(super) const GISTS: Effect = effect(
    DESTRUCTIVE,
    Scope::Services,
    &[SEND, PUBLISH, &["paste", "link", "creat", "mak"]],
    "sends files to others",
);
pub(super) const EXPOSES: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[&[
        "tunnel", "expos", "share", "ngrok", "public", "webhook", "extern", "outside", "reach", "internet",
    ]],
    "makes this machine reachable from outside",
);
pub(super) const MAILS: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&[
        "send",
        "trimit",
        "schick",
        "verschick",
        "envoi",
        "envoy",
        "envi",
        "invia",
        "wysl",
        "wyśl",
        "stuur",
        "отправ",
        "发送",
        "notify",
    ]],
    "sends mail",
);

// Publishing.
pub(super) const PUBLISHES: Effect =
    effect(DESTRUCTIVE, Scope::Publishing, &[PUBLISH], "publishes something");
pub(super) const PROVISIONS: Effect = effect(
    DESTRUCTIVE,
    Scope::Publishing,
    &[
        PUBLISH,
        &["appl", "provision", "aplic", "rollout", "bring", "spin", "stand"],
    ],
    "changes infrastructure",
);
pub(super) const RETRACTS: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&[
        "yank",
        "unpublish",
        "retract",
        "retrag",
        "deprecat",
        "withdraw",
        "pull",
        "retir",
        "unlist",
    ]],
    "withdraws a published version",
);
pub(super) const REGISTRY: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&[
        "owner",
        "tag",
        "access",
        "maintain",
        "token",
        "collaborat",
        "add",
        "remov",
        "grant",
        "revok",
    ]],
    "changes who or what a registry offers",
);

// Containers.
pub(super) const DOCKER_DATA: Effect =
    effect(RISKY, Scope::OwnThings, &[REMOVE, RESET], "removes Docker's data");
pub(super) const COMPOSE_VOLUMES: Effect = effect(
    RISKY,
    Scope::OwnThings,
    &[REMOVE, RESET, &["volum", "spatiu"]],
    "removes volumes with their data",
);
pub(super) const CONTAINERS: Effect = effect(
    RISKY,
    Scope::OwnThings,
    &[REMOVE, RESET, STOP, RESTART, &["replac", "rerun"]],
    "removes or stops containers",
);
pub(super) const HOST_ACCESS: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["privileg", "mount", "host", "rootf", "dind"]],
    "gives a container access to the whole machine",
);

// Git.
pub(super) const FORCE: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[FORCED],
    "overwrites the remote branch",
);
pub(super) const LEASED: Effect = effect(RISKY, Scope::Anywhere, &[FORCED], "overwrites the remote branch");
const FORCED: &[&str] = &[
    "force",
    "forc",
    "rebas",
    "amend",
    "squash",
    "overwrit",
    "rewrit",
    "suprascri",
    "强制",
];
pub(super) const MIRRORS: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["mirror"]],
    "replaces all branches and tags of the remote",
);
pub(super) const ALL_BRANCHES: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[&["mirror", "branches", "everything", "ramuri"]],
    "pushes every branch",
);
pub(super) const ELSEWHERE: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["push", "mirror", "publish", "deploy", "upload", "urc"]],
    "pushes to another repository",
);
pub(super) const REMOTE_BRANCH: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[REMOVE, &["renam", "redenum"]],
    "removes a branch or a tag for everybody",
);
#[rustfmt::skip]
pub(super) const HARD_RESET: Effect = effect(
    RISKY, Scope::Anywhere,
    &[&[
        "reset", "revert", "undo", "discard", "rollback", "roll", "throw", "start over", "restor", "clean", "sync", "rebas", "anul", "drop",
        "verwerf", "zuruck", "annul", "descart", "annull", "odrzu", "cofn", "откат", "отмен", "撤销", "回退", "戻",
    ]],
    "discards uncommitted changes",
);
#[rustfmt::skip]
pub(super) const CLEANS: Effect = effect(
    DESTRUCTIVE, Scope::Anywhere,
    &[&["clean", "untrack", "discard", "reset", "curat", "remov", "delet", "throw", "pristin", "bereinig", "verwerf", "nettoi", "limpi"]],
    "removes untracked files",
);
pub(super) const BRANCH: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[REMOVE, &["branch", "worktree", "rebas", "merg"]],
    "removes a branch with its commits",
);
pub(super) const STASH: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[&["stash", "discard", "drop"]],
    "discards stashed work",
);
pub(super) const HISTORY: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["histor", "filter", "rewrit", "purg", "scrub", "squash"]],
    "rewrites the repository's history",
);
pub(super) const RECOVERY: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["reflog", "purg", "gc", "prun", "shrink", "unreach"]],
    "deletes what could recover lost commits",
);
pub(super) const REFERENCE: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["ref", "branch", "delet"]],
    "deletes a Git reference",
);
pub(super) const WORKTREE: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[REMOVE],
    "removes a worktree with its changes",
);
pub(super) const TRACKED: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[
        REMOVE,
        &[
            "untrack",
            "renam",
            "mov",
            "replac",
            "restructur",
            "refactor",
            "rewrit",
            "unused",
            "obsolete",
            "legacy",
            "deprecat",
            "ignor",
        ],
    ],
    "removes a folder",
);
pub(super) const HOOKS: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[&[
        "hook", "verify", "skip", "bypass", "ignor", "wip", "without", "husky", "disabl", "anyway",
    ]],
    "skips the checks of the repository",
);

// Machine.
pub(super) const ACCOUNT_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE],
    "removes a user of the machine",
);
pub(super) const ACCOUNT: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "add", "creat", "set", "chang", "reset", "assign", "grant", "unlock", "lock", "adaug", "schimb",
    ]],
    "changes the users of the machine",
);
pub(super) const FIREWALL_OFF: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[STOP, &["flush", "reset", "clear", "wipe"]],
    "turns off the firewall",
);
pub(super) const FIREWALL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "firewall", "open", "allow", "block", "forward", "rul", "redirect", "clos", "expos", "nat",
    ]],
    "changes the firewall",
);
pub(super) const PROTECTION: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[STOP, &["exclu", "permissiv", "turn", "allow"]],
    "turns off a protection of the machine",
);
pub(super) const SERVICE: Effect = effect(
    RISKY,
    Scope::Machine,
    &[STOP, RESTART, REMOVE],
    "stops a service of the machine",
);
pub(super) const POWER: Effect = effect(
    CRITICAL,
    Scope::Machine,
    &[RESTART, &["shut", "power", "halt"]],
    "shuts down the machine",
);
pub(super) const DISK: Effect = effect(CRITICAL, Scope::Machine, &[], "formats or partitions a disk");
pub(super) const VOLUME: Effect = effect(
    CRITICAL,
    Scope::Machine,
    &[&["delet", "remov", "destroy", "rollback"]],
    "destroys a volume or a snapshot",
);
pub(super) const UNINSTALLS: Effect = effect(
    RISKY,
    Scope::Machine,
    &[REMOVE],
    "uninstalls programs of the machine",
);
pub(super) const UNCHECKED_PACKAGE: Effect = effect(
    RISKY,
    Scope::Services,
    &[&["http", "url", "tgz", "tarball"]],
    "installs a package from an unprotected address",
);
pub(super) const REMOTE_CODE: Effect = effect(
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
pub(super) const KERNEL: Effect = effect(
    RISKY,
    Scope::Machine,
    &[&[
        "set", "sysctl", "tun", "increas", "rais", "enabl", "disabl", "chang", "load", "unload", "remov",
        "insert", "modprob", "rmmod", "activ", "appl",
    ]],
    "changes the kernel's settings",
);
pub(super) const NETWORK: Effect = effect(
    RISKY,
    Scope::Machine,
    &[REMOVE, RESTART, STOP, RESET, &["route", "configur", "set"]],
    "changes the machine's network",
);
pub(super) const SCHEDULE_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&["crontab"]],
    "removes the user's whole schedule",
);
pub(super) const SCHEDULE: Effect = effect(
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
pub(super) const TRACES: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&[
        "histor", "clear", "vacuum", "clean", "truncat", "empty", "delet", "rotat",
    ]],
    "removes logs or the shell's history",
);
pub(super) const KEYS: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE, &["revok", "rotat", "renew"]],
    "deletes keys or secrets",
);
pub(super) const NEW_KEY: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[&["generat", "creat", "new", "rotat", "regenerat", "renew", "gener"]],
    "may replace a key of the user",
);
pub(super) const PROCESSES: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[STOP, &["log"]],
    "ends all processes of a user",
);
pub(super) const ARCHIVED: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[REMOVE, &["mov"]],
    "removes the files that it packs",
);
pub(super) const RUNS_HIDDEN: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["checkpoint"]],
    "runs a command while it packs",
);
pub(super) const FLASHES: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&[
        "flash", "upload", "program", "burn", "writ", "eras", "deploy", "run", "instal", "boot", "unlock",
        "load", "format",
    ]],
    "writes to a device",
);
pub(super) const SETTINGS_REMOVAL: Effect = effect(
    DESTRUCTIVE,
    Scope::Machine,
    &[REMOVE, RESET, STOP],
    "removes settings of the system",
);
pub(super) const SETTINGS: Effect = effect(
    RISKY,
    Scope::Machine,
    &[REMOVE, RESET, CHANGE, STOP],
    "changes settings of the system",
);
