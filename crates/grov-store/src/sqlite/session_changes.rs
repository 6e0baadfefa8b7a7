//! The changes of session rows by a batch of exchanges.

use super::append::NewExchange;
use super::columns::millis;
use grov_domain::{ExchangeKind, TokenUsage};
use std::collections::HashMap;

/// Number of characters of the first prompt that become the goal until a better one is known.
const GOAL_CHARACTERS: usize = 200;

/// Maximum number of tokens per exchange, so that wrong numbers from an upstream do not overflow the sums.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// The changes, one per session, in order of first appearance.
#[derive(Default)]
pub(super) struct SessionChanges<'a> {
    index: HashMap<&'a str, usize>,
    changes: Vec<SessionChange<'a>>,
}

/// The change of one session.
pub(super) struct SessionChange<'a> {
    pub(super) session: &'a str,
    pub(super) client_session: &'a str,
    pub(super) user: Option<&'a str>,
    /// `""` while unknown.
    pub(super) project: &'a str,
    pub(super) remote: Option<&'a str>,
    pub(super) goal: Option<String>,
    pub(super) start: i64,
    pub(super) end: i64,
    /// End and context size of the newest main exchange.
    pub(super) context: Option<(i64, u64)>,
    /// Time and id of the newest step.
    pub(super) last_step: Option<(i64, &'a str)>,
    pub(super) prompts: u64,
    pub(super) steps: u64,
    pub(super) exchanges: u64,
    pub(super) usage: TokenUsage,
}

impl<'a> SessionChanges<'a> {
    pub(super) fn as_slice(&self) -> &[SessionChange<'a>] {
        &self.changes
    }

    pub(super) fn of(&self, session: &str) -> Option<&SessionChange<'a>> {
        self.index.get(session).map(|position| &self.changes[*position])
    }

    /// Adds a new exchange with `steps` new steps.
    pub(super) fn add(&mut self, new: &NewExchange<'a>, steps: u64) {
        let record = new.record;
        let (start, end) = (millis(record.started_at), millis(record.ended_at));
        let position = *self.index.entry(record.session_id.as_str()).or_insert_with(|| {
            self.changes.push(SessionChange {
                session: record.session_id.as_str(),
                client_session: record.client_session_id.as_str(),
                user: None,
                project: "",
                remote: None,
                goal: None,
                start,
                end,
                context: None,
                last_step: None,
                prompts: 0,
                steps: 0,
                exchanges: 0,
                usage: TokenUsage::default(),
            });
            self.changes.len() - 1
        });
        let change = &mut self.changes[position];
        change.start = change.start.min(start);
        change.end = change.end.max(end);
        if change.user.is_none() {
            change.user = record.user.as_deref();
        }
        if change.project.is_empty() {
            change.project = record.project.key();
            change.remote = record.project.remote.as_deref();
        }
        if change.goal.is_none() {
            change.goal = record.prompts.first().map(|prompt| goal(&prompt.text));
        }
        let newest = new
            .steps
            .iter()
            .map(|step| (millis(step.timestamp), step.id.as_str()))
            .max();
        change.last_step = change.last_step.max(newest);
        let usage = bounded(&record.usage);
        // An exchange that failed early has no token counts.
        let context = usage.input + usage.cache_read + usage.cache_creation + usage.output;
        if record.kind == ExchangeKind::Main && context > 0 && change.context.is_none_or(|(at, _)| at <= end)
        {
            change.context = Some((end, context));
        }
        change.prompts += record.prompts.len() as u64;
        change.steps += steps;
        change.exchanges += 1;
        change.usage = combined(&change.usage, &usage, |sum, tokens| sum + tokens);
    }
}

/// Returns the beginning of a prompt. The prompt is redacted already, because a truncated secret is not recognised.
fn goal(prompt: &str) -> String {
    prompt.trim().chars().take(GOAL_CHARACTERS).collect()
}

/// Limits token counts, so that they can be summed.
pub(super) fn bounded(usage: &TokenUsage) -> TokenUsage {
    combined(usage, usage, |tokens, _| tokens.min(MAX_TOKENS))
}

/// Each count of both, combined.
fn combined(one: &TokenUsage, other: &TokenUsage, combine: impl Fn(u64, u64) -> u64) -> TokenUsage {
    TokenUsage {
        input: combine(one.input, other.input),
        cache_read: combine(one.cache_read, other.cache_read),
        cache_creation: combine(one.cache_creation, other.cache_creation),
        cache_creation_5m: combine(one.cache_creation_5m, other.cache_creation_5m),
        cache_creation_1h: combine(one.cache_creation_1h, other.cache_creation_1h),
        output: combine(one.output, other.output),
    }
}
