//! One request: what Grov changed of it, with the reasons.

use crate::injections::{InjectionView, injections};
use grov_domain::{
    ClientSessionId, ExchangeId, JournalExchange, Lineage, LineageCuts, Store, StoreError, TaskId, block_key,
};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Earlier requests among which the one before is looked for: those of subagents come between.
const EARLIER: u32 = 50;

/// A request with what is known of the bytes that were added to it.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestView {
    /// The request.
    pub exchange: JournalExchange,
    /// The request before it in the same conversation.
    pub previous: Option<JournalExchange>,
    /// What was added to requests of the conversation, by [`block_key`].
    pub blocks: HashMap<String, AddedBlock>,
}

/// A block that was added to requests, or that stands for what was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedBlock {
    /// Its bytes, as they were sent.
    pub json: String,
    /// When it was decided.
    pub decided_at: OffsetDateTime,
    /// What it is: texts by their kinds, a summary, or a note.
    pub what: String,
    /// Why it was added, one reason a text.
    pub reasons: Vec<String>,
    /// The memories that it quotes.
    pub memories: Vec<TaskId>,
}

/// Returns a request of a session; `None` if there is none with this id.
///
/// # Errors
/// Returns the store's error.
pub async fn request_view(
    store: &dyn Store,
    session: &ClientSessionId,
    id: &ExchangeId,
) -> Result<Option<RequestView>, StoreError> {
    let Some(exchange) = store.exchange(session, id).await? else {
        return Ok(None);
    };
    let earlier = store.journal(session, Some(exchange.started_at), EARLIER).await?;
    let is_same = |one: &JournalExchange| one.agent_id == exchange.agent_id && one.kind == exchange.kind;
    let previous = earlier.exchanges.into_iter().find(is_same);
    let blocks = match exchange.edits {
        Some(_) => added_blocks(store, session, &exchange).await?,
        None => HashMap::new(),
    };
    Ok(Some(RequestView {
        exchange,
        previous,
        blocks,
    }))
}

/// Returns what the ledger has of the request's conversation.
async fn added_blocks(
    store: &dyn Store,
    session: &ClientSessionId,
    exchange: &JournalExchange,
) -> Result<HashMap<String, AddedBlock>, StoreError> {
    let lineage = Lineage {
        session: session.clone(),
        agent: exchange.agent_id.clone(),
    };
    let ledger = store.lineage(&lineage).await?.unwrap_or_default();
    let views = injections(store, session, Vec::new(), &[]).await?;
    let texts = ledger.entries.into_iter().filter_map(|entry| {
        let block = AddedBlock::text(entry.block?, entry.decided_at, &views);
        let memories = entry.memories;
        Some(AddedBlock { memories, ..block })
    });
    let left_out = left_out(store.cuts(&lineage).await?);
    let keyed = |block: AddedBlock| (block_key(block.json.as_bytes()), block);
    Ok(texts.chain(left_out).map(keyed).collect())
}

impl AddedBlock {
    /// A block of texts, which the views name and explain.
    fn text(json: String, decided_at: OffsetDateTime, views: &[InjectionView]) -> Self {
        let value: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
        let text = value["text"].as_str().unwrap_or_default();
        let parts = views.iter().filter(|view| text.contains(&view.text));
        let parts: Vec<&InjectionView> = parts.filter(|view| view.path == "proxy").collect();
        let mut kinds: Vec<&str> = Vec::new();
        for view in &parts {
            if !kinds.contains(&view.kind) {
                kinds.push(view.kind);
            }
        }
        let mut reasons: Vec<String> = Vec::new();
        for reason in parts.iter().filter_map(|view| view.reason.as_ref()) {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        Self {
            json,
            decided_at,
            what: match kinds.is_empty() {
                true => "text".to_owned(),
                false => kinds.join(" and "),
            },
            reasons,
            memories: Vec::new(),
        }
    }
}

/// What stands for parts that were left out.
fn left_out(cuts: LineageCuts) -> impl Iterator<Item = AddedBlock> {
    let clears = cuts.cuts.into_iter().map(|cut| AddedBlock {
        json: cut.block,
        decided_at: cut.applied_at.unwrap_or(cut.decided_at),
        what: "summary of the beginning that was cleared".to_owned(),
        reasons: vec![format!(
            "the context was cleared: {} tokens before, {} after",
            cut.effect.tokens_before, cut.effect.tokens_after
        )],
        memories: Vec::new(),
    });
    let trims = cuts.trims.into_iter().map(|trim| AddedBlock {
        json: trim.content,
        decided_at: trim.decided_at,
        what: "note in place of a tool's result".to_owned(),
        reasons: vec!["the history repeats the content later, and the prompt cache was cold".to_owned()],
        memories: Vec::new(),
    });
    clears.chain(trims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_names_its_texts_and_their_reasons() {
        let view = |kind: &'static str, text: &str| InjectionView {
            at: OffsetDateTime::UNIX_EPOCH,
            kind,
            place: "prompt",
            path: "proxy",
            text: text.to_owned(),
            bytes: text.len(),
            reason: Some(format!("because of {kind}")),
            memories: Vec::new(),
            followed: None,
        };
        let views = [
            view("drift", "stop\n"),
            view("memory", "\"cents\""),
            view("memory", "other"),
        ];
        let json = serde_json::json!({"type": "text", "text": "stop\nand \"cents\""}).to_string();
        let block = AddedBlock::text(json, OffsetDateTime::UNIX_EPOCH, &views);
        assert_eq!(block.what, "drift and memory");
        assert_eq!(block.reasons, ["because of drift", "because of memory"]);
        let unknown = AddedBlock::text("[".to_owned(), OffsetDateTime::UNIX_EPOCH, &views[2..]);
        assert_eq!((unknown.what.as_str(), unknown.reasons.len()), ("text", 0));
    }
}
