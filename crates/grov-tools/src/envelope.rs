//! The one JSON object that every command prints.

use crate::{Answer, ErrorKind, ToolError};
use grov_domain::MicroUsd;
use serde::Serialize;
use serde_json::{Map, Value};

/// The object on standard output.
#[derive(Clone, Debug, Serialize)]
pub struct Envelope {
    status: &'static str,
    #[serde(flatten)]
    outcome: Outcome,
    metadata: Metadata,
}

/// Data or an error.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer.
    Data(Value),
    /// The error.
    Error(ErrorBody),
}

/// The error in an envelope.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorBody {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// About the call.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Metadata {
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The command without the program: `tavily search`.
    pub command: String,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The cost; `null` if it is unknown.
    pub cost_usd: Option<MicroUsd>,
    /// Further fields.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Envelope {
    /// The envelope of an answer.
    pub fn success(answer: Answer, metadata: Metadata) -> Self {
        let mut metadata = metadata;
        metadata.model = answer.model.or(metadata.model);
        metadata.cost_usd = answer.cost.or(metadata.cost_usd);
        metadata.more.extend(answer.metadata);
        Self {
            status: "success",
            outcome: Outcome::Data(answer.data),
            metadata,
        }
    }

    /// The envelope of an error.
    pub fn error(error: ToolError, metadata: Metadata) -> Self {
        let mut metadata = metadata;
        if let Some(pause) = error.retry_after {
            metadata
                .more
                .insert("retry_after_seconds".to_owned(), pause.as_secs().into());
        }
        Self {
            status: "error",
            outcome: Outcome::Error(ErrorBody {
                kind: error.kind,
                message: error.message,
                hint: error.hint,
            }),
            metadata,
        }
    }

    /// The exit code: 0, 64 for bad usage, 130 if the user cancelled, else 2.
    pub fn exit_code(&self) -> u8 {
        match &self.outcome {
            Outcome::Data(_) => 0,
            Outcome::Error(error) => match error.kind {
                ErrorKind::Usage => 64,
                ErrorKind::Cancelled => 130,
                _ => 2,
            },
        }
    }

    /// The data; `None` for an error.
    pub fn data(&self) -> Option<&Value> {
        match &self.outcome {
            Outcome::Data(data) => Some(data),
            Outcome::Error(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_envelope_has_the_documented_shape() {
        let metadata = Metadata {
            command: "tavily search".to_owned(),
            ..Metadata::default()
        };
        let answer = Answer {
            data: json!({"results": []}),
            cost: Some(MicroUsd(8000)),
            ..Answer::default()
        };
        let success = Envelope::success(answer, metadata.clone());
        assert_eq!(
            serde_json::to_value(&success).unwrap(),
            json!({"status": "success", "data": {"results": []},
                "metadata": {"command": "tavily search", "duration_ms": 0, "cost_usd": 0.008}})
        );
        let error = Envelope::error(ToolError::usage("no").hint("yes"), metadata);
        assert_eq!(
            serde_json::to_value(&error).unwrap(),
            json!({"status": "error", "error": {"kind": "usage", "message": "no", "hint": "yes"},
                "metadata": {"command": "tavily search", "duration_ms": 0, "cost_usd": null}})
        );
        assert_eq!((success.exit_code(), error.exit_code()), (0, 64));
    }
}
