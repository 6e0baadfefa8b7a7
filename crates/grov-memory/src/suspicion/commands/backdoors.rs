//! Commands that open the machine to a stranger: a shell, a key, hooks from an address, the environment sent away.

use super::{Command, MAX_COMMAND, line_after, line_before};

/// A shell for a stranger, a key for one, or hooks from an address.
pub(super) fn backdoors(lower: &str, found: &mut Vec<(Command, usize)>) {
    for environment in [
        "process.env)",
        "dict(os.environ)",
        "json=os.environ",
        "env::vars()",
    ] {
        for (at, _) in lower.match_indices(environment) {
            let before = line_before(lower, at);
            if before.contains("://")
                && ["post", "fetch(", "send("]
                    .iter()
                    .any(|verb| before.contains(verb))
            {
                found.push((Command::Secret, at));
            }
        }
    }
    for shell in [
        "/dev/tcp/",
        "/dev/udp/",
        "nc -e",
        "ncat -e",
        "nc -c",
        "ncat --exec",
        "netcat -e",
        "socat exec:",
        "socat tcp:",
        "pty.spawn(",
        "bash -i >&",
        "sh -i >&",
    ] {
        found.extend(lower.find(shell).map(|at| (Command::Download, at)));
    }
    for (at, _) in lower.match_indices("authorized_keys") {
        let before = line_before(lower, at);
        if before.contains(">>") || before.contains("tee ") {
            found.push((Command::Download, at));
        }
    }
    for (at, _) in lower.match_indices("core.hookspath") {
        if line_after(&lower[at..], MAX_COMMAND).contains("://") {
            found.push((Command::UncheckedSource, at));
        }
    }
}
