//! Writes of every kind, one after the other, and what must hold whenever they are interrupted.

use super::sample::{self, direction, document, report, turn};
use crate::column::Columns;
use crate::work::bound;
use grov_agent::{
    AgentStore, AgentStoreError, Category, KeyId, MemoryStatus, MemoryType, ProjectId, ThreadId, ToolCall,
    ToolCallId, ToolCallStatus,
};
use grov_redact::Redacted;
use sqlx::any::AnyConnectOptions;
use sqlx::{ConnectOptions, Executor};
use std::fmt;
use std::str::FromStr;

/// Something that a store acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A turn of a new thread.
    Turn(ThreadId),
    /// An approved call.
    Approved(ToolCallId),
    /// A version of the document with this number.
    Version(u32, u32),
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(id) => write!(f, "turn {id}"),
            Self::Approved(id) => write!(f, "approved {id}"),
            Self::Version(number, version) => write!(f, "version {number} {version}"),
        }
    }
}

impl FromStr for Done {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["turn", id] => id.parse().map(Self::Turn).map_err(drop),
            ["approved", id] => id.parse().map(Self::Approved).map_err(drop),
            ["version", number, version] => Ok(Self::Version(
                number.parse().map_err(drop)?,
                version.parse().map_err(drop)?,
            )),
            _ => Err(()),
        }
    }
}

/// Writes to one project.
#[derive(Debug)]
pub struct Load {
    project: ProjectId,
    owner: KeyId,
    seed: u32,
    step: u32,
    call: Option<ToolCall>,
}

impl Load {
    /// Creates a load. Those with different seeds write to documents of their own.
    pub fn new(project: ProjectId, seed: u32) -> Self {
        Self {
            project,
            owner: KeyId::fresh(),
            seed,
            step: 0,
            call: None,
        }
    }

    /// Writes the next thing. Returns what was acknowledged.
    ///
    /// # Errors
    ///
    /// The store failed. The next step may succeed.
    pub async fn step(&mut self, store: &dyn AgentStore) -> Result<Option<Done>, AgentStoreError> {
        self.step += 1;
        match self.step % 4 {
            0 => self.upload(store).await.map(Some),
            1 => self.turn(store).await.map(Some),
            2 => self.approve(store).await,
            _ => self.embed(store).await.map(|()| None),
        }
    }

    /// A version that keeps most chunks of the one before.
    async fn upload(&mut self, store: &dyn AgentStore) -> Result<Done, AgentStoreError> {
        let number = self.seed * 10 + self.step / 4 % 3;
        let texts: Vec<String> = (0..25)
            .map(|place| match place % 5 {
                0 => format!("Paragraph {place} of step {} by {:?}.", self.step, self.owner),
                _ => format!("Paragraph {place} of document {number} stays."),
            })
            .collect();
        let parts: Vec<(&[&str], &str)> = texts
            .iter()
            .map(|text| (&["Heading"] as &[&str], text.as_str()))
            .collect();
        let new = document(
            self.project,
            &format!("document {number}"),
            Category::State,
            &parts,
        );
        let stored = store.store_document(&new).await?;
        Ok(Done::Version(number, stored.document.version))
    }

    /// A turn with a proposal, its call, an event and a replay.
    async fn turn(&mut self, store: &dyn AgentStore) -> Result<Done, AgentStoreError> {
        let mut turn = turn(self.project);
        let content = format!("Fact {} of {}.", self.step, self.seed);
        let item = sample::item(self.project, MemoryType::Fact, MemoryStatus::Proposed, &content);
        let call = ToolCall {
            thread_id: Some(turn.thread),
            ..sample::proposal(&item)
        };
        turn.memory_items.push(Redacted::of(&item));
        turn.tool_calls.push(Redacted::of(&call));
        turn.events.push(sample::event(self.project, "{}"));
        turn.replay = Some(sample::replay(self.owner, &format!("step {}", self.step)));
        store.store_turn(&turn).await?;
        self.call = Some(call);
        Ok(Done::Turn(turn.thread))
    }

    /// Approves the last proposal.
    async fn approve(&mut self, store: &dyn AgentStore) -> Result<Option<Done>, AgentStoreError> {
        let Some(call) = self.call.take() else {
            return Ok(None);
        };
        let approved = report(ToolCallStatus::Approved);
        let event = sample::event(self.project, "{}");
        let events = std::slice::from_ref(&event);
        store
            .report(call.id, &approved, &[1; 32], events, sample::NOW)
            .await?;
        Ok(Some(Done::Approved(call.id)))
    }

    async fn embed(&mut self, store: &dyn AgentStore) -> Result<(), AgentStoreError> {
        let some = store.unembedded("m", 16).await?;
        let embeddings: Vec<_> = some
            .into_iter()
            .map(|(what, _)| (what, Some(direction(30.0, 8))))
            .collect();
        store.store_embeddings("m", &embeddings).await
    }
}

/// What must not be found, by a description.
const BROKEN: &[(&str, &str)] = &[
    (
        "a document with another number of chunks",
        "SELECT count(*) AS n FROM documents d WHERE d.chunks <> (SELECT count(*) FROM chunks c \
         WHERE c.document_id = d.id)",
    ),
    (
        "a document with chunks at wrong places",
        "SELECT count(*) AS n FROM (SELECT document_id FROM chunks GROUP BY document_id \
         HAVING count(DISTINCT ordinal) <> count(*) OR max(ordinal) <> count(*) - 1) AS wrong",
    ),
    (
        "a chunk without an entry",
        "SELECT count(*) AS n FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.chunk_id = c.id)",
    ),
    (
        "an item without an entry",
        "SELECT count(*) AS n FROM memory_items i WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.item_id = i.id)",
    ),
    (
        "an entry of something that is gone",
        "SELECT count(*) AS n FROM entries e WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = e.chunk_id) \
         AND NOT EXISTS (SELECT 1 FROM memory_items i WHERE i.id = e.item_id)",
    ),
    (
        "an embedding of something that is gone",
        "SELECT count(*) AS n FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.number = v.entry)",
    ),
    (
        "a thread with another number of messages",
        "SELECT count(*) AS n FROM threads t WHERE t.messages <> (SELECT count(*) FROM messages m \
         WHERE m.thread_id = t.id) OR t.messages <> 2",
    ),
    (
        "a thread without its call",
        "SELECT count(*) AS n FROM threads t WHERE 1 <> (SELECT count(*) FROM tool_calls c WHERE c.thread_id = t.id)",
    ),
    (
        "a call without its item, or in another state",
        "SELECT count(*) AS n FROM tool_calls c LEFT JOIN memory_items i ON i.id = c.memory_item_id \
         WHERE i.id IS NULL OR (c.status = 'succeeded') <> (i.status = 'accepted')",
    ),
    (
        "a decided call without its report, or a report of another call",
        "SELECT count(*) AS n FROM tool_calls c WHERE (c.status = 'succeeded') <> \
         EXISTS (SELECT 1 FROM tool_reports r WHERE r.tool_call_id = c.id)",
    ),
    (
        "another number of replays than of turns",
        "SELECT abs((SELECT count(*) FROM replays) - (SELECT count(*) FROM threads)) AS n",
    ),
    (
        "another number of events than of turns and decisions",
        "SELECT abs((SELECT count(*) FROM events) - (SELECT count(*) FROM threads) \
         - (SELECT count(*) FROM tool_calls WHERE status = 'succeeded')) AS n",
    ),
];

/// The same for the word index of SQLite.
const BROKEN_WORDS: &[(&str, &str)] = &[
    (
        "an entry without words",
        "SELECT count(*) AS n FROM entries e WHERE NOT EXISTS (SELECT 1 FROM entry_words_docsize d WHERE d.id = e.number)",
    ),
    (
        "words without an entry",
        "SELECT count(*) AS n FROM entry_words_docsize d WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.number = d.id)",
    ),
    (
        "a missing row",
        "SELECT count(*) AS n FROM pragma_foreign_key_check",
    ),
    (
        "a damaged page",
        "SELECT count(*) AS n FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    ),
];

/// Checks that everything that was acknowledged is stored, and nothing by half.
///
/// # Panics
///
/// It is not so.
pub async fn verify(store: &dyn AgentStore, url: &str, project: ProjectId, acknowledged: &[Done]) {
    for done in acknowledged {
        match *done {
            Done::Turn(thread) => {
                let stored = store.thread(thread).await.unwrap();
                assert!(stored.is_some(), "an acknowledged turn is lost: {thread}");
            }
            Done::Approved(call) => {
                let stored = store.tool_call(call, sample::NOW).await.unwrap();
                let status = stored.map(|call| call.status);
                assert_eq!(
                    status,
                    Some(ToolCallStatus::Succeeded),
                    "an acknowledged decision is lost"
                );
            }
            Done::Version(..) => {}
        }
    }
    let documents = store
        .documents(project, &sample::page(1_000))
        .await
        .unwrap()
        .items;
    for done in acknowledged {
        if let Done::Version(number, version) = *done {
            let title = format!("document {number}");
            let stored = documents.iter().find(|document| document.title == title);
            assert!(
                stored.is_some_and(|document| document.version >= version),
                "version {version} of {title} is lost: {stored:?}"
            );
        }
    }
    let mut connection = AnyConnectOptions::from_str(url)
        .unwrap()
        .disable_statement_logging()
        .connect()
        .await
        .unwrap();
    let is_sqlite = store.health().await.kind == "sqlite";
    if !is_sqlite {
        connection
            .execute("SET search_path = grov_agent, public")
            .await
            .unwrap();
    }
    let words = if is_sqlite { BROKEN_WORDS } else { &[] };
    for (what, sql) in BROKEN.iter().chain(words) {
        let query = bound((*sql).to_owned(), Vec::new());
        let row = connection.fetch_one(query).await.unwrap();
        let found: i64 = row.get_as("n").unwrap();
        assert_eq!(found, 0, "{what}");
    }
}
