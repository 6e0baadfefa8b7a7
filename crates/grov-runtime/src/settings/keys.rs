//! Every setting, declared once: names, type, default, meaning, and who may set it.

use super::value::Kind;

/// One setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Dotted name, as written in a configuration file.
    pub name: &'static str,
    /// Names in the environment; of several that are set, the first counts.
    pub environment: &'static [&'static str],
    /// The command-line flag, if there is one.
    pub flag: Option<&'static str>,
    /// Type and range.
    pub kind: Kind,
    /// The default, as it would be written in the environment. Empty: none.
    pub default: &'static str,
    /// What it does, one line.
    pub doc: &'static str,
    /// Whether the file of a project may set it. A cloned repository must not redirect traffic, weaken privacy or
    /// delete records, so this is the exception.
    pub project: bool,
}

const MEBIBYTE: u64 = 1024 * 1024;
/// A ledger pruned within the day that it counts would forget what was spent in it.
const SECONDS_OF_TWO_DAYS: u64 = 2 * 24 * 3600;

/// All settings, sorted by name.
pub static KEYS: &[Key] = &[
    Key {
        name: "context.clear_threshold",
        environment: &[
            "GROV_CONTEXT_CLEAR_THRESHOLD",
            "GROV_TOKEN_CLEAR_THRESHOLD",
            "TOKEN_CLEAR_THRESHOLD",
        ],
        flag: None,
        kind: Kind::Integer {
            least: 1,
            most: 1_000_000_000,
        },
        default: "180000",
        doc: "Context size in tokens at which a session's context would be cleared. Accepted; this version never clears",
        project: true,
    },
    Key {
        name: "context.warning_threshold",
        environment: &[
            "GROV_CONTEXT_WARNING_THRESHOLD",
            "GROV_TOKEN_WARNING_THRESHOLD",
            "TOKEN_WARNING_THRESHOLD",
        ],
        flag: None,
        kind: Kind::Integer {
            least: 1,
            most: 1_000_000_000,
        },
        default: "160000",
        doc: "Context size in tokens at which a session would be warned about. Accepted; this version never warns",
        project: true,
    },
    Key {
        name: "drift.check_interval",
        environment: &["GROV_DRIFT_CHECK_INTERVAL", "DRIFT_CHECK_INTERVAL"],
        flag: None,
        kind: Kind::Integer {
            least: 1,
            most: 1_000_000,
        },
        default: "3",
        doc: "Prompts between two looks of a model at a session's work; rules look at every action, and ask it when in doubt",
        project: true,
    },
    Key {
        name: "drift.corrections",
        environment: &["GROV_DRIFT_CORRECTIONS"],
        flag: None,
        kind: Kind::Choice(&["on", "off"]),
        default: "on",
        doc: "Whether an agent that leaves its goal is told so: on, or off = only observe and record",
        project: false,
    },
    Key {
        name: "drift.enabled",
        environment: &["GROV_DRIFT_ENABLED"],
        flag: None,
        kind: Kind::Boolean,
        default: "true",
        doc: "Whether it is watched that the agent stays on its goal",
        project: false,
    },
    Key {
        name: "embedder.api_key",
        environment: &["GROV_EMBEDDER_API_KEY"],
        flag: None,
        kind: Kind::Secret,
        default: "",
        doc: "Grov's own key for the embedding model; if not set, llm.api_key where that belongs to the same server",
        project: false,
    },
    Key {
        name: "embedder.base_url",
        environment: &["GROV_EMBEDDER_BASE_URL"],
        flag: None,
        kind: Kind::Url,
        default: "",
        doc: "Base address of the embedding model's server; the provider's own if not set (ollama: this machine)",
        project: false,
    },
    Key {
        name: "embedder.model",
        environment: &["GROV_EMBEDDER_MODEL"],
        flag: None,
        kind: Kind::Path,
        default: "",
        doc: "Embedding model by name; with static the folder of its files, relative to the home. When it changes, all \
              memories are embedded anew in the background",
        project: false,
    },
    Key {
        name: "embedder.provider",
        environment: &["GROV_EMBEDDER_PROVIDER"],
        flag: None,
        kind: Kind::Choice(&["off", "openai", "ollama", "static"]),
        default: "off",
        doc: "Who embeds memories for `grov memory search`: off = nobody, openai = any compatible server, ollama = Ollama, \
              static = Grov itself, with a static model's tokenizer.json and model.safetensors",
        project: false,
    },
    Key {
        name: "guard.fail",
        environment: &["GROV_GUARD_FAIL"],
        flag: None,
        kind: Kind::Choice(&["open", "closed"]),
        default: "open",
        doc: "What becomes of an action that the guard could not look at in time: open = it runs, closed = it does not",
        project: false,
    },
    Key {
        name: "guard.mode",
        environment: &["GROV_GUARD_MODE"],
        flag: None,
        kind: Kind::Choice(&["ask", "deny", "off"]),
        default: "ask",
        doc: "What the guard does before an action that you forbade or that destroys: ask = ask you, deny = stop it, off = nothing",
        project: false,
    },
    Key {
        name: "llm.api_key",
        environment: &["GROV_LLM_API_KEY"],
        flag: None,
        kind: Kind::Secret,
        default: "",
        doc: "Grov's own key for the model that judges the work; a client's key or login is never used",
        project: false,
    },
    Key {
        name: "llm.base_url",
        environment: &["GROV_LLM_BASE_URL"],
        flag: None,
        kind: Kind::Url,
        default: "",
        doc: "Base address of the model's server; the provider's own if not set",
        project: false,
    },
    Key {
        name: "llm.concurrency",
        environment: &["GROV_LLM_CONCURRENCY"],
        flag: None,
        kind: Kind::Integer { least: 1, most: 64 },
        default: "2",
        doc: "How many of Grov's own model calls run at once",
        project: false,
    },
    Key {
        name: "llm.daily_budget_usd",
        environment: &["GROV_LLM_DAILY_BUDGET_USD"],
        flag: None,
        kind: Kind::Dollars { most: 10_000 },
        default: "0.50",
        doc: "What Grov's own model calls may cost per UTC day in US dollars; 0 = never spend, rules judge alone",
        project: false,
    },
    Key {
        name: "llm.model",
        environment: &["GROV_LLM_MODEL"],
        flag: None,
        kind: Kind::Word,
        default: "",
        doc: "Model that judges the work; the provider's default if not set (openai has none)",
        project: false,
    },
    Key {
        name: "llm.provider",
        environment: &["GROV_LLM_PROVIDER"],
        flag: None,
        kind: Kind::Choice(&["auto", "anthropic", "openai", "offline"]),
        default: "auto",
        doc: "Who judges the work: auto = anthropic where there is a key, else offline; openai = any compatible server; \
              offline = rules alone",
        project: false,
    },
    Key {
        name: "llm.proxy",
        environment: &["GROV_LLM_PROXY"],
        flag: None,
        kind: Kind::Url,
        default: "",
        doc: "HTTP proxy for Grov's own model calls; none if not set, whatever HTTPS_PROXY says",
        project: false,
    },
    Key {
        name: "llm.timeout",
        environment: &["GROV_LLM_TIMEOUT"],
        flag: None,
        kind: Kind::Duration { least_seconds: 1 },
        default: "30s",
        doc: "How long one of Grov's own model calls may take",
        project: false,
    },
    Key {
        name: "llm.use_anthropic_key",
        environment: &["GROV_LLM_USE_ANTHROPIC_KEY"],
        flag: None,
        kind: Kind::Boolean,
        default: "false",
        doc: "Whether ANTHROPIC_API_KEY of Grov's environment may be spent where llm.api_key is not set",
        project: false,
    },
    Key {
        name: "log.file",
        environment: &["GROV_LOG_FILE"],
        flag: None,
        kind: Kind::Path,
        default: "",
        doc: "File that grov-proxyd logs to, relative to the home; standard error if not set",
        project: false,
    },
    Key {
        name: "log.level",
        environment: &["GROV_LOG", "GROV_LOG_LEVEL"],
        flag: Some("--log-level"),
        kind: Kind::Levels,
        default: "info",
        doc: "What is logged: off, error, warn, info, debug or trace, also as TARGET=LEVEL, separated by commas",
        project: true,
    },
    Key {
        name: "memory.budget_tokens",
        environment: &["GROV_MEMORY_BUDGET_TOKENS"],
        flag: None,
        // Less has no room for a single memory; more is a document, not a reminder.
        kind: Kind::Integer {
            least: 200,
            most: 8000,
        },
        default: "800",
        doc: "How many tokens of team memory may be added to a prompt",
        project: false,
    },
    Key {
        name: "memory.enabled",
        environment: &["GROV_MEMORY_ENABLED"],
        flag: None,
        kind: Kind::Boolean,
        default: "true",
        doc: "Whether team memory is added to prompts; what a history holds already stays. grov off is for one project",
        project: false,
    },
    Key {
        name: "proxy.allowed_hosts",
        environment: &["GROV_PROXY_ALLOWED_HOSTS"],
        flag: None,
        kind: Kind::List,
        default: "",
        doc: "Names besides loopback ones under which clients may address the proxy (its Host header)",
        project: false,
    },
    Key {
        name: "proxy.body_limit",
        environment: &["GROV_PROXY_BODY_LIMIT"],
        flag: None,
        kind: Kind::Size {
            least: 1024,
            most: 1024 * MEBIBYTE,
        },
        default: "32MiB",
        doc: "Largest request body on /v1/messages paths; other bodies stream through unlimited",
        project: false,
    },
    Key {
        name: "proxy.connect_timeout",
        environment: &["GROV_PROXY_CONNECT_TIMEOUT"],
        flag: None,
        kind: Kind::Duration { least_seconds: 1 },
        default: "30s",
        doc: "How long a connection to the upstream may take to be made",
        project: false,
    },
    Key {
        name: "proxy.enable_auth",
        environment: &["GROV_PROXY_ENABLE_AUTH", "GROV_ENABLE_AUTH", "ENABLE_AUTH"],
        flag: None,
        kind: Kind::Boolean,
        default: "false",
        doc: "Not built yet: the proxy refuses to start rather than run without authentication that was asked for",
        project: false,
    },
    Key {
        name: "proxy.enable_rate_limit",
        environment: &[
            "GROV_PROXY_ENABLE_RATE_LIMIT",
            "GROV_ENABLE_RATE_LIMIT",
            "ENABLE_RATE_LIMIT",
        ],
        flag: None,
        kind: Kind::Boolean,
        default: "false",
        doc: "Not built yet: the proxy refuses to start rather than run without a rate limit that was asked for",
        project: false,
    },
    Key {
        name: "proxy.enable_tls",
        environment: &["GROV_PROXY_ENABLE_TLS", "GROV_ENABLE_TLS", "ENABLE_TLS"],
        flag: None,
        kind: Kind::Boolean,
        default: "false",
        doc: "Not built yet: the proxy refuses to start rather than listen without TLS that was asked for",
        project: false,
    },
    Key {
        name: "proxy.headers",
        environment: &["GROV_PROXY_HEADERS"],
        flag: None,
        kind: Kind::Choice(&["open", "strict"]),
        default: "open",
        doc: "Request headers that are forwarded: open = all end-to-end ones, strict = a short list",
        project: false,
    },
    Key {
        name: "proxy.host",
        environment: &["GROV_PROXY_HOST", "PROXY_HOST"],
        flag: Some("--host"),
        kind: Kind::Address,
        default: "127.0.0.1",
        doc: "Address that the proxy listens on; only loopback addresses are accepted",
        project: false,
    },
    Key {
        name: "proxy.idle_timeout",
        environment: &["GROV_PROXY_IDLE_TIMEOUT"],
        flag: None,
        kind: Kind::Duration { least_seconds: 1 },
        default: "5m",
        doc: "How long a response may pause between two frames",
        project: false,
    },
    Key {
        name: "proxy.port",
        environment: &["GROV_PROXY_PORT", "PROXY_PORT"],
        flag: Some("--port"),
        kind: Kind::Integer {
            least: 0,
            most: 65_535,
        },
        default: "8080",
        doc: "Port that the proxy listens on; 0 = any free one",
        project: false,
    },
    Key {
        name: "proxy.response_timeout",
        environment: &["GROV_PROXY_RESPONSE_TIMEOUT"],
        flag: None,
        kind: Kind::Duration { least_seconds: 1 },
        default: "15m",
        doc: "How long the upstream may take until its response begins",
        project: false,
    },
    Key {
        name: "proxy.shutdown_grace",
        environment: &["GROV_PROXY_SHUTDOWN_GRACE"],
        flag: None,
        kind: Kind::Duration { least_seconds: 0 },
        default: "30s",
        doc: "How long running responses may go on after the proxy was told to stop",
        project: false,
    },
    Key {
        name: "proxy.upstream",
        environment: &["GROV_PROXY_UPSTREAM", "GROV_ANTHROPIC_TARGET", "ANTHROPIC_TARGET"],
        flag: Some("--upstream"),
        kind: Kind::Url,
        default: "https://api.anthropic.com",
        doc: "Base address that requests are forwarded to",
        project: false,
    },
    Key {
        name: "store.retention_completed",
        environment: &["GROV_STORE_RETENTION_COMPLETED"],
        flag: None,
        kind: Kind::Duration { least_seconds: 0 },
        default: "24h",
        doc: "How long the steps of completed sessions are kept",
        project: false,
    },
    Key {
        name: "store.retention_drift",
        environment: &["GROV_STORE_RETENTION_DRIFT"],
        flag: None,
        kind: Kind::Duration { least_seconds: 0 },
        default: "30d",
        doc: "How long the drift log is kept",
        project: false,
    },
    Key {
        name: "store.retention_idle",
        environment: &["GROV_STORE_RETENTION_IDLE"],
        flag: None,
        kind: Kind::Duration { least_seconds: 0 },
        default: "30d",
        doc: "How long a session may rest until it counts as over",
        project: false,
    },
    Key {
        name: "store.retention_ledger",
        environment: &["GROV_STORE_RETENTION_LEDGER"],
        flag: None,
        // A session that is resumed on the next morning must find what was added to it.
        kind: Kind::Duration {
            least_seconds: SECONDS_OF_TWO_DAYS,
        },
        default: "30d",
        doc: "How long it is kept what was added to a session that was not seen again; as long as the client keeps its sessions",
        project: false,
    },
    Key {
        name: "store.retention_spending",
        environment: &["GROV_STORE_RETENTION_SPENDING"],
        flag: None,
        kind: Kind::Duration {
            least_seconds: SECONDS_OF_TWO_DAYS,
        },
        default: "90d",
        doc: "How long the ledger of Grov's own model calls is kept; not less than the day that the budget counts",
        project: false,
    },
    Key {
        name: "tasks.abandon_after",
        environment: &["GROV_TASKS_ABANDON_AFTER"],
        flag: None,
        kind: Kind::Duration { least_seconds: 1 },
        default: "1h",
        doc: "How long a task may rest until it is saved as abandoned",
        project: false,
    },
    Key {
        name: "user",
        environment: &["GROV_USER"],
        flag: None,
        kind: Kind::Choice(&["plain", "hash", "off"]),
        default: "plain",
        doc: "How the project's git user is recorded: plain = name and e-mail, hash = a hash of them, off = not at all",
        project: false,
    },
];

/// The key of that name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The known name nearest to `name`: a few typing errors away, or equal to it but for its section.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    // Nothing of ours is near a name that long, and comparing it would take long.
    if name.len() > 64 {
        return None;
    }
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let by_distance = KEYS
        .iter()
        .map(|key| (distance(name, key.name), key.name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name);
    by_distance.or_else(|| {
        KEYS.iter()
            .map(|key| key.name)
            .find(|known| last(known) == last(name))
    })
}

/// How many insertions, deletions and replacements of a character lead from `left` to `right` (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, from) in left.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_follows_its_naming_rule() {
        assert!(KEYS.is_sorted_by(|a, b| a.name < b.name));
        for key in KEYS {
            let derived = format!("GROV_{}", key.name.replace('.', "_").to_uppercase());
            assert!(key.environment.contains(&derived.as_str()), "{derived}");
            assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{}", key.name);
        }
        let mut names: Vec<_> = KEYS.iter().flat_map(|key| key.environment).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "an environment name stands for two settings");
    }

    #[test]
    fn every_default_is_valid() {
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            key.kind.parse_text(key.default).unwrap();
        }
    }

    #[test]
    fn a_project_may_set_nothing_of_the_proxy() {
        let allowed: Vec<_> = KEYS
            .iter()
            .filter(|key| key.project)
            .map(|key| key.name)
            .collect();
        assert_eq!(
            allowed,
            [
                "context.clear_threshold",
                "context.warning_threshold",
                "drift.check_interval",
                "log.level"
            ]
        );
    }

    #[test]
    fn nearest_names() {
        assert_eq!(nearest("proxy.prot"), Some("proxy.port"));
        assert_eq!(nearest("porxy.body_limt"), Some("proxy.body_limit"));
        assert_eq!(nearest("upstream"), Some("proxy.upstream"));
        assert_eq!(nearest("users"), Some("user"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn distances() {
        assert_eq!(
            (
                distance("", "abc"),
                distance("abc", ""),
                distance("kitten", "sitting")
            ),
            (3, 3, 3)
        );
    }
}
