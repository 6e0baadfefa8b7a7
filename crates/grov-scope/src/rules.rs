//! One conversation, followed action by action.

mod memo;
mod reverts;
mod subject;

pub use memo::Memo;
pub use subject::FindingSubject;

use crate::analyzed_action::AnalyzedAction;
use crate::association::{AssociatedFiles, Association};
use crate::constraints::{self, ConstraintAges};
use crate::contract::CompiledContract;
use crate::danger::{self, EvaluationContext};
use crate::history::{Activity, History, fingerprint_of};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::relatedness::{Relatedness, RelatednessScore};
use crate::{out_of_scope, repetition};
use grov_domain::{
    ActionSketch, ActionType, Assessment, Finding, GoalContract, OFF_GOAL_BELOW, Rule, both_ends,
};
use reverts::UnrevertedChanges;
use subject::Grants;

/// The score of what nothing was found of.
const ON_GOAL: u16 = 1000;

/// The score of a change that the user forbade by its path.
const FORBIDDEN: u8 = 3;

/// So many words of the agent that the user said yes to are kept, the newest, and so much of each of their ends.
const MOST_CONSENTS: usize = 8;
const CONSENT_END: usize = 2 * 1024;

/// So much is heard of each end of a text that the agent was shown.
const OUTPUT_END: usize = 2 * 1024;

/// Follows one conversation: what the agent is held to, and what it did so far.
///
/// Every rule gives findings, each with the score that an action has at most because of it; the action's score is the
/// least of them, 10 where nothing was found. What looks and changes nothing is never found.
#[derive(Clone, Debug)]
pub struct Rules {
    contract: GoalContract,
    root: ProjectRoot,
    compiled: CompiledContract,
    /// The agent's own words that the user said yes to.
    consents: Vec<String>,
    /// ConstraintAges when the constraints hold.
    constraint_ages: ConstraintAges,
    history: History,
    associated: AssociatedFiles,
    relatedness: Relatedness,
    /// The score of the newest action in hundredths.
    hundredths: u16,
    /// What was changed against a constraint and stands.
    unreverted: UnrevertedChanges,
    /// What the user said yes to when they were asked about a call.
    grants: Grants,
    /// The wish that nothing be changed, in its own words, which the user let go of by a "yes".
    lifted_read_only: Option<String>,
    /// The files that the newest action put back.
    reverted_files: Vec<String>,
}

impl Rules {
    /// Rules for a conversation that begins. `root` is the folder that relative paths of the contract are meant from; files
    /// of actions below it are told by their path from there.
    pub fn new(contract: GoalContract, root: Option<&str>) -> Self {
        let root = ProjectRoot::new(root);
        let mut constraint_ages = ConstraintAges::default();
        constraint_ages.note(&contract, true);
        let compiled = CompiledContract::new(&root, &contract, &[], &constraint_ages);
        let relatedness = Relatedness::new(&contract, &compiled, &root);
        let mut rules = Self {
            contract,
            root,
            compiled,
            consents: Vec::new(),
            constraint_ages,
            history: History::default(),
            associated: AssociatedFiles::default(),
            relatedness,
            hundredths: ON_GOAL,
            unreverted: UnrevertedChanges::default(),
            grants: Grants::default(),
            lifted_read_only: None,
            reverted_files: Vec::new(),
        };
        rules.add_scope_files();
        rules
    }

    /// What the agent is held to.
    pub fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// Holds the agent to something else from now on; what it did so far is kept in mind.
    pub fn set_contract(&mut self, contract: GoalContract) {
        if contract == self.contract {
            return;
        }
        if contract.instructions != self.contract.instructions {
            self.history.start_prompt();
        }
        if is_another_task(&self.contract, &contract) {
            self.consents.clear();
        }
        // Typed anew, it holds anew.
        let is_typed_anew = |text: &mut String| {
            contract.instructions.len() > self.contract.instructions.len()
                && contract.newest_instruction().contains(text.as_str())
        };
        self.lifted_read_only.take_if(is_typed_anew);
        self.constraint_ages.note(&contract, false);
        self.contract = contract;
        self.compile();
        self.relatedness
            .set_contract(&self.contract, &self.compiled, &self.root);
        self.add_scope_files();
    }

    fn compile(&mut self) {
        self.compiled =
            CompiledContract::new(&self.root, &self.contract, &self.consents, &self.constraint_ages);
        if self.lifted_read_only.is_some()
            && self.compiled.limits.look_only() == self.lifted_read_only.as_deref()
        {
            self.compiled.limits.release();
        }
    }

    /// Judges the next action of the conversation. `call` is its tool call, under which its result is told later.
    pub fn assess(&mut self, action: &ActionSketch, call: Option<&str>) -> Assessment {
        let action = AnalyzedAction::new(&self.root, action);
        let fingerprint = fingerprint_of(&action);
        let mut findings = self.facts(&action, false);
        self.track_violations(&action, call, &mut findings);
        let mut repeats = false;
        if !action.is_read_only() {
            findings.extend(out_of_scope::findings(
                &action,
                &self.compiled,
                &self.associated,
                &self.history,
            ));
            findings.extend(repetition::findings(&action, fingerprint.as_ref(), &self.history));
            repeats = repetition::repeats(&action, fingerprint.as_ref(), &self.history);
        }
        self.add_associated(&action);
        self.history.record(&action, fingerprint, call, repeats);
        let related = if is_off_goal(&findings) {
            self.relatedness.skip()
        } else {
            self.relatedness.judge(&action, &self.compiled, &self.associated)
        };
        self.conclude(findings, related)
    }

    /// The score of the action assessed last with its fraction, in hundredths, 100 to 1000: it ranks actions that have the
    /// same whole score, and lies on the same side of 5. One difference is meant: a look that goes on with a drift has less
    /// than 500 here and yet a whole score that is on the goal, for nobody is corrected for looking.
    pub fn score_hundredths(&self) -> u16 {
        self.hundredths
    }

    /// Judges an action of a subagent, whose errand is its own: facts alone count (constraints, danger).
    pub fn assess_subagent(&mut self, action: &ActionSketch) -> Assessment {
        let action = AnalyzedAction::new(&self.root, action);
        let mut findings = self.facts(&action, false);
        self.track_violations(&action, None, &mut findings);
        self.history.record_subagent(&action);
        assessment(findings)
    }

    /// Keeps an action of the past in mind. `broke` tells that a constraint forbade it then: what was forbidden only later
    /// was no breach, and stays.
    pub fn replay(&mut self, action: &ActionSketch, broke: bool) {
        let action = AnalyzedAction::new(&self.root, action);
        let mut findings = self.facts(&action, false);
        self.reverted_files = self.unreverted.take_reverted(&action, &mut findings);
        if broke {
            self.record_violations(&action, None, &findings);
        }
        self.history.record_subagent(&action);
    }

    /// Leaves out what takes back what was changed against a constraint, and keeps in mind what is changed against one.
    fn track_violations(
        &mut self,
        action: &AnalyzedAction<'_>,
        call: Option<&str>,
        findings: &mut Vec<Finding>,
    ) {
        self.reverted_files = self.unreverted.take_reverted(action, findings);
        self.record_violations(action, call, findings);
    }

    fn record_violations(&mut self, action: &AnalyzedAction<'_>, call: Option<&str>, findings: &[Finding]) {
        let makes = |place: &NormalizedPath| !self.history.knows(place) && !self.history.has_changed(place);
        self.unreverted.note(action, call, findings, makes);
    }

    /// The same rules as if nothing had been done yet, to judge an action of the past anew under what is asked for now: what
    /// it did itself must not excuse it.
    pub fn without_history(&self) -> Self {
        Self {
            history: History::default(),
            unreverted: UnrevertedChanges::default(),
            reverted_files: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether the user asked for something to be taken back.
    pub fn is_undo_requested(&self) -> bool {
        self.compiled
            .asked
            .speaks_of(&["undo", "revert", "restor", "rollback", "anul"])
    }

    /// The agent was told to take back what it changed against a constraint.
    pub fn request_revert(&mut self) {
        self.unreverted.mark_requested();
    }

    /// The files that the newest action put back: what was changed there against a constraint stands no more.
    pub fn reverted_files(&self) -> &[String] {
        &self.reverted_files
    }

    /// The user was asked about an action and let it run: that, and whatever is the same, breaks nothing any more. `call` is
    /// its tool call.
    pub fn grant(&mut self, action: &ActionSketch, call: Option<&str>) {
        let action = AnalyzedAction::new(&self.root, action);
        let facts = self.facts(&action, false);
        self.grants.add(&facts, &action, &self.root, call);
        self.unreverted.forget(&facts, &self.root);
    }

    /// A call that the user was asked about did not run.
    pub fn revoke(&mut self, call: &str) {
        self.grants.withdraw(call);
    }

    /// The user approved a plan, or said yes to a question whether to go on: that nothing be changed is over.
    pub fn lift_read_only(&mut self) {
        self.lifted_read_only = self
            .compiled
            .limits
            .look_only()
            .map(str::to_owned)
            .or(self.lifted_read_only.take());
        self.compiled.limits.release();
    }

    /// The wish that nothing be changed, in its own words, which the user let go of.
    pub fn lifted_read_only(&self) -> Option<&str> {
        self.lifted_read_only.as_deref()
    }

    /// What stands against an action whatever the agent did before, facts alone. What it may remove because it may have made
    /// it is left out.
    pub fn assess_without_history(&self, action: &ActionSketch) -> Assessment {
        assessment(self.facts(&AnalyzedAction::new(&self.root, action), true))
    }

    /// How an earlier action ended.
    pub fn record_result(&mut self, call: &str, failed: bool) {
        self.history.record_result(call, failed);
        if failed {
            self.unreverted.failed(call);
        }
    }

    /// The user said something, were it a mere "yes": what was repeated before may be repeated again.
    pub fn record_prompt(&mut self) {
        self.history.start_prompt();
        self.relatedness.clear_drift();
    }

    /// The agent was shown a text: what a command or a tool put out. What it says ties later changes to the work, as a plan
    /// or a log that names files does. Of long texts both ends count.
    pub fn record_output(&mut self, text: &str) {
        self.relatedness
            .record_shown(&self.root, &both_ends(text, OUTPUT_END, "\n"));
    }

    /// The user said yes to a question or a plan of the agent, whose words these are: what they speak of is asked for, as
    /// far as danger and named files go. They constrain nothing, and hold until another task is begun. Words that are known
    /// count once, as the newest.
    pub fn record_consent(&mut self, words: &str) {
        if words.trim().is_empty() {
            return;
        }
        let kept = both_ends(words, CONSENT_END, "\n");
        self.consents.retain(|known| *known != *kept);
        if self.consents.len() >= MOST_CONSENTS {
            self.consents.remove(0);
        }
        self.relatedness.record_shown(&self.root, &kept);
        self.consents.push(kept.into_owned());
        self.compile();
        if proposes_change(words) {
            self.lift_read_only();
        }
        self.relatedness.clear_drift();
    }

    /// The agent's own words that the user said yes to and that still hold, oldest first.
    pub fn consents(&self) -> &[String] {
        &self.consents
    }

    /// What was done since the newest instruction.
    pub fn activity(&self) -> Activity {
        self.history.activity
    }

    /// Why a file that an action touches is a neighbour of what the work is about; `None` where it is none.
    pub fn association(&self, action: &ActionSketch, file: &str) -> Option<Association> {
        self.associated.association(
            &NormalizedPath::new(&self.root, file),
            &AnalyzedAction::new(&self.root, action),
        )
    }

    /// What the user forbade, and what is dangerous: matters of fact.
    fn facts(&self, action: &AnalyzedAction<'_>, is_history_unknown: bool) -> Vec<Finding> {
        let looks_by_tool = matches!(
            action.sketch.action_type,
            ActionType::Read | ActionType::Search | ActionType::Todo | ActionType::Task
        );
        if looks_by_tool {
            return Vec::new();
        }
        let mut found: Vec<Finding> = action
            .changed
            .iter()
            .filter_map(|place| self.forbidden(place))
            .collect();
        found.extend(
            self.compiled
                .limits
                .findings(action, &self.compiled, &self.history),
        );
        if !action.is_read_only() {
            let mut associated = EvaluationContext::new(&self.root, &self.compiled, &self.history);
            associated.is_history_unknown = is_history_unknown;
            found.extend(danger::findings(action, associated));
        }
        self.grants.remove_from(&mut found, action, &self.root);
        found
    }

    /// The findings and how far the action is related to the work, put together.
    fn conclude(&mut self, mut findings: Vec<Finding>, related: RelatednessScore) -> Assessment {
        let least = findings
            .iter()
            .map(|finding| finding.at_most)
            .filter(|at_most| *at_most < OFF_GOAL_BELOW)
            .min();
        self.hundredths = least.map_or(related.score, |least| related.score.min(u16::from(least) * 100));
        findings.extend(related.finding);
        assessment(findings)
    }

    fn forbidden(&self, place: &NormalizedPath) -> Option<Finding> {
        let entry = self.compiled.forbids(place)?;
        Some(Finding {
            rule: Rule::Constraint,
            file: Some(place.display().to_owned()),
            reason: format!("{} is changed, and you forbade {entry}", place.display()),
            at_most: FORBIDDEN,
        })
    }

    /// The scope's own files are what the work is about.
    fn add_scope_files(&mut self) {
        for pattern in &self.compiled.scope {
            let place = NormalizedPath::new(&self.root, pattern.text());
            if place.name().contains('.') && !pattern.text().contains('*') {
                self.associated.add(&place);
            }
        }
    }

    /// Files in the scope or named by the user are what the work is about, and what they import belongs to it.
    fn add_associated(&mut self, action: &AnalyzedAction<'_>) {
        let about =
            |place: &&NormalizedPath| self.compiled.is_in_scope(place) || self.compiled.is_named(place);
        let known: Vec<&NormalizedPath> = action.touched.iter().filter(about).collect();
        if known.is_empty() {
            return;
        }
        for place in known {
            self.associated.add(place);
        }
        self.associated.read(action.content());
        if let Some(output) = &action.sketch.output {
            self.associated.read(output);
        }
    }
}

/// Whether words end with a question whether to change something: "Shall I remove one of the checks?"
fn proposes_change(words: &str) -> bool {
    let last = words.trim_end().rsplit('\n').next().unwrap_or_default();
    last.contains('?') && constraints::proposes_change(last)
}

/// Whether nothing of what was asked for before is asked for now.
fn is_another_task(before: &GoalContract, now: &GoalContract) -> bool {
    before.goal != now.goal
        && !before
            .instructions
            .iter()
            .any(|instruction| now.instructions.contains(instruction))
}

/// Whether something was found that puts the action off the goal.
fn is_off_goal(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.at_most < OFF_GOAL_BELOW)
}

/// The findings as an assessment: the gravest first, the least score counts.
fn assessment(mut findings: Vec<Finding>) -> Assessment {
    findings.sort_by_key(|finding| (finding.at_most, finding.rule));
    let score = findings
        .first()
        .map_or(10, |gravest| gravest.at_most.clamp(1, 10));
    Assessment { score, findings }
}

#[cfg(test)]
mod tests;
