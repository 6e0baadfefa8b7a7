//! Whether what the user typed holds a "no" of some sort.

use crate::contract::PromptKind;
use grov_proxy_core::{Question, ToolOutcome};
use grov_session::objection::agreed;
pub(crate) use grov_session::objection::objects;

/// What the user says yes to, if they do: what the agent said last.
pub(crate) fn consent<'a>(kind: PromptKind, prompt: &str, last_answer: Option<&'a str>) -> Option<&'a str> {
    last_answer.filter(|_| kind == PromptKind::Assent && !objects(prompt))
}

/// What the user says yes to by answering a question or a plan of the agent.
pub(crate) fn consent_by_result<'a>(question: &'a Question, result: &'a ToolOutcome) -> Option<&'a str> {
    agreed(question.plan.as_deref(), result.failed, result.output.as_deref())
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
}
