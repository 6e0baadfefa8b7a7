//! `grov context status`

use super::resolve;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::{ago, count};
use crate::output::{ExitStatus, Outcome, Style};
use crate::table::{Fields, Table, one_line};
use crate::transcript::open as transcript;
use grov_context::{ContextMeter, Level, Share, Thresholds, Window, WindowSource, windows_as_of};
use grov_domain::{ClientSessionId, Clock, SystemClock};
use grov_query::{MeasuredContext, measured_context};
use grov_runtime::ContextSettings;
use serde::Serialize;
use time::OffsetDateTime;

#[derive(Serialize)]
struct Answer {
    session_id: String,
    path: &'static str,
    model: Option<String>,
    tokens: u64,
    window: u64,
    window_source: WindowSource,
    windows_as_of: &'static str,
    percent: u64,
    level: Level,
    thresholds: Levels,
    by_tool: Vec<Part>,
    largest: Vec<Part>,
    #[serde(with = "time::serde::rfc3339::option")]
    measured_at: Option<OffsetDateTime>,
}

#[derive(Serialize)]
struct Levels {
    warning: u64,
    prepare: u64,
    clear: u64,
}

#[derive(Serialize)]
struct Part {
    #[serde(flatten)]
    share: Share,
    percent: u64,
}

pub(super) fn run(context: &Context, session: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let found = context.read(async |store| {
        let id = resolve(store, session, &project).await?;
        let measured = measured_context(store, &id, transcript).await?;
        Ok((id, measured))
    })?;
    let Some((id, measured)) = found else {
        return Err(crate::session::not_found(session));
    };
    let Some(measured) = measured else {
        return Err(Failure::negative(
            "no_usage",
            format!("no response of session {} was seen yet", one_line(id.as_str())),
        ));
    };
    let answer = answer(&id, measured, context.settings.context());
    context.answer(answer, text)?;
    Ok(ExitStatus::Success)
}

fn answer(id: &ClientSessionId, measured: MeasuredContext, settings: ContextSettings) -> Answer {
    let thresholds = Thresholds {
        warning: settings.warning_threshold,
        clear: settings.clear_threshold,
    };
    let window = settings.window.map_or(measured.window, Window::set_to);
    let meter = ContextMeter::new(measured.tokens, window, thresholds);
    let part = |share: Share| Part {
        percent: share.tokens * 100 / meter.tokens.max(1),
        share,
    };
    Answer {
        session_id: id.to_string(),
        path: measured.path,
        model: measured.model,
        tokens: meter.tokens,
        window: meter.window.tokens,
        window_source: meter.window.source,
        windows_as_of: windows_as_of(),
        percent: meter.percent(),
        level: meter.level(),
        thresholds: Levels {
            warning: meter.threshold(Level::Warning),
            prepare: meter.threshold(Level::Prepare),
            clear: meter.threshold(Level::Clear),
        },
        by_tool: measured.content.by_tool.into_iter().map(part).collect(),
        largest: measured.content.largest.into_iter().map(part).collect(),
        measured_at: measured.at,
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let mut fields = Fields::new(10, usize::MAX, style);
    let percent = format!("{} %", answer.percent);
    let percent = match answer.level {
        Level::Normal => style.green(&percent),
        _ => style.red(&percent),
    };
    let full = format!(
        "{percent}: {} of {} tokens",
        count(answer.tokens),
        count(answer.window)
    );
    fields.add_styled("context", &full);
    fields.add("model", answer.model.as_deref().unwrap_or("unknown"));
    fields.add("window", &source(answer));
    if let Some(at) = answer.measured_at {
        fields.add("measured", &ago(at, SystemClock.now()));
    }
    let mut text = fields.into_text();
    for (title, parts) in [("TOOL", &answer.by_tool), ("LARGEST", &answer.largest)] {
        let mut table = Table::new(&format!("{title}~, TOKENS#, SHARE#, PARTS#"));
        for Part { share, percent } in parts {
            let name = match share.subject.as_str() {
                "" => share.tool.clone(),
                subject => format!("{} {subject}", share.tool),
            };
            let cells = [
                count(share.tokens),
                format!("{percent} %"),
                share.parts.to_string(),
            ];
            table.row([name].into_iter().chain(cells));
        }
        if !parts.is_empty() {
            text.push('\n');
            text.push_str(&table.render(style));
        }
    }
    text
}

/// How the size of the window is known.
fn source(answer: &Answer) -> String {
    match answer.window_source {
        WindowSource::Setting => "set by context.window".to_owned(),
        WindowSource::Client => "reported by the client".to_owned(),
        WindowSource::Request => "as the client's request asked for".to_owned(),
        WindowSource::Model => format!("the model's, as of {}", answer.windows_as_of),
        WindowSource::Usage => "more than the smaller window of the model was used".to_owned(),
        WindowSource::Smaller => {
            "the smaller one of the model; if the client uses the larger one, set context.window".to_owned()
        }
        WindowSource::Assumed => "assumed, because the model is unknown; set context.window".to_owned(),
    }
}
