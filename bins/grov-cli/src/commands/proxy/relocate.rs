//! `grov proxy move`: for a port that another program has taken.

use crate::arguments::DaemonFlags;
use crate::context::Context;
use crate::daemon_health;
use crate::daemon_start::DaemonStart;
use crate::failure::Failure;
use crate::output::{Outcome, note};
use crate::own_command;
use crate::table::one_line;
use grov_hooks::settings::{Registry, SettingsFile, inspect, routed_to};
use grov_runtime::{Environment, Url};
use serde::Serialize;
use std::fs::File;
use std::path::PathBuf;
use std::time::SystemTime;

/// The settings file that applies to all projects has this name; that of one project another one.
const USER_FILE: &str = "settings.json";

#[derive(Serialize)]
struct Answer {
    /// Where the proxy listens.
    url: String,
    /// The settings files that make clients send requests there.
    files: Vec<String>,
}

/// A settings file in which `grov init --proxy` set the base URL.
struct Routed {
    path: PathBuf,
    url: String,
    has_http_hooks: bool,
}

/// Starts the daemon on a free port unless it runs, and makes the registered clients use it.
pub(crate) fn run(context: &Context) -> Outcome {
    let files = routed_files(context)?;
    if files.is_empty() {
        let message = "no settings file sends requests to the proxy, so there is nothing to move";
        let hint =
            "`grov run -- claude` finds a free port by itself; `grov init --proxy` registers the proxy";
        return Err(Failure::negative("proxy", message).hint(hint));
    }
    let mut proxy = daemon_health::query(&context.home);
    if !proxy.running {
        let flags = DaemonFlags {
            port: Some("0".to_owned()),
            ..DaemonFlags::default()
        };
        let start = DaemonStart::new(&context.home, &flags, &Environment::of_process())?;
        // Hooks run this command.
        (proxy, _) = start.for_hook(true).run()?;
    }
    let unknown = || Failure::error("proxy", "the proxy's address is not known");
    let url = proxy.base_url.ok_or_else(unknown)?;
    let port = Url::parse(&url).map_err(|_| unknown())?.port();
    if context.settings.proxy().port != port {
        let port = port.to_string();
        own_command::run(&context.common, None, &["config", "set", "proxy.port", &port])?;
    }
    for file in &files {
        point(context, file, &url)?;
    }
    let files = files.iter().map(|file| file.path.to_string_lossy().into_owned());
    let answer = Answer {
        url,
        files: files.collect(),
    };
    context.answer(answer, |answer, style| {
        let mut text = format!("the proxy listens at {}\n", style.bold(&answer.url));
        for file in &answer.files {
            text.push_str(&format!("{} sends requests there\n", one_line(file)));
        }
        text
    })
}

/// Whether a settings file sends requests to the proxy, so that moving the proxy moves its clients.
pub(crate) fn has_clients(context: &Context) -> bool {
    routed_files(context).is_ok_and(|files| !files.is_empty())
}

fn routed_files(context: &Context) -> Result<Vec<Routed>, Failure> {
    let registry = Registry::read(context.home.root())?;
    let mut routed = Vec::new();
    for path in registry.files() {
        let file = SettingsFile::read(path)?;
        let malformed = |error| Failure::from(file.malformed(error));
        let url = routed_to(file.text(), registry.changes(&file)).map_err(malformed)?;
        let hooks = inspect(file.text()).map_err(malformed)?.hooks;
        routed.extend(url.map(|url| Routed {
            path: path.to_owned(),
            url,
            has_http_hooks: hooks.iter().any(|hook| hook.daemon_port.is_some()),
        }));
    }
    Ok(routed)
}

/// Makes clients of a settings file use the proxy at `url`. Running sessions read the file again.
fn point(context: &Context, file: &Routed, url: &str) -> Result<(), Failure> {
    if file.url == url {
        // A session that started while the file was changed did not notice.
        if let Err(error) = File::open(&file.path).and_then(|open| open.set_modified(SystemTime::now())) {
            note!("warning: {}: {error}", file.path.display());
        }
        return Ok(());
    }
    let is_of_user = file.path.file_name().is_some_and(|name| name == USER_FILE);
    let scope = if is_of_user { "user" } else { "local" };
    let project = file.path.parent().and_then(std::path::Path::parent);
    let directory = project.filter(|_| !is_of_user);
    let mut words = vec!["init", "--proxy", "--scope", scope];
    words.extend(file.has_http_hooks.then_some("--http"));
    own_command::run(&context.common, directory, &words)
}
