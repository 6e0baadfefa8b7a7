//! Thought signatures of Gemini.

use crate::translate::json::{Json, Object};

/// The value by which Google's documentation lets a call without a signature pass.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Marks the calls of earlier turns. Newer models refuse a call without a signature, and the Messages API has no place to
/// keep the one that came with it.
pub(super) fn sign_calls(chat: &mut Object<'_>) {
    let Some(messages) = chat.get("messages").and_then(Json::as_array) else {
        return;
    };
    for message in messages.iter_mut().filter_map(Json::as_object) {
        let Some(calls) = message.get("tool_calls").and_then(Json::as_array) else {
            continue;
        };
        // Of parallel calls the first one carries the signature.
        let Some(call) = calls.first_mut().and_then(Json::as_object) else {
            continue;
        };
        if !call.contains("extra_content") {
            let google = Json::object([("thought_signature", Json::text(NO_SIGNATURE))]);
            call.push("extra_content", Json::object([("google", google)]));
        }
    }
}
