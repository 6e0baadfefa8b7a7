//! Plans the attempts of a routed request.

use crate::answers::{ROUTE_HEADER, route_header};
use crate::codec::ProviderCodec;
use crate::provider::Probe;
use crate::routes::RouteSettings;
use crate::table::PreparedTarget;
use grov_proxy_core::{Target, Timeouts};
use grov_route::BreakerState;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One attempt: a target and a key.
pub(crate) struct Plan {
    pub(crate) prepared: Arc<PreparedTarget>,
    /// The position of the key, or `None` if the provider wants none.
    pub(crate) key: Option<usize>,
}

impl Plan {
    /// The provider and the model, for the log.
    pub(crate) fn name(&self) -> String {
        let target = &self.prepared.target;
        format!("{}/{}", target.provider, target.model)
    }
}

/// The attempts of a request.
pub(crate) struct Planned {
    /// In the order in which they are made.
    pub(crate) attempts: Vec<Plan>,
    /// Held if the first provider may have recovered.
    pub(crate) probe: Option<Probe>,
}

/// Every circuit is open.
pub(crate) struct AllOpen {
    /// The names of the providers.
    pub(crate) providers: String,
    /// Until the first of them may be tried again.
    pub(crate) remaining: Duration,
    /// Whether all of them asked to wait.
    pub(crate) are_limited: bool,
}

/// Plans the attempts for a chain of targets: each with all of its keys, without those whose circuit is open.
pub(crate) fn plan(chain: Vec<Arc<PreparedTarget>>, now: Instant) -> Result<Planned, AllOpen> {
    let mut plans: Vec<Plan> = Vec::new();
    let mut probe = None;
    let mut remaining = Duration::MAX;
    let mut closed: Vec<String> = Vec::new();
    let mut are_limited = true;
    for prepared in chain {
        let provider = &prepared.provider;
        let circuit = provider.circuit(now);
        let usable = match circuit {
            BreakerState::Closed => true,
            BreakerState::Open { .. } => false,
            // Only the first target is sure to be tried. A later one is probed when its turn comes.
            BreakerState::HalfOpen => {
                !plans.is_empty() || {
                    probe = provider.probe(now);
                    probe.is_some()
                }
            }
        };
        if usable {
            let keys = provider.keys_in_turn(now);
            plans.extend(keys.into_iter().map(|key| Plan {
                prepared: Arc::clone(&prepared),
                key,
            }));
            continue;
        }
        let pause = match circuit {
            BreakerState::Open { remaining } => remaining,
            _ => Duration::from_secs(1),
        };
        remaining = remaining.min(pause);
        are_limited &= provider.is_limited();
        if !closed.contains(&provider.name) {
            closed.push(provider.name.clone());
        }
    }
    if plans.is_empty() {
        return Err(AllOpen {
            providers: closed.join(", "),
            remaining: remaining.min(Duration::from_secs(600)),
            are_limited,
        });
    }
    Ok(Planned {
        attempts: plans,
        probe,
    })
}

/// Returns the proxy's target of an attempt. `reason` is why the label was chosen.
pub(crate) fn target(plan: &Plan, label: &str, reason: &str, settings: &RouteSettings) -> Target {
    let prepared = &plan.prepared;
    let timeouts = prepared.target.timeouts;
    let header = route_header(label, &plan.name(), reason);
    Target {
        codec: Some(Arc::new(ProviderCodec::new(prepared, plan.key))),
        is_foreign: true,
        timeouts: Timeouts {
            first_byte: Some(timeouts.first_byte.unwrap_or(settings.first_byte)),
            idle: Some(timeouts.idle.unwrap_or(settings.idle)),
        },
        response_headers: header.into_iter().map(|value| (ROUTE_HEADER, value)).collect(),
        ping: (!settings.ping.is_zero()).then_some(settings.ping),
        ..Target::new(prepared.upstream.clone())
    }
}
