//! Drift, correction and recovery on live traffic.
#![forbid(unsafe_code)]
