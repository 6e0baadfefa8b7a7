//! A request to a model: a system prompt, quoted data of bounded size, and the schema of the answer.

use crate::quote;
use grov_domain::{ActionSketch, EffectKind, Purpose};
use serde_json::Value;
use std::fmt::Write;

/// One request to a model, independent of the provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelRequest {
    /// The purpose.
    pub(crate) purpose: Purpose,
    /// Instructions; the same for every question of one purpose.
    pub(crate) system: String,
    /// The data, quoted between tags.
    pub(crate) user: String,
    /// JSON schema of the answer.
    pub(crate) schema: Value,
    /// The longest answer, in tokens.
    pub(crate) max_tokens: u32,
}

impl ModelRequest {
    /// A request with the common system prompt followed by `instructions`.
    pub(crate) fn new(
        purpose: Purpose,
        instructions: &str,
        material: PromptData,
        schema: Value,
        max_tokens: u32,
    ) -> Self {
        Self {
            purpose,
            system: format!("{}\n{}", include_str!("../prompts/common.v1.md"), instructions),
            user: material.finish(),
            schema,
            max_tokens,
        }
    }

    /// The same request after an answer that was unusable because of `problem`.
    pub(crate) fn repaired(&self, answer: &str, problem: &str) -> Self {
        let mut user = self.user.clone();
        let _ = write!(
            user,
            "\n\nAn earlier answer to this could not be used: {problem}. It began:\n<data:earlier_answer>\n{}\n\
             </data:earlier_answer>\nAnswer again, with one JSON object of the described shape and nothing else.",
            quote::block(answer, limits::EARLIER_ANSWER)
        );
        Self { user, ..self.clone() }
    }
}

/// Limits of a request's parts, in bytes unless stated otherwise. Together they limit a request to about 30 KB, roughly
/// ten thousand tokens.
pub(crate) mod limits {
    /// The newest instruction.
    pub(crate) const NEWEST_PROMPT: usize = 4_000;
    /// Each earlier prompt.
    pub(crate) const EARLIER_PROMPT: usize = 600;
    /// The number of prompts; the newest are kept.
    pub(crate) const PROMPT_COUNT: usize = 8;
    /// A goal.
    pub(crate) const GOAL: usize = 400;
    /// A constraint, a scope entry, a diagnostic.
    pub(crate) const ENTRY: usize = 240;
    /// The number of entries in a list.
    pub(crate) const ENTRY_COUNT: usize = 20;
    /// One action, its files, output and reason included.
    pub(crate) const ACTION: usize = 700;
    /// The beginning of the text that an action writes, appended to the action.
    pub(crate) const WRITTEN: usize = 400;
    /// All actions of one list; the newest are kept.
    pub(crate) const ACTIONS: usize = 8_000;
    /// A command within an action.
    pub(crate) const COMMAND: usize = 240;
    /// A path.
    pub(crate) const PATH: usize = 160;
    /// The number of paths in an action.
    pub(crate) const PATH_COUNT: usize = 4;
    /// The end of a tool's output within an action.
    pub(crate) const OUTPUT: usize = 160;
    /// The reason within an action.
    pub(crate) const REASON: usize = 200;
    /// The assistant's last text.
    pub(crate) const ANSWER: usize = 2_400;
    /// A memory.
    pub(crate) const MEMORY: usize = 480;
    /// The number of memories.
    pub(crate) const MEMORY_COUNT: usize = 50;
    /// The text of a memory that is screened, or a part of it, and the number of those in a question.
    pub(crate) const SCREENED: usize = 3_000;
    pub(crate) const SCREENED_COUNT: usize = 8;
    /// The number of tasks.
    pub(crate) const TASK_COUNT: usize = 12;
    /// An identifier. Those of tasks are UUIDs; longer ones are not offered to the model.
    pub(crate) const ID: usize = 80;
    /// An earlier answer in a request for repair.
    pub(crate) const EARLIER_ANSWER: usize = 1_000;
}

/// Whether the agent's own text is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentText {
    /// With reasons and outputs.
    Shown,
    /// Only the actions, and the beginning of the text that they write: the agent's reasons could persuade the judge.
    Hidden,
}

/// The quoted data of a request, section by section. Empty sections are left out.
#[derive(Debug, Default)]
pub(crate) struct PromptData {
    text: String,
}

impl PromptData {
    /// A section with one text.
    pub(crate) fn text(mut self, name: &str, text: &str, limit: usize) -> Self {
        self.section(name, &quote::block(text, limit));
        self
    }

    /// A section with one line for each entry. If there are too many, the first ones are kept.
    pub(crate) fn list(mut self, name: &str, entries: &[String]) -> Self {
        let mut lines: Vec<String> = entries
            .iter()
            .take(limits::ENTRY_COUNT)
            .map(|entry| quote::line(entry, limits::ENTRY))
            .filter(|line| !line.is_empty())
            .map(|line| format!("- {line}"))
            .collect();
        if entries.len() > limits::ENTRY_COUNT {
            lines.push(left_out(entries.len() - limits::ENTRY_COUNT, "further ones"));
        }
        self.section(name, &lines.join("\n"));
        self
    }

    /// A section with one numbered line for each of these quoted lines, from 1.
    pub(crate) fn numbered(mut self, name: &str, quoted: &[String]) -> Self {
        let lines: Vec<String> = quoted
            .iter()
            .enumerate()
            .map(|(place, line)| format!("{}. {line}", place + 1))
            .collect();
        self.section(name, &lines.join("\n"));
        self
    }

    /// The newest prompts, oldest first; the last one is in a separate section.
    pub(crate) fn prompts(mut self, prompts: &[String]) -> Self {
        let Some((newest, earlier)) = prompts.split_last() else {
            return self;
        };
        let hidden = earlier.len().saturating_sub(limits::PROMPT_COUNT - 1);
        let mut lines = Vec::new();
        if hidden > 0 {
            lines.push(left_out(hidden, "older prompts"));
        }
        lines.extend(
            earlier
                .iter()
                .skip(hidden)
                .map(|prompt| format!("- {}", quote::line(prompt, limits::EARLIER_PROMPT))),
        );
        self.section("earlier_prompts", &lines.join("\n"));
        self.text("newest_prompt", newest, limits::NEWEST_PROMPT)
    }

    /// Actions in order, one per line. If there are too many, the newest are kept.
    pub(crate) fn actions(mut self, name: &str, actions: &[ActionSketch], text: AgentText) -> Self {
        let mut lines = Vec::new();
        let mut room = limits::ACTIONS;
        for (index, action) in actions.iter().enumerate().rev() {
            let line = format!("{}. {}", index + 1, action_line(action, text));
            if line.len() > room {
                lines.push(left_out(index + 1, "earlier actions"));
                break;
            }
            room -= line.len();
            lines.push(line);
        }
        lines.reverse();
        self.section(name, &lines.join("\n"));
        self
    }

    /// A section whose content is already quoted.
    pub(crate) fn section(&mut self, name: &str, quoted: &str) {
        if !quoted.is_empty() {
            let tag = format!("{}{name}", quote::TAG_PREFIX);
            let _ = writeln!(self.text, "<{tag}>\n{quoted}\n</{tag}>");
        }
    }

    fn finish(mut self) -> String {
        if self.text.is_empty() {
            self.text.push_str("There is no data.\n");
        }
        self.text.push_str("Answer with the JSON object.");
        self.text
    }
}

fn left_out(count: usize, what: &str) -> String {
    format!("[... {count} {what} left out ...]")
}

fn action_line(action: &ActionSketch, text: AgentText) -> String {
    let mut line = action.action_type.as_str().to_owned();
    let files: Vec<String> = action
        .files
        .iter()
        .take(limits::PATH_COUNT)
        .map(|file| quote::line(file, limits::PATH))
        .collect();
    if !files.is_empty() {
        let _ = write!(line, " {}", files.join(", "));
    }
    if action.files.len() > limits::PATH_COUNT {
        let _ = write!(line, " and {} more", action.files.len() - limits::PATH_COUNT);
    }
    if let Some(command) = &action.command {
        let _ = write!(line, " `{}`", quote::line(command, limits::COMMAND));
    }
    let effects: Vec<&str> = action
        .effects
        .iter()
        .take(8)
        .map(|&effect| effect_name(effect))
        .collect();
    if !effects.is_empty() {
        let _ = write!(line, " | effects: {}", effects.join(", "));
    }
    match action.failed {
        Some(true) => line.push_str(" | failed"),
        Some(false) => line.push_str(" | succeeded"),
        None => {}
    }
    if text == AgentText::Shown {
        if let Some(output) = action
            .output
            .as_deref()
            .filter(|output| !output.trim().is_empty())
        {
            let _ = write!(line, " | output: {}", quote::line(output, limits::OUTPUT));
        }
        if let Some(reason) = action
            .reasoning
            .as_deref()
            .filter(|reason| !reason.trim().is_empty())
        {
            let _ = write!(line, " | reason: {}", quote::line(reason, limits::REASON));
        }
    }
    if line.len() > limits::ACTION {
        line.truncate(line.floor_char_boundary(limits::ACTION));
        line.push_str(" [...]");
    }
    let written = action.content.as_deref().filter(|_| text == AgentText::Hidden);
    if let Some(written) = written.filter(|written| !written.trim().is_empty()) {
        let _ = write!(line, " | writes: {}", quote::beginning(written, limits::WRITTEN));
    }
    line
}

fn effect_name(effect: EffectKind) -> &'static str {
    match effect {
        EffectKind::Read => "read",
        EffectKind::Write => "write",
        EffectKind::Modify => "modify",
        EffectKind::Delete => "delete",
        EffectKind::Move => "move",
        EffectKind::Copy => "copy",
        EffectKind::Permission => "permission",
        EffectKind::VersionControl => "version control",
        EffectKind::Network => "network",
        EffectKind::Install => "install",
        EffectKind::Test => "test",
        EffectKind::Build => "build",
        EffectKind::Execute => "execute",
    }
}
