//! The judge: a model where one is set up, rules otherwise.

use crate::address::{self, Endpoint};
use crate::answer::Fields;
use crate::ask::{Asker, Unanswered};
use crate::flights::Flights;
use crate::model::{Anthropic, Model, OpenAi, Transport};
use crate::model::{anthropic, openai};
use crate::questions::Question;
use crate::spending::{Ledger, Price};
use crate::status::Counters;
use crate::{Answering, DEFAULT_ANTHROPIC_MODEL, JudgeSettings, JudgeStatus, Provider, SetupError, WhyRules};
use async_trait::async_trait;
use grov_domain::{
    Clock, DriftQuestion, DriftVerdict, ForcedRecovery, ForcedRecoveryQuestion, Intent, IntentQuestion,
    Judge, Judged, JudgedBy, Reasoning, ReasoningQuestion, Redacted, SessionDigest, SessionId, SettlingJudge,
    SpendingStore, SummaryQuestion, TaskAnalysis, TaskContextQuestion,
};
use std::fmt;
use std::sync::Arc;

/// Answers questions by a model, within a budget, and by rules where that is not possible. Always answers.
pub struct ModelJudge {
    provider: Provider,
    model: Option<String>,
    /// `Err` where there is no model to ask, now or later.
    asker: Result<Arc<Asker>, WhyRules>,
    flights: Flights,
    counters: Arc<Counters>,
}

impl ModelJudge {
    /// A judge with these settings. Makes no connection and no client: that is left to the first question, which must be
    /// asked within a tokio runtime.
    pub fn new(
        settings: JudgeSettings,
        ledger: Arc<dyn SpendingStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetupError> {
        let counters = Arc::new(Counters::default());
        let chosen = Chosen::new(&settings)?;
        let (model, asker) = match chosen {
            Chosen::Nobody(why) => (None, Err(why)),
            Chosen::Model { name, price, model } => {
                let provider = settings.provider.as_str();
                let ledger = Ledger::new(
                    ledger,
                    clock,
                    settings.daily_budget,
                    provider,
                    name.clone(),
                    price,
                );
                let asker = Asker::new(
                    model,
                    ledger,
                    settings.concurrency,
                    settings.timeout,
                    Arc::clone(&counters),
                );
                (Some(name), Ok(Arc::new(asker)))
            }
        };
        Ok(Self {
            provider: settings.provider,
            model,
            asker,
            flights: Flights::default(),
            counters,
        })
    }

    /// How the judge stands.
    pub fn status(&self) -> JudgeStatus {
        let why = match &self.asker {
            Err(why) => Some(*why),
            Ok(_) if self.flights.is_closed() => Some(WhyRules::Closed),
            Ok(asker) => asker.blocked(),
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
                Counters::add(&self.counters.by_model);
                Some(answer)
            }
            Err(reason) => {
                Counters::add(&self.counters.by_rules);
                if reason == Unanswered::TurnedAway(crate::queue::TurnedAway) {
                    Counters::add(&self.counters.turned_away);
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
    ) -> Result<Q::Answer, Unanswered> {
        let asker = self.asker.as_ref().map_err(|_| Unanswered::NoModel)?;
        if self.flights.is_closed() {
            return Err(Unanswered::Closed);
        }
        if asker.is_provider_blocked() {
            return Err(Unanswered::Blocked);
        }
        let request = question.request();
        let share = self.flights.join(&request, || {
            let asker = Arc::clone(asker);
            let (session, request, known) = (session.cloned(), request.clone(), question.known());
            async move {
                let check = |text: &str| Q::read(&Fields::find(text)?, &known).map(drop);
                asker.answer(session.as_ref(), request, check).await
            }
        })?;
        if share.joined {
            Counters::add(&self.counters.shared);
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

/// What the settings come to.
enum Chosen {
    Nobody(WhyRules),
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
            (Provider::Offline, _) => return Ok(Self::Nobody(WhyRules::Offline)),
            (Provider::Anthropic, None) => return Ok(Self::Nobody(WhyRules::NoKey)),
            (Provider::OpenAi, None) if settings.base_url.is_none() => {
                return Ok(Self::Nobody(WhyRules::NoKey));
            }
            (Provider::Anthropic, Some(key)) => (anthropic::BASE_URL, Anthropic::headers(key)?),
            (Provider::OpenAi, key) => (openai::BASE_URL, OpenAi::headers(key)?),
        };
        let endpoint = Endpoint::parse(settings.base_url.as_deref().unwrap_or(default_base))?;
        let on_this_machine = endpoint.is_loopback();
        let proxy = settings.proxy.as_deref().map(address::proxy).transpose()?;
        let transport = Transport::new(endpoint, proxy, settings.own_listeners.clone(), headers)?;
        let named = settings
            .model
            .as_deref()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let name = match (named, settings.provider) {
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
}

#[async_trait]
impl SettlingJudge for ModelJudge {
    // From the first poll on, questions that are under way are answered by rules too. A judge that is dropped without this
    // breaks its calls off, and they count in the ledger with the most they could cost.
    async fn close(&self) {
        if let Ok(asker) = &self.asker {
            asker.queue.close();
        }
        self.flights.close().await;
        if let Ok(asker) = &self.asker {
            asker.ledger.close().await;
        }
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

    async fn session_summary(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<SummaryQuestion>,
    ) -> Judged<SessionDigest> {
        self.judged(session, question, grov_rules::session_summary).await
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
}

#[cfg(test)]
mod tests;
