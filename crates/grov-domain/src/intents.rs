//! Reading what prompts ask for, without a model.

use crate::{Intent, IntentQuestion};

/// Tells what prompts ask for.
pub type IntentFn<'a> = &'a (dyn Fn(&IntentQuestion) -> Intent + Send + Sync);

/// Reads prompts, and reads none twice: a session is asked about the same prompts again and again, each time with one more.
pub trait IntentExtractor: Send + Sync {
    /// What the user wants.
    fn extract_intent(&self, question: &IntentQuestion) -> Intent;

    /// Reads a prompt before a question about it.
    fn prefetch(&self, prompt: &str);

    /// Reads a prompt before a question about it alone, or about it as the newest of several.
    fn prefetch_alone(&self, prompt: &str);
}
