//! Reading what prompts ask for, without a model.

use crate::{Intent, IntentQuestion};

/// Tells what prompts ask for.
pub type IntentFn<'a> = &'a (dyn Fn(&IntentQuestion) -> Intent + Send + Sync);
