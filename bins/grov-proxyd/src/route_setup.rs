//! Sets up routing to other models.

use grov_domain::{Redacted, RoutedUsage, RoutedUsageStore};
use grov_proxy_core::ProxyBuilder;
use grov_route_proxy::{ProviderSource, RouteSettings, Routes};
use grov_runtime::{Environment, Home, ProviderFiles};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Makes the proxy use the provider file of the home. Returns the builder and the routes, whose background work is to be started.
pub(crate) fn routed(
    builder: ProxyBuilder,
    home: &Home,
    environment: &Environment,
    settings: &grov_runtime::RouteSettings,
) -> (ProxyBuilder, Routes) {
    let files = ProviderFiles::new(home, environment, settings);
    let source = ProviderSource {
        candidates: files.candidates().to_vec(),
        variables: vec![files.env_file().to_owned()],
        environment: Box::new(move |name| files.variable(name)),
    };
    let limits = RouteSettings {
        connect: settings.connect_timeout,
        first_byte: settings.first_byte_timeout,
        idle: settings.idle_timeout,
        ping: settings.ping_interval,
    };
    let routes = Routes::new(source, builder.upstreams(), limits);
    (routes.configure(builder), routes)
}

/// Stores what routed requests used and cost, until `stop` resolves and all reports are stored.
pub(crate) async fn record_usage(
    mut reports: mpsc::Receiver<RoutedUsage>,
    store: Arc<impl RoutedUsageStore>,
    stop: impl Future<Output = ()>,
) {
    let mut stop = std::pin::pin!(stop);
    loop {
        let report = tokio::select! {
            () = &mut stop, if !reports.is_closed() => {
                reports.close();
                continue;
            }
            report = reports.recv() => report,
        };
        let Some(report) = report else { return };
        if let Err(error) = store.add_routed_usage(&Redacted::of(&report)).await {
            tracing::warn!(%error, "the usage of a routed request was not recorded");
        }
    }
}
