//! Who can use the running proxy: TLS, tokens, other machines.

use super::Check;
use crate::context::Context;
use crate::daemon_health::{LiveAccess, LiveTls, ProxyView};
use grov_domain::{Clock, SystemClock};
use grov_hooks::settings::token_of;
use grov_runtime::Tokens;
use std::collections::BTreeMap;
use time::Duration;

const NAME: &str = "access";
/// From this long before the end of the certificate on, its end is reported.
const WARN_BEFORE: Duration = Duration::days(14);

/// Checks a running proxy that is protected, or that other machines can reach. `client` are the client's variables, if it uses the
/// proxy.
pub(super) fn checks(
    context: &Context,
    daemon: &ProxyView,
    client: Option<&BTreeMap<String, String>>,
) -> Vec<Check> {
    let Some(access) = daemon.access.as_ref().filter(|_| daemon.running) else {
        return Vec::new();
    };
    let mut checks: Vec<Check> = [
        insecure(access),
        access.tls.as_ref().and_then(certificate),
        no_token(access),
    ]
    .into_iter()
    .flatten()
    .collect();
    if access.tokens.is_some()
        && let Some(client) = client
    {
        checks.extend(client_token(context, client));
    }
    if checks.is_empty() && (access.reachable || access.tls.is_some() || access.tokens.is_some()) {
        checks.push(Check::ok(NAME, access.summary()));
    }
    checks
}

fn insecure(access: &LiveAccess) -> Option<Check> {
    let check = Check::warn(NAME, access.summary())
        .consequence("Anyone in the network may use the proxy, or read what passes.")
        .fix("set ENABLE_TLS and ENABLE_AUTH to true, or proxy.host to 127.0.0.1, and restart the proxy");
    access.insecure.then_some(check)
}

fn certificate(tls: &LiveTls) -> Option<Check> {
    if let Some(error) = &tls.last_error {
        let check = Check::warn(NAME, format!("the renewed certificate is not in use: {error}"));
        return Some(
            check
                .consequence("Clients fail once the old one expires.")
                .fix("correct the files"),
        );
    }
    let left = tls.not_after - SystemClock.now();
    (left < WARN_BEFORE).then(|| {
        let fix = match tls.self_signed {
            true => "restart the proxy: it makes a new one, which clients have to trust",
            false => "renew it; the proxy uses the new files without a restart",
        };
        Check::warn(
            NAME,
            format!("the certificate is valid until {}", tls.not_after.date()),
        )
        .consequence("Clients fail once it expires.")
        .fix(fix)
    })
}

fn no_token(access: &LiveAccess) -> Option<Check> {
    let is_useless = access.tokens.as_ref().is_some_and(|tokens| tokens.active == 0);
    is_useless.then(|| {
        Check::warn(NAME, "the proxy asks for a token, and none is active")
            .consequence("It refuses every request.")
            .fix("grov token create NAME, or grov init --proxy for the client of this machine")
    })
}

/// Checks the token that the client sends.
fn client_token(context: &Context, client: &BTreeMap<String, String>) -> Option<Check> {
    let headers = client.get("ANTHROPIC_CUSTOM_HEADERS");
    let token = headers.and_then(|headers| token_of(headers));
    let known = Tokens::read(&context.home).ok()?;
    let now = SystemClock.now();
    let problem = match token.map(|token| known.find(token.expose().as_bytes()).cloned()) {
        None => "the client sends no token",
        Some(None) => "the client sends a token that the proxy does not know",
        Some(Some(token)) if !token.is_active(now) => {
            "the client sends a token that has expired or was revoked"
        }
        Some(Some(_)) => return None,
    };
    let check = Check::fail(NAME, problem).consequence("The proxy refuses its requests.");
    Some(check.fix("grov init --proxy"))
}
