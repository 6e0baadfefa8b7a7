//! What a session is held to: what the user typed, what the task in work is, and what a person changed of it.

use crate::session::Terms;
pub use grov_session::IntentReader;
pub(crate) use grov_session::{TaskGoal, instructions};
use std::ops::{Deref, DerefMut};

/// What a prompt says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    /// Something of its own.
    Substance,
    /// "Yes", "go on".
    Assent,
}

/// The contract of one session.
#[derive(Clone)]
pub(crate) struct Agreement(grov_session::Agreement);

impl Agreement {
    pub(crate) fn new(read: IntentReader) -> Self {
        Self(grov_session::Agreement::new(read))
    }

    /// The user typed something.
    pub(crate) fn prompted(&mut self, prompt: &str) -> PromptKind {
        if self.0.prompted(prompt) {
            PromptKind::Substance
        } else {
            PromptKind::Assent
        }
    }

    /// What is stored about it from before it was seen. How it stood then is returned.
    pub(crate) fn resume(&mut self, terms: Terms) -> Self {
        let mut before = Self(self.0.resume(terms.task, terms.prompts));
        before.edited(terms.edits.clone());
        self.edited(terms.edits);
        before
    }

    /// What is stored about it.
    pub(crate) fn take_over(&mut self, terms: Terms) {
        self.work_on(terms.task, terms.prompts);
        self.edited(terms.edits);
    }
}

impl Deref for Agreement {
    type Target = grov_session::Agreement;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Agreement {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
