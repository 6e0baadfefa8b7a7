//! `grov drift replay`: recorded work, judged by today's rules.

mod sequence;
mod stored;

use crate::arguments::ReplayPath;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::output::{self, Outcome, Terminal, Verdict, say};
use crate::progress::{Mark, Progress};
use crate::show::some;
use grov_domain::{ActionSketch, GoalContract, GuardVerdict, OFF_GOAL_BELOW};
use grov_drift::guard::{PastAction, Question, decide};
use grov_session::{Policy, replay};
use sequence::Sequence;
use serde::Serialize;
use std::path::Path;
pub(super) use stored::run as session;

/// Bad lines that are told one by one.
const MOST_TOLD: u64 = 20;

/// What is said of one sequence.
#[derive(Serialize)]
struct Answer {
    seq_id: serde_json::Value,
    /// One for each action, 1 to 10, with a fraction that ranks them.
    scores: Vec<f64>,
    corrections: Vec<CorrectionView>,
    /// What each prompt finds, where the agent is corrected with prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    looks: Option<Vec<LookView>>,
    /// What the guard would have said to each action before it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<Vec<Option<&'static str>>>,
}

/// A correction that would have been delivered.
#[derive(Serialize)]
struct CorrectionView {
    /// The place of the action that gave rise to it, from 0.
    action: usize,
    /// How many actions are done when it is said, where that is not before the next action.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<usize>,
    level: &'static str,
    reason: String,
}

/// What a prompt finds of the actions since the one before.
#[derive(Serialize)]
struct LookView {
    /// How many actions are done.
    behind: usize,
    /// 1 to 10, whole.
    score: u8,
    reason: Option<String>,
}

/// How a file is replayed.
#[derive(Clone, Copy)]
pub(super) struct Play {
    /// How the agent is corrected.
    pub(super) path: ReplayPath,
    /// With prompts, behind so many actions.
    pub(super) every: usize,
    /// Whether the guard is asked.
    pub(super) guard: bool,
}

/// Answers a file line by line, in order; at most one line is in memory.
pub(super) fn file(path: &Path, play: Play, terminal: Terminal) -> Outcome {
    let mut lines = Lines::open(path)?;
    let mut progress = Progress::new(true, lines.size, "sequences");
    let ended = answer_all(&mut lines, &mut progress, play, terminal);
    progress.close();
    let skipped = ended?;
    if skipped > MOST_TOLD {
        say(&format!("{} more lines were left out", skipped - MOST_TOLD));
    }
    Ok(if skipped > 0 {
        Verdict::Nothing
    } else {
        Verdict::Found
    })
}

/// How many lines were left out.
fn answer_all(
    lines: &mut Lines,
    progress: &mut Progress,
    play: Play,
    terminal: Terminal,
) -> Result<u64, Failure> {
    let (mut answered, mut skipped) = (0, 0);
    while let Some(line) = lines.next()? {
        let number = line.number;
        let sequence = match line.bytes {
            Some(bytes) => Sequence::read(bytes),
            None => Err("it is too long".to_owned()),
        };
        match sequence {
            Ok(sequence) => {
                let answer = answer(sequence, play);
                if terminal.wants_json() {
                    output::line(&answer)?;
                } else {
                    output::print(&text(&answer))?;
                }
                answered += 1;
            }
            Err(trouble) => {
                skipped += 1;
                if skipped <= MOST_TOLD {
                    progress.close();
                    say(&format!("line {number} is left out: {trouble}"));
                }
            }
        }
        progress.tell(Mark {
            line: number,
            records: answered,
            bytes: lines.bytes,
        });
    }
    Ok(skipped)
}

fn answer(sequence: Sequence, play: Play) -> Answer {
    let actions: Vec<ActionSketch> = sequence.actions().collect();
    let contract = sequence.contract();
    let guard = play.guard.then(|| guarded(&contract, &actions));
    let by_prompt = play.path == ReplayPath::Hooks;
    let replay = if by_prompt {
        replay(contract, &actions, Policy::PER_PROMPT, play.every)
    } else {
        replay(contract, &actions, Policy::PER_ACTION, 0)
    };
    let corrections = replay.delivered.iter().map(|delivered| CorrectionView {
        action: delivered.action,
        behind: by_prompt.then_some(delivered.after),
        level: delivered.correction.level.as_str(),
        reason: delivered.correction.reason.clone(),
    });
    let looks = replay.checks.iter().map(|(after, check)| LookView {
        behind: *after,
        score: check.score,
        reason: check.reason.clone(),
    });
    Answer {
        scores: replay.fine_scores(),
        corrections: corrections.collect(),
        looks: by_prompt.then(|| looks.collect()),
        guard,
        seq_id: sequence.seq_id,
    }
}

/// What the guard would have said to each action. The recorded ones all ran, so that what came before is what was done.
fn guarded(contract: &GoalContract, actions: &[ActionSketch]) -> Vec<Option<&'static str>> {
    let said = |(place, action)| {
        let question = Question {
            contract,
            root: None,
            directory: None,
            action,
            masked: None,
            past: Some(&[]),
            allowed: &[],
            is_released: false,
            verdict: GuardVerdict::Ask,
        };
        // The past lifts what stands against an action, and brings nothing up; most have nothing against them.
        decide(&question)?;
        let done = actions
            .iter()
            .take(place)
            .filter(|action| action.failed != Some(true));
        // The whole sequence is held to one contract.
        let past: Vec<PastAction> = done
            .map(|action| PastAction {
                action: action.clone(),
                broke_constraint: true,
                is_corrected: true,
            })
            .collect();
        let past = Some(past.as_slice());
        let stop = decide(&Question { past, ..question })?;
        Some(stop.verdict.as_str())
    };
    actions.iter().enumerate().map(said).collect()
}

fn text(answer: &Answer) -> String {
    let off = answer
        .scores
        .iter()
        .filter(|score| **score < f64::from(OFF_GOAL_BELOW));
    let asked = answer.guard.as_ref().map(|guard| {
        let asked = guard.iter().flatten().count();
        format!(", {asked} asked about before")
    });
    format!(
        "{}  {}, {} off goal, {}{}\n",
        answer.seq_id,
        some(answer.scores.len() as u64, "action", "actions"),
        off.count(),
        some(answer.corrections.len() as u64, "correction", "corrections"),
        asked.unwrap_or_default(),
    )
}
