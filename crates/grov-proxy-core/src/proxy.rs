//! The proxy and its builder.

use crate::admin::{
    AdminRoute, AdminService, EmbedderMetric, HealthSection, MetricKind, Registrar, Site, Sites,
};
use crate::admission::Admission;
use crate::api_upstreams::ApiUpstreams;
use crate::body::Collector;
use crate::body_budget::BodyBudget;
use crate::error::{BuildError, ServeError};
use crate::exchange::Service;
use crate::forward::Forwarder;
use crate::gate::{Gate, Gatekeeper};
use crate::headers::HeaderPolicy;
use crate::intake::{Intake, Taken};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::observe::{ObserverQueue, TurnObserver};
use crate::policy::{Policies, RequestPolicy};
use crate::route::Router;
use crate::server::{self, Shutdown};
use crate::upstream::{Pools, Upstream, Upstreams};
use crate::workers::Workers;
use http::HeaderName;
use prometheus_client::registry::Registry;
use rustls::pki_types::CertificateDer;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Maximum number of worker threads.
const MAX_WORKERS: usize = 64;

/// A proxy between clients and one or more upstreams.
///
/// Created with [`Proxy::builder`] and run with [`Proxy::serve`].
///
/// ```no_run
/// use grov_proxy_core::{Proxy, Upstream};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let proxy = Proxy::builder(Upstream::parse("https://api.anthropic.com")?).build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// let cut = proxy.serve(listener, std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
pub struct Proxy {
    service: Service,
    observers: Vec<Arc<dyn TurnObserver>>,
    workers: usize,
    tls: Option<Arc<rustls::ServerConfig>>,
    grace: Duration,
    /// The intake and its receiver, if [`Proxy::intake`] was called.
    intake: Option<(Intake, mpsc::Receiver<Taken>)>,
}

/// Configures a [`Proxy`].
///
/// Created with [`Proxy::builder`]. Every setting is optional.
pub struct ProxyBuilder {
    upstream: Upstream,
    upstreams: Upstreams,
    api_upstreams: ApiUpstreams,
    router: Option<Arc<dyn Router>>,
    limits: Limits,
    header_policy: HeaderPolicy,
    allowed_hosts: Vec<String>,
    gate: Gate,
    tls: Option<Arc<rustls::ServerConfig>>,
    extra_roots: Vec<CertificateDer<'static>>,
    policies: Vec<Arc<dyn RequestPolicy>>,
    observers: Vec<Arc<dyn TurnObserver>>,
    workers: usize,
    version: String,
    sections: Vec<HealthSection>,
    embedder_metrics: Vec<EmbedderMetric>,
    registrars: Vec<Registrar>,
    kept_headers: Vec<HeaderName>,
    routes: Vec<(&'static str, Arc<dyn AdminRoute>)>,
    sites: Sites,
}

impl Proxy {
    /// Returns a builder for a proxy in front of `upstream`.
    pub fn builder(upstream: Upstream) -> ProxyBuilder {
        ProxyBuilder {
            upstream,
            upstreams: Upstreams::default(),
            api_upstreams: ApiUpstreams::default(),
            router: None,
            limits: Limits::default(),
            header_policy: HeaderPolicy::default(),
            allowed_hosts: Vec::new(),
            gate: Gate::default(),
            tls: None,
            extra_roots: Vec::new(),
            policies: Vec::new(),
            observers: Vec::new(),
            workers: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sections: Vec::new(),
            embedder_metrics: Vec::new(),
            registrars: Vec::new(),
            kept_headers: Vec::new(),
            routes: Vec::new(),
            sites: Sites::default(),
        }
    }

    /// Returns the counters of the proxy. They stay valid while it serves.
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.service.metrics)
    }

    /// Returns an [`Intake`] for streams that the embedder accepts itself. It accepts streams until [`Proxy::serve`] returns.
    pub fn intake(&mut self) -> Intake {
        self.intake.get_or_insert_with(Intake::new).0.clone()
    }

    /// Serves clients until `shutdown` resolves.
    ///
    /// Then idle connections close, and running responses may continue for [`Limits::grace`]. Waits until the observers have seen
    /// every exchange, and returns the number of connections that were cut.
    ///
    /// # Errors
    /// If the listener has no address, the main upstream or the HTTP proxy in front of it is the listener itself, or a thread cannot be
    /// started. Errors while serving are logged and counted instead.
    ///
    /// # Cancellation
    /// If the future is dropped, all connections are cut at once and the worker threads end. Exchanges that wait for the
    /// observers are still observed, in the background.
    ///
    /// # Panics
    /// If it is polled outside a Tokio runtime with I/O and time enabled.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<usize, ServeError> {
        let stop = async {
            shutdown.await;
            Shutdown::Stop
        };
        self.serve_until(listener, stop).await
    }

    /// Like [`serve`](Self::serve); the future says how to stop.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    ///
    /// # Cancellation
    /// As [`serve`](Self::serve).
    ///
    /// # Panics
    /// As [`serve`](Self::serve).
    pub async fn serve_until(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = Shutdown>,
    ) -> Result<usize, ServeError> {
        let address = listener.local_addr()?;
        if let Some(what) = self.service.forwarder.pools.refuse_own(address) {
            return Err(ServeError::Loop { what, address });
        }
        let Self {
            mut service,
            observers,
            workers,
            tls,
            grace,
            intake,
        } = self;
        // Drop the sender: the channel closes when the embedder has dropped every intake.
        let streams = intake.map(|(_, streams)| streams);
        let workers = Workers::start(workers).map_err(ServeError::Threads)?;
        let observer = (!observers.is_empty())
            .then(|| {
                let (handle, observing) = ObserverQueue::new(observers, Arc::clone(&service.metrics));
                service.observation = Some(handle);
                let thread = std::thread::Builder::new().name("grov-observer".to_owned());
                thread.spawn(observing)
            })
            .transpose()
            .map_err(ServeError::Threads)?;
        let cut = server::serve(
            listener,
            tls,
            streams,
            Arc::new(service),
            &workers,
            shutdown,
            grace,
        )
        .await;
        if let Some(observer) = observer {
            // `server::serve` dropped the service with the last handle: the thread ends when its queue is empty.
            let _ = tokio::task::spawn_blocking(move || observer.join()).await;
        }
        Ok(cut)
    }
}

impl ProxyBuilder {
    /// Returns the upstreams besides the main one, for the targets of a [`Router`]. They can be added before and after the proxy
    /// is built.
    pub fn upstreams(&self) -> Upstreams {
        self.upstreams.clone()
    }

    /// Sets the upstreams for clients of other providers. Without them, all requests go to the main upstream.
    pub fn api_upstreams(mut self, upstreams: ApiUpstreams) -> Self {
        self.api_upstreams = upstreams;
        self
    }

    /// Sets the router. Without one, all exchanges go to the main upstream.
    pub fn router(mut self, router: impl Router) -> Self {
        self.router = Some(Arc::new(router));
        self
    }

    /// Adds a policy. Policies are called in the order in which they were added.
    pub fn policy(mut self, policy: impl RequestPolicy) -> Self {
        self.policies.push(Arc::new(policy));
        self
    }

    /// Adds an observer. Observers are called in the order in which they were added.
    pub fn observer(mut self, observer: impl TurnObserver) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Sets the number of worker threads, at most 64. Default: 0.
    ///
    /// Each worker has its own single-threaded runtime and serves a connection from start to end. This has the lowest latency if
    /// the process does little else. Policies run on the workers and should move long work to other threads. With 0, the runtime
    /// of [`Proxy::serve`] serves the connections.
    pub fn workers(mut self, threads: usize) -> Self {
        self.workers = threads.min(MAX_WORKERS);
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Trusts upstreams whose certificates these authorities signed, besides those that this machine trusts. Default: none.
    pub fn extra_roots(mut self, roots: impl IntoIterator<Item = CertificateDer<'static>>) -> Self {
        self.extra_roots.extend(roots);
        self
    }

    /// Sets which request headers are forwarded. Default: [`HeaderPolicy::Open`].
    pub fn headers(mut self, policy: HeaderPolicy) -> Self {
        self.header_policy = policy;
        self
    }

    /// Adds host names that are allowed in `Host` and `Origin`, besides loopback names and addresses.
    pub fn allowed_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.allowed_hosts.extend(hosts);
        self
    }

    /// Sets the gatekeeper. Without one, every request is served whose `Host` and `Origin` are allowed.
    pub fn gatekeeper(mut self, gatekeeper: impl Gatekeeper) -> Self {
        self.gate = Gate::new(gatekeeper);
        self
    }

    /// Serves TLS on the listener. A client that speaks plain HTTP is answered with 400, unless the [`Gatekeeper`] admits it.
    ///
    /// The handshake has to complete within [`Limits::head`]. The configuration should name `http/1.1` as its only ALPN protocol.
    pub fn tls(mut self, config: Arc<rustls::ServerConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// Copies these request headers to [`MessagesRequest::headers`](crate::MessagesRequest::headers), for policies and observers.
    /// Default: none.
    pub fn keep_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.kept_headers.extend(names);
        self
    }

    /// Adds a metric to `/_grov/metrics`, with the prefix `grov_`. `value` is called for each request and must not block.
    pub fn metric(
        mut self,
        kind: MetricKind,
        name: &'static str,
        help: &'static str,
        value: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        self.embedder_metrics.push((kind, name, help, Box::new(value)));
        self
    }

    /// Sets the version shown in `/_grov/health`. Default: the version of this crate.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Adds a key to the JSON of `/_grov/health`. `state` is called for each request and must not block.
    pub fn health_section(
        mut self,
        name: &'static str,
        state: impl Fn() -> serde_json::Value + Send + Sync + 'static,
    ) -> Self {
        self.sections.push((name, Box::new(state)));
        self
    }

    /// Adds metrics to `/_grov/metrics`: `register` is called for each request and registers them under the prefix `grov`. For
    /// histograms and families; a single number is simpler with [`ProxyBuilder::metric`].
    #[must_use]
    pub fn register_metrics(mut self, register: impl Fn(&mut Registry) + Send + Sync + 'static) -> Self {
        self.registrars.push(Box::new(register));
        self
    }

    /// Adds a route for paths that start with `/_grov/` and `prefix`, such as `tokens/`. Requests with an `Origin` header are
    /// refused with status 403.
    pub fn admin_route(mut self, prefix: &'static str, route: Arc<dyn AdminRoute>) -> Self {
        self.routes.push((prefix, route));
        self
    }

    /// Adds a site for the path `/_grov/` with `prefix`, such as `ui`, and for those below it.
    pub fn site(mut self, prefix: &'static str, site: Arc<dyn Site>) -> Self {
        self.sites.add(prefix, site);
        self
    }

    /// Builds the proxy. Does no I/O.
    ///
    /// # Errors
    /// Currently never. Later versions may validate the settings here.
    pub fn build(self) -> Result<Proxy, BuildError> {
        let metrics = Arc::new(Metrics::default());
        let pools = Arc::new(Pools::new(
            self.upstream,
            self.limits.connect,
            self.workers,
            &self.upstreams,
            self.extra_roots,
        ));
        let admin_collector = Collector::new(BodyBudget::new(self.limits.bodies));
        let admin = AdminService {
            metrics: Arc::clone(&metrics),
            pools: Arc::clone(&pools),
            version: self.version,
            sections: self.sections,
            registrars: self.registrars,
            embedder_metrics: self.embedder_metrics,
            started: Instant::now(),
            max_connections: self.limits.connections,
            collector: admin_collector.clone(),
            routes: self.routes,
        };
        let service = Service {
            admission: Admission::new(self.allowed_hosts),
            gate: self.gate,
            api_upstreams: self.api_upstreams,
            forwarder: Forwarder {
                pools,
                router: self.router,
                header_policy: self.header_policy,
                limits: self.limits,
                metrics: Arc::clone(&metrics),
            },
            limits: self.limits,
            collector: admin_collector.with_reserve(),
            request_cache: Arc::default(),
            kept_headers: self.kept_headers,
            policies: Policies::new(self.policies, Arc::clone(&metrics)),
            observation: None,
            metrics,
            admin,
            sites: self.sites,
        };
        Ok(Proxy {
            service,
            observers: self.observers,
            workers: self.workers,
            tls: self.tls,
            grace: self.limits.grace,
            intake: None,
        })
    }
}
