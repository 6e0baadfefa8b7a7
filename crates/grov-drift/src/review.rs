//! What a session leaves behind: whether somebody should look at what came of it.

pub use grov_domain::Review;
use grov_domain::{CorrectionLevel, HookCheck, OFF_GOAL_BELOW, is_to_be_reviewed};

/// Reviews a session by its checks, oldest first, and by the escalation it ended with (0 to 3).
///
/// It had drift if a check came out below 5. It needs a review after three corrections, by a mean score below 6 from two
/// checks on, after any halt, and with an escalation of 2 or more.
pub fn review(checks: &[HookCheck], escalation: u8) -> Review {
    let corrections = checks.iter().filter(|check| check.correction.is_some()).count();
    let scores: Vec<usize> = checks.iter().map(|check| usize::from(check.score)).collect();
    let mut halts: Vec<String> = Vec::new();
    for check in checks
        .iter()
        .filter(|check| check.level >= Some(CorrectionLevel::Halt))
    {
        let reason = check.reason.as_deref();
        let reason = reason.unwrap_or("what it did was far off the goal");
        if !halts.iter().any(|known| known == reason) {
            halts.push(reason.to_owned());
        }
    }
    Review {
        had_drift: checks.iter().any(|check| check.score < OFF_GOAL_BELOW),
        needs_review: is_to_be_reviewed(corrections, &scores, !halts.is_empty(), u32::from(escalation)),
        halts,
    }
}

/// What the checks of a session came to, in one line: how many there were, how many corrections, the mean score and the
/// last one. `None`: nothing was checked.
pub fn summary(checks: &[HookCheck]) -> Option<String> {
    let last = checks.last()?;
    let corrections = checks.iter().filter(|check| check.correction.is_some()).count();
    let tenths = checks
        .iter()
        .map(|check| usize::from(check.score) * 10)
        .sum::<usize>()
        / checks.len();
    Some(format!(
        "Drift: {} checks, {corrections} corrections, mean score {}.{}, last score {}",
        checks.len(),
        tenths / 10,
        tenths % 10,
        last.score
    ))
}
