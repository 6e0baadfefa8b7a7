//! What a hook says.

use crate::error_log::note;
use crate::guard::{self, Noting};
use crate::hook::{Call, Hook};
use crate::{prompt, session_start, turn_end};
use grov_domain::GuardVerdict;
use grov_hooks::event::{self, Input};
use grov_hooks::permission;
use grov_redact::Redactor;
use grov_runtime::{Environment, Home};
use std::panic::AssertUnwindSafe;

/// What a hook says.
#[derive(Debug)]
pub enum Reply {
    /// Nothing.
    Silence,
    /// What the client is told: JSON.
    Text(String),
    /// What it is told about a tool call, and what notes it meanwhile.
    Verdict(String, Noting),
    /// A tool call must not run, because nobody could look at it: why.
    Refusal(String),
}

impl Reply {
    /// The body of an HTTP answer, and what is still being noted. There are no exit codes over HTTP: a refusal is a decision
    /// that the call is denied.
    pub fn over_http(self) -> (String, Option<Noting>) {
        match self {
            Self::Silence => (NOTHING.to_owned(), None),
            Self::Text(text) => (text, None),
            Self::Verdict(text, noting) => (text, Some(noting)),
            Self::Refusal(reason) => (
                permission(GuardVerdict::Deny, &Redactor::shared().text(&reason)),
                None,
            ),
        }
    }
}

/// An HTTP answer that says nothing.
pub const NOTHING: &str = "{}";

impl From<Option<String>> for Reply {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Silence, Self::Text)
    }
}

/// What is said to an event. A fault of ours is written down and costs the answer, a panic too; only a guard that was set to
/// fail closed refuses then.
pub fn answer(hook: &Hook<'_>) -> Reply {
    let is_guard = hook.event == Some(event::PRE_TOOL_USE);
    unbroken(is_guard, hook.home, hook.environment, || {
        let input = Input::read(hook.input);
        if input == Input::default() && !hook.input.trim_ascii().is_empty() {
            note(Some(hook.home), "what the client sent could not be read");
        }
        let call = Call {
            input: &input,
            home: hook.home,
            environment: hook.environment,
            daemon_port: hook.daemon_port,
            programs: hook.programs,
            services: hook.services,
            since: hook.since,
        };
        said(&call, input.event(hook.event))
    })
}

/// What is said to an event where there is no home to look in.
pub fn answer_nowhere(event: Option<&str>, environment: &Environment) -> Reply {
    if event == Some(event::PRE_TOOL_USE) {
        guard::broke_off(None, environment)
    } else {
        Reply::Silence
    }
}

fn said(call: &Call<'_>, event: Option<&str>) -> Result<Reply, String> {
    let said = match event {
        Some(event::PRE_TOOL_USE) => return Ok(guard::before(call)),
        Some(event::POST_TOOL_USE | event::POST_TOOL_USE_FAILURE) => guard::after(call),
        Some(event::SESSION_START) => session_start::starts(call),
        Some(event::USER_PROMPT_SUBMIT) => prompt::arrives(call),
        Some(
            event @ (event::STOP
            | event::STOP_FAILURE
            | event::SUBAGENT_STOP
            | event::SESSION_END
            | event::PRE_COMPACT),
        ) => turn_end::is_over(call, event),
        _ => Ok(None),
    };
    said.map(Reply::from)
}

/// What is said, also where finding that out breaks off.
fn unbroken(
    is_guard: bool,
    home: &Home,
    environment: &Environment,
    answer: impl FnOnce() -> Result<Reply, String>,
) -> Reply {
    match std::panic::catch_unwind(AssertUnwindSafe(answer)) {
        Ok(Ok(reply)) => reply,
        Ok(Err(fault)) => {
            note(Some(home), &fault);
            Reply::Silence
        }
        Err(_) => {
            note(Some(home), "an answer broke off; the fault is ours");
            if is_guard {
                guard::broke_off(Some(home), environment)
            } else {
                Reply::Silence
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_fails_closed_refuses_also_where_something_breaks_off() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), "[guard]\nfail = \"closed\"\n").unwrap();
        let environment = Environment::default();
        let home = Home::locate(Some(folder.path()), &environment).unwrap();
        let said = |is_guard| unbroken(is_guard, &home, &environment, || panic!("a fault of ours"));
        assert!(matches!(said(true), Reply::Refusal(_)));
        assert!(matches!(said(false), Reply::Silence));
        std::fs::write(folder.path().join("config.toml"), "").unwrap();
        assert!(matches!(said(true), Reply::Silence));
    }

    #[test]
    fn over_http_a_refusal_denies_the_call() {
        let (body, noting) = Reply::Refusal("not looked at".to_owned()).over_http();
        assert!(noting.is_none());
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let said = &body["hookSpecificOutput"];
        assert_eq!(said["permissionDecision"], "deny");
        assert_eq!(said["permissionDecisionReason"], "not looked at");
        assert_eq!(Reply::Silence.over_http().0, "{}");
    }

    #[test]
    fn without_a_home_only_a_guard_that_fails_closed_says_something() {
        let closed = Environment::from_iter([("GROV_GUARD_FAIL", "closed")]);
        let refuses =
            |event, environment| matches!(answer_nowhere(Some(event), environment), Reply::Refusal(_));
        assert!(refuses(event::PRE_TOOL_USE, &closed));
        assert!(!refuses(event::STOP, &closed));
        assert!(!refuses(event::PRE_TOOL_USE, &Environment::default()));
    }
}
