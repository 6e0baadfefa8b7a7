//! The arguments of `grov memory`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List memories, newest first
    List {
        /// Maximum number; 0 = all [default: 20, with --json all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show one memory in full, and what it replaced or is replaced by
    Show {
        /// A memory's id, or a unique prefix or suffix of it
        id: String,
    },
    /// Find memories that match a prompt, best first
    Search(SearchArguments),
    /// Import task records, one JSON object per line; a record with a known id replaces the stored one
    Import(ImportArguments),
    /// Print task records in the import format, oldest first
    Export,
    /// Edit a memory, in $VISUAL or $EDITOR or by flags
    Edit(Box<EditArguments>),
    /// List what sessions propose to remember: rules, decisions and open ends
    Inbox,
    /// Accept a proposal: it takes part in the memory of the project
    Approve {
        /// The proposal: its id, or a unique prefix or suffix of it
        id: String,
        /// Accept these words instead
        #[arg(long, value_name = "TEXT")]
        content: Option<String>,
    },
    /// Reject a proposal: it is not proposed again
    Reject {
        /// The proposal: its id, or a unique prefix or suffix of it
        id: String,
    },
    /// Choose the words of an item that was changed here and by others
    #[command(group(clap::ArgGroup::new("side").required(true)))]
    Settle {
        /// The item: its id, or a unique prefix or suffix of it
        id: String,
        /// The words of this machine, which are sent
        #[arg(long, group = "side")]
        here: bool,
        /// The words of the service
        #[arg(long, group = "side")]
        there: bool,
    },
    /// Close an accepted open end
    Done {
        /// The item: its id, or a unique prefix or suffix of it
        id: String,
    },
    /// Mark a memory as replaced by another one; both are kept
    Supersede {
        /// The replaced memory: its id, or a unique prefix or suffix of it
        old: String,
        /// Its replacement
        #[arg(required_unless_present = "undo", conflicts_with = "undo")]
        new: Option<String>,
        /// Mark it as not replaced
        #[arg(long)]
        undo: bool,
    },
    /// Take over the memories of this repository from where it was before, or from another clone
    Adopt(AdoptArguments),
    /// Find memories that contain instructions to the agent or would harm you, or paths that .grovignore excludes
    Audit,
    /// Give a withheld memory to agents after all, as long as its text stays as it is
    Trust {
        /// The memory: its id, or a unique prefix or suffix of it
        id: String,
    },
    /// Permanently delete memories, including their text in the index, in running sessions and on disk
    Forget(ForgetArguments),
    /// Count memories
    Stats,
}

#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The file; - for standard input
    pub(crate) file: PathBuf,
    /// Start at this line, to continue an import that failed
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) from_line: u64,
    /// Report progress even when standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

#[derive(Args, Debug)]
pub(crate) struct EditArguments {
    /// A memory's id, or a unique prefix or suffix of it
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) changes: ChangeArguments,
    /// Set the words of a proposal or an accepted item
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["changes", "from"])]
    pub(crate) content: Option<String>,
    /// Read the edited record from a file; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
}

/// Items to remove are named by their text, or a part of it that no other item contains.
#[derive(Args, Debug, Default, PartialEq, Eq)]
#[group(id = "changes", multiple = true, conflicts_with = "from")]
pub(crate) struct ChangeArguments {
    /// Set the goal; empty for none
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// Set the prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Set the status: complete, partial or abandoned
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
    /// Add a finding
    #[arg(long, value_name = "TEXT")]
    pub(crate) add_finding: Vec<String>,
    /// Remove a finding
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
pub(crate) struct AdoptArguments {
    /// The project to take memories from [default: all with the same remote]
    #[arg(value_name = "PROJECT")]
    pub(crate) from: Option<String>,
    /// Show the projects only
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ForgetArguments {
    /// Memories: their ids, or unique prefixes or suffixes of them
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Do not ask for confirmation; required with --json
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show what would be deleted, and the cost
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArguments {
    /// The prompt, or some of its words
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) query: Vec<String>,
    /// Maximum number of results
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Files that the prompt is about, separated by commas
    #[arg(long, value_name = "PATHS", value_delimiter = ',', conflicts_with = "batch")]
    pub(crate) files: Vec<String>,
    /// Answer each line {"id", "text", "files"?, "before"?} of a file with a line {"id", "results"}; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<PathBuf>,
    /// Show the parts of each result's score
    #[arg(long)]
    pub(crate) why: bool,
}
