//! Tests of relevance in stores of different sizes.

use super::*;
use crate::tests::{Memory, Shelf, memory, query};
use crate::{Query, Ranking, search};

/// The maximum relevance of any memory.
fn most(memories: &[Memory], text: &str, files: &[&str]) -> f64 {
    let question = Query {
        files: files.iter().map(ToString::to_string).collect(),
        ..query(text)
    };
    let found = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(search(&Shelf(memories.to_vec()), &question, &Ranking::default()))
        .unwrap();
    found.iter().map(|found| found.relevance).fold(0.0, f64::max)
}

fn floor() -> f64 {
    Ranking::for_injection().floor
}

fn upload() -> Memory {
    memory(
        "upload",
        1,
        "retry uploads with exponential backoff and jitter",
        &["src/upload.rs"],
    )
}

#[test]
fn the_only_memory_is_recalled_for_its_subject_only() {
    for text in [
        "retry the uploads with backoff",
        "why do uploads use jitter?",
        "exponential backoff for downloads",
    ] {
        assert!(most(&[upload()], text, &[]) >= floor(), "{text}");
    }
    for text in [
        "fix the failing test",
        "add a test",
        "refactor this file",
        "retry",
        "use a dark theme with larger buttons and a search field",
        "explain exponential growth of the population in a chart with a legend and a title",
    ] {
        assert!(most(&[upload()], text, &[]) < floor(), "{text}");
    }
}

#[test]
fn common_words_do_not_make_a_memory_relevant() {
    let plain = memory("plain", 1, "add a test and fix the build", &[]);
    let german = memory("german", 2, "Fehler in der Funktion beheben", &[]);
    let chinese = memory("chinese", 3, "修复失败的测试", &[]);
    for text in ["add a test", "fix the build", "Fehler beheben", "修复测试"] {
        let most = most(&[plain.clone(), german.clone(), chinese.clone()], text, &[]);
        assert!(most < floor(), "{text}: {most}");
    }
}

#[test]
fn a_named_file_counts_unless_every_project_has_it() {
    let memories = [upload(), memory("readme", 2, "install", &["README.md"])];
    let file = |file: &str| most(&memories, &format!("what is wrong in {file}?"), &[file]);
    assert!(file("src/upload.rs") >= floor());
    assert!(file("README.md") < floor());
    assert!(file("src/other.rs") < floor());
}

#[test]
fn a_name_and_its_parts_count_once() {
    let named = memory("named", 1, "the goReleaser step", &[]);
    let apart = memory("apart", 2, "go releaser and others", &[]);
    let terms = Terms::of(&query("goReleaser fails on windows"));
    assert_eq!(terms.words[..3], ["goreleaser", "go", "releaser"]);
    assert_eq!(groups(&terms), [0, 0, 0, 1, 2]);
    let (named, apart) = (
        most(&[named], "goReleaser", &[]),
        most(&[apart], "goReleaser", &[]),
    );
    // Counted with each of its parts, it would exceed the relevance of a name by far.
    assert!((named - NAMED).abs() < 0.5, "{named} {apart}");
    assert!(apart < NAMED, "{apart}");
}

#[test]
fn other_words_and_length_reduce_relevance() {
    let question = "jitter of the backoff";
    let alone = most(&[upload()], question, &[]);
    let more = most(
        &[upload()],
        "jitter of the backoff, billing invoices, dashboards, calendars",
        &[],
    );
    let long = Memory {
        text: format!("{} {}", upload().text, "unlike things ".repeat(300)),
        ..upload()
    };
    assert!(alone > more);
    assert!(alone > most(&[long], question, &[]));
    assert_eq!(most(&[upload()], "nothing of that kind", &[]), 0.0);
}

#[test]
fn a_synonym_is_found_by_its_beginning() {
    let memories = [memory(
        "cancel",
        1,
        "Kündigungsformular ohne Login",
        &["abo/formular.vue"],
    )];
    let found = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(search(
            &Shelf(memories.to_vec()),
            &query("a form to cancel"),
            &Ranking::for_injection(),
        ))
        .unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn two_words_for_the_same_ask_for_it_once() {
    let memories = [memory("photo", 1, "strip the location from photos", &[])];
    let relevance = |text: &str| {
        let ranking = Ranking {
            floor: 0.0,
            ..Ranking::for_injection()
        };
        let found = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(search(&Shelf(memories.to_vec()), &query(text), &ranking))
            .unwrap();
        found.first().map_or(0.0, |found| found.relevance)
    };
    let (once, twice) = (
        relevance("GPS in pictures"),
        relevance("GPS coordinates in pictures"),
    );
    assert!((once - twice).abs() < 1e-9, "{once} {twice}");
}
