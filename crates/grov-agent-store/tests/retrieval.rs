//! Retrieval on a real store: filters, the situation, and embedders that fail or hang.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use async_trait::async_trait;
use grov_agent::{
    AgentStore, Category, Ingestor, MemoryItem, MemoryItemId, MemoryItemStore, MemoryStatus, MemoryType,
    Project, ProjectId, ProjectStore, Retriever, SearchFilter, SourceKind, Upload,
};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_domain::{Clock, EmbedError, Embedder, Embedding, SystemClock};
use grov_redact::{Redacted, Redactor};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Answers after a time, always with an error.
struct Failing(Duration);

#[async_trait]
impl Embedder for Failing {
    fn model(&self) -> &str {
        "failing"
    }

    async fn embed(&self, _: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        tokio::time::sleep(self.0).await;
        Err(EmbedError::Failed("no server".to_owned()))
    }
}

/// A project with a document of rules and an item of each type.
async fn filled(directory: &tempfile::TempDir) -> (Arc<AgentDatabase>, ProjectId) {
    let url = format!("sqlite:{}", directory.path().join("agent.db").display());
    let store = Arc::new(
        AgentDatabase::open(&url, &DatabaseOptions::default())
            .await
            .unwrap(),
    );
    let project = Project {
        id: ProjectId::fresh(),
        name: "one".to_owned(),
        role_statement: String::new(),
        created_at: SystemClock.now(),
    };
    store.create_project(&Redacted::of(&project)).await.unwrap();
    let ingestor = Ingestor::new(store.clone() as Arc<dyn AgentStore>, Arc::new(SystemClock));
    let upload = Upload {
        project: project.id,
        title: "Handbook".to_owned(),
        category: Category::Rules,
        content_type: None,
        file_name: Some("handbook.md".to_owned()),
        bytes: b"# Invoices\n\nInvoices are kept for ten years.\n\n# Logo\n\nThe logo is blue.\n".to_vec(),
    };
    ingestor.ingest(upload).await.unwrap();
    for (kind, content) in [
        (MemoryType::Rule, "Never send invoices on Sunday."),
        (MemoryType::OpenLoop, "Ask accounting about the archive."),
        (MemoryType::Fact, "Invoices are written in euros."),
    ] {
        let now = SystemClock.now();
        let item = MemoryItem {
            id: MemoryItemId::fresh(),
            project_id: project.id,
            kind,
            status: MemoryStatus::Accepted,
            content: content.to_owned(),
            evidence: Vec::new(),
            contradicts: Vec::new(),
            supersedes: None,
            superseded_by: None,
            reason: None,
            expires_at: None,
            created_at: now,
            updated_at: now,
            decided_by: None,
        };
        store.add_item(&Redacted::of(&item), None, &[]).await.unwrap();
    }
    (store, project.id)
}

#[tokio::test]
async fn a_chat_receives_the_situation_and_what_fits_once() {
    let directory = tempfile::tempdir().unwrap();
    let (store, project) = filled(&directory).await;
    let retriever = Retriever::new(store, None, Arc::new(SystemClock));
    let question = Redactor::shared().text("For how long do we keep invoices?");
    let found = retriever.retrieve(project, &question, 2_000).await.unwrap();
    assert_eq!(
        (found.situation.rules.len(), found.situation.open_loops.len()),
        (1, 1)
    );
    let texts: Vec<&str> = found
        .passages
        .iter()
        .map(|passage| passage.text.as_str())
        .collect();
    assert!(texts[0].contains("ten years"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("euros")));
    // The rule is in the situation already.
    assert!(!texts.iter().any(|text| text.contains("Sunday")));
    let other = Redactor::shared().text("What about the database of Zanzibar?");
    assert_eq!(
        retriever.retrieve(project, &other, 2_000).await.unwrap().passages,
        []
    );
}

#[tokio::test]
async fn a_filter_of_categories_means_documents_and_one_of_types_items() {
    let directory = tempfile::tempdir().unwrap();
    let (store, project) = filled(&directory).await;
    let retriever = Retriever::new(store, None, Arc::new(SystemClock));
    let question = Redactor::shared().text("invoices");
    for (categories, types, kind, count) in [
        (vec![Category::Rules], vec![], SourceKind::Chunk, 1),
        (vec![Category::State], vec![], SourceKind::Chunk, 0),
        (vec![], vec![MemoryType::Fact], SourceKind::Memory, 1),
    ] {
        let filter = SearchFilter { categories, types };
        let found = retriever.search(project, &question, &filter, 9).await.unwrap();
        assert_eq!(found.len(), count, "{filter:?}");
        assert!(found.iter().all(|passage| passage.kind == kind));
    }
}

#[tokio::test]
async fn words_alone_are_searched_if_the_embedder_fails_or_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let (store, project) = filled(&directory).await;
    let question = Redactor::shared().text("invoices");
    for delay in [Duration::ZERO, Duration::from_secs(3_600)] {
        let embedder: Arc<dyn Embedder> = Arc::new(Failing(delay));
        let retriever = Retriever::new(store.clone(), Some(embedder), Arc::new(SystemClock));
        let start = Instant::now();
        let found = retriever
            .search(project, &question, &SearchFilter::default(), 9)
            .await
            .unwrap();
        assert_eq!(found.len(), 3);
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it waits two seconds, not an hour"
        );
    }
}
