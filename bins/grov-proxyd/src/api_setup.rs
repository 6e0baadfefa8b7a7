//! Upstreams for the clients of other providers.

use grov_proxy_core::{ApiUpstreams, BuildError, ProxyBuilder, Upstream};
use grov_runtime::ProxySettings;

/// Sends requests to the APIs of other providers to their own upstreams.
pub(crate) fn with_upstreams(
    builder: ProxyBuilder,
    settings: &ProxySettings,
) -> Result<ProxyBuilder, BuildError> {
    let added = |address: &str| {
        let upstream = Upstream::parse(address)?;
        Ok::<_, BuildError>(builder.upstreams().add(upstream, settings.connect_timeout))
    };
    let upstreams = ApiUpstreams {
        openai: settings.openai_address().map(added).transpose()?,
        gemini: settings.gemini_address().map(added).transpose()?,
    };
    Ok(builder.api_upstreams(upstreams))
}
