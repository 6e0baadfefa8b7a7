//! What following a session needs to go on in the next process.

use crate::scoring::Batch;
use grov_actions::transcript::Reader;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use xxhash_rust::xxh3::xxh3_64;

/// Courses of another version are not read: the transcript is read anew.
const VERSION: u32 = 1;

/// Tool calls that are known again: a resumed session writes to the same file, and may copy what is there.
const MOST_CALLS: usize = 512;
/// Prompts that a hook told of and the transcript has not shown yet.
const MOST_ANNOUNCED: usize = 8;
/// Subagents whose transcripts are followed.
const MOST_AGENTS: usize = 64;
/// Texts that were said.
const MOST_SAID: usize = 32;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Course {
    version: u32,
    pub(crate) reader: Reader,
    /// How far the transcripts of subagents were read, and how.
    agents: BTreeMap<String, Source>,
    /// What the user typed that the transcript has not shown yet.
    announced: VecDeque<u64>,
    calls: VecDeque<u64>,
    /// What the agent said last: what a "yes" says yes to.
    pub(crate) last_answer: Option<String>,
    pub(crate) batch: Batch,
    /// Hashes of the texts said so far.
    pub(crate) said: VecDeque<u64>,
    /// The goal, and how often a mere doubt was spoken of under it.
    pub(crate) doubts: (u64, u8),
}

/// A transcript of a subagent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) read_to: u64,
    pub(crate) reader: Reader,
}

impl Course {
    pub(crate) fn new(session: &str) -> Self {
        Self {
            version: VERSION,
            reader: Reader::new(Some(session)),
            agents: BTreeMap::new(),
            announced: VecDeque::new(),
            calls: VecDeque::new(),
            last_answer: None,
            batch: Batch::default(),
            said: VecDeque::new(),
            doubts: (0, 0),
        }
    }

    /// A stored course; `None` where it is of another version or damaged.
    pub(crate) fn stored(text: &str) -> Option<Self> {
        let course: Self = serde_json::from_str(text).ok()?;
        (course.version == VERSION).then_some(course)
    }

    pub(crate) fn to_text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    pub(crate) fn agent(&mut self, agent: &str, session: &str) -> &mut Source {
        if self.agents.len() >= MOST_AGENTS && !self.agents.contains_key(agent) {
            self.agents.pop_first();
        }
        let fresh = || Source {
            read_to: 0,
            reader: Reader::new(Some(session)),
        };
        self.agents.entry(agent.to_owned()).or_insert_with(fresh)
    }

    /// A hook told of a prompt before the transcript does.
    pub(crate) fn announce(&mut self, prompt: &str) {
        keep(&mut self.announced, known_by(prompt), MOST_ANNOUNCED);
    }

    /// Whether a hook told of this prompt, which is told once.
    pub(crate) fn was_announced(&mut self, prompt: &str) -> bool {
        let known = known_by(prompt);
        let place = self.announced.iter().position(|one| *one == known);
        place.is_some_and(|place| self.announced.remove(place).is_some())
    }

    /// Whether a tool call is new. It is not the second time.
    pub(crate) fn is_new_call(&mut self, call: &str) -> bool {
        let known = known_by(call);
        if self.calls.contains(&known) {
            return false;
        }
        keep(&mut self.calls, known, MOST_CALLS);
        true
    }

    pub(crate) fn has_said(&mut self, text: &str) {
        keep(&mut self.said, xxh3_64(text.as_bytes()), MOST_SAID);
    }
}

fn known_by(text: &str) -> u64 {
    xxh3_64(text.trim().as_bytes())
}

fn keep(list: &mut VecDeque<u64>, one: u64, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(one);
}
