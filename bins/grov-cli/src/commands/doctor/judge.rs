//! The judge: whether the configured model is used.

use super::Check;
use crate::context::Context;
use crate::daemon_health::ProxyView;
use crate::judge::{JudgeView, spent_today};
use crate::output::Style;
use grov_domain::MicroUsd;
use grov_runtime::LlmProvider;

const NAME: &str = "judge";
const RULES_ONLY: &str = "Rules judge actions instead of a model.";

pub(super) fn check(context: &Context, daemon: ProxyView) -> Check {
    let llm = context.settings.llm();
    let provider = llm.provider.as_str();
    if let Some(missing) = llm.missing {
        return Check::fail(NAME, missing)
            .consequence(RULES_ONLY)
            .fix("correct that, or set llm.provider = \"offline\"");
    }
    if llm.daily_budget_micro_usd == 0 && llm.api_key.is_some() {
        return Check::fail(NAME, "an API key is set, but llm.daily_budget_usd is 0")
            .consequence(RULES_ONLY)
            .fix("set llm.daily_budget_usd");
    }
    // The database check reports a database that cannot be read.
    let spent = context.read(async |store| Ok(spent_today(store).await?));
    let spent = spent.ok().flatten().unwrap_or_default();
    let is_model = llm.provider != LlmProvider::Offline;
    let summary = JudgeView::of(llm, spent).text(Style::plain());
    if is_model && spent >= MicroUsd(llm.daily_budget_micro_usd) {
        return Check::warn(NAME, summary)
            .consequence("Rules judge actions until midnight UTC.")
            .fix("raise llm.daily_budget_usd, or wait");
    }
    let reason = daemon
        .judge
        .and_then(|judge| judge.why_rules)
        .filter(|reason| is_model && reason != "offline");
    match reason {
        Some(reason) => {
            let reason = reason.replace('_', " ");
            Check::warn(
                NAME,
                format!("{provider} is configured, but rules answer now: {reason}"),
            )
            .consequence(RULES_ONLY)
            .fix("see what the provider answered in the log of grov-proxyd")
        }
        None => Check::ok(NAME, summary),
    }
}
