//! Puts first what fits a prompt among the decisions and limits of a memory: only the first ones are told.

use grov_domain::{Decision, Task, is_common_word, is_stop_word, words};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Maximum number of words read of a prompt, and of a point.
const MAX_WORDS: usize = 400;

/// Sorts the decisions and constraints of a memory by how much of a prompt they contain; equals stay in their order.
pub(crate) fn fit(task: &mut Task, prompt: &str) {
    let asked: HashSet<String> = words(prompt, MAX_WORDS)
        .into_iter()
        .filter(|word| !is_stop_word(word))
        .collect();
    if asked.is_empty() {
        return;
    }
    let of_decision =
        |decision: &Decision| shared(&format!("{} {}", decision.choice, decision.reason), &asked);
    task.decisions
        .sort_by_cached_key(|decision| Reverse(of_decision(decision)));
    task.constraints
        .sort_by_cached_key(|limit| Reverse(shared(limit, &asked)));
}

/// How much of the asked words a text contains; a common word counts little.
fn shared(text: &str, asked: &HashSet<String>) -> usize {
    let found: HashSet<String> = words(text, MAX_WORDS).into_iter().collect();
    let weight = |word: &&String| if is_common_word(word) { 1 } else { 3 };
    found
        .iter()
        .filter(|word| asked.contains(*word))
        .map(|word| weight(&word))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn what_fits_the_prompt_comes_first() {
        let decision = |choice: &str| Decision {
            choice: choice.to_owned(),
            reason: "it is simpler".to_owned(),
        };
        let mut task = Task {
            decisions: ["lxml over ElementTree", "batches of 500", "retry thrice"]
                .map(decision)
                .to_vec(),
            constraints: [
                "don't touch the VPC module",
                "keep Python 3.9",
                "never call the production API",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..sample("one", "Add the importer")
        };
        fit(
            &mut task,
            "Make the importer retry, and let it call the production API",
        );
        assert_eq!(task.decisions[0].choice, "retry thrice");
        assert_eq!(task.constraints[0], "never call the production API");
        let before = task.clone();
        fit(&mut task, "thanks");
        assert_eq!(task, before);
    }
}
