//! Sets up the judge and the task orchestration.

use crate::assembly::{DaemonStore, judge_settings};
use grov_domain::{Clock, Judge, SpendingStore, SystemClock};
use grov_live::{TaskOrchestrator, TaskWorker};
use grov_llm::{Answering, JudgeSettings, JudgeStatus, ModelJudge, SetupError};
use grov_runtime::LlmSettings;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The judge and the tasks of a running daemon.
pub(crate) struct JudgeSetup {
    judge: Arc<ModelJudge>,
    /// For the recorder.
    pub(crate) tasks: TaskOrchestrator,
    /// To be run beside the proxy.
    pub(crate) work: TaskWorker,
}

impl JudgeSetup {
    /// Sets up the judge. One that cannot be used costs its answers, not the service: rules answer instead.
    pub(crate) fn new(
        settings: &LlmSettings,
        listener: SocketAddr,
        store: Arc<dyn DaemonStore>,
        abandon_after: Duration,
    ) -> Result<Self, SetupError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let judge = Arc::new(judge(settings, listener, &store, &clock)?);
        let asked = Arc::clone(&judge) as Arc<dyn Judge>;
        let (tasks, work) = TaskOrchestrator::new(asked, store, clock, abandon_after);
        Ok(Self { judge, tasks, work })
    }

    /// The judge, to be closed when everything else has stopped.
    pub(crate) fn judge(&self) -> Arc<ModelJudge> {
        Arc::clone(&self.judge)
    }
}

/// How the judge stands, for the health page.
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

fn judge(
    settings: &LlmSettings,
    listener: SocketAddr,
    store: &Arc<dyn DaemonStore>,
    clock: &Arc<dyn Clock>,
) -> Result<ModelJudge, SetupError> {
    if let Some(missing) = settings.missing {
        tracing::warn!("{missing}; rules judge the work");
    }
    let wanted = judge_settings(settings, listener);
    let ledger = || Arc::clone(store) as Arc<dyn SpendingStore>;
    ModelJudge::new(wanted, ledger(), Arc::clone(clock)).or_else(|error| {
        tracing::error!(%error, "no model is asked; rules judge the work");
        ModelJudge::new(JudgeSettings::default(), ledger(), Arc::clone(clock))
    })
}
