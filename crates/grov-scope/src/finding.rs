//! Construction of findings.

use grov_domain::{Finding, Rule};

pub(crate) fn finding(rule: Rule, at_most: u8, file: Option<&str>, reason: impl Into<String>) -> Finding {
    Finding::new(rule, at_most, file, reason)
}
