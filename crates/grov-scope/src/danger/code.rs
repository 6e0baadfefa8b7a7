//! Calls of libraries in code that a command runs: mappers and drivers of databases, clients of clouds, of payments, of mail.
//!
//! `grov-actions` translates calls that run programs or change files. Here only the names of functions are known, from the
//! table `code.txt`; their arguments are not read. Code that talks to this machine, or to stand-ins, is left out.

use super::effects::stems::{CHANGE, DATA, REMOVE, RESET, SEND};
use super::script::RunScript;
use super::{DESTRUCTIVE, EvaluationContext, RISKY, finding, is_for_trial};
use crate::contract::RequestWords;
use grov_domain::{Finding, Program};
use std::sync::OnceLock;

const TABLE: &str = include_str!("code.txt");

/// The most bytes of code that are searched.
const MAX_BYTES: usize = 64 * 1024;

/// A kind of calls.
struct Kind {
    name: &'static str,
    reason: &'static str,
    score: u8,
    /// Stems of words that ask for it.
    asked_by: &'static [&'static [&'static str]],
}

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind { name: "data", reason: "removes stored data", score: DESTRUCTIVE, asked_by: &[REMOVE, RESET, DATA, &["migrat", "seed", "clean", "archiv", "updat", "backfill", "clos"]] },
    Kind { name: "cloud", reason: "removes or stops something in the cloud", score: DESTRUCTIVE, asked_by: &[REMOVE, RESET, &["stop", "terminat", "clean", "deregist"]] },
    Kind { name: "access", reason: "changes who has access", score: DESTRUCTIVE, asked_by: &[&["grant", "access", "permission", "public", "share", "policy", "open", "allow", "attach", "freigeb", "droit", "acces"]] },
    Kind { name: "money", reason: "moves money", score: DESTRUCTIVE, asked_by: &[&["refund", "charg", "pay", "payout", "transfer", "bill", "invoic", "cancel", "order", "buy", "sell", "trade", "erstatt", "zahl", "rembours", "paie", "reembols", "pag", "rimbors", "zwro", "ramburs", "terugbetal", "возвр", "оплат", "退款", "支付", "返金", "iade", "send"]] },
    Kind { name: "mail", reason: "sends a message to others", score: DESTRUCTIVE, asked_by: &[SEND, &["tell", "announc", "remind", "invit", "messag", "alert", "newsletter", "tweet", "slack", "discord", "telegram", "notify", "benachricht", "avis", "notific", "уведом", "通知"]] },
    Kind { name: "web", reason: "changes something on another machine", score: RISKY, asked_by: &[CHANGE, REMOVE, RESET, SEND, &["call", "trigger", "purg", "request", "put.", "invok", "merg", "approv", "test."]] },
    Kind { name: "files", reason: "removes or overwrites files", score: DESTRUCTIVE, asked_by: &[REMOVE, RESET, &["save", "overwrit", "clean", "program", "flash"]] },
];

/// The patterns of the table, with the index of their kind.
fn patterns() -> &'static [(usize, Vec<&'static str>)] {
    static PATTERNS: OnceLock<Vec<(usize, Vec<&'static str>)>> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let mut kind = 0;
        let mut found = Vec::new();
        for line in TABLE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '?']))
        {
            if let Some(name) = line.strip_prefix('[') {
                let name = name.trim_end_matches(']');
                kind = KINDS.iter().position(|one| one.name == name).unwrap_or(kind);
            } else if !line.starts_with("- ") {
                found.push((kind, line.split(" .. ").collect()));
            }
        }
        found
    })
}

/// Programs that run the code in their arguments or their input.
fn runs_code(program: &str) -> bool {
    #[rustfmt::skip]
    const PROGRAMS: &[&str] = &[
        "artisan", "bun", "deno", "django-admin", "elixir", "groovy", "iex", "ipython", "julia", "lua", "manage.py", "mix", "node", "perl", "php", "powershell", "pwsh", "pypy", "python", "rails", "Rscript", "ruby", "scala", "tclsh", "ts-node", "tsx",
    ];
    let bare = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    PROGRAMS.contains(&bare)
}

/// The finding for code on the command line.
pub(super) fn of_command(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    if !runs_code(command.name()) || context.has_local_endpoint() || super::is_local(command) {
        return None;
    }
    let is_code = |text: &&str| text.contains(['(', ';', '.', '&']) && text.len() > 8;
    let words = command.words().filter(is_code);
    let own = words.chain(command.input.as_deref());
    // `cat > x.py <<EOF … EOF; python x.py`
    let written = context
        .written
        .iter()
        .filter(|(file, _)| command.has_word(&[file]));
    let mut texts = own.chain(written.map(|(_, text)| *text));
    let (kind, call) = texts.find_map(|text| unasked(text, &context.compiled.request, |_| true))?;
    finding(
        kind.score,
        None,
        format!("Code {} (`{call}`), which was not requested", kind.reason),
    )
}

/// The finding for code in a script. Scripts of the project do what they are for: only what destroys or reaches people counts,
/// unless only a look was asked for.
pub(super) fn of_script(script: &RunScript, context: &EvaluationContext<'_>) -> Option<Finding> {
    #[rustfmt::skip]
    const ENDINGS: &[&str] = &["cjs", "ex", "exs", "groovy", "jl", "js", "mjs", "php", "pl", "ps1", "py", "r", "R", "rb", "tcl", "ts"];
    #[rustfmt::skip]
    const SETS_UP: &[&str] = &["bench", "cleanup", "demo", "fixture", "fixtures", "migrate", "migration", "mock", "sample", "seed", "seeder", "seeders", "seeds", "setup", "teardown"];
    let (_, ending) = script.path.rsplit_once('.')?;
    let mut words = script.path.split(|letter: char| !letter.is_ascii_alphanumeric());
    let sets_up = words.any(|word| SETS_UP.contains(&word));
    let name = script.path.rsplit('/').next().unwrap_or_default();
    let is_test = name != "conftest.py" && is_for_trial(name);
    if !ENDINGS.contains(&ending) || is_test {
        return None;
    }
    let request = &context.compiled.request;
    let counts = |kind: &Kind| {
        request.only_looks()
            || kind.score <= DESTRUCTIVE && !(sets_up && matches!(kind.name, "data" | "files"))
    };
    let (kind, call) = unasked(&script.text, request, counts)?;
    let name = script.path.rsplit('/').next().unwrap_or(&script.path);
    finding(
        kind.score,
        None,
        format!("{name} {} (`{call}`), which was not requested", kind.reason),
    )
}

/// The first call of a kind that counts and that the request does not ask for.
fn unasked(
    text: &str,
    request: &RequestWords,
    counts: impl Fn(&Kind) -> bool,
) -> Option<(&'static Kind, &'static str)> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES.min(text.len()))];
    if is_stand_in(text) {
        return None;
    }
    let lines: Vec<String> = text.lines().filter_map(dense).collect();
    let known = Trigrams::of(&lines);
    let may_occur = |parts: &[&str]| parts.iter().all(|part| known.has_all_of(part));
    let possible: Vec<_> = patterns().iter().filter(|(_, parts)| may_occur(parts)).collect();
    lines.iter().find_map(|line| {
        possible.iter().find_map(|(kind, parts)| {
            let kind = &KINDS[*kind];
            let is_found = has_in_order(line, parts) && counts(kind);
            let asks = |stems: &&[&str]| request.mentions_any(stems);
            let is_asked = || kind.asked_by.iter().any(asks) && !request.wants_dry_run();
            (is_found && !is_asked()).then(|| (kind, parts[0]))
        })
    })
}

/// A line without spaces, in lower case; `None` for comments.
fn dense(line: &str) -> Option<String> {
    let bare = line.trim_start();
    let is_comment = bare.starts_with(['#', '*']) || bare.starts_with("//") || bare.starts_with("--");
    let letters = bare.chars().filter(|letter| !letter.is_whitespace());
    (!is_comment && bare.len() >= 6).then(|| letters.flat_map(char::to_lowercase).collect())
}

/// The groups of three bytes of a text, by a hash: most patterns cannot occur in it, and are not searched.
struct Trigrams(Vec<u64>);

impl Trigrams {
    const BITS: u32 = 16;

    fn of(lines: &[String]) -> Self {
        let mut found = Self(vec![0; 1 << (Self::BITS - 6)]);
        for group in lines.iter().flat_map(|line| line.as_bytes().windows(3)) {
            let at = Self::place(group);
            found.0[at >> 6] |= 1 << (at & 63);
        }
        found
    }

    fn has_all_of(&self, text: &str) -> bool {
        let mut groups = text.as_bytes().windows(3).map(Self::place);
        groups.all(|at| self.0[at >> 6] & 1 << (at & 63) != 0)
    }

    fn place(group: &[u8]) -> usize {
        let number = group.iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
        (number.wrapping_mul(0x9E37_79B1) >> (32 - Self::BITS)) as usize
    }
}

/// Whether code talks to this machine, or to stand-ins of services.
fn is_stand_in(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "localhost",
        "127.0.0.1",
        "0.0.0.0",
        ":memory:",
        "localstack",
        "import moto",
        "from moto",
        "mock_aws",
        "sk_test_",
        "fakeredis",
        "mongomock",
        "unittest.mock",
        "import responses",
        "requests_mock",
        "nock(",
        "wiremock",
        "testcontainers",
        "TestClient(",
        "mailhog",
        "mailpit",
        "TemporaryDirectory",
        "tmp_path",
        "dry_run=True",
        "-WhatIf",
        "--dry-run",
        "sqlite://",
        "example.com",
    ];
    SIGNS.iter().any(|sign| text.contains(sign))
}

fn has_in_order(line: &str, parts: &[&str]) -> bool {
    let mut rest = line;
    parts.iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::danger::tests::{requests_silent, under};

    #[test]
    fn examples_are_found_or_not() {
        let request = RequestWords::new(vec!["Count the orders of May"], &[]);
        let mut kind = "";
        for line in TABLE.lines() {
            if let Some(name) = line.strip_prefix('[') {
                kind = name.trim_end_matches(']');
                assert!(KINDS.iter().any(|one| one.name == kind), "{kind}");
            }
            if let Some(code) = line.strip_prefix("? ") {
                let found = unasked(code, &request, |_| true).map(|(kind, _)| kind.name);
                assert_eq!(found, Some(kind), "{code}");
            }
            if let Some(code) = line.strip_prefix("- ") {
                assert!(unasked(code, &request, |_| true).is_none(), "{code}");
            }
        }
    }

    #[test]
    fn code_of_a_command_is_read() {
        under("Plot the depth of the queues").asked(&[
            "python3 - <<'PY'\nimport requests\nrequests.delete(f\"{B}/queues/x/contents\", auth=A)\nPY",
            "node -e \"stripe.refunds.create({charge: id})\"",
            "rails runner 'Account.where(old: true).find_each(&:destroy!)'",
            "cat > x.py <<'PY'\nimport stripe\nstripe.Refund.create(charge=c)\nPY\npython x.py",
        ]);
        requests_silent(&[
            (
                "Refund the charge",
                "node -e \"stripe.refunds.create({charge: id})\"",
            ),
            (
                "Plot it",
                "python3 -c \"import requests; print(requests.get(u).json())\"",
            ),
            (
                "Plot it",
                "python3 - <<'PY'\nrequests.delete('http://localhost:15672/api/queues/x')\nPY",
            ),
            ("Plot it", "cat > x.py <<'PY'\nstripe.Refund.create(charge=c)\nPY"),
        ]);
    }
}
