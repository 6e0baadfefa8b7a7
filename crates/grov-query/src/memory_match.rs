//! Why a memory fits a prompt: the words and files that they share.

use grov_domain::{MemoryScope, Store, StoreError, Task, TaskId, file_name, unstemmed_words, words};
use grov_memory::{Query, Ranking, mentioned_files, search, short_id};
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// Maximum number of results among which the memories are looked for.
const MAX_RESULTS: usize = 64;
/// Maximum number of words that are compared.
const MAX_WORDS: usize = 4_096;
/// Maximum number of shared words that are shown.
const MAX_SHOWN: usize = 6;
/// Characters of a snippet.
const SNIPPET: usize = 160;

/// A memory and what it shares with a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryMatch {
    id: TaskId,
    /// By the present ranking; `None` if it is not found any more.
    score: Option<f64>,
    words: Vec<String>,
    files: Vec<String>,
}

impl MemoryMatch {
    /// Compares memories with a prompt at a time. The score is computed anew: it is not recorded.
    pub(crate) async fn of(
        store: &dyn Store,
        project: &str,
        prompt: &str,
        at: OffsetDateTime,
        memories: &[TaskId],
    ) -> Result<Vec<Self>, StoreError> {
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        let files = mentioned_files(prompt);
        let query = Query {
            scope: MemoryScope {
                project_path: project.to_owned(),
                project_remote: None,
            },
            text: prompt.to_owned(),
            files: files.clone(),
            before: Some(at),
            limit: MAX_RESULTS,
        };
        let found = search(store, &query, &Ranking::default()).await?;
        let tasks = store.memories(memories).await?;
        Ok(tasks
            .iter()
            .map(|task| Self {
                id: task.id.clone(),
                score: found
                    .iter()
                    .find(|found| found.task_id == task.id)
                    .map(|found| found.score),
                words: shared_words(prompt, task),
                files: files.iter().filter(|file| touches(task, file)).cloned().collect(),
            })
            .collect())
    }

    /// In one line.
    pub(crate) fn text(&self) -> String {
        let mut text = short_id(&self.id).to_owned();
        if let Some(score) = self.score {
            text.push_str(&format!(" score {score:.2}"));
        }
        if !self.words.is_empty() {
            text.push_str(&format!(", words {}", self.words.join(" ")));
        }
        if !self.files.is_empty() {
            text.push_str(&format!(", files {}", self.files.join(" ")));
        }
        text
    }
}

fn touches(task: &Task, file: &str) -> bool {
    let name = file_name(file);
    task.files_touched
        .iter()
        .any(|touched| touched.ends_with(file) || file_name(touched) == name)
}

/// The words of a prompt that a memory contains, as they are written, the longest first.
fn shared_words(prompt: &str, task: &Task) -> Vec<String> {
    let known: BTreeSet<String> = texts(task).flat_map(|text| words(text, MAX_WORDS)).collect();
    let stems = words(prompt, MAX_WORDS);
    let written = unstemmed_words(prompt, MAX_WORDS);
    let is_shared =
        |(stem, word): &(&String, &String)| known.contains(*stem) && !grov_domain::is_stop_word(word);
    let mut shared: Vec<String> = Vec::new();
    for (_, word) in stems.iter().zip(&written).filter(is_shared) {
        if !shared.contains(word) {
            shared.push(word.clone());
        }
    }
    shared.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    shared.truncate(MAX_SHOWN);
    shared
}

/// The texts of a memory, the most telling first.
fn texts(task: &Task) -> impl Iterator<Item = &str> {
    let decisions = task
        .decisions
        .iter()
        .flat_map(|one| [one.choice.as_str(), one.reason.as_str()]);
    let goal = task.goal.as_deref();
    goal.into_iter()
        .chain([task.original_query.as_str()])
        .chain(decisions)
        .chain(task.constraints.iter().map(String::as_str))
        .chain(task.reasoning_trace.iter().map(String::as_str))
        .chain(task.files_touched.iter().map(String::as_str))
}

/// The part of a memory beside its goal that has most words of a query, at most 160 characters. Empty if no other part has
/// any.
pub(crate) fn snippet(task: &Task, query: &str) -> String {
    let asked: BTreeSet<String> = words(query, MAX_WORDS).into_iter().collect();
    let shared = |text: &str| {
        let own: BTreeSet<String> = words(text, MAX_WORDS).into_iter().collect();
        own.intersection(&asked).count()
    };
    let goal = task.goal.as_deref().unwrap_or(&task.original_query);
    let parts = texts(task).filter(|text| *text != goal);
    // The first of equals.
    let best = parts
        .map(|text| (shared(text), text))
        .reduce(|best, other| if other.0 > best.0 { other } else { best });
    let Some((1.., text)) = best else {
        return String::new();
    };
    let lower = text.to_lowercase();
    let places = unstemmed_words(query, MAX_WORDS)
        .into_iter()
        .filter_map(|word| lower.find(&word));
    let first = places.min().unwrap_or(0);
    // Lower case may have another length.
    let start = text.floor_char_boundary(first.min(text.len()));
    excerpt(text, start)
}

/// Some text around a place.
fn excerpt(text: &str, place: usize) -> String {
    let before = text[..place]
        .char_indices()
        .rev()
        .nth(SNIPPET / 4)
        .map_or(0, |(at, _)| at);
    let part: String = text[before..].chars().take(SNIPPET).collect();
    let (opening, closing) = (
        if before > 0 { "…" } else { "" },
        if before + part.len() < text.len() {
            "…"
        } else {
            ""
        },
    );
    let part: Vec<&str> = part.split_whitespace().collect();
    format!("{opening}{}{closing}", part.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_place() {
        let text = format!("{} needle {}", "before ".repeat(30), "after ".repeat(60));
        let place = text.find("needle").unwrap_or_default();
        let shown = excerpt(&text, place);
        assert!(
            shown.contains("needle") && shown.starts_with('…') && shown.ends_with('…'),
            "{shown}"
        );
        assert!(shown.chars().count() <= SNIPPET + 2);
        assert_eq!(excerpt("short\n text", 0), "short text");
        assert_eq!(excerpt("日本語", 3), "日本語");
    }
}
