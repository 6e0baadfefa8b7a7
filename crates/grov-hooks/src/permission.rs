//! What a hook answers to a tool call that has not run yet.
//!
//! Where the client asks its user, it shows the reason of a command, but of a change of a file only the change itself. The
//! message is shown in both cases, and to the user alone. Where nobody can be asked, and where the call is denied, the agent
//! gets the reason as the call's result.

use crate::event::{PRE_TOOL_USE, Reply};
use grov_domain::GuardVerdict;
use grov_redact::Redacted;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Permission<'a> {
    hook_event_name: &'a str,
    permission_decision: &'a str,
    permission_decision_reason: &'a str,
}

/// What a hook prints so that the client asks its user about a tool call, or does not run it.
pub fn permission(verdict: GuardVerdict, reason: &Redacted) -> String {
    Reply {
        system_message: Some(reason.as_str()).filter(|_| verdict == GuardVerdict::Ask),
        hook_specific_output: Permission {
            hook_event_name: PRE_TOOL_USE,
            permission_decision: verdict.as_str(),
            permission_decision_reason: reason,
        },
    }
    .to_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_redact::Redactor;
    use serde_json::{Value, json};

    #[test]
    fn the_answer_is_one_line_in_the_clients_form() {
        let answer = permission(GuardVerdict::Deny, &Redactor::shared().text("a \"b\"\nc"));
        assert!(!answer.contains('\n'), "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            answer,
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "a \"b\"\nc",
            }})
        );
    }

    #[test]
    fn whoever_is_asked_is_told_why() {
        let answer: Value =
            serde_json::from_str(&permission(GuardVerdict::Ask, &Redactor::shared().text("why"))).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
        assert_eq!(answer["hookSpecificOutput"]["permissionDecisionReason"], "why");
        assert_eq!(answer["systemMessage"], "why");
    }
}
