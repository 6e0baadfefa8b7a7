//! A session, followed from hook to hook.

use crate::announcing::waiting;
use crate::checking;
use crate::course::{Course, Resumed, known_by};
use grov_actions::transcript::{Call, Ended, Entry, Event, Reader};
use grov_domain::{
    ActionSketch, AgentId, Assessment, GoalContract, GoalEdit, GuardVerdict, Guarded, HookCheck, HookEnded,
    HookProgress, HookSession, HookStep, OFF_GOAL_BELOW, StepId, WaitingPrompt,
};
use grov_scope::Rules;
use grov_session::level::ON_GOAL_FROM;
use grov_session::objection::{agreed, objects};
use grov_session::{Agreement, IntentReader, TaskGoal};
use std::collections::{BTreeMap, VecDeque};
use time::OffsetDateTime;

/// The tools that put something to the user.
const ASKING: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

/// Follows a session: what was read of its transcript, what the agent is held to, what was found and said.
///
/// A hook takes it up with [`Following::resume`], reads the transcript from [`Following::offset`] on, and keeps what
/// [`Following::into_progress`] gives. What was not kept is found again by the next hook.
pub struct Following {
    session: HookSession,
    course: Course,
    agreement: Agreement,
    rules: Rules,
    /// What the user typed and the course does not know of, oldest first.
    waiting: VecDeque<WaitingPrompt>,
    /// The transcript is read from its beginning, and everything in it counted anew.
    counts_anew: bool,
    /// The agent may be told what was found.
    corrects: bool,
    /// Tool calls that the user was asked about before they ran, and whether it is noted that they ran.
    asked: BTreeMap<String, bool>,
    steps: Vec<HookStep>,
    /// How calls ended that are among the steps of an earlier hook.
    ended: Vec<HookEnded>,
    check: Option<HookCheck>,
}

impl Following {
    /// Takes up a session as it is stored, with what a person changed of its contract, oldest first. `read` tells what
    /// prompts ask for.
    ///
    /// A course that cannot be read is begun anew: the transcript is read from its beginning, which gives the same steps
    /// again, and nothing of it is corrected any more. One that was forgotten goes on where it was: what was said before is not
    /// taken up again.
    pub fn resume(mut session: HookSession, edits: &[GoalEdit], read: IntentReader) -> Self {
        let root = root(&session).to_owned();
        let stored = session.course.as_deref();
        let stored = stored.and_then(|text| Course::stored(text, &session.contract, &root));
        let mut agreement = Agreement::new(read);
        // What was followed before was forgotten: it is not read again.
        let is_forgotten = session.course.is_none() && session.read_to > 0;
        let counts_anew = stored.is_none() && !is_forgotten;
        let (course, rules) = match stored {
            Some(Resumed { course, typed, rules }) => {
                agreement.work_on(TaskGoal::default(), typed.instructions);
                (course, rules)
            }
            None if is_forgotten => {
                agreement.work_on(TaskGoal::default(), session.contract.instructions.clone());
                let since = session.updated_at;
                (Course::new(session.client_session_id.as_str(), since), None)
            }
            None => {
                let since = match session.course {
                    Some(_) => session.updated_at,
                    None => session.started_at,
                };
                session.read_to = 0;
                session.prompts = 0;
                session.actions = 0;
                (Course::new(session.client_session_id.as_str(), since), None)
            }
        };
        agreement.edited(edits.to_vec());
        let held = agreement.contract().clone();
        let rules = match rules {
            Some(mut rules) => {
                rules.hold_to(held);
                rules
            }
            None => Rules::new(held, Some(&root)),
        };
        Self {
            waiting: std::mem::take(&mut session.waiting).into(),
            counts_anew,
            session,
            course,
            agreement,
            rules,
            corrects: true,
            asked: BTreeMap::new(),
            steps: Vec::new(),
            ended: Vec::new(),
            check: None,
        }
    }

    /// Begins a session that goes on with another one's history, whose user typed what stands in `contract`. The history's
    /// prompts are known by that: its transcript comes later, and shows them again.
    pub fn fork(
        session: HookSession,
        contract: &GoalContract,
        edits: &[GoalEdit],
        read: IntentReader,
    ) -> Self {
        let mut following = Self::resume(session, edits, read);
        if !contract.instructions.is_empty() {
            following.course.knows_history = true;
            let typed = contract.instructions.clone();
            following.agreement.work_on(TaskGoal::default(), typed);
            following.rules.hold_to(following.agreement.contract().clone());
        }
        following
    }

    /// Whether the agent may be told what is found, `true` if nobody says so. Where it may not, a check gives a score and
    /// no correction.
    pub fn set_corrects(&mut self, corrects: bool) {
        self.corrects = corrects;
    }

    /// What a guard said before actions ran: where the user was asked and the call ran, they said yes.
    pub fn guarded(&mut self, log: &[Guarded]) {
        let asked = log
            .iter()
            .filter(|one| one.verdict == GuardVerdict::Ask || one.ran);
        self.asked = asked.map(|one| (one.tool_use_id.clone(), one.ran)).collect();
    }

    /// Whether the user let go of the wish that nothing be changed, by a "yes" to a question or a plan.
    pub fn is_released(&self) -> bool {
        self.rules.released().is_some()
    }

    /// What the agent is held to, with what a person changed.
    pub fn contract(&self) -> &GoalContract {
        self.agreement.contract()
    }

    /// The folder that relative paths of the contract are meant from: the project, or where the client works outside of it.
    pub fn root(&self) -> &str {
        root(&self.session)
    }

    /// The session as it is now.
    pub fn session(&self) -> &HookSession {
        &self.session
    }

    /// The same, to change what following does not know: where the transcript is, what was told, when it ended.
    pub fn session_mut(&mut self) -> &mut HookSession {
        &mut self.session
    }

    /// Where in the session's transcript to go on reading, if it is `length` bytes long now. One that became shorter is
    /// another one: it is read from the beginning.
    pub fn offset(&mut self, length: u64) -> u64 {
        if length < self.session.read_to {
            self.session.read_to = 0;
            self.course.reader = Reader::new(Some(self.session.client_session_id.as_str()));
        }
        self.session.read_to
    }

    /// Follows what the session's transcript says from the offset on. Returns the number of bytes that were taken: up to
    /// the end of the last whole line.
    pub fn read(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while let Some(before) = self.before_waiting(bytes.len() - taken) {
            taken += self.read_lines(&bytes[taken..taken + before]);
            self.take_in_waiting();
        }
        taken + self.read_lines(&bytes[taken..])
    }

    /// Of so many bytes those that were written before the next of the prompts that wait, if it was typed before their end.
    fn before_waiting(&self, bytes: usize) -> Option<usize> {
        let before = self.waiting.front()?.at.saturating_sub(self.session.read_to);
        usize::try_from(before).ok().filter(|before| *before < bytes)
    }

    fn read_lines(&mut self, bytes: &[u8]) -> usize {
        let reading = self.course.reader.read(bytes);
        self.session.read_to += reading.taken as u64;
        self.follow(&reading.entries);
        reading.taken
    }

    /// The transcript was read to its end: whatever was typed was typed by now.
    pub fn at_end(&mut self) {
        while !self.waiting.is_empty() {
            self.take_in_waiting();
        }
    }

    /// Takes in the next of the prompts that wait. It was counted when the hook told of it.
    fn take_in_waiting(&mut self) {
        let Some(prompt) = self.waiting.pop_front() else {
            return;
        };
        self.course.announce(prompt.known_by);
        self.hold(&prompt.text, self.counts_anew);
    }

    /// Where in the transcript of a subagent to go on reading, if it is `length` bytes long now. Of more than 1,024 subagents
    /// the later ones are not followed: there, that is the end.
    pub fn subagent_offset(&mut self, agent: &AgentId, length: u64) -> u64 {
        let Some(source) = self.course.agent(agent.as_str()) else {
            return length;
        };
        if length < source.read_to {
            source.read_to = 0;
        }
        source.read_to
    }

    /// Follows what the transcript of a subagent says from its offset on.
    pub fn read_subagent(&mut self, agent: &AgentId, bytes: &[u8]) -> usize {
        let id = self.session.client_session_id.as_str();
        let Some(source) = self.course.agent(agent.as_str()) else {
            return 0;
        };
        let reader = source.reader.get_or_insert_with(|| Reader::new(Some(id)));
        let reading = reader.read(bytes);
        source.read_to += reading.taken as u64;
        self.course.has_read(agent.as_str());
        let own = |entry: Entry| Entry {
            agent: Some(entry.agent.unwrap_or_else(|| agent.clone())),
            ..entry
        };
        let entries: Vec<Entry> = reading.entries.into_iter().map(own).collect();
        self.follow(&entries);
        reading.taken
    }

    /// Follows what happened.
    pub fn follow(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.event {
                Event::Prompt { text, .. } => {
                    let known = known_by(text);
                    let is_history = self.is_history(entry);
                    if is_history && self.course.knows_history {
                        continue;
                    }
                    if self.course.was_announced(known) {
                        continue;
                    }
                    let waits = self.waiting.iter().position(|prompt| prompt.known_by == known);
                    let is_counted = waits.is_some_and(|place| self.waiting.remove(place).is_some());
                    self.hold(text, !is_history && (!is_counted || self.counts_anew));
                }
                Event::Call(call) => self.called(entry, call),
                Event::Ended(ended) => self.ended(entry, ended),
                Event::Said(text) if entry.agent.is_none() => self.course.last_answer = Some(text.clone()),
                Event::Said(_) | Event::Compacted { .. } | Event::Used(_) => {}
            }
        }
    }

    /// Whether it happened before the session began. A fork's transcript begins with a copy of another one's, which does not
    /// always say so.
    fn is_history(&self, entry: &Entry) -> bool {
        entry.is_inherited || entry.at.is_some_and(|at| at < self.session.started_at)
    }

    /// The user typed something, which the transcript will show later. Told before a check, so that what is asked for now
    /// is not held against the agent.
    pub fn prompted(&mut self, prompt: &str) {
        self.course.announce(known_by(prompt));
        self.hold(prompt, true);
    }

    fn hold(&mut self, prompt: &str, counts: bool) {
        self.session.prompts += u64::from(counts);
        let says_something = self.agreement.prompted(prompt);
        self.rules.prompted();
        self.rules.hold_to(self.agreement.contract().clone());
        let answer = self.course.last_answer.take();
        if says_something {
            self.reconsider();
        } else if let Some(answer) = answer.filter(|_| !objects(prompt)) {
            self.rules.consented(&answer);
        }
    }

    /// Lets go of what is off the goal no more under what the user asks for now.
    fn reconsider(&mut self) {
        let rules = &self.rules;
        self.course.batch.offences.retain(|offence| {
            let mut rules = rules.clone();
            if offence.is_fact() || offence.is_delegated {
                rules.assess_delegated(&offence.action).score < OFF_GOAL_BELOW
            } else {
                rules.assess(&offence.action, None).score < OFF_GOAL_BELOW
            }
        });
        let Course {
            batch, open_doubts, ..
        } = &mut self.course;
        open_doubts.keep(|call| batch.has_offence(call));
    }

    fn called(&mut self, entry: &Entry, call: &Call) {
        let id = call.action.tool_use_id.as_deref();
        if id.is_some_and(|id| !self.course.is_new_call(id)) {
            return;
        }
        if let Some(id) = id.filter(|_| ASKING.contains(&call.action.tool.as_str())) {
            self.course.asks(id, call.plan.clone());
        }
        let action = sketch(call);
        let is_delegated = entry.agent.is_some();
        if id.is_some_and(|id| self.asked.contains_key(id)) {
            self.rules.allow(&action, id);
        }
        let assessment = if is_delegated {
            self.rules.assess_delegated(&action)
        } else {
            self.rules.assess(&action, id)
        };
        if self.is_history(entry) {
            return;
        }
        self.session.actions += 1;
        self.course.batch.put_back(self.rules.put_back());
        if entry.at.is_none_or(|at| at > self.course.since) {
            if !is_delegated {
                self.course.open_doubts.acted(&action, &assessment, id);
            }
            self.course.batch.add(id, &action, &assessment, is_delegated);
        }
        self.steps.push(HookStep {
            id: self.step_id(id),
            tool_use_id: id.map(str::to_owned),
            agent_id: entry.agent.clone(),
            tool: call.action.tool.clone(),
            action: ActionSketch {
                content: None,
                ..action
            },
            prompt: self.session.prompts,
            score: Some(assessment.score),
            findings: assessment.findings,
            timestamp: entry.at.unwrap_or(self.session.updated_at),
        });
    }

    fn step_id(&self, call: Option<&str>) -> StepId {
        let session = &self.session.client_session_id;
        match call {
            Some(call) => StepId::new(format!("{session}-{call}")),
            None => StepId::new(format!("{session}-{:06}", self.session.actions)),
        }
    }

    fn ended(&mut self, entry: &Entry, ended: &Ended) {
        let call = ended.tool_use_id.as_str();
        self.rules.ended(call, ended.failed);
        if ended.failed {
            self.course.batch.failed(call);
            self.course.open_doubts.failed(call);
            // They said no, unless it ran and failed by itself.
            if self.asked.get(call) == Some(&false) {
                self.rules.disallow(call);
            }
        }
        if entry.agent.is_none() {
            if let Some(output) = &ended.output {
                self.rules.heard(output);
            }
            if let Some(question) = self.course.answered(call) {
                let words = agreed(question.plan.as_deref(), ended.failed, ended.output.as_deref());
                self.rules.consented(words.unwrap_or_default());
                if words.is_some() && question.plan.is_some() {
                    self.rules.release();
                }
            }
        }
        let steps = self.steps.iter_mut().rev();
        let mut own = steps.filter(|step| step.tool_use_id.as_deref() == Some(call));
        if let Some(step) = own.next() {
            step.action.failed = Some(ended.failed);
            step.action.output.clone_from(&ended.output);
        } else if !self.is_history(entry) {
            self.ended.push(HookEnded {
                id: self.step_id(Some(call)),
                failed: ended.failed,
                output: ended.output.clone(),
            });
        }
    }

    /// What the rules would say of an action that has not run yet. Nothing is kept of it.
    pub fn foresee(&self, call: &Call, is_delegated: bool) -> Assessment {
        let mut rules = self.rules.clone();
        let action = sketch(call);
        if is_delegated {
            rules.assess_delegated(&action)
        } else {
            rules.assess(&action, None)
        }
    }

    /// Looks at everything that was done since the last check. `None`: nothing was.
    pub fn check(&mut self, at: OffsetDateTime) -> Option<HookCheck> {
        if self.course.batch.actions == 0 {
            return None;
        }
        let batch = self.course.batch.taken();
        let contract = self.agreement.contract();
        let check = checking::check(
            &mut self.session,
            &mut self.course,
            contract,
            &batch,
            self.corrects,
            at,
        );
        if check.correction.is_some() {
            self.rules.told_to_undo();
        }
        self.check = Some(check.clone());
        Some(check)
    }

    /// Checks what was done where there is nothing to be said of it, now or when the user types again.
    pub fn settle(&mut self, at: OffsetDateTime) {
        if self.course.batch.score() >= ON_GOAL_FROM {
            self.check(at);
        }
    }

    /// The user typed something when the transcript had `length` bytes, of which not all are read: it waits for whoever reads
    /// on.
    pub fn waits(&mut self, prompt: &str, length: u64) {
        self.session.prompts += u64::from(!self.counts_anew);
        self.waiting.push_back(waiting(prompt, length));
    }

    /// What was learned, to be kept.
    pub fn into_progress(mut self, at: OffsetDateTime) -> HookProgress {
        self.session.course = self.course.to_text(&self.rules, self.agreement.typed());
        // What waits is not in the course, but the agent is held to it.
        for prompt in &self.waiting {
            self.agreement.prompted(&prompt.text);
        }
        if self.counts_anew {
            self.session.prompts += self.waiting.len() as u64;
        }
        self.session.contract = self.agreement.typed().clone();
        self.session.waiting = self.waiting.into();
        self.session.is_unchecked = self.course.batch.actions > 0;
        self.session.updated_at = at;
        HookProgress {
            session: self.session,
            steps: self.steps,
            ended: self.ended,
            check: self.check,
        }
    }
}

/// The project where the client works in it, else where it works: in a worktree, or outside of any project.
fn root(session: &HookSession) -> &str {
    let project = session.project_path.trim_end_matches('/');
    let below = session.working_directory.strip_prefix(project);
    if !project.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        project
    } else {
        &session.working_directory
    }
}

fn sketch(call: &Call) -> ActionSketch {
    let action = &call.action;
    ActionSketch {
        action_type: action.action_type,
        files: action.files.clone(),
        command: action.command.clone(),
        effects: action.effects.iter().map(|effect| effect.kind).collect(),
        reasoning: call.said.clone(),
        failed: None,
        output: None,
        content: call.content.clone(),
    }
}

#[cfg(test)]
mod tests;
