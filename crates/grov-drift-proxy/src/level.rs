//! From a score to how strongly the agent is corrected.

pub use grov_steer::level::level;
pub(crate) use grov_steer::level::{MOST_DOUBTS, ON_GOAL_FROM, lowered, raised, stronger};
