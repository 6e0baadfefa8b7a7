//! Added texts never cost cached prompt, whatever happens to a session.
//!
//! Runs random client histories (`grov_sim::history`) through the policy and checks each request: texts are repeated
//! unchanged at their place; the remaining bytes are the client's; the API accepts the request; and each of the
//! client's blocks is read from the cache as often as without Grov.
//!
//! `GROV_HISTORIES` sets the number of histories of the property test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod daemon;
mod recorded;
mod reference;
mod store;

use check::{Judge, Tally};
use daemon::{Daemon, Economy, Fault, Talker};
use grov_live::LedgerBackend;
use grov_sim::history::{Event, Operation, play};
use grov_store::{OpenOptions, SqliteStore};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::sync::Arc;
use std::time::Duration;
use store::MemoryLedger;

/// Longer than tips wait to be written.
const A_WHILE: Duration = Duration::from_millis(250);

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
struct World {
    fault: Fault,
    /// Determines the source's texts.
    chance: u64,
    /// Whether the source adds text inside tool loops.
    in_loops: bool,
    /// Whether the store rejects most decisions.
    picky: bool,
    /// What is left out of histories.
    economy: Option<Economy>,
}

/// Runs the events. The error describes a violation.
async fn live(
    operations: &[Operation],
    events: &[Event],
    world: World,
    new_store: impl AsyncFn() -> Arc<dyn LedgerBackend>,
) -> Result<Tally, String> {
    let talker = Arc::new(Talker::new(world.chance, world.in_loops));
    let mut store = new_store().await;
    let mut judge = Judge::new(operations, Arc::clone(&talker));
    let mut daemon = Daemon::start(Arc::clone(&store), Arc::clone(&talker), world.economy);
    for (number, event) in events.iter().enumerate() {
        match event {
            Event::Sent(sent) => judge.judge(number, sent, &daemon, world.fault).await?,
            Event::Restart => {
                judge.tally.added_later += daemon.kill().await;
                if world.fault == Fault::Amnesia {
                    store = new_store().await;
                }
                daemon = Daemon::start(Arc::clone(&store), Arc::clone(&talker), world.economy);
                judge.restarted();
            }
        }
        tokio::time::sleep(A_WHILE).await;
    }
    judge.tally.added_later += daemon.kill().await;
    Ok(judge.tally)
}

/// Runs the events with a store in memory and paused time.
fn live_now(operations: &[Operation], events: &[Event], world: World) -> Result<Tally, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let new_store = async || {
        let store = MemoryLedger::new(world.picky, world.fault == Fault::Stranger);
        Arc::new(store) as Arc<dyn LedgerBackend>
    };
    runtime.block_on(live(operations, events, world, new_store))
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = any::<[u8; 4]>().prop_map(Operation::decode);
    prop::collection::vec(operation, 1..60)
}

fn histories() -> Option<u32> {
    let wanted = std::env::var("GROV_HISTORIES").ok();
    wanted.and_then(|number| number.parse().ok())
}

/// Uses the same histories each time, so that changes are comparable. `GROV_HISTORIES=n` runs n other ones.
#[test]
fn added_texts_cause_no_cache_miss() {
    let config = ProptestConfig {
        cases: histories().unwrap_or(400),
        max_shrink_iters: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = match histories() {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let lives = (
        operations(),
        any::<u64>(),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.1),
    );
    let lived = runner.run(&lives, |(operations, chance, in_loops, picky)| {
        let world = World {
            fault: Fault::None,
            chance,
            in_loops,
            picky,
            economy: None,
        };
        let lived = live_now(&operations, &play(&operations), world);
        lived.map(drop).map_err(TestCaseError::fail)
    });
    if let Err(problem) = lived {
        panic!("{problem}");
    }
}

/// Returns the violation in the first history in which a fault is detected.
fn caught(fault: Fault) -> Option<String> {
    (0..60).find_map(|chance| {
        let is_of_cuts = matches!(fault, Fault::Uncut | Fault::Resummarized);
        let world = World {
            fault,
            ..if is_of_cuts {
                thrifty(chance)
            } else {
                sound(chance)
            }
        };
        let operations = Operation::random(chance, 50);
        live_now(&operations, &play(&operations), world).err()
    })
}

#[test]
fn faulty_ledgers_are_detected() {
    for (fault, sign) in [
        (Fault::Forgetful, "is missing"),
        (Fault::Displaced, ""),
        (Fault::Rephrased, "now at the same place"),
        (Fault::Global, "was meant for"),
        (Fault::Amnesia, "is missing"),
        (Fault::Stranger, "a miss was caused"),
        (Fault::TurnsOnly, "is missing"),
        (Fault::OnceOnly, "is missing"),
        (Fault::Uncut, "is missing"),
        (Fault::Resummarized, "changed"),
    ] {
        let problem = caught(fault);
        assert!(
            problem.as_ref().is_some_and(|problem| problem.contains(sign)),
            "{fault:?} is not caught as it should be: {problem:?}"
        );
    }
}

#[test]
fn a_thousand_turns_have_no_cache_miss() {
    let mut tally = Tally::default();
    let mut chance = 0;
    while tally.turns < 1000 {
        let world = sound(chance);
        chance += 1;
        let operations = Operation::random(chance, 60);
        let lived = live_now(&operations, &play(&operations), world);
        tally += lived.unwrap_or_else(|problem| panic!("{problem}\nhistory {chance}: {operations:?}"));
    }
    println!(
        "{chance} histories, {} requests, {} turns, {} prompts, {} restarts: 0 misses caused; {} texts added ({} tokens a \
         prompt), {} of them late, {} said again, {} taken over, {} taken back, {} out of sight; {} requests read the cache",
        tally.requests,
        tally.turns,
        tally.prompts,
        tally.restarts,
        tally.added,
        tally.added_bytes / 4 / tally.prompts.max(1),
        tally.added_later,
        tally.repeated,
        tally.adopted,
        tally.withdrawn,
        tally.out_of_sight,
        tally.hits
    );
    // With fewer, the test would prove little.
    assert!(tally.added > 100 && tally.repeated > 1000 && tally.adopted > 10 && tally.restarts > 10);
    assert!(tally.added_later > 3, "{tally:?}");
}

/// Parameters without faults.
fn sound(chance: u64) -> World {
    World {
        fault: Fault::None,
        chance,
        in_loops: false,
        picky: false,
        economy: None,
    }
}

/// Parameters of a world that clears and trims contexts.
fn thrifty(chance: u64) -> World {
    World {
        economy: Some(Economy {
            clear_at: 1200 + chance % 5 * 500,
        }),
        in_loops: chance.is_multiple_of(3),
        ..sound(chance)
    }
}

/// `GROV_TURNS` sets the number of turns.
#[test]
fn clears_and_trims_cause_no_other_miss() {
    let wanted = std::env::var("GROV_TURNS")
        .ok()
        .and_then(|turns| turns.parse().ok());
    let mut tally = Tally::default();
    let mut chance = 0;
    while tally.turns < wanted.unwrap_or(1500) {
        let world = thrifty(chance);
        chance += 1;
        let operations = Operation::random(chance + 1_000_000, 90);
        let lived = live_now(&operations, &play(&operations), world);
        tally += lived.unwrap_or_else(|problem| panic!("{problem}\nhistory {chance}: {operations:?}"));
    }
    println!(
        "{chance} histories, {} requests, {} turns, {} restarts: {} contexts cleared, {} requests cut again, {} cuts \
         taken over, {} results trimmed, 0 other misses caused, 0 requests rejected; {} texts added, {} said again, {} \
         out of sight",
        tally.requests,
        tally.turns,
        tally.restarts,
        tally.cleared,
        tally.cut_again,
        tally.cuts_adopted,
        tally.trimmed,
        tally.added,
        tally.repeated,
        tally.out_of_sight
    );
    // With fewer, the test would prove little.
    assert!(
        tally.cleared > 20 && tally.cut_again > 100 && tally.cuts_adopted > 5 && tally.trimmed > 5,
        "{tally:?}"
    );
}

#[test]
fn hand_made_bodies_have_no_cache_miss() {
    let mut sum = Tally::default();
    for (chance, in_loops) in (0..30).flat_map(|chance| [(chance, false), (chance, true)]) {
        let world = World {
            in_loops,
            ..sound(chance)
        };
        let tally = live_now(&[], &recorded::golden(), world).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(tally.requests, 28);
        sum += tally;
    }
    assert!(sum.added > 100 && sum.repeated > 300, "{sum:?}");
}

/// Reads the recordings in the directory `GROV_FIXTURES`, if set.
#[test]
fn recorded_requests_have_no_cache_miss() {
    let Some(set) = std::env::var_os("GROV_FIXTURES") else {
        eprintln!("SKIPPED: GROV_FIXTURES names no set of recordings");
        return;
    };
    let events = recorded::set(set.as_ref());
    let mut sum = Tally::default();
    for chance in 0..5 {
        sum += live_now(&[], &events, sound(chance)).unwrap_or_else(|problem| panic!("{problem}"));
    }
    println!("{sum:?}");
    assert!(sum.added > 0 && sum.repeated > 0);
}

#[test]
fn the_real_store_repeats_all_texts() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut sum = Tally::default();
    for chance in 0..2 {
        let home = tempfile::TempDir::new().unwrap();
        let path = home.path().join("grov.db");
        let new_store = async || {
            let store = SqliteStore::open(&path, &OpenOptions::default()).await.unwrap();
            Arc::new(store) as Arc<dyn LedgerBackend>
        };
        let operations = Operation::random(chance, 20);
        let lived = runtime.block_on(live(&operations, &play(&operations), sound(chance), new_store));
        sum += lived.unwrap_or_else(|problem| panic!("{problem}"));
    }
    assert!(sum.requests > 20);
}
