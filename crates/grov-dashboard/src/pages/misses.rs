//! What prompt-cache misses cost, and who caused them.

use crate::format::{ago, billionths, count, line, timestamp};
use grov_cost::PriceBook;
use grov_domain::TokenUsage;
use grov_query::{CacheMiss, MissCause};
use time::OffsetDateTime;

/// Misses in the list.
const NEWEST: usize = 20;

/// The misses of a period.
pub(super) struct Misses {
    pub(super) causes: Vec<CauseRow>,
    pub(super) newest: Vec<MissRow>,
    pub(super) total: String,
}

/// The misses with one cause.
pub(super) struct CauseRow {
    pub(super) who: &'static str,
    pub(super) what: &'static str,
    pub(super) requests: usize,
    pub(super) tokens: String,
    pub(super) cost: String,
}

/// A miss.
pub(super) struct MissRow {
    pub(super) at: String,
    pub(super) when: String,
    pub(super) session: String,
    pub(super) exchange: String,
    pub(super) model: String,
    pub(super) tokens: String,
    pub(super) cost: String,
    pub(super) who: &'static str,
}

impl Misses {
    pub(super) fn of(misses: &[CacheMiss], prices: &PriceBook, now: OffsetDateTime) -> Self {
        let causes = MissCause::ALL.into_iter().filter_map(|cause| {
            let of_cause = || misses.iter().filter(|miss| miss.cause == cause);
            let requests = of_cause().count();
            (requests > 0).then(|| CauseRow {
                who: cause.who(),
                what: cause.what(),
                requests,
                tokens: count(of_cause().map(|miss| miss.missed).sum()),
                cost: billionths(of_cause().filter_map(|miss| extra(miss, prices)).sum()),
            })
        });
        Self {
            causes: causes.collect(),
            newest: misses
                .iter()
                .take(NEWEST)
                .map(|miss| MissRow {
                    at: timestamp(miss.at),
                    when: ago(miss.at, now),
                    session: miss.client_session_id.to_string(),
                    exchange: miss.exchange.to_string(),
                    model: line(&miss.model),
                    tokens: count(miss.missed),
                    cost: extra(miss, prices).map_or_else(|| "no known price".to_owned(), billionths),
                    who: miss.cause.who(),
                })
                .collect(),
            total: billionths(misses.iter().filter_map(|miss| extra(miss, prices)).sum()),
        }
    }
}

/// What a miss cost more than reading from the cache, in billionths of a USD; `None` without a price.
fn extra(miss: &CacheMiss, prices: &PriceBook) -> Option<u128> {
    let read = TokenUsage {
        cache_read: miss.missed,
        ..TokenUsage::default()
    };
    let billed = prices.cost(&miss.model, false, &miss.billed)?;
    Some(billed.saturating_sub(prices.cost(&miss.model, false, &read)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{ClientSessionId, ExchangeId};

    #[test]
    fn a_miss_costs_what_writing_costs_more_than_reading() {
        let prices = PriceBook::default();
        let miss = |cause, model: &str| CacheMiss {
            at: OffsetDateTime::UNIX_EPOCH,
            client_session_id: ClientSessionId::new("s"),
            exchange: ExchangeId::new("e"),
            model: model.to_owned(),
            missed: 10_000,
            billed: TokenUsage {
                cache_creation: 10_000,
                ..TokenUsage::default()
            },
            cause,
        };
        let misses = [
            miss(MissCause::Pause, "claude-opus-4-8"),
            miss(MissCause::Pause, "claude-opus-4-8"),
            miss(MissCause::Grov, "nobody-s-model"),
        ];
        let shown = Misses::of(&misses, &prices, OffsetDateTime::UNIX_EPOCH);
        let causes: Vec<_> = shown
            .causes
            .iter()
            .map(|row| (row.who, row.requests, row.tokens.as_str()))
            .collect();
        assert_eq!(causes, [("Grov", 1, "10.0k"), ("a pause", 2, "20.0k")]);
        assert_eq!(shown.newest[2].cost, "no known price");
        let one = extra(&misses[0], &prices).unwrap();
        let class = |tokens| prices.cost("claude-opus-4-8", false, &tokens).unwrap();
        let write = class(TokenUsage {
            cache_creation: 10_000,
            ..TokenUsage::default()
        });
        let read = class(TokenUsage {
            cache_read: 10_000,
            ..TokenUsage::default()
        });
        assert_eq!(one, write - read);
        assert_eq!(shown.total, billionths(2 * one));
    }
}
