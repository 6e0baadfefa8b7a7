//! The contract test suite.
