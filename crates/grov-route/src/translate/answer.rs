//! The provider's answer in the form of its API.

use super::chat::answer::{ChatAnswer, Unreadable};
use super::event::Event;
use super::responses::answer::ResponsesAnswer;

/// Reads answers of one API.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Chat Completions.
    Chat(ChatAnswer),
    /// Responses.
    Responses(ResponsesAnswer),
}

impl Answer {
    /// Reads the payload of an event.
    pub(crate) fn chunk(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
        match self {
            Self::Chat(answer) => answer.chunk(data, out),
            Self::Responses(answer) => answer.chunk(data, out),
        }
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
        match self {
            Self::Chat(answer) => answer.body(data, out),
            Self::Responses(answer) => answer.body(data, out),
        }
    }
}
