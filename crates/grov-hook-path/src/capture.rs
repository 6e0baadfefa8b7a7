//! Rows of the hook path as the engine takes them.

use grov_domain::{CorrectionLevel, HookCheck};
use grov_session::review::{Evidence, Said, Scored};

/// What the checks of a session, oldest first, and the escalation it ended with say about its work.
pub(crate) fn evidence(checks: &[HookCheck], escalation: u8) -> Evidence {
    let said = checks.iter().filter_map(|check| {
        let is_delivered = check.correction.is_some();
        let level = check.level.or(is_delivered.then_some(CorrectionLevel::Nudge))?;
        Some(Said {
            level,
            reason: check.reason.clone(),
            is_delivered,
        })
    });
    Evidence {
        // A check without a change is scored as well.
        scored: checks
            .iter()
            .map(|check| Scored::new(Some(check.score), true))
            .collect(),
        corrections: said.collect(),
        escalation: u32::from(escalation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_session::review::Review;
    use time::OffsetDateTime;

    fn check(score: u8, level: Option<CorrectionLevel>) -> HookCheck {
        HookCheck {
            id: score.to_string(),
            actions: 1,
            score,
            level,
            reason: level.map(|_| "src/billing/invoice.ts is off".to_owned()),
            files: Vec::new(),
            recovery_plan: Vec::new(),
            correction: level.map(|_| "Go back.".to_owned()),
            at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_session_is_reviewed_by_its_checks() {
        let checks = [
            check(3, Some(CorrectionLevel::Intervene)),
            check(2, Some(CorrectionLevel::Halt)),
            check(2, Some(CorrectionLevel::Halt)),
            check(10, None),
        ];
        let found = evidence(&checks, 2);
        let review = Review::of(&found);
        assert!(review.had_drift && review.needs_review);
        assert_eq!(review.halts, ["src/billing/invoice.ts is off"]);
        assert_eq!(
            found.summary().as_deref(),
            Some("Drift: 4 checks, 3 corrections, mean score 4.2, last score 10")
        );
        assert_eq!(evidence(&[], 0).summary(), None);
        assert_eq!(Review::of(&evidence(&checks[3..], 1)), Review::default());
    }
}
