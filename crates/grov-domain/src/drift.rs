//! Drift: goal contracts, findings, verdicts, corrections, and the drift state of a session.

use crate::macros::named;
use crate::{
    ClientSessionId, CorrectionId, DriftEvent, DriftEventId, DriftType, GoalEditId, JudgedBy, PromptReading,
    RecoveryStep, SessionId, SessionMode, StepId, StepRow, StoreError,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use xxhash_rust::xxh3::xxh3_64;

/// The goal contract of a session: what the agent may and must do. Empty parts impose nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalContract {
    /// The goal of the current work.
    pub goal: String,
    /// The prompts for it, oldest first; the newest counts most.
    pub instructions: Vec<String>,
    /// Paths, globs and identifiers that the work is expected to touch; incomplete by nature.
    pub scope: Vec<String>,
    /// Globs that the user allowed. They override findings of the rules.
    pub allowed: Vec<String>,
    /// Globs that the user forbade.
    pub forbidden: Vec<String>,
    /// Constraints that the user stated, in words.
    pub constraints: Vec<String>,
    /// Words for search.
    pub keywords: Vec<String>,
    /// What a model reads in the prompts; `None` if no model has read the newest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<PromptReading>,
    /// Whether the user set the goal after the newest prompt.
    #[serde(skip)]
    pub is_goal_newest: bool,
}

impl GoalContract {
    /// Returns the newest prompt.
    pub fn newest_instruction(&self) -> &str {
        self.instructions.last().map_or("", String::as_str)
    }

    /// Returns the newest word of the user: the newest prompt, or the goal if it was set after it or there are no prompts.
    pub fn current_instruction(&self) -> &str {
        match self.newest_instruction() {
            "" => &self.goal,
            _ if self.is_goal_newest => &self.goal,
            newest => newest,
        }
    }

    /// Returns the goal, unless it repeats an instruction: an earlier instruction must not be quoted as the current
    /// one.
    pub fn separate_goal(&self) -> Option<&str> {
        let goal = self.goal.trim().trim_end_matches(['.', '…']).trim_end();
        let repeats = |instruction: &String| instruction.contains(goal);
        (!goal.is_empty() && !self.instructions.iter().any(repeats)).then_some(self.goal.as_str())
    }
}

/// The kind of a contract edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalEditKind {
    /// Replaces the goal.
    Set,
    /// Allows changes to a glob.
    Allow,
    /// Forbids changes to a glob.
    Forbid,
    /// Adds a constraint in words.
    Constraint,
}

named!(GoalEditKind { Set => "set", Allow => "allow", Forbid => "forbid", Constraint => "constraint" });

/// A user's edit of a session's contract. If edits conflict, the newest wins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoalEdit {
    /// The key.
    pub id: GoalEditId,
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The kind.
    pub kind: GoalEditKind,
    /// The goal, glob or constraint.
    pub text: String,
    /// The time.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// Identifies the newest prompt at that time ([`GoalContract::newest_prompt`]); `None` in older edits.
    #[serde(skip)]
    pub since_prompt: Option<String>,
}

impl GoalContract {
    /// Identifies the newest prompt.
    pub fn newest_prompt(&self) -> String {
        format!("{:016x}", xxh3_64(self.newest_instruction().as_bytes()))
    }

    /// Returns the contract with edits applied, oldest first. A goal that was set after the newest prompt is the newest word of the
    /// user: what the prompts before it expect and are about is left out.
    #[must_use]
    pub fn with_edits<'a>(mut self, edits: impl IntoIterator<Item = &'a GoalEdit>) -> Self {
        let newest = self.newest_prompt();
        for edit in edits {
            let text = edit.text.clone();
            match edit.kind {
                GoalEditKind::Set => {
                    self.goal = text;
                    self.is_goal_newest = edit.since_prompt.as_ref() == Some(&newest);
                    if self.is_goal_newest {
                        self.scope.clear();
                        self.keywords.clear();
                    }
                }
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

/// A rule that produces findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A change that the user forbade: a path, a command, a dependency.
    Constraint,
    /// A destructive or outward command that the goal does not ask for.
    Danger,
    /// Repetition without progress.
    Repetition,
    /// A change outside of the expected scope.
    Scope,
    /// Work unrelated to the goal.
    Tangent,
    /// Much more work than requested.
    ScopeCreep,
    /// The judgement of a model.
    Judge,
}

named!(Rule {
    Constraint => "constraint", Danger => "danger", Repetition => "repetition", Scope => "scope",
    Tangent => "tangent", ScopeCreep => "scope_creep", Judge => "judge",
});

impl Rule {
    /// Whether its findings are facts, which no judge overrules.
    pub fn is_hard(self) -> bool {
        matches!(self, Self::Constraint | Self::Danger)
    }

    /// Whether its findings only doubt that an action is related to the goal.
    pub fn is_doubt(self) -> bool {
        matches!(self, Self::Scope | Self::Tangent | Self::ScopeCreep)
    }
}

/// A finding of a rule about an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The file, if there is one.
    pub file: Option<String>,
    /// The reason, one line for a person.
    pub reason: String,
    /// The upper limit of the action's score, 1 to 10.
    pub at_most: u8,
    /// The constraint that the action breaks, if it is about one. It is not stored: only fresh findings need it.
    #[serde(skip)]
    pub broken: Option<BrokenConstraint>,
    /// The part of the command line that it is about: what the user allows here is allowed in other lines, too. `None` if the line says
    /// more, such as the input of the program. It is not stored.
    #[serde(skip)]
    pub invocation: Option<String>,
    /// The other machine that the action changes, if the finding says no more than that. It is not stored.
    #[serde(skip)]
    pub machine: Option<String>,
    /// Whether it rests on an interpretation: of words that name no path and no command, or of a name that says what a
    /// script does. Such a finding is asked about, and said to the agent mildly and once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_interpreted: bool,
}

impl Finding {
    /// Creates a finding. `at_most` is the upper limit of the action's score, 1 to 10.
    pub fn new(rule: Rule, at_most: u8, file: Option<&str>, reason: impl Into<String>) -> Self {
        Self {
            rule,
            file: file.map(str::to_owned),
            reason: reason.into(),
            at_most,
            broken: None,
            invocation: None,
            machine: None,
            is_interpreted: false,
        }
    }

    /// Marks it as resting on an interpretation.
    #[must_use]
    pub fn interpreted(mut self) -> Self {
        self.is_interpreted = true;
        self
    }

    /// Whether findings, the most severe first, only doubt that an action is related to the goal: no fact, and nothing more
    /// certain before the doubt.
    pub fn are_doubts(findings: &[Self]) -> bool {
        findings.first().is_some_and(|gravest| gravest.rule.is_doubt())
            && !findings.iter().any(|finding| finding.rule.is_hard())
    }

    /// Adds the constraint that the action breaks.
    #[must_use]
    pub fn breaking(mut self, by: Breach, constraint: &str) -> Self {
        self.broken = Some(BrokenConstraint {
            by,
            words: constraint.to_owned(),
        });
        self
    }
}

/// A constraint that a command breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenConstraint {
    /// How it is broken.
    pub by: Breach,
    /// The constraint, in the user's words.
    pub words: String,
}

/// How a command breaks a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breach {
    /// It does what is forbidden.
    Command,
    /// It adds a dependency.
    Dependency,
    /// It changes the project.
    Project,
    /// It changes a file.
    File,
}

named!(Breach { Command => "command", Dependency => "dependency", Project => "project", File => "file" });

/// The assessment of an action by the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// The findings, most severe first.
    pub findings: Vec<Finding>,
}

impl Assessment {
    /// An assessment without findings.
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
    /// A demand to stop and take one action first.
    Halt,
    /// One forced action, after corrections failed.
    Forced,
}

named!(CorrectionLevel {
    Nudge => "nudge", Correct => "correct", Intervene => "intervene", Halt => "halt", Forced => "forced",
});

/// The verdict on a recorded action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepVerdict {
    /// 1 (far off) to 10 (on goal). Below 5 the action is stored in the drift log instead of among the steps.
    pub score: u8,
    /// Who judged.
    pub by: JudgedBy,
    /// The findings, most severe first.
    pub findings: Vec<Finding>,
    /// The level of the correction that followed.
    pub level: Option<CorrectionLevel>,
    /// The text of that correction.
    pub correction: Option<String>,
    /// The recovery plan.
    pub recovery_plan: Vec<RecoveryStep>,
}

/// Scores below this are off goal: the actions are stored apart, and the session counts as drifted.
pub const OFF_GOAL_BELOW: u8 = 5;

impl StepVerdict {
    /// Returns the kind of deviation.
    pub fn drift_type(&self) -> DriftType {
        DriftType::of_score(self.score)
    }

    /// Whether the action is off goal.
    pub fn is_off_goal(&self) -> bool {
        self.score < OFF_GOAL_BELOW
    }
}

/// The outcome of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionOutcome {
    /// The next actions followed it.
    Followed,
    /// The next actions did not.
    Ignored,
    /// A new prompt or the end of the work came before the next actions.
    Overtaken,
}

named!(CorrectionOutcome { Followed => "followed", Ignored => "ignored", Overtaken => "overtaken" });

/// A correction that is pending or was delivered to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The key.
    pub id: CorrectionId,
    /// The client's session.
    pub client_session_id: ClientSessionId,
    /// The active task at its creation.
    pub session_id: SessionId,
    /// The action it is about.
    pub step_id: Option<StepId>,
    /// The tool call of that action, as the client names it.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// The level.
    pub level: CorrectionLevel,
    /// The score that caused it, 1 to 10.
    pub score: u8,
    /// The deviation, one sentence.
    pub reason: String,
    /// The text, without its frame.
    pub text: String,
    /// The recovery plan.
    pub recovery_plan: Vec<RecoveryStep>,
    /// Time of its creation.
    pub made_at: OffsetDateTime,
    /// Time of its delivery; `None` if it is pending or was never delivered.
    pub delivered_at: Option<OffsetDateTime>,
    /// The outcome, once known.
    pub outcome: Option<CorrectionOutcome>,
}

/// The drift state of a client session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftState {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// Normal, drifted or forced.
    pub mode: SessionMode,
    /// The escalation, 0 to 3, which makes corrections stronger than the score alone.
    pub escalation: u8,
    /// Ignored corrections since the session drifted.
    pub failed_recoveries: u8,
    /// The newest correction, while it is pending or awaits its first step.
    pub correction: Option<Correction>,
    /// Whether the correction is about a hard finding, which no judge overrules.
    #[serde(default)]
    pub is_fact: bool,
    /// Hashes of recently delivered texts: no text is delivered twice.
    pub said: Vec<u64>,
    /// Number of prompts so far.
    pub prompts: u64,
    /// Number of prompts when a judge was last asked.
    pub judged_at_prompt: u64,
    /// What the user permitted.
    #[serde(default)]
    pub consent: Consent,
    /// Time of the last change.
    pub updated_at: OffsetDateTime,
}

/// What the user permitted; it is not counted as drift.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Consent {
    /// Files whose change the user tolerated after a correction.
    pub files: Vec<String>,
    /// Hashes of hard findings that the user tolerated.
    pub facts: Vec<u64>,
    /// What the user agreed to in questions and plans of the agent, an order a line, oldest first. It holds until the user types more
    /// than another yes.
    pub orders: Vec<String>,
}

impl DriftState {
    /// Creates the state of a new session.
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

/// Selects entries of the drift log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriftFilter {
    /// Only this task.
    pub session_id: Option<SessionId>,
    /// Only this client session.
    pub client_session_id: Option<ClientSessionId>,
    /// Only this project.
    pub project_path: Option<String>,
    /// Maximum number, the newest; `None` for all.
    pub limit: Option<u32>,
}

/// Selects earlier steps of a session that are related to actions to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedSteps {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// Files of the actions.
    pub files: Vec<String>,
    /// Folders of the actions.
    pub folders: Vec<String>,
    /// Keywords of the goal.
    pub keywords: Vec<String>,
    /// Maximum number in total. Each of the four criteria contributes at most half.
    pub limit: u32,
}

/// Number of the newest steps of a session among which related ones are searched. Older steps are of little use, and
/// searching all 20,000 steps of a very long session takes twice as long.
pub const MAX_RELATED_CANDIDATES: u32 = 2000;

/// Stores drift events, states, corrections and verdicts.
#[async_trait]
pub trait DriftStore: Send + Sync {
    /// Saves an event; replaces the one with the same id.
    async fn append_drift(&self, event: &Redacted<DriftEvent>) -> Result<(), StoreError>;
    /// Returns events that match the filter, oldest first.
    async fn drift_events(&self, filter: &DriftFilter) -> Result<Vec<DriftEvent>, StoreError>;
    /// Returns the off-goal actions of a session that the proxy recorded, in the form of steps, in order of time.
    async fn off_goal_steps(&self, session: &ClientSessionId) -> Result<Vec<StepRow>, StoreError>;
    /// Returns the findings of each off-goal action of a session, on either path.
    async fn off_goal_findings(&self, session: &ClientSessionId) -> Result<Vec<Vec<Finding>>, StoreError>;
    /// Returns one event.
    async fn drift_event(&self, id: &DriftEventId) -> Result<Option<DriftEvent>, StoreError>;
    /// Returns the drift state of a session, or `None` if there is none.
    async fn drift_state(&self, session: &ClientSessionId) -> Result<Option<DriftState>, StoreError>;
    /// Saves a drift state with its correction, unless the stored state is newer. The row of the active task is
    /// updated, too.
    async fn save_drift_state(
        &self,
        state: &Redacted<DriftState>,
        task: &SessionId,
    ) -> Result<(), StoreError>;
    /// Saves a correction; replaces the one with the same id except for its task. The text of a task that was forgotten
    /// since is stored neither here nor by `save_drift_state`.
    async fn save_correction(&self, correction: &Redacted<Correction>) -> Result<(), StoreError>;
    /// Returns the corrections of a session, oldest first.
    async fn corrections(&self, session: &ClientSessionId) -> Result<Vec<Correction>, StoreError>;
    /// Applies later verdicts to recorded actions of a session. Verdicts below [`OFF_GOAL_BELOW`] move steps to the
    /// drift log; others set a step's score, or move it back from the log unless it has a hard finding. Actions that
    /// are not stored, or moved already, are skipped. The review of a saved task is updated in the same transaction.
    /// Returns how many actions changed.
    async fn judge_steps(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, Redacted<StepVerdict>)],
    ) -> Result<usize, StoreError>;
    /// Returns steps related to the actions to be judged: with the same files, the same folders, keywords of the goal,
    /// and key decisions, in this order, each once, without off-goal steps. Only the newest [`MAX_RELATED_CANDIDATES`]
    /// steps are searched.
    async fn related_steps(&self, related: &RelatedSteps) -> Result<Vec<StepRow>, StoreError>;
}

/// A tool call that the user was asked about before it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedCall {
    /// The tool call.
    pub tool_use_id: String,
    /// Whether it is known to have run, which means that the user agreed.
    pub ran: bool,
}

/// Stores contract edits and calls that the user was asked about.
#[async_trait]
pub trait GoalStore: Send + Sync {
    /// Saves an edit. Running programs notice it by the store's revision.
    async fn edit_goal(&self, edit: &Redacted<GoalEdit>) -> Result<(), StoreError>;
    /// Returns the edits of a session, oldest first.
    async fn goal_edits(&self, session: &ClientSessionId) -> Result<Vec<GoalEdit>, StoreError>;
    /// Returns the calls of a session that the user was asked about before they ran. Each is stored before the question
    /// is shown.
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
            since_prompt: None,
        }
    }

    #[test]
    fn the_newest_edit_wins() {
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
    fn a_goal_set_after_the_newest_prompt_is_the_newest_word() {
        let mut contract = GoalContract {
            goal: "Fix the login".to_owned(),
            instructions: vec!["Fix the login".to_owned()],
            scope: vec!["src/login.rs".to_owned()],
            keywords: vec!["login".to_owned()],
            ..GoalContract::default()
        };
        let set = GoalEdit {
            since_prompt: Some(contract.newest_prompt()),
            ..edit(GoalEditKind::Set, "Write the report")
        };
        let edited = contract.clone().with_edits([&set]);
        assert_eq!(edited.current_instruction(), "Write the report");
        assert!(
            edited.scope.is_empty() && edited.keywords.is_empty(),
            "{edited:?}"
        );
        contract.instructions.push("Fix the logout, too".to_owned());
        let later = contract.with_edits([&set]);
        assert_eq!(later.goal, "Write the report");
        assert_eq!(later.current_instruction(), "Fix the logout, too");
        assert_eq!(later.scope, ["src/login.rs"]);
    }

    #[test]
    fn stored_names_of_levels_round_trip() {
        for level in CorrectionLevel::ALL {
            assert_eq!(CorrectionLevel::from_name(level.as_str()), Some(level));
        }
        assert!(CorrectionLevel::Nudge < CorrectionLevel::Forced);
    }
}
