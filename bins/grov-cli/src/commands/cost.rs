//! `grov cost`

use crate::arguments::{CostArguments, CostGroup, CostSource};
use crate::client_spending::{folders, prices, read_transcripts};
use crate::context::Context;
use crate::format::{count, short_ids};
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::since::parse_since;
use crate::table::Table;
use grov_cost::{Group, Grouping, Row, Spending, Totals};
use grov_domain::{Clock, SystemClock, TokenUsage, UsageFilter};
use grov_project::ProjectLocation;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

#[derive(Serialize)]
struct Answer {
    rows: Vec<Row>,
    total_usd: f64,
    tokens: TokenUsage,
    /// The day as of which the prices are known.
    prices_as_of: String,
    /// What each source contributed.
    sources: Sources,
    /// Tokens of models without a known price.
    unpriced_tokens: u64,
    #[serde(skip)]
    by: CostGroup,
}

#[derive(Serialize)]
struct Sources {
    transcripts: SourceView,
    /// Requests that no transcript has.
    proxy: SourceView,
}

#[derive(Serialize)]
struct SourceView {
    tokens: TokenUsage,
    cost_usd: f64,
}

pub(crate) fn run(context: &Context, arguments: &CostArguments) -> Outcome {
    let since = arguments.since.as_deref();
    let since = since
        .map(|text| parse_since(text, SystemClock.now()))
        .transpose()?;
    let project = context.named_project()?;
    let mut spending = Spending::new(prices(context)?);
    let prices_as_of = spending.prices().as_of();
    if arguments.source != CostSource::Proxy {
        read_transcripts(&mut spending);
    }
    if arguments.source != CostSource::Transcripts {
        let filter = UsageFilter {
            client_session_id: None,
            since,
        };
        let usage = context.read(async |store| Ok(store.exchange_usage(&filter).await?))?;
        spending.add_proxy(usage.unwrap_or_default());
    }
    let by = match arguments.by {
        CostGroup::Day => Grouping::Day,
        CostGroup::Session => Grouping::Session,
        CostGroup::Project => Grouping::Project,
        CostGroup::Model => Grouping::Model,
        CostGroup::Provider => Grouping::Provider,
        CostGroup::Agent => Grouping::Agent,
    };
    // Only asked for if it matters, because it looks into the file system.
    let mut projects = Projects::default();
    let locates = by == Grouping::Project || project.is_some();
    let project_of = |directory: &str| match locates {
        true => projects.of(directory),
        false => String::new(),
    };
    let includes = |key: &str| project.as_deref().is_none_or(|project| project == key);
    let totals = spending.rows(by, since, project_of, includes);
    let status = ExitStatus::success_if(!totals.rows.is_empty());
    if totals.rows.is_empty() {
        nothing_found();
    }
    context.answer(answer(totals, prices_as_of, arguments.by), text)?;
    Ok(status)
}

fn nothing_found() {
    let folders = folders();
    let searched: Vec<String> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    match searched.as_slice() {
        [] => note!(
            "no usage found: the client has no transcripts in ~/.claude/projects (CLAUDE_CONFIG_DIR names others)"
        ),
        searched => note!("no usage found in {}", searched.join(", ")),
    }
}

fn answer(totals: Totals, prices_as_of: String, by: CostGroup) -> Answer {
    let source = |group: &Group| SourceView {
        tokens: group.tokens,
        cost_usd: usd(group.cost),
    };
    Answer {
        total_usd: usd(totals.total.cost),
        tokens: totals.total.tokens,
        unpriced_tokens: totals.total.unpriced_tokens,
        sources: Sources {
            transcripts: source(&totals.transcripts),
            proxy: source(&totals.proxy),
        },
        rows: totals.rows,
        prices_as_of,
        by,
    }
}

fn usd(billionths: u128) -> f64 {
    billionths as f64 / 1e9
}

/// The projects of working directories.
#[derive(Default)]
struct Projects {
    known: HashMap<String, String>,
}

impl Projects {
    fn of(&mut self, directory: &str) -> String {
        if let Some(project) = self.known.get(directory) {
            return project.clone();
        }
        let path = Path::new(directory);
        let project = match path.is_absolute() {
            true => ProjectLocation::locate(path).project().key().to_owned(),
            false => directory.to_owned(),
        };
        self.known.insert(directory.to_owned(), project.clone());
        project
    }
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.rows.is_empty() {
        return String::new();
    }
    let name = match answer.by {
        CostGroup::Day => "DAY (UTC)",
        CostGroup::Session => "SESSION",
        CostGroup::Project => "PROJECT",
        CostGroup::Model => "MODEL",
        CostGroup::Provider => "PROVIDER",
        CostGroup::Agent => "AGENT",
    };
    // A day or the id of a session is of no use in part; other keys are texts.
    let key = match answer.by {
        CostGroup::Day | CostGroup::Session => name.to_owned(),
        _ => format!("{name}~"),
    };
    let mut table = Table::new(&format!(
        "{key}, INPUT#?, OUTPUT#?, CACHE READ#?, WRITE 5M#?, WRITE 1H#?, COST#"
    ));
    let short = short_ids(answer.rows.iter().map(|row| row.key.as_str()), style);
    for row in &answer.rows {
        let key = match answer.by {
            CostGroup::Session => short(&row.key),
            _ => row.key.clone(),
        };
        table.row(cells(&key, &row.tokens, usd(row.cost_usd)));
    }
    table.row(cells("total", &answer.tokens, answer.total_usd));
    let mut text = table.render(style);
    text.push_str(&style.faint(&style.prose(&format!(
        "list prices as of {}; what a subscription includes is not billed",
        answer.prices_as_of
    ))));
    if answer.unpriced_tokens > 0 {
        text.push_str(&style.prose(&format!(
            "{} tokens of models without a known price are not in the cost; add them to prices.json in Grov's home",
            count(answer.unpriced_tokens)
        )));
    }
    text
}

/// With cents, or with hundredths of a cent if it is less than a dollar.
fn dollars(usd: f64) -> String {
    match usd {
        ..1.0 => format!("${usd:.4}"),
        _ => format!("${usd:.2}"),
    }
}

fn cells(key: &str, tokens: &TokenUsage, usd: f64) -> [String; 7] {
    let one_hour = tokens.cache_creation_1h.min(tokens.cache_creation);
    [
        key.to_owned(),
        count(tokens.input),
        count(tokens.output),
        count(tokens.cache_read),
        count(tokens.cache_creation - one_hour),
        count(one_hour),
        dollars(usd),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(key: &str, by: CostGroup, columns: usize) -> String {
        let tokens = TokenUsage {
            input: 1_234_567,
            output: 234_567,
            cache_read: 45_678_901,
            ..TokenUsage::default()
        };
        let none = || SourceView {
            tokens: TokenUsage::default(),
            cost_usd: 0.0,
        };
        let answer = Answer {
            rows: vec![Row {
                key: key.to_owned(),
                tokens,
                cost_usd: 12_345_678_900,
                unpriced_tokens: 0,
            }],
            total_usd: 12.3456789,
            tokens,
            prices_as_of: "2026-11-01".to_owned(),
            sources: Sources {
                proxy: none(),
                transcripts: none(),
            },
            unpriced_tokens: 0,
            by,
        };
        text(&answer, Style::plain().fitted(columns))
    }

    #[test]
    fn a_narrow_terminal_shows_whole_keys() {
        let day = shown("2026-11-28", CostGroup::Day, 40);
        assert!(day.contains("2026-11-28  ") && day.contains("$12.35"), "{day}");
        let id = "3f2a91c0-77aa-4c1e-9d10-5b6c7d8e9f00";
        let session = shown(id, CostGroup::Session, 40);
        assert!(session.contains("3f2a91c0  "), "{session}");
        assert!(shown(id, CostGroup::Session, 200).contains("3f2a91c0  "));
        for text in [day, session] {
            let mut lines = text.lines().take(3);
            assert!(lines.all(|line| line.chars().count() <= 40), "{text}");
        }
    }
}
