//! Programs that run the command in their arguments: `sudo -u root rm`, `uv run pytest`, `ssh host ls`.
//!
//! Entry point: [`wrapped`]. An unknown option is assumed to have no value. The result is then marked as a guess,
//! because the command may also begin one word later.

use crate::has_word;
use crate::shell::options::{Options, Valued, roles, skip_options};
use crate::shell::packages::container_subcommand;
use crate::shell::words::Argument;
pub(crate) use grov_domain::ExecutionHost;
use grov_domain::Role;

/// How a program runs the command in its arguments.
#[derive(Debug)]
pub(crate) enum Wrapped {
    /// In the program's place: `sudo`. The number of the argument that the command begins with.
    InPlace { command: usize, is_guess: bool },
    /// As one of several things that the program does: `uv run`, `npm exec`.
    Runner { command: usize },
    /// In a separate shell, in a container or on another machine.
    Separate(WrapperCommand),
    /// The program is given no command.
    Bare,
}

/// A command that is run by another program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrapperCommand {
    /// The number of the argument that the command begins with; the number of arguments if there is no command.
    pub(crate) command: usize,
    /// An option before the command is unknown: the first word of the command may be its value.
    pub(crate) is_guess: bool,
    /// Shell scripts in the values of options: `su -c '…'`.
    pub(crate) scripts: Vec<String>,
    /// The arguments are joined into a shell script.
    pub(crate) is_script: bool,
    /// Where the command runs.
    pub(crate) host: ExecutionHost,
    /// Folders of this machine mounted in a container, and where: `-v /srv:/data`.
    pub(crate) mounts: Vec<(String, String)>,
    /// The working folder in the container.
    pub(crate) folder: Option<String>,
    /// The container runs already, with folders mounted that the command does not show.
    pub(crate) is_running: bool,
    /// The program that a container runs instead of its own.
    pub(crate) entrypoint: Option<String>,
}

/// The options and operands before the command.
#[derive(Clone, Copy)]
struct Shape {
    valued: Valued,
    /// Short options without a value.
    flags: &'static str,
    /// Options whose value is a shell script. They are in `valued` as well.
    scripts: &'static str,
    /// The number of operands before the command.
    operands: usize,
    /// Options may follow the operands.
    permutes: bool,
}

/// The flags of a program whose unknown options never have a value.
const ANY: &str = "*";

const fn shape(letters: &'static str, flags: &'static str, operands: usize) -> Shape {
    Shape {
        valued: Valued::new(letters, ""),
        flags,
        scripts: "",
        operands,
        permutes: false,
    }
}

impl Shape {
    const fn named(self, names: &'static str) -> Self {
        let valued = Valued::new(self.valued.letters, names);
        Self { valued, ..self }
    }

    const fn permuting(self) -> Self {
        Self {
            permutes: true,
            ..self
        }
    }

    const fn scripted(self, scripts: &'static str) -> Self {
        Self { scripts, ..self }
    }

    /// The number of the argument that the command begins with.
    fn command(self, arguments: &[Argument]) -> usize {
        let roles = roles(self.texts(arguments), self.valued);
        let is_operand = |at: &usize| roles[*at] == Role::Operand;
        let mut operands = (0..arguments.len()).filter(is_operand);
        let command = match self.operands.checked_sub(1) {
            Some(last) if !self.permutes => operands.nth(last).map(|operand| operand + 1),
            _ => operands.nth(self.operands),
        };
        let command = command.unwrap_or(arguments.len());
        let is_dashes = |argument: &Argument| argument.text == "--";
        command + usize::from(arguments.get(command).is_some_and(is_dashes))
    }

    /// Whether a value may follow this flag without a space: `xargs -i{}`, `nice -10`.
    fn attaches(self, option: &str, letter: char) -> bool {
        matches!(letter, 'e' | 'i' | 'l' | '0'..='9')
            && self.valued.letters.contains('n')
            && self.flags.contains(letter)
            && option.len() > 2
    }

    /// The arguments as written, without values that are attached to a flag.
    fn texts(self, arguments: &[Argument]) -> impl Iterator<Item = &str> {
        arguments.iter().map(Argument::written).map(move |text| {
            if !text.starts_with('-') || text.starts_with("--") {
                return text;
            }
            let mut flags = text.char_indices().skip(1);
            let end = flags.find(|(_, letter)| self.attaches(text, *letter));
            end.map_or(text, |(at, letter)| &text[..at + letter.len_utf8()])
        })
    }

    fn knows(self, option: &str) -> bool {
        if self.flags == ANY || matches!(option, "-" | "--") {
            return true;
        }
        if let Some(long) = option.strip_prefix("--") {
            return long.contains('=') || has_word(self.valued.names, long) || has_word(LONG_FLAGS, long);
        }
        for letter in option.chars().skip(1) {
            if self.attaches(option, letter) || self.valued.letters.contains(letter) {
                return true;
            }
            if !self.flags.contains(letter) {
                return false;
            }
        }
        true
    }
}

/// Common long options without a value.
#[rustfmt::skip]
const LONG_FLAGS: &str = "askpass background batch close debug detach exclusive fifo foreground fork idle ignore-environment \
      init interactive keep-order kill-who login no-deps no-run-if-empty nonblock non-interactive null \
      other pipe preserve-environment preserve-env preserve-status privileged quiet read-only \
      reset-timestamp rm rr scope set-home shared shell stdin tty unlock user-unit verbose wait collect \
      pty";

/// The options and operands before the command of a program; `None` if it does not run a command.
#[rustfmt::skip]
fn shape_of(program: &str) -> Option<Shape> {
    Some(match program {
        "sudo" => shape("ugpCThRrtDUa", "AbEeHiKklNnPSsVvB", 0).named("user group prompt host chdir chroot role type close-from command-timeout other-user \
              auth-type login-class"),
        "doas" => shape("uCa", "nsL", 0),
        "run0" => shape("ugpD", "", 0).named("user group nice chdir setenv property description slice machine background"),
        "chpst" => shape("ubenmdoplfcrt/", "012vPL", 0),
        "setuidgid" | "envuidgid" | "gosu" | "su-exec" | "setlock" | "cgexec" => shape("g", ANY, 1),
        "softlimit" => shape("acdflmoprst", "", 0),
        "flatpak-spawn" | "valgrind" | "eatmydata" | "nocache" | "torify" | "torsocks" | "runcon" | "trickle" | "daemonize" | "sem" => shape("udcrtl", ANY, 0),
        "sshpass" => shape("pfdP", "ev", 0),
        "systemd-inhibit" => shape("", ANY, 0).named("what who why mode"),
        "systemd-cat" => shape("tp", ANY, 0).named("identifier priority"),
        "pkexec" => shape("", "", 0).named("user"),
        "env" => shape("uCPS", "i0v", 0)
            .named("unset chdir split-string")
            .scripted("-S --split-string"),
        "nice" => shape("n", "0123456789", 0).named("adjustment"),
        "ionice" => shape("cnpPu", "t", 0).named("class classdata pid pgid uid"),
        "chrt" => shape("TPD", "abdefimorRv", 1).named("sched-runtime sched-period sched-deadline"),
        "taskset" => shape("", "acp", 1),
        "timeout" | "gtimeout" => shape("ks", "fvp", 1).named("kill-after signal"),
        "stdbuf" => shape("ioe", "", 0).named("input output error"),
        "time" | "gtime" => shape("fo", "pvaq", 0).named("format output"),
        "nohup" | "chronic" | "unbuffer" | "builtin" | "busybox" | "toybox" | "catchsegv" | "setarch"
        | "linux64" | "fakeroot" => shape("", "", 0),
        // PowerShell runs a block for each object: `% { sc.exe delete $_.Name }`.
        "%" | "foreach-object" | "ForEach-Object" | "ForEach" => shape("", ANY, 1),
        "caffeinate" => shape("tw", "disum", 0),
        "setsid" => shape("", "cfw", 0),
        "command" => shape("", "pvV", 0),
        "exec" => shape("a", "cl", 0),
        "flock" => shape("wEc", "sxenouFv", 1)
            .named("wait timeout conflict-exit-code command")
            .scripted("-c --command"),
        "watch" => shape("nq", "bcdegtxp", 0).named("interval equexit"),
        "xargs" => shape("IadEnPsLJRS", "0rtpxeilo", 0).named("arg-file delimiter max-args max-procs max-lines max-chars process-slot-var"),
        "parallel" => shape("jaINnLPsSCd", "kXm0uqtv", 0).named("jobs arg-file max-procs max-args colsep delay joblog results sshlogin timeout retries \
              tagstring halt replace"),
        "chroot" => shape("", "", 1),
        "unshare" | "bwrap" | "firejail" | "proot" => shape("", "muinpUCTrfc", 0),
        "nsenter" => shape("tSGrw", "amuinpUCTF", 0).named("target setuid setgid"),
        "systemd-run" => shape("pMuH", "GPqrtdS", 0).named("property machine unit uid gid nice setenv working-directory slice description on-active \
              on-calendar"),
        "strace" | "ltrace" => shape("eopsaPEuSIbX", "fFcCdiknqrtTvVwxyYzZ", 0),
        "numactl" => shape("iplmNC", "", 0),
        "setpriv" => shape("", "", 0).named("reuid regid groups"),
        "rlwrap" => shape("bcCfgHlpPSsz", "ADeimnNorRvwa", 0),
        "script" => shape("cEIOBTmo", "aefqt", 1).named("command").scripted("-c --command").permuting(),
        "su" => shape("csgGw", "lmpP", 2)
            .named("command session-command shell group supp-group")
            .scripted("-c --command --session-command").permuting(),
        "runuser" => shape("ucgGsw", "lmp", 0)
            .named("user command shell group supp-group")
            .scripted("-c --command"),
        "sg" => shape("c", "", 1).scripted("-c"),
        "ssh" => shape("BbcDEeFIiJLlmOopQRSWw", "46AaCfGgKkMNnqsTtVvXxYy", 1).permuting(),
        "npx" | "bunx" | "pnpx" => shape("pc", ANY, 0).named("package call").scripted("-c --call"),
        "uvx" | "pipx" => shape("p", ANY, 0).named("from with python spec"),
        "cross-env" | "dotenv" | "dotenvx" => shape("ef", ANY, 0),
        _ => return None,
    })
}

/// Programs that run a command after a subcommand, with the options and operands between: `machinectl shell root@box /bin/rm x`.
#[rustfmt::skip]
fn shape_after_subcommand(program: &str) -> Option<(&'static str, Shape)> {
    Some(match program {
        "distrobox" => ("enter", shape("naH", ANY, 1).named("name additional-flags")),
        "limactl" => ("shell", shape("", ANY, 1).named("shell workdir")),
        "machinectl" => ("shell", shape("EM", ANY, 1).named("uid setenv machine")),
        "perf" => ("stat record trace", shape("epoCtFcIxGDmr", ANY, 0).named("event pid output cpu repeat")),
        "toolbox" => ("run", shape("cdr", ANY, 0).named("container distro release")),
        _ => return None,
    })
}

/// `docker run` and `docker exec`: the image or the container precedes the command.
#[rustfmt::skip]
const CONTAINER: Shape = shape("vewpulhmcaf", "itdPqT", 1).named("volume mount env env-file name workdir publish user network net label entrypoint hostname \
              memory cpus cpu-shares device add-host dns gpus ipc pid platform restart shm-size tmpfs \
              ulimit volumes-from log-driver log-opt link cap-add cap-drop security-opt pull stop-signal \
              stop-timeout expose cidfile runtime userns uts annotation attach cpuset-cpus detach-keys \
              group-add ip mac-address memory-swap network-alias oom-score-adj pids-limit storage-opt \
              sysctl volume-driver index label-file file project-name profile project-directory context \
              host config log-level");

/// The command that `uv run …`, `poetry run …`, `bundle exec …` and the like run, including its options; `None` if the
/// program is not one of them.
fn runner<'a>(name: &str, arguments: &'a [Argument]) -> Option<&'a [Argument]> {
    let (subcommand, rest) = arguments.split_first()?;
    let runs = match subcommand.text.as_str() {
        "run" => matches!(
            name,
            "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "conda" | "mamba" | "dotslash" | "op"
        ),
        "exec" => matches!(
            name,
            "bundle" | "rbenv" | "mise" | "asdf" | "direnv" | "npm" | "pnpm" | "yarn" | "volta"
        ),
        "dlx" => matches!(name, "pnpm" | "yarn"),
        "x" => matches!(name, "npm" | "bun"),
        "tool" if name == "uv" => {
            let (tool, others) = rest.split_first()?;
            return (tool.text == "run").then_some(others);
        }
        _ => false,
    };
    if !runs {
        return None;
    }
    let rest = match (name, rest) {
        ("direnv", [_folder, others @ ..]) => others,
        _ => rest,
    };
    let valued = Valued::new(
        "pne",
        "with python extra group env-file package with-requirements name directory project",
    );
    let rest = skip_options(rest, valued);
    // `mise exec node@22 -- npm test`, `op run -- npm test`
    let dashes = rest
        .iter()
        .position(|word| word.text == "--")
        .filter(|at| name == "mise" || *at == 0);
    Some(dashes.map_or(rest, |at| &rest[at + 1..]))
}

/// How a program, by its name without a folder, runs the command in its arguments; `None` if it does not run a command.
pub(crate) fn wrapped(name: &str, arguments: &[Argument]) -> Option<Wrapped> {
    if let Some(rest) = runner(name, arguments) {
        let command = arguments.len() - rest.len();
        let command = command + count_assignments(rest);
        return Some(Wrapped::Runner { command });
    }
    let wrapper = wrapper_command(name, arguments)?;
    if wrapper.is_script || wrapper.host != ExecutionHost::Local || !wrapper.scripts.is_empty() {
        return Some(Wrapped::Separate(wrapper));
    }
    if wrapper.command >= arguments.len() {
        // `su` without arguments is a shell.
        return (name != "su").then_some(Wrapped::Bare);
    }
    // It does something itself: as root, it reads the whole machine.
    if name == "perf" {
        return Some(Wrapped::Runner {
            command: wrapper.command,
        });
    }
    Some(Wrapped::InPlace {
        command: wrapper.command,
        is_guess: wrapper.is_guess,
    })
}

fn wrapper_command(program: &str, arguments: &[Argument]) -> Option<WrapperCommand> {
    match program {
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            return container(program, arguments);
        }
        "kubectl" | "oc" | "lxc" | "incus" | "pct" | "multipass" => {
            let exec = arguments.iter().position(|word| word.text == "exec")?;
            let dashes = arguments.iter().skip(exec).position(|word| word.text == "--")?;
            return Some(WrapperCommand {
                command: exec + dashes + 1,
                host: ExecutionHost::Remote,
                ..WrapperCommand::default()
            });
        }
        "vagrant" => {
            let script = arguments
                .iter()
                .position(|word| matches!(word.text.as_str(), "-c" | "--command"))?;
            let is_ssh = arguments.first().is_some_and(|word| word.text == "ssh");
            return is_ssh.then(|| WrapperCommand {
                command: script + 1,
                is_script: true,
                host: ExecutionHost::Remote,
                ..WrapperCommand::default()
            });
        }
        _ => {}
    }
    if let Some((subcommands, shape)) = shape_after_subcommand(program) {
        let is_subcommand = |word: &Argument| has_word(subcommands, &word.text);
        let before = arguments.iter().position(is_subcommand)? + 1;
        let mut wrapper = shape.wrapper(arguments.get(before..)?);
        wrapper.command += before;
        return Some(wrapper);
    }
    let shape = shape_of(program)?;
    let mut wrapper = shape.wrapper(arguments);
    let rest = arguments.get(wrapper.command..).unwrap_or_default();
    let first = rest.first().map_or("", |first| first.text.as_str());
    match program {
        "ssh" => (wrapper.is_script, wrapper.host) = (true, ExecutionHost::Remote),
        "watch" => wrapper.is_script = true,
        // `dotenv -f .env run -- program`
        "dotenv" => {
            let runs = rest.iter().take(2).map(|word| word.text.as_str());
            wrapper.command += match runs.collect::<Vec<_>>().as_slice() {
                ["run", "--"] => 2,
                ["run", ..] => 1,
                _ => count_assignments(rest),
            };
        }
        "env" | "doas" | "cross-env" | "dotenvx" => wrapper.command += count_assignments(rest),
        // `command -v` only prints the path of the program.
        // `sudo -l` lists what is allowed.
        "sudo"
            if arguments
                .first()
                .is_some_and(|first| matches!(first.text.as_str(), "-l" | "-ll" | "--list")) =>
        {
            wrapper.command = arguments.len();
        }
        "command"
            if arguments
                .first()
                .is_some_and(|first| matches!(first.text.as_str(), "-v" | "-V")) =>
        {
            wrapper.command = arguments.len();
        }
        // Their operands are not commands.
        "su" | "script" => wrapper.command = arguments.len(),
        "sg" | "flock" if matches!(first, "-c" | "--command") => {
            wrapper
                .scripts
                .extend(rest.get(1).map(|script| script.written().to_owned()));
            wrapper.command = arguments.len();
        }
        "sudo" => wrapper.command += count_assignments(rest),
        "npx" | "bunx" | "pnpx" if !wrapper.scripts.is_empty() => wrapper.command = arguments.len(),
        "pipx" if first == "run" => wrapper.command += 1,
        "pipx" => return None,
        _ => {}
    }
    Some(wrapper)
}

impl Shape {
    fn wrapper(self, arguments: &[Argument]) -> WrapperCommand {
        let command = self.command(arguments);
        let before = &arguments[..command.min(arguments.len())];
        let roles = roles(self.texts(before), self.valued);
        let mut options = before
            .iter()
            .zip(&roles)
            .filter(|(_, role)| **role == Role::Option);
        let is_guess = options.any(|(option, _)| !self.knows(option.written()));
        let written = as_written(before);
        let options = Options::parse(&written, self.valued);
        let scripts = options.values_of(self.scripts);
        WrapperCommand {
            command: before.len(),
            is_guess,
            scripts: scripts.map(|script| script.written().to_owned()).collect(),
            ..WrapperCommand::default()
        }
    }
}

/// The arguments with unknown pieces in their source form, so that an option keeps its attached value: `-u$(id -u)`.
fn as_written(arguments: &[Argument]) -> Vec<Argument> {
    let written = |argument: &Argument| argument.with_text(argument.written());
    arguments.iter().map(written).collect()
}

/// The number of leading arguments that set a variable: `A=b`.
fn count_assignments(arguments: &[Argument]) -> usize {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let assigns = |argument: &&Argument| {
        let name = argument.written().split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| !name.is_empty() && name.chars().all(is_part))
    };
    arguments.iter().take_while(assigns).count()
}

/// `docker run IMAGE …`, `docker exec CONTAINER …`, `docker compose exec SERVICE …`.
fn container(program: &str, arguments: &[Argument]) -> Option<WrapperCommand> {
    let (subcommand, rest) = container_subcommand(program, arguments).split_first()?;
    if !matches!(subcommand.text.as_str(), "run" | "exec") {
        return None;
    }
    let wrapper = CONTAINER.wrapper(rest);
    let written = as_written(&rest[..wrapper.command]);
    let options = Options::parse(&written, CONTAINER.valued);
    let value = |names: &'static str| {
        options
            .values_of(names)
            .last()
            .map(|value| value.written().to_owned())
    };
    let volumes = options.values_of("-v --volume").filter_map(|volume| {
        let mut parts = volume.written().split(':');
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    });
    let mounts = options.values_of("--mount").filter_map(|mount| {
        let field = |names: &str| {
            let mut fields = mount
                .written()
                .split(',')
                .filter_map(|field| field.split_once('='));
            let found = fields.find(|(name, _)| has_word(names, name));
            found.map(|(_, value)| value.to_owned())
        };
        Some((field("source src")?, field("target destination dst")?))
    });
    Some(WrapperCommand {
        command: arguments.len() - rest.len() + wrapper.command,
        host: ExecutionHost::Container,
        mounts: volumes.chain(mounts).collect(),
        folder: value("-w --workdir"),
        is_running: subcommand.text == "exec",
        entrypoint: value("--entrypoint"),
        ..wrapper
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(program: &str, arguments: &[&str]) -> Option<WrapperCommand> {
        let arguments: Vec<Argument> = arguments.iter().copied().map(Argument::new).collect();
        wrapper_command(program, &arguments)
    }

    fn command(line: &str) -> (String, bool) {
        let words: Vec<&str> = line.split(' ').collect();
        let found = parsed(words[0], &words[1..]).unwrap();
        (words[1 + found.command..].join(" "), found.is_guess)
    }

    #[test]
    fn values_of_options_are_not_commands() {
        for line in [
            "sudo -u root rm -rf /",
            "sudo -nu root A=b rm -rf /",
            "sudo --user=root -- rm -rf /",
            "nice -n 10 rm -rf /",
            "nice -10 rm -rf /",
            "nice -n10 rm -rf /",
            "ionice -c 3 -n7 rm -rf /",
            "chrt -f 10 rm -rf /",
            "chpst -u postgres rm -rf /",
            "chpst -u postgres -e ./env -P rm -rf /",
            "setuidgid app rm -rf /",
            "gosu postgres rm -rf /",
            "run0 --user=root rm -rf /",
            "machinectl shell root@ rm -rf /",
            "machinectl -q shell --uid 0 box rm -rf /",
            "sshpass -p x rm -rf /",
            "perf stat -r 3 rm -rf /",
            "toolbox run -c box rm -rf /",
            "distrobox enter box -- rm -rf /",
            "lxc exec box -- rm -rf /",
            "vagrant ssh -c rm -rf /",
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
        assert_eq!(parsed("docker", &["compose", "down"]), None);
        assert_eq!(parsed("grep", &["sudo"]), None);
    }

    #[test]
    fn scripts_in_options_are_found() {
        for words in [
            &["su", "-", "root", "-c", "ls"][..],
            &["su", "-c", "ls"],
            &["flock", "/tmp/l", "-c", "ls"],
            &["env", "-S", "ls"],
            &["script", "-qc", "ls", "/dev/null"],
            &["runuser", "-u", "x", "-c", "ls"],
        ] {
            assert_eq!(
                parsed(words[0], &words[1..]).unwrap().scripts,
                ["ls"],
                "{words:?}"
            );
        }
    }

    #[test]
    fn mounts_of_a_container_are_parsed() {
        let words = "run -v /:/h --mount type=bind,src=/srv,dst=/s -w /h img sh".split(' ');
        let found = parsed("docker", &words.collect::<Vec<_>>()).unwrap();
        let mounts = [("/", "/h"), ("/srv", "/s")].map(|(one, other)| (one.to_owned(), other.to_owned()));
        assert_eq!(found.mounts, mounts);
        assert_eq!(found.folder.as_deref(), Some("/h"));
        assert_eq!(found.host, ExecutionHost::Container);
    }
}
