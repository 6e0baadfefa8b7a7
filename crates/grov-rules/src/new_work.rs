//! Whether a prompt states work of its own.

use super::clean::clean;
use super::goal::{Goal, Role, Sentence};
use super::prompt::{Objection, Prompt, Relation, only_asks};
use super::scope::{overlap, subject};
use super::text::{has_phrase, words};

/// Phrases of a question about what the agent did.
#[rustfmt::skip]
const ABOUT_ACTIONS: &[&str] = &[
    "did you", "have you", "you changed", "you added", "you did", "you used", "you put", "ai facut",
    "ai schimbat", "ai pus", "ai adaugat", "ai folosit",
];

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

/// Why a prompt with these words belongs to finished work on `goal`; `None` if it is about other work.
pub(crate) fn about_finished(prompt: &Prompt, text: &str, goal: &str) -> Option<&'static str> {
    let about_it = || prompt.is_anaphoric || overlap(text, goal) > 0;
    if prompt.empty || prompt.acknowledges || prompt.approves {
        return Some("the user acknowledged finished work");
    }
    if prompt.objection == Objection::Plain || prompt.objection == Objection::Fault && about_it() {
        return Some("the user objected to finished work");
    }
    if prompt.orders && prompt.is_anaphoric && subject(text).is_empty() {
        return Some("the user asked for more of finished work");
    }
    if prompt.only_asks && (about_it() || has_phrase(&words(text), ABOUT_ACTIONS)) {
        return Some("the user asked about finished work");
    }
    None
}

/// The goal of an order of its own after finished work on `finished`, in any language. `None` for a question, an answer, an
/// objection, the usual end of work ("push it"), and what only adds to the work ("the footer, too").
pub fn order_after(prompt: &str, finished: &str) -> Option<String> {
    let sentences = clean(prompt).sentences();
    let text = sentences.join(" ");
    let read = Prompt::read(&sentences);
    if about_finished(&read, &text, finished).is_some() || only_asks(prompt) {
        return None;
    }
    let sentences = Sentence::read(&sentences);
    let goal = Goal::of(&sentences);
    let orders = read.orders || sentences.iter().any(Sentence::asks_for_work);
    let goes_on = goal.assents || goal.goes_on || goal.role == Role::Keeps || read.routine;
    let adds = sentences.first().is_some_and(Sentence::continues);
    let is_own = read.relation == Relation::Other || !adds && !refers_only(&read, &text);
    (orders && !goes_on && is_own && !goal.text.is_empty()).then_some(goal.text)
}

/// Whether a prompt says with hardly a word of its own what to change of something: "make it shorter".
fn refers_only(prompt: &Prompt, text: &str) -> bool {
    prompt.is_anaphoric && subject(text).len() <= 2
}

/// Whether a prompt says that other work begins: "now do something else".
pub fn turns_to_other_work(prompt: &str) -> bool {
    let sentences = clean(prompt).sentences();
    Prompt::read(&sentences).relation == Relation::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_after_finished_work_is_work_of_its_own() {
        let goal = "Rate limit the login page to five attempts a minute.";
        for own in [
            "Translate the emails to French",
            "Upgrade the Docker base image",
            "Now do something else. Upgrade the Docker base image",
            "Add a captcha to the login page",
            "Übersetze die E-Mails ins Französische",
            "Traduis les e-mails en français",
        ] {
            assert!(order_after(own, goal).is_some(), "{own}");
        }
        for same in [
            "thanks",
            "yes, go on",
            "make it shorter",
            "push it",
            "run the tests",
            "the register page, too",
            "also the register page",
            "no, that is wrong, use ten attempts",
            "why five attempts?",
            "did you add a test?",
        ] {
            assert_eq!(order_after(same, goal), None, "{same}");
        }
    }

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
