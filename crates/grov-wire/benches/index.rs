//! Measures the indexing of requests, and `serde_json` for comparison.
//!
//! `cargo bench -p grov-wire --bench index` prints the fastest and the median run of each size and job.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench talks to a person and stops at the first surprise"
)]

mod body;

use bytes::Bytes;
use grov_wire::{Edit, RequestCache, RequestIndex, Splice, json, text_block};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The minimum that a proxy needs, parsed by `serde`.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of finding them counts")]
struct BorrowedRequest<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow, default)]
    messages: Vec<BorrowedMessage<'a>>,
    tools: Option<IgnoredAny>,
    stream: Option<bool>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of finding them counts")]
struct BorrowedMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
}

fn main() {
    for size in [20_000, 200_000, 1_000_000] {
        // Several bodies in turn: with a single one, branch prediction would be unrealistically good.
        let bodies: Vec<_> = (0..4_000_000 / size as u64)
            .map(|variant| body::claude_code_request(size, variant))
            .collect();
        let indexes: Vec<_> = bodies
            .iter()
            .map(|body| RequestIndex::parse(body).expect("the body is sound"))
            .collect();
        let length = bodies.iter().map(Bytes::len).sum::<usize>() / bodies.len();
        println!("{length} bytes");
        let measure = |name, job: &dyn Fn(usize) -> bool| measure(name, length, bodies.len(), job);
        measure("serde_json, borrowed", &|body| {
            serde_json::from_slice::<BorrowedRequest<'_>>(&bodies[body]).is_ok()
        });
        measure("from_utf8", &|body| std::str::from_utf8(&bodies[body]).is_ok());
        measure("json::validate", &|body| json::validate(&bodies[body]).is_ok());
        measure("RequestIndex::parse", &|body| {
            RequestIndex::parse(&bodies[body]).is_ok()
        });
        let cache: Vec<_> = bodies.iter().map(cache_with).collect();
        let next: Vec<_> = bodies.iter().map(body::next_request).collect();
        measure("the next one, knowing it", &|body| {
            RequestIndex::parse_with_cache(&next[body], &cache[body]).is_ok()
        });
        measure("the same, and its skeleton", &|body| {
            let index = RequestIndex::parse_with_cache(&next[body], &cache[body]);
            index.is_ok_and(|index| index.skeleton().newest_user_link().is_some())
        });
        measure("skeleton", &|body| {
            indexes[body].skeleton().newest_user_link().is_some()
        });
        let block = text_block(&"remember this ".repeat(100));
        measure("skeleton and splice", &|body| {
            let skeleton = indexes[body].skeleton();
            let at = skeleton
                .newest_user_link()
                .expect("the user speaks last")
                .insertion_point();
            Splice::apply(&indexes[body], &[Edit::insert(at, block.clone())]).is_ok()
        });
    }
}

/// Returns a cache with one request.
fn cache_with(body: &Bytes) -> RequestCache {
    let cache = RequestCache::default();
    RequestIndex::parse_with_cache(body, &cache).expect("the body is sound");
    cache
}

/// Runs `job` on all bodies in turn for 0.5 s. Prints the mean over the bodies of the fastest run of each, and the median of all
/// runs.
fn measure(name: &str, length: usize, bodies: usize, job: &dyn Fn(usize) -> bool) {
    let mut fastest = vec![Duration::MAX; bodies];
    let mut times = vec![];
    let start = Instant::now();
    while times.is_empty() || start.elapsed() < Duration::from_millis(500) {
        for (body, fastest) in fastest.iter_mut().enumerate() {
            let before = Instant::now();
            assert!(black_box(job(body)), "{name} fails");
            let time = before.elapsed();
            *fastest = time.min(*fastest);
            times.push(time);
        }
    }
    times.sort_unstable();
    let best = fastest.iter().sum::<Duration>() / bodies as u32;
    let median = times[times.len() / 2];
    let speed = |time: Duration| length as f64 / time.as_secs_f64() / 1e9;
    println!(
        "  {name:<26} best {:>8.1} µs {:>6.2} GB/s   median {:>8.1} µs {:>6.2} GB/s",
        best.as_secs_f64() * 1e6,
        speed(best),
        median.as_secs_f64() * 1e6,
        speed(median),
    );
}
