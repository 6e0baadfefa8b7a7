//! The agent service's HTTP interface.
#![forbid(unsafe_code)]
