//! Hooks that go to a running daemon.

use crate::failure::Failure;
use crate::output::say;
use grov_drift::token;
use grov_hooks::event::{Event, PRE_TOOL_USE, SESSION_START};
use grov_hooks::settings::{Hook, MASK, SettingsFile};
use grov_project::Place;
use grov_redact::Secret;
use grov_runtime::{Home, Url};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The daemon that answers hooks.
pub(super) struct Daemon {
    pub(super) url: String,
    port: u16,
    token: Secret,
    /// The guard must refuse also where the daemon is down, which only a process can.
    guard_is_command: bool,
}

impl Daemon {
    /// The one at this address, with the token of this home, which is made unless it is there.
    pub(super) fn at(url: &str, home: &Home, fails_closed: bool, dry_run: bool) -> Result<Self, Failure> {
        let parsed = Url::parse(url).map_err(|error| Failure::error("proxy", error.to_string(), None))?;
        let token = match dry_run {
            true => token::read(home).unwrap_or(Secret::from(MASK)),
            false => token::made(home).map_err(|error| {
                let message = format!("{} cannot be written: {error}", home.hook_token().display());
                Failure::error("home", message, None)
            })?,
        };
        if fails_closed {
            say(&format!(
                "guard.fail is \"closed\": {PRE_TOOL_USE} stays a process, because a daemon that is down can refuse nothing"
            ));
        }
        Ok(Self {
            url: url.to_owned(),
            port: parsed.port(),
            token,
            guard_is_command: fails_closed,
        })
    }

    /// What is registered at an event: a hook over HTTP where the client sends one.
    pub(super) fn hook(&self, program: &str, event: Event) -> Hook {
        let is_command = self.guard_is_command && event.name == PRE_TOOL_USE;
        let hook = if event.goes_over_http() && !is_command {
            Hook::http(&self.url, &self.token, event.name, event.timeout)
        } else {
            Hook::command(program, event.name, event.timeout)
        };
        match event.name {
            SESSION_START => hook.with_daemon(self.port),
            _ => hook,
        }
    }
}

/// Tells where others could come by the token in a settings file.
pub(super) fn tell_of_readers(file: &SettingsFile) {
    let path = file.path();
    let shown = path.display();
    if others_can_read(path) {
        say(&format!(
            "{shown} holds a token now, and other users of this machine can read it: chmod 600 {shown}"
        ));
    }
    let is_in_work_tree = path
        .parent()
        .is_some_and(|folder| Place::locate(folder).work_tree().is_some());
    if is_in_work_tree {
        say(&format!(
            "{shown} holds a token now and lies in a git working tree: keep it out of commits"
        ));
    }
}

/// Whether other users of this machine can read a file: it is open to all, or to a group of several, and so is the way to it.
pub(crate) fn others_can_read(path: &Path) -> bool {
    let Ok(file) = std::fs::metadata(path) else {
        return false;
    };
    let gate = |metadata: &Metadata| Gate {
        mode: metadata.permissions().mode(),
        group: metadata.gid(),
    };
    let folders = path.ancestors().skip(1).map(std::fs::metadata);
    let Ok(way) = folders
        .map(|folder| folder.map(|folder| gate(&folder)))
        .collect::<Result<Vec<_>, _>>()
    else {
        return false;
    };
    let list = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let is_private = || is_private_group(file.uid(), file.gid(), &list("/etc/passwd"), &list("/etc/group"));
    is_open_to_all(gate(&file), &way) || is_open_to_group(gate(&file), &way) && !is_private()
}

/// Who may pass a file or a folder.
#[derive(Clone, Copy)]
struct Gate {
    mode: u32,
    group: u32,
}

fn is_open_to_all(file: Gate, way: &[Gate]) -> bool {
    file.mode & 0o004 != 0 && way.iter().all(|folder| folder.mode & 0o001 != 0)
}

fn is_open_to_group(file: Gate, way: &[Gate]) -> bool {
    let passes = |folder: &Gate| match folder.group == file.group {
        true => folder.mode & 0o010 != 0,
        false => folder.mode & 0o001 != 0,
    };
    file.mode & 0o040 != 0 && way.iter().all(passes)
}

/// Whether a group is its user's alone: it bears the same name, and no others are listed in it. Where the lists of this machine
/// do not have both, it is the one of the same number.
fn is_private_group(user: u32, group: u32, users: &str, groups: &str) -> bool {
    let named = |list: &str, number: u32| {
        let lines = list.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let mut found = lines.filter_map(|fields| match fields.as_slice() {
            [name, _, own, .., last] if own.parse() == Ok(number) => {
                Some(((*name).to_owned(), (*last).to_owned()))
            }
            _ => None,
        });
        found.next()
    };
    match (named(users, user), named(groups, group)) {
        (Some((user, _)), Some((group, members))) => {
            let mut members = members.split(',').filter(|member| !member.is_empty());
            user == group && members.all(|member| member == user)
        }
        _ => user == group,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_hooks::settings::{Wanted, masked, register};

    #[test]
    fn a_token_is_never_shown() {
        let daemon = Daemon {
            url: "http://127.0.0.1:8080".to_owned(),
            port: 8080,
            token: "abc123".into(),
            guard_is_command: false,
        };
        let hooks = grov_hooks::event::registered().map(|event| daemon.hook("grov", event));
        let wanted = Wanted {
            hooks: hooks.collect(),
            ..Wanted::default()
        };
        for before in ["", "{}", "{\n  \"a\": 1\n}\n"] {
            let text = register(before, &wanted).unwrap().text;
            assert_eq!(text.matches("abc123").count(), 9);
            let shown = masked(&text);
            assert!(!shown.contains("abc123"), "{shown}");
            assert_eq!(shown.matches(MASK).count(), 9);
            assert_eq!(shown.replace(MASK, "abc123"), text);
        }
    }

    #[test]
    fn a_guard_that_fails_closed_stays_a_process() {
        let daemon = Daemon {
            url: "http://127.0.0.1:8080".to_owned(),
            port: 8080,
            token: "t".into(),
            guard_is_command: true,
        };
        let hooks: Vec<Hook> = grov_hooks::event::registered()
            .map(|event| daemon.hook("grov", event))
            .collect();
        let commands: Vec<&str> = hooks
            .iter()
            .filter(|hook| matches!(hook.handler, grov_hooks::settings::Handler::Command(_)))
            .map(|hook| hook.event)
            .collect();
        assert_eq!(commands, [SESSION_START, PRE_TOOL_USE]);
    }

    #[test]
    fn a_group_of_several_reads_what_is_open_to_it() {
        let gate = |mode, group| Gate { mode, group };
        for (file, way, all, group) in [
            (0o600, [gate(0o755, 0), gate(0o755, 7)], false, false),
            (0o640, [gate(0o755, 0), gate(0o755, 7)], false, true),
            (0o640, [gate(0o755, 0), gate(0o750, 7)], false, true),
            (0o640, [gate(0o755, 0), gate(0o700, 7)], false, false),
            (0o640, [gate(0o750, 0), gate(0o750, 7)], false, false),
            (0o644, [gate(0o755, 0), gate(0o755, 7)], true, true),
            (0o644, [gate(0o755, 0), gate(0o750, 7)], false, true),
        ] {
            let file = gate(file, 7);
            let open = (is_open_to_all(file, &way), is_open_to_group(file, &way));
            assert_eq!(open, (all, group), "{:o}", file.mode);
        }
    }

    #[test]
    fn a_group_of_the_users_name_is_private_while_nobody_joins_it() {
        let users = "root:x:0:0::/root:/bin/sh\nana:x:1000:1001::/home/ana:/bin/sh\n";
        let groups = "root:x:0:\nstaff:x:50:ana\nana:x:1001:\nshared:x:1000:\n";
        assert!(is_private_group(1000, 1001, users, groups));
        assert!(!is_private_group(1000, 50, users, groups));
        assert!(!is_private_group(1000, 1000, users, groups));
        assert!(is_private_group(1000, 1001, users, "ana:x:1001:ana"));
        assert!(!is_private_group(1000, 1001, users, "ana:x:1001:ana,ben"));
        // From a directory service.
        assert!(is_private_group(5000, 5000, users, groups));
        assert!(!is_private_group(5000, 5001, users, groups));
    }
}
