//! Reads the payloads of a stream.

use crate::translate::answer::Answer;
use crate::translate::event::Event;
use crate::translate::sse::{Payloads, Taken};
use crate::translate::transform::ResponseChain;

/// Payloads in a row that may be unreadable before the stream is given up.
pub(super) const MAX_UNREADABLE: u32 = 3;

/// The state of a stream besides the unfinished line.
pub(super) struct StreamState {
    answer: Answer,
    unreadable: u32,
    done: bool,
    readable: bool,
}

impl StreamState {
    pub(super) fn new(answer: Answer) -> Self {
        Self {
            answer,
            unreadable: 0,
            done: false,
            readable: false,
        }
    }

    /// Whether too many payloads in a row could not be read.
    pub(super) fn is_unreadable(&self) -> bool {
        self.unreadable >= MAX_UNREADABLE
    }

    /// Whether any payload could be read.
    pub(super) fn is_readable(&self) -> bool {
        self.readable
    }
}

/// Reads the payloads of a stream.
pub(super) struct Take<'t> {
    pub(super) state: &'t mut StreamState,
    pub(super) chain: &'t mut ResponseChain,
    pub(super) events: &'t mut Vec<Event>,
}

impl Payloads for Take<'_> {
    fn take(&mut self, data: &[u8]) -> Taken {
        if self.state.done {
            return Taken::Yes;
        }
        if data.trim_ascii() == b"[DONE]" {
            self.state.done = true;
            self.chain.event(Event::End, self.events);
            return Taken::Yes;
        }
        let mut read = Vec::new();
        if self.state.answer.chunk(data, &mut read).is_err() {
            return Taken::No;
        }
        self.state.unreadable = 0;
        self.state.readable = true;
        for event in read {
            self.state.done |= matches!(event, Event::Error(_) | Event::End);
            self.chain.event(event, self.events);
        }
        Taken::Yes
    }

    fn lost(&mut self, _: &[u8]) {
        if !self.state.done {
            self.state.unreadable += 1;
            // The third in a row ends the stream, even if a readable one follows in the same chunk.
            self.state.done |= self.state.unreadable >= MAX_UNREADABLE;
        }
    }
}
