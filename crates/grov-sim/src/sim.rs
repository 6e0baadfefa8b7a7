//! The simulation: starting it, scripting it, and reading its records.

use crate::behaviour::{Behaviour, Rule};
use crate::cache::{CacheReport, PromptCache};
use crate::judge::{JudgeCall, JudgeScript};
use crate::record::{RecordedRequest, Recording};
use crate::scenario::ScenarioSet;
use crate::server;
use crate::state::{Shared, State, lock};
use grov_domain::{Clock, SystemClock};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The configuration of a simulation.
#[derive(Clone)]
pub struct SimConfig {
    /// Address to listen on. Default: loopback, any free port.
    pub listen: SocketAddr,
    /// The scenarios. Default: the built-in ones.
    pub scenarios: ScenarioSet,
    /// The default delivery of answers.
    pub behaviour: Behaviour,
    /// How much of each request is kept in memory.
    pub recording: Recording,
    /// Directory to which every request is written.
    pub directory: Option<PathBuf>,
    /// Whether requests are validated like the API does. Default: yes.
    pub validate: bool,
    /// Characters per delta of a stream. Default: 24.
    pub delta: usize,
    /// The initial prompt cache. Default: empty, with the documented minimums.
    pub cache: PromptCache,
    /// The clock of the cache and the `date` header. Default: the machine's clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            scenarios: ScenarioSet::default(),
            behaviour: Behaviour::default(),
            recording: Recording::default(),
            directory: None,
            validate: true,
            delta: 24,
            cache: PromptCache::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// An error at the start of a simulation.
#[derive(Debug, thiserror::Error)]
#[error("the simulated API cannot listen on {address}: {source}")]
pub struct StartError {
    /// The requested address.
    pub address: SocketAddr,
    /// The cause.
    pub source: std::io::Error,
}

/// A running simulation of the Messages API. Stops and closes its connections when dropped.
pub struct Sim {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

impl Sim {
    /// Starts a simulation on the current runtime.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn start(config: SimConfig) -> Result<Self, StartError> {
        let failed = |source| StartError {
            address: config.listen,
            source,
        };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = State {
            scenarios: config.scenarios,
            cache: config.cache,
            ..State::default()
        };
        let shared = Arc::new(Shared {
            clock: config.clock,
            behaviour: config.behaviour,
            validate: config.validate,
            delta: config.delta,
            recording: config.recording,
            directory: config.directory,
            state: Mutex::new(state),
            changes: watch::channel(0).0,
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, shared.clone()));
        Ok(Self {
            address,
            shared,
            tasks,
        })
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All recorded requests, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        lock(&self.shared.state).requests.clone()
    }

    /// The recorded `POST /v1/messages` requests.
    pub fn messages(&self) -> Vec<Arc<RecordedRequest>> {
        self.requests()
            .into_iter()
            .filter(|request| request.is_messages())
            .collect()
    }

    /// Number of connections accepted so far.
    pub fn connections(&self) -> u64 {
        lock(&self.shared.state).connections
    }

    /// Number of requests so far that were not valid HTTP/1.1; they are not recorded.
    pub fn malformed(&self) -> u64 {
        lock(&self.shared.state).malformed
    }

    /// Clears the recorded requests and the cache report; counters, rules and the cache itself stay.
    pub fn clear(&self) {
        let mut state = lock(&self.shared.state);
        state.requests.clear();
        state.report = CacheReport::default();
    }

    /// Waits until the recorded requests meet a condition, which is checked whenever a request arrives or a response
    /// ends.
    pub async fn wait_until(&self, wanted: impl Fn(&[Arc<RecordedRequest>]) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        loop {
            changes.mark_unchanged();
            if wanted(&self.requests()) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Replaces the scenarios; conversations in progress continue with the new ones.
    pub fn set_script(&self, scenarios: ScenarioSet) {
        lock(&self.shared.state).scenarios = scenarios;
    }

    /// Replaces the judge's script; a question asked before keeps its position in the script.
    pub fn set_judge(&self, script: JudgeScript) {
        let mut state = lock(&self.shared.state);
        state.scenarios = std::mem::take(&mut state.scenarios).with_judge(script);
    }

    /// The recorded questions to the judge, in order, each with its request. Available only if bodies are recorded.
    pub fn judge_calls(&self) -> Vec<(Arc<RecordedRequest>, JudgeCall)> {
        self.requests()
            .into_iter()
            .filter_map(|request| JudgeCall::read(&request).map(|call| (request, call)))
            .collect()
    }

    /// Adds a rule after the existing ones.
    pub fn inject(&self, rule: Rule) {
        lock(&self.shared.state).rules.push((rule, 0));
    }

    /// Removes all rules.
    pub fn clear_rules(&self) {
        lock(&self.shared.state).rules.clear();
    }

    /// The cache's effect on every answered request.
    pub fn cache_report(&self) -> CacheReport {
        lock(&self.shared.state).report.clone()
    }

    /// Stops listening and closes all connections immediately.
    pub async fn shutdown(mut self) {
        self.tasks.shutdown().await;
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let number = {
                        let mut state = lock(&shared.state);
                        state.connections += 1;
                        state.connections - 1
                    };
                    connections.spawn(server::serve(shared.clone(), stream, number));
                }
                // Probably out of file descriptors: connections that end will free some.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
