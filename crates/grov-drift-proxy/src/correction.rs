//! What the agent is told.

pub(crate) use grov_steer::correction::{Situation, framed, hash, text};
