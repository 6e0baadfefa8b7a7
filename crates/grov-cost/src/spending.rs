//! Adds up what was spent, by a key.

use crate::UsageEntry;
use crate::deduplication::{Deduplication, Priced};
use crate::price::PriceBook;
use crate::reader::{agent_of, folder_of, session_of};
use grov_domain::{ExchangeUsage, TokenUsage};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use time::{OffsetDateTime, UtcOffset};

/// The key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The UTC day.
    Day,
    /// The client session.
    Session,
    /// The project.
    Project,
    /// The model.
    Model,
    /// The provider of the model.
    Provider,
    /// The main conversation (`main`), a subagent by its id, or the kind of a request outside of both.
    Agent,
}

/// Where usage was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// In the client's transcripts.
    Transcripts,
    /// In what the proxy recorded.
    Proxy,
}

/// Tokens and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    /// Token counts by class.
    pub tokens: TokenUsage,
    /// Billionths of a USD. Tokens of models without a known price cost nothing.
    pub cost: u128,
    /// Tokens of models without a known price.
    pub unpriced_tokens: u64,
}

/// A row of the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The key by which usage was grouped.
    pub key: String,
    /// Token counts by class.
    pub tokens: TokenUsage,
    /// The cost.
    #[serde(serialize_with = "usd")]
    pub cost_usd: u128,
    /// Tokens of models without a known price, which are not in the cost.
    pub unpriced_tokens: u64,
}

/// Serializes billionths of a USD as USD.
pub(crate) fn usd<S: Serializer>(billionths: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*billionths as f64 / 1e9)
}

/// Usage of one response or, of the proxy, of several.
struct Item {
    at: OffsetDateTime,
    session: String,
    project: String,
    agent: String,
    model: String,
    source: Source,
    group: Group,
}

/// What was spent.
#[derive(Default)]
pub struct Spending {
    prices: PriceBook,
    found: Deduplication,
    proxy: Vec<ExchangeUsage>,
}

impl Spending {
    /// Nothing yet, with these prices.
    pub fn new(prices: PriceBook) -> Self {
        Self {
            prices,
            ..Self::default()
        }
    }

    /// The prices.
    pub fn prices(&self) -> &PriceBook {
        &self.prices
    }

    /// Adds usage from the transcript at `path`, unless it is known already.
    pub fn add(&mut self, path: &Path, mut entry: UsageEntry) {
        let session = entry.session.clone().unwrap_or_else(|| session_of(path));
        if entry.agent.is_none() && entry.is_sidechain {
            entry.agent = agent_of(path);
        }
        if entry.directory.is_none() {
            entry.directory = folder_of(path);
        }
        let model = entry.model.as_deref().unwrap_or_default();
        let by_tokens = self.prices.cost(model, entry.is_fast, &entry.tokens);
        let written = entry.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0);
        let written = written.map(|cost| (cost * 1e9).round() as u128);
        self.found.add(Priced {
            is_priced: written.or(by_tokens).is_some(),
            cost: written.or(by_tokens).unwrap_or_default(),
            session,
            entry,
        });
    }

    /// Adds usage that the proxy recorded, since the time that [`Spending::rows`] is given: it is summed up by day.
    pub fn add_proxy(&mut self, usage: impl IntoIterator<Item = ExchangeUsage>) {
        self.proxy.extend(usage);
    }

    /// Adds up usage at or after `since` that `includes` a project. `project_of` names the project of a working directory.
    /// Rows of days are in their order, others begin with the most expensive.
    pub fn rows(
        self,
        by: Grouping,
        since: Option<OffsetDateTime>,
        mut project_of: impl FnMut(&str) -> String,
        includes: impl Fn(&str) -> bool,
    ) -> Totals {
        let prices = self.prices;
        let mut items: Vec<Item> = Vec::new();
        let mut sessions: HashSet<String> = HashSet::new();
        for priced in self.found.into_entries() {
            sessions.insert(priced.session.clone());
            items.push(of_transcript(priced, &mut project_of));
        }
        for usage in self.proxy {
            // A transcript has the conversation and its subagents already.
            let is_known = usage.kind.is_turn() && sessions.contains(usage.client_session_id.as_str());
            if !is_known {
                items.push(of_proxy(usage, &prices));
            }
        }
        let mut totals = Totals::default();
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for item in items {
            let is_earlier = item.source == Source::Transcripts && since.is_some_and(|since| item.at < since);
            if is_earlier || !includes(&item.project) {
                continue;
            }
            let of_source = match item.source {
                Source::Transcripts => &mut totals.transcripts,
                Source::Proxy => &mut totals.proxy,
            };
            *of_source = of_source.plus(&item.group);
            totals.total = totals.total.plus(&item.group);
            let key = match by {
                Grouping::Day => item.at.to_offset(UtcOffset::UTC).date().to_string(),
                Grouping::Session => item.session,
                Grouping::Project => item.project,
                Grouping::Provider => prices.provider(&item.model),
                Grouping::Model => item.model,
                Grouping::Agent => item.agent,
            };
            let group = groups.entry(key).or_default();
            *group = group.plus(&item.group);
        }
        // Lines that the client wrote itself have no usage, but a model.
        groups.retain(|_, group| *group != Group::default());
        totals.rows = groups
            .into_iter()
            .map(|(key, group)| Row {
                key,
                tokens: group.tokens,
                cost_usd: group.cost,
                unpriced_tokens: group.unpriced_tokens,
            })
            .collect();
        if by != Grouping::Day {
            totals.rows.sort_by_key(|row| std::cmp::Reverse(row.cost_usd));
        }
        totals
    }
}

/// The rows and their sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The rows.
    pub rows: Vec<Row>,
    /// The sum of all.
    pub total: Group,
    /// The sum of what transcripts contained.
    pub transcripts: Group,
    /// The sum of what the proxy saw beside it.
    pub proxy: Group,
}

impl Group {
    fn plus(&self, other: &Self) -> Self {
        Self {
            tokens: self.tokens.plus(other.tokens),
            cost: self.cost.saturating_add(other.cost),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
        }
    }

    fn of(tokens: TokenUsage, cost: Option<u128>) -> Self {
        let all = [
            tokens.input,
            tokens.output,
            tokens.cache_creation,
            tokens.cache_read,
        ];
        let all = all.into_iter().fold(0, u64::saturating_add);
        Self {
            tokens,
            cost: cost.unwrap_or_default(),
            unpriced_tokens: if cost.is_none() { all } else { 0 },
        }
    }
}

fn of_transcript(priced: Priced, project_of: &mut impl FnMut(&str) -> String) -> Item {
    let entry = priced.entry;
    let model = match (entry.model, entry.is_fast) {
        (Some(model), true) => format!("{model}-fast"),
        (Some(model), false) => model,
        (None, _) => UNKNOWN.to_owned(),
    };
    let agent = match entry.agent {
        Some(agent) => agent,
        None if entry.is_sidechain => "subagent".to_owned(),
        None => "main".to_owned(),
    };
    Item {
        at: entry.at,
        session: priced.session,
        project: entry.directory.as_deref().map_or(UNKNOWN.to_owned(), project_of),
        agent,
        model,
        source: Source::Transcripts,
        group: Group::of(entry.tokens, priced.is_priced.then_some(priced.cost)),
    }
}

/// The key of what has none.
const UNKNOWN: &str = "unknown";

fn of_proxy(usage: ExchangeUsage, prices: &PriceBook) -> Item {
    let model = usage.model.unwrap_or_default();
    let cost = prices.cost(&model, false, &usage.tokens);
    let named = |name: String| match name.is_empty() {
        true => UNKNOWN.to_owned(),
        false => name,
    };
    Item {
        at: usage.day,
        session: usage.client_session_id.to_string(),
        project: named(usage.project_path),
        agent: match usage.agent_id {
            Some(agent) => agent.to_string(),
            None => usage.kind.as_str().to_owned(),
        },
        model: named(model),
        source: Source::Proxy,
        group: Group::of(usage.tokens, cost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{ClientSessionId, ExchangeKind, SideRequest};
    use time::macros::datetime;

    fn entry(message: &str, request: Option<&str>, output: u64) -> UsageEntry {
        UsageEntry {
            at: datetime!(2026-11-01 10:00 UTC),
            session: Some("s".to_owned()),
            directory: Some("/p/src".to_owned()),
            agent: None,
            is_sidechain: false,
            message: Some(message.to_owned()),
            request: request.map(str::to_owned),
            model: Some("claude-opus-4-8".to_owned()),
            is_fast: false,
            has_speed: false,
            tokens: TokenUsage {
                output,
                ..TokenUsage::default()
            },
            cost_usd: None,
        }
    }

    fn proxied(session: &str, kind: ExchangeKind, output: u64) -> ExchangeUsage {
        ExchangeUsage {
            client_session_id: ClientSessionId::new(session),
            project_path: "/q".to_owned(),
            agent_id: None,
            kind,
            model: Some("claude-haiku-4-5-20251001".to_owned()),
            day: datetime!(2026-11-02 0:00 UTC),
            tokens: TokenUsage {
                output,
                ..TokenUsage::default()
            },
        }
    }

    fn totals(entries: Vec<UsageEntry>, proxy: Vec<ExchangeUsage>, by: Grouping) -> Totals {
        let mut spending = Spending::new(PriceBook::default());
        for entry in entries {
            spending.add(Path::new("/c/projects/-p/f.jsonl"), entry);
        }
        spending.add_proxy(proxy);
        spending.rows(
            by,
            None,
            |directory| directory.trim_end_matches("/src").to_owned(),
            |_| true,
        )
    }

    fn output(entries: Vec<UsageEntry>) -> u64 {
        totals(entries, Vec::new(), Grouping::Day).total.tokens.output
    }

    #[test]
    fn a_response_counts_once_with_its_last_usage() {
        let r = Some("r");
        assert_eq!(
            output(vec![entry("m", r, 1), entry("m", r, 50), entry("m", r, 20)]),
            50
        );
        let resumed = UsageEntry {
            session: Some("t".to_owned()),
            ..entry("m", r, 10)
        };
        assert_eq!(output(vec![entry("m", r, 10), resumed]), 10);
        assert_eq!(output(vec![entry("m", r, 10), entry("m", Some("q"), 10)]), 20);
    }

    #[test]
    fn blocks_of_a_response_without_a_request_id_count_once() {
        let line = |id: &str, second, output| UsageEntry {
            at: datetime!(2026-11-01 10:00 UTC) + time::Duration::seconds(second),
            ..entry(id, None, output)
        };
        let (one, other) = (
            "msg_0193c6a1f27bd4e58c90a1b2",
            "chatcmpl-3f2a91c0-77aa-4c1e-9d10-5b6c7d8e9f00",
        );
        let lines = vec![
            line(one, 0, 1),
            line(one, 1, 7),
            line(other, 2, 7),
            line(other, 3, 7),
        ];
        assert_eq!(output(lines), 14);
    }

    #[test]
    fn without_a_request_and_with_a_short_id_only_the_same_line_is_a_duplicate() {
        let later = UsageEntry {
            at: datetime!(2026-11-01 10:01 UTC),
            ..entry("m", None, 10)
        };
        assert_eq!(
            output(vec![entry("m", None, 10), entry("m", None, 10), later]),
            20
        );
        let nameless = UsageEntry {
            message: None,
            ..entry("m", None, 10)
        };
        assert_eq!(output(vec![nameless.clone(), nameless]), 20);
    }

    #[test]
    fn a_side_conversation_repeats_the_main_one() {
        let side = UsageEntry {
            is_sidechain: true,
            ..entry("m", Some("q"), 900)
        };
        assert_eq!(output(vec![entry("m", Some("r"), 10), side.clone()]), 10);
        assert_eq!(output(vec![side, entry("m", Some("r"), 10)]), 10);
    }

    #[test]
    fn a_response_of_several_sessions_is_recognised_in_each() {
        let line = |session: &str, request, output, is_sidechain| UsageEntry {
            session: Some(session.to_owned()),
            is_sidechain,
            ..entry("m", Some(request), output)
        };
        let lines = vec![
            line("one", "r0", 34, true),
            line("two", "r0", 1_477, true),
            line("one", "r1", 1_945, true),
            line("two", "r12", 1_826, false),
        ];
        assert_eq!(output(lines), 1_826);
    }

    #[test]
    fn the_proxy_adds_what_transcripts_lack() {
        let title = ExchangeKind::Side(SideRequest::Title);
        let proxy = vec![
            proxied("s", ExchangeKind::Main, 1_000),
            proxied("s", title, 100),
            proxied("gone", ExchangeKind::Main, 10_000),
        ];
        let totals = totals(vec![entry("m", Some("r"), 10)], proxy, Grouping::Session);
        assert_eq!(totals.total.tokens.output, 10_110);
        assert_eq!(totals.transcripts.tokens.output, 10);
        assert_eq!(totals.proxy.tokens.output, 10_100);
        let keys: Vec<&str> = totals.rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["gone", "s"]);
    }

    #[test]
    fn usage_is_grouped() {
        let proxy = || vec![proxied("s", ExchangeKind::Side(SideRequest::Title), 100)];
        let keys = |by| {
            let totals = totals(vec![entry("m", Some("r"), 10_000)], proxy(), by);
            let keys: Vec<String> = totals.rows.into_iter().map(|row| row.key).collect();
            keys.join(" ")
        };
        assert_eq!(keys(Grouping::Day), "2026-11-01 2026-11-02");
        assert_eq!(keys(Grouping::Project), "/p /q");
        assert_eq!(keys(Grouping::Model), "claude-opus-4-8 claude-haiku-4-5-20251001");
        assert_eq!(keys(Grouping::Provider), "anthropic");
        assert_eq!(keys(Grouping::Agent), "main title");
    }
}
