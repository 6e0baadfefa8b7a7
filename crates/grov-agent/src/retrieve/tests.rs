use super::*;
use crate::{ChunkId, MemoryItem, MemoryItemId, MemoryStatus};
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

fn chunk(text: &str, category: Category, updated_at: OffsetDateTime, score: f64) -> FoundChunk {
    FoundChunk {
        id: ChunkId::fresh(),
        document: DocumentId::fresh(),
        title: "Handbook".to_owned(),
        category,
        updated_at,
        heading_path: vec!["Section".to_owned()],
        text: text.to_owned(),
        range: 0..text.len() as u64,
        score,
    }
}

fn memory(content: &str, kind: MemoryType) -> MemoryItem {
    MemoryItem {
        id: MemoryItemId::fresh(),
        project_id: ProjectId::fresh(),
        kind,
        status: MemoryStatus::Accepted,
        content: content.to_owned(),
        evidence: Vec::new(),
        contradicts: Vec::new(),
        supersedes: None,
        superseded_by: None,
        reason: None,
        expires_at: None,
        created_at: NOW,
        updated_at: NOW,
        decided_by: None,
    }
}

fn item(content: &str) -> FoundItem {
    FoundItem {
        item: memory(content, MemoryType::Fact),
        score: 1.0,
    }
}

fn ranked(question: &str, chunks: Vec<FoundChunk>, items: Vec<FoundItem>) -> Vec<Candidate> {
    let words = words::words_of(question);
    let mut candidates = Candidates::new(&words, NOW);
    candidates.add_by_words(chunks, items);
    candidates.ranked()
}

#[test]
fn chunks_and_items_are_one_order_by_the_words_they_share() {
    let found = ranked(
        "How long are invoices kept in the archive?",
        vec![
            chunk("The archive is in Frankfurt.", Category::Facts, NOW, 9.0),
            chunk(
                "Invoices are kept for ten years in the archive.",
                Category::Facts,
                NOW,
                8.0,
            ),
        ],
        vec![item("Invoices are sent on Monday.")],
    );
    assert!(found[0].passage.text.contains("ten years"));
    assert_eq!(
        found[0].passage.why.matched_words,
        ["long", "invoices", "kept", "archive"][1..]
    );
    assert_eq!(found[0].passage.why.words_rank, Some(1));
    assert_eq!(found.len(), 3);
}

#[test]
fn old_state_and_old_events_rank_lower() {
    let old = NOW - time::Duration::days(365);
    let found = ranked(
        "deployment freeze",
        vec![
            chunk("The deployment freeze holds.", Category::State, old, 9.0),
            chunk("The deployment freeze ended.", Category::State, NOW, 8.0),
            chunk("A deployment freeze is rare.", Category::Facts, old, 7.0),
        ],
        Vec::new(),
    );
    assert_eq!(found[0].passage.text, "The deployment freeze ended.");
    assert_eq!(found[2].passage.text, "The deployment freeze holds.");
    assert!(found[2].passage.why.recency.is_some_and(|factor| factor < 0.6));
    assert_eq!(found[1].passage.why.recency, None);
}

#[test]
fn a_vector_search_adds_what_words_do_not_find() {
    let words = words::words_of("car insurance");
    let mut candidates = Candidates::new(&words, NOW);
    let one = chunk("The car is blue.", Category::Facts, NOW, 1.0);
    let mut same = one.clone();
    same.score = 0.3;
    candidates.add_by_words(vec![one], Vec::new());
    candidates.add_by_vector(
        vec![chunk("Motor vehicle cover.", Category::Facts, NOW, 0.7), same],
        Vec::new(),
    );
    let found = candidates.ranked();
    assert_eq!(found.len(), 2, "found twice is one passage");
    assert_eq!(found[0].passage.why.words_rank, Some(1));
    assert_eq!(found[0].passage.why.vector_rank, Some(2));
    assert!(fits(&found[1], true) && found[1].passage.why.words_rank.is_none());
}

#[test]
fn what_shares_only_common_words_does_not_fit() {
    let found = ranked(
        "How do we change the retention of invoices?",
        vec![
            chunk("How to change the logo.", Category::Facts, NOW, 9.0),
            chunk("Retention is ten years.", Category::Facts, NOW, 8.0),
        ],
        Vec::new(),
    );
    let fitting: Vec<&str> = found
        .iter()
        .filter(|candidate| fits(candidate, true))
        .map(|candidate| candidate.passage.text.as_str())
        .collect();
    assert_eq!(fitting, ["Retention is ten years."]);
}

#[test]
fn documents_stay_where_memory_says_the_same() {
    let rule = "Invoices are kept for ten years in the archive in Frankfurt.";
    let found = ranked(
        "invoices archive",
        vec![chunk(
            &format!("{rule} {}", "Other invoices words follow here. ".repeat(3)),
            Category::Facts,
            NOW,
            1.0,
        )],
        vec![item(rule), item(rule)],
    );
    let passages = distinct(found, 9, |_| true);
    assert_eq!(passages.len(), 1);
    assert_eq!(passages[0].kind, SourceKind::Chunk);
}

#[test]
fn a_rule_that_does_not_fit_does_not_keep_the_next_from_being_given() {
    let long = memory(&"word ".repeat(600), MemoryType::Rule);
    let short = memory("Answer in German.", MemoryType::Rule);
    let situation = Situation {
        rules: vec![long, short.clone()],
        ..Situation::default()
    };
    let (bounded, _) = budget::bounded(situation, 100);
    assert_eq!(bounded.rules, [short]);
}

#[test]
fn rules_come_first_and_passages_keep_half_of_the_budget() {
    let text = "word ".repeat(60);
    let many = |kind| (0..20).map(|_| memory(&text, kind)).collect::<Vec<_>>();
    let size = crate::tokens::tokens(&text);
    let situation = Situation {
        open_loops: many(MemoryType::OpenLoop),
        recent_events: many(MemoryType::Event),
        active_ideas: many(MemoryType::Idea),
        rules: many(MemoryType::Rule)[..2].to_vec(),
    };
    let budget = size * 20;
    let (bounded, left) = budget::bounded(situation.clone(), budget);
    assert_eq!(bounded.rules.len(), 2);
    for list in [&bounded.open_loops, &bounded.recent_events, &bounded.active_ideas] {
        assert!(list.len() >= 2, "each list has its share");
    }
    assert!(left >= budget / 2);
    let given = budget::ids(&bounded).len();
    assert_eq!(left, budget - size * u32::try_from(given).unwrap());
    let (bounded, left) = budget::bounded(situation, size);
    assert_eq!((bounded.rules.len(), bounded.open_loops.len(), left), (1, 0, 0));
}
