//! What the user wants.

use super::clean::{Cleaned, clean};
use super::prompt::Prompt;
use super::{constraints, goal, scope};
use grov_domain::{Intent, IntentQuestion};

/// At most so many prompts are looked at, the newest.
pub(super) const MOST_PROMPTS: usize = 20;

/// So many of the files first read say where the work is.
const FIRST_FILES: usize = 8;

/// What the user wants: the goal from the newest instruction, scope from what is named and from the files first read,
/// constraints from all prompts, and words for search. Goal at most 200 characters; 40 entries of scope, 20 constraints and
/// 12 keywords at most.
pub fn extract_intent(question: &IntentQuestion) -> Intent {
    let newest = &question.prompts[question.prompts.len().saturating_sub(MOST_PROMPTS)..];
    let cleaned: Vec<Cleaned> = newest.iter().map(|prompt| clean(prompt)).collect();
    let sentences: Vec<Vec<String>> = cleaned.iter().map(Cleaned::sentences).collect();
    let goal = newest_goal(&sentences);
    let mut scope = Vec::new();
    let mut constraints = Vec::new();
    for (prompt, sentences) in cleaned.iter().zip(&sentences) {
        scope::named(&prompt.whole, &mut scope);
        constraints::find(sentences, &mut constraints);
    }
    for file in question.first_files.iter().take(FIRST_FILES) {
        let file = file.trim();
        if !file.is_empty() {
            super::text::push_new(&mut scope, super::text::shorten(file, 300), scope::MOST_ENTRIES);
        }
    }
    let last = cleaned.last().map(Cleaned::best).unwrap_or_default();
    let keywords = scope::keywords(&[&goal, last]);
    Intent {
        goal,
        scope,
        constraints,
        keywords,
    }
}

/// The goal of the newest prompt that says one; thanks and "go ahead" say none.
pub(super) fn newest_goal(prompts: &[Vec<String>]) -> String {
    let mut fall_back = String::new();
    for sentences in prompts.iter().rev() {
        let goal = goal::goal_of(sentences);
        if goal.is_empty() {
            continue;
        }
        let read = Prompt::read(sentences);
        if !read.acknowledges && !read.approves {
            return goal;
        }
        if fall_back.is_empty() {
            fall_back = goal;
        }
    }
    fall_back
}
