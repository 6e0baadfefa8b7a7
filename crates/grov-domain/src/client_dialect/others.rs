//! The dialects of other clients than Claude Code.

use super::ClientDialect;
use crate::ActionType;

/// What clients have that mark nothing: a text that occurs in no message.
const NONE: &str = "\0";

/// A client without texts of its own.
const PLAIN: ClientDialect = ClientDialect {
    name: "",
    session_headers: &[],
    agent_header: "",
    working_directory: &[],
    environment: "",
    reminder_opening: "<system-reminder>",
    reminder_closing: "</system-reminder>",
    inserted: &[],
    interrupted: NONE,
    continued: NONE,
    cleared: NONE,
    queued: NONE,
    queued_end: NONE,
    suggestion: NONE,
    compaction: NONE,
    title_format: NONE,
    nested_tool: NONE,
    question_tool: NONE,
    answered: NONE,
    answered_end: NONE,
    plan_tool: NONE,
    tools: &[],
    mcp_tool: "mcp__",
};

impl ClientDialect {
    /// Codex, which speaks OpenAI's Responses API.
    pub const CODEX: Self = Self {
        name: "Codex",
        session_headers: &["session-id"],
        // A subagent is a thread of its own in the session.
        agent_header: "thread-id",
        working_directory: &["<cwd>"],
        environment: "<environment_context>",
        inserted: &[
            "<environment_context>",
            "# AGENTS.md instructions",
            "<user_instructions>",
            "<INSTRUCTIONS>",
            "<skill>",
            "<turn_aborted>",
            "<subagent_notification>",
            "<user_shell_command>",
            "<model_switch>",
            "<collaboration_mode>",
        ],
        interrupted: "<turn_aborted>",
        question_tool: "request_user_input",
        tools: &[
            ("exec_command", ActionType::Bash),
            ("write_stdin", ActionType::Bash),
            ("shell", ActionType::Bash),
            ("shell_command", ActionType::Bash),
            ("local_shell", ActionType::Bash),
            ("apply_patch", ActionType::Edit),
            ("view_image", ActionType::Read),
            ("update_plan", ActionType::Todo),
            ("spawn_agent", ActionType::Task),
            ("send_input", ActionType::Task),
            ("resume_agent", ActionType::Task),
            ("wait_agent", ActionType::Task),
            ("close_agent", ActionType::Task),
        ],
        ..PLAIN
    };

    /// Gemini CLI. Its requests name no session.
    pub const GEMINI_CLI: Self = Self {
        name: "Gemini CLI",
        working_directory: &["**Workspace Directories:**\n  - "],
        environment: "<session_context>",
        inserted: &["<session_context>", "<state_snapshot>", "<hook_context>"],
        continued: "<state_snapshot>",
        question_tool: "ask_user",
        plan_tool: "exit_plan_mode",
        tools: &[
            ("replace", ActionType::Edit),
            ("write_file", ActionType::Write),
            ("read_file", ActionType::Read),
            ("read_many_files", ActionType::Read),
            ("list_directory", ActionType::Search),
            ("grep_search", ActionType::Search),
            ("search_file_content", ActionType::Search),
            ("glob", ActionType::Search),
            ("run_shell_command", ActionType::Bash),
            ("list_background_processes", ActionType::Bash),
            ("read_background_output", ActionType::Bash),
            ("google_web_search", ActionType::Web),
            ("web_fetch", ActionType::Web),
            ("invoke_agent", ActionType::Task),
            ("write_todos", ActionType::Todo),
        ],
        mcp_tool: "mcp_",
        ..PLAIN
    };

    /// opencode with a provider that speaks OpenAI's Chat Completions API. A subagent is a session with a parent.
    pub const OPENCODE: Self = Self {
        name: "opencode",
        session_headers: &["x-parent-session-id", "x-session-id"],
        agent_header: "x-session-id",
        working_directory: &["Working directory: "],
        inserted: &["<system-reminder>", "Generate a title for this conversation:"],
        question_tool: "question",
        tools: &[
            ("bash", ActionType::Bash),
            ("edit", ActionType::Edit),
            ("multiedit", ActionType::Edit),
            ("patch", ActionType::Edit),
            ("write", ActionType::Write),
            ("read", ActionType::Read),
            ("grep", ActionType::Search),
            ("glob", ActionType::Search),
            ("list", ActionType::Search),
            ("webfetch", ActionType::Web),
            ("websearch", ActionType::Web),
            ("codesearch", ActionType::Web),
            ("task", ActionType::Task),
            ("todowrite", ActionType::Todo),
            ("todoread", ActionType::Todo),
        ],
        ..PLAIN
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_mean_the_same_for_every_client() {
        for client in ClientDialect::ALL {
            for (tool, kind) in client.tools {
                for other in ClientDialect::ALL {
                    assert_eq!(other.action_type(tool), *kind, "{tool} of {}", client.name);
                }
            }
        }
    }

    #[test]
    fn directories_are_read_from_the_texts_of_each_client() {
        for (client, text) in [
            (
                ClientDialect::CODEX,
                "<environment_context>\n  <cwd>/home/dev/app</cwd>\n  <shell>bash</shell>\n</environment_context>",
            ),
            (
                ClientDialect::GEMINI_CLI,
                "<session_context>\nThis is the CLI.\n- **Workspace Directories:**\n  - /home/dev/app\n- **Directory Structure:**\n",
            ),
            (
                ClientDialect::OPENCODE,
                "<env>\n  Working directory: /home/dev/app\n  Platform: linux\n</env>",
            ),
        ] {
            let found: Vec<_> = client.working_directories(text).collect();
            assert_eq!(found, ["/home/dev/app"], "{}", client.name);
            assert!(client.environment.is_empty() || client.is_inserted(client.environment));
        }
    }

    #[test]
    fn a_client_without_a_text_never_finds_it() {
        let client = ClientDialect::CODEX;
        assert_eq!(client.side_request("any text"), None);
        assert_eq!(client.queued_prompt("any text"), None);
        assert!(
            client
                .user_answers("\"Which?\"=\"This\". You can now continue")
                .is_empty()
        );
    }
}
