//! Who judges, and whether that is who was asked for.

use super::Check;
use crate::context::Context;
use crate::daemon_health;
use crate::judge::{JudgeView, spent_today};
use crate::output::Style;
use grov_domain::MicroUsd;
use grov_runtime::LlmProvider;

const NAME: &str = "judge";
const BY_RULES: &str = "rules judge instead of a model";

pub(super) fn check(context: &Context) -> Check {
    let llm = context.settings.llm();
    let asked_for = || format!("{} was asked for", llm.provider.as_str());
    match (llm.missing, llm.daily_budget_micro_usd) {
        (Some(missing), _) => {
            return Check::ill(
                NAME,
                format!("{}, but there is no {missing}", asked_for()),
                BY_RULES,
                format!("set {missing}, or llm.provider = \"offline\""),
            );
        }
        (None, 0) if llm.api_key.is_some() => {
            return Check::ill(
                NAME,
                "there is a key, but llm.daily_budget_usd is 0",
                BY_RULES,
                "set llm.daily_budget_usd",
            );
        }
        _ => {}
    }
    // A database that cannot be read is told of where that is looked at.
    let spent = context.read(async |store| Ok(spent_today(store).await?));
    let spent = spent.ok().flatten().unwrap_or_default();
    let is_model = llm.provider != LlmProvider::Offline;
    if is_model && spent >= MicroUsd(llm.daily_budget_micro_usd) {
        return Check::ill(
            NAME,
            JudgeView::of(llm, spent).text(Style::plain()),
            "rules judge until midnight UTC",
            "set llm.daily_budget_usd to more, or wait",
        );
    }
    let live = daemon_health::ask(&context.home).judge;
    let why = live
        .and_then(|judge| judge.why_rules)
        .filter(|why| is_model && why != "offline");
    match why {
        Some(why) => Check::ill(
            NAME,
            format!(
                "{}, but rules answer at present: {}",
                asked_for(),
                why.replace('_', " ")
            ),
            BY_RULES,
            "see the log of grov-proxyd for what the provider answered",
        ),
        None => Check::well(NAME, JudgeView::of(llm, spent).text(Style::plain())),
    }
}
