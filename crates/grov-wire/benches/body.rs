//! Request bodies in the form that Claude Code sends: system blocks, 16 tools with schemas, and a history of tool calls and
//! results that are mostly code. The same size and variant give the same bytes.

use bytes::Bytes;
use serde_json::{Value, json};

const TOOLS: [&str; 16] = [
    "Agent",
    "Bash",
    "BashOutput",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];
const WORDS: [&str; 32] = [
    "the",
    "file",
    "handler",
    "request",
    "should",
    "return",
    "\"quoted\"",
    "error",
    "when",
    "config",
    "async",
    "token",
    "path",
    "C:\\temp",
    "only",
    "message",
    "stream",
    "naïve",
    "context",
    "cache",
    "value",
    "index",
    "struct",
    "match",
    "—",
    "use",
    "result",
    "parse",
    "let",
    "tool",
    "[0]",
    "{}",
];

/// Returns a body of `size` bytes, with a tolerance of one exchange.
pub(crate) fn claude_code_request(size: usize, variant: u64) -> Bytes {
    // The tools are the same in all conversations.
    let mut words = Words::new(0);
    let tools: Vec<Value> = TOOLS
        .iter()
        .map(|name| tool(name, (size / 60).min(3_500), &mut words))
        .collect();
    let mut words = Words::new(variant);
    let mut body = json!({
        "model": "claude-opus-4-8",
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": format!("<system-reminder>\n{}\n</system-reminder>", words.prose(400))},
            {"type": "text", "text": words.prose(200)},
        ]}],
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;"},
            {"type": "text", "text": words.prose((size / 8).min(16_000)), "cache_control": {"type": "ephemeral"}},
        ],
        "tools": tools,
        "metadata": {"user_id": "{\"device_id\":\"0a1b\",\"account_uuid\":\"\",\"session_id\":\"5f3c\"}"},
        "max_tokens": 64000,
        "thinking": {"type": "adaptive"},
        "stream": true,
    });
    let mut length = body.to_string().len();
    let mut history = vec![];
    for exchange in 0.. {
        let wanted = [600, 2_500, 9_000, 400, 22_000][exchange % 5].min(size / 4);
        let id = format!("toolu_01{:022x}", words.next());
        let call = json!({"role": "assistant", "content": [
            {"type": "text", "text": words.prose(120)},
            {"type": "tool_use", "id": id, "name": TOOLS[exchange % 16],
             "input": {"file_path": format!("/repo/src/module_{exchange}.rs"), "limit": exchange}},
        ]});
        let result = json!({"role": "user", "content": [
            {"tool_use_id": id, "type": "tool_result", "content": words.code(wanted)},
        ]});
        length += call.to_string().len() + result.to_string().len() + 2;
        history.extend([call, result]);
        if length >= size {
            break;
        }
    }
    if let Some(messages) = body["messages"].as_array_mut() {
        messages.append(&mut history);
    }
    Bytes::from(body.to_string())
}

/// Returns the next request of the conversation: with a response of the model and a new result.
pub(crate) fn next_request(body: &Bytes) -> Bytes {
    let mut request: Value = serde_json::from_slice(body).unwrap_or_default();
    if let Some(messages) = request["messages"].as_array_mut() {
        if let Some(last) = messages.last_mut() {
            last["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}));
        messages
            .push(json!({"role": "user", "content": [{"type": "text", "text": "Now the tests, please."}]}));
    }
    Bytes::from(request.to_string())
}

fn tool(name: &str, description: usize, words: &mut Words) -> Value {
    json!({"name": name, "description": words.prose(description), "input_schema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": words.prose(60)},
            "limit": {"type": "integer", "minimum": 0, "maximum": 10000},
        },
        "required": ["file_path"], "additionalProperties": false,
    }})
}

/// A xorshift generator that writes text.
struct Words {
    state: u64,
}

impl Words {
    fn new(variant: u64) -> Self {
        Self {
            state: 0x9E37_79B9_7F4A_7C15 ^ variant,
        }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.next() as usize % WORDS.len()]
    }

    fn prose(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() < length {
            text.push_str(self.word());
            text.push(if self.next().is_multiple_of(12) { '\n' } else { ' ' });
        }
        text
    }

    fn code(&mut self, length: usize) -> String {
        let mut text = String::new();
        for line in 1.. {
            let indent = "    ".repeat(self.next() as usize % 4);
            let (one, two, number) = (self.word(), self.word(), self.next() % 9999);
            text.push_str(&format!(
                "{line:>6}→{indent}let {one}_{line} = {two}({number}, \"{one}\");\n"
            ));
            if text.len() >= length {
                break;
            }
        }
        text
    }
}
