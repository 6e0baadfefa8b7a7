//! Registration of hooks over HTTP, which a running daemon answers.

use crate::failure::Failure;
use crate::output::note;
use grov_drift::token;
use grov_hooks::event::{Event, PRE_TOOL_USE, SESSION_START};
use grov_hooks::settings::{Hook, MASK, SettingsFile};
use grov_project::ProjectLocation;
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
    /// Whether the guard stays a command, because only a command can refuse actions while the daemon is down.
    guard_is_command: bool,
}

impl Daemon {
    /// The daemon at this address with the home's token, which is created unless it exists.
    pub(super) fn at(url: &str, home: &Home, fails_closed: bool, dry_run: bool) -> Result<Self, Failure> {
        let parsed = Url::parse(url).map_err(|error| Failure::error("proxy", error.to_string()))?;
        let token = match dry_run {
            true => token::read(home).unwrap_or(Secret::from(MASK)),
            false => token::read_or_create(home).map_err(|error| {
                Failure::error(
                    "home",
                    format!("cannot write {}: {error}", home.hook_token().display()),
                )
            })?,
        };
        if fails_closed {
            note!(
                "guard.fail is \"closed\": {PRE_TOOL_USE} stays a command, because a daemon that is down cannot refuse actions"
            );
        }
        Ok(Self {
            url: url.to_owned(),
            port: parsed.port(),
            token,
            guard_is_command: fails_closed,
        })
    }

    /// The hook of an event: over HTTP where the client supports it.
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

/// Warns if other people could read the token in a settings file.
pub(super) fn warn_of_readers(file: &SettingsFile) {
    let path = file.path();
    let shown = path.display();
    if others_can_read(path) {
        note!("warning: {shown} now holds a token, and other users can read it; run chmod 600 {shown}");
    }
    let parent = path.parent();
    if parent.is_some_and(|folder| ProjectLocation::locate(folder).work_tree().is_some()) {
        note!("warning: {shown} now holds a token and is in a git working tree; keep it out of commits");
    }
}

/// Whether other users of this machine can read a file: all of them, or the members of its group.
pub(crate) fn others_can_read(path: &Path) -> bool {
    let access = |path: &Path| std::fs::metadata(path).map(|metadata| Access::of(&metadata));
    let folders: Result<Vec<Access>, _> = path.ancestors().skip(1).map(access).collect();
    let (Ok(metadata), Ok(folders)) = (std::fs::metadata(path), folders) else {
        return false;
    };
    let file = Access::of(&metadata);
    let list = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let is_private = || {
        is_private_group(
            metadata.uid(),
            metadata.gid(),
            &list("/etc/passwd"),
            &list("/etc/group"),
        )
    };
    is_open_to_all(file, &folders) || is_open_to_group(file, &folders) && !is_private()
}

/// The permissions and the group of a file or a folder.
#[derive(Clone, Copy)]
struct Access {
    mode: u32,
    group: u32,
}

impl Access {
    fn of(metadata: &Metadata) -> Self {
        Self {
            mode: metadata.permissions().mode(),
            group: metadata.gid(),
        }
    }
}

fn is_open_to_all(file: Access, folders: &[Access]) -> bool {
    file.mode & 0o004 != 0 && folders.iter().all(|folder| folder.mode & 0o001 != 0)
}

fn is_open_to_group(file: Access, folders: &[Access]) -> bool {
    let can_enter = |folder: &Access| match folder.group == file.group {
        true => folder.mode & 0o010 != 0,
        false => folder.mode & 0o001 != 0,
    };
    file.mode & 0o040 != 0 && folders.iter().all(can_enter)
}

/// Whether a user is the only member of a group: the group has the user's name and lists no other members. If this machine does
/// not know the user or the group, the numbers must be equal.
fn is_private_group(user: u32, group: u32, users: &str, groups: &str) -> bool {
    let entry = |list: &str, number: u32| {
        list.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            match fields.as_slice() {
                [name, _, id, .., last] if id.parse() == Ok(number) => {
                    Some((String::from(*name), String::from(*last)))
                }
                _ => None,
            }
        })
    };
    match (entry(users, user), entry(groups, group)) {
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
    use grov_hooks::settings::{Registration, masked, register};

    #[test]
    fn a_token_is_never_shown() {
        let daemon = Daemon {
            url: "http://127.0.0.1:8080".to_owned(),
            port: 8080,
            token: "abc123".into(),
            guard_is_command: false,
        };
        let hooks = grov_hooks::event::registered().map(|event| daemon.hook("grov", event));
        let wanted = Registration {
            hooks: hooks.collect(),
            ..Registration::default()
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
    fn a_guard_that_fails_closed_stays_a_command() {
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
    fn members_of_a_group_can_read_group_readable_files() {
        let access = |mode, group| Access { mode, group };
        for (file, folders, all, group) in [
            (0o600, [access(0o755, 0), access(0o755, 7)], false, false),
            (0o640, [access(0o755, 0), access(0o755, 7)], false, true),
            (0o640, [access(0o755, 0), access(0o750, 7)], false, true),
            (0o640, [access(0o755, 0), access(0o700, 7)], false, false),
            (0o640, [access(0o750, 0), access(0o750, 7)], false, false),
            (0o644, [access(0o755, 0), access(0o755, 7)], true, true),
            (0o644, [access(0o755, 0), access(0o750, 7)], false, true),
        ] {
            let file = access(file, 7);
            let open = (is_open_to_all(file, &folders), is_open_to_group(file, &folders));
            assert_eq!(open, (all, group), "{:o}", file.mode);
        }
    }

    #[test]
    fn a_group_with_the_name_of_its_only_member_is_private() {
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
