//! Thinking blocks that the translation made, in the history of a later request.

use super::blocks::SIGNATURE;
use super::json::{Json, Object};

/// Removes the thinking blocks that the translation signed, from a request for an API that checks signatures.
///
/// The client sends the answers of a routed model back as history, and may have changed to another model since. Returns
/// `None` if there are none, or if the body cannot be read.
pub fn without_own_thinking(body: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(body, SIGNATURE.as_bytes())?;
    let mut request: Object<'_> = serde_json::from_slice(body).ok()?;
    let messages = request.get("messages")?.as_array()?;
    let mut any = false;
    messages.retain_mut(|message| {
        let content = message
            .as_object()
            .and_then(|message| message.get("content"))
            .and_then(Json::as_array);
        let Some(blocks) = content else { return true };
        let before = blocks.len();
        blocks.retain_mut(|block| !is_own(block));
        any |= blocks.len() < before;
        // A message must not be empty.
        blocks.len() == before || !blocks.is_empty()
    });
    any.then(|| serde_json::to_vec(&Json::Object(request)).ok())
        .flatten()
}

fn is_own(block: &mut Json<'_>) -> bool {
    let Some(block) = block.as_object() else {
        return false;
    };
    let mut is = |key: &str, value: &str| block.get(key).and_then(Json::as_text) == Some(value);
    is("type", "thinking") && is("signature", SIGNATURE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_thinking_is_removed_and_the_rest_keeps_its_bytes() {
        let own = format!(r#"{{"type":"thinking","thinking":"a","signature":"{SIGNATURE}"}}"#);
        let other = r#"{"type":"thinking","thinking":"b","signature":"EqQB"}"#;
        let request = |first: &str, second: &str| {
            format!(
                r#"{{"z":1.0,"messages":[{{"role":"user","content":"x"}},{{"role":"assistant","content":[{first}{other},{{"type":"text","text":"\u0041"}}]}}{second}],"a":2}}"#
            )
        };
        let body = request(
            &format!("{own},"),
            &format!(r#",{{"role":"assistant","content":[{own}]}}"#),
        );
        let cleaned = without_own_thinking(body.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(cleaned).unwrap(), request("", ""));
        assert_eq!(without_own_thinking(request("", "").as_bytes()), None);
        let quoted = format!(r#"{{"messages":[{{"role":"user","content":"{SIGNATURE}"}}]}}"#);
        assert_eq!(without_own_thinking(quoted.as_bytes()), None);
    }
}
