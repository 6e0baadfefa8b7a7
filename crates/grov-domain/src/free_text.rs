//! Lists the free-text fields of all records, which are redacted before they are stored or sent.
//!
//! Not free text: identifiers, hashes, project keys, and names defined by the client's protocol (tool, model, stop
//! reason). Paths are free text, because they can contain a secret; lookups redact the path, too, and so still match.
//! Records are destructured without `..`, so that a new field does not compile until it is listed here.

use crate::{
    Action, ActionSketch, Compaction, Consent, ContextReading, Correction, Decision, DriftEvent,
    DriftQuestion, DriftState, Effect, ExchangeRecord, FilePin, FileReasoning, Finding,
    ForcedRecoveryQuestion, GoalContract, GoalEdit, GuardRecord, Harm, HookCheck, HookProgress, HookSession,
    HookStep, HookStepResult, IntentQuestion, LimitsQuestion, LlmCall, MemoryChoiceQuestion, MemoryEdits,
    MemoryLists, ModelScreening, PendingPrompt, PreparedSummary, Project, Prompt, PromptReading, ReadLimit,
    ReadLimits, ReadRequest, ReasoningQuestion, RecoveryStep, RoutedUsage, ScreeningQuestion, SessionPoint,
    SessionState, Statement, Step, StepVerdict, SummaryQuestion, Task, TaskContextQuestion, TaskSketch,
    TaskTransition,
};
use grov_redact::{FreeText, each_text_of_json};

/// Implements [`FreeText`] for a record.
///
/// `texts` lists the free-text fields, `json` optional fields with JSON text, `raw` optional fields that were parsed from
/// text before redaction and are set to `None`, and `others` all remaining fields.
macro_rules! free_text {
    ($($type:ident {
        texts: [$($text:ident),* $(,)?],
        $(json: [$($json:ident),* $(,)?],)?
        $(raw: [$($raw:ident),* $(,)?],)?
        others: [$($other:ident),* $(,)?] $(,)?
    })+) => {$(
        impl FreeText for $type {
            fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
                let Self { $($text,)* $($($json,)*)? $($($raw,)*)? $($other: _,)* } = self;
                $($text.each_text(visit);)*
                $($(each_text_of_optional_json($json, visit);)*)?
                $($(*$raw = None;)*)?
            }
        }
    )+};
}

// Exchanges.
free_text! {
    ExchangeRecord {
        texts: [project, user, prompts, steps, drift],
        others: [
            id, session_id, client_session_id, agent_id, kind, model, started_at, ended_at, failures, usage,
            stop_reason, outcome, edits,
        ]
    }
    Project { texts: [remote], others: [path] }
    Prompt { texts: [text], others: [queued] }
    Step {
        texts: [action, reasoning, keywords, verdict],
        others: [id, is_key_decision, timestamp]
    }
    Action {
        texts: [files, folders, command, effects],
        raw: [line, change],
        others: [tool, tool_use_id, action_type]
    }
    Effect { texts: [paths], others: [kind] }
}

// Tasks and team memory.
free_text! {
    SessionState {
        texts: [user_id, working_directory, original_goal, expected_scope, constraints, keywords],
        others: [
            session_id, client_session_id, parent_session_id, task_type, project_path, head_at_start, token_count,
            escalation_count, session_mode, waiting_for_recovery, last_checked_at, last_clear_at, judged_at,
            start_time, last_update, status,
        ]
    }
    Task {
        texts: [
            project_remote, user, original_query, goal, reasoning_trace, files_touched, decisions, constraints, tags,
            file_pins, edits, model_screening,
        ],
        others: [
            id, project_path, client_session_id, session_id, status, trigger_reason, linked_commit,
            parent_session_id, parent_task_id, item, superseded_by, screened, created_at,
        ]
    }
    MemoryEdits {
        texts: [goal, captured_goal, original_query, user, linked_commit, added, removed],
        others: [status]
    }
    ModelScreening { texts: [harms], others: [text, trusted] }
    Harm { texts: [quote], others: [kind] }
    MemoryLists { texts: [decisions, constraints, reasoning_trace, files_touched, tags], others: [] }
    Decision { texts: [choice, reason], others: [] }
    FilePin { texts: [path], others: [hash] }
    TaskTransition { texts: [sessions, finished, proposals], others: [moves, judged_under] }
    FileReasoning {
        texts: [file_path, anchor, reasoning],
        others: [
            id, task_id, project_path, line_start, line_end, code_hash, change_type, created_at,
        ]
    }
}

// Drift.
free_text! {
    StepVerdict { texts: [findings, correction, recovery_plan], others: [score, by, level] }
    Finding { texts: [file, reason], raw: [broken, invocation, machine], others: [rule, at_most, is_interpreted] }
    RecoveryStep { texts: [file, action], others: [] }
    DriftState {
        texts: [correction, consent],
        others: [
            client_session_id, mode, escalation, failed_recoveries, is_fact, said, prompts, judged_at_prompt,
            updated_at,
        ]
    }
    Consent { texts: [files, orders], others: [facts] }
    Correction {
        texts: [reason, text, recovery_plan],
        others: [
            id, client_session_id, session_id, step_id, tool_use_id, level, score, made_at, delivered_at, outcome,
        ]
    }
    DriftEvent {
        texts: [files, reason, correction_given, recovery_plan, command, findings],
        others: [
            id, session_id, timestamp, action_type, drift_score, level, client_session_id, step_id, tool_use_id, judged_by,
            outcome,
        ]
    }
    GoalEdit { texts: [text], others: [id, client_session_id, kind, at, since_prompt] }
    GoalContract {
        texts: [goal, instructions, scope, allowed, forbidden, constraints, keywords, reading],
        others: [is_goal_newest]
    }
    ReadLimit { texts: [words, files, only, except, commands, adds, removes], others: [] }
    ReadRequest { texts: [words, files, commands], others: [] }
    PromptReading { texts: [limits, asked], others: [] }
    ReadLimits { texts: [read_to, reading], others: [client_session_id, read_at] }
}

// Context windows.
free_text! {
    ContextReading {
        texts: [],
        json: [content],
        others: [client_session_id, model, tokens, window_tokens, window_source, measured_at]
    }
    PreparedSummary {
        texts: [],
        json: [points],
        others: [client_session_id, written_by, prompts, made_at]
    }
    Compaction {
        texts: [kept, lost, restored],
        others: [client_session_id, id, is_compared, tokens_before, restored_at, at]
    }
    SessionPoint { texts: [text], others: [kind] }
}

fn each_text_of_optional_json(json: &mut Option<String>, visit: &mut dyn FnMut(&mut String)) {
    if let Some(json) = json {
        each_text_of_json(json, visit);
    }
}

// The hook path.
free_text! {
    HookSession {
        texts: [working_directory, transcript_path, contract, waiting],
        json: [engine_state, prompt_readings],
        others: [
            client_session_id, project_path, read_to, is_unchecked, drift_score, escalation, prompts, actions,
            memories_injected, started_at, updated_at, turn_ended_at, ended_at, forgotten_at, revision,
        ]
    }
    HookProgress { texts: [session, steps, ended, check], others: [allowed] }
    PendingPrompt { texts: [text], others: [hash, at] }
    HookStep {
        texts: [action, findings],
        others: [id, tool_use_id, agent_id, tool, prompt, score, timestamp]
    }
    ActionSketch {
        texts: [files, command, reasoning, output, content],
        raw: [line, change],
        others: [action_type, effects, failed]
    }
    HookStepResult { texts: [output], others: [id, failed] }
    HookCheck {
        texts: [reason, files, recovery_plan, correction],
        others: [id, actions, score, level, at]
    }
    GuardRecord {
        texts: [subject, reason],
        others: [client_session_id, tool_use_id, verdict, ran, at]
    }
}

// Questions to a judge, and their cost.
free_text! {
    IntentQuestion { texts: [prompts, first_files], others: [] }
    LimitsQuestion { texts: [prompts], others: [] }
    MemoryChoiceQuestion { texts: [prompt, memories], others: [] }
    ScreeningQuestion { texts: [memories], others: [] }
    TaskContextQuestion {
        texts: [current, others, prompts, actions, answer],
        others: [stop_reason, unchecked_finishes, is_remembered_complete]
    }
    TaskSketch { texts: [goal], others: [id, task_type, parent, completed] }
    ReasoningQuestion { texts: [goal, prompts, constraints, actions, statements, answer], others: [] }
    SummaryQuestion { texts: [goal, constraints, prompts, actions, statements, answer], others: [] }
    Statement { texts: [text], others: [source] }
    DriftQuestion {
        texts: [goal, newest_instruction, constraints, scope, earlier, actions],
        others: []
    }
    ForcedRecoveryQuestion {
        texts: [goal, newest_instruction, constraints, actions, diagnostics],
        others: []
    }
    LlmCall {
        texts: [provider, model],
        others: [id, purpose, session_id, at, latency, usage, cost, outcome]
    }
    RoutedUsage {
        texts: [provider, label, model, asked_model],
        others: [day, requests, unpriced, tokens, cost, asked_cost]
    }
}
