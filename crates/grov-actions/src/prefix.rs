//! Programs that run the command given in their arguments: `sudo -u root rm`, `nice -n 10 make`, `ssh host ls`.
//!
//! Entry point: [`prefix`]. An option that is not in a program's table takes no value, and the answer says that this is a
//! guess: then the command may also begin one word later.

pub(crate) use grov_domain::ExecutionHost;

/// How a program runs the command in its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// The argument that the command begins with; the number of arguments if there is none.
    pub(crate) command: usize,
    /// An option before the command is unknown: its value may be the word that the command seems to begin with.
    pub(crate) is_guess: bool,
    /// Scripts for a shell, which an option holds: `su -c '…'`.
    pub(crate) scripts: Vec<String>,
    /// The arguments are the words of a script for a shell.
    pub(crate) is_script: bool,
    /// Where the command runs.
    pub(crate) host: ExecutionHost,
    /// Folders of this machine that a container sees, and where: `-v /srv:/data`.
    pub(crate) mounts: Vec<(String, String)>,
    /// The folder in the container that the command runs in.
    pub(crate) folder: Option<String>,
    /// The program that a container runs instead of its own.
    pub(crate) entrypoint: Option<String>,
}

/// The options and operands that stand before the command.
#[derive(Clone, Copy)]
struct Shape {
    /// Short options that take a value.
    valued: &'static str,
    /// Short options that take none.
    flags: &'static str,
    /// Long options that take a value.
    names: &'static [&'static str],
    /// Options whose value is a script for a shell.
    scripts: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
    /// Options may also stand behind the operands.
    permutes: bool,
}

const fn shape(valued: &'static str, flags: &'static str, operands: usize) -> Shape {
    Shape {
        valued,
        flags,
        names: &[],
        scripts: &[],
        operands,
        permutes: false,
    }
}

impl Shape {
    const fn named(self, names: &'static [&'static str]) -> Self {
        Self { names, ..self }
    }

    const fn permuting(self) -> Self {
        Self {
            permutes: true,
            ..self
        }
    }

    const fn scripted(self, scripts: &'static [&'static str]) -> Self {
        Self { scripts, ..self }
    }
}

/// Long options without a value that stand before commands often.
#[rustfmt::skip]
const LONG_FLAGS: &[&str] = &[
    "askpass", "background", "batch", "close", "debug", "detach", "exclusive", "fifo", "foreground", "fork", "idle",
    "ignore-environment", "init", "interactive", "keep-order", "kill-who", "login", "no-deps", "no-run-if-empty",
    "nonblock", "non-interactive", "null", "other", "pipe", "preserve-environment", "preserve-env", "preserve-status",
    "privileged", "quiet", "read-only", "reset-timestamp", "rm", "rr", "scope", "set-home", "shared", "shell",
    "stdin", "tty", "unlock", "user-unit", "verbose", "wait", "collect", "pty",
];

/// What stands before the command of a program; `None`: it runs none.
#[rustfmt::skip]
fn shape_of(program: &str) -> Option<Shape> {
    Some(match program {
        "sudo" => shape("ugpCThRrtDUa", "AbEeHiKklNnPSsVvB", 0).named(&[
            "user", "group", "prompt", "host", "chdir", "chroot", "role", "type", "close-from", "command-timeout",
            "other-user", "auth-type", "login-class",
        ]),
        "doas" => shape("uCa", "nsL", 0),
        "pkexec" => shape("", "", 0).named(&["user"]),
        "env" => shape("uCPS", "i0v", 0)
            .named(&["unset", "chdir", "split-string"])
            .scripted(&["-S", "--split-string"]),
        "nice" => shape("n", "0123456789", 0).named(&["adjustment"]),
        "ionice" => shape("cnpPu", "t", 0).named(&["class", "classdata", "pid", "pgid", "uid"]),
        "chrt" => shape("TPD", "abdefimorRv", 1).named(&["sched-runtime", "sched-period", "sched-deadline"]),
        "taskset" => shape("", "acp", 1),
        "timeout" | "gtimeout" => shape("ks", "fvp", 1).named(&["kill-after", "signal"]),
        "stdbuf" => shape("ioe", "", 0).named(&["input", "output", "error"]),
        "time" | "gtime" => shape("fo", "pvaq", 0).named(&["format", "output"]),
        "nohup" | "chronic" | "unbuffer" | "builtin" | "busybox" | "toybox" | "catchsegv" | "setarch"
        | "linux64" | "fakeroot" => shape("", "", 0),
        "caffeinate" => shape("tw", "disum", 0),
        "setsid" => shape("", "cfw", 0),
        "command" => shape("", "pvV", 0),
        "exec" => shape("a", "cl", 0),
        "flock" => shape("wE", "sxenouFv", 1)
            .named(&["wait", "timeout", "conflict-exit-code"])
            .scripted(&["-c", "--command"]),
        "watch" => shape("nq", "bcdegtxp", 0).named(&["interval", "equexit"]),
        "xargs" => shape("IadEnPsLJRS", "0rtpxeilo", 0).named(&[
            "arg-file", "delimiter", "max-args", "max-procs", "max-lines", "max-chars", "process-slot-var",
        ]),
        "parallel" => shape("jaINnLPsSCd", "kXm0uqtv", 0).named(&[
            "jobs", "arg-file", "max-procs", "max-args", "colsep", "delay", "joblog", "results", "sshlogin", "timeout",
            "retries", "tagstring", "halt", "replace",
        ]),
        "chroot" => shape("", "", 1),
        "unshare" | "bwrap" | "firejail" | "proot" => shape("", "muinpUCTrfc", 0),
        "nsenter" => shape("tSGrw", "amuinpUCTF", 0).named(&["target", "setuid", "setgid"]),
        "systemd-run" => shape("pMuH", "GPqrtdS", 0).named(&[
            "property", "machine", "unit", "uid", "gid", "nice", "setenv", "working-directory", "slice", "description",
            "on-active", "on-calendar",
        ]),
        "strace" | "ltrace" => shape("eopsaPEuSIbX", "fFcCdiknqrtTvVwxyYzZ", 0),
        "numactl" => shape("iplmNC", "", 0),
        "setpriv" => shape("", "", 0).named(&["reuid", "regid", "groups"]),
        "rlwrap" => shape("bcCfgHlpPSsz", "ADeimnNorRvwa", 0),
        "script" => shape("cEIOBTmo", "aefqt", 1).scripted(&["-c", "--command"]).permuting(),
        "su" => shape("csgGw", "lmpP", 2)
            .named(&["command", "shell", "group", "supp-group"])
            .scripted(&["-c", "--command", "--session-command"]).permuting(),
        "runuser" => shape("ucgGsw", "lmp", 0)
            .named(&["user", "command", "shell", "group", "supp-group"])
            .scripted(&["-c", "--command"]),
        "sg" => shape("c", "", 1).scripted(&["-c"]),
        "ssh" => shape("BbcDEeFIiJLlmOopQRSWw", "46AaCfGgKkMNnqsTtVvXxYy", 1).permuting(),
        _ => return None,
    })
}

/// `docker run` and `docker exec`: image or container stand before the command.
#[rustfmt::skip]
const CONTAINER: Shape = shape("vewpulhmcaf", "itdPqT", 1).named(&[
    "volume", "mount", "env", "env-file", "name", "workdir", "publish", "user", "network", "net", "label",
    "entrypoint", "hostname", "memory", "cpus", "cpu-shares", "device", "add-host", "dns", "gpus", "ipc", "pid",
    "platform", "restart", "shm-size", "tmpfs", "ulimit", "volumes-from", "log-driver", "log-opt", "link", "cap-add",
    "cap-drop", "security-opt", "pull", "stop-signal", "stop-timeout", "expose", "cidfile", "runtime", "userns",
    "uts", "annotation", "attach", "cpuset-cpus", "detach-keys", "group-add", "ip", "mac-address", "memory-swap",
    "network-alias", "oom-score-adj", "pids-limit", "storage-opt", "sysctl", "volume-driver", "index", "label-file",
    "file", "project-name", "profile", "project-directory", "context", "host", "config", "log-level",
]);

/// Options with their values, and where the command begins.
#[derive(Default)]
struct Walked<'a> {
    values: Vec<(String, &'a str)>,
    operands: Vec<&'a str>,
    command: usize,
    is_guess: bool,
}

impl<'a> Walked<'a> {
    fn of(arguments: &[&'a str], shape: Shape) -> Self {
        let mut walked = Self::default();
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            if *word == "--" {
                at += 1;
                // What follows is no option, but may still be an operand.
                while walked.operands.len() < shape.operands && at < arguments.len() {
                    walked.operands.push(arguments[at]);
                    at += 1;
                }
                break;
            } else if word.len() > 1
                && word.starts_with('-')
                && (shape.permutes || shape.operands == 0 || walked.operands.len() < shape.operands)
            {
                at += walked.option(word, arguments.get(at + 1).copied(), shape);
            } else if walked.operands.len() < shape.operands {
                walked.operands.push(word);
                at += 1;
            } else {
                break;
            }
        }
        walked.command = at.min(arguments.len());
        walked
    }

    /// Takes an option; how many words it is.
    fn option(&mut self, word: &'a str, next: Option<&'a str>, shape: Shape) -> usize {
        if let Some(long) = word.strip_prefix("--") {
            if let Some((name, value)) = long.split_once('=') {
                self.values.push((format!("--{name}"), value));
                return 1;
            }
            if shape.names.contains(&long) || shape.scripts.contains(&word) {
                self.values.push((word.to_owned(), next.unwrap_or_default()));
                return 2;
            }
            self.is_guess |= !LONG_FLAGS.contains(&long);
            return 1;
        }
        for (at, letter) in word.char_indices().skip(1) {
            let option = format!("-{letter}");
            if shape.valued.contains(letter) || shape.scripts.contains(&option.as_str()) {
                let attached = &word[at + letter.len_utf8()..];
                let is_apart = attached.is_empty();
                self.values.push((
                    option,
                    if is_apart {
                        next.unwrap_or_default()
                    } else {
                        attached
                    },
                ));
                return 1 + usize::from(is_apart);
            }
            if !shape.flags.contains(letter) {
                self.is_guess = true;
                return 1;
            }
            // Behind these a value may stand without a space: `xargs -i{}`, `nice -10`.
            if matches!(letter, 'e' | 'i' | 'l' | '0'..='9') && shape.valued.contains('n') && word.len() > 2 {
                return 1;
            }
        }
        1
    }

    fn value(&self, names: &[&str]) -> Option<&'a str> {
        let mut values = self.values.iter().rev();
        values
            .find(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, value)| *value)
    }
}

/// How a program, by its name without a folder, runs the command in its arguments; `None`: it runs none.
pub(crate) fn prefix(program: &str, arguments: &[&str]) -> Option<Prefix> {
    if matches!(
        program,
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose"
    ) {
        return container(arguments);
    }
    if matches!(program, "kubectl" | "oc") {
        let exec = arguments.iter().position(|word| *word == "exec")?;
        let dashes = arguments.iter().skip(exec).position(|word| *word == "--")?;
        return Some(Prefix {
            command: exec + dashes + 1,
            host: ExecutionHost::Remote,
            ..Prefix::default()
        });
    }
    let shape = shape_of(program)?;
    let walked = Walked::of(arguments, shape);
    let scripts = walked
        .values
        .iter()
        .filter(|(name, _)| shape.scripts.contains(&name.as_str()));
    let mut prefix = Prefix {
        command: walked.command,
        is_guess: walked.is_guess,
        scripts: scripts.map(|(_, script)| (*script).to_owned()).collect(),
        is_script: matches!(program, "ssh" | "watch"),
        host: if program == "ssh" {
            ExecutionHost::Remote
        } else {
            ExecutionHost::Local
        },
        ..Prefix::default()
    };
    match program {
        "env" | "sudo" | "doas" => {
            let is_assignment = |word: &&&str| assigns(word);
            let rest = arguments.get(prefix.command..).unwrap_or_default();
            prefix.command += rest.iter().take_while(is_assignment).count();
        }
        // These only say where the program is.
        "command" if matches!(arguments.first(), Some(&"-v" | &"-V")) => prefix.command = arguments.len(),
        // What they are given beside a script is none.
        "su" | "script" => prefix.command = arguments.len(),
        "sg" | "flock" => {
            let rest = arguments.get(prefix.command..).unwrap_or_default();
            if let ["-c" | "--command", script, ..] = rest {
                prefix.scripts.push((*script).to_owned());
                prefix.command = arguments.len();
            }
        }
        _ => {}
    }
    Some(prefix)
}

/// Whether a word sets a variable: `A=b`.
fn assigns(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// `docker run IMAGE …`, `docker exec CONTAINER …`, `docker compose exec SERVICE …`.
fn container(arguments: &[&str]) -> Option<Prefix> {
    let global = Walked::of(
        arguments,
        Shape {
            operands: 0,
            ..CONTAINER
        },
    );
    let mut at = global.command;
    for group in ["container", "compose"] {
        if arguments.get(at) == Some(&group) {
            at += 1;
            at += Walked::of(
                &arguments[at..],
                Shape {
                    operands: 0,
                    ..CONTAINER
                },
            )
            .command;
        }
    }
    if !matches!(arguments.get(at), Some(&"run" | &"exec")) {
        return None;
    }
    at += 1;
    let walked = Walked::of(&arguments[at..], CONTAINER);
    let bound = walked
        .values
        .iter()
        .filter_map(|(name, value)| match name.as_str() {
            "-v" | "--volume" => {
                let mut parts = value.split(':');
                Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
            }
            "--mount" => {
                let field = |names: &[&str]| {
                    let mut fields = value.split(',').filter_map(|field| field.split_once('='));
                    fields
                        .find(|(name, _)| names.contains(name))
                        .map(|(_, value)| value.to_owned())
                };
                Some((
                    field(&["source", "src"])?,
                    field(&["target", "destination", "dst"])?,
                ))
            }
            _ => None,
        });
    Some(Prefix {
        command: at + walked.command,
        is_guess: walked.is_guess,
        host: ExecutionHost::Container,
        mounts: bound.collect(),
        folder: walked.value(&["-w", "--workdir"]).map(str::to_owned),
        entrypoint: walked.value(&["--entrypoint"]).map(str::to_owned),
        ..Prefix::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> (String, bool) {
        let words: Vec<&str> = line.split(' ').collect();
        let found = prefix(words[0], &words[1..]).unwrap();
        (words[1 + found.command..].join(" "), found.is_guess)
    }

    #[test]
    fn values_of_options_are_no_commands() {
        for line in [
            "sudo -u root rm -rf /",
            "sudo -nu root A=b rm -rf /",
            "sudo --user=root -- rm -rf /",
            "nice -n 10 rm -rf /",
            "nice -10 rm -rf /",
            "nice -n10 rm -rf /",
            "ionice -c 3 -n7 rm -rf /",
            "chrt -f 10 rm -rf /",
            "taskset -c 0,1 rm -rf /",
            "timeout -s KILL --kill-after 2 1m rm -rf /",
            "env -i -u X A=b B= rm -rf /",
            "stdbuf -o L -eL rm -rf /",
            "time -p rm -rf /",
            "setsid -w rm -rf /",
            "flock -w 5 /tmp/l rm -rf /",
            "xargs -n 1 -P4 -0 rm -rf /",
            "xargs -i{} rm -rf /",
            "xargs -I {} rm -rf /",
            "busybox rm -rf /",
            "ssh -p 22 -i key me@host rm -rf /",
            "docker run --rm -it -v /:/h --name x alpine rm -rf /",
            "docker --context c container exec -u 0 box rm -rf /",
            "docker compose -f a.yml exec -T db rm -rf /",
            "kubectl -n x exec -it pod -- rm -rf /",
        ] {
            assert_eq!(command(line), ("rm -rf /".to_owned(), false), "{line}");
        }
        assert_eq!(command("sudo --new-flag rm -rf /"), ("rm -rf /".to_owned(), true));
        assert_eq!(command("sudo -W x rm -rf /"), ("x rm -rf /".to_owned(), true));
        assert_eq!(command("command -v rm"), (String::new(), false));
        assert_eq!(prefix("docker", &["compose", "down"]), None);
        assert_eq!(prefix("grep", &["sudo"]), None);
    }

    #[test]
    fn scripts_stand_in_options() {
        for words in [
            &["su", "-", "root", "-c", "ls"][..],
            &["su", "-c", "ls"],
            &["flock", "/tmp/l", "-c", "ls"],
            &["env", "-S", "ls"],
            &["script", "-qc", "ls", "/dev/null"],
            &["runuser", "-u", "x", "-c", "ls"],
        ] {
            assert_eq!(
                prefix(words[0], &words[1..]).unwrap().scripts,
                ["ls"],
                "{words:?}"
            );
        }
    }

    #[test]
    fn a_container_sees_what_is_mounted() {
        let words = "run -v /:/h --mount type=bind,src=/srv,dst=/s -w /h img sh".split(' ');
        let found = prefix("docker", &words.collect::<Vec<_>>()).unwrap();
        let mounts = [("/", "/h"), ("/srv", "/s")].map(|(one, other)| (one.to_owned(), other.to_owned()));
        assert_eq!(found.mounts, mounts);
        assert_eq!(found.folder.as_deref(), Some("/h"));
        assert_eq!(found.host, ExecutionHost::Container);
    }
}
