//! Measures a store: recall and time of vector search against an exact search, word search, and ingestion.
//!
//! `store_speed [sqlite|postgres|URL] [CHUNKS] [PROJECTS] [MEGABYTES]`; the defaults are small. With `postgres` it starts a
//! server of its own (`scripts/install-postgres`); a URL leads to an empty database.
#![allow(clippy::print_stdout, reason = "it prints what it measured")]
#![allow(clippy::unwrap_used, reason = "it ends with the first error")]

use grov_agent::{
    AgentStore, Category, DocumentId, DocumentStore, Embeddable, Ingestor, NewChunk, NewDocument, Page,
    Project, ProjectId, ProjectStore, SearchBy, SearchFilter, SearchScope, SearchStore, Upload,
};
use grov_agent_store::contract::postgres::PostgresServer;
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_domain::{Clock, Embedding, SystemClock};
use grov_redact::{Redacted, Redactor};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const DIMENSION: usize = 384;
const CLUSTERS: usize = 300;
const DOCUMENT: usize = 100;
const QUESTIONS: usize = 400;
const FOUND: usize = 10;

/// Numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// About normally distributed.
    fn normal(&mut self) -> f32 {
        let sum: f32 = (0..4)
            .map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32)
            .sum();
        (sum - 2.0) * 1.732
    }

    fn near(&mut self, center: &[f32]) -> Vec<f32> {
        normalized(center.iter().map(|value| value + 0.06 * self.normal()).collect())
    }

    /// Words whose frequencies fall as in a language.
    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let rank = 2.0_f64.powf((self.next() % 1_000) as f64 / 1_000.0 * 15.0) as usize;
            let _ = write!(text, "{} ", word(rank));
            if self.below(12) == 0 {
                text.pop();
                text.push_str(". ");
            }
        }
        text
    }
}

fn word(mut number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "ro", "mi", "ten", "sol", "ve", "dar", "lin", "pu", "gos", "be", "tra", "ni", "fel", "zo", "ha",
    ];
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[number % 16]);
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}

fn normalized(values: Vec<f32>) -> Vec<f32> {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

/// A stored chunk with its exact vector.
struct Known {
    project: usize,
    category: Category,
    text: String,
    vector: Vec<f32>,
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "sqlite".to_owned());
    let mut number = |default: usize| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (chunks, projects, megabytes) = (number(2_000), number(4), number(1));
    let folder = tempfile::tempdir().unwrap();
    let server = (kind == "postgres").then(|| PostgresServer::start().unwrap());
    let url = match &server {
        Some(server) => server.database("measured").await,
        None if kind == "sqlite" => format!("sqlite:{}", folder.path().join("agent.db").display()),
        None => kind.clone(),
    };
    let database = AgentDatabase::open(&url, &DatabaseOptions::default())
        .await
        .unwrap();
    let database = Arc::new(database);
    let kind = database.health().await.kind;
    println!("{kind}: {chunks} chunks of {DIMENSION} dimensions in {projects} projects");
    ingest(&database, megabytes).await;
    let (projects, known, centers) = fill(&database, chunks, projects).await;
    by_vectors(&*database, &projects, &known, &centers).await;
    by_words(&*database, &projects).await;
    database.close().await;
}

async fn project(store: &dyn AgentStore) -> ProjectId {
    let project = Project {
        id: ProjectId::fresh(),
        name: "Measured".to_owned(),
        role_statement: String::new(),
        created_at: SystemClock.now(),
    };
    store.create_project(&Redacted::of(&project)).await.unwrap();
    project.id
}

/// Markdown from the bytes to the index, without embeddings.
async fn ingest(database: &Arc<AgentDatabase>, megabytes: usize) {
    let project = project(&**database).await;
    let mut numbers = Numbers(7);
    let documents: Vec<String> = (0..megabytes)
        .map(|number| {
            let mut text = format!("# Document {number}\n\n");
            while text.len() < 1_000_000 {
                let _ = write!(text, "## {}\n\n{}\n\n", numbers.text(30), numbers.text(900));
                let _ = write!(text, "{}\n\n", numbers.text(700));
            }
            text
        })
        .collect();
    let ingestor = Ingestor::new(Arc::clone(database) as Arc<dyn AgentStore>, Arc::new(SystemClock));
    let (start, mut chunks) = (Instant::now(), 0);
    let mut storing = Duration::ZERO;
    for (number, text) in documents.into_iter().enumerate() {
        let upload = Upload {
            project,
            title: format!("document {number}"),
            category: Category::Facts,
            content_type: Some("text/markdown".to_owned()),
            file_name: None,
            bytes: text.into_bytes(),
        };
        let prepared = grov_agent::prepare(&upload, SystemClock.now()).unwrap();
        let stored = Instant::now();
        chunks += ingestor.store(prepared).await.unwrap().stored.document.chunks;
        storing += stored.elapsed();
    }
    println!(
        "ingestion: {megabytes} MB, {chunks} chunks in {:.2} s, of which storing {:.2} s",
        start.elapsed().as_secs_f64(),
        storing.as_secs_f64()
    );
    database.delete_project(project).await.unwrap();
}

async fn fill(
    database: &AgentDatabase,
    chunks: usize,
    projects: usize,
) -> (Vec<ProjectId>, HashMap<String, Known>, Vec<Vec<f32>>) {
    let mut numbers = Numbers(42);
    let centers: Vec<Vec<f32>> = (0..CLUSTERS)
        .map(|_| normalized((0..DIMENSION).map(|_| numbers.normal()).collect()))
        .collect();
    let mut ids = Vec::new();
    for _ in 0..projects {
        ids.push(project(database).await);
    }
    database.use_model("measured", DIMENSION).await.unwrap();
    let mut known = HashMap::new();
    let (mut storing, mut embedding) = (Duration::ZERO, Duration::ZERO);
    for document in 0..chunks / DOCUMENT {
        let place = document % projects;
        let category = Category::ALL[document / projects % 3];
        let texts: Vec<Redacted> = (0..DOCUMENT)
            .map(|_| Redactor::shared().whole(&numbers.text(400)))
            .collect();
        let start = Instant::now();
        let id = store(database, ids[place], category, document, &texts).await;
        storing += start.elapsed();
        let page = Page {
            limit: 1_000,
            after: None,
        };
        let stored = database.chunks(ids[place], id, &page).await.unwrap().items;
        let mut embeddings = Vec::new();
        for chunk in stored {
            let cluster = numbers.below(CLUSTERS);
            let vector = numbers.near(&centers[cluster]);
            embeddings.push((Embeddable::Chunk(chunk.id), Embedding::of(&vector)));
            let entry = Known {
                project: place,
                category,
                text: chunk.text,
                vector,
            };
            known.insert(chunk.id.to_string(), entry);
        }
        let start = Instant::now();
        database.store_embeddings("measured", &embeddings).await.unwrap();
        embedding += start.elapsed();
    }
    println!(
        "filled: storing {:.1} s, embeddings {:.1} s",
        storing.as_secs_f64(),
        embedding.as_secs_f64()
    );
    (ids, known, centers)
}

async fn store(
    database: &AgentDatabase,
    project: ProjectId,
    category: Category,
    number: usize,
    texts: &[Redacted],
) -> DocumentId {
    let mut start = 0;
    let chunk = |text: &Redacted| {
        let end = start + text.len() as u64;
        let chunk = NewChunk {
            heading_path: Vec::new(),
            text: text.clone(),
            range: start..end,
        };
        start = end;
        chunk
    };
    let chunks: Vec<NewChunk> = texts.iter().map(chunk).collect();
    let new = NewDocument {
        project,
        title: Redactor::shared().whole(&format!("document {number}")),
        category,
        content_type: "text/plain".to_owned(),
        sha256: number.to_string(),
        bytes: start,
        chunks,
        now: SystemClock.now(),
    };
    database.store_document(&new).await.unwrap().document.id
}

async fn by_vectors(
    store: &dyn AgentStore,
    projects: &[ProjectId],
    known: &HashMap<String, Known>,
    centers: &[Vec<f32>],
) {
    let mut numbers = Numbers(4711);
    let (mut hits, mut times) = (0, Vec::new());
    for _ in 0..QUESTIONS {
        let project = numbers.below(projects.len());
        let category = Category::ALL[numbers.below(3)];
        let center = numbers.below(centers.len());
        let question = numbers.near(&centers[center]);
        let mut exact: Vec<(f32, &String)> = known
            .iter()
            .filter(|(_, known)| known.project == project && known.category == category)
            .map(|(id, known)| (dot(&question, &known.vector), id))
            .collect();
        exact.sort_by(|one, other| other.0.total_cmp(&one.0));
        let filter = SearchFilter {
            categories: vec![category],
            ..SearchFilter::default()
        };
        let embedding = Embedding::of(&question).unwrap();
        let by = SearchBy::Vector {
            model: "measured",
            embedding: &embedding,
        };
        let start = Instant::now();
        let found = store
            .find_chunks(&by, &scope(projects[project], &filter))
            .await
            .unwrap();
        times.push(start.elapsed());
        for (_, id) in exact.iter().take(FOUND) {
            hits += usize::from(found.iter().any(|found| found.id.to_string() == **id));
        }
        assert!(
            found
                .iter()
                .all(|found| known[&found.id.to_string()].text == found.text)
        );
    }
    let recall = hits as f64 / (QUESTIONS * FOUND) as f64;
    println!("vectors: recall@{FOUND} {recall:.4}, {}", percentiles(times));
}

async fn by_words(store: &dyn AgentStore, projects: &[ProjectId]) {
    let mut numbers = Numbers(99);
    let (mut found, mut times) = (0, Vec::new());
    for _ in 0..QUESTIONS {
        let text = numbers.text(60);
        let words: Vec<String> = text.split(['.', ' ']).map(str::to_owned).collect();
        let filter = SearchFilter::default();
        let project = projects[numbers.below(projects.len())];
        let start = Instant::now();
        let chunks = store
            .find_chunks(&SearchBy::Words(&words), &scope(project, &filter))
            .await
            .unwrap();
        times.push(start.elapsed());
        found += chunks.len();
    }
    println!("words: {found} found, {}", percentiles(times));
}

fn scope(project: ProjectId, filter: &SearchFilter) -> SearchScope<'_> {
    SearchScope {
        project,
        filter,
        limit: FOUND as u32,
        now: SystemClock.now(),
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    format!("p50 {:.1} ms, p99 {:.1} ms", at(50), at(99))
}
