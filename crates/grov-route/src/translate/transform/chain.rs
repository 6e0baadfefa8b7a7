//! The transforms of one response, in the order in which they run.

use super::enhance_tool::EnhanceTool;
use super::exit_tool::{self, ExitTool};
use super::fixes::{CallIds, Reasoning, ReasoningName};
use super::tags::{REASONING_TAGS, THINK_TAGS, TagSplitter};
use super::text_calls::TextCalls;
use super::{Phase, Transform, run_order};
use crate::translate::event::Event;

/// Changes the events of a response.
pub(super) trait Step: Send {
    /// Says, before the first event, that the answer is not a stream.
    fn whole(&mut self) {}

    /// Processes an event. What is held back must be written before [`Event::End`].
    fn event(&mut self, event: Event, out: &mut Vec<Event>);
}

/// What transforms know of the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseContext {
    /// The names of the tools that the request offers.
    pub(crate) tools: Vec<String>,
}

/// The transforms of one response.
#[derive(Default)]
pub struct ResponseChain {
    steps: Vec<Box<dyn Step>>,
}

impl ResponseChain {
    /// The chain for a response without its request. Calls written as text are not recognized.
    pub fn new(transforms: &[Transform]) -> Self {
        Self::with_context(transforms, &ResponseContext::default())
    }

    pub(crate) fn with_context(transforms: &[Transform], context: &ResponseContext) -> Self {
        let order = run_order(transforms, Phase::Response, stage);
        let tags = || order.iter().copied().filter_map(tags_step).collect();
        let mut steps: Vec<Box<dyn Step>> = Vec::new();
        for transform in order.iter().copied() {
            match transform {
                Transform::Groq => steps.push(Box::new(CallIds)),
                Transform::OpenRouter => {
                    steps.push(Box::new(CallIds));
                    steps.push(Box::new(ReasoningName));
                }
                Transform::ExtraThinkTag | Transform::ForceReasoning => {
                    steps.extend(tags_step(transform));
                }
                Transform::EnhanceTool => {
                    let passed = transforms
                        .contains(&Transform::ToolUse)
                        .then_some(exit_tool::NAME);
                    if !context.tools.is_empty() {
                        let mut tools = context.tools.clone();
                        tools.extend(passed.map(str::to_owned));
                        steps.push(Box::new(TextCalls::new(tools)));
                    }
                    steps.push(Box::new(EnhanceTool::new(passed)));
                }
                Transform::ToolUse => steps.push(Box::new(ExitTool::new(tags()))),
                Transform::Reasoning => steps.push(Box::new(Reasoning)),
                Transform::Schema(_)
                | Transform::DeepSeek
                | Transform::MaxTokens
                | Transform::CleanCache
                | Transform::CustomParams => {}
            }
        }
        Self { steps }
    }

    /// Says, before the first event, that the answer is one body and not a stream.
    pub fn whole(&mut self) {
        self.steps.iter_mut().for_each(|step| step.whole());
    }

    /// Processes an event and appends the results to `out`.
    pub fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        run(&mut self.steps, event, out);
    }
}

pub(super) fn run(steps: &mut [Box<dyn Step>], event: Event, out: &mut Vec<Event>) {
    let Some((first, rest)) = steps.split_first_mut() else {
        out.push(event);
        return;
    };
    let mut results = Vec::new();
    first.event(event, &mut results);
    for event in results {
        run(rest, event, out);
    }
}

/// First repair what the provider sent, then find thinking and calls in text, then the call that is an answer.
fn stage(transform: Transform) -> u8 {
    match transform {
        Transform::OpenRouter | Transform::Groq => 0,
        Transform::ExtraThinkTag | Transform::ForceReasoning => 1,
        Transform::EnhanceTool => 2,
        Transform::ToolUse => 3,
        _ => 4,
    }
}

/// The step that finds thinking in text.
fn tags_step(transform: Transform) -> Option<Box<dyn Step>> {
    let tags = match transform {
        Transform::ExtraThinkTag => THINK_TAGS,
        Transform::ForceReasoning => REASONING_TAGS,
        _ => return None,
    };
    Some(Box::new(TagSplitter::new(tags)))
}
