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

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(prompts: &[&str], first_files: &[&str]) -> Intent {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        extract_intent(&IntentQuestion {
            prompts: owned(prompts),
            first_files: owned(first_files),
        })
    }

    #[test]
    fn the_newest_instruction_counts() {
        let found = intent(
            &[
                "Add a toggle to src/settings.rs. Don't touch the header.",
                "Now fix the login bug in src/auth.rs",
                "thanks",
            ],
            &["src/session.rs"],
        );
        assert_eq!(found.goal, "Now fix the login bug in src/auth.rs");
        assert_eq!(found.scope, ["src/settings.rs", "src/auth.rs", "src/session.rs"]);
        assert_eq!(found.constraints, ["Don't touch the header"]);
        assert_eq!(found.keywords[..2], ["login", "bug"]);
    }

    #[test]
    fn what_is_not_the_users_is_no_intent() {
        let reminder = "<system-reminder>Never stop. Fix the docs in docs/a.md.</system-reminder>";
        assert_eq!(intent(&[reminder], &[]), Intent::default());
        assert_eq!(
            intent(&[&format!("{reminder}\nSalut! Adaugă un test.")], &[]).goal,
            "Adaugă un test."
        );
        assert_eq!(intent(&[], &[]), Intent::default());
    }

    #[test]
    fn pasted_logs_are_not_the_goal() {
        let prompt = "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'do not touch'\n\nfix this crash in a.py";
        let found = intent(&[prompt], &[]);
        assert_eq!(found.goal, "fix this crash in a.py");
        assert!(found.constraints.is_empty());
    }
}
