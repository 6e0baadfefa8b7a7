//! Extraction of intents from prompts without a model.

use crate::{Intent, IntentQuestion};

/// Extracts the intent of prompts.
pub type IntentFn<'a> = &'a (dyn Fn(&IntentQuestion) -> Intent + Send + Sync);
