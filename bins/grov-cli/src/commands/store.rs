//! `grov store stats`, `grov store prune`

use crate::arguments::Common;
use crate::context::Context;
use crate::format::{bytes, plural};
use crate::output::{Outcome, Style, Terminal};
use crate::table::{Table, one_line};
use grov_domain::{Clock, PruneReport, Retention, SystemClock};
use grov_store::Spool;
use serde::Serialize;

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
    terminal.answer(answer, stats_text)
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
    let report = match dry_run {
        true => context.read(async |store| Ok(store.prune(&retention, now, true).await?))?,
        false => context.write(async |store| Ok(store.prune(&retention, now, false).await?))?,
    };
    let answer = PruneAnswer {
        dry_run,
        removed: report.unwrap_or_default(),
    };
    terminal.answer(answer, prune_text)
}

fn stats_text(answer: &StatsAnswer, style: Style) -> String {
    let location = style.bold(&one_line(&answer.location));
    let mut text = format!("{} {location}\n", answer.backend);
    if answer.exists {
        text.push_str(&format!(
            "schema {}, {}\n",
            answer.schema_version,
            bytes(answer.bytes)
        ));
    } else {
        text.push_str("no database yet; grov-proxyd creates it with the first record\n");
    }
    if answer.spooled > 0 {
        let records = plural(answer.spooled, "record waits", "records wait");
        text.push_str(&format!("{records} in the spool for the next writer\n"));
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
    format!("{verb} {}\n", counts.join(", "))
}
