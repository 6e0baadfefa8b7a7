//! Hooks that go to a running daemon.

use crate::failure::Failure;
use crate::output::say;
use grov_hook_path::token;
use grov_hooks::event::{Event, PRE_TOOL_USE, SESSION_START};
use grov_hooks::settings::{Hook, MASK, SettingsFile};
use grov_project::Place;
use grov_redact::Secret;
use grov_runtime::{Home, Url};
use std::os::unix::fs::PermissionsExt;
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

/// Whether every user of this machine can read a file: it is open to all, and so is the way to it.
pub(crate) fn others_can_read(path: &Path) -> bool {
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    let is_open = |folder: &Path| mode(folder) & 0o001 != 0;
    mode(path) & 0o004 != 0 && path.ancestors().skip(1).all(is_open)
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
}
