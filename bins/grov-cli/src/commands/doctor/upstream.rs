//! The upstream that the proxy forwards requests to: reachable, with a certificate that this machine trusts.

use super::Check;
use crate::context::Context;
use grov_proxy_core::{ProbeError, Upstream, probe};
use grov_runtime::without_credentials;
use std::time::Duration;

const NAME: &str = "upstream";
/// Most servers answer within a second.
const LIMIT: Duration = Duration::from_secs(3);

pub(super) fn check(context: &Context) -> Check {
    let url = context.settings.proxy().upstream.as_str();
    let shown = without_credentials(url);
    let upstream = match Upstream::parse(url) {
        Ok(upstream) => upstream,
        Err(error) => {
            return Check::fail(NAME, format!("{shown}: {error}"))
                .consequence("The proxy does not start.")
                .fix("correct proxy.upstream: grov config set proxy.upstream URL");
        }
    };
    let is_secure = upstream.is_secure();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        return Check::warn(NAME, "not tried: the async runtime does not start")
            .consequence("It is not known whether the proxy reaches its upstream.")
            .fix("run grov doctor again");
    };
    let result = runtime.block_on(probe(upstream, LIMIT));
    // A name that is still being resolved must not delay the report.
    runtime.shutdown_background();
    match result {
        Ok(()) if is_secure => Check::ok(NAME, format!("{shown} answers, with a trusted certificate")),
        Ok(()) => Check::ok(NAME, format!("{shown} answers")),
        Err(ProbeError::NotSecure(error)) => Check::fail(NAME, format!("{shown}: {error}"))
            .consequence("Requests through the proxy fail.")
            .fix("if a company proxy replaces certificates, add its authority to this machine's trusted certificates, or name its file in SSL_CERT_FILE"),
        Err(error) => Check::warn(NAME, format!("{shown}: {error}"))
            .consequence("While it cannot be reached, requests through the proxy fail.")
            .fix("check the network; behind an HTTP proxy set HTTPS_PROXY for grov-proxyd; another address: grov config set proxy.upstream URL"),
    }
}
