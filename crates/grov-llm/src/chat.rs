//! Chat models of the agent service: on a server, or in the user's own installed client.
//!
//! Their calls are not counted against the judge's daily budget: whoever sets up a chat model for a team wants it to answer.

mod answer;
mod anthropic;
mod claude_cli;
mod openai;
pub(crate) mod schema;
mod settings;
mod sse;

pub use claude_cli::ClaudeCliChat;
pub use settings::{ChatApi, DEFAULT_CHAT_TIMEOUT, HttpChatSettings};

use crate::endpoint::{self, Endpoint};
use crate::model::anthropic::STRUCTURED_OUTPUT;
use crate::model::openai::VENDOR_HOST;
use crate::model::{Anthropic, FormatFallback, Incoming, ModelError, OpenAi, OutputFormat, Reply, Transport};
use crate::{DEFAULT_ANTHROPIC_MODEL, SetupError, list_price, retry};
use answer::{Partial, chat_error, is_usable};
use async_trait::async_trait;
use grov_domain::{ChatCompletion, ChatError, ChatModel, ChatPrompt, TokenUsage};
use serde_json::Value;
use sse::EventReader;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// The longest response, in bytes. Each token of a stream comes with some hundred bytes around it.
const MAX_RESPONSE_BYTES: usize = 32 * 1024 * 1024;

/// The form of the requests of one call. It becomes the first form of later calls once the server took it.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Index of the output format.
    format: u8,
    has_stream_options: bool,
    is_versioned: bool,
    /// Whether the other path was tried already.
    has_other_path: bool,
}

/// A chat model on a server.
pub struct HttpChat {
    api: ChatApi,
    model: String,
    transport: Transport,
    formats: FormatFallback,
    /// Whether the server takes `stream_options`.
    takes_stream_options: AtomicBool,
    /// Whether the path of the API is below `/v1`, although the base URL does not end in it.
    is_versioned: AtomicBool,
    timeout: Duration,
    is_ok: AtomicBool,
}

impl HttpChat {
    /// A chat model with these settings. Makes no connection; the first call must be within a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the settings cannot be used: see [`SetupError`].
    pub fn new(settings: HttpChatSettings) -> Result<Self, SetupError> {
        let api = settings.api;
        let key = settings.api_key.filter(|key| !key.expose().trim().is_empty());
        let endpoint = Endpoint::parse(settings.base_url.as_deref().unwrap_or(api.base_url()))?;
        let proxy = settings.proxy.as_deref().map(endpoint::proxy).transpose()?;
        let model = settings.model.map(|model| model.trim().to_owned());
        let model = model.filter(|model| !model.is_empty());
        let (headers, default) = match api {
            ChatApi::OpenAi => (OpenAi::headers(key.as_ref())?, None),
            // A gateway on this machine may need no key.
            ChatApi::Anthropic => (
                Anthropic::headers(&key.unwrap_or_else(|| "none".into()))?,
                Some(DEFAULT_ANTHROPIC_MODEL.to_owned()),
            ),
        };
        Ok(Self {
            api,
            model: model.or(default).ok_or(SetupError::NoModel)?,
            transport: Transport::new(endpoint, proxy, settings.own_listeners, headers)?
                .with_max_response_bytes(MAX_RESPONSE_BYTES),
            formats: FormatFallback::new(&[OutputFormat::Schema, OutputFormat::Prompt]),
            takes_stream_options: AtomicBool::new(true),
            is_versioned: AtomicBool::new(false),
            timeout: settings.timeout,
            is_ok: AtomicBool::new(true),
        })
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Calls until there is an answer. Nothing is tried again once text has arrived: it would come twice.
    async fn answer(
        &self,
        prompt: &ChatPrompt,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(String, TokenUsage), ChatError> {
        let deadline = Instant::now() + self.timeout;
        let schema: Value = serde_json::from_str(&prompt.schema).unwrap_or(Value::Null);
        let mut failures = 0;
        let mut form = self.form();
        loop {
            let mut has_text = false;
            let mut hear = |text: &str| {
                has_text = true;
                on_text(text);
            };
            let error = match self.call(prompt, &schema, &mut form, &mut hear).await {
                Ok(partial) => return partial.finished(prompt.max_output_tokens),
                // The next call has another form. Each form is tried once at most.
                Err(ModelError::FormatRefused) => continue,
                Err(error) => error,
            };
            failures += 1;
            let remaining = deadline.saturating_duration_since(Instant::now());
            let pause = retry::pause(&error, failures, remaining).filter(|_| !has_text);
            let Some(pause) = pause else {
                return Err(chat_error(error, self.timeout));
            };
            tracing::debug!(%error, "a call of the chat model is tried again");
            tokio::time::sleep(pause).await;
        }
    }

    /// One call.
    async fn call(
        &self,
        prompt: &ChatPrompt,
        schema: &Value,
        form: &mut Form,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Partial, ModelError> {
        let has_schema = self.formats.at(form.format) == OutputFormat::Schema && schema.is_object();
        let sent = match self.api {
            ChatApi::OpenAi => {
                let shape = openai::Shape {
                    has_schema,
                    has_stream_options: form.has_stream_options,
                    is_vendor: self.transport.endpoint().host() == VENDOR_HOST,
                };
                let body = openai::body(&self.model, prompt, schema, shape);
                self.transport.send(self.openai_path(form), &body, None).await?
            }
            ChatApi::Anthropic => {
                let has_schema = has_schema && schema::is_closed(schema);
                let body = anthropic::body(&self.model, prompt, schema, has_schema);
                // The API refuses the header without the field and vice versa.
                let header = has_schema.then_some(STRUCTURED_OUTPUT);
                self.transport.send(anthropic::PATH, &body, header).await?
            }
        };
        if sent.status() != 200 {
            let reply = sent.whole().await?;
            return Err(self.refusal(&reply, form));
        }
        self.took(form);
        if sent.is_event_stream {
            self.stream(sent, on_text).await
        } else {
            let body = sent.whole().await?.json()?;
            let partial = match self.api {
                ChatApi::OpenAi => openai::whole(&body)?,
                ChatApi::Anthropic => anthropic::whole(&body)?,
            };
            on_text(&partial.text);
            Ok(partial)
        }
    }

    /// The form that the server took last.
    fn form(&self) -> Form {
        Form {
            format: self.formats.current().0,
            has_stream_options: self.takes_stream_options.load(Ordering::Relaxed),
            is_versioned: self.is_versioned.load(Ordering::Relaxed),
            has_other_path: false,
        }
    }

    fn took(&self, form: &Form) {
        self.formats.took(form.format);
        self.takes_stream_options
            .store(form.has_stream_options, Ordering::Relaxed);
        self.is_versioned.store(form.is_versioned, Ordering::Relaxed);
    }

    /// The error of an unsuccessful response. [`ModelError::FormatRefused`] if another form of request may succeed, and then
    /// `form` is that one.
    fn refusal(&self, reply: &Reply, form: &mut Form) -> ModelError {
        let has_two_paths = self.api == ChatApi::OpenAi && !self.transport.endpoint().ends_in_v1();
        match reply.status {
            404 | 405 if has_two_paths && !form.has_other_path => {
                form.is_versioned = !form.is_versioned;
                form.has_other_path = true;
            }
            400 | 422 if form.has_stream_options && reply.mentions("stream_options") => {
                form.has_stream_options = false;
            }
            400 | 422 => match self.formats.after(form.format) {
                Some(next) => form.format = next,
                None => return ModelError::of_status(reply),
            },
            _ => return ModelError::of_status(reply),
        }
        ModelError::FormatRefused
    }

    /// Reads an event stream to its end.
    async fn stream(
        &self,
        mut incoming: Incoming,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Partial, ModelError> {
        let mut reader = EventReader::default();
        let mut partial = Partial::default();
        while let Some(chunk) = incoming.chunk().await? {
            for data in reader.read(&chunk)? {
                let text = match self.api {
                    ChatApi::OpenAi => openai::event(&data, &mut partial)?,
                    ChatApi::Anthropic => anthropic::event(&data, &mut partial)?,
                };
                if let Some(text) = text {
                    on_text(&text);
                }
                // Some servers leave the connection open.
                if partial.is_over {
                    return Ok(partial);
                }
            }
        }
        Ok(partial)
    }

    fn openai_path(&self, form: &Form) -> &'static str {
        if self.transport.endpoint().ends_in_v1() || form.is_versioned {
            openai::VERSIONED_PATH
        } else {
            openai::PATH
        }
    }
}

#[async_trait]
impl ChatModel for HttpChat {
    fn provider(&self) -> &'static str {
        self.api.as_str()
    }

    async fn complete(
        &self,
        prompt: &ChatPrompt,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatCompletion, ChatError> {
        let answered = tokio::time::timeout(self.timeout, self.answer(prompt, on_text)).await;
        let answered = answered.unwrap_or(Err(ChatError::TimedOut(self.timeout)));
        self.is_ok.store(is_usable(&answered), Ordering::Relaxed);
        let (text, usage) = answered?;
        // Without usage the price is not known.
        let is_counted = usage != TokenUsage::default();
        Ok(ChatCompletion {
            text,
            usage,
            cost: list_price(&self.model, &usage).filter(|_| is_counted),
        })
    }

    fn is_ok(&self) -> bool {
        self.is_ok.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for HttpChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpChat")
            .field("api", &self.api)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
