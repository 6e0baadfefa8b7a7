//! What it costs to take text out of the history of running sessions.

use crate::output::Style;
use crate::show::{ago, count, dollars, moment, some};
use crate::table::Table;
use grov_domain::{LedgerUse, Lineage, MicroUsd, TokenUsage};
use grov_llm::list_price;
use serde::Serialize;
use std::fmt::Write;
use time::{Duration, OffsetDateTime};

/// The longest that a prompt cache lives: what was not used for so long is written anew whatever we do.
const CACHE_LIFE: Duration = Duration::hours(1);

/// Who holds the text, and what its going costs.
#[derive(Debug, Default, Serialize)]
pub(super) struct Cost {
    /// Histories that hold it, last seen first.
    uses: Vec<UseView>,
    /// Tokens that are billed as cache writes again, at most.
    prompt_tokens_at_most: u64,
    /// What those writes cost; `None` where a size or a price is not known.
    cost_usd_at_most: Option<f64>,
    #[serde(skip)]
    cost: Option<MicroUsd>,
}

/// One history.
#[derive(Debug, Serialize)]
struct UseView {
    client_session_id: String,
    agent_id: Option<String>,
    model: String,
    memories: Vec<String>,
    /// When the first of them was added.
    #[serde(with = "time::serde::rfc3339")]
    added_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    last_seen_at: OffsetDateTime,
    /// Whether a cache of it may still live.
    may_be_cached: bool,
    prompt_tokens: Option<u64>,
    cost_usd: Option<f64>,
    #[serde(skip)]
    cost: Option<MicroUsd>,
    #[serde(skip)]
    seen: String,
}

impl Cost {
    pub(super) fn of(uses: Vec<LedgerUse>, now: OffsetDateTime) -> Self {
        let mut histories: Vec<(Lineage, UseView)> = Vec::new();
        for held in uses {
            let memory = held.task_id.to_string();
            match histories.iter_mut().find(|(lineage, _)| *lineage == held.lineage) {
                Some((_, view)) => {
                    view.added_at = view.added_at.min(held.added_at);
                    if !view.memories.contains(&memory) {
                        view.memories.push(memory);
                    }
                }
                None => histories.push((held.lineage.clone(), UseView::of(held, memory, now))),
            }
        }
        let uses: Vec<UseView> = histories.into_iter().map(|(_, view)| view).collect();
        let cached = || uses.iter().filter(|view| view.may_be_cached);
        let cost = cached().try_fold(MicroUsd::default(), |sum, view| Some(sum.plus(view.cost?)));
        Self {
            prompt_tokens_at_most: cached().filter_map(|view| view.prompt_tokens).sum(),
            cost_usd_at_most: cost.map(MicroUsd::dollars),
            cost,
            uses,
        }
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        if self.uses.is_empty() {
            return "no session holds text of it in its history\n".to_owned();
        }
        let mut table = Table::new(&[
            "SESSION",
            "AGENT",
            "MODEL",
            "SINCE",
            "LAST SEEN",
            "PROMPT#",
            "COST#",
        ]);
        for view in &self.uses {
            table.row([
                view.client_session_id.clone(),
                view.agent_id.clone().unwrap_or_default(),
                view.model.clone(),
                moment(view.added_at),
                view.seen.clone(),
                view.prompt_tokens.map(count).unwrap_or_default(),
                match (view.may_be_cached, view.cost) {
                    (false, _) => "none".to_owned(),
                    (true, Some(cost)) => dollars(cost),
                    (true, None) => "not known".to_owned(),
                },
            ]);
        }
        let holders = some(self.uses.len() as u64, "history holds", "histories hold");
        let mut text = format!("{holders} text of it:\n{}", table.render(Style::plain()));
        let cached = self.uses.iter().filter(|view| view.may_be_cached).count() as u64;
        // Writing to a string cannot fail.
        let _ = match (cached, self.cost) {
            (0, _) => writeln!(
                text,
                "none was seen within an hour, so no prompt cache is lost and nothing is billed again"
            ),
            (_, cost) => writeln!(
                text,
                "the next request of {} is billed up to {} tokens as cache writes again: {}",
                some(cached, "of them", "of those seen within an hour"),
                count(self.prompt_tokens_at_most),
                match cost {
                    Some(cost) => format!("{} at most", dollars(cost)),
                    None => "the price is not known".to_owned(),
                }
            ),
        };
        text
    }
}

impl UseView {
    fn of(held: LedgerUse, memory: String, now: OffsetDateTime) -> Self {
        let may_be_cached = now - held.last_seen_at < CACHE_LIFE;
        let cost = held.prompt_tokens.and_then(|tokens| {
            let usage = TokenUsage {
                cache_creation: tokens,
                ..TokenUsage::default()
            };
            list_price(&held.model, &usage)
        });
        Self {
            client_session_id: held.lineage.session.to_string(),
            agent_id: held.lineage.agent.as_ref().map(ToString::to_string),
            model: held.model,
            memories: vec![memory],
            added_at: held.added_at,
            last_seen_at: held.last_seen_at,
            may_be_cached,
            prompt_tokens: held.prompt_tokens,
            cost_usd: cost.filter(|_| may_be_cached).map(MicroUsd::dollars),
            cost,
            seen: ago(held.last_seen_at, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{AgentId, ClientSessionId, TaskId};

    fn held(session: &str, agent: Option<&str>, task: &str, minutes: i64, tokens: Option<u64>) -> LedgerUse {
        LedgerUse {
            lineage: Lineage {
                session: ClientSessionId::new(session),
                agent: agent.map(AgentId::new),
            },
            model: "claude-haiku-4-5-20251001".to_owned(),
            task_id: TaskId::new(task),
            added_at: OffsetDateTime::UNIX_EPOCH,
            last_seen_at: OffsetDateTime::UNIX_EPOCH + Duration::days(1) - Duration::minutes(minutes),
            prompt_tokens: tokens,
        }
    }

    fn cost(uses: Vec<LedgerUse>) -> Cost {
        Cost::of(uses, OffsetDateTime::UNIX_EPOCH + Duration::days(1))
    }

    #[test]
    fn a_history_is_billed_once_however_many_memories_it_holds() {
        let cost = cost(vec![
            held("s", None, "a", 1, Some(100_000)),
            held("s", None, "b", 1, Some(100_000)),
            held("s", Some("agent"), "a", 2, Some(20_000)),
        ]);
        assert_eq!(cost.uses.len(), 2);
        assert_eq!(cost.uses[0].memories, ["a", "b"]);
        assert_eq!(cost.prompt_tokens_at_most, 120_000);
        // 1.25 dollars for a million tokens written.
        assert_eq!(cost.cost, Some(MicroUsd(150_000)));
        assert!(cost.text().contains("120.0k tokens"), "{}", cost.text());
        assert!(cost.text().contains("$0.15 at most"), "{}", cost.text());
    }

    #[test]
    fn a_cache_that_ran_out_costs_nothing() {
        let cost = cost(vec![held("s", None, "a", 60, Some(100_000))]);
        assert_eq!((cost.prompt_tokens_at_most, cost.cost), (0, Some(MicroUsd(0))));
        assert!(cost.text().contains("nothing is billed again"), "{}", cost.text());
    }

    #[test]
    fn what_is_not_known_is_not_made_up() {
        let mut unpriced = held("t", None, "a", 1, Some(7));
        unpriced.model = "some-model".to_owned();
        for uses in [
            vec![held("s", None, "a", 1, None)],
            vec![held("s", None, "a", 1, Some(9)), unpriced],
        ] {
            let cost = cost(uses);
            assert_eq!(cost.cost_usd_at_most, None);
            assert!(cost.text().contains("the price is not known"), "{}", cost.text());
        }
        assert!(cost(Vec::new()).text().starts_with("no session holds"));
    }
}
