//! Renders hooks for the settings, and recognizes the hooks that call Grov.

use super::layout::Shape;
use super::scan::Node;
use grov_redact::Secret;
use shlex::Shlex;
use std::borrow::Cow;

/// The daemon's path for hooks over HTTP; the event's name follows.
pub const HTTP_HOOK_PATH: &str = "/_grov/hook/";
/// Header with the token that authenticates the client.
pub const TOKEN_HEADER: &str = "X-Grov-Hook-Token";
/// Header with the client's `ANTHROPIC_BASE_URL`; empty if unset.
pub const BASE_URL_HEADER: &str = "X-Grov-Base-Url";
/// Header with the client's `CLAUDE_PROJECT_DIR`; empty if unset.
pub const PROJECT_HEADER: &str = "X-Grov-Project-Dir";
/// The environment variables that the client sends as headers.
const PASSED_VARIABLES: [(&str, &str); 2] = [
    (BASE_URL_HEADER, "ANTHROPIC_BASE_URL"),
    (PROJECT_HEADER, "CLAUDE_PROJECT_DIR"),
];
/// The flag with the port of the daemon that answers the other hooks.
pub const DAEMON_PORT_FLAG: &str = "--daemon-port";
const PROGRAM: &str = "grov";

/// How the client runs a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handler {
    /// Runs a command line in a shell.
    Command(String),
    /// Sends a POST request with a token.
    Http {
        /// The URL.
        url: String,
        /// The token.
        token: Secret,
    },
}

/// A hook that calls Grov.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The event's name.
    pub event: &'static str,
    /// Regular expression of the tools that the hook runs for; `None` for all. Used only when the hook is inserted: a
    /// registered hook keeps its matcher.
    pub matcher: Option<&'static str>,
    /// How it is run.
    pub handler: Handler,
    /// Timeout in seconds.
    pub timeout: u64,
}

impl Hook {
    /// A hook that runs a program.
    ///
    /// `program` is a shell word: a name in `PATH`, or a quoted path.
    pub fn command(program: &str, event: &'static str, timeout: u64) -> Self {
        Self {
            event,
            matcher: None,
            handler: Handler::Command(format!("{program} hook {event}")),
            timeout,
        }
    }

    /// A hook that sends the event to the daemon at the URL `base`.
    pub fn http(base: &str, token: &Secret, event: &'static str, timeout: u64) -> Self {
        let base = base.trim_end_matches('/');
        Self {
            event,
            matcher: None,
            handler: Handler::Http {
                url: format!("{base}{HTTP_HOOK_PATH}{event}"),
                token: token.clone(),
            },
            timeout,
        }
    }

    /// Makes the command ensure that a daemon runs at this port. Does not affect a hook over HTTP.
    #[must_use]
    pub fn with_daemon(self, port: u16) -> Self {
        let handler = match self.handler {
            Handler::Command(command) => Handler::Command(format!("{command} {DAEMON_PORT_FLAG} {port}")),
            http @ Handler::Http { .. } => http,
        };
        Self { handler, ..self }
    }

    /// Sets the matcher.
    #[must_use]
    pub fn matching(self, matcher: Option<&'static str>) -> Self {
        Self { matcher, ..self }
    }

    pub(super) fn handler_shape(&self) -> Shape {
        let text = |text: &str| Shape::Text(text.to_owned());
        let timeout = ("timeout", Shape::Number(self.timeout));
        match &self.handler {
            Handler::Command(command) => Shape::Object(vec![
                ("type", text("command")),
                ("command", text(command)),
                timeout,
            ]),
            Handler::Http { url, token } => {
                let passed =
                    PASSED_VARIABLES.map(|(header, variable)| (header, text(&format!("${variable}"))));
                let headers = [(TOKEN_HEADER, text(token.expose()))].into_iter().chain(passed);
                let variables = PASSED_VARIABLES.map(|(_, variable)| text(variable));
                Shape::Object(vec![
                    ("type", text("http")),
                    ("url", text(url)),
                    ("headers", Shape::Object(headers.collect())),
                    ("allowedEnvVars", Shape::List(variables.to_vec())),
                    timeout,
                ])
            }
        }
    }

    pub(super) fn group_shape(&self) -> Shape {
        let hooks = ("hooks", Shape::List(vec![self.handler_shape()]));
        let matcher = self
            .matcher
            .map(|matcher| ("matcher", Shape::Text(matcher.to_owned())));
        Shape::Object(matcher.into_iter().chain([hooks]).collect())
    }
}

/// Whether a handler calls Grov, at any path and with any options.
pub(super) fn is_grovs(handler: &Node) -> bool {
    let text = |name| handler.member(name).and_then(Node::text);
    if let Some((_, event)) = text("url").and_then(|url| url.rsplit_once(HTTP_HOOK_PATH)) {
        return is_event(event);
    }
    let Some((program, event)) = text("command").and_then(|command| command.trim().rsplit_once(" hook "))
    else {
        return false;
    };
    is_event(without_daemon_port(event)) && is_grov_program(program)
}

/// Removes the daemon's port and its flag from the end of a hook's command.
fn without_daemon_port(words: &str) -> &str {
    let (rest, port) = words.rsplit_once(' ').unwrap_or((words, ""));
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let rest = is_port.then(|| rest.strip_suffix(DAEMON_PORT_FLAG)?.strip_suffix(' '));
    rest.flatten().unwrap_or(words)
}

/// The daemon's port in the URL or in the command of a hook.
pub(super) fn daemon_port(handler: &Node) -> Option<u16> {
    let text = |name| handler.member(name).and_then(Node::text);
    match text("url").and_then(|url| url.rsplit_once(HTTP_HOOK_PATH)) {
        Some((base, _)) => base.rsplit_once(':')?.1.parse().ok(),
        None => {
            let command = text("command")?.trim();
            let has_port = without_daemon_port(command) != command;
            command.rsplit_once(' ').filter(|_| has_port)?.1.parse().ok()
        }
    }
}

/// The token of a hook over HTTP.
pub(super) fn token(handler: &Node) -> Option<Secret> {
    let token = handler.member("headers")?.member(TOKEN_HEADER)?.text()?;
    Some(Secret::new(token))
}

/// Whether a status line is printed by Grov, at any path.
pub(super) fn is_grovs_status_line(line: &Node) -> bool {
    let command = line.member("command").and_then(Node::text);
    let program = command.and_then(|command| command.trim().strip_suffix(" statusline"));
    program.is_some_and(is_grov_program)
}

/// Whether a part of a command line is the program `grov` and nothing else.
fn is_grov_program(program: &str) -> bool {
    let program = program.trim();
    // A path with white space is quoted; unquoted, white space separates words.
    let is_quoted = program.starts_with(['\'', '"']);
    let name = program.trim_matches(['\'', '"']).rsplit(['/', '\\']).next();
    name == Some(PROGRAM) && (is_quoted || !program.contains(char::is_whitespace))
}

fn is_event(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Quotes a path or name for a shell if necessary. The shell still expands a leading `~/`.
pub fn shell_word(word: &str) -> String {
    let (home, rest) = match word.strip_prefix("~/") {
        Some(rest) if !rest.is_empty() => ("~/", rest),
        _ => ("", word),
    };
    // Only a NUL cannot be quoted, and no path contains one.
    format!("{home}{}", shlex::try_quote(rest).unwrap_or(Cow::Borrowed(rest)))
}

/// The first word of a command line, without quotes and backslashes.
pub(super) fn first_shell_word(command: &str) -> String {
    Shlex::new(command).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::scan::Document;
    use super::*;

    #[test]
    fn hooks_of_grov_are_recognized() {
        let known = |json: &str| is_grovs(Document::scan(json).unwrap().root.as_ref().unwrap());
        for ours in [
            r#"{"type":"command","command":"grov hook Stop"}"#,
            r#"{"type":"command","command":"/opt/g/grov hook PreToolUse","timeout":9}"#,
            r#"{"command":"'/opt/my tools/grov' hook Stop "}"#,
            r#"{"command":"grov hook SessionStart --daemon-port 8080"}"#,
            r#"{"type":"http","url":"http://127.0.0.1:8080/_grov/hook/Stop"}"#,
        ] {
            assert!(known(ours), "{ours}");
        }
        for foreign in [
            r#"{"type":"command","command":"grover hook Stop"}"#,
            r#"{"type":"command","command":"grov capture"}"#,
            r#"{"type":"command","command":"grov hook Stop; rm x"}"#,
            r#"{"type":"command","command":"grov hook Stop --daemon-port x"}"#,
            r#"{"type":"command","command":"grov hook Stop --daemon-port 1; rm x"}"#,
            r#"{"type":"command","command":"lefthook hook Stop"}"#,
            r#"{"type":"http","url":"http://127.0.0.1:8080/hook/Stop"}"#,
            r#"{"type":"command"}"#,
            r#""grov hook Stop""#,
        ] {
            assert!(!known(foreign), "{foreign}");
        }
    }

    #[test]
    fn rendered_hooks_are_recognized() {
        let program = shell_word("/opt/it's here/grov");
        assert_eq!(program, r#""/opt/it's here/grov""#);
        assert_eq!(shell_word("/usr/bin/grov"), "/usr/bin/grov");
        assert_eq!(shell_word("~/my dir"), "~/'my dir'");
        let hook = Hook::command(&program, "Stop", 5);
        let Handler::Command(command) = hook.handler else {
            panic!("a command was asked for")
        };
        assert_eq!(command, r#""/opt/it's here/grov" hook Stop"#);
        let json = serde_json::json!({ "command": command }).to_string();
        assert!(is_grovs(Document::scan(&json).unwrap().root.as_ref().unwrap()));
        assert_eq!(first_shell_word(&command), "/opt/it's here/grov");
    }

    #[test]
    fn the_daemons_port_is_read() {
        let port = |json: &str| daemon_port(Document::scan(json).unwrap().root.as_ref().unwrap());
        let http = r#"{"url":"http://127.0.0.1:8080/_grov/hook/Stop"}"#;
        assert_eq!(port(http), Some(8080));
        assert_eq!(port(r#"{"url":"http://[::1]:81/_grov/hook/Stop"}"#), Some(81));
        let command = r#"{"command":"'/a b/grov' hook SessionStart --daemon-port 9"}"#;
        assert_eq!(port(command), Some(9));
        assert_eq!(port(r#"{"command":"grov hook SessionStart"}"#), None);
    }
}
