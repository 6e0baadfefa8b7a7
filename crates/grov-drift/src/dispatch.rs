//! Dispatches a hook event and turns failures into responses.

use crate::error::HookError;
use crate::error_log::log_error;
use crate::guard::fault_notice::damaged_database;
use crate::guard::{self, PendingRecord};
use crate::hook::{Hook, HookContext};
use crate::{prompt, session_start, turn_end};
use grov_domain::{GuardVerdict, StoreError};
use grov_hooks::event::{self, Input};
use grov_hooks::permission;
use grov_redact::Redactor;
use grov_runtime::{Environment, Home};
use std::panic::AssertUnwindSafe;

/// The response to a hook event.
#[derive(Debug)]
pub enum HookResponse {
    /// No output.
    Empty,
    /// JSON for the client.
    Json(String),
    /// A permission decision on a tool call, and the record that is still being written.
    Decision(String, PendingRecord),
    /// Blocks a tool call that could not be checked, with the reason.
    Block(String),
}

impl HookResponse {
    /// The HTTP response body, and the record that is still being written. HTTP has no exit codes, so a block becomes a
    /// `deny` decision.
    pub fn over_http(self) -> (String, Option<PendingRecord>) {
        match self {
            Self::Empty => (EMPTY_RESPONSE.to_owned(), None),
            Self::Json(text) => (text, None),
            Self::Decision(text, record) => (text, Some(record)),
            Self::Block(reason) => (
                permission(GuardVerdict::Deny, &Redactor::shared().text(&reason)),
                None,
            ),
        }
    }
}

/// An empty HTTP response body.
pub const EMPTY_RESPONSE: &str = "{}";

impl From<Option<String>> for HookResponse {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Empty, Self::Json)
    }
}

/// Handles a hook event. An error or panic is logged and gives an empty response; one of the guard is also shown to the user,
/// once a session, and a guard that fails closed blocks the call.
pub fn handle(hook: &Hook<'_>) -> HookResponse {
    let is_guard = hook.event == Some(event::PRE_TOOL_USE);
    catch_failures(is_guard, hook.home, hook.environment, || {
        let input = Input::read(hook.input);
        if input == Input::default() && !hook.input.trim_ascii().is_empty() {
            log_error(Some(hook.home), "the client's input could not be parsed");
        }
        let context = HookContext { input: &input, hook };
        dispatch(&context, input.event(hook.event))
    })
}

/// The response if Grov has no home directory.
pub fn handle_without_home(event: Option<&str>, environment: &Environment) -> HookResponse {
    if event == Some(event::PRE_TOOL_USE) {
        guard::without_home(environment)
    } else {
        HookResponse::Empty
    }
}

fn dispatch(context: &HookContext<'_>, event: Option<&str>) -> Result<HookResponse, HookError> {
    let text = match event {
        Some(event::PRE_TOOL_USE) => return Ok(guard::pre_tool_use(context)),
        Some(event::POST_TOOL_USE | event::POST_TOOL_USE_FAILURE) => guard::post_tool_use(context),
        Some(event::SESSION_START) => session_start::handle(context),
        Some(event::USER_PROMPT_SUBMIT) => prompt::handle(context),
        Some(
            event @ (event::STOP
            | event::STOP_FAILURE
            | event::SUBAGENT_STOP
            | event::SESSION_END
            | event::PRE_COMPACT),
        ) => turn_end::handle(context, event),
        _ => Ok(None),
    };
    match text {
        // The user does not see the log. Only events whose notices the client shows.
        Err(HookError::Store(StoreError::Corrupt(damage)))
            if matches!(event, Some(event::SESSION_START | event::USER_PROMPT_SUBMIT)) =>
        {
            log_error(Some(context.home), &damage);
            let session = context.input.session_id.as_deref();
            Ok(damaged_database(context.home, session, &damage).into())
        }
        text => text.map(HookResponse::from),
    }
}

/// Runs `answer`; errors and panics become responses.
fn catch_failures(
    is_guard: bool,
    home: &Home,
    environment: &Environment,
    answer: impl FnOnce() -> Result<HookResponse, HookError>,
) -> HookResponse {
    match std::panic::catch_unwind(AssertUnwindSafe(answer)) {
        Ok(Ok(reply)) => reply,
        Ok(Err(fault)) => {
            log_error(Some(home), fault);
            HookResponse::Empty
        }
        Err(_) => {
            log_error(Some(home), "a hook panicked");
            if is_guard {
                guard::panicked(home, environment)
            } else {
                HookResponse::Empty
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_fails_closed_blocks_after_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), "[guard]\nfail = \"closed\"\n").unwrap();
        let environment = Environment::default();
        let home = Home::locate(Some(folder.path()), &environment).unwrap();
        let response = |is_guard| catch_failures(is_guard, &home, &environment, || panic!("a bug"));
        assert!(matches!(response(true), HookResponse::Block(_)));
        assert!(matches!(response(false), HookResponse::Empty));
        std::fs::write(folder.path().join("config.toml"), "").unwrap();
        let HookResponse::Json(text) = response(true) else {
            panic!("no notice");
        };
        assert!(
            text.contains("systemMessage") && text.contains("panicked"),
            "{text}"
        );
        assert!(matches!(response(true), HookResponse::Empty));
    }

    #[test]
    fn over_http_a_block_denies_the_call() {
        let (body, record) = HookResponse::Block("not looked at".to_owned()).over_http();
        assert!(record.is_none());
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let decision = &body["hookSpecificOutput"];
        assert_eq!(decision["permissionDecision"], "deny");
        assert_eq!(decision["permissionDecisionReason"], "not looked at");
        assert_eq!(HookResponse::Empty.over_http().0, "{}");
    }

    #[test]
    fn without_a_home_only_a_guard_that_fails_closed_blocks() {
        let closed = Environment::from_iter([("GROV_GUARD_FAIL", "closed")]);
        let blocks = |event, environment| {
            matches!(
                handle_without_home(Some(event), environment),
                HookResponse::Block(_)
            )
        };
        assert!(blocks(event::PRE_TOOL_USE, &closed));
        assert!(!blocks(event::STOP, &closed));
        assert!(!blocks(event::PRE_TOOL_USE, &Environment::default()));
    }
}
