//! The batching writer loses nothing, duplicates nothing and never blocks.

use crate::support::{
    FakeStore, Home, Mood, PATIENCE, exchanges, files_with, healthy, ids, quick, secret, step_ids,
};
use grov_domain::{
    ExchangeStore, OrchestrationStore, RecordSink, Redacted, SessionId, SessionStore, SinkHealth,
};
use grov_store::contract::sample_exchange;
use grov_store::{BatchWriter, OnCorruption, OpenOptions, Spool, SqliteStore, WriterOptions};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn start(store: &Arc<FakeStore>, options: WriterOptions) -> BatchWriter {
    BatchWriter::start(Arc::clone(store) as Arc<dyn ExchangeStore>, options).unwrap()
}

fn counts(health: &SinkHealth) -> (u64, u64, u64, u64) {
    (health.queued, health.stored, health.spooled, health.lost)
}

#[tokio::test]
async fn single_record_is_stored_without_a_flush() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Fine);
    let writer = start(&store, WriterOptions::new(home.spool()));
    writer.submit(Redacted::of(&sample_exchange("a", 1)));
    healthy(&writer, "the record is stored", |health| {
        counts(health) == (0, 1, 0, 0)
    })
    .await;
    writer.submit(Redacted::of(&sample_exchange("a", 2)));
    healthy(&writer, "the next one too", |health| {
        counts(health) == (0, 2, 0, 0)
    })
    .await;
}

#[tokio::test]
async fn records_that_arrive_during_a_pause_share_a_batch() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Stuck);
    let options = WriterOptions {
        max_batch: 100,
        slow_after: PATIENCE,
        ..WriterOptions::new(home.spool())
    };
    let writer = start(&store, options);
    let records = exchanges("a", 351);
    writer.submit(Redacted::of(&records[0].clone()));
    store
        .calls
        .subscribe()
        .wait_for(|calls| *calls == 1)
        .await
        .unwrap();
    for record in &records[1..] {
        writer.submit(Redacted::of(&record.clone()));
    }
    assert_eq!(writer.health().queued, 351);
    store.set(Mood::Fine);
    assert!(writer.flush(PATIENCE).await);
    assert_eq!(*store.batches.lock().unwrap(), [1, 100, 100, 100, 50]);
    let order: Vec<_> = records.iter().map(|record| record.id.to_string()).collect();
    assert_eq!(*store.stored.lock().unwrap(), order);
}

#[tokio::test]
async fn large_records_go_in_small_batches() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Stuck);
    let writer = start(
        &store,
        WriterOptions {
            slow_after: PATIENCE,
            ..WriterOptions::new(home.spool())
        },
    );
    let mut records = exchanges("a", 9);
    for record in &mut records[1..] {
        let prompt = grov_domain::Prompt {
            text: "x".repeat(205 << 10),
            queued: false,
        };
        record.prompts = vec![prompt; 10];
    }
    writer.submit(Redacted::of(&records[0].clone()));
    store
        .calls
        .subscribe()
        .wait_for(|calls| *calls == 1)
        .await
        .unwrap();
    for record in &records[1..] {
        writer.submit(Redacted::of(&record.clone()));
    }
    store.set(Mood::Fine);
    assert!(writer.flush(PATIENCE).await);
    assert_eq!(*store.batches.lock().unwrap(), [1, 2, 2, 2, 2]);
}

#[tokio::test]
async fn prompts_of_many_mebibytes_are_shortened_and_none_is_lost() {
    let home = Home::new();
    let store: Arc<dyn ExchangeStore> = Arc::new(home.open().await);
    let writer = BatchWriter::start(store, WriterOptions::new(home.spool())).unwrap();
    // Together larger than the writer's memory limit.
    let (count, words) = (3, 24 << 20);
    for number in 0..count {
        let mut record = exchanges("a", count)[usize::try_from(number).unwrap()].clone();
        record.prompts = vec![grov_domain::Prompt {
            text: format!("begin {}end {}", "word ".repeat(words / 5), secret()),
            queued: false,
        }];
        record.steps[0].action.command = Some("echo ".repeat(100_000));
        writer.submit(Redacted::of(&record));
    }
    let health = writer.shutdown(PATIENCE).await;
    assert_eq!((health.lost, health.queued), (0, 0), "{health:?}");
    let store = home.open().await;
    let prompts = store.prompts(&SessionId::new("a"), None).await.unwrap();
    assert_eq!(prompts.len(), usize::try_from(count).unwrap());
    for prompt in &prompts {
        let text = &prompt.text;
        assert!(text.len() <= 256 << 10, "{}", text.len());
        assert!(text.starts_with("begin word"), "{}", &text[..40]);
        assert!(text.contains(" bytes left out …]\n"));
        assert!(text.contains("word end ") && !text.contains(&secret()));
    }
    let steps = store.steps(&SessionId::new("a")).await.unwrap();
    let commands: Vec<&str> = steps.iter().filter_map(|step| step.command.as_deref()).collect();
    assert!(commands.iter().any(|command| command.contains("bytes left out")));
    assert!(commands.iter().all(|command| command.len() <= 256 << 10));
}

#[tokio::test]
async fn records_are_spooled_while_the_store_is_broken() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Broken);
    let writer = start(&store, quick(home.spool()));
    let records = exchanges("a", 50);
    for record in &records {
        writer.submit(Redacted::of(&record.clone()));
    }
    assert!(writer.flush(PATIENCE).await, "spooled counts as kept");
    let health = writer.health();
    assert_eq!((health.queued, health.lost), (0, 0));
    assert!(health.last_error.unwrap().contains("cannot be written"));
    store.set(Mood::Fine);
    // The file is deleted after its records are counted.
    healthy(&writer, "the spool is drained", |health| {
        counts(health) == (0, 50, 0, 0) && !home.spool().path().exists()
    })
    .await;
    assert_eq!(writer.health().last_error, None);
    assert_eq!(store.ids(), ids(&records));
    assert_eq!(home.spool().waiting(), 0);
}

#[tokio::test]
async fn busy_store_is_retried_before_records_are_spooled() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Busy);
    let patient = WriterOptions {
        slow_after: PATIENCE,
        ..quick(home.spool())
    };
    let writer = start(&store, patient);
    writer.submit(Redacted::of(&sample_exchange("a", 1)));
    store
        .calls
        .subscribe()
        .wait_for(|calls| *calls >= 3)
        .await
        .unwrap();
    assert_eq!(counts(&writer.health()), (1, 0, 0, 0));
    store.set(Mood::Fine);
    assert!(writer.flush(PATIENCE).await);
    assert_eq!(counts(&writer.health()), (0, 1, 0, 0));

    let writer = start(&store, quick(home.spool()));
    store.set(Mood::Busy);
    writer.submit(Redacted::of(&sample_exchange("a", 2)));
    healthy(&writer, "it is spooled", |health| counts(health) == (0, 0, 1, 0)).await;
}

#[tokio::test]
async fn stuck_store_does_not_block_the_writer() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Stuck);
    let writer = start(&store, quick(home.spool()));
    let records = exchanges("a", 40);
    for record in &records {
        writer.submit(Redacted::of(&record.clone()));
    }
    healthy(&writer, "all are spooled", |health| {
        counts(health) == (0, 0, 40, 0)
    })
    .await;
    assert_eq!(
        *store.calls.borrow(),
        1,
        "it is not asked again before it answers"
    );
    assert!(writer.health().last_error.unwrap().contains("takes longer than"));
    store.set(Mood::Fine);
    // The records are counted as stored before the drained file is removed.
    healthy(&writer, "the spool is drained", |health| {
        health.spooled == 0 && home.spool().waiting() == 0
    })
    .await;
    assert_eq!(store.ids(), ids(&records));
}

#[tokio::test]
async fn panicking_store_counts_as_broken() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Panicking);
    let writer = start(&store, quick(home.spool()));
    writer.submit(Redacted::of(&sample_exchange("a", 1)));
    healthy(&writer, "it is spooled", |health| health.spooled == 1).await;
    assert!(writer.health().last_error.unwrap().contains("panicked"));
    store.set(Mood::Fine);
    healthy(&writer, "it is stored", |health| counts(health) == (0, 1, 0, 0)).await;
}

#[cfg(unix)]
#[tokio::test]
async fn without_store_and_spool_records_wait_in_memory() {
    let home = Home::new();
    std::os::unix::fs::symlink("/dev/full", home.path().join("spool.jsonl")).unwrap();
    let store = FakeStore::new(Mood::Broken);
    let writer = start(&store, quick(home.spool()));
    let records = exchanges("a", 30);
    for record in &records {
        writer.submit(Redacted::of(&record.clone()));
    }
    healthy(&writer, "the error is reported", |health| {
        health
            .last_error
            .as_ref()
            .is_some_and(|error| error.contains("spool"))
    })
    .await;
    assert!(!writer.flush(Duration::from_millis(1)).await);
    assert_eq!(counts(&writer.health()), (30, 0, 0, 0));
    store.set(Mood::Fine);
    healthy(&writer, "they are stored", |health| {
        counts(health) == (0, 30, 0, 0)
    })
    .await;
    assert_eq!(store.ids(), ids(&records));
    assert_eq!(writer.health().last_error, None);
}

#[cfg(unix)]
#[tokio::test]
async fn memory_is_bounded_and_losses_are_counted() {
    let home = Home::new();
    std::os::unix::fs::symlink("/dev/full", home.path().join("spool.jsonl")).unwrap();
    let store = FakeStore::new(Mood::Broken);
    let writer = start(
        &store,
        WriterOptions {
            max_held_bytes: 100_000,
            ..quick(home.spool())
        },
    );
    for record in exchanges("a", 1000) {
        writer.submit(Redacted::of(&record));
    }
    let health = writer.health();
    assert_eq!(health.queued + health.lost, 1000);
    assert!((10..200).contains(&health.queued), "{health:?}");
    store.set(Mood::Fine);
    healthy(&writer, "all are stored", |now| now.queued == 0).await;
    writer.submit(Redacted::of(&sample_exchange("b", 1)));
    assert!(writer.flush(PATIENCE).await, "and there is room again");
    assert_eq!(counts(&writer.health()), (0, health.queued + 1, 0, health.lost));
}

#[tokio::test]
async fn backlog_goes_to_the_spool() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Stuck);
    let options = WriterOptions {
        max_held_bytes: 1_000_000,
        slow_after: PATIENCE,
        ..quick(home.spool())
    };
    let writer = start(&store, options);
    let records = exchanges("a", 300);
    writer.submit(Redacted::of(&records[0].clone()));
    store
        .calls
        .subscribe()
        .wait_for(|calls| *calls == 1)
        .await
        .unwrap();
    for record in &records[1..] {
        writer.submit(Redacted::of(&record.clone()));
    }
    store.set(Mood::Fine);
    assert!(writer.flush(PATIENCE).await);
    let health = writer.health();
    assert_eq!((health.queued, health.lost), (0, 0));
    assert!(
        health.stored < 300,
        "some took the way over the spool: {health:?}"
    );
    healthy(&writer, "the spool is drained", |health| {
        counts(health) == (0, 300, 0, 0)
    })
    .await;
    assert_eq!(store.ids(), ids(&records));
}

#[tokio::test]
async fn shutdown_stores_what_it_has() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Fine);
    let writer = start(
        &store,
        WriterOptions {
            linger: PATIENCE,
            ..WriterOptions::new(home.spool())
        },
    );
    writer.submit(Redacted::of(&sample_exchange("a", 0)));
    healthy(&writer, "the first is stored", |health| health.stored == 1).await;
    for record in exchanges("b", 20) {
        writer.submit(Redacted::of(&record));
    }
    let health = writer.shutdown(PATIENCE).await;
    assert_eq!(
        counts(&health),
        (0, 21, 0, 0),
        "it does not wait for the next batch's time"
    );
    writer.submit(Redacted::of(&sample_exchange("c", 1)));
    assert_eq!(writer.health().lost, 1, "what comes too late is counted");
}

#[tokio::test]
async fn shutdown_spools_what_the_store_does_not_take() {
    let home = Home::new();
    for mood in [Mood::Stuck, Mood::Broken, Mood::Busy, Mood::Panicking] {
        let store = FakeStore::new(mood);
        let spool = Spool::new(home.path().join(format!("{mood:?}.jsonl")));
        let writer = start(&store, quick(spool.clone()));
        for record in exchanges("a", 20) {
            writer.submit(Redacted::of(&record));
        }
        let health = writer.shutdown(PATIENCE).await;
        assert_eq!(counts(&health), (0, 0, 20, 0), "{mood:?}");
        assert_eq!(spool.waiting(), 20);
    }
}

#[tokio::test]
async fn dropped_writer_finishes_its_records() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Fine);
    let writer = start(&store, WriterOptions::new(home.spool()));
    for record in exchanges("a", 20) {
        writer.submit(Redacted::of(&record));
    }
    drop(writer);
    crate::support::eventually("all are stored", async || store.ids().len() == 20).await;
}

#[tokio::test]
async fn spool_of_other_processes_is_drained_at_start() {
    let home = Home::new();
    let records = exchanges("a", 700);
    let spool = home.spool();
    spool.append(&Redacted::each(&records[..400])).unwrap();
    fs::rename(spool.path(), home.path().join("spool.jsonl.draining")).unwrap();
    spool.append(&Redacted::each(&records[400..])).unwrap();
    let mut torn = fs::OpenOptions::new().append(true).open(spool.path()).unwrap();
    std::io::Write::write_all(&mut torn, b"{\"exchange\":{\"id\":").unwrap();
    let store = FakeStore::new(Mood::Fine);
    let writer = start(&store, quick(spool.clone()));
    healthy(&writer, "the spool is drained", |health| {
        counts(health) == (0, 700, 0, 0)
    })
    .await;
    assert_eq!(store.ids(), ids(&records));
    crate::support::eventually("the file is gone", async || spool.waiting() == 0).await;
}

#[tokio::test]
async fn later_spooled_records_are_drained_with_the_next_batch() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Fine);
    let writer = start(&store, quick(home.spool()));
    home.spool()
        .append(&Redacted::each(&exchanges("hook", 3)))
        .unwrap();
    let mut seconds = 0;
    crate::support::eventually("all are stored", async || {
        seconds += 1;
        writer.submit(Redacted::of(&sample_exchange("a", seconds)));
        home.spool().waiting() == 0
    })
    .await;
    assert!(ids(&exchanges("hook", 3)).is_subset(&store.ids()));
}

/// A writer for a database that may not exist.
fn start_on(home: &Home) -> BatchWriter {
    let options = OpenOptions {
        busy_timeout: Duration::from_millis(200),
        ..OpenOptions::default()
    };
    let store = SqliteStore::reopening(&home.database(), &options, OnCorruption::SetAside);
    BatchWriter::start(Arc::new(store), quick(home.spool())).unwrap()
}

#[tokio::test]
async fn records_are_stored_after_a_lock_is_released() {
    let home = Home::new();
    home.open().await;
    let mut other = SqliteConnectOptions::new()
        .filename(home.database())
        .connect()
        .await
        .unwrap();
    other.execute("BEGIN EXCLUSIVE").await.unwrap();
    let writer = start_on(&home);
    for record in exchanges("a", 100) {
        writer.submit(Redacted::of(&record));
    }
    healthy(&writer, "all are spooled", |health| {
        counts(health) == (0, 0, 100, 0)
    })
    .await;
    other.execute("COMMIT").await.unwrap();
    healthy(&writer, "the spool is drained", |health| health.spooled == 0).await;
    writer.submit(Redacted::of(&sample_exchange("a", 100)));
    assert!(writer.flush(PATIENCE).await);
    assert_eq!(step_ids(&home.open().await, &["a"]).await.len(), 202);
}

#[tokio::test]
async fn path_is_used_once_it_is_usable() {
    let home = Home::new();
    fs::create_dir(home.database()).unwrap();
    let writer = start_on(&home);
    for record in exchanges("a", 10) {
        writer.submit(Redacted::of(&record));
    }
    healthy(&writer, "all are spooled", |health| {
        counts(health) == (0, 0, 10, 0)
    })
    .await;
    assert!(writer.health().last_error.unwrap().contains("grov.db"));
    fs::remove_dir(home.database()).unwrap();
    healthy(&writer, "the spool is drained", |health| {
        counts(health) == (0, 10, 0, 0)
    })
    .await;
    assert_eq!(step_ids(&home.open().await, &["a"]).await.len(), 20);
}

#[tokio::test]
async fn damaged_database_is_replaced() {
    let home = Home::new();
    fs::write(
        home.database(),
        "this is no database, though it is long enough".repeat(100),
    )
    .unwrap();
    let writer = start_on(&home);
    writer.submit(Redacted::of(&sample_exchange("a", 1)));
    healthy(&writer, "it is stored", |health| counts(health) == (0, 1, 0, 0)).await;
    let kept = files_with(home.path(), "this is no database");
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[tokio::test]
async fn newer_schema_is_reported_and_records_are_spooled() {
    let home = Home::new();
    home.open().await.close().await.unwrap();
    let mut other = SqliteConnectOptions::new()
        .filename(home.database())
        .connect()
        .await
        .unwrap();
    other.execute("PRAGMA user_version = 99").await.unwrap();
    other.close().await.unwrap();
    let before = fs::read(home.database()).unwrap();
    let writer = start_on(&home);
    writer.submit(Redacted::of(&sample_exchange("a", 1)));
    healthy(&writer, "it is spooled", |health| counts(health) == (0, 0, 1, 0)).await;
    let error = writer.health().last_error.unwrap();
    assert!(error.contains("99") && error.contains("update Grov"), "{error}");
    assert_eq!(writer.shutdown(PATIENCE).await.spooled, 1);
    assert_eq!(fs::read(home.database()).unwrap(), before);
}

#[tokio::test]
async fn spooled_secrets_are_redacted() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Broken);
    let writer = start(&store, quick(home.spool()));
    writer.submit(Redacted::of(&crate::support::leaky_exchange("a")));
    healthy(&writer, "it is spooled", |health| health.spooled == 1).await;
    assert!(!files_with(home.path(), "curl -H").is_empty());
    assert!(files_with(home.path(), &secret()).is_empty());
}

#[tokio::test]
async fn submitting_does_not_wait_for_the_store() {
    let home = Home::new();
    let store = FakeStore::new(Mood::Stuck);
    let writer = start(
        &store,
        WriterOptions {
            slow_after: PATIENCE,
            ..WriterOptions::new(home.spool())
        },
    );
    let records = exchanges("a", 2000);
    let begin = Instant::now();
    for record in records {
        writer.submit(Redacted::of(&record));
    }
    assert!(
        begin.elapsed() < PATIENCE / 2,
        "submitting does not wait for the blocked store"
    );
    assert_eq!(counts(&writer.health()), (2000, 0, 0, 0));
}
