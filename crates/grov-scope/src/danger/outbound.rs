//! Outbound commands: publishing, deploying, sending secrets.

mod remote_script;

use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, RISKY, finding};
use grov_domain::{Argument, Finding, Program};

/// The finding for an outbound command. `source` is the command whose output it reads, skipping programs that only select
/// lines. `programs` are all commands of the line.
pub(super) fn of_command(
    command: &Program,
    source: Option<&Program>,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let before = command.source.and_then(|number| programs.get(number));
    if sends_secrets(command, before) {
        return finding(CRITICAL, None, "Secrets are sent to another machine");
    }
    let asked = &context.compiled.request;
    if publishes(command)
        && !asked.mentions_any(&[
            "publish", "releas", "deploy", "ship", "upload", "public", "lanseaz", "livr",
        ])
        && !is_verb_requested(command, context)
    {
        return finding(
            DESTRUCTIVE,
            None,
            format!(
                "`{}` publishes something, which was not requested",
                shown(command)
            ),
        );
    }
    if remote_script::runs(command, source, programs)
        && !asked.mentions_any(&["install", "setup", "bootstrap", "curl", "script", "instal"])
        && !(asked.names("set") && asked.names("up"))
    {
        return finding(
            RISKY,
            None,
            "A downloaded or encoded script is run without inspection, which was not requested",
        );
    }
    None
}

/// Whether the request contains the verb of a command: "apply" for `terraform apply`, "push" for `docker push`.
fn is_verb_requested(command: &Program, context: &EvaluationContext<'_>) -> bool {
    const ROMANIAN: &[(&str, &[&str])] = &[
        ("apply", &["aplic"]),
        ("push", &["urc", "trimit", "impinge"]),
        ("yank", &["retrag"]),
    ];
    let asked = &context.compiled.request;
    command.operands().take(3).any(|verb| {
        let is_verb = verb.len() >= 4 && verb.bytes().all(|byte| byte.is_ascii_lowercase());
        // "applied", "pushing"
        let stem = verb.strip_suffix('y').unwrap_or(verb);
        let translated = ROMANIAN.iter().find(|(english, _)| *english == verb);
        is_verb && asked.mentions_any(&[stem])
            || translated.is_some_and(|(_, stems)| asked.mentions_any(stems))
    })
}

/// Whether a command publishes or deploys something.
pub(crate) fn publishes(command: &Program) -> bool {
    if command
        .arguments
        .iter()
        .any(|word| word.starts_with("--dry-run") || matches!(word.as_str(), "--help" | "-h" | "--list"))
    {
        return false;
    }
    let words: Vec<&str> = command.operands().take(3).collect();
    match (command.name(), words.as_slice()) {
        (
            "npm" | "pnpm" | "bun" | "cargo" | "poetry" | "uv" | "lerna" | "wrangler" | "vsce" | "ovsx"
            | "flit" | "hatch" | "pdm",
            ["publish", ..],
        )
        | ("yarn", ["publish", ..] | ["npm", "publish", ..])
        | ("npm" | "cargo", ["unpublish" | "yank", ..])
        | ("twine", ["upload", ..])
        | ("gem", ["push", ..])
        | ("docker" | "podman" | "helm", ["push", ..] | ["image", "push", ..])
        | ("gh", ["release", "create" | "upload", ..])
        | (
            "fly" | "flyctl" | "firebase" | "wrangler" | "serverless" | "sls" | "cdk" | "sam" | "netlify"
            | "amplify",
            ["deploy", ..],
        )
        | ("vercel", ["deploy", ..])
        | ("eas", ["submit" | "update", ..])
        | ("mvn", ["deploy", ..])
        | ("gcloud", [_, "deploy", ..])
        | ("goreleaser", ["release", ..])
        | ("dotnet", ["nuget", "push"])
        | ("terraform" | "tofu", ["apply", ..])
        | ("cap" | "semantic-release", _) => true,
        ("vercel" | "netlify", _) => command.has("--prod", '\0'),
        ("gradle" | "gradlew", [task, ..]) => task.starts_with("publish") && !task.ends_with("Local"),
        _ => false,
    }
}

/// Whether an argument of a command names this machine.
pub(crate) fn is_local(command: &Program) -> bool {
    const HOSTS: &[&str] = &["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
    let mut arguments = command.arguments.iter();
    arguments.any(|word| HOSTS.iter().any(|host| word.contains(host)))
}

/// Whether a command sends files or variables that probably contain secrets.
fn sends_secrets(command: &Program, before: Option<&Program>) -> bool {
    let program = command.name();
    if !matches!(
        program,
        "curl" | "wget" | "nc" | "ncat" | "scp" | "rsync" | "sftp" | "ftp" | "http" | "https" | "xh"
    ) || is_local(command)
    {
        return false;
    }
    let sent_file = command.arguments.iter().enumerate().any(|(at, word)| {
        let previous = at
            .checked_sub(1)
            .and_then(|at| command.arguments.get(at))
            .map_or("", Argument::as_str);
        let uploads = word.contains('@')
            || matches!(previous, "-T" | "--upload-file" | "--post-file" | "--body-file")
            || word.starts_with("--post-file=")
            || word.starts_with("--body-file=");
        let copies = matches!(program, "scp" | "rsync" | "sftp") && !word.contains(':');
        (uploads || copies) && is_secret_file(word)
    });
    let piped = before.is_some_and(|before| {
        matches!(before.name(), "env" | "printenv" | "export" | "set")
            || matches!(before.name(), "cat" | "base64" | "tar" | "gzip")
                && before.operands().any(is_secret_file)
    });
    let remote = !matches!(program, "scp" | "rsync" | "sftp")
        || command.operands().last().is_some_and(|word| word.contains(':'));
    remote && (sent_file || piped)
}

/// Names of files with credentials or shell history.
#[rustfmt::skip]
const SECRET_FILES: &[&str] = &[
    ".npmrc", ".netrc", ".pypirc", "credentials", ".pgpass", ".git-credentials", "credentials.json",
    ".bash_history", ".zsh_history", "shadow",
];

/// Whether the name of a file indicates that it contains secrets.
pub(crate) fn is_secret_file(path: &str) -> bool {
    let path = path.to_lowercase();
    let path = path.rsplit(['@', '=', ' ']).next().unwrap_or(&path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let example = ["example", "sample", "template", ".pub"]
        .iter()
        .any(|end| name.contains(end));
    !example
        && (name == ".env"
            || name.starts_with(".env.")
            || name.starts_with("id_rsa")
            || name.starts_with("id_ed25519")
            || name.starts_with("id_ecdsa")
            || SECRET_FILES.contains(&name)
            || name.ends_with(".pem")
            || name.ends_with(".p12")
            || name.ends_with(".key")
            || path.contains("/.ssh/")
            || matches!(name, ".ssh" | ".gnupg" | ".aws")
            || path.contains("/.aws/")
            || path.contains("/.gnupg/"))
}

/// A command, shortened for use in a reason.
fn shown(command: &Program) -> String {
    std::iter::once(command.name())
        .chain(command.operands().take(2))
        .collect::<Vec<_>>()
        .join(" ")
}
