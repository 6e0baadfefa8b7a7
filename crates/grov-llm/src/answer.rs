//! Parses the text of a model's answer into typed fields.

use crate::quote::is_hidden;
use grov_domain::{Decision, Harm, HarmKind, ReadLimit, ReadRequest, RecoveryStep, without_own_text};
use grov_redact::Redactor;
use serde_json::{Map, Value};

/// Text beyond this is ignored; expected answers are far shorter.
const MAX_ANSWER: usize = 64 * 1024;

/// How many `{` are tried as the start of the answer.
const MAX_STARTS: usize = 64;

/// Why an answer is unusable. The message is sent to the model with one more request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerError {
    /// The answer is empty.
    #[error("it was empty")]
    Empty,
    /// It ended before it was complete.
    #[error("it was cut off because it was too long; answer more briefly")]
    CutOff,
    /// It contains no JSON object.
    #[error("it contained no complete JSON object")]
    NoObject,
    /// A field is missing, empty or of another type.
    #[error("`{field}` must be {expected}")]
    Field {
        /// The field.
        field: &'static str,
        /// The required type or value.
        expected: &'static str,
    },
}

/// The error for a `field` that is not as `expected`.
pub(crate) fn wrong(field: &'static str, expected: &'static str) -> AnswerError {
    AnswerError::Field { field, expected }
}

/// The fields of an answer.
#[derive(Debug)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Finds the JSON object in `text`: alone, in a code fence or within prose. If there are several, the longest one
    /// wins, so that a small example before the answer is not mistaken for it.
    pub(crate) fn find(text: &str) -> Result<Self, AnswerError> {
        let text = &text[..text.floor_char_boundary(MAX_ANSWER)];
        let text = text
            .rsplit_once("</think>")
            .map_or(text, |(_, after)| after)
            .trim();
        if text.is_empty() {
            return Err(AnswerError::Empty);
        }
        let mut longest: Option<(usize, Map<String, Value>)> = None;
        let mut at = 0;
        for _ in 0..MAX_STARTS {
            let Some(start) = text[at..].find('{').map(|found| at + found) else {
                break;
            };
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Map<String, Value>>();
            if let Some(Ok(object)) = values.next() {
                let length = values.byte_offset();
                if longest.as_ref().is_none_or(|(known, _)| length > *known) {
                    longest = Some((length, object));
                }
                at = start + length;
            } else {
                at = start + 1;
            }
        }
        longest
            .map(|(_, object)| Self(object))
            .ok_or(AnswerError::NoObject)
    }

    /// A non-empty text, on one line of at most `limit` characters.
    pub(crate) fn text(&self, field: &'static str, limit: usize) -> Result<String, AnswerError> {
        let text = self
            .0
            .get(field)
            .and_then(Value::as_str)
            .map(|text| tidy(text, limit));
        text.filter(|text| !text.is_empty())
            .ok_or(wrong(field, "a text that is not empty"))
    }

    /// A text; `None` if missing, null or empty.
    pub(crate) fn optional_text(
        &self,
        field: &'static str,
        limit: usize,
    ) -> Result<Option<String>, AnswerError> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(tidy(text, limit)).filter(|text| !text.is_empty())),
            Some(_) => Err(wrong(field, "a text or null")),
        }
    }

    /// At most `count` distinct, non-empty texts of at most `limit` characters.
    pub(crate) fn texts(
        &self,
        field: &'static str,
        count: usize,
        limit: usize,
    ) -> Result<Vec<String>, AnswerError> {
        let error = || wrong(field, "a list of texts");
        let mut texts: Vec<String> = Vec::new();
        for value in self.array(field).ok_or_else(error)? {
            let text = tidy(value.as_str().ok_or_else(error)?, limit);
            if !text.is_empty() && texts.len() < count && !texts.contains(&text) {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    /// Whole numbers that are not negative; others are left out.
    pub(crate) fn numbers(&self, field: &'static str) -> Result<Vec<usize>, AnswerError> {
        let error = || wrong(field, "a list of numbers");
        let mut numbers = Vec::new();
        for value in self.array(field).ok_or_else(error)? {
            let number = value.as_i64().ok_or_else(error)?;
            numbers.extend(usize::try_from(number));
        }
        Ok(numbers)
    }

    /// What is harmful about memories, with their numbers; without numbers that are negative. An unknown kind is an order.
    pub(crate) fn harms(&self, field: &'static str, count: usize) -> Result<Vec<(usize, Harm)>, AnswerError> {
        let expected = "a list of objects with `number` and the texts `kind` and `quote`";
        let error = || wrong(field, expected);
        let mut harms = Vec::new();
        for value in self.array(field).ok_or_else(error)?.iter().take(count) {
            let number = value.get("number").and_then(Value::as_i64).ok_or_else(error)?;
            let kind = value.get("kind").and_then(Value::as_str).ok_or_else(error)?;
            let quote = value.get("quote").and_then(Value::as_str).ok_or_else(error)?;
            let harm = Harm {
                kind: HarmKind::from_name(kind.trim()).unwrap_or(HarmKind::Order),
                quote: tidy(quote, 300),
            };
            harms.extend(usize::try_from(number).map(|number| (number, harm)));
        }
        Ok(harms)
    }

    /// Decisions, each with a choice and a reason.
    pub(crate) fn decisions(&self, field: &'static str, count: usize) -> Result<Vec<Decision>, AnswerError> {
        let expected = "a list of objects with the texts `choice` and `reason`, none of them empty";
        let error = || wrong(field, expected);
        let mut decisions = Vec::new();
        for value in self.array(field).ok_or_else(error)?.iter().take(count) {
            let part = |name: &str, limit| {
                value
                    .get(name)
                    .and_then(Value::as_str)
                    .map(|text| tidy(text, limit))
                    .filter(|text| !text.is_empty())
                    .ok_or_else(error)
            };
            decisions.push(Decision {
                choice: part("choice", 200)?,
                reason: part("reason", 300)?,
            });
        }
        Ok(decisions)
    }

    /// Limits, each with the user's words and the signs of its breach.
    pub(crate) fn limits(
        &self,
        field: &'static str,
        count: usize,
        signs: usize,
    ) -> Result<Vec<ReadLimit>, AnswerError> {
        let limits = self.with_words(field, count)?;
        let limit = |(words, value): (String, &Value)| ReadLimit {
            words,
            files: patterns(value, "files", signs),
            only: patterns(value, "only", signs),
            except: patterns(value, "except", signs),
            commands: patterns(value, "commands", signs),
            adds: patterns(value, "adds", signs),
            removes: patterns(value, "removes", signs),
        };
        Ok(limits.into_iter().map(limit).collect())
    }

    /// Dangerous actions that the user asks for, each with the user's words. A model may leave the whole list out.
    pub(crate) fn requests(
        &self,
        field: &'static str,
        count: usize,
        signs: usize,
    ) -> Result<Vec<ReadRequest>, AnswerError> {
        if self.0.get(field).is_none_or(Value::is_null) {
            return Ok(Vec::new());
        }
        let requests = self.with_words(field, count)?;
        let request = |(words, value): (String, &Value)| ReadRequest {
            words,
            files: patterns(value, "files", signs),
            commands: patterns(value, "commands", signs),
        };
        Ok(requests.into_iter().map(request).collect())
    }

    /// Objects that quote the user's words.
    fn with_words(&self, field: &'static str, count: usize) -> Result<Vec<(String, &Value)>, AnswerError> {
        let error = || wrong(field, "a list of objects with `words` and lists of texts");
        let all = self.array(field).ok_or_else(error)?.iter().take(count);
        all.map(|value| {
            let words = value.get("words").and_then(Value::as_str).ok_or_else(error)?;
            Ok((tidy(words, 200), value))
        })
        .collect()
    }

    /// Steps, each with an action and perhaps a file.
    pub(crate) fn steps(&self, field: &'static str, count: usize) -> Result<Vec<RecoveryStep>, AnswerError> {
        let expected =
            "a list of objects with `file` (a text or null) and `action` (a text that is not empty)";
        let steps = self.array(field).map(|steps| steps.iter().take(count));
        steps
            .and_then(|steps| steps.map(step).collect())
            .ok_or(wrong(field, expected))
    }

    /// One step.
    pub(crate) fn step(&self, field: &'static str) -> Result<RecoveryStep, AnswerError> {
        let expected = "an object with `file` (a text or null) and `action` (a text that is not empty)";
        self.0.get(field).and_then(step).ok_or(wrong(field, expected))
    }

    /// A boolean.
    pub(crate) fn flag(&self, field: &'static str) -> Result<bool, AnswerError> {
        let flag = self.0.get(field).and_then(Value::as_bool);
        flag.ok_or(wrong(field, "true or false"))
    }

    /// A whole number from 1 to 10.
    pub(crate) fn score(&self, field: &'static str) -> Result<u8, AnswerError> {
        let number = self.0.get(field).and_then(Value::as_f64);
        let score = number.filter(|number| number.fract() == 0.0 && (1.0..=10.0).contains(number));
        // In range and whole, so nothing is lost.
        score
            .map(|score| score as u8)
            .ok_or(wrong(field, "a whole number from 1 to 10"))
    }

    fn array(&self, field: &str) -> Option<&Vec<Value>> {
        self.0.get(field).and_then(Value::as_array)
    }
}

/// The patterns in a list of an object. They are kept whole or not at all.
fn patterns(value: &Value, name: &str, count: usize) -> Vec<String> {
    let all = value.get(name).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str)
        .filter_map(pattern)
        .take(count)
        .collect()
}

/// A pattern as it is, if it is short, on one line and without a secret.
fn pattern(text: &str) -> Option<String> {
    const MAX_CHARACTERS: usize = 300;
    let text = text.trim();
    let is_plain = !text.is_empty()
        && text.chars().count() <= MAX_CHARACTERS
        && !text.chars().any(|c| c.is_control() || is_hidden(c))
        && Redactor::shared().redact(text) == text;
    is_plain.then(|| text.to_owned())
}

fn step(value: &Value) -> Option<RecoveryStep> {
    let action = tidy(value.get("action")?.as_str()?, 300);
    let file = match value.get("file") {
        None | Some(Value::Null) => None,
        Some(file) => Some(tidy(file.as_str()?, 300)).filter(|file| !file.is_empty()),
    };
    (!action.is_empty()).then_some(RecoveryStep { file, action })
}

/// `text` on one line of at most `limit` characters, without control characters, emoji and Grov's own text.
pub(crate) fn tidy(text: &str, limit: usize) -> String {
    // Redacted first: joining lines and cutting would make secrets unrecognisable.
    let public = Redactor::shared().redact(text);
    let plain: String = public
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|&c| !is_hidden(c) && !is_emoji(c))
        .collect();
    let foreign = without_own_text(&plain);
    let words: Vec<&str> = foreign.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(limit) {
        None => line,
        Some(_) => {
            let kept: String = line.chars().take(limit.saturating_sub(3)).collect();
            format!("{}...", kept.trim_end())
        }
    }
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2B50}' | '\u{2B55}' | '\u{FE0F}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn goal(text: &str) -> Result<String, AnswerError> {
        Fields::find(text)?.text("goal", 200)
    }

    #[test]
    fn a_json_object_is_found_in_model_output() {
        for text in [
            r#"{"goal":"a b"}"#,
            "```json\n{\"goal\": \"a b\"}\n```",
            "Sure! Here is the JSON {as asked}:\n{\"goal\": \"a\\nb\"}\nI hope {this} helps.",
            "<think>perhaps {\"goal\": \"a very long wrong thought about it\"}</think>{\"goal\":\"a b\"}",
            "For example {}. Now: {\"goal\":\"a b\",\"more\":{\"x\":[1]}}",
        ] {
            assert_eq!(goal(text), Ok("a b".to_owned()), "{text}");
        }
    }

    #[test]
    fn unusable_answers_have_distinct_errors() {
        assert_eq!(goal(" \n"), Err(AnswerError::Empty));
        assert_eq!(goal("I cannot help with that."), Err(AnswerError::NoObject));
        assert_eq!(goal("{\"goal\": \"a"), Err(AnswerError::NoObject));
        assert_eq!(goal("[1]"), Err(AnswerError::NoObject));
        for text in [
            "{}",
            "{\"goal\":\" \"}",
            "{\"goal\":7}",
            "{\"goal\":null}",
            "{\"goal\":\"\\u0007\"}",
        ] {
            assert!(
                matches!(goal(text), Err(AnswerError::Field { field: "goal", .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn endless_nesting_is_not_an_object() {
        let deep = "{\"a\":".repeat(20_000);
        assert_eq!(goal(&deep), Err(AnswerError::NoObject));
    }

    #[test]
    fn scores_are_integers_in_range() {
        let score = |text: &str| Fields::find(text).unwrap().score("score").ok();
        assert_eq!(score("{\"score\":10}"), Some(10));
        assert_eq!(score("{\"score\":7.0}"), Some(7));
        for text in [
            "{\"score\":0}",
            "{\"score\":11}",
            "{\"score\":7.5}",
            "{\"score\":\"7\"}",
            "{\"score\":-1}",
            "{}",
        ] {
            assert_eq!(score(text), None, "{text}");
        }
    }

    #[test]
    fn texts_are_cleaned() {
        assert_eq!(
            tidy("a\u{1b}[1m\tb \u{1F600}\u{FE0F} c\u{200b}\n", 100),
            "a [1m b c"
        );
        assert_eq!(tidy("<grov-context>x</grov-context>kept", 100), "kept");
        assert_eq!(tidy(&"ä".repeat(500), 10), format!("{}...", "ä".repeat(7)));
    }

    #[test]
    fn lists_are_bounded_and_have_no_duplicates() {
        let fields = Fields::find(r#"{"l":["a"," ","a","b","c"],"m":["a",1],"n":"a"}"#).unwrap();
        assert_eq!(fields.texts("l", 2, 10).unwrap(), ["a", "b"]);
        assert!(fields.texts("m", 2, 10).is_err());
        assert!(fields.texts("n", 2, 10).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in ".{0,300}") {
            let _ = Fields::find(&text);
        }

        #[test]
        fn tidy_is_bounded_and_idempotent(text in ".{0,200}", limit in 4usize..50) {
            let once = tidy(&text, limit);
            prop_assert!(once.chars().count() <= limit);
            prop_assert_eq!(tidy(&once, limit), once.clone());
        }
    }
}
