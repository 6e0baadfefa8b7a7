//! Asks the judge in the background, so that no request waits for it. The engine builds the question and applies the
//! verdict. Without a model's verdict nothing changes.

use crate::monitor::Shared;
use crate::session::{Session, Slot};
use grov_domain::{
    ActionSketch, ClientSessionId, Correction, DriftVerdict, SessionId, StepId, StepRow, StepVerdict,
};
use grov_redact::{Redacted, Redactor};
use grov_session::{JudgeRequest, RequestKind};
use std::sync::Arc;
use std::time::Duration;

/// Earlier steps in a question.
const MAX_EARLIER_STEPS: u32 = 10;
/// Delays before verdicts are written. A step is recorded shortly after it was judged, possibly after the verdict.
const RECORD_DELAYS: [Duration; 3] = [
    Duration::from_millis(300),
    Duration::from_millis(1200),
    Duration::from_secs(3),
];

/// A question to the judge.
pub(crate) struct JudgeJob {
    slot: Arc<Slot>,
    session: ClientSessionId,
    task: SessionId,
    request: JudgeRequest,
}

impl JudgeJob {
    pub(crate) fn new(slot: &Arc<Slot>, session: &Session, task: SessionId, request: JudgeRequest) -> Self {
        Self {
            slot: Arc::clone(slot),
            session: session.id.clone(),
            task,
            request,
        }
    }

    pub(crate) async fn run(self, shared: &Shared) {
        match self.request.kind() {
            RequestKind::Verdict { .. } => {
                // Also runs if the judge panics. The next question is dropped if a newer prompt arrived.
                let ended = scopeguard::guard(&self.slot, |slot| {
                    let mut session = slot.session();
                    let next = session.next_request.take();
                    let next =
                        next.filter(|(_, request)| request.is_same_prompt(session.engine.drift().position()));
                    let next = next.map(|(task, request)| JudgeJob::new(slot, &session, task, *request));
                    session.is_judging = next.is_some_and(|next| shared.request_judgement(next));
                });
                let answered = self.ask_verdict(shared).await;
                drop(ended);
                if let Some((verdict, made)) = answered {
                    let verdicts = self.request.verdicts(&verdict, made.as_ref());
                    let expected = self.request.changeable_steps();
                    shared.record_later(&self.session, &verdicts, expected).await;
                }
            }
            RequestKind::ForcedRecovery { .. } => self.ask_forced_recovery(shared).await,
        }
    }

    /// Asks for a verdict. Returns it with the correction that it caused, and the index of the corrected action.
    async fn ask_verdict(
        &self,
        shared: &Shared,
    ) -> Option<(DriftVerdict, Option<(Option<usize>, Correction)>)> {
        let question = self.request.drift_question(&self.earlier_steps(shared).await);
        let question = Redactor::shared().clean(question);
        let verdict = shared.judge.check_drift(Some(&self.task), &question).await?;
        shared.counters.judged.increment();
        let mut session = self.slot.session();
        // The goal changed meanwhile: the verdict is recorded and has no other effect.
        if session.task != self.task {
            return Some((verdict, None));
        }
        let context = shared.context(&session);
        let transition = session.engine.apply_verdict(&self.request, &verdict, &context);
        shared.record_transition(&transition);
        if transition.state_changed {
            shared.save_state(&session);
        }
        Some((verdict, transition.new_correction))
    }

    async fn ask_forced_recovery(&self, shared: &Shared) {
        let Some(question) = self.request.forced_recovery_question() else {
            return;
        };
        let question = Redactor::shared().clean(question);
        let recovery = shared
            .judge
            .generate_forced_recovery(Some(&self.task), &question)
            .await;
        let Some(recovery) = recovery else {
            return;
        };
        let mut session = self.slot.session();
        let now = shared.clock.now();
        if session
            .engine
            .apply_forced_recovery(&self.request, &recovery, now)
        {
            shared.save_state(&session);
        }
    }

    /// Returns earlier steps that are related to the question, oldest first.
    async fn earlier_steps(&self, shared: &Shared) -> Vec<ActionSketch> {
        let related = self.request.related(&self.session, MAX_EARLIER_STEPS);
        match shared.store.related_steps(&related).await {
            Ok(mut steps) => {
                steps.retain(|step| !self.request.is_about(&step.id));
                steps.sort_by(|one, other| (one.timestamp, &one.id).cmp(&(other.timestamp, &other.id)));
                steps.iter().map(sketch).collect()
            }
            Err(error) => {
                tracing::debug!(%error, "earlier steps could not be read; the judge is asked without them");
                Vec::new()
            }
        }
    }
}

impl Shared {
    /// Adds verdicts to steps that were recorded without them, or that are recorded shortly after. Retries until
    /// `expected` steps are changed.
    pub(crate) async fn record_later(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, StepVerdict)],
        expected: usize,
    ) {
        if verdicts.is_empty() {
            return;
        }
        let verdicts: Vec<(StepId, Redacted<StepVerdict>)> = verdicts
            .iter()
            .map(|(step, verdict)| (step.clone(), Redacted::of(verdict)))
            .collect();
        for pause in RECORD_DELAYS {
            tokio::time::sleep(pause).await;
            match self.store.judge_steps(session, &verdicts).await {
                Ok(changed) if changed >= expected => return,
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "cannot write verdicts yet; retrying"),
            }
        }
        tracing::debug!(%session, "some steps of a verdict were not found");
    }
}

/// Returns a recorded step in the form that the judge is shown.
pub(crate) fn sketch(step: &StepRow) -> ActionSketch {
    ActionSketch {
        files: step.files.clone(),
        command: step.command.clone(),
        effects: step.effects.iter().map(|effect| effect.kind).collect(),
        ..ActionSketch::empty(step.action_type)
    }
}
