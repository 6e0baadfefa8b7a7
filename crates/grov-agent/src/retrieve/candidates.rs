//! Fuses what the searches of a store found into one order.
//!
//! Each search contributes `weight / (60 + rank)` (reciprocal rank fusion). Chunks and items come in lists of their own, whose
//! scores cannot be compared. So the lists of a words search are merged first: by the place in the own list, and by a score
//! (BM25) that is computed here for both, fused in the same way. The store knows how rare a word is in the project; the score
//! knows which words of the question are rare among what was found. Both together are better than each.

use super::similar::Shingles;
use super::words::{Word, stems};
use crate::{Category, FoundChunk, FoundItem, MemoryType, Passage, PassageDocument, SourceKind, Why};
use std::collections::HashMap;
use time::OffsetDateTime;

/// The usual constant of reciprocal rank fusion.
const RRF: f64 = 60.0;
/// How much the second occurrence of a word adds (BM25's k1), and how much a long text counts less (its b).
const SATURATION: f64 = 0.6;
const LENGTH: f64 = 0.4;
/// The weight of a vector search; that of a words search is 1. With equal weights a weak embedder makes the order worse.
const VECTOR_WEIGHT: f64 = 0.5;
/// Age at which the factor of a document of the category STATE is half way to its least value, in days.
const STATE_HALF_LIFE: f64 = 90.0;
/// The same for an event.
const EVENT_HALF_LIFE: f64 = 30.0;
/// The least factor for age.
const LEAST_RECENCY: f64 = 0.5;
/// The value of a common word of the question; that of another word is 1.
const COMMON_WORD: f64 = 0.3;

/// A chunk or an item, with its places in the lists that found it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) passage: Passage,
    /// The similarity to the question, of a vector search.
    pub(super) similarity: Option<f64>,
    /// Whether it shares a word with the question that is not common.
    pub(super) shares_rare_word: bool,
    /// The share of the question's words in it, by their value, 0 to 1.
    pub(super) coverage: f64,
    /// Estimated tokens.
    pub(super) tokens: u32,
    /// By which near-duplicates are known.
    pub(super) shingles: Shingles,
    /// How often each word of the question is in it.
    counts: Vec<u32>,
    /// Number of words.
    length: usize,
}

/// All candidates of a question.
pub(super) struct Candidates<'a> {
    words: &'a [Word],
    now: OffsetDateTime,
    places: HashMap<(bool, String), usize>,
    list: Vec<Candidate>,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(words: &'a [Word], now: OffsetDateTime) -> Self {
        Self {
            words,
            now,
            places: HashMap::new(),
            list: Vec::new(),
        }
    }

    /// Adds what a words search found.
    pub(super) fn add_by_words(&mut self, chunks: Vec<FoundChunk>, items: Vec<FoundItem>) {
        let mut found = Vec::new();
        for (rank, chunk) in chunks.into_iter().enumerate() {
            found.push((rank, self.chunk(chunk)));
        }
        for (rank, item) in items.into_iter().enumerate() {
            found.push((rank, self.item(item)));
        }
        let mut own: Vec<(f64, usize)> = self.scores(&found);
        own.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut fused: HashMap<usize, f64> = HashMap::new();
        for (rank, place) in found.iter().copied() {
            *fused.entry(place).or_default() += 1.0 / (RRF + rank as f64);
        }
        for (rank, (_, place)) in own.into_iter().enumerate() {
            *fused.entry(place).or_default() += 1.0 / (RRF + rank as f64);
        }
        let mut merged: Vec<(usize, f64)> = fused.into_iter().collect();
        merged
            .sort_by(|(place, one), (other_place, other)| other.total_cmp(one).then(place.cmp(other_place)));
        for (rank, (place, _)) in merged.into_iter().enumerate() {
            self.list[place].passage.why.words_rank = Some(rank_from_1(rank));
        }
    }

    /// Adds what a vector search found.
    pub(super) fn add_by_vector(&mut self, chunks: Vec<FoundChunk>, items: Vec<FoundItem>) {
        let mut found: Vec<(f64, usize)> = Vec::new();
        for chunk in chunks {
            found.push((chunk.score, self.chunk(chunk)));
        }
        for item in items {
            found.push((item.score, self.item(item)));
        }
        // Both lists are similarities to the same embedding, so they can be compared.
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        for (rank, (similarity, place)) in found.into_iter().enumerate() {
            self.list[place].passage.why.vector_rank = Some(rank_from_1(rank));
            self.list[place].similarity = Some(similarity);
        }
    }

    /// Returns all candidates, best first.
    pub(super) fn ranked(mut self) -> Vec<Candidate> {
        for candidate in &mut self.list {
            let why = &candidate.passage.why;
            let share =
                |rank: Option<u32>, weight: f64| rank.map_or(0.0, |rank| weight / (RRF + f64::from(rank)));
            let fused = share(why.words_rank, 1.0) + share(why.vector_rank, VECTOR_WEIGHT);
            candidate.passage.score = fused * why.recency.unwrap_or(1.0);
        }
        self.list.sort_by(|one, other| {
            other
                .passage
                .score
                .total_cmp(&one.passage.score)
                .then_with(|| one.passage.id.cmp(&other.passage.id))
        });
        self.list
    }

    fn chunk(&mut self, found: FoundChunk) -> usize {
        let key = (true, found.id.to_string());
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let recency = (found.category == Category::State)
            .then(|| recency(self.now - found.updated_at, STATE_HALF_LIFE));
        let above = format!("{} {}", found.title, found.heading_path.join(" "));
        let passage = Passage {
            kind: SourceKind::Chunk,
            id: key.1.clone(),
            score: 0.0,
            text: found.text,
            document: Some(PassageDocument {
                id: found.document,
                title: found.title,
                category: found.category,
                heading_path: found.heading_path,
            }),
            item_type: None,
            why: Why {
                recency,
                ..Why::default()
            },
        };
        self.insert(key, passage, &above)
    }

    fn item(&mut self, found: FoundItem) -> usize {
        let item = found.item;
        let key = (false, item.id.to_string());
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let recency =
            (item.kind == MemoryType::Event).then(|| recency(self.now - item.created_at, EVENT_HALF_LIFE));
        let passage = Passage {
            kind: SourceKind::Memory,
            id: key.1.clone(),
            score: 0.0,
            text: item.content,
            document: None,
            item_type: Some(item.kind),
            why: Why {
                recency,
                ..Why::default()
            },
        };
        self.insert(key, passage, "")
    }

    fn insert(&mut self, key: (bool, String), mut passage: Passage, above: &str) -> usize {
        let body = stems(&passage.text);
        let above = stems(above);
        let mut own: HashMap<&str, u32> = HashMap::new();
        for word in body.iter().chain(&above) {
            *own.entry(word).or_default() += 1;
        }
        let count = |word: &Word| own.get(word.stem.as_str()).copied().unwrap_or(0);
        let counts: Vec<u32> = self.words.iter().map(count).collect();
        let matched: Vec<&Word> = self.words.iter().filter(|word| count(word) > 0).collect();
        let value = |word: &&Word| if word.is_common { COMMON_WORD } else { 1.0 };
        let all: f64 = self.words.iter().map(|word| value(&word)).sum();
        let coverage = if all > 0.0 {
            matched.iter().map(value).sum::<f64>() / all
        } else {
            0.0
        };
        passage.why.matched_words = matched.iter().map(|word| word.text.clone()).collect();
        let place = self.list.len();
        self.list.push(Candidate {
            tokens: crate::tokens::tokens(&passage.text),
            shingles: Shingles::of(&body),
            shares_rare_word: matched.iter().any(|word| !word.is_common),
            passage,
            similarity: None,
            coverage,
            counts,
            length: body.len() + above.len(),
        });
        self.places.insert(key, place);
        place
    }

    /// Scores what a words search found by BM25, with the rarity of a word among the found.
    fn scores(&self, found: &[(usize, usize)]) -> Vec<(f64, usize)> {
        let candidates: Vec<(&Candidate, usize)> = found
            .iter()
            .map(|(_, place)| (&self.list[*place], *place))
            .collect();
        let total = candidates.len() as f64;
        let average = candidates
            .iter()
            .map(|(candidate, _)| candidate.length as f64)
            .sum::<f64>()
            / total;
        let rarity: Vec<f64> = (0..self.words.len())
            .map(|word| {
                let with = candidates
                    .iter()
                    .filter(|(candidate, _)| candidate.counts[word] > 0)
                    .count();
                (1.0 + total / with.max(1) as f64).ln()
            })
            .collect();
        let score = |candidate: &Candidate| {
            let long = 1.0 - LENGTH + LENGTH * candidate.length as f64 / average.max(1.0);
            let weighted = candidate.counts.iter().zip(&rarity);
            weighted
                .map(|(count, rarity)| {
                    let count = f64::from(*count);
                    rarity * count * (SATURATION + 1.0) / (count + SATURATION * long)
                })
                .sum::<f64>()
        };
        candidates
            .into_iter()
            .map(|(candidate, place)| (score(candidate), place))
            .collect()
    }
}

/// The factor for an age: 1 for new, [`LEAST_RECENCY`] for very old.
fn recency(age: time::Duration, half_life_days: f64) -> f64 {
    let days = (age.as_seconds_f64() / 86_400.0).max(0.0);
    LEAST_RECENCY + (1.0 - LEAST_RECENCY) * (-days / half_life_days).exp2()
}

fn rank_from_1(rank: usize) -> u32 {
    u32::try_from(rank + 1).unwrap_or(u32::MAX)
}
