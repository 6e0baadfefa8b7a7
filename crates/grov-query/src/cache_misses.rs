//! Prompt-cache misses: requests that had to write again what the request before them had in the cache, and who caused it.

use grov_domain::{CacheDrop, ClientSessionId, ExchangeId, RequestEdits, Store, StoreError, TokenUsage};
use time::{Duration, OffsetDateTime};

/// Fewest tokens of a miss: the shortest prompt that most models cache.
const LEAST: u64 = 1024;
/// How long the cache keeps a prefix after its last use, unless the client asks for an hour.
const LIFETIME: Duration = Duration::minutes(5);
/// How long it keeps one that was written for an hour.
const LONG_LIFETIME: Duration = Duration::hours(1);

/// Bytes by which the same omission differs between requests, because the client moves its breakpoints.
const SLACK: u64 = 256;

/// A request that missed the prompt cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheMiss {
    /// When the request arrived.
    pub at: OffsetDateTime,
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The request.
    pub exchange: ExchangeId,
    /// The model.
    pub model: String,
    /// Tokens that were written or sent as input, although the request before had them in the cache.
    pub missed: u64,
    /// What they were billed as.
    pub billed: TokenUsage,
    /// Who or what caused it.
    pub cause: MissCause,
}

/// The cause of a miss, as far as the records show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissCause {
    /// Grov changed or left out a part of the prefix.
    Grov,
    /// The conversation paused for longer than the cache keeps a prefix.
    Pause,
    /// Another model was asked, which has a cache of its own.
    Model,
    /// The client made the history shorter: it was compacted, cleared or rewound.
    History,
    /// The client changed the beginning of its requests, or the upstream dropped the prefix.
    Client,
}

impl MissCause {
    /// All causes.
    pub const ALL: [Self; 5] = [Self::Grov, Self::Pause, Self::Model, Self::History, Self::Client];

    /// Returns who caused it, in a few words.
    pub fn who(self) -> &'static str {
        match self {
            Self::Grov => "Grov",
            Self::Pause => "a pause",
            Self::Model => "a change of the model",
            Self::History => "a shorter history",
            Self::Client => "the client or the upstream",
        }
    }

    /// Returns what happened.
    pub fn what(self) -> &'static str {
        match self {
            Self::Grov => "Grov changed or left out a part of what was cached",
            Self::Pause => {
                "the next request came after the cache had dropped the prefix: 5 minutes, or an hour"
            }
            Self::Model => "each model has a cache of its own",
            Self::History => "the history was compacted, cleared or rewound",
            Self::Client => {
                "tools, system prompt or settings of the request changed, or the upstream dropped the prefix early"
            }
        }
    }
}

/// Returns the misses of conversations since a time, newest first, at most `limit`.
///
/// # Errors
/// Returns the store's error.
pub async fn cache_misses(
    store: &dyn Store,
    since: Option<OffsetDateTime>,
    limit: u32,
) -> Result<Vec<CacheMiss>, StoreError> {
    let drops = store.cache_drops(since, LEAST, limit).await?;
    Ok(drops.iter().filter_map(miss).collect())
}

/// Returns the miss of a drop; `None` if nothing was billed again, because the history became shorter by as much.
fn miss(drop: &CacheDrop) -> Option<CacheMiss> {
    let tokens = drop.exchange.tokens;
    let again = tokens.cache_creation + tokens.input;
    let missed = drop.before_cached.saturating_sub(tokens.cache_read).min(again);
    if missed < LEAST {
        return None;
    }
    let written = missed.min(tokens.cache_creation);
    let billed = TokenUsage {
        cache_creation: written,
        cache_creation_1h: written.min(tokens.cache_creation_1h),
        input: missed - written,
        ..TokenUsage::default()
    };
    Some(CacheMiss {
        at: drop.exchange.started_at,
        client_session_id: drop.client_session_id.clone(),
        exchange: drop.exchange.id.clone(),
        model: drop.exchange.model.clone().unwrap_or_default(),
        missed,
        billed,
        cause: cause(drop),
    })
}

fn cause(drop: &CacheDrop) -> MissCause {
    let exchange = &drop.exchange;
    if exchange.model != drop.before_model {
        return MissCause::Model;
    }
    let is_long = drop.before_hourly > 0 || exchange.tokens.cache_creation_1h > 0;
    let lifetime = if is_long { LONG_LIFETIME } else { LIFETIME };
    if exchange.started_at - drop.before_started_at > lifetime {
        return MissCause::Pause;
    }
    let (now, before) = (exchange.edits.as_ref(), drop.before_edits.as_ref());
    if left_out(now) > left_out(before) + SLACK {
        return MissCause::Grov;
    }
    let tokens = exchange.tokens;
    let prompt = tokens.input + tokens.cache_read + tokens.cache_creation;
    if prompt < drop.before_prompt {
        return MissCause::History;
    }
    match has_changed(now, before) {
        true => MissCause::Grov,
        false => MissCause::Client,
    }
}

/// Bytes that Grov left out.
fn left_out(edits: Option<&RequestEdits>) -> u64 {
    edits.map_or(0, |edits| edits.changes.iter().map(|change| change.removed).sum())
}

/// Whether Grov's changes of what was cached are others than in the request before. New text goes to the last message, which nobody
/// has cached.
fn has_changed(now: Option<&RequestEdits>, before: Option<&RequestEdits>) -> bool {
    match (now, before) {
        (None, None) => false,
        (Some(now), Some(before)) => now.repeats(before) == Some(false),
        (None, Some(before)) => RequestEdits::default().repeats(before) == Some(false),
        (Some(now), None) => {
            let mut messages = now.changes.iter().map(|change| change.message);
            messages.any(|message| message.is_none_or(|message| message < now.messages))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{AddedPiece, ExchangeKind, JournalExchange, Outcome, RequestChange, SessionId};

    fn edits(messages: u64, changed: &[(u64, &str)]) -> Option<RequestEdits> {
        let changes = changed.iter().map(|(message, key)| RequestChange {
            at: message * 100,
            message: Some(*message),
            removed: 0,
            added: vec![AddedPiece::Block {
                key: (*key).to_owned(),
                bytes: 50,
            }],
        });
        Some(RequestEdits {
            messages,
            cached_to: Some(10_000),
            changes: changes.collect(),
            ..RequestEdits::default()
        })
    }

    fn drop() -> CacheDrop {
        let start = OffsetDateTime::UNIX_EPOCH;
        CacheDrop {
            client_session_id: ClientSessionId::new("s"),
            exchange: JournalExchange {
                id: ExchangeId::new("e"),
                session_id: SessionId::new("t"),
                agent_id: None,
                kind: ExchangeKind::Main,
                model: Some("m".to_owned()),
                stop_reason: None,
                outcome: Outcome::Complete,
                started_at: start + Duration::minutes(1),
                ended_at: start + Duration::minutes(2),
                tokens: TokenUsage {
                    input: 10,
                    cache_read: 2_000,
                    cache_creation: 9_000,
                    ..TokenUsage::default()
                },
                edits: None,
            },
            before_model: Some("m".to_owned()),
            before_started_at: start,
            before_prompt: 10_100,
            before_cached: 10_000,
            before_hourly: 0,
            before_edits: None,
        }
    }

    #[test]
    fn tokens_that_were_cached_before_are_missed() {
        let found = miss(&drop()).unwrap();
        assert_eq!(
            (found.missed, found.billed.cache_creation, found.billed.input),
            (8_000, 8_000, 0)
        );
        assert_eq!(found.cause, MissCause::Client);
        // After a compaction the prompt is short, and little is billed again.
        let mut short = drop();
        short.exchange.tokens.cache_creation = 500;
        assert_eq!(miss(&short), None);
    }

    #[test]
    fn causes_are_told_apart() {
        let with = |change: fn(&mut CacheDrop)| {
            let mut one = drop();
            change(&mut one);
            cause(&one)
        };
        assert_eq!(with(|one| one.before_model = None), MissCause::Model);
        let later = |one: &mut CacheDrop| one.exchange.started_at += Duration::minutes(5);
        assert_eq!(with(later), MissCause::Pause);
        let hourly = |one: &mut CacheDrop| {
            one.exchange.started_at += Duration::minutes(5);
            one.before_hourly = 1;
        };
        assert_eq!(with(hourly), MissCause::Client);
        assert_eq!(with(|one| one.before_prompt = 50_000), MissCause::History);
    }

    #[test]
    fn grov_is_named_if_it_changed_older_messages_only() {
        let with = |before: Option<RequestEdits>, now: Option<RequestEdits>| {
            let mut one = drop();
            (one.before_edits, one.exchange.edits) = (before, now);
            cause(&one)
        };
        let repeated = with(edits(3, &[(1, "a")]), edits(5, &[(1, "a"), (5, "b")]));
        assert_eq!(repeated, MissCause::Client);
        assert_eq!(
            with(edits(3, &[(1, "a")]), edits(5, &[(1, "b")])),
            MissCause::Grov
        );
        assert_eq!(with(edits(3, &[(1, "a")]), None), MissCause::Grov);
        assert_eq!(with(None, edits(5, &[(2, "a")])), MissCause::Grov);
        assert_eq!(with(None, edits(5, &[(5, "a")])), MissCause::Client);
        let mut cut = edits(5, &[(1, "a")]);
        cut.iter_mut().for_each(|cut| cut.changes[0].removed = 4_000);
        assert_eq!(with(edits(3, &[(1, "a")]), cut), MissCause::Grov);
    }
}
