use super::*;
use async_trait::async_trait;
use grov_domain::{Decision, Redacted, TaskId};
use std::collections::BTreeMap;

const MODEL: &str = "toy";

fn task(id: &str, words: &str) -> Task {
    Task::new(id, "/p", words)
}

/// Memories by number, and their embeddings by the model.
#[derive(Default)]
struct Shelf {
    tasks: Mutex<BTreeMap<i64, Task>>,
    kept: Mutex<BTreeMap<TaskId, Option<Embedding>>>,
    fails: Mutex<bool>,
}

impl Shelf {
    fn holding(count: i64) -> Arc<Self> {
        let shelf = Self::default();
        (0..count).for_each(|number| shelf.add(number, "words"));
        Arc::new(shelf)
    }

    fn add(&self, number: i64, words: &str) {
        let task = task(&number.to_string(), words);
        self.tasks.lock().unwrap().insert(number, task);
    }

    /// The numbers of the processed memories, with whether they were embedded.
    fn kept(&self) -> Vec<(i64, bool)> {
        let kept = self.kept.lock().unwrap();
        let mut all: Vec<(i64, bool)> = kept
            .iter()
            .map(|(id, embedding)| (id.as_str().parse().unwrap(), embedding.is_some()))
            .collect();
        all.sort_unstable();
        all
    }
}

#[async_trait]
impl EmbeddingStore for Shelf {
    async fn unembedded(
        &self,
        model: &str,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError> {
        assert_eq!(model, MODEL);
        let (tasks, kept) = (self.tasks.lock().unwrap(), self.kept.lock().unwrap());
        let todo = tasks.range(..below.unwrap_or(i64::MAX)).rev();
        let todo = todo.filter(|(_, task)| !kept.contains_key(&task.id));
        Ok(todo
            .take(limit as usize)
            .map(|(number, task)| Unembedded {
                document: *number,
                task: task.clone(),
            })
            .collect())
    }

    async fn keep_embeddings(
        &self,
        _: &str,
        embedded: &[(Task, Option<Embedding>)],
    ) -> Result<(), StoreError> {
        if *self.fails.lock().unwrap() {
            return Err(StoreError::Busy("a shelf".to_owned()));
        }
        let kept = embedded
            .iter()
            .map(|(task, embedding)| (task.id.clone(), embedding.clone()));
        self.kept.lock().unwrap().extend(kept);
        Ok(())
    }

    async fn embeddings(&self, _: &str, _: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError> {
        Ok(Vec::new())
    }

    async fn embedding_progress(&self, _: &str) -> Result<EmbeddingProgress, StoreError> {
        Ok(EmbeddingProgress {
            memories: self.tasks.lock().unwrap().len() as u64,
            done: self.kept.lock().unwrap().len() as u64,
        })
    }
}

/// Refuses texts that contain "refuse" and fails for texts that contain "fail" or exceed 1000 bytes, unless `error` is set.
#[derive(Default)]
struct Toy {
    error: Mutex<Option<EmbedError>>,
    /// Fails all further calls; set by a single text that contains "last".
    gone: Mutex<bool>,
    calls: Mutex<Vec<usize>>,
}

impl Toy {
    fn has(&self, error: Option<EmbedError>) {
        *self.error.lock().unwrap() = error;
    }

    /// The number of texts of each call.
    fn calls(&self) -> Vec<usize> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

#[async_trait]
impl Embedder for Toy {
    fn model(&self) -> &str {
        MODEL
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        self.calls.lock().unwrap().push(texts.len());
        if let Some(error) = self.error.lock().unwrap().clone() {
            return Err(error);
        }
        let says = |what: &str| texts.iter().any(|text| text.contains(what));
        if says("refuse") {
            return Err(EmbedError::Refused("invalid text".to_owned()));
        }
        if *self.gone.lock().unwrap() || says("fail") || texts.iter().any(|text| text.len() > 1000) {
            return Err(EmbedError::Failed("no answer".to_owned()));
        }
        *self.gone.lock().unwrap() = texts.len() == 1 && says("last");
        Ok(vec![Embedding::of(&[1.0]).unwrap(); texts.len()])
    }
}

struct Scene {
    shelf: Arc<Shelf>,
    toy: Arc<Toy>,
    work: EmbeddingWorker,
    state: EmbeddingState,
}

impl Scene {
    fn new(shelf: Arc<Shelf>) -> Self {
        let toy = Arc::new(Toy::default());
        let (work, state) = EmbeddingWorker::new(Arc::clone(&shelf) as _, Arc::clone(&toy) as _);
        Self {
            shelf,
            toy,
            work,
            state,
        }
    }

    /// Steps until no work is left. Returns the number of steps with work.
    async fn run(&mut self) -> usize {
        let mut steps = 0;
        while self.work.step().await == BATCH_PAUSE {
            steps += 1;
            assert!(steps < 999, "it never ends");
        }
        steps
    }

    fn error(&self) -> Option<String> {
        self.state.read().error
    }
}

fn progress(done: u64, memories: u64) -> EmbeddingProgress {
    EmbeddingProgress { memories, done }
}

#[tokio::test]
async fn all_memories_are_embedded_newest_first() {
    let mut scene = Scene::new(Shelf::holding(70));
    assert_eq!(scene.work.step().await, BATCH_PAUSE);
    assert_eq!(scene.shelf.kept()[0], (54, true));
    let status = scene.state.read();
    assert_eq!(
        (status.model.as_str(), status.progress),
        (MODEL, progress(16, 70))
    );
    assert_eq!(scene.run().await, 4);
    assert_eq!(scene.state.read().progress, progress(70, 70));
    assert_eq!(scene.toy.calls(), [16, 16, 16, 16, 6]);
    assert_eq!(scene.work.step().await, IDLE_PAUSE);
    assert_eq!(scene.toy.calls(), [0; 0], "the model is not called without texts");

    scene.shelf.add(70, "new words");
    assert_eq!(scene.run().await, 1);
    assert_eq!(scene.state.read().progress, progress(71, 71));
}

#[tokio::test]
async fn new_memories_do_not_wait_for_all_old_ones() {
    let many = i64::from(BATCH_SIZE * (MAX_BATCHES_PER_ROUND + 2));
    let mut scene = Scene::new(Shelf::holding(many));
    scene.work.step().await;
    scene.shelf.add(many, "new words");
    for _ in 0..MAX_BATCHES_PER_ROUND {
        scene.work.step().await;
    }
    assert!(scene.shelf.kept().contains(&(many, true)));
    assert!(!scene.shelf.kept().contains(&(0, true)));
    scene.run().await;
    assert_eq!(
        scene.shelf.kept().len() as u64,
        scene.state.read().progress.memories
    );
}

#[tokio::test]
async fn a_refused_text_is_not_retried_and_does_not_block_others() {
    for words in ["refuse this", "fail at this"] {
        let mut scene = Scene::new(Shelf::holding(4));
        scene.shelf.add(2, words);
        scene.run().await;
        assert_eq!(scene.shelf.kept(), [(0, true), (1, true), (2, false), (3, true)]);
        assert_eq!(scene.toy.calls(), [4, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(scene.error(), None);
    }
}

#[tokio::test]
async fn the_beginning_of_a_too_long_text_is_embedded() {
    let mut scene = Scene::new(Shelf::holding(2));
    scene.shelf.add(1, &"long ".repeat(250));
    scene.run().await;
    assert_eq!(scene.shelf.kept(), [(0, true), (1, true)]);
}

#[tokio::test]
async fn a_provider_that_refuses_everything_marks_no_memory_as_done() {
    let mut scene = Scene::new(Shelf::holding(3));
    scene
        .toy
        .has(Some(EmbedError::Refused("no such model".to_owned())));
    assert_eq!(scene.work.step().await, IDLE_PAUSE);
    assert_eq!(scene.toy.calls(), [3, 1]);
    assert_eq!(scene.shelf.kept(), []);
    assert!(scene.error().unwrap().contains("no such model"));
    scene.toy.has(None);
    scene.run().await;
    assert_eq!((scene.shelf.kept().len(), scene.error()), (3, None));
}

#[tokio::test]
async fn errors_keep_finished_embeddings_and_are_cleared() {
    let mut scene = Scene::new(Shelf::holding(4));
    scene.toy.has(Some(EmbedError::Paused("no budget".to_owned())));
    assert_eq!(scene.work.step().await, IDLE_PAUSE);
    assert!(scene.error().unwrap().contains("no budget"));
    assert_eq!(scene.toy.calls(), [4]);

    // One by one, because of one of them; then the provider fails.
    scene.toy.has(None);
    scene.shelf.add(2, "the last");
    scene.shelf.add(1, "fail");
    assert_eq!(scene.work.step().await, BATCH_PAUSE);
    assert_eq!(scene.shelf.kept(), [(2, true), (3, true)]);
    assert_eq!(scene.work.step().await, IDLE_PAUSE);
    assert!(scene.error().unwrap().contains("no answer"));
    *scene.toy.gone.lock().unwrap() = false;
    scene.shelf.add(1, "words");
    *scene.shelf.fails.lock().unwrap() = true;
    assert_eq!(scene.work.step().await, IDLE_PAUSE);
    assert!(scene.error().unwrap().contains("busy"));
    *scene.shelf.fails.lock().unwrap() = false;
    scene.run().await;
    assert_eq!(scene.shelf.kept(), [(0, true), (1, true), (2, true), (3, true)]);
    assert_eq!(scene.error(), None);
}

#[test]
fn the_embedded_text_has_words_and_files_up_to_the_limit() {
    let mut whole = Task {
        goal: Some("the goal".to_owned()),
        decisions: vec![Decision {
            choice: "a choice".to_owned(),
            reason: "a reason".to_owned(),
        }],
        constraints: vec!["a limit".to_owned()],
        tags: vec!["a tag".to_owned()],
        files_touched: vec!["src/a.rs".to_owned()],
        reasoning_trace: vec!["done".to_owned()],
        ..task("1", "asked")
    };
    assert_eq!(
        text_of(&whole),
        "asked\nthe goal\na choice\na reason\na limit\na tag\nsrc/a.rs\ndone\n"
    );
    whole.goal = Some("asked".to_owned());
    assert!(text_of(&whole).starts_with("asked\na choice"));
    whole.original_query = "é".repeat(MAX_TEXT_BYTES);
    assert_eq!(text_of(&whole).len(), MAX_TEXT_BYTES);
}
