//! Whether what the user typed holds a "no" of some sort.

use crate::course::PromptKind;
use grov_proxy_core::{Question, ToolOutcome};

/// Words that rule out, stop or take back, in English and Romanian.
const WORDS: &[&str] = &[
    "no",
    "nope",
    "not",
    "dont",
    "don't",
    "never",
    "none",
    "stop",
    "wait",
    "cancel",
    "undo",
    "revert",
    "rollback",
    "without",
    "cannot",
    "can't",
    "shouldn't",
    "mustn't",
    "won't",
    "wrong",
    "why",
    "nu",
    "nici",
    "niciodată",
    "niciodata",
    "oprește",
    "opreste",
    "stai",
    "anulează",
    "anuleaza",
    "fără",
    "fara",
    "greșit",
    "gresit",
];

/// Words that are looked at.
const MOST_WORDS: usize = 2000;

/// Whether there is an objection in a prompt. It errs on the side of one: "no problem, go on" is taken for an objection,
/// and nothing is held to be allowed because of it.
pub(crate) fn objects(prompt: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '\'';
    let plain = prompt.replace('\u{2019}', "'").to_lowercase();
    let mut words = plain.split(|character| !is_part(character)).take(MOST_WORDS);
    words.any(|word| WORDS.contains(&word.trim_matches('\'')))
}

/// What the user says yes to, if they do: what the agent said last.
pub(crate) fn consent<'a>(kind: PromptKind, prompt: &str, last_answer: Option<&'a str>) -> Option<&'a str> {
    last_answer.filter(|_| kind == PromptKind::Assent && !objects(prompt))
}

/// What the user says yes to by answering a question or a plan of the agent. A question's result repeats the question and
/// tells the answer, as in `"Shall I publish?"="Yes"`.
pub(crate) fn consent_by_result<'a>(question: &'a Question, result: &'a ToolOutcome) -> Option<&'a str> {
    if result.failed {
        return None;
    }
    if let Some(plan) = &question.plan {
        return Some(plan);
    }
    let output = result.output.as_deref()?;
    let mut answers = output.split("\"=\"").skip(1);
    let objected = answers.any(|rest| objects(rest.split('"').next().unwrap_or(rest)));
    (!objected).then_some(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_consent_unless_it_says_no() {
        let question = Question {
            tool_use_id: "q".to_owned(),
            plan: None,
        };
        let mut result = ToolOutcome {
            tool_use_id: "q".to_owned(),
            failed: false,
            output: Some(
                "User has answered your questions: \"Shall I not wait and publish?\"=\"Yes, publish\"."
                    .to_owned(),
            ),
        };
        assert!(consent_by_result(&question, &result).is_some_and(|words| words.contains("publish")));
        result.output = Some("User has answered your questions: \"Publish?\"=\"No, keep it\".".to_owned());
        assert_eq!(consent_by_result(&question, &result), None);
        let plan = Question {
            plan: Some("Do not wait; drop the old table".to_owned()),
            ..question
        };
        assert_eq!(consent_by_result(&plan, &result), plan.plan.as_deref());
        result.failed = true;
        assert_eq!(consent_by_result(&plan, &result), None);
    }

    #[test]
    fn a_no_is_told_from_a_yes() {
        for prompt in [
            "no",
            "No.",
            "don't do that",
            "Don\u{2019}t",
            "stop!",
            "Nu, lasă",
            "why did you touch it?",
            "please do NOT push",
        ] {
            assert!(objects(prompt), "{prompt}");
        }
        for prompt in [
            "yes",
            "go on",
            "da, continuă",
            "Also update notes.md",
            "now do it",
            "ok, know-how",
            "",
        ] {
            assert!(!objects(prompt), "{prompt}");
        }
    }
}
