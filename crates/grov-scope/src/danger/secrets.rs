//! Secrets of the user that a command prints although nobody asked about them: keys, tokens, passwords.
//!
//! What a command prints goes into the conversation and leaves the machine with it. A secret that another program reads is no
//! danger, and neither are names of variables without their values.

use super::{EvaluationContext, RISKY, finding, is_for_trial};
use grov_domain::{Finding, Program};

/// Programs that print files.
#[rustfmt::skip]
const PRINTERS: &[&str] = &["awk", "bat", "cat", "egrep", "grep", "head", "jq", "less", "more", "nl", "rg", "sed", "strings", "tac", "tail", "type", "xxd", "yq"];

/// Ends of the paths of files with credentials of the user, outside any project.
#[rustfmt::skip]
const FILES: &[&str] = &[
    ".aws/credentials", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".pypirc", ".npmrc", ".docker/config.json", ".kube/config", ".config/gh/hosts.yml", "application_default_credentials.json", ".vault-token",
    ".cargo/credentials.toml", ".gem/credentials", ".s3cfg", ".boto", ".terraform.d/credentials.tfrc.json", ".config/doctl/config.yaml", ".config/hub", ".azure/accesstokens.json", ".config/rclone/rclone.conf",
    "/etc/shadow", "login data", "cookies.sqlite", "logins.json", "key4.db", ".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", ".config/op/config", ".terraformrc", ".pulumi/credentials.json",
];

/// Stems of words in a request that is about secrets, access or the shell.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "secret", "credential", "token", "key.", "keys", "apikey", "passw", "auth", "login", "env.", "environment", "variabl", "ssh", "history", "histor", "denied", "permission", "forbidden", "401", "403", "access", "account", "profile", "kubeconfig",
    "kube", "leak", "vault", "geheim", "zugang", "schlussel", "umgebung", "anmeld", "cle.", "cles", "mot", "contrase", "clave", "credencial", "entorno", "senha", "chave", "chiav", "parola", "parole", "cheie", "hasl", "klucz", "wachtwoord", "sleutel",
    "парол", "ключ", "токен", "секрет", "доступ", "окруж", "密钥", "密码", "令牌", "环境变量", "认证", "登录", "鍵", "パスワード", "認証", "環境変数", "トークン", "sifre", "parola", "anahtar", "config", "registry", "publish",
];

/// Names of variables with secrets, as a search for them spells them.
const NAMES: &[&str] = &["secret", "token", "passw", "key", "credential", "api_"];

/// Whether a program may print secrets, by its name and its words.
pub(super) fn may_print(program: &Program) -> bool {
    !super::effects::is_harmless(program)
        && (is_store(program) || prints_file(program) || searches_environment(program))
}

/// The finding for secrets that end in the conversation.
pub(super) fn printed(
    command: &Program,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    if !may_print(command) || is_substituted(command, context.line) || !is_shown(command, programs) {
        return None;
    }
    let request = &context.compiled.request;
    let is_asked = request.is_about(ABOUT) || command.words().any(is_for_trial);
    let is_searched = !searches_environment(command) || reads_environment(command, programs);
    finding(
        RISKY,
        None,
        "Secrets are printed into the conversation, which was not requested",
    )
    .filter(|_| !is_asked && is_searched)
}

fn prints_file(program: &Program) -> bool {
    let is_secret = |path: &str| {
        let path = path.to_ascii_lowercase();
        let is_outside = path.starts_with(['~', '/', '$']);
        is_outside && FILES.iter().any(|end| path.ends_with(end))
    };
    PRINTERS.binary_search(&program.name()).is_ok()
        && !is_mute(program)
        && (program.operands().any(is_secret) || program.reads.iter().any(|file| is_secret(file)))
}

/// Whether a search prints no lines: `grep -q`, `grep -l`, `grep -c`.
fn is_mute(program: &Program) -> bool {
    let has = |long: &str, letter: char| program.has(long, letter);
    matches!(program.name(), "grep" | "egrep" | "rg")
        && (has("--quiet", 'q')
            || has("--silent", 'q')
            || has("--count", 'c')
            || has("--files-with-matches", 'l')
            || has("--files-without-match", 'L') && program.name() != "rg")
}

/// Whether a program prints a secret of a store.
fn is_store(program: &Program) -> bool {
    let has = |words: &[&str]| program.operands().any(|word| words.contains(&word));
    match program.name() {
        "security" => {
            program.has_word(&["-w", "-g"]) && has(&["find-generic-password", "find-internet-password"])
        }
        "gh" | "glab" => has(&["auth"]) && has(&["token"]),
        "op" => has(&["read"]) || has(&["item"]) && has(&["get"]) && program.has_word(&["--reveal"]),
        "vault" | "bao" => has(&["kv"]) && has(&["get"]) || program.operands().next() == Some("read"),
        "cryptsetup" => has(&["luksDump"]) && program.has_word(&["--dump-master-key", "--dump-volume-key"]),
        "aws" => {
            has(&["get-secret-value"])
                || has(&["get-parameter", "get-parameters", "get-parameters-by-path"])
                    && program.has_word(&["--with-decryption"])
        }
        "gcloud" => {
            has(&["secrets"]) && has(&["access"]) || has(&["print-access-token", "print-identity-token"])
        }
        "az" => has(&["secret"]) && has(&["show"]) || has(&["get-access-token"]),
        "kubectl" | "oc" => {
            has(&["secret", "secrets"])
                && has(&["get"])
                && !program.has_word(&["name", "wide"])
                && program.words().any(|word| {
                    let prints_names = ["=name", "oname", "=wide", "owide"];
                    word.starts_with("-o") && !prints_names.iter().any(|end| word.ends_with(end))
                        || word.starts_with("--output")
                        || word.contains("jsonpath")
                })
        }
        "pass" | "gopass" => has(&["show"]) && !program.has_word(&["-c", "--clip"]),
        "secret-tool" => has(&["lookup"]),
        "bw" => has(&["get"]) && has(&["password", "item"]),
        "gpg" | "gpg2" => program.words().any(|word| word.starts_with("--export-secret")),
        _ => false,
    }
}

/// Whether a program picks secrets out of the environment: `grep -i token`, `printenv API_KEY`.
fn searches_environment(program: &Program) -> bool {
    let is_secret = |word: &str| {
        let word = word.to_ascii_lowercase();
        NAMES.iter().any(|name| word.contains(name))
    };
    match program.name() {
        "grep" | "egrep" | "rg" => {
            program.source.is_some()
                && program.operands().take(1).any(is_secret)
                && !program.has("--count", 'c')
                && !program.has("--quiet", 'q')
                && !program.has("--only-matching", 'o')
        }
        "printenv" => program.operands().any(is_secret),
        _ => false,
    }
}

/// Whether a program reads the environment from the one before.
fn reads_environment(program: &Program, programs: &[Program]) -> bool {
    let is_environment = |before: &Program| {
        matches!(before.name(), "env" | "printenv" | "set" | "export") && before.operands().next().is_none()
    };
    program.name() == "printenv"
        || program
            .source
            .and_then(|at| programs.get(at))
            .is_some_and(is_environment)
}

/// Whether what a program prints reaches the conversation, with the values of secrets.
fn is_shown(program: &Program, programs: &[Program]) -> bool {
    const FILTERS: &[&str] = &[
        "base64", "cat", "egrep", "grep", "head", "jq", "less", "more", "rg", "sort", "tail", "tee", "uniq",
        "yq",
    ];
    if !program.targets.is_empty()
        && program
            .targets
            .iter()
            .all(|target| !target.starts_with('&') && target != "/dev/stdout")
    {
        return false;
    }
    let Some(at) = programs.iter().position(|other| std::ptr::eq(other, program)) else {
        return true;
    };
    let is_inside = |other: &Program| other.arguments.iter().any(|word| word.output_of.contains(&at));
    if programs.iter().any(is_inside) {
        return false;
    }
    match programs.iter().find(|other| other.source == Some(at)) {
        Some(next) => {
            let counts =
                next.has("--count", 'c') || next.has("--quiet", 'q') || next.has("--only-matching", 'o');
            FILTERS.contains(&next.name()) && !counts && is_shown(next, programs)
        }
        None => true,
    }
}

/// Whether a substitution of the line takes the output: `TOKEN=$(gh auth token) make release`.
fn is_substituted(program: &Program, line: &str) -> bool {
    ["$(", "`"].iter().any(|opens| {
        line.match_indices(opens)
            .any(|(at, opens)| line[at + opens.len()..].trim_start().starts_with(&program.word))
    })
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{requests_silent, under};

    #[test]
    fn printed_secrets_are_asked_about() {
        under("Retry uploads with a backoff").asked(&[
            "cat ~/.aws/credentials",
            "cat ~/.aws/credentials && sed -n 1,80p src/up.py",
            "env | grep -i -E 'key|secret|token'",
            "printenv STRIPE_SECRET_KEY",
            "gh auth token",
            "head -5 /etc/shadow",
            "grep token ~/.npmrc",
            "grep -n key ~/.ssh/id_rsa",
            "vault read secret/db",
            "cryptsetup luksDump --dump-master-key /dev/sda2",
            "cryptsetup -q luksDump /dev/sda2 --dump-volume-key",
            "kubectl get secret db -o yaml",
            "aws secretsmanager get-secret-value --secret-id prod/db",
            "kubectl get secret db -o jsonpath='{.data.pw}' | base64 -d",
        ]);
    }

    #[test]
    fn secrets_that_stay_hidden_or_were_asked_for_are_fine() {
        requests_silent(&[
            ("Why is my AWS access denied?", "cat ~/.aws/credentials"),
            ("Show the env vars with tokens", "env | grep -i token"),
            ("Retry uploads with a backoff", "env | grep -c TOKEN"),
            (
                "Retry uploads with a backoff",
                "grep -q token ~/.npmrc && echo yes",
            ),
            ("Retry uploads with a backoff", "grep -l key ~/.ssh/id_rsa"),
            ("Retry uploads with a backoff", "grep -c machine ~/.netrc"),
            ("Retry uploads with a backoff", "gh auth token --help"),
            ("Retry uploads with a backoff", "vault policy read admin"),
            ("Retry uploads with a backoff", "vault kv get --help"),
            ("Retry uploads with a backoff", "cryptsetup luksDump /dev/sda2"),
            (
                "Retry uploads with a backoff",
                "gh auth token | docker login ghcr.io --password-stdin",
            ),
            ("Retry uploads with a backoff", "cat .env.example"),
            ("Retry uploads with a backoff", "grep -rn token src"),
            ("Retry uploads with a backoff", "cat src/key.rs | grep token"),
            ("Retry uploads with a backoff", "env | sort | head"),
            ("Retry uploads with a backoff", "kubectl get secrets"),
            (
                "Retry uploads with a backoff",
                "curl -H \"Authorization: Bearer $(gh auth token)\" https://api.github.com/user",
            ),
        ]);
    }
}
