//! What is particular to the client: the names and texts by which its sessions, tools and own words are known.
//!
//! Everything that reads a request, a transcript or a prompt asks here. A client that changes a spelling, and a second client,
//! change this file.

use crate::{ActionType, SideRequest};

/// The dialect of one client.
#[derive(Clone, Copy, Debug)]
pub struct ClientDialect {
    /// Header of a request that names the session.
    pub session_header: &'static str,
    /// Header of a request that names the subagent.
    pub agent_header: &'static str,
    /// How the environment part of the prompt introduces the working directory. The longest spelling comes first.
    pub working_directory: &'static [&'static str],
    /// How a reminder begins: text between tags that the client puts into the user's messages.
    pub reminder_opening: &'static str,
    /// How a reminder ends.
    pub reminder_closing: &'static str,
    /// Beginnings of all texts that the client writes into the user's messages by itself.
    pub inserted: &'static [&'static str],
    /// Beginning of the note that the user interrupted the turn.
    pub interrupted: &'static str,
    /// Beginning of the summary that takes the place of an earlier part of the conversation.
    pub continued: &'static str,
    /// Beginning of the note about the command that clears the conversation.
    pub cleared: &'static str,
    /// How a prompt typed during a turn is introduced.
    pub queued: &'static str,
    /// What follows such a prompt.
    pub queued_end: &'static str,
    /// Beginning of the request for a suggestion of the next prompt.
    pub suggestion: &'static str,
    /// Beginning of the request for a summary of the conversation.
    pub compaction: &'static str,
    /// `output_config.format.type` of the request for a title, which offers no tools.
    pub title_format: &'static str,
    /// Beginning of the type of a tool that the upstream runs itself, which a nested request offers alone.
    pub nested_tool: &'static str,
    /// The tool that asks the user a question.
    pub question_tool: &'static str,
    /// The tool that asks the user to approve a plan.
    pub plan_tool: &'static str,
    /// Tools by name, of older and newer clients alike.
    pub tools: &'static [(&'static str, ActionType)],
    /// Beginning of the name of a tool of an MCP server.
    pub mcp_tool: &'static str,
}

impl ClientDialect {
    /// Claude Code.
    pub const CLAUDE_CODE: Self = Self {
        session_header: "x-claude-code-session-id",
        agent_header: "x-claude-code-agent-id",
        working_directory: &[
            "Primary working directory: ",
            "Current working directory: ",
            "Working directory: ",
        ],
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

    /// The kind of a tool, by its name.
    pub fn action_type(&self, tool: &str) -> ActionType {
        match self.tools.iter().find(|(name, _)| *name == tool) {
            Some((_, kind)) => *kind,
            None if tool.starts_with(self.mcp_tool) => ActionType::Mcp,
            None => ActionType::Other,
        }
    }

    /// Whether the user answers this tool, by its result.
    pub fn asks_user(&self, tool: &str) -> bool {
        tool == self.question_tool || tool == self.plan_tool
    }

    /// Whether the client wrote this text of a user's message.
    pub fn is_inserted(&self, text: &str) -> bool {
        self.inserted.iter().any(|beginning| text.starts_with(beginning))
    }

    /// What a request is for whose newest text of the user this is, if that is no step of a conversation.
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

    /// The prompt inside the note about a message that was typed during the turn, with or without the tags of a reminder.
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

    /// What follows an introduction of the working directory at the beginning of a line, list marks aside, each up to the end of
    /// its line. The longest spelling comes first.
    pub fn working_directories<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
        self.working_directory.iter().flat_map(move |introduction| {
            text.match_indices(introduction).filter_map(move |(at, _)| {
                let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                let mut before = text[line_start..at].chars();
                let only_marks = before.all(|c| matches!(c, ' ' | '\t' | '-' | '*'));
                let named = text[at + introduction.len()..].lines().next();
                only_marks.then(|| named.unwrap_or("").trim())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

    /// A client that calls everything otherwise.
    const OTHER: ClientDialect = ClientDialect {
        working_directory: &["cwd="],
        inserted: &["[note]"],
        queued: "Meanwhile:",
        suggestion: "SUGGEST",
        question_tool: "ask",
        tools: &[("shell", ActionType::Bash)],
        mcp_tool: "server/",
        ..CLIENT
    };

    #[test]
    fn what_the_client_writes_by_itself_is_known_by_one_list() {
        for text in [CLIENT.reminder_opening, CLIENT.interrupted, CLIENT.continued] {
            assert!(CLIENT.is_inserted(text), "{text}");
        }
        assert!(!CLIENT.is_inserted("what is a <system-reminder>?"));
        assert!(CLIENT.cleared.starts_with("<command-name>"));
    }

    #[test]
    fn whatever_a_local_command_prints_is_the_clients() {
        for kind in ["caveat", "stdout", "stderr", "another"] {
            assert!(CLIENT.is_inserted(&format!("<local-command-{kind}>x")), "{kind}");
        }
    }

    #[test]
    fn another_client_is_understood_by_its_own_names() {
        for (tool, ours, theirs) in [
            ("Bash", ActionType::Bash, ActionType::Other),
            ("shell", ActionType::Other, ActionType::Bash),
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
