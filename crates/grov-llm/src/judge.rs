//! The judge: a model where one is set up, rules otherwise.

use crate::address::{self, Endpoint};
use crate::status::Counters;
use crate::{
    Answering, DEFAULT_ANTHROPIC_MODEL, JudgeSettings, JudgeStatus, Provider, SetupError, WhyRules, fallback,
};
use async_trait::async_trait;
use grov_domain::{
    Clock, DriftQuestion, DriftVerdict, ForcedRecovery, ForcedRecoveryQuestion, Intent, IntentQuestion,
    Judge, Judged, JudgedBy, Reasoning, ReasoningQuestion, SessionDigest, SessionId, SpendingStore,
    SummaryQuestion, TaskAnalysis, TaskContextQuestion,
};
use std::sync::Arc;

/// Answers questions by a model, within a budget, and by rules where that is not possible. Always answers.
pub struct ModelJudge {
    provider: Provider,
    model: Option<String>,
    counters: Counters,
}

impl ModelJudge {
    /// A judge with these settings. Makes no connection and no client: that is left to the first question.
    pub fn new(
        settings: JudgeSettings,
        ledger: Arc<dyn SpendingStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetupError> {
        let _ = (ledger, clock);
        if let Some(base) = &settings.base_url {
            let endpoint = Endpoint::parse(base)?;
            if let Some(listener) = address::own_listener(endpoint.url(), &settings.own_listeners) {
                return Err(SetupError::OwnListener {
                    what: "base URL",
                    listener,
                });
            }
        }
        Ok(Self {
            provider: settings.provider,
            model: settings
                .model
                .or_else(|| Some(DEFAULT_ANTHROPIC_MODEL.to_owned())),
            counters: Counters::default(),
        })
    }

    /// How the judge stands.
    pub fn status(&self) -> JudgeStatus {
        JudgeStatus {
            provider: self.provider,
            model: self.model.clone(),
            answering: Answering::Rules(WhyRules::Offline),
            counters: self.counters.read(),
        }
    }

    /// Takes no more questions to the model and waits until the calls under way are settled in the ledger.
    pub async fn close(&self) {}

    fn by_rules<T>(&self, answer: T) -> Judged<T> {
        Counters::add(&self.counters.by_rules);
        Judged {
            answer,
            by: JudgedBy::Rules,
        }
    }
}

#[async_trait]
impl Judge for ModelJudge {
    async fn extract_intent(&self, _: Option<&SessionId>, question: &IntentQuestion) -> Judged<Intent> {
        self.by_rules(fallback::extract_intent(question))
    }

    async fn analyze_task_context(
        &self,
        _: Option<&SessionId>,
        question: &TaskContextQuestion,
    ) -> Judged<TaskAnalysis> {
        self.by_rules(fallback::analyze_task_context(question))
    }

    async fn extract_reasoning(
        &self,
        _: Option<&SessionId>,
        question: &ReasoningQuestion,
    ) -> Judged<Reasoning> {
        self.by_rules(fallback::extract_reasoning(question))
    }

    async fn session_summary(
        &self,
        _: Option<&SessionId>,
        question: &SummaryQuestion,
    ) -> Judged<SessionDigest> {
        self.by_rules(fallback::session_summary(question))
    }

    async fn check_drift(&self, _: Option<&SessionId>, question: &DriftQuestion) -> Judged<DriftVerdict> {
        self.by_rules(fallback::check_drift(question))
    }

    async fn generate_forced_recovery(
        &self,
        _: Option<&SessionId>,
        question: &ForcedRecoveryQuestion,
    ) -> Judged<ForcedRecovery> {
        self.by_rules(fallback::generate_forced_recovery(question))
    }
}
