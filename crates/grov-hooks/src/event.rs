//! What the client tells a hook, and what a hook may answer.

use crate::json;
use grov_redact::Redacted;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// An event at which the client runs hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name in the settings and on the command line.
    pub name: &'static str,
    /// Of which tools the client tells, as a regular expression; of all where there is none.
    pub matcher: Option<&'static str>,
    /// How long the client is to wait for the hook, in seconds; it waits for everything else meanwhile.
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

    /// Whether the client also tells of it by HTTP, if its settings say so. Tried with Claude Code 2.1.197: all that Grov
    /// registers at but the start of a session.
    pub fn goes_over_http(&self) -> bool {
        self.name != SESSION_START
    }
}

/// A session begins, goes on, or begins anew after `/clear` or a compaction.
pub const SESSION_START: &str = "SessionStart";
/// The user has sent a prompt, which the model has not seen yet.
pub const USER_PROMPT_SUBMIT: &str = "UserPromptSubmit";
/// The agent is about to use a tool, which a hook can stop.
pub const PRE_TOOL_USE: &str = "PreToolUse";
/// A tool was used.
pub const POST_TOOL_USE: &str = "PostToolUse";
/// A tool was used, and said that it failed.
pub const POST_TOOL_USE_FAILURE: &str = "PostToolUseFailure";

/// The agent has ended its turn, as it does once for every prompt.
pub const STOP: &str = "Stop";
/// The turn broke off, because the API failed.
pub const STOP_FAILURE: &str = "StopFailure";
/// A subagent has ended its work.
pub const SUBAGENT_STOP: &str = "SubagentStop";
/// The client leaves the session. It waits a second and a half for everybody, whatever the settings say.
pub const SESSION_END: &str = "SessionEnd";
/// The history is about to be replaced by a summary.
pub const PRE_COMPACT: &str = "PreCompact";

/// The tools that change something. What only looks needs no guard, and no process.
pub const CHANGING_TOOLS: &str = "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*";

/// How long the client waits for the guard, in seconds. When it is over the tool runs, so the guard answers before.
pub const GUARD_TIMEOUT: u64 = 60;

/// The events that Grov has something to do at. Every other costs a process for nothing and is not registered.
const REGISTERED: [Event; 10] = [
    // A proxy may have to be started.
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

/// The most that is read of what the client sends. It sends more only if a tool's output is that long.
pub const MAX_INPUT_BYTES: u64 = 50 * 1024 * 1024;

/// What the client sends, as far as Grov needs it. Fields that are missing or of another type are empty, unknown ones are
/// passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The session as the client knows it. At the start of a forked session it is the one that was forked.
    pub session_id: Option<String>,
    /// The project's directory.
    pub cwd: Option<String>,
    /// The event.
    pub hook_event_name: Option<String>,
    /// At the start of a session: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    /// What the user said.
    pub prompt: Option<String>,
    /// The prompt that the agent works on, as the client knows it.
    pub prompt_id: Option<String>,
    /// The client's own record of the session.
    pub transcript_path: Option<String>,
    /// The tool that is, or was, used.
    pub tool_name: Option<String>,
    /// What it is given.
    pub tool_input: Option<Value>,
    /// The tool call.
    pub tool_use_id: Option<String>,
    /// How the client decides what may run: `default`, `acceptEdits`, `plan`, `bypassPermissions`, `dontAsk` or `auto`.
    pub permission_mode: Option<String>,
    /// The subagent that uses it, if it is one.
    pub agent_id: Option<String>,
    /// At the end of a turn: what the agent said last.
    pub last_assistant_message: Option<String>,
}

impl Input {
    /// Reads what the client sent, each field by itself; empty if it is no JSON object. What is no text in a text (bytes that
    /// are no UTF-8, half a surrogate pair) stands as a replacement character.
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
            last_assistant_message: text("last_assistant_message"),
        }
    }

    /// The event: as the client names it, else as the command line does.
    pub fn event<'a>(&'a self, asked: Option<&'a str>) -> Option<&'a str> {
        self.hook_event_name.as_deref().or(asked)
    }
}

/// An object's fields, unread.
fn fields(json: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(json).ok()
}

/// What a tool is given: where something in it cannot be read, the fields that can.
fn tool_input(json: &str) -> Option<Value> {
    let whole = json::parse::<Value>(json).or_else(|| {
        let read = |(name, raw): (String, &RawValue)| Some((name, json::parse(raw.get())?));
        Some(Value::Object(
            fields(json)?.into_iter().filter_map(read).collect(),
        ))
    });
    whole.filter(|value| !value.is_null())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reply<'a, T: Serialize> {
    /// Shown to the user; the agent does not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system_message: Option<&'a str>,
    pub(crate) hook_specific_output: T,
}

impl<T: Serialize> Reply<'_, T> {
    pub(crate) fn to_json(&self) -> String {
        // Serializing strings cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedContext<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// What a hook prints to give the agent a text. Of more than 10,000 characters the client passes on the beginning alone.
pub fn context(event: &str, text: &Redacted) -> String {
    answer(event, text, None)
}

/// The same, with a line that the client shows its user and the agent does not see.
pub fn context_with_notice(event: &str, text: &Redacted, notice: &str) -> String {
    answer(event, text, Some(notice))
}

fn answer(event: &str, text: &str, notice: Option<&str>) -> String {
    Reply {
        system_message: notice,
        hook_specific_output: AddedContext {
            hook_event_name: event,
            additional_context: text,
        },
    }
    .to_json()
}

/// The answer of a hook with a line that the client shows its user, beside what else the answer says.
pub fn with_notice(answer: Option<&str>, notice: &str) -> String {
    let answer =
        answer.and_then(|answer| serde_json::from_str::<serde_json::Map<String, Value>>(answer).ok());
    let mut answer = answer.unwrap_or_default();
    let said = answer.get("systemMessage").and_then(Value::as_str);
    let notice = match said {
        Some(said) => format!("{notice}\n{said}"),
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
    fn what_the_client_sends_is_read_as_far_as_it_is_needed() {
        let input = Input::read(
            br#"{"session_id":"s","cwd":"/p","hook_event_name":"UserPromptSubmit","prompt":"hi \ud83d\ude00","new":[{}],"source":null}"#,
        );
        assert_eq!(input.session_id.as_deref(), Some("s"));
        assert_eq!(input.prompt.as_deref(), Some("hi 😀"));
        assert_eq!(input.event(Some("Stop")), Some("UserPromptSubmit"));
        assert_eq!(input.source, None);
    }

    #[test]
    fn anything_else_is_nothing() {
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
    fn half_a_letter_or_another_type_empties_nothing_else() {
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
    fn of_what_a_tool_is_given_all_is_read_that_can_be() {
        let deep = "[".repeat(500) + &"]".repeat(500);
        let sent = format!(r#"{{"tool_input":{{"command":"ls","deep":{deep},"huge":1e999}},"cwd":"/p"}}"#);
        let input = Input::read(sent.as_bytes());
        assert_eq!(input.tool_input, Some(serde_json::json!({"command": "ls"})));
        assert_eq!(input.cwd.as_deref(), Some("/p"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read_or_not(text in r#"(\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\|[a-zé"\\]|\\n){0,12}"#) {
            let sent = format!("{{\"cwd\":\"/p\",\"prompt\":\"{text}\"}}");
            let input = Input::read(sent.as_bytes());
            let is_json = serde_json::from_str::<BTreeMap<String, &RawValue>>(&sent).is_ok();
            proptest::prop_assert_eq!(input.cwd.is_some(), is_json);
            proptest::prop_assert!(!is_json || input.prompt.is_some());
        }
    }

    #[test]
    fn a_notice_stands_beside_what_else_is_said() {
        let read = |answer: String| serde_json::from_str::<Value>(&answer).unwrap();
        assert_eq!(
            read(with_notice(None, "a")),
            serde_json::json!({"systemMessage": "a"})
        );
        let answer = context_with_notice(SESSION_START, &Redactor::shared().text("text"), "b");
        let answer = read(with_notice(Some(&answer), "a"));
        assert_eq!(answer["systemMessage"], "a\nb");
        assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "text");
    }

    #[test]
    fn context_is_answered_in_the_clients_form() {
        let answer: serde_json::Value =
            serde_json::from_str(&context(USER_PROMPT_SUBMIT, &Redactor::shared().text("a\n\"b\""))).unwrap();
        let expected = serde_json::json!({
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a\n\"b\""}
        });
        assert_eq!(answer, expected);
        let answer: serde_json::Value = serde_json::from_str(&context_with_notice(
            SESSION_START,
            &Redactor::shared().text("a"),
            "b",
        ))
        .unwrap();
        let expected = serde_json::json!({
            "systemMessage": "b",
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "a"}
        });
        assert_eq!(answer, expected);
    }
}
