//! The command line's words.

mod drift;

pub(crate) use drift::{DriftCommand, DriftTestArguments, GoalArguments, GoalCommand, ReplayPath};

use crate::failure::Failure;
use clap::error::ErrorKind;
use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;

/// Above the flags that every command has, so that a command's own stand by themselves.
const EVERYWHERE: &str = "Options of every command";

/// See what your coding agent did, and run the proxy that records it.
#[derive(Debug, Parser)]
#[command(name = "grov", version, disable_help_subcommand = true)]
pub(crate) struct Grov {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command accepts.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Directory that holds configuration, database and logs [default: $GROV_HOME, else ~/.grov]
    #[arg(long, value_name = "DIR", global = true, help_heading = EVERYWHERE)]
    pub(crate) home: Option<PathBuf>,
    /// Project: a directory, or a project's key where there is no such directory [default: the current directory]
    #[arg(long, value_name = "P", global = true, help_heading = EVERYWHERE)]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    /// When to use colour: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        global = true,
        help_heading = EVERYWHERE
    )]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Register Grov in Claude Code's settings; everything else in them stays byte for byte
    Init(InitArguments),
    /// Take Grov out of Claude Code's settings again, in every file where it was registered
    Unregister(UnregisterArguments),
    /// The same, and stop the proxy; what was recorded stays
    Uninstall(UnregisterArguments),
    /// Look whether everything works, and say what follows if it does not and how to mend it
    Doctor {
        /// Mend what can be mended without asking: permissions, hooks that call a Grov that is gone, a proxy that is down
        #[arg(long)]
        fix: bool,
    },
    /// Print the client's status line from what the client tells on standard input
    Statusline,
    /// Run the proxy (grov-proxyd), in the foreground or detached
    Proxy(ProxyArguments),
    /// Show whether the proxy runs, and the sessions that were recorded
    ProxyStatus {
        /// Show at most so many sessions, newest first; 0 = all [default: 20, with --json all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show what is stored for this project
    Status,
    /// Show what Grov's own model calls cost, in all projects, and what is left of today's budget
    Usage {
        /// Sum up by day (UTC), session or purpose
        #[arg(long, value_name = "GROUP", value_enum)]
        by: Option<UsageGroup>,
        /// Only calls since then: so long ago (24h, 7d) or a date (2026-01-31) [default: all that are kept]
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        since: Option<String>,
    },
    /// List the actions of a session
    Steps {
        /// A session's id as the client knows it, a task's id, or an unmistakable beginning of one
        session: String,
    },
    /// See and change what the agent is held to: its goal, what it may touch and what not
    Goal(GoalArguments),
    /// See where the agent left its goal, what it was told, and whether it came back
    Drift {
        #[command(subcommand)]
        command: DriftCommand,
    },
    DriftTest(DriftTestArguments),
    /// Search, fill and empty team memory: what was done in finished tasks
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Turn Grov's words off: nothing new is added to prompts of this project, or of one session
    Off(SwitchArguments),
    /// Turn Grov's words on again
    On(SwitchArguments),
    /// Look after the database
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Explain the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Play a whole session with a simulated model and a scripted client: no key, no agent, no network
    Demo,
    /// Print a completion script for a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
}

#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// Whose settings: user, project (shared by everybody who works on it) or local (the project's, for you alone)
    #[arg(
        long,
        value_name = "SCOPE",
        value_enum,
        default_value = "user",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) scope: InitScope,
    /// Send the client's requests through the proxy as well; a gateway that is set up stays in use behind it
    #[arg(long)]
    pub(crate) proxy: bool,
    /// Have the client ask a running grov-proxyd instead of starting a process, at the events where it can
    #[arg(long)]
    pub(crate) http: bool,
    /// Set the status line as well; one that is there already stays
    #[arg(long)]
    pub(crate) statusline: bool,
    /// Only show what would be changed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Whose settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitScope {
    User,
    Project,
    Local,
}

#[derive(Args, Debug)]
pub(crate) struct UnregisterArguments {
    /// Only show what would be changed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ProxyArguments {
    /// Port to listen on; 0 = any free one
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) port: Option<String>,
    /// Address to listen on; loopback only
    #[arg(long, value_name = "IP")]
    pub(crate) host: Option<String>,
    /// Base address that requests are forwarded to
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// What is logged: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Start it in the background, wait until it accepts, and print where it listens
    #[arg(long)]
    pub(crate) detach: bool,
    /// Become the leader of a session of its own first: the second half of --detach
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) own_session: bool,
}

/// What calls are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageGroup {
    Day,
    Session,
    Purpose,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List memories, newest first
    List {
        /// Show at most so many; 0 = all [default: 20, with --json all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show one memory in full, what replaced it and what it replaced
    Show {
        /// A memory's id, or an unmistakable beginning or end of one
        id: String,
    },
    /// Find memories that fit a prompt, best first
    Search(SearchArguments),
    /// Read task records, one JSON object per line; a record with a known id replaces the one that is there
    Import(ImportArguments),
    /// Print task records as they are imported, oldest first
    Export,
    /// Change a memory; without a flag its record is opened in $VISUAL or $EDITOR
    Edit(Box<EditArguments>),
    /// Say that what one memory knows is replaced by what another knows; both are kept
    Supersede {
        /// The memory that is replaced: its id, or an unmistakable beginning or end of it
        old: String,
        /// The memory that replaces it
        #[arg(required_unless_present = "undo", conflicts_with = "undo")]
        new: Option<String>,
        /// Say that it is not replaced
        #[arg(long)]
        undo: bool,
    },
    /// Look for memories that speak to the agent instead of telling what was done, or hold what .grovignore keeps out
    Audit,
    /// Delete memories for good, their traces in the index, in running sessions and on disk included
    Forget(ForgetArguments),
    /// Count memories
    Stats,
}

#[derive(Args, Debug)]
pub(crate) struct SwitchArguments {
    /// Only this session: its id as the client knows it, or an unmistakable beginning of it
    #[arg(long, value_name = "S", conflicts_with = "project")]
    pub(crate) session: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The file; - for standard input
    pub(crate) file: PathBuf,
    /// Pass over the lines before this one: to go on with an import that broke off
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) from_line: u64,
    /// Tell how far it is also where nobody watches (not on a terminal)
    #[arg(long)]
    pub(crate) progress: bool,
}

#[derive(Args, Debug)]
pub(crate) struct EditArguments {
    /// A memory's id, or an unmistakable beginning or end of one
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) changes: ChangeArguments,
    /// Take the edited record from a file instead of an editor; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
}

/// To remove something, part of its text is enough if nothing else has it.
#[derive(Args, Debug, Default, PartialEq, Eq)]
#[group(id = "changes", multiple = true, conflicts_with = "from")]
pub(crate) struct ChangeArguments {
    /// The goal; nothing for none
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// What was asked
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// How it ended: complete, partial or abandoned
    #[arg(long, value_name = "STATUS", value_parser = ["complete", "partial", "abandoned"], hide_possible_values = true)]
    pub(crate) status: Option<String>,
    /// Add a decision
    #[arg(long, value_name = "CHOICE: REASON")]
    pub(crate) add_decision: Vec<String>,
    /// Remove the decision with this choice
    #[arg(long, value_name = "CHOICE")]
    pub(crate) remove_decision: Vec<String>,
    /// Add a constraint
    #[arg(long, value_name = "TEXT")]
    pub(crate) add_constraint: Vec<String>,
    /// Remove a constraint
    #[arg(long, value_name = "TEXT")]
    pub(crate) remove_constraint: Vec<String>,
    /// Add to what was done and found
    #[arg(long, value_name = "TEXT")]
    pub(crate) add_finding: Vec<String>,
    /// Remove from what was done and found
    #[arg(long, value_name = "TEXT")]
    pub(crate) remove_finding: Vec<String>,
    /// Add a file
    #[arg(long, value_name = "PATH")]
    pub(crate) add_file: Vec<String>,
    /// Remove a file
    #[arg(long, value_name = "PATH")]
    pub(crate) remove_file: Vec<String>,
    /// Add a tag
    #[arg(long, value_name = "TAG")]
    pub(crate) add_tag: Vec<String>,
    /// Remove a tag
    #[arg(long, value_name = "TAG")]
    pub(crate) remove_tag: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ForgetArguments {
    /// Memories: their ids, or unmistakable beginnings or ends of them
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Do not ask; needed with --json
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only say what would be forgotten, and what that costs
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArguments {
    /// The prompt, or some words of it
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) query: Option<String>,
    /// Show at most so many
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Files that the prompt is about, parted by commas
    #[arg(long, value_name = "PATHS", value_delimiter = ',', conflicts_with = "batch")]
    pub(crate) files: Vec<String>,
    /// Answer each line {"id", "text", "files"?, "before"?} of a file with a line {"id", "results"}; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<PathBuf>,
    /// Show what each result's score is made of
    #[arg(long)]
    pub(crate) why: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Show what the database holds
    Stats,
    /// Remove what is older than the configured retention; finished tasks are kept
    Prune {
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show a setting's value, where it comes from and what it was chosen over
    Explain {
        /// The setting, as in proxy.port
        key: String,
    },
    /// List every setting with its value and origin
    List,
}

/// What was asked for.
pub(crate) enum Invocation {
    /// A command.
    Command(Box<Grov>),
    /// Help or version.
    Text(String),
    /// Nothing that can be understood.
    Mistake { failure: Failure, json: bool },
}

/// Understands the words of the command line, the program's name first.
pub(crate) fn parse(arguments: Vec<OsString>) -> Invocation {
    // Looked for by hand: a command line that cannot be understood may still have asked for JSON.
    let json = arguments
        .iter()
        .skip(1)
        .take_while(|word| *word != "--")
        .any(|word| word == "--json");
    match Grov::try_parse_from(arguments) {
        Ok(command) => Invocation::Command(Box::new(command)),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Invocation::Text(error.render().to_string())
        }
        Err(error) => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            Invocation::Mistake {
                failure: Failure::usage(text),
                json,
            }
        }
    }
}

/// The completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Grov::command(), "grov", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Grov::command().debug_assert();
    }
}
