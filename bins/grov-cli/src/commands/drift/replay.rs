//! `grov drift replay`: judges recorded actions by the current rules.

mod live;
mod sequence;
mod stored;

use crate::arguments::ReplayPath;
use crate::failure::Failure;
use crate::format::plural;
use crate::lines::Lines;
use crate::output::{self, ExitStatus, Outcome, Terminal};
use crate::progress::{Position, Progress};
use grov_domain::{ActionSketch, GoalContract, GuardVerdict, OFF_GOAL_BELOW};
use grov_drift::guard::{PastAction, Question, Stop, decide};
use grov_session::{Policy, Replay, replay};
use sequence::Sequence;
use serde::Serialize;
use std::path::Path;
pub(super) use stored::run as session;
pub(in crate::commands) use stored::{JudgedAction, judged_actions};

/// The result for one sequence.
#[derive(Serialize)]
struct Answer {
    seq_id: serde_json::Value,
    /// One for each action, 1 to 10, with a fraction that ranks equal scores; `null` for a prompt.
    scores: Vec<Option<f64>>,
    corrections: Vec<CorrectionView>,
    /// The check at each prompt, where corrections are delivered with prompts.
    #[serde(rename = "looks", skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<CheckView>>,
    /// The guard's verdict before each action.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<Vec<Option<&'static str>>>,
    /// Why the guard gave each verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard_reasons: Option<Vec<Option<String>>>,
}

/// A correction that would have been delivered.
#[derive(Serialize)]
struct CorrectionView {
    /// Index of the action that caused it.
    action: usize,
    /// Number of actions before its delivery; `None` if it is delivered with the next action.
    #[serde(rename = "behind", skip_serializing_if = "Option::is_none")]
    after: Option<usize>,
    level: &'static str,
    reason: String,
}

/// The check of the actions between two prompts.
#[derive(Serialize)]
struct CheckView {
    /// Number of actions before it.
    #[serde(rename = "behind")]
    after: usize,
    /// 1 to 10, whole.
    score: u8,
    reason: Option<String>,
}

/// How a file is replayed.
#[derive(Clone, Copy)]
pub(super) struct Options {
    pub(super) path: ReplayPath,
    /// Number of actions between two prompts.
    pub(super) every: usize,
    /// Whether to report the guard's verdicts.
    pub(super) guard: bool,
}

/// Answers a file line by line, in order. Only one line is in memory at a time.
pub(super) fn file(path: &Path, options: Options, terminal: Terminal) -> Outcome {
    let mut lines = Lines::open(path)?;
    let mut progress = Progress::new(true, lines.size, "sequences");
    let outcome = answer_all(&mut lines, &mut progress, options, terminal);
    let skipped = progress.finish();
    outcome.map(|()| ExitStatus::success_if(skipped == 0))
}

fn answer_all(
    lines: &mut Lines,
    progress: &mut Progress,
    options: Options,
    terminal: Terminal,
) -> Result<(), Failure> {
    let mut answered = 0;
    while let Some(line) = lines.next()? {
        let number = line.number;
        let sequence = match line.bytes {
            Some(bytes) => Sequence::read(bytes),
            None => Err("it is too long".to_owned()),
        };
        match sequence {
            Ok(sequence) => {
                let answer = answer(sequence, options);
                match terminal.wants_json() {
                    true => output::line(&answer)?,
                    false => output::print(&text(&answer))?,
                };
                answered += 1;
            }
            Err(error) => progress.skip(&format!("line {number} is skipped: {error}")),
        }
        progress.update(Position {
            line: number,
            records: answered,
            bytes: lines.bytes,
        });
    }
    Ok(())
}

fn answer(sequence: Sequence, options: Options) -> Answer {
    if sequence.has_prompts() {
        return live::answer(sequence, options);
    }
    let actions: Vec<ActionSketch> = sequence.actions().collect();
    let contract = sequence.contract();
    let guard = options.guard.then(|| guard_verdicts(&contract, &actions));
    let by_prompt = options.path == ReplayPath::Hooks;
    let replay = match by_prompt {
        true => replay(contract, &actions, Policy::PER_PROMPT, options.every),
        false => replay(contract, &actions, Policy::PER_ACTION, 0),
    };
    Answer::new(sequence.seq_id, replay, by_prompt, guard)
}

impl Answer {
    fn new(
        seq_id: serde_json::Value,
        replay: Replay,
        by_prompt: bool,
        guard: Option<Vec<Option<Stop>>>,
    ) -> Self {
        let corrections = replay.delivered.into_iter().map(|delivered| CorrectionView {
            action: delivered.action,
            after: by_prompt.then_some(delivered.after),
            level: delivered.correction.level.as_str(),
            reason: delivered.correction.reason,
        });
        let checks = replay.checks.into_iter().map(|(after, check)| CheckView {
            after,
            score: check.score,
            reason: check.reason,
        });
        Self {
            scores: replay
                .scores
                .iter()
                .map(|score| Some(f64::from(*score) / 100.0))
                .collect(),
            corrections: corrections.collect(),
            checks: by_prompt.then(|| checks.collect()),
            guard: guard
                .as_ref()
                .map(|stops| each(stops, |stop| stop.verdict.as_str())),
            guard_reasons: guard
                .as_ref()
                .map(|stops| each(stops, |stop| stop.reason.clone())),
            seq_id,
        }
    }
}

/// A value of each stop, `None` where there is none.
fn each<T>(stops: &[Option<Stop>], value: impl Fn(&Stop) -> T) -> Vec<Option<T>> {
    stops.iter().map(|stop| stop.as_ref().map(&value)).collect()
}

/// The guard's verdict on each action. All recorded actions ran, so each is an earlier action for the next ones.
fn guard_verdicts(contract: &GoalContract, actions: &[ActionSketch]) -> Vec<Option<Stop>> {
    let mut guard = GuardReplay::default();
    let verdict = |action: &ActionSketch| {
        let verdict = guard.verdict(contract, false, &[], action);
        guard.ran(action.clone(), true);
        guard.corrected();
        verdict
    };
    actions.iter().map(verdict).collect()
}

/// The guard over recorded actions. An action that it asks about and that ran was allowed by the user.
#[derive(Default)]
struct GuardReplay {
    past: Vec<PastAction>,
    allowed: Vec<String>,
    /// The subjects of the question about the action that runs next.
    asked: Option<String>,
}

impl GuardReplay {
    /// The verdict on the next action.
    fn verdict(
        &mut self,
        contract: &GoalContract,
        is_released: bool,
        consents: &[String],
        action: &ActionSketch,
    ) -> Option<Stop> {
        let question = Question {
            contract,
            root: None,
            directory: None,
            action,
            masked: None,
            scripts: &[],
            past: Some(&[]),
            allowed: &self.allowed,
            is_released,
            consents,
            verdict: GuardVerdict::Ask,
        };
        // Earlier actions can only remove an objection, and most actions have none.
        decide(&question)?;
        let past = Some(self.past.as_slice());
        let stop = decide(&Question { past, ..question })?;
        self.asked = Some(stop.subject.clone());
        Some(stop)
    }

    /// Records that the action ended.
    fn ran(&mut self, action: ActionSketch, broke_constraint: bool) {
        // A command that failed ran, too, so the user allowed it.
        self.allowed.extend(self.asked.take());
        if action.failed == Some(true) {
            return;
        }
        self.past.push(PastAction {
            action,
            broke_constraint,
            is_corrected: false,
        });
    }

    /// Records that the agent was asked to undo the actions so far.
    fn corrected(&mut self) {
        self.past.iter_mut().for_each(|past| past.is_corrected = true);
    }
}

fn text(answer: &Answer) -> String {
    let is_off = |score: &&f64| **score < f64::from(OFF_GOAL_BELOW);
    let scores = || answer.scores.iter().flatten();
    let guard = answer.guard.as_ref().map(|guard| {
        let asked = guard.iter().flatten().count();
        format!(", the guard asks about {asked}")
    });
    format!(
        "{}  {}, {} off goal, {}{}\n",
        answer.seq_id,
        plural(scores().count() as u64, "action", "actions"),
        scores().filter(is_off).count(),
        plural(answer.corrections.len() as u64, "correction", "corrections"),
        guard.unwrap_or_default(),
    )
}
