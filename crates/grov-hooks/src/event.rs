//! Hook events: their input, and replies that add context or a notice.

use crate::json;
use grov_redact::Redacted;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A hook event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Name in the settings and on the command line.
    pub name: &'static str,
    /// Regular expression of the tools that the hook runs for; `None` for all.
    pub matcher: Option<&'static str>,
    /// Timeout in seconds. The client does nothing else while it waits.
    pub timeout: u64,
}

impl Event {
    const fn new(name: &'static str, matcher: Option<&'static str>, timeout: u64) -> Self {
        Self {
            name,
            matcher,
            timeout,
        }
    }

    /// Whether the client can send the event over HTTP. Tested with Claude Code 2.1.197: all registered events except
    /// `SessionStart`.
    pub fn goes_over_http(&self) -> bool {
        self.name != SESSION_START
    }
}

/// A session starts, is resumed, or continues after `/clear` or a compaction.
pub const SESSION_START: &str = "SessionStart";
/// The user sent a prompt; the model has not received it yet.
pub const USER_PROMPT_SUBMIT: &str = "UserPromptSubmit";
/// A tool call is about to run; the hook can stop it.
pub const PRE_TOOL_USE: &str = "PreToolUse";
/// A tool call ran.
pub const POST_TOOL_USE: &str = "PostToolUse";
/// A tool call ran and failed.
pub const POST_TOOL_USE_FAILURE: &str = "PostToolUseFailure";

/// The agent ended its turn, once for each prompt.
pub const STOP: &str = "Stop";
/// The turn was aborted by an API error.
pub const STOP_FAILURE: &str = "StopFailure";
/// A subagent ended.
pub const SUBAGENT_STOP: &str = "SubagentStop";
/// The session ends. The client waits 1.5 s for all hooks together, regardless of their timeouts.
pub const SESSION_END: &str = "SessionEnd";
/// The client is about to compact the history.
pub const PRE_COMPACT: &str = "PreCompact";

/// Tools that can change something. The guard does not run for read-only tools, which saves a process.
pub const CHANGING_TOOLS: &str = "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*";

/// Timeout of the guard in seconds. The client runs the tool afterwards, so the guard must answer earlier.
pub const GUARD_TIMEOUT: u64 = 60;

/// The events that Grov handles. Any other event would start a process for nothing.
const REGISTERED: [Event; 10] = [
    // The hook may have to start the proxy.
    Event::new(SESSION_START, None, 20),
    Event::new(USER_PROMPT_SUBMIT, None, 5),
    Event::new(PRE_TOOL_USE, Some(CHANGING_TOOLS), GUARD_TIMEOUT),
    Event::new(POST_TOOL_USE, Some(CHANGING_TOOLS), 5),
    Event::new(POST_TOOL_USE_FAILURE, Some(CHANGING_TOOLS), 5),
    Event::new(STOP, None, 5),
    Event::new(STOP_FAILURE, None, 5),
    Event::new(SUBAGENT_STOP, None, 5),
    Event::new(SESSION_END, None, 1),
    Event::new(PRE_COMPACT, None, 5),
];

/// The events that `grov init` registers.
pub fn registered() -> impl Iterator<Item = Event> {
    REGISTERED.into_iter()
}

/// Maximum number of input bytes that are read. Only a very long tool output exceeds it.
pub const MAX_INPUT_BYTES: u64 = 50 * 1024 * 1024;

/// The client's input. Fields that are missing or of another type are `None`; unknown fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The client's session id. When a fork starts, it is the id of the original session.
    pub session_id: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The event's name.
    pub hook_event_name: Option<String>,
    /// `SessionStart` only: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    /// The user's prompt.
    pub prompt: Option<String>,
    /// The client's id of the prompt that the agent works on.
    pub prompt_id: Option<String>,
    /// Path of the session's transcript.
    pub transcript_path: Option<String>,
    /// The tool's name.
    pub tool_name: Option<String>,
    /// The tool's input.
    pub tool_input: Option<Value>,
    /// The id of the tool call.
    pub tool_use_id: Option<String>,
    /// The client's permission mode: `default`, `acceptEdits`, `plan`, `bypassPermissions`, `dontAsk` or `auto`.
    pub permission_mode: Option<String>,
    /// The subagent that the event is about, if any.
    pub agent_id: Option<String>,
    /// The type of that subagent, or of the agent that the session was started with.
    pub agent_type: Option<String>,
    /// At the end of a turn: the agent's last message.
    pub last_assistant_message: Option<String>,
    /// At the end of a turn: whether a hook already made the agent go on.
    pub stop_hook_active: Option<bool>,
}

/// Permission modes in which the client shows a question of a hook to the user.
const ATTENDED_MODES: &[&str] = &["default", "acceptEdits"];

impl Input {
    /// Whether the client asks a person before it runs a call. In other modes the client, or a rule, may answer.
    pub fn is_attended(&self) -> bool {
        let mode = self.permission_mode.as_deref();
        mode.is_none_or(|mode| ATTENDED_MODES.contains(&mode))
    }

    /// Parses the input, each field on its own; all fields are `None` if it is not a JSON object. Invalid UTF-8 and lone
    /// surrogates become replacement characters.
    pub fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some(fields) = fields(&text) else {
            return Self::default();
        };
        let text = |name: &str| json::parse::<String>(fields.get(name)?.get());
        Self {
            session_id: text("session_id"),
            cwd: text("cwd"),
            hook_event_name: text("hook_event_name"),
            source: text("source"),
            prompt: text("prompt"),
            prompt_id: text("prompt_id"),
            transcript_path: text("transcript_path"),
            tool_name: text("tool_name"),
            tool_input: fields.get("tool_input").and_then(|raw| tool_input(raw.get())),
            tool_use_id: text("tool_use_id"),
            permission_mode: text("permission_mode"),
            agent_id: text("agent_id"),
            agent_type: text("agent_type"),
            last_assistant_message: text("last_assistant_message"),
            stop_hook_active: fields
                .get("stop_hook_active")
                .and_then(|raw| json::parse(raw.get())),
        }
    }

    /// The event's name: the client's field, or else `asked`, the name on the command line.
    pub fn event<'a>(&'a self, asked: Option<&'a str>) -> Option<&'a str> {
        self.hook_event_name.as_deref().or(asked)
    }
}

/// The fields of an object, not parsed further.
fn fields(json: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(json).ok()
}

/// Parses a tool's input. If that fails, the fields that can be parsed; `None` for `null`.
fn tool_input(json: &str) -> Option<Value> {
    let whole = json::parse::<Value>(json).or_else(|| {
        let read = |(name, raw): (String, &RawValue)| Some((name, json::parse(raw.get())?));
        Some(Value::Object(
            fields(json)?.into_iter().filter_map(read).collect(),
        ))
    });
    whole.filter(|value| !value.is_null())
}

/// A reply at the end of a turn that makes the agent go on: the client passes it the `reason`.
pub fn go_on(reason: &str) -> String {
    serde_json::json!({ "decision": "block", "reason": reason }).to_string()
}

/// Renders a reply. `notice` is shown to the user; the agent does not see it.
pub(crate) fn reply(output: Value, notice: Option<&str>) -> String {
    let mut reply = Map::from_iter([("hookSpecificOutput".to_owned(), output)]);
    if let Some(notice) = notice {
        reply.insert("systemMessage".to_owned(), notice.into());
    }
    Value::Object(reply).to_string()
}

/// A reply that adds a text to the agent's context. The client truncates it to 10,000 characters.
pub fn context(event: &str, text: &Redacted, notice: Option<&str>) -> String {
    reply(
        json!({ "hookEventName": event, "additionalContext": text.as_str() }),
        notice,
    )
}

/// Adds a notice for the user to a reply. An existing notice follows on the next line.
pub fn with_notice(answer: Option<&str>, notice: &str) -> String {
    let answer = answer.and_then(|answer| serde_json::from_str::<Map<String, Value>>(answer).ok());
    let mut answer = answer.unwrap_or_default();
    let earlier = answer.get("systemMessage").and_then(Value::as_str);
    let notice = match earlier {
        Some(earlier) => format!("{notice}\n{earlier}"),
        None => notice.to_owned(),
    };
    answer.insert("systemMessage".to_owned(), notice.into());
    Value::Object(answer).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_redact::Redactor;

    #[test]
    fn client_input_is_parsed() {
        let input = Input::read(
            br#"{"session_id":"s","cwd":"/p","hook_event_name":"UserPromptSubmit","prompt":"hi \ud83d\ude00","new":[{}],"source":null}"#,
        );
        assert_eq!(input.session_id.as_deref(), Some("s"));
        assert_eq!(input.prompt.as_deref(), Some("hi 😀"));
        assert_eq!(input.event(Some("Stop")), Some("UserPromptSubmit"));
        assert_eq!(input.source, None);
    }

    #[test]
    fn the_end_of_a_turn_tells_whether_a_hook_prolonged_it() {
        let active = |json: &str| Input::read(json.as_bytes()).stop_hook_active;
        assert_eq!(active(r#"{"stop_hook_active":true}"#), Some(true));
        assert_eq!(active(r#"{"stop_hook_active":"yes"}"#), None);
        assert_eq!(go_on("Why?"), r#"{"decision":"block","reason":"Why?"}"#);
    }

    #[test]
    fn malformed_input_has_no_fields() {
        for bytes in [
            b"".as_slice(),
            b"null",
            b"[]",
            b"{\"prompt\": 1}",
            b"{\"prompt\": \"x",
            b"\xff\xfe",
        ] {
            assert_eq!(Input::read(bytes), Input::default());
        }
        assert_eq!(Input::default().event(Some("Stop")), Some("Stop"));
        assert_eq!(Input::default().event(None), None);
    }

    #[test]
    fn a_malformed_field_does_not_affect_the_others() {
        let input = Input::read(
            br#"{"session_id":"s","agent_id":5,"prompt":"cut \ud83d, \ude00\ud83d\ude00 \\ud83d","tool_input":{"command":"git push --force; echo \ud83d\n","\ud83d":1}}"#,
        );
        assert_eq!(input.session_id.as_deref(), Some("s"));
        assert_eq!(input.agent_id, None);
        assert_eq!(input.prompt.as_deref(), Some("cut \u{fffd}, \u{fffd}😀 \\ud83d"));
        let expected = serde_json::json!({"command": "git push --force; echo \u{fffd}\n", "\u{fffd}": 1});
        assert_eq!(input.tool_input, Some(expected));
        let input = Input::read(b"{\"prompt\": \"\xff\", \"cwd\": null, \"tool_input\": null}");
        assert_eq!(input.prompt.as_deref(), Some("\u{fffd}"));
        assert_eq!((input.cwd, input.tool_input), (None, None));
    }

    #[test]
    fn readable_fields_of_a_tool_input_are_kept() {
        let deep = "[".repeat(500) + &"]".repeat(500);
        let sent = format!(r#"{{"tool_input":{{"command":"ls","deep":{deep},"huge":1e999}},"cwd":"/p"}}"#);
        let input = Input::read(sent.as_bytes());
        assert_eq!(input.tool_input, Some(serde_json::json!({"command": "ls"})));
        assert_eq!(input.cwd.as_deref(), Some("/p"));
    }

    proptest::proptest! {
        #[test]
        fn valid_json_is_always_parsed(text in r#"(\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\|[a-zé"\\]|\\n){0,12}"#) {
            let sent = format!("{{\"cwd\":\"/p\",\"prompt\":\"{text}\"}}");
            let input = Input::read(sent.as_bytes());
            let is_json = serde_json::from_str::<BTreeMap<String, &RawValue>>(&sent).is_ok();
            proptest::prop_assert_eq!(input.cwd.is_some(), is_json);
            proptest::prop_assert!(!is_json || input.prompt.is_some());
        }
    }

    #[test]
    fn a_notice_is_added_to_a_reply() {
        let read = |answer: String| serde_json::from_str::<Value>(&answer).unwrap();
        assert_eq!(
            read(with_notice(None, "a")),
            serde_json::json!({"systemMessage": "a"})
        );
        let answer = context(SESSION_START, &Redactor::shared().text("text"), Some("b"));
        let answer = read(with_notice(Some(&answer), "a"));
        assert_eq!(answer["systemMessage"], "a\nb");
        assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "text");
    }

    #[test]
    fn context_is_rendered_in_the_clients_format() {
        let answer: serde_json::Value = serde_json::from_str(&context(
            USER_PROMPT_SUBMIT,
            &Redactor::shared().text("a\n\"b\""),
            None,
        ))
        .unwrap();
        let expected = serde_json::json!({
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a\n\"b\""}
        });
        assert_eq!(answer, expected);
        let answer: serde_json::Value =
            serde_json::from_str(&context(SESSION_START, &Redactor::shared().text("a"), Some("b"))).unwrap();
        let expected = serde_json::json!({
            "systemMessage": "b",
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "a"}
        });
        assert_eq!(answer, expected);
    }
}
