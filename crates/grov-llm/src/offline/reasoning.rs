//! What the team should remember of a task.

use super::constraints;
use super::material;
use super::text::{push_new, shorten};
use grov_domain::{Reasoning, ReasoningQuestion};

/// What the team should remember: what was done (at most 20 lines), decisions with reasons (8), limits (20), labels (8).
pub fn extract_reasoning(question: &ReasoningQuestion) -> Reasoning {
    let actions = material::newest(&question.actions);
    let texts = || {
        actions
            .iter()
            .filter_map(|action| action.reasoning.as_deref())
            .chain(std::iter::once(question.answer.as_str()))
    };
    let mut reasoning_trace = material::trace(actions);
    if reasoning_trace.is_empty()
        && let Some(said) = material::first_sentence(&question.answer, 200)
    {
        reasoning_trace.push(format!("Answered: {said}"));
    }
    let mut limits = Vec::new();
    for known in &question.constraints {
        push_new(&mut limits, shorten(known, 200), constraints::MOST);
    }
    material::limits(texts(), &mut limits);
    Reasoning {
        reasoning_trace,
        decisions: material::decisions(texts()),
        constraints: limits,
        tags: material::tags(actions, &question.goal),
    }
}
