//! The reply to `PreToolUse`: a permission decision on a tool call.
//!
//! When the client asks the user, it shows the reason for commands, but not for file changes. Therefore the reason is also
//! sent as a system message, which only the user sees. If the call is denied or no user can be asked, the agent gets the
//! reason as the result of the call.

use crate::event::{PRE_TOOL_USE, reply};
use grov_domain::GuardVerdict;
use grov_redact::Redacted;
use serde_json::json;

/// Renders the reply that makes the client ask the user about a tool call, or deny it.
pub fn permission(verdict: GuardVerdict, reason: &Redacted) -> String {
    let decision = match verdict {
        GuardVerdict::Ask | GuardVerdict::AskUnattended => "ask",
        GuardVerdict::Deny => "deny",
    };
    let output = json!({
        "hookEventName": PRE_TOOL_USE,
        "permissionDecision": decision,
        "permissionDecisionReason": reason.as_str(),
    });
    let notice = Some(reason.as_str()).filter(|_| verdict != GuardVerdict::Deny);
    reply(output, notice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_redact::Redactor;
    use serde_json::Value;

    #[test]
    fn the_reply_is_one_line_in_the_clients_format() {
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
    fn the_user_sees_the_reason_of_a_question() {
        let answer: Value =
            serde_json::from_str(&permission(GuardVerdict::Ask, &Redactor::shared().text("why"))).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
        assert_eq!(answer["hookSpecificOutput"]["permissionDecisionReason"], "why");
        assert_eq!(answer["systemMessage"], "why");
    }
}
