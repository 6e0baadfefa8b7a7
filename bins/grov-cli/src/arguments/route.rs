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
    /// Send a small request with a tool to a model, and show its answer
    Test {
        /// The label of the model
        label: String,
        /// Ask for a stream
        #[arg(long)]
        stream: bool,
    },
    /// Add a provider: ask it for its models, try a request with a tool, and write a checked entry
    ///
    /// ollama, lmstudio, openrouter, deepseek, groq, gemini and openai have a known endpoint and key variable. Every other name needs
    /// --endpoint. The rest of the file stays unchanged.
    Add(AddArguments),
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
pub(crate) struct AddArguments {
    /// The provider's name
    pub(crate) name: String,
    /// Base URL, without /chat/completions
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// The API that the provider speaks
    #[arg(long, value_enum, default_value_t)]
    pub(crate) api: AddedApi,
    /// Variable of the environment, or of .env in the home, with the API key
    #[arg(long, value_name = "VAR")]
    pub(crate) key_env: Option<String>,
    /// The provider's name of the model [default: the only one that it has]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The label of the model [default: the provider's name]
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Show the entry without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the entry without asking the provider
    #[arg(long, requires = "model")]
    pub(crate) unchecked: bool,
}

/// The API of an added provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AddedApi {
    /// OpenAI's Chat Completions
    #[default]
    Chat,
    /// OpenAI's Responses
    Responses,
    /// Anthropic's Messages
    Anthropic,
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
