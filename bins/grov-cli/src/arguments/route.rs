//! The arguments of `grov route`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct RouteArguments {
    /// Provider file [default: route.providers, else providers.yaml in the home, else ~/.claude-hybrid/config.yaml]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) providers: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: RouteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RouteCommand {
    /// Check the provider file; print each problem with its line
    Check,
    /// List the models by label, and whether their providers answer
    List,
    /// Show which model would answer a request, and why
    Explain(ExplainArguments),
    /// Write an agent file whose requests go to a model
    Agent(AgentArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// The body of a request, as JSON; - for standard input
    pub(crate) file: PathBuf,
    /// The subagent's id, as in the header x-claude-code-agent-id
    #[arg(long, value_name = "ID")]
    pub(crate) agent_id: Option<String>,
    /// The subagent's type, such as Explore
    #[arg(long, value_name = "TYPE")]
    pub(crate) agent_type: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct AgentArguments {
    /// The agent's name: lower-case letters, digits and hyphens
    pub(crate) name: String,
    /// The label of its model
    #[arg(long, value_name = "LABEL")]
    pub(crate) model: String,
    /// When the main agent should use it
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Whose agent it is: project (.claude/agents of the project) or user (~/.claude/agents)
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: AgentScope,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Where an agent file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentScope {
    #[default]
    Project,
    User,
}
