//! The command line of the tools, built from their registry.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use grov_tools::{COMMON_ARGUMENTS, Kind, Registry, Tool};
use std::ffi::OsString;
use std::path::PathBuf;

/// A parsed command line.
pub(crate) enum Invocation {
    /// Something to run.
    Run(Run),
    /// Help or version, to be printed.
    Text(String),
    /// Bad usage.
    Invalid(String),
}

/// What to run.
pub(crate) enum Run {
    /// A tool, with the words of each argument that was given.
    Tool {
        slug: String,
        words: Vec<(String, Vec<String>)>,
    },
    Info,
    Snippet(String),
    Docs(PathBuf),
    Install {
        is_user: bool,
        dry_run: bool,
    },
    Uninstall {
        is_user: bool,
        dry_run: bool,
    },
}

/// What must be known before the tools of the user are loaded.
#[derive(Default)]
pub(crate) struct Preset {
    pub(crate) home: Option<PathBuf>,
    pub(crate) directory: Option<PathBuf>,
    /// The place of the word `plans`, if it is the command.
    pub(crate) plans: Option<usize>,
    /// The words after `mcp`, if it is the command.
    pub(crate) mcp: Option<Vec<String>>,
}

/// Reads the flags of every command, and whether the command is `plans` or `mcp`.
pub(crate) fn preset(arguments: &[OsString]) -> Preset {
    let mut preset = Preset::default();
    let mut has_command = false;
    let mut place = 1;
    while let Some(word) = arguments.get(place) {
        let word = word.to_string_lossy();
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(PathBuf::from(value))),
            None => (&*word, None),
        };
        match name {
            "--" => break,
            "--home" | "--project" | "--color" => {
                let value = inline.or_else(|| {
                    place += 1;
                    arguments.get(place).map(PathBuf::from)
                });
                match name {
                    "--home" => preset.home = value,
                    "--project" => preset.directory = value,
                    _ => {}
                }
            }
            "plans" if !has_command => {
                preset.plans = Some(place);
                return preset;
            }
            "mcp" if !has_command => {
                has_command = true;
                preset.mcp = Some(Vec::new());
            }
            _ => match &mut preset.mcp {
                Some(words) => words.push(word.into_owned()),
                None => has_command |= !name.starts_with('-'),
            },
        }
        place += 1;
    }
    preset
}

/// Parses the command line, which begins with the program's name.
pub(crate) fn parse(registry: &Registry, arguments: Vec<OsString>) -> Invocation {
    let arguments = joined_flags(registry, arguments);
    match command(registry).try_get_matches_from(arguments) {
        Ok(matches) => read(registry, &matches).map_or_else(
            || Invocation::Invalid("there is no such command".to_owned()),
            Invocation::Run,
        ),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Invocation::Text(error.render().to_string())
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Invocation::Invalid("a command is missing".to_owned())
        }
        Err(error) => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            Invocation::Invalid(text.to_owned())
        }
    }
}

/// clap wants texts that live as long as the program, which is short.
fn text(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// The definition of the command line.
pub(crate) fn command(registry: &Registry) -> Command {
    let path = |name: &'static str, help: &'static str| {
        let argument = Arg::new(name)
            .long(name)
            .value_name("DIR")
            .help(help)
            .global(true);
        argument.value_parser(value_parser!(PathBuf))
    };
    let scope = || {
        Arg::new("scope")
            .long("scope")
            .value_parser(["project", "user"])
            .default_value("project")
            .help("Where: this project, or ~/.claude")
    };
    let dry_run = || flag("dry-run", "Show what would change");
    let mut command = Command::new("envoy")
        .version(env!("CARGO_PKG_VERSION"))
        .about("External tools for agents: research, web search, second opinions, reviews. Prints one JSON object.")
        .subcommand_required(true)
        .arg_required_else_help(false)
        .disable_help_subcommand(true)
        .arg(path("home", "Grov's home [default: $GROV_HOME, else ~/.grov]"))
        .arg(path("project", "Directory to work in [default: the current directory]"))
        .arg(flag("json", "Accepted; the output is always JSON").global(true).hide(true))
        .arg(Arg::new("color").long("color").global(true).hide(true));
    for group in registry.groups() {
        let tools = registry.tools().iter().filter(|tool| tool.group == group);
        let mut subcommand = Command::new(text(group))
            .about(text(&format!("Tools of {group}")))
            .subcommand_required(true)
            .disable_help_subcommand(true);
        for tool in tools {
            subcommand = subcommand.subcommand(of_tool(tool));
        }
        command = command.subcommand(subcommand);
    }
    command
        .subcommand(Command::new("info").about("Show commands, which keys are set, and what was spent today"))
        .subcommand(
            Command::new("snippet")
                .about("Print the input and output of a tool, such as perplexity-research")
                .arg(Arg::new("name").required(true)),
        )
        .subcommand(
            Command::new("docs")
                .about("Write the catalogue, all snippets and prompts to a directory")
                .arg(
                    Arg::new("dir")
                        .required(true)
                        .value_parser(value_parser!(PathBuf)),
                ),
        )
        .subcommand(
            Command::new("install")
                .about("Write catalogue, snippets, prompts, skills and the directions in CLAUDE.md")
                .arg(scope())
                .arg(dry_run()),
        )
        .subcommand(
            Command::new("uninstall")
                .about("Remove what install wrote; files that you changed are kept")
                .arg(scope())
                .arg(dry_run()),
        )
        // For the help; it runs before the command line is parsed.
        .subcommand(Command::new("plans").about("Plans of branches: the same as `grov plans`"))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn of_tool(tool: &Tool) -> Command {
    let mut command = Command::new(text(&tool.name))
        .about(text(&tool.description))
        .after_help(text(&format!(
            "When to use it: {}.\nCost: {}.",
            tool.when_to_use.trim_end_matches('.'),
            tool.price.basis
        )));
    for argument in tool.arguments.iter().chain(COMMON_ARGUMENTS.iter()) {
        let mut arg = Arg::new(text(&argument.field())).help(text(&argument.long_help()));
        if !argument.is_positional {
            arg = arg.long(text(&argument.name));
        }
        let words = |words: &[std::borrow::Cow<'static, str>]| -> Vec<&'static str> {
            words.iter().map(|word| text(word)).collect()
        };
        command = command.arg(match &argument.kind {
            Kind::Flag => arg.action(ArgAction::SetTrue),
            Kind::Choice(choices) => arg.value_parser(words(choices)),
            Kind::FlagOrChoice(choices) => {
                let mut choices = words(choices);
                choices.extend(["true", "false"]);
                arg.num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("true")
                    .value_parser(choices)
            }
            Kind::List(_) => arg.num_args(1..).action(ArgAction::Append),
            Kind::Text => arg,
            Kind::Json => arg.value_name("JSON"),
            Kind::Integer { .. } | Kind::Number { .. } => arg.allow_negative_numbers(true),
        });
    }
    command
}

/// Joins an option with an optional value and its word, so that the query behind the option is not its value.
fn joined_flags(registry: &Registry, arguments: Vec<OsString>) -> Vec<OsString> {
    let mut options: Vec<(String, Vec<String>)> = Vec::new();
    for tool in registry.tools() {
        for argument in &tool.arguments {
            if let Kind::FlagOrChoice(words) = &argument.kind {
                options.push((
                    format!("--{}", argument.name),
                    words.iter().map(ToString::to_string).collect(),
                ));
            }
        }
    }
    let mut joined: Vec<OsString> = Vec::new();
    for word in arguments {
        let option = joined.last().and_then(|last| last.to_str());
        let option = options.iter().find(|(name, _)| Some(name.as_str()) == option);
        match (option, word.to_str()) {
            (Some((name, words)), Some(value)) if words.iter().any(|known| known == value) => {
                joined.pop();
                joined.push(format!("{name}={value}").into());
            }
            _ => joined.push(word),
        }
    }
    joined
}

fn read(registry: &Registry, matches: &ArgMatches) -> Option<Run> {
    let (name, inner) = matches.subcommand()?;
    let path = |name: &str| inner.get_one::<PathBuf>(name).cloned();
    let is_user = || {
        inner
            .get_one::<String>("scope")
            .is_some_and(|scope| scope == "user")
    };
    match name {
        "info" => return Some(Run::Info),
        "snippet" => return inner.get_one::<String>("name").cloned().map(Run::Snippet),
        "docs" => return path("dir").map(Run::Docs),
        "install" => {
            return Some(Run::Install {
                is_user: is_user(),
                dry_run: inner.get_flag("dry-run"),
            });
        }
        "uninstall" => {
            return Some(Run::Uninstall {
                is_user: is_user(),
                dry_run: inner.get_flag("dry-run"),
            });
        }
        _ => {}
    }
    let (command, inner) = inner.subcommand()?;
    let tool = registry.find(name, command)?;
    let mut words = Vec::new();
    for argument in tool.arguments.iter().chain(COMMON_ARGUMENTS.iter()) {
        let field = argument.field();
        if argument.kind == Kind::Flag {
            if inner.get_flag(&field) {
                words.push((field, Vec::new()));
            }
        } else if let Some(values) = inner.get_many::<String>(&field) {
            words.push((field, values.cloned().collect()));
        }
    }
    Some(Run::Tool {
        slug: tool.slug(),
        words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<(String, Vec<String>)> {
        let line = std::iter::once("envoy")
            .chain(line.iter().copied())
            .map(OsString::from);
        match parse(&Registry::built_in(), line.collect()) {
            Invocation::Run(Run::Tool { words, .. }) => words,
            Invocation::Invalid(message) => panic!("{message}"),
            _ => panic!("no tool"),
        }
    }

    #[test]
    fn the_command_line_holds_exactly_the_registry() {
        let registry = Registry::built_in();
        let command = command(&registry);
        command.clone().debug_assert();
        for tool in registry.tools() {
            let group = command.find_subcommand(&*tool.group).unwrap();
            let found = group.find_subcommand(&*tool.name).unwrap();
            let names: Vec<String> = found
                .get_arguments()
                .map(|arg| arg.get_id().to_string())
                .collect();
            let declared = tool.arguments.iter().chain(COMMON_ARGUMENTS.iter());
            assert_eq!(
                names,
                declared.map(grov_tools::Argument::field).collect::<Vec<_>>()
            );
            assert_eq!(found.get_about().unwrap().to_string(), tool.description);
        }
    }

    #[test]
    fn an_optional_value_does_not_take_the_query() {
        let query = ("query".to_owned(), vec!["q".to_owned()]);
        for (line, value) in [
            (&["tavily", "search", "--include-answer", "q"][..], "true"),
            (
                &["tavily", "search", "--include-answer", "advanced", "q"],
                "advanced",
            ),
            (&["tavily", "search", "q", "--include-answer"], "true"),
        ] {
            let words = words(line);
            assert!(words.contains(&query), "{line:?}: {words:?}");
            assert!(
                words.contains(&("include_answer".to_owned(), vec![value.to_owned()])),
                "{words:?}"
            );
        }
    }

    #[test]
    fn the_home_and_plans_are_known_before_parsing() {
        let of = |line: &[&str]| preset(&line.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["envoy", "--home", "/h", "info"]).home, Some("/h".into()));
        assert_eq!(of(&["envoy", "--home=/h", "plans", "list"]).plans, Some(2));
        assert_eq!(of(&["envoy", "vertex", "ask", "plans"]).plans, None);
    }
}
