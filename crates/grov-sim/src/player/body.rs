//! The client's bodies: its layout, its two message dialects, its cache marks and message folding.

use super::headers::VERSION;
use super::{PlayerConfig, tools};
use crate::json::Json;
use crate::request::{Role, is_type, takes_system_role};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Tools of the printing client, by name.
const TOOLS: [&str; 24] = [
    "Agent",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterWorktree",
    "ExitWorktree",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];
/// Additional tools of the interactive client.
const INTERACTIVE_TOOLS: [&str; 3] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];
/// Tools that a subagent does not have.
const NOT_FOR_SUBAGENTS: [&str; 3] = ["ScheduleWakeup", "TaskOutput", "Workflow"];
/// The model of the title request.
const TITLE_MODEL: &str = "claude-haiku-4-5-20251001";
const CONTINUED: &str = "This session is being continued from a previous conversation that ran out of context. The \
                         summary below covers the earlier portion of the conversation.\n\n";
const COMPACTION: &str = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSum up the conversation so far in \
                          a <summary> block.";
const SUGGESTION: &str = "[SUGGESTION MODE: Suggest what the user might naturally type next.]\n\nReply with ONLY the \
                          suggestion.";

/// Whether a model uses the newer dialect, with system messages inside the conversation.
pub(super) fn is_newer(model: &str) -> bool {
    takes_system_role(model)
}

/// A side request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    Nothing,
    Suggestion,
    Compaction,
}

#[derive(Clone, Debug, PartialEq)]
struct Message {
    role: Role,
    blocks: Vec<Json>,
}

/// One message list, with the settings of its requests.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    model: String,
    user_id: String,
    entry: &'static str,
    subagent: bool,
    prompt: String,
    tools: Vec<Json>,
    messages: Vec<Message>,
    /// Blocks that go before the next prompt, for example after `/compact`.
    before_prompt: Vec<Json>,
}

impl Conversation {
    /// The main conversation of a session.
    pub(super) fn main(config: &PlayerConfig) -> Self {
        let mut names = TOOLS.to_vec();
        if config.interactive {
            names.extend(INTERACTIVE_TOOLS);
            names.sort_unstable();
        }
        let environment = format!(
            "\n\n# Environment\nYou have been invoked in the following environment: \n - Primary working directory: \
             {}\n - Is a git repository: false\n - Platform: linux",
            config.directory.display()
        );
        Self::new(config, false, &names, &environment)
    }

    /// A subagent's conversation.
    pub(super) fn subagent(config: &PlayerConfig) -> Self {
        let names: Vec<&str> = TOOLS
            .into_iter()
            .filter(|name| !NOT_FOR_SUBAGENTS.contains(name))
            .collect();
        let environment = format!(
            "\n\nHere is useful information about the environment you are running in:\n<env>\nWorking directory: \
             {}\nIs directory a git repo: No\nPlatform: linux\n</env>",
            config.directory.display()
        );
        Self::new(config, true, &names, &environment)
    }

    fn new(config: &PlayerConfig, subagent: bool, names: &[&str], environment: &str) -> Self {
        let share = if subagent { 2 } else { 1 };
        Self {
            model: config.model.clone(),
            user_id: user_id(config),
            entry: if config.interactive { "cli" } else { "sdk-cli" },
            subagent,
            prompt: format!(
                "{}{environment}",
                filler("instructions", config.system_size / share)
            ),
            tools: names
                .iter()
                .map(|name| tool(name, config.tools_size / TOOLS.len()))
                .collect(),
            messages: Vec::new(),
            before_prompt: Vec::new(),
        }
    }

    fn newer(&self) -> bool {
        is_newer(&self.model)
    }

    /// Adds a prompt.
    pub(super) fn say(&mut self, text: &str) {
        let mut blocks = std::mem::take(&mut self.before_prompt);
        if self.messages.is_empty() {
            blocks.splice(0..0, self.opening());
        }
        blocks.push(text_block(text));
        let last = self
            .messages
            .iter_mut()
            .rev()
            .find(|message| message.role != Role::System);
        match last {
            // The previous turn failed: its prompt and this one are one message.
            Some(message) if message.role == Role::User => message.blocks.extend(blocks),
            _ => self.messages.push(Message {
                role: Role::User,
                blocks,
            }),
        }
        if self.messages.len() == 1 && self.newer() {
            let listing = match self.subagent {
                true => filler("skills", 1500),
                false => filler("agents and skills", 3000),
            };
            self.messages.push(Message {
                role: Role::System,
                blocks: vec![text_block(&listing)],
            });
        }
    }

    /// The client's own reminders at the front of the first message.
    fn opening(&self) -> Vec<Json> {
        let reminder = |text: &str| text_block(&format!("<system-reminder>\n{text}\n</system-reminder>\n"));
        let context = reminder(
            "As you answer the user's questions, you can use the following context:\n# currentDate\nToday's date is 2026-01-01.",
        );
        match self.newer() {
            true => vec![context],
            false => vec![
                reminder(&filler("agents", 1500)),
                reminder(&filler("skills", 1500)),
                context,
            ],
        }
    }

    /// Adds the model's answer. Tool calls have the form in which the client sends them back.
    pub(super) fn answer(&mut self, blocks: &[Json]) {
        let blocks: Vec<Json> = blocks
            .iter()
            .map(|block| {
                let mut block = block.clone();
                if is_type(&block, "tool_use") {
                    let name = block.get_str("name").unwrap_or_default().to_owned();
                    let input = tools::as_resent(&name, block.get("input").unwrap_or(&Json::Null));
                    block.set("input", input);
                }
                block
            })
            .collect();
        if !blocks.is_empty() {
            self.messages.push(Message {
                role: Role::Assistant,
                blocks,
            });
        }
    }

    /// Adds the results of the tool calls.
    pub(super) fn results(&mut self, results: Vec<Json>) {
        self.messages.push(Message {
            role: Role::User,
            blocks: results,
        });
    }

    /// Replaces the conversation by its summary, keeping the last exchange.
    pub(super) fn compact(&mut self, answer: &str) {
        let summary = answer.replace("<summary>", "Summary:").replace("</summary>", "");
        let kept = match self
            .messages
            .iter()
            .rposition(|message| message.role == Role::Assistant)
        {
            Some(at) => self.messages.split_off(at),
            None => Vec::new(),
        };
        let mut blocks = self.opening();
        blocks.push(text_block(&format!("{CONTINUED}{}", summary.trim())));
        self.messages = vec![Message {
            role: Role::User,
            blocks,
        }];
        self.messages.extend(kept);
        self.before_prompt = vec![
            text_block(
                "<local-command-caveat>Caveat: the messages below were made by local commands.</local-command-caveat>\n",
            ),
            text_block(
                "<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n",
            ),
            text_block("<local-command-stdout>Compacted</local-command-stdout>\n"),
        ];
    }

    /// The body of the next request, without `stream`.
    pub(super) fn body(&self, extra: Extra) -> Json {
        let messages = self.render(extra);
        let billing = format!(
            "x-anthropic-billing-header: cc_version={VERSION}.{:03x}; cc_entrypoint={};{}",
            xxh3_64(self.first_words().as_bytes()) & 0xfff,
            self.entry,
            if self.subagent {
                " cc_is_subagent=true;"
            } else {
                ""
            }
        );
        let identity = "You are a scripted client that stands in for Claude Code.";
        let system = Json::Array(vec![
            text_block(&billing),
            marked(text_block(identity)),
            marked(text_block(&self.prompt)),
        ]);
        let thinking = match (self.subagent, self.newer()) {
            (true, _) => Json::object([("type", "disabled".into())]),
            (false, true) => Json::object([("type", "adaptive".into())]),
            (false, false) => Json::object([("budget_tokens", 31999.into()), ("type", "enabled".into())]),
        };
        let keep_thinking =
            Json::object([("type", "clear_thinking_20251015".into()), ("keep", "all".into())]);
        let mut members = vec![
            ("model", self.model.as_str().into()),
            ("messages", messages),
            ("system", system),
            ("tools", Json::Array(self.tools.clone())),
            (
                "metadata",
                Json::object([("user_id", self.user_id.as_str().into())]),
            ),
            ("max_tokens", if self.newer() { 64000 } else { 32000 }.into()),
            ("thinking", thinking),
        ];
        if !self.subagent {
            let edits = Json::object([("edits", Json::Array(vec![keep_thinking]))]);
            members.push(("context_management", edits));
        }
        if self.newer() {
            members.push(("output_config", Json::object([("effort", "high".into())])));
        }
        Json::Object(
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }

    fn first_words(&self) -> &str {
        let first = self.messages.first();
        first
            .and_then(|message| message.blocks.last()?.get_str("text"))
            .unwrap_or_default()
    }

    /// The messages as sent: the last block of the last exchange marked, lone texts folded into strings.
    fn render(&self, extra: Extra) -> Json {
        let mut messages = self.messages.clone();
        let mark = match extra {
            Extra::Nothing => messages.iter().rposition(|message| message.role != Role::System),
            Extra::Suggestion => {
                let mark = messages
                    .iter()
                    .rposition(|message| message.role == Role::Assistant);
                messages.push(Message {
                    role: Role::User,
                    blocks: vec![text_block(SUGGESTION)],
                });
                mark
            }
            Extra::Compaction => {
                // The instruction goes into the last user message; a later answer is omitted.
                let last = messages.iter().rposition(|message| message.role == Role::User);
                messages.truncate(last.map_or(0, |last| last + 1));
                if let Some(message) = messages.last_mut() {
                    message.blocks.push(text_block(COMPACTION));
                }
                messages
                    .iter()
                    .rposition(|message| message.role == Role::Assistant)
            }
        };
        let rendered = messages.into_iter().enumerate().map(|(at, mut message)| {
            let role = ("role", message.role.as_str().into());
            if mark == Some(at) {
                let last = message
                    .blocks
                    .iter_mut()
                    .rfind(|block| !is_type(block, "thinking"));
                if let Some(last) = last {
                    *last = marked(std::mem::take(last));
                }
            } else if let ([block], true) = (message.blocks.as_slice(), message.role != Role::Assistant)
                && let Some(text) = block.get_str("text")
            {
                return Json::object([role, ("content", text.into())]);
            }
            Json::object([role, ("content", Json::Array(message.blocks))])
        });
        Json::Array(rendered.collect())
    }
}

/// The title request.
pub(super) fn title(config: &PlayerConfig, prompt: &str) -> Json {
    let text =
        format!("<session>\n{prompt}\n</session>\n\nWrite the title in the language the user wrote in.");
    let schema = Json::object([
        ("type", "object".into()),
        (
            "properties",
            Json::object([("title", Json::object([("type", "string".into())]))]),
        ),
        ("required", Json::Array(vec!["title".into()])),
        ("additionalProperties", false.into()),
    ]);
    let format = Json::object([("type", "json_schema".into()), ("schema", schema)]);
    Json::object([
        ("model", TITLE_MODEL.into()),
        ("messages", one_message(&text)),
        ("system", short_system("Generate a concise title.")),
        ("tools", Json::Array(Vec::new())),
        ("metadata", Json::object([("user_id", user_id(config).into())])),
        ("max_tokens", 32000.into()),
        ("thinking", Json::object([("type", "disabled".into())])),
        ("temperature", 1.into()),
        ("output_config", Json::object([("format", format)])),
    ])
}

/// The request nested in a `WebSearch` call.
pub(super) fn web_search(config: &PlayerConfig, query: &str) -> Json {
    let tool = Json::object([
        ("type", "web_search_20250305".into()),
        ("name", "web_search".into()),
        ("max_uses", 8.into()),
    ]);
    Json::object([
        ("model", config.model.as_str().into()),
        (
            "messages",
            one_message(&format!("Perform a web search for the query: {query}")),
        ),
        (
            "system",
            short_system("You are an assistant for performing a web search tool use"),
        ),
        ("tools", Json::Array(vec![tool])),
        (
            "tool_choice",
            Json::object([("type", "tool".into()), ("name", "web_search".into())]),
        ),
        ("metadata", Json::object([("user_id", user_id(config).into())])),
        ("max_tokens", 64000.into()),
        ("thinking", Json::object([("type", "disabled".into())])),
    ])
}

fn one_message(text: &str) -> Json {
    Json::Array(vec![Json::object([
        ("role", "user".into()),
        ("content", Json::Array(vec![text_block(text)])),
    ])])
}

fn short_system(text: &str) -> Json {
    let billing = format!("x-anthropic-billing-header: cc_version={VERSION}.000; cc_entrypoint=cli;");
    Json::Array(vec![text_block(&billing), text_block(text)])
}

/// The id of the user, which is JSON in a string.
fn user_id(config: &PlayerConfig) -> String {
    let device = xxh3_128(config.directory.as_os_str().as_encoded_bytes());
    Json::object([
        (
            "device_id",
            format!("{device:032x}{:032x}", device.rotate_left(64)).into(),
        ),
        ("account_uuid", "".into()),
        ("session_id", config.session_id.as_str().into()),
    ])
    .to_string()
}

fn text_block(text: &str) -> Json {
    Json::object([("type", "text".into()), ("text", text.into())])
}

fn marked(mut block: Json) -> Json {
    block.set("cache_control", Json::object([("type", "ephemeral".into())]));
    block
}

/// A tool's definition whose JSON has that size.
fn tool(name: &str, size: usize) -> Json {
    let fields: &[&str] = match name {
        "Agent" => &["description", "prompt", "subagent_type"],
        "Bash" => &["command", "description"],
        "Edit" => &["file_path", "old_string", "new_string"],
        "Read" => &["file_path"],
        "WebSearch" => &["query"],
        "Write" => &["file_path", "content"],
        _ => &["input"],
    };
    let property = |name: &&str| ((*name).to_owned(), Json::object([("type", "string".into())]));
    let required = fields.iter().map(|name| Json::from(*name)).collect::<Vec<_>>();
    let mut tool = Json::object([
        ("name", name.into()),
        ("description", "".into()),
        (
            "input_schema",
            Json::object([
                ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
                ("type", "object".into()),
                ("properties", Json::Object(fields.iter().map(property).collect())),
                ("required", required.into()),
                ("additionalProperties", false.into()),
            ]),
        ),
    ]);
    let rest = tool.to_string().len();
    tool.set("description", filler(name, size.saturating_sub(rest)).into());
    tool
}

/// Filler of about that size in place of the client's own text.
fn filler(about: &str, size: usize) -> String {
    let line = format!("Here the client says something about {about}.\n");
    let mut text = line.repeat(size.div_ceil(line.len()));
    text.truncate(size);
    text
}

#[cfg(test)]
mod tests;
