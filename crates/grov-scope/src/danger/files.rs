//! Commands that empty, overwrite or remove files that cannot be restored.

use super::destructive::{as_typed, is_excused, is_recursive, is_windows_option, outside_removal};
use super::outbound::is_secret_file;
use super::{DESTRUCTIVE, EvaluationContext, RISKY, content, finding, is_for_trial};
use crate::file_kind::{FileKind, is_build_output, is_temporary};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Program};

/// The finding for a command that destroys the content of files.
pub(super) fn of_command(
    command: &Program,
    source: Option<&Program>,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    overwritten_input(command, source)
        .or_else(|| emptied(command, context))
        .or_else(|| overwritten(command, context))
        .or_else(|| unpacked_over_system(command))
        .or_else(|| match command.name() {
            "mv" => moved_away(command, context),
            "rm" | "unlink" | "shred" | "trash" | "rimraf" | "del" | "del-cli" | "git-rm" | "remove-item"
            | "Remove-Item" => {
                removed(command, context).or_else(|| content::removed(command, programs, context))
            }
            _ => None,
        })
}

/// Programs that print what they read.
#[rustfmt::skip]
const READERS: &[&str] = &[
    "awk", "cat", "column", "comm", "cut", "envsubst", "expand", "fmt", "fold", "gawk", "grep", "head", "iconv", "join", "jq", "nl", "paste",
    "prettier", "rev", "sed", "shuf", "sort", "tac", "tail", "tr", "uniq", "xmllint", "yq",
];

/// The finding for `sort x > x`: the shell empties the file before the program reads it.
fn overwritten_input(command: &Program, source: Option<&Program>) -> Option<Finding> {
    if command.appends || command.targets.is_empty() || !READERS.contains(&command.name()) {
        return None;
    }
    let reads = |program: &Program, target: &str| {
        READERS.contains(&program.name())
            && program
                .operands()
                .chain(program.reads.iter().map(String::as_str))
                .any(|file| file == target)
    };
    let is_input = |target: &&String| {
        let is_file = !target.starts_with("/dev/") && !target.starts_with(['&', '-']);
        is_file && (reads(command, target) || source.is_some_and(|source| reads(source, target)))
    };
    let target = command.targets.iter().find(is_input)?;
    let reason = format!(
        "`{} {target} > {target}` empties the file before it is read",
        command.name()
    );
    finding(RISKY, None, reason)
}

/// Endings of files whose content is not made again.
const DATA: &[&str] = &[
    "csv", "db", "env", "json", "ndjson", "parquet", "sql", "sqlite", "sqlite3", "tsv", "xlsx", "yaml", "yml",
];

/// The finding for files that are emptied: `: > x`, `truncate -s 0 x`, `cp /dev/null x`.
fn emptied(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let prints_nothing = match command.name() {
        "" | ":" | "true" => command.reads.is_empty() && command.input.is_none(),
        "cat" => command.operands().eq(["/dev/null"]),
        _ => false,
    };
    let operands: Vec<&str> = match command.name() {
        "truncate"
            if command
                .arguments
                .windows(2)
                .any(|pair| pair[0] == "-s" && pair[1] == "0")
                || command.has_word(&["-s0", "--size=0"]) =>
        {
            command.operands().collect()
        }
        "cp" if command.operands().next() == Some("/dev/null") => command.operands().skip(1).collect(),
        "tee" if command.reads.iter().any(|file| file == "/dev/null") => command.operands().collect(),
        _ if prints_nothing && !command.appends => command.targets.iter().map(String::as_str).collect(),
        _ => return None,
    };
    if context.asks_for_removal()
        || context
            .compiled
            .request
            .orders_any(&["truncat", "clear", "reset"])
    {
        return None;
    }
    operands.into_iter().find_map(|file| {
        if let Some(variable) = file.strip_prefix('$').filter(|_| !context.uses_temporary) {
            // A variable that names the result of a script is no loss.
            #[rustfmt::skip]
            const RESULTS: &[&str] = &["log", "out", "tmp", "temp", "res", "report", "dest", "cache", "list", "lock", "pid", "state", "csv", "sum"];
            let name = variable.to_ascii_lowercase();
            let is_result = RESULTS.iter().any(|result| name.contains(result));
            return finding(RISKY, None, "Files are emptied, which was not requested").filter(|_| !is_result);
        }
        let place = NormalizedPath::new(context.root, &context.directory.path(file)?);
        let is_log = matches!(place.extension(), "log" | "out" | "txt" | "pid") || place.components().any(|part| part == "log" || part == "logs");
        let is_many = file.contains('*') && !is_log;
        let is_unasked = !is_log && context.compiled.request.only_looks() && !is_build_output(&place);
        let holds_data = !context.created_paths.contains(&file) && DATA.contains(&place.extension()) && !is_made_by_programs(&place) && !place.components().any(is_for_trial);
        if is_many || is_unasked || holds_data || !place.is_in_project() && context.root.is_known() {
            let fine = file.starts_with("/dev/") || is_temporary(&place) || is_excused(&place, context);
            let name = place.display();
            return finding(RISKY, Some(name), format!("{name} is emptied, which was not requested")).filter(|_| !fine);
        }
        None
    })
}

/// The finding for an archive that is unpacked over the whole system: `tar -xf a.tar -C /`.
fn unpacked_over_system(command: &Program) -> Option<Finding> {
    let unpacks = match command.name() {
        "tar" | "bsdtar" | "gtar" => {
            let first = command.arguments.first().map_or("", |word| word.as_str());
            command.has("--extract", 'x') || !first.starts_with('-') && first.contains('x')
        }
        "unzip" => !command.has_word(&["-l", "-t"]),
        "cpio" => command.has("--extract", 'i'),
        _ => false,
    };
    let is_target = |pair: &[grov_domain::Argument]| {
        matches!(pair[0].as_str(), "-C" | "--directory" | "-d" | "-D") && pair[1] == "/"
    };
    let over_system = command.arguments.windows(2).any(is_target) || command.has_word(&["--directory=/"]);
    let reason = "An archive is unpacked over the whole system, which was not requested";
    finding(RISKY, None, reason).filter(|_| unpacks && over_system)
}

/// The finding for a file with credentials or data that a redirection replaces although only a look was asked for.
fn overwritten(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    if command.appends || !context.compiled.request.only_looks() {
        return None;
    }
    command.targets.iter().find_map(|file| {
        let place = NormalizedPath::new(context.root, &context.directory.path(file)?);
        let is_loss = place.is_in_project()
            && is_valuable(&place, false)
            && !is_excused(&place, context)
            && !is_temporary(&place);
        let name = place.display();
        finding(
            RISKY,
            Some(name),
            format!("{name} is overwritten, which was not requested"),
        )
        .filter(|_| is_loss)
    })
}

/// The finding for files that are moved to where they are lost.
fn moved_away(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let (target, sources) = {
        let mut operands: Vec<&str> = command.operands().collect();
        (operands.pop()?, operands)
    };
    if target == "/dev/null" {
        return finding(
            DESTRUCTIVE,
            None,
            "Files are moved to /dev/null, which destroys them",
        );
    }
    let is_file = target
        .rsplit('/')
        .next()
        .is_some_and(|name| name.contains('.') && !name.starts_with('.'))
        && !target.ends_with('/');
    let overwrites =
        sources.len() == 1 && sources[0].contains('*') && is_file && !target.contains(['*', '$']);
    if overwrites && !command.has_word(&["-n", "-t"]) {
        return finding(
            RISKY,
            None,
            format!("Several files are moved to {target}, so that one is left"),
        );
    }
    if let Some(found) = sources.iter().find_map(|path| system_moved(path, context)) {
        return Some(found);
    }
    let into_temporary = is_temporary(&NormalizedPath::new(context.root, target));
    let settings = sources
        .iter()
        .find(|file| into_temporary && is_home_setting(file))?;
    let place = NormalizedPath::new(context.root, settings);
    let asked = is_excused(&place, context) || context.compiled.request.orders_any(&["mov", "backup"]);
    let reason = format!("{settings} belongs to the user and is moved away, which was not requested");
    finding(DESTRUCTIVE, Some(settings), reason).filter(|_| !asked)
}

/// The finding for a folder of the system or of all files of a user that is moved: `mv /usr/bin /tmp/x`.
fn system_moved(path: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    #[rustfmt::skip]
    const FOLDERS: &[&str] = &["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/sbin", "/usr", "/var/lib", "/System", "/Library"];
    #[rustfmt::skip]
    const WHOLE: &[&str] = &["", "/home", "/opt", "/root", "/srv", "/Users", "/Applications", "/usr/local", "/var", "/var/log", "~", "$HOME", "${HOME}"];
    let bare = path.trim_end_matches("/*").trim_end_matches('/');
    let is_below = |folder: &&str| {
        bare.strip_prefix(*folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // `/home/anna`
    let home = ["/home/", "/Users/"]
        .iter()
        .find_map(|homes| bare.strip_prefix(homes));
    let is_home = home.is_some_and(|name| !name.is_empty() && !name.contains('/'));
    let is_local = FOLDERS.iter().any(is_below) && !bare.starts_with("/usr/local/");
    let is_whole = path.starts_with(['/', '~', '$']) && WHOLE.contains(&bare);
    // Memory that serves as a folder for temporary files.
    let is_memory = bare.starts_with("/dev/shm/");
    if is_memory || !(is_local || is_home || is_whole) {
        return None;
    }
    let place = NormalizedPath::new(context.root, path);
    let asked = is_excused(&place, context) || context.compiled.request.orders_any(&["mov", "backup"]);
    let reason = format!("{path} is a folder of the system and is moved away, which was not requested");
    finding(DESTRUCTIVE, Some(path), reason).filter(|_| !asked)
}

/// Whether a path is a hidden file or folder in the home directory.
fn is_home_setting(path: &str) -> bool {
    ["~/.", "$HOME/.", "${HOME}/."]
        .iter()
        .any(|home| path.starts_with(home))
}

/// Endings of files that are seldom in a repository and hard to restore.
#[rustfmt::skip]
const VALUABLE_ENDINGS: &[&str] = &[
    "bib", "ckpt", "db", "dump", "jks", "kdbx", "key", "keystore", "mobileprovision", "onnx", "p12", "p8", "pem", "pfx", "pt", "pth", "rdb",
    "safetensors", "sqlite", "sqlite3", "tfstate",
];

/// Folders with data of users or results of long work.
#[rustfmt::skip]
const VALUABLE_FOLDERS: &[&str] = &[
    "backup", "backups", "checkpoints", "dumps", "pgdata", "postgres-data", "secrets", "terraform.tfstate.d", "uploads", "wp-content",
];

/// Whether a file in the project is probably untracked and cannot be created again.
fn is_valuable(place: &NormalizedPath, is_recursive: bool) -> bool {
    let name = place.name();
    let is_environment = name == ".env" || name.starts_with(".env.") || name == ".env*";
    let is_example = ["example", "sample", "template", "dist", "test"]
        .iter()
        .any(|part| name.contains(part));
    let is_state = name.starts_with("terraform.tfstate");
    let is_data = VALUABLE_ENDINGS.contains(&place.extension());
    let is_folder = is_recursive && place.components().any(|part| VALUABLE_FOLDERS.contains(&part));
    !is_example && (is_environment || is_state || is_data || is_folder || is_secret_file(name))
}

/// The finding for removed files outside the project, or ones in it that cannot be restored.
fn removed(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let is_recursive = is_recursive(command);
    let request = &context.compiled.request;
    if super::effects::is_harmless(command) {
        return None;
    }
    let is_lost = |path: &str| context.directory.path(path).is_none() && !path.starts_with('$');
    if request.only_looks() && !context.uses_temporary && command.operands().any(is_lost) {
        return finding(
            RISKY,
            None,
            "Files are removed although only a look was asked for",
        );
    }
    if request.only_looks() && !context.uses_temporary && command.operands().any(is_unknown_file) {
        return finding(
            RISKY,
            None,
            "Files are removed although only a look was asked for",
        );
    }
    let is_windows = matches!(command.name(), "del" | "erase");
    let paths = command
        .operands()
        .filter(|path| !is_windows || !is_windows_option(path))
        .map(|path| {
            if is_windows {
                as_typed(path, context.line)
            } else {
                path
            }
        });
    paths.into_iter().find_map(|path| {
        let place = NormalizedPath::new(context.root, &context.directory.path(path)?);
        let is_new = |file: &&str| {
            let written = context.directory.path(file);
            written.is_some_and(|file| NormalizedPath::new(context.root, &file) == place)
        };
        if context.line_changes.iter().any(is_new) || is_excused(&place, context) || is_temporary(&place) {
            return None;
        }
        if is_packed_here(path, context.line) {
            return None;
        }
        if !place.is_in_project() {
            // Packages of a workspace lie beside the project; caches are made again.
            let is_made_again =
                FileKind::Lock.is(&place) || place.components().any(|part| part.contains("cache"));
            let is_asked = context.asks_for_removal_of(&place) && !is_recursive;
            return outside_removal(&place, context).filter(|_| !is_made_again && !is_asked);
        }
        let asked = is_removal_asked(&place, is_recursive, context);
        let is_unasked = request.only_looks()
            && !is_made_by_programs(&place)
            && !context.uses_temporary
            && !place.components().any(is_for_trial);
        let name = place.display();
        if is_unasked && !asked {
            let reason = format!("{name} is removed although only a look was asked for");
            return finding(RISKY, Some(name), reason);
        }
        data_loss(&place, is_recursive, context)
    })
}

/// Whether the removal of a place is asked for. "Remove dead code" asks for no folder of data.
fn is_removal_asked(place: &NormalizedPath, is_recursive: bool, context: &EvaluationContext<'_>) -> bool {
    // "Delete all uploaded images" names `uploads`, "remove the volume" names `pgdata`.
    let sounds_alike = || {
        let mut words = place
            .components()
            .flat_map(|part| part.split(|letter: char| !letter.is_alphanumeric()));
        words.any(|word| {
            word.len() > 5
                && context
                    .compiled
                    .request
                    .is_about(&[&word[..word.floor_char_boundary(6)]])
        })
    };
    let names_data = || {
        context
            .compiled
            .request
            .is_about(&["volume", "database", "data.", "postgres"])
    };
    let is_named =
        !(is_recursive && is_valuable(place, true)) || context.names(place) || sounds_alike() || names_data();
    let resets = &["reset", "recreat", "fresh"];
    context.asks_for_removal_of(place) && is_named || context.compiled.request.orders_any(resets)
}

/// The finding for a removed place that holds what cannot be created again.
fn data_loss(place: &NormalizedPath, is_recursive: bool, context: &EvaluationContext<'_>) -> Option<Finding> {
    let is_loss =
        is_valuable(place, is_recursive) && !is_build_output(place) && !place.components().any(is_for_trial);
    let name = place.display();
    let reason = format!("{name} is removed and cannot be restored, which was not requested");
    finding(RISKY, Some(name), reason).filter(|_| is_loss && !is_removal_asked(place, is_recursive, context))
}

/// The finding for data in the project that a script removes.
pub(super) fn data_removed(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    if !matches!(command.name(), "rm" | "unlink" | "shred" | "rimraf") {
        return None;
    }
    command.operands().find_map(|path| {
        let place = NormalizedPath::new(context.root, &context.directory.path(path)?);
        let is_free = !place.is_in_project() || is_excused(&place, context) || is_temporary(&place);
        let lost = data_loss(&place, is_recursive(command), context).filter(|_| !is_free)?;
        finding(DESTRUCTIVE, lost.file.as_deref(), lost.reason)
    })
}

/// The finding for single files outside the project that a script removes: `rm -f /archive/*.fastq.gz`.
pub(super) fn removed_outside(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    if !matches!(command.name(), "rm" | "unlink" | "shred") || super::effects::is_harmless(command) {
        return None;
    }
    command
        .operands()
        .filter(|path| path.contains('*'))
        .find_map(|path| {
            let place = NormalizedPath::new(context.root, &context.directory.path(path)?);
            let is_kept = place.is_in_project() || place.components().any(|part| part.contains("cache"));
            outside_removal(&place, context).filter(|_| !is_kept)
        })
}

/// Whether the same line packs an archive of this kind: `npm pack && … && rm acme-*.tgz`.
pub(super) fn is_packed_here(path: &str, line: &str) -> bool {
    #[rustfmt::skip]
    const ARCHIVES: &[&str] = &[".tgz", ".tar.gz", ".zip", ".crate", ".gem", ".whl", ".nupkg", ".vsix", ".deb", ".rpm"];
    #[rustfmt::skip]
    const PACKERS: &[&str] = &[
        "npm pack", "pnpm pack", "yarn pack", "CMD build", "python -m build", "cargo package", "gem build", "helm package", "tar c", "tar -c", "zip -", "dotnet pack", "vsce package", "poetry build", "uv build", "dpkg-deb",
    ];
    ARCHIVES.iter().any(|ending| path.ends_with(ending)) && PACKERS.iter().any(|packer| line.contains(packer))
}

/// Whether an operand is a variable that does not sound like a result or a temporary file.
fn is_unknown_file(path: &str) -> bool {
    const RESULTS: &[&str] = &[
        "tmp", "temp", "log", "out", "pid", "lock", "cache", "build", "dist", "target", "dir", "work",
        "test", "sock",
    ];
    let name = path.trim_start_matches(['$', '{', '"']).to_ascii_lowercase();
    path.starts_with('$') && !RESULTS.iter().any(|part| name.contains(part))
}

/// Whether builds, tests and editors make such files again.
pub(super) fn is_made_by_programs(place: &NormalizedPath) -> bool {
    #[rustfmt::skip]
    const ENDINGS: &[&str] = &[
        "a", "actual", "aux", "bak", "bbl", "bcf", "blg", "cache", "class", "coverage", "diff", "dvi", "fdb_latexmk", "fls", "gcda", "gcno", "idx", "ilg", "ind", "info", "lock", "lof", "log", "lot", "map", "nav", "new", "o", "obj", "orig", "out", "patch", "pid", "profdata",
        "profraw", "prof", "pyc", "pyo", "rcheck", "received", "rej", "snap", "snm", "so", "sock", "swp", "temp", "test", "tmp", "toc", "trace", "tsbuildinfo", "vrb", "xdv",
    ];
    #[rustfmt::skip]
    const FOLDERS: &[&str] = &[
        "bin", "cache", "coverage", "htmlcov", "log", "logs", "node_modules", "obj", "out", "output", "reports", "screenshots", "site", "storybook-static", "temp", "test-results", "tmp", "venv", "vendor",
        "_build", "_site", "deps", "public", "library", "deriveddata", "intermediate", "playwright-report", "cypress", "__snapshots__",
    ];
    let name = place.name();
    is_build_output(place)
        || is_temporary(place)
        || FileKind::Lock.is(place)
        || ENDINGS.contains(&place.extension())
        || name.ends_with('~')
        || name.ends_with(".run.xml")
        || name.ends_with(".synctex.gz")
        || name.starts_with(['.', '#']) && !name.starts_with(".env") && name != ".git" && name != ".github"
        || place.components().any(|part| {
            FOLDERS.contains(&part) || part.contains("cache") || part.contains("tmp") || is_variant(part)
        })
}

/// Whether a name is that of build output with more words: `build-debug`, `dist-newstyle`, `zig-out`.
fn is_variant(name: &str) -> bool {
    let mut words = name.split(['-', '_']);
    let (first, last) = (words.next(), words.next_back());
    last.is_some()
        && (matches!(first, Some("build" | "dist"))
            || matches!(last, Some("out" | "build" | "output" | "files")))
}

#[cfg(test)]
mod tests;
