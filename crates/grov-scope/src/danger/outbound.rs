//! Outbound commands: publishing, deploying, sending secrets.

mod remote_script;

use super::effects::stems::{REMOVE, SEND};
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
    if uploads_file(command) && !asked.mentions_any(SEND) {
        return finding(
            DESTRUCTIVE,
            None,
            "A file is sent to another machine, which was not requested",
        );
    }
    if deletes_remotely(command) && !asked.mentions_any(REMOVE) {
        return finding(
            DESTRUCTIVE,
            None,
            "Something is deleted on another machine, which was not requested",
        );
    }
    if posts_message(command) && !asked.mentions_any(MESSAGING) {
        return finding(
            RISKY,
            None,
            "A message is sent to others, which was not requested",
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

/// Whether an argument of a command names this machine.
pub(crate) fn is_local(command: &Program) -> bool {
    const HOSTS: &[&str] = &[
        "localhost",
        "127.0.0.1",
        "0.0.0.0",
        "[::1]",
        "host.docker.internal",
        ".localstack.cloud",
    ];
    let mut arguments = command.arguments.iter();
    arguments.any(|word| HOSTS.iter().any(|host| word.contains(host)) && !word.contains("0.0.0.0/"))
}

/// Stems of words that ask for a message.
#[rustfmt::skip]
const MESSAGING: &[&str] = &["send", "post", "announc", "messag", "ping", "trigger", "notify", "tell", "trimit", "anunt", "call", "curl", "fire"];

/// Endings of files with data, which leave the machine with them. Sorted.
#[rustfmt::skip]
const DATA_ENDINGS: &[&str] = &[
    "bak", "csv", "db", "dump", "gz", "har", "log", "parquet", "pcap", "pdf", "sql", "sqlite", "sqlite3", "tar", "tgz", "tsv", "xlsx", "xz",
    "zip", "zst",
];

/// Whether a command is a client of HTTP that talks to another machine.
fn is_web_client(command: &Program) -> bool {
    matches!(
        command.name(),
        "curl" | "wget" | "http" | "https" | "xh" | "httpie" | "xhs"
    ) && !is_local(command)
}

/// Whether a command uploads a file of data.
fn uploads_file(command: &Program) -> bool {
    if !is_web_client(command) {
        return false;
    }
    let is_data = |file: &str| {
        let file = file.split(';').next().unwrap_or(file);
        file.rsplit_once('.')
            .is_some_and(|(_, ending)| DATA_ENDINGS.binary_search(&ending).is_ok())
    };
    let arguments = &command.arguments;
    arguments.iter().enumerate().any(|(at, word)| {
        let before = at
            .checked_sub(1)
            .and_then(|at| arguments.get(at))
            .map_or("", Argument::as_str);
        let form = matches!(before, "-F" | "--form") || word.starts_with("--form=") || word.starts_with("-F");
        matches!(before, "-T" | "--upload-file" | "--post-file" | "--body-file")
            || ["--upload-file=", "--post-file=", "--body-file="]
                .iter()
                .any(|option| word.starts_with(option))
            || form && word.split_once("=@").is_some()
            || word
                .split_once('@')
                .is_some_and(|(name, file)| !name.contains(['/', ':']) && is_data(file))
    })
}

/// Whether a request deletes something on another machine.
fn deletes_remotely(command: &Program) -> bool {
    is_web_client(command)
        && (command.has_word(&["-XDELETE", "DELETE", "--request=DELETE", "--method=DELETE"])
            || command.words().any(|word| word.contains("_delete_by_query")))
}

/// Whether a request goes to a channel that people read.
fn posts_message(command: &Program) -> bool {
    const CHANNELS: &[&str] = &[
        "hooks.slack.com",
        "slack.com/api/chat",
        "discord.com/api/webhooks",
        "discordapp.com/api/webhooks",
        "webhook.office.com",
        "api.telegram.org",
        "api.twilio.com",
        "api.sendgrid.com",
        "api.mailgun.net",
        "maker.ifttt.com",
        "api.pushover.net",
        "ntfy.sh",
        "chat.googleapis.com",
    ];
    is_web_client(command)
        && command
            .words()
            .any(|word| CHANNELS.iter().any(|channel| word.contains(channel)))
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
        matches!(
            before.name(),
            "env" | "printenv" | "export" | "set" | "security" | "pass" | "op" | "secret-tool" | "history"
        ) || matches!(before.name(), "cat" | "base64" | "tar" | "gzip")
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
            || [
                ".kube/config",
                ".docker/config.json",
                "gcloud/application_default_credentials.json",
            ]
            .iter()
            .any(|end| path.ends_with(end))
            || path.contains("/.aws/")
            || path.contains("/.gnupg/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endings_of_data_are_sorted() {
        assert!(DATA_ENDINGS.is_sorted_by(|one, other| one < other));
    }
}
