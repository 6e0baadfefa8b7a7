//! Scenarios: what the simulated model answers, step by step.
//!
//! A scenario file is one JSON object:
//!
//! ```json
//! {
//!   "default": "fix",
//!   "scenarios": {
//!     "fix": {
//!       "title": "Fix the greeting",
//!       "suggestion": "run the tests",
//!       "summary": "The greeting was fixed.",
//!       "steps": [
//!         { "blocks": [
//!             { "type": "thinking", "thinking": "Look first." },
//!             { "type": "text", "text": "Reading the file." },
//!             { "type": "tool_use", "name": "Read", "input": { "file_path": "{cwd}/greeting.txt" } } ] },
//!         { "repeat": 3, "behaviour": "event-delay=5", "blocks": [
//!             { "type": "tool_use", "name": "Bash", "input": { "command": "echo {step}" } } ] },
//!         { "blocks": [ { "type": "text", "text": "Done." } ], "stop_reason": "end_turn" }
//!       ]
//!     }
//!   }
//! }
//! ```
//!
//! - A prompt that contains `[[scenario:NAME]]` starts that scenario, any other prompt the default one. The same
//!   applies to subagents: the prompt of an `Agent` call may contain its own marker.
//! - One step answers one request. The step is derived from the conversation itself: the number of assistant messages
//!   after the newest prompt. A repeated request therefore gets the same answer.
//! - `{cwd}` and `{step}` (from 1) are replaced in every string of a block.
//! - `stop_reason` is `tool_use` when the step calls a tool, else `end_turn`, unless stated.
//! - `behaviour` is how the answer is delivered, in the form that [`Behaviour`] parses.
//! - Block types other than `thinking`, `text` and `tool_use` are sent whole, as the API sends server-side results.
//! - `judge` contains the answers to questions to the judge: see [`crate::judge`].
//! - After the last step the answer is the text of [`ENDED`].

mod builtin;

use crate::behaviour::Behaviour;
use crate::json::Json;
use crate::judge::JudgeScript;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The answer after the last step of a scenario.
pub const ENDED: &str = "Nothing is left to do.";

/// One part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// Thinking, with a made-up signature.
    Thinking(String),
    /// A tool call; its id is derived from its position in the conversation.
    ToolUse {
        /// The tool.
        name: String,
        /// Its input.
        input: Json,
    },
    /// Any other block, sent in one piece.
    Other(Json),
}

/// One answer of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The parts, in order.
    pub blocks: Vec<Block>,
    /// Why the model stops; derived from the blocks if absent.
    pub stop_reason: Option<String>,
    /// How the answer is delivered, unless in the default way.
    pub behaviour: Option<Behaviour>,
}

impl Step {
    /// An answer with these parts.
    pub fn of(blocks: Vec<Block>) -> Self {
        Self {
            blocks,
            ..Self::default()
        }
    }

    /// The `stop_reason` of the answer.
    pub fn stop_reason(&self) -> &str {
        let calls = self
            .blocks
            .iter()
            .any(|block| matches!(block, Block::ToolUse { .. }));
        self.stop_reason
            .as_deref()
            .unwrap_or(if calls { "tool_use" } else { "end_turn" })
    }
}

/// A scripted piece of work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// The answers to the requests of one prompt, in order.
    pub steps: Vec<Step>,
    /// The session's title, if the client asks for one.
    pub title: Option<String>,
    /// The suggested next prompt, if the client asks for one.
    pub suggestion: Option<String>,
    /// The summary, if the client compacts the conversation.
    pub summary: Option<String>,
}

impl Scenario {
    /// A scenario with these steps.
    pub fn of(steps: Vec<Step>) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    /// The step at that index; past the end, the closing text.
    pub fn step(&self, index: usize) -> Step {
        self.steps
            .get(index)
            .cloned()
            .unwrap_or_else(|| Step::of(vec![Block::Text(ENDED.to_owned())]))
    }
}

/// The scenarios of a simulation, and the default for prompts without a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioSet {
    scenarios: BTreeMap<String, Scenario>,
    default: String,
    judge: JudgeScript,
}

/// A scenario file or name is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario file {path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file does not have the documented form.
    #[error("invalid scenario file: {0}")]
    Form(String),
    /// No scenario has that name.
    #[error("there is no scenario {name:?}; known are {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
}

impl Default for ScenarioSet {
    /// The built-in scenarios; `text` is the default one.
    fn default() -> Self {
        Self {
            scenarios: builtin::all(),
            default: "text".to_owned(),
            judge: JudgeScript::default(),
        }
    }
}

impl ScenarioSet {
    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.keys().map(String::as_str)
    }

    /// The scenario of that name.
    pub fn get(&self, name: &str) -> Option<&Scenario> {
        self.scenarios.get(name)
    }

    /// The name of the scenario for prompts without a marker.
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// Adds a scenario or replaces the one of that name.
    #[must_use]
    pub fn with(mut self, name: &str, scenario: Scenario) -> Self {
        self.scenarios.insert(name.to_owned(), scenario);
        self
    }

    /// The judge's script.
    pub fn judge(&self) -> &JudgeScript {
        &self.judge
    }

    /// Replaces the judge's script.
    #[must_use]
    pub fn with_judge(mut self, script: JudgeScript) -> Self {
        self.judge = script;
        self
    }

    /// Sets the scenario for prompts without a marker.
    ///
    /// # Errors
    /// No scenario has that name.
    pub fn with_default(mut self, name: &str) -> Result<Self, ScenarioError> {
        if !self.scenarios.contains_key(name) {
            let known = self.names().collect::<Vec<_>>().join(", ");
            return Err(ScenarioError::Unknown {
                name: name.to_owned(),
                known,
            });
        }
        self.default = name.to_owned();
        Ok(self)
    }

    /// Adds the scenarios of a file in the form above, and adopts its default.
    ///
    /// # Errors
    /// The file cannot be read or has a different form.
    pub fn with_file(self, path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read(path).map_err(|source| ScenarioError::File {
            path: path.to_owned(),
            source,
        })?;
        self.with_json(&text)
    }

    /// Adds the scenarios of a JSON text in the form above, and adopts its default.
    ///
    /// # Errors
    /// The text has a different form.
    pub fn with_json(mut self, text: &[u8]) -> Result<Self, ScenarioError> {
        let file: File =
            serde_json::from_slice(text).map_err(|error| ScenarioError::Form(error.to_string()))?;
        for (name, scenario) in file.scenarios {
            let scenario = scenario
                .build()
                .map_err(|problem| ScenarioError::Form(format!("{name}: {problem}")))?;
            self.scenarios.insert(name, scenario);
        }
        if let Some(purposes) = file.judge {
            self.judge = JudgeScript::from_json(purposes).map_err(ScenarioError::Form)?;
        }
        match file.default {
            Some(name) => self.with_default(&name),
            None => Ok(self),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<String>,
    scenarios: BTreeMap<String, FileScenario>,
    judge: Option<BTreeMap<String, Vec<Json>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileScenario {
    steps: Vec<FileStep>,
    title: Option<String>,
    suggestion: Option<String>,
    summary: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStep {
    blocks: Vec<Json>,
    stop_reason: Option<String>,
    behaviour: Option<String>,
    #[serde(default = "once")]
    repeat: usize,
}

fn once() -> usize {
    1
}

impl FileScenario {
    fn build(self) -> Result<Scenario, String> {
        let mut steps = Vec::new();
        for step in self.steps {
            let behaviour = match step.behaviour {
                Some(text) => Some(text.parse::<Behaviour>().map_err(|error| error.to_string())?),
                None => None,
            };
            let blocks = step
                .blocks
                .into_iter()
                .map(block)
                .collect::<Result<Vec<_>, _>>()?;
            let built = Step {
                blocks,
                stop_reason: step.stop_reason,
                behaviour,
            };
            steps.extend(std::iter::repeat_n(built, step.repeat));
        }
        Ok(Scenario {
            steps,
            title: self.title,
            suggestion: self.suggestion,
            summary: self.summary,
        })
    }
}

fn block(value: Json) -> Result<Block, String> {
    let text_of = |key: &str| {
        value
            .get_str(key)
            .map(str::to_owned)
            .ok_or_else(|| format!("the block {value} needs a string {key:?}"))
    };
    match text_of("type")?.as_str() {
        "text" => Ok(Block::Text(text_of("text")?)),
        "thinking" => Ok(Block::Thinking(text_of("thinking")?)),
        "tool_use" => {
            let input = value.get("input").cloned().unwrap_or(Json::Object(Vec::new()));
            Ok(Block::ToolUse {
                name: text_of("name")?,
                input,
            })
        }
        _ => Ok(Block::Other(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_adds_to_the_built_in_scenarios() {
        let text = br#"{"default":"mine","scenarios":{"mine":{"title":"T","steps":[
            {"repeat":2,"blocks":[{"type":"tool_use","name":"Bash","input":{"command":"echo {step}"}}]},
            {"blocks":[{"type":"text","text":"ok"},{"type":"new_kind","x":1}],"stop_reason":"refusal",
             "behaviour":"write=1"}]}}}"#;
        let set = ScenarioSet::default().with_json(text).unwrap();
        assert_eq!(set.default_name(), "mine");
        assert!(set.get("tools").is_some());
        let mine = set.get("mine").unwrap();
        assert_eq!(mine.steps.len(), 3);
        assert_eq!(mine.steps[0].stop_reason(), "tool_use");
        assert_eq!(mine.steps[2].stop_reason(), "refusal");
        assert!(matches!(mine.steps[2].blocks[1], Block::Other(_)));
        assert!(mine.steps[2].behaviour.is_some());
        assert_eq!(mine.step(3).blocks, [Block::Text(ENDED.to_owned())]);
    }

    #[test]
    fn mistakes_in_a_file_are_named_in_the_error() {
        for (text, problem) in [
            ("{", "EOF"),
            (r#"{"scenarios":{},"x":1}"#, "unknown field `x`"),
            (
                r#"{"scenarios":{"a":{"steps":[{"blocks":[{"type":"text"}]}]}}}"#,
                "needs a string \"text\"",
            ),
            (
                r#"{"scenarios":{"a":{"steps":[{"blocks":[],"behaviour":"dance"}]}}}"#,
                "dance",
            ),
            (r#"{"scenarios":{},"judge":{"guess":[]}}"#, "no \"guess\""),
            (r#"{"default":"b","scenarios":{}}"#, "there is no scenario \"b\""),
        ] {
            let error = ScenarioSet::default()
                .with_json(text.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
