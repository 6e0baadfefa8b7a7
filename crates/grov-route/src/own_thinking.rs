//! Removes thinking of other models from a request to Anthropic.

use crate::body_edit::{Edit, Fields, apply};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The signature of thinking blocks that came from another model. Anthropic refuses it.
pub const OWN_SIGNATURE: &str = "grov-routed-thinking";

/// Replaces an answer that was nothing but thinking, because an answer must not be empty.
const EMPTY: &str = r#"{"type":"text","text":"(thinking)"}"#;

#[derive(Deserialize)]
struct Block<'b> {
    #[serde(rename = "type")]
    kind: &'b str,
    #[serde(default)]
    signature: String,
}

/// Removes the thinking blocks with [`OWN_SIGNATURE`] from a request of the Messages API. All other bytes stay as they are. `None` if
/// there are none, or the body is not in the form of the API.
pub fn without_own_thinking(body: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(body, OWN_SIGNATURE.as_bytes())?;
    let fields = Fields::parse(body)?;
    let mut edits = Vec::new();
    for messages in fields.named("messages") {
        let messages: Vec<&RawValue> = serde_json::from_str(messages.get()).ok()?;
        for message in messages {
            let message = Fields::parse(message.get().as_bytes())?;
            for content in message.named("content") {
                if let Some(rest) = without_own_blocks(content) {
                    edits.push(Edit::replace(body, content, rest)?);
                }
            }
        }
    }
    (!edits.is_empty()).then(|| apply(body, &edits))
}

/// The content without our blocks; `None` if it has none.
fn without_own_blocks(content: &RawValue) -> Option<String> {
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
    let is_own = |block: &&RawValue| {
        let block: Result<Block<'_>, _> = serde_json::from_str(block.get());
        block.is_ok_and(|block| block.kind == "thinking" && block.signature == OWN_SIGNATURE)
    };
    let rest: Vec<&str> = blocks
        .iter()
        .filter(|block| !is_own(block))
        .map(|block| block.get())
        .collect();
    if rest.len() == blocks.len() {
        return None;
    }
    let rest = if rest.is_empty() {
        EMPTY.to_owned()
    } else {
        rest.join(",")
    };
    Some(format!("[{rest}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinking(signature: &str) -> String {
        format!(r#"{{"type":"thinking","thinking":"t","signature":"{signature}"}}"#)
    }

    fn request(blocks: &[&str]) -> String {
        let answer = format!(r#"{{ "role":"assistant", "content": [{}]}}"#, blocks.join(","));
        format!(r#"{{"n":1.0e2,"messages":[{{"role":"user","content":"hi"}},{answer}]}}"#)
    }

    fn without(body: &str) -> Option<String> {
        without_own_thinking(body.as_bytes()).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn own_thinking_goes_and_everything_else_keeps_its_bytes() {
        let (own, other) = (thinking(OWN_SIGNATURE), thinking("EqQB"));
        let text = r#"{"type":"text" , "text":"a"}"#;
        let body = request(&[&own, &other, text, &own]);
        assert_eq!(without(&body), Some(request(&[&other, text])));
        assert_eq!(without(&request(&[&other, text])), None);
    }

    #[test]
    fn an_answer_is_not_left_empty() {
        let body = request(&[&thinking(OWN_SIGNATURE)]);
        assert_eq!(without(&body), Some(request(&[EMPTY])));
    }

    #[test]
    fn a_quoted_signature_is_no_block() {
        let body = format!(r#"{{"messages":[{{"role":"user","content":"{OWN_SIGNATURE}"}}]}}"#);
        assert_eq!(without(&body), None);
        assert_eq!(without_own_thinking(OWN_SIGNATURE.as_bytes()), None);
    }
}
