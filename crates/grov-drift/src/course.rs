//! What following a session needs to go on in the next process.

use crate::scoring::Batch;
use grov_actions::transcript::Reader;
use grov_domain::GoalContract;
use grov_scope::{Memo, Rules};
use grov_session::doubt::OpenDoubts;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use time::OffsetDateTime;
use xxhash_rust::xxh3::xxh3_64;

/// Courses of another version are not read: the transcript is followed anew.
const VERSION: u32 = 2;

/// A longer text is not stored: rules then begin anew with what comes next.
const MOST_BYTES: usize = 1024 * 1024;
/// Tool calls that are known again: a resumed session writes to the same file, and may copy what is there.
const MOST_CALLS: usize = 512;
/// Prompts that a hook told of and the transcript has not shown yet.
const MOST_ANNOUNCED: usize = 8;
/// Questions to the user that are not answered yet.
const MOST_QUESTIONS: usize = 8;
/// Subagents whose transcripts are followed. One that is followed is never let go of: its transcript would be read anew, and
/// what was corrected once be corrected again.
const MOST_AGENTS: usize = 1024;
/// Subagents of which more is known than how far they were read: those that were read last.
const MOST_READERS: usize = 16;
/// Texts that were said.
const MOST_SAID: usize = 32;

/// Where a session stands, beside its contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Course {
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
    questions: VecDeque<Question>,
    /// What the agent said last: what a "yes" says yes to.
    pub(crate) last_answer: Option<String>,
    pub(crate) batch: Batch,
    /// Hashes of the texts said so far, the newest last.
    said: VecDeque<u64>,
    /// The goal, and how often a mere doubt was spoken of under it.
    doubts: (u64, u8),
    /// The doubts that stand together.
    #[serde(default)]
    pub(crate) open_doubts: OpenDoubts,
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

/// Something that the user was asked by a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    call: String,
    pub(crate) plan: Option<String>,
}

#[derive(Deserialize)]
struct Stored {
    version: u32,
    course: Course,
    #[serde(default)]
    typed: Option<GoalContract>,
    held: Option<GoalContract>,
    rules: Option<Memo>,
}

#[derive(Serialize)]
struct Storing<'a, M> {
    version: u32,
    course: &'a Course,
    /// What the user typed, as far as the course knows of it.
    typed: &'a GoalContract,
    /// What the rules were held to, where that is not what the user typed alone.
    held: Option<&'a GoalContract>,
    rules: Option<M>,
}

/// A course as it was stored.
pub(crate) struct Resumed {
    pub(crate) course: Course,
    /// What the user typed, as far as the course knows of it.
    pub(crate) typed: GoalContract,
    /// Rules that are held to what was held then.
    pub(crate) rules: Option<Rules>,
}

impl Course {
    pub(crate) fn new(session: &str, since: OffsetDateTime) -> Self {
        Self {
            reader: Reader::new(Some(session)),
            agents: BTreeMap::new(),
            reading: VecDeque::new(),
            knows_history: false,
            announced: VecDeque::new(),
            calls: VecDeque::new(),
            questions: VecDeque::new(),
            last_answer: None,
            batch: Batch::default(),
            said: VecDeque::new(),
            doubts: (0, 0),
            open_doubts: OpenDoubts::default(),
            since,
        }
    }

    /// A stored course with its rules. `contract` is what the user typed where that is not stored with it. `None` where it
    /// is of another version or damaged.
    pub(crate) fn stored(text: &str, contract: &GoalContract, root: &str) -> Option<Resumed> {
        let stored: Stored = serde_json::from_str(text).ok()?;
        if stored.version != VERSION {
            return None;
        }
        let typed = stored.typed.unwrap_or_else(|| contract.clone());
        let held = stored.held.unwrap_or_else(|| typed.clone());
        let rules = stored
            .rules
            .and_then(|memo| Rules::recall(held, Some(root), memo));
        Some(Resumed {
            course: stored.course,
            typed,
            rules,
        })
    }

    /// The course as it is stored.
    pub(crate) fn to_text(&self, rules: &Rules, typed: &GoalContract) -> Option<String> {
        let text = |rules| {
            let held = self.held_to(rules, typed);
            serde_json::to_string(&Storing {
                version: VERSION,
                course: self,
                typed,
                held,
                rules: rules.map(Rules::memo),
            })
        };
        let whole = text(Some(rules)).ok().filter(|text| text.len() <= MOST_BYTES);
        whole.or_else(|| text(None).ok())
    }

    fn held_to<'a>(&self, rules: Option<&'a Rules>, typed: &GoalContract) -> Option<&'a GoalContract> {
        rules.map(Rules::contract).filter(|held| *held != typed)
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
    pub(crate) fn announce(&mut self, known: u64) {
        keep(&mut self.announced, known, MOST_ANNOUNCED);
    }

    /// Whether a hook told of this prompt, which is told once.
    pub(crate) fn was_announced(&mut self, known: u64) -> bool {
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

    /// The user is asked something.
    pub(crate) fn asks(&mut self, call: &str, plan: Option<String>) {
        let call = call.to_owned();
        keep(&mut self.questions, Question { call, plan }, MOST_QUESTIONS);
    }

    /// The question that a tool call put to the user, which was answered now.
    pub(crate) fn answered(&mut self, call: &str) -> Option<Question> {
        let place = self.questions.iter().position(|question| question.call == call)?;
        self.questions.remove(place)
    }

    pub(crate) fn said(&self) -> Vec<u64> {
        self.said.iter().copied().collect()
    }

    pub(crate) fn has_said(&mut self, hash: u64) {
        keep(&mut self.said, hash, MOST_SAID);
    }

    /// How often a mere doubt was spoken of under a goal.
    pub(crate) fn doubts(&self, goal: &str) -> u8 {
        let (known, times) = self.doubts;
        if known == known_by(goal) { times } else { 0 }
    }

    pub(crate) fn has_doubted(&mut self, goal: &str) {
        self.doubts = (known_by(goal), self.doubts(goal).saturating_add(1));
        self.open_doubts.settled();
    }
}

pub(crate) fn known_by(text: &str) -> u64 {
    xxh3_64(text.trim().as_bytes())
}

fn keep<T>(list: &mut VecDeque<T>, one: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(one);
}
