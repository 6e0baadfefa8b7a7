//! Follows a session's transcript from hook to hook.

pub(crate) mod pending;
mod position;

use grov_actions::transcript::{Call, Ended, Entry, Event, Reader};
use grov_domain::{
    ActionSketch, AgentId, AskedCall, ClientDialect, CorrectionId, GoalContract, GoalEdit, GuardRecord,
    GuardVerdict, HookCheck, HookProgress, HookSession, HookStep, HookStepResult, StepId, StepVerdict,
};
use grov_session::correction::framed;
use grov_session::level::ON_GOAL_FROM;
use grov_session::{
    CallResult, Effects, EventContext, IntentReader, ObservedAction, PendingQuestion, Policy, SessionEngine,
    SessionEvent,
};
use pending::pending_prompt;
use position::{ReadPosition, text_hash};
use time::OffsetDateTime;

/// Feeds a session's transcript to the engine and collects what is to be stored.
///
/// A hook creates it with [`TranscriptFollower::resume`], reads the transcript from [`TranscriptFollower::offset`] on, and
/// stores the result of [`TranscriptFollower::into_progress`]. If it was not stored, the next hook reads the same lines again.
pub struct TranscriptFollower {
    session: HookSession,
    reading: ReadPosition,
    engine: SessionEngine,
    /// Whether the transcript is read again from its beginning, so that prompts and actions are counted again.
    recounts: bool,
    /// Timestamp of the last entry read.
    now: OffsetDateTime,
    steps: Vec<HookStep>,
    /// Results of calls that an earlier hook recorded as steps.
    ended: Vec<HookStepResult>,
    /// Steps of an earlier hook that the user has since allowed.
    allowed: Vec<StepId>,
    check: Option<HookCheck>,
}

impl TranscriptFollower {
    /// Resumes a stored session with the user's goal edits, oldest first. `read` extracts the intent of prompts.
    ///
    /// If the stored engine state cannot be read, the transcript is read again from its beginning. It gives the same steps, and
    /// none of them is corrected again. A session whose memory was deleted continues at its position.
    pub fn resume(mut session: HookSession, edits: &[GoalEdit], read: IntentReader) -> Self {
        let root = root(&session).to_owned();
        let stored = session.engine_state.as_deref().and_then(ReadPosition::stored);
        let is_forgotten = session.engine_state.is_none() && session.read_to > 0;
        let recounts = stored.is_none() && !is_forgotten;
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
        if recounts {
            session.read_to = 0;
            session.prompts = 0;
            session.actions = 0;
        }
        Self {
            now: session.updated_at,
            recounts,
            session,
            reading,
            engine,
            steps: Vec::new(),
            ended: Vec::new(),
            allowed: Vec::new(),
            check: None,
        }
    }

    /// Starts a fork of another session with that session's `contract`. The fork's transcript appears later and repeats the
    /// prompts that are in the contract already.
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

    /// Sets whether checks may produce corrections (default: yes). Without them a check gives only a score.
    pub fn set_corrects(&mut self, corrects: bool) {
        self.apply(SessionEvent::CorrectionsEnabled(corrects));
    }

    /// Applies the guard's log. If the user was asked about a call and it ran, the user allowed it.
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
        self.revise(effects.later_verdicts);
    }

    /// Applies new verdicts to steps that were judged before.
    fn revise(&mut self, verdicts: Vec<(StepId, StepVerdict)>) {
        for (id, verdict) in verdicts {
            match self.steps.iter_mut().rev().find(|step| step.id == id) {
                Some(step) => {
                    step.score = Some(verdict.score);
                    step.findings = verdict.findings;
                }
                // An earlier hook stored it.
                None => self.allowed.push(id),
            }
        }
    }

    /// Applies an event to the engine.
    fn apply(&mut self, event: SessionEvent<'_>) -> Effects {
        let session = &self.session.client_session_id;
        let context = EventContext {
            at: self.now,
            correction_id: CorrectionId::new(format!("{session}-{:06}", self.session.actions)),
            task: session.first_task(),
        };
        self.engine.apply(event, &context)
    }

    /// Whether the user lifted a "change nothing" request by confirming a question or plan.
    pub fn is_released(&self) -> bool {
        self.engine.is_released()
    }

    /// What of the agent's questions and plans the user agreed to, oldest first. Empty after an objection.
    pub fn consents(&self) -> &[String] {
        self.engine.consents()
    }

    /// The active goal contract, with the user's edits.
    pub fn contract(&self) -> &GoalContract {
        self.engine.contract()
    }

    /// The folder that relative paths of the contract refer to: the project, or the working directory if it is outside of it.
    pub fn root(&self) -> &str {
        root(&self.session)
    }

    /// The session in its current state.
    pub fn session(&self) -> &HookSession {
        &self.session
    }

    /// Mutable access to fields that the follower does not maintain: transcript path, delivered memories, end.
    pub fn session_mut(&mut self) -> &mut HookSession {
        &mut self.session
    }

    /// The offset at which to continue reading a transcript of `length` bytes. A transcript that became shorter is read from
    /// its beginning.
    pub fn offset(&mut self, length: u64) -> u64 {
        if length < self.session.read_to {
            self.session.read_to = 0;
            self.reading.reader = Reader::new(Some(self.session.client_session_id.as_str()));
        }
        self.session.read_to
    }

    /// Processes transcript bytes from the offset on. Returns the number of bytes consumed: up to the end of the last whole
    /// line.
    pub fn read(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while let Some(before) = self.before_pending(bytes.len() - taken) {
            taken += self.read_lines(&bytes[taken..taken + before]);
            self.apply_pending();
        }
        taken + self.read_lines(&bytes[taken..])
    }

    /// The number of bytes before the next pending prompt, if it was typed within the next `bytes`.
    fn before_pending(&self, bytes: usize) -> Option<usize> {
        let before = self
            .session
            .waiting
            .first()?
            .at
            .saturating_sub(self.session.read_to);
        usize::try_from(before).ok().filter(|before| *before < bytes)
    }

    fn read_lines(&mut self, bytes: &[u8]) -> usize {
        let reading = self.reading.reader.read(bytes);
        self.session.read_to += reading.taken as u64;
        self.follow(&reading.entries);
        reading.taken
    }

    /// Processes all pending prompts, at the end of the transcript.
    pub fn flush_pending(&mut self) {
        while !self.session.waiting.is_empty() {
            self.apply_pending();
        }
    }

    /// Processes the next pending prompt. It was counted when its hook ran.
    fn apply_pending(&mut self) {
        // The lines read before may have contained it.
        if self.session.waiting.is_empty() {
            return;
        }
        let prompt = self.session.waiting.remove(0);
        self.reading.expect_prompt(prompt.hash);
        self.apply_prompt(&prompt.text, self.recounts, self.session.updated_at);
    }

    /// The offset at which to continue reading a subagent's transcript of `length` bytes. Beyond 1,024 subagents it is the end,
    /// because the others are not followed.
    pub fn subagent_offset(&mut self, agent: &AgentId, length: u64) -> u64 {
        let Some(source) = self.reading.agent(agent.as_str()) else {
            return length;
        };
        if length < source.read_to {
            source.read_to = 0;
        }
        source.read_to
    }

    /// Processes a subagent's transcript from its offset on. Returns the number of bytes consumed.
    pub fn read_subagent(&mut self, agent: &AgentId, bytes: &[u8]) -> usize {
        let id = self.session.client_session_id.as_str();
        let Some(source) = self.reading.agent(agent.as_str()) else {
            return 0;
        };
        let reader = source.reader.get_or_insert_with(|| Reader::new(Some(id)));
        let reading = reader.read(bytes);
        source.read_to += reading.taken as u64;
        self.reading.mark_read(agent.as_str());
        let own = |entry: Entry| Entry {
            agent: Some(entry.agent.unwrap_or_else(|| agent.clone())),
            ..entry
        };
        let entries: Vec<Entry> = reading.entries.into_iter().map(own).collect();
        self.follow(&entries);
        reading.taken
    }

    /// Processes transcript entries.
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
                    if self.reading.take_announced(known) {
                        continue;
                    }
                    let waiting = &mut self.session.waiting;
                    let pending = waiting.iter().position(|prompt| prompt.hash == known);
                    let is_counted = pending.map(|place| waiting.remove(place)).is_some();
                    let counts = !is_history && (!is_counted || self.recounts);
                    self.apply_prompt(text, counts, entry.at.unwrap_or(self.now));
                }
                Event::Call(call) => self.on_call(entry, call),
                Event::Ended(ended) => self.on_call_ended(entry, ended),
                Event::Said(text) if entry.agent.is_none() => {
                    self.apply(SessionEvent::AssistantText(text));
                }
                Event::Said(_) | Event::Compacted { .. } | Event::Summary(_) | Event::Used(_) => {}
            }
        }
    }

    /// Whether an entry is older than the session. A fork's transcript begins with a copy of another one, whose entries are not
    /// always marked as inherited.
    fn is_history(&self, entry: &Entry) -> bool {
        entry.is_inherited || entry.at.is_some_and(|at| at < self.session.started_at)
    }

    /// Processes a prompt that the transcript will contain later. Called before a check, so that actions that the prompt asks for
    /// do not count as off goal.
    pub fn add_prompt(&mut self, prompt: &str, at: OffsetDateTime) {
        self.reading.expect_prompt(text_hash(prompt));
        self.now = at;
        self.apply_prompt(prompt, true, at);
    }

    fn apply_prompt(&mut self, text: &str, counts: bool, arrived_at: OffsetDateTime) {
        self.session.prompts += u64::from(counts);
        self.apply(SessionEvent::Prompt { text, arrived_at });
    }

    fn on_call(&mut self, entry: &Entry, call: &Call) {
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

    fn on_call_ended(&mut self, entry: &Entry, ended: &Ended) {
        let call = ended.tool_use_id.as_str();
        let effects = self.apply(SessionEvent::CallEnded(CallResult {
            call,
            failed: ended.failed,
            output: ended.output.as_deref(),
            is_delegated: entry.agent.is_some(),
        }));
        self.revise(effects.later_verdicts);
        let steps = self.steps.iter_mut().rev();
        let mut own = steps.filter(|step| step.tool_use_id.as_deref() == Some(call));
        if let Some(step) = own.next() {
            step.action.failed = Some(ended.failed);
            step.action.output.clone_from(&ended.output);
        } else if !self.is_history(entry) {
            self.ended.push(HookStepResult {
                id: self.step_id(Some(call)),
                failed: ended.failed,
                output: ended.output.clone(),
            });
        }
    }

    /// Checks all actions since the last check; the result carries a correction if one is due. `None` if there were no
    /// actions.
    pub fn check(&mut self, at: OffsetDateTime) -> Option<HookCheck> {
        let found = self.engine.check()?;
        let correction = self.engine.drift().deliverable_correction(at, false).cloned();
        if let Some(correction) = &correction {
            self.engine.mark_delivered(correction, at);
        }
        let delivered = correction.as_ref();
        let score = delivered.map_or(found.score, |delivered| delivered.score.min(found.score));
        self.session.drift_score = Some(score);
        self.session.escalation = self.engine.drift().state().escalation;
        let check = HookCheck {
            id: format!("{}-{:06}", self.session.client_session_id, self.session.actions),
            actions: found.actions,
            score,
            level: delivered.map(|delivered| delivered.level),
            reason: found
                .reason
                .or_else(|| delivered.map(|delivered| delivered.reason.clone())),
            files: found.files,
            correction: delivered.map(|delivered| framed(&delivered.text, delivered.level, false)),
            recovery_plan: correction
                .map(|correction| correction.recovery_plan)
                .unwrap_or_default(),
            at,
        };
        self.check = Some(check.clone());
        Some(check)
    }

    /// Runs a check if it cannot produce a correction, now or later.
    pub fn settle(&mut self, at: OffsetDateTime) {
        if self.engine.check_score() >= ON_GOAL_FROM && self.engine.drift().pending_correction().is_none() {
            self.check(at);
        }
    }

    /// Queues a prompt that was typed when the transcript had `length` bytes, not all of which are read.
    pub fn queue_prompt(&mut self, prompt: &str, length: u64) {
        self.session.prompts += u64::from(!self.recounts);
        self.session.waiting.push(pending_prompt(prompt, length));
    }

    /// Converts the follower into the rows to be stored.
    pub fn into_progress(mut self, at: OffsetDateTime) -> HookProgress {
        self.session.engine_state = self.reading.to_text(&self.engine);
        if self.recounts {
            self.session.prompts += self.session.waiting.len() as u64;
        }
        // The engine has not processed the pending prompts, but they already apply.
        let waiting = self.session.waiting.iter().map(|prompt| prompt.text.as_str());
        self.session.contract = self.engine.typed_contract_with(waiting);
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

/// The project if the client works below it, or else the working directory: in a worktree, or outside of any project.
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
