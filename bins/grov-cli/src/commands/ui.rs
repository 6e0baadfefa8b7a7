//! `grov ui`: opens the dashboard in a browser.

use crate::arguments::{Common, DaemonFlags, UiArguments};
use crate::daemon_start::DaemonStart;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, note};
use crate::programs::in_path;
use grov_domain::{Clock, SystemClock};
use grov_runtime::{BrowserKey, Environment, Home};
use serde::Serialize;
use std::process::{Command, Stdio};

/// The path that accepts links.
const LINK_PATH: &str = "/_grov/ui/enter?link=";
/// Programs that open an address in the user's browser.
const OPENERS: &[&str] = &["xdg-open", "open", "wslview"];

#[derive(Serialize)]
struct Answer {
    /// The link. It opens the dashboard once, within two minutes.
    url: String,
    /// Whether a browser was started.
    opened: bool,
}

#[derive(Serialize)]
struct SignedOut {
    /// Whether a browser could have been signed in.
    signed_out: bool,
}

pub(crate) fn run(common: &Common, arguments: &UiArguments, terminal: Terminal) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    let unusable = |error: std::io::Error| {
        let path = home.browser_key();
        Failure::error("ui", format!("cannot use {}: {error}", path.display()))
    };
    if arguments.sign_out {
        let signed_out = BrowserKey::remove(&home).map_err(unusable)?;
        return terminal.answer(SignedOut { signed_out }, sign_out_text);
    }
    let flags = DaemonFlags::default();
    let (proxy, started) = DaemonStart::new(&home, &flags, &environment)?.run()?;
    if started {
        note!("started grov-proxyd, which serves the dashboard");
    }
    let base = proxy.base_url.or(proxy.url);
    let base = base.ok_or_else(|| Failure::error("ui", "the daemon does not say where it listens"))?;
    let key = BrowserKey::read_or_create(&home).map_err(unusable)?;
    let link = key.link(SystemClock.now()).map_err(unusable)?;
    let url = format!("{}{LINK_PATH}{}", base.trim_end_matches('/'), link.expose());
    // A script wants the link, not a browser.
    let opens = !arguments.print && !terminal.wants_json();
    let opened = opens && open(&url, &environment);
    let is_for_person = !opened && !terminal.wants_json();
    let outcome = terminal.answer(Answer { url, opened }, text)?;
    if is_for_person {
        // Standard output is the link alone, for scripts.
        note!("open it in a browser on this machine; it works once, within two minutes");
    }
    Ok(outcome)
}

/// Starts a browser. Without a display none is started: a browser in the terminal would take it over.
fn open(url: &str, environment: &Environment) -> bool {
    let is_set = |name: &str| environment.get(name).is_some_and(|value| !value.is_empty());
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"]
            .into_iter()
            .any(is_set);
    let opener = OPENERS.iter().find_map(|name| in_path(name, environment).next());
    let Some(opener) = opener.filter(|_| has_display) else {
        return false;
    };
    let mut command = Command::new(opener);
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn text(answer: &Answer, _style: Style) -> String {
    match answer.opened {
        true => format!("opened the dashboard; the link was {}\n", answer.url),
        false => format!("{}\n", answer.url),
    }
}

fn sign_out_text(answer: &SignedOut, _style: Style) -> String {
    match answer.signed_out {
        true => "every browser is signed out of the dashboard\n".to_owned(),
        false => "no browser was signed in\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_link_is_alone_on_standard_output() {
        let answer = Answer {
            url: "http://127.0.0.1:8080/_grov/ui/enter?link=x".to_owned(),
            opened: false,
        };
        assert_eq!(text(&answer, Style::plain()), format!("{}\n", answer.url));
    }
}
