//! Measures the latency of searches in team memory, the speed of an import, and the size on disk, with generated
//! records in which words and files are as unevenly distributed as in real ones.
//!
//! `cargo run --release -p grov-memory --example search_latency [-- MEMORIES [QUESTIONS [FOLDER]]]`. A database that
//! exists in the folder is searched without filling it again.
#![allow(clippy::print_stdout, reason = "an example says what it found")]

use grov_domain::{Decision, MaintenanceStore, MemoryScope, MemoryStore, Redacted, Task};
use grov_memory::{Query, Ranking, search};
use grov_store::{OpenOptions, SqliteStore};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// Without arguments this is a quick check that takes a second or two.
const MEMORIES: usize = 2000;
const QUESTIONS: usize = 200;
/// Memories imported at once.
const PORTION: usize = 4096;
const PROJECT: &str = "/home/dev/projects/relay";
/// The time of the newest memory, in Unix seconds.
const NOW: i64 = 1_760_000_000;
/// The number of different words. The n-th is used 1/n as often as the first.
const VOCABULARY: usize = 150_000;
/// The number of words of a question, and how many of ten questions have it.
const KINDS: [(&str, usize, usize); 4] = [
    ("short", 5, 4),
    ("sentence", 18, 4),
    ("page", 250, 1),
    ("paste", 2000, 1),
];
const COMMON: [&str; 40] = [
    "the", "to", "a", "and", "of", "in", "is", "for", "add", "it", "that", "on", "with", "fix", "be", "test",
    "when", "not", "this", "file", "use", "as", "from", "error", "so", "was", "make", "by", "check", "are",
    "update", "if", "we", "should", "request", "change", "or", "config", "an", "now",
];

/// Pseudo-random numbers, the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    /// An index below `bound`; the n-th is 1/n as likely as the first.
    fn uneven(&mut self, bound: usize) -> usize {
        let evenly = self.next() as f64 / u64::MAX as f64;
        ((bound as f64 + 1.0).powf(evenly) - 1.0) as usize
    }

    fn text(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| word(self.uneven(VOCABULARY))).collect();
        words.join(" ")
    }
}

/// The word of this rank. Every ninth is an identifier.
fn word(rank: usize) -> String {
    if let Some(common) = COMMON.get(rank) {
        return (*common).to_owned();
    }
    const SYLLABLES: [&str; 32] = [
        "lim", "buf", "re", "con", "par", "ser", "ta", "lo", "cac", "he", "to", "ken", "str", "eam", "que",
        "ry", "in", "dex", "va", "lue", "me", "mor", "pa", "th", "no", "de", "lin", "ker", "pro", "xi",
        "sta", "tus",
    ];
    let mut text = String::new();
    let mut rest = rank + 997;
    while rest > 0 {
        text.push_str(SYLLABLES.get(rest % SYLLABLES.len()).copied().unwrap_or("o"));
        if rank.is_multiple_of(9) && text.len() < 6 {
            text.push('_');
        }
        rest /= SYLLABLES.len();
    }
    text
}

/// One of the project's files. The number of files grows with the number of memories.
fn file(numbers: &mut Numbers, memories: usize) -> String {
    let rank = numbers.uneven(50 + memories / 5);
    let folder = word(COMMON.len() + rank % 90);
    format!(
        "crates/{folder}/src/{}_{}.rs",
        word(COMMON.len() + rank % 1999),
        rank
    )
}

fn memory(numbers: &mut Numbers, number: usize, memories: usize) -> Task {
    let age = (memories - number) * 600;
    let id = format!("{:016x}-{number:08}", numbers.next());
    let words = 6 + numbers.below(12);
    let query = numbers.text(words);
    Task {
        project_remote: Some("git.example.com/dev/relay".to_owned()),
        user: Some("dev@example.com".to_owned()),
        goal: Some(numbers.text(8)),
        reasoning_trace: (0..3).map(|_| numbers.text(10)).collect(),
        files_touched: (0..1 + numbers.below(5))
            .map(|_| file(numbers, memories))
            .collect(),
        decisions: vec![Decision {
            choice: numbers.text(7),
            reason: numbers.text(9),
        }],
        constraints: vec![numbers.text(7)],
        tags: vec![word(numbers.uneven(300))],
        created_at: OffsetDateTime::UNIX_EPOCH
            + Duration::from_secs(u64::try_from(NOW).unwrap_or(0).saturating_sub(age as u64)),
        ..Task::new(&id, PROJECT, &query)
    }
}

fn scope() -> MemoryScope {
    MemoryScope {
        project_path: PROJECT.to_owned(),
        project_remote: Some("git.example.com/dev/relay".to_owned()),
    }
}

fn question(numbers: &mut Numbers, words: usize, memories: usize) -> Query {
    let files = if numbers.below(4) == 0 {
        vec![file(numbers, memories)]
    } else {
        Vec::new()
    };
    Query {
        scope: scope(),
        text: numbers.text(words),
        files,
        before: OffsetDateTime::from_unix_timestamp(NOW + 1).ok(),
        limit: 10,
    }
}

async fn fill(store: &SqliteStore, memories: usize) -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers(1);
    let (mut spent, mut size) = (Duration::ZERO, 0);
    let mut number = 0;
    while number < memories {
        let portion: Vec<Task> = (number..memories.min(number + PORTION))
            .map(|number| memory(&mut numbers, number, memories))
            .collect();
        number += portion.len();
        for task in &portion {
            size += serde_json::to_vec(task)?.len();
        }
        let start = Instant::now();
        let report = store.import(&Redacted::each(&portion)).await?;
        spent += start.elapsed();
        if report.added != portion.len() as u64 {
            return Err(format!("of {} memories {report:?}", portion.len()).into());
        }
    }
    let stored = store.stats().await?.bytes;
    println!(
        "imported {memories} memories of {} bytes as JSON: {:.0} a second, {} bytes each on disk",
        size / memories.max(1),
        memories as f64 / spent.as_secs_f64(),
        stored / memories.max(1) as u64
    );
    Ok(())
}

async fn ask(store: &SqliteStore, memories: usize, questions: usize) -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers(2);
    let ranking = Ranking::default();
    let mut all = Vec::new();
    println!(
        "{:<10} {:>6} {:>9} {:>9} {:>9} {:>9}",
        "question", "words", "p50 ms", "p90 ms", "p99 ms", "max ms"
    );
    for (name, words, of_ten) in KINDS {
        let mut times = Vec::new();
        for _ in 0..(questions * of_ten / 10).max(1) {
            let query = question(&mut numbers, words, memories);
            let start = Instant::now();
            let found = search(store, &query, &ranking).await?;
            times.push(start.elapsed());
            if found.is_empty() && words > 5 {
                return Err(format!("nothing found for {words} words").into());
            }
        }
        print(name, &words.to_string(), &mut times);
        all.append(&mut times);
    }
    print("all", "", &mut all);
    Ok(())
}

fn print(name: &str, words: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: f64| {
        let place = (times.len() as f64 * part) as usize;
        let time = times.get(place.min(times.len() - 1)).copied().unwrap_or_default();
        time.as_secs_f64() * 1e3
    };
    println!(
        "{name:<10} {words:>6} {:>9.2} {:>9.2} {:>9.2} {:>9.2}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, otherwise: usize| match arguments.get(place) {
        Some(argument) => argument.parse::<usize>(),
        None => Ok(otherwise),
    };
    let memories = number(0, MEMORIES)?;
    let questions = number(1, QUESTIONS)?;
    let passing = tempfile::tempdir()?;
    let folder = arguments.get(2).map_or(passing.path(), Path::new);
    let store = SqliteStore::open(&folder.join("grov.db"), &OpenOptions::default()).await?;
    if store.memory_stats(None).await?.memories == 0 {
        fill(&store, memories).await?;
    }
    ask(&store, memories, questions).await?;
    store.close().await?;
    Ok(())
}
