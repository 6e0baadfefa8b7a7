//! What came out when the actions since the last check were looked at, and what the agent is told because of it.

use crate::course::Course;
use crate::scoring::Batch;
use grov_domain::{CorrectionLevel, GoalContract, HookCheck, HookSession, PUT_BACK, RecoveryStep};
use grov_session::correction::{self, Situation};
use grov_session::level::{MOST_DOUBTS, ON_GOAL_FROM, level, lowered, raised};
use grov_session::way_back::{self, way_back};
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
    // Whoever changes a file again and again may be testing what they wrote: that lowers the score, and is no reason to speak.
    let corrects = corrects && !batch.offences.is_empty();
    session.drift_score = Some(score);
    let before = session.escalation;
    let is_doubt = batch.is_doubt();
    let doubts_are_told =
        corrects && course.open_doubts.are_due() && course.doubts(&contract.goal) < MOST_DOUBTS;
    let firm = level(batch.firm_score(), before).filter(|_| corrects && !is_doubt);
    // A doubt is never told more strongly than that.
    let due = firm.or_else(|| {
        let level = level(score, before).unwrap_or(CorrectionLevel::Nudge);
        doubts_are_told.then_some(level.min(CorrectionLevel::Correct))
    });
    let is_doubt = firm.is_none();
    if score >= ON_GOAL_FROM {
        session.escalation = lowered(before);
    } else if let Some(level) = firm {
        session.escalation = raised(before, level);
    }
    let found = batch.gravest_first();
    let mut issues: Vec<String> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for (offence, finding) in &found {
        let reason = if offence.is_delegated {
            format!("a subagent did this: {}", finding.reason)
        } else {
            finding.reason.clone()
        };
        if issues.contains(&reason) {
            continue;
        }
        if doubts_are_told || !way_back::is_doubt(finding.rule) {
            told.push(reason.clone());
        }
        issues.push(reason);
    }
    let circling = batch
        .circling()
        .map(|file| format!("{} is changed again and again", name(file)));
    for issue in circling {
        told.push(issue.clone());
        issues.push(issue);
    }
    let plan = plan(contract, batch, is_doubt);
    let correction = due.map(|level| {
        let situation = Situation {
            contract,
            level,
            score,
            escalation: session.escalation,
            failed: 0,
            issues: &told,
            plan: &plan,
            instead: None,
            is_doubt,
        };
        let text = correction::text(&situation, BUDGET, &course.said());
        course.has_said(correction::hash(&text));
        if doubts_are_told {
            course.has_doubted(&contract.goal);
        }
        correction::framed(&text, level, false)
    });
    HookCheck {
        id: format!("{}-{:06}", session.client_session_id, session.actions),
        actions: batch.actions,
        score,
        level: due,
        reason: issues.first().cloned().or_else(|| put_back(batch)),
        files: files(batch),
        recovery_plan: if due.is_some() { plan } else { Vec::new() },
        correction,
        at,
    }
}

/// That what a constraint forbids was put back.
fn put_back(batch: &Batch) -> Option<String> {
    let files = batch.files_put_back();
    (!files.is_empty()).then(|| format!("{PUT_BACK}{}", files.join(", ")))
}

fn plan(contract: &GoalContract, batch: &Batch, is_doubt: bool) -> Vec<RecoveryStep> {
    let mut found = batch.gravest_first();
    if !is_doubt {
        found.retain(|(_, finding)| !way_back::is_doubt(finding.rule));
    }
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
