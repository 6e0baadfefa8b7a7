//! What Grov changed of a request: the bytes, where, why, and what it means for the prompt cache.

use crate::format::{count, line, shown};
use grov_domain::{AddedPiece, JournalExchange, Outcome, RequestChange, RequestEdits};
use grov_query::{AddedBlock, RequestView};
use std::collections::HashMap;

/// Width of the drawing of a request.
const WIDTH: f64 = 1000.0;
/// The narrowest mark that is seen.
const NARROWEST: f64 = 4.0;

/// The changes of a request.
pub(super) struct EditsView {
    pub(super) original: String,
    pub(super) sent: String,
    pub(super) prefix_before: String,
    pub(super) prefix_after: String,
    /// What the changes mean for the prompt cache.
    pub(super) verdict: Vec<String>,
    pub(super) is_bad: bool,
    /// What the drawing shows, in words.
    pub(super) picture: String,
    /// The end of the cached prefix in the drawing.
    pub(super) cached_share: f64,
    /// The places and widths of the changes in the drawing.
    pub(super) marks: Vec<(f64, f64)>,
    pub(super) changes: Vec<ChangeView>,
    /// Changes that were not recorded one by one.
    pub(super) unlisted: u64,
}

/// A change.
pub(super) struct ChangeView {
    pub(super) title: String,
    pub(super) place: String,
    pub(super) is_new: bool,
    pub(super) reasons: Vec<String>,
    pub(super) memories: Vec<String>,
    /// The bytes that were added, piece by piece.
    pub(super) pieces: Vec<PieceView>,
    pub(super) removed: String,
}

/// A piece of what was added.
pub(super) struct PieceView {
    pub(super) text: String,
    /// Whether its text is not in the ledger any more.
    pub(super) is_forgotten: bool,
}

/// The changes of a request in a few words.
pub(super) fn summary(edits: &RequestEdits) -> String {
    let grown = i128::from(edits.sent) - i128::from(edits.original);
    match (edits.refused, grown) {
        (true, _) => "changes refused by the upstream".to_owned(),
        (false, 0..) => format!("+{grown} bytes by Grov"),
        (false, _) => format!("−{} bytes by Grov", grown.unsigned_abs()),
    }
}

impl EditsView {
    pub(super) fn of(edits: &RequestEdits, view: &RequestView) -> Self {
        let end = |end: Option<u64>| end.map_or_else(|| "no breakpoint".to_owned(), |end| end.to_string());
        let cached = edits.cached_to_as_sent.unwrap_or_default();
        let share = |bytes: u64| scaled(bytes, edits.sent);
        let marks = edits.changes.iter().map(|change| {
            // Where the bytes stand in the body as it was sent; the unlisted ones are before all others.
            let before = edits.changes.iter().filter(|other| other.at < change.at);
            let moved: i128 = before.map(grown).sum();
            let unlisted = unlisted_growth(edits);
            let at = i128::from(change.at) + moved + unlisted;
            let at = u64::try_from(at).unwrap_or_default();
            (share(at), share(change.added_bytes()).max(NARROWEST))
        });
        Self {
            original: edits.original.to_string(),
            sent: edits.sent.to_string(),
            prefix_before: end(edits.cached_to),
            prefix_after: end(edits.cached_to_as_sent),
            verdict: verdict(edits, view),
            is_bad: edits.refused,
            picture: format!(
                "The request from its beginning to its end: the cached prefix is {:.0} % of it, Grov changed {} places",
                share(cached) / WIDTH * 100.0,
                edits.changes.len() as u64 + edits.unlisted
            ),
            cached_share: share(cached),
            marks: marks.collect(),
            changes: edits
                .changes
                .iter()
                .map(|change| ChangeView::of(change, edits, &view.exchange, &view.blocks))
                .collect(),
            unlisted: edits.unlisted,
        }
    }
}

/// By how much a change made the body longer.
fn grown(change: &RequestChange) -> i128 {
    i128::from(change.added_bytes()) - i128::from(change.removed)
}

/// By how much the changes that are not listed made it longer.
fn unlisted_growth(edits: &RequestEdits) -> i128 {
    let listed: i128 = edits.changes.iter().map(grown).sum();
    i128::from(edits.sent) - i128::from(edits.original) - listed
}

/// Returns a length in the drawing, in tenths.
fn scaled(bytes: u64, all: u64) -> f64 {
    (bytes as f64 / all.max(1) as f64 * WIDTH * 10.0).round() / 10.0
}

fn verdict(edits: &RequestEdits, view: &RequestView) -> Vec<String> {
    if edits.refused {
        return vec![
            "The upstream refused the changed request, so the client's was sent. This conversation is changed no more."
                .to_owned(),
        ];
    }
    let tokens = view.exchange.tokens;
    let mut lines = Vec::new();
    if view.exchange.outcome == Outcome::Complete {
        lines.push(format!(
            "The upstream read {} tokens from the prompt cache and wrote {}.",
            count(tokens.cache_read),
            count(tokens.cache_creation)
        ));
    }
    let before = view
        .previous
        .as_ref()
        .and_then(|previous| previous.edits.as_ref());
    if let Some((before, end)) = before.and_then(|before| Some((before, before.cached_to_as_sent?))) {
        lines.extend(edits.repeats(before).map(|repeats| match repeats {
            true => format!(
                "The prefix that the request before cached, {end} bytes, has the same changes here: it can be read again."
            ),
            false => format!(
                "The prefix that the request before cached, {end} bytes, has other changes here: it has to be written again."
            ),
        }));
    }
    lines
}

impl ChangeView {
    fn of(
        change: &RequestChange,
        edits: &RequestEdits,
        exchange: &JournalExchange,
        blocks: &HashMap<String, AddedBlock>,
    ) -> Self {
        let keys = change.added.iter().filter_map(|piece| match piece {
            AddedPiece::Block { key, .. } => Some(blocks.get(key)),
            AddedPiece::Json(_) => None,
        });
        let known: Vec<&AddedBlock> = keys.clone().flatten().collect();
        let has_block = keys.count() > 0;
        let what: Vec<&str> = known.iter().map(|block| block.what.as_str()).collect();
        let title = match (what.is_empty(), has_block, change.added.is_empty()) {
            (false, ..) => what.join(", "),
            (true, true, _) => "text that was forgotten since".to_owned(),
            (true, false, false) => "JSON around the client's text".to_owned(),
            (true, false, true) => "left out".to_owned(),
        };
        let is_cached = edits.cached_to.is_some_and(|end| change.at < end);
        let place = [
            format!("at byte {}", change.at),
            change
                .message
                .map(|message| format!("message {message} of {}", edits.messages))
                .unwrap_or_default(),
            match (is_cached, edits.cached_to.is_some()) {
                (true, _) => "inside the cached prefix".to_owned(),
                (false, true) => "after the cached prefix".to_owned(),
                (false, false) => String::new(),
            },
            match change.added_bytes() {
                0 => String::new(),
                added => format!("+{added} bytes"),
            },
        ];
        let place: Vec<String> = place.into_iter().filter(|part| !part.is_empty()).collect();
        Self {
            title,
            place: place.join(", "),
            is_new: known.iter().any(|block| block.decided_at >= exchange.started_at),
            reasons: known
                .iter()
                .flat_map(|block| &block.reasons)
                .map(|one| shown(one))
                .collect(),
            memories: known
                .iter()
                .flat_map(|block| &block.memories)
                .map(|id| line(id.as_str()))
                .collect(),
            pieces: change
                .added
                .iter()
                .map(|piece| PieceView::of(piece, blocks))
                .collect(),
            removed: match change.removed {
                0 => String::new(),
                removed => format!(
                    "{removed} bytes of the client's body were left out here; Grov keeps no copy of them."
                ),
            },
        }
    }
}

impl PieceView {
    fn of(piece: &AddedPiece, blocks: &HashMap<String, AddedBlock>) -> Self {
        let block = match piece {
            AddedPiece::Json(json) => Some(json),
            AddedPiece::Block { key, .. } => blocks.get(key).map(|block| &block.json),
        };
        Self {
            is_forgotten: block.is_none(),
            text: match block {
                Some(text) => shown(text),
                None => format!("{} bytes that are not in the ledger any more", piece.len()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{ExchangeId, ExchangeKind, SessionId, TokenUsage, block_key, end_as_sent};
    use time::OffsetDateTime;

    const BLOCK: &str = r#"{"type":"text","text":"<grov-context>prices in cents</grov-context>"}"#;

    fn change(at: u64) -> RequestChange {
        RequestChange {
            at,
            message: Some(1),
            removed: 0,
            added: vec![
                AddedPiece::Json(",".to_owned()),
                AddedPiece::Block {
                    key: block_key(BLOCK.as_bytes()),
                    bytes: BLOCK.len() as u64,
                },
            ],
        }
    }

    fn edits(changes: Vec<RequestChange>) -> RequestEdits {
        let added: u64 = changes.iter().map(RequestChange::added_bytes).sum();
        RequestEdits {
            original: 1000,
            sent: 1000 + added,
            messages: 3,
            cached_to: Some(500),
            cached_to_as_sent: Some(end_as_sent(500, &changes)),
            changes,
            ..RequestEdits::default()
        }
    }

    fn exchange(edits: RequestEdits) -> JournalExchange {
        JournalExchange {
            id: ExchangeId::new("e"),
            session_id: SessionId::new("s"),
            agent_id: None,
            kind: ExchangeKind::Main,
            model: None,
            stop_reason: None,
            outcome: Outcome::Complete,
            started_at: OffsetDateTime::UNIX_EPOCH,
            ended_at: OffsetDateTime::UNIX_EPOCH,
            tokens: TokenUsage::default(),
            edits: Some(edits),
        }
    }

    fn view(before: RequestEdits, blocks: HashMap<String, AddedBlock>) -> RequestView {
        RequestView {
            exchange: exchange(RequestEdits::default()),
            previous: Some(exchange(before)),
            blocks,
        }
    }

    fn known() -> HashMap<String, AddedBlock> {
        let block = AddedBlock {
            json: BLOCK.to_owned(),
            decided_at: OffsetDateTime::UNIX_EPOCH,
            what: "memory".to_owned(),
            reasons: vec!["shares the word cents".to_owned()],
            memories: Vec::new(),
        };
        HashMap::from([(block_key(BLOCK.as_bytes()), block)])
    }

    #[test]
    fn the_bytes_are_those_that_were_sent() {
        let ours = edits(vec![change(100)]);
        let shown = EditsView::of(&ours, &view(ours.clone(), known()));
        let one = &shown.changes[0];
        let text: String = one.pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(text, format!(",{BLOCK}"));
        assert_eq!((one.title.as_str(), one.is_new), ("memory", true));
        assert!(
            one.place.contains("at byte 100") && one.place.contains("message 1 of 3"),
            "{}",
            one.place
        );
        assert!(one.place.contains("inside the cached prefix"), "{}", one.place);
        assert_eq!(shown.prefix_after, (500 + 1 + BLOCK.len()).to_string());
        let forgotten = EditsView::of(&ours, &view(ours.clone(), HashMap::new()));
        assert!(forgotten.changes[0].pieces[1].is_forgotten);
    }

    #[test]
    fn a_changed_prefix_is_told_from_a_repeated_one() {
        let (one, other) = (edits(vec![change(100)]), edits(vec![change(100), change(900)]));
        let said = |now: &RequestEdits, before: &RequestEdits| {
            EditsView::of(now, &view(before.clone(), known()))
                .verdict
                .join(" ")
        };
        // New text behind what was cached changes nothing before it.
        assert!(said(&other, &one).contains("can be read again"));
        assert!(said(&edits(Vec::new()), &one).contains("written again"));
        let refused = RequestEdits {
            refused: true,
            ..one.clone()
        };
        assert!(said(&refused, &one).contains("refused"));
        assert_eq!(summary(&refused), "changes refused by the upstream");
        assert_eq!(summary(&one), format!("+{} bytes by Grov", BLOCK.len() + 1));
    }
}
