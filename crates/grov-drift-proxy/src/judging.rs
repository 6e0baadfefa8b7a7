//! Asks a judge in the background, never on the path of a request. What is asked and what a verdict means is the engine's; a
//! verdict by rules (no model was there to ask) changes nothing.

use crate::monitor::Shared;
use crate::session::{Session, Slot};
use grov_domain::{
    ActionSketch, ClientSessionId, Correction, DriftVerdict, SessionId, StepId, StepRow, StepVerdict,
};
use grov_redact::{Redacted, Redactor};
use grov_session::{JudgeRequest, RequestKind};
use std::sync::Arc;
use std::time::Duration;

/// Earlier steps that a model is shown.
const MOST_EARLIER: u32 = 10;
/// Steps are recorded a moment after they were seen; a verdict that is faster waits for them.
const RECORDED_WITHIN: [Duration; 3] = [
    Duration::from_millis(300),
    Duration::from_millis(1200),
    Duration::from_secs(3),
];

/// A question to the judge, and whose it is.
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
                // Also if the judge panics. The next request is dropped if there is a newer prompt.
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

    /// A model's verdict, and the correction that it gave rise to.
    async fn ask_verdict(
        &self,
        shared: &Shared,
    ) -> Option<(DriftVerdict, Option<(Option<usize>, Correction)>)> {
        let question = self.request.drift_question(&self.earlier(shared).await);
        let question = Redactor::shared().clean(question);
        let verdict = shared.judge.check_drift(Some(&self.task), &question).await?;
        shared.counters.judged.increment();
        let mut session = self.slot.session();
        // What was judged by another goal than the one that counts now is recorded, no more.
        if session.task != self.task {
            return Some((verdict, None));
        }
        let context = shared.context(&session);
        let transition = session.engine.apply_verdict(&self.request, &verdict, &context);
        shared.follow_up(&transition);
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
        let demanded = shared
            .judge
            .generate_forced_recovery(Some(&self.task), &question)
            .await;
        let Some(demanded) = demanded else {
            return;
        };
        let mut session = self.slot.session();
        let now = shared.clock.now();
        if session
            .engine
            .apply_forced_recovery(&self.request, &demanded, now)
        {
            shared.save_state(&session);
        }
    }

    /// Steps that bear on what is judged, oldest first.
    async fn earlier(&self, shared: &Shared) -> Vec<ActionSketch> {
        let related = self.request.related(&self.session, MOST_EARLIER);
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
    /// Writes verdicts to steps that were recorded without them, or are about to be. So many of the steps are expected to
    /// be changed by it.
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
        for pause in RECORDED_WITHIN {
            tokio::time::sleep(pause).await;
            match self.store.judge_steps(session, &verdicts).await {
                Ok(changed) if changed >= expected => return,
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "a verdict could not be written yet"),
            }
        }
        tracing::debug!(%session, "a verdict found not all of its steps");
    }
}

/// What is shown of a recorded step.
pub(crate) fn sketch(step: &StepRow) -> ActionSketch {
    ActionSketch {
        files: step.files.clone(),
        command: step.command.clone(),
        effects: step.effects.iter().map(|effect| effect.kind).collect(),
        ..ActionSketch::empty(step.action_type)
    }
}
