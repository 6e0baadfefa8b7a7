//! Replays a sequence with prompts as a live session.

use super::sequence::{Entry, Sequence};
use super::{Answer, GuardReplay, Options};
use crate::arguments::ReplayPath;
use crate::assembly;
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
    let mut guard = GuardReplay::default();
    let mut stops = Vec::new();
    // Whether each entry is an action.
    let mut acts = Vec::new();
    for entry in sequence.entries() {
        let corrections = session.delivered().len();
        match entry {
            Entry::Prompt { text, reading } => {
                session.prompt(&text);
                if let Some(reading) = reading {
                    session.read(reading);
                }
                acts.push(false);
                stops.push(None);
            }
            Entry::Answer { text } => {
                session.answer(&text);
                acts.push(false);
                stops.push(None);
            }
            Entry::Action { action, output } => {
                let mut was_asked = false;
                if options.guard {
                    let (contract, is_released) = (session.contract(), session.is_released());
                    let stop = guard.verdict(contract, is_released, session.consents(), &action);
                    was_asked = stop.is_some();
                    stops.push(stop);
                }
                let broke_constraint = session.act(&action, output.as_deref(), was_asked);
                acts.push(true);
                guard.ran(action, broke_constraint);
            }
        }
        if session.delivered().len() > corrections {
            guard.corrected();
        }
    }
    let replay = session.finish();
    let mut answer = Answer::new(sequence.seq_id, replay, by_prompt, options.guard.then_some(stops));
    let mut scores = answer.scores.into_iter();
    answer.scores = acts
        .iter()
        .map(|acts| acts.then(|| scores.next().flatten()).flatten())
        .collect();
    answer
}
