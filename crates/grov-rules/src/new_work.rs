//! Whether a prompt states work of its own.

use super::clean::clean;
use super::goal::{Goal, Sentence};
use super::prompt::only_asks;
use super::scope::overlap;
use super::text::words;

/// The fewest words of a prompt that states work of its own.
const MIN_WORDS: usize = 6;

/// The same in letters of a script without spaces.
const MIN_LETTERS: usize = 12;

/// The goal of a prompt that states work of its own, which shares no subject word with `known`, the goal and files of earlier
/// work. `None` for a question, an answer, an interjection, and for more of the same work.
pub fn new_work(prompt: &str, known: &str) -> Option<String> {
    let sentences = clean(prompt).sentences();
    let text = sentences.join(" ");
    let letters = text.chars().filter(|letter| *letter > '\u{3040}').count();
    if words(&text).len() < MIN_WORDS && letters < MIN_LETTERS
        || only_asks(prompt)
        || overlap(&text, known) > 0
    {
        return None;
    }
    let goal = Goal::of(&Sentence::read(&sentences));
    (!goal.assents && !goal.goes_on && !goal.text.is_empty()).then_some(goal.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_work_is_told_from_more_of_the_same() {
        let known = "sort imports in the whole frontend eslint.config.js";
        let other = "next: the avatar upload accepts 50 MB files, limit that to 2 MB on the server";
        assert_eq!(new_work(other, known).as_deref(), Some(other));
        for same in [
            "also sort the imports of the tests",
            "yes, go on",
            "what is the retention of the backups again?",
            "sorry, go on. But use the existing queue, we don't want another broker",
            "shorter please",
        ] {
            assert_eq!(new_work(same, known), None, "{same}");
        }
        assert!(new_work("把上传头像的大小限制为 2 MB，因为流量太贵", known).is_some());
    }
}
