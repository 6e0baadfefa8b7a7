//! Read positions of a session's transcripts, and their stored form together with the engine.

use grov_actions::transcript::Reader;
use grov_session::{EngineSnapshot, SessionEngine};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use time::OffsetDateTime;
use xxhash_rust::xxh3::xxh3_64;

/// State of another version is discarded, and the transcript read again.
const VERSION: u32 = 3;

/// Maximum size of the stored state; larger state is stored without the rules' memory.
const MAX_STATE_BYTES: usize = 1024 * 1024;
/// Maximum number of tool calls kept to detect repeats: a resumed session may copy earlier lines.
const MAX_CALLS: usize = 512;
/// Maximum number of prompts kept that a hook reported before the transcript contains them.
const MAX_ANNOUNCED: usize = 8;
/// Maximum number of subagents followed. A followed one is never dropped: its transcript would be read and corrected twice.
const MAX_AGENTS: usize = 1024;
/// Maximum number of subagents whose reader state is kept, the most recently read.
const MAX_READERS: usize = 16;

/// Read positions, and hashes that identify repeats.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadPosition {
    pub(crate) reader: Reader,
    /// Read positions of subagents.
    agents: BTreeMap<String, Source>,
    /// Subagents with a reader, the most recently read last.
    #[serde(default)]
    reading: VecDeque<String>,
    /// Whether the prompts of the inherited history are in the contract already.
    #[serde(default)]
    pub(crate) knows_history: bool,
    /// Hashes of prompts that a hook reported and the transcript does not contain yet.
    announced: VecDeque<u64>,
    calls: VecDeque<u64>,
    /// Older actions are history: checked already, or not observed.
    #[serde(with = "time::serde::timestamp::milliseconds")]
    pub(crate) since: OffsetDateTime,
}

/// A transcript of a subagent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) read_to: u64,
    /// `None` after many other subagents were read; reading then continues without context.
    pub(crate) reader: Option<Reader>,
}

/// The stored form.
#[derive(Serialize, Deserialize)]
struct Stored<'a, E> {
    version: u32,
    reading: Cow<'a, ReadPosition>,
    engine: E,
}

impl ReadPosition {
    pub(crate) fn new(session: &str, since: OffsetDateTime) -> Self {
        Self {
            reader: Reader::new(Some(session)),
            agents: BTreeMap::new(),
            reading: VecDeque::new(),
            knows_history: false,
            announced: VecDeque::new(),
            calls: VecDeque::new(),
            since,
        }
    }

    /// Parses the stored form; `None` if it is of another version or damaged.
    pub(crate) fn stored(text: &str) -> Option<(Self, EngineSnapshot<'static>)> {
        let stored: Stored<'_, _> = serde_json::from_str(text).ok()?;
        (stored.version == VERSION).then(|| (stored.reading.into_owned(), stored.engine))
    }

    /// Serialises the positions with the engine.
    pub(crate) fn to_text(&self, engine: &SessionEngine) -> Option<String> {
        let text = |with_rules| {
            serde_json::to_string(&Stored {
                version: VERSION,
                reading: Cow::Borrowed(self),
                engine: engine.snapshot(with_rules),
            })
        };
        let whole = text(true).ok().filter(|text| text.len() <= MAX_STATE_BYTES);
        whole.or_else(|| text(false).ok())
    }

    /// The position in a subagent's transcript; `None` if there are too many subagents.
    pub(crate) fn agent(&mut self, agent: &str) -> Option<&mut Source> {
        if self.agents.len() >= MAX_AGENTS && !self.agents.contains_key(agent) {
            return None;
        }
        Some(self.agents.entry(agent.to_owned()).or_default())
    }

    /// Marks a subagent's transcript as just read.
    pub(crate) fn mark_read(&mut self, agent: &str) {
        self.reading.retain(|known| known != agent);
        let oldest = self.reading.front().filter(|_| self.reading.len() >= MAX_READERS);
        if let Some(source) = oldest.and_then(|oldest| self.agents.get_mut(oldest)) {
            source.reader = None;
        }
        push_bounded(&mut self.reading, agent.to_owned(), MAX_READERS);
    }

    /// Expects a prompt that its hook reported before the transcript contains it.
    pub(crate) fn expect_prompt(&mut self, known: u64) {
        push_bounded(&mut self.announced, known, MAX_ANNOUNCED);
    }

    /// Whether a prompt was expected; true once per prompt.
    pub(crate) fn take_announced(&mut self, known: u64) -> bool {
        let place = self.announced.iter().position(|one| *one == known);
        place.is_some_and(|place| self.announced.remove(place).is_some())
    }

    /// Whether a tool call is seen for the first time.
    pub(crate) fn is_new_call(&mut self, call: &str) -> bool {
        let known = text_hash(call);
        if self.calls.contains(&known) {
            return false;
        }
        push_bounded(&mut self.calls, known, MAX_CALLS);
        true
    }
}

pub(crate) fn text_hash(text: &str) -> u64 {
    xxh3_64(text.trim().as_bytes())
}

fn push_bounded<T>(list: &mut VecDeque<T>, item: T, max: usize) {
    if list.len() >= max {
        list.pop_front();
    }
    list.push_back(item);
}
