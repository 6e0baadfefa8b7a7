//! What the hook path keeps: a session as its hooks saw it, what the agent did, what was found, and what a guard said.
//!
//! A hook is a short process. It reads what the transcript says since the last one, and keeps what the next one needs.

use crate::macros::named;
use crate::{
    ActionSketch, AgentId, ClientSessionId, CorrectionLevel, Finding, GoalContract, RecoveryStep, StepId,
    StoreError,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A client session as hooks know it. A proxy knows nothing of it, and keeps its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSession {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The project's key.
    pub project_path: String,
    /// Where the client works.
    pub working_directory: String,
    /// The client's own record of the session.
    pub transcript_path: Option<String>,
    /// So many bytes of it were followed; always the end of a line.
    pub read_to: u64,
    /// What the agent is held to, without what a person changed of it.
    pub contract: GoalContract,
    /// What following the session needs to go on, as JSON. The store masks secrets in its texts and asks no more of it.
    pub engine_state: Option<String>,
    /// Prompts that the course does not know of yet, oldest first; the contract does.
    pub waiting: Vec<PendingPrompt>,
    /// Actions were followed that nobody has checked.
    pub is_unchecked: bool,
    /// The score of the newest check, 1 to 10.
    pub drift_score: Option<u8>,
    /// 0 to 3: how much more strongly than the score says the agent is corrected.
    pub escalation: u8,
    /// Prompts the user typed.
    pub prompts: u64,
    /// Actions followed.
    pub actions: u64,
    /// Memories that the agent was told of.
    pub memories_told: u64,
    /// When the first hook ran.
    pub started_at: OffsetDateTime,
    /// When the newest one did.
    pub updated_at: OffsetDateTime,
    /// When the client said that it ends; `None` while it goes on, or went on since.
    pub ended_at: Option<OffsetDateTime>,
    /// Counts changes: who writes says which one he read. 0 for one that is not stored yet.
    pub revision: u64,
}

impl HookSession {
    /// A session that begins.
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
            engine_state: None,
            waiting: Vec::new(),
            is_unchecked: false,
            drift_score: None,
            escalation: 0,
            prompts: 0,
            actions: 0,
            memories_told: 0,
            started_at: at,
            updated_at: at,
            ended_at: None,
            revision: 0,
        }
    }
}

/// A prompt that a hook told of, for whoever follows the session next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPrompt {
    /// What the user typed; of a long text both ends.
    pub text: String,
    /// A hash of all of it, by which it is known in the transcript.
    pub known_by: u64,
    /// So many bytes of transcript there were: what stands before was done before it was typed.
    pub at: u64,
}

/// An action that was found in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStep {
    /// Key: derived from the session and the tool call, so that following a transcript twice yields the same rows.
    pub id: StepId,
    /// The tool call.
    pub tool_use_id: Option<String>,
    /// The subagent that acted, if it was one.
    pub agent_id: Option<AgentId>,
    /// The tool's name.
    pub tool: String,
    /// What was done.
    pub action: ActionSketch,
    /// The number of the prompt it was done for, counted from 1.
    pub prompt: u64,
    /// 1 to 10; `None` while unjudged.
    pub score: Option<u8>,
    /// What was found of it, the gravest first.
    pub findings: Vec<Finding>,
    /// When.
    pub timestamp: OffsetDateTime,
}

/// How an action ended that was kept while it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEnded {
    /// The action; one that is not kept has no end either.
    pub id: StepId,
    /// The tool reported an error, or was not allowed to run.
    pub failed: bool,
    /// The end of what it put out.
    pub output: Option<String>,
}

/// What came out when the actions since the last check were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCheck {
    /// Key.
    pub id: String,
    /// The number of actions looked at.
    pub actions: u64,
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// How strongly the agent is corrected; `None`: not at all.
    pub level: Option<CorrectionLevel>,
    /// What deviates, one sentence.
    pub reason: Option<String>,
    /// The files that deviate.
    pub files: Vec<String>,
    /// The way back.
    pub recovery_plan: Vec<RecoveryStep>,
    /// What the agent was told.
    pub correction: Option<String>,
    /// When.
    pub at: OffsetDateTime,
}

/// How the reason of a check begins in which the agent put back what it had changed against a constraint.
pub const PUT_BACK: &str = "put back what a constraint forbids: ";

impl HookCheck {
    /// Whether the agent put back what it had changed against a constraint.
    pub fn has_put_back(&self) -> bool {
        self.reason
            .as_deref()
            .is_some_and(|reason| reason.starts_with(PUT_BACK))
    }
}

/// What a guard said to an action before it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardVerdict {
    /// The user was to be asked.
    Ask,
    /// It was not to run.
    Deny,
}

named!(GuardVerdict { Ask => "ask", Deny => "deny" });

/// An action that a guard stopped or asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardRecord {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The tool call.
    pub tool_use_id: String,
    /// What was said.
    pub verdict: GuardVerdict,
    /// What it is about: what is the same is not asked twice once it was allowed.
    pub subject: String,
    /// Why, in one line.
    pub reason: String,
    /// Whether it ran after all: whoever was asked said yes.
    pub ran: bool,
    /// When.
    pub at: OffsetDateTime,
}

/// What was learned of a session since it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookProgress {
    /// As it is now; `revision` as it was read.
    pub session: HookSession,
    /// Actions found since.
    pub steps: Vec<HookStep>,
    /// How actions ended that were kept before.
    pub ended: Vec<HookEnded>,
    /// Actions kept before that the user turned out to have allowed: they are on the goal.
    pub allowed: Vec<StepId>,
    /// What came out of looking at them, if anybody looked.
    pub check: Option<HookCheck>,
}

/// Sessions of the hook path.
#[async_trait]
pub trait HookStore: Send + Sync {
    /// One session; `None`: no hook ever ran in it.
    async fn hook_session(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError>;
    /// The same without its course, which may be long: to be looked at, or to be kept by [`HookStore::save_hook_session`].
    async fn hook_session_summary(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError>;
    /// Keeps a session without its course: that which is stored stays. `false`, and nothing is kept: somebody else wrote
    /// since the session was read.
    async fn save_hook_session(&self, session: &Redacted<HookSession>) -> Result<bool, StoreError>;
    /// Sessions of a project without their courses, the newest update first; at most `limit`.
    async fn hook_sessions(&self, project_path: &str, limit: u32) -> Result<Vec<HookSession>, StoreError>;
    /// Keeps what was learned, all of it or nothing. `false`, and nothing is kept: somebody else wrote since the session
    /// was read.
    async fn save_hook_progress(&self, progress: &Redacted<HookProgress>) -> Result<bool, StoreError>;
    /// The actions of a session, in order.
    async fn hook_steps(&self, id: &ClientSessionId) -> Result<Vec<HookStep>, StoreError>;
    /// The checks of a session, oldest first.
    async fn hook_checks(&self, id: &ClientSessionId) -> Result<Vec<HookCheck>, StoreError>;
    /// Keeps what a guard said; the same tool call replaces what was kept of it.
    async fn save_guard_record(&self, guarded: &Redacted<GuardRecord>) -> Result<(), StoreError>;
    /// Notes that a tool call ran. `true`: a guard had something to say about it.
    async fn mark_guarded_run(&self, id: &ClientSessionId, tool_use_id: &str) -> Result<bool, StoreError>;
    /// What a guard said in a session, oldest first.
    async fn guard_log(&self, id: &ClientSessionId) -> Result<Vec<GuardRecord>, StoreError>;
}
