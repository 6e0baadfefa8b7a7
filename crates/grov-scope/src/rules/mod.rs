//! One conversation, followed action by action.

mod memo;
mod subject;
mod undoing;

pub use memo::Memo;
pub use subject::Subject;

use crate::contract::Compiled;
use crate::danger::{self, Surroundings};
use crate::deed::Deed;
use crate::history::{Activity, History, print_of};
use crate::limits::{self, Since};
use crate::neighbours::{Neighbour, Neighbourhood};
use crate::place::{Place, Root};
use crate::relatedness::{Related, Relatedness};
use crate::{outside, repetition};
use grov_domain::{
    ActionSketch, ActionType, Assessment, Finding, GoalContract, OFF_GOAL_BELOW, Rule, both_ends,
};
use subject::Granted;
use undoing::Breaches;

/// The score of what nothing was found of.
const ON_GOAL: u16 = 1000;

/// The score of a change that the user forbade by its path.
const FORBIDDEN: u8 = 3;

/// So many words of the agent that the user said yes to are kept, the newest, and so much of each of their ends.
const MOST_CONSENTS: usize = 8;
const CONSENT_END: usize = 2 * 1024;

/// So much is heard of each end of a text that the agent was shown.
const HEARD_END: usize = 2 * 1024;

/// Follows one conversation: what the agent is held to, and what it did so far.
///
/// Every rule gives findings, each with the score that an action has at most because of it; the action's score is the
/// least of them, 10 where nothing was found. What looks and changes nothing is never found.
#[derive(Clone, Debug)]
pub struct Rules {
    contract: GoalContract,
    root: Root,
    compiled: Compiled,
    /// The agent's own words that the user said yes to.
    consents: Vec<String>,
    /// Since when the constraints hold.
    since: Since,
    history: History,
    around: Neighbourhood,
    related: Relatedness,
    /// The score of the newest action in hundredths.
    fine: u16,
    /// What was changed against a constraint and stands.
    breaches: Breaches,
    /// What the user said yes to when they were asked about a call.
    granted: Granted,
    /// The wish that nothing be changed, in its own words, which the user let go of by a "yes".
    released: Option<String>,
    /// The files that the newest action put back.
    put_back: Vec<String>,
}

impl Rules {
    /// Rules for a conversation that begins. `root` is the folder that relative paths of the contract are meant from; files
    /// of actions below it are told by their path from there.
    pub fn new(contract: GoalContract, root: Option<&str>) -> Self {
        let root = Root::new(root);
        let mut since = Since::default();
        since.note(&contract, true);
        let compiled = Compiled::new(&root, &contract, &[], &since);
        let related = Relatedness::new(&contract, &compiled, &root);
        let mut rules = Self {
            contract,
            root,
            compiled,
            consents: Vec::new(),
            since,
            history: History::default(),
            around: Neighbourhood::default(),
            related,
            fine: ON_GOAL,
            breaches: Breaches::default(),
            granted: Granted::default(),
            released: None,
            put_back: Vec::new(),
        };
        rules.learn_scope();
        rules
    }

    /// What the agent is held to.
    pub fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// Holds the agent to something else from now on; what it did so far is kept in mind.
    pub fn hold_to(&mut self, contract: GoalContract) {
        if contract == self.contract {
            return;
        }
        if contract.instructions != self.contract.instructions {
            self.history.begin_prompt();
        }
        if is_another_task(&self.contract, &contract) {
            self.consents.clear();
        }
        // Typed anew, it holds anew.
        let is_typed_anew = |text: &mut String| {
            contract.instructions.len() > self.contract.instructions.len()
                && contract.newest_instruction().contains(text.as_str())
        };
        self.released.take_if(is_typed_anew);
        self.since.note(&contract, false);
        self.contract = contract;
        self.compile();
        self.related.hold_to(&self.contract, &self.compiled, &self.root);
        self.learn_scope();
    }

    fn compile(&mut self) {
        self.compiled = Compiled::new(&self.root, &self.contract, &self.consents, &self.since);
        if self.released.is_some() && self.compiled.limits.look_only() == self.released.as_deref() {
            self.compiled.limits.release();
        }
    }

    /// Judges the next action of the conversation. `call` is its tool call, under which its result is told later.
    pub fn assess(&mut self, action: &ActionSketch, call: Option<&str>) -> Assessment {
        let deed = Deed::new(&self.root, action);
        let print = print_of(&deed);
        let mut findings = self.facts(&deed, false);
        self.follow_breaches(&deed, call, &mut findings);
        let mut repeats = false;
        if !deed.looks() {
            findings.extend(outside::findings(
                &deed,
                &self.compiled,
                &self.around,
                &self.history,
            ));
            findings.extend(repetition::findings(&deed, print.as_ref(), &self.history));
            repeats = repetition::repeats(&deed, print.as_ref(), &self.history);
        }
        self.learn(&deed);
        self.history.note(&deed, print, call, repeats);
        let related = if is_off_goal(&findings) {
            self.related.pass_over()
        } else {
            self.related.judge(&deed, &self.compiled, &self.around)
        };
        self.conclude(findings, related)
    }

    /// The score of the action assessed last with its fraction, in hundredths, 100 to 1000: it ranks actions that have the
    /// same whole score, and lies on the same side of 5. One difference is meant: a look that goes on with a drift has less
    /// than 500 here and yet a whole score that is on the goal, for nobody is corrected for looking.
    pub fn fine_score(&self) -> u16 {
        self.fine
    }

    /// Judges an action of a subagent, whose errand is its own: facts alone count (constraints, danger).
    pub fn assess_delegated(&mut self, action: &ActionSketch) -> Assessment {
        let deed = Deed::new(&self.root, action);
        let mut findings = self.facts(&deed, false);
        self.follow_breaches(&deed, None, &mut findings);
        self.history.note_delegated(&deed);
        assessment(findings)
    }

    /// Keeps an action of the past in mind. `broke` tells that a constraint forbade it then: what was forbidden only later
    /// was no breach, and stays.
    pub fn remember(&mut self, action: &ActionSketch, broke: bool) {
        let deed = Deed::new(&self.root, action);
        let mut findings = self.facts(&deed, false);
        self.put_back = self.breaches.put_back(&deed, &mut findings);
        if broke {
            self.note_breaches(&deed, None, &findings);
        }
        self.history.note_delegated(&deed);
    }

    /// Leaves out what takes back what was changed against a constraint, and keeps in mind what is changed against one.
    fn follow_breaches(&mut self, deed: &Deed<'_>, call: Option<&str>, findings: &mut Vec<Finding>) {
        self.put_back = self.breaches.put_back(deed, findings);
        self.note_breaches(deed, call, findings);
    }

    fn note_breaches(&mut self, deed: &Deed<'_>, call: Option<&str>, findings: &[Finding]) {
        let makes = |place: &Place| !self.history.knows(place) && !self.history.has_changed(place);
        self.breaches.note(deed, call, findings, makes);
    }

    /// The same rules as if nothing had been done yet, to judge an action of the past anew under what is asked for now: what
    /// it did itself must not excuse it.
    pub fn without_history(&self) -> Self {
        Self {
            history: History::default(),
            breaches: Breaches::default(),
            put_back: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether the user asked for something to be taken back.
    pub fn is_asked_to_undo(&self) -> bool {
        self.compiled
            .asked
            .speaks_of(&["undo", "revert", "restor", "rollback", "anul"])
    }

    /// The agent was told to take back what it changed against a constraint.
    pub fn told_to_undo(&mut self) {
        self.breaches.told();
    }

    /// The files that the newest action put back: what was changed there against a constraint stands no more.
    pub fn put_back(&self) -> &[String] {
        &self.put_back
    }

    /// The user was asked about an action and let it run: that, and whatever is the same, breaks nothing any more. `call` is
    /// its tool call.
    pub fn allow(&mut self, action: &ActionSketch, call: Option<&str>) {
        let deed = Deed::new(&self.root, action);
        let facts = self.facts(&deed, false);
        self.granted.add(&facts, &deed, &self.root, call);
        self.breaches.forget(&facts, &self.root);
    }

    /// A call that the user was asked about did not run.
    pub fn disallow(&mut self, call: &str) {
        self.granted.withdraw(call);
    }

    /// The user approved a plan, or said yes to a question whether to go on: that nothing be changed is over.
    pub fn release(&mut self) {
        self.released = self
            .compiled
            .limits
            .look_only()
            .map(str::to_owned)
            .or(self.released.take());
        self.compiled.limits.release();
    }

    /// The wish that nothing be changed, in its own words, which the user let go of.
    pub fn released(&self) -> Option<&str> {
        self.released.as_deref()
    }

    /// What stands against an action whatever the agent did before, facts alone. What it may remove because it may have made
    /// it is left out.
    pub fn assess_without_past(&self, action: &ActionSketch) -> Assessment {
        assessment(self.facts(&Deed::new(&self.root, action), true))
    }

    /// How an earlier action ended.
    pub fn ended(&mut self, call: &str, failed: bool) {
        self.history.ended(call, failed);
        if failed {
            self.breaches.failed(call);
        }
    }

    /// The user said something, were it a mere "yes": what was repeated before may be repeated again.
    pub fn prompted(&mut self) {
        self.history.begin_prompt();
        self.related.prompted();
    }

    /// The agent was shown a text: what a command or a tool put out. What it says ties later changes to the work, as a plan
    /// or a log that names files does. Of long texts both ends count.
    pub fn heard(&mut self, text: &str) {
        self.related
            .overhear(&self.root, &both_ends(text, HEARD_END, "\n"));
    }

    /// The user said yes to a question or a plan of the agent, whose words these are: what they speak of is asked for, as
    /// far as danger and named files go. They constrain nothing, and hold until another task is begun. Words that are known
    /// count once, as the newest.
    pub fn consented(&mut self, words: &str) {
        if words.trim().is_empty() {
            return;
        }
        let kept = both_ends(words, CONSENT_END, "\n");
        self.consents.retain(|known| *known != *kept);
        if self.consents.len() >= MOST_CONSENTS {
            self.consents.remove(0);
        }
        self.related.overhear(&self.root, &kept);
        self.consents.push(kept.into_owned());
        self.compile();
        if proposes_change(words) {
            self.release();
        }
        self.related.prompted();
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
    pub fn neighbour(&self, action: &ActionSketch, file: &str) -> Option<Neighbour> {
        self.around
            .neighbour(&Place::new(&self.root, file), &Deed::new(&self.root, action))
    }

    /// What the user forbade, and what is dangerous: matters of fact.
    fn facts(&self, deed: &Deed<'_>, is_past_unknown: bool) -> Vec<Finding> {
        let looks_by_tool = matches!(
            deed.action.action_type,
            ActionType::Read | ActionType::Search | ActionType::Todo | ActionType::Task
        );
        if looks_by_tool {
            return Vec::new();
        }
        let mut found: Vec<Finding> = deed
            .changed
            .iter()
            .filter_map(|place| self.forbidden(place))
            .collect();
        found.extend(self.compiled.limits.findings(deed, &self.compiled, &self.history));
        if !deed.looks() {
            let mut around = Surroundings::new(&self.root, &self.compiled, &self.history);
            around.is_past_unknown = is_past_unknown;
            found.extend(danger::findings(deed, around));
        }
        self.granted.remove_from(&mut found, deed, &self.root);
        found
    }

    /// The findings and how far the action is related to the work, put together.
    fn conclude(&mut self, mut findings: Vec<Finding>, related: Related) -> Assessment {
        let least = findings
            .iter()
            .map(|finding| finding.at_most)
            .filter(|at_most| *at_most < OFF_GOAL_BELOW)
            .min();
        self.fine = least.map_or(related.score, |least| related.score.min(u16::from(least) * 100));
        findings.extend(related.finding);
        assessment(findings)
    }

    fn forbidden(&self, place: &Place) -> Option<Finding> {
        let entry = self.compiled.forbids(place)?;
        Some(Finding {
            rule: Rule::Constraint,
            file: Some(place.shown().to_owned()),
            reason: format!("{} is changed, and you forbade {entry}", place.shown()),
            at_most: FORBIDDEN,
        })
    }

    /// The scope's own files are what the work is about.
    fn learn_scope(&mut self) {
        for pattern in &self.compiled.scope {
            let place = Place::new(&self.root, pattern.text());
            if place.name().contains('.') && !pattern.text().contains('*') {
                self.around.add(&place);
            }
        }
    }

    /// Files in the scope or named by the user are what the work is about, and what they import belongs to it.
    fn learn(&mut self, deed: &Deed<'_>) {
        let about = |place: &&Place| self.compiled.is_in_scope(place) || self.compiled.is_named(place);
        let known: Vec<&Place> = deed.touched.iter().filter(about).collect();
        if known.is_empty() {
            return;
        }
        for place in known {
            self.around.add(place);
        }
        self.around.read(deed.content());
        if let Some(output) = &deed.action.output {
            self.around.read(output);
        }
    }
}

/// Whether words end with a question whether to change something: "Shall I remove one of the checks?"
fn proposes_change(words: &str) -> bool {
    let last = words.trim_end().rsplit('\n').next().unwrap_or_default();
    last.contains('?') && limits::proposes_change(last)
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
