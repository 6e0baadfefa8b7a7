//! Ids of messages and tool calls.

use std::borrow::Cow;
use uuid::Uuid;

/// A tool call id in the alphabet that the Messages API accepts: other characters become `_`.
pub fn tool_id(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.chars().all(fits) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(|c| if fits(c) { c } else { '_' }).collect())
}

/// A new tool call id: `call_` and 24 hexadecimal digits.
pub(crate) fn new_call_id() -> String {
    format!("call_{}", new_digits())
}

/// A new message id.
pub(crate) fn new_message_id() -> String {
    format!("msg_{}", new_digits())
}

/// A new id for the response to a request, as the header `request-id` holds it: `req_` and 24 hexadecimal digits.
pub fn new_request_id() -> String {
    format!("req_{}", new_digits())
}

/// Twenty-four hexadecimal digits, mostly random.
fn new_digits() -> String {
    let mut digits = Uuid::now_v7().simple().to_string();
    digits.drain(..8);
    digits
}
