//! Replays a sequence with prompts as a live session.

use super::sequence::{Entry, Sequence};
use super::{Answer, Options};
use crate::arguments::ReplayPath;
use crate::assembly;
use grov_domain::{ActionSketch, GuardVerdict};
use grov_drift::guard::{PastAction, Question, decide};
use grov_session::{Policy, SessionReplay};

pub(super) fn answer(sequence: Sequence, options: Options) -> Answer {
    let by_prompt = options.path == ReplayPath::Hooks;
    let (policy, every) = match by_prompt {
        true => (Policy::PER_PROMPT, options.every),
        false => (Policy::PER_ACTION, 0),
    };
    let mut session = SessionReplay::new(assembly::intent_reader(), policy, every);
    if let Some(goal) = sequence.goal() {
        session.prompt(goal);
    }
    let mut past: Vec<PastAction> = Vec::new();
    let mut guard = Vec::new();
    // Whether each entry is an action.
    let mut acts = Vec::new();
    for entry in sequence.entries() {
        let corrections = session.delivered().len();
        match entry {
            Entry::Prompt(text) => {
                session.prompt(&text);
                acts.push(false);
                guard.push(None);
            }
            Entry::Action { action, output } => {
                if options.guard {
                    guard.push(verdict(&session, &action, &past));
                }
                let broke_constraint = session.act(&action, output.as_deref());
                acts.push(true);
                if action.failed != Some(true) {
                    past.push(PastAction {
                        action,
                        broke_constraint,
                        is_corrected: false,
                    });
                }
            }
        }
        if session.delivered().len() > corrections {
            past.iter_mut().for_each(|past| past.is_corrected = true);
        }
    }
    let replay = session.finish();
    let mut answer = Answer::new(sequence.seq_id, replay, by_prompt, options.guard.then_some(guard));
    let mut scores = answer.scores.into_iter();
    answer.scores = acts
        .iter()
        .map(|acts| acts.then(|| scores.next().flatten()).flatten())
        .collect();
    answer
}

/// The guard's verdict before an action, by the contract of that time. All recorded actions ran.
fn verdict(session: &SessionReplay, action: &ActionSketch, past: &[PastAction]) -> Option<&'static str> {
    let question = Question {
        contract: session.contract(),
        root: None,
        directory: None,
        action,
        masked: None,
        scripts: &[],
        past: Some(&[]),
        allowed: &[],
        is_released: session.is_released(),
        verdict: GuardVerdict::Ask,
    };
    // Earlier actions can only remove an objection, and most actions have none.
    decide(&question)?;
    let past = Some(past);
    let stop = decide(&Question { past, ..question })?;
    Some(stop.verdict.as_str())
}
