//! Evaluates the actions of one conversation.

mod memo;
mod reverts;
mod subject;

pub use memo::Memo;
pub use reverts::{FORBIDDEN_COMMIT, makes_commit};
pub use subject::{FindingSubject, LimitOnFiles, OVERRULED};

use crate::analyzed_action::AnalyzedAction;
use crate::constraints;
use crate::contract::CompiledContract;
use crate::danger::{self, EvaluationContext, RunScript};
use crate::edits;
use crate::finding::finding;
use crate::history::{History, fingerprint_of};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::relatedness::{Relatedness, RelatednessScore};
use crate::{out_of_scope, repetition};
use grov_domain::{
    ActionSketch, ActionType, Assessment, Finding, GoalContract, OFF_GOAL_BELOW, Rule, both_ends,
};
use reverts::UnrevertedChanges;

/// The score of an action without findings, in hundredths.
const ON_GOAL: u16 = 1000;

/// The score of a change of a forbidden path.
const FORBIDDEN: u8 = 3;

/// The number of newest accepted proposals that are kept, and the bytes kept of each end.
const MAX_CONSENTS: usize = 8;
const CONSENT_END: usize = 2 * 1024;

/// The bytes used of each end of an output.
const OUTPUT_END: usize = 2 * 1024;

/// Evaluates one conversation: the contract, and the actions so far.
///
/// Every rule returns findings, each with the maximum score of the action. The action's score is the lowest of these, or
/// 10 without findings. Actions that only read have no findings.
#[derive(Clone, Debug)]
pub struct Rules {
    contract: GoalContract,
    root: ProjectRoot,
    compiled: CompiledContract,
    /// Everything that is stored between processes.
    state: Memo,
    /// The files that the newest action reverted.
    reverted_files: Vec<String>,
    /// See [`Rules::log_odds`].
    log_odds: u16,
}

impl Rules {
    /// Rules for a new conversation. Relative paths of the contract are resolved against `root`; findings name files below
    /// it by their relative paths.
    pub fn new(contract: GoalContract, root: Option<&str>) -> Self {
        let root = ProjectRoot::new(root);
        let mut state = Memo::default();
        state.constraint_ages.note(&contract, true);
        let compiled = CompiledContract::new(&root, &contract, &[], &state.constraint_ages);
        state.relatedness = Relatedness::new(&contract, &compiled, &root);
        let mut rules = Self {
            contract,
            root,
            compiled,
            state,
            reverted_files: Vec::new(),
            log_odds: 0,
        };
        rules.add_scope_files();
        rules
    }

    /// The contract.
    pub fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// Replaces the contract and keeps the history.
    pub fn set_contract(&mut self, contract: GoalContract) {
        if contract == self.contract {
            return;
        }
        if contract.instructions != self.contract.instructions {
            self.state.history.start_prompt();
        }
        if is_another_task(&self.contract, &contract) {
            self.state.consents.clear();
        }
        // A constraint that the user repeats applies again.
        let is_repeated = |text: &mut String| {
            contract.instructions.len() > self.contract.instructions.len()
                && contract.newest_instruction().contains(text.as_str())
        };
        self.state.lifted_read_only.take_if(is_repeated);
        self.state.constraint_ages.note(&contract, false);
        let is_new_goal = replaces_goal(&self.contract, &contract);
        self.contract = contract;
        self.compile();
        self.state
            .relatedness
            .set_contract(&self.contract, &self.compiled, &self.root);
        if is_new_goal {
            self.state.relatedness.begin_task();
        }
        self.add_scope_files();
    }

    fn compile(&mut self) {
        self.compiled = CompiledContract::new(
            &self.root,
            &self.contract,
            &self.state.consents,
            &self.state.constraint_ages,
        );
        if self.state.lifted_read_only.is_some()
            && self.compiled.limits.look_only() == self.state.lifted_read_only.as_deref()
        {
            self.compiled.limits.release();
        }
    }

    /// Assesses the next action of the conversation and records it. `call` is its tool call, by which
    /// [`Rules::record_result`] finds it.
    pub fn assess(&mut self, action: &ActionSketch, call: Option<&str>) -> Assessment {
        let action = AnalyzedAction::new(&self.root, action);
        let fingerprint = fingerprint_of(&action);
        let mut findings = self.facts(&action, false);
        self.track_violations(&action, call, &mut findings);
        let mut repeats = false;
        // Going back is not work that could be unrelated.
        let is_undo = !self.reverted_files.is_empty() || reverts::only_restores(&action);
        if !action.is_read_only() {
            if !is_undo {
                findings.extend(out_of_scope::findings(
                    &action,
                    &self.compiled,
                    &self.state.associated,
                    &self.state.history,
                ));
            }
            findings.extend(repetition::findings(
                &action,
                fingerprint.as_ref(),
                &self.state.history,
                &self.root,
            ));
            repeats = repetition::repeats(&action, fingerprint.as_ref(), &self.state.history);
        }
        self.add_associated(&action);
        self.state
            .history
            .record(&action, fingerprint, call, repeats, &self.root);
        let related = if is_undo || is_off_goal(&findings) {
            self.state.relatedness.skip()
        } else {
            self.state
                .relatedness
                .judge(&action, &self.compiled, &self.state.associated)
        };
        self.conclude(findings, related)
    }

    /// The score of the newest action in hundredths, 100 to 1000. It ranks actions with the same whole score and is on the
    /// same side of 5, with one exception: reading that continues a drift is below 500 here although its whole score is on
    /// the goal, because reading is never corrected.
    pub fn score_hundredths(&self) -> u16 {
        self.state.hundredths
    }

    /// The log-odds that the newest action is unrelated to the goal, in hundredths; 0 if it has no such finding.
    pub fn log_odds(&self) -> u16 {
        self.log_odds
    }

    /// Assesses an action of a subagent, which has its own task: only constraints and danger count.
    pub fn assess_subagent(&mut self, action: &ActionSketch) -> Assessment {
        let action = AnalyzedAction::new(&self.root, action);
        let mut findings = self.facts(&action, false);
        self.track_violations(&action, None, &mut findings);
        self.state.history.record_subagent(&action);
        self.log_odds = 0;
        assessment(findings)
    }

    /// Records a past action without assessing it. `broke` says that it violated a constraint at that time; constraints
    /// that were added later do not count.
    pub fn replay(&mut self, action: &ActionSketch, broke: bool) {
        let action = AnalyzedAction::new(&self.root, action);
        let mut findings = self.facts(&action, false);
        self.reverted_files = self.state.unreverted.take_reverted(&action, &mut findings);
        if broke {
            self.record_violations(&action, None, &findings);
        }
        self.state.history.record_subagent(&action);
    }

    /// Removes the findings of an action that reverts violations, and records new violations.
    fn track_violations(
        &mut self,
        action: &AnalyzedAction<'_>,
        call: Option<&str>,
        findings: &mut Vec<Finding>,
    ) {
        self.reverted_files = self.state.unreverted.take_reverted(action, findings);
        self.record_violations(action, call, findings);
    }

    fn record_violations(&mut self, action: &AnalyzedAction<'_>, call: Option<&str>, findings: &[Finding]) {
        let makes = |place: &NormalizedPath| {
            !self.state.history.knows(place) && !self.state.history.has_changed(place)
        };
        self.state.unreverted.note(action, call, findings, makes);
    }

    /// The same rules with an empty history, to reassess a past action under the current contract. Its own effects must
    /// not excuse it.
    pub fn without_history(&self) -> Self {
        Self {
            state: Memo {
                history: History::default(),
                unreverted: UnrevertedChanges::default(),
                ..self.state.clone()
            },
            reverted_files: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether the user asked to undo something, and there are violations to revert.
    pub fn is_undo_requested(&self) -> bool {
        let request = &self.compiled.request;
        !self.state.unreverted.is_empty()
            && request.mentions_any(&["undo", "revert", "restor", "rollback", "anul"])
    }

    /// Records that the agent was asked to revert its violations.
    pub fn request_revert(&mut self) {
        self.state.unreverted.mark_requested();
    }

    /// The files whose violations the newest action reverted.
    pub fn reverted_files(&self) -> &[String] {
        &self.reverted_files
    }

    /// Records that the user permitted an action when asked. The same findings are not reported again, and its files belong
    /// to the work. `call` is its tool call.
    pub fn grant(&mut self, action: &ActionSketch, call: Option<&str>) {
        let action = AnalyzedAction::new(&self.root, action);
        let facts = self.facts(&action, false);
        self.state.grants.add(&facts, &action, &self.root, call);
        self.state.unreverted.forget(&facts, &self.root);
        self.state.relatedness.accept(&action);
    }

    /// Revokes the permission of a call that did not run.
    pub fn revoke(&mut self, call: &str) {
        self.state.grants.withdraw(call);
    }

    /// Lifts the read-only constraint: the user approved a plan or a change.
    pub fn lift_read_only(&mut self) {
        self.state.lifted_read_only = self
            .compiled
            .limits
            .look_only()
            .map(str::to_owned)
            .or(self.state.lifted_read_only.take());
        self.compiled.limits.release();
    }

    /// The text of the read-only constraint that the user lifted.
    pub fn lifted_read_only(&self) -> Option<&str> {
        self.state.lifted_read_only.as_deref()
    }

    /// Assesses an action by constraints and danger alone, without the history. Findings that the history could excuse are
    /// left out.
    pub fn assess_without_history(&self, action: &ActionSketch) -> Assessment {
        assessment(self.facts(&AnalyzedAction::new(&self.root, action), true))
    }

    /// Assesses the scripts that an action runs by danger alone. Scripts are listed after those that run them. If the
    /// history is unknown, findings that it could excuse are left out.
    pub fn assess_scripts(&self, scripts: &[RunScript], is_history_unknown: bool) -> Vec<Finding> {
        danger::script_findings(scripts, || {
            let mut context = EvaluationContext::new(&self.root, &self.compiled, &self.state.history);
            context.is_history_unknown = is_history_unknown;
            context
        })
    }

    /// Actions that a careful colleague asks about, although no request is certainly against them: the guard asks, and no
    /// correction follows.
    pub fn questions(&self, action: &ActionSketch, is_history_unknown: bool) -> Vec<Finding> {
        let action = AnalyzedAction::new(&self.root, action);
        let mut context = EvaluationContext::new(&self.root, &self.compiled, &self.state.history);
        context.is_history_unknown = is_history_unknown;
        let mut found = edits::findings(&action, &context, edits::Kind::Questions);
        found.extend(
            self.compiled
                .limits
                .questions(&self.root, &action, &self.compiled),
        );
        self.state.grants.remove_from(&mut found, &action, &self.root);
        found
    }

    /// What [`Rules::questions`] says of an action that only reads or tests.
    pub fn effect_questions(&self, action: &ActionSketch) -> Vec<Finding> {
        let action = AnalyzedAction::new(&self.root, action);
        let mut found = self.compiled.limits.effect_questions(&action);
        self.state.grants.remove_from(&mut found, &action, &self.root);
        found
    }

    /// Records the result of an earlier action.
    pub fn record_result(&mut self, call: &str, failed: bool) {
        self.state.history.record_result(call, failed);
        if failed {
            self.state.unreverted.failed(call);
        }
    }

    /// Records a prompt of the user, even a mere "yes": earlier repetitions and drift no longer count.
    pub fn record_prompt(&mut self) {
        self.state.history.start_prompt();
        self.state.relatedness.clear_drift();
    }

    /// Records the output of a command or a tool. Files and words in it relate later changes to the work. Only both ends of
    /// a long text count.
    pub fn record_output(&mut self, text: &str) {
        self.state
            .relatedness
            .record_shown(&self.root, &both_ends(text, OUTPUT_END, "\n"));
    }

    /// Records what the user asked for by accepting a question or plan of the agent, an order a line. It counts as requested where
    /// danger and named files are checked, until it is forgotten. It constrains nothing. What is repeated counts once, as the
    /// newest.
    pub fn record_consent(&mut self, words: &str) {
        if words.trim().is_empty() {
            return;
        }
        let kept = both_ends(words, CONSENT_END, "\n");
        self.state.consents.retain(|known| *known != *kept);
        if self.state.consents.len() >= MAX_CONSENTS {
            self.state.consents.remove(0);
        }
        self.state.relatedness.record_shown(&self.root, &kept);
        self.state.consents.push(kept.into_owned());
        self.compile();
        if proposes_change(words) {
            self.lift_read_only();
        }
        self.state.relatedness.clear_drift();
    }

    /// Forgets the accepted proposals: the user objects.
    pub fn forget_consents(&mut self) {
        if !self.state.consents.is_empty() {
            self.state.consents.clear();
            self.compile();
        }
    }

    /// The accepted proposals that still hold, oldest first.
    pub fn consents(&self) -> &[String] {
        &self.state.consents
    }

    /// Violated constraints and dangerous commands.
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
                .findings(&self.root, action, &self.compiled, &self.state.history),
        );
        if action.may_be_dangerous() {
            let mut context = EvaluationContext::new(&self.root, &self.compiled, &self.state.history);
            context.is_history_unknown = is_history_unknown;
            let edits = edits::findings(action, &context, edits::Kind::Facts);
            found.extend(edits.into_iter().filter(|edit| !context.is_asked_for_file(edit)));
            found.extend(danger::findings(action, context));
        }
        self.state.grants.remove_from(&mut found, action, &self.root);
        found
    }

    /// Combines the findings with the relatedness of the action.
    fn conclude(&mut self, mut findings: Vec<Finding>, related: RelatednessScore) -> Assessment {
        let least = findings
            .iter()
            .map(|finding| finding.at_most)
            .filter(|at_most| *at_most < OFF_GOAL_BELOW)
            .min();
        self.state.hundredths =
            least.map_or(related.score, |least| related.score.min(u16::from(least) * 100));
        self.log_odds = related.log_odds;
        findings.extend(related.finding);
        assessment(findings)
    }

    fn forbidden(&self, place: &NormalizedPath) -> Option<Finding> {
        let entry = self.compiled.forbids(place)?;
        let name = place.display();
        let reason = format!("{name} is changed, but {entry} is forbidden");
        Some(finding(Rule::Constraint, FORBIDDEN, Some(name), reason))
    }

    /// Adds the files of the expected scope to the associated files.
    fn add_scope_files(&mut self) {
        for pattern in &self.compiled.scope {
            let place = NormalizedPath::new(&self.root, pattern.text());
            if place.name().contains('.') && !pattern.text().contains('*') {
                self.state.associated.add(&place);
            }
        }
    }

    /// Adds touched files that are in the scope or that the user named, and their imports.
    fn add_associated(&mut self, action: &AnalyzedAction<'_>) {
        let about =
            |place: &&NormalizedPath| self.compiled.is_in_scope(place) || self.compiled.is_named(place);
        let known: Vec<&NormalizedPath> = action.touched.iter().filter(about).collect();
        if known.is_empty() {
            return;
        }
        for place in known {
            self.state.associated.add(place);
        }
        self.state.associated.read(action.content());
        if let Some(output) = &action.sketch.output {
            self.state.associated.read(output);
        }
    }
}

/// Whether a text ends with a proposal to change something: "Shall I remove one of the checks?"
fn proposes_change(words: &str) -> bool {
    let last = words.trim_end().rsplit('\n').next().unwrap_or_default();
    last.contains('?') && constraints::proposes_change(last)
}

/// Whether the new contract shares neither goal nor instructions with the old one.
fn is_another_task(before: &GoalContract, now: &GoalContract) -> bool {
    before.goal != now.goal
        && !before
            .instructions
            .iter()
            .any(|instruction| now.instructions.contains(instruction))
}

/// Whether the newest instruction replaces the goal.
fn replaces_goal(before: &GoalContract, now: &GoalContract) -> bool {
    let goal = now.goal.trim_end_matches(['.', '…']);
    !before.goal.is_empty()
        && !goal.is_empty()
        && before.goal != now.goal
        && before.newest_instruction() != now.newest_instruction()
        && now.newest_instruction().contains(goal)
}

/// Whether a finding puts the action off the goal.
fn is_off_goal(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.at_most < OFF_GOAL_BELOW)
}

/// The assessment with the most severe finding first and its score.
fn assessment(mut findings: Vec<Finding>) -> Assessment {
    findings.sort_by_key(|finding| (finding.at_most, finding.rule));
    let score = findings
        .first()
        .map_or(10, |gravest| gravest.at_most.clamp(1, 10));
    Assessment { score, findings }
}

#[cfg(test)]
mod tests;
