//! Requests of other APIs as documents of the Messages API.

use crate::api::Api;
use crate::request::{IndexError, RequestIndex};
use bytes::Bytes;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Before the exit code of a command in results of Codex.
const EXIT_CODES: [&str; 2] = ["Process exited with code ", "Exit code: "];
/// Before the output in such a result. A line of the output itself names no exit code.
const OUTPUT: &str = "Output:";

impl RequestIndex {
    /// Indexes a request of another API in terms of the Messages API: the system prompt, the names of the tools, the session, and the
    /// messages with texts, tool calls and results. Everything else is left out. The index has a body of its own, which is only read
    /// and never sent. `model` is the one that the path names.
    ///
    /// ```
    /// use grov_wire::{Api, RequestIndex};
    ///
    /// let body = br#"{"model":"m","input":[{"type":"message","role":"user","content":"fix the bug"}]}"#.as_slice().into();
    /// let index = RequestIndex::parse_foreign(Api::Responses, None, &body)?;
    /// let message = index.newest_user_message().ok_or("no message")?;
    /// assert_eq!(message.texts().collect::<Vec<_>>(), ["fix the bug"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the body is not a JSON object.
    pub fn parse_foreign(api: Api, model: Option<&str>, body: &Bytes) -> Result<Self, IndexError> {
        if api == Api::Messages {
            return Self::parse(body);
        }
        let request: Value = serde_json::from_slice(body).map_err(|_| IndexError::NotAnObject)?;
        if !request.is_object() {
            return Err(IndexError::NotAnObject);
        }
        Self::parse(&as_messages(api, model, &request).to_string().into())
    }
}

/// Returns a request of another API as a document of the Messages API.
fn as_messages(api: Api, model: Option<&str>, request: &Value) -> Value {
    let mut read = Document::default();
    match api {
        Api::Responses => responses(&mut read, request),
        Api::Chat => chat(&mut read, request),
        Api::Gemini => gemini(&mut read, request),
        Api::Messages => {}
    }
    let named = request.get("model").and_then(Value::as_str);
    let mut document = json!({
        "system": read.system,
        "messages": read.messages,
        "tools": tools(request),
        "stream": request.get("stream") == Some(&Value::Bool(true)),
    });
    if let Some(model) = named.or(model) {
        document["model"] = model.into();
    }
    if let Some(session) = request.get("prompt_cache_key").and_then(Value::as_str) {
        let user = json!({ "session_id": session }).to_string();
        document["metadata"] = json!({ "user_id": user });
    }
    document
}

/// The parts of a request that are read.
#[derive(Default)]
struct Document {
    system: Vec<Value>,
    messages: Vec<Value>,
}

impl Document {
    /// Appends blocks. Instructions before the first message belong to the system prompt, parts of an answer to one message, and the
    /// results of parallel calls too.
    fn push(&mut self, role: &'static str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        if role == "system" && self.messages.is_empty() {
            return self.system.extend(blocks);
        }
        let is_result = |block: &Value| block.get("type") == Some(&json!("tool_result"));
        if let Some(last) = self.messages.last_mut()
            && last.get("role") == Some(&json!(role))
            && let Some(Value::Array(content)) = last.get_mut("content")
        {
            let both = content.iter().chain(&blocks);
            if role == "assistant" || both.into_iter().all(is_result) {
                return content.extend(blocks);
            }
        }
        self.messages.push(json!({ "role": role, "content": blocks }));
    }
}

/// A message of a role that no known version has must not count as a prompt of the user.
fn role(name: &str) -> &'static str {
    match name {
        "assistant" | "model" => "assistant",
        // Results of tools come as messages of the last two.
        "user" | "" | "tool" | "function" => "user",
        _ => "system",
    }
}

fn str_of<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn items<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Returns the blocks of a plain string or of parts with texts. Other parts only keep their type.
fn content(content: Option<&Value>) -> Vec<Value> {
    match content {
        // Clients send an empty text beside calls.
        Some(Value::String(whole)) if whole.is_empty() => Vec::new(),
        Some(Value::String(whole)) => vec![text(whole)],
        Some(Value::Array(parts)) => parts
            .iter()
            .map(|part| match part.get("text").and_then(Value::as_str) {
                Some(whole) => text(whole),
                None => json!({ "type": part.get("type").and_then(Value::as_str).unwrap_or("unknown") }),
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

/// Returns arguments as an object. Text that is no JSON object stays text.
fn arguments(arguments: Option<&Value>) -> Value {
    match arguments {
        Some(Value::String(json)) => serde_json::from_str(json).unwrap_or_else(|_| json!({ "input": json })),
        Some(other) => other.clone(),
        None => json!({}),
    }
}

fn result(id: &str, output: Cow<'_, str>, failed: bool) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed })
}

/// Returns the text of a result: a string, parts with texts, or JSON.
fn output(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        Some(Value::String(whole)) => Cow::Borrowed(whole),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.get("text")?.as_str())
                .collect();
            Cow::Owned(texts.join("\n"))
        }
        Some(other) => Cow::Owned(other.to_string()),
        None => Cow::Borrowed(""),
    }
}

/// Returns whether a result says before its output that the command failed.
fn says_failure(output: &str) -> bool {
    let head = output
        .lines()
        .take_while(|line| !line.starts_with(OUTPUT))
        .take(8);
    let mut codes = head.filter_map(|line| EXIT_CODES.iter().find_map(|label| line.strip_prefix(label)));
    codes.any(|code| code.trim().parse::<i64>().is_ok_and(|code| code != 0))
}

fn responses(read: &mut Document, request: &Value) {
    read.push("system", content(request.get("instructions")));
    if let Some(prompt) = request.get("input").and_then(Value::as_str) {
        read.push("user", vec![text(prompt)]);
    }
    for item in items(request, "input") {
        match str_of(item, "type") {
            // An item without a type is a message.
            "message" | "" => read.push(role(str_of(item, "role")), content(item.get("content"))),
            "function_call" => {
                let input = arguments(item.get("arguments"));
                read.push(
                    "assistant",
                    vec![call(str_of(item, "call_id"), str_of(item, "name"), input)],
                );
            }
            "custom_tool_call" => {
                let input = json!({ "input": str_of(item, "input") });
                read.push(
                    "assistant",
                    vec![call(str_of(item, "call_id"), str_of(item, "name"), input)],
                );
            }
            "local_shell_call" => {
                let input = item.get("action").cloned().unwrap_or_else(|| json!({}));
                read.push(
                    "assistant",
                    vec![call(str_of(item, "call_id"), "local_shell", input)],
                );
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let output = output(item.get("output"));
                let failed = says_failure(&output);
                read.push("user", vec![result(str_of(item, "call_id"), output, failed)]);
            }
            _ => {}
        }
    }
}

fn chat(read: &mut Document, request: &Value) {
    for message in items(request, "messages") {
        let name = str_of(message, "role");
        let mut blocks = content(message.get("content"));
        if name == "tool" {
            let output = output(message.get("content"));
            let failed = says_failure(&output);
            blocks = vec![result(str_of(message, "tool_call_id"), output, failed)];
        }
        for made in items(message, "tool_calls") {
            let function = made.get("function").unwrap_or(&Value::Null);
            let input = arguments(function.get("arguments"));
            blocks.push(call(str_of(made, "id"), str_of(function, "name"), input));
        }
        read.push(role(name), blocks);
    }
}

fn gemini(read: &mut Document, request: &Value) {
    let instruction = request
        .get("systemInstruction")
        .or_else(|| request.get("system_instruction"));
    if let Some(instruction) = instruction {
        let parts = instruction.get("parts").or(Some(instruction));
        read.push("system", content(parts));
    }
    for message in items(request, "contents") {
        let role = role(str_of(message, "role"));
        // The model's thoughts are not its answer.
        let parts = items(message, "parts").filter(|part| part.get("thought") != Some(&Value::Bool(true)));
        let (results, blocks): (Vec<Value>, Vec<Value>) = parts
            .map(gemini_part)
            .partition(|block| block.get("type") == Some(&json!("tool_result")));
        read.push(role, results.into_iter().chain(blocks).collect());
    }
}

fn gemini_part(part: &Value) -> Value {
    let id = |value: &Value| {
        let id = value.get("id").or_else(|| value.get("name"));
        id.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    if let Some(made) = part.get("functionCall") {
        let input = made.get("args").cloned().unwrap_or_else(|| json!({}));
        return call(&id(made), str_of(made, "name"), input);
    }
    if let Some(answer) = part.get("functionResponse") {
        let response = answer.get("response").unwrap_or(&Value::Null);
        let failure = response.get("error");
        let whole = failure.or_else(|| response.get("output")).unwrap_or(response);
        return result(&id(answer), output(Some(whole)), failure.is_some());
    }
    match part.get("text").and_then(Value::as_str) {
        Some(whole) => text(whole),
        None => {
            let kind = part.as_object().and_then(|part| part.keys().next());
            json!({ "type": kind.map_or("unknown", String::as_str) })
        }
    }
}

/// Returns the names of the tools, or the types of those without a name.
fn tools(request: &Value) -> Vec<Value> {
    let mut names = Vec::new();
    for tool in items(request, "tools") {
        let declared: Vec<&Value> = items(tool, "functionDeclarations").collect();
        let named = tool.get("function").unwrap_or(tool);
        let name = named
            .get("name")
            .or_else(|| tool.get("type"))
            .and_then(Value::as_str);
        match name {
            _ if !declared.is_empty() => names.extend(declared.into_iter().map(|tool| str_of(tool, "name"))),
            Some(name) => names.push(name),
            None => names.extend(
                tool.as_object()
                    .and_then(|tool| tool.keys().next())
                    .map(String::as_str),
            ),
        }
    }
    names.into_iter().map(|name| json!({ "name": name })).collect()
}
