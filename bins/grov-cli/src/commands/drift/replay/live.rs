//! Replays a sequence with prompts as a live session.

use super::sequence::{Entry, Sequence};
use super::{Answer, Options, guard_verdict};
use crate::arguments::ReplayPath;
use crate::assembly;
use grov_drift::guard::PastAction;
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
                    let (contract, is_released) = (session.contract(), session.is_released());
                    guard.push(guard_verdict(contract, is_released, &action, &past));
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
