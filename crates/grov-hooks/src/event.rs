//! What the client tells a hook, and what a hook may answer.

use serde::{Deserialize, Serialize};

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

/// The events that Grov has something to do at. Every other costs a process for nothing and is not registered.
const REGISTERED: &[Event] = &[
    // A proxy may have to be started.
    Event {
        name: SESSION_START,
        matcher: None,
        timeout: 20,
    },
    Event {
        name: USER_PROMPT_SUBMIT,
        matcher: None,
        timeout: 5,
    },
    Event {
        name: PRE_TOOL_USE,
        matcher: Some(CHANGING_TOOLS),
        timeout: 5,
    },
    Event {
        name: POST_TOOL_USE,
        matcher: Some(CHANGING_TOOLS),
        timeout: 5,
    },
    Event {
        name: POST_TOOL_USE_FAILURE,
        matcher: Some(CHANGING_TOOLS),
        timeout: 5,
    },
    Event {
        name: STOP,
        matcher: None,
        timeout: 5,
    },
    Event {
        name: STOP_FAILURE,
        matcher: None,
        timeout: 5,
    },
    Event {
        name: SUBAGENT_STOP,
        matcher: None,
        timeout: 5,
    },
    Event {
        name: SESSION_END,
        matcher: None,
        timeout: 1,
    },
    Event {
        name: PRE_COMPACT,
        matcher: None,
        timeout: 5,
    },
];

/// The events that `grov init` registers.
pub fn registered() -> impl Iterator<Item = Event> {
    REGISTERED.iter().copied()
}

/// The most that is read of what the client sends. It sends more only if a tool's output is that long.
pub const LONGEST_INPUT: u64 = 50 * 1024 * 1024;

/// What the client sends, as far as Grov needs it. Fields that are missing are empty, unknown ones are passed over.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
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
    pub tool_input: Option<serde_json::Value>,
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
    /// Reads what the client sent; empty if it is nothing that can be understood.
    pub fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// The event: as the client names it, else as the command line does.
    pub fn event<'a>(&'a self, asked: Option<&'a str>) -> Option<&'a str> {
        self.hook_event_name.as_deref().or(asked)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_specific_output: Specific<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// What a hook prints to give the agent a text. Of more than 10,000 characters the client passes on the beginning alone.
pub fn context(event: &str, text: &str) -> String {
    let output = Output {
        hook_specific_output: Specific {
            hook_event_name: event,
            additional_context: text,
        },
    };
    // Two strings always make JSON.
    serde_json::to_string(&output).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            b"{\"prompt\": \"\xff\"}",
        ] {
            assert_eq!(Input::read(bytes), Input::default());
        }
        assert_eq!(Input::default().event(Some("Stop")), Some("Stop"));
        assert_eq!(Input::default().event(None), None);
    }

    #[test]
    fn context_is_answered_in_the_clients_form() {
        let answer: serde_json::Value =
            serde_json::from_str(&context(USER_PROMPT_SUBMIT, "a\n\"b\"")).unwrap();
        let expected = serde_json::json!({
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a\n\"b\""}
        });
        assert_eq!(answer, expected);
    }
}
