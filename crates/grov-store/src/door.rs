//! The door: every free text passes here on its way to the database or the spool.
//!
//! Identifiers, hashes, the project's key and names that the client's protocol defines (tool, model, stop reason)
//! are no free text. Paths are: they rarely hold a secret, and a lookup by path passes the same door, so that it
//! finds what was stored.

use grov_domain::bounded;
use grov_domain::{
    Action, Consent, Correction, DriftState, Effect, ExchangeRecord, Finding, RecoveryStep, SessionState,
    Step, StepVerdict, Task,
};
use grov_redact::Redactor;
use std::borrow::Cow;

mod hooks;
mod json;

pub(crate) use hooks::{guarded, hook_check, hook_ended, hook_session, hook_step};

/// The longest text that is stored, in bytes; of a longer one both ends are kept.
pub(crate) const LONGEST_TEXT: usize = 256 * 1024;

/// The text as it may be stored: without secrets, and of bounded length.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    match Redactor::shared().redact(text) {
        Cow::Borrowed(text) => bounded(text, LONGEST_TEXT),
        Cow::Owned(text) if text.len() <= LONGEST_TEXT => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(bounded(&text, LONGEST_TEXT).into_owned()),
    }
}

/// The same for each text of JSON.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    json::texts(text)
}

/// The same for a text that may be missing.
pub(crate) fn optional(text: &Option<String>) -> Option<Cow<'_, str>> {
    text.as_deref().map(self::text)
}

/// The same for each text of a list.
pub(crate) fn list(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| self::text(text)).collect()
}

/// The same for the paths of effects.
pub(crate) fn effects(effects: &[Effect]) -> Cow<'_, [Effect]> {
    let clean = effects.iter().all(|effect| {
        effect
            .paths
            .iter()
            .all(|path| matches!(text(path), Cow::Borrowed(_)))
    });
    if clean {
        return Cow::Borrowed(effects);
    }
    Cow::Owned(
        effects
            .iter()
            .map(|effect| Effect {
                kind: effect.kind,
                paths: owned_list(&effect.paths),
            })
            .collect(),
    )
}

/// A whole session as it may be stored.
pub(crate) fn session(state: &SessionState) -> SessionState {
    let mut state = state.clone();
    let SessionState {
        session_id: _,
        client_session_id: _,
        parent_session_id: _,
        task_type: _,
        user_id,
        project_path: _,
        working_directory,
        head_at_start: _,
        original_goal,
        expected_scope,
        constraints,
        keywords,
        token_count: _,
        escalation_count: _,
        session_mode: _,
        waiting_for_recovery: _,
        last_checked_at: _,
        last_clear_at: _,
        judged_at: _,
        start_time: _,
        last_update: _,
        status: _,
    } = &mut state;
    for text in [user_id, working_directory, original_goal] {
        owned_optional(text);
    }
    for text in expected_scope.iter_mut().chain(constraints).chain(keywords) {
        owned(text);
    }
    state
}

/// A whole finished task as it may be stored.
pub(crate) fn task(task: &Task) -> Task {
    let mut task = task.clone();
    let Task {
        id: _,
        project_path: _,
        project_remote,
        user,
        client_session_id: _,
        session_id: _,
        original_query,
        goal,
        reasoning_trace,
        files_touched,
        decisions,
        constraints,
        status: _,
        trigger_reason: _,
        linked_commit: _,
        parent_session_id: _,
        parent_task_id: _,
        tags,
        file_pins,
        superseded_by: _,
        created_at: _,
    } = &mut task;
    owned(original_query);
    for text in [project_remote, user, goal] {
        owned_optional(text);
    }
    for text in reasoning_trace
        .iter_mut()
        .chain(files_touched)
        .chain(constraints)
        .chain(tags)
    {
        owned(text);
    }
    for pin in file_pins {
        owned(&mut pin.path);
    }
    for decision in decisions {
        owned(&mut decision.choice);
        owned(&mut decision.reason);
    }
    task
}

/// A whole record as it may be written to the spool.
pub(crate) fn exchange(record: &ExchangeRecord) -> ExchangeRecord {
    let mut record = record.clone();
    owned_optional(&mut record.user);
    owned_optional(&mut record.project.remote);
    for prompt in &mut record.prompts {
        owned(&mut prompt.text);
    }
    for step in &mut record.steps {
        let Step {
            id: _,
            action,
            reasoning,
            keywords,
            is_key_decision: _,
            timestamp: _,
            verdict,
        } = step;
        let Action {
            tool: _,
            tool_use_id: _,
            action_type: _,
            files,
            folders,
            command,
            effects,
            // It is not stored.
            line: _,
        } = action;
        owned_optional(reasoning);
        owned_optional(command);
        if let Some(verdict) = verdict {
            owned_verdict(verdict);
        }
        for text in keywords.iter_mut().chain(files).chain(folders) {
            owned(text);
        }
        for text in effects.iter_mut().flat_map(|effect| &mut effect.paths) {
            owned(text);
        }
    }
    if let Some(state) = &mut record.drift {
        owned_state(state);
    }
    record
}

/// A verdict as it may be stored.
pub(crate) fn verdict(verdict: &StepVerdict) -> StepVerdict {
    let mut verdict = verdict.clone();
    owned_verdict(&mut verdict);
    verdict
}

/// Findings as they may be stored.
pub(crate) fn findings(findings: &[Finding]) -> Vec<Finding> {
    let mut findings = findings.to_vec();
    owned_findings(&mut findings);
    findings
}

/// Where a session stands, as it may be stored.
pub(crate) fn drift_state(state: &DriftState) -> DriftState {
    let mut state = state.clone();
    owned_state(&mut state);
    state
}

/// A correction as it may be stored.
pub(crate) fn correction(correction: &Correction) -> Correction {
    let mut correction = correction.clone();
    owned_correction(&mut correction);
    correction
}

fn owned_verdict(verdict: &mut StepVerdict) {
    let StepVerdict {
        score: _,
        by: _,
        findings,
        level: _,
        correction,
        recovery_plan,
    } = verdict;
    owned_optional(correction);
    owned_findings(findings);
    owned_plan(recovery_plan);
}

fn owned_findings(findings: &mut [Finding]) {
    for finding in findings {
        owned_optional(&mut finding.file);
        owned(&mut finding.reason);
    }
}

fn owned_state(state: &mut DriftState) {
    let DriftState {
        client_session_id: _,
        mode: _,
        escalation: _,
        failed_recoveries: _,
        correction,
        is_fact: _,
        said: _,
        prompts: _,
        judged_at_prompt: _,
        consent,
        updated_at: _,
    } = state;
    let Consent {
        files,
        facts: _,
        words,
    } = consent;
    for text in files.iter_mut().chain(words) {
        owned(text);
    }
    if let Some(correction) = correction {
        owned_correction(correction);
    }
}

fn owned_correction(correction: &mut Correction) {
    let Correction {
        id: _,
        client_session_id: _,
        session_id: _,
        step_id: _,
        tool_use_id: _,
        level: _,
        score: _,
        reason,
        text,
        recovery_plan,
        made_at: _,
        delivered_at: _,
        outcome: _,
    } = correction;
    owned(reason);
    owned(text);
    owned_plan(recovery_plan);
}

fn owned_plan(plan: &mut [RecoveryStep]) {
    for step in plan {
        owned_optional(&mut step.file);
        owned(&mut step.action);
    }
}

fn owned(text: &mut String) {
    if let Cow::Owned(redacted) = self::text(text) {
        *text = redacted;
    }
}

fn owned_optional(text: &mut Option<String>) {
    if let Some(text) = text {
        owned(text);
    }
}

fn owned_list(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| self::text(text).into_owned()).collect()
}
