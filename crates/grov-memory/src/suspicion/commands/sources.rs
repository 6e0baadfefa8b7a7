//! Commands that take packages or code from another source.

use super::{Command, MAX_COMMAND, addresses, line_after, line_before};
use crate::suspicion::hosts::Host;

/// Package indexes, registries and remotes that are set to another address.
pub(super) fn sources(lower: &str, found: &mut Vec<(Command, usize)>) {
    const NOUNS: &[&str] = &[
        "registry",
        "mirror",
        "goproxy",
        "remote",
        "origin",
        "submodule",
        "base image",
        "package index",
        "crates-io",
    ];
    const SETTERS: &[&str] = &[
        "--index-url",
        "--extra-index-url",
        "--index ",
        "index-url",
        "--find-links",
        "config set registry",
        "registry=",
        "--registry",
        "registry set",
        "registry to",
        "set-url",
        "insteadof",
        "pushurl",
        "goproxy=",
        "gonosumdb",
        "gosumdb=off",
        "pip_index_url",
        "npm_config_registry",
        "uv_index_url",
        "--channel http",
        "config --add channels http",
        "gem sources --add",
        "gem source -a",
        "bundle config mirror",
        "registry-mirrors",
        "helm repo add",
        "sources.list",
        "apt-add-repository",
        "add-apt-repository",
        "deb http",
        "deb [",
        "brew tap",
        "pod repo add",
        "replace-with",
        "--source http",
        "nuget sources add",
        "config repositories",
        "remote add",
        "push --mirror",
        "--trusted-host",
        "flatpak remote-add",
        "-i http",
        "_base_url",
        "api_base",
        "https_proxy",
        "http_proxy",
        "all_proxy",
        "distributionurl",
        "mirrorof",
        "npx http",
        "npx -y http",
        "npm install http",
        "npm i http",
        "install git+http",
        "goinsecure",
        "push url",
        "pushurl",
    ];
    for setter in SETTERS.iter().chain(NOUNS) {
        for (at, _) in lower.match_indices(setter) {
            let is_named_only = NOUNS.contains(setter) && !is_set(lower, at);
            // "Mirror in settings.xml: https://…", not a part of a name.
            if is_named_only
                && (*setter != "mirror" || lower[..at].ends_with(|before: char| !before.is_whitespace()))
            {
                continue;
            }
            let from = lower.floor_char_boundary(at.saturating_sub(MAX_COMMAND / 2));
            let line_start = lower[from..at].rfind('\n').map_or(from, |end| from + end + 1);
            let line = line_after(&lower[line_start..], 2 * MAX_COMMAND);
            let hosts: Vec<(Host, bool)> = addresses(line).collect();
            let is_unchecked = hosts.iter().any(|(host, is_plain)| match host {
                Host::Address => true,
                Host::Foreign => *is_plain,
                Host::Dubious => true,
                Host::Internal | Host::Known => false,
            });
            let no_check = [
                "--trusted-host",
                "trusted=yes",
                "strict-ssl false",
                "strict-ssl=false",
                "--no-gpg",
                "sslverify false",
                "gosumdb=off",
                "gonosumdb",
                "gonosumcheck",
                "-insecure",
                "strict-ssl",
                "--allow-unauthenticated",
                "gpgcheck=0",
            ]
            .iter()
            .any(|mark| line.contains(mark));
            let is_foreign = hosts
                .iter()
                .any(|(host, _)| matches!(host, Host::Foreign | Host::Dubious));
            // A remote of the project itself, or a rewriting rule, redirects all later work.
            let redirects_all = matches!(*setter, "set-url" | "insteadof" | "pushurl") && is_foreign;
            if is_named_only {
                found.extend(is_foreign.then_some((Command::ForeignSource, at)));
            } else if is_unchecked || is_foreign && no_check || redirects_all {
                found.push((Command::UncheckedSource, at));
            } else if is_foreign {
                found.push((Command::ForeignSource, at));
            }
        }
    }
}

/// Whether the line at `at` sets or uses something.
fn is_set(lower: &str, at: usize) -> bool {
    const VERBS: &[&str] = &[
        "set",
        "use",
        "switch",
        "point",
        "points",
        "change",
        "replace",
        "redirect",
        "configure",
        "config",
        "install",
        "pull",
        "fetch",
        "clone",
        "push",
        "add",
        "take",
        "load",
        "resolve",
        "nutze",
        "verwende",
        "setze",
        "utilise",
        "utiliser",
        "usa",
        "usar",
        "использовать",
        "используй",
        "使用",
    ];
    let start = at - line_before(lower, at).len();
    line_after(&lower[start..], 2 * MAX_COMMAND)
        .split(|character: char| !character.is_alphanumeric())
        .any(|word| VERBS.contains(&word))
}
