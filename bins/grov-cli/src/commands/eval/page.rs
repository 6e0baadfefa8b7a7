//! A report as text and as a page.

use super::Report;
use crate::output::Style;
use crate::table::{Table, one_line};
use std::fmt::Write;

/// One figure: its name, the value, and the value of the run before.
struct Row {
    name: String,
    now: Option<f64>,
    before: Option<f64>,
}

/// The figures in order. Rules that only one of the runs has are listed too.
fn rows(report: &Report, previous: Option<&Report>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name: &str, of: &dyn Fn(&Report) -> Option<f64>| {
        rows.push(Row {
            name: name.to_owned(),
            now: of(report),
            before: previous.and_then(of),
        });
    };
    add("sessions", &|report| Some(report.sessions as f64));
    add("prompts", &|report| Some(report.prompts as f64));
    add("actions", &|report| Some(report.actions as f64));
    add("added latency, mean ms", &|report| {
        Some(report.added_latency?.mean_ms)
    });
    add("added latency, p50 ms at most", &|report| {
        Some(report.added_latency?.p50_ms)
    });
    add("added latency, p99 ms at most", &|report| {
        Some(report.added_latency?.p99_ms)
    });
    add("prompt-cache misses caused", &|report| {
        Some(report.cache_misses? as f64)
    });
    add("tokens added", &|report| Some(report.tokens_added as f64));
    add("prompts with an injection, %", &|report| {
        report.prompts_with_injection_percent
    });
    let mut rules: Vec<(String, String)> = Vec::new();
    for one in [Some(report), previous].into_iter().flatten() {
        for row in &one.findings {
            let key = (row.rule.clone(), row.certainty.clone());
            if !rules.contains(&key) {
                rules.push(key);
            }
        }
    }
    for (rule, certainty) in &rules {
        let find = |report: &Report, of: fn(&super::RuleCount) -> f64| {
            let mut found = report.findings.iter();
            let found = found.find(|row| row.rule == *rule && row.certainty == *certainty);
            Some(found.map_or(0.0, of))
        };
        add(&format!("{rule} ({certainty}) per 100 actions"), &|report| {
            find(report, |row| row.per_100_actions)
        });
        add(
            &format!("{rule} ({certainty}) that the user allowed"),
            &|report| find(report, |row| row.allowed as f64),
        );
        add(
            &format!("{rule} ({certainty}) that the user marked wrong"),
            &|report| find(report, |row| row.marked_wrong as f64),
        );
    }
    add("guard questions per day", &|report| Some(report.guard?.per_day));
    add("guard questions that the user allowed", &|report| {
        Some(report.guard?.allowed as f64)
    });
    rows
}

/// A figure with at most two decimals.
fn figure(value: Option<f64>) -> String {
    match value {
        None => "not measured".to_owned(),
        Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.2}"),
    }
}

/// The difference to the run before.
fn difference(row: &Row) -> String {
    match (row.now, row.before) {
        (Some(now), Some(before)) if now != before => format!("{:+.2}", now - before),
        (Some(_), Some(_)) => "=".to_owned(),
        _ => String::new(),
    }
}

/// For a terminal.
pub(super) fn text(report: &Report, previous: Option<&Report>, style: Style) -> String {
    let mut table = match previous {
        Some(_) => Table::new("FIGURE, NOW#, BEFORE#, CHANGE#"),
        None => Table::new("FIGURE, NOW#"),
    };
    for row in rows(report, previous) {
        let mut cells = vec![row.name.clone(), figure(row.now)];
        if previous.is_some() {
            cells.extend([figure(row.before), difference(&row)]);
        }
        table.row(cells);
    }
    let mut text = table.render(style);
    if let Some(previous) = previous {
        let _ = writeln!(text, "before: version {}", one_line(&previous.version));
    }
    for line in &report.not_measured {
        let _ = writeln!(text, "not measured: {line}");
    }
    text
}

/// A page of its own: no script, nothing from the network.
pub(super) fn html(report: &Report, previous: Option<&Report>) -> String {
    let mut rows_text = String::new();
    for row in rows(report, previous) {
        let cells = [
            escaped(&row.name),
            figure(row.now),
            previous.map_or(String::new(), |_| figure(row.before)),
            difference(&row),
        ];
        let _ = writeln!(
            rows_text,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            cells[0], cells[1], cells[2], cells[3]
        );
    }
    let notes: String = report
        .not_measured
        .iter()
        .map(|line| format!("<li>{}</li>\n", escaped(line)))
        .collect();
    let notes = match notes.is_empty() {
        true => notes,
        false => format!("<h2>Not measured</h2>\n<ul>\n{notes}</ul>\n"),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Grov evaluation</title>\n\
         <style>body{{font:16px system-ui;margin:2rem auto;max-width:50rem;padding:0 1rem;color-scheme:light dark}}\
         table{{border-collapse:collapse;width:100%}}th,td{{padding:.3rem .6rem;border-bottom:1px solid #8886;text-align:right}}\
         th:first-child{{text-align:left;font-weight:normal}}</style></head><body>\n\
         <h1>Grov evaluation</h1>\n<p>Version {}, {} sessions{}.</p>\n\
         <table><thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">Now</th><th scope=\"col\">Before</th><th scope=\"col\">Change</th></tr></thead>\n\
         <tbody>\n{rows_text}</tbody></table>\n{notes}</body></html>\n",
        escaped(&report.version),
        escaped(&report.source),
        previous.map_or_else(String::new, |previous| format!(
            "; before: version {}",
            escaped(&previous.version)
        )),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::eval::RuleCount;

    #[test]
    fn a_second_run_shows_the_difference() {
        let rule = |per_100_actions| RuleCount {
            rule: "scope".to_owned(),
            certainty: "doubt".to_owned(),
            findings: 1,
            per_100_actions,
            allowed: 0,
            marked_wrong: 0,
        };
        let before = Report {
            findings: vec![rule(2.0)],
            version: "<1>".to_owned(),
            ..Report::default()
        };
        let now = Report {
            findings: vec![rule(1.5)],
            ..before.clone()
        };
        let text = text(&now, Some(&before), Style::plain());
        assert!(text.contains("-0.50"), "{text}");
        let page = html(&now, Some(&before));
        assert!(page.contains("-0.50") && page.contains("&lt;1&gt;"), "{page}");
        assert!(!html(&now, None).contains("-0.50"));
    }
}
