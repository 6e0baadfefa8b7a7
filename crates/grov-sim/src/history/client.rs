//! Plays operations: sends the requests that they cause.

use super::body::{self, DIRECTORY, MODELS};
use super::conversation::Conversation;
use super::operation::{Moment, Operation, Why};
use super::transcript::{Extra, Item, Piece, text_block};
use super::{Event, Sent};
use crate::json::Json;
use crate::request::{Purpose, is_type};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const START: OffsetDateTime = datetime!(2026-01-01 09:00 UTC);
const CONTINUED: &str = "This session is being continued from a previous conversation that ran out of context. The \
                         summary below covers the earlier portion of the conversation.\n\n";

pub(super) struct Client {
    conversations: Vec<Conversation>,
    /// The conversation that was active last.
    busy: usize,
    events: Vec<Event>,
    now: OffsetDateTime,
    day: u8,
    /// A counter that makes every text and id unique.
    count: u32,
    families: usize,
    operation: usize,
}

impl Client {
    pub(super) fn play(operations: &[Operation]) -> Vec<Event> {
        let mut client = Self {
            conversations: Vec::new(),
            busy: 0,
            events: Vec::new(),
            now: START,
            day: 1,
            count: 0,
            families: 0,
            operation: 0,
        };
        for (number, operation) in operations.iter().enumerate() {
            client.operation = number;
            client.perform(*operation);
        }
        client.events
    }

    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Begin { model } => self.begin(model),
            Operation::NextDay => self.day = self.day % 28 + 1,
            Operation::Wait { minutes } => self.now += Duration::minutes(i64::from(minutes)),
            Operation::Restart => self.events.push(Event::Restart),
            Operation::Say { who, hook, refused } => {
                let at = self.pick(who);
                let words = self.unique("prompt");
                self.say(at, words, hook, refused);
            }
            Operation::Call { who, .. } => {
                let at = self.pick(who);
                self.run(at);
                self.call(at, operation);
            }
            Operation::Answer { who, thinking } => {
                let at = self.pick(who);
                self.run(at);
                self.answer(at, thinking);
            }
            Operation::Interrupt { who, when } => self.interrupt(who, when),
            Operation::GiveUp { who } => {
                let at = self.pick(who);
                self.conversations[at].running = false;
            }
            Operation::Repeat { who, whole } => {
                let at = self.pick(who);
                self.repeat(at, whole);
            }
            Operation::Suggest { who } => {
                let at = self.pick(who);
                let conversation = &self.conversations[at];
                if !conversation.running && conversation.ends_with_answer() {
                    self.send(at, Extra::Suggestion, true);
                }
            }
            Operation::Aside { who, search } => self.side_request(who, search),
            Operation::GoOn { who, why } => self.write_as_user(who, why),
            Operation::Remind { who } => {
                let at = self.pick(who);
                let text = self.unique("The task tools have not been used recently. Reminder");
                self.conversations[at]
                    .waiting
                    .push(Piece::Note { text, folds: true });
            }
            Operation::ClearResults { who } => {
                let at = self.pick(who);
                self.conversations[at].clear_results();
            }
            Operation::ChangeModel { who, model } => {
                let at = self.pick(who);
                let conversation = &mut self.conversations[at];
                conversation.model = MODELS[usize::from(model) % MODELS.len()];
                conversation.steps = None;
            }
            Operation::Compact { who } => self.compact(who),
            Operation::Clear { who } => self.clear(who),
            Operation::Resume { who, rewritten } => self.resume(who, rewritten),
            Operation::Fork {
                who,
                back,
                model,
                same_words,
            } => self.fork(who, back, model, same_words),
            Operation::Rewind {
                who,
                back,
                same_words,
            } => self.rewind(who, back, same_words),
            Operation::Delegate { who, inherits } => self.delegate(who, inherits),
            Operation::Twin { who, length } => self.repeat_beginning(who, usize::from(length)),
        }
    }

    fn unique(&mut self, words: &str) -> String {
        self.count += 1;
        format!("{words} {}", self.count)
    }

    fn pick(&mut self, who: u8) -> usize {
        if self.conversations.is_empty() {
            self.begin(0);
        }
        if let Some(other) = usize::from(who).checked_sub(1) {
            self.busy = other % self.conversations.len();
        }
        self.busy
    }

    fn add(&mut self, conversation: Conversation) -> usize {
        self.conversations.push(conversation);
        self.busy = self.conversations.len() - 1;
        self.busy
    }

    fn new_family(&mut self) -> usize {
        self.families += 1;
        self.families
    }

    fn new_session(&mut self) -> String {
        self.count += 1;
        format!("5e550000-0000-4000-8000-{:012}", self.count)
    }

    fn begin(&mut self, model: u8) {
        let (session, family) = (self.new_session(), self.new_family());
        let model = MODELS[usize::from(model) % MODELS.len()];
        self.add(Conversation::new(session, family, model));
    }

    /// Sends the conversation's next request.
    fn send(&mut self, at: usize, extra: Extra, began: bool) {
        let conversation = &mut self.conversations[at];
        let body = conversation.body(self.day, extra);
        let purpose = match extra {
            Extra::Nothing => Purpose::Step,
            Extra::Suggestion => Purpose::Suggestion,
            Extra::Compaction => Purpose::Compaction,
        };
        if extra == Extra::Nothing {
            conversation.newest = Some(self.events.len());
            if let Some(steps) = &mut conversation.steps {
                steps.push(conversation.items.clone());
            }
        }
        self.push(at, purpose, body, began);
    }

    fn push(&mut self, at: usize, purpose: Purpose, body: Json, began: bool) {
        self.now += Duration::seconds(5);
        let conversation = &self.conversations[at];
        self.events.push(Event::Sent(Sent {
            operation: self.operation,
            at: self.now,
            session: conversation.session.clone(),
            agent: conversation.agent.clone(),
            family: conversation.family,
            purpose,
            body: body.to_string().into(),
            began,
        }));
    }

    fn say(&mut self, at: usize, words: String, hook: bool, refused: bool) {
        let context = self.unique("UserPromptSubmit hook additional context:");
        let conversation = &mut self.conversations[at];
        if conversation.running {
            let text = format!(
                "The user sent a new message while you were working:\n{words}\n\nIMPORTANT: After completing your \
                 current task, you MUST address the user's message above."
            );
            conversation.waiting.push(Piece::Note { text, folds: false });
            return;
        }
        let mut pieces = Vec::new();
        if hook {
            pieces.push(Piece::PromptContext(context));
        }
        pieces.push(Piece::Text(words.clone()));
        let first = conversation.items.is_empty() && conversation.agent.is_none();
        conversation.add_user_message(pieces, true);
        conversation.running = true;
        if first {
            let title = body::title(&conversation.session, &words);
            self.push(at, Purpose::Title, title, true);
        }
        self.send(at, Extra::Nothing, !refused);
    }

    /// Ensures that a turn is running whose newest request was not refused.
    fn run(&mut self, at: usize) {
        if !self.conversations[at].running {
            let words = self.unique("prompt");
            self.say(at, words, false, false);
        }
        let newest = self.conversations[at].newest;
        let refused =
            newest.is_some_and(|newest| matches!(&self.events[newest], Event::Sent(sent) if !sent.began));
        if refused {
            self.repeat(at, false);
        }
    }

    /// Sends the same bytes again, or the same request without `stream`.
    fn repeat(&mut self, at: usize, whole: bool) {
        let conversation = &self.conversations[at];
        let Some(Event::Sent(newest)) = conversation.newest.and_then(|newest| self.events.get(newest)) else {
            return;
        };
        let mut again = newest.clone();
        if !conversation.running {
            return;
        }
        if whole && let Ok(mut body) = Json::parse(&again.body) {
            body.remove("stream");
            again.body = body.to_string().into();
        }
        self.now += Duration::seconds(2);
        again.operation = self.operation;
        again.at = self.now;
        again.began = true;
        self.conversations[at].newest = Some(self.events.len());
        self.events.push(Event::Sent(again));
    }

    fn thinking(&mut self) -> Json {
        let (thinking, signature) = (self.unique("thought"), self.unique("signature"));
        Json::object([
            ("type", "thinking".into()),
            ("thinking", thinking.into()),
            ("signature", signature.into()),
        ])
    }

    fn tool_use(&mut self, name: &str) -> (String, Json) {
        self.count += 1;
        let id = format!("toolu_{:08}", self.count);
        let input = Json::object([
            ("command", format!("make {}", self.count).into()),
            ("description", "Build".into()),
        ]);
        let block = Json::object([
            ("type", "tool_use".into()),
            ("id", id.as_str().into()),
            ("name", name.into()),
            ("input", input),
        ]);
        (id, block)
    }

    /// A call that reads one of a few files, and its result. The client knows the content of some and says so.
    fn read_file(&mut self) -> (String, Json, String) {
        self.count += 1;
        let id = format!("toolu_{:08}", self.count);
        let path = format!("{DIRECTORY}/src/part{}.rs", self.count % 4);
        let block = Json::object([
            ("type", "tool_use".into()),
            ("id", id.as_str().into()),
            ("name", "Read".into()),
            ("input", Json::object([("file_path", path.into())])),
        ]);
        let text = match self.count % 5 {
            0 => "File unchanged since last read.".to_owned(),
            _ => self.unique("the content of the file").repeat(30),
        };
        (id, block, text)
    }

    fn call(&mut self, at: usize, operation: Operation) {
        let Operation::Call {
            calls,
            thinking,
            says,
            swapped,
            hook,
            refused,
            ..
        } = operation
        else {
            return;
        };
        let mut blocks = Vec::new();
        if thinking {
            blocks.push(self.thinking());
        }
        if says {
            blocks.push(text_block(&self.unique("I will build")));
        }
        let mut pieces = Vec::new();
        for _ in 0..calls {
            let (id, block, text) = if self.count.is_multiple_of(3) {
                self.read_file()
            } else {
                let (id, block) = self.tool_use("Bash");
                (id, block, self.unique("built"))
            };
            blocks.push(block);
            pieces.push(result(id, &text, false));
        }
        if swapped {
            let half = pieces.len() / 2;
            pieces.rotate_left(half);
        }
        if hook {
            let text = self.unique("PostToolUse:Bash hook additional context:");
            pieces.push(Piece::ToolContext { text, moved: false });
        }
        let conversation = &mut self.conversations[at];
        conversation.items.push(Item::Assistant(blocks));
        conversation.add_user_message(pieces, false);
        self.send(at, Extra::Nothing, !refused);
    }

    fn answer(&mut self, at: usize, thinking: bool) {
        let mut blocks = Vec::new();
        if thinking {
            blocks.push(self.thinking());
        }
        blocks.push(text_block(&self.unique("answer")));
        let conversation = &mut self.conversations[at];
        conversation.items.push(Item::Assistant(blocks));
        conversation.running = false;
        // A prompt that was queued too late for this turn begins the next one.
        let (late, rest) = std::mem::take(&mut conversation.waiting)
            .into_iter()
            .partition(|piece| matches!(piece, Piece::Note { folds: false, .. }));
        conversation.waiting = rest;
        let late: Vec<Piece> = late;
        if !late.is_empty() {
            let words = self.unique("late prompt");
            self.say(at, words, false, false);
        }
    }

    fn interrupt(&mut self, who: u8, when: Moment) {
        let at = self.pick(who);
        if !self.conversations[at].running {
            return;
        }
        let mut pieces = Vec::new();
        match when {
            Moment::Before => {}
            Moment::Speaking => {
                self.run(at);
                let text = text_block(&self.unique("I was about to"));
                self.conversations[at].items.push(Item::Assistant(vec![text]));
            }
            Moment::Tool => {
                self.run(at);
                let (id, block) = self.tool_use("Bash");
                self.conversations[at].items.push(Item::Assistant(vec![block]));
                pieces.push(result(
                    id,
                    "The user doesn't want to proceed with this tool use.",
                    true,
                ));
            }
        }
        let note = match when {
            Moment::Tool => "[Request interrupted by user for tool use]\n",
            _ => "[Request interrupted by user]\n",
        };
        pieces.push(Piece::Text(note.to_owned()));
        let conversation = &mut self.conversations[at];
        conversation.items.push(Item::User {
            pieces,
            prompt: false,
        });
        conversation.running = false;
    }

    fn side_request(&mut self, who: u8, search: bool) {
        let at = self.pick(who);
        let conversation = &self.conversations[at];
        let (purpose, body) = match search {
            true => (Purpose::WebSearch, body::web_search(conversation.sender())),
            false => (
                Purpose::Title,
                body::title(&conversation.session, conversation.first_words()),
            ),
        };
        self.push(at, purpose, body, true);
    }

    fn write_as_user(&mut self, who: u8, why: Why) {
        let at = self.pick(who);
        if self.conversations[at].items.is_empty() {
            return;
        }
        match why {
            Why::Notification if self.conversations[at].running => return,
            Why::Notification => {}
            Why::Hook | Why::Length => {
                self.run(at);
                let text = text_block(&self.unique("so far"));
                self.conversations[at].items.push(Item::Assistant(vec![text]));
            }
        }
        let text = match why {
            Why::Notification => format!(
                "<task-notification>\n<task-id>{}</task-id>\n</task-notification>",
                self.unique("task")
            ),
            Why::Hook => format!("Stop hook feedback:\n{}", self.unique("run the tests")),
            Why::Length => "Output token limit hit. Resume directly from where you stopped.".to_owned(),
        };
        let conversation = &mut self.conversations[at];
        conversation.add_user_message(vec![Piece::Text(text)], false);
        conversation.running = true;
        self.send(at, Extra::Nothing, true);
    }

    fn compact(&mut self, who: u8) {
        let at = self.pick(who);
        let conversation = &self.conversations[at];
        let in_loop = conversation.running && conversation.ends_with_results();
        let at_rest = !conversation.running && conversation.ends_with_answer();
        if !in_loop && !at_rest {
            return;
        }
        self.send(at, Extra::Compaction, true);
        let summary = format!("{CONTINUED}{}", self.unique("Summary"));
        let conversation = &mut self.conversations[at];
        conversation.sum_up(summary);
        if in_loop {
            self.send(at, Extra::Nothing, true);
        } else {
            conversation.before_prompt = commands("compact");
        }
    }

    fn clear(&mut self, who: u8) {
        let at = self.pick(who);
        if self.conversations[at].agent.is_some() {
            return;
        }
        let (session, family) = (self.new_session(), self.new_family());
        let mut fresh = Conversation::new(session, family, self.conversations[at].model);
        fresh.before_prompt = commands("clear");
        self.conversations[at].running = false;
        let at = self.add(fresh);
        let words = self.unique("prompt");
        self.say(at, words, false, false);
    }

    fn resume(&mut self, who: u8, rewritten: bool) {
        let at = self.pick(who);
        let conversation = &mut self.conversations[at];
        if conversation.agent.is_some() || conversation.items.is_empty() {
            return;
        }
        conversation.running = false;
        conversation.waiting.clear();
        if rewritten {
            conversation.rewrite();
        }
        let words = self.unique("prompt");
        self.say(at, words, true, false);
    }

    fn fork(&mut self, who: u8, back: u8, model: u8, same_words: bool) {
        let at = self.pick(who);
        let original = &self.conversations[at];
        if original.agent.is_some() {
            return;
        }
        let mut cuts = original.cuts();
        if !original.running && original.ends_with_answer() {
            cuts.insert(0, original.items.len());
        }
        let Some(cut) = cuts.get(usize::from(back) % cuts.len().max(1)).copied() else {
            return;
        };
        let words = original.prompt_at(cut).filter(|_| same_words);
        let mut fork = original.clone();
        fork.items.truncate(cut);
        fork.running = false;
        fork.waiting.clear();
        fork.newest = None;
        fork.steps = None;
        if model > 0 {
            fork.model = MODELS[usize::from(model) % MODELS.len()];
        }
        if cut == 0 {
            fork.family = self.new_family();
        }
        fork.session = self.new_session();
        let at = self.add(fork);
        let words = words.unwrap_or_else(|| self.unique("prompt"));
        self.say(at, words, false, false);
    }

    fn rewind(&mut self, who: u8, back: u8, same_words: bool) {
        let at = self.pick(who);
        let conversation = &mut self.conversations[at];
        let cuts = conversation.cuts();
        let Some(cut) = cuts.get(usize::from(back) % cuts.len().max(1)).copied() else {
            return;
        };
        if conversation.agent.is_some() {
            return;
        }
        let words = conversation.prompt_at(cut).filter(|_| same_words);
        conversation.items.truncate(cut);
        conversation.running = false;
        conversation.waiting.clear();
        conversation.steps = None;
        let words = words.unwrap_or_else(|| self.unique("prompt"));
        self.say(at, words, false, false);
    }

    fn delegate(&mut self, who: u8, inherits: bool) {
        let at = self.pick(who);
        if self.conversations[at].agent.is_some() {
            return;
        }
        self.run(at);
        let (id, call) = self.tool_use("Agent");
        let agent = self.unique("a").replace(' ', "");
        let directive = self.unique("Do this");
        let parent = &mut self.conversations[at];
        parent.items.push(Item::Assistant(vec![call]));
        let mut child = match inherits {
            true => parent.clone(),
            false => Conversation {
                own_prompt: true,
                ..Conversation::new(parent.session.clone(), 0, parent.model)
            },
        };
        let launched = format!("Async agent launched successfully.\nagentId: {agent}");
        parent.add_user_message(vec![result(id.clone(), &launched, false)], false);
        child.agent = Some(agent);
        child.newest = None;
        child.steps = None;
        child.waiting.clear();
        child.before_prompt.clear();
        child.running = true;
        let mut pieces = Vec::new();
        if inherits {
            pieces.push(result(id, "Fork started", false));
        } else {
            child.family = self.new_family();
        }
        pieces.push(Piece::Text(directive));
        child.add_user_message(pieces, false);
        let child = self.add(child);
        self.send(child, Extra::Nothing, true);
        self.busy = at;
        self.send(at, Extra::Nothing, true);
    }

    fn repeat_beginning(&mut self, who: u8, length: usize) {
        let at = self.pick(who);
        let original = &self.conversations[at];
        let could_be_said_twice = |items: &&Vec<Item>| {
            items.iter().all(|item| match item {
                Item::User { .. } => true,
                Item::Assistant(blocks) => blocks.iter().all(|block| is_type(block, "text")),
            })
        };
        let steps: Vec<Vec<Item>> = original
            .steps
            .iter()
            .flatten()
            .take_while(could_be_said_twice)
            .take(length)
            .cloned()
            .collect();
        if steps.is_empty() || original.agent.is_some() {
            return;
        }
        let model = original.model;
        let (session, family) = (self.new_session(), self.new_family());
        let twin = self.add(Conversation::new(session, family, model));
        for items in steps {
            self.conversations[twin].items = items;
            self.conversations[twin].running = true;
            self.send(twin, Extra::Nothing, true);
        }
    }
}

fn result(id: String, text: &str, is_error: bool) -> Piece {
    Piece::Result {
        id,
        text: text.to_owned(),
        is_error,
        cleared: false,
    }
}

/// The text that a command of the client adds to the conversation.
fn commands(name: &str) -> Vec<Piece> {
    [
        "<local-command-caveat>Caveat: The messages below were generated by the user.</local-command-caveat>\n"
            .to_owned(),
        format!("<command-name>/{name}</command-name>\n<command-message>{name}</command-message>"),
        "<local-command-stdout></local-command-stdout>\n".to_owned(),
    ]
    .map(Piece::Text)
    .to_vec()
}
