//! Deep research as a job: submitted once, then asked for until it is done. No connection stays open.

use super::Chat;
use crate::model::status::{error_message, no_json};
use crate::{ErrorKind, HttpCall, ToolError};
use serde_json::{Value, json};

/// The path to which a job is submitted, and below which it is asked for.
pub const PATH: &str = "/async/chat/completions";

/// What stands for the key of a submission until it is sent, so that identical requests are equal.
const NO_KEY: &str = "made when the request is sent";

/// The submission of a request.
pub(super) fn submission(request: &Value) -> Value {
    json!({"request": request, "idempotency_key": NO_KEY})
}

/// The submission with its key: a repetition with the same key starts no second job.
pub fn with_key(call: &HttpCall, key: &str) -> HttpCall {
    let mut call = call.clone();
    call.body["idempotency_key"] = json!(key);
    call
}

/// The request for the state of a job.
pub fn poll(submission: &HttpCall, id: &str) -> HttpCall {
    HttpCall {
        path: format!("{PATH}/{id}"),
        headers: submission.headers.clone(),
        body: Value::Null,
    }
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It waits or runs; the provider's word for it.
    Pending(String),
    /// It is done.
    Done(Chat),
    /// It failed, with the provider's reason.
    Failed(String),
}

/// A job as the provider describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name at the provider, which is safe in a path.
    pub id: String,
    /// Its state.
    pub state: State,
}

impl Job {
    /// Reads a response to a submission or a poll.
    ///
    /// # Errors
    ///
    /// If it describes no job.
    pub fn of_body(body: &[u8]) -> Result<Self, ToolError> {
        let value: Value = serde_json::from_slice(body).map_err(|error| no_json("Perplexity", &error))?;
        let wrong = |what: &str| {
            ToolError::new(
                ErrorKind::BadAnswer,
                format!("Perplexity's answer about a job {what}: its format may have changed"),
            )
        };
        let is_safe = |id: &&str| {
            (1..=200).contains(&id.len())
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let id = value["id"].as_str().filter(is_safe);
        let id = id.ok_or_else(|| wrong("has no usable id"))?.to_owned();
        let state = match value["status"].as_str() {
            Some("COMPLETED") => State::Done(Chat::of_value(&value["response"])?),
            Some("FAILED") => {
                let reason = value["error_message"]
                    .as_str()
                    .map(|text| json!({"message": text}));
                let reason = error_message(&reason.unwrap_or_else(|| value.clone()));
                State::Failed(reason.unwrap_or_else(|| "no reason given".to_owned()))
            }
            Some(other) => State::Pending(other.to_owned()),
            None => return Err(wrong("has no status")),
        };
        Ok(Self { id, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read() {
        let read = |value: Value| Job::of_body(value.to_string().as_bytes());
        let job = read(json!({"id": "j-1", "status": "IN_PROGRESS", "response": null})).unwrap();
        assert_eq!(
            (job.id.as_str(), job.state),
            ("j-1", State::Pending("IN_PROGRESS".to_owned()))
        );
        let failed = read(json!({"id": "j-1", "status": "FAILED", "error_message": "no  sources"}));
        assert_eq!(failed.unwrap().state, State::Failed("no sources".to_owned()));
        let answer =
            json!({"choices": [{"message": {"content": "found"}}], "usage": {"cost": {"total_cost": 0.5}}});
        let done = read(json!({"id": "j-1", "status": "COMPLETED", "response": answer})).unwrap();
        let State::Done(chat) = done.state else {
            panic!("{done:?}")
        };
        assert_eq!(chat.cost(), Some(grov_domain::MicroUsd(500_000)));
        assert_eq!(chat.len(), 5);
    }

    #[test]
    fn answers_that_describe_no_job_are_errors() {
        for body in [
            "",
            "[]",
            r#"{"id": "j"}"#,
            r#"{"id": "../../x", "status": "CREATED"}"#,
            r#"{"id": 5, "status": "CREATED"}"#,
            r#"{"id": "j", "status": "COMPLETED", "response": null}"#,
        ] {
            assert_eq!(
                Job::of_body(body.as_bytes()).unwrap_err().kind,
                ErrorKind::BadAnswer,
                "{body}"
            );
        }
    }
}
