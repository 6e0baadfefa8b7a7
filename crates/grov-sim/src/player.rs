//! A scripted client that looks like Claude Code on the wire: the same headers in the same order and case, the same
//! body layout, the same side requests, and the same handling of tool calls, errors and broken streams. It really runs
//! the tools, but only in the given directory.
//!
//! Imitates the client, version 2.1.197, in base-URL mode. Its texts are replaced by filler of the same size.

mod body;
mod client;
mod decode;
mod headers;
mod tools;
mod transcript;

pub use client::PlayError;
pub use transcript::{Exchange, PlayedAction, Transcript, Turn};

use crate::json::Json;
use crate::request::is_type;
use body::{Conversation, Extra};
use client::{Client, Reply};
use grov_domain::{ExchangeKind, SideRequest};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of model steps per prompt; a script that never ends is stopped there.
const MAX_STEPS: usize = 1000;

/// The client's configuration.
#[derive(Clone, Debug)]
pub struct PlayerConfig {
    /// The directory where the tools run. Must exist. Files outside are refused.
    pub directory: PathBuf,
    /// The model; it also decides the message dialect. Default: `claude-opus-4-8`.
    pub model: String,
    /// The session's id. Default: a fresh one.
    pub session_id: String,
    /// The API key to send. Default: a made-up one.
    pub api_key: String,
    /// Whether to act like the interactive client, which asks for a title, and for a suggestion after every turn.
    /// Default: like the printing one, which asks for neither.
    pub interactive: bool,
    /// Bytes of the tools' definitions, as JSON. Default: 64 KB, as the client sends.
    pub tools_size: usize,
    /// Bytes of the system prompt. Default: 6 KB.
    pub system_size: usize,
    /// Additional headers, as set by `ANTHROPIC_CUSTOM_HEADERS`.
    pub headers: Vec<(String, String)>,
    /// The number of retries of a failed request. Default: 10.
    pub retries: u32,
    /// The pause before the first retry; doubled for each further one. Default: 550 ms.
    pub retry_delay: Duration,
    /// The timeout for the next byte. Default: 295 s.
    pub patience: Duration,
    /// Whether the transcript keeps the sent bodies. Default: yes; turn it off in long runs to save memory.
    pub keep_bodies: bool,
}

impl PlayerConfig {
    /// The defaults, with the tools running in this directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            model: "claude-opus-4-8".to_owned(),
            session_id: uuid::Uuid::now_v7().to_string(),
            api_key: "sk-ant-api03-simulated-0000".to_owned(),
            interactive: false,
            tools_size: 64 * 1024,
            system_size: 6 * 1024,
            headers: Vec::new(),
            retries: 10,
            retry_delay: Duration::from_millis(550),
            patience: Duration::from_secs(295),
            keep_bodies: true,
        }
    }
}

/// An input of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Types a prompt.
    Prompt(String),
    /// Types `/compact`.
    Compact,
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        match text {
            "/compact" => Self::Compact,
            text => Self::Prompt(text.to_owned()),
        }
    }
}

/// The scripted client. Keeps its conversation between runs.
#[derive(Debug)]
pub struct Player {
    config: PlayerConfig,
    client: Client,
    conversation: Conversation,
    read_files: HashSet<PathBuf>,
    transcript: Transcript,
    started: bool,
}

impl Player {
    /// A client for this base URL (`http://host:port`, a path may follow).
    ///
    /// # Errors
    /// The URL does not have that form.
    pub fn new(base_url: &str, config: PlayerConfig) -> Result<Self, PlayError> {
        let client = Client::new(base_url, &config)?;
        let conversation = Conversation::main(&config);
        let transcript = Transcript {
            session_id: config.session_id.clone(),
            ..Transcript::default()
        };
        Ok(Self {
            config,
            client,
            conversation,
            read_files: HashSet::new(),
            transcript,
            started: false,
        })
    }

    /// Plays the inputs in order and returns everything that has happened since the client was created. An API error
    /// ends a turn, not the run; it is in the transcript.
    pub async fn run<I: Into<Input>>(&mut self, inputs: impl IntoIterator<Item = I>) -> &Transcript {
        if !self.started {
            self.started = true;
            let probe = self.client.probe().await;
            self.transcript.probe_status = probe;
        }
        for input in inputs {
            match input.into() {
                Input::Prompt(text) => self.prompt(text).await,
                Input::Compact => self.compact().await,
            }
        }
        &self.transcript
    }

    /// The transcript so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    async fn prompt(&mut self, text: String) {
        let first = self.transcript.turns.is_empty();
        self.conversation.say(&text);
        let outcome = if first && self.config.interactive {
            // The title is requested in parallel to the first prompt, on a separate connection.
            let body = body::title(&self.config, &text);
            let mut side = self.client.for_parallel_request();
            let kind = ExchangeKind::Side(SideRequest::Title);
            let (title, outcome) = tokio::join!(side.send(kind, None, body), self.turn());
            self.transcript.title = title.message().and_then(|message| {
                Json::parse(message.text().as_bytes())
                    .ok()?
                    .get_str("title")
                    .map(str::to_owned)
            });
            self.transcript.exchanges.extend(title.exchanges);
            outcome
        } else {
            self.turn().await
        };
        let (answer, error) = match outcome {
            Ok(answer) => (answer, None),
            Err(error) => (String::new(), Some(error)),
        };
        let went_well = error.is_none();
        self.transcript.turns.push(Turn {
            prompt: text,
            answer,
            error,
        });
        if self.config.interactive && went_well {
            self.suggestion().await;
        }
    }

    /// Runs model steps until the model calls no more tools. Returns the answer's text, or the error.
    async fn turn(&mut self) -> Result<String, String> {
        for _ in 0..MAX_STEPS {
            let body = self.conversation.body(Extra::Nothing);
            let reply = self.client.send(ExchangeKind::Main, None, body).await;
            self.transcript.exchanges.extend(reply.exchanges.iter().cloned());
            let Some(answer) = self.conversation.take(&reply)? else {
                continue;
            };
            if answer.calls.is_empty() {
                return Ok(answer.text);
            }
            let mut results = Vec::new();
            for call in answer.calls {
                results.push(self.call(None, &call).await);
            }
            self.conversation.results(results);
        }
        Err(format!("the script did not end within {MAX_STEPS} steps"))
    }

    /// Runs one tool call and returns its `tool_result` block.
    async fn call(&mut self, agent: Option<&str>, call: &Json) -> Json {
        let id = call.get_str("id").unwrap_or_default();
        let name = call.get_str("name").unwrap_or_default();
        let input = call.get("input").cloned().unwrap_or_default();
        let result = match name {
            "Agent" | "Task" if agent.is_none() => self.delegate(id, &input).await,
            "WebSearch" => self.search(agent, &input).await,
            _ => tools::run(&self.config.directory, &mut self.read_files, name, &input).await,
        };
        self.transcript.actions.push(PlayedAction {
            agent_id: agent.map(str::to_owned),
            tool_use_id: id.to_owned(),
            tool: name.to_owned(),
            input: tools::as_resent(name, &input),
            result: result.text_of(),
            is_error: result.is_error(),
        });
        result.into_block(id)
    }

    /// Runs a subagent with its own conversation.
    async fn delegate(&mut self, id: &str, input: &Json) -> tools::Outcome {
        let agent = format!(
            "a{:016x}",
            xxhash_rust::xxh3::xxh3_64(format!("{}{id}", self.config.session_id).as_bytes())
        );
        let prompt = input.get_str("prompt").unwrap_or_default();
        let mut conversation = Conversation::subagent(&self.config);
        conversation.say(prompt);
        let mut calls_made = 0;
        for _ in 0..MAX_STEPS {
            let body = conversation.body(Extra::Nothing);
            let reply = self.client.send(ExchangeKind::Subagent, Some(&agent), body).await;
            self.transcript.exchanges.extend(reply.exchanges.iter().cloned());
            let answer = match conversation.take(&reply) {
                Ok(Some(answer)) => answer,
                Ok(None) => continue,
                Err(error) => return tools::Outcome::failed(error),
            };
            if answer.calls.is_empty() {
                return tools::Outcome::agent(&answer.text, &agent, calls_made);
            }
            let mut results = Vec::new();
            for call in &answer.calls {
                calls_made += 1;
                // A subagent does not start subagents, so the recursion has one level.
                results.push(Box::pin(self.call(Some(&agent), call)).await);
            }
            conversation.results(results);
        }
        tools::Outcome::failed(format!("the script did not end within {MAX_STEPS} steps"))
    }

    async fn search(&mut self, agent: Option<&str>, input: &Json) -> tools::Outcome {
        let query = input.get_str("query").unwrap_or_default();
        let body = body::web_search(&self.config, query);
        let reply = self
            .client
            .send(ExchangeKind::Side(SideRequest::WebTool), agent, body)
            .await;
        self.transcript.exchanges.extend(reply.exchanges.iter().cloned());
        match reply.message() {
            Some(message) => tools::Outcome::text(format!(
                "Web search results for query: \"{query}\"\n\n{}",
                message.text()
            )),
            None => tools::Outcome::failed("the web search failed".to_owned()),
        }
    }

    async fn suggestion(&mut self) {
        let body = self.conversation.body(Extra::Suggestion);
        let reply = self
            .client
            .send(ExchangeKind::Side(SideRequest::Suggestion), None, body)
            .await;
        self.transcript.suggestion = reply.message().map(|message| message.text());
        self.transcript.exchanges.extend(reply.exchanges);
    }

    async fn compact(&mut self) {
        let body = self.conversation.body(Extra::Compaction);
        let reply = self
            .client
            .send(ExchangeKind::Side(SideRequest::Compaction), None, body)
            .await;
        if let Some(summary) = reply.message().map(|message| message.text()) {
            self.conversation.compact(&summary);
        }
        self.transcript.exchanges.extend(reply.exchanges);
    }
}

/// The parts of a model's answer.
struct Answer {
    text: String,
    calls: Vec<Json>,
}

impl Conversation {
    /// Adds an answer to the conversation. `None` if the client asks the model to continue.
    fn take(&mut self, reply: &Reply) -> Result<Option<Answer>, String> {
        let Some(message) = reply.message() else {
            return Err(reply.error().unwrap_or_else(|| "no answer".to_owned()));
        };
        if !message.complete {
            // The text is kept; a call without a result would make the history invalid.
            let kept: Vec<Json> = message
                .blocks
                .iter()
                .filter(|block| !is_type(block, "tool_use"))
                .cloned()
                .collect();
            self.answer(&kept);
            return Err("Connection closed mid-response".to_owned());
        }
        self.answer(&message.blocks);
        let calls: Vec<Json> = message
            .blocks
            .iter()
            .filter(|block| is_type(block, "tool_use"))
            .cloned()
            .collect();
        if calls.is_empty() && message.stop_reason.as_deref() == Some("max_tokens") {
            self.say("Output token limit hit. Resume directly from where you stopped.");
            return Ok(None);
        }
        Ok(Some(Answer {
            text: message.text(),
            calls,
        }))
    }
}
