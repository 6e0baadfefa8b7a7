//! From a score to how strongly the agent is corrected.

use grov_domain::CorrectionLevel;

/// Escalation ends here.
pub const MAX_ESCALATION: u8 = 3;

/// Scores from this on are on goal: nothing is said, and escalation goes down.
pub const ON_GOAL_FROM: u8 = 8;

/// So often an agent is told of mere doubts: per prompt inside of a turn, under one goal where it is told with prompts. More
/// of them are more likely wrong than useful.
pub const MAX_DOUBTS: u8 = 2;

/// How strongly actions of this score are corrected: by score − escalation, 8 to 10 not at all, 7 a nudge, 5 and 6 a
/// correction, 3 and 4 an intervention, less a halt. What is on goal by itself is never corrected.
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

/// Escalation after a correction of this level.
pub fn raised(escalation: u8, level: CorrectionLevel) -> u8 {
    if level >= CorrectionLevel::Correct {
        escalation.saturating_add(1).min(MAX_ESCALATION)
    } else {
        escalation
    }
}

/// Escalation after actions that were on goal.
pub fn lowered(escalation: u8) -> u8 {
    escalation.saturating_sub(1).min(MAX_ESCALATION)
}

/// The next stronger level; halt is the strongest that a score alone can give.
pub fn stronger(level: CorrectionLevel) -> CorrectionLevel {
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
    fn levels_follow_the_table() {
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
    fn the_third_slip_is_a_halt() {
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
        fn escalation_stays_in_its_bounds_and_never_makes_it_milder(
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
        fn a_worse_score_is_never_corrected_more_mildly(score in 1u8..10, escalation in 0u8..=3) {
            prop_assert!(level(score, escalation) >= level(score + 1, escalation));
        }
    }
}
