//! The command line's definition.

mod agent;
mod context;
mod drift;
mod examples;
mod memory;
mod plans;
mod proxy;
mod route;
mod run;
mod service;
mod token;

use crate::failure::Failure;
pub(crate) use agent::{AgentCommand, LinkArguments};
use clap::error::ErrorKind;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub(crate) use context::ContextCommand;
pub(crate) use drift::{DriftCommand, DriftTestArguments, GoalArguments, GoalCommand, ReplayPath};
pub(crate) use memory::{
    AdoptArguments, ChangeArguments, EditArguments, ForgetArguments, ImportArguments, MemoryCommand,
    SearchArguments,
};
pub(crate) use plans::{ApproveArguments, BranchArguments, PlansCommand};
pub(crate) use proxy::{DaemonFlags, LogArguments, ProxyArguments, ProxyCommand};
pub(crate) use route::{
    AddArguments, AddedApi, AgentArguments, AgentScope, ExplainArguments, RouteArguments, RouteCommand,
};
pub(crate) use run::RunArguments;
pub(crate) use service::{ServiceCommand, ServiceManager};
use std::ffi::OsString;
use std::path::PathBuf;
pub(crate) use token::{CreateArguments, TokenCommand};

/// The help heading of the flags that every command accepts.
const GLOBAL: &str = "Global options";

/// Team memory, a goal guard and a session record for coding agents.
#[derive(Debug, Parser)]
#[command(name = "grov", version, disable_help_subcommand = true)]
pub(crate) struct Grov {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Directory of the configuration, database and logs [default: $GROV_HOME, else ~/.grov]
    #[arg(long, value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub(crate) home: Option<PathBuf>,
    /// Project: a directory, or the key of a project without a directory [default: the current directory]
    #[arg(
        long,
        value_name = "P",
        num_args = 0..=1,
        default_missing_value = ".",
        global = true,
        help_heading = GLOBAL
    )]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Do not shorten texts or leave out columns to fit the terminal
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) wide: bool,
    /// Show times in UTC instead of the local time zone
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) utc: bool,
    /// When to use colour
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        global = true,
        help_heading = GLOBAL
    )]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Register Grov in Claude Code's settings; the rest of the file stays unchanged
    Init(InitArguments),
    /// Remove Grov from Claude Code's settings, in every file where it is registered
    Unregister(UnregisterArguments),
    /// Unregister Grov and stop the proxy; recorded data is kept
    Uninstall(UnregisterArguments),
    /// Run a command, such as claude, through the proxy; nothing is configured
    Run(RunArguments),
    /// Check the installation; explain each problem and how to fix it
    Doctor {
        /// Apply fixes that need no decision: permissions, hooks that call a missing program, a proxy that is not running
        #[arg(long)]
        fix: bool,
    },
    /// Print the client's status line, from the JSON that the client writes to standard input
    Statusline,
    /// Run the proxy (grov-proxyd) in the foreground; start, stop and restart it in the background
    Proxy(Box<ProxyArguments>),
    /// Let systemd or launchd start the proxy
    Service {
        #[command(subcommand)]
        command: ServiceCommand,
    },
    /// Show whether the proxy is running, and the recorded sessions
    ProxyStatus {
        /// Maximum number of sessions, newest first; 0 = all [default: 20, with --json all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show a summary of this project's records
    Status,
    /// Show the cost of Grov's own model calls in all projects, and today's remaining budget
    Usage {
        /// Group by day (UTC), session or purpose
        #[arg(long, value_name = "GROUP", value_enum)]
        by: Option<UsageGroup>,
        /// Only calls since a duration ago (24h, 7d) or a date (2026-01-31) [default: all]
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        since: Option<String>,
    },
    /// List the sessions of this project: their state, goal, age and cost
    Sessions(SessionsArguments),
    /// List the actions of a session
    Steps {
        /// A session id, a task id, or a unique prefix of one [default: the project's newest working session]
        session: Option<String>,
    },
    /// Show what was said to the agent: when, why, and whether it was followed
    Injected {
        /// A session id, a task id, or a unique prefix of one [default: the project's newest working session]
        session: Option<String>,
    },
    /// Show prompts, actions, findings, injected text and token counts as they are recorded; Ctrl-C ends it
    Watch(WatchArguments),
    /// Show sessions, rates, costs and what happens, in the terminal
    Top(TopArguments),
    /// Open the dashboard in a browser: sessions as they happen, memory, drift, cost, settings
    Ui(UiArguments),
    /// Show what the agent's requests cost: from its transcripts, and from what the proxy saw
    Cost(CostArguments),
    /// Show and edit the goal contract: the goal, and what the agent may and must not change
    Goal(GoalArguments),
    /// Show actions off the goal, the corrections sent, and whether the agent recovered
    Drift {
        #[command(subcommand)]
        command: DriftCommand,
    },
    /// Show how full the context window is, what a compaction lost, and the summary of a session
    Context {
        #[command(subcommand)]
        command: ContextCommand,
    },
    DriftTest(DriftTestArguments),
    /// Search and manage team memory: records of finished tasks
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Link this repository to a project of an agent service, so that a team shares memory
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Keep a plan for each branch, with the prompts that led to it
    Plans {
        #[command(subcommand)]
        command: PlansCommand,
    },
    /// Route agents to other models: set up providers, check them, explain routes
    Route(RouteArguments),
    /// Manage the tokens with which clients use a protected proxy
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// External tools for agents: research, web search, second opinions, reviews; the same as `envoy`
    #[command(disable_help_flag = true)]
    Tools {
        /// The command of `envoy` with its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        arguments: Vec<OsString>,
    },
    /// Serve memory, goal, steps and drift to agents by the Model Context Protocol, on standard input and output; runs `envoy`
    Mcp {
        /// Also offer the external tools of `envoy`: research, web search, second opinions, reviews
        #[arg(long)]
        tools: bool,
    },
    /// Stop adding text to prompts, for this project or one session
    Off(SwitchArguments),
    /// Add text to prompts again
    On(SwitchArguments),
    /// Manage the database
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Show settings and where their values come from
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Manage the certificate authority with which the proxy decrypts connections (mitm.hosts)
    Ca {
        #[command(subcommand)]
        command: CaCommand,
    },
    /// Measure what Grov costs and what it finds, in your recorded sessions or in the bundled sample
    Eval(EvalArguments),
    /// Play a session with a simulated model and client: no API key, no agent, no network
    Demo,
    /// Say how this installation is upgraded
    Upgrade,
    /// Write a manual page for each command
    #[command(hide = true)]
    Man {
        /// Where to write them
        directory: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
}

#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// Settings file: user, project (shared with everyone) or local (this project, only you) [default: user]
    #[arg(
        long,
        value_name = "SCOPE",
        value_enum,
        default_value = "user",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) scope: InitScope,
    /// Also route the client's requests through the proxy; a configured gateway becomes its upstream
    #[arg(long)]
    pub(crate) proxy: bool,
    /// Send hooks to grov-proxyd over HTTP where the client supports it, instead of starting a process for each
    #[arg(long)]
    pub(crate) http: bool,
    /// Also define a shell function that runs `claude` through the proxy, without a base URL
    #[arg(long, conflicts_with = "proxy")]
    pub(crate) mitm: bool,
    /// Also set the status line, unless another one is set
    #[arg(long)]
    pub(crate) statusline: bool,
    /// Also register Grov's MCP server, with which the agent searches memory and reads its goal
    #[arg(long)]
    pub(crate) mcp: bool,
    /// Also let a model judge: claude asks your installed Claude Code, within your plan's limits; off lets rules judge alone
    #[arg(long, value_name = "JUDGE", value_enum, hide_possible_values = true)]
    pub(crate) judge: Option<JudgeChoice>,
    /// Only send the requests of another client through the proxy: codex, gemini or opencode
    #[arg(
        long,
        value_name = "CLIENT",
        value_enum,
        hide_possible_values = true,
        conflicts_with_all = ["scope", "proxy", "http", "mitm", "statusline", "mcp", "judge", "plain"]
    )]
    pub(crate) client: Option<OtherClient>,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// First remove comments and trailing commas from the settings file, which Claude Code cannot read; a copy is kept
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) plain: bool,
}

/// Who judges besides the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JudgeChoice {
    Claude,
    Off,
}

/// A client other than Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OtherClient {
    Codex,
    Gemini,
    Opencode,
}

impl OtherClient {
    /// Its name for a person.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
        }
    }
}

/// A settings file of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitScope {
    User,
    Project,
    Local,
}

#[derive(Args, Debug)]
pub(crate) struct UnregisterArguments {
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SessionsArguments {
    /// List the sessions of all projects
    #[arg(long, conflicts_with = "project")]
    pub(crate) all: bool,
    /// Maximum number of sessions, newest first; 0 = all [default: 20, with --json all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct WatchArguments {
    /// Only this session: its id, a task id, or a unique prefix of one [default: all sessions]
    pub(crate) session: Option<String>,
    /// Begin a duration ago (10m, 2h) or at a time [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct TopArguments {
    /// Only sessions whose id, goal, project, state or last action contains this
    pub(crate) filter: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct UiArguments {
    /// Print the link and start no browser; it opens the dashboard once, within two minutes
    #[arg(long)]
    pub(crate) print: bool,
    /// Sign out every browser
    #[arg(long, conflicts_with = "print")]
    pub(crate) sign_out: bool,
}

/// How the client's spending is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostGroup {
    #[default]
    Day,
    Session,
    Project,
    Model,
    Provider,
    Agent,
}

/// Which records of the client's spending are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostSource {
    #[default]
    All,
    Transcripts,
    Proxy,
}

#[derive(Args, Debug)]
pub(crate) struct CostArguments {
    /// Group by day (UTC), session, project, model, provider or agent
    #[arg(
        long,
        value_name = "GROUP",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) by: CostGroup,
    /// Only since a duration ago (24h, 7d) or a date (2026-01-31) [default: all]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Use transcripts, proxy or all records [default: all, each request counted once]
    #[arg(
        long,
        value_name = "SOURCE",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) source: CostSource,
}

#[derive(Args, Debug)]
pub(crate) struct EvalArguments {
    /// Play and measure the bundled sample instead of reading recorded sessions
    #[arg(long, conflicts_with_all = ["project", "since"])]
    pub(crate) sample: bool,
    /// Only sessions since a duration ago (24h, 7d) or a date (2026-01-31) [default: 30d]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Also write the report as a page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// How calls are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageGroup {
    Day,
    Session,
    Purpose,
}

#[derive(Args, Debug)]
pub(crate) struct SwitchArguments {
    /// Only this session: the client's session id, or a unique prefix of it
    #[arg(long, value_name = "S", conflicts_with = "project")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Show the size of the database and its tables
    Stats,
    /// Delete records older than the configured retention; memories are kept
    Prune {
        /// Show what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaCommand {
    /// Show the certificates: for which hosts, until when
    Show,
    /// Print the path of the certificates that a client must trust (NODE_EXTRA_CA_CERTS); they are made if there are none
    Path,
    /// Make a new authority; the old one stays in use for 7 days, so that running clients keep working
    Rotate {
        /// Delete the old one at once; running clients must be restarted
        #[arg(long)]
        now: bool,
    },
    /// Delete the authority; connections through the CONNECT proxy fail until clients are restarted
    Remove,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show a setting's value, its origin, and the values it overrides
    Explain {
        /// The setting, such as proxy.port
        key: String,
    },
    /// List every setting with its value and origin
    List,
    /// Set a setting in the user's config.toml, or with --project in the project's; comments and order are kept
    Set {
        /// The setting, such as proxy.port
        key: String,
        /// The value; - reads it from standard input, for keys
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the user's config.toml, or with --project from the project's, so that its default applies
    Unset {
        /// The setting, such as proxy.port
        key: String,
    },
}

/// A parsed command line.
pub(crate) enum Invocation {
    /// A command to run.
    Command(Box<Grov>),
    /// Help or version, to be printed.
    Text(String),
    /// Bad usage.
    Invalid { failure: Failure, json: bool },
}

/// Parses the command line, which begins with the program's name.
pub(crate) fn parse(arguments: Vec<OsString>) -> Invocation {
    // Bad usage is reported as JSON too, if that was requested.
    let json = arguments
        .iter()
        .skip(1)
        .take_while(|word| *word != "--")
        .any(|word| word == "--json");
    let parsed = examples::added(Grov::command()).try_get_matches_from(arguments);
    match parsed.and_then(|found| Grov::from_arg_matches(&found)) {
        Ok(command) => Invocation::Command(Box::new(command)),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Invocation::Text(error.render().to_string())
        }
        Err(error) => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            Invocation::Invalid {
                failure: Failure::usage(text),
                json,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_valid() {
        examples::added(Grov::command()).debug_assert();
    }

    /// The names of the commands below this one that do something themselves, with a space between.
    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            let path = format!("{path} {}", below.get_name());
            match below.has_subcommands() {
                true => leaves(below, path.trim(), found),
                false => found.push(path.trim().to_owned()),
            }
        }
    }

    #[test]
    fn every_command_has_two_examples_that_are_valid() {
        let mut names = Vec::new();
        leaves(&Grov::command(), "", &mut names);
        for name in &names {
            let examples = examples::of(name);
            assert_eq!(examples.len(), 2, "grov {name}");
            for example in examples {
                let words = example.split("   # ").next().unwrap_or_default();
                let words = words
                    .split(" | ")
                    .find(|part| part.contains("grov "))
                    .unwrap_or(words);
                let words = words.split(" > ").next().unwrap_or_default().trim();
                let words: Vec<OsString> = shell_words(words).into_iter().map(OsString::from).collect();
                let at = words.iter().position(|word| word == "grov").unwrap();
                let parsed = parse(words.into_iter().skip(at).collect());
                assert!(matches!(parsed, Invocation::Command(_)), "{example}");
            }
        }
    }

    /// Words with double quotes around some of them.
    fn shell_words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for character in line.chars() {
            match (character, is_quoted) {
                ('"', _) => is_quoted = !is_quoted,
                (' ', false) => words.push(String::new()),
                _ => words.last_mut().unwrap().push(character),
            }
        }
        words
    }
}
