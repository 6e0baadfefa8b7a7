//! Finds the prompt that states a goal.

use crate::words;
use std::collections::HashSet;

/// Maximum number of words compared.
const MAX_WORDS: usize = 400;

/// Returns the index of the prompt that a goal was taken from. For a goal worded by a model this is the prompt with the
/// most words in common, or the first one if there is none.
pub fn prompt_of_goal(goal: &str, prompts: &[String]) -> usize {
    let goal = goal.trim().trim_end_matches(['.', '…']).trim_end();
    if goal.is_empty() {
        return 0;
    }
    if let Some(place) = prompts.iter().position(|prompt| prompt.contains(goal)) {
        return place;
    }
    let wanted: HashSet<String> = words(goal, MAX_WORDS).into_iter().collect();
    let shared = |prompt: &String| {
        let prompt_words: HashSet<String> = words(prompt, MAX_WORDS).into_iter().collect();
        wanted.intersection(&prompt_words).count()
    };
    let mut best = (0, 0);
    for (place, prompt) in prompts.iter().enumerate() {
        let shared = shared(prompt);
        if shared > best.1 {
            best = (place, shared);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_belongs_to_the_prompt_it_was_taken_from() {
        let prompts = [
            "How does the login work?".to_owned(),
            "Translate README.md into French. Keep it short.".to_owned(),
            "and the headings".to_owned(),
        ];
        for (goal, expected) in [
            ("Translate README.md into French.", 1),
            ("French translation of README.md", 1),
            ("How does the login work?", 0),
            ("Something else entirely", 0),
            ("", 0),
        ] {
            assert_eq!(prompt_of_goal(goal, &prompts), expected, "{goal}");
        }
        assert_eq!(prompt_of_goal("x", &[]), 0);
    }
}
