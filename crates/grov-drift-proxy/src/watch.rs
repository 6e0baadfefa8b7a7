//! What was done is judged by rules, before it is recorded.

use crate::counters::count;
use crate::course::{Assessed, Progress, Spoken};
use crate::drift::{Drift, Shared};
use crate::judging::{Inquiry, is_suspicious};
use crate::objection::objects;
use crate::plan::{changes, has_hard};
use crate::replay::FOLLOWS;
use crate::session::{Early, Loading, Session, Slot};
use grov_domain::{ExchangeKind, Finding, JudgedBy, SessionMode, StepVerdict};
use grov_proxy_core::{ActionWatch, Watched, WatchedExchange};
use std::sync::Arc;

/// Suspicions for which a judge is asked, per prompt: a long turn must not use up the day's budget.
const MOST_SUSPICIONS: u8 = 2;

impl ActionWatch for Drift {
    fn watch(&self, exchange: &WatchedExchange<'_>) -> Watched {
        let record = exchange.record;
        if !self.shared.settings.enabled || record.project.path.is_none() || !record.kind.is_turn() {
            return Watched::default();
        }
        let slot = self.shared.slot(&record.client_session_id);
        let watched = Watching {
            shared: &self.shared,
            slot: &slot,
            exchange,
            is_main: record.kind == ExchangeKind::Main && record.agent_id.is_none(),
        }
        .watch(&mut slot.session());
        slot.news.notify_waiters();
        watched
    }
}

struct Watching<'a> {
    shared: &'a Shared,
    slot: &'a Arc<Slot>,
    exchange: &'a WatchedExchange<'a>,
    is_main: bool,
}

impl Watching<'_> {
    fn watch(&self, session: &mut Session) -> Watched {
        let record = self.exchange.record;
        self.prepare(session);
        let mut changed = false;
        for result in self.exchange.results {
            session.assessed(&result.tool_use_id);
            session.rules().ended(&result.tool_use_id, result.failed);
        }
        if self.is_main {
            changed |= self.prompted(session);
        }
        let response = self.assess(session);
        let contract = session.agreement.contract().clone();
        let moment = self.shared.moment(session);
        let progress = session.course.respond(&response, &contract, moment);
        changed |= progress.changed;
        self.shared.follow_up(&progress);
        if progress.is_forced_now
            && let Some((_, correction)) = &progress.made
        {
            let inquiry = Inquiry::demand(self.slot, session, &response, correction);
            self.shared.request_judgement(inquiry);
        }
        if self.is_main {
            changed |= self.consider_judge(session, &response);
            if self.exchange.ends_turn {
                session.agreement.turn_ended();
            }
        }
        for call in record
            .steps
            .iter()
            .filter_map(|step| step.action.tool_use_id.as_ref())
        {
            session.assessed(call);
        }
        // Until it is known where the session stood, nothing is said about that.
        let is_known = session.loading == Loading::Done;
        Watched {
            verdicts: verdicts(&response, &progress),
            state: (changed && is_known).then(|| session.course.state().clone()),
        }
    }

    /// Makes sure that the session is known, or on the way to be.
    fn prepare(&self, session: &mut Session) {
        session.is_followed = true;
        if session.root.is_none() {
            let root = self.exchange.working_directory;
            session.root = root.map(|root| root.to_string_lossy().into_owned());
        }
        if session.loading == Loading::No {
            if self.is_main && self.exchange.begins {
                session.loading = Loading::Done;
            } else {
                self.shared.request_load(self.slot, session);
            }
        }
        let task = &self.exchange.record.session_id;
        if self.is_main && session.task != *task {
            session.task = task.clone();
            self.shared.request_refresh(self.slot, session);
        }
    }

    /// What the user typed is what counts from now on.
    fn prompted(&self, session: &mut Session) -> bool {
        let prompts = &self.exchange.record.prompts;
        let is_begun_anew = self.exchange.begins && !session.agreement.contract().instructions.is_empty();
        if is_begun_anew && !prompts.is_empty() {
            session.agreement.begin();
        }
        for prompt in prompts {
            let kind = session.agreement.prompted(&prompt.text);
            let spoken = Spoken {
                kind,
                objects: objects(&prompt.text),
                arrived_at: self.exchange.record.started_at,
            };
            let progress = session.course.prompted(spoken, self.shared.clock.now());
            self.shared.follow_up(&progress);
            session.suspicions = 0;
        }
        if !prompts.is_empty() {
            self.shared.request_refresh(self.slot, session);
        }
        !prompts.is_empty()
    }

    fn assess(&self, session: &mut Session) -> Vec<Assessed> {
        let steps = self.exchange.record.steps.iter().zip(self.exchange.actions);
        let mut response = Vec::new();
        for (step, action) in steps {
            let call = step.action.tool_use_id.as_deref();
            let assessment = if self.is_main {
                session.keep_early(Early {
                    step: step.id.clone(),
                    action: action.clone(),
                    call: call.map(str::to_owned),
                });
                session.rules().assess(action, call)
            } else {
                session.rules().assess_delegated(action)
            };
            count(&self.shared.counters.assessed);
            if assessment.score < grov_domain::OFF_GOAL_BELOW {
                count(&self.shared.counters.off_goal);
            }
            response.push(Assessed {
                action: action.clone(),
                step: Some(step.id.clone()),
                call: call.map(str::to_owned),
                assessment,
                is_delegated: !self.is_main,
            });
        }
        response
    }

    /// Has a judge asked where it is time, or where the rules are suspicious.
    fn consider_judge(&self, session: &mut Session, response: &[Assessed]) -> bool {
        let scores = response
            .iter()
            .filter(|one| changes(&one.action) || one.assessment.score < 8);
        let Some(score) = scores.map(|one| one.assessment.score).min() else {
            return false;
        };
        let before = session.last_score.replace(score);
        let state = session.course.state();
        let interval = u64::from(self.shared.settings.check_interval.max(1));
        let is_due = state.prompts.saturating_sub(state.judged_at_prompt) >= interval;
        let is_suspicious = is_suspicious(
            score,
            before,
            response.iter().any(|one| has_hard(&one.assessment)),
        ) && session.suspicions < MOST_SUSPICIONS
            && state.mode != SessionMode::Forced;
        if session.is_judging || !(is_due || is_suspicious) {
            return false;
        }
        let inquiry = Inquiry::verdict(self.slot, session, response);
        if !self.shared.request_judgement(inquiry) {
            return false;
        }
        session.is_judging = true;
        if !is_due {
            session.suspicions += 1;
        }
        session.course.asked_judge(self.shared.clock.now());
        true
    }
}

/// What is recorded with the steps. Of a subagent's actions only what was found is told: nobody judged the others.
fn verdicts(response: &[Assessed], progress: &Progress) -> Vec<Option<StepVerdict>> {
    let made = progress.made.as_ref();
    let verdict = |(place, one): (usize, &Assessed)| {
        if one.is_delegated && one.assessment.findings.is_empty() {
            return None;
        }
        let correction = made
            .filter(|(about, _)| *about == place)
            .map(|(_, correction)| correction);
        let is_followed = progress.followed.contains(&place);
        let findings: &[Finding] = if is_followed {
            &[]
        } else {
            &one.assessment.findings
        };
        Some(StepVerdict {
            score: if is_followed {
                one.assessment.score.max(FOLLOWS)
            } else {
                one.assessment.score
            },
            by: JudgedBy::Rules,
            findings: findings.to_vec(),
            level: correction.map(|correction| correction.level),
            correction: correction.map(|correction| correction.text.clone()),
            recovery_plan: correction
                .map(|correction| correction.recovery_plan.clone())
                .unwrap_or_default(),
        })
    };
    response.iter().enumerate().map(verdict).collect()
}
