//! Sets up routing to other models.

use grov_proxy_core::ProxyBuilder;
use grov_route_proxy::{ProviderSource, RouteSettings, Routes};
use grov_runtime::{Environment, Home, ProviderFiles};

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
