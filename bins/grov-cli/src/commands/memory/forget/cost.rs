//! The cost of removing text from the history of running sessions: their prompt cache is written again. What hooks added stays in the
//! client's own history.

use crate::format::{ago, count, dollars, plural, timestamp};
use crate::output::Style;
use crate::table::{Table, cell};
use grov_domain::{ClientSessionId, LedgerUse, Lineage, MicroUsd, TokenUsage};
use grov_llm::list_price;
use serde::Serialize;
use time::{Duration, OffsetDateTime};

/// The maximum lifetime of a prompt cache.
const CACHE_LIFETIME: Duration = Duration::hours(1);
/// Maximum number of sessions of hooks that are named.
const MAX_SESSIONS: usize = 8;

/// The histories that hold the text, and the cost of removing it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Cost {
    /// The most recently seen first.
    uses: Vec<UseView>,
    /// Maximum tokens that are billed as cache writes again.
    prompt_tokens_at_most: u64,
    /// `None` if a size or a price is unknown.
    cost_usd_at_most: Option<MicroUsd>,
    /// The sessions whose history, which the client keeps, has the text from hooks. Grov cannot remove it there.
    hook_sessions: Vec<String>,
}

/// A history that holds the text.
#[derive(Debug, Serialize)]
struct UseView {
    client_session_id: String,
    agent_id: Option<String>,
    model: String,
    memories: Vec<String>,
    /// When the first of these memories was added.
    #[serde(with = "time::serde::rfc3339")]
    added_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    last_seen_at: OffsetDateTime,
    /// Whether it may still be in a prompt cache.
    may_be_cached: bool,
    prompt_tokens: Option<u64>,
    /// `None` if the cache has expired, or the size or the price is unknown.
    cost_usd: Option<MicroUsd>,
    #[serde(skip)]
    seen: String,
}

impl Cost {
    pub(super) fn of(uses: Vec<LedgerUse>, told: &[ClientSessionId], now: OffsetDateTime) -> Self {
        let mut histories: Vec<(Lineage, UseView)> = Vec::new();
        for found in uses {
            let memory = found.task_id.to_string();
            match histories
                .iter_mut()
                .find(|(lineage, _)| *lineage == found.lineage)
            {
                Some((_, view)) => {
                    view.added_at = view.added_at.min(found.added_at);
                    if !view.memories.contains(&memory) {
                        view.memories.push(memory);
                    }
                }
                None => histories.push((found.lineage.clone(), UseView::of(found, memory, now))),
            }
        }
        let uses: Vec<UseView> = histories.into_iter().map(|(_, view)| view).collect();
        let cached = || uses.iter().filter(|view| view.may_be_cached);
        Self {
            prompt_tokens_at_most: cached().filter_map(|view| view.prompt_tokens).sum(),
            cost_usd_at_most: cached()
                .try_fold(MicroUsd::default(), |sum, view| Some(sum.plus(view.cost_usd?))),
            uses,
            hook_sessions: told.iter().map(ToString::to_string).collect(),
        }
    }

    /// About sessions that hooks told; empty if there are none.
    fn hooks_text(&self) -> String {
        let sessions = &self.hook_sessions;
        if sessions.is_empty() {
            return String::new();
        }
        let shown: Vec<&str> = sessions.iter().take(MAX_SESSIONS).map(String::as_str).collect();
        let more = match sessions.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{} its text from a hook in the client's own history, which Grov does not change; `claude --resume` sends it again: {}{more}\n",
            plural(sessions.len() as u64, "session has", "sessions have"),
            shown.join(", ")
        )
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        let by_hooks = self.hooks_text();
        if self.uses.is_empty() && by_hooks.is_empty() {
            return "no session has its text in its history\n".to_owned();
        }
        if self.uses.is_empty() {
            return by_hooks;
        }
        let mut table = Table::new("SESSION, AGENT?, MODEL~, SINCE?, LAST SEEN, PROMPT#, COST#");
        for view in &self.uses {
            let cost = match (view.may_be_cached, view.cost_usd) {
                (false, _) => "none".to_owned(),
                (true, Some(cost)) => dollars(cost),
                (true, None) => "unknown".to_owned(),
            };
            table.row([
                view.client_session_id.clone(),
                cell(view.agent_id.as_deref()),
                view.model.clone(),
                timestamp(view.added_at),
                view.seen.clone(),
                view.prompt_tokens.map(count).unwrap_or_default(),
                cost,
            ]);
        }
        let histories = plural(self.uses.len() as u64, "history contains", "histories contain");
        let table = table.render(Style::plain());
        let cached = self.uses.iter().filter(|view| view.may_be_cached).count() as u64;
        let bill = if cached == 0 {
            "none was used within an hour, so no prompt cache is lost and nothing is billed again".to_owned()
        } else {
            let which = plural(cached, "of them", "of those used within an hour");
            let tokens = count(self.prompt_tokens_at_most);
            let cost = match self.cost_usd_at_most {
                Some(cost) => format!("{} at most", dollars(cost)),
                None => "the price is unknown".to_owned(),
            };
            format!(
                "the next request of {which} is billed up to {tokens} tokens as cache writes again: {cost}"
            )
        };
        format!("{histories} its text:\n{table}{bill}\n{by_hooks}")
    }
}

impl UseView {
    fn of(found: LedgerUse, memory: String, now: OffsetDateTime) -> Self {
        let may_be_cached = now - found.last_seen_at < CACHE_LIFETIME;
        let cost = found.prompt_tokens.filter(|_| may_be_cached).and_then(|tokens| {
            let usage = TokenUsage {
                cache_creation: tokens,
                ..TokenUsage::default()
            };
            list_price(&found.model, &usage)
        });
        Self {
            client_session_id: found.lineage.session.to_string(),
            agent_id: found.lineage.agent.as_ref().map(ToString::to_string),
            model: found.model,
            memories: vec![memory],
            added_at: found.added_at,
            last_seen_at: found.last_seen_at,
            may_be_cached,
            prompt_tokens: found.prompt_tokens,
            cost_usd: cost,
            seen: ago(found.last_seen_at, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{AgentId, TaskId};

    fn use_of(
        session: &str,
        agent: Option<&str>,
        task: &str,
        minutes: i64,
        tokens: Option<u64>,
    ) -> LedgerUse {
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
        Cost::of(uses, &[], OffsetDateTime::UNIX_EPOCH + Duration::days(1))
    }

    #[test]
    fn sessions_whose_transcripts_keep_the_text_are_named() {
        let told: Vec<ClientSessionId> = (0..10)
            .map(|number| ClientSessionId::new(format!("told-{number}")))
            .collect();
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(1);
        let text = Cost::of(Vec::new(), &told[..1], now).text();
        assert!(
            text.starts_with("1 session has its text from a hook") && text.contains("told-0\n"),
            "{text}"
        );
        let text = Cost::of(vec![use_of("s", None, "a", 1, None)], &told, now).text();
        assert!(
            text.contains("10 sessions have") && text.contains("told-7 and 2 more\n"),
            "{text}"
        );
    }

    #[test]
    fn a_history_with_several_memories_is_billed_once() {
        let cost = cost(vec![
            use_of("s", None, "a", 1, Some(100_000)),
            use_of("s", None, "b", 1, Some(100_000)),
            use_of("s", Some("agent"), "a", 2, Some(20_000)),
        ]);
        assert_eq!(cost.uses.len(), 2);
        assert_eq!(cost.uses[0].memories, ["a", "b"]);
        assert_eq!(cost.prompt_tokens_at_most, 120_000);
        // 1.25 dollars for a million tokens written.
        assert_eq!(cost.cost_usd_at_most, Some(MicroUsd(150_000)));
        assert!(cost.text().contains("120.0k tokens"), "{}", cost.text());
        assert!(cost.text().contains("$0.15 at most"), "{}", cost.text());
    }

    #[test]
    fn an_expired_cache_costs_nothing() {
        let cost = cost(vec![use_of("s", None, "a", 60, Some(100_000))]);
        assert_eq!(
            (cost.prompt_tokens_at_most, cost.cost_usd_at_most),
            (0, Some(MicroUsd(0)))
        );
        assert!(cost.text().contains("nothing is billed again"), "{}", cost.text());
    }

    #[test]
    fn unknown_sizes_and_prices_are_not_guessed() {
        let mut unpriced = use_of("t", None, "a", 1, Some(7));
        unpriced.model = "some-model".to_owned();
        for uses in [
            vec![use_of("s", None, "a", 1, None)],
            vec![use_of("s", None, "a", 1, Some(9)), unpriced],
        ] {
            let cost = cost(uses);
            assert_eq!(cost.cost_usd_at_most, None);
            assert!(cost.text().contains("the price is unknown"), "{}", cost.text());
        }
        assert!(cost(Vec::new()).text().starts_with("no session has"));
    }
}
