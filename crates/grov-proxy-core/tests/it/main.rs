//! Tests of the proxy between a scripted client and upstream.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod admin;
mod admission;
mod cancel;
mod clients;
mod failover;
mod framing;
mod intake;
mod intercepted;
mod limits;
mod observe;
mod policy;
mod pool;
mod relay;
mod route;
mod shutdown;
mod support;
mod translated;
mod upgrade;
