//! The wall between the hook path and the proxy path: the crates that both may depend on, and the imports that hook
//! code must not have.
//!
//! `edges` checks each dependency alone. This module checks transitive dependencies, and the programs, which may use
//! both paths.

use super::Finding;
use crate::workspace::Package;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates of the hook path.
const HOOK_PATH: &[&str] = &["grov-hooks", "grov-drift"];
/// The crates of the proxy path.
const PROXY_PATH: &[&str] = &[
    "grov-proxy-core",
    "grov-live",
    "grov-drift-proxy",
    "grov-route-proxy",
];

/// The crates that both paths may depend on.
const SHARED: &[&str] = &[
    "grov-domain",
    "grov-redact",
    "grov-wire",
    "grov-actions",
    "grov-scope",
    "grov-rules",
    "grov-session",
    "grov-context",
    "grov-project",
    "grov-memory",
    // Both paths write logs, run tracked tasks and find the home directory; the crate contains no domain types.
    "grov-runtime",
];

/// Modules of the programs that run a hook, and the modules of their program that they import.
const RUN_HOOKS: &[&str] = &[
    "bins/grov-cli/src/assembly.rs",
    "bins/grov-cli/src/hook/",
    "bins/grov-cli/src/hook.rs",
    "bins/grov-proxyd/src/hooks.rs",
    "bins/grov-proxyd/src/hooks/",
];

/// The imports that such a module may have in spite of the wall: the daemon serves hooks on an admin route.
const ADMIN_ROUTE: (&str, &str, &[&str]) = (
    "bins/grov-proxyd/src/hooks",
    "grov_proxy_core",
    &["AdminRoute", "AdminResponse", "AdminRequest"],
);

/// Checks what the crates of both paths depend on, directly or not.
pub(crate) fn closures(packages: &[Package]) -> Vec<Finding> {
    let edges: BTreeMap<&str, Vec<&str>> = packages
        .iter()
        .map(|package| {
            let shipped = package.dependencies.iter().filter(|dependency| !dependency.dev);
            let names = shipped.map(|dependency| dependency.name.as_str()).collect();
            (package.name.as_str(), names)
        })
        .collect();
    let (hooks, proxy) = (closure(&edges, HOOK_PATH), closure(&edges, PROXY_PATH));
    let shared = hooks.intersection(&proxy);
    shared
        .filter(|name| !SHARED.contains(name))
        .map(|name| {
            Finding::new(
                *name,
                "both the hook path and the proxy path depend on it: they share the pure crates, grov-project, grov-memory and \
                 grov-runtime, no more",
            )
        })
        .collect()
}

/// The workspace crates that these depend on, directly or not, including themselves.
fn closure<'a>(edges: &BTreeMap<&'a str, Vec<&'a str>>, from: &[&'a str]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut left = from.to_vec();
    while let Some(name) = left.pop() {
        // A package that is not a workspace member is a library.
        if let Some(next) = edges.get(name)
            && reached.insert(name)
        {
            left.extend(next);
        }
    }
    reached
}

/// Checks that a module that runs a hook does not import from the proxy path.
pub(crate) fn imports(file: &Path, text: &str) -> Vec<Finding> {
    let path = file.to_string_lossy();
    if !RUN_HOOKS.iter().any(|module| path.starts_with(module)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for krate in PROXY_PATH.iter().map(|name| name.replace('-', "_")) {
        for (number, line) in named(text, &krate) {
            if !imports_admin_route(&path, &krate, &statement(text, number)) {
                findings.push(Finding::new(
                    format!("{path}:{number}"),
                    format!("runs a hook and names `{krate}`: {}", line.trim()),
                ));
            }
        }
    }
    findings
}

/// The code lines that name a crate, counted from 1.
fn named<'a>(text: &'a str, krate: &str) -> Vec<(usize, &'a str)> {
    let is_named = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        code.match_indices(krate).any(|(place, _)| {
            let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            ends(code[..place].chars().next_back()) && ends(code[place + krate.len()..].chars().next())
        })
    };
    let lines = text.lines().zip(1..).map(|(line, number)| (number, line));
    lines.filter(|(_, line)| is_named(line)).collect()
}

/// The statement that starts on a line.
fn statement(text: &str, number: usize) -> String {
    let mut statement = String::new();
    for line in text.lines().skip(number - 1) {
        statement.push_str(line.trim());
        if line.contains(';') {
            break;
        }
    }
    statement
}

/// Whether a statement imports the admin route types, and nothing else.
fn imports_admin_route(path: &str, krate: &str, statement: &str) -> bool {
    let (module, route, names) = ADMIN_ROUTE;
    let imported = statement
        .strip_prefix("use ")
        .and_then(|rest| rest.strip_prefix(krate)?.strip_prefix("::"));
    let Some(imported) = imported.filter(|_| path.starts_with(module) && krate == route) else {
        return false;
    };
    imported
        .trim_matches(|c| matches!(c, '{' | '}' | ';'))
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .all(|name| names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;
    use std::path::PathBuf;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            manifest: PathBuf::new(),
            dependencies: dependencies
                .iter()
                .map(|name| Dependency {
                    name: (*name).to_owned(),
                    dev: name.starts_with("dev-"),
                })
                .collect(),
            roots: Vec::new(),
            examples: Vec::new(),
        }
    }

    /// Both paths, and the crates between them.
    fn shared_by(between: &str) -> Vec<Finding> {
        closures(&[
            package("grov-drift", &["grov-hooks", between]),
            package("grov-hooks", &["grov-memory", "serde"]),
            package("grov-proxy-core", &["grov-runtime", "serde"]),
            package("grov-drift-proxy", &["grov-proxy-core", "grov-above"]),
            package("grov-above", &["grov-between"]),
            package("grov-between", &["grov-domain"]),
            package("grov-memory", &["grov-domain"]),
            package("grov-runtime", &[]),
            package("grov-domain", &[]),
        ])
    }

    #[test]
    fn transitively_shared_crates_are_found() {
        assert_eq!(shared_by("grov-runtime"), []);
        assert_eq!(shared_by("grov-elsewhere"), []);
        let found = shared_by("grov-between");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "grov-between");
        let found = shared_by("grov-drift-proxy");
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(
            places,
            [
                "grov-above",
                "grov-between",
                "grov-drift-proxy",
                "grov-proxy-core"
            ]
        );
    }

    #[test]
    fn a_hook_module_that_names_the_proxy_is_found_with_its_line() {
        let text = "use std::fs;\nuse grov_proxy_core::Proxy;\n";
        let found = imports(Path::new("bins/grov-cli/src/hook.rs"), text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "bins/grov-cli/src/hook.rs:2");
        let path = "fn f() { let _ = grov_drift_proxy::Drift::new(); }\n";
        assert_eq!(imports(Path::new("bins/grov-proxyd/src/hooks.rs"), path).len(), 1);
        let elsewhere = Path::new("bins/grov-cli/src/commands/demo.rs");
        assert_eq!(imports(elsewhere, text), []);
        let words = "// as in grov_proxy_core\nlet grov_proxy_core_like = 1;\n";
        assert_eq!(imports(Path::new("bins/grov-cli/src/hook.rs"), words), []);
    }

    #[test]
    fn the_daemon_may_import_the_admin_route_types_and_nothing_else() {
        let hooks = Path::new("bins/grov-proxyd/src/hooks.rs");
        let route = "use grov_proxy_core::{AdminRoute, AdminResponse,\n    AdminRequest};\n";
        assert_eq!(imports(hooks, route), []);
        assert_eq!(
            imports(hooks, "use grov_proxy_core::{AdminRoute, Recorder};\n").len(),
            1
        );
        assert_eq!(imports(Path::new("bins/grov-cli/src/hook.rs"), route).len(), 1);
    }
}
