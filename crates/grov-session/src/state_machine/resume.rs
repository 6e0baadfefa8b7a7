//! Merges the stored drift state of a session into the state since its process started.

use super::transition::{PromptSummary, Transition};
use super::{DriftStateMachine, push_bounded};
use crate::violation::Violation;
use grov_domain::{CorrectionLevel, DriftState, SessionMode};
use time::OffsetDateTime;

impl DriftStateMachine {
    /// Merges the stored state of the session. `prompts`, which arrived since the start of this process, are applied to it
    /// as if they arrived now. `state_changed` is set if the result differs from the stored state.
    pub fn resume(
        &mut self,
        stored: DriftState,
        prompts: &[PromptSummary],
        at: OffsetDateTime,
    ) -> Transition {
        let live = &mut self.state;
        let is_untouched = live.mode == SessionMode::Normal && live.correction.is_none();
        let mut transition = Transition {
            state_changed: !is_untouched || live.prompts > 0,
            ..Transition::default()
        };
        let prompts = if is_untouched { prompts } else { &[] };
        let responses_since = u64::try_from(prompts.len()).unwrap_or(u64::MAX);
        live.prompts = live
            .prompts
            .saturating_sub(responses_since)
            .saturating_add(stored.prompts);
        live.judged_at_prompt = live.judged_at_prompt.max(stored.judged_at_prompt);
        live.escalation = live.escalation.max(stored.escalation);
        let mut said = stored.said;
        said.append(&mut live.said);
        live.said = said;
        let responses_since = std::mem::replace(&mut live.consent, stored.consent);
        push_bounded(&mut live.consent.files, responses_since.files);
        push_bounded(&mut live.consent.facts, responses_since.facts);
        push_bounded(&mut live.consent.orders, responses_since.orders);
        live.updated_at = live.updated_at.max(stored.updated_at);
        if is_untouched {
            live.mode = stored.mode;
            live.failed_recoveries = stored.failed_recoveries;
            live.correction = stored.correction;
            live.is_fact = stored.is_fact;
            let is_hard = live.is_fact;
            if let Some(correction) = &live.correction {
                let files = correction.recovery_plan.iter().take(1);
                self.violation = Violation {
                    files: files.filter_map(|step| step.file.clone()).collect(),
                    // A doubt is never that strong.
                    is_firm: is_hard || correction.level > CorrectionLevel::Correct,
                    is_hard,
                    call: correction.tool_use_id.clone(),
                    step: correction.step_id.clone(),
                    ..Violation::default()
                };
                self.forced_demands = u8::from(correction.level == CorrectionLevel::Forced);
            }
        }
        let latest = self.state.updated_at;
        self.touch(transition.state_changed, latest);
        for one in prompts {
            let applied = self.on_prompt(*one, at);
            transition.resolved.extend(applied.resolved);
            transition.expired += applied.expired;
        }
        transition
    }
}
