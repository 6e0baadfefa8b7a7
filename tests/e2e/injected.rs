//! Finds the text that Grov injected into the requests that arrived, and checks that it cost no cached tokens.

use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_sim::RecordedRequest;
use grov_sim::cache::CacheAudit;
use grov_tests::WireTap;
use serde_json::Value;
use std::ops::Range;

/// How the client marks text that the user did not type, as escaped in JSON.
const REMINDER: &str = "<system-reminder>\\n";

/// An injected block of a request, and the block that it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedText {
    /// The block's bytes on the wire.
    pub block: String,
    /// The preceding block: its text, or the id of the tool result.
    pub follows: String,
}

impl InjectedText {
    /// The text of the block.
    pub fn text(&self) -> Result<String> {
        let block: Value = serde_json::from_str(&self.block)?;
        Ok(block["text"]
            .as_str()
            .context("a block without a text")?
            .to_owned())
    }
}

/// The byte ranges of injected blocks in a body, from `{` to `}`.
pub fn injected_blocks(body: &str) -> Vec<Range<usize>> {
    let texts = body.match_indices(OWN_TEXT_OPENING).map(|(at, _)| at);
    texts
        .filter_map(|text| {
            let before = &body[..text];
            let before = before.strip_suffix(REMINDER).unwrap_or(before);
            let start = before.strip_suffix("\"text\":\"")?.rfind('{')?;
            let closed = text + body[text..].find(OWN_TEXT_CLOSING)?;
            let quoted = closed + body[closed..].find('"')?;
            let end = quoted + body[quoted..].find('}')? + 1;
            Some(start..end)
        })
        .collect()
}

/// The body without injected blocks and their commas, which is what the client sent.
pub fn without_injected(body: &[u8]) -> Result<Vec<u8>> {
    let mut body = String::from_utf8(body.to_vec())?;
    for block in injected_blocks(&body).into_iter().rev() {
        ensure!(
            body[..block.start].ends_with(','),
            "an injected block is the first of its message"
        );
        body.replace_range(block.start - 1..block.end, "");
    }
    Ok(body.into_bytes())
}

/// The injected blocks of a request, in order.
pub fn injected(request: &RecordedRequest) -> Result<Vec<InjectedText>> {
    let text = String::from_utf8(request.body.to_vec())?;
    let raw = injected_blocks(&text);
    let body: Value = serde_json::from_str(&text)?;
    let mut injected = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let blocks = message["content"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        for (at, block) in blocks.iter().enumerate() {
            let own = block["text"].as_str().is_some_and(|text| {
                text.strip_prefix("<system-reminder>\n")
                    .unwrap_or(text)
                    .starts_with(OWN_TEXT_OPENING)
            });
            if !own {
                continue;
            }
            ensure!(
                message["role"] == "user" && at > 0,
                "an injected block at {at} of {message:#}"
            );
            let before = &blocks[at - 1];
            let follows = before["text"].as_str().or(before["tool_use_id"].as_str());
            let range = raw.get(injected.len()).context("a block in another form")?;
            injected.push(InjectedText {
                block: text[range.clone()].to_owned(),
                follows: follows
                    .context("neither text nor result before the injected block")?
                    .to_owned(),
            });
        }
    }
    ensure!(
        injected.len() == raw.len(),
        "injected text at an unexpected place: {text}"
    );
    Ok(injected)
}

/// Asserts that the requests that arrived equal the client's except for injected text, and that the injections caused
/// no cache miss.
pub fn assert_cache_preserved(tap: &WireTap, upstream: &Upstream) -> Result<()> {
    let mut sent = tap.messages()?;
    sent.retain(|message| message.line.starts_with("POST /v1/messages?"));
    let (mut audit, mut read) = (CacheAudit::default(), 0);
    for request in upstream.sim().messages() {
        let without = without_injected(&request.body)?;
        let at = sent.iter().position(|message| message.body == without);
        let at =
            at.with_context(|| format!("the client did not send {}", String::from_utf8_lossy(&without)))?;
        let original = sent.remove(at);
        let compared = audit.observe(&original.body, &request.body, request.received_at)?;
        assert!(
            !compared.caused_a_miss(),
            "request {}: {compared:?}",
            request.number
        );
        read += compared.cached_as_arrived;
    }
    assert!(sent.is_empty(), "{} requests did not arrive", sent.len());
    assert!(read > 0, "nothing was ever read from the cache");
    Ok(())
}
