//! Measures the ledger operations in a request: adopting a lineage with 10,000 lineages of 100 tips in the ledger, and
//! a decision while batches of 256 records are written.
//!
//! `cargo bench -p grov-store --bench ledger`
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs
)]

use grov_domain::{
    ClientSessionId, HistoryKey, LedgerEntry, LedgerStore, Lineage, LineageTip, NewLineage, RecordSink,
    Redacted, SwitchStore, TaskId,
};
use grov_store::contract::sample_exchange;
use grov_store::{BatchWriter, OpenOptions, Spool, SqliteStore, WriterOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

const LINEAGES: u64 = 10_000;
const TIPS: u64 = 100;
const HISTORY: u64 = 3_000;
/// The time limit in a request.
const BUDGET: Duration = Duration::from_millis(8);
const DECISIONS: u64 = 2_000;
/// Pause between two decisions during writes: decisions without other writes would checkpoint the same pages
/// repeatedly.
const BETWEEN: Duration = Duration::from_millis(20);

/// Evenly distributed keys.
fn key(lineage: u64, place: u64) -> HistoryKey {
    let mut value = u128::from(lineage + 1) << 64 | u128::from(place + 1);
    for _ in 0..3 {
        value = value.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) ^ (value >> 59);
    }
    HistoryKey(value)
}

fn lineage(name: &str, number: u64) -> Lineage {
    Lineage {
        session: ClientSessionId::new(format!("{name}-{number:08}")),
        agent: None,
    }
}

fn standing(number: u64, place: u64) -> LineageTip {
    LineageTip {
        lineage: lineage("old", number),
        project_path: "/p".to_owned(),
        model: "m".to_owned(),
        tip: Some(key(number, place)),
        nothing_at: Vec::new(),
        at: OffsetDateTime::now_utc(),
    }
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{what}: {} times, p50 {:?}, p99 {:?}, longest {:?}",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

async fn first_sights(store: &SqliteStore, what: &str, history: impl Fn(u64) -> Vec<HistoryKey>) {
    let mut times = Vec::new();
    for number in 0..200 {
        let new = NewLineage {
            lineage: lineage(what, number),
            project_path: "/p".to_owned(),
            model: "m".to_owned(),
            history: history(number),
            at: OffsetDateTime::now_utc(),
        };
        let start = Instant::now();
        store.adopt(&new).await.unwrap();
        times.push(start.elapsed());
    }
    report(what, times);
}

async fn decisions(store: &SqliteStore, what: &str, pause: Duration, turn: u64) {
    let (mut times, mut kept, mut late) = (Vec::new(), 0u64, 0u64);
    for number in 0..DECISIONS {
        let entry = LedgerEntry {
            anchor: key(number, 1_000_000 + turn),
            block: Some("x".repeat(2000)),
            memories: vec![TaskId::new("m")],
            decided_at: OffsetDateTime::now_utc(),
        };
        let start = Instant::now();
        let decided = store
            .decide(
                &lineage("old", number % LINEAGES),
                &entry.redacted(),
                start + BUDGET,
            )
            .await;
        let time = start.elapsed();
        kept += u64::from(decided.unwrap());
        late += u64::from(time > BUDGET);
        times.push(time);
        tokio::time::sleep(pause).await;
    }
    println!(
        "{what}: {} of {DECISIONS} not kept, {late} answered after more than {BUDGET:?}",
        DECISIONS - kept
    );
    report(what, times);
}

/// Measures the round trip to the connection's thread.
async fn trips(store: &SqliteStore) {
    let mut times = Vec::new();
    for _ in 0..DECISIONS {
        let start = Instant::now();
        store.revision().await.unwrap();
        times.push(start.elapsed());
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    report("one read", times);
}

async fn known(store: &SqliteStore) {
    let mut times = Vec::new();
    for number in 0..DECISIONS {
        let start = Instant::now();
        store.lineage(&lineage("old", number % LINEAGES)).await.unwrap();
        times.push(start.elapsed());
    }
    report("a lineage that is known", times);
}

/// Decides while batches of this size are recorded.
async fn concurrently(store: &Arc<SqliteStore>, what: &str, records: i64, pause: Duration, turn: u64) {
    let path = store.path();
    let writer = BatchWriter::start(
        Arc::clone(store) as Arc<_>,
        WriterOptions::new(Spool::for_database(path)),
    )
    .unwrap();
    let writer = Arc::new(writer);
    let load = {
        let writer = Arc::clone(&writer);
        let session = format!("load-{turn}");
        tokio::spawn(async move {
            for round in 0.. {
                for record in 0..records {
                    writer.submit(Redacted::of(&sample_exchange(&session, round * records + record)));
                }
                tokio::time::sleep(pause).await;
            }
        })
    };
    decisions(store, what, BETWEEN, turn).await;
    load.abort();
    println!("{what}: {:?}", writer.health());
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grov.db");
    let store = Arc::new(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap());
    for number in 0..LINEAGES {
        let tips: Vec<_> = (0..TIPS).map(|place| standing(number, place)).collect();
        store.note_tips(&tips).await.unwrap();
    }
    store.close().await.unwrap();
    println!(
        "database: {} MB",
        std::fs::metadata(&path).unwrap().len() / 1_000_000
    );
    first_sights(&store, "nothing to continue", |number| {
        (0..HISTORY).map(|place| key(LINEAGES + number, place)).collect()
    })
    .await;
    first_sights(&store, "a fork", |number| {
        (0..HISTORY)
            .map(|place| match place.checked_sub(HISTORY - TIPS) {
                Some(tip) => key(number, tip),
                None => key(number, 10_000 + place),
            })
            .collect()
    })
    .await;
    known(&store).await;
    trips(&store).await;
    decisions(&store, "decision alone", Duration::from_millis(3), 0).await;
    // Checkpointing the grown log is left to the next writer.
    store.note_tips(&[standing(0, 1_000)]).await.unwrap();
    concurrently(
        &store,
        "decision with 5 records per second",
        1,
        Duration::from_millis(200),
        1,
    )
    .await;
    concurrently(
        &store,
        "decision with batches of 256",
        256,
        Duration::from_millis(100),
        2,
    )
    .await;
}
