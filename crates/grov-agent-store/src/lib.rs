//! The agent service's store on SQLite and PostgreSQL.
#![forbid(unsafe_code)]
