//! Distorts answers in the ways that models get them wrong.

use crate::behaviour::Wrong;
use crate::json::Json;

/// Why the answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was complete.
    Complete,
    /// It reached the token limit.
    Length,
    /// The model refused.
    Refused,
}

/// The model's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelAnswer {
    /// Its text; may be empty.
    pub(crate) text: String,
    /// The reason for its end.
    pub(crate) stop: Stop,
}

/// The answer, right or wrong.
pub(crate) fn distort(answer: String, wrong: Option<Wrong>) -> ModelAnswer {
    let complete = |text| ModelAnswer {
        text,
        stop: Stop::Complete,
    };
    let changed = |change: fn(&Json) -> Json| match Json::parse(answer.as_bytes()) {
        Ok(value) => change(&value).to_string(),
        Err(_) => answer.clone(),
    };
    match wrong {
        None => complete(answer),
        Some(Wrong::Truncated) => ModelAnswer {
            text: answer.chars().take(answer.chars().count() / 2).collect(),
            stop: Stop::Length,
        },
        Some(Wrong::Prose) => complete(format!(
            "Sure! Here is the JSON {{as you asked}}:\n\n{answer}\n\nLet me know if you need anything else."
        )),
        Some(Wrong::Fenced) => complete(format!("```json\n{answer}\n```")),
        Some(Wrong::Refusal) => ModelAnswer {
            text: "I'm sorry, but I can't help with that.".to_owned(),
            stop: Stop::Refused,
        },
        Some(Wrong::Empty) => complete(String::new()),
        Some(Wrong::Types) => complete(changed(other_types)),
        Some(Wrong::Values) => complete(changed(impossible)),
    }
}

/// Every member's value replaced by one of another type.
fn other_types(value: &Json) -> Json {
    match value {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), other_type(value)))
                .collect(),
        ),
        other => other_type(other),
    }
}

fn other_type(value: &Json) -> Json {
    match value {
        Json::String(_) | Json::Null => 17_u64.into(),
        Json::Number(number) => format!("{number} of ten").into(),
        Json::Bool(value) => (if *value { "yes" } else { "no" }).into(),
        Json::Array(_) => "one, two".into(),
        Json::Object(_) => Json::Array(Vec::new()),
    }
}

/// The right types with values that no schema allows: texts are nonsense or empty, numbers out of range, and the last
/// member is missing.
fn impossible(value: &Json) -> Json {
    match value {
        Json::String(text) if text.contains(' ') => "".into(),
        Json::String(_) => "no_such_value".into(),
        Json::Number(_) => 999_u64.into(),
        Json::Array(elements) => Json::Array(elements.iter().map(impossible).collect()),
        Json::Object(members) => {
            let kept = members.len().saturating_sub(1);
            let changed = |(key, value): &(String, Json)| (key.clone(), impossible(value));
            Json::Object(members.iter().take(kept).map(changed).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str =
        r#"{"goal":"Fix it now","action":"continue","score":9,"finished":true,"scope":["a"],"tags":[]}"#;

    fn distorted(wrong: Wrong) -> ModelAnswer {
        distort(ANSWER.to_owned(), Some(wrong))
    }

    #[test]
    fn a_right_answer_is_unchanged() {
        let answer = distort(ANSWER.to_owned(), None);
        assert_eq!((answer.text.as_str(), answer.stop), (ANSWER, Stop::Complete));
    }

    #[test]
    fn each_kind_of_wrong_answer_is_wrong_as_described() {
        let truncated = distorted(Wrong::Truncated);
        assert_eq!(truncated.stop, Stop::Length);
        assert!(Json::parse(truncated.text.as_bytes()).is_err() && ANSWER.starts_with(&truncated.text));
        for wrong in [Wrong::Prose, Wrong::Fenced] {
            let text = distorted(wrong).text;
            assert!(
                text.contains(ANSWER) && Json::parse(text.as_bytes()).is_err(),
                "{wrong:?}"
            );
        }
        assert_eq!(distorted(Wrong::Refusal).stop, Stop::Refused);
        assert_eq!(distorted(Wrong::Empty).text, "");
        assert_eq!(
            distorted(Wrong::Types).text,
            r#"{"goal":17,"action":17,"score":"9 of ten","finished":"yes","scope":"one, two","tags":"one, two"}"#
        );
        assert_eq!(
            distorted(Wrong::Values).text,
            r#"{"goal":"","action":"no_such_value","score":999,"finished":true,"scope":["no_such_value"]}"#
        );
    }

    #[test]
    fn text_that_is_not_json_stays_as_it_is() {
        assert_eq!(distort("no JSON".to_owned(), Some(Wrong::Types)).text, "no JSON");
    }
}
