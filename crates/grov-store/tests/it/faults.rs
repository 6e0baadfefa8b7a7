//! A database that is locked, damaged, full or deleted, and cancelled calls.

use crate::support::{Home, abandon, exchanges, files_with, step_ids};
use grov_domain::{
    ExchangeStore, MaintenanceStore, Redacted, SessionFilter, SessionId, SessionStore, StoreError,
};
use grov_store::{OnCorruption, OpenOptions, SqliteStore, set_aside};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor, Row, SqliteConnection};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap()
}

async fn is_sound(path: &Path) -> bool {
    let row = raw(path).await.fetch_one("PRAGMA integrity_check").await.unwrap();
    row.get::<String, _>(0) == "ok"
}

#[tokio::test]
async fn locked_database_is_busy_and_then_works() {
    let home = Home::new();
    let store = SqliteStore::open(&home.database(), &OpenOptions::brief())
        .await
        .unwrap();
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    let mut other = raw(&home.database()).await;
    other.execute("BEGIN EXCLUSIVE").await.unwrap();
    let start = Instant::now();
    let error = store
        .append(&Redacted::each(&exchanges("a", 2)))
        .await
        .unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "it waits at most for its timeout"
    );
    assert_eq!(
        store.sessions(&SessionFilter::default()).await.unwrap().len(),
        1,
        "reading goes on"
    );
    other.execute("ROLLBACK").await.unwrap();
    assert_eq!(
        store.append(&Redacted::each(&exchanges("a", 2))).await.unwrap(),
        1
    );
}

#[tokio::test]
async fn writer_waits_for_another_writer() {
    let home = Home::new();
    let store = home.open().await;
    let mut other = raw(&home.database()).await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        other.execute("COMMIT").await.unwrap();
    };
    let batch = exchanges("a", 1);
    let batch = Redacted::each(&batch);
    let (stored, ()) = tokio::join!(store.append(&batch), release);
    assert_eq!(stored.unwrap(), 1);
}

#[tokio::test]
async fn cancelled_call_releases_its_lock_and_changes_nothing() {
    let home = Home::new();
    let store = home.open().await;
    for polls in 1..12 {
        let name = format!("s{polls}");
        abandon(store.append(&Redacted::each(&exchanges(&name, 100))), polls);
        let other = home.open().await;
        other
            .append(&Redacted::each(&exchanges("other", polls as i64)))
            .await
            .expect("the lock is released");
        assert_eq!(
            store
                .append(&Redacted::each(&exchanges(&name, 100)))
                .await
                .unwrap()
                % 100,
            0,
            "all or nothing"
        );
        assert_eq!(step_ids(&store, &[&name]).await.len(), 200);
    }
    assert!(is_sound(&home.database()).await);
}

fn overwrite(path: &Path, offset: u64, length: usize) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(&vec![0xA5; length]).unwrap();
}

/// A closed database of many pages.
async fn large(home: &Home) {
    let store = home.open().await;
    store.append(&Redacted::each(&exchanges("a", 500))).await.unwrap();
    store.close().await.unwrap();
    assert!(fs::metadata(home.database()).unwrap().len() > 120 * 4096);
}

#[tokio::test]
async fn damaged_header_is_corrupt_and_set_aside_keeps_the_bytes() {
    let home = Home::new();
    large(&home).await;
    overwrite(&home.database(), 0, 100);
    let damaged = fs::read(home.database()).unwrap();
    let error = SqliteStore::open(&home.database(), &OpenOptions::default())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    assert_eq!(
        fs::read(home.database()).unwrap(),
        damaged,
        "opening changes nothing"
    );

    let kept = set_aside(&home.database()).await.unwrap();
    assert!(
        kept.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("grov.db.corrupt-")
    );
    assert_eq!(fs::read(&kept).unwrap(), damaged);
    assert_eq!(
        home.open()
            .await
            .append(&Redacted::each(&exchanges("a", 1)))
            .await
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn side_files_are_set_aside_too() {
    let home = Home::new();
    let store = home.open().await;
    store.append(&Redacted::each(&exchanges("a", 3))).await.unwrap();
    let log = fs::read(home.path().join("grov.db-wal")).unwrap();
    assert!(!log.is_empty());
    let kept = set_aside(&home.database()).await.unwrap();
    let kept_log = format!("{}-wal", kept.display());
    assert_eq!(fs::read(kept_log).unwrap(), log);
    assert!(!home.path().join("grov.db-wal").exists() && !home.database().exists());
    assert!(
        set_aside(&home.database()).await.is_err(),
        "there is nothing left to set aside"
    );
}

#[tokio::test]
async fn damaged_pages_are_set_aside_and_recording_goes_on() {
    let home = Home::new();
    large(&home).await;
    overwrite(&home.database(), 4096, 90 * 4096);
    let strict = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
    let error = strict
        .append(&Redacted::each(&exchanges("a", 600)))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");

    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::SetAside);
    assert_eq!(
        store.append(&Redacted::each(&exchanges("a", 600))).await.unwrap(),
        600,
        "a new database took them"
    );
    let kept = fs::read_dir(home.path()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        name.starts_with("grov.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    assert_eq!(kept.count(), 1);
    assert!(is_sound(&home.database()).await);
}

#[tokio::test]
async fn the_call_after_the_one_that_finds_damage_works() {
    let home = Home::new();
    large(&home).await;
    // Not in a page that opening reads.
    overwrite(&home.database(), 110 * 4096, 40 * 4096);
    let ask = async |store: &SqliteStore| store.steps(&SessionId::new("a")).await;
    let strict = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
    strict.reopen().await.unwrap();
    for _ in 0..2 {
        let error = ask(&strict).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    }
    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::SetAside);
    store.reopen().await.unwrap();
    let error = ask(&store).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    assert_eq!(ask(&store).await.unwrap(), [], "a new database has begun");
    assert!(is_sound(&home.database()).await);
}

#[tokio::test]
async fn concurrent_stores_set_the_same_damage_aside_once() {
    // The timing differs from round to round.
    for _ in 0..5 {
        let home = Home::new();
        large(&home).await;
        overwrite(&home.database(), 0, 4096);
        let append = async |number: usize| {
            let store =
                SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::SetAside);
            store
                .append(&Redacted::each(&exchanges(&format!("s{number}"), 1)))
                .await
        };
        let results = futures_util::future::join_all((0..6).map(append)).await;
        assert!(
            results.iter().all(|result| matches!(result, Ok(1))),
            "{results:?}"
        );
        assert_eq!(
            home.open()
                .await
                .sessions(&SessionFilter::default())
                .await
                .unwrap()
                .len(),
            6
        );
    }
}

#[tokio::test]
async fn a_store_that_must_exist_creates_nothing() {
    let home = Home::new();
    let options = OpenOptions {
        must_exist: true,
        ..OpenOptions::default()
    };
    let store = SqliteStore::reopening(&home.database(), &options, OnCorruption::Fail);
    let ask = async |store: &SqliteStore| store.sessions(&SessionFilter::default()).await;
    assert!(ask(&store).await.is_err());
    assert!(!home.database().exists());
    home.open().await;
    assert_eq!(ask(&store).await.unwrap(), []);
    std::fs::remove_dir_all(home.database().parent().unwrap()).unwrap();
    for _ in 0..2 {
        let _ = ask(&store).await;
    }
    assert!(!home.database().parent().unwrap().exists());
}

#[tokio::test]
async fn full_disk_is_reported_and_survived() {
    let home = Home::new();
    home.open()
        .await
        .append(&Redacted::each(&exchanges("a", 5)))
        .await
        .unwrap();
    let pages = {
        let row = raw(&home.database())
            .await
            .fetch_one("PRAGMA page_count")
            .await
            .unwrap();
        row.get::<i64, _>(0) as u32
    };
    let tight = OpenOptions {
        max_pages: Some(pages + 2),
        ..OpenOptions::default()
    };
    let store = SqliteStore::open(&home.database(), &tight).await.unwrap();
    let error = store
        .append(&Redacted::each(&exchanges("b", 500)))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert_eq!(
        step_ids(&store, &["a", "b"]).await.len(),
        10,
        "nothing of the batch is left"
    );
    assert_eq!(
        store.append(&Redacted::each(&exchanges("a", 6))).await.unwrap(),
        1,
        "what fits is still taken"
    );
    assert_eq!(
        home.open()
            .await
            .append(&Redacted::each(&exchanges("b", 500)))
            .await
            .unwrap(),
        500
    );
    assert!(is_sound(&home.database()).await);
}

#[tokio::test]
async fn deleted_database_is_noticed() {
    let home = Home::new();
    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    assert!(store.is_current());
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(home.path().join(format!("grov.db{suffix}"))).unwrap();
    }
    assert!(!store.is_current());
    store.append(&Redacted::each(&exchanges("b", 1))).await.unwrap();
    assert_eq!(
        step_ids(&home.open().await, &["b"]).await.len(),
        2,
        "it went into a new file"
    );
}

#[tokio::test]
async fn write_to_a_replaced_database_fails() {
    let home = Home::new();
    let store = home.open().await;
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    let own = with_log(&home).await;
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(home.path().join(format!("grov.db{suffix}"))).unwrap();
    }
    own.append(&Redacted::each(&exchanges("c", 1))).await.unwrap();
    let error = store
        .append(&Redacted::each(&exchanges("d", 1)))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
    assert!(error.to_string().contains("write it again"), "{error}");
    assert_eq!(found_after_a_kill(&home, &["a", "b", "c", "d"]).await, 6);
}

/// A store with session "a" in the database file and session "b" only in the log.
async fn with_log(home: &Home) -> SqliteStore {
    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::SetAside);
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    store.close().await.unwrap();
    store.append(&Redacted::each(&exchanges("b", 1))).await.unwrap();
    assert!(store.is_current());
    store
}

/// The sessions that the next process finds if this one is killed now.
async fn found_after_a_kill(home: &Home, names: &[&str]) -> usize {
    let killed = Home::new();
    for suffix in ["", "-wal"] {
        let from = home.path().join(format!("grov.db{suffix}"));
        if from.exists() {
            fs::copy(from, killed.path().join(format!("grov.db{suffix}"))).unwrap();
        }
    }
    let found = step_ids(&killed.open().await, names).await.len();
    assert!(is_sound(&killed.database()).await);
    found
}

fn set_asides(home: &Home) -> usize {
    let names = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| {
            name.starts_with("grov.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .count()
}

fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o077 == 0
}

#[tokio::test]
async fn deleting_the_log_in_use_loses_no_record() {
    for gone in [&["-wal", "-shm"][..], &["-wal"], &["-shm"]] {
        let home = Home::new();
        let store = with_log(&home).await;
        // Another store of the same process, as in the daemon.
        let other = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
        other
            .append(&Redacted::each(&exchanges("other", 1)))
            .await
            .unwrap();
        for suffix in gone {
            fs::remove_file(home.path().join(format!("grov.db{suffix}"))).unwrap();
        }
        assert!(!store.is_current(), "{gone:?}");
        store.append(&Redacted::each(&exchanges("c", 1))).await.unwrap();
        assert!(store.is_current());
        other.append(&Redacted::each(&exchanges("d", 1))).await.unwrap();
        let names = ["a", "b", "other", "c", "d"];
        assert_eq!(found_after_a_kill(&home, &names).await, 10, "{gone:?}");
        assert!(is_private(&home.database()));
        let is_foreign = gone == ["-shm"];
        assert_eq!(set_asides(&home), usize::from(is_foreign), "{gone:?}");
    }
}

#[tokio::test]
async fn deleted_log_is_saved_by_the_next_call() {
    use grov_domain::SwitchStore;
    let home = Home::new();
    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(home.path().join(format!("grov.db{suffix}"))).unwrap();
    }
    store.revision().await.unwrap();
    assert_eq!(found_after_a_kill(&home, &["a"]).await, 2);
}

#[tokio::test]
async fn new_log_of_another_process_is_kept() {
    let home = Home::new();
    let store = with_log(&home).await;
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(home.path().join(format!("grov.db{suffix}"))).unwrap();
    }
    fs::write(home.path().join("grov.db-wal"), "frames of another process").unwrap();
    store.append(&Redacted::each(&exchanges("c", 1))).await.unwrap();
    assert_eq!(found_after_a_kill(&home, &["a", "b", "c"]).await, 6);
    assert_eq!(set_asides(&home), 1);
    assert_eq!(files_with(home.path(), "frames of another process").len(), 1);
}

#[tokio::test]
async fn overwriting_the_log_loses_only_its_content() {
    let spoil: [fn(&Path); 3] = [
        |log| overwrite(log, 0, fs::metadata(log).unwrap().len() as usize),
        |log| fs::write(log, "").unwrap(),
        |log| fs::write(log, "oops").unwrap(),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let home = Home::new();
        let store = with_log(&home).await;
        spoil(&home.path().join("grov.db-wal"));
        store.append(&Redacted::each(&exchanges("c", 1))).await.unwrap();
        store.append(&Redacted::each(&exchanges("d", 1))).await.unwrap();
        assert_eq!(
            found_after_a_kill(&home, &["a", "c", "d"]).await,
            6,
            "way {number}"
        );
        assert_eq!(set_asides(&home), 1, "way {number}");
    }
}

#[tokio::test]
async fn a_read_that_finds_damaged_frames_does_not_write_them_into_the_database() {
    let home = Home::new();
    let other = with_log(&home).await;
    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::SetAside);
    store.reopen().await.unwrap();
    other.close().await.unwrap();
    // Overwrites all frames, after a header that stays valid.
    let log = home.path().join("grov.db-wal");
    let length = fs::metadata(&log).unwrap().len() as usize;
    overwrite(&log, 32, length - 32);
    let error = store.steps(&SessionId::new("b")).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    assert!(!store.is_current());
    // The thread of a dropped connection would delete the log about now.
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(log.exists());
    }
    store.reopen().await.unwrap();
    assert!(store.is_current());
    assert_eq!(found_after_a_kill(&home, &["a"]).await, 2);
    assert_eq!(set_asides(&home), 1);
}

#[tokio::test]
async fn deleting_the_log_of_another_process_loses_only_its_content() {
    let home = Home::new();
    // Keeps the log's index open, so that every new connection looks for frames in an empty log.
    let other = with_log(&home).await;
    fs::remove_file(home.path().join("grov.db-wal")).unwrap();
    let plain = home.open().await;
    let error = plain
        .append(&Redacted::each(&exchanges("c", 1)))
        .await
        .unwrap_err();
    drop(plain);
    assert!(
        error.to_string().contains("a running grov-proxyd repairs it"),
        "{error}"
    );
    let store = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::SetAside);
    store.append(&Redacted::each(&exchanges("c", 1))).await.unwrap();
    assert_eq!(found_after_a_kill(&home, &["a", "c"]).await, 4);
    assert_eq!(set_asides(&home), 1);
    drop(other);
}

#[tokio::test]
async fn database_is_not_set_aside_before_there_is_a_copy() {
    let home = Home::new();
    let store = with_log(&home).await;
    store.close().await.unwrap();
    overwrite(&home.database(), 0, 100);
    let damaged = fs::read(home.database()).unwrap();
    // No copy can be made, as on a full disk.
    let copy = home.path().join("grov.db.rescued");
    fs::create_dir_all(copy.join("in the way")).unwrap();
    let error = store
        .append(&Redacted::each(&exchanges("c", 1)))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
    assert_eq!(set_asides(&home), 0);
    assert_eq!(fs::read(home.database()).unwrap(), damaged);
    fs::remove_dir_all(&copy).unwrap();
    assert_eq!(
        store.append(&Redacted::each(&exchanges("c", 1))).await.unwrap(),
        1
    );
}

#[tokio::test]
async fn copy_replaces_the_database_after_a_kill_between_renames() {
    for is_reader in [false, true] {
        let home = Home::new();
        let store = with_log(&home).await;
        store.close().await.unwrap();
        set_aside(&home.database()).await.unwrap();
        let kept = grov_store::set_aside_databases(&home.database()).remove(0);
        let copy = home.path().join("grov.db.rescued");
        fs::copy(kept, &copy).unwrap();
        let options = OpenOptions::brief();
        let store = match is_reader {
            true => SqliteStore::open_existing(&home.database(), &options)
                .await
                .unwrap()
                .unwrap(),
            false => home.open().await,
        };
        assert_eq!(step_ids(&store, &["a", "b"]).await.len(), 4);
        assert!(!copy.exists());
    }
}

#[tokio::test]
async fn incomplete_copy_is_not_used() {
    let home = Home::new();
    let copy = home.path().join("grov.db.rescued");
    fs::write(&copy, "SQLite format 3\0 and no more").unwrap();
    assert_eq!(
        home.open()
            .await
            .append(&Redacted::each(&exchanges("a", 1)))
            .await
            .unwrap(),
        1
    );
    home.open().await;
    assert!(
        !copy.exists(),
        "it cannot take the place of a newer database either"
    );
}

#[tokio::test]
async fn log_with_an_invalid_header_loses_no_record() {
    let home = Home::new();
    let store = with_log(&home).await;
    overwrite(&home.path().join("grov.db-wal"), 4, 8);
    assert!(!store.is_current());
    store.append(&Redacted::each(&exchanges("c", 1))).await.unwrap();
    assert_eq!(found_after_a_kill(&home, &["a", "b", "c"]).await, 6);
}

#[tokio::test]
async fn missing_directory_is_used_once_it_exists() {
    let home = Home::new();
    let blocker = home.path().join("later");
    fs::write(&blocker, "").unwrap();
    let store = SqliteStore::reopening(
        &blocker.join("grov.db"),
        &OpenOptions::default(),
        OnCorruption::SetAside,
    );
    let error = store
        .append(&Redacted::each(&exchanges("a", 1)))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
    fs::remove_file(&blocker).unwrap();
    assert_eq!(
        store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap(),
        1
    );
}

#[tokio::test]
async fn pruning_shrinks_the_file() {
    let home = Home::new();
    let store = home.open().await;
    store
        .append(&Redacted::each(&exchanges("a", 2000)))
        .await
        .unwrap();
    store.close().await.unwrap();
    let before = fs::metadata(home.database()).unwrap().len();
    let now = time::OffsetDateTime::now_utc() + Duration::from_secs(3600 * 24 * 365 * 20);
    store
        .prune(&grov_domain::Retention::default(), now, false)
        .await
        .unwrap();
    store.close().await.unwrap();
    let after = fs::metadata(home.database()).unwrap().len();
    assert!(after < before / 4, "{before} bytes became {after}");
}

#[tokio::test]
async fn no_file_holds_a_secret() {
    let home = Home::new();
    let store = home.open().await;
    store
        .append(&Redacted::each(&[crate::support::leaky_exchange("a")]))
        .await
        .unwrap();
    assert!(
        !files_with(home.path(), "curl -H").is_empty(),
        "the rest of the text is there"
    );
    assert!(files_with(home.path(), &crate::support::secret()).is_empty());
    store.close().await.unwrap();
    assert!(files_with(home.path(), &crate::support::secret()).is_empty());
}
