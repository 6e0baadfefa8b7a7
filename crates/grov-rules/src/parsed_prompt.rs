//! A parsed prompt, from which intents are combined.

use super::clean::clean;
use super::constraints::{self, MAX_CONSTRAINTS};
use super::goal::{Goal, Sentence, style_limits};
use super::phrased;
use super::scope::{self, Keywords};
use super::text::push_new;
use super::turning_away::turns_away;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A parsed prompt. The keywords, which only the newest prompts need, are computed lazily.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ParsedPrompt {
    /// The cleaned text, if it is more than the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Paths and identifiers it names.
    pub(crate) named: Vec<String>,
    /// Its constraints.
    pub(crate) constraints: Vec<String>,
    /// The clauses that permit something, which an earlier prompt may have forbidden.
    pub(crate) permissions: Vec<String>,
    goal: Goal,
    #[serde(skip)]
    goal_words: OnceLock<Keywords>,
    #[serde(skip)]
    text_words: OnceLock<Keywords>,
    /// Whether it turns away from the work so far.
    pub(crate) turns_away: bool,
    /// Whether it starts with a clause of assent: "looks good, do it. But …".
    pub(crate) opens_with_assent: bool,
}

impl ParsedPrompt {
    /// Parses a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        let cleaned = clean(prompt);
        let mut named = Vec::new();
        scope::named(&cleaned.whole, &mut named);
        let texts = cleaned.sentences();
        let sentences = Sentence::read(&texts);
        let mut constraints = Vec::new();
        let headed = constraints::headed::sentences(&texts);
        let listed = Sentence::read(&headed);
        for constraint in sentences.iter().chain(&listed).flat_map(Sentence::constraints) {
            push_new(&mut constraints, constraint.clone(), MAX_CONSTRAINTS);
        }
        let rules = constraints::standing::rules(&sentences);
        for limit in style_limits(&sentences).into_iter().chain(rules) {
            push_new(&mut constraints, limit.to_owned(), MAX_CONSTRAINTS);
        }
        named.retain(|name| !is_forbidden(name, &cleaned.whole, &constraints));
        let permissions = sentences.iter().flat_map(Sentence::permissions);
        let goal = Goal::of(&sentences);
        let text = cleaned.best();
        Self {
            permissions: permissions.map(str::to_owned).collect(),
            constraints,
            named,
            text: (text != goal.text).then(|| text.to_owned()),
            goal,
            turns_away: turns_away(&sentences),
            opens_with_assent: sentences.first().is_some_and(Sentence::opens_with_assent),
            goal_words: OnceLock::new(),
            text_words: OnceLock::new(),
        }
    }

    /// Its goal.
    pub(crate) fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Keywords of its goal.
    pub(crate) fn goal_words(&self) -> &Keywords {
        self.goal_words.get_or_init(|| Keywords::of(&self.goal().text))
    }

    /// Keywords of the whole text.
    pub(crate) fn text_words(&self) -> &Keywords {
        match &self.text {
            Some(text) => self.text_words.get_or_init(|| Keywords::of(text)),
            None => self.goal_words(),
        }
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
