//! Allowed dependencies between crates. The table is the architecture: a crate that is missing from it, or an edge that
//! points up, is a finding.

use super::Finding;
use crate::workspace::Package;
use std::collections::BTreeSet;

/// The layer of a crate. Dependencies point down only: binaries, the hook path, read models and edges, effects, pure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    /// Computes and does no I/O.
    Pure,
    /// Does one kind of I/O, as the implementation of a port.
    Effects,
    /// The proxy as a library: it depends on `grov-wire` and no other crate of Grov.
    Proxy,
    /// Handles the client's requests on the wire.
    ProxyEdge,
    /// The client's hook protocol and its settings file.
    HookEdge,
    /// Read models of stored data.
    Query,
    /// The requests of the agent service's clients.
    ServiceEdge,
    /// Answers agents from read models.
    AgentEdge,
    /// Pages for a browser, over read models.
    Pages,
    /// Runs external tools with the effects of other crates.
    Tools,
    /// Answers hooks, for the programs that run them.
    HookPath,
    /// Wires the others together and has an exit code.
    Binary,
    /// Tests, simulation and tools: may depend on everything, and no shipped crate depends on it.
    Development,
}

struct Crate {
    name: &'static str,
    layer: Layer,
    /// Workspace crates that it must not depend on although its layer would allow it.
    must_not_use: &'static [&'static str],
}

const EVERYTHING: &[&str] = &["*"];

const CRATES: &[Crate] = &[
    Crate {
        name: "grov-domain",
        layer: Layer::Pure,
        // All but grov-redact: the ports take `Redacted` values.
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-redact",
        layer: Layer::Pure,
        must_not_use: EVERYTHING,
    },
    Crate {
        name: "grov-wire",
        layer: Layer::Pure,
        must_not_use: EVERYTHING,
    },
    Crate {
        name: "grov-actions",
        layer: Layer::Pure,
        must_not_use: &[],
    },
    Crate {
        name: "grov-scope",
        layer: Layer::Pure,
        must_not_use: &["grov-wire", "grov-redact", "grov-rules"],
    },
    Crate {
        name: "grov-rules",
        layer: Layer::Pure,
        must_not_use: &["grov-wire", "grov-actions", "grov-session", "grov-context"],
    },
    Crate {
        name: "grov-route",
        layer: Layer::Pure,
        must_not_use: &[
            "grov-actions",
            "grov-domain",
            "grov-rules",
            "grov-scope",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-session",
        layer: Layer::Pure,
        must_not_use: &["grov-wire", "grov-actions", "grov-rules", "grov-context"],
    },
    Crate {
        name: "grov-context",
        layer: Layer::Pure,
        must_not_use: &["grov-wire", "grov-actions"],
    },
    Crate {
        name: "grov-agent",
        layer: Layer::Pure,
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-route",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-agent-store",
        layer: Layer::Effects,
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-route",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-agent-http",
        layer: Layer::ServiceEdge,
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-route",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-runtime",
        layer: Layer::Effects,
        must_not_use: &["grov-domain", "grov-wire", "grov-actions"],
    },
    Crate {
        name: "grov-serve",
        layer: Layer::Effects,
        must_not_use: EVERYTHING,
    },
    Crate {
        name: "grov-project",
        layer: Layer::Effects,
        must_not_use: &["grov-wire", "grov-actions"],
    },
    Crate {
        name: "grov-ca",
        layer: Layer::Effects,
        must_not_use: &["grov-domain", "grov-wire", "grov-actions", "grov-session"],
    },
    Crate {
        name: "grov-plans",
        layer: Layer::Effects,
        must_not_use: &["grov-domain", "grov-wire", "grov-actions", "grov-session"],
    },
    Crate {
        name: "grov-store",
        layer: Layer::Effects,
        must_not_use: &["grov-wire", "grov-actions"],
    },
    Crate {
        name: "grov-llm",
        layer: Layer::Effects,
        must_not_use: &["grov-wire"],
    },
    Crate {
        name: "grov-link",
        layer: Layer::Effects,
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-session",
            "grov-agent",
        ],
    },
    Crate {
        name: "grov-cost",
        layer: Layer::Effects,
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-memory",
        layer: Layer::Effects,
        must_not_use: &["grov-wire"],
    },
    Crate {
        name: "grov-proxy-core",
        layer: Layer::Proxy,
        must_not_use: &[],
    },
    Crate {
        name: "grov-telemetry",
        layer: Layer::Effects,
        must_not_use: &["grov-wire", "grov-actions", "grov-session"],
    },
    Crate {
        name: "grov-live",
        layer: Layer::ProxyEdge,
        must_not_use: &["grov-store", "grov-llm"],
    },
    Crate {
        name: "grov-drift-proxy",
        layer: Layer::ProxyEdge,
        must_not_use: &["grov-store", "grov-llm", "grov-wire"],
    },
    Crate {
        name: "grov-route-proxy",
        layer: Layer::ProxyEdge,
        must_not_use: &["grov-store", "grov-llm", "grov-wire"],
    },
    Crate {
        name: "grov-mitm",
        layer: Layer::ProxyEdge,
        // Sockets and certificates: it knows no sessions.
        must_not_use: &[
            "grov-domain",
            "grov-store",
            "grov-llm",
            "grov-wire",
            "grov-memory",
            "grov-session",
            "grov-live",
        ],
    },
    Crate {
        name: "grov-hooks",
        layer: Layer::HookEdge,
        must_not_use: &[
            "grov-store",
            "grov-llm",
            "grov-wire",
            "grov-memory",
            "grov-project",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-query",
        layer: Layer::Query,
        must_not_use: &[
            "grov-store",
            "grov-llm",
            "grov-runtime",
            "grov-project",
            "grov-wire",
        ],
    },
    Crate {
        name: "grov-mcp",
        layer: Layer::AgentEdge,
        must_not_use: &[
            "grov-store",
            "grov-llm",
            "grov-runtime",
            "grov-wire",
            "grov-scope",
        ],
    },
    Crate {
        name: "grov-dashboard",
        layer: Layer::Pages,
        must_not_use: &[
            "grov-store",
            "grov-llm",
            "grov-project",
            "grov-wire",
            "grov-actions",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-drift",
        layer: Layer::HookPath,
        must_not_use: &["grov-wire", "grov-store", "grov-llm"],
    },
    Crate {
        name: "grov-tools",
        layer: Layer::Pure,
        must_not_use: &[
            "grov-wire",
            "grov-actions",
            "grov-scope",
            "grov-rules",
            "grov-session",
        ],
    },
    Crate {
        name: "grov-tools-run",
        layer: Layer::Tools,
        must_not_use: &[
            "grov-store",
            "grov-wire",
            "grov-actions",
            "grov-session",
            "grov-project",
        ],
    },
    Crate {
        name: "grov-proxyd",
        layer: Layer::Binary,
        must_not_use: &["grov-sim", "grov-hooks"],
    },
    Crate {
        name: "grov-agentd",
        layer: Layer::Binary,
        // It shares the runtime, the providers and the domain with the other programs, not their paths.
        must_not_use: &[
            "grov-sim",
            "grov-hooks",
            "grov-drift",
            "grov-proxy-core",
            "grov-live",
            "grov-drift-proxy",
            "grov-route-proxy",
            "grov-store",
            "grov-query",
        ],
    },
    Crate {
        name: "grov-cli",
        layer: Layer::Binary,
        must_not_use: &[],
    },
    Crate {
        name: "grov-sim",
        layer: Layer::Development,
        must_not_use: &["grov-store", "grov-proxy-core"],
    },
    Crate {
        name: "grov-tests",
        layer: Layer::Development,
        must_not_use: &[],
    },
    Crate {
        name: "grov-fuzz",
        layer: Layer::Development,
        must_not_use: &[],
    },
    Crate {
        name: "xtask",
        layer: Layer::Development,
        must_not_use: EVERYTHING,
    },
];

/// Libraries that only some crates may use, so that each purpose is served in one place.
const LIBRARIES: &[(&[&str], &[&str], &str)] = &[
    (
        &["sqlx"],
        &["grov-store", "grov-agent-store"],
        "SQL stays in the crates that implement the store ports",
    ),
    (
        &["hyper", "hyper-util"],
        &["grov-proxy-core", "grov-mitm", "grov-sim", "grov-agent-http"],
        "HTTP is served by the proxy, the CONNECT proxy, the simulated upstream and the agent service's edge",
    ),
    (
        &["axum", "utoipa-swagger-ui"],
        &["grov-agent-http", "grov-dashboard"],
        "routes belong to the agent service's edge and to the dashboard",
    ),
    (
        &["rmcp"],
        &["grov-mcp"],
        "its interface changes often, so that one crate wraps it",
    ),
    (
        &["reqwest"],
        &["grov-llm", "grov-link", "grov-agentd"],
        "calls to models are made in grov-llm alone; links call the agent service, which posts its webhook",
    ),
    (
        &["anyhow"],
        &["grov-agentd", "grov-cli", "grov-proxyd", "grov-tests", "xtask"],
        "libraries name their errors; only programs may erase them",
    ),
    (
        &["clap", "clap_complete"],
        &["grov-agentd", "grov-cli", "grov-proxyd", "grov-sim"],
        "command lines belong to the binaries",
    ),
];

/// Libraries that a crate without I/O must not use.
const IO_LIBRARIES: &[&str] = &[
    "tokio",
    "hyper",
    "hyper-util",
    "sqlx",
    "axum",
    "reqwest",
    "rustls",
    "tokio-rustls",
    "tempfile",
];

/// `grov demo` plays a session against the simulated upstream, which is the only shipped use of it.
const DEMO: (&str, &str) = ("grov-cli", "grov-sim");

fn row(name: &str) -> Option<&'static Crate> {
    CRATES.iter().find(|row| row.name == name)
}

/// Why `from` may not depend on `to`, both crates of the workspace.
fn forbidden(from: &Crate, to: &Crate) -> Option<String> {
    if from.must_not_use.contains(&to.name) || from.must_not_use == EVERYTHING {
        return Some(format!("may not use {}", to.name));
    }
    if (from.name, to.name) == DEMO {
        return None;
    }
    let allowed = match from.layer {
        Layer::Pure => to.layer == Layer::Pure,
        // Effects crates are connected only through ports, in a binary.
        // So are they and the service's edge.
        Layer::Effects | Layer::ServiceEdge => to.layer == Layer::Pure,
        // The wall: crates of the proxy path and crates of the hook path must not depend on each other.
        Layer::ProxyEdge | Layer::HookEdge => {
            matches!(to.layer, Layer::Pure | Layer::Effects)
                || to.layer == from.layer
                || (from.layer, to.layer) == (Layer::ProxyEdge, Layer::Proxy)
        }
        Layer::Proxy => to.name == "grov-wire",
        Layer::Query | Layer::Tools => matches!(to.layer, Layer::Pure | Layer::Effects),
        Layer::AgentEdge => matches!(to.layer, Layer::Pure | Layer::Effects | Layer::Query),
        Layer::Pages => matches!(to.layer, Layer::Pure | Layer::Effects | Layer::Query),
        Layer::HookPath => matches!(
            to.layer,
            Layer::Pure | Layer::Effects | Layer::HookEdge | Layer::Query
        ),
        Layer::Binary => !matches!(to.layer, Layer::Binary | Layer::Development),
        Layer::Development => true,
    };
    (!allowed).then(|| {
        format!(
            "a crate of the {:?} layer may not depend on {} ({:?})",
            from.layer, to.name, to.layer
        )
    })
}

/// Checks every declared dependency, except those for tests, benches and examples.
pub(crate) fn check(packages: &[Package]) -> Vec<Finding> {
    let members: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let Some(from) = row(&package.name) else {
            findings.push(Finding::new(
                &package.name,
                "has no layer yet: add it to the table in xtask/src/tidy/edges.rs",
            ));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| !dependency.dev) {
            let name = dependency.name.as_str();
            if members.contains(name) {
                let reason = row(name).and_then(|to| forbidden(from, to));
                findings.extend(reason.map(|reason| Finding::new(&package.name, reason)));
            } else {
                findings.extend(library(from, name).map(|reason| Finding::new(&package.name, reason)));
            }
        }
    }
    findings
}

/// Why `from` may not use the library `name`.
fn library(from: &Crate, name: &str) -> Option<String> {
    if from.layer == Layer::Pure && IO_LIBRARIES.contains(&name) {
        return Some(format!("a pure crate does no I/O and has no use for `{name}`"));
    }
    let (_, users, reason) = LIBRARIES
        .iter()
        .find(|(libraries, ..)| libraries.contains(&name))?;
    (!users.contains(&from.name)).then(|| format!("may not use `{name}`: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;
    use std::path::PathBuf;

    fn package(name: &str, dependencies: &[(&str, bool)]) -> Package {
        Package {
            name: name.to_owned(),
            manifest: PathBuf::new(),
            dependencies: dependencies
                .iter()
                .map(|&(name, dev)| Dependency {
                    name: name.to_owned(),
                    dev,
                })
                .collect(),
            roots: Vec::new(),
            examples: Vec::new(),
        }
    }

    /// The findings if `from` depends only on `to`, with every crate of the table in the workspace.
    fn findings(from: &str, to: &str, dev: bool) -> Vec<Finding> {
        let mut packages: Vec<Package> = CRATES
            .iter()
            .filter(|row| row.name != from)
            .map(|row| package(row.name, &[]))
            .collect();
        packages.push(package(from, &[(to, dev)]));
        check(&packages)
    }

    #[test]
    fn dependencies_on_lower_layers_pass() {
        for (from, to) in [
            ("grov-domain", "grov-redact"),
            ("grov-store", "grov-redact"),
            ("grov-proxy-core", "grov-wire"),
            ("grov-live", "grov-proxy-core"),
            ("grov-live", "grov-actions"),
            ("grov-route-proxy", "grov-route"),
            ("grov-route-proxy", "grov-proxy-core"),
            ("grov-live", "grov-runtime"),
            ("grov-hooks", "grov-redact"),
            ("grov-cli", "grov-hooks"),
            ("grov-drift", "grov-hooks"),
            ("grov-drift", "grov-query"),
            ("grov-dashboard", "grov-query"),
            ("grov-proxyd", "grov-dashboard"),
            ("grov-drift", "grov-plans"),
            ("grov-query", "grov-memory"),
            ("grov-cli", "grov-query"),
            ("grov-tools", "grov-route"),
            ("grov-tools-run", "grov-llm"),
            ("grov-tools-run", "grov-plans"),
            ("grov-cli", "grov-tools-run"),
            ("grov-proxyd", "grov-drift"),
            ("grov-proxyd", "grov-store"),
            ("grov-cli", "grov-sim"),
            ("grov-tests", "grov-store"),
            ("grov-agent-http", "grov-agent"),
            ("grov-agent-store", "grov-agent"),
            ("grov-agentd", "grov-llm"),
            ("grov-agentd", "grov-serve"),
            ("grov-proxyd", "grov-serve"),
        ] {
            assert_eq!(findings(from, to, false), [], "{from} -> {to}");
        }
    }

    #[test]
    fn dependencies_up_or_across_are_found() {
        for (from, to) in [
            ("grov-domain", "grov-wire"),
            ("grov-domain", "grov-actions"),
            ("grov-domain", "grov-scope"),
            ("grov-domain", "grov-session"),
            ("grov-redact", "grov-domain"),
            ("grov-wire", "grov-store"),
            ("grov-wire", "grov-domain"),
            ("grov-store", "grov-project"),
            ("grov-plans", "grov-project"),
            ("grov-plans", "grov-domain"),
            ("grov-runtime", "grov-domain"),
            ("grov-proxy-core", "grov-domain"),
            ("grov-proxy-core", "grov-runtime"),
            ("grov-memory", "grov-proxy-core"),
            ("grov-proxy-core", "grov-live"),
            ("grov-live", "grov-store"),
            ("grov-proxy-core", "grov-proxyd"),
            ("grov-hooks", "grov-proxy-core"),
            ("grov-hooks", "grov-drift-proxy"),
            ("grov-drift", "grov-route-proxy"),
            ("grov-route-proxy", "grov-store"),
            ("grov-proxy-core", "grov-route"),
            ("grov-proxy-core", "grov-hooks"),
            ("grov-hooks", "grov-store"),
            ("grov-memory", "grov-hooks"),
            ("grov-drift", "grov-proxy-core"),
            ("grov-drift", "grov-drift-proxy"),
            ("grov-drift", "grov-sim"),
            ("grov-dashboard", "grov-store"),
            ("grov-dashboard", "grov-proxy-core"),
            ("grov-drift", "grov-store"),
            ("grov-drift", "grov-llm"),
            ("grov-hooks", "grov-drift"),
            ("grov-hooks", "grov-query"),
            ("grov-proxy-core", "grov-query"),
            ("grov-query", "grov-hooks"),
            ("grov-query", "grov-proxy-core"),
            ("grov-query", "grov-store"),
            ("grov-query", "grov-llm"),
            ("grov-proxy-core", "grov-drift"),
            ("grov-tools", "grov-llm"),
            ("grov-tools-run", "grov-store"),
            ("grov-tools-run", "grov-hooks"),
            ("grov-drift", "grov-tools-run"),
            ("grov-proxyd", "grov-sim"),
            ("grov-proxyd", "grov-hooks"),
            ("grov-proxyd", "grov-tests"),
            ("grov-cli", "grov-proxyd"),
            ("xtask", "grov-domain"),
            ("grov-agent", "grov-agent-store"),
            ("grov-agent-http", "grov-agent-store"),
            ("grov-agent-store", "grov-runtime"),
            ("grov-agentd", "grov-store"),
            ("grov-proxy-core", "grov-agent"),
            ("grov-proxy-core", "grov-serve"),
            ("grov-drift", "grov-proxyd"),
        ] {
            assert_eq!(findings(from, to, false).len(), 1, "{from} -> {to}");
        }
    }

    #[test]
    fn dev_dependencies_are_unrestricted() {
        assert_eq!(findings("grov-proxy-core", "grov-sim", true), []);
        assert_eq!(findings("grov-wire", "tokio", true), []);
    }

    #[test]
    fn libraries_outside_of_their_crates_are_found() {
        for (from, library) in [
            ("grov-proxyd", "sqlx"),
            ("grov-cli", "hyper"),
            ("grov-proxyd", "hyper-util"),
            ("grov-store", "anyhow"),
            ("grov-runtime", "clap"),
            ("grov-wire", "tokio"),
            ("grov-agentd", "axum"),
            ("grov-agent", "axum"),
        ] {
            assert_eq!(findings(from, library, false).len(), 1, "{from} -> {library}");
        }
        assert_eq!(findings("grov-store", "sqlx", false), []);
        assert_eq!(findings("grov-proxy-core", "hyper", false), []);
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        let found = check(&[package("grov-new", &[])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("no layer"), "{found:?}");
    }
}
