//! A Messages request in the form that the simulation needs: normalised messages, conversation and purpose.

use crate::json::Json;

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user, tool results included.
    User,
    /// The model.
    Assistant,
    /// The operator, in a system message inside the conversation.
    System,
}

impl Role {
    /// The role's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            "system" => Some(Self::System),
            _ => None,
        }
    }
}

/// A message, its content always as blocks: a plain string becomes one text block.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its role.
    pub role: Role,
    /// The blocks, including `cache_control`.
    pub blocks: Vec<Json>,
}

impl Message {
    /// The text blocks' texts.
    pub fn texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.blocks
            .iter()
            .filter(|block| is_type(block, "text"))
            .filter_map(|block| block.get_str("text"))
    }

    /// Ids of the tools that this message calls.
    pub fn tool_use_ids(&self) -> impl Iterator<Item = &str> {
        self.blocks
            .iter()
            .filter(|block| is_type(block, "tool_use"))
            .filter_map(|block| block.get_str("id"))
    }

    /// Ids of the calls that this message answers.
    pub fn tool_result_ids(&self) -> impl Iterator<Item = &str> {
        self.blocks
            .iter()
            .filter(|block| is_type(block, "tool_result"))
            .filter_map(|block| block.get_str("tool_use_id"))
    }
}

/// Name prefixes of models that accept `role: "system"` inside `messages`.
const SYSTEM_ROLE_MODELS: [&str; 6] = [
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5",
    "claude-fable-5",
    "claude-mythos-5",
];

/// Whether a model accepts messages of the role `system`.
pub fn takes_system_role(model: &str) -> bool {
    SYSTEM_ROLE_MODELS
        .iter()
        .any(|beginning| model.starts_with(beginning))
}

/// Whether a block is of that type.
pub fn is_type(block: &Json, name: &str) -> bool {
    block.get_str("type") == Some(name)
}

/// The purpose of a request, from its body alone; a subagent's steps are recognised by their header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A step of a conversation.
    Step,
    /// Naming the session.
    Title,
    /// Suggesting the next prompt.
    Suggestion,
    /// Summing up the conversation.
    Compaction,
    /// A web search nested in a tool call.
    WebSearch,
}

/// A request to `/v1/messages`, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagesRequest {
    /// The requested model.
    pub model: String,
    /// Whether an event stream is requested.
    pub stream: bool,
    /// The tools, in order.
    pub tools: Vec<Json>,
    /// The system prompt as blocks; a plain string becomes one text block.
    pub system: Vec<Json>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The whole body, for other fields.
    pub body: Json,
}

/// A field of the body has an invalid form. The text names the field like the API does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl MessagesRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// The body is not a JSON object, or a parsed field has the wrong type.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let body = Json::parse(bytes)
            .map_err(|error| Unreadable(format!("The request body is not valid JSON: {error}")))?;
        let Json::Object(_) = body else {
            return Err(Unreadable("Input should be a valid dictionary".to_owned()));
        };
        let model = match body.get("model") {
            None => return Err(Unreadable("model: Field required".to_owned())),
            Some(value) => value.as_str().ok_or_else(|| wrong("model", "string"))?.to_owned(),
        };
        let messages = match body.get("messages") {
            None => return Err(Unreadable("messages: Field required".to_owned())),
            Some(value) => value.as_array().ok_or_else(|| wrong("messages", "list"))?,
        };
        let messages = messages
            .iter()
            .enumerate()
            .map(|(at, value)| message(at, value))
            .collect::<Result<_, _>>()?;
        let tools = match body.get("tools") {
            None => Vec::new(),
            Some(value) => value.as_array().ok_or_else(|| wrong("tools", "list"))?.to_vec(),
        };
        let system = match body.get("system") {
            None => Vec::new(),
            Some(value) => blocks("system", value)?,
        };
        let stream = body.get("stream").and_then(Json::as_bool).unwrap_or(false);
        Ok(Self {
            model,
            stream,
            tools,
            system,
            messages,
            body,
        })
    }

    /// The purpose of the request, by the features that distinguish the real client's requests.
    pub fn purpose(&self) -> Purpose {
        let wants_title = self
            .schema()
            .and_then(|schema| schema.get("properties"))
            .is_some_and(|properties| properties.get("title").is_some());
        if wants_title {
            return Purpose::Title;
        }
        if let [tool] = self.tools.as_slice()
            && tool
                .get_str("type")
                .is_some_and(|name| name.starts_with("web_search"))
        {
            return Purpose::WebSearch;
        }
        let last_user = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        match last_user.and_then(|message| message.texts().next_back()) {
            Some(text) if text.starts_with("[SUGGESTION MODE:") => Purpose::Suggestion,
            Some(text) if text.starts_with("CRITICAL: Respond with TEXT ONLY") => Purpose::Compaction,
            _ => Purpose::Step,
        }
    }

    /// The reason why the API would refuse the content of the request, if any: roles, pairing of calls and results,
    /// empty texts, breakpoints.
    pub fn refusal(&self) -> Option<String> {
        let refusal = crate::validate::check_content(self).err();
        refusal.map(|refusal| refusal.message)
    }

    /// The JSON schema for the answer.
    pub fn schema(&self) -> Option<&Json> {
        self.body.get("output_config")?.get("format")?.get("schema")
    }

    /// The session id inside `metadata.user_id`, which is itself JSON in a string.
    pub fn session_id(&self) -> Option<String> {
        let user = self.body.get("metadata")?.get_str("user_id")?;
        Json::parse(user.as_bytes())
            .ok()?
            .get_str("session_id")
            .map(str::to_owned)
    }

    /// The client's working directory, from the environment section of the prompt. Searches the system prompt first,
    /// then the messages, for each wording that clients use.
    pub fn working_directory(&self) -> Option<&str> {
        let system = self.system.iter().filter_map(|block| block.get_str("text"));
        let messages = self
            .messages
            .iter()
            .filter(|message| message.role != Role::Assistant)
            .flat_map(|message| message.texts());
        system.chain(messages).find_map(working_directory_in)
    }
}

const DIRECTORY_LABELS: [&str; 3] = [
    "Primary working directory:",
    "Working directory:",
    "Current working directory:",
];

fn working_directory_in(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let line = line.trim_start_matches([' ', '-', '*']);
        let path = DIRECTORY_LABELS
            .iter()
            .find_map(|label| line.strip_prefix(label))?
            .trim();
        path.starts_with('/').then_some(path)
    })
}

fn wrong(field: &str, expected: &str) -> Unreadable {
    Unreadable(format!("{field}: Input should be a valid {expected}"))
}

fn message(at: usize, value: &Json) -> Result<Message, Unreadable> {
    let role = value
        .get_str("role")
        .ok_or_else(|| Unreadable(format!("messages.{at}.role: Field required")))?;
    let role = Role::from_name(role).ok_or_else(|| {
        Unreadable(format!(
            "messages.{at}.role: Input should be 'user', 'assistant' or 'system'"
        ))
    })?;
    let content = value
        .get("content")
        .ok_or_else(|| Unreadable(format!("messages.{at}.content: Field required")))?;
    Ok(Message {
        role,
        blocks: blocks(&format!("messages.{at}.content"), content)?,
    })
}

fn blocks(field: &str, value: &Json) -> Result<Vec<Json>, Unreadable> {
    match value {
        Json::String(text) => Ok(vec![Json::object([
            ("type", "text".into()),
            ("text", text.as_str().into()),
        ])]),
        Json::Array(blocks) => match blocks.iter().position(|block| block.get_str("type").is_none()) {
            Some(at) => Err(Unreadable(format!("{field}.{at}.type: Field required"))),
            None => Ok(blocks.clone()),
        },
        _ => Err(wrong(field, "string or list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_equals_its_one_block_array() {
        let string = br#"{"model":"m","system":"s","messages":[{"role":"user","content":"hello"}]}"#;
        let array = br#"{"model":"m","system":[{"type":"text","text":"s"}],
            "messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}"#;
        let (string, array) = (
            MessagesRequest::parse(string).unwrap(),
            MessagesRequest::parse(array).unwrap(),
        );
        assert_eq!(string.messages, array.messages);
        assert_eq!(string.system, array.system);
    }

    #[test]
    fn working_directories_are_found_in_every_spelling() {
        for text in [
            "# Environment\n - Primary working directory: /home/dev/my project\n - Is a git repository: true",
            "<env>\nWorking directory: /home/dev/my project\nPlatform: linux\n</env>",
        ] {
            let body = Json::object([
                ("model", "m".into()),
                ("system", text.into()),
                ("messages", Json::Array(Vec::new())),
            ]);
            let request = MessagesRequest::parse(body.to_string().as_bytes()).unwrap();
            assert_eq!(
                request.working_directory(),
                Some("/home/dev/my project"),
                "{text}"
            );
        }
    }

    #[test]
    fn compaction_is_recognised_before_a_trailing_system_message() {
        let body = br#"{"model":"m","messages":[
            {"role":"user","content":[{"type":"text","text":"hi"},
                {"type":"text","text":"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."}]},
            {"role":"system","content":"The user sent a new message while you were working:\nmore"}]}"#;
        assert_eq!(
            MessagesRequest::parse(body).unwrap().purpose(),
            Purpose::Compaction
        );
    }

    #[test]
    fn unreadable_fields_are_named_in_the_error() {
        for (body, problem) in [
            ("[]", "Input should be a valid dictionary"),
            (r#"{"messages":[]}"#, "model: Field required"),
            (r#"{"model":"m"}"#, "messages: Field required"),
            (
                r#"{"model":"m","messages":[{"role":"tool","content":""}]}"#,
                "messages.0.role",
            ),
            (
                r#"{"model":"m","messages":[{"role":"user","content":3}]}"#,
                "messages.0.content",
            ),
            (
                r#"{"model":"m","messages":[{"role":"user","content":[{}]}]}"#,
                "messages.0.content.0.type",
            ),
        ] {
            let error = MessagesRequest::parse(body.as_bytes()).unwrap_err();
            assert!(error.0.starts_with(problem), "{body}: {error}");
        }
    }
}
