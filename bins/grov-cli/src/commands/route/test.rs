//! `grov route test`

use super::exchange::{self, Exchange};
use super::source::{Source, unknown_label};
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style};
use grov_route::probe;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    ok: bool,
    label: String,
    provider: String,
    model: String,
    stream: bool,
    #[serde(flatten)]
    exchange: Exchange,
}

pub(super) fn run(context: &Context, source: &Source, label: &str, stream: bool) -> Outcome {
    let file = source.load_existing()?;
    let target = file.target(label).ok_or_else(|| unknown_label(label, &file))?;
    let exchange = block_on(async {
        let client = exchange::client(target).await?;
        let transforms = exchange::transforms(target);
        exchange::send(&client, target, transforms, &probe::tool_probe(stream)).await
    })?;
    let answer = Answer {
        ok: exchange.error.is_none() && exchange.has_probe_call(),
        label: target.label.clone(),
        provider: target.provider.clone(),
        model: target.model.clone(),
        stream,
        exchange,
    };
    let ok = answer.ok;
    context.answer(answer, text)?;
    Ok::<_, Failure>(ExitStatus::success_if(ok))
}

fn text(answer: &Answer, style: Style) -> String {
    let exchange = &answer.exchange;
    let name = format!("{} ({}/{})", answer.label, answer.provider, answer.model);
    let verdict = match (answer.ok, &exchange.error) {
        (true, _) => style.green("ok"),
        (false, Some(error)) => format!("{} {error}", style.red("failed")),
        (false, None) => format!("{} the model {}", style.red("failed"), exchange.instead_of_call()),
    };
    let mut text = format!("{}: {verdict}\n", style.bold(&name));
    for call in &exchange.tool_calls {
        text.push_str(&format!("  called {} {}\n", call.name, call.input));
    }
    if !exchange.text.is_empty() {
        text.push_str(&format!(
            "  wrote {:?}\n",
            crate::table::truncated(&exchange.text, 200)
        ));
    }
    let first = exchange
        .first_byte_ms
        .map_or_else(String::new, |ms| format!("first byte after {ms} ms, "));
    let usage = &exchange.usage;
    text.push_str(&format!(
        "  {first}{} ms in total; {} tokens in, {} out{}\n",
        exchange.total_ms,
        usage.input + usage.cache_read,
        usage.output,
        if exchange.thinking { ", with thinking" } else { "" },
    ));
    text
}
