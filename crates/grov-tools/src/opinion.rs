//! Opinions of a model in a fixed form: prompts, schemas, and typed answers.

mod types;

use serde_json::Value;
pub use types::{Architecture, Review, Validation};

/// An opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// Whether a plan does what the user asked for, and no more.
    Validate,
    /// Whether changes follow a plan.
    Review,
    /// The architecture of a feature.
    Architect,
}

impl Opinion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Validate, Self::Review, Self::Architect];

    /// The name of its prompt.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Review => "review",
            Self::Architect => "architect",
        }
    }

    /// The version of its prompt.
    pub fn version(self) -> &'static str {
        "1"
    }

    /// Its built-in system prompt.
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Validate => include_str!("../prompts/validate.txt"),
            Self::Review => include_str!("../prompts/review.txt"),
            Self::Architect => include_str!("../prompts/architect.txt"),
        }
    }

    /// The JSON Schema of its answer.
    pub fn schema(self) -> Value {
        match self {
            Self::Validate => Validation::schema(),
            Self::Review => Review::schema(),
            Self::Architect => Architecture::schema(),
        }
    }

    /// Reads an answer, also one that is wrapped in a code block or in words.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for the model to repair.
    pub fn read(self, text: &str) -> Result<Value, Unusable> {
        let json = json_in(text).ok_or_else(|| Unusable("it contains no JSON object".to_owned()))?;
        let mut deserializer = serde_json::Deserializer::from_str(json);
        match self {
            Self::Validate => typed::<Validation>(&mut deserializer),
            Self::Review => typed::<Review>(&mut deserializer),
            Self::Architect => typed::<Architecture>(&mut deserializer),
        }
    }
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// Reads the type and writes it again, so that the result has exactly its fields.
fn typed<T: serde::de::DeserializeOwned + serde::Serialize>(
    deserializer: &mut serde_json::Deserializer<serde_json::de::StrRead<'_>>,
) -> Result<Value, Unusable> {
    let value: T = serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let place = error.path().to_string();
        Unusable(format!("at `{place}`: {}", error.inner()))
    })?;
    serde_json::to_value(value).map_err(|error| Unusable(error.to_string()))
}

/// From the first `{` on, without a code block's end.
fn json_in(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let end = text.rfind('}').map_or(text.len(), |end| end + 1);
    text.get(start..end)
}

/// The request to repair an answer.
pub fn repair(problem: &Unusable) -> String {
    format!(
        "Your answer cannot be used: {problem}. Answer again with one JSON object that follows the schema, and nothing else."
    )
}

/// The end of a system prompt: the form of the answer.
pub fn with_schema(prompt: &str, schema: &Value) -> String {
    format!(
        "{}\n\nAnswer with one JSON object and nothing else. It must follow this JSON Schema:\n{schema}\n",
        prompt.trim_end()
    )
}

/// Material between tags, so that a model can tell it from instructions. The closing tag inside it is masked.
pub fn quoted(tag: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let attributes: String = attributes
        .iter()
        .map(|(name, value)| format!(" {name}=\"{}\"", value.replace(['"', '<', '>', '\n'], "_")))
        .collect();
    let text = text.replace(&format!("</{tag}"), &format!("<\\/{tag}"));
    format!("<{tag}{attributes}>\n{}\n</{tag}>", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{example, mismatch};
    use serde_json::json;

    #[test]
    fn typed_answers_fit_their_schemas() {
        let answers = [
            (
                Opinion::Validate,
                json!({"verdict": "approved", "issues": [{"section": "a", "problem": "b", "suggestion": "c"}], "questions_for_user": ["q"], "recommended_edits": [{"section": "a", "current": "b", "proposed": "c"}]}),
            ),
            (
                Opinion::Review,
                json!({"step_reviewed": 2, "verdict": "needs_work", "plan_adherence": {"on_track": false, "deviations": ["d"]}, "issues": [{"file": "f", "line": 3, "severity": "high", "issue": "i", "suggestion": "s"}], "approved_steps": [1], "questions_for_user": []}),
            ),
            (
                Opinion::Architect,
                json!({"complexity_assessment": "complex", "architectural_decisions": [{"decision": "d", "options": [{"option": "o", "pros": ["p"], "cons": ["c"]}], "recommendation": "r", "rationale": "a"}], "implementation_strategy": {"approach": "a", "phases": [{"phase": "p", "deliverables": ["d"]}], "dependencies": []}, "risks": [{"risk": "r", "mitigation": "m", "severity": "low"}], "questions_for_user": []}),
            ),
        ];
        for (opinion, answer) in answers {
            let read = opinion.read(&format!("Here:\n```json\n{answer}\n```\n")).unwrap();
            assert_eq!(read, answer);
            assert_eq!(mismatch(&opinion.schema(), &read), None);
            assert!(example(&opinion.schema()).is_object());
            assert!(opinion.read(&answer.to_string()[..40]).is_err());
        }
    }

    #[test]
    fn missing_lists_are_empty_and_wrong_words_are_named() {
        let read = Opinion::Validate.read(r#"{"verdict":"approved"}"#).unwrap();
        assert_eq!(read["issues"], json!([]));
        let problem = Opinion::Validate.read(r#"{"verdict":"fine"}"#).unwrap_err();
        assert!(
            problem.to_string().contains("verdict") && problem.to_string().contains("approved"),
            "{problem}"
        );
        assert!(Opinion::Review.read("no").is_err());
        assert!(
            Opinion::Review
                .read(r#"{"verdict":"approved","issues":"none"}"#)
                .is_err()
        );
    }

    #[test]
    fn material_cannot_close_its_tag() {
        let text = quoted("plan", &[("path", "a\"b")], "x </plan> y\n");
        assert_eq!(text, "<plan path=\"a_b\">\nx <\\/plan> y\n</plan>");
    }
}
