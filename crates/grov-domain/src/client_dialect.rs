//! Names and texts that are specific to a client: headers, tools, and the texts it adds to messages.
//!
//! All code that reads requests, transcripts or prompts uses them. If a client changes a text, only this file and those below it
//! change.

mod others;

use crate::{ActionType, SideRequest};

/// The dialect of one client.
#[derive(Clone, Copy, Debug)]
pub struct ClientDialect {
    /// The client's name.
    pub name: &'static str,
    /// Request headers with the session id. The first one that is present counts.
    pub session_headers: &'static [&'static str],
    /// Request header with the subagent id; empty if there is none. An id equal to that of the session is the main agent's.
    pub agent_header: &'static str,
    /// Labels of the working directory in the environment section of a prompt, longest first.
    pub working_directory: &'static [&'static str],
    /// Beginning of a user message that the client writes itself to describe the environment; empty if that is in the system prompt.
    pub environment: &'static str,
    /// Opening tag of a reminder, a text that the client adds to the user's messages.
    pub reminder_opening: &'static str,
    /// Closing tag of a reminder.
    pub reminder_closing: &'static str,
    /// Prefixes of all texts that the client adds to the user's messages.
    pub inserted: &'static [&'static str],
    /// Prefix of the note that the user interrupted the turn.
    pub interrupted: &'static str,
    /// Prefix of the summary that replaces the earlier conversation after a compaction.
    pub continued: &'static str,
    /// Prefix of the note about the command that clears the conversation.
    pub cleared: &'static str,
    /// Text before a prompt that was typed during a turn.
    pub queued: &'static str,
    /// Text after such a prompt.
    pub queued_end: &'static str,
    /// Prefix of the request for a suggestion of the next prompt.
    pub suggestion: &'static str,
    /// Prefix of the request for a summary of the conversation.
    pub compaction: &'static str,
    /// `output_config.format.type` of the request for a title, which has no tools.
    pub title_format: &'static str,
    /// Prefix of the type of tools that the upstream runs. A nested request has only such a tool.
    pub nested_tool: &'static str,
    /// The tool that asks the user a question.
    pub question_tool: &'static str,
    /// Text between a question of that tool and the user's answer in its result: `"Which one?"="The first"`.
    pub answered: &'static str,
    /// End of the result of that tool.
    pub answered_end: &'static str,
    /// The tool that asks the user to approve a plan.
    pub plan_tool: &'static str,
    /// The kinds of tools by name, for all client versions.
    pub tools: &'static [(&'static str, ActionType)],
    /// Prefix of the names of MCP tools.
    pub mcp_tool: &'static str,
}

impl ClientDialect {
    /// Claude Code.
    pub const CLAUDE_CODE: Self = Self {
        name: "Claude Code",
        session_headers: &["x-claude-code-session-id"],
        agent_header: "x-claude-code-agent-id",
        working_directory: &[
            "Primary working directory: ",
            "Current working directory: ",
            "Working directory: ",
        ],
        environment: "",
        reminder_opening: "<system-reminder>",
        reminder_closing: "</system-reminder>",
        inserted: &[
            "<local-command-",
            "<command-name>",
            "<command-message>",
            "<bash-input>",
            "<bash-stdout>",
            "<bash-stderr>",
            "<task-notification>",
            "<system-reminder>",
            "[Request interrupted by user",
            "Stop hook feedback:",
            "Output token limit hit.",
            "This session is being continued from a previous conversation",
        ],
        interrupted: "[Request interrupted by user",
        continued: "This session is being continued from a previous conversation",
        cleared: "<command-name>/clear",
        queued: "The user sent a new message while you were working:\n",
        queued_end: "\n\nIMPORTANT:",
        suggestion: "[SUGGESTION MODE:",
        compaction: "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
        title_format: "json_schema",
        nested_tool: "web_",
        question_tool: "AskUserQuestion",
        answered: "\"=\"",
        answered_end: "You can now continue",
        plan_tool: "ExitPlanMode",
        tools: &[
            ("Edit", ActionType::Edit),
            ("MultiEdit", ActionType::Edit),
            ("NotebookEdit", ActionType::Edit),
            ("Write", ActionType::Write),
            ("Read", ActionType::Read),
            ("NotebookRead", ActionType::Read),
            ("Glob", ActionType::Search),
            ("Grep", ActionType::Search),
            ("LS", ActionType::Search),
            ("Bash", ActionType::Bash),
            ("BashOutput", ActionType::Bash),
            ("KillShell", ActionType::Bash),
            ("KillBash", ActionType::Bash),
            ("TaskOutput", ActionType::Bash),
            ("TaskStop", ActionType::Bash),
            ("Task", ActionType::Task),
            ("Agent", ActionType::Task),
            ("SendMessage", ActionType::Task),
            ("AgentOutputTool", ActionType::Task),
            ("WebFetch", ActionType::Web),
            ("WebSearch", ActionType::Web),
            ("web_search", ActionType::Web),
            ("web_fetch", ActionType::Web),
            ("TodoWrite", ActionType::Todo),
            ("TodoRead", ActionType::Todo),
            ("TaskCreate", ActionType::Todo),
            ("TaskUpdate", ActionType::Todo),
            ("TaskList", ActionType::Todo),
            ("TaskGet", ActionType::Todo),
        ],
        mcp_tool: "mcp__",
    };

    /// All clients whose requests are read.
    pub const ALL: &'static [Self] = &[Self::CLAUDE_CODE, Self::CODEX, Self::GEMINI_CLI, Self::OPENCODE];

    /// Returns the kind of a tool. A name that this client does not have is looked up among those of the others, because records keep
    /// the name of a tool and not that of the client.
    pub fn action_type(&self, tool: &str) -> ActionType {
        let others = Self::ALL.iter().map(|client| client.tools);
        let mut tables = std::iter::once(self.tools).chain(others);
        let found = tables.find_map(|tools| tools.iter().find(|(name, _)| *name == tool));
        match found {
            Some((_, kind)) => *kind,
            None if tool.starts_with(self.mcp_tool) => ActionType::Mcp,
            None => ActionType::Other,
        }
    }

    /// Whether the result of this tool is the answer of the user.
    pub fn asks_user(&self, tool: &str) -> bool {
        tool == self.question_tool || tool == self.plan_tool
    }

    /// Extracts the user's answers from the result of the question tool, of which the beginning may be cut off. Empty for
    /// results of other tools.
    pub fn user_answers<'t>(&self, result: &'t str) -> Vec<&'t str> {
        let Some(end) = result.rfind(self.answered_end) else {
            return Vec::new();
        };
        let mut parts = result[..end].split(self.answered);
        parts.next();
        // After an answer come a comma and the next question, or a period.
        let answers = parts.map(|part| {
            let end = part.rfind("\", \"").or_else(|| part.rfind('"'));
            part[..end.unwrap_or(part.len())].trim()
        });
        answers.filter(|answer| !answer.is_empty()).collect()
    }

    /// Whether the client added this text to a user's message.
    pub fn is_inserted(&self, text: &str) -> bool {
        self.inserted.iter().any(|beginning| text.starts_with(beginning))
    }

    /// Returns the purpose of a side request, given the newest user text; `None` for a turn of the conversation.
    pub fn side_request(&self, newest_text: &str) -> Option<SideRequest> {
        let text = newest_text.trim_start();
        if text.starts_with(self.suggestion) {
            Some(SideRequest::Suggestion)
        } else if text.starts_with(self.compaction) {
            Some(SideRequest::Compaction)
        } else {
            None
        }
    }

    /// Extracts the prompt from the note about a message that was typed during the turn, with or without reminder tags.
    pub fn queued_prompt<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = text.trim_start();
        let note = text
            .strip_prefix(self.reminder_opening)
            .map_or(text, str::trim_start);
        let rest = note.strip_prefix(self.queued)?;
        let end = rest
            .rfind(self.queued_end)
            .unwrap_or_else(|| rest.rfind(self.reminder_closing).unwrap_or(rest.len()));
        Some(rest[..end].trim()).filter(|prompt| !prompt.is_empty())
    }

    /// Returns the working directories named in a prompt: the text from each label to the end of its line, or to a tag. Before the
    /// label there may only be list markers. Matches of the longest label come first.
    pub fn working_directories<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
        self.working_directory.iter().flat_map(move |introduction| {
            text.match_indices(introduction).filter_map(move |(at, _)| {
                let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                let mut before = text[line_start..at].chars();
                let only_marks = before.all(|c| matches!(c, ' ' | '\t' | '-' | '*'));
                let named = text[at + introduction.len()..].lines().next().unwrap_or("");
                // Codex closes it with a tag.
                let named = match introduction.starts_with('<') {
                    true => named.split('<').next().unwrap_or(""),
                    false => named,
                };
                only_marks.then(|| named.trim())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

    /// A client with other names.
    const OTHER: ClientDialect = ClientDialect {
        working_directory: &["cwd="],
        inserted: &["[note]"],
        queued: "Meanwhile:",
        suggestion: "SUGGEST",
        question_tool: "ask",
        tools: &[("terminal", ActionType::Bash)],
        mcp_tool: "server/",
        ..CLIENT
    };

    #[test]
    fn texts_of_the_client_are_inserted_texts() {
        for text in [CLIENT.reminder_opening, CLIENT.interrupted, CLIENT.continued] {
            assert!(CLIENT.is_inserted(text), "{text}");
        }
        assert!(!CLIENT.is_inserted("what is a <system-reminder>?"));
        assert!(CLIENT.cleared.starts_with("<command-name>"));
    }

    #[test]
    fn the_users_answers_are_read_from_the_result_of_a_question() {
        let one = r#"User has answered your questions: "Which?"="Django-Q, we can't run more". You can now continue with the user's answers in mind."#;
        assert_eq!(CLIENT.user_answers(one), ["Django-Q, we can't run more"]);
        let two = r#"…ich?"="The \"first\" one", "And when?"="Today". You can now continue."#;
        assert_eq!(CLIENT.user_answers(two), ["The \\\"first\\\" one", "Today"]);
        assert!(CLIENT.user_answers(r#"{"a"="b"}"#).is_empty());
        assert!(CLIENT.user_answers("").is_empty());
    }

    #[test]
    fn output_of_local_commands_is_inserted_text() {
        for kind in ["caveat", "stdout", "stderr", "another"] {
            assert!(CLIENT.is_inserted(&format!("<local-command-{kind}>x")), "{kind}");
        }
    }

    #[test]
    fn another_dialect_uses_its_own_names() {
        for (tool, ours, theirs) in [
            // Records keep the name of a tool and not that of the client.
            ("Bash", ActionType::Bash, ActionType::Bash),
            ("terminal", ActionType::Other, ActionType::Bash),
            ("mcp__x__y", ActionType::Mcp, ActionType::Other),
            ("server/x", ActionType::Other, ActionType::Mcp),
        ] {
            let kinds = (CLIENT.action_type(tool), OTHER.action_type(tool));
            assert_eq!(kinds, (ours, theirs), "{tool}");
        }
        assert!(CLIENT.asks_user("AskUserQuestion") && CLIENT.asks_user("ExitPlanMode"));
        assert!(OTHER.asks_user("ask") && !OTHER.asks_user("AskUserQuestion"));
        assert!(OTHER.is_inserted("[note] x") && !CLIENT.is_inserted("[note] x"));
        assert_eq!(OTHER.side_request(" SUGGEST"), Some(SideRequest::Suggestion));
        assert_eq!(
            OTHER.queued_prompt("Meanwhile: stop\n\nIMPORTANT: x"),
            Some("stop")
        );
        let found: Vec<_> = OTHER.working_directories("- cwd=/a\nsay cwd=/b").collect();
        assert_eq!(found, ["/a"]);
    }
}
