//! Builds goal contracts from prompts, the active task and contract edits.

use crate::objection::has_objection;
use grov_domain::{GoalContract, GoalEdit, Intent, IntentQuestion, PromptReading, both_ends};
use grov_redact::Redactor;
use grov_scope::asks_to_act;
use std::sync::Arc;

/// Extracts the intent of prompts. It is called for every prompt, so it must be fast: use rules.
pub type IntentReader = Arc<dyn ReadIntent>;

/// What an [`IntentReader`] answers. Functions from a question to an intent implement it.
pub trait ReadIntent: Send + Sync {
    /// The intent of prompts.
    fn intent(&self, question: &IntentQuestion) -> Intent;

    /// Whether a prompt turns away from the work so far. A reader that knows this without the rest of the intent overrides it.
    fn turns_away(&self, prompt: &str) -> bool {
        self.intent(&IntentQuestion {
            prompts: vec![prompt.to_owned()],
            first_files: Vec::new(),
        })
        .turns_away
    }
}

impl<F: Fn(&IntentQuestion) -> Intent + Send + Sync> ReadIntent for F {
    fn intent(&self, question: &IntentQuestion) -> Intent {
        self(question)
    }
}

/// Maximum number of instructions kept.
const MAX_INSTRUCTIONS: usize = 20;
/// Bytes kept of each end of a long prompt. In a pasted log, beginning and end state the request.
const MAX_END_BYTES: usize = 8 * 1024;
/// Maximum number of entries in each list of the contract.
const MAX_ENTRIES: usize = 80;

/// Builds the goal contract of one session from prompts, the active task and contract edits.
///
/// The goal is that of the active task, or of the first instruction, until a prompt asks for something else: the reader decides.
#[derive(Clone)]
pub struct GoalContractBuilder {
    reader: IntentReader,
    /// Prompts with content of their own, oldest first.
    instructions: Vec<String>,
    /// The number of the newest instructions that belong to the current turn, and so to no task yet.
    this_turn: usize,
    /// The number of the newest instructions that the store has not returned yet.
    unrecorded: usize,
    /// Whether the store returned the instructions of the task, from its first one.
    has_recorded: bool,
    /// Prompts from the history before the session was observed; the store does not have them.
    inherited: Vec<String>,
    /// Whether the prompts are known from the start of the conversation.
    is_complete: bool,
    /// Incremented with each change.
    version: u64,
    /// The intent of all instructions.
    intent: Intent,
    /// The intent of the active task.
    task: Intent,
    edits: Vec<GoalEdit>,
    /// What a model read in the prompts up to the newest one.
    reading: Option<PromptReading>,
    /// The user objected since the newest instruction.
    is_withdrawn: bool,
    /// The contract without edits.
    typed: GoalContract,
    contract: GoalContract,
}

impl GoalContractBuilder {
    /// Creates an empty builder.
    pub fn new(reader: IntentReader) -> Self {
        Self {
            reader,
            instructions: Vec::new(),
            this_turn: 0,
            unrecorded: 0,
            has_recorded: false,
            inherited: Vec::new(),
            is_complete: false,
            version: 0,
            intent: Intent::default(),
            task: Intent::default(),
            edits: Vec::new(),
            reading: None,
            is_withdrawn: false,
            typed: GoalContract::default(),
            contract: GoalContract::default(),
        }
    }

    /// Creates a builder with a given contract, for sessions without prompts.
    pub(crate) fn with_contract(contract: GoalContract) -> Self {
        Self {
            instructions: contract.instructions.clone(),
            is_complete: true,
            typed: contract.clone(),
            contract,
            ..Self::new(Arc::new(|_: &IntentQuestion| Intent::default()))
        }
    }

    /// Returns the contract, including edits.
    pub fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// Returns the contract without edits.
    pub fn typed_contract(&self) -> &GoalContract {
        &self.typed
    }

    /// Adds a prompt. Returns `false` if it has no content of its own, like a "yes", and so does not change the goal.
    pub fn add_prompt(&mut self, prompt: &str) -> bool {
        let prompt = sanitize_prompt(prompt);
        let (has_content, intent) = self.read_with(&prompt);
        // "Push" and "ok, ship it" change no goal, but the guard must know that the user asked.
        if has_content || asks_to_act(&prompt) {
            self.instructions.push(prompt);
            self.this_turn += 1;
            self.unrecorded += 1;
            self.intent = intent;
            // No model has read this prompt yet.
            self.reading = None;
            self.is_withdrawn = false;
            self.drop_oldest();
            self.build();
        } else if has_objection(&prompt) && !self.is_withdrawn {
            // "Stop": whatever it is about, nothing runs unasked before the next instruction.
            self.is_withdrawn = true;
            if let Some(reading) = &mut self.reading {
                reading.asked.clear();
            }
            self.build();
        }
        has_content
    }

    /// Sets the instructions so far, oldest first. The contract is not built before the next prompt with content.
    pub fn load_instructions(&mut self, instructions: Vec<String>) {
        self.instructions = instructions;
        self.read_all();
    }

    /// Starts a new conversation and drops earlier instructions.
    pub fn reset(&mut self) {
        self.instructions.clear();
        self.this_turn = 0;
        self.unrecorded = 0;
        self.inherited.clear();
        self.reading = None;
        self.is_withdrawn = false;
        self.is_complete = true;
        self.has_recorded = false;
        self.task = Intent::default();
        self.read_all();
        self.build();
    }

    /// Marks the instructions as complete, because the session is observed from its start.
    pub fn mark_complete(&mut self) {
        self.is_complete = true;
    }

    /// Whether the prompts are known from the start of the conversation.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns a number that increases with each change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Ends the turn: its instructions belong to a task from now on.
    pub fn turn_ended(&mut self) {
        self.this_turn = 0;
        self.version += 1;
    }

    /// Switches to another task, to which earlier instructions do not belong. Call [`set_task`](Self::set_task) afterwards.
    pub fn switch_task(&mut self) {
        self.version += 1;
        self.unrecorded = self.this_turn;
        self.inherited.clear();
    }

    /// Adds the prompts of the history before the session was observed, oldest first.
    pub fn inherit_prompts(&mut self, prompts: &[String]) {
        self.inherited = instructions(&self.reader, prompts);
        if self.inherited.is_empty() {
            return;
        }
        self.is_complete = true;
        let inherited = self.inherited.iter();
        let mut all: Vec<String> = inherited
            .filter(|prompt| !self.instructions.contains(prompt))
            .cloned()
            .collect();
        all.append(&mut self.instructions);
        self.instructions = all;
        self.drop_oldest();
        self.read_all();
        self.build();
    }

    /// Adds the stored task and its recorded [`instructions`]. Returns the builder without the prompts added so far: add
    /// them again one by one to get the contract at the time of each.
    pub fn resume(&mut self, task: Intent, recorded: Vec<String>) -> Self {
        let since = self.this_turn.max(self.unrecorded);
        let known = self.instructions.len().saturating_sub(since);
        let is_older = |prompt: &String| !self.instructions[known..].contains(prompt);
        if recorded.iter().any(is_older) || !task.goal.trim().is_empty() {
            // The store has the earlier prompts of this task.
            self.is_complete = true;
            self.inherited.clear();
            self.instructions.drain(..known);
        }
        self.set_task(task, recorded);
        let since = self
            .instructions
            .split_off(self.instructions.len().saturating_sub(since));
        let mut before = self.clone();
        if since.is_empty() {
            return before;
        }
        (before.this_turn, before.unrecorded) = (0, 0);
        before.read_all();
        before.build();
        self.replay_prompts(since);
        before
    }

    /// Adds prompts again after the earlier ones became known, which can turn the content of a "yes" into none.
    fn replay_prompts(&mut self, since: Vec<String>) {
        let known: Vec<String> = self.instructions.iter().chain(&since).cloned().collect();
        let with_content = instructions(&self.reader, &known);
        let (this_turn, unrecorded) = (self.this_turn, self.unrecorded);
        (self.this_turn, self.unrecorded) = (0, 0);
        let count = since.len();
        for (index, prompt) in since.into_iter().enumerate() {
            if with_content.contains(&prompt) {
                self.this_turn += usize::from(count - index <= this_turn);
                self.unrecorded += usize::from(count - index <= unrecorded);
                self.instructions.push(prompt);
            }
        }
        self.read_all();
        self.build();
    }

    /// Sets the active task and its recorded [`instructions`]. Prompts that are not recorded yet are kept.
    pub fn set_task(&mut self, task: Intent, recorded: Vec<String>) {
        self.is_complete |= !task.goal.trim().is_empty();
        self.task = task;
        self.has_recorded = !recorded.is_empty();
        if recorded.is_empty() {
            // No prompt is recorded yet, or they were deleted. Those in memory are kept.
            self.build();
            return;
        }
        let kept = self.this_turn.max(self.unrecorded);
        let kept = self
            .instructions
            .split_off(self.instructions.len().saturating_sub(kept));
        // Prompts after the last one that the store returned are not recorded yet.
        self.unrecorded = kept
            .iter()
            .rposition(|prompt| recorded.contains(prompt))
            .map_or(kept.len(), |index| kept.len() - index - 1);
        let before = if self.inherited.is_empty() {
            recorded
        } else {
            // Filtered again: after inherited prompts, a "continue" has no content.
            let all: Vec<String> = self.inherited.iter().cloned().chain(recorded).collect();
            instructions(&self.reader, &all)
        };
        let before = before.into_iter().filter(|prompt| !kept.contains(prompt));
        self.instructions = before.chain(kept.iter().cloned()).collect();
        self.drop_oldest();
        self.read_all();
        self.build();
    }

    /// Sets all contract edits, oldest first.
    pub fn set_edits(&mut self, edits: Vec<GoalEdit>) {
        if edits != self.edits {
            self.edits = edits;
            self.build();
        }
    }

    /// Sets what a model read in the prompts up to `read_to`. Returns `false` if a newer prompt arrived meanwhile.
    pub fn set_reading(&mut self, read_to: &str, reading: PromptReading) -> bool {
        let is_current = self.instructions.last().is_some_and(|newest| newest == read_to);
        if is_current {
            let asked = if self.is_withdrawn {
                Vec::new()
            } else {
                reading.asked
            };
            self.reading = Some(PromptReading { asked, ..reading });
            self.build();
        }
        is_current
    }

    fn read_with(&self, prompt: &str) -> (bool, Intent) {
        let mut prompts = self.instructions.clone();
        prompts.push(prompt.to_owned());
        let intent = self.intent_of(prompts);
        let has_content = !prompt.trim().is_empty()
            && (self.instructions.is_empty() && self.task.goal.is_empty() || adds_to(&self.intent, &intent));
        (has_content, intent)
    }

    fn intent_of(&self, prompts: Vec<String>) -> Intent {
        self.reader.intent(&IntentQuestion {
            prompts,
            first_files: Vec::new(),
        })
    }

    fn read_all(&mut self) {
        self.intent = self.intent_of(self.instructions.clone());
    }

    fn drop_oldest(&mut self) {
        let surplus = self.instructions.len().saturating_sub(MAX_INSTRUCTIONS);
        self.instructions.drain(..surplus);
        self.this_turn = self.this_turn.min(self.instructions.len());
        self.unrecorded = self.unrecorded.min(self.instructions.len());
    }

    fn build(&mut self) {
        self.version += 1;
        let newest = self.instructions.last().cloned();
        let newest = newest
            .map(|prompt| self.intent_of(vec![prompt]))
            .unwrap_or_default();
        let (intent, task) = self.since_turning_away();
        let goal = self.goal(&intent, &task);
        let remaining = task.constraints.iter();
        let remaining: Vec<String> = remaining
            .filter(|constraint| !self.is_lifted(constraint))
            .cloned()
            .collect();
        let contract = GoalContract {
            goal,
            instructions: self.instructions.clone(),
            scope: merged([&newest.scope, &intent.scope, &task.scope]),
            allowed: Vec::new(),
            forbidden: Vec::new(),
            constraints: merged([&newest.constraints, &intent.constraints, &remaining]),
            keywords: merged([&newest.keywords, &intent.keywords, &task.keywords]),
            reading: None,
            is_goal_newest: false,
        };
        self.contract = GoalContract {
            reading: self.reading.clone(),
            ..contract.clone().with_edits(&self.edits)
        };
        if self.contract.is_goal_newest {
            let set = self.intent_of(vec![self.contract.goal.clone()]);
            self.contract.scope = set.scope;
            self.contract.keywords = set.keywords;
        }
        self.typed = contract;
    }

    /// Returns the intents of all instructions and of the task, without what the user gave up: of the work before the
    /// newest instruction that turned away, only constraints remain that bind any work.
    fn since_turning_away(&self) -> (Intent, Intent) {
        let turns = |prompt: &String| self.reader.turns_away(prompt);
        let Some(turned_at) = self.instructions.iter().rposition(turns) else {
            return (self.intent.clone(), self.task.clone());
        };
        let standing = |mut constraints: Vec<String>| {
            constraints.retain(|constraint| !binds_one_task(constraint));
            constraints
        };
        let mut intent = self.intent.clone();
        if turned_at > 0 {
            let (before, since) = self.instructions.split_at(turned_at);
            let before = self.intent_of(before.to_vec());
            intent = self.intent_of(since.to_vec());
            intent.constraints = merged([&standing(before.constraints), &intent.constraints]);
        }
        // A task that started with or after that instruction is the new work.
        let is_given_up = self.instructions.len() - turned_at <= self.this_turn;
        let task = match is_given_up {
            true => Intent {
                constraints: standing(self.task.constraints.clone()),
                ..Intent::default()
            },
            false => self.task.clone(),
        };
        (intent, task)
    }

    /// Returns the goal of the task and its instructions. The reader decides which prompts replace it.
    fn goal(&self, intent: &Intent, task: &Intent) -> String {
        if task.goal.trim().is_empty() {
            let goals = [&intent.goal, &self.intent.goal];
            return goals
                .into_iter()
                .find(|goal| !goal.is_empty())
                .cloned()
                .unwrap_or_default();
        }
        let mut prompts = vec![task.goal.clone()];
        let alone = self.intent_of(prompts.clone()).goal;
        // The first recorded instruction is the one that the goal of the task words.
        let since = usize::from(self.has_recorded);
        prompts.extend(self.instructions.iter().skip(since).cloned());
        let goal = self.intent_of(prompts).goal;
        if goal == alone || goal.is_empty() {
            task.goal.clone()
        } else {
            goal
        }
    }

    /// Whether a constraint of the task was lifted by a later instruction: the reader no longer finds it in its prompt.
    fn is_lifted(&self, constraint: &str) -> bool {
        !self.intent.constraints.iter().any(|known| known == constraint)
            && self.instructions.iter().any(|prompt| prompt.contains(constraint))
    }
}

/// Returns the prompts that have content of their own or ask for an act, sanitized, oldest first. Prompts like "yes" are left out. Only the
/// newest 20 prompts are considered.
pub fn instructions(reader: &IntentReader, prompts: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut before = Intent::default();
    let surplus = prompts.len().saturating_sub(MAX_INSTRUCTIONS);
    for prompt in prompts.iter().skip(surplus).map(|prompt| sanitize_prompt(prompt)) {
        if prompt.trim().is_empty() || kept.contains(&prompt) {
            continue;
        }
        kept.push(prompt);
        let after = reader.intent(&IntentQuestion {
            prompts: kept.clone(),
            first_files: Vec::new(),
        });
        let is_act = kept.last().is_some_and(|prompt| asks_to_act(prompt));
        if kept.len() > 1 && !adds_to(&before, &after) && !is_act {
            kept.pop();
        } else {
            before = after;
        }
    }
    kept
}

/// Whether an intent differs. Keywords count: they are those of the newest prompt that is more than a "yes".
fn adds_to(before: &Intent, after: &Intent) -> bool {
    after.goal != before.goal
        || after.scope != before.scope
        || after.constraints != before.constraints
        || after.keywords != before.keywords
}

/// Whether a constraint limits the work to something, and so ends with the task: "only change src/auth", "nothing else".
/// Others forbid something and remain: "never push".
fn binds_one_task(constraint: &str) -> bool {
    #[rustfmt::skip]
    const LIMITS: &[&str] = &[
        "alleen", "anything", "apenas", "ausschliesslich", "ausschließlich", "doar", "else", "everything", "exclusively",
        "just", "nothing", "numai", "nur", "only", "other", "outside", "seulement", "slechts", "solamente", "solely",
        "solo", "soltanto", "somente", "tylko", "uniquement", "wyłącznie",
    ];
    let lower = constraint.to_lowercase();
    let mut words = lower.split(|character: char| !character.is_alphabetic());
    words.any(|word| LIMITS.binary_search(&word).is_ok())
        || lower.contains(['只', '仅'])
        || lower.contains("だけ")
}

fn merged<const N: usize>(lists: [&Vec<String>; N]) -> Vec<String> {
    let mut merged: Vec<String> = Vec::new();
    for entry in lists.into_iter().flatten() {
        if merged.len() >= MAX_ENTRIES {
            break;
        }
        if !merged.contains(entry) {
            merged.push(entry.clone());
        }
    }
    merged
}

/// Redacts a prompt and shortens it to its first and last 8 KiB. It is cut after redaction, because the redactor does not
/// recognize half a secret.
pub fn sanitize_prompt(prompt: &str) -> String {
    let prompt = Redactor::shared().redact(prompt);
    both_ends(&prompt, MAX_END_BYTES, "\n[…]\n").into_owned()
}

#[cfg(test)]
mod tests;
