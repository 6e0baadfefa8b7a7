//! The effects of the table, with the words of a request that ask for them.

mod machine;

pub(super) use machine::{
    ACCOUNT, ACCOUNT_REMOVAL, ARCHIVED, DISK, FIREWALL, FIREWALL_OFF, FLASHES, INSTALLS, KERNEL, KEYS,
    NETWORK, NEW_KEY, OVERWRITES, POWER, PROCESSES, PROTECTION, REMOTE_CODE, RUNS_HIDDEN, SCHEDULE,
    SCHEDULE_REMOVAL, SERVICE, SERVICE_CHANGE, SETTINGS, SETTINGS_REMOVAL, TRACES, UNCHECKED_PACKAGE,
    UNINSTALLS, VOLUME,
};

use super::super::{CRITICAL, DESTRUCTIVE, RISKY};
use super::stems::{
    BRING_OUT, CHANGE, DATA, DISCARD, PUBLISH, REMOVE, RESET, RESTART, RUN, SEND, STOP, TIDY,
};
use super::{Effect, Scope, effect};

// Data.
#[rustfmt::skip]
pub(super) const DROPS: Effect = effect(DESTRUCTIVE, Scope::Services, &[REMOVE, RESET, DATA], "removes stored data").of(&[], &["database", "db.", "table", "data", "row", "record", "schema", "redis", "cache", "index", "collection", "topic", "queue", "session", "users", "datenbank", "tabel", "base", "datos", "dati", "dane", "dados", "базу", "база", "数据", "データ"]);
#[rustfmt::skip]
pub(super) const RESTORES: Effect = effect(DESTRUCTIVE, Scope::OwnThings, &[RESET, &["import", "load", "restor", "seed", "einspiel", "overwrit", "replac", "fill", "incarc", "wiederherstell", "restaur", "ripristin", "przywroc", "восстанов", "herstel", "恢复", "还原", "復元"]], "replaces stored data");
#[rustfmt::skip]
pub(super) const MIGRATES: Effect = effect(DESTRUCTIVE, Scope::Publishing, &[&["migrat", "migrier", "migra", "миграц", "накат", "迁移", "マイグレ"], PUBLISH], "changes a shared database");
#[rustfmt::skip]
pub(super) const EMPTIES_QUEUE: Effect = effect(DESTRUCTIVE, Scope::Services, &[REMOVE, RESET, DATA], "removes messages of a queue").of(&[], &["queue", "topic", "message", "stream", "kafka", "rabbit", "nats", "backlog"]);
#[rustfmt::skip]
pub(super) const BACKUPS: Effect = effect(DESTRUCTIVE, Scope::Services, &[REMOVE, &["forget", "expir", "compact"]], "removes backups").of(&[], &["backup", "snapshot", "archive", "restic", "borg", "repo"]);

// Services.
#[rustfmt::skip]
pub(super) const DESTROYS: Effect = effect(DESTRUCTIVE, Scope::OwnThings, &[REMOVE, RESET, STOP], "destroys infrastructure").of(&[], &["infra", "stack", "environment", "cluster", "server", "vm.", "machine", "resource", "sandbox", "minikube", "kind", "vagrant"]);
#[rustfmt::skip]
pub(super) const CLUSTER: Effect = effect(DESTRUCTIVE, Scope::OwnThings, &[REMOVE, RESET], "deletes something in a cluster").of(&[], &["cluster", "namespace", "pod", "kube", "deployment", "release", "helm", "job", "workload", "resource"]);
/// Pods are deleted to restart them.
#[rustfmt::skip]
pub(super) const PODS: Effect = effect(DESTRUCTIVE, Scope::OwnThings, &[REMOVE, RESTART, STOP, &["kick"]], "deletes something in a cluster").of(&[], &["cluster", "namespace", "pod", "kube", "deployment"]);
#[rustfmt::skip]
pub(super) const CLUSTER_CHANGE: Effect = effect(RISKY, Scope::OwnThings, &[PUBLISH, RESTART, STOP, &["appl.", "apply", "appli", "aplic", "sync", "drain", "cordon", "mainten", "evict", "uncordon", "scal", "rollback", "примен", "накат", "适用", "应用", "適用", "anwend", "zastosuj", "toepas", "uygula"]], "changes a cluster")
    .of(&[CHANGE], &["cluster", "kubernetes", "k8s", "kubectl", "helm", "namespace", "pod", "deployment", "node.", "nodes.", "ingress", "staging", "prod", "production", "chart", "server"]);
/// Going back to an earlier release.
#[rustfmt::skip]
pub(super) const ROLLS_BACK: Effect = effect(RISKY, Scope::OwnThings, &[PUBLISH, RESTART, STOP, DISCARD, &["back."]], "changes a cluster");
/// Taking capacity away: other changes do not ask for it.
#[rustfmt::skip]
pub(super) const CLUSTER_STOP: Effect = effect(RISKY, Scope::OwnThings, &[STOP, REMOVE, &["scal", "drain", "cordon", "mainten", "evict", "replica", "cancel", "anul", "abort", "abbrech"]], "stops something in a cluster");
#[rustfmt::skip]
pub(super) const CLOUD: Effect = effect(DESTRUCTIVE, Scope::Cloud, &[REMOVE, RESET, STOP, &["revok", "detach", "deregist", "decommission", "cancel", "disconnect", "unlink"]], "deletes something in the cloud").of(&[], &["cloud", "bucket", "instance", "server", "resource", "aws", "azure", "gcp", "account", "volume", "snapshot", "stack", "app.", "preview", "branch", "droplet"]);
/// What an unknown program does.
#[rustfmt::skip]
pub(super) const REMOVES_SOMETHING: Effect = effect(DESTRUCTIVE, Scope::OwnThings, &[REMOVE, RESET, STOP, DATA, &["revok", "rollback", "restor", "cancel", "abort", "undo", "revert", "detach", "forget", "zuruck"]], "removes something").of(&[], &["environment", "cluster", "server", "resource", "project", "account", "data", "cache", "container"]);
#[rustfmt::skip]
pub(super) const CLOUD_CHANGE: Effect = effect(RISKY, Scope::Cloud, &[RESTART, &["trigger", "invok", "invalid", "promot", "failover", "associat", "rollback", "scal", "deploy", "provision", "authori", "resiz"]], "changes something in the cloud")
    .of(&[CHANGE, SEND, PUBLISH, &["giv", "allow", "open", "rebuil", "reset", "stop", "migrat", "point", "route"]], &["cloud", "aws", "gcp", "azure", "bucket", "instance", "server", "vm.", "dyno", "machine", "secret", "lambda", "queue", "topic", "dns", "domain", "record", "zone", "prod", "production", "staging", "heroku", "fly.", "vercel", "netlify", "worker", "stack", "volume", "droplet", "host", "polic", "alarm", "cdn", "traffic", "certificat", "subscript", "disk", "database", "db."]);
#[rustfmt::skip]
pub(super) const ACCESS: Effect = effect(DESTRUCTIVE, Scope::Cloud, &[&["grant", "authori", "permit", "acord", "berechtig", "freigeb", "autoris", "autoriz", "concede", "uprawn", "выдай", "授权", "権限"]], "changes who has access")
    .of(&[&["giv", "attach", "allow", "open", "add", "creat", "set.", "chang", "adaug", "gib.", "donne", "dale", "make", "put", "remov", "updat", "let."], REMOVE], &["access", "permission", "policy", "polic", "role", "rol.", "user", "key", "firewall", "public", "admin", "owner", "iam", "port", "rule", "group", "account", "recht", "zugriff", "droit", "acceso", "drept", "share"]);
#[rustfmt::skip]
pub(super) const HOSTED: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[REMOVE, &["clos", "unpublish", "schliess", "sluit", "ferme", "cierr", "cerrar", "fech", "chiud", "zamkn", "inchid", "закро", "kapat", "关闭", "閉じ"]], "deletes something of the project").of(&[], &["pr.", "prs.", "issue", "branch", "release", "repo", "artifact", "cache", "label", "run.", "runs.", "package", "workflow", "tag."]);
#[rustfmt::skip]
pub(super) const HOSTED_CHANGE: Effect = effect(RISKY, Scope::Anywhere, &[RESTART, &["merg", "land", "approv", "trigger", "dispatch", "rerun", "kick", "clos", "repl.", "reply", "comment", "answer", "cancel", "protect", "assign", "resolv", "reopen", "transition", "kommentier", "freigeb", "approuv", "aprueb", "approva", "zatwierdz"]], "changes something of the project")
    .of(&[CHANGE, SEND, STOP, REMOVE, &["mov", "mark", "address", "open", "requir", "enforc", "cierr", "schliess", "ferme", "fech", "chiud", "zamkn", "inchid", "закро"]], &["pr.", "prs.", "issue", "ticket", "pull", "merge-request", "mr.", "github", "gitlab", "workflow", "pipeline", "job", "secret", "variable", "label", "branch", "repo", "protection", "review", "rule", "milestone", "run.", "build", "board", "project", "jira", "customer", "subscription", "refund", "invoice"]);
#[rustfmt::skip]
pub(super) const MERGES: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[&["merg", "land", "ship", "integr", "combin", "unific", "fusion", "zusammenfuhr", "scal.", "samenvoeg", "слей", "смерж", "вмерж", "влей", "birlestir", "birleştir", "合并", "マージ"]], "merges changes for everybody");
#[rustfmt::skip]
pub(super) const BYPASSES: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[&["admin", "bypass", "overrid", "anyway", "regardless"]], "bypasses the rules of the project");
#[rustfmt::skip]
pub(super) const STARTS_WORKFLOW: Effect = effect(RISKY, Scope::Anywhere, &[PUBLISH, RESTART, &["trigger", "dispatch", "start.", "starte", "rerun", "kick", "launch", "rerul", "ruleaz", "porn", "declans", "retry", "lance", "lanz", "ejecut", "esegui", "execut", "avvia", "uruchom", "odpal", "запус", "触发", "运行", "実行", "起動", "çalıştır", "calistir"]], "starts a workflow")
    .of(&[&["run.", "test.", "rebuil", "start", "again"]], &["workflow", "pipeline", "job", "ci.", "action", "build", "deploy"]);
#[rustfmt::skip]
pub(super) const SHARES: Effect = effect(DESTRUCTIVE, Scope::Services, &[SEND, PUBLISH, &["link"]], "sends files to others");
#[rustfmt::skip]
pub(super) const GISTS: Effect = effect(DESTRUCTIVE, Scope::Services, &[SEND, PUBLISH, &["link", "gist", "snippet"]], "sends files to others");
#[rustfmt::skip]
pub(super) const EXPOSES: Effect = effect(RISKY, Scope::Anywhere, &[&["tunnel", "expos", "share", "ngrok", "public", "webhook", "extern", "outside", "reach", "internet", "forward", "cloudflared", "tailscale"]], "makes this machine reachable from outside");
#[rustfmt::skip]
pub(super) const MAILS: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[SEND, &["notify", "remind", "invit"]], "sends mail");

// Publishing.
#[rustfmt::skip]
pub(super) const PUBLISHES: Effect = effect(DESTRUCTIVE, Scope::Publishing, &[PUBLISH], "publishes something")
    .of(&[CHANGE], &["prod", "live.", "production", "produzion", "produccion", "produktion", "produkcj", "producao", "productie", "productia", "прод", "生产", "本番", "staging", "registry", "npm", "pypi", "store"]);
/// A deployment that only its address shows.
#[rustfmt::skip]
pub(super) const PREVIEWS: Effect = effect(DESTRUCTIVE, Scope::Publishing, &[PUBLISH, &["preview", "vorschau", "apercu", "anteprima", "podglad", "previsualiz", "предпросмотр", "预览", "プレビュー"]], "publishes something")
    .of(&[CHANGE, BRING_OUT, SEND], &["link", "url", "preview", "staging", "demo", "vorschau", "anteprima", "apercu", "previa", "podglad"]);
#[rustfmt::skip]
pub(super) const PROVISIONS: Effect = effect(DESTRUCTIVE, Scope::Publishing, &[PUBLISH, &["appl.", "apply", "appli", "aplic", "provision", "rollout", "spin", "anwend", "примен", "накат", "应用", "適用", "zastosuj", "toepas", "uygula", "unlock"]], "changes infrastructure")
    .of(&[CHANGE, RESET, RUN, &["sync"]], &["infra", "stack", "cluster", "server", "terraform", "tofu", "pulumi", "environment", "cloud", "prod", "staging", "resource", "playbook", "ansible", "host", "image", "producti", "produkt", "inventor"]);
#[rustfmt::skip]
pub(super) const RETRACTS: Effect = effect(DESTRUCTIVE, Scope::Services, &[&["yank", "unpublish", "retract", "retrag", "deprecat", "withdraw", "pull", "retir", "unlist", "zuruckzieh"]], "withdraws a published version");
#[rustfmt::skip]
pub(super) const REGISTRY: Effect = effect(DESTRUCTIVE, Scope::Services, &[&["owner", "grant", "revok", "maintain", "collaborat", "dist-tag", "disttag"]], "changes who or what a registry offers")
    .of(&[CHANGE, REMOVE], &["owner", "tag", "access", "token", "maintain", "team", "member", "package", "registry", "npm", "2fa", "user"]);

// Containers.
#[rustfmt::skip]
pub(super) const DOCKER_DATA: Effect = effect(RISKY, Scope::OwnThings, &[REMOVE, RESET, &["freespace"]], "removes Docker's data").of(&[], &["docker", "podman", "container", "image", "volume", "disk", "space", "platz", "espacio", "spatiu", "spazio", "miejsc", "ruimte", "espace", "storage", "speicher"]);
#[rustfmt::skip]
pub(super) const COMPOSE_VOLUMES: Effect = effect(RISKY, Scope::OwnThings, &[REMOVE, RESET, &["volum", "spatiu"]], "removes volumes with their data").of(&[], &["docker", "compose", "container", "volume", "stack", "disk", "space"]);
#[rustfmt::skip]
pub(super) const CONTAINERS: Effect = effect(RISKY, Scope::OwnThings, &[REMOVE, RESET, STOP, RESTART, &["replac", "rerun"]], "removes or stops containers").of(&[], &["docker", "podman", "container", "image", "volume", "disk", "space", "stack"]);
#[rustfmt::skip]
pub(super) const HOST_ACCESS: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[&["privileg", "mount", "host", "rootf", "dind"]], "gives a container access to the whole machine");

// Git.
pub(super) const FORCE: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[FORCED],
    "overwrites the remote branch",
);
pub(super) const LEASED: Effect = effect(RISKY, Scope::Anywhere, &[FORCED], "overwrites the remote branch");
/// Who asks for a forced push of a branch names it, if others work on it: "force push my branch" is about another one.
pub(super) const SHARED_BRANCH: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["shared"]],
    "overwrites or removes a branch that others work on",
);
#[rustfmt::skip]
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
    "fuerz", "forza", "forca", "erzwing", "wymus", "принуд", "форс", "zorla", "dwing", "強制",
];
pub(super) const MIRRORS: Effect = effect(
    DESTRUCTIVE,
    Scope::Anywhere,
    &[&["mirror"]],
    "replaces all branches and tags of the remote",
);
#[rustfmt::skip]
pub(super) const HIDDEN_COMMAND: Effect = effect(DESTRUCTIVE, Scope::Anywhere, &[&["sshcommand", "proxycommand", "packobjectshook", "fsmonitor"]], "lets Git run another command");
#[rustfmt::skip]
pub(super) const ALL_BRANCHES: Effect = effect(RISKY, Scope::Anywhere, &[&["mirror", "branches", "everything", "ramuri", "everyone", "histor"]], "pushes every branch");
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
)
.of(
    &[],
    &[
        "branch",
        "remote",
        "tag.",
        "tags.",
        "ramur",
        "zweig",
        "rama",
        "ramos",
        "rami.",
        "galez",
        "ветк",
        "分支",
        "ブランチ",
    ],
);
#[rustfmt::skip]
pub(super) const HARD_RESET: Effect = effect(
    RISKY, Scope::Anywhere,
    &[REMOVE, DISCARD],
    "discards uncommitted changes",
);
#[rustfmt::skip]
pub(super) const CLEANS: Effect = effect(
    DESTRUCTIVE, Scope::Anywhere,
    &[REMOVE, &["clean", "untrack", "discard", "reset", "curat", "remov", "delet", "throw", "pristin", "bereinig", "verwerf", "nettoi", "limpi", "sauber.", "saubermach", "schoonmak", "wyczysc"]],
    "removes untracked files",
);
pub(super) const BRANCH: Effect = effect(
    RISKY,
    Scope::Anywhere,
    &[REMOVE, &["branch", "worktree", "rebas", "merg"]],
    "removes a branch with its commits",
)
.of(
    &[],
    &[
        "branch",
        "worktree",
        "ramur",
        "zweig",
        "rama",
        "rami.",
        "galez",
        "ветк",
        "分支",
        "ブランチ",
    ],
);
// "Stash my changes" asks for the opposite.
#[rustfmt::skip]
pub(super) const STASH: Effect = effect(RISKY, Scope::Anywhere, &[&["discard", "drop"]], "discards stashed work")
    .of(&[REMOVE, TIDY, DATA, RESET], &["stash"]);
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
)
.of(&[], &["worktree"]);
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
#[rustfmt::skip]
pub(super) const UNASKED_PUSH: Effect = effect(RISKY, Scope::Anywhere, &[PUBLISH, &["push", "tag.", "tags.", "pr.", "mr.", "prs.", "pull", "upload", "sync", "remote", "origin", "ramur", "urc", "pusha", "pushen", "pushed.", "hochschieb", "hochlad", "raufschieb"]], "pushes commits");
#[rustfmt::skip]
pub(super) const PUSH_TO_MAIN: Effect = effect(RISKY, Scope::Anywhere, &[PUBLISH, &["push", "pr.", "mr.", "prs.", "pull", "upload", "sync", "remote", "origin", "ramur", "urc", "merg", "main", "master", "rebas", "backport", "pusha", "pushen", "hochschieb", "hochlad", "raufschieb"]], "pushes commits to the main branch");
#[rustfmt::skip]
pub(super) const REMOTES: Effect = effect(RISKY, Scope::Anywhere, &[&["remote", "origin", "upstream", "url"], CHANGE], "changes where the repository is pushed to");
#[rustfmt::skip]
pub(super) const UNSIGNED: Effect = effect(RISKY, Scope::Anywhere, &[STOP, &["sign", "gpg", "unsign", "skip", "without", "bypass"]], "turns off signatures");
#[rustfmt::skip]
pub(super) const TLS_OFF: Effect = effect(
    RISKY, Scope::Anywhere, &[STOP, &["insecur", "skip", "ignor", "bypass", "without", "trust"]],
    "turns off a check of authenticity for good",
);
#[rustfmt::skip]
pub(super) const LOADS: Effect = effect(RISKY, Scope::Services, &[&["load", "bench", "stress", "attack", "run.", "perform", "measur", "hammer", "lasttest", "soak"]], "puts load on another machine");
#[rustfmt::skip]
pub(super) const CHANGES_DATA: Effect = effect(
    RISKY, Scope::Services, &[CHANGE, STOP, RESTART, REMOVE, SEND, PUBLISH, &["insert", "write", "seed", "fill", "trigger", "promot", "test."]],
    "changes shared data or its server",
);
#[rustfmt::skip]
pub(super) const OPENS_REQUEST: Effect = effect(
    RISKY, Scope::Anywhere, &[PUBLISH, &["pr.", "prs.", "pull", "mr.", "mrs.", "merg", "push", "draft", "request", "open", "otworz", "deschid", "ouvr", "abre", "apri", "offne"]],
    "opens a pull request",
);
#[rustfmt::skip]
pub(super) const SILENCES: Effect = effect(
    RISKY, Scope::Services, &[STOP, &["silenc", "mut.", "mute", "snooz", "acknowledg", "ack.", "quiet", "suppress", "stumm", "leise", "silenci", "silenzi", "wycisz", "заглуш", "静音", "屏蔽", "ミュート", "sustur", "demp"]],
    "silences alerts that others rely on",
);
#[rustfmt::skip]
pub(super) const PRINTS_PAPER: Effect = effect(
    RISKY, Scope::Anywhere, &[&["print", "druck", "imprim", "stamp", "drukuj", "wydrukuj", "afdruk", "печат", "распечат", "打印", "印刷", "yazdır", "yazdir", "paper"]],
    "prints on paper",
);
#[rustfmt::skip]
pub(super) const IRREVERSIBLE: Effect = effect(
    CRITICAL, Scope::Anywhere, &[&["burn", "fuse", "efuse", "lock.", "provision", "option-byte", "rdp", "brenn", "quem", "bruci", "wypal", "прож"]],
    "changes a device for good",
);
#[rustfmt::skip]
pub(super) const REPLACES_FILES: Effect = effect(
    RISKY, Scope::Anywhere,
    &[REMOVE, &["overwrit", "in-place", "inplace", "in place", "convert", "compress", "optimi", "resiz", "crop", "rotat", "strip", "shrink", "reduc", "minif", "konvert", "komprim", "verklein", "kompres", "convers", "compacta", "redimension", "ridimension", "zmniejsz", "przekonwert", "сожми", "конверт", "压缩", "转换", "圧縮", "変換"]],
    "replaces the originals of files",
);
#[rustfmt::skip]
pub(super) const REMOTE_BRANCHES: Effect = effect(
    DESTRUCTIVE, Scope::Anywhere, &[&["remote", "origin", "github", "gitlab", "server", "entfernt", "distant", "remot", "zdaln", "удален", "远程", "リモート"]],
    "removes all listed branches for everybody",
);
