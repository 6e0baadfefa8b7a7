//! A session, followed from hook to hook.

pub(crate) mod pending;
mod position;

use grov_actions::transcript::{Call, Ended, Entry, Event, Reader};
use grov_domain::{
    ActionSketch, AgentId, AskedCall, ClientDialect, CorrectionId, GoalContract, GoalEdit, GuardRecord,
    GuardVerdict, HookCheck, HookEnded, HookProgress, HookSession, HookStep, PendingPrompt, StepId,
    StepVerdict,
};
use grov_session::correction::framed;
use grov_session::level::ON_GOAL_FROM;
use grov_session::{
    CallResult, Effects, EventContext, IntentReader, ObservedAction, PendingQuestion, Policy, SessionEngine,
    SessionEvent,
};
use pending::pending_prompt;
use position::{ReadPosition, text_hash};
use std::collections::VecDeque;
use time::OffsetDateTime;

/// Follows a session: its transcript feeds the engine, and what is to be said goes out with prompts.
///
/// A hook takes it up with [`TranscriptFollower::resume`], reads the transcript from [`TranscriptFollower::offset`] on, and keeps what
/// [`TranscriptFollower::into_progress`] gives. What was not kept is found again by the next hook.
pub struct TranscriptFollower {
    session: HookSession,
    reading: ReadPosition,
    engine: SessionEngine,
    /// What the user typed and the engine does not know of, oldest first.
    waiting: VecDeque<PendingPrompt>,
    /// The transcript is read from its beginning, and everything in it counted anew.
    counts_anew: bool,
    /// The time of what was read last.
    now: OffsetDateTime,
    steps: Vec<HookStep>,
    /// How calls ended that are among the steps of an earlier hook.
    ended: Vec<HookEnded>,
    /// Actions of an earlier hook that the user turned out to have allowed.
    allowed: Vec<StepId>,
    check: Option<HookCheck>,
}

impl TranscriptFollower {
    /// Takes up a session as it is stored, with what a person changed of its contract, oldest first. `read` tells what
    /// prompts ask for.
    ///
    /// What was stored and cannot be read is begun anew: the transcript is read from its beginning, which gives the same steps
    /// again, and nothing of it is corrected any more. What was forgotten goes on where it was: it is not read again.
    pub fn resume(mut session: HookSession, edits: &[GoalEdit], read: IntentReader) -> Self {
        let root = root(&session).to_owned();
        let stored = session.engine_state.as_deref().and_then(ReadPosition::stored);
        let is_forgotten = session.engine_state.is_none() && session.read_to > 0;
        let counts_anew = stored.is_none() && !is_forgotten;
        let id = &session.client_session_id;
        let (reading, engine) = match stored {
            Some((reading, memo)) => {
                let engine = SessionEngine::restore(memo, Some(&root), Policy::PER_PROMPT, read, edits);
                (reading, engine)
            }
            None => {
                let since = match session.engine_state {
                    None if !is_forgotten => session.started_at,
                    _ => session.updated_at,
                };
                let typed = match is_forgotten {
                    true => session.contract.instructions.clone(),
                    false => Vec::new(),
                };
                let engine = SessionEngine::new(id.clone(), Some(&root), Policy::PER_PROMPT, read, since);
                let engine = engine.start_with(typed, edits, session.escalation);
                (ReadPosition::new(id.as_str(), since), engine)
            }
        };
        if counts_anew {
            session.read_to = 0;
            session.prompts = 0;
            session.actions = 0;
        }
        Self {
            now: session.updated_at,
            waiting: std::mem::take(&mut session.waiting).into(),
            counts_anew,
            session,
            reading,
            engine,
            steps: Vec::new(),
            ended: Vec::new(),
            allowed: Vec::new(),
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
        let mut follower = Self::resume(session, edits, read.clone());
        if !contract.instructions.is_empty() {
            let session = &follower.session;
            let id = session.client_session_id.clone();
            let engine = SessionEngine::new(id, Some(root(session)), Policy::PER_PROMPT, read, follower.now);
            follower.engine = engine.start_with(contract.instructions.clone(), edits, session.escalation);
            follower.reading.knows_history = true;
        }
        follower
    }

    /// Whether the agent may be told what is found, `true` if nothing else is said. Where it may not, a check gives a score
    /// and no correction.
    pub fn set_corrects(&mut self, corrects: bool) {
        self.apply(SessionEvent::CorrectionsEnabled(corrects));
    }

    /// What a guard said before actions ran: where the user was asked and the call ran, they said yes.
    pub fn apply_guard_log(&mut self, log: &[GuardRecord]) {
        let asked = log
            .iter()
            .filter(|one| one.verdict == GuardVerdict::Ask || one.ran);
        let asked: Vec<AskedCall> = asked
            .map(|one| AskedCall {
                tool_use_id: one.tool_use_id.clone(),
                ran: one.ran,
            })
            .collect();
        let effects = self.apply(SessionEvent::PermissionAsked(&asked));
        self.acquit(effects.later_verdicts);
    }

    /// Takes over verdicts on actions that were found before.
    fn acquit(&mut self, verdicts: Vec<(StepId, StepVerdict)>) {
        for (id, verdict) in verdicts {
            match self.steps.iter_mut().rev().find(|step| step.id == id) {
                Some(step) => {
                    step.score = Some(verdict.score);
                    step.findings = verdict.findings;
                }
                // It is kept already.
                None => self.allowed.push(id),
            }
        }
    }

    /// Hands an event to the engine.
    fn apply(&mut self, event: SessionEvent<'_>) -> Effects {
        let session = &self.session.client_session_id;
        let context = EventContext {
            at: self.now,
            id: CorrectionId::new(format!("{session}-{:06}", self.session.actions)),
            task: session.first_task(),
        };
        self.engine.apply(event, &context)
    }

    /// Whether the user let go of the wish that nothing be changed, by a "yes" to a question or a plan.
    pub fn is_released(&self) -> bool {
        self.engine.is_released()
    }

    /// What the agent is held to, with what a person changed.
    pub fn contract(&self) -> &GoalContract {
        self.engine.contract()
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
            self.reading.reader = Reader::new(Some(self.session.client_session_id.as_str()));
        }
        self.session.read_to
    }

    /// Follows what the session's transcript says from the offset on. Returns the number of bytes that were taken: up to
    /// the end of the last whole line.
    pub fn read(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while let Some(before) = self.before_pending(bytes.len() - taken) {
            taken += self.read_lines(&bytes[taken..taken + before]);
            self.apply_pending();
        }
        taken + self.read_lines(&bytes[taken..])
    }

    /// Of so many bytes those that were written before the next of the prompts that wait, if it was typed before their end.
    fn before_pending(&self, bytes: usize) -> Option<usize> {
        let before = self.waiting.front()?.at.saturating_sub(self.session.read_to);
        usize::try_from(before).ok().filter(|before| *before < bytes)
    }

    fn read_lines(&mut self, bytes: &[u8]) -> usize {
        let reading = self.reading.reader.read(bytes);
        self.session.read_to += reading.taken as u64;
        self.follow(&reading.entries);
        reading.taken
    }

    /// The transcript was read to its end: whatever was typed was typed by now.
    pub fn flush_pending(&mut self) {
        while !self.waiting.is_empty() {
            self.apply_pending();
        }
    }

    /// Takes in the next of the prompts that wait. It was counted when the hook told of it.
    fn apply_pending(&mut self) {
        let Some(prompt) = self.waiting.pop_front() else {
            return;
        };
        self.reading.expect_prompt(prompt.known_by);
        self.apply_prompt(&prompt.text, self.counts_anew, self.session.updated_at);
    }

    /// Where in the transcript of a subagent to go on reading, if it is `length` bytes long now. Of more than 1,024 subagents
    /// the later ones are not followed: there, that is the end.
    pub fn subagent_offset(&mut self, agent: &AgentId, length: u64) -> u64 {
        let Some(source) = self.reading.agent(agent.as_str()) else {
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
        let Some(source) = self.reading.agent(agent.as_str()) else {
            return 0;
        };
        let reader = source.reader.get_or_insert_with(|| Reader::new(Some(id)));
        let reading = reader.read(bytes);
        source.read_to += reading.taken as u64;
        self.reading.has_read(agent.as_str());
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
            self.now = entry.at.unwrap_or(self.now);
            match &entry.event {
                Event::Prompt { text, .. } => {
                    let known = text_hash(text);
                    let is_history = self.is_history(entry);
                    if is_history && self.reading.knows_history {
                        continue;
                    }
                    if self.reading.was_announced(known) {
                        continue;
                    }
                    let waits = self.waiting.iter().position(|prompt| prompt.known_by == known);
                    let is_counted = waits.is_some_and(|place| self.waiting.remove(place).is_some());
                    let counts = !is_history && (!is_counted || self.counts_anew);
                    self.apply_prompt(text, counts, entry.at.unwrap_or(self.now));
                }
                Event::Call(call) => self.called(entry, call),
                Event::Ended(ended) => self.ended(entry, ended),
                Event::Said(text) if entry.agent.is_none() => {
                    self.apply(SessionEvent::AssistantText(text));
                }
                Event::Said(_) | Event::Compacted { .. } | Event::Used(_) => {}
            }
        }
    }

    /// Whether it happened before the session began. A fork's transcript begins with a copy of another one's, which does not
    /// always say so.
    fn is_history(&self, entry: &Entry) -> bool {
        entry.is_inherited || entry.at.is_some_and(|at| at < self.session.started_at)
    }

    /// The user typed something, which the transcript will show later. Handed over before a check, so that what is asked for
    /// now is not held against the agent.
    pub fn add_prompt(&mut self, prompt: &str, at: OffsetDateTime) {
        self.reading.expect_prompt(text_hash(prompt));
        self.now = at;
        self.apply_prompt(prompt, true, at);
    }

    fn apply_prompt(&mut self, text: &str, counts: bool, arrived_at: OffsetDateTime) {
        self.session.prompts += u64::from(counts);
        self.apply(SessionEvent::Prompt { text, arrived_at });
    }

    fn called(&mut self, entry: &Entry, call: &Call) {
        let id = call.action.tool_use_id.as_deref();
        if id.is_some_and(|id| !self.reading.is_new_call(id)) {
            return;
        }
        if let Some(id) = id.filter(|_| ClientDialect::CLAUDE_CODE.asks_user(&call.action.tool)) {
            self.apply(SessionEvent::QuestionAsked(PendingQuestion {
                call: id.to_owned(),
                plan: call.plan.clone(),
            }));
        }
        let mut observed = ObservedAction {
            action: sketch(call),
            call: id.map(str::to_owned),
            step: None,
            is_delegated: entry.agent.is_some(),
        };
        if self.is_history(entry) {
            self.apply(SessionEvent::PriorAction(observed));
            return;
        }
        self.session.actions += 1;
        let step = self.step_id(id);
        let is_new = entry.at.is_none_or(|at| at > self.reading.since);
        let mut effects = if is_new {
            observed.step = Some(step.clone());
            self.apply(SessionEvent::Response(vec![observed]))
        } else {
            self.apply(SessionEvent::PriorAction(observed))
        };
        let Some(assessed) = effects.assessed.pop() else {
            return;
        };
        let (score, findings) = match effects.verdicts.pop() {
            Some(verdict) => verdict.map_or((None, Vec::new()), |verdict| {
                (Some(verdict.score), verdict.findings)
            }),
            None => (Some(assessed.assessment.score), assessed.assessment.findings),
        };
        self.steps.push(HookStep {
            id: step,
            tool_use_id: id.map(str::to_owned),
            agent_id: entry.agent.clone(),
            tool: call.action.tool.clone(),
            action: ActionSketch {
                content: None,
                ..assessed.action
            },
            prompt: self.session.prompts,
            score,
            findings,
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
        let effects = self.apply(SessionEvent::CallEnded(CallResult {
            call,
            failed: ended.failed,
            output: ended.output.as_deref(),
            is_delegated: entry.agent.is_some(),
        }));
        self.acquit(effects.later_verdicts);
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

    /// Looks at everything that was done since the last check, and says what is to be said of it. `None`: nothing was done.
    pub fn check(&mut self, at: OffsetDateTime) -> Option<HookCheck> {
        let found = self.engine.check()?;
        let correction = self.engine.deliverable_correction(at, false).cloned();
        if let Some(correction) = &correction {
            self.engine.mark_delivered(correction, at);
        }
        let given = correction.as_ref();
        let score = given.map_or(found.score, |given| given.score.min(found.score));
        self.session.drift_score = Some(score);
        self.session.escalation = self.engine.state().escalation;
        let check = HookCheck {
            id: format!("{}-{:06}", self.session.client_session_id, self.session.actions),
            actions: found.actions,
            score,
            level: given.map(|given| given.level),
            reason: found.reason.or_else(|| given.map(|given| given.reason.clone())),
            files: found.files,
            correction: given.map(|given| framed(&given.text, given.level, false)),
            recovery_plan: correction
                .map(|correction| correction.recovery_plan)
                .unwrap_or_default(),
            at,
        };
        self.check = Some(check.clone());
        Some(check)
    }

    /// Checks what was done where there is nothing to be said of it, now or when the user types again.
    pub fn settle(&mut self, at: OffsetDateTime) {
        if self.engine.check_score() >= ON_GOAL_FROM && self.engine.pending_correction().is_none() {
            self.check(at);
        }
    }

    /// The user typed something when the transcript had `length` bytes, of which not all are read: it waits for whoever reads
    /// on.
    pub fn queue_prompt(&mut self, prompt: &str, length: u64) {
        self.session.prompts += u64::from(!self.counts_anew);
        self.waiting.push_back(pending_prompt(prompt, length));
    }

    /// What was learned, to be kept.
    pub fn into_progress(mut self, at: OffsetDateTime) -> HookProgress {
        self.session.engine_state = self.reading.to_text(&self.engine);
        if self.counts_anew {
            self.session.prompts += self.waiting.len() as u64;
        }
        // What waits is not in the engine, but the agent is held to it.
        let waiting = self.waiting.iter().map(|prompt| prompt.text.as_str());
        self.session.contract = self.engine.typed_contract_with(waiting);
        self.session.waiting = self.waiting.into();
        self.session.is_unchecked = self.engine.has_unchecked_actions();
        self.session.updated_at = at;
        HookProgress {
            session: self.session,
            steps: self.steps,
            ended: self.ended,
            allowed: self.allowed,
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
    ActionSketch {
        reasoning: call.said.clone(),
        content: call.content.clone(),
        ..ActionSketch::of(&call.action)
    }
}

#[cfg(test)]
mod tests;
