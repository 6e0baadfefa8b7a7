//! A recorded sequence of actions, judged again: rules and state machine without clock, store or model.

use crate::assessed::Assessed;
use crate::course::{Course, Moment};
use crate::policy::Policy;
use crate::verdict::FOLLOWS;
use grov_domain::{
    ActionSketch, ClientSessionId, Correction, CorrectionId, CorrectionOutcome, DriftState, Finding,
    GoalContract, SessionMode,
};
use grov_scope::Rules;
use time::{Duration, OffsetDateTime};

/// What was found of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// One for each action, in their order.
    pub actions: Vec<Replayed>,
}

/// What was found of one action, each taken as a response of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// 1 to 10, as it would be recorded.
    pub score: u8,
    /// What the rules alone say, with its fraction, in hundredths, 100 to 1000: what tells actions of one score apart. A look
    /// that goes on with a drift has less than 500 here, though it is recorded as on the goal; and nothing is added for
    /// following a correction, of which the agent of a recorded sequence never heard.
    pub fine: u16,
    /// Why, the gravest first.
    pub findings: Vec<Finding>,
    /// What the agent would be told before its next action.
    pub correction: Option<Correction>,
    /// What became of the correction before, where this action tells.
    pub outcome: Option<CorrectionOutcome>,
    /// Where the session stands after it.
    pub mode: SessionMode,
}

impl Replay {
    /// The scores.
    pub fn scores(&self) -> Vec<u8> {
        self.actions.iter().map(|action| action.score).collect()
    }

    /// The scores with their fractions.
    pub fn fine_scores(&self) -> Vec<f64> {
        self.actions
            .iter()
            .map(|action| f64::from(action.fine) / 100.0)
            .collect()
    }

    /// The corrections, each with the place of the action it is about.
    pub fn corrections(&self) -> impl Iterator<Item = (usize, &Correction)> {
        let actions = self.actions.iter().enumerate();
        actions.filter_map(|(place, action)| Some((place, action.correction.as_ref()?)))
    }
}

/// Judges a sequence of actions under a contract. Every correction counts as said before the next action. How an action
/// ended is known when its successor is judged. The same arguments give the same answer.
pub fn replay(contract: GoalContract, actions: &[ActionSketch], policy: Policy) -> Replay {
    let start = OffsetDateTime::UNIX_EPOCH;
    let session = ClientSessionId::new("replay");
    let task = session.first_task();
    let mut rules = Rules::new(contract.clone(), None);
    let mut course = Course::new(DriftState::new(session, start), policy);
    let mut replay = Replay::default();
    for (place, action) in actions.iter().enumerate() {
        let call = place.to_string();
        let assessment = rules.assess(action, Some(&call));
        let fine = rules.fine_score();
        let response = [Assessed {
            action: action.clone(),
            step: None,
            call: Some(call.clone()),
            assessment,
            is_delegated: false,
            put_back: Vec::new(),
        }];
        let at = start + Duration::seconds(i64::try_from(place).unwrap_or(i64::MAX / 4));
        let id = CorrectionId::new(format!("replay-{place}"));
        let moment = Moment {
            at,
            id,
            task: task.clone(),
        };
        let progress = course.respond(&response, &contract, moment);
        if let Some(failed) = action.failed {
            rules.ended(&call, failed);
        }
        let correction = progress.made.map(|(_, correction)| correction);
        if let Some(correction) = &correction {
            course.delivered(correction, at);
        }
        let [Assessed { assessment, .. }] = response;
        let is_followed = !progress.followed.is_empty();
        replay.actions.push(Replayed {
            fine,
            score: if is_followed {
                assessment.score.max(FOLLOWS)
            } else {
                assessment.score
            },
            findings: assessment.findings,
            correction,
            outcome: progress.settled.first().and_then(|settled| settled.outcome),
            mode: course.state().mode,
        });
    }
    replay
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edit, read};

    #[test]
    fn a_sequence_has_one_score_for_each_action() {
        let actions = [read("a.rs"), edit("a.rs", "x"), read("b.rs")];
        let replay = replay(GoalContract::default(), &actions, Policy::default());
        assert_eq!(replay.scores().len(), 3);
        assert!(replay.scores().iter().all(|score| (1..=10).contains(score)));
    }

    #[test]
    fn an_empty_sequence_is_empty() {
        assert!(
            replay(GoalContract::default(), &[], Policy::default())
                .actions
                .is_empty()
        );
    }
}
