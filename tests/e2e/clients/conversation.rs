//! Conversations as Codex, opencode and Gemini CLI send them, with made-up content.

use grov_tests::Request;
use serde_json::{Value, json};

/// The session of a conversation.
pub const SESSION: &str = "0199aaaa-0000-7000-8000-000000000001";
const PROMPT: &str = "[[scenario:work]] make a file with a greeting";

/// A client that runs every tool that it is asked for, and says that it succeeded.
pub trait Conversation {
    /// The next request; `None` after an answer without calls.
    fn next_request(&mut self) -> Option<Request>;
    /// Takes the answer, the events of a stream.
    fn answered(&mut self, events: &str);
}

fn data(events: &str) -> Vec<Value> {
    let lines = events.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// Codex.
pub struct Responses {
    input: Vec<Value>,
    ended: bool,
}

impl Responses {
    pub fn new() -> Self {
        let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
        let environment = "<environment_context>\n  <cwd>/home/dev/app</cwd>\n  <shell>bash</shell>\n</environment_context>";
        Self {
            input: vec![
                message("developer", "You are a coding agent."),
                message(
                    "user",
                    "# AGENTS.md instructions for /home/dev/app\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
                ),
                message("user", environment),
                message("user", PROMPT),
            ],
            ended: false,
        }
    }
}

impl Conversation for Responses {
    fn next_request(&mut self) -> Option<Request> {
        let tools =
            json!([{"type": "function", "name": "exec_command", "parameters": {}}, {"type": "web_search"}]);
        let body = json!({
            "model": "gpt-5.1-codex", "input": self.input, "tools": tools, "stream": true, "store": false,
            "prompt_cache_key": SESSION,
        });
        let request = Request::new("POST", "/v1/responses")
            .header("session-id", SESSION)
            .header("thread-id", SESSION)
            .header("authorization", "Bearer sk-test")
            .header("content-type", "application/json")
            .header("user-agent", "codex_exec/0.171.0 (Debian 12.0.0; x86_64)");
        (!self.ended).then(|| request.body(body.to_string()))
    }

    fn answered(&mut self, events: &str) {
        let done = data(events);
        let items = done
            .iter()
            .filter(|event| event["type"] == "response.output_item.done");
        self.ended = true;
        for item in items.map(|event| event["item"].clone()) {
            let call = item["call_id"].clone();
            let kind = item["type"].as_str().unwrap_or_default().to_owned();
            self.input.push(item);
            if kind.ends_with("_call") {
                let output = "Process exited with code 0\nOutput:\nmade.txt\n";
                self.input
                    .push(json!({"type": format!("{kind}_output"), "call_id": call, "output": output}));
                self.ended = false;
            }
        }
    }
}

/// opencode with an OpenAI-compatible provider.
pub struct Chat {
    messages: Vec<Value>,
    ended: bool,
}

impl Chat {
    pub fn new() -> Self {
        let system =
            "You are opencode.\n<env>\n  Working directory: /home/dev/app\n  Platform: linux\n</env>";
        Self {
            messages: vec![
                json!({"role": "system", "content": system}),
                json!({"role": "user", "content": PROMPT}),
            ],
            ended: false,
        }
    }
}

impl Conversation for Chat {
    fn next_request(&mut self) -> Option<Request> {
        let tools = json!([{"type": "function", "function": {"name": "bash", "parameters": {}}}]);
        let body = json!({
            "model": "some-model", "messages": self.messages, "tools": tools, "stream": true,
            "stream_options": {"include_usage": true},
        });
        let request = Request::new("POST", "/v1/chat/completions")
            .header("x-session-id", SESSION)
            .header("x-session-affinity", SESSION)
            .header("authorization", "Bearer sk-test")
            .header("content-type", "application/json")
            .header("user-agent", "opencode/1.18.33 ai-sdk/provider-utils/4.0.23");
        (!self.ended).then(|| request.body(body.to_string()))
    }

    fn answered(&mut self, events: &str) {
        let mut text = String::new();
        let mut calls: Vec<Value> = Vec::new();
        for chunk in data(events) {
            let delta = &chunk["choices"][0]["delta"];
            text.push_str(delta["content"].as_str().unwrap_or_default());
            let part = &delta["tool_calls"][0];
            if part["id"].is_string() {
                calls.push(part.clone());
            } else if let (Some(more), Some(call)) =
                (part["function"]["arguments"].as_str(), calls.last_mut())
            {
                let all = call["function"]["arguments"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
                    + more;
                call["function"]["arguments"] = all.into();
            }
        }
        self.ended = calls.is_empty();
        self.messages
            .push(json!({"role": "assistant", "content": text, "tool_calls": calls}));
        for call in calls {
            self.messages
                .push(json!({"role": "tool", "tool_call_id": call["id"], "content": "made.txt\n"}));
        }
    }
}

/// Gemini CLI.
pub struct Gemini {
    contents: Vec<Value>,
    ended: bool,
}

impl Gemini {
    pub fn new() -> Self {
        let context = "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/dev/app\n- **Directory Structure:**\n</session_context>";
        Self {
            contents: vec![json!({"role": "user", "parts": [{"text": context}, {"text": PROMPT}]})],
            ended: false,
        }
    }
}

impl Conversation for Gemini {
    fn next_request(&mut self) -> Option<Request> {
        let body = json!({
            "contents": self.contents,
            "systemInstruction": {"role": "user", "parts": [{"text": "You are Gemini CLI."}]},
            "tools": [{"functionDeclarations": [{"name": "run_shell_command"}, {"name": "write_file"}]}],
        });
        let request = Request::new(
            "POST",
            "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        )
        .header("x-goog-api-key", "AIzatest")
        .header("content-type", "application/json")
        .header(
            "user-agent",
            "GeminiCLI-tui/0.61.0/gemini-3.8-flash (linux; x64; terminal)",
        );
        (!self.ended).then(|| request.body(body.to_string()))
    }

    fn answered(&mut self, events: &str) {
        let chunks = data(events);
        let parts: Vec<Value> = chunks
            .iter()
            .filter_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array())
            .flatten()
            .cloned()
            .collect();
        let calls = parts.iter().filter_map(|part| part.get("functionCall"));
        let results: Vec<Value> = calls
            .map(|call| json!({"functionResponse": {"name": call["name"], "response": {"output": "made.txt"}}}))
            .collect();
        self.contents.push(json!({"role": "model", "parts": parts}));
        self.ended = results.is_empty();
        self.contents.push(json!({"role": "user", "parts": results}));
    }
}
