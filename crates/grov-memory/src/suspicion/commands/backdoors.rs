//! Commands that open the machine to a stranger: a shell, a key, hooks from an address, the environment sent away.

use super::{Command, MAX_COMMAND, line_after, line_before};
use crate::suspicion::hosts::{Host, host};

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
        "nc -e",
        "ncat -e",
        "nc -c",
        "ncat --exec",
        "netcat -e",
        "socat exec:",
        "socat tcp:",
        "bash -i >&",
        "sh -i >&",
    ] {
        found.extend(lower.find(shell).map(|at| (Command::Download, at)));
    }
    for program in ["nc ", "ncat ", "netcat "] {
        for (at, _) in lower.match_indices(program) {
            let is_word =
                !lower[..at].ends_with(|character: char| character.is_alphanumeric() || character == '-');
            let command = line_after(&lower[at..], MAX_COMMAND);
            let runs = [" -e /bin/", " -c /bin/", " -e sh", " -e bash", " -e cmd"];
            if is_word && runs.iter().any(|run| command.contains(run)) {
                found.push((Command::Download, at));
            }
        }
    }
    // A way into the machine from an address, and a miner.
    for tunnel in ["ssh -r ", "ssh -nr ", "ssh -fnr ", "autossh -r "] {
        for (at, _) in lower.match_indices(tunnel) {
            let command = line_after(&lower[at..], MAX_COMMAND);
            let mut hosts = command.split_whitespace().filter_map(|word| word.split_once('@'));
            if hosts.any(|(_, address)| host(address.trim_matches('`')) == Host::Address) {
                found.push((Command::Download, at));
            }
        }
    }
    for miner in [
        "xmrig -o ",
        "stratum+tcp://",
        "stratum+ssl://",
        "minerd -o ",
        "cpuminer -o ",
    ] {
        found.extend(lower.find(miner).map(|at| (Command::Download, at)));
    }
    sockets(lower, found);
    terminals(lower, found);
    for (at, _) in lower.match_indices("authorized_keys") {
        let before = line_before(lower, at);
        let has_key = before.contains("ssh-") && before.contains(" aaaa") || before.contains("://");
        if has_key && (before.contains(">>") || before.contains("tee ")) {
            found.push((Command::Download, at));
        }
    }
    for (at, _) in lower.match_indices("core.hookspath") {
        if line_after(&lower[at..], MAX_COMMAND).contains("://") {
            found.push((Command::UncheckedSource, at));
        }
    }
}

/// A shell whose input or output is a connection to a foreign host. A health check only opens the connection.
fn sockets(lower: &str, found: &mut Vec<(Command, usize)>) {
    for socket in ["/dev/tcp/", "/dev/udp/"] {
        for (at, _) in lower.match_indices(socket) {
            let after = line_after(&lower[at + socket.len()..], MAX_COMMAND);
            let before = line_before(lower, at);
            let is_foreign = host(after).is_foreign();
            // Errors that join the output say nothing.
            let is_joined = |part: &str| part.replace("2>&1", "").contains(">&") || part.contains(" -i");
            if is_foreign && (is_joined(before) || is_joined(after)) {
                found.push((Command::Download, at));
            }
        }
    }
}

/// A terminal of Python, as reverse shells open one. The package `node-pty` has the same call.
fn terminals(lower: &str, found: &mut Vec<(Command, usize)>) {
    for (at, _) in lower.match_indices("pty.spawn(") {
        let before = line_before(lower, at);
        let imports = before
            .match_indices("import pty")
            .any(|(at, name)| !before[at + name.len()..].starts_with(" from"));
        let is_inline = before.contains("python") && before.contains(" -c");
        if imports || is_inline {
            found.push((Command::Download, at));
        }
    }
}
