//! Measures a static model: `cargo run --release -p grov-llm --example static_model -- FOLDER < TEXTS`, with one text
//! per line. Prints the load time, the memory, and the time per text.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the measures are what it is for")]

use grov_domain::Embedder;
use grov_domain::Redacted;
use grov_llm::StaticEmbedder;
use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(folder) = std::env::args().nth(1) else {
        println!("usage: static_model FOLDER < TEXTS");
        return Ok(());
    };
    let texts: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let before = resident();
    let start = Instant::now();
    let embedder = StaticEmbedder::load(Path::new(&folder))?;
    let load = start.elapsed();
    let after = resident();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut times: Vec<Duration> = Vec::with_capacity(texts.len());
    let mut without = 0;
    for text in &texts {
        let start = Instant::now();
        let embedded = runtime.block_on(embedder.embed(&[Redacted::of(text)]));
        times.push(start.elapsed());
        without += usize::from(embedded.is_err());
    }
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!(
        "{embedder:?}\nloaded in {load:?}; {} kB more in memory\n{} texts, {without} without an embedding: p50 {:?}, p90 {:?}, p99 {:?}, longest {:?}",
        after.saturating_sub(before),
        times.len(),
        at(50),
        at(90),
        at(99),
        times.last().copied().unwrap_or_default(),
    );
    Ok(())
}

/// The memory of this process in kB; 0 if the system does not report it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}
