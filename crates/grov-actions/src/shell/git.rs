//! Version control: which commands read, change the repository or the working tree, or use the network.

use crate::has_word;
use crate::path;
use crate::shell::options::{GIT, Options, of_git, skip_options};
use crate::shell::state::{Place, Shell};
use crate::shell::words::Argument;
use grov_domain::EffectKind::{Delete, Modify, Move, Network, Read, VersionControl, Write};

/// Records the effects of a program. Returns whether this module knows it.
pub(crate) fn record_effects(shell: &mut Shell, name: &str, arguments: &[Argument]) -> bool {
    match name {
        "git" => {}
        "gh" | "glab" | "hub" => {
            hosted(shell, arguments);
            return true;
        }
        "svn" | "hg" | "jj" => {
            other_system(shell, arguments);
            return true;
        }
        _ => return false,
    }
    let command = skip_options(arguments, GIT);
    let globals = Options::parse(&arguments[..arguments.len() - command.len()], GIT);
    let Some((command, arguments)) = command.split_first() else {
        return true;
    };
    shell.in_folder(globals.value("-C --work-tree"), |shell| {
        command_of_git(shell, &command.text, arguments)
    });
    true
}

/// Commands that only read the repository.
const READING: &str = "status log show blame annotate grep ls-files ls-tree rev-parse rev-list describe shortlog cat-file \
      name-rev merge-base diff-tree diff-index diff-files diff difftool for-each-ref show-ref show-branch \
      whatchanged check-ignore cherry count-objects fsck range-diff var help version check-attr \
      verify-commit verify-tag hash-object --version";

fn command_of_git(shell: &mut Shell, command: &str, arguments: &[Argument]) {
    let options = Options::parse(arguments, of_git(command));
    let has = |flags: &str| options.has(flags);
    let first = options.operands.first().map_or("", |first| first.text.as_str());
    let operands = || shell.places(&options.operands);
    // The places, and an effect in addition to the one on the repository.
    let (places, effect) = match command {
        _ if has_word(READING, command) => {
            let places = read_paths(shell, command, &options);
            return shell.findings.add(Read, places);
        }
        "clean" if has("-n --dry-run") && !has("--no-dry-run") => {
            let places = operands();
            return shell.findings.add(Read, places);
        }
        "ls-remote" => return shell.findings.add(Network, Vec::new()),
        "config" | "branch" | "tag" | "remote" => return listed_or_changed(shell, command, first, &options),
        "reflog" | "notes" | "stash" | "worktree" | "submodule" | "bisect" | "sparse-checkout" | "lfs"
        | "rerere" | "bundle" => return with_subcommand(shell, command, first, &options),
        "archive" | "format-patch" => {
            return shell.add(Write, options.value("-o --output --output-directory"));
        }
        "add" | "stage" | "update-index" | "commit" => {
            let named = |place: Place| {
                if looks_like_folder(&place.path) {
                    place.into_folder()
                } else {
                    place
                }
            };
            (operands().into_iter().map(named).collect(), None)
        }
        "init" => (shell.folder_places(options.operands.first()), None),
        "clone" => (shell.folder_places(clone_folder(&options)), Some(Network)),
        "pull" | "push" | "fetch" => (Vec::new(), Some(Network)),
        "checkout" => {
            let places = checked_out(shell, &options);
            let modifies = !places.is_empty() || has("-f --force");
            (places, modifies.then_some(Modify))
        }
        "restore" => {
            let modifies = has("-W --worktree") || !has("-S --staged");
            (operands(), modifies.then_some(Modify))
        }
        "reset" => (
            pathspecs(shell, &options),
            has("--hard --merge --keep").then_some(Modify),
        ),
        "apply" | "am" => (operands(), (!has("--check --stat --cached")).then_some(Modify)),
        "rm" => (operands(), (!has("--cached -n --dry-run")).then_some(Delete)),
        "clean" => (operands(), Some(Delete)),
        "mv" => (operands(), Some(Move)),
        // Any other command, including aliases, is assumed to change the repository.
        _ => (Vec::new(), None),
    };
    shell.findings.add(VersionControl, places.clone());
    let is_unnamed = effect == Some(Network) || matches!(command, "reset" | "apply" | "am");
    if let Some(effect) = effect {
        shell
            .findings
            .add(effect, if is_unnamed { Vec::new() } else { places });
    }
}

/// Whether a path that is staged looks like a folder: its name has no ending and no capital letter, unlike `Makefile`.
fn looks_like_folder(path: &str) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    !name.contains(|letter: char| letter == '.' || letter.is_uppercase())
}

/// Commands that list by default or with some options, and otherwise change the repository.
fn listed_or_changed(shell: &mut Shell, command: &str, first: &str, options: &Options<'_>) {
    const READING: &str = "--get --get-all --get-regexp -l --list --show-origin";
    const WRITING: &str = "--unset --unset-all -e --edit --add";
    const LISTING: &str = "-l --list --show-current --contains --merged --no-merged";
    const CHANGING: &str = "-d -D -m -M -c -C -f --delete --move";
    let names_nothing = options.operands.is_empty();
    let lists = match command {
        "config" => {
            options.has(READING)
                || matches!(first, "get" | "list")
                || options.operands.len() < 2 && !options.has(WRITING)
        }
        "remote" => names_nothing || matches!(first, "show" | "get-url"),
        _ => options.has(LISTING) || names_nothing && !options.has(CHANGING),
    };
    let kind = if lists { Read } else { VersionControl };
    shell.findings.add(kind, Vec::new());
    if command == "remote" && matches!(first, "update" | "prune") {
        shell.findings.add(Network, Vec::new());
    }
}

/// The paths that limit a command: those after `--`, and operands that look like paths.
fn pathspecs(shell: &Shell, options: &Options<'_>) -> Vec<Place> {
    let mut places = shell.likely_places(&options.operands[..options.before_dashes]);
    places.extend(shell.places(options.after_dashes()));
    places
}

/// The paths that a command reads. In `git show HEAD:path` the path follows the colon.
fn read_paths(shell: &Shell, command: &str, options: &Options<'_>) -> Vec<Place> {
    match command {
        "show" | "cat-file" => {
            let inside: Vec<Argument> = options
                .operands
                .iter()
                .filter_map(|operand| operand.text.split_once(':'))
                .filter(|(_, path)| !path.is_empty())
                .map(|(_, path)| Argument::new(path))
                .collect();
            if inside.is_empty() {
                pathspecs(shell, options)
            } else {
                shell.places(&inside)
            }
        }
        "blame" | "annotate" => shell.places(options.operands.last()),
        "grep" => {
            let skip = usize::from(!options.has("-e -f"));
            shell.folder_places(options.operands.iter().skip(skip))
        }
        "ls-files" | "check-ignore" | "hash-object" => shell.places(&options.operands),
        _ => pathspecs(shell, options),
    }
}

/// The paths of `git checkout [branch] [--] paths`.
fn checked_out(shell: &Shell, options: &Options<'_>) -> Vec<Place> {
    let is_path = |operand: &&&Argument| operand.text == "." || path::looks_like_path(&operand.text);
    let before = &options.operands[..options.before_dashes];
    let creates = options.has("-b -B --orphan");
    let before = before.iter().filter(|operand| !creates && is_path(operand));
    shell.places(before.chain(options.after_dashes()))
}

/// Commands with a subcommand.
fn with_subcommand(shell: &mut Shell, command: &str, first: &str, options: &Options<'_>) {
    let looks = match command {
        "stash" | "notes" => matches!(first, "list" | "show"),
        "reflog" => matches!(first, "" | "show" | "exists"),
        "worktree" => first == "list",
        "submodule" => matches!(first, "" | "status" | "summary"),
        "bisect" => matches!(first, "log" | "view"),
        "lfs" => matches!(first, "ls-files" | "status" | "env"),
        "bundle" => matches!(first, "verify" | "list-heads"),
        _ => first == "list",
    };
    if looks {
        return shell.findings.add(Read, Vec::new());
    }
    let rest = options.operands.iter().skip(1);
    let places = match (command, first) {
        ("worktree", "add" | "remove" | "move") => shell.folder_places(options.operands.get(1)),
        ("stash", "push") | ("submodule", "add" | "deinit") => shell.places(rest),
        ("bundle", "create") => shell.places(options.operands.get(1)),
        _ => Vec::new(),
    };
    shell.findings.add(VersionControl, places);
    if matches!(
        (command, first),
        ("submodule", "add" | "update") | ("lfs", "pull" | "push" | "fetch")
    ) {
        shell.findings.add(Network, Vec::new());
    }
}

/// The folder of `git clone url [folder]`: by default the last part of the URL.
fn clone_folder(options: &Options<'_>) -> Option<Argument> {
    match options.operands.as_slice() {
        [_, folder, ..] => Some((*folder).clone()),
        [url] => {
            let name = url.text.trim_end_matches('/').rsplit(['/', ':']).next()?;
            Some(url.with_text(name.trim_end_matches(".git")))
        }
        [] => None,
    }
}

/// `gh` and similar programs use the network. A few subcommands also change the repository.
fn hosted(shell: &mut Shell, arguments: &[Argument]) {
    let words: Vec<&str> = arguments
        .iter()
        .take(2)
        .map(|argument| argument.text.as_str())
        .collect();
    if matches!(
        words.as_slice(),
        ["pr", "checkout" | "merge"] | ["repo", "clone" | "fork" | "sync"]
    ) {
        shell.findings.add(VersionControl, Vec::new());
    }
    shell.findings.add(Network, Vec::new());
}

/// Other version-control systems, approximately.
fn other_system(shell: &mut Shell, arguments: &[Argument]) {
    let command = arguments
        .iter()
        .find(|argument| !argument.is_option())
        .map_or("", |command| command.text.as_str());
    let looks = has_word(
        "status st log diff show blame annotate info cat list ls root evolog op",
        command,
    );
    let places = shell.likely_places(arguments);
    shell
        .findings
        .add(if looks { Read } else { VersionControl }, places);
    if has_word("push pull fetch clone checkout update git", command) {
        shell.findings.add(Network, Vec::new());
    }
}
