//! From a score to how strongly the agent is corrected.

pub use grov_session::level::level;
pub(crate) use grov_session::level::{MOST_DOUBTS, ON_GOAL_FROM, lowered, raised, stronger};
