//! The simulation: start it, script it, ask it what it saw.

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

/// How a simulation is set up.
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
    /// Whether requests are checked as the API checks them. Default: yes.
    pub validate: bool,
    /// Characters per delta of a stream. Default: 24.
    pub delta: usize,
    /// The prompt cache at the start. Default: empty, with the documented minimums.
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

/// A simulation that cannot start.
#[derive(Debug, thiserror::Error)]
#[error("the simulated API cannot listen on {address}: {source}")]
pub struct StartError {
    /// The address asked for.
    pub address: SocketAddr,
    /// Why.
    pub source: std::io::Error,
}

/// A running simulation of the Messages API. Ends with its connections when it is dropped.
pub struct Sim {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

impl Sim {
    /// Starts a simulation on the current runtime.
    ///
    /// # Errors
    /// The address cannot be listened on.
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

    /// Everything that arrived, in order, as far as it is recorded.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        lock(&self.shared.state).requests.clone()
    }

    /// The `POST /v1/messages` among them.
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

    /// Number of requests so far that were no valid HTTP/1.1; they are not among the recorded ones.
    pub fn malformed(&self) -> u64 {
        lock(&self.shared.state).malformed
    }

    /// Forgets the recorded requests and the cache report; counters, rules and the cache itself stay.
    pub fn clear(&self) {
        let mut state = lock(&self.shared.state);
        state.requests.clear();
        state.report = CacheReport::default();
    }

    /// Waits until the recorded requests meet a condition, which is checked at every arrival and every end of a response.
    pub async fn wait_until(&self, wanted: impl Fn(&[Arc<RecordedRequest>]) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        loop {
            changes.mark_unchanged();
            if wanted(&self.requests()) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Replaces the scenarios; conversations under way go on with the new ones.
    pub fn set_script(&self, scenarios: ScenarioSet) {
        lock(&self.shared.state).scenarios = scenarios;
    }

    /// Replaces what the judge answers; a question that was asked before keeps its place in the script.
    pub fn set_judge(&self, script: JudgeScript) {
        let mut state = lock(&self.shared.state);
        state.scenarios = std::mem::take(&mut state.scenarios).with_judge(script);
    }

    /// The questions to the judge among the recorded requests, in order, each with the request that put it. They are
    /// there only where bodies are recorded.
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

    /// What the prompt cache did for every answered request.
    pub fn cache_report(&self) -> CacheReport {
        lock(&self.shared.state).report.clone()
    }

    /// Stops listening and ends all connections at once.
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
                // Out of descriptors, most likely: connections that end will free some.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
