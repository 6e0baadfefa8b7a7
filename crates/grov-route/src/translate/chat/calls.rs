//! Tells apart the tool calls of an answer, however the provider numbers them.

use super::answer::CallDelta;
use crate::translate::event::Event;

/// Calls beyond this number are dropped. An answer with so many is refused before.
const MAX_CALLS: usize = 8192;

/// Arguments without a name are dropped beyond this size, in bytes.
const MAX_EARLY: usize = 1 << 20;

/// The calls seen so far.
///
/// Providers name a call by `index`, by `id`, by both, or not at all. Some repeat the id or the name in every chunk, some
/// give all calls the same index.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    /// Whether the call has a name, and so was announced.
    named: bool,
    /// Arguments that arrived before the name.
    early: String,
}

impl Calls {
    /// Processes the part of a call that one chunk contains.
    pub(crate) fn delta(&mut self, delta: CallDelta, out: &mut Vec<Event>) {
        if self.0.len() > MAX_CALLS {
            return;
        }
        let at = self.find(&delta).unwrap_or_else(|| {
            self.0.push(Call {
                index: delta.index,
                id: String::new(),
                named: false,
                early: String::new(),
            });
            self.0.len() - 1
        });
        let call = &mut self.0[at];
        if call.id.is_empty() {
            call.id = delta.id;
        }
        if !call.named && !delta.name.is_empty() {
            call.named = true;
            out.push(Event::ToolStart {
                call: at,
                id: call.id.clone(),
                name: delta.name,
            });
            if !call.early.is_empty() {
                out.push(Event::ToolArguments {
                    call: at,
                    text: std::mem::take(&mut call.early),
                });
            }
        }
        if delta.arguments.is_empty() {
            return;
        }
        if call.named {
            out.push(Event::ToolArguments {
                call: at,
                text: delta.arguments,
            });
        } else if call.early.len() < MAX_EARLY {
            call.early.push_str(&delta.arguments);
        }
    }

    fn find(&self, delta: &CallDelta) -> Option<usize> {
        let names_call = !delta.name.is_empty();
        if let Some(index) = delta.index {
            let at = self.0.iter().rposition(|call| call.index == Some(index))?;
            let call = &self.0[at];
            let other_id = !delta.id.is_empty() && !call.id.is_empty() && delta.id != call.id;
            // The same index with another id and a name is another call.
            return if other_id && names_call {
                self.by_id(&delta.id)
            } else {
                Some(at)
            };
        }
        if !delta.id.is_empty() {
            return self
                .by_id(&delta.id)
                .or_else(|| self.last().filter(|_| !names_call));
        }
        self.last().filter(|at| !names_call || !self.0[*at].named)
    }

    fn by_id(&self, id: &str) -> Option<usize> {
        self.0.iter().rposition(|call| call.id == id)
    }

    fn last(&self) -> Option<usize> {
        self.0.len().checked_sub(1)
    }
}
