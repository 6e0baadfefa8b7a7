//! The request side from outside: index, skeleton and edits, checked against a `serde_json` tree of the same bytes.

mod against_value;
mod recorded;
