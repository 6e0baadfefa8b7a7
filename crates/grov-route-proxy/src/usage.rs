//! Reports what each routed exchange used and cost.

use grov_domain::{MicroUsd, RoutedUsage, TokenUsage};
use grov_proxy_core::ObservedExchange;
use grov_route::{Target, TokenCounts};
use std::sync::OnceLock;
use tokio::sync::mpsc;

/// Reports that wait at most. More are dropped and logged: they are figures for the user, and the proxy must not wait.
const MAX_WAITING: usize = 1024;

/// Sends reports to one subscriber.
#[derive(Default)]
pub(crate) struct UsageReports(OnceLock<mpsc::Sender<RoutedUsage>>);

impl UsageReports {
    /// Returns the receiver of all later reports; a closed one if it was asked for before.
    pub(crate) fn subscribe(&self) -> mpsc::Receiver<RoutedUsage> {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        let _ = self.0.set(sender);
        receiver
    }

    /// Reports an exchange that used tokens, also if it failed: the provider charges for it.
    pub(crate) fn report(&self, target: &Target, exchange: &ObservedExchange) {
        let Some(sender) = self.0.get() else {
            return;
        };
        let usage = of(target, exchange);
        if usage.tokens != TokenUsage::default() && sender.try_send(usage).is_err() {
            tracing::warn!("usage of a routed request was not recorded: the store is too slow, or stopped");
        }
    }
}

fn of(target: &Target, exchange: &ObservedExchange) -> RoutedUsage {
    let usage = &exchange.turn.usage;
    let asked_model = exchange.request.index().and_then(|index| index.model());
    let asked_model = asked_model.map(|model| model.into_owned()).unwrap_or_default();
    let counts = TokenCounts {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_creation,
    };
    let cost = target.cost(&asked_model, &counts);
    // `/model PROVIDER,LABEL` asks for the routed model itself, which saves nothing.
    let (own, asked, unpriced) = match (cost.cost, cost.asked_for) {
        (Some(own), asked) => (own, asked.unwrap_or(own), 0),
        (None, _) => (0, 0, 1),
    };
    RoutedUsage {
        day: exchange.ended_at,
        provider: target.provider.clone(),
        label: target.label.clone(),
        model: target.model.clone(),
        asked_model,
        requests: 1,
        unpriced,
        tokens: TokenUsage {
            input: usage.input,
            cache_read: usage.cache_read,
            cache_creation: usage.cache_creation,
            output: usage.output,
            ..TokenUsage::default()
        },
        cost: MicroUsd(own),
        asked_cost: MicroUsd(asked),
    }
}
