//! Files copied to another machine, and commands that change something there.

use super::super::effects::stems::{PUBLISH, REMOVE, RESET, RESTART, SEND, STOP};
use super::super::{EvaluationContext, RISKY, finding, is_for_trial};
use super::is_local;
use crate::danger::files::is_made_by_programs;
use crate::normalized_path::NormalizedPath;
use grov_domain::{ExecutionHost, Finding, Program};

/// Stems of words that ask for a change of a machine.
#[rustfmt::skip]
const ADJUSTING: &[&str] = &[
    "updat", "configur", "enabl", "disabl", "instal", "appl", "upgrad", "rotat", "migrat", "provision", "set.", "setup", "patch", "chang", "put.", "place", "replac", "creat", "add.",
    "einricht", "ander", "aktualisier", "actualiz", "configura", "aggiorn", "zmien", "ustaw", "обнов", "настро", "更新", "配置", "設定",
];

/// Stems of words for other machines.
#[rustfmt::skip]
const MACHINES: &[&str] = &[
    "server", "remote", "host.", "hosts", "ssh", "prod", "production", "staging", "vps", "box", "machine", "node", "cluster", "gateway", "router", "nas.", "fleet", "live.", "vm.", "vms", "pi.", "raspberry",
    "produkt", "produzion", "produccion", "producao", "maschine", "rechner", "servidor", "serveur", "serwer", "сервер", "прод", "машин", "服务器", "线上", "生产", "机器", "サーバ", "本番", "sunucu",
];

/// The finding for a container engine on another machine: `docker -H ssh://web1 compose up -d`.
pub(super) fn on_remote_engine(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    const ENGINES: &[&str] = &["docker", "docker-compose", "podman", "nerdctl"];
    #[rustfmt::skip]
    const CHANGES: &[&str] = &["up", "run", "rm", "stop", "start", "restart", "kill", "down", "exec", "load", "cp", "prune", "update", "create", "deploy", "rmi", "import"];
    const HERE: &[&str] = &[
        "default",
        "desktop-linux",
        "docker-desktop",
        "colima",
        "orbstack",
        "rootless",
    ];
    if !ENGINES.contains(&command.name()) || !command.has_word(CHANGES) || command.has_word(LOOKING) {
        return None;
    }
    let verb = command
        .arguments
        .iter()
        .position(|word| CHANGES.contains(&word.as_str()) || word == "compose");
    let arguments = &command.arguments[..verb.unwrap_or(0)];
    let option = |names: &[&str]| {
        arguments.iter().enumerate().find_map(|(at, word)| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let value = if value.is_empty() {
                arguments.get(at + 1).map_or("", |next| next.as_str())
            } else {
                value
            };
            names.contains(&name).then_some(value)
        })
    };
    let set = command.assignments.iter().chain(&context.environment);
    let mut set = set.filter_map(|one| {
        one.strip_prefix("DOCKER_HOST=")
            .or_else(|| one.strip_prefix("DOCKER_CONTEXT="))
    });
    let host = option(&["-H", "--host"])
        .filter(|host| host.contains("://"))
        .or_else(|| option(&["-c", "--context", "--connection"]).filter(|name| !name.contains(' ')))
        .or_else(|| set.next())
        .or_else(|| context.selected_by(command))?;
    let is_here = host.starts_with("unix:")
        || HERE.contains(&host)
        || super::names_this_machine(host)
        || is_for_trial(host);
    let request = &context.compiled.request;
    let is_asked = [PUBLISH, RESTART, STOP, ADJUSTING, REMOVE, RESET]
        .iter()
        .any(|stems| request.orders_any(stems))
        && (request.is_about(MACHINES) || request.names(host) || request.orders_any(PUBLISH))
        && !request.is_confined_to_this_machine();
    let reason = format!("Containers are changed on {host}, which was not requested");
    finding(RISKY, None, reason).filter(|_| !is_here && !is_asked && !host.is_empty())
}

/// The finding for files of this machine that are copied to another one.
pub(super) fn transferred(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let request = &context.compiled.request;
    let is_dry = command.has("--dry-run", 'n') && command.name() == "rsync";
    let is_asked = || {
        let asks = [SEND, PUBLISH].iter().any(|stems| request.orders_any(stems))
            || request.orders_any(ADJUSTING) && request.is_about(MACHINES);
        asks && !request.is_confined_to_this_machine() && !request.wants_dry_run()
    };
    let target = match command.name() {
        "scp" | "rsync" => command.operands().last().filter(|target| is_remote(target))?,
        "sftp"
            if command
                .input
                .as_deref()
                .is_some_and(|input| input.contains("put ")) =>
        {
            command.operands().next()?
        }
        _ => return None,
    };
    let from_there = command
        .operands()
        .next()
        .is_some_and(|source| is_remote(source) && source != target);
    let reason = format!("Files are copied to {target}, which was not requested");
    let host = target.split_once(':').map_or(target, |(host, _)| host);
    finding(RISKY, None, reason)
        .filter(|_| !is_dry && !from_there && !is_trial(target, command) && !is_asked())
        .map(|found| Finding {
            machine: Some(host.to_owned()),
            ..found
        })
}

fn is_remote(place: &str) -> bool {
    place
        .split_once(':')
        .is_some_and(|(host, _)| host.len() > 1 && !host.contains(['/', '.']) || host.contains('@'))
        || place.contains("@") && place.contains(':')
}

/// Whether a machine is for trials, or this one.
fn is_trial(host: &str, command: &Program) -> bool {
    is_local(command) || is_for_trial(host) || host.contains("vagrant") || host.starts_with("vm")
}

/// Programs that change files or services wherever they run.
#[rustfmt::skip]
const CHANGING: &[&str] = &[
    "apk", "apt", "apt-get", "chmod", "chown", "cp", "crontab", "dd", "dnf", "initctl", "install", "kill", "killall", "ln", "mkfs", "mv", "nginx", "pip", "pip3", "pkill", "pm2",
    "reboot", "rm", "service", "shutdown", "snap", "supervisorctl", "systemctl", "tee", "truncate", "ufw", "useradd", "userdel", "yum",
];

/// Subcommands with which other programs change something.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "checkout", "deploy", "down", "install", "kill", "migrate", "prune", "pull", "reload", "remove", "reset", "restart", "rm", "rmi", "start", "stop", "up", "upgrade", "-i",
];

/// Subcommands and options with which programs only show something.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "--version", "-V", "cat", "get", "info", "is-active", "is-enabled", "list", "list-units", "log", "logs", "ls", "ps", "show", "stats", "status", "version", "-t", "-T", "-l", "-0",
];

/// The finding for a command on another machine that does more than show something.
pub(super) fn changed(
    command: &Program,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let request = &context.compiled.request;
    // Machines that run on this one, mostly for the work itself.
    let is_virtual = |name: &str| ["vagrant", "lxc", "incus", "multipass"].contains(&name);
    let reaches = |name: &str| programs.iter().any(|program| program.name() == name);
    let is_here = programs.iter().any(|program| is_virtual(program.name())) && !reaches("ssh");
    if command.host != ExecutionHost::Remote
        || is_here
        || command.through.iter().any(|outer| outer == "kubectl")
    {
        return None;
    }
    let is_again = || {
        let mut places = command
            .operands()
            .map(|path| NormalizedPath::new(context.root, path));
        command.name() == "rm" && places.all(|place| is_made_by_programs(&place))
    };
    let is_script =
        command.word.contains('/') && !command.word.starts_with('/') || command.word.ends_with(".sh");
    // Without a file to write, it prints.
    let prints = command.name() == "dd" && !command.words().any(|word| word.starts_with("of="));
    let changes = CHANGING.contains(&command.name()) && !prints
        || is_script
        || matches!(
            command.name(),
            "docker" | "podman" | "npm" | "sed" | "docker-compose" | "make"
        ) && command.has_word(VERBS);
    // "Free space on build-07" is about that machine.
    let hosts: Vec<&str> = programs
        .iter()
        .filter(|program| program.name() == "ssh")
        .filter_map(|ssh| ssh.operands().next())
        .collect();
    let names_host = hosts.iter().any(|host| {
        host.split('@')
            .next_back()
            .is_some_and(|host| request.names(host))
    });
    let asks = [PUBLISH, REMOVE, RESET, RESTART, SEND, STOP];
    let is_asked = asks.iter().any(|stems| request.orders_any(stems))
        || request.orders_any(ADJUSTING) && (request.is_about(MACHINES) || names_host)
        || request.orders_any(&["run.", "rerun", "execut", "reproduc"])
        || request.addresses_any(&["server", "remote", "ssh", "host."]) && !request.only_looks();
    let is_asked = is_asked && !request.is_confined_to_this_machine() && !request.wants_dry_run();
    let reason = format!(
        "`{}` runs on another machine, which was not requested",
        command.name()
    );
    let counts = changes
        && !is_again()
        && !command.has_word(LOOKING)
        && !is_asked
        && (!names_host || request.only_looks());
    let machine = match hosts.as_slice() {
        [host] => Some((*host).to_owned()),
        _ => None,
    };
    finding(RISKY, None, reason)
        .filter(|_| counts)
        .map(|found| Finding { machine, ..found })
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{requests_silent, under};

    #[test]
    fn copies_to_other_machines_and_changes_there_are_asked_about() {
        under("Fix the parser").asked(&[
            "scp config.yml web1:/etc/app/",
            "rsync -av dist/ deploy@web1:/srv/app/",
            "sftp me@host <<< 'put notes.txt'",
            "ssh web1 'sudo systemctl restart app'",
            "ssh deploy@web1 'cd /srv/app && git pull && ./restart.sh'",
        ]);
    }

    #[test]
    fn containers_on_other_machines_are_asked_about() {
        under("Add a redis service to the compose file").asked(&[
            "docker -H ssh://root@deploy.acme.io compose up -d",
            "docker context use nas-prod && docker compose up -d --force-recreate",
            "DOCKER_HOST=ssh://root@web1 docker compose up -d",
            "docker --context prod restart api",
        ]);
        requests_silent(&[
            (
                "Fix the parser",
                "docker context use colima && docker compose up -d",
            ),
            ("Fix the parser", "docker --context prod ps"),
            ("Restart the api on prod", "docker --context prod restart api"),
            ("Fix the parser", "docker compose up -d"),
        ]);
    }

    #[test]
    fn looks_at_other_machines_and_what_was_asked_for_run() {
        requests_silent(&[
            ("Fix the parser", "scp web1:/var/log/app.log /tmp/"),
            ("Fix the parser", "rsync -avn dist/ web1:/srv/app/"),
            (
                "Fix the parser",
                "ssh web1 'uptime; df -h /; sudo systemctl status app'",
            ),
            ("Fix the parser", "ssh web1 docker ps"),
            (
                "Fix the parser",
                "ssh web1 'dd bs=16K count=8K if=/dev/zero' > /dev/null",
            ),
            ("Fix the parser", "vagrant ssh -c 'sudo systemctl restart nginx'"),
            ("Fix the parser", "lxc exec box -- apt-get install -y git"),
            (
                "Fix the parser",
                "multipass exec vm -- sudo apt-get install -y git",
            ),
            ("Fix the parser", "kubectl exec api-0 -- cat /etc/app.conf"),
            ("Copy the build to web1", "scp -r dist web1:/srv/"),
            (
                "Free space on build-07",
                "ssh build-07 ccache --evict-older-than 30d",
            ),
            ("Restart the app on web1", "ssh web1 sudo systemctl restart app"),
            ("Fix the parser", "rsync -a dist/ vagrant@box:/srv/"),
        ]);
    }
}
