//! Which agent may call which external tool: the user's list `tools.allow`.
//!
//! Reads command lines and the scripts that they run. It is no sandbox: a program that hides the call is not recognised.

use grov_actions::command_line;
use grov_domain::{CommandLine, Program};
use grov_hooks::event::Input;
use grov_runtime::ToolGrant;

/// The name of the main agent in the list.
const MAIN: &str = "main";
/// Stands for every agent, or for every command.
const ALL: &str = "*";
/// Names under which the MCP server with the tools is registered.
const MCP_SERVERS: &[&str] = &["mcp__grov__", "mcp__envoy__"];
/// Commands that only describe the tools.
const DESCRIPTIONS: &[&str] = &["info", "snippet"];
/// Options of every command that have a value.
const OPTIONS_WITH_VALUE: &[&str] = &["--home", "--project", "--color"];

/// A call of an external tool.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ToolCall {
    /// A command: `perplexity ask`, `install`.
    Command(String),
    /// A tool of the MCP server: `perplexity-ask`.
    Mcp(String),
    /// The command cannot be read from the command line.
    Unknown,
}

/// The agent of a call as the list names it; `None` for one that only entries for every agent concern.
fn agent(input: &Input) -> Option<&str> {
    let named = input.agent_type.as_deref().filter(|name| !name.is_empty());
    match input.agent_id {
        // A subagent cannot get the main agent's permissions by its name.
        Some(_) => named.filter(|name| *name != MAIN),
        None => Some(named.unwrap_or(MAIN)),
    }
}

/// Why an agent may not make a call; `None` if it may. `scripts` are those that the command runs.
pub(super) fn refusal<'a>(
    input: &Input,
    command: Option<&str>,
    scripts: impl Iterator<Item = &'a CommandLine>,
    grants: &[ToolGrant],
) -> Option<String> {
    if grants.is_empty() {
        return None;
    }
    let agent = agent(input);
    let mut granted = agent.map_or_else(Vec::new, |agent| commands_of(agent, grants));
    if granted.is_empty() {
        granted = commands_of(ALL, grants);
    }
    let calls = calls(input, command, scripts);
    let refused = calls
        .into_iter()
        .find(|call| !granted.iter().any(|pattern| allows(pattern, call)))?;
    let who = match agent {
        Some(MAIN) => "the main agent".to_owned(),
        Some(name) => format!("the agent {name}"),
        None => "this agent".to_owned(),
    };
    let what = match &refused {
        ToolCall::Command(command) => format!("`envoy {command}`"),
        ToolCall::Mcp(slug) => format!("the tool {slug}"),
        ToolCall::Unknown => "`envoy` with a command that cannot be read".to_owned(),
    };
    let allowed = match granted.as_slice() {
        [] => "It may call no external tool.".to_owned(),
        granted => format!("It may call: {}.", granted.join(", ")),
    };
    Some(format!(
        "Grov: {who} may not call {what}. {allowed} The user can change this with the setting tools.allow."
    ))
}

/// The commands in the entries of an agent.
fn commands_of<'g>(agent: &str, grants: &'g [ToolGrant]) -> Vec<&'g str> {
    let entries = grants.iter().filter(|grant| grant.agent == agent);
    entries.map(|grant| grant.command.as_str()).collect()
}

fn allows(pattern: &str, call: &ToolCall) -> bool {
    if pattern == ALL {
        return true;
    }
    let group = pattern.strip_suffix(" *");
    match call {
        ToolCall::Command(command) => match group {
            Some(group) => command.split(' ').next() == Some(group),
            None => command == pattern,
        },
        ToolCall::Mcp(slug) => match group {
            Some(group) => slug.strip_prefix(group).is_some_and(|name| name.starts_with('-')),
            None => *slug == pattern.replace(' ', "-"),
        },
        ToolCall::Unknown => false,
    }
}

/// The calls of external tools in a tool call of the client.
fn calls<'a>(
    input: &Input,
    command: Option<&str>,
    scripts: impl Iterator<Item = &'a CommandLine>,
) -> Vec<ToolCall> {
    let tool = input.tool_name.as_deref().unwrap_or_default();
    let mcp = MCP_SERVERS.iter().find_map(|server| tool.strip_prefix(server));
    // Grov's own tools of the server have no hyphen, and those of the registry have one between group and name.
    let mcp = mcp.filter(|name| name.contains('-'));
    let mut calls: Vec<ToolCall> = mcp
        .map(|slug| ToolCall::Mcp(slug.to_owned()))
        .into_iter()
        .collect();
    if let Some(command) = command {
        let line = command_line(command);
        calls.extend(in_line(&line));
        if line.is_cut && command.contains("envoy") {
            calls.push(ToolCall::Unknown);
        }
    }
    for line in scripts {
        calls.extend(in_line(line));
    }
    calls
}

fn in_line(line: &CommandLine) -> impl Iterator<Item = ToolCall> {
    line.programs.iter().filter_map(of_program)
}

/// The call of a program; `None` if it calls no external tool.
fn of_program(program: &Program) -> Option<ToolCall> {
    let mut words = program.arguments.iter().map(|argument| argument.text.as_str());
    let mut commands = Vec::new();
    match program.name() {
        "envoy" => {}
        "grov" => match next_command(&mut words)? {
            "tools" => {}
            "plans" => commands.push("plans"),
            _ => return None,
        },
        _ => return None,
    }
    let is_help = |word: &str| matches!(word, "--help" | "-h");
    let mut given = program.arguments.iter().map(|argument| argument.text.as_str());
    if given.by_ref().take_while(|word| *word != "--").any(is_help) {
        return None;
    }
    while commands.len() < 2 {
        match next_command(&mut words) {
            Some(word) => commands.push(word),
            None => break,
        }
        if matches!(commands[..], ["install" | "uninstall" | "docs" | "mcp"]) {
            break;
        }
    }
    if commands.first().is_some_and(|first| DESCRIPTIONS.contains(first)) {
        return None;
    }
    let is_literal = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if !commands.iter().all(|word| is_literal(word)) {
        return Some(ToolCall::Unknown);
    }
    // `xargs` and the like add words that are not in the command line.
    let is_open = !program.through.is_empty() && commands.len() < 2;
    match commands.as_slice() {
        [] if is_open => Some(ToolCall::Unknown),
        [] => None,
        [_] if is_open => Some(ToolCall::Unknown),
        commands => Some(ToolCall::Command(commands.join(" "))),
    }
}

/// The next word that is neither an option nor its value.
fn next_command<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<&'a str> {
    while let Some(word) = words.next() {
        if OPTIONS_WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(list: &[(&str, &str)]) -> Vec<ToolGrant> {
        let grant = |(agent, command): &(&str, &str)| ToolGrant {
            agent: (*agent).to_owned(),
            command: (*command).to_owned(),
        };
        list.iter().map(grant).collect()
    }

    fn of_main() -> Input {
        Input {
            tool_name: Some("Bash".to_owned()),
            ..Input::default()
        }
    }

    fn of_subagent(name: &str) -> Input {
        Input {
            agent_id: Some("a1".to_owned()),
            agent_type: Some(name.to_owned()),
            ..of_main()
        }
    }

    fn is_refused(input: &Input, command: &str, list: &[(&str, &str)]) -> bool {
        refusal(input, Some(command), std::iter::empty(), &grants(list)).is_some()
    }

    const LIST: &[(&str, &str)] = &[
        ("main", "plans list"),
        ("researcher", "perplexity *"),
        ("researcher", "tavily search"),
        ("*", "vertex ask"),
    ];

    #[test]
    fn each_agent_may_call_what_its_entries_name() {
        let researcher = of_subagent("researcher");
        for command in [
            "envoy perplexity research 'a b'",
            "~/.claude/envoy/envoy --home /h perplexity --json ask q",
            "grov tools tavily search q | jq .",
            "envoy info; envoy snippet vertex-ask; envoy vertex review --help; ls",
        ] {
            assert!(!is_refused(&researcher, command, LIST), "{command}");
        }
        for command in [
            "envoy tavily extract https://a",
            "envoy vertex ask q",
            "cd x && FOO=1 envoy install",
            "sh -c 'grov tools vertex ask q'",
            "echo ask | xargs envoy perplexity",
            "envoy \"$GROUP\" ask q",
            "envoy vertex ask -- --help",
            "grov --home /h plans approve",
            "echo $(envoy tavily extract https://a)",
        ] {
            assert!(is_refused(&researcher, command, LIST), "{command}");
        }
    }

    #[test]
    fn main_and_agents_without_entries_are_told_apart() {
        assert!(!is_refused(&of_main(), "grov plans list", LIST));
        assert!(is_refused(&of_main(), "envoy vertex ask q", LIST));
        assert!(!is_refused(&of_subagent("other"), "envoy vertex ask q", LIST));
        assert!(is_refused(&of_subagent("other"), "envoy plans list", LIST));
        // A subagent with the main agent's name.
        assert!(is_refused(&of_subagent("main"), "envoy plans list", LIST));
        // A session that was started with an agent.
        let started = Input {
            agent_type: Some("researcher".to_owned()),
            ..of_main()
        };
        assert!(!is_refused(&started, "envoy perplexity ask q", LIST));
        assert!(is_refused(
            &of_subagent("other"),
            "envoy perplexity ask q",
            &[("main", "*")]
        ));
    }

    #[test]
    fn without_a_list_and_for_other_programs_nothing_is_refused() {
        assert!(!is_refused(&of_main(), "envoy vertex ask q", &[]));
        for command in [
            "grep envoy perplexity",
            "grov status",
            "envoy",
            "envoy --version",
            "man envoy",
        ] {
            assert!(
                !is_refused(&of_main(), command, &[("main", "plans list")]),
                "{command}"
            );
        }
    }

    #[test]
    fn tools_of_the_mcp_server_and_scripts_count() {
        let call = |tool: &str, list: &[(&str, &str)]| {
            let input = Input {
                tool_name: Some(tool.to_owned()),
                ..Input::default()
            };
            refusal(&input, None, std::iter::empty(), &grants(list))
        };
        assert!(call("mcp__grov__perplexity-ask", &[("main", "perplexity ask")]).is_none());
        assert!(call("mcp__grov__perplexity-ask", &[("main", "perplexity *")]).is_none());
        let reason = call(
            "mcp__grov__perplexity-ask",
            &[("main", "tavily *"), ("main", "vertex ask")],
        )
        .unwrap();
        assert!(
            reason.contains("perplexity-ask") && reason.contains("tavily *, vertex ask"),
            "{reason}"
        );
        assert!(call("mcp__grov__memory_search", &[("main", "tavily *")]).is_none());
        let script = command_line("set -e\nenvoy tavily search q");
        let refused = refusal(&of_main(), Some("sh a.sh"), [&script].into_iter(), &grants(LIST));
        assert!(refused.unwrap().contains("`envoy tavily search`"));
    }
}
