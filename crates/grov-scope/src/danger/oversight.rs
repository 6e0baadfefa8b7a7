//! Changes by which the agent would escape its oversight: the client's settings and hooks, and Grov itself.

use super::{DESTRUCTIVE, EvaluationContext, finding};
use crate::contract::LazyRequest;
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Program};

/// Files of the client: what they are, and words of a request for their change.
struct ClientFile {
    what: &'static str,
    requests: &'static [&'static str],
}

#[rustfmt::skip]
const SETTINGS: ClientFile = ClientFile {
    what: "the client's settings, which can disable hooks",
    requests: &["claude.", "claude-code", "settings.json", "permission-rule", "statusline", "status-line", "pretooluse", "posttooluse"],
};
const HOOKS: ClientFile = ClientFile {
    what: "the client's hooks",
    requests: &["claude.", "hook", "statusline", "status-line"],
};
const SERVERS: ClientFile = ClientFile {
    what: "the client's settings, which can add tools",
    requests: &["claude.", "mcp", "server", "tool"],
};

/// The file of the client at a path.
fn client_file(place: &NormalizedPath) -> Option<&'static ClientFile> {
    let path = place.as_str();
    let name = place.name();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_in = |below: &str| {
        let (_, rest) = path.rsplit_once(".claude/")?;
        rest.starts_with(below).then_some(())
    };
    let is_client_folder = folder == ".claude" || folder.ends_with("/.claude");
    if is_client_folder && name.starts_with("settings") && name.ends_with(".json")
        || name == "managed-settings.json"
    {
        return Some(&SETTINGS);
    }
    if name == ".claude.json" && !place.is_in_project() {
        return Some(&SETTINGS);
    }
    if is_in("hooks/").is_some() {
        return Some(&HOOKS);
    }
    let is_project_root = place.is_in_project() && place.components().count() == 1;
    (name == ".mcp.json" && is_project_root).then_some(&SERVERS)
}

/// Whose file this is, if the client's, unless its change was requested; `Some(None)` if it was requested.
pub(super) fn owner(place: &NormalizedPath, request: &LazyRequest) -> Option<Option<&'static str>> {
    let file = client_file(place)?;
    // "Update the permissions": about the client if something is allowed or added.
    let is_permission = request.requests_any(&["permission", "allowlist"])
        && request.requests_any(&["allow", "add.", "grant", "setting", "auto"]);
    let is_hook = request.requests_any(&["hooks.", "hook."])
        && request.requests_any(&[
            "setting", "config", "format", "notif", "regist", "instal", "save.",
        ]);
    let is_requested = request.requests_any(file.requests) || is_permission || is_hook;
    Some((!is_requested).then_some(file.what))
}

/// Programs that end, remove or disable what they name.
#[rustfmt::skip]
const ENDING: &[&str] = &[
    "brew", "bun", "cargo", "chmod", "dpkg", "kill", "killall", "launchctl", "mv", "npm", "pip", "pip3", "pipx", "pkill", "pnpm", "rm", "service", "systemctl",
    "taskkill", "truncate", "unlink", "yarn",
];

/// Verbs that end, for programs that also do other things.
#[rustfmt::skip]
const ENDING_VERBS: &[&str] = &[
    "bootout", "disable", "kill", "mask", "remove", "rm", "stop", "uninstall", "unload",
];

/// The finding for a command that stops or removes Grov. `is_own` says that the agent started it.
pub(super) fn stops_grov(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let program = command.name();
    if !ENDING.contains(&program) {
        return None;
    }
    let mut words = command.arguments.iter().map(|word| word.as_str());
    let needs_verb = matches!(
        program,
        "brew"
            | "bun"
            | "cargo"
            | "dpkg"
            | "launchctl"
            | "npm"
            | "pip"
            | "pip3"
            | "pipx"
            | "pnpm"
            | "service"
            | "systemctl"
            | "yarn"
    );
    if needs_verb && !command.has_word(ENDING_VERBS) {
        return None;
    }
    let is_file = matches!(program, "chmod" | "mv" | "rm" | "truncate" | "unlink");
    let target = words.find(|word| names_grov(word, is_file, context))?;
    if !is_file && context.has_run_grov() || context.compiled.request.names("grov") {
        return None;
    }
    finding(
        DESTRUCTIVE,
        None,
        format!("`{program}` stops or removes Grov ({target}), which was not requested"),
    )
}

/// Whether a word names Grov's programs. A file in the project does not count.
fn names_grov(word: &str, is_file: bool, context: &EvaluationContext<'_>) -> bool {
    let is_name =
        |part: &str| part == "grov" || part == "grov-proxyd" || part == "grov-agentd" || part == "grov-cli";
    let is_expansion = word.starts_with(['$', '`']);
    if is_file && !is_expansion {
        let place = NormalizedPath::new(context.root, word);
        return !place.is_in_project() && is_name(place.name()) && word.contains('/');
    }
    word.split(|letter: char| !(letter.is_alphanumeric() || letter == '-'))
        .any(is_name)
}
