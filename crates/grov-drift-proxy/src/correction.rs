//! What the agent is told.

pub(crate) use grov_session::correction::{Situation, framed, hash, text};
