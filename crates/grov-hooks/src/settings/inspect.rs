//! Reads what is registered in a settings file.

use super::error::SyntaxError;
use super::hook::{daemon_port, first_shell_word, is_grovs, is_grovs_status_line, token};
use super::register::handlers;
use super::scan::{Document, Node, Value};
use grov_redact::Secret;
use std::collections::BTreeMap;

/// The parts of a settings file that concern Grov.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The hooks that call Grov.
    pub hooks: Vec<OwnHook>,
    /// Environment variables with string values.
    pub environment: BTreeMap<String, String>,
    /// Whether all hooks are disabled.
    pub hooks_disabled: bool,
    /// The status line.
    pub status_line: Option<StatusLine>,
}

/// A hook that calls Grov.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnHook {
    /// The event's name.
    pub event: String,
    /// The program that it runs; `None` for a hook over HTTP.
    pub program: Option<String>,
    /// The port of the daemon on this machine that it expects.
    pub daemon_port: Option<u16>,
    /// Timeout in seconds, if set.
    pub timeout: Option<u64>,
    /// The token of a hook over HTTP.
    pub token: Option<Secret>,
}

/// A configured status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// The command, or the JSON text if it has no command.
    pub command: String,
    /// Whether it calls Grov.
    pub is_grovs: bool,
}

impl StatusLine {
    /// The program that it runs.
    pub fn program(&self) -> String {
        first_shell_word(&self.command)
    }
}

/// Inspects the text of a settings file.
///
/// # Errors
/// The text is not valid JSON.
pub fn inspect(text: &str) -> Result<Inspection, SyntaxError> {
    let document = Document::scan(text)?;
    let mut inspected = Inspection::default();
    let items = |name: &str| document.at(&[name]).map(Node::items).unwrap_or_default();
    for event in items("hooks") {
        for handler in handlers(&event.node).filter(|handler| is_grovs(handler)) {
            let command = handler.member("command").and_then(Node::text);
            inspected.hooks.push(OwnHook {
                event: event.key.clone().unwrap_or_default(),
                program: command.map(first_shell_word),
                daemon_port: daemon_port(handler),
                timeout: timeout(handler),
                token: token(handler),
            });
        }
    }
    for variable in items("env") {
        if let (Some(name), Some(value)) = (&variable.key, variable.node.text()) {
            inspected.environment.insert(name.clone(), value.to_owned());
        }
    }
    let disabled = document.at(&["disableAllHooks"]).map(|node| &node.value);
    inspected.hooks_disabled = matches!(disabled, Some(Value::Literal(word)) if word == "true");
    inspected.status_line = document.at(&["statusLine"]).map(|line| StatusLine {
        command: match line.member("command").and_then(Node::text) {
            Some(command) => command.to_owned(),
            None => text[line.span.clone()].to_owned(),
        },
        is_grovs: is_grovs_status_line(line),
    });
    Ok(inspected)
}

fn timeout(handler: &Node) -> Option<u64> {
    match &handler.member("timeout")?.value {
        Value::Literal(number) => number.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hook, Registration, register, shell_word};
    use super::*;

    #[test]
    fn registered_values_are_found() {
        let program = "/opt/it's here/grov";
        let wanted = Registration {
            hooks: vec![
                Hook::command(&shell_word(program), "Stop", 5),
                Hook::http("http://127.0.0.1:1", &Secret::new("t"), "PreToolUse", 5),
                Hook::command("grov", "SessionStart", 5).with_daemon(1),
            ],
            environment: vec![("A".to_owned(), "1".to_owned())],
            status_line: Some("'/opt/it'\\''s here/grov' statusline".to_owned()),
            ..Registration::default()
        };
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}, "env": {"B": 2}}"#;
        let inspected = inspect(&register(text, &wanted).unwrap().text).unwrap();
        let hook = |event: &str, program: Option<&str>, daemon_port, token: Option<&str>| OwnHook {
            event: event.to_owned(),
            program: program.map(str::to_owned),
            daemon_port,
            timeout: Some(5),
            token: token.map(Secret::from),
        };
        assert_eq!(
            inspected.hooks,
            [
                hook("Stop", Some(program), None, None),
                hook("PreToolUse", None, Some(1), Some("t")),
                hook("SessionStart", Some("grov"), Some(1), None),
            ]
        );
        assert_eq!(inspected.environment, [("A".to_owned(), "1".to_owned())].into());
        assert!(inspected.status_line.unwrap().is_grovs);
        assert_eq!(inspect("").unwrap(), Inspection::default());
        assert!(inspect("{").is_err());
    }

    #[test]
    fn other_status_lines_are_recognized() {
        let found = |text: &str| inspect(text).unwrap().status_line;
        for (text, command, is_grovs) in [
            (
                r#"{"statusLine": {"type": "command", "command": "~/line.sh"}}"#,
                "~/line.sh",
                false,
            ),
            (
                r#"{"statusLine": {"type": "command", "command": "grover statusline"}}"#,
                "grover statusline",
                false,
            ),
            (
                r#"{"statusLine": {"type": "command", "command": "a; grov statusline"}}"#,
                "a; grov statusline",
                false,
            ),
            (
                r#"{"statusLine": {"command": "/opt/grov statusline ", "padding": 0}}"#,
                "/opt/grov statusline ",
                true,
            ),
            (r#"{"statusLine": null}"#, "null", false),
        ] {
            let command = command.to_owned();
            assert_eq!(found(text), Some(StatusLine { command, is_grovs }), "{text}");
        }
        assert_eq!(found("{}"), None);
    }

    #[test]
    fn disabled_hooks_are_recognized() {
        let disabled = |text: &str| inspect(text).unwrap().hooks_disabled;
        assert!(disabled(r#"{"disableAllHooks": true}"#));
        assert!(!disabled(r#"{"disableAllHooks": false}"#));
        assert!(!disabled("{}"));
    }
}
