//! Tests of replacement, of the session's own memories, and of freshness.

use super::*;
use crate::tests::{Memory, Shelf, at, memory, query, shelf};

fn recalled(shelf: &Shelf, query: &Query, except: Option<&str>) -> Vec<(String, f64)> {
    let except = except.map(ClientSessionId::new);
    let recalled = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(recall(shelf, query, &Ranking::default(), except.as_ref()))
        .unwrap();
    recalled
        .into_iter()
        .map(|one| (one.task.id.as_str().to_owned(), one.score))
        .collect()
}

fn ids(recalled: &[(String, f64)]) -> Vec<&str> {
    recalled.iter().map(|(id, _)| id.as_str()).collect()
}

fn replaced(id: &'static str, minute: i64, text: &str, by: &'static str) -> Memory {
    Memory {
        by: Some(by),
        ..memory(id, minute, text, &[])
    }
}

#[test]
fn only_the_end_of_a_chain_is_recalled_with_the_best_score() {
    let shelf = shelf(&[
        replaced("oldest", 100_000, "retry uploads with backoff", "older"),
        replaced("older", 200_000, "retry uploads", "newest"),
        // The same content in other words.
        memory("newest", 300_000, "transmission policy", &[]),
        memory("other", 400_000, "retry downloads", &[]),
    ]);
    let all = recalled(&shelf, &query("retry uploads with backoff"), None);
    assert_eq!(ids(&all), ["newest", "other"]);
    let alone = crate::tests::shelf(&[memory("oldest", 100_000, "retry uploads with backoff", &[])]);
    assert!(all[0].1 > all[1].1);
    assert_eq!(ids(&recalled(&alone, &query("retry uploads"), None)), ["oldest"]);
}

#[test]
fn a_replacement_counts_from_its_creation() {
    let shelf = shelf(&[
        replaced("old", 100_000, "retry uploads", "new"),
        memory("new", 300_000, "transmission policy", &[]),
    ]);
    let mut question = query("retry uploads");
    question.before = Some(at(200_000));
    assert_eq!(ids(&recalled(&shelf, &question, None)), ["old"]);
    question.before = Some(at(300_001));
    assert_eq!(ids(&recalled(&shelf, &question, None)), ["new"]);
}

#[test]
fn a_cyclic_or_broken_chain_is_followed_as_far_as_possible() {
    let circle = shelf(&[
        replaced("a", 100_000, "retry uploads", "b"),
        replaced("b", 200_000, "retry uploads", "a"),
    ]);
    assert_eq!(recalled(&circle, &query("retry uploads"), None).len(), 1);
    let gap = shelf(&[replaced("a", 100_000, "retry uploads", "gone")]);
    assert_eq!(ids(&recalled(&gap, &query("retry uploads"), None)), ["a"]);
}

#[test]
fn memories_of_the_asking_session_are_left_out() {
    let own = |id, minute| Memory {
        session: Some("me"),
        ..memory(id, minute, "retry uploads with backoff", &[])
    };
    let shelf = shelf(&[
        own("mine", 100_000),
        own("mine-too", 150_000),
        memory("theirs", 200_000, "retry uploads", &[]),
        // Of another session, but superseded by a memory of this one.
        replaced("outdated", 250_000, "retry uploads later", "mine"),
    ]);
    let mut question = query("retry uploads with backoff");
    question.limit = 2;
    assert_eq!(ids(&recalled(&shelf, &question, Some("me"))), ["theirs"]);
    assert_eq!(recalled(&shelf, &question, None).len(), 2);
    assert!(!ids(&recalled(&shelf, &question, Some("somebody"))).contains(&"theirs"));
}

#[test]
fn recall_respects_the_limit() {
    let memories: Vec<Memory> = ["a", "b", "c", "d", "e", "f"]
        .iter()
        .zip(1..)
        .map(|(id, day)| memory(id, day * 100_000, "retry uploads", &[]))
        .collect();
    let mut question = query("retry uploads");
    question.limit = 3;
    assert_eq!(recalled(&shelf(&memories), &question, None).len(), 3);
    question.limit = 0;
    assert_eq!(recalled(&shelf(&memories), &question, None), []);
}

fn pin(path: &str, hash: Option<&str>) -> FilePin {
    FilePin {
        path: path.to_owned(),
        hash: hash.map(str::to_owned),
    }
}

fn pinned(id: &str, pins: &[FilePin]) -> Task {
    Task {
        file_pins: pins.to_vec(),
        ..crate::render::sample(id, "retry uploads")
    }
}

#[test]
fn freshness_compares_recorded_and_current_files() {
    let then = [pin("a", Some("1")), pin("b", Some("2")), pin("c", None)];
    for (now, expected) in [
        (vec![], Freshness::Unknown),
        (vec![pin("x", Some("1"))], Freshness::Unknown),
        (vec![pin("a", Some("1")), pin("c", None)], Freshness::Fresh),
        (
            vec![pin("a", Some("9")), pin("b", Some("2"))],
            Freshness::Changed(vec!["a".to_owned()]),
        ),
        (
            vec![pin("b", None), pin("c", Some("3"))],
            Freshness::Changed(vec!["b".to_owned(), "c".to_owned()]),
        ),
    ] {
        assert_eq!(Freshness::of(&pinned("one", &then), &now), expected, "{now:?}");
    }
    assert_eq!(Freshness::of(&pinned("one", &[]), &then), Freshness::Unknown);
}

#[test]
fn stale_memories_are_marked_and_demoted() {
    let one = |id: &str, score: f64| Recalled {
        task: pinned(id, &[pin("a", Some("1")), pin("b", Some("2"))]),
        score,
        freshness: Freshness::Unknown,
    };
    let freshness = |task: &Task| match task.id.as_str() {
        "half" => Freshness::Changed(vec!["a".to_owned()]),
        "whole" => Freshness::Changed(vec!["a".to_owned(), "b".to_owned()]),
        _ => Freshness::Fresh,
    };
    let demoted = demote_stale(
        vec![one("whole", 1.0), one("half", 0.9), one("fresh", 0.8)],
        freshness,
        &Ranking::default(),
    );
    let seen: Vec<(&str, bool)> = demoted
        .iter()
        .map(|one| {
            (
                one.task.id.as_str(),
                matches!(one.freshness, Freshness::Changed(_)),
            )
        })
        .collect();
    assert_eq!(seen, [("fresh", false), ("half", true), ("whole", true)]);
    assert!((demoted[2].score - 0.7).abs() < 1e-9);
}
