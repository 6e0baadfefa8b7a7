//! Drift: what the agent is held to, what was found of its actions, what it was told, and where a session stands.

use crate::macros::named;
use crate::{
    ClientSessionId, CorrectionId, DriftEvent, DriftEventId, DriftType, GoalEditId, JudgedBy, RecoveryStep,
    SessionId, SessionMode, StepId, StepRow, StoreError,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// What the agent is held to. Empty parts hold it to nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalContract {
    /// The goal of the work under way.
    pub goal: String,
    /// What the user typed for it, oldest first; the newest counts most.
    pub instructions: Vec<String>,
    /// Paths, globs and identifiers that the work is expected to touch; incomplete by nature.
    pub scope: Vec<String>,
    /// Globs that the user allowed, whatever the rules say.
    pub allowed: Vec<String>,
    /// Globs that the user forbade.
    pub forbidden: Vec<String>,
    /// What the user forbade or demanded of the work, in words.
    pub constraints: Vec<String>,
    /// Words for search.
    pub keywords: Vec<String>,
}

impl GoalContract {
    /// What the user typed last.
    pub fn newest_instruction(&self) -> &str {
        self.instructions.last().map_or("", String::as_str)
    }

    /// The instruction in force: what the user typed last, or the goal where nothing typed is known.
    pub fn current_instruction(&self) -> &str {
        match self.newest_instruction() {
            "" => &self.goal,
            newest => newest,
        }
    }

    /// The goal, unless it only repeats an instruction: an earlier one must not be quoted as what is wanted now.
    pub fn separate_goal(&self) -> Option<&str> {
        let goal = self.goal.trim().trim_end_matches(['.', '…']).trim_end();
        let repeats = |instruction: &String| instruction.contains(goal);
        (!goal.is_empty() && !self.instructions.iter().any(repeats)).then_some(self.goal.as_str())
    }
}

/// How a person changes a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalEditKind {
    /// The goal, in other words.
    Set,
    /// A glob that may be changed.
    Allow,
    /// A glob that may not be changed.
    Forbid,
    /// A constraint in words.
    Constraint,
}

named!(GoalEditKind { Set => "set", Allow => "allow", Forbid => "forbid", Constraint => "constraint" });

/// A change that a person made to the contract of a session. Of two that contradict each other the newer one counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalEdit {
    /// Key.
    pub id: GoalEditId,
    /// Whose contract.
    pub client_session_id: ClientSessionId,
    /// What is changed.
    pub kind: GoalEditKind,
    /// The goal, glob or constraint.
    pub text: String,
    /// When.
    pub at: OffsetDateTime,
}

impl GoalContract {
    /// The contract with a person's edits, oldest first, on top.
    #[must_use]
    pub fn with_edits<'a>(mut self, edits: impl IntoIterator<Item = &'a GoalEdit>) -> Self {
        for edit in edits {
            let text = edit.text.clone();
            match edit.kind {
                GoalEditKind::Set => self.goal = text,
                GoalEditKind::Allow => {
                    self.forbidden.retain(|glob| *glob != text);
                    push_new(&mut self.allowed, text);
                }
                GoalEditKind::Forbid => {
                    self.allowed.retain(|glob| *glob != text);
                    push_new(&mut self.forbidden, text);
                }
                GoalEditKind::Constraint => push_new(&mut self.constraints, text),
            }
        }
        self
    }
}

fn push_new(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

/// A rule that found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A change that the user forbade: a path, a command, a dependency.
    Constraint,
    /// A destructive or outward command that the goal does not ask for.
    Danger,
    /// The same thing again without getting on.
    Repetition,
    /// A change outside of what the work is expected to touch.
    Scope,
    /// Work on something that has nothing to do with the goal.
    Tangent,
    /// Far more than was asked for.
    ScopeCreep,
    /// A model found it.
    Judge,
}

named!(Rule {
    Constraint => "constraint", Danger => "danger", Repetition => "repetition", Scope => "scope",
    Tangent => "tangent", ScopeCreep => "scope_creep", Judge => "judge",
});

impl Rule {
    /// Whether what it finds is a matter of fact, and no judge may overrule it.
    pub fn is_hard(self) -> bool {
        matches!(self, Self::Constraint | Self::Danger)
    }
}

/// What a rule found of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// The file it is about, where there is one.
    pub file: Option<String>,
    /// Why, in one line that a person understands.
    pub reason: String,
    /// The action's score is at most this, 1 to 10.
    pub at_most: u8,
}

/// What the rules say of one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// Why, the gravest first; empty where there is nothing to say.
    pub findings: Vec<Finding>,
}

impl Assessment {
    /// Nothing to say.
    pub fn on_goal() -> Self {
        Self {
            score: 10,
            findings: Vec::new(),
        }
    }
}

/// How strongly the agent is corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionLevel {
    /// A reminder.
    Nudge,
    /// A correction with the steps back.
    Correct,
    /// A strong correction with a first action that is to be confirmed.
    Intervene,
    /// Stop, and one action that is demanded.
    Halt,
    /// Corrections failed: one action is forced.
    Forced,
}

named!(CorrectionLevel {
    Nudge => "nudge", Correct => "correct", Intervene => "intervene", Halt => "halt", Forced => "forced",
});

/// The verdict on a recorded action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepVerdict {
    /// 1 (far off) to 10 (on goal). Below 5 the action is kept in the drift log instead of among the steps.
    pub score: u8,
    /// Who said so.
    pub by: JudgedBy,
    /// What was found, the gravest first.
    pub findings: Vec<Finding>,
    /// The correction it gave rise to.
    pub level: Option<CorrectionLevel>,
    /// What the agent is told because of it.
    pub correction: Option<String>,
    /// The way back.
    pub recovery_plan: Vec<RecoveryStep>,
}

/// Scores below this are off goal: stored apart, and the session counts as drifted.
pub const OFF_GOAL_BELOW: u8 = 5;

impl StepVerdict {
    /// The kind of deviation.
    pub fn drift_type(&self) -> DriftType {
        DriftType::of_score(self.score)
    }

    /// Whether the action is off goal.
    pub fn is_off_goal(&self) -> bool {
        self.score < OFF_GOAL_BELOW
    }
}

/// What became of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionOutcome {
    /// The next actions followed it.
    Followed,
    /// The next actions did not.
    Ignored,
    /// The user said something new, or the work was over, before anything could follow.
    Overtaken,
}

named!(CorrectionOutcome { Followed => "followed", Ignored => "ignored", Overtaken => "overtaken" });

/// Something the agent is told, or was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// Key.
    pub id: CorrectionId,
    /// The client's session.
    pub client_session_id: ClientSessionId,
    /// The task in work when it was made.
    pub session_id: SessionId,
    /// The action it is about.
    pub step_id: Option<StepId>,
    /// The tool call of that action, as the client names it.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// How strong.
    pub level: CorrectionLevel,
    /// The score that gave rise to it, 1 to 10.
    pub score: u8,
    /// What deviates, one sentence.
    pub reason: String,
    /// What is said, without the markers around it.
    pub text: String,
    /// The way back.
    pub recovery_plan: Vec<RecoveryStep>,
    /// When it was made.
    pub made_at: OffsetDateTime,
    /// When it was put into a request; `None`: not yet, or it was overtaken before.
    pub delivered_at: Option<OffsetDateTime>,
    /// What became of it, once that is known.
    pub outcome: Option<CorrectionOutcome>,
}

/// Where a client session stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftState {
    /// Which session.
    pub client_session_id: ClientSessionId,
    /// Normal, drifted or forced.
    pub mode: SessionMode,
    /// 0 to 3: how much more strongly than the score says the agent is corrected.
    pub escalation: u8,
    /// Corrections since the session drifted that were not followed.
    pub failed_recoveries: u8,
    /// The newest correction, while it is waiting to be said or its first step is waited for.
    pub correction: Option<Correction>,
    /// It is about a matter of fact, which no judge overrules.
    #[serde(default)]
    pub is_fact: bool,
    /// Hashes of the texts said lately: nothing is said twice in the same words.
    pub said: Vec<u64>,
    /// Prompts of the session so far.
    pub prompts: u64,
    /// Of these, how many there were when a judge was asked last.
    pub judged_at_prompt: u64,
    /// What the user let pass or said yes to.
    #[serde(default)]
    pub consent: Consent,
    /// When this was so.
    pub updated_at: OffsetDateTime,
}

/// What the user let pass or said yes to: it is not held against the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Consent {
    /// Files whose change they let pass after a correction.
    pub files: Vec<String>,
    /// Hashes of the matters of fact that they let pass.
    pub facts: Vec<u64>,
    /// The agent's own words that they said yes to, oldest first. They hold until another task is begun.
    pub words: Vec<String>,
}

impl DriftState {
    /// A session of which nothing is known.
    pub fn new(client_session_id: ClientSessionId, at: OffsetDateTime) -> Self {
        Self {
            client_session_id,
            mode: SessionMode::Normal,
            escalation: 0,
            failed_recoveries: 0,
            correction: None,
            is_fact: false,
            said: Vec::new(),
            prompts: 0,
            judged_at_prompt: 0,
            consent: Consent::default(),
            updated_at: at,
        }
    }
}

/// Which entries of the drift log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriftFilter {
    /// Only this task.
    pub session_id: Option<SessionId>,
    /// Only this client session.
    pub client_session_id: Option<ClientSessionId>,
    /// Only this project.
    pub project_path: Option<String>,
    /// At most so many, the newest; `None` for all.
    pub limit: Option<u32>,
}

/// Which earlier steps of a session bear on the actions to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedSteps {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// Files of the actions.
    pub files: Vec<String>,
    /// Folders of the actions.
    pub folders: Vec<String>,
    /// Words of the goal.
    pub keywords: Vec<String>,
    /// At most so many altogether; each of the four questions gives at most half of it.
    pub limit: u32,
}

/// Of a session's steps so many of the newest are asked what they have to do with the actions to be judged: what is older
/// says little, and looking at all 20,000 steps of a very long session takes twice as long as looking at these.
pub const MAX_RELATED_CANDIDATES: u32 = 2000;

/// What is known about drift, and what was said because of it.
#[async_trait]
pub trait DriftStore: Send + Sync {
    /// Events that pass the filter, oldest first.
    async fn drift_events(&self, filter: &DriftFilter) -> Result<Vec<DriftEvent>, StoreError>;
    /// One event.
    async fn drift_event(&self, id: &DriftEventId) -> Result<Option<DriftEvent>, StoreError>;
    /// Where a session stands; `None` for one that was never looked at.
    async fn drift_state(&self, session: &ClientSessionId) -> Result<Option<DriftState>, StoreError>;
    /// Keeps where a session stands, with its newest correction, unless what is kept is newer. The task in work shows it too.
    async fn save_drift_state(
        &self,
        state: &Redacted<DriftState>,
        task: &SessionId,
    ) -> Result<(), StoreError>;
    /// Keeps a correction; replaces the one of the same id, but for its task. Words of a task that was forgotten since they
    /// were made are not kept, here and with a state.
    async fn save_correction(&self, correction: &Redacted<Correction>) -> Result<(), StoreError>;
    /// Corrections of a session, oldest first.
    async fn corrections(&self, session: &ClientSessionId) -> Result<Vec<Correction>, StoreError>;
    /// Later verdicts on recorded actions of a session: those below [`OFF_GOAL_BELOW`] move steps to the drift log, the
    /// others give a step its new score, or make it one again that is in the log, unless a hard rule found something of
    /// it. What is not there (not recorded yet, moved already) is passed over. A task that is saved already is marked anew
    /// by its review, in the same transaction. How many were changed.
    async fn judge_steps(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, Redacted<StepVerdict>)],
    ) -> Result<usize, StoreError>;
    /// Steps that bear on the actions to be judged: of the same files, of the same folders, with the goal's words, and key
    /// decisions, in this order, without repetition, none that was judged off goal. Only the newest [`MAX_RELATED_CANDIDATES`] steps
    /// count.
    async fn related_steps(&self, related: &RelatedSteps) -> Result<Vec<StepRow>, StoreError>;
}

/// A tool call that the user was asked about before it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedCall {
    /// The tool call.
    pub tool_use_id: String,
    /// It is known to have run: the user said yes.
    pub ran: bool,
}

/// What people changed of goal contracts, and what they were asked.
#[async_trait]
pub trait GoalStore: Send + Sync {
    /// Keeps an edit. Running programs learn of it by the store's revision.
    async fn edit_goal(&self, edit: &Redacted<GoalEdit>) -> Result<(), StoreError>;
    /// The edits of a session, oldest first.
    async fn goal_edits(&self, session: &ClientSessionId) -> Result<Vec<GoalEdit>, StoreError>;
    /// The calls of a session that the user was asked about before they ran. Each is kept before the question is shown.
    async fn asked_calls(&self, session: &ClientSessionId) -> Result<Vec<AskedCall>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(kind: GoalEditKind, text: &str) -> GoalEdit {
        GoalEdit {
            id: GoalEditId::fresh(),
            client_session_id: ClientSessionId::new("s"),
            kind,
            text: text.to_owned(),
            at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_newer_edit_counts() {
        let edits = [
            edit(GoalEditKind::Forbid, "src/a/**"),
            edit(GoalEditKind::Allow, "src/a/**"),
            edit(GoalEditKind::Set, "first"),
            edit(GoalEditKind::Set, "second"),
        ];
        let contract = GoalContract::default().with_edits(&edits);
        assert_eq!(contract.goal, "second");
        assert_eq!(contract.allowed, ["src/a/**"]);
        assert!(contract.forbidden.is_empty());
    }

    #[test]
    fn levels_are_found_by_their_names() {
        for level in CorrectionLevel::ALL {
            assert_eq!(CorrectionLevel::from_name(level.as_str()), Some(level));
        }
        assert!(CorrectionLevel::Nudge < CorrectionLevel::Forced);
    }
}
