//! Sentences that send a file or a variable with a secret somewhere.

use super::phrases::is_negated;
use super::{Feature, Finding, SuspicionKind};

/// Ends of the names of files with secrets.
const FILES: &[&str] = &[
    ".env",
    "id_rsa",
    "id_ed25519",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    "/etc/shadow",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    "gh/hosts.yml",
    ".pem",
    ".p12",
    ".kdbx",
    ".cargo/credentials.toml",
    "cookies.sqlite",
    "login.keychain-db",
    "wallet.dat",
    ".bash_history",
    ".zsh_history",
];
/// Beginnings of words for sending, in the known languages.
const VERBS: &[&str] = &[
    "send",
    "sende",
    "schick",
    "übermittel",
    "upload",
    "post",
    "mail",
    "email",
    "commit",
    "publish",
    "copy",
    "add",
    "put",
    "paste",
    "attach",
    "envo",
    "enví",
    "envi",
    "mand",
    "invi",
    "wyślij",
    "prześlij",
    "gönder",
    "yükle",
    "отправ",
    "перешли",
    "загрузи",
    "надішли",
    "відправ",
    "trimit",
    "stuur",
    "verstuur",
    "skicka",
    "pošli",
    "kirim",
    "发送",
    "上传",
    "送信",
    "보내",
    "전송",
];
/// Places that others can read.
const PLACES: &[&str] = &[
    "repository",
    "repo",
    "gist",
    "pastebin",
    "issue",
    "pull",
    "pr",
    "readme",
    "readme.md",
    "public",
    "public/",
    "changelog",
    "wiki",
    "branch",
];

/// Most words between "to" and the place: "to a new public repository".
const PLACE_REACH: usize = 3;

/// What a sentence that sends a secret means, or `None`. An address counts by itself, in any order of the words. A place such
/// as a repository is ordinary ("add certs/dev.pem to the repo"): it counts in the order of a command, with another feature.
pub(super) fn secret_file_sent(words: &[&str]) -> Option<Finding> {
    let has_address = words.iter().any(|word| is_address(word));
    // Most sentences name neither.
    if !has_address && !words.iter().any(|word| PLACES.contains(word)) {
        return None;
    }
    let file = (0..words.len()).find(|at| is_secret_file(words[*at]) || is_secret_variable(words, *at))?;
    let verb = words
        .iter()
        .position(|word| VERBS.iter().any(|verb| word.starts_with(verb)))?;
    if is_advised_against(words, verb) {
        return None;
    }
    if has_address {
        return Some(Finding::Kind(SuspicionKind::Exfiltration));
    }
    let after = &words[file..];
    let is_named = after.iter().enumerate().any(|(at, word)| {
        let mut near = after.iter().skip(at + 1).take(PLACE_REACH + 1);
        matches!(*word, "to" | "into" | "in") && near.any(|word| PLACES.contains(word))
    });
    // A file of the user's home is never a part of the project.
    let is_of_home = ["~/", "$home/", "/home/"]
        .iter()
        .any(|home| words[file].starts_with(home));
    (verb < file && is_named).then_some(if is_of_home {
        Finding::Kind(SuspicionKind::Exfiltration)
    } else {
        Finding::Feature(Feature::Sent)
    })
}

fn is_address(word: &str) -> bool {
    word.contains("://") || word.contains('@') && word.contains('.') && !word.contains('/')
}

/// Whether a sentence says not to do what the verb says. "Do not ask" does not negate another verb.
pub(super) fn is_advised_against(words: &[&str], verb: usize) -> bool {
    const OTHER_VERBS: &[&str] = &[
        "ask", "tell", "mention", "inform", "notify", "report", "wait", "stop", "bother", "alert", "hesitate",
    ];
    let is_negation = |at: usize| {
        is_negated(words, at + 1, 1) && !words.get(at + 1).is_some_and(|next| OTHER_VERBS.contains(next))
    };
    let is_avoided = |at: usize| match words[at] {
        "avoid" | "avoids" => at < verb,
        "instead" => at < verb && words.get(at + 1) == Some(&"of"),
        ".gitignore" | "gitignore" => at == 0 || words[at - 1] != "from",
        "gitignored" => true,
        _ => false,
    };
    (0..verb).any(is_negation) || (0..words.len()).any(is_avoided)
}

/// Whether a word refers to a variable with a secret: `$NPM_TOKEN`, or `${NPM_TOKEN}`, of which `$` is a word.
fn is_secret_variable(words: &[&str], at: usize) -> bool {
    const ENDS: &[&str] = &["token", "secret", "password", "key", "passwd", "credentials"];
    let Some((_, name)) = words[at].rsplit_once('$') else {
        return false;
    };
    let name = match words.get(at + 1) {
        Some(&next) if name.is_empty() => next,
        _ => name,
    };
    let name = name.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    ENDS.iter().any(|end| name.ends_with(end))
}

fn is_secret_file(word: &str) -> bool {
    FILES.iter().any(|file| {
        word.strip_suffix(file).is_some_and(|before| {
            before.is_empty() || before.ends_with('/') || file.starts_with('.') && before.ends_with('~')
        })
    })
}
