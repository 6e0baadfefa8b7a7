//! What hooks hand over.

use super::{json, owned, owned_findings, owned_optional, owned_plan};
use grov_domain::{
    ActionSketch, GoalContract, Guarded, HookCheck, HookEnded, HookSession, HookStep, WaitingPrompt,
};
use std::borrow::Cow;

/// A session of the hook path as it may be stored.
pub(crate) fn hook_session(session: &HookSession) -> HookSession {
    let mut session = session.clone();
    let HookSession {
        client_session_id: _,
        project_path: _,
        working_directory,
        transcript_path,
        read_to: _,
        contract,
        course,
        waiting,
        is_unchecked: _,
        drift_score: _,
        escalation: _,
        prompts: _,
        actions: _,
        memories_told: _,
        started_at: _,
        updated_at: _,
        ended_at: _,
        revision: _,
    } = &mut session;
    let GoalContract {
        goal,
        instructions,
        scope,
        allowed,
        forbidden,
        constraints,
        keywords,
    } = contract;
    owned(working_directory);
    owned_optional(transcript_path);
    owned(goal);
    for list in [instructions, scope, allowed, forbidden, constraints, keywords] {
        for text in list {
            owned(text);
        }
    }
    for WaitingPrompt {
        text,
        known_by: _,
        at: _,
    } in waiting
    {
        owned(text);
    }
    if let Some(json) = course
        && let Cow::Owned(redacted) = json::texts(json)
    {
        *json = redacted;
    }
    session
}

/// An action of the hook path as it may be stored.
pub(crate) fn hook_step(step: &HookStep) -> HookStep {
    let mut step = step.clone();
    let HookStep {
        id: _,
        tool_use_id: _,
        agent_id: _,
        tool: _,
        action,
        prompt: _,
        score: _,
        findings,
        timestamp: _,
    } = &mut step;
    let ActionSketch {
        action_type: _,
        files,
        command,
        effects: _,
        reasoning,
        failed: _,
        output,
        content,
        // It is not stored.
        line: _,
    } = action;
    for text in files {
        owned(text);
    }
    for text in [command, reasoning, output, content] {
        owned_optional(text);
    }
    owned_findings(findings);
    step
}

/// How an action ended, as it may be stored.
pub(crate) fn hook_ended(ended: &HookEnded) -> HookEnded {
    let mut ended = ended.clone();
    let HookEnded {
        id: _,
        failed: _,
        output,
    } = &mut ended;
    owned_optional(output);
    ended
}

/// A check of the hook path as it may be stored.
pub(crate) fn hook_check(check: &HookCheck) -> HookCheck {
    let mut check = check.clone();
    let HookCheck {
        id: _,
        actions: _,
        score: _,
        level: _,
        reason,
        files,
        recovery_plan,
        correction,
        at: _,
    } = &mut check;
    for text in [reason, correction] {
        owned_optional(text);
    }
    for text in files {
        owned(text);
    }
    owned_plan(recovery_plan);
    check
}

/// What a guard said, as it may be stored.
pub(crate) fn guarded(guarded: &Guarded) -> Guarded {
    let mut guarded = guarded.clone();
    let Guarded {
        client_session_id: _,
        tool_use_id: _,
        verdict: _,
        subject,
        reason,
        ran: _,
        at: _,
    } = &mut guarded;
    owned(subject);
    owned(reason);
    guarded
}
