//! A project on a real SQLite database, and a model that answers from a script.

#![allow(dead_code, reason = "each user of the module needs a part of it")]

use async_trait::async_trait;
use grov_agent::{
    AgentStore, Category, ChatAnswer, ChatFailed, ChatRequest, ChatService, ChatSettings, Ingestor,
    MemoryItem, MemoryItemId, MemoryStatus, MemoryType, Message, MessageId, MessageRole, NewTurn, Page,
    Progress, Project, ProjectId, Retriever, ThreadId, Tools, Upload,
};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_domain::{
    ChatCompletion, ChatError, ChatModel, ChatPrompt, Clock, MicroUsd, SystemClock, TokenUsage,
};
use grov_redact::Redacted;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use time::OffsetDateTime;

/// A project on a database of its own.
pub(crate) struct World {
    pub(crate) store: Arc<dyn AgentStore>,
    pub(crate) project: ProjectId,
    pub(crate) settings: ChatSettings,
    _directory: tempfile::TempDir,
}

impl World {
    pub(crate) async fn new(role_statement: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("agent.db").display());
        let store: Arc<dyn AgentStore> = Arc::new(
            AgentDatabase::open(&url, &DatabaseOptions::default())
                .await
                .unwrap(),
        );
        let project = Project {
            id: ProjectId::fresh(),
            name: "Harbour".to_owned(),
            role_statement: role_statement.to_owned(),
            created_at: OffsetDateTime::now_utc(),
        };
        store.create_project(&Redacted::of(&project)).await.unwrap();
        Self {
            store,
            project: project.id,
            settings: ChatSettings {
                context_tokens: 6_000,
                history_tokens: 4_000,
                max_output_tokens: 1_000,
                has_webhook: false,
            },
            _directory: directory,
        }
    }

    /// Stores a document and returns the id of its first chunk.
    pub(crate) async fn add_document(&self, title: &str, category: Category, content: &str) -> String {
        let upload = Upload {
            project: self.project,
            title: title.to_owned(),
            category,
            content_type: Some("text/markdown".to_owned()),
            file_name: None,
            bytes: content.as_bytes().to_vec(),
        };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let stored = Ingestor::new(self.store.clone(), clock)
            .ingest(upload)
            .await
            .unwrap()
            .stored;
        let page = Page {
            limit: 1,
            after: None,
        };
        let chunks = self
            .store
            .chunks(self.project, stored.document.id, &page)
            .await
            .unwrap();
        chunks.items[0].id.to_string()
    }

    /// Stores an item.
    pub(crate) async fn add_item(
        &self,
        kind: MemoryType,
        status: MemoryStatus,
        content: &str,
        expires_at: Option<OffsetDateTime>,
    ) -> MemoryItemId {
        let now = OffsetDateTime::now_utc() - time::Duration::days(1);
        let item = MemoryItem {
            id: MemoryItemId::fresh(),
            project_id: self.project,
            kind,
            status,
            content: content.to_owned(),
            evidence: Vec::new(),
            contradicts: Vec::new(),
            supersedes: None,
            superseded_by: None,
            reason: None,
            expires_at,
            created_at: now,
            updated_at: now,
            decided_by: None,
        };
        self.store
            .add_item(&Redacted::of(&item), None, &[])
            .await
            .unwrap();
        item.id
    }

    /// Stores a thread with earlier messages.
    pub(crate) async fn add_thread(&self, turns: &[(MessageRole, &str)]) -> ThreadId {
        let thread = ThreadId::fresh();
        let now = OffsetDateTime::now_utc();
        let message = |(role, content): &(MessageRole, &str)| {
            Redacted::of(&Message {
                id: MessageId::fresh(),
                thread_id: thread,
                role: *role,
                content: (*content).to_owned(),
                response_json: None,
                created_at: now,
            })
        };
        let turn = NewTurn {
            project: self.project,
            thread,
            is_new_thread: true,
            messages: turns.iter().map(message).collect(),
            tool_calls: Vec::new(),
            memory_items: Vec::new(),
            tools: Redacted::of(&Tools::default()),
            summary: None,
            events: Vec::new(),
            replay: None,
            now,
        };
        self.store.store_turn(&turn).await.unwrap();
        thread
    }

    pub(crate) fn service(&self, model: Option<Arc<ScriptedModel>>) -> ChatService {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let retriever = Retriever::new(self.store.clone(), None, clock.clone());
        let model = model.map(|model| model as Arc<dyn ChatModel>);
        ChatService::new(self.store.clone(), retriever, model, clock, self.settings.clone())
    }

    pub(crate) fn request(&self, message: &str, tools: &Value) -> ChatRequest {
        ChatRequest {
            project: self.project,
            thread: None,
            message: message.to_owned(),
            tools: Tools::parse(tools).unwrap().0,
            metadata: None,
        }
    }

    /// Runs a chat without tools, and returns what happened during it.
    pub(crate) async fn chat(
        &self,
        model: Option<Arc<ScriptedModel>>,
        request: ChatRequest,
    ) -> (Result<ChatAnswer, ChatFailed>, Vec<Progress>) {
        let mut progress = Vec::new();
        let answer = self
            .service(model)
            .chat(request, None, &mut |step| progress.push(step))
            .await;
        (answer, progress)
    }
}

/// A model that answers from a script, in small pieces, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct ScriptedModel {
    answers: Mutex<VecDeque<Result<ChatCompletion, ChatError>>>,
    prompts: Mutex<Vec<ChatPrompt>>,
    waits: bool,
}

impl ScriptedModel {
    pub(crate) fn answering(texts: &[&str]) -> Arc<Self> {
        let completion = |text: &&str| {
            Ok(ChatCompletion {
                text: (*text).to_owned(),
                usage: TokenUsage {
                    input: 100,
                    output: 10,
                    ..TokenUsage::default()
                },
                cost: Some(MicroUsd(7)),
            })
        };
        Self::with(texts.iter().map(completion).collect())
    }

    pub(crate) fn with(answers: Vec<Result<ChatCompletion, ChatError>>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into()),
            prompts: Mutex::default(),
            waits: false,
        })
    }

    /// A model that never ends its answer.
    pub(crate) fn waiting() -> Arc<Self> {
        Arc::new(Self {
            waits: true,
            ..Self::default()
        })
    }

    /// What the model was asked, one prompt for each generation.
    pub(crate) fn prompts(&self) -> Vec<ChatPrompt> {
        self.prompts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn provider(&self) -> &'static str {
        "scripted"
    }

    async fn complete(
        &self,
        prompt: &ChatPrompt,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatCompletion, ChatError> {
        self.prompts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(prompt.clone());
        if self.waits {
            std::future::pending::<()>().await;
        }
        let next = self
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        let completion =
            next.unwrap_or_else(|| Err(ChatError::Broken("the script is at its end".to_owned())))?;
        let letters: Vec<char> = completion.text.chars().collect();
        for piece in letters.chunks(7) {
            on_text(&piece.iter().collect::<String>());
        }
        Ok(completion)
    }

    fn is_ok(&self) -> bool {
        true
    }
}
