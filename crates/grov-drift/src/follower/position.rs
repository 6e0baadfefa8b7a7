//! How far the transcripts of a session were read, and how it is kept with the engine for the next process.

use grov_actions::transcript::Reader;
use grov_session::{EngineSnapshot, SessionEngine};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use time::OffsetDateTime;
use xxhash_rust::xxh3::xxh3_64;

/// What another version kept is not read: the transcript is followed anew.
const VERSION: u32 = 3;

/// A longer text is not stored: rules then begin anew with what comes next.
const MOST_BYTES: usize = 1024 * 1024;
/// Tool calls that are known again: a resumed session writes to the same file, and may copy what is there.
const MOST_CALLS: usize = 512;
/// Prompts that a hook announced and the transcript has not shown yet.
const MOST_ANNOUNCED: usize = 8;
/// Subagents whose transcripts are followed. One that is followed is never dropped: its transcript would be read anew, and
/// what was corrected once be corrected again.
const MOST_AGENTS: usize = 1024;
/// Subagents of which more is known than how far they were read: those that were read last.
const MOST_READERS: usize = 16;

/// How far transcripts were read, and what is known again in them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadPosition {
    pub(crate) reader: Reader,
    /// How far the transcripts of subagents were read, and how.
    agents: BTreeMap<String, Source>,
    /// Those with a reader, the one that was read last at the end.
    #[serde(default)]
    reading: VecDeque<String>,
    /// What was typed in the history that the session goes on with is known already.
    #[serde(default)]
    pub(crate) knows_history: bool,
    /// What the user typed that the transcript has not shown yet.
    announced: VecDeque<u64>,
    calls: VecDeque<u64>,
    /// What was done before is history: it was looked at already, or nobody was there to look.
    #[serde(with = "time::serde::timestamp::milliseconds")]
    pub(crate) since: OffsetDateTime,
}

/// A transcript of a subagent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) read_to: u64,
    /// Gone where others were read since: reading goes on without what was said before.
    pub(crate) reader: Option<Reader>,
}

/// A session as it is stored.
#[derive(Deserialize)]
struct Stored {
    version: u32,
    reading: ReadPosition,
    engine: EngineSnapshot<'static>,
}

#[derive(Serialize)]
struct Storing<'a, M> {
    version: u32,
    reading: &'a ReadPosition,
    engine: M,
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

    /// What was stored: how far transcripts were read, and the engine. `None` where it is of another version or damaged.
    pub(crate) fn stored(text: &str) -> Option<(Self, EngineSnapshot<'static>)> {
        let stored: Stored = serde_json::from_str(text).ok()?;
        (stored.version == VERSION).then_some((stored.reading, stored.engine))
    }

    /// The same as it is stored.
    pub(crate) fn to_text(&self, engine: &SessionEngine) -> Option<String> {
        let text = |with_rules| {
            serde_json::to_string(&Storing {
                version: VERSION,
                reading: self,
                engine: engine.snapshot(with_rules),
            })
        };
        let whole = text(true).ok().filter(|text| text.len() <= MOST_BYTES);
        whole.or_else(|| text(false).ok())
    }

    /// How far the transcript of a subagent was read. `None`: there are too many of them.
    pub(crate) fn agent(&mut self, agent: &str) -> Option<&mut Source> {
        if self.agents.len() >= MOST_AGENTS && !self.agents.contains_key(agent) {
            return None;
        }
        Some(self.agents.entry(agent.to_owned()).or_default())
    }

    /// The transcript of a subagent was read just now.
    pub(crate) fn has_read(&mut self, agent: &str) {
        self.reading.retain(|known| known != agent);
        let oldest = self
            .reading
            .front()
            .filter(|_| self.reading.len() >= MOST_READERS);
        if let Some(source) = oldest.and_then(|oldest| self.agents.get_mut(oldest)) {
            source.reader = None;
        }
        keep(&mut self.reading, agent.to_owned(), MOST_READERS);
    }

    /// A hook told of a prompt before the transcript does.
    pub(crate) fn expect_prompt(&mut self, known: u64) {
        keep(&mut self.announced, known, MOST_ANNOUNCED);
    }

    /// Whether a hook told of this prompt, which is told once.
    pub(crate) fn was_announced(&mut self, known: u64) -> bool {
        let place = self.announced.iter().position(|one| *one == known);
        place.is_some_and(|place| self.announced.remove(place).is_some())
    }

    /// Whether a tool call is new. It is not the second time.
    pub(crate) fn is_new_call(&mut self, call: &str) -> bool {
        let known = text_hash(call);
        if self.calls.contains(&known) {
            return false;
        }
        keep(&mut self.calls, known, MOST_CALLS);
        true
    }
}

pub(crate) fn text_hash(text: &str) -> u64 {
    xxh3_64(text.trim().as_bytes())
}

fn keep<T>(list: &mut VecDeque<T>, one: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(one);
}
