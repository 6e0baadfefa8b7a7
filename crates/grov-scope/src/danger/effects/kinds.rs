//! The effects of the table, with the words of a request that ask for them.

mod machine;

pub(super) use machine::{
    ACCOUNT, ACCOUNT_REMOVAL, ARCHIVED, DISK, FIREWALL, FIREWALL_OFF, FLASHES, KERNEL, KEYS, NETWORK,
    NEW_KEY, POWER, PROCESSES, PROTECTION, REMOTE_CODE, RUNS_HIDDEN, SCHEDULE, SCHEDULE_REMOVAL, SERVICE,
    SETTINGS, SETTINGS_REMOVAL, TRACES, UNCHECKED_PACKAGE, UNINSTALLS, VOLUME,
};

use super::super::{DESTRUCTIVE, RISKY};
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
