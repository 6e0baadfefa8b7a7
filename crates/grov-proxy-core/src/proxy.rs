//! The proxy and its builder.

use crate::admin::{AdminRoute, AdminService, EmbedderMetric, HealthSection, MetricKind};
use crate::admission::Admission;
use crate::body::Collector;
use crate::body_budget::BodyBudget;
use crate::error::{BuildError, ServeError};
use crate::exchange::Service;
use crate::forward::Forwarder;
use crate::headers::HeaderPolicy;
use crate::intake::{BoxedStream, Intake};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::observe::{ObserverQueue, TurnObserver};
use crate::policy::{Policies, RequestPolicy};
use crate::route::Router;
use crate::server;
use crate::upstream::{Pools, Upstream, UpstreamId};
use crate::workers::Workers;
use http::HeaderName;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Most threads of [`ProxyBuilder::workers`].
const MAX_WORKERS: usize = 64;

/// A proxy between clients and one or more upstreams.
///
/// Created by [`Proxy::builder`], run by [`Proxy::serve`].
pub struct Proxy {
    service: Service,
    observers: Vec<Arc<dyn TurnObserver>>,
    workers: usize,
    grace: Duration,
    /// The intake and its receiver, if the embedder asked for one.
    intake: Option<(Intake, mpsc::Receiver<BoxedStream>)>,
}

/// Builds a [`Proxy`].
///
/// Created by [`Proxy::builder`].
pub struct ProxyBuilder {
    upstream: Upstream,
    others: Vec<Upstream>,
    router: Option<Arc<dyn Router>>,
    limits: Limits,
    header_policy: HeaderPolicy,
    allowed_hosts: Vec<String>,
    policies: Vec<Arc<dyn RequestPolicy>>,
    observers: Vec<Arc<dyn TurnObserver>>,
    workers: usize,
    version: String,
    sections: Vec<HealthSection>,
    embedder_metrics: Vec<EmbedderMetric>,
    kept_headers: Vec<HeaderName>,
    routes: Vec<(&'static str, Arc<dyn AdminRoute>)>,
}

impl Proxy {
    /// Returns a builder for a proxy in front of `upstream`.
    pub fn builder(upstream: Upstream) -> ProxyBuilder {
        ProxyBuilder {
            upstream,
            others: Vec::new(),
            router: None,
            limits: Limits::default(),
            header_policy: HeaderPolicy::default(),
            allowed_hosts: Vec::new(),
            policies: Vec::new(),
            observers: Vec::new(),
            workers: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sections: Vec::new(),
            embedder_metrics: Vec::new(),
            kept_headers: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// Returns the counters of the proxy. They stay valid while it serves.
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.service.metrics)
    }

    /// Returns an [`Intake`] for streams that the embedder accepts itself. It is open until [`Proxy::serve`] returns.
    pub fn intake(&mut self) -> Intake {
        self.intake.get_or_insert_with(Intake::new).0.clone()
    }

    /// Serves clients until `shutdown` resolves.
    ///
    /// Then idle connections close, and running responses may continue for [`Limits::grace`]. Returns the number of responses
    /// that were cut, once every observer has seen every exchange.
    ///
    /// # Errors
    /// If the listener has no address, the upstream is the listener itself, or a thread cannot be started.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<usize, ServeError> {
        let address = listener.local_addr()?;
        if let Some(what) = self.service.forwarder.pools.points_at(address) {
            return Err(ServeError::Loop { what, address });
        }
        let Self {
            mut service,
            observers,
            workers,
            grace,
            intake,
        } = self;
        // Keeping no sender: the channel closes when the embedder has dropped every intake.
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
        let cut = server::serve(listener, streams, Arc::new(service), &workers, shutdown, grace).await;
        if let Some(observer) = observer {
            // The service is dropped, and with it the last handle: the thread ends once its queue is empty.
            let _ = tokio::task::spawn_blocking(move || observer.join()).await;
        }
        Ok(cut)
    }
}

impl ProxyBuilder {
    /// Adds an upstream for the routes of a [`Router`]. Returns its id.
    pub fn add_upstream(&mut self, upstream: Upstream) -> UpstreamId {
        self.others.push(upstream);
        UpstreamId::nth(self.others.len())
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

    /// Serves connections on so many threads with a runtime of their own each, a connection on one of them from its beginning
    /// to its end: the fastest route where all of a program's traffic is the proxy's. Policies are asked there, and should hand
    /// over to other threads what takes long. With 0, which is the default, connections are served by the runtime that
    /// [`Proxy::serve`] runs on. At most 64.
    pub fn workers(mut self, threads: usize) -> Self {
        self.workers = threads.min(MAX_WORKERS);
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets which request headers are forwarded. Default: [`HeaderPolicy::Open`].
    pub fn headers(mut self, policy: HeaderPolicy) -> Self {
        self.header_policy = policy;
        self
    }

    /// Adds host names that requests may name in `Host`, besides loopback names and addresses.
    pub fn allowed_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.allowed_hosts.extend(hosts);
        self
    }

    /// Keeps copies of these request headers, for policies and observers to read from
    /// [`MessagesRequest::headers`](crate::MessagesRequest::headers). No header is kept by default.
    pub fn keep_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.kept_headers.extend(names);
        self
    }

    /// Adds a metric to `/_grov/metrics`. `value` is called for every scrape and must not block.
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

    /// Adds a section to `/_grov/health`. `state` is called for every request and must not block.
    pub fn health_section(
        mut self,
        name: &'static str,
        state: impl Fn() -> serde_json::Value + Send + Sync + 'static,
    ) -> Self {
        self.sections.push((name, Box::new(state)));
        self
    }

    /// Adds a route for requests below `/_grov/` and `prefix`, which ends with a slash. Requests with an `Origin` header are
    /// refused.
    pub fn admin_route(mut self, prefix: &'static str, route: Arc<dyn AdminRoute>) -> Self {
        self.routes.push((prefix, route));
        self
    }

    /// Builds the proxy. Opens and resolves nothing yet.
    ///
    /// # Errors
    /// None at present.
    pub fn build(self) -> Result<Proxy, BuildError> {
        let metrics = Arc::new(Metrics::default());
        let pools = Arc::new(Pools::new(
            self.upstream,
            self.others,
            self.limits.connect,
            self.workers,
        ));
        let admin_collector = Collector::new(BodyBudget::new(self.limits.bodies));
        let admin = AdminService {
            metrics: Arc::clone(&metrics),
            pools: Arc::clone(&pools),
            version: self.version,
            sections: self.sections,
            embedder_metrics: self.embedder_metrics,
            started: Instant::now(),
            max_connections: self.limits.connections,
            collector: admin_collector.clone(),
            routes: self.routes,
        };
        let service = Service {
            admission: Admission::new(self.allowed_hosts),
            forwarder: Forwarder {
                pools,
                router: self.router,
                header_policy: self.header_policy,
                limit: self.limits.response,
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
        };
        Ok(Proxy {
            service,
            observers: self.observers,
            workers: self.workers,
            grace: self.limits.grace,
            intake: None,
        })
    }
}
