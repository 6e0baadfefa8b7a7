//! The real binaries as a user meets them.
#![forbid(unsafe_code)]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "a test binary has no readers of its interface"
)]

mod access;
mod agent;
mod clearing;
mod clients;
mod command_line;
mod consent;
mod cost;
mod dashboard;
mod evaluation;
mod guard;
mod guard_under_load;
mod hooks;
mod inbox;
mod injected;
mod judge;
mod link;
mod load;
mod local_model;
mod many_clients;
mod mcp;
mod memory;
mod mitm;
mod plans;
mod planted;
mod port_taken;
mod real_client;
mod restarting;
mod routing;
mod run;
mod secrets;
mod service;
mod shell_function;
mod starting;
mod static_model;
mod stopping;
mod store_faults;
mod telemetry;
mod tls;
mod tools;
mod turn;
mod upstream;
mod work;
