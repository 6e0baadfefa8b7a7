//! Maps scores to correction levels.

use grov_domain::CorrectionLevel;

/// The highest escalation.
pub(crate) const MAX_ESCALATION: u8 = 3;

/// The minimum score that is on goal: nothing is corrected, and the escalation decreases.
pub const ON_GOAL_FROM: u8 = 8;

/// Maximum number of doubts reported per goal: an agent that goes on after the first one has a reason.
pub const MAX_DOUBTS: u8 = 1;

/// Returns the level for a score of 1 to 10 and an escalation of 0 to 3; `None` for a score from 8.
///
/// The score minus the escalation gives a nudge from 7, a correction from 5, an intervention from 3, and a halt below.
pub fn level(score: u8, escalation: u8) -> Option<CorrectionLevel> {
    if score >= ON_GOAL_FROM {
        return None;
    }
    Some(match score.saturating_sub(escalation.min(MAX_ESCALATION)) {
        7.. => CorrectionLevel::Nudge,
        5 | 6 => CorrectionLevel::Correct,
        3 | 4 => CorrectionLevel::Intervene,
        _ => CorrectionLevel::Halt,
    })
}

/// Returns the escalation after a correction of this level.
pub(crate) fn raised(escalation: u8, level: CorrectionLevel) -> u8 {
    if level >= CorrectionLevel::Correct {
        escalation.saturating_add(1).min(MAX_ESCALATION)
    } else {
        escalation
    }
}

/// Returns the escalation after actions on goal.
pub(crate) fn lowered(escalation: u8) -> u8 {
    escalation.saturating_sub(1).min(MAX_ESCALATION)
}

/// Returns the next stronger level, up to a halt, the strongest one without forced mode.
pub(crate) fn stronger(level: CorrectionLevel) -> CorrectionLevel {
    match level {
        CorrectionLevel::Nudge => CorrectionLevel::Correct,
        CorrectionLevel::Correct => CorrectionLevel::Intervene,
        CorrectionLevel::Intervene | CorrectionLevel::Halt => CorrectionLevel::Halt,
        CorrectionLevel::Forced => CorrectionLevel::Forced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CorrectionLevel::{Correct, Halt, Intervene, Nudge};
    use proptest::prelude::*;

    #[test]
    fn levels_follow_the_score() {
        let expected = [
            (10, None),
            (8, None),
            (7, Some(Nudge)),
            (6, Some(Correct)),
            (5, Some(Correct)),
            (4, Some(Intervene)),
            (3, Some(Intervene)),
            (2, Some(Halt)),
            (1, Some(Halt)),
        ];
        for (score, at) in expected {
            assert_eq!(level(score, 0), at, "{score}");
        }
    }

    #[test]
    fn the_third_deviation_is_a_halt() {
        let mut escalation = 0;
        for (score, expected) in [(6, Correct), (5, Intervene), (4, Halt)] {
            let level = level(score, escalation);
            assert_eq!(level, Some(expected));
            escalation = raised(escalation, expected);
        }
        assert_eq!(escalation, MAX_ESCALATION);
        assert_eq!(lowered(escalation), 2);
    }

    proptest! {
        #[test]
        fn escalation_stays_bounded_and_never_lowers_the_level(
            score in 0u8..=12,
            escalation in any::<u8>(),
            moves in proptest::collection::vec(any::<bool>(), 0..40),
        ) {
            prop_assert!(level(score, escalation) >= level(score, 0));
            prop_assert_eq!(level(score, escalation).is_none(), score >= ON_GOAL_FROM);
            let mut escalation = 0;
            for up in moves {
                escalation = if up { raised(escalation, Halt) } else { lowered(escalation) };
                prop_assert!(escalation <= MAX_ESCALATION);
            }
        }

        #[test]
        fn a_lower_score_never_has_a_milder_level(score in 1u8..10, escalation in 0u8..=3) {
            prop_assert!(level(score, escalation) >= level(score + 1, escalation));
        }
    }
}
