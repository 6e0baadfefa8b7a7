//! What came out when the actions since the last check were looked at, and what the agent is told because of it.

use crate::course::Course;
use crate::scoring::Batch;
use grov_domain::{CorrectionLevel, GoalContract, HookCheck, HookSession, RecoveryStep};
use grov_steer::correction::{self, Situation};
use grov_steer::level::{MORE_OFF_GOAL, MOST_DOUBTS, ON_GOAL_FROM, level, lowered, raised};
use grov_steer::way_back::way_back;
use time::OffsetDateTime;

/// Tokens of a correction with everything around it.
const BUDGET: usize = 600;
/// Files that are told.
const MOST_FILES: usize = 20;

/// Checks a batch: the score, and a correction if one is due. What was said and how strongly is kept in mind.
pub(crate) fn check(
    session: &mut HookSession,
    course: &mut Course,
    contract: &GoalContract,
    batch: &Batch,
    corrects: bool,
    at: OffsetDateTime,
) -> HookCheck {
    let score = batch.score();
    let is_doubt = batch.is_doubt();
    // Whoever changes a file again and again may be testing what they wrote: that lowers the score, and is no reason to speak.
    let corrects = corrects && !batch.offences.is_empty();
    session.drift_score = Some(score);
    course.went_off_goal(batch.off_goal());
    let before = session.escalation;
    let due = level(score, before).filter(|_| corrects);
    let due = if is_doubt {
        let told = course.doubts(&contract.goal);
        let may_doubt = told == 0 || (told < MOST_DOUBTS && course.off_goal_since_doubt() >= MORE_OFF_GOAL);
        due.map(|level| level.min(CorrectionLevel::Correct))
            .filter(|_| may_doubt)
    } else {
        due
    };
    if score >= ON_GOAL_FROM {
        session.escalation = lowered(before);
    } else if let Some(level) = due.filter(|_| !is_doubt) {
        session.escalation = raised(before, level);
    }
    let found = batch.gravest_first();
    let mut issues: Vec<String> = Vec::new();
    for (offence, finding) in &found {
        let reason = if offence.is_delegated {
            format!("a subagent did this: {}", finding.reason)
        } else {
            finding.reason.clone()
        };
        if !issues.contains(&reason) {
            issues.push(reason);
        }
    }
    issues.extend(
        batch
            .circling()
            .map(|file| format!("{} is changed again and again", name(file))),
    );
    let plan = plan(contract, batch, is_doubt);
    let correction = due.map(|level| {
        let situation = Situation {
            contract,
            level,
            score,
            escalation: session.escalation,
            failed: 0,
            issues: &issues,
            plan: &plan,
            instead: None,
            is_doubt,
        };
        let text = correction::text(&situation, BUDGET, &course.said());
        course.has_said(correction::hash(&text));
        if is_doubt {
            course.has_doubted(&contract.goal);
        }
        correction::framed(&text, level, false)
    });
    HookCheck {
        id: format!("{}-{:06}", session.client_session_id, session.actions),
        actions: batch.actions,
        score,
        level: due,
        reason: issues.first().cloned(),
        files: files(batch),
        recovery_plan: if due.is_some() { plan } else { Vec::new() },
        correction,
        at,
    }
}

fn plan(contract: &GoalContract, batch: &Batch, is_doubt: bool) -> Vec<RecoveryStep> {
    let found = batch.gravest_first();
    let Some((gravest, _)) = found.first() else {
        return Vec::new();
    };
    // What is found of another action is about another file.
    let findings: Vec<_> = found
        .iter()
        .filter(|(offence, finding)| std::ptr::eq(*offence, *gravest) || finding.file.is_some())
        .map(|(_, finding)| (*finding).clone())
        .collect();
    way_back(contract, &gravest.action, &findings, !is_doubt)
}

fn files(batch: &Batch) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for offence in &batch.offences {
        let told: Vec<&String> = offence
            .findings
            .iter()
            .filter_map(|finding| finding.file.as_ref())
            .collect();
        let own = if told.is_empty() {
            offence.action.files.iter().collect()
        } else {
            told
        };
        for file in own {
            if files.len() < MOST_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
    }
    files
}

fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
