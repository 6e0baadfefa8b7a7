//! Checks whether a pending correction still applies after a new prompt.

use crate::contract_builder::GoalContractBuilder;
use crate::findings::has_hard_finding;
use crate::violation::Violation;
use grov_domain::{GoalContract, OFF_GOAL_BELOW, words};
use grov_scope::{Rules, agreed, is_assent};
use std::collections::HashSet;

/// Maximum number of words compared.
const MAX_WORDS: usize = 2000;
/// Minimum characters of a word that identifies a file.
const MIN_WORD: usize = 3;

/// A check of the pending correction against a prompt that the engine has not processed yet, created by
/// [`SessionEngine::pending_recheck`](crate::SessionEngine::pending_recheck).
pub struct PendingRecheck {
    pub(crate) builder: GoalContractBuilder,
    /// `None` while the history is not loaded.
    pub(crate) rules: Option<Rules>,
    pub(crate) last_answer: Option<String>,
    pub(crate) violation: Violation,
}

impl PendingRecheck {
    /// Whether the correction still applies after the prompt. Takes long for long prompts; call it without locking the
    /// engine.
    pub fn still_applies(mut self, prompt: &str) -> bool {
        let has_content = self.builder.add_prompt(prompt);
        let Some(mut rules) = self.rules else {
            return false;
        };
        rules.set_contract(self.builder.contract().clone());
        if let Some(orders) = agreed_orders(prompt, self.last_answer.as_deref()) {
            rules.record_consent(&orders);
        }
        let new_prompt = NewPrompt {
            has_content,
            prompt,
            last_answer: self.last_answer.as_deref(),
        };
        still_applies(&self.violation, self.builder.contract(), rules, &new_prompt)
    }
}

/// What the user asks for by answering the agent's last text, an order a line; `None` if the prompt is no answer.
pub(crate) fn agreed_orders(prompt: &str, last_answer: Option<&str>) -> Option<String> {
    let orders = agreed(prompt, last_answer?);
    (!orders.is_empty()).then(|| orders.join("\n"))
}

/// A new prompt, and the text of the agent before it.
pub(crate) struct NewPrompt<'a> {
    /// Whether it has content of its own, and is not just a "yes".
    pub(crate) has_content: bool,
    pub(crate) prompt: &'a str,
    pub(crate) last_answer: Option<&'a str>,
}

/// Whether a correction about a violation applies under a contract that includes the newest prompt.
///
/// A finding of the rules applies if they still find it. A model's verdict applies as long as the work is the same and the
/// user has not mentioned the files: a user who names them, or agrees to a text that does, knows about the change.
pub(crate) fn still_applies(
    violation: &Violation,
    contract: &GoalContract,
    mut rules: Rules,
    new_prompt: &NewPrompt<'_>,
) -> bool {
    if violation.is_hard {
        // After a restart, the action is unknown.
        return violation
            .action
            .as_ref()
            .is_none_or(|action| has_hard_finding(&rules.without_history().assess_subagent(action)));
    }
    // Only a new request permits repeating an action.
    if violation.is_repetition() && !new_prompt.has_content {
        return true;
    }
    let Some(goal) = &violation.judged_under else {
        let action = violation.action.as_ref();
        return action.is_some_and(|action| rules.assess(action, None).score < OFF_GOAL_BELOW);
    };
    let answer = new_prompt
        .last_answer
        .filter(|_| is_assent(new_prompt.prompt))
        .unwrap_or_default();
    is_same_work(goal, &contract.goal)
        && !is_mentioned(violation, new_prompt.prompt)
        && !is_mentioned(violation, answer)
}

/// Whether two goals describe the same work in the same or in other words.
fn is_same_work(one: &str, other: &str) -> bool {
    let (mine, theirs) = (word_set(one), word_set(other));
    let shared = mine.intersection(&theirs).count();
    one == other || (shared > 0 && 2 * shared >= mine.len().min(theirs.len()))
}

/// Whether a text mentions the violation: a word of the name or folder of a file, or else of the command.
fn is_mentioned(violation: &Violation, text: &str) -> bool {
    let mentioned = word_set(text);
    let mut subject: HashSet<String> = HashSet::new();
    for file in &violation.files {
        let path = file.rsplit_once('.').map_or(file.as_str(), |(path, _)| path);
        let mut parts = path.rsplit(['/', '\\']);
        let near = parts.by_ref().take(2).collect::<Vec<_>>().join(" ");
        subject.extend(word_set(&near));
    }
    if subject.is_empty()
        && let Some(command) = violation
            .action
            .as_ref()
            .and_then(|action| action.command.as_deref())
    {
        subject.extend(word_set(command));
    }
    subject
        .iter()
        .any(|word| word.chars().count() >= MIN_WORD && mentioned.contains(word))
}

fn word_set(text: &str) -> HashSet<String> {
    words(text, MAX_WORDS).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_in_other_words_describe_the_same_work() {
        assert!(is_same_work(
            "Fix the token refresh in src/auth/token.ts",
            "Make the token refresh robust"
        ));
        assert!(!is_same_work(
            "Fix the token refresh in src/auth/token.ts",
            "Translate README.md into French"
        ));
        assert!(!is_same_work("Fix it", ""));
    }

    #[test]
    fn files_are_mentioned_by_name_or_folder() {
        let violation = Violation {
            files: vec!["src/styles/theme.css".to_owned()],
            ..Violation::default()
        };
        for (text, expected) in [
            ("The theme looks good", true),
            ("also the other styles", true),
            ("Now cover the refresh with a test", false),
            ("look at src again", false),
            ("", false),
        ] {
            assert_eq!(is_mentioned(&violation, text), expected, "{text}");
        }
    }
}
