//! The figures of recorded sessions.

use super::findings::Findings;
use super::measured::added_latency;
use super::{GuardCount, Report};
use crate::commands::drift::judged_actions;
use crate::context::Context;
use crate::failure::Failure;
use crate::since::parse_since;
use grov_domain::{GuardVerdict, StoreConnection};
use grov_memory::estimated_tokens;
use grov_query::{
    ClientSessionView, Lookup, MissCause, cache_misses, client_sessions, find_session, injections,
};
use std::collections::{BTreeSet, HashSet};
use time::{Date, Duration, OffsetDateTime};

/// Sessions before this are left out, unless `--since` says otherwise.
const USUAL: Duration = Duration::days(30);

/// The newest misses of the prompt cache that are read.
const MAX_MISSES: u32 = 10_000;

/// Sums up the sessions of the project, or of all projects without one.
pub(super) fn report(context: &Context, since: Option<&str>, now: OffsetDateTime) -> Result<Report, Failure> {
    let since = match since {
        Some(since) => parse_since(since, now)?,
        None => now - USUAL,
    };
    let project = context.named_project()?;
    let sums = context.read(async |store| {
        let marks = store.finding_marks().await?.into_iter();
        let wrong = marks.filter(|mark| !mark.is_right);
        let mut sums = Sums {
            findings: Findings::new(wrong.map(|mark| (mark.event_id, mark.rule)).collect()),
            ..Sums::default()
        };
        let mut counted = HashSet::new();
        for session in client_sessions(store, project.as_deref(), None, now).await? {
            if session.last_update >= since {
                sums.add(store, &session).await?;
                counted.insert(session.id);
            }
        }
        let misses = cache_misses(store, Some(since), MAX_MISSES).await?.into_iter();
        let caused = misses.filter(|miss| miss.cause == MissCause::Grov);
        let caused = caused.filter(|miss| counted.contains(&miss.client_session_id));
        sums.cache_misses = caused.count() as u64;
        Ok(sums)
    })?;
    let sums = sums.unwrap_or_default();
    if sums.sessions == 0 {
        let message = "no session was recorded in this time";
        let hint = "`--since 90d` looks further back; `grov eval --sample` measures the bundled sample";
        return Err(Failure::negative("nothing_recorded", message).hint(hint));
    }
    let record = grov_runtime::daemon::read(&context.home);
    let address = record.and_then(|record| record.local_address());
    Ok(sums.report(since, address.and_then(added_latency)))
}

/// The estimated tokens of a text.
pub(super) fn tokens(text: &str) -> u64 {
    estimated_tokens(text) as u64
}

/// Sums over sessions.
#[derive(Default)]
struct Sums {
    sessions: u64,
    prompts: u64,
    /// Requests that the proxy relayed.
    exchanges: u64,
    cache_misses: u64,
    tokens_added: u64,
    injected_prompts: u64,
    findings: Findings,
    questions: u64,
    allowed: u64,
    days: BTreeSet<Date>,
}

impl Sums {
    async fn add(&mut self, store: &dyn StoreConnection, session: &ClientSessionView) -> Result<(), Failure> {
        let Lookup::Found(selected) = find_session(store, session.id.as_str(), "").await? else {
            return Ok(());
        };
        self.sessions += 1;
        self.days.insert(session.last_update.date());
        self.days.insert(session.started_at.date());
        self.prompts += selected.tasks.iter().map(|task| task.prompts).sum::<u64>();
        self.exchanges += selected.tasks.iter().map(|task| task.exchanges).sum::<u64>();
        for injection in injections(store, &session.id, Vec::new(), &[]).await? {
            self.tokens_added += tokens(&injection.text);
            self.injected_prompts += u64::from(injection.place == "prompt");
        }
        let guard = store.guard_log(&session.id).await?;
        let asked: Vec<_> = guard
            .iter()
            .filter(|record| record.verdict == GuardVerdict::Ask)
            .collect();
        self.questions += asked.len() as u64;
        let allowed: HashSet<&str> = asked
            .iter()
            .filter(|record| record.ran)
            .map(|record| record.tool_use_id.as_str())
            .collect();
        self.allowed += allowed.len() as u64;
        for action in judged_actions(store, &selected).await? {
            self.findings.add(&action, &allowed);
        }
        Ok(())
    }

    fn report(self, since: OffsetDateTime, added_latency: Option<super::Latency>) -> Report {
        let mut not_measured = Vec::new();
        if self.exchanges == 0 {
            not_measured.push("cache_misses: none of the sessions went through the proxy".to_owned());
        }
        if added_latency.is_none() {
            not_measured.push(
                "added_latency: no proxy is running that served a request; it measures since its start"
                    .to_owned(),
            );
        }
        let days = self.days.len().max(1) as f64;
        Report {
            source: "recorded".to_owned(),
            since: Some(since),
            sessions: self.sessions,
            prompts: self.prompts,
            actions: self.findings.actions,
            added_latency,
            cache_misses: (self.exchanges > 0).then_some(self.cache_misses),
            tokens_added: self.tokens_added,
            prompts_with_injection_percent: (self.prompts > 0)
                .then(|| self.injected_prompts as f64 * 100.0 / self.prompts as f64),
            findings: self.findings.rules(),
            guard: Some(GuardCount {
                questions: self.questions,
                allowed: self.allowed,
                days: self.days.len() as u64,
                per_day: self.questions as f64 / days,
            }),
            not_measured,
            ..Report::default()
        }
    }
}
