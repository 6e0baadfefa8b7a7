//! Sample records.

use grov_domain::{
    Action, ActionSketch, ActionType, AgentId, CallOutcome, ClientSessionId, Consent, Correction,
    CorrectionId, CorrectionLevel, Decision, DriftEvent, DriftEventId, DriftFilter, DriftState, Effect,
    EffectKind, ExchangeId, ExchangeKind, ExchangeRecord, FilePin, FileReasoning, Finding, GoalContract,
    GoalEdit, GoalEditId, GoalEditKind, GuardRecord, GuardVerdict, HistoryKey, HookCheck, HookProgress,
    HookSession, HookStep, JudgedBy, LedgerEntry, Lineage, LineageTip, LlmCall, LlmCallId, MicroUsd,
    NewLineage, Outcome, PendingPrompt, Project, Prompt, Purpose, RecoveryStep, Redacted, Rule, SessionId,
    SessionMode, SessionState, SessionStatus, Step, StepId, StepVerdict, Store, Task, TaskId, TaskType,
    TokenUsage, TriggerReason,
};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

pub(super) const PROJECT: &str = "/home/dev/projects/relay";

/// A time, in seconds after an arbitrary start.
pub(super) fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::seconds(1_760_000_000 + seconds)
}

pub(super) fn client(name: &str) -> ClientSessionId {
    ClientSessionId::new(name)
}

pub(super) fn session(name: &str) -> SessionId {
    SessionId::new(name)
}

/// A main exchange of the first task of a client session, a second long, with two steps and no prompt. Its id follows
/// from the arguments; `seconds` places it in time.
pub fn exchange(client_session: &str, seconds: i64) -> ExchangeRecord {
    let client = client(client_session);
    let id = ExchangeId::new(format!("{client_session}-exchange-{seconds:06}"));
    ExchangeRecord {
        session_id: client.first_task(),
        client_session_id: client,
        agent_id: None,
        kind: ExchangeKind::Main,
        project: Project {
            path: Some(PROJECT.to_owned()),
            remote: Some("git.example.com/dev/relay".to_owned()),
        },
        user: Some("Dev <dev@example.com>".to_owned()),
        model: Some("claude-sonnet-4-5".to_owned()),
        started_at: at(seconds - 1),
        ended_at: at(seconds),
        prompts: Vec::new(),
        steps: vec![
            edit(&id, 0, seconds, "/home/dev/projects/relay/src/limit.rs"),
            bash(&id, 1, seconds),
        ],
        failures: Vec::new(),
        usage: TokenUsage {
            input: 3,
            cache_read: 1000,
            cache_creation: 60,
            cache_creation_5m: 20,
            cache_creation_1h: 40,
            output: 500,
        },
        stop_reason: Some("tool_use".to_owned()),
        outcome: Outcome::Complete,
        id,
        drift: None,
        edits: None,
    }
}

pub(super) fn prompt(text: &str) -> Prompt {
    Prompt {
        text: text.to_owned(),
        queued: false,
    }
}

pub(super) fn edit(exchange: &ExchangeId, index: usize, seconds: i64, file: &str) -> Step {
    Step {
        id: StepId::of(exchange, index),
        action: Action {
            tool: "Edit".to_owned(),
            tool_use_id: Some(format!("toolu_{exchange}_{index}")),
            action_type: ActionType::Edit,
            files: vec![file.to_owned()],
            folders: Vec::new(),
            command: None,
            effects: Vec::new(),
            line: None,
            change: None,
        },
        reasoning: Some("The limit has to be checked on every frame.".to_owned()),
        keywords: vec!["limit".to_owned(), "frame".to_owned()],
        is_key_decision: true,
        timestamp: at(seconds),
        verdict: None,
    }
}

pub(super) fn bash(exchange: &ExchangeId, index: usize, seconds: i64) -> Step {
    Step {
        id: StepId::of(exchange, index),
        action: Action {
            tool: "Bash".to_owned(),
            tool_use_id: None,
            action_type: ActionType::Bash,
            files: Vec::new(),
            folders: vec!["/home/dev/projects/relay/src".to_owned()],
            command: Some("rm -r src/old && cargo test".to_owned()),
            effects: vec![
                Effect {
                    kind: EffectKind::Delete,
                    paths: vec!["/home/dev/projects/relay/src/old".to_owned()],
                },
                Effect {
                    kind: EffectKind::Test,
                    paths: Vec::new(),
                },
            ],
            line: None,
            change: None,
        },
        reasoning: None,
        keywords: Vec::new(),
        is_key_decision: false,
        timestamp: at(seconds),
        verdict: None,
    }
}

pub(super) fn state(client_session: &str, task: &str, seconds: i64) -> SessionState {
    SessionState {
        session_id: session(task),
        client_session_id: client(client_session),
        parent_session_id: Some(session("parent")),
        task_type: TaskType::Subtask,
        user_id: Some("Dev <dev@example.com>".to_owned()),
        project_path: PROJECT.to_owned(),
        working_directory: Some("/home/dev/projects/relay-worktree/crates".to_owned()),
        head_at_start: Some("9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e1d0c".to_owned()),
        original_goal: Some("Check the limit on every frame".to_owned()),
        expected_scope: vec!["src/limit.rs".to_owned(), "Relay".to_owned()],
        constraints: vec!["do not touch the tests".to_owned()],
        keywords: vec!["limit".to_owned()],
        token_count: 17,
        escalation_count: 2,
        session_mode: SessionMode::Drifted,
        waiting_for_recovery: true,
        last_checked_at: 3,
        last_clear_at: Some(at(seconds - 5)),
        judged_at: Some(at(seconds - 3)),
        start_time: at(seconds - 10),
        last_update: at(seconds),
        status: SessionStatus::Active,
    }
}

/// A complete task of project `/p` with empty optional fields.
pub fn empty_task(id: &str) -> Task {
    Task::new(id, "/p", "a query")
}

pub(super) fn task(id: &str, seconds: i64) -> Task {
    Task {
        project_remote: Some("git.example.com/dev/relay".to_owned()),
        user: Some("Dev <dev@example.com>".to_owned()),
        goal: Some("Limit per frame".to_owned()),
        reasoning_trace: vec!["read the relay".to_owned(), "moved the check".to_owned()],
        files_touched: vec!["/home/dev/projects/relay/src/limit.rs".to_owned()],
        decisions: vec![Decision {
            choice: "count in the relay".to_owned(),
            reason: "it sees every frame".to_owned(),
        }],
        constraints: vec!["no buffering".to_owned()],
        trigger_reason: Some(TriggerReason::Threshold),
        linked_commit: Some("1f0c4a8f3b2d9e6a7c5b4d3e2f1a0b9c8d7e6f5a".to_owned()),
        parent_session_id: Some(session("parent")),
        parent_task_id: Some(TaskId::new("parent-task")),
        tags: vec!["relay".to_owned()],
        file_pins: vec![FilePin {
            path: "src/limit.rs".to_owned(),
            hash: Some("99aa06d3014798d86001c324468d497f".to_owned()),
        }],
        screened: Some(-7),
        created_at: at(seconds),
        ..Task::new(id, PROJECT, "Please check the limit on every frame.")
    }
}

pub(super) fn call(id: &str, seconds: i64) -> LlmCall {
    LlmCall {
        id: LlmCallId::new(id),
        purpose: Purpose::AnalyzeTaskContext,
        provider: "anthropic".to_owned(),
        model: "claude-haiku-4-5-20251001".to_owned(),
        session_id: Some(session("a")),
        at: at(seconds),
        latency: std::time::Duration::from_millis(840),
        usage: TokenUsage {
            input: 900,
            cache_read: 5,
            cache_creation: 7,
            cache_creation_5m: 3,
            cache_creation_1h: 4,
            output: 60,
        },
        cost: MicroUsd(1200),
        outcome: CallOutcome::Answered,
    }
}

/// The main conversation of a session.
pub(super) fn lineage(session: &str) -> Lineage {
    Lineage {
        session: client(session),
        agent: None,
    }
}

/// The key of an injection point. The upper half is not zero.
pub(super) fn place(number: u64) -> HistoryKey {
    HistoryKey((u128::from(number) << 100) | 0xfeed)
}

pub(super) fn places(numbers: impl IntoIterator<Item = u64>) -> Vec<HistoryKey> {
    numbers.into_iter().map(place).collect()
}

/// A new lineage with these keys in its history.
pub(super) fn arriving(session: &str, history: impl IntoIterator<Item = u64>, seconds: i64) -> NewLineage {
    NewLineage {
        lineage: lineage(session),
        project_path: PROJECT.to_owned(),
        model: "claude-sonnet-4-5".to_owned(),
        history: places(history),
        at: at(seconds),
    }
}

/// A lineage with this tip.
pub(super) fn standing_at(session: &str, tip: u64, seconds: i64) -> LineageTip {
    LineageTip {
        lineage: lineage(session),
        project_path: PROJECT.to_owned(),
        model: "claude-sonnet-4-5".to_owned(),
        tip: Some(place(tip)),
        nothing_at: Vec::new(),
        at: at(seconds),
    }
}

/// Verdicts in the form that a store accepts.
pub(super) fn proven(verdicts: &[(StepId, StepVerdict)]) -> Vec<(StepId, Redacted<StepVerdict>)> {
    let proven = verdicts
        .iter()
        .map(|(id, verdict)| (id.clone(), Redacted::of(verdict)));
    proven.collect()
}

/// A decision to add a text that quotes memories.
pub(super) fn added(anchor: u64, text: &str, memories: &[&str], seconds: i64) -> LedgerEntry {
    LedgerEntry {
        anchor: place(anchor),
        block: Some(format!(r#"{{"type":"text","text":"{text}"}}"#)),
        memories: memories.iter().map(|id| TaskId::new(*id)).collect(),
        decided_at: at(seconds),
    }
}

/// A decision to add nothing.
pub(super) fn nothing(anchor: u64, seconds: i64) -> LedgerEntry {
    LedgerEntry {
        anchor: place(anchor),
        block: None,
        memories: Vec::new(),
        decided_at: at(seconds),
    }
}

/// The drift log, oldest first: of one task or of all.
pub(super) async fn drift_log(store: &Arc<dyn Store>, task: Option<&SessionId>) -> Vec<DriftEvent> {
    let filter = DriftFilter {
        session_id: task.cloned(),
        ..DriftFilter::default()
    };
    store.drift_events(&filter).await.unwrap()
}

pub(super) fn drift(id: &str, task: &str, seconds: i64) -> DriftEvent {
    DriftEvent {
        id: DriftEventId::new(id),
        session_id: session(task),
        timestamp: at(seconds),
        action_type: Some(ActionType::Bash),
        files: vec!["/etc/hosts".to_owned()],
        drift_score: Some(3),
        level: Some("intervene".to_owned()),
        reason: Some("outside the goal".to_owned()),
        correction_given: Some("Go back to the limit.".to_owned()),
        recovery_plan: vec!["undo the edit".to_owned(), "run the tests".to_owned()],
        client_session_id: None,
        step_id: None,
        tool_use_id: None,
        command: None,
        findings: Vec::new(),
        judged_by: None,
        outcome: None,
    }
}

/// A verdict of the rules with one finding. Below 8 it causes a correction.
pub(super) fn verdict(score: u8) -> StepVerdict {
    let corrects = score < 8;
    StepVerdict {
        score,
        by: JudgedBy::Rules,
        findings: vec![Finding::new(
            Rule::Scope,
            score,
            Some("/home/dev/projects/relay/theme.css"),
            "theme.css has nothing to do with the limit",
        )],
        level: corrects.then_some(CorrectionLevel::Intervene),
        correction: corrects.then(|| "Go back to the limit.".to_owned()),
        recovery_plan: if corrects { plan() } else { Vec::new() },
    }
}

fn plan() -> Vec<RecoveryStep> {
    vec![
        RecoveryStep {
            file: Some("src/limit.rs".to_owned()),
            action: "check the frame".to_owned(),
        },
        RecoveryStep {
            file: None,
            action: "run the tests".to_owned(),
        },
    ]
}

/// A correction that was not sent yet.
pub(super) fn correction(id: &str, client_session: &str, seconds: i64) -> Correction {
    Correction {
        id: CorrectionId::new(id),
        client_session_id: client(client_session),
        session_id: session(client_session),
        step_id: Some(StepId::new("step")),
        tool_use_id: Some("toolu_step".to_owned()),
        level: CorrectionLevel::Correct,
        score: 5,
        reason: "theme.css has nothing to do with the limit".to_owned(),
        text: "Go back to the limit.".to_owned(),
        recovery_plan: plan(),
        made_at: at(seconds),
        delivered_at: None,
        outcome: None,
    }
}

/// A session that drifted and received a correction.
pub(super) fn drift_state(client_session: &str, seconds: i64) -> DriftState {
    DriftState {
        mode: SessionMode::Drifted,
        escalation: 2,
        failed_recoveries: 1,
        correction: Some(Correction {
            delivered_at: Some(at(seconds)),
            ..correction("c", client_session, seconds - 1)
        }),
        is_fact: true,
        said: vec![u64::MAX, 0],
        prompts: 7,
        judged_at_prompt: 6,
        consent: Consent {
            files: vec!["web/theme.css".to_owned()],
            facts: vec![u64::MAX],
            orders: vec!["publish it".to_owned()],
        },
        ..DriftState::new(client(client_session), at(seconds))
    }
}

pub(super) fn goal_edit(id: &str, client_session: &str, text: &str, seconds: i64) -> GoalEdit {
    GoalEdit {
        id: GoalEditId::new(id),
        client_session_id: client(client_session),
        kind: GoalEditKind::Forbid,
        text: text.to_owned(),
        at: at(seconds),
        since_prompt: None,
    }
}

/// A hook session at this revision.
pub(super) fn hook_session(client_session: &str, seconds: i64, revision: u64) -> HookSession {
    HookSession {
        transcript_path: Some("/home/dev/.claude/projects/relay/a.jsonl".to_owned()),
        read_to: u64::MAX >> 1,
        contract: GoalContract {
            goal: "Check the limit on every frame".to_owned(),
            instructions: vec!["Please check the limit.".to_owned(), "And test it.".to_owned()],
            scope: vec!["src/limit.rs".to_owned()],
            allowed: vec!["tests/**".to_owned()],
            forbidden: vec!["docs/**".to_owned()],
            constraints: vec!["no buffering".to_owned()],
            keywords: vec!["limit".to_owned()],
            reading: None,
            is_goal_newest: false,
        },
        prompt_readings: Some(
            r#"{"version":"1","prompts":[[18446744073709551615,{"text":"Go back."}]]}"#.to_owned(),
        ),
        engine_state: Some(r#"{ "said" : [18446744073709551615, "Go back."], "f": 1.50 }"#.to_owned()),
        waiting: vec![PendingPrompt {
            text: "And \"test\" it.".to_owned(),
            hash: u64::MAX,
            at: u64::MAX >> 1,
        }],
        is_unchecked: true,
        turn_ended_at: Some(at(seconds + 1)),
        drift_score: Some(7),
        escalation: 3,
        prompts: 4,
        actions: 1 << 40,
        memories_injected: 2,
        ended_at: Some(at(seconds)),
        revision,
        ..HookSession::new(
            client(client_session),
            PROJECT.to_owned(),
            "/home/dev/projects/relay-worktree".to_owned(),
            at(seconds),
        )
    }
}

pub(super) fn hook_step(id: &str, seconds: i64) -> HookStep {
    HookStep {
        id: StepId::new(id),
        tool_use_id: Some(format!("toolu_{id}")),
        agent_id: Some(AgentId::new("agent")),
        tool: "Bash".to_owned(),
        action: ActionSketch {
            action_type: ActionType::Bash,
            files: vec!["src/limit.rs".to_owned(), "src/old".to_owned()],
            command: Some("rm -r src/old && cargo test".to_owned()),
            effects: vec![EffectKind::Delete, EffectKind::Test],
            reasoning: Some("The old one is in the way.".to_owned()),
            failed: Some(false),
            output: Some("test result: ok".to_owned()),
            content: Some("fn check() {}".to_owned()),
            line: None,
            change: None,
        },
        prompt: 3,
        score: Some(4),
        findings: verdict(4).findings,
        timestamp: at(seconds),
    }
}

pub(super) fn hook_check(id: &str, seconds: i64) -> HookCheck {
    HookCheck {
        id: id.to_owned(),
        actions: 2,
        score: 4,
        level: Some(CorrectionLevel::Intervene),
        reason: Some("theme.css has nothing to do with the limit".to_owned()),
        files: vec!["theme.css".to_owned()],
        recovery_plan: plan(),
        correction: Some("Go back to the limit.".to_owned()),
        at: at(seconds),
    }
}

/// The progress stored by the first hook of a session: two actions and a check.
pub(super) fn progress(client_session: &str, seconds: i64) -> HookProgress {
    let mut bare = hook_step(&format!("{client_session}-{seconds}-b"), seconds);
    bare.agent_id = None;
    bare.tool_use_id = None;
    bare.action = ActionSketch {
        action_type: ActionType::Read,
        files: Vec::new(),
        command: None,
        effects: Vec::new(),
        reasoning: None,
        failed: None,
        output: None,
        content: None,
        line: None,
        change: None,
    };
    bare.score = Some(10);
    bare.findings.clear();
    HookProgress {
        session: HookSession {
            ended_at: None,
            ..hook_session(client_session, seconds, 0)
        },
        steps: vec![hook_step(&format!("{client_session}-{seconds}-a"), seconds), bare],
        ended: Vec::new(),
        allowed: Vec::new(),
        check: Some(hook_check(&format!("check-{seconds}"), seconds)),
    }
}

pub(super) fn guarded(client_session: &str, tool_use_id: &str, seconds: i64) -> GuardRecord {
    GuardRecord {
        client_session_id: client(client_session),
        tool_use_id: tool_use_id.to_owned(),
        verdict: GuardVerdict::Ask,
        subject: "docs/guide.md".to_owned(),
        reason: "docs/** is off limits".to_owned(),
        ran: false,
        at: at(seconds),
    }
}

pub(super) fn file_reasoning(id: &str, file: &str, seconds: i64) -> FileReasoning {
    FileReasoning {
        id: id.to_owned(),
        task_id: Some(TaskId::new("task")),
        project_path: PROJECT.to_owned(),
        file_path: file.to_owned(),
        anchor: Some("fn check".to_owned()),
        line_start: Some(10),
        line_end: Some(u32::MAX),
        code_hash: Some("c0ffee".to_owned()),
        change_type: Some("edit".to_owned()),
        reasoning: "The check moved here.".to_owned(),
        created_at: at(seconds),
    }
}
