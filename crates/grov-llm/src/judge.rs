//! The judge: asks a model if one is configured, and otherwise answers by rules.

use crate::answer::Fields;
use crate::claude_cli::{CLIENT_PROGRAM, ClaudeCliSettings};
use crate::endpoint::{self, Endpoint};
use crate::model::claude_cli::MAX_CLIENTS;
use crate::model::{Anthropic, ClaudeCli, Model, OpenAi, Transport};
use crate::model::{anthropic, openai};
use crate::model_client::{ModelClient, NoAnswer};
use crate::questions::Question;
use crate::singleflight::Singleflight;
use crate::spending::{Ledger, Price};
use crate::status::Counters;
use crate::{
    Answering, DEFAULT_ANTHROPIC_MODEL, JudgeSettings, JudgeStatus, Provider, RulesReason, SetupError,
};
use async_trait::async_trait;
use grov_domain::{
    Clock, DriftQuestion, DriftVerdict, ForcedRecovery, ForcedRecoveryQuestion, Harm, Intent, IntentQuestion,
    Judge, Judged, JudgedBy, LimitsQuestion, MemoryChoiceQuestion, PromptReading, Reasoning,
    ReasoningQuestion, Redacted, ScreeningQuestion, SessionDigest, SessionId, SpendingStore, SummaryQuestion,
    TaskAnalysis, TaskContextQuestion,
};
use grov_redact::Secret;
use std::fmt;
use std::sync::Arc;

/// Answers questions with a model, within a budget, and with rules if that is not possible.
pub struct ModelJudge {
    provider: Provider,
    model: Option<String>,
    /// `Err` if no model is configured.
    client: Result<Arc<ModelClient>, RulesReason>,
    singleflight: Singleflight,
    counters: Arc<Counters>,
}

impl ModelJudge {
    /// A judge with these settings. The HTTP client is created by the first question, which must be asked within a tokio
    /// runtime.
    pub fn new(
        settings: JudgeSettings,
        ledger: Arc<dyn SpendingStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetupError> {
        let counters = Arc::new(Counters::default());
        let chosen = Chosen::new(&settings)?;
        let (model, client) = match chosen {
            Chosen::Rules(why) => (None, Err(why)),
            Chosen::Model { name, price, model } => {
                let concurrency = match settings.provider {
                    Provider::ClaudeCli => settings.concurrency.min(MAX_CLIENTS),
                    _ => settings.concurrency,
                };
                let provider = settings.provider.as_str();
                let ledger = Ledger::new(
                    ledger,
                    clock,
                    settings.daily_budget,
                    provider,
                    name.clone(),
                    price,
                );
                let client = ModelClient::new(
                    model,
                    ledger,
                    concurrency,
                    settings.timeout,
                    Arc::clone(&counters),
                );
                (Some(name), Ok(Arc::new(client)))
            }
        };
        Ok(Self {
            provider: settings.provider,
            model,
            client,
            singleflight: Singleflight::default(),
            counters,
        })
    }

    /// The current state.
    pub fn status(&self) -> JudgeStatus {
        let why = match &self.client {
            Err(why) => Some(*why),
            Ok(_) if self.singleflight.is_closed() => Some(RulesReason::Closed),
            Ok(client) => client.blocked(),
        };
        JudgeStatus {
            provider: self.provider,
            model: self.model.clone(),
            answering: why.map_or(Answering::Model, Answering::Rules),
            counters: self.counters.read(),
        }
    }

    /// The answer of the model, or else that of `rules`.
    async fn judged<Q: Question>(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<Q>,
        rules: fn(&Q) -> Q::Answer,
    ) -> Judged<Q::Answer> {
        match self.by_model(session, question).await {
            Some(answer) => Judged {
                answer,
                by: JudgedBy::Model,
            },
            None => Judged {
                answer: rules(question),
                by: JudgedBy::Rules,
            },
        }
    }

    /// The answer of the model; `None` if it gave none.
    async fn by_model<Q: Question>(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<Q>,
    ) -> Option<Q::Answer> {
        match self.ask_model(session, question).await {
            Ok(answer) => {
                self.counters.add(|counters| &mut counters.by_model);
                Some(answer)
            }
            Err(reason) => {
                self.counters.add(|counters| &mut counters.by_rules);
                if reason == NoAnswer::QueueFull(crate::queue::QueueFull) {
                    self.counters.add(|counters| &mut counters.turned_away);
                }
                tracing::debug!(%reason, "the model gave no answer");
                None
            }
        }
    }

    async fn ask_model<Q: Question>(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<Q>,
    ) -> Result<Q::Answer, NoAnswer> {
        let client = self.client.as_ref().map_err(|_| NoAnswer::NoModel)?;
        if self.singleflight.is_closed() {
            return Err(NoAnswer::Closed);
        }
        if client.is_provider_blocked() {
            return Err(NoAnswer::Blocked);
        }
        let request = question.request();
        let share = self.singleflight.join(&request, || {
            let client = Arc::clone(client);
            let (session, request, known) = (session.cloned(), request.clone(), question.known());
            async move {
                let check = |text: &str| Q::read(&Fields::find(text)?, &known).map(drop);
                client.answer(session.as_ref(), request, check).await
            }
        })?;
        if share.joined {
            self.counters.add(|counters| &mut counters.shared);
        }
        let text = share.outcome().await?;
        Ok(Q::read(&Fields::find(&text)?, &question.known())?)
    }
}

impl fmt::Debug for ModelJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelJudge").field(&self.status()).finish()
    }
}

/// Creates the model client that the settings describe.
enum Chosen {
    Rules(RulesReason),
    Model {
        name: String,
        price: Price,
        model: Box<dyn Model>,
    },
}

impl Chosen {
    fn new(settings: &JudgeSettings) -> Result<Self, SetupError> {
        let key = settings
            .api_key
            .as_ref()
            .filter(|key| !key.expose().trim().is_empty());
        let (default_base, headers) = match (settings.provider, key) {
            (Provider::ClaudeCli, key) => return Self::client(settings, key),
            (Provider::Offline, _) => return Ok(Self::Rules(RulesReason::Offline)),
            (Provider::Anthropic, None) => return Ok(Self::Rules(RulesReason::NoKey)),
            (Provider::OpenAi, None) if settings.base_url.is_none() => {
                return Ok(Self::Rules(RulesReason::NoKey));
            }
            (Provider::Anthropic, Some(key)) => (anthropic::BASE_URL, Anthropic::headers(key)?),
            (Provider::OpenAi, key) => (openai::BASE_URL, OpenAi::headers(key)?),
        };
        let endpoint = Endpoint::parse(settings.base_url.as_deref().unwrap_or(default_base))?;
        let on_this_machine = endpoint.is_loopback();
        let proxy = settings.proxy.as_deref().map(endpoint::proxy).transpose()?;
        let transport = Transport::new(endpoint, proxy, settings.own_listeners.clone(), headers)?;
        let name = match (Self::named(settings), settings.provider) {
            (Some(name), _) => name,
            (None, Provider::OpenAi) => return Err(SetupError::NoModel),
            (None, _) => DEFAULT_ANTHROPIC_MODEL,
        };
        let name = name.to_owned();
        let price = Price::of(&name, on_this_machine);
        let model: Box<dyn Model> = match settings.provider {
            Provider::OpenAi => Box::new(OpenAi::new(transport, name.clone())),
            _ => Box::new(Anthropic::new(transport, name.clone())),
        };
        Ok(Self::Model { name, price, model })
    }

    /// The model in the user's own client.
    fn client(settings: &JudgeSettings, key: Option<&Secret>) -> Result<Self, SetupError> {
        let name = Self::named(settings)
            .unwrap_or(DEFAULT_ANTHROPIC_MODEL)
            .to_owned();
        let model = ClaudeCli::new(ClaudeCliSettings {
            program: CLIENT_PROGRAM.into(),
            environment: settings.client_environment.clone(),
            model: Some(name.clone()),
            base_url: settings.base_url.clone(),
            api_key: key.cloned(),
            proxy: settings.proxy.clone(),
            timeout: settings.timeout,
            own_listeners: settings.own_listeners.clone(),
        })?;
        Ok(Self::Model {
            price: Price::of_client_model(&name),
            name,
            model: Box::new(model),
        })
    }

    fn named(settings: &JudgeSettings) -> Option<&str> {
        let name = settings.model.as_deref().map(str::trim);
        name.filter(|name| !name.is_empty())
    }
}

#[async_trait]
impl Judge for ModelJudge {
    async fn extract_intent(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<IntentQuestion>,
    ) -> Judged<Intent> {
        self.judged(session, question, grov_rules::extract_intent).await
    }

    async fn analyze_task_context(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<TaskContextQuestion>,
    ) -> Judged<TaskAnalysis> {
        self.judged(session, question, grov_rules::analyze_task_context)
            .await
    }

    async fn extract_reasoning(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<ReasoningQuestion>,
    ) -> Judged<Reasoning> {
        self.judged(session, question, grov_rules::extract_reasoning)
            .await
    }

    async fn read_limits(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<LimitsQuestion>,
    ) -> Option<PromptReading> {
        self.by_model(session, question).await
    }

    async fn choose_memories(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<MemoryChoiceQuestion>,
    ) -> Option<Vec<usize>> {
        self.by_model(session, question).await
    }

    fn has_model(&self) -> bool {
        let client = self.client.as_ref().ok();
        client.is_some_and(|client| !self.singleflight.is_closed() && !client.is_provider_blocked())
    }

    async fn screen_memories(&self, question: &Redacted<ScreeningQuestion>) -> Option<Vec<(usize, Harm)>> {
        self.by_model(None, question).await
    }

    async fn check_drift(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<DriftQuestion>,
    ) -> Option<DriftVerdict> {
        self.by_model(session, question).await
    }

    async fn generate_forced_recovery(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<ForcedRecoveryQuestion>,
    ) -> Option<ForcedRecovery> {
        self.by_model(session, question).await
    }

    async fn summarize(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<SummaryQuestion>,
    ) -> Option<SessionDigest> {
        self.by_model(session, question).await
    }

    // From the first poll on, rules answer the questions in flight, too. A judge dropped without this call aborts its
    // calls, and they stay in the ledger at their reserved cost.
    async fn close(&self) {
        if let Ok(client) = &self.client {
            client.close();
        }
        self.singleflight.close().await;
        if let Ok(client) = &self.client {
            client.ledger.close().await;
        }
    }
}

#[cfg(test)]
mod tests;
