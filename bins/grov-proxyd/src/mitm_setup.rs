//! Sets up the CONNECT proxy.

use crate::daemon::Stop;
use crate::listener;
use crate::open_files::Room;
use grov_ca::{CaFiles, InvalidTarget, Target};
use grov_mitm::{Counters, Leaves, Mitm, MitmLimits};
use grov_proxy_core::{ConnectionProfile, Intake, Upstream, UpstreamHandle, Upstreams};
use grov_runtime::{Home, MitmSettings, ProxySettings, Settings};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

/// The host of the provider, whose requests go to `proxy.upstream`.
const PROVIDER: &str = "api.anthropic.com:443";

/// The CONNECT proxy before it serves.
pub(crate) struct MitmSetup {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
    leaves: Arc<Leaves>,
    hosts: Vec<(Target, Arc<ConnectionProfile>)>,
    limits: MitmLimits,
    pub(crate) counters: Arc<Counters>,
}

impl MitmSetup {
    /// Binds its port, unless a socket is inherited, and reads the certificate authority, if it is enabled.
    pub(crate) fn new(
        settings: &Settings,
        home: &Home,
        upstreams: &Upstreams,
        room: Room,
        inherited: Option<std::net::TcpListener>,
    ) -> Result<Option<Self>, Stop> {
        let MitmSettings { enabled, .. } = settings.mitm();
        if !enabled {
            return Ok(None);
        }
        let targets = targets(&settings.mitm().hosts)?;
        let (listener, address) =
            listener::bind_connect_proxy(loopback(settings.proxy()), settings.mitm().port, inherited)?;
        upstreams.refuse(address);
        let names = targets.iter().map(|target| target.name.clone()).collect();
        let files = CaFiles::new(home.certificate_authority());
        let leaves = Leaves::new(files, names).map_err(|error| {
            Stop::fault(error)
                .with_hint("repair the directory or remove it, or start without --mitm (mitm.enabled)")
        })?;
        let connect = settings.proxy().connect_timeout;
        let hosts = targets
            .into_iter()
            .map(|target| {
                let profile = ConnectionProfile {
                    host: target.host(),
                    port: target.port,
                    upstream: upstream(&target, upstreams, connect)?,
                    edits: settings.mitm().edit,
                };
                Ok((target, Arc::new(profile)))
            })
            .collect::<Result<_, Stop>>()?;
        Ok(Some(Self {
            listener,
            address,
            leaves,
            hosts,
            limits: MitmLimits {
                connections: room.tunnels,
                connect,
                ..MitmLimits::default()
            },
            counters: Arc::default(),
        }))
    }

    /// The listening socket.
    pub(crate) fn listener(&self) -> &TcpListener {
        &self.listener
    }

    /// Serves clients until `shutdown` resolves. `intake` takes the decrypted connections.
    pub(crate) async fn serve(
        self,
        intake: Intake,
        shutdown: impl Future<Output = ()>,
    ) -> Result<usize, Stop> {
        let mitm =
            Mitm::new(self.leaves, self.hosts, intake, self.limits, self.address).map_err(Stop::fault)?;
        Ok(mitm
            .with_counters(self.counters)
            .serve(self.listener, shutdown)
            .await)
    }
}

/// The targets that `mitm.hosts` names.
fn targets(hosts: &[String]) -> Result<Vec<Target>, Stop> {
    let wrong = |error: InvalidTarget| {
        Stop::usage(error).with_hint("mitm.hosts is a list of HOST or HOST:PORT, such as api.anthropic.com")
    };
    let targets = hosts.iter().map(|host| host.parse::<Target>().map_err(wrong));
    let targets: Vec<Target> = targets.collect::<Result<_, Stop>>()?;
    if targets.is_empty() {
        let error = anyhow::anyhow!("mitm.hosts is empty, so there is nothing to decrypt");
        return Err(Stop::usage(error).with_hint("name a host, or set mitm.enabled = false"));
    }
    Ok(targets)
}

/// Where the requests of an intercepted host go: the provider's to `proxy.upstream`, all others to the host itself.
fn upstream(
    target: &Target,
    upstreams: &Upstreams,
    connect: std::time::Duration,
) -> Result<UpstreamHandle, Stop> {
    if target.to_string() == PROVIDER {
        return Ok(UpstreamHandle::MAIN);
    }
    // Without the default port: the `host` header must be the one that the client would send.
    let text = target.to_string();
    let authority = text.strip_suffix(":443").unwrap_or(&text);
    let upstream = Upstream::parse(&format!("https://{authority}")).map_err(Stop::usage)?;
    Ok(upstreams.add(upstream, connect))
}

/// The CONNECT proxy is for programs on this machine, even if the proxy itself is not.
fn loopback(proxy: &ProxySettings) -> IpAddr {
    if proxy.host.is_loopback() {
        proxy.host
    } else {
        Ipv4Addr::LOCALHOST.into()
    }
}
