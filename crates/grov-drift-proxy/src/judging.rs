//! What a model says of it: asked in the background, never on the path of a request.
//!
//! How rules and model are combined: what is a matter of fact stands (the lower score of both counts); otherwise a model's
//! score replaces that of the rules. A verdict by rules (no model was there to ask) changes nothing. The model is shown
//! the goal, what was asked last, the constraints and the actions with what they write; not what the agent says about them, nor what its tools
//! said.

use crate::counters::count;
use crate::course::{Assessed, Standing, combined};
use crate::drift::Shared;
use crate::plan::{changes, has_hard};
use crate::session::{Session, Slot};
use grov_domain::{
    ActionSketch, ClientSessionId, Correction, CorrectionId, DriftQuestion, DriftVerdict, Finding,
    ForcedRecoveryQuestion, GoalContract, JudgedBy, OFF_GOAL_BELOW, RelatedSteps, Rule, SessionId, StepId,
    StepRow, StepVerdict,
};
use grov_scope::{Place, Root};
use std::sync::Arc;
use std::time::Duration;

/// Earlier steps that a model is shown.
const MOST_EARLIER: u32 = 10;
/// Steps are recorded a moment after they were seen; a verdict that is faster waits for them.
const RECORDED_WITHIN: [Duration; 3] = [
    Duration::from_millis(300),
    Duration::from_millis(1200),
    Duration::from_secs(3),
];

/// A question to the judge about one response.
pub(crate) struct Inquiry {
    slot: Arc<Slot>,
    session: ClientSessionId,
    task: SessionId,
    contract: GoalContract,
    /// Where the project lies, and the same as it is written in commands.
    root: Root,
    folder: Option<String>,
    response: Vec<Assessed>,
    asked: Asked,
}

enum Asked {
    /// Is it on goal? Asked at this point.
    Verdict { since: Standing },
    /// What has to be done now? For this correction.
    Demand {
        correction: CorrectionId,
        reason: String,
    },
}

/// Whether a response is a reason to ask: off goal by what is no matter of fact, or the second doubtful one in a row.
pub(crate) fn is_suspicious(score: u8, before: Option<u8>, is_hard: bool) -> bool {
    let is_doubtful = |score: u8| (OFF_GOAL_BELOW..8).contains(&score);
    !is_hard && (score < OFF_GOAL_BELOW || (is_doubtful(score) && before.is_some_and(is_doubtful)))
}

impl Inquiry {
    /// Asks whether a response is on goal.
    pub(crate) fn verdict(slot: &Arc<Slot>, session: &Session, response: &[Assessed]) -> Self {
        let since = session.course.standing();
        Self::new(slot, session, response, Asked::Verdict { since })
    }

    /// Asks for the words of a demand.
    pub(crate) fn demand(
        slot: &Arc<Slot>,
        session: &Session,
        response: &[Assessed],
        correction: &Correction,
    ) -> Self {
        let asked = Asked::Demand {
            correction: correction.id.clone(),
            reason: correction.reason.clone(),
        };
        Self::new(slot, session, response, asked)
    }

    fn new(slot: &Arc<Slot>, session: &Session, response: &[Assessed], asked: Asked) -> Self {
        let counts = |one: &&Assessed| changes(&one.action) || one.assessment.score < 8;
        Self {
            slot: Arc::clone(slot),
            session: session.id.clone(),
            task: session.task.clone(),
            contract: session.agreement.contract().clone(),
            root: Root::new(session.root.as_deref()),
            folder: session
                .root
                .as_deref()
                .map(|root| root.trim_end_matches('/'))
                .filter(|root| !root.is_empty())
                .map(str::to_owned),
            response: response.iter().filter(counts).cloned().collect(),
            asked,
        }
    }

    /// Whether nothing was typed since.
    fn is_of_prompt(&self, now: Standing) -> bool {
        match self.asked {
            Asked::Verdict { since } => since.is_of_prompt(now),
            Asked::Demand { .. } => true,
        }
    }

    pub(crate) async fn ask(self, shared: &Shared) {
        match &self.asked {
            Asked::Verdict { since } => {
                let open = Open {
                    slot: &self.slot,
                    shared,
                };
                let answered = self.ask_verdict(*since, shared).await;
                drop(open);
                if let Some((verdict, made)) = answered {
                    self.record(&verdict, made.as_ref(), shared).await;
                }
            }
            Asked::Demand { correction, reason } => self.ask_demand(correction, reason, shared).await,
        }
    }

    /// A model's verdict, and the correction that it gave rise to.
    async fn ask_verdict(
        &self,
        since: Standing,
        shared: &Shared,
    ) -> Option<(DriftVerdict, Option<(usize, Correction)>)> {
        let question = DriftQuestion {
            goal: self.contract.goal.clone(),
            newest_instruction: self.contract.newest_instruction().to_owned(),
            constraints: constraints(&self.contract),
            scope: self
                .contract
                .scope
                .iter()
                .chain(&self.contract.allowed)
                .cloned()
                .collect(),
            earlier: self.earlier(shared).await,
            actions: self.actions(),
        };
        let judged = shared.judge.check_drift(Some(&self.task), &question).await;
        if judged.by != JudgedBy::Model {
            return None;
        }
        count(&shared.counters.judged);
        let verdict = judged.answer;
        let made = {
            let mut session = self.slot.session();
            let moment = shared.moment(&session);
            let contract = session.agreement.contract().clone();
            // What was judged by another goal than the one that counts now is recorded, no more.
            if session.task == self.task {
                let progress = session
                    .course
                    .judged(&self.response, &verdict, since, &contract, moment);
                shared.follow_up(&progress);
                if progress.changed {
                    shared.save_state(&session);
                }
                progress.made
            } else {
                None
            }
        };
        Some((verdict, made))
    }

    /// Writes the verdict to the steps that were judged.
    async fn record(&self, verdict: &DriftVerdict, made: Option<&(usize, Correction)>, shared: &Shared) {
        let judged = self.response.iter().enumerate();
        let verdicts: Vec<(StepId, StepVerdict)> = judged
            .filter_map(|(place, one)| {
                let correction = made
                    .filter(|(about, _)| *about == place)
                    .map(|(_, correction)| correction);
                Some((one.step.clone()?, step_verdict(one, verdict, correction)))
            })
            .collect();
        // What the rules judged off goal is in the drift log already.
        let is_a_step = |one: &&Assessed| one.step.is_some() && one.assessment.score >= OFF_GOAL_BELOW;
        let expected = self.response.iter().filter(is_a_step).count();
        shared.record_later(&self.session, &verdicts, expected).await;
    }

    async fn ask_demand(&self, correction: &CorrectionId, reason: &str, shared: &Shared) {
        let question = ForcedRecoveryQuestion {
            goal: self.contract.goal.clone(),
            newest_instruction: self.contract.newest_instruction().to_owned(),
            constraints: constraints(&self.contract),
            actions: self.actions(),
            diagnostics: vec![reason.to_owned()],
        };
        let judged = shared
            .judge
            .generate_forced_recovery(Some(&self.task), &question)
            .await;
        if judged.by != JudgedBy::Model {
            return;
        }
        let mut session = self.slot.session();
        let now = shared.clock.now();
        if session
            .course
            .reword(correction, &judged.answer, &self.contract, now)
        {
            shared.save_state(&session);
        }
    }

    /// Steps that bear on what is judged, oldest first.
    async fn earlier(&self, shared: &Shared) -> Vec<ActionSketch> {
        let all = |pick: fn(&ActionSketch) -> &Vec<String>| -> Vec<String> {
            let mut all: Vec<String> = Vec::new();
            for one in self.response.iter().flat_map(|one| pick(&one.action)) {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            }
            all
        };
        let files = all(|action| &action.files);
        let folders = folders(&files);
        let related = RelatedSteps {
            client_session_id: self.session.clone(),
            files,
            folders,
            keywords: self.contract.keywords.clone(),
            limit: MOST_EARLIER,
        };
        match shared.store.related_steps(&related).await {
            Ok(mut steps) => {
                steps.retain(|step| {
                    self.response
                        .iter()
                        .all(|one| one.step.as_ref() != Some(&step.id))
                });
                steps.sort_by(|one, other| (one.timestamp, &one.id).cmp(&(other.timestamp, &other.id)));
                steps.iter().map(|step| self.told(&sketch(step))).collect()
            }
            Err(error) => {
                tracing::debug!(%error, "earlier steps could not be read; the judge is asked without them");
                Vec::new()
            }
        }
    }

    /// The actions without prose; what is written belongs to them.
    fn actions(&self) -> Vec<ActionSketch> {
        let bare = |one: &Assessed| ActionSketch {
            reasoning: None,
            output: None,
            ..self.told(&one.action)
        };
        self.response.iter().map(bare).collect()
    }

    /// An action as a model is told of it: places in the project by their path from there.
    fn told(&self, action: &ActionSketch) -> ActionSketch {
        ActionSketch {
            files: action
                .files
                .iter()
                .map(|file| Place::new(&self.root, file).shown().to_owned())
                .collect(),
            command: action.command.as_ref().map(|command| match &self.folder {
                Some(folder) => seen_from(folder, command),
                None => command.clone(),
            }),
            ..action.clone()
        }
    }
}

impl Shared {
    /// Writes verdicts to steps that were recorded without them, or are about to be. So many of the steps are expected to
    /// be changed by it.
    pub(crate) async fn record_later(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, StepVerdict)],
        expected: usize,
    ) {
        if verdicts.is_empty() {
            return;
        }
        for pause in RECORDED_WITHIN {
            tokio::time::sleep(pause).await;
            match self.store.judge_steps(session, verdicts).await {
                Ok(changed) if changed >= expected => return,
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "a verdict could not be written yet"),
            }
        }
        tracing::debug!(%session, "a verdict found not all of its steps");
    }
}

/// A command with the paths below a folder told from there, and the folder itself as `.`.
fn seen_from(folder: &str, command: &str) -> String {
    let mut told = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((before, after)) = rest.split_once(folder) {
        told.push_str(before);
        let below = after.strip_prefix('/');
        let is_name = |next: char| next.is_alphanumeric() || matches!(next, '-' | '_' | '.');
        match below {
            Some(below) if below.starts_with(is_name) => rest = below,
            Some(below) => {
                told.push_str("./");
                rest = below;
            }
            None => {
                told.push_str(if after.starts_with(is_name) { folder } else { "." });
                rest = after;
            }
        }
    }
    told.push_str(rest);
    told
}

/// A judge is being asked; ends also where that is broken off. What waits for it is asked next, unless a prompt overtook it.
struct Open<'a> {
    slot: &'a Slot,
    shared: &'a Shared,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut session = self.slot.session();
        let next = session.next_inquiry.take();
        let next = next.filter(|next| next.is_of_prompt(session.course.standing()));
        session.is_judging = next.is_some_and(|next| self.shared.request_judgement(*next));
    }
}

fn step_verdict(one: &Assessed, verdict: &DriftVerdict, correction: Option<&Correction>) -> StepVerdict {
    let score = combined(&one.assessment, verdict.score);
    let mut findings: Vec<Finding> = Vec::new();
    if score < 8 {
        findings.extend(
            one.assessment
                .findings
                .iter()
                .filter(|_| score < OFF_GOAL_BELOW || has_hard(&one.assessment))
                .cloned(),
        );
        if !verdict.diagnostic.trim().is_empty() {
            findings.push(Finding {
                rule: Rule::Judge,
                file: one.action.files.first().cloned(),
                reason: verdict.diagnostic.clone(),
                at_most: verdict.score.clamp(1, 10),
            });
        }
        findings.sort_by_key(|finding| finding.at_most);
    }
    StepVerdict {
        score,
        by: JudgedBy::Model,
        findings,
        level: correction.map(|correction| correction.level),
        correction: correction.map(|correction| correction.text.clone()),
        recovery_plan: verdict.recovery_plan.clone(),
    }
}

/// What was demanded and ruled out, forbidden paths included.
fn constraints(contract: &GoalContract) -> Vec<String> {
    let forbidden = contract
        .forbidden
        .iter()
        .map(|glob| format!("Do not change {glob}"));
    contract.constraints.iter().cloned().chain(forbidden).collect()
}

/// The folders of files, each once.
fn folders(files: &[String]) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for file in files {
        if let Some((folder, _)) = file.rsplit_once(['/', '\\'])
            && !folder.is_empty()
            && !folders.iter().any(|known| known == folder)
        {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// What is shown of a recorded step.
pub(crate) fn sketch(step: &StepRow) -> ActionSketch {
    ActionSketch {
        action_type: step.action_type,
        files: step.files.clone(),
        command: step.command.clone(),
        effects: step.effects.iter().map(|effect| effect.kind).collect(),
        reasoning: None,
        failed: None,
        output: None,
        content: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_needs_to_persist_and_facts_need_no_judge() {
        for (score, before, is_hard, expected) in [
            (4, None, false, true),
            (4, None, true, false),
            (6, None, false, false),
            (6, Some(9), false, false),
            (6, Some(7), false, true),
            (8, Some(5), false, false),
            (7, Some(3), false, false),
        ] {
            assert_eq!(
                is_suspicious(score, before, is_hard),
                expected,
                "{score} {before:?}"
            );
        }
    }

    #[test]
    fn commands_are_told_from_the_project() {
        for (command, expected) in [
            ("cd /a/b && npm test", "cd . && npm test"),
            ("rm /a/b/c.rs /a/b/d", "rm c.rs d"),
            ("ls /a/b/ /a/b2 /a/b-c/d", "ls ./ /a/b2 /a/b-c/d"),
            ("cat '/a/b/.env'", "cat '.env'"),
            ("echo", "echo"),
        ] {
            assert_eq!(seen_from("/a/b", command), expected);
        }
    }

    #[test]
    fn folders_are_told_once() {
        let files = ["a/b.rs", "a/c.rs", "d.rs", "/e.rs", "x\\y.rs"].map(str::to_owned);
        assert_eq!(folders(&files), ["a", "x"]);
    }
}
