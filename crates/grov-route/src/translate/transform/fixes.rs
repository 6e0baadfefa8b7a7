//! The response side of `openrouter` and `groq`.

use super::chain::Step;
use crate::translate::event::{Event, ReasoningField};
use crate::translate::ids::new_call_id;

/// Replaces ids that are mere numbers: they repeat in the next turn, and the API requires distinct ids.
pub(super) struct CallIds;

impl Step for CallIds {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        out.push(match event {
            Event::ToolStart { call, id, name } if id.bytes().all(|byte| byte.is_ascii_digit()) => {
                Event::ToolStart {
                    call,
                    id: if id.is_empty() { id } else { new_call_id() },
                    name,
                }
            }
            other => other,
        });
    }
}

/// Treats OpenRouter's field for reasoning like the usual one.
pub(super) struct ReasoningName;

impl Step for ReasoningName {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        out.push(match event {
            Event::Reasoning { text, .. } => Event::Reasoning {
                field: ReasoningField::Content,
                text,
            },
            other => other,
        });
    }
}

/// Shows reasoning as thinking.
pub(super) struct Reasoning;

impl Step for Reasoning {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        out.push(match event {
            Event::Reasoning { text, .. } => Event::Thinking(text),
            other => other,
        });
    }
}
