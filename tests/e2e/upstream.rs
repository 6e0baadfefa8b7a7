//! The simulated API in this process, with a separate runtime so that the tests can block.

use anyhow::Result;
use grov_sim::{ScenarioSet, Sim, SimConfig};
use serde_json::Value;
use tokio::runtime::Runtime;

/// An upstream for daemons that never get a request: no process listens on the discard port.
pub const NOWHERE: &str = "http://127.0.0.1:9";

/// A running simulation.
pub struct Upstream {
    sim: Sim,
    // Dropped after the simulation that runs on it.
    runtime: Runtime,
}

impl Upstream {
    /// Starts a simulation with the built-in scenarios.
    pub fn start() -> Result<Self> {
        Self::playing(ScenarioSet::default())
    }

    /// Starts a simulation with the scenarios of a script in addition to the built-in ones.
    pub fn with(script: &Value) -> Result<Self> {
        Self::playing(ScenarioSet::default().with_json(script.to_string().as_bytes())?)
    }

    fn playing(scenarios: ScenarioSet) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let sim = runtime.block_on(Sim::start(SimConfig {
            scenarios,
            ..SimConfig::default()
        }))?;
        Ok(Self { sim, runtime })
    }

    /// The simulation itself.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Runs a future to completion on the simulation's threads, as a client in this process.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        self.sim.url()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.sim.addr().port()
    }

    /// The number of requests to the model that have arrived.
    pub fn turns(&self) -> usize {
        self.sim.messages().len()
    }
}
