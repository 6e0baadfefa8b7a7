//! What waits to be said while the user types something, and whether it is still right under what they typed.

use crate::contract_builder::GoalContractBuilder;
use crate::objection::has_objection;
use crate::recovery_plan::has_hard_finding;
use crate::violation::Violation;
use grov_domain::{GoalContract, OFF_GOAL_BELOW, Rule, words};
use grov_scope::Rules;
use std::collections::HashSet;

/// Words of a text that are compared.
const MAX_WORDS: usize = 2000;
/// Words of fewer letters tell files apart badly.
const SHORTEST: usize = 3;

/// What waits to be said, as it looks under a prompt that the engine has not taken in yet.
pub struct PendingRecheck {
    pub(crate) builder: GoalContractBuilder,
    /// `None`: what was done before is not known yet.
    pub(crate) rules: Option<Rules>,
    pub(crate) last_answer: Option<String>,
    pub(crate) violation: Violation,
}

impl PendingRecheck {
    /// Whether it is still right under the prompt.
    pub fn still_applies(mut self, prompt: &str) -> bool {
        let says_something = self.builder.add_prompt(prompt);
        let Some(mut rules) = self.rules else {
            return false;
        };
        rules.set_contract(self.builder.contract().clone());
        if let Some(words) = consented_text(says_something, prompt, self.last_answer.as_deref()) {
            rules.record_consent(words);
        }
        let spoken = NewPrompt {
            says_something,
            prompt,
            last_answer: self.last_answer.as_deref(),
        };
        still_applies(&self.violation, self.builder.contract(), rules, &spoken)
    }
}

/// What the user says yes to, if they do: what the agent said last.
pub(crate) fn consented_text<'a>(
    says_something: bool,
    prompt: &str,
    last_answer: Option<&'a str>,
) -> Option<&'a str> {
    last_answer.filter(|_| !says_something && !has_objection(prompt))
}

/// What the user typed, and what they had read before.
pub(crate) struct NewPrompt<'a> {
    /// It is no mere "yes".
    pub(crate) says_something: bool,
    pub(crate) prompt: &'a str,
    pub(crate) last_answer: Option<&'a str>,
}

/// Whether what is to be said of an offence is right under a contract that holds the newest prompt, as `rules` do. A fact
/// is, if it is still one; so is what the rules find off the goal. What a model said is, as long as the work is the same and
/// the user spoke of none of the files: whoever names them, or says "yes" to an answer that does, has seen what became of them.
pub(crate) fn still_applies(
    violation: &Violation,
    contract: &GoalContract,
    mut rules: Rules,
    spoken: &NewPrompt<'_>,
) -> bool {
    if violation.is_hard {
        // One that was found before a restart is known by its words alone.
        return violation
            .action
            .as_ref()
            .is_none_or(|action| has_hard_finding(&rules.without_history().assess_subagent(action)));
    }
    // A prompt lets what was done before be done again, but a circle that nothing was asked for since is still one.
    let is_circle = violation.findings.iter().any(|one| one.rule == Rule::Repetition);
    if is_circle && !spoken.says_something {
        return true;
    }
    let Some(goal) = &violation.judged_under else {
        let action = violation.action.as_ref();
        return action.is_some_and(|action| rules.assess(action, None).score < OFF_GOAL_BELOW);
    };
    let answer = consented_text(spoken.says_something, spoken.prompt, spoken.last_answer).unwrap_or_default();
    is_same_work(goal, &contract.goal)
        && !is_spoken_of(violation, spoken.prompt)
        && !is_spoken_of(violation, answer)
}

/// Whether two goals are of the same work: the same, or the same in other words.
fn is_same_work(one: &str, other: &str) -> bool {
    let (mine, theirs) = (word_set(one), word_set(other));
    let shared = mine.intersection(&theirs).count();
    one == other || (shared > 0 && 2 * shared >= mine.len().min(theirs.len()))
}

/// Whether a text holds a word of what was changed: of a file's name or its folder, or of a command.
fn is_spoken_of(violation: &Violation, text: &str) -> bool {
    let spoken = word_set(text);
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
        .any(|word| word.chars().count() >= SHORTEST && spoken.contains(word))
}

fn word_set(text: &str) -> HashSet<String> {
    words(text, MAX_WORDS).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_goal_in_other_words_is_the_same_work() {
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
    fn files_are_spoken_of_by_name_or_folder() {
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
            assert_eq!(is_spoken_of(&violation, text), expected, "{text}");
        }
    }
}
