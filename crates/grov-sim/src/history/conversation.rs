//! One message list of the client, and its pending state.

use super::body::{self, Sender};
use super::transcript::{self, Extra, Item, Piece, Style};
use crate::json::Json;
use crate::request::{is_type, takes_system_role};

/// A conversation: the main one of a session, or a subagent's.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    pub(super) session: String,
    pub(super) agent: Option<String>,
    /// Conversations with a common history have the same number.
    pub(super) family: usize,
    pub(super) model: &'static str,
    /// Whether this is a subagent with its own prompt; one that inherited a history uses its parent's.
    pub(super) own_prompt: bool,
    pub(super) items: Vec<Item>,
    /// A turn is running: the newest request waits for its answer.
    pub(super) running: bool,
    /// Sent with the next message.
    pub(super) waiting: Vec<Piece>,
    /// Text of `/clear` and `/compact` that goes before the next prompt.
    pub(super) before_prompt: Vec<Piece>,
    pub(super) summed_up: bool,
    /// The index of the newest request in the list of events.
    pub(super) newest: Option<usize>,
    /// The history at each request since the beginning; `None` once it was rewritten or if it began in another
    /// conversation.
    pub(super) steps: Option<Vec<Vec<Item>>>,
}

impl Conversation {
    pub(super) fn new(session: String, family: usize, model: &'static str) -> Self {
        Self {
            session,
            agent: None,
            family,
            model,
            own_prompt: false,
            items: Vec::new(),
            running: false,
            waiting: Vec::new(),
            before_prompt: Vec::new(),
            summed_up: false,
            newest: None,
            steps: Some(Vec::new()),
        }
    }

    pub(super) fn body(&self, day: u8, extra: Extra) -> Json {
        let style = Style {
            newer: takes_system_role(self.model),
            day,
            summed_up: self.summed_up,
        };
        body::step(self.sender(), transcript::write(&self.items, style, extra))
    }

    pub(super) fn sender(&self) -> Sender<'_> {
        Sender {
            model: self.model,
            session: &self.session,
            subagent: self.own_prompt,
            first_words: self.first_words(),
        }
    }

    pub(super) fn first_words(&self) -> &str {
        let Some(Item::User { pieces, .. }) = self.items.first() else {
            return "";
        };
        pieces
            .iter()
            .find_map(|piece| match piece {
                Piece::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// Adds the user's side, with all waiting pieces. Hook contexts and reminders come before a prompt and after
    /// results.
    pub(super) fn add_user_message(&mut self, pieces: Vec<Piece>, prompt: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut all = Vec::new();
        if prompt {
            self.settle_tool_contexts();
            all.append(&mut self.before_prompt);
            all.extend(waiting);
            all.extend(pieces);
        } else {
            all.extend(pieces);
            all.extend(waiting);
        }
        self.items.push(Item::User { pieces: all, prompt });
    }

    /// Ends a turn: contexts of tool hooks take their later form.
    pub(super) fn settle_tool_contexts(&mut self) {
        for piece in self.pieces_mut() {
            if let Piece::ToolContext { moved, .. } = piece {
                *moved = true;
            }
        }
    }

    pub(super) fn clear_results(&mut self) {
        let newest = self
            .items
            .iter()
            .rposition(|item| matches!(item, Item::User { .. }));
        let old = newest.unwrap_or(0);
        for item in self.items.iter_mut().take(old) {
            let Item::User { pieces, .. } = item else { continue };
            for piece in pieces {
                if let Piece::Result { cleared, .. } = piece {
                    *cleared = true;
                }
            }
        }
        self.steps = None;
    }

    /// Changes what another process may serialise differently: the order of an input's keys, the order of results,
    /// thinking.
    pub(super) fn rewrite(&mut self) {
        for item in &mut self.items {
            match item {
                Item::Assistant(blocks) => {
                    if blocks.iter().any(|block| !is_type(block, "thinking")) {
                        blocks.retain(|block| !is_type(block, "thinking"));
                    }
                    for block in blocks {
                        if let Some(Json::Object(mut members)) = block.get("input").cloned() {
                            members.reverse();
                            block.set("input", Json::Object(members));
                        }
                    }
                }
                Item::User { pieces, .. } => {
                    let results = pieces
                        .iter()
                        .take_while(|piece| matches!(piece, Piece::Result { .. }))
                        .count();
                    pieces[..results].reverse();
                }
            }
        }
        self.steps = None;
    }

    /// The positions where the history can be cut: before prompts that the user typed after an answer, the last one
    /// first.
    pub(super) fn cuts(&self) -> Vec<usize> {
        let typed = |at: &usize| matches!(self.items[*at], Item::User { prompt: true, .. });
        let after_answer = |at: &usize| at.checked_sub(1).is_none_or(|before| !self.user_at(before));
        (0..self.items.len())
            .rev()
            .filter(typed)
            .filter(after_answer)
            .collect()
    }

    /// The text of the prompt at a cut.
    pub(super) fn prompt_at(&self, cut: usize) -> Option<String> {
        match self.items.get(cut)? {
            Item::User { pieces, .. } => pieces.iter().rev().find_map(|piece| match piece {
                Piece::Text(text) => Some(text.clone()),
                _ => None,
            }),
            Item::Assistant(_) => None,
        }
    }

    /// Replaces everything but the last exchange by a summary.
    pub(super) fn sum_up(&mut self, summary: String) {
        let last_answer = self
            .items
            .iter()
            .rposition(|item| matches!(item, Item::Assistant(_)));
        let tail = match last_answer {
            Some(at) => self.items.split_off(at),
            None => Vec::new(),
        };
        self.items = vec![Item::User {
            pieces: vec![Piece::Text(summary)],
            prompt: false,
        }];
        self.items.extend(tail);
        self.summed_up = true;
        self.steps = None;
    }

    pub(super) fn ends_with_answer(&self) -> bool {
        matches!(self.items.last(), Some(Item::Assistant(_)))
    }

    pub(super) fn ends_with_results(&self) -> bool {
        match self.items.last() {
            Some(Item::User { pieces, .. }) => matches!(pieces.first(), Some(Piece::Result { .. })),
            _ => false,
        }
    }

    fn user_at(&self, at: usize) -> bool {
        matches!(self.items.get(at), Some(Item::User { .. }))
    }

    fn pieces_mut(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.items
            .iter_mut()
            .filter_map(|item| match item {
                Item::User { pieces, .. } => Some(pieces),
                Item::Assistant(_) => None,
            })
            .flatten()
    }
}
