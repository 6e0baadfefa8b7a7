//! Sets up the judge.

use crate::assembly::{DaemonStore, judge_settings};
use grov_domain::{SpendingStore, SystemClock};
use grov_llm::{Answering, JudgeSettings, JudgeStatus, ModelJudge, SetupError};
use grov_runtime::{Environment, Settings};
use std::net::SocketAddr;
use std::sync::Arc;

/// Returns the configured judge. If its model cannot be used, rules answer instead.
pub(crate) fn judge(
    settings: &Settings,
    environment: &Environment,
    listener: SocketAddr,
    store: &Arc<DaemonStore>,
) -> Result<ModelJudge, SetupError> {
    if let Some(missing) = settings.llm().missing {
        tracing::warn!("{missing}; rules judge the work");
    }
    let judge = |settings: JudgeSettings| {
        let ledger = Arc::clone(store) as Arc<dyn SpendingStore>;
        ModelJudge::new(settings, ledger, Arc::new(SystemClock))
    };
    judge(judge_settings(settings, environment, listener)).or_else(|error| {
        tracing::error!(%error, "no model is asked; rules judge the work");
        judge(JudgeSettings::default())
    })
}

/// Returns the judge's status for the health page.
pub(crate) fn state(status: &JudgeStatus) -> serde_json::Value {
    let (answering, why) = match status.answering {
        Answering::Model => ("model", None),
        Answering::Rules(why) => ("rules", Some(why.as_str())),
    };
    let counters = &status.counters;
    serde_json::json!({
        "provider": status.provider.as_str(),
        "model": status.model,
        "answering": answering,
        "why_rules": why,
        "answers_by_model": counters.by_model,
        "answers_by_rules": counters.by_rules,
        "calls": counters.calls,
        "retries": counters.retries,
        "repairs": counters.repairs,
        "failures": counters.failures,
        "shared": counters.shared,
        "turned_away": counters.turned_away,
    })
}
