//! `grov-agentd`: the agent service.
#![forbid(unsafe_code)]

fn main() {}
