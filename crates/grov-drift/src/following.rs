//! A session, followed from hook to hook.

use crate::course::Course;
use grov_actions::transcript::{Call, Ended, Entry, Event};
use grov_domain::{
    ActionSketch, AgentId, Assessment, GoalContract, GoalEdit, HookCheck, HookProgress, HookSession,
    HookStep, StepId,
};
use grov_scope::Rules;
use grov_steer::{Agreement, IntentReader, TaskGoal};
use time::OffsetDateTime;

/// Follows a session: what was read of its transcript, what the agent is held to, what was found and said.
///
/// A hook takes it up with [`Following::resume`], reads the transcript from [`Following::offset`] on, and keeps what
/// [`Following::into_progress`] gives. What was not kept is found again by the next hook.
pub struct Following {
    session: HookSession,
    course: Course,
    agreement: Agreement,
    rules: Rules,
    steps: Vec<HookStep>,
    check: Option<HookCheck>,
}

impl Following {
    /// Takes up a session as it is stored, with what a person changed of its contract, oldest first. `read` tells what
    /// prompts ask for.
    pub fn resume(session: HookSession, edits: &[GoalEdit], read: IntentReader) -> Self {
        let id = session.client_session_id.as_str();
        let stored = session.course.as_deref().and_then(Course::stored);
        let course = stored.unwrap_or_else(|| Course::new(id));
        let mut agreement = Agreement::new(read);
        agreement.work_on(TaskGoal::default(), session.contract.instructions.clone());
        agreement.edited(edits.to_vec());
        let rules = Rules::new(agreement.contract().clone(), Some(&session.working_directory));
        Self {
            session,
            course,
            agreement,
            rules,
            steps: Vec::new(),
            check: None,
        }
    }

    /// What the agent is held to, with what a person changed.
    pub fn contract(&self) -> &GoalContract {
        self.agreement.contract()
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
            self.course.reader = Course::new(self.session.client_session_id.as_str()).reader;
        }
        self.session.read_to
    }

    /// Follows what the session's transcript says from the offset on. Returns the number of bytes that were taken: up to
    /// the end of the last whole line.
    pub fn read(&mut self, bytes: &[u8]) -> usize {
        let reading = self.course.reader.read(bytes);
        self.session.read_to += reading.taken as u64;
        self.follow(&reading.entries);
        reading.taken
    }

    /// Where in the transcript of a subagent to go on reading, if it is `length` bytes long now.
    pub fn subagent_offset(&mut self, agent: &AgentId, length: u64) -> u64 {
        let id = self.session.client_session_id.as_str();
        let source = self.course.agent(agent.as_str(), id);
        if length < source.read_to {
            source.read_to = 0;
        }
        source.read_to
    }

    /// Follows what the transcript of a subagent says from its offset on.
    pub fn read_subagent(&mut self, agent: &AgentId, bytes: &[u8]) -> usize {
        let id = self.session.client_session_id.as_str();
        let source = self.course.agent(agent.as_str(), id);
        let reading = source.reader.read(bytes);
        source.read_to += reading.taken as u64;
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
                    if !self.course.was_announced(text) {
                        self.hold(text, entry.is_inherited);
                    }
                }
                Event::Call(call) => self.called(entry, call),
                Event::Ended(ended) => self.ended(entry, ended),
                Event::Said(text) if entry.agent.is_none() => self.course.last_answer = Some(text.clone()),
                Event::Said(_) | Event::Compacted { .. } | Event::Used(_) => {}
            }
        }
    }

    /// The user typed something, which the transcript will show later.
    pub fn prompted(&mut self, prompt: &str) {
        self.course.announce(prompt);
        self.hold(prompt, false);
    }

    fn hold(&mut self, prompt: &str, is_inherited: bool) {
        if !is_inherited {
            self.session.prompts += 1;
        }
        self.agreement.prompted(prompt);
        self.rules.prompted();
        self.rules.hold_to(self.agreement.contract().clone());
    }

    fn called(&mut self, entry: &Entry, call: &Call) {
        let id = call.action.tool_use_id.as_deref();
        if id.is_some_and(|id| !self.course.is_new_call(id)) {
            return;
        }
        let action = sketch(call);
        let assessment = match entry.agent {
            Some(_) => self.rules.assess_delegated(&action),
            None => self.rules.assess(&action, id),
        };
        if entry.is_inherited {
            return;
        }
        self.session.actions += 1;
        let is_delegated = entry.agent.is_some();
        self.course.batch.add(id, &action, &assessment, is_delegated);
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
        self.rules.ended(&ended.tool_use_id, ended.failed);
        if let Some(output) = ended.output.as_deref().filter(|_| entry.agent.is_none()) {
            self.rules.heard(output);
        }
        let steps = self.steps.iter_mut().rev();
        let mut own = steps.filter(|step| step.tool_use_id.as_deref() == Some(&ended.tool_use_id));
        if let Some(step) = own.next() {
            step.action.failed = Some(ended.failed);
            step.action.output.clone_from(&ended.output);
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
        let score = batch.score();
        self.session.drift_score = Some(score);
        let check = HookCheck {
            id: format!("{}-{}", self.session.client_session_id, self.session.actions),
            actions: batch.actions,
            score,
            level: None,
            reason: None,
            files: Vec::new(),
            recovery_plan: Vec::new(),
            correction: None,
            at,
        };
        self.check = Some(check.clone());
        Some(check)
    }

    /// What was learned, to be kept.
    pub fn into_progress(mut self, at: OffsetDateTime) -> HookProgress {
        self.session.contract = self.agreement.typed().clone();
        self.session.course = self.course.to_text();
        self.session.updated_at = at;
        HookProgress {
            session: self.session,
            steps: self.steps,
            check: self.check,
        }
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
