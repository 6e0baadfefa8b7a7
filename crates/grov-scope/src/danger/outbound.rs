//! Outbound commands: publishing, deploying, sending secrets.

mod elsewhere;
mod remote_script;
mod reverse_shell;

pub(super) use remote_script::{downloaded_variables, opaque_variables};
pub(super) use reverse_shell::gives_shell;

use super::effects::stems::{CHANGE, PUBLISH, REMOVE, RESTART, SEND, STOP};
use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, RISKY, finding};
use crate::contract::RequestWords;
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
    if sends_secrets(command, before, programs) {
        return finding(CRITICAL, None, "Secrets are sent to another machine");
    }
    let asked = &context.compiled.request;
    if gives_shell(command) {
        return finding(CRITICAL, None, "A shell of this machine is given to another one");
    }
    if uploads_file(command) && !asked.orders_any(SEND) {
        return finding(
            DESTRUCTIVE,
            None,
            "A file is sent to another machine, which was not requested",
        );
    }
    if pipes_to_host(command, before, programs) && !asked.orders_any(SEND) {
        return finding(
            RISKY,
            None,
            "The output of a command is sent to another machine, which was not requested",
        );
    }
    if tests_production(command) && !asked.mentions_any(&["prod"]) {
        return finding(
            RISKY,
            None,
            "Tests run in the production environment, which was not requested",
        );
    }
    if writes_to_production(command) && !asked.orders_any(SEND) && !asked.orders_any(PUBLISH) {
        return finding(
            RISKY,
            None,
            "A script writes to a store in production, which was not requested",
        );
    }
    if changes_remotely(command, context) {
        return finding(
            RISKY,
            None,
            "Something is changed on another machine, which was not requested",
        );
    }
    if deletes_remotely(command) && !asked.orders_any(REMOVE) {
        return finding(
            DESTRUCTIVE,
            None,
            "Something is deleted on another machine, which was not requested",
        );
    }
    if let Some(found) = elsewhere::transferred(command, context)
        .or_else(|| elsewhere::changed(command, programs, context))
        .or_else(|| elsewhere::on_remote_engine(command, context))
    {
        return Some(found);
    }
    let asks_for_message = || asked.orders_any(MESSAGING) || asked.orders_any(SEND);
    if (posts_message(command) || names_channel(command)) && !asks_for_message() {
        return finding(
            RISKY,
            None,
            "A message is sent to others, which was not requested",
        );
    }
    remote_script::runs(command, source, programs, context).then(|| remote_script(programs, context))?
}

/// The finding for a line of PowerShell that evaluates what it downloads, with syntax that other shells do not have.
pub(super) fn of_line(line: &str, programs: &[Program], context: &EvaluationContext<'_>) -> Option<Finding> {
    remote_script::evaluates_download(line, programs).then(|| remote_script(programs, context))?
}

/// The finding for a script from the network, unless the request asks for it.
fn remote_script(programs: &[Program], context: &EvaluationContext<'_>) -> Option<Finding> {
    let asked = &context.compiled.request;
    let is_asked =
        || asked.orders_any(&["curl", "script"]) || installs(asked) && names_source(asked, programs);
    finding(
        RISKY,
        None,
        "A downloaded or encoded script is run without inspection, which was not requested",
    )
    .filter(|_| !is_asked())
}

/// Whether a request asks for an installation.
fn installs(asked: &RequestWords) -> bool {
    asked.mentions_any(&["install", "setup", "bootstrap", "instal"])
        || asked.names("set") && asked.names("up")
}

/// Whether a request names what a line downloads: "install deno" and `https://deno.land/install.sh`.
fn names_source(asked: &RequestWords, programs: &[Program]) -> bool {
    let addresses = programs
        .iter()
        .flat_map(Program::words)
        .filter(|word| word.contains("://"));
    let mut words = addresses.flat_map(|address| address.split(|letter: char| !letter.is_alphanumeric()));
    words.any(|word| word.len() >= 2 && !ADDRESS_WORDS.contains(&word) && asked.names(word))
}

/// Words of addresses that name nothing.
const ADDRESS_WORDS: &[&str] = &[
    "com", "dev", "get", "https", "http", "install", "io", "main", "master", "net", "org", "raw", "script",
    "setup", "sh", "the", "www",
];

/// Whether an argument of a command names this machine.
pub(crate) fn is_local(command: &Program) -> bool {
    let mut words = command
        .arguments
        .iter()
        .map(Argument::as_str)
        .chain(command.assignments.iter().map(String::as_str));
    // HTTPie: `http DELETE :8000/todos/4`
    let is_port = |word: &str| {
        let port = word.strip_prefix(':').unwrap_or_default();
        port.starts_with(|letter: char| letter.is_ascii_digit() || letter == '/')
    };
    words.any(names_this_machine)
        || matches!(command.name(), "http" | "https" | "xh" | "xhs") && command.operands().any(is_port)
}

/// Whether a text contains an address of this machine.
pub(super) fn names_this_machine(text: &str) -> bool {
    const HOSTS: &[&str] = &[
        "localhost",
        "127.0.0.1",
        "0.0.0.0:",
        "[::1]",
        "host.docker.internal",
        ".localstack.cloud",
    ];
    HOSTS.iter().any(|host| text.contains(host)) && !text.contains("0.0.0.0/") || names_local_variable(text)
}

/// Whether a text is a variable for a server on this machine: `$LOCAL_DB`, `${LOCAL_API_URL}/items`.
fn names_local_variable(text: &str) -> bool {
    const SERVERS: &[&str] = &[
        "DB", "DATABASE", "URL", "URI", "HOST", "DSN", "ENDPOINT", "ADDR", "API", "SERVER", "REDIS", "PG",
        "POSTGRES", "MYSQL", "MONGO",
    ];
    let Some(name) = text.strip_prefix('$') else {
        return false;
    };
    let name = name.trim_start_matches('{');
    let name = name
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .next()
        .unwrap_or(name);
    let has = |parts: &[&str]| name.split('_').any(|part| parts.contains(&part));
    has(&["LOCAL", "LOCALHOST"]) && has(SERVERS)
}

/// Stems of words that ask for a message.
#[rustfmt::skip]
const MESSAGING: &[&str] = &["send", "post", "announc", "ping.", "trigger", "notify", "tell", "trimit", "anunt", "call", "curl", "fire"];

/// Endings of files with data, which leave the machine with them. Sorted.
#[rustfmt::skip]
const DATA_ENDINGS: &[&str] = &[
    "bak", "bson", "csv", "db", "dump", "gz", "har", "ipynb", "log", "mbox", "ndjson", "parquet", "pcap", "pdf", "sql", "sqlite", "sqlite3", "tar", "tgz", "tsv", "xlsx", "xz",
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
    // `http host/upload < file`
    if !command.reads.is_empty()
        && command.name() != "wget"
        && command.reads.iter().all(|file| !file.starts_with("/dev/"))
    {
        return true;
    }
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
    const DELETING: &[&str] = &[
        "_delete_by_query",
        "delete_series",
        "action=UNLOAD",
        "action=DELETE",
        "/delete",
        "/purge",
        "/destroy",
        "/truncate",
        "/flush",
        "/drop",
        "/wipe",
        "<delete>",
        "\"delete\":",
        "flush_all",
        "command=delete",
        "method=delete",
    ];
    is_web_client(command)
        && (method(command).eq_ignore_ascii_case("delete")
            || command
                .words()
                .any(|word| DELETING.iter().any(|part| word.contains(part)) && !word.contains("/deleted")))
}

/// The method of a request to a server.
fn method(command: &Program) -> &str {
    let arguments = &command.arguments;
    let named = arguments.iter().enumerate().find_map(|(at, word)| {
        let next = || arguments.get(at + 1).map(Argument::as_str);
        match word.as_str() {
            "-X" | "--request" | "--method" => next(),
            short if short.starts_with("-X") => Some(&short[2..]),
            long => long
                .strip_prefix("--request=")
                .or_else(|| long.strip_prefix("--method=")),
        }
    });
    let is_httpie = matches!(command.name(), "http" | "https" | "xh" | "xhs" | "httpie");
    let first = || {
        command
            .operands()
            .next()
            .filter(|word| is_httpie && word.len() <= 7 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    let has_data = || {
        let is_data = |word: &&str| {
            matches!(
                *word,
                "-d" | "-F"
                    | "--data"
                    | "--data-raw"
                    | "--data-binary"
                    | "--data-urlencode"
                    | "--json"
                    | "--form"
                    | "--post-data"
                    | "--post-file"
                    | "-T"
                    | "--upload-file"
            ) || word.starts_with("--data")
                || word.starts_with("--post-")
                || word.starts_with("--json=")
                || word.starts_with("-d@")
                || word.starts_with("-d{")
        };
        command.words().any(|word| is_data(&word)) && !command.has_word(&["-G", "--get"])
            || is_httpie
                && (command
                    .operands()
                    .skip(1)
                    .any(|word| word.contains('=') && !word.contains("=="))
                    || !command.reads.is_empty())
    };
    named
        .or_else(first)
        .unwrap_or(if has_data() { "POST" } else { "GET" })
}

/// Whether a request changes something on another machine that the prompt did not ask for: a method that always changes, or a
/// `POST` to what sounds like an action or while the prompt only asks to look.
fn changes_remotely(command: &Program, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const READING: &[&str] = &[
        "search", "query", "graphql", "token", "login", "auth", "_count", "_sql", "completions", "embeddings", "validate", "lookup", "echo", "httpbin", "/post", "rpc", "/check", "/verify",
        "/preview", "/render", "/analyze", "/explain", "/estimate", "/simulate", "/test", "generatecontent", "/messages", "/lint", "example.com", "dry", "/convert", "/diff", "/api/show", "/predict", "pie.dev", "postman-echo",
    ];
    #[rustfmt::skip]
    const ACTING: &[&str] = &[
        "cancel", "disable", "enable", "resolve", "restart", "reboot", "stop", "shutdown", "rollback", "deploy", "trigger", "publish", "merge", "approve", "reject", "admin", "revoke",
        "terminate", "suspend", "refund", "charge", "transfer", "invite", "archive", "close", "lock", "failover", "_close", "_reindex", "_aliases", "_settings", "snapshot", "restore", "build",
        "dispatches", "payout", "promote", "scale", "reset", "pause", "resume", "drain", "evict", "config", "users", "keys", "hooks", "mutation", "batch", "upgrade", "release", "send", "scripttext", "/script", "/eval", "/exec", "_scripts", "dashboards/db", "import", "silences", "annotations", "quietdown", "dooffline", "dodelete",
    ];
    let method = method(command).to_ascii_uppercase();
    if !is_web_client(command)
        || !matches!(method.as_str(), "PUT" | "PATCH" | "POST")
        || posts_message(command)
    {
        return false;
    }
    let request = &context.compiled.request;
    let is_asked = request.orders_any(SEND)
        || request.orders_any(STOP)
        || request.orders_any(CHANGE)
        || request.orders_any(PUBLISH)
        || request.orders_any(RESTART)
        || request.orders_any(REMOVE)
        || request.orders_any(&[
            "try.", "hit.", "request", "post.", "curl", "notify", "resolv", "clos", "approv", "merg",
            "reset", "invok", "run.", "index", "rebuil", "cancel", "probier", "essa", "prueba",
        ]);
    let url = || {
        command
            .words()
            .filter(|word| word.contains("://") || word.contains('/'))
            .map(str::to_ascii_lowercase)
            .collect::<Vec<_>>()
    };
    let has = |parts: &[&str]| {
        url()
            .iter()
            .any(|url| parts.iter().any(|part| url.contains(part)))
            || parts.contains(&"mutation") && command.words().any(|word| word.contains("mutation"))
    };
    !is_asked
        && (method != "POST"
            && !has(&[
                "example.com",
                "httpbin",
                "pie.dev",
                "postman-echo",
                "/_search",
                "_count",
            ])
            || has(ACTING)
            || request.only_looks() && !has(READING))
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
        "slack.com/api/files",
        "api.postmarkapp.com",
        "api.resend.com",
        "api.brevo.com",
        "api.sendinblue.com",
        "mandrillapp.com",
        "api.mailjet.com",
        "api.sparkpost.com",
        "api.mailchimp.com",
        "oapi.dingtalk.com",
        "qyapi.weixin.qq.com",
        "open.feishu.cn",
        "open.larksuite.com",
        "api.line.me",
        "notify-api.line.me",
        "graph.facebook.com",
        "rest.nexmo.com",
        "rest.messagebird.com",
        "fcm.googleapis.com",
        "onesignal.com",
        "exp.host",
        "events.pagerduty.com",
        "api.opsgenie.com",
        "webexapis.com",
        "statuspage.io",
        "api.twitter.com",
        "api.x.com",
        "api.linkedin.com",
    ];
    // Addresses of an own service that send to people.
    const ENDS: &[&str] = &[
        "/mail/send",
        "/sendmail",
        "/send-mail",
        "/send-email",
        "/send_email",
        "/email",
        "/emails",
        "/sms",
        "/notifications",
        "/notify",
        "/broadcast",
        "/newsletter",
        "/push",
        "/announcements",
    ];
    // Some channels send for a `GET`.
    const BY_GET: &[&str] = &["/trigger/", "/sendmessage", "/sendMessage"];
    let url = |word: &str| {
        word.split(['?', '#'])
            .next()
            .unwrap_or(word)
            .trim_end_matches('/')
            .to_owned()
    };
    let is_sent = !matches!(
        method(command).to_ascii_uppercase().as_str(),
        "GET" | "HEAD" | "DELETE"
    );
    is_web_client(command)
        && command.words().filter(|word| word.contains("://")).any(|word| {
            CHANNELS.iter().any(|channel| word.contains(channel))
                && (is_sent || BY_GET.iter().any(|part| word.contains(part)))
                || is_sent && ENDS.iter().any(|end| url(word).ends_with(end)) && !is_example(word)
        })
}

/// Whether a program gets a channel of a chat or the addresses of people: `python -m notify --channel '#general'`.
fn names_channel(command: &Program) -> bool {
    const OPTIONS: &[&str] = &[
        "--channel",
        "--room",
        "--recipient",
        "--recipients",
        "--to",
        "--mail-to",
        "--notify",
    ];
    const OTHERS: &[&str] = &["git", "echo", "gh", "glab", "gpg", "gpg2", "age", "sops"];
    let names_people = |value: &str| {
        value.starts_with('#') && value.len() > 2
            || value.contains('@') && value.contains('.') && !value.contains('/') && !is_example(value)
    };
    let has = |name: &str, value: &str| OPTIONS.contains(&name) && names_people(value);
    let pairs = command.arguments.windows(2).any(|pair| has(&pair[0], &pair[1]));
    let attached = command.words().filter_map(|word| word.split_once('='));
    (pairs || attached.into_iter().any(|(name, value)| has(name, value)))
        && !OTHERS.contains(&command.name())
        && !super::effects::is_harmless(command)
}

/// Whether an address is made for trying requests.
fn is_example(url: &str) -> bool {
    [
        "example.com",
        "example.org",
        "httpbin",
        "pie.dev",
        "postman-echo",
        "webhook.site",
        ".test",
        "mockserver",
    ]
    .iter()
    .any(|part| url.contains(part))
}

/// Whether a plain connection to another machine is fed with what a command prints: `tail app.log | nc host 9999`.
fn pipes_to_host(command: &Program, before: Option<&Program>, programs: &[Program]) -> bool {
    let connects = matches!(command.name(), "nc" | "ncat" | "netcat" | "socat" | "telnet");
    let listens = command.has("--listen", 'l') || command.words().any(|word| word.contains("LISTEN"));
    // What is typed on the line is a request to a service.
    let mut chain = std::iter::successors(before, |program| {
        programs
            .get(program.source?)
            .filter(|earlier| !std::ptr::eq(*earlier, *program))
    })
    .take(MAX_CHAIN);
    let is_typed = |program: &Program| matches!(program.name(), "echo" | "printf" | "yes");
    connects
        && !listens
        && !is_local(command)
        && command.operands().next().is_some_and(|host| host.contains('.'))
        && before.is_some()
        && !chain.any(is_typed)
}

/// Programs that run tests, which often empty the database that they use.
#[rustfmt::skip]
const TEST_RUNNERS: &[&str] = &[
    "ava", "cypress", "jest", "minitest", "mocha", "phpunit", "pest", "playwright", "pytest", "rspec", "vitest",
];

/// Whether tests run in an environment that a variable declares to be production: `RAILS_ENV=production rspec`.
pub(crate) fn tests_production(command: &Program) -> bool {
    let is_production = |assignment: &String| {
        assignment.split_once('=').is_some_and(|(name, value)| {
            matches!(value, "production" | "prod" | "live")
                && (name.ends_with("_ENV")
                    || name.ends_with("_ENVIRONMENT")
                    || name == "ENV"
                    || name == "ENVIRONMENT")
                && name != "NODE_ENV"
        })
    };
    let tests = TEST_RUNNERS.contains(&command.name())
        || command
            .operands()
            .take(3)
            .any(|word| matches!(word, "test" | "spec") || TEST_RUNNERS.contains(&word));
    tests && command.assignments.iter().any(is_production)
}

/// Whether a script gets a store of objects in production as its target: `sync.py --dest gs://media-prod`.
fn writes_to_production(command: &Program) -> bool {
    const STORES: &[&str] = &[
        "s3://", "gs://", "az://", "abfs://", "abfss://", "r2://", "oss://",
    ];
    const TARGETS: &[&str] = &[
        "--dest",
        "--destination",
        "--target",
        "--to",
        "--output",
        "--out",
        "--bucket",
        "--upload",
    ];
    let is_script = matches!(
        command.name(),
        "python" | "python3" | "node" | "ruby" | "perl" | "php" | "bash" | "sh"
    ) || command.word.contains('/');
    let is_production = |word: &str| {
        STORES.iter().any(|store| word.contains(store))
            && word
                .split(|letter: char| !letter.is_alphanumeric())
                .any(|part| matches!(part, "prod" | "production" | "live"))
    };
    let words: Vec<&str> = command.words().collect();
    let follows = words
        .windows(2)
        .any(|pair| TARGETS.contains(&pair[0]) && is_production(pair[1]));
    let attached = words.iter().any(|word| {
        word.split_once('=')
            .is_some_and(|(name, value)| TARGETS.contains(&name) && is_production(value))
    });
    is_script && (follows || attached)
}

/// Programs that can send what they read. Sorted.
#[rustfmt::skip]
const SENDERS: &[&str] = &[
    "croc", "curl", "dig", "ftp", "gist", "host", "http", "https", "lftp", "mail", "mailx", "mutt", "nc", "ncat", "netcat", "nslookup", "openssl", "pastebinit", "rclone", "rsync", "scp", "sendmail", "sftp", "socat", "sprunge", "ssh", "telnet", "wget", "wormhole", "xh",
];

/// Whether a command sends files or variables that probably contain secrets.
fn sends_secrets(command: &Program, before: Option<&Program>, programs: &[Program]) -> bool {
    let program = command.name();
    if SENDERS.binary_search(&program).is_err() || is_local(command) {
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
    // Everything on the way to it, as `cat key | base64 | xargs curl`.
    let mut chain = std::iter::successors(before, |program| {
        let number = program.source?;
        programs
            .get(number)
            .filter(|earlier| !std::ptr::eq(*earlier, *program))
    })
    .take(MAX_CHAIN);
    let outputs = |program: &Program| {
        program.arguments.iter().any(|word| {
            programs
                .get(word.output_of.clone())
                .unwrap_or_default()
                .iter()
                .any(prints_secrets)
        })
    };
    let inside = command
        .arguments
        .iter()
        .flat_map(|word| programs.get(word.output_of.clone()).unwrap_or_default());
    let piped = chain.any(|program| prints_secrets(program) || outputs(program))
        || inside.into_iter().any(prints_secrets)
        || command.reads.iter().any(|file| is_secret_file(file));
    // `tar czf keys.tgz ~/.ssh && scp keys.tgz host:`
    let packed = programs
        .iter()
        .filter(|other| {
            matches!(
                other.name(),
                "tar" | "zip" | "7z" | "gpg" | "cp" | "cat" | "base64" | "openssl"
            )
        })
        .filter(|other| other.operands().any(is_secret_file))
        .any(|other| {
            let names = other.operands().chain(other.targets.iter().map(String::as_str));
            let mut names = names.filter(|name| name.contains('.') && !is_secret_file(name));
            names.any(|name| {
                command
                    .words()
                    .any(|word| word.trim_start_matches('@') == name || word.ends_with(&format!("@{name}")))
            })
        });
    let piped = piped || packed;
    let remote = !matches!(program, "scp" | "rsync" | "sftp")
        || command.operands().last().is_some_and(|word| word.contains(':'));
    remote && (sent_file || piped)
}

/// The maximum number of programs that pass a secret on.
const MAX_CHAIN: usize = 6;

/// Whether a program prints secrets.
fn prints_secrets(program: &Program) -> bool {
    let has = |words: &[&str]| program.operands().any(|word| words.contains(&word));
    match program.name() {
        // A public key is for others.
        "openssl" if program.has_word(&["-pubout", "-pubin"]) => false,
        "printenv" | "env" => program.operands().next().is_none(),
        "export" | "set" | "declare" => program.operands().next().is_none(),
        "security" | "pass" | "op" | "secret-tool" | "history" | "bw" | "lpass" | "gopass" | "rbw"
        | "chamber" => true,
        "kubectl" | "oc" => {
            has(&["secret", "secrets"])
                && (has(&["get"]) || has(&["describe"]))
                && program.has("--output", 'o')
        }
        "vault" | "bao" => has(&["read", "get", "print"]),
        "aws" => has(&[
            "get-secret-value",
            "get-parameter",
            "get-parameters",
            "get-session-token",
            "export-credentials",
        ]),
        "gcloud" => has(&["access", "print-access-token"]),
        "az" => has(&["get-access-token"]) || has(&["secret"]) && has(&["show"]),
        "gh" | "glab" => has(&["token"]),
        "heroku" | "fly" | "vercel" | "railway" | "doppler" | "infisical" => {
            has(&["config", "secrets", "env"]) && !has(&["names"])
        }
        "docker" => has(&["inspect"]) && has(&["env"]),
        "gpg" | "gpg2" => program.words().any(|word| word.starts_with("--export-secret")),
        "cat" | "base64" | "tar" | "gzip" | "zip" | "head" | "tail" | "xxd" | "grep" | "sed" | "awk"
        | "openssl" | "less" | "strings" | "find" | "tee" | "dd" => {
            program.operands().any(is_secret_file) || program.reads.iter().any(|file| is_secret_file(file))
        }
        _ => false,
    }
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
        assert!(SENDERS.is_sorted_by(|one, other| one < other));
    }
}
