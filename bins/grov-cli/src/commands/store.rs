//! `grov store stats`, `grov store prune`

use crate::arguments::Common;
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::bytes;
use crate::table::{Table, harmless};
use grov_domain::{Clock, PruneReport, Retention, SystemClock};
use grov_store::Spool;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct StatsAnswer {
    backend: String,
    location: String,
    exists: bool,
    schema_version: i64,
    bytes: u64,
    spooled: u64,
    tables: Vec<TableView>,
}

#[derive(Serialize)]
struct TableView {
    table: String,
    rows: u64,
}

#[derive(Serialize)]
struct PruneAnswer {
    dry_run: bool,
    removed: PruneReport,
}

pub(crate) fn stats(common: &Common, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let database = context.database();
    let answer = match context.read(async |store| Ok(store.stats().await?))? {
        Some(stats) => StatsAnswer {
            backend: stats.backend,
            location: stats.location,
            exists: true,
            schema_version: stats.schema_version,
            bytes: stats.bytes,
            spooled: stats.spooled,
            tables: stats
                .tables
                .into_iter()
                .map(|table| TableView {
                    table: table.table,
                    rows: table.rows,
                })
                .collect(),
        },
        None => StatsAnswer {
            backend: "sqlite".to_owned(),
            location: database.display().to_string(),
            exists: false,
            schema_version: 0,
            bytes: 0,
            spooled: Spool::beside(&database).waiting(),
            tables: Vec::new(),
        },
    };
    terminal.answer(answer, stats_text)?;
    Ok(Verdict::Found)
}

pub(crate) fn prune(common: &Common, dry_run: bool, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let configured = context.settings.store();
    let retention = Retention {
        completed_sessions: configured.retention_completed,
        drift_log: configured.retention_drift,
        idle_sessions: configured.retention_idle,
        spending: configured.retention_spending,
        ledger: configured.retention_ledger,
    };
    let now = SystemClock.now();
    let report = if dry_run {
        context.read(async |store| Ok(store.prune(&retention, now, true).await?))?
    } else {
        context.write(async |store| Ok(store.prune(&retention, now, false).await?))?
    };
    let answer = PruneAnswer {
        dry_run,
        removed: report.unwrap_or_default(),
    };
    terminal.answer(answer, prune_text)?;
    Ok(Verdict::Found)
}

fn stats_text(answer: &StatsAnswer, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} {}",
        answer.backend,
        style.bold(&harmless(&answer.location))
    );
    if !answer.exists {
        text.push_str("no database yet; grov-proxyd makes it with the first record\n");
    } else {
        let _ = writeln!(text, "schema {}, {}", answer.schema_version, bytes(answer.bytes));
    }
    if answer.spooled > 0 {
        let _ = writeln!(
            text,
            "{} records wait in the spool for the next writer",
            answer.spooled
        );
    }
    if !answer.tables.is_empty() {
        let mut table = Table::new(&["TABLE", "ROWS#"]);
        for row in &answer.tables {
            table.row([row.table.clone(), row.rows.to_string()]);
        }
        text.push_str(&table.render(style));
    }
    text
}

fn prune_text(answer: &PruneAnswer, _style: Style) -> String {
    let removed = &answer.removed;
    let counts = [
        (removed.sessions, "sessions"),
        (removed.exchanges, "exchanges"),
        (removed.steps, "steps"),
        (removed.drift_events, "drift events"),
        (removed.drift_states, "drift states"),
        (removed.corrections, "corrections"),
        (removed.goal_edits, "goal edits"),
        (removed.hook_sessions, "sessions of hooks"),
        (removed.hook_steps, "steps of hooks"),
        (removed.hook_checks, "checks of hooks"),
        (removed.guarded, "answers of the guard"),
        (removed.llm_calls, "model calls"),
        (removed.lineages, "lineages"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let counts = if counts.is_empty() {
        "nothing".to_owned()
    } else {
        counts.join(", ")
    };
    let done = if answer.dry_run { "would remove" } else { "removed" };
    format!("{done} {counts}\n")
}
