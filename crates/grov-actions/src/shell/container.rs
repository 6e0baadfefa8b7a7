//! The effects on this machine of commands in a container: those on mounted folders.

use crate::has_word;
use crate::shell::wrapper_command::WrapperCommand;
use grov_domain::{Argument, Program, Role};

/// Programs whose arguments are paths and which affect nothing else.
const FILE_PROGRAMS: &str = "rm rmdir unlink rimraf shred trash find mv cp ln tee touch mkdir truncate chmod chown chgrp sed dd \
      install rsync mkfs";

/// Whether a program affects nothing but the files in its arguments.
pub(crate) fn is_about_files(program: &str) -> bool {
    has_word(FILE_PROGRAMS, program)
}

/// Adds the programs that run in a container, with their paths replaced by the corresponding paths of the host.
/// Programs that only affect files of the container are left out.
pub(crate) fn map_to_host(inside: Vec<Program>, wrapper: &WrapperCommand, seen: &mut Vec<Program>) {
    let first = seen.len();
    let mut folder = wrapper.folder.clone();
    // The new numbers of the programs.
    let mut numbers: Vec<Option<usize>> = Vec::new();
    for mut program in inside {
        if matches!(program.name(), "cd" | "pushd") {
            let to = program.operands().next();
            folder = to.and_then(|to| container_path(folder.as_deref(), to));
            numbers.push(None);
            continue;
        }
        let outside = |path: &str| -> Vec<String> {
            let inside = container_path(folder.as_deref(), path);
            inside
                .map(|inside| host_paths(&inside, wrapper))
                .unwrap_or_default()
        };
        program.targets = program.targets.iter().flat_map(|path| outside(path)).collect();
        program.changes = program.changes.iter().flat_map(|path| outside(path)).collect();
        if is_about_files(program.name()) {
            let mut touches = false;
            let mut arguments = Vec::new();
            for argument in std::mem::take(&mut program.arguments) {
                if argument.role == Role::Option {
                    arguments.push(argument);
                    continue;
                }
                let (option, path) = match argument.text.strip_prefix("of=") {
                    Some(path) => ("of=", path),
                    None => ("", argument.as_str()),
                };
                let mut paths = outside(path);
                if paths.is_empty() && wrapper.is_running && removes(&program.word) {
                    paths.extend(data_folder(folder.as_deref(), path));
                }
                touches |= !paths.is_empty();
                arguments.extend(paths.into_iter().map(|path| Argument {
                    text: format!("{option}{path}"),
                    ..argument.clone()
                }));
            }
            program.arguments = arguments;
            if !touches && program.targets.is_empty() {
                numbers.push(None);
                continue;
            }
        }
        let moved = |number: usize| match number.checked_sub(first) {
            Some(inside) => numbers.get(inside).copied().flatten(),
            None => Some(number),
        };
        program.source = program.source.and_then(moved);
        for argument in &mut program.arguments {
            let left: Vec<usize> = argument.output_of.clone().filter_map(moved).collect();
            argument.output_of = match (left.first(), left.last()) {
                (Some(first), Some(last)) => *first..last + 1,
                _ => 0..0,
            };
        }
        numbers.push(Some(seen.len()));
        seen.push(program);
    }
}

fn removes(program: &str) -> bool {
    has_word(
        "rm rimraf shred find truncate",
        program.rsplit('/').next().unwrap_or(program),
    )
}

/// The path in a running container if it is in a folder where images keep their data, which is mostly mounted.
fn data_folder(folder: Option<&str>, path: &str) -> Option<String> {
    #[rustfmt::skip]
    const DATA: &[&str] = &[
        "/backup", "/backups", "/bitnami", "/config", "/data", "/media", "/mnt", "/opt/data", "/srv", "/storage", "/uploads", "/var/lib", "/var/backups", "/var/opt", "/var/spool",
    ];
    // Lists of packages are fetched again.
    const CACHES: &[&str] = &["/var/lib/apt", "/var/lib/dnf", "/var/lib/yum"];
    let path = container_path(folder, path)?;
    let bare = path.trim_end_matches("/*").trim_end_matches('/');
    let is_below = |folders: &[&str]| {
        let mut rests = folders.iter().filter_map(|folder| bare.strip_prefix(folder));
        rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    (bare.is_empty() || bare == "/var" || is_below(DATA) && !is_below(CACHES)).then_some(path)
}

/// The absolute path in the container; `None` if the folder is unknown.
fn container_path(folder: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return Some(path.to_owned());
    }
    let path = path.trim_start_matches("./");
    let folder = folder?.trim_end_matches('/');
    Some(match path {
        "" | "." => folder.to_owned(),
        path => format!("{folder}/{path}"),
    })
}

/// The paths of the host that correspond to a path in the container.
fn host_paths(path: &str, wrapper: &WrapperCommand) -> Vec<String> {
    let all = path.strip_suffix("/*");
    let bare = all.unwrap_or(path).trim_end_matches('/');
    let mounts = wrapper.mounts.iter().filter_map(|(host, target)| {
        let target = target.trim_end_matches('/');
        let host = host_folder(host)?;
        let rest = match bare.strip_prefix(target) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
            // The path contains the mounted folder.
            _ if bare.is_empty() || target.starts_with(&format!("{bare}/")) => "",
            _ => return None,
        };
        let path = match (host.trim_end_matches('/'), rest) {
            ("", "") => "/".to_owned(),
            (host, "") => host.to_owned(),
            (".", rest) => rest.trim_start_matches('/').to_owned(),
            (host, rest) => format!("{host}{rest}"),
        };
        Some(match all {
            Some(_) => format!("{}/*", path.trim_end_matches('/')),
            None => path,
        })
    });
    mounts.collect()
}

/// The mounted folder of the host; `None` for a named volume.
fn host_folder(host: &str) -> Option<String> {
    let host = ["$(pwd)", "${PWD}", "$PWD", "`pwd`"]
        .iter()
        .find_map(|here| host.strip_prefix(here).map(|rest| format!(".{rest}")))
        .unwrap_or_else(|| host.to_owned());
    let host = host.strip_prefix("./").map_or(host.clone(), |rest| match rest {
        "" => ".".to_owned(),
        rest => rest.to_owned(),
    });
    let is_folder = host.starts_with(['/', '.', '~', '$']) || host.contains('/');
    is_folder.then_some(host)
}
