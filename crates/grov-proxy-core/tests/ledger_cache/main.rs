//! Whatever happens to a session, the prompt cache never loses anything through what Grov adds.
//!
//! Random lives of a client (`grov_sim::history`) go through the policy, and each request is judged: what was said is
//! there again, word for word and at its place; without it the bytes are the client's; the API takes it; and no block of
//! the client's is read from the cache less often than without Grov.
//!
//! `GROV_HISTORIES` sets how many histories the property test looks at.

mod check;
mod daemon;
mod store;

use check::{Judge, Tally};
use daemon::{Daemon, Fault, Talker};
use grov_proxy_core::LedgerBackend;
use grov_sim::history::{Event, Operation};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use store::MemoryLedger;

/// Longer than notes of where lineages stand may wait to be written.
const A_WHILE: Duration = Duration::from_secs(1);

/// A world to live in.
#[derive(Clone, Copy, Debug)]
struct World {
    fault: Fault,
    /// Decides what the source says.
    chance: u64,
    /// The source speaks inside tool loops as well.
    in_loops: bool,
    /// The store takes few decisions.
    picky: bool,
}

/// Lives through these operations. The text says what went wrong.
async fn live(operations: &[Operation], world: World) -> Result<Tally, String> {
    let talker = Arc::new(Talker::new(world.chance, world.in_loops));
    let new_store = || -> Arc<dyn LedgerBackend> {
        Arc::new(MemoryLedger {
            picky: world.picky,
            stranger: world.fault == Fault::Stranger,
            ..MemoryLedger::default()
        })
    };
    let mut store = new_store();
    let mut judge = Judge::new(operations, Arc::clone(&talker));
    let mut daemon = Daemon::start(Arc::clone(&store), Arc::clone(&talker));
    for (number, event) in check::events(operations).iter().enumerate() {
        match event {
            Event::Sent(sent) => judge.judge(number, sent, &daemon, world.fault).await?,
            Event::Restart => {
                daemon.kill().await;
                if world.fault == Fault::Amnesia {
                    store = new_store();
                }
                daemon = Daemon::start(Arc::clone(&store), Arc::clone(&talker));
                judge.tally.restarts += 1;
            }
        }
        tokio::time::sleep(A_WHILE).await;
    }
    daemon.kill().await;
    Ok(judge.tally)
}

/// The same in a time of its own, which passes when everybody waits.
fn live_now(operations: &[Operation], world: World) -> Result<Tally, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(live(operations, world))
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = any::<[u8; 4]>().prop_map(Operation::decode);
    prop::collection::vec(operation, 1..60)
}

fn histories() -> u32 {
    let wanted = std::env::var("GROV_HISTORIES").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: histories(), max_shrink_iters: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_miss_is_ever_caused(
        operations in operations(),
        chance: u64,
        in_loops in prop::bool::weighted(0.3),
        picky in prop::bool::weighted(0.1),
    ) {
        let world = World { fault: Fault::None, chance, in_loops, picky };
        if let Err(problem) = live_now(&operations, world) {
            return Err(TestCaseError::fail(problem));
        }
    }
}

/// The first of some histories in which a faulty ledger is caught, and how.
fn caught(fault: Fault) -> Option<String> {
    (0..60).find_map(|chance| {
        let world = World {
            fault,
            chance,
            in_loops: false,
            picky: false,
        };
        live_now(&Operation::random(chance, 50), world).err()
    })
}

#[test]
fn ledgers_that_are_wrong_are_caught() {
    for (fault, sign) in [
        (Fault::Forgetful, "is missing"),
        (Fault::Displaced, ""),
        (Fault::Rephrased, "now at the same place"),
        (Fault::Global, "belongs to family"),
        (Fault::Amnesia, "is missing"),
        (Fault::Stranger, "a miss was caused"),
        (Fault::TurnsOnly, "is missing"),
        (Fault::OnceOnly, "is missing"),
    ] {
        let problem = caught(fault);
        assert!(
            problem.as_ref().is_some_and(|problem| problem.contains(sign)),
            "{fault:?} is not caught as it should be: {problem:?}"
        );
    }
}

#[test]
fn a_thousand_turns_without_a_miss() {
    let mut tally = Tally::default();
    let mut chance = 0;
    while tally.turns < 1000 {
        let world = World {
            fault: Fault::None,
            chance,
            in_loops: false,
            picky: false,
        };
        chance += 1;
        tally +=
            live_now(&Operation::random(chance, 60), world).unwrap_or_else(|problem| panic!("{problem}"));
    }
    println!(
        "{chance} histories, {} requests, {} turns, {} prompts, {} restarts: 0 misses caused; {} texts added ({} tokens a \
         prompt), {} said again, {} taken over, {} taken back, {} out of sight; {} requests read the cache",
        tally.requests,
        tally.turns,
        tally.prompts,
        tally.restarts,
        tally.added,
        tally.added_bytes / 4 / tally.prompts.max(1),
        tally.repeated,
        tally.adopted,
        tally.withdrawn,
        tally.out_of_sight,
        tally.hits
    );
    // Else the numbers would say little.
    assert!(tally.added > 100 && tally.repeated > 1000 && tally.adopted > 10 && tally.restarts > 10);
}
