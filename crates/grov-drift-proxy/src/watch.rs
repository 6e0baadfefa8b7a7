//! What was done is judged by rules, before it is recorded.

use crate::contract::PromptKind;
use crate::counters::count;
use crate::course::{Assessed, Progress, Spoken};
use crate::drift::{Drift, Shared};
use crate::early::{Done, Event};
use crate::judging::{Inquiry, is_suspicious};
use crate::objection::{consent, consent_by_result, objects};
use crate::plan::{changes, has_hard};
use crate::reconsider::{Prompted, stands};
use crate::replay::FOLLOWS;
use crate::session::{Loading, Session, Slot};
use crate::work::Job;
use grov_domain::{Assessment, ExchangeKind, Finding, JudgedBy, Rule, SessionMode, StepVerdict};
use grov_proxy_core::{ActionWatch, ToolOutcome, Watched, WatchedExchange};
use std::path::Path;
use std::sync::Arc;

/// Suspicions for which a judge is asked, per prompt: a long turn must not use up the day's budget.
const MOST_SUSPICIONS: u8 = 2;

/// Danger of this score is none that anybody asks for: a device is overwritten, everything is deleted.
const GRAVE: u8 = 1;

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
        let mut changed = self.follow_switch(session);
        for result in self.exchange.results {
            changed |= self.answered(session, result);
        }
        if self.is_main {
            changed |= self.prompted(session);
        }
        let response = self.assess(session);
        let contract = session.agreement.contract().clone();
        let moment = self.shared.moment(session);
        // Until what was done is known, only what is certain says anything; that nothing was found does not yet.
        let is_blind =
            session.loading != Loading::Done && response.iter().all(|one| one.assessment.findings.is_empty());
        if is_blind {
            let steps = response.iter().filter_map(|one| one.step.clone());
            session.leave_open(steps);
        } else if !session.open.is_empty() && !response.is_empty() {
            session.is_open_overtaken = true;
        }
        let judged = if is_blind { &[][..] } else { &response };
        let progress = session.course.respond(judged, &contract, moment);
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
            if let Some(answer) = self.exchange.answer {
                session.last_answer = Some(answer.to_owned());
            }
            session.questions = self.exchange.questions.to_vec();
            // The request is over: what was not said by now was not said.
            session.offered = None;
        }
        for call in record
            .steps
            .iter()
            .filter_map(|step| step.action.tool_use_id.as_ref())
        {
            session.assessed(call);
        }
        changed |= session.drop_consents(self.shared.clock.now());
        Watched {
            verdicts: verdicts(&response, &progress),
            // Until it is known where the session stood, nothing is said about that.
            state: (changed && session.is_placed).then(|| session.course.state().clone()),
        }
    }

    /// Makes sure that the session is known, or on the way to be.
    fn prepare(&self, session: &mut Session) {
        session.is_followed = true;
        if session.root.is_none() {
            let root = root(self.exchange);
            session.root = root.map(|root| root.to_string_lossy().into_owned());
        }
        if session.loading != Loading::Done && self.is_main && self.exchange.begins {
            session.begins();
        }
        self.shared.request_load(self.slot, session);
        if self.is_main && !session.agreement.is_whole() && !session.has_read_history {
            session.has_read_history = true;
            session.agreement.continues(&(self.exchange.earlier_prompts)());
        }
        let task = &self.exchange.record.session_id;
        // One that nobody knows is none to turn to.
        if !self.exchange.task_is_known {
            return;
        }
        session.is_task_known |= self.is_main;
        if self.is_main && session.task != *task {
            session.task = task.clone();
            session.agreement.turned_to_another_task();
            self.shared.request_refresh(self.slot, session);
        }
    }

    /// Where a person switched it off nothing is made to be said, now or when it is switched on again.
    fn follow_switch(&self, session: &mut Session) -> bool {
        let record = self.exchange.record;
        let is_off = self
            .shared
            .is_switched_off(&record.client_session_id, record.project.key());
        session
            .course
            .set_corrects(self.shared.settings.corrections && !is_off);
        if !is_off || session.course.pending().is_none() {
            return false;
        }
        let progress = session.course.dismiss(self.shared.clock.now());
        self.shared.follow_up(&progress);
        true
    }

    /// How a tool call ended. Whether the state is another one because of that.
    fn answered(&self, session: &mut Session, result: &ToolOutcome) -> bool {
        session.assessed(&result.tool_use_id);
        session.rules().ended(&result.tool_use_id, result.failed);
        session.keep_early(|| Event::Ended {
            call: result.tool_use_id.clone(),
            failed: result.failed,
        });
        let mut changed = false;
        if self.is_main {
            if let Some(output) = &result.output {
                session.rules().heard(output);
                session.keep_early(|| Event::Heard(output.clone()));
            }
            let questions = &mut session.questions;
            if let Some(place) = questions
                .iter()
                .position(|question| question.tool_use_id == result.tool_use_id)
            {
                let question = questions.swap_remove(place);
                if let Some(words) = consent_by_result(&question, result) {
                    session.consented(words, self.shared.clock.now());
                    if question.plan.is_some() {
                        session.rules().release();
                    }
                    changed = true;
                }
            }
        }
        if session.breaking.ended(&result.tool_use_id, result.failed) {
            self.shared.ask(Job::Asked(Arc::clone(self.slot)));
        }
        // It changed nothing, so there is nothing to be said of it.
        if result.failed {
            session.course.failed(&result.tool_use_id);
        }
        let is_moot = result.failed && session.course.pending_call() == Some(&result.tool_use_id);
        if is_moot {
            let progress = session.course.dismiss(self.shared.clock.now());
            self.shared.follow_up(&progress);
        }
        changed || is_moot
    }

    /// What the user typed is what counts from now on.
    fn prompted(&self, session: &mut Session) -> bool {
        let prompts = &self.exchange.record.prompts;
        let is_begun_anew = self.exchange.begins && !session.agreement.contract().instructions.is_empty();
        if is_begun_anew && !prompts.is_empty() {
            session.agreement.begin();
        }
        for prompt in prompts {
            let answer = session.last_answer.take();
            session.keep_typed(&prompt.text, answer.as_deref());
            let kind = session.agreement.prompted(&prompt.text);
            session.rules().prompted();
            if kind == PromptKind::Substance {
                session.course.asked_anew();
            }
            if let Some(words) = consent(kind, &prompt.text, answer.as_deref()) {
                session.consented(words, self.shared.clock.now());
            }
            let spoken = Spoken {
                objects: objects(&prompt.text),
                arrived_at: self.exchange.record.started_at,
            };
            session.keep_spoken(spoken);
            let progress = session.course.prompted(spoken, self.shared.clock.now());
            self.shared.follow_up(&progress);
            let spoken = Prompted {
                kind,
                prompt: &prompt.text,
                last_answer: answer.as_deref(),
            };
            self.reconsider(session, &spoken);
            session.suspicions = 0;
        }
        if !prompts.is_empty() {
            session.is_open_overtaken |= !session.open.is_empty();
            self.shared.request_refresh(self.slot, session);
        }
        !prompts.is_empty()
    }

    /// Drops what waits to be said and is not right any more under what was just typed.
    fn reconsider(&self, session: &mut Session, spoken: &Prompted<'_>) {
        let Some(offence) = session.course.unsaid().cloned() else {
            return;
        };
        let rules = session.rules().clone();
        if !stands(&offence, session.agreement.contract(), rules, spoken) {
            let progress = session.course.dismiss(self.shared.clock.now());
            self.shared.follow_up(&progress);
        }
    }

    fn assess(&self, session: &mut Session) -> Vec<Assessed> {
        let is_loaded = session.loading == Loading::Done;
        let is_known = is_loaded && session.agreement.is_whole();
        let steps = self.exchange.record.steps.iter().zip(self.exchange.actions);
        let mut response = Vec::new();
        for (step, action) in steps {
            let call = step.action.tool_use_id.as_deref();
            session.keep_early(|| {
                Event::Done(Done {
                    step: step.id.clone(),
                    action: action.clone(),
                    call: call.map(str::to_owned),
                    is_delegated: !self.is_main,
                })
            });
            let assessment = if self.is_main {
                session.rules().assess(action, call)
            } else {
                session.rules().assess_delegated(action)
            };
            let assessment = if is_known {
                assessment
            } else {
                certain(assessment, is_loaded)
            };
            count(&self.shared.counters.assessed);
            if assessment.score < grov_domain::OFF_GOAL_BELOW {
                count(&self.shared.counters.off_goal);
            }
            let assessed = Assessed {
                action: action.clone(),
                step: Some(step.id.clone()),
                call: call.map(str::to_owned),
                assessment,
                is_delegated: !self.is_main,
            };
            if has_hard(&assessed.assessment) {
                session.breaking.add(assessed.clone());
            }
            response.push(assessed);
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
        if !session.agreement.is_whole() || session.loading != Loading::Done {
            return false;
        }
        let state = session.course.state();
        let interval = u64::from(self.shared.settings.check_interval.max(1));
        let is_due = state.prompts.saturating_sub(state.judged_at_prompt) >= interval;
        let is_suspicious = is_suspicious(
            score,
            before,
            response.iter().any(|one| has_hard(&one.assessment)),
        ) && session.suspicions < MOST_SUSPICIONS
            && state.mode != SessionMode::Forced;
        if !(is_due || is_suspicious) {
            return false;
        }
        let inquiry = Inquiry::verdict(self.slot, session, response);
        if session.is_judging {
            // One waits, the first: what is asked about it bears on what follows as well.
            if !is_suspicious || session.next_inquiry.is_some() {
                return false;
            }
            session.next_inquiry = Some(Box::new(inquiry));
        } else if !self.shared.request_judgement(inquiry) {
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

/// What file names are relative to: the top of the repository, or the directory where the agent works outside of it.
fn root<'a>(exchange: &WatchedExchange<'a>) -> Option<&'a Path> {
    let top = exchange.record.project.path.as_deref().map(Path::new);
    match (top, exchange.working_directory) {
        (Some(top), Some(directory)) if !directory.starts_with(top) => Some(directory),
        (Some(top), _) => Some(top),
        (None, directory) => directory,
    }
}

/// Of what was found while it is not known what the user asked for: what is bad whatever they asked, and what they ruled out
/// since, once it is known what a person allowed.
pub(crate) fn certain(assessment: Assessment, is_loaded: bool) -> Assessment {
    let mut findings = assessment.findings;
    findings.retain(|finding| match finding.rule {
        Rule::Constraint => is_loaded,
        Rule::Repetition => true,
        Rule::Danger => finding.at_most <= GRAVE,
        Rule::Scope | Rule::Tangent | Rule::ScopeCreep | Rule::Judge => false,
    });
    match findings.first() {
        Some(gravest) => Assessment {
            score: gravest.at_most.clamp(1, 10),
            findings,
        },
        None => Assessment::on_goal(),
    }
}

/// What is recorded with the steps. Of a subagent's actions only what was found is told: nobody judged the others.
pub(crate) fn verdicts(response: &[Assessed], progress: &Progress) -> Vec<Option<StepVerdict>> {
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
