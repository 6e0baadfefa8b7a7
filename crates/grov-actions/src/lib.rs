//! (charter to come)
