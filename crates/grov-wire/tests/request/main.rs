//! The request side from outside: index, skeleton and edits, checked against a `serde_json` tree of the same
//! bytes.

mod against_value;
mod edits;
mod generated;
mod golden;
mod hostile;
mod json_grammar;
mod recorded;
mod skeleton;
