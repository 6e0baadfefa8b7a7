//! Embedding in a real store, with embedders that need no model.

use super::*;
use crate::test_store;
use async_trait::async_trait;
use grov_agent::{AgentStore, Retriever, SearchFilter};
use grov_agent_store::AgentDatabase;
use grov_domain::SystemClock;
use grov_llm::HashEmbedder;
use std::sync::atomic::{AtomicBool, Ordering};

fn work(store: &Arc<AgentDatabase>, embedder: Arc<dyn Embedder>) -> EmbeddingWork {
    let store = Arc::clone(store) as Arc<dyn SearchStore>;
    EmbeddingWork::new(store, embedder, EmbeddingStatus::default(), Arc::default())
}

fn hashes(dimension: usize) -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new(dimension))
}

async fn finish(work: &mut EmbeddingWork) {
    while work.step().await.unwrap() {}
}

async fn dimensions(store: &AgentDatabase) -> Vec<usize> {
    let models = store.models().await.unwrap();
    models.into_iter().map(|(_, dimension)| dimension).collect()
}

#[tokio::test]
async fn everything_is_embedded_and_new_texts_too() {
    let (_directory, store) = test_store::open().await;
    let texts: Vec<String> = (0..70).map(|number| format!("Text number {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    test_store::add_items(&store, &texts).await;
    let mut work = work(&store, hashes(64));
    finish(&mut work).await;
    let progress = work.status.read();
    assert_eq!(
        (progress.dimension, progress.share),
        (Some(64), EmbeddedShare { total: 70, done: 70 })
    );
    test_store::add_items(&store, &["Another"]).await;
    finish(&mut work).await;
    assert_eq!(work.status.read().share, EmbeddedShare { total: 71, done: 71 });
}

#[tokio::test]
async fn another_model_embeds_everything_again_and_then_the_old_one_is_deleted() {
    let (_directory, store) = test_store::open().await;
    let texts: Vec<String> = (0..40).map(|number| format!("Text number {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let project = test_store::add_items(&store, &texts).await;
    finish(&mut work(&store, hashes(64))).await;
    let searched = OlderEmbedders::default();
    let rebuild: Rebuild = Box::new(|_, dimension| Some(hashes(dimension)));
    let mut next = work(&store, hashes(32)).searching(searched.clone(), rebuild);
    assert!(next.step().await.unwrap());
    // The last text is embedded by the old model only, and found with it.
    let retriever = |older| {
        let store = Arc::clone(&store) as Arc<dyn AgentStore>;
        Retriever::new(store, Some(hashes(32)), Arc::new(SystemClock)).with_older(older)
    };
    let question = Redacted::of(&"number 39".to_owned());
    let found = async |older| {
        let filter = SearchFilter::default();
        let found = retriever(older)
            .search(project, &question, &filter, 40)
            .await
            .unwrap();
        let wanted = found
            .into_iter()
            .find(|passage| passage.text.ends_with("number 39"));
        wanted.unwrap().why.vector_rank.is_some()
    };
    assert!(found(searched.clone()).await);
    assert!(!found(OlderEmbedders::default()).await);
    assert_eq!(
        dimensions(&store).await,
        [64, 32],
        "the old one stays until the new one is complete"
    );
    finish(&mut next).await;
    assert_eq!(dimensions(&store).await, [32]);
    assert!(searched.all().is_empty());
}

#[tokio::test]
async fn two_instances_with_one_model_do_not_harm_each_other() {
    let (_directory, store) = test_store::open().await;
    let texts: Vec<String> = (0..100).map(|number| format!("Text number {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    test_store::add_items(&store, &texts).await;
    let (mut one, mut other) = (work(&store, hashes(64)), work(&store, hashes(64)));
    tokio::join!(finish(&mut one), finish(&mut other));
    assert_eq!(
        one.status.read().share,
        EmbeddedShare {
            total: 100,
            done: 100
        }
    );
}

#[tokio::test]
async fn the_instance_with_the_older_model_gives_way() {
    let (_directory, store) = test_store::open().await;
    test_store::add_items(&store, &["One"]).await;
    let mut older = work(&store, hashes(64));
    finish(&mut older).await;
    let mut newer = work(&store, hashes(32));
    finish(&mut newer).await;
    test_store::add_items(&store, &["Two"]).await;
    let error = older.step().await.unwrap_err().to_string();
    assert!(
        error.contains("another grov-agentd") && error.contains("mock/1/32"),
        "{error}"
    );
    finish(&mut newer).await;
    assert_eq!(dimensions(&store).await, [32]);
}

/// Fails while it is down, and refuses texts with a certain word.
struct Moody {
    inner: HashEmbedder,
    is_down: AtomicBool,
}

#[async_trait]
impl Embedder for Moody {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(EmbedError::Failed("it is down".to_owned()));
        }
        if texts.iter().any(|text| text.contains("poison")) {
            return Err(EmbedError::Refused("not this one".to_owned()));
        }
        self.inner.embed(texts).await
    }
}

#[tokio::test]
async fn a_refused_text_does_not_stop_the_others_and_a_failure_loses_none() {
    let (_directory, store) = test_store::open().await;
    test_store::add_items(&store, &["One", "Some poison", "Two"]).await;
    let moody = Arc::new(Moody {
        inner: HashEmbedder::new(8),
        is_down: AtomicBool::new(false),
    });
    let mut work = work(&store, Arc::clone(&moody) as Arc<dyn Embedder>);
    work.register().await.unwrap();
    moody.is_down.store(true, Ordering::Relaxed);
    assert!(work.step().await.unwrap_err().to_string().contains("it is down"));
    assert_eq!(store.embedded_share(work.embedder.model()).await.unwrap().done, 0);
    moody.is_down.store(false, Ordering::Relaxed);
    finish(&mut work).await;
    assert_eq!(work.status.read().share, EmbeddedShare { total: 3, done: 3 });
}

#[tokio::test]
async fn the_work_is_woken_and_stops() {
    let (_directory, store) = test_store::open().await;
    let work = work(&store, hashes(16));
    let (status, wake) = (work.status.clone(), Arc::clone(&work.wake));
    let tasks = grov_runtime::Tasks::new(tokio::runtime::Handle::current());
    tasks.spawn("embedding", run(work, tasks.shutdown()));
    let done = async |wanted: u64| {
        let begun = std::time::Instant::now();
        while status.read().share.done < wanted {
            assert!(begun.elapsed() < POLL, "it was not woken");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    test_store::add_items(&store, &["One"]).await;
    wake.notify_one();
    done(1).await;
    test_store::add_items(&store, &["Two"]).await;
    wake.notify_one();
    done(2).await;
    tasks.shut_down();
    assert_eq!(tasks.drain(Duration::from_secs(5)).await, 0);
}
