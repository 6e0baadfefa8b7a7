//! The spool file.

use crate::support::{FakeStore, Home, Mood, exchanges, files_with, ids, leaky_exchange, secret};
use grov_domain::Redacted;
use grov_domain::StoreError;
use grov_store::{DrainReport, SpoolError, drain_spool};
use std::fs;
use std::io::Write;

#[tokio::test]
async fn spooled_records_are_drained_unchanged() {
    let home = Home::new();
    let (spool, store) = (home.spool(), home.open().await);
    let records = exchanges("a", 300);
    spool.append(&Redacted::each(&records[..299])).unwrap();
    spool.append(&[Redacted::of(&records[299])]).unwrap();
    assert_eq!(spool.waiting(), 300);
    let report = drain_spool(&store, &spool).await.unwrap();
    assert_eq!(
        report,
        DrainReport {
            drained: 300,
            rejected: 0
        }
    );
    assert_eq!((spool.waiting(), spool.path().exists()), (0, false));
    let direct = Home::new();
    let other = direct.open().await;
    grov_domain::ExchangeStore::append(&other, &Redacted::each(&records))
        .await
        .unwrap();
    use grov_domain::{SessionId, SessionStore};
    let session = SessionId::new("a");
    assert_eq!(
        store.session(&session).await.unwrap(),
        other.session(&session).await.unwrap()
    );
    assert_eq!(
        store.steps(&session).await.unwrap(),
        other.steps(&session).await.unwrap()
    );
    assert_eq!(drain_spool(&store, &spool).await.unwrap(), DrainReport::default());
}

#[cfg(unix)]
#[test]
fn spool_is_private_and_redacted() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.spool()
        .append(&Redacted::each(&[leaky_exchange("a")]))
        .unwrap();
    for entry in fs::read_dir(home.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(
            entry.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{entry:?}"
        );
    }
    assert!(
        !files_with(home.path(), "curl -H").is_empty(),
        "the rest of the text is there"
    );
    assert!(files_with(home.path(), &secret()).is_empty());
}

#[tokio::test]
async fn incomplete_lines_lose_only_themselves() {
    let home = Home::new();
    let spool = home.spool();
    let records = exchanges("a", 3);
    spool.append(&Redacted::each(&records[..1])).unwrap();
    let whole = fs::read(spool.path()).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(spool.path()).unwrap();
    file.write_all(&whole[..whole.len() / 2]).unwrap();
    spool.append(&Redacted::each(&records[1..2])).unwrap();
    file.write_all(b"\n\xff\xfe not json\n{\"task\":{}}\n\n").unwrap();
    spool.append(&Redacted::each(&records[2..])).unwrap();
    file.write_all(&whole[..10]).unwrap();

    let store = FakeStore::new(Mood::Fine);
    let report = drain_spool(&*store, &spool).await.unwrap();
    assert_eq!(
        report,
        DrainReport {
            drained: 3,
            rejected: 4
        }
    );
    assert_eq!(store.ids(), ids(&records));
    let rejected = fs::read(home.path().join("spool.jsonl.rejected")).unwrap();
    let lines: Vec<&[u8]> = rejected.split(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 5, "each on its line, and nothing after the last");
    assert_eq!(
        (lines[0], lines[2]),
        (&whole[..whole.len() / 2], &b"{\"task\":{}}"[..])
    );
    assert_eq!(spool.waiting(), 0);
}

#[tokio::test]
async fn failed_drain_keeps_everything_for_the_next() {
    let home = Home::new();
    let spool = home.spool();
    let records = exchanges("a", 600);
    spool.append(&Redacted::each(&records[..590])).unwrap();
    let store = FakeStore::new(Mood::Broken);
    let error = drain_spool(&*store, &spool).await.unwrap_err();
    assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
    assert_eq!(spool.waiting(), 590);
    spool.append(&Redacted::each(&records[590..])).unwrap();
    assert_eq!(spool.waiting(), 600);
    store.set(Mood::Fine);
    assert_eq!(drain_spool(&*store, &spool).await.unwrap().drained, 600);
    assert_eq!(store.ids(), ids(&records));
    assert_eq!(spool.waiting(), 0);
}

#[tokio::test]
async fn only_one_drain_runs_while_appending_continues() {
    let home = Home::new();
    let spool = home.spool();
    let records = exchanges("a", 10);
    spool.append(&Redacted::each(&records[..5])).unwrap();
    let store = FakeStore::new(Mood::Stuck);
    let mut calls = store.calls.subscribe();
    let concurrent_append = async {
        calls.wait_for(|calls| *calls == 1).await.unwrap();
        let other = FakeStore::new(Mood::Fine);
        assert_eq!(
            drain_spool(&*other, &spool).await.unwrap(),
            DrainReport::default(),
            "another drain is running"
        );
        spool.append(&Redacted::each(&records[5..])).unwrap();
        store.set(Mood::Fine);
    };
    let (report, ()) = tokio::join!(drain_spool(&*store, &spool), concurrent_append);
    assert_eq!(report.unwrap().drained, 10);
    assert_eq!(store.ids(), ids(&records));
}

#[test]
fn spool_is_bounded() {
    let home = Home::new();
    let spool = home.spool().with_max_bytes(4000);
    let records = exchanges("a", 100);
    assert!(matches!(
        spool.append(&Redacted::each(&records)),
        Err(SpoolError::Full { .. })
    ));
    spool.append(&Redacted::each(&records[..1])).unwrap();
    let mut taken = 1;
    while spool.append(&Redacted::each(&records[taken..taken + 1])).is_ok() {
        taken += 1;
    }
    assert!((2..10).contains(&taken), "{taken} records in 4000 bytes");
    assert_eq!(spool.waiting(), taken as u64);
}

#[cfg(unix)]
#[test]
fn full_disk_is_an_error_and_leaves_no_partial_record() {
    let home = Home::new();
    std::os::unix::fs::symlink("/dev/full", home.path().join("spool.jsonl")).unwrap();
    let error = home
        .spool()
        .append(&Redacted::each(&exchanges("a", 1)))
        .unwrap_err();
    assert!(matches!(error, SpoolError::Io { .. }), "{error}");
    assert!(error.to_string().contains("spool.jsonl"), "{error}");
    assert_eq!(home.spool().waiting(), 0);
}

#[test]
fn many_processes_append_concurrently() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let spool = home.spool();
            scope.spawn(move || {
                for record in exchanges(&format!("s{writer}"), 25) {
                    spool.append(&Redacted::each(&[record])).unwrap();
                }
            });
        }
    });
    assert_eq!(home.spool().waiting(), 200);
    let text = fs::read_to_string(home.spool().path()).unwrap();
    assert!(
        text.lines()
            .all(|line| line.starts_with("{\"exchange\":{") && line.ends_with("}}"))
    );
}
