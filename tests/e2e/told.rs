//! What Grov said to an agent, found in the requests that arrived, and whether it cost anything.

use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_sim::RecordedRequest;
use grov_sim::cache::CacheAudit;
use grov_tests::WireTap;
use serde_json::Value;
use std::ops::Range;

/// How the client marks what the user did not say, as it stands in JSON.
const REMINDER: &str = "<system-reminder>\\n";

/// Text of Grov's own in a request, and what stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The block as it crossed the wire.
    pub block: String,
    /// The text, or the id of the tool result, of the block before.
    pub behind: String,
}

impl Told {
    /// The text of the block.
    pub fn text(&self) -> Result<String> {
        let block: Value = serde_json::from_str(&self.block)?;
        Ok(block["text"]
            .as_str()
            .context("a block without a text")?
            .to_owned())
    }
}

/// Where blocks of Grov's own are in a body: from `{` to `}`.
pub fn own_blocks(body: &str) -> Vec<Range<usize>> {
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

/// The client's bytes: a body without blocks of Grov's own and their commas.
pub fn without_own(body: &[u8]) -> Result<Vec<u8>> {
    let mut body = String::from_utf8(body.to_vec())?;
    for block in own_blocks(&body).into_iter().rev() {
        ensure!(
            body[..block.start].ends_with(','),
            "a block of ours is the first of its message"
        );
        body.replace_range(block.start - 1..block.end, "");
    }
    Ok(body.into_bytes())
}

/// What Grov says in a request, in order.
pub fn told(request: &RecordedRequest) -> Result<Vec<Told>> {
    let text = String::from_utf8(request.body.to_vec())?;
    let raw = own_blocks(&text);
    let body: Value = serde_json::from_str(&text)?;
    let mut told = Vec::new();
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
                "a block of ours at {at} of {message:#}"
            );
            let before = &blocks[at - 1];
            let behind = before["text"].as_str().or(before["tool_use_id"].as_str());
            let range = raw.get(told.len()).context("a block in another form")?;
            told.push(Told {
                block: text[range.clone()].to_owned(),
                behind: behind.context("neither text nor result before ours")?.to_owned(),
            });
        }
    }
    ensure!(told.len() == raw.len(), "text of ours at an odd place: {text}");
    Ok(told)
}

/// Asserts that what arrived is what the client sent but for text of Grov's own, and that this cost nothing that was
/// cached.
pub fn nothing_is_lost(tap: &WireTap, upstream: &Upstream) -> Result<()> {
    let mut sent = tap.messages()?;
    sent.retain(|message| message.line.starts_with("POST /v1/messages?"));
    let (mut audit, mut read) = (CacheAudit::default(), 0);
    for request in upstream.sim().messages() {
        let without = without_own(&request.body)?;
        let at = sent.iter().position(|message| message.body == without);
        let at = at.with_context(|| format!("nobody sent {}", String::from_utf8_lossy(&without)))?;
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
