//! Which proxy a command uses: the daemon of the home, or one of its own.

use super::BASE_URL;
use super::own_daemon::OwnDaemon;
use crate::arguments::{DaemonFlags, RunArguments};
use crate::commands::route;
use crate::context::Context;
use crate::daemon_health::{self, ProxyView};
use crate::daemon_start::{DaemonStart, find_program};
use crate::failure::Failure;
use crate::output::note;
use grov_hooks::settings::token_of;
use grov_runtime::{EXIT_USAGE, Environment, Home, Url, daemon};
use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr};

/// The variable with which a client sends headers of the user.
const CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
/// Any port.
const FREE: &str = "0";

/// The proxy that the command uses.
pub(super) enum Proxy {
    /// The daemon of the home, which goes on.
    Shared(Box<ProxyView>),
    /// A daemon that ends with the command.
    Own(OwnDaemon),
}

/// What decides.
pub(super) struct Choice<'a> {
    pub(super) context: &'a Context,
    pub(super) arguments: &'a RunArguments,
    pub(super) environment: &'a Environment,
}

impl Choice<'_> {
    /// The proxy for the command; started if it is not running.
    pub(super) fn proxy(&self) -> Result<Proxy, Failure> {
        let home = &self.context.home;
        let running = daemon_health::query(home);
        let flags = self.flags()?;
        if running.running && self.fits(&flags, &running) {
            if let Err(problem) = route::provider_file(self.context) {
                note!("warning: {problem}; marked requests are not routed");
            }
            let asks_for_token = running
                .access
                .as_ref()
                .is_some_and(|access| access.tokens.is_some());
            if asks_for_token {
                self.warn_of_token();
            }
            return Ok(Proxy::Shared(Box::new(running)));
        }
        let settings = self.context.settings.proxy();
        if settings.enable_auth {
            ensure_token_can_be_sent(self.arguments.base_url, settings.insecure)?;
            self.warn_of_token();
        }
        route::check_providers(self.context, self.arguments.providers.as_deref())?;
        home.create()?;
        home.create_logs()?;
        // A home has one shared daemon, and it may be one without a CONNECT proxy.
        match wants_own(&flags) || running.running {
            true => self.start_own(flags),
            false => self.start_shared(flags),
        }
    }

    /// Says how the command sends a token, if it sends none. The CONNECT proxy asks for none.
    fn warn_of_token(&self) {
        let headers = self
            .environment
            .get(CUSTOM_HEADERS)
            .and_then(|value| value.to_str());
        if self.arguments.base_url && headers.and_then(token_of).is_none() {
            note!(
                "warning: the proxy asks for a token: set {CUSTOM_HEADERS} to x-grov-token: TOKEN (grov token create)"
            );
        }
    }

    fn start_own(&self, flags: DaemonFlags) -> Result<Proxy, Failure> {
        let free = || Some(FREE.to_owned());
        let mitm_port = flags.mitm_port.or_else(free).filter(|_| flags.mitm);
        let flags = DaemonFlags {
            port: flags.port.or_else(free),
            mitm_port,
            log_level: self.arguments.verbose.then(|| "debug".to_owned()),
            ..flags
        };
        let program = find_program(self.environment)?;
        let start = DaemonStart::new(&self.context.home, &flags, &self.without_own_proxy())?;
        Ok(Proxy::Own(OwnDaemon::start(&start, &program)?))
    }

    /// Starts the daemon of the home. Its ports need not be the default ones, because the command's environment names them.
    fn start_shared(&self, flags: DaemonFlags) -> Result<Proxy, Failure> {
        let settings = &self.context.settings;
        let free_if_taken = |setting: &str, address: SocketAddr| {
            let taken = match settings.is_set(setting) || address.port() == 0 {
                true => None,
                false => daemon_health::port_taken_by(address),
            };
            taken.map(|taken| {
                note!("{taken}, so the proxy uses a free one");
                FREE.to_owned()
            })
        };
        let proxy = settings.proxy();
        let mitm = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.mitm().port));
        let flags = DaemonFlags {
            port: free_if_taken("proxy.port", SocketAddr::new(proxy.host, proxy.port)),
            mitm_port: flags.mitm.then(|| free_if_taken("mitm.port", mitm)).flatten(),
            ..flags
        };
        let start = DaemonStart::new(&self.context.home, &flags, &self.without_own_proxy())?;
        let (proxy, started) = start.run()?;
        // Another run may have started it at the same time, without a CONNECT proxy.
        match started || self.fits(&flags, &proxy) {
            true => Ok(Proxy::Shared(Box::new(proxy))),
            false => self.start_own(flags),
        }
    }

    /// The environment for a daemon: an HTTPS proxy that is a daemon of this home is none for another one.
    fn without_own_proxy(&self) -> Environment {
        let ports = own_ports(&self.context.home);
        let is_own = |text: &OsStr| {
            let url = text.to_str().and_then(|text| Url::parse(text).ok());
            url.is_some_and(|url| url.is_loopback() && ports.contains(&url.port()))
        };
        let is_proxy = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.ends_with("_proxy") && name != "no_proxy"
        };
        let variables = self.environment.iter();
        variables
            .filter(|(name, value)| !(is_proxy(name) && is_own(value)))
            .collect()
    }

    /// The daemon's flags. A gateway that the command would use becomes the upstream.
    fn flags(&self) -> Result<DaemonFlags, Failure> {
        let arguments = self.arguments;
        let providers = arguments.providers.as_ref().map(|path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.to_string_lossy().into_owned()
        });
        let upstream = match (&arguments.upstream, arguments.base_url) {
            (Some(url), _) => Some(url.clone()),
            (None, true) => self.gateway()?,
            (None, false) => None,
        };
        let (port, mitm_port) = match arguments.base_url {
            true => (arguments.port.clone(), None),
            false => (None, arguments.port.clone()),
        };
        Ok(DaemonFlags {
            port,
            mitm: !arguments.base_url,
            mitm_port,
            host: arguments.bind.clone(),
            upstream,
            tls_cert: None,
            tls_key: None,
            insecure: None,
            providers,
            log_level: None,
        })
    }

    /// The base URL of this process's environment, unless it is the configured upstream or a daemon of this home.
    fn gateway(&self) -> Result<Option<String>, Failure> {
        let set = self.environment.get(BASE_URL);
        let Some(text) = set.and_then(|url| url.to_str()) else {
            return Ok(None);
        };
        let invalid = |error| {
            let message = format!("{BASE_URL} cannot be the upstream: {error}");
            Failure::new("gateway", EXIT_USAGE, message).hint("correct it, or pass --upstream URL")
        };
        let url = Url::parse(text).map_err(invalid)?;
        let upstream = &self.context.settings.proxy().upstream;
        let without_slash = |url: &Url| url.as_str().trim_end_matches('/').to_owned();
        let is_upstream = without_slash(&url) == without_slash(upstream);
        Ok((!is_upstream && !self.has_own_base_url()).then(|| text.to_owned()))
    }

    /// Whether this process's base URL is a daemon of this home.
    pub(super) fn has_own_base_url(&self) -> bool {
        let url = self.environment.get(BASE_URL).and_then(|url| url.to_str());
        let url = url.and_then(|url| Url::parse(url).ok());
        let configured = self.context.settings.proxy().port;
        url.is_some_and(|url| {
            let is_own = url.port() == configured || own_ports(&self.context.home).contains(&url.port());
            url.is_loopback() && is_own
        })
    }

    /// Whether the running daemon is as wanted: nothing is, or its port alone.
    fn fits(&self, flags: &DaemonFlags, running: &ProxyView) -> bool {
        let port = |url: &str| Url::parse(url).ok().map(|url| url.port().to_string());
        let is_at = |wanted: &Option<String>, url: Option<&str>| match wanted.as_deref() {
            None | Some(FREE) => true,
            Some(wanted) => url.and_then(port).as_deref() == Some(wanted),
        };
        let mitm = daemon::read(&self.context.home).and_then(|record| record.mitm_url);
        let others = DaemonFlags {
            port: None,
            mitm_port: None,
            ..flags.clone()
        };
        let is_shared = flags.port.as_deref() != Some(FREE) && flags.mitm_port.as_deref() != Some(FREE);
        (is_shared || self.arguments.port.is_none())
            && !wants_own(&others)
            && is_at(&flags.port, running.url.as_deref())
            && is_at(&flags.mitm_port, mitm.as_deref())
            && (!flags.mitm || mitm.is_some())
    }
}

/// Fails with the way out that this command has. The daemon would refuse, too, and name flags of its own.
fn ensure_token_can_be_sent(base_url: bool, insecure: bool) -> Result<(), Failure> {
    if base_url || insecure {
        return Ok(());
    }
    let message =
        "proxy.enable_auth (ENABLE_AUTH) asks for tokens, which a command cannot send to the CONNECT proxy";
    Err(Failure::usage(message.to_owned()).hint(format!(
        "grov run --base-url, with {CUSTOM_HEADERS} set to x-grov-token: TOKEN (grov token create)"
    )))
}

fn wants_own(flags: &DaemonFlags) -> bool {
    let ports = flags.port.is_some() || flags.mitm_port.is_some();
    ports || flags.host.is_some() || flags.upstream.is_some() || flags.providers.is_some()
}

/// The ports of the running daemons of a home.
fn own_ports(home: &Home) -> Vec<u16> {
    let shared = daemon::read(home).into_iter();
    shared
        .chain(daemon::run_records(home))
        .flat_map(|record| [Some(record.url), record.mitm_url])
        .filter_map(|url| Some(Url::parse(&url?).ok()?.port()))
        .collect()
}

impl Proxy {
    pub(super) fn url(&self) -> Result<String, Failure> {
        let url = match self {
            Self::Shared(proxy) => proxy.base_url.clone().or_else(|| proxy.url.clone()),
            Self::Own(daemon) => Some(daemon.url().to_owned()),
        };
        url.ok_or_else(|| Failure::error("proxy", "the proxy has not published its address"))
    }

    /// Where it accepts CONNECT, if it does.
    pub(super) fn mitm_url(&self, home: &Home) -> Option<String> {
        match self {
            Self::Shared(_) => daemon::read(home)?.mitm_url,
            Self::Own(daemon) => daemon.mitm_url().map(str::to_owned),
        }
    }

    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Shared(proxy) => proxy.pid,
            Self::Own(daemon) => Some(daemon.pid()),
        }
    }

    pub(super) fn described(&self) -> String {
        let url = self.url().unwrap_or_default();
        let whose = match self {
            Self::Shared(_) => "shared; it goes on afterwards",
            Self::Own(_) => "of this run; it ends with the command",
        };
        let pid = self
            .pid()
            .map_or_else(String::new, |pid| format!(", process {pid}"));
        format!("proxy at {url} ({whose}{pid})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_tokens_the_way_out_is_one_of_this_command() {
        let refused = ensure_token_can_be_sent(false, false).unwrap_err();
        let hint = format!("{refused:?}");
        assert!(hint.contains("--base-url") && !hint.contains("--mitm"), "{hint}");
        assert!(ensure_token_can_be_sent(true, false).is_ok());
        assert!(ensure_token_can_be_sent(false, true).is_ok());
    }
}
