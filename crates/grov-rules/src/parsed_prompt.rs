//! A parsed prompt, from which intents are combined.

use super::clean::clean;
use super::constraints::MAX_CONSTRAINTS;
use super::goal::{Goal, Sentence};
use super::phrased;
use super::scope::{self, Keywords};
use super::text::push_new;
use super::turning_away::turns_away;
use std::sync::OnceLock;

/// A parsed prompt. The parts that only the newest prompts need are computed lazily.
#[derive(Debug)]
pub(crate) struct ParsedPrompt {
    /// The cleaned text.
    text: String,
    sentences: Vec<Sentence>,
    /// Paths and identifiers it names.
    pub(crate) named: Vec<String>,
    /// Its constraints.
    pub(crate) constraints: Vec<String>,
    /// The clauses that permit something, which an earlier prompt may have forbidden.
    pub(crate) permissions: Vec<String>,
    goal: OnceLock<Goal>,
    goal_words: OnceLock<Keywords>,
    text_words: OnceLock<Keywords>,
    turns_away: OnceLock<bool>,
}

impl ParsedPrompt {
    /// Parses a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        let cleaned = clean(prompt);
        let mut named = Vec::new();
        scope::named(&cleaned.whole, &mut named);
        let sentences = Sentence::read(cleaned.sentences());
        let mut constraints = Vec::new();
        for constraint in sentences.iter().flat_map(Sentence::constraints) {
            push_new(&mut constraints, constraint.clone(), MAX_CONSTRAINTS);
        }
        named.retain(|name| !is_forbidden(name, &cleaned.whole, &constraints));
        let permissions = sentences.iter().flat_map(Sentence::permissions);
        Self {
            permissions: permissions.map(str::to_owned).collect(),
            constraints,
            named,
            sentences,
            text: cleaned.best().to_owned(),
            goal: OnceLock::new(),
            goal_words: OnceLock::new(),
            text_words: OnceLock::new(),
            turns_away: OnceLock::new(),
        }
    }

    /// Whether it starts with a clause of assent: "looks good, do it. But …".
    pub(crate) fn opens_with_assent(&self) -> bool {
        self.sentences.first().is_some_and(Sentence::opens_with_assent)
    }

    /// Its goal.
    pub(crate) fn goal(&self) -> &Goal {
        self.goal.get_or_init(|| Goal::of(&self.sentences))
    }

    /// Whether it turns away from the work so far.
    pub(crate) fn turns_away(&self) -> bool {
        let texts = || self.sentences.iter().map(Sentence::text);
        *self.turns_away.get_or_init(|| turns_away(texts()))
    }

    /// Keywords of its goal.
    pub(crate) fn goal_words(&self) -> &Keywords {
        self.goal_words.get_or_init(|| Keywords::of(&self.goal().text))
    }

    /// Keywords of the whole text.
    pub(crate) fn text_words(&self) -> &Keywords {
        if self.text == self.goal().text {
            return self.goal_words();
        }
        self.text_words.get_or_init(|| Keywords::of(&self.text))
    }
}

impl AsRef<Goal> for ParsedPrompt {
    fn as_ref(&self) -> &Goal {
        self.goal()
    }
}

/// Whether a name occurs in prohibitions only. "Only src/" and "stay in src/" are no prohibitions.
fn is_forbidden(name: &str, text: &str, constraints: &[String]) -> bool {
    let in_constraints: usize = constraints
        .iter()
        .filter(|constraint| constraint.contains(name) && !phrased::confines(constraint))
        .map(|constraint| constraint.matches(name).count())
        .sum();
    in_constraints > 0 && in_constraints >= text.matches(name).count()
}
