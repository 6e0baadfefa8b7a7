//! Records of the hook path: sessions, actions, checks and guard decisions.
//!
//! A hook is a short process. It reads what was added to the transcript since the last hook, and stores what the next
//! one needs.

use crate::macros::named;
use crate::{
    ActionSketch, AgentId, ClientSessionId, CorrectionLevel, DriftType, Effect, ExchangeId, Finding,
    GoalContract, OFF_GOAL_BELOW, RecoveryStep, StepId, StepOutcome, StepRow, StoreError,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A client session of the hook path. The proxy path has its own records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSession {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The project's key.
    pub project_path: String,
    /// The working directory of the client.
    pub working_directory: String,
    /// The client's transcript of the session.
    pub transcript_path: Option<String>,
    /// Number of bytes read from it, up to the end of a line.
    pub read_to: u64,
    /// The goal contract, without edits.
    pub contract: GoalContract,
    /// How rules read the contract's instructions, as JSON, so that the next hook need not read them again. The store masks secrets in
    /// it and does not interpret it.
    pub prompt_readings: Option<String>,
    /// The engine's state as JSON. The store masks secrets in it and does not interpret it.
    pub engine_state: Option<String>,
    /// Prompts that the engine has not processed yet, oldest first; the contract includes them.
    pub waiting: Vec<PendingPrompt>,
    /// Whether there are actions since the last check.
    pub is_unchecked: bool,
    /// The score of the newest check, 1 to 10.
    pub drift_score: Option<u8>,
    /// The escalation, 0 to 3, which makes corrections stronger than the score alone.
    pub escalation: u8,
    /// Number of prompts.
    pub prompts: u64,
    /// Number of actions.
    pub actions: u64,
    /// Number of memories injected.
    pub memories_injected: u64,
    /// Time of the first hook.
    pub started_at: OffsetDateTime,
    /// Time of the newest hook.
    pub updated_at: OffsetDateTime,
    /// Time when the newest turn ended; `None` while it runs.
    pub turn_ended_at: Option<OffsetDateTime>,
    /// Time when the client reported the end; `None` while the session continues or was resumed.
    pub ended_at: Option<OffsetDateTime>,
    /// Until when its texts are forgotten. Set by the store; not written with the session.
    pub forgotten_at: Option<OffsetDateTime>,
    /// Incremented with each change, for optimistic locking; 0 if not stored yet.
    pub revision: u64,
}

impl HookSession {
    /// Creates a new session.
    pub fn new(
        client_session_id: ClientSessionId,
        project_path: String,
        working_directory: String,
        at: OffsetDateTime,
    ) -> Self {
        Self {
            client_session_id,
            project_path,
            working_directory,
            transcript_path: None,
            read_to: 0,
            contract: GoalContract::default(),
            prompt_readings: None,
            engine_state: None,
            waiting: Vec::new(),
            is_unchecked: false,
            drift_score: None,
            escalation: 0,
            prompts: 0,
            actions: 0,
            memories_injected: 0,
            started_at: at,
            updated_at: at,
            turn_ended_at: None,
            ended_at: None,
            forgotten_at: None,
            revision: 0,
        }
    }
}

/// A prompt recorded by a hook, to be processed by the next hook that reads the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPrompt {
    /// The prompt; of a long text both ends.
    pub text: String,
    /// A hash of the full text, to recognise it in the transcript.
    #[serde(rename = "known_by")]
    pub hash: u64,
    /// Length of the transcript at that time: earlier entries precede the prompt.
    pub at: u64,
}

/// An action from a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStep {
    /// Key, derived from session and tool call, so that reading a transcript twice gives the same rows.
    pub id: StepId,
    /// The tool call.
    pub tool_use_id: Option<String>,
    /// The subagent that acted, if it was one.
    pub agent_id: Option<AgentId>,
    /// The tool's name.
    pub tool: String,
    /// The action.
    pub action: ActionSketch,
    /// The number of its prompt, counted from 1.
    pub prompt: u64,
    /// 1 to 10; `None` while unjudged.
    pub score: Option<u8>,
    /// The findings, most severe first.
    pub findings: Vec<Finding>,
    /// The time.
    pub timestamp: OffsetDateTime,
}

impl HookStep {
    /// How it ended, if it did not succeed.
    pub fn outcome(&self) -> Option<StepOutcome> {
        let output = self.action.output.as_deref().unwrap_or_default();
        (self.action.failed == Some(true)).then(|| StepOutcome::of_failure(output))
    }

    /// Returns the action in the form of a step of the proxy path, in the session's first task.
    pub fn into_row(self, session: &ClientSessionId) -> StepRow {
        let is_off = self.score.is_some_and(|score| score < OFF_GOAL_BELOW);
        let outcome = self.outcome();
        StepRow {
            id: self.id,
            session_id: session.first_task(),
            // Transcripts do not contain exchanges.
            exchange_id: ExchangeId::new(""),
            agent_id: self.agent_id,
            tool: self.tool,
            tool_use_id: self.tool_use_id,
            action_type: self.action.action_type,
            outcome,
            files: self.action.files,
            folders: Vec::new(),
            command: self.action.command,
            effects: self
                .action
                .effects
                .into_iter()
                .map(|kind| Effect {
                    kind,
                    paths: Vec::new(),
                })
                .collect(),
            reasoning: self.action.reasoning,
            drift_score: self.score,
            drift_type: self
                .score
                .map(|score| DriftType::of_score(score).as_str().to_owned()),
            is_key_decision: false,
            is_validated: !is_off,
            correction_given: None,
            correction_level: None,
            keywords: Vec::new(),
            timestamp: self.timestamp,
        }
    }
}

/// The result of an action that an earlier hook stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStepResult {
    /// The action. Results of unknown actions are ignored.
    pub id: StepId,
    /// Whether the tool reported an error or was refused.
    pub failed: bool,
    /// The end of its output.
    pub output: Option<String>,
}

/// The result of a check of the actions since the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCheck {
    /// The key.
    pub id: String,
    /// The number of actions checked.
    pub actions: u64,
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// The level of the correction; `None` without one.
    pub level: Option<CorrectionLevel>,
    /// The deviation, one sentence.
    pub reason: Option<String>,
    /// The files that deviate.
    pub files: Vec<String>,
    /// The recovery plan.
    pub recovery_plan: Vec<RecoveryStep>,
    /// The text of the correction.
    pub correction: Option<String>,
    /// The time.
    pub at: OffsetDateTime,
}

/// Prefix of the reason of a check in which the agent restored what it had changed against a constraint.
pub const PUT_BACK: &str = "put back what a constraint forbids: ";

impl HookCheck {
    /// Whether the agent restored what it had changed against a constraint.
    pub fn has_put_back(&self) -> bool {
        self.reason
            .as_deref()
            .is_some_and(|reason| reason.starts_with(PUT_BACK))
    }
}

/// The decision of the guard on an action before it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardVerdict {
    /// Ask the user.
    Ask,
    /// Ask in a permission mode in which the client may answer by itself. That the call runs is no consent.
    AskUnattended,
    /// Do not run it.
    Deny,
}

named!(GuardVerdict { Ask => "ask", AskUnattended => "ask_unattended", Deny => "deny" });

/// An action that the guard stopped or asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardRecord {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The tool call.
    pub tool_use_id: String,
    /// The decision.
    pub verdict: GuardVerdict,
    /// The subject. Once allowed, the same subject is not asked about again.
    pub subject: String,
    /// The reason, one line.
    pub reason: String,
    /// Whether it ran. After [`GuardVerdict::Ask`] that means that the user agreed.
    pub ran: bool,
    /// The time.
    pub at: OffsetDateTime,
}

/// Changes of a session since it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookProgress {
    /// The new state; `revision` as it was read.
    pub session: HookSession,
    /// New actions.
    pub steps: Vec<HookStep>,
    /// Results of actions that were stored before.
    pub ended: Vec<HookStepResult>,
    /// Stored actions that the user allowed, which are on goal.
    pub allowed: Vec<StepId>,
    /// The result of a check, if there was one.
    pub check: Option<HookCheck>,
}

/// Stores sessions of the hook path.
#[async_trait]
pub trait HookStore: Send + Sync {
    /// Returns a session; `None` if no hook ran in it.
    async fn hook_session(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError>;
    /// Returns a session without the engine's state, which may be long; to be read, or saved by
    /// [`HookStore::save_hook_session`].
    async fn hook_session_summary(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError>;
    /// Saves a session without the engine's state; the stored one remains. Returns `false`, and saves nothing, if the
    /// session was changed since it was read.
    async fn save_hook_session(&self, session: &Redacted<HookSession>) -> Result<bool, StoreError>;
    /// Returns at most `limit` sessions of a project without the engine's state, last updated first.
    async fn hook_sessions(&self, project_path: &str, limit: u32) -> Result<Vec<HookSession>, StoreError>;
    /// Saves all changes or nothing. Returns `false`, and saves nothing, if the session was changed since it was read.
    async fn save_hook_progress(&self, progress: &Redacted<HookProgress>) -> Result<bool, StoreError>;
    /// Returns the actions of a session, in order.
    async fn hook_steps(&self, id: &ClientSessionId) -> Result<Vec<HookStep>, StoreError>;
    /// Returns the checks of a session, oldest first.
    async fn hook_checks(&self, id: &ClientSessionId) -> Result<Vec<HookCheck>, StoreError>;
    /// Saves a decision of the guard; replaces an earlier one for the same tool call.
    async fn save_guard_record(&self, guarded: &Redacted<GuardRecord>) -> Result<(), StoreError>;
    /// Records that a tool call ran. Returns whether the guard had stopped it or asked about it.
    async fn mark_guarded_run(&self, id: &ClientSessionId, tool_use_id: &str) -> Result<bool, StoreError>;
    /// Returns the decisions of the guard in a session, oldest first.
    async fn guard_log(&self, id: &ClientSessionId) -> Result<Vec<GuardRecord>, StoreError>;
}
