//! How a hook is written in the settings, and which hooks are Grov's.

use super::layout::Shape;
use super::scan::Node;
use grov_redact::Secret;

/// Where Grov's daemon takes hooks over HTTP; the event's name follows.
pub const HTTP_HOOK_PATH: &str = "/_grov/hook/";
/// The header that says whose client it is.
pub const TOKEN_HEADER: &str = "X-Grov-Hook-Token";
/// The header that says where the client sends its requests; empty where it was told nothing.
pub const BASE_URL_HEADER: &str = "X-Grov-Base-Url";
/// The header that says which project the client works in; empty where it was told nothing.
pub const PROJECT_HEADER: &str = "X-Grov-Project-Dir";
/// What the client puts into headers of its own environment, and only this.
const PASSED_VARIABLES: [(&str, &str); 2] = [
    (BASE_URL_HEADER, "ANTHROPIC_BASE_URL"),
    (PROJECT_HEADER, "CLAUDE_PROJECT_DIR"),
];
/// The flag that tells a command where a daemon answers the other hooks.
pub const DAEMON_PORT_FLAG: &str = "--daemon-port";
/// The program's name.
const PROGRAM: &str = "grov";

/// What the client does at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handler {
    /// Runs a command line in a shell.
    Command(String),
    /// Posts to an address, and shows a token.
    Http {
        /// The address.
        url: String,
        /// The token.
        token: Secret,
    },
}

/// A hook of Grov's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The event's name.
    pub event: &'static str,
    /// Of which tools it is told, as a regular expression; of all that the event knows without one. It counts where the hook
    /// is put in; one that stands there keeps the matcher it has.
    pub matcher: Option<&'static str>,
    /// What is done.
    pub handler: Handler,
    /// How long the client waits for it, in seconds.
    pub timeout: u64,
}

impl Hook {
    /// That the program is run at an event.
    ///
    /// `program` is what a shell understands: a name that is found on the path, or a quoted path.
    pub fn command(program: &str, event: &'static str, timeout: u64) -> Self {
        Self {
            event,
            matcher: None,
            handler: Handler::Command(format!("{program} hook {event}")),
            timeout,
        }
    }

    /// That the daemon at `base` is told of an event, by somebody who has this token.
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

    /// The same, and the program sees to it that a daemon is up at this port; for a command alone.
    #[must_use]
    pub fn with_daemon(self, port: u16) -> Self {
        let handler = match self.handler {
            Handler::Command(command) => Handler::Command(format!("{command} {DAEMON_PORT_FLAG} {port}")),
            http @ Handler::Http { .. } => http,
        };
        Self { handler, ..self }
    }

    /// The same, told of some tools alone.
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

/// Whether a handler calls Grov, whichever Grov it is and however it is called.
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

/// The words of a hook's command without those that tell of a daemon.
fn without_daemon_port(words: &str) -> &str {
    let (rest, port) = words.rsplit_once(' ').unwrap_or((words, ""));
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let rest = is_port.then(|| rest.strip_suffix(DAEMON_PORT_FLAG)?.strip_suffix(' '));
    rest.flatten().unwrap_or(words)
}

/// The port at which a hook of Grov's expects a daemon: that of its address, or that it is told.
pub(super) fn daemon_port(handler: &Node) -> Option<u16> {
    let text = |name| handler.member(name).and_then(Node::text);
    match text("url").and_then(|url| url.rsplit_once(HTTP_HOOK_PATH)) {
        Some((base, _)) => base.rsplit_once(':')?.1.parse().ok(),
        None => {
            let command = text("command")?.trim();
            let is_told = without_daemon_port(command) != command;
            command.rsplit_once(' ').filter(|_| is_told)?.1.parse().ok()
        }
    }
}

/// The token that a hook over HTTP shows.
pub(super) fn token(handler: &Node) -> Option<Secret> {
    let token = handler.member("headers")?.member(TOKEN_HEADER)?.text()?;
    Some(Secret::new(token))
}

/// Whether a status line is printed by Grov, whichever Grov it is.
pub(super) fn is_grovs_status_line(line: &Node) -> bool {
    let command = line.member("command").and_then(Node::text);
    let program = command.and_then(|command| command.trim().strip_suffix(" statusline"));
    program.is_some_and(is_grov_program)
}

/// Whether what stands before the words of a command is this program alone.
fn is_grov_program(program: &str) -> bool {
    let program = program.trim();
    // A path with a blank in it is quoted; anything else with one is more than a program.
    let is_quoted = program.starts_with(['\'', '"']);
    let name = program.trim_matches(['\'', '"']).rsplit(['/', '\\']).next();
    name == Some(PROGRAM) && (is_quoted || !program.contains(char::is_whitespace))
}

fn is_event(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A path or name as a word for a shell.
pub fn shell_word(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%~".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The first word of a command line, as [`shell_word`] writes it or between quotation marks.
pub(super) fn first_shell_word(command: &str) -> String {
    let command = command.trim();
    let mut word = String::new();
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\\') => word.extend(characters.next()),
            (None, '\'' | '"') => quote = Some(character),
            (None, space) if space.is_whitespace() => break,
            (Some(open), close) if open == close => quote = None,
            (_, other) => word.push(other),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::super::scan::Document;
    use super::*;

    #[test]
    fn grovs_own_hooks_are_known_by_what_they_call() {
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
    fn what_is_written_is_known_again() {
        let program = shell_word("/opt/it's here/grov");
        assert_eq!(program, r"'/opt/it'\''s here/grov'");
        assert_eq!(shell_word("/usr/bin/grov"), "/usr/bin/grov");
        let hook = Hook::command(&program, "Stop", 5);
        let Handler::Command(command) = hook.handler else {
            panic!("a command was asked for")
        };
        assert_eq!(command, r"'/opt/it'\''s here/grov' hook Stop");
    }

    #[test]
    fn the_port_of_the_daemon_is_read_where_it_is_told() {
        let port = |json: &str| daemon_port(Document::scan(json).unwrap().root.as_ref().unwrap());
        let http = r#"{"url":"http://127.0.0.1:8080/_grov/hook/Stop"}"#;
        assert_eq!(port(http), Some(8080));
        assert_eq!(port(r#"{"url":"http://[::1]:81/_grov/hook/Stop"}"#), Some(81));
        let command = r#"{"command":"'/a b/grov' hook SessionStart --daemon-port 9"}"#;
        assert_eq!(port(command), Some(9));
        assert_eq!(port(r#"{"command":"grov hook SessionStart"}"#), None);
    }
}
