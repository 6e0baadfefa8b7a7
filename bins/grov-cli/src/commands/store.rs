//! `grov store stats`, `grov store prune`

use crate::context::Context;
use crate::format::{bytes, plural};
use crate::output::{Outcome, Style};
use crate::progress::Waiting;
use crate::table::{Table, one_line};
use grov_domain::{Clock, PruneReport, Retention, StoreStats, SystemClock};
use grov_store::Spool;
use serde::Serialize;

#[derive(Serialize)]
struct StatsAnswer {
    exists: bool,
    #[serde(flatten)]
    stats: StoreStats,
}

#[derive(Serialize)]
struct PruneAnswer {
    dry_run: bool,
    removed: PruneReport,
}

pub(crate) fn stats(context: &Context) -> Outcome {
    let database = context.database();
    let stats = context.read(async |store| Ok(store.stats().await?))?;
    let answer = StatsAnswer {
        exists: stats.is_some(),
        stats: stats.unwrap_or_else(|| StoreStats {
            backend: "sqlite".to_owned(),
            location: database.display().to_string(),
            spooled: Spool::for_database(&database).waiting(),
            ..StoreStats::default()
        }),
    };
    context.answer(answer, stats_text)
}

pub(crate) fn prune(context: &Context, dry_run: bool) -> Outcome {
    let configured = context.settings.store();
    let retention = Retention {
        completed_sessions: configured.retention_completed,
        drift_log: configured.retention_drift,
        idle_sessions: configured.retention_idle,
        spending: configured.retention_spending,
        ledger: configured.retention_ledger,
    };
    let now = SystemClock.now();
    let waiting = Waiting::with("deleting old records");
    let report = match dry_run {
        true => context.read(async |store| Ok(store.prune(&retention, now, true).await?))?,
        false => context.write(async |store| Ok(store.prune(&retention, now, false).await?))?,
    };
    drop(waiting);
    let answer = PruneAnswer {
        dry_run,
        removed: report.unwrap_or_default(),
    };
    context.answer(answer, prune_text)
}

fn stats_text(answer: &StatsAnswer, style: Style) -> String {
    let stats = &answer.stats;
    let location = style.bold(&one_line(&stats.location));
    let mut text = format!("{} {location}\n", stats.backend);
    if answer.exists {
        text.push_str(&format!(
            "schema {}, {}\n",
            stats.schema_version,
            bytes(stats.bytes)
        ));
    } else {
        text.push_str("no database yet; grov-proxyd creates it with the first record\n");
    }
    if stats.spooled > 0 {
        let records = plural(stats.spooled, "record waits", "records wait");
        text.push_str(&format!("{records} in the spool for the next writer\n"));
    }
    let mut table = Table::new("TABLE, ROWS#");
    for row in &stats.tables {
        table.row([row.table.clone(), row.rows.to_string()]);
    }
    text + &table.render(style)
}

fn prune_text(answer: &PruneAnswer, style: Style) -> String {
    let removed = &answer.removed;
    let counts = [
        (removed.sessions, "sessions"),
        (removed.exchanges, "exchanges"),
        (removed.steps, "steps"),
        (removed.drift_events, "drift events"),
        (removed.drift_states, "drift states"),
        (removed.corrections, "corrections"),
        (removed.goal_edits, "goal edits"),
        (removed.hook_sessions, "hook sessions"),
        (removed.hook_steps, "hook steps"),
        (removed.hook_checks, "hook checks"),
        (removed.guarded, "guard verdicts"),
        (removed.llm_calls, "model calls"),
        (removed.lineages, "lineages"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let mut counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    if counts.is_empty() {
        counts.push("nothing".to_owned());
    }
    let verb = if answer.dry_run { "would remove" } else { "removed" };
    style.prose(&format!("{verb} {}", counts.join(", ")))
}
