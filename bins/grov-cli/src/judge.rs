//! Who judges the work, and what that may cost today.

use crate::output::Style;
use crate::show::dollars;
use crate::table::harmless;
use grov_domain::{Clock, MicroUsd, SpendingStore, StoreError, SystemClock};
use grov_llm::DEFAULT_ANTHROPIC_MODEL;
use grov_runtime::{LlmProvider, LlmSettings};
use serde::Serialize;
use time::{OffsetDateTime, Time, UtcOffset};

/// The budget of the day, in dollars.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct BudgetView {
    daily_usd: f64,
    spent_today_usd: f64,
    left_usd: f64,
    #[serde(skip)]
    daily: MicroUsd,
    #[serde(skip)]
    spent: MicroUsd,
}

/// Who judges the work, as the configuration has it.
#[derive(Debug, Serialize)]
pub(crate) struct JudgeView {
    /// `anthropic`, `openai` or `offline`.
    provider: &'static str,
    /// `None`: rules judge, no model.
    model: Option<String>,
    /// Why a provider that was asked for is not used.
    missing: Option<&'static str>,
    budget: BudgetView,
}

impl BudgetView {
    pub(crate) fn of(settings: &LlmSettings, spent: MicroUsd) -> Self {
        let daily = MicroUsd(settings.daily_budget_micro_usd);
        Self {
            daily_usd: daily.dollars(),
            spent_today_usd: spent.dollars(),
            left_usd: left(daily, spent).dollars(),
            daily,
            spent,
        }
    }

    /// One line for a person, without its newline.
    pub(crate) fn text(&self) -> String {
        if self.daily == MicroUsd(0) && self.spent == MicroUsd(0) {
            return "no money may be spent (llm.daily_budget_usd is 0)".to_owned();
        }
        let left = left(self.daily, self.spent);
        let rest = match left {
            MicroUsd(0) => "nothing left until midnight UTC, rules judge".to_owned(),
            left => format!("{} left", dollars(left)),
        };
        format!(
            "{} of {} spent today, {rest}",
            dollars(self.spent),
            dollars(self.daily)
        )
    }
}

impl JudgeView {
    pub(crate) fn of(settings: &LlmSettings, spent: MicroUsd) -> Self {
        let model = match settings.provider {
            LlmProvider::Offline => None,
            LlmProvider::Anthropic => settings
                .model
                .clone()
                .or_else(|| Some(DEFAULT_ANTHROPIC_MODEL.to_owned())),
            LlmProvider::OpenAi => settings.model.clone(),
        };
        Self {
            provider: settings.provider.as_str(),
            model,
            missing: settings.missing,
            budget: BudgetView::of(settings, spent),
        }
    }

    /// One line for a person, without its newline.
    pub(crate) fn text(&self, style: Style) -> String {
        match (&self.model, self.missing) {
            (Some(model), _) => {
                format!("{} {}; {}", self.provider, harmless(model), self.budget.text())
            }
            (None, None) => "offline rules".to_owned(),
            (None, Some(missing)) => format!("offline rules; {}", style.red(missing)),
        }
    }
}

/// What is spent and set aside since the budget's day began.
pub(crate) async fn spent_today(store: &dyn SpendingStore) -> Result<MicroUsd, StoreError> {
    store.spent_since(start_of_day(SystemClock.now())).await
}

/// The budget counts days in UTC.
fn start_of_day(now: OffsetDateTime) -> OffsetDateTime {
    now.to_offset(UtcOffset::UTC).replace_time(Time::MIDNIGHT)
}

fn left(daily: MicroUsd, spent: MicroUsd) -> MicroUsd {
    MicroUsd(daily.0.saturating_sub(spent.0))
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
