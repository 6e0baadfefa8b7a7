//! The variables that send a client's requests to the proxy.

use super::BASE_URL;
use crate::commands::registration::client_folder;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::note;
use grov_ca::CaFiles;
use grov_domain::{Clock, SystemClock};
use grov_hooks::settings::{Route, Scope, SettingsFile, inspect, loopback_exceptions, route, settings_path};
use grov_runtime::Environment;
use std::path::{Path, PathBuf};

/// Both spellings are in use.
const PROXY_VARIABLES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const CA_VARIABLE: &str = "NODE_EXTRA_CA_CERTS";

/// For a client that takes the proxy's address as its base URL: the same as `grov init --proxy` sets.
pub(super) fn for_base_url(environment: &Environment, url: &str) -> Vec<(String, String)> {
    let variable = |name: &str| environment.get(name)?.to_str().map(str::to_owned);
    let to = Route {
        url,
        project: None,
        token: None,
    };
    // An empty file cannot be malformed.
    let routed = route("", variable, &[], to).unwrap_or_default();
    for message in &routed.notes {
        note!("{message}");
    }
    routed.environment
}

/// For a client that connects to the API through the CONNECT proxy at `url`, and trusts the certificates in `bundle`.
pub(super) fn for_connect_proxy(
    environment: &Environment,
    url: &str,
    bundle: &Path,
) -> Vec<(String, String)> {
    // With a proxy set, so that loopback is added to the exceptions.
    let proxied = |name: &str| match name {
        "HTTPS_PROXY" => Some(url.to_owned()),
        name => environment.get(name)?.to_str().map(str::to_owned),
    };
    // An empty file cannot be malformed.
    let mut variables = loopback_exceptions("", proxied).unwrap_or_default();
    variables.extend(PROXY_VARIABLES.map(|name| (name.to_owned(), url.to_owned())));
    variables.push((CA_VARIABLE.to_owned(), bundle.to_string_lossy().into_owned()));
    variables
}

/// A file with Grov's certificates, and with those of the user's own file if there is one.
///
/// # Errors
/// Grov's file cannot be read, or the common one cannot be written.
pub(super) fn certificates(context: &Context, environment: &Environment) -> Result<PathBuf, Failure> {
    let files = CaFiles::new(context.home.certificate_authority());
    let own = files.bundle();
    let users = environment.get(CA_VARIABLE).map(PathBuf::from);
    let Some(users) = users.filter(|path| !path.starts_with(files.directory())) else {
        return Ok(own);
    };
    let Ok(more) = std::fs::read_to_string(&users) else {
        // The client would start without it too.
        note!(
            "warning: {CA_VARIABLE} names {}, which cannot be read",
            users.display()
        );
        return Ok(own);
    };
    Ok(files.write_bundle_with(&more, SystemClock.now())?)
}

/// Warns of settings files of the client that override a variable.
pub(super) fn warn_of_overrides(context: &Context, variables: &[(String, String)]) {
    let environment = Environment::of_process();
    let Ok(folder) = client_folder(&environment) else {
        return;
    };
    let project = context.top().unwrap_or_else(|| folder.clone());
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let path = settings_path(scope, &folder, &project);
        // Problems of the file are for the client to report.
        let Ok(file) = SettingsFile::read(&path) else {
            continue;
        };
        let Ok(settings) = inspect(file.text()) else {
            continue;
        };
        let has_base_url = settings
            .environment
            .get(BASE_URL)
            .is_some_and(|url| !url.is_empty());
        if has_base_url && !variables.iter().any(|(name, _)| name == BASE_URL) {
            note!(
                "warning: {} sets {BASE_URL}, so the client does not connect to the API itself; `grov unregister` removes it if Grov set it",
                path.display()
            );
        }
        for (name, value) in variables {
            let set = settings.environment.get(name);
            if set.is_some_and(|set| set != value) {
                note!(
                    "warning: {} sets {name}, which the client prefers: its requests do not go to this proxy; `grov unregister` removes it if Grov set it",
                    path.display()
                );
            }
        }
    }
}
