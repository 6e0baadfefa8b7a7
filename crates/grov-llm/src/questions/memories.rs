//! The question which memories help with a prompt.

use super::{Question, schema};
use crate::answer::{AnswerError, Fields};
use crate::quote;
use crate::request::{ModelRequest, PromptData, limits};
use grov_domain::{MemoryChoiceQuestion, Purpose};

/// The most memories of an answer.
const MAX_CHOSEN: usize = 3;

fn shown(question: &MemoryChoiceQuestion) -> Vec<String> {
    let memories = question.memories.iter().take(limits::MEMORY_COUNT);
    memories
        .map(|memory| quote::line(memory, limits::MEMORY))
        .collect()
}

impl Question for MemoryChoiceQuestion {
    type Answer = Vec<usize>;
    /// The number of memories.
    type Known = usize;

    fn request(&self) -> ModelRequest {
        let material = PromptData::default()
            .text("prompt", &self.prompt, limits::NEWEST_PROMPT)
            .numbered("memories", &shown(self));
        let shape = schema::object(&[("chosen", schema::list(&schema::number(), MAX_CHOSEN))]);
        let instructions = include_str!("../../prompts/choose_memories.v1.md");
        ModelRequest::new(Purpose::ChooseMemories, instructions, material, shape, 60)
    }

    fn known(&self) -> usize {
        self.memories.len().min(limits::MEMORY_COUNT)
    }

    fn read(fields: &Fields, count: &usize) -> Result<Vec<usize>, AnswerError> {
        let numbers = fields.numbers("chosen")?;
        let mut chosen: Vec<usize> = Vec::new();
        for place in numbers.into_iter().filter_map(|number| number.checked_sub(1)) {
            if place < *count && chosen.len() < MAX_CHOSEN && !chosen.contains(&place) {
                chosen.push(place);
            }
        }
        Ok(chosen)
    }
}
