//! The judge's model and budget, for display.

use crate::context::block_on;
use crate::daemon_health::ProxyView;
use crate::failure::Failure;
use crate::format::dollars;
use crate::output::Style;
use crate::table::one_line;
use grov_domain::{CallFilter, Clock, MicroUsd, Purpose, SpendingStore, StoreError, SystemClock};
use grov_llm::{CLIENT_PROGRAM, ClaudeCliSettings, ClientLogin, DEFAULT_ANTHROPIC_MODEL, client_login};
use grov_runtime::{LlmProvider, LlmSettings, ToolSettings};
use serde::Serialize;
use std::ffi::OsString;
use time::{OffsetDateTime, Time, UtcOffset};

/// The budget of the day.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct BudgetView {
    daily_usd: MicroUsd,
    spent_today_usd: MicroUsd,
    left_usd: MicroUsd,
}

/// The judge that is configured.
#[derive(Debug, Serialize)]
pub(crate) struct JudgeView {
    /// `anthropic`, `openai`, `claude_cli` or `offline`.
    provider: &'static str,
    /// `None`: rules judge, without a model.
    model: Option<String>,
    /// The setting that the configured provider lacks; it is not used then.
    missing: Option<&'static str>,
    budget: BudgetView,
}

impl BudgetView {
    pub(crate) fn of(settings: &LlmSettings, spent: MicroUsd) -> Self {
        let daily = settings.daily_budget_micro_usd;
        Self {
            daily_usd: MicroUsd(daily),
            spent_today_usd: spent,
            left_usd: MicroUsd(daily.saturating_sub(spent.0)),
        }
    }

    /// The budget of external tools.
    pub(crate) fn of_tools(settings: &ToolSettings, spent: MicroUsd) -> Self {
        let daily = settings.daily_budget_micro_usd;
        Self {
            daily_usd: MicroUsd(daily),
            spent_today_usd: spent,
            left_usd: MicroUsd(daily.saturating_sub(spent.0)),
        }
    }

    /// One line about external tools for a person, without its newline.
    pub(crate) fn text_of_tools(&self) -> String {
        let (daily, spent, left) = (self.daily_usd, self.spent_today_usd, self.left_usd);
        format!(
            "{} of {} spent today, {} left",
            dollars(spent),
            dollars(daily),
            dollars(left)
        )
    }

    /// One line for a person, without its newline.
    pub(crate) fn text(&self) -> String {
        let (daily, spent) = (self.daily_usd, self.spent_today_usd);
        if daily == MicroUsd(0) && spent == MicroUsd(0) {
            return "spending is off (llm.daily_budget_usd is 0)".to_owned();
        }
        let rest = match self.left_usd {
            MicroUsd(0) => "nothing left until midnight UTC, rules judge".to_owned(),
            left => format!("{} left", dollars(left)),
        };
        format!("{} of {} spent today, {rest}", dollars(spent), dollars(daily))
    }
}

impl JudgeView {
    pub(crate) fn of(settings: &LlmSettings, spent: MicroUsd) -> Self {
        let model = settings.model.clone();
        Self {
            provider: settings.provider.as_str(),
            model: match settings.provider {
                LlmProvider::Offline => None,
                LlmProvider::Anthropic | LlmProvider::ClaudeCli => {
                    model.or_else(|| Some(DEFAULT_ANTHROPIC_MODEL.to_owned()))
                }
                LlmProvider::OpenAi => model,
            },
            missing: settings.missing,
            budget: BudgetView::of(settings, spent),
        }
    }

    /// Lines about the judge of the running daemon, for a person.
    pub(crate) fn live_lines(&self, proxy: &ProxyView, style: Style) -> Vec<String> {
        let judge = proxy.judge.as_ref().filter(|_| proxy.running);
        judge
            .map(|judge| judge.lines(self.provider, style))
            .unwrap_or_default()
    }

    /// One line for a person, without its newline.
    pub(crate) fn text(&self, style: Style) -> String {
        match (&self.model, self.missing) {
            (Some(model), _) => {
                let prices = match self.provider == LlmProvider::ClaudeCli.as_str() {
                    true => " (at list prices; a plan is not charged)",
                    false => "",
                };
                let (provider, budget) = (self.provider, self.budget.text());
                format!("{provider} {}; {budget}{prices}", one_line(model))
            }
            (None, None) => "rules only".to_owned(),
            (None, Some(missing)) => format!("rules only; {}", style.red(missing)),
        }
    }
}

/// Asks the user's own client whether it can judge; `None` if that cannot be found out.
pub(crate) fn client_state(
    settings: &LlmSettings,
    environment: Vec<(String, OsString)>,
) -> Option<ClientLogin> {
    let settings = ClaudeCliSettings {
        program: CLIENT_PROGRAM.into(),
        environment,
        model: None,
        base_url: None,
        api_key: settings.api_key.clone(),
        proxy: None,
        timeout: settings.timeout,
        own_listeners: Vec::new(),
    };
    let login = block_on(async { Ok::<_, Failure>(client_login(&settings).await) });
    login.ok()?.ok()
}

/// The amount spent or reserved since midnight UTC, when the budget's day begins.
pub(crate) async fn spent_today(store: &dyn SpendingStore) -> Result<MicroUsd, StoreError> {
    store.spent_since(start_of_day(SystemClock.now())).await
}

/// The amount that external tools spent or reserved since midnight UTC.
pub(crate) async fn spent_by_tools_today(store: &dyn SpendingStore) -> Result<MicroUsd, StoreError> {
    let today = CallFilter {
        since: Some(start_of_day(SystemClock.now())),
        ..CallFilter::default()
    };
    let calls = store.calls(&today).await?;
    let costs = calls
        .iter()
        .filter(|call| call.purpose == Purpose::Tool)
        .map(|call| call.cost);
    Ok(costs.fold(MicroUsd::default(), MicroUsd::plus))
}

/// The budget counts days in UTC.
fn start_of_day(now: OffsetDateTime) -> OffsetDateTime {
    now.to_offset(UtcOffset::UTC).replace_time(Time::MIDNIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn days_begin_at_midnight_utc() {
        assert_eq!(
            start_of_day(datetime!(2026-05-28 01:30 +02:00)),
            datetime!(2026-05-27 00:00 UTC)
        );
    }
}
