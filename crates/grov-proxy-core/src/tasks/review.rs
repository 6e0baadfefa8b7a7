//! Whether a task that is saved has to be looked at, because the agent left its goal. Pure.

use super::turn::is_change;
use grov_domain::{Correction, CorrectionLevel, DriftEvent, OFF_GOAL_BELOW, StepRow};
pub(super) use grov_steer::review::Review;
use grov_steer::review::is_to_be_reviewed;

/// Reviews a task by its steps, by its actions that were judged off goal, by all corrections of its client session, and by
/// the escalation it ended with (0 to 3).
///
/// It had drift if an action was off goal. It needs a review if the agent was told three corrections or more, if its
/// changes have a mean score below 6 (from two on; reading is always on goal and would hide them), if it was told to stop
/// or an action was demanded of it, or if it ended with an escalation of 2 or more.
pub(super) fn review(
    steps: &[StepRow],
    events: &[DriftEvent],
    corrections: &[Correction],
    escalation: u32,
) -> Review {
    let is_known = |correction: &&Correction| {
        let id = correction.step_id.as_ref();
        steps.iter().any(|step| Some(&step.id) == id)
            || id.is_some() && events.iter().any(|event| event.step_id.as_ref() == id)
    };
    let own: Vec<&Correction> = corrections.iter().filter(is_known).collect();
    let told = own.iter().filter(|correction| correction.delivered_at.is_some());
    let off = |score: Option<u8>| score.is_some_and(|score| score < OFF_GOAL_BELOW);
    let changes = steps.iter().filter(|step| changes(step));
    let scores: Vec<usize> = changes
        .filter_map(|step| step.drift_score)
        .chain(events.iter().filter_map(|event| event.drift_score))
        .map(usize::from)
        .collect();
    let halts = halts(events, &own);
    Review {
        had_drift: !events.is_empty() || steps.iter().any(|step| off(step.drift_score)),
        needs_review: is_to_be_reviewed(told.count(), &scores, !halts.is_empty(), escalation),
        halts,
    }
}

fn changes(step: &StepRow) -> bool {
    step.action_type.modifies_files() || step.effects.iter().any(|effect| is_change(effect.kind))
}

/// Why the agent was to stop: by corrections, and by events whose correction is not kept.
fn halts(events: &[DriftEvent], corrections: &[&Correction]) -> Vec<String> {
    let is_halt = |level: CorrectionLevel| level >= CorrectionLevel::Halt;
    let mut found: Vec<(time::OffsetDateTime, &str)> = corrections
        .iter()
        .filter(|correction| is_halt(correction.level))
        .map(|correction| (correction.made_at, correction.reason.as_str()))
        .collect();
    let corrected = |event: &DriftEvent| {
        let mut corrections = corrections.iter();
        corrections.any(|correction| correction.step_id.is_some() && correction.step_id == event.step_id)
    };
    for event in events.iter().filter(|event| !corrected(event)) {
        let level = event.level.as_deref().and_then(CorrectionLevel::from_name);
        if level.is_some_and(is_halt) {
            let reason = event
                .reason
                .as_deref()
                .unwrap_or("what it did was far off the goal");
            found.push((event.timestamp, reason));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let mut reasons: Vec<String> = Vec::new();
    for (_, reason) in found {
        if !reasons.iter().any(|known| known == reason) {
            reasons.push(reason.to_owned());
        }
    }
    reasons
}

#[cfg(test)]
mod tests;
