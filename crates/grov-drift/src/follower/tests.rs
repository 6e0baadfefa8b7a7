//! Follows sessions across several hooks, each with a new follower.

mod corrections;
mod doubts;
mod guard_dialog;
mod pending_prompts;
mod properties;
mod recovery;
mod secrets;
mod stored_state;
mod subagents;
mod transcripts;

use super::pending::{can_defer, has_no_actions, record_pending};
use super::*;
use grov_domain::{
    ClientSessionId, CorrectionLevel, GoalEditId, GoalEditKind, OFF_GOAL_BELOW, OWN_TEXT_OPENING,
};
use grov_rules::{IntentCache, extract_intent};
use serde_json::{Value, json};
use std::sync::Arc;
use time::Duration;

const ROOT: &str = "/home/me/app";

const GOAL: &str = "Fix the token refresh in src/auth/token.ts. Do not touch src/billing.";

fn start() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
}

fn begun() -> HookSession {
    HookSession::new(
        ClientSessionId::new("s"),
        ROOT.to_owned(),
        ROOT.to_owned(),
        start(),
    )
}

fn resume(session: HookSession) -> TranscriptFollower {
    TranscriptFollower::resume(session, &[], Arc::new(extract_intent))
}

/// A growing transcript, and the stored session that follows it.
struct Session {
    transcript: String,
    stored: HookSession,
    calls: usize,
    now: OffsetDateTime,
    checks: Vec<HookCheck>,
    steps: Vec<HookStep>,
    ended: Vec<HookStepResult>,
    allowed: Vec<StepId>,
    guard: Vec<GuardRecord>,
}

impl Session {
    fn new() -> Self {
        Self {
            transcript: String::new(),
            stored: begun(),
            calls: 0,
            now: start(),
            checks: Vec::new(),
            steps: Vec::new(),
            ended: Vec::new(),
            allowed: Vec::new(),
            guard: Vec::new(),
        }
    }

    /// The guard asks about the next call.
    fn asks(&mut self, ran: bool) {
        self.guard.push(GuardRecord {
            client_session_id: ClientSessionId::new("s"),
            tool_use_id: format!("toolu_{}", self.calls + 1),
            verdict: GuardVerdict::Ask,
            subject: String::new(),
            reason: String::new(),
            ran,
            at: self.now,
        });
    }

    fn line(&mut self, mut line: Value) {
        self.now += Duration::seconds(1);
        let at = self
            .now
            .format(&time::format_description::well_known::Rfc3339)
            .unwrap();
        line["sessionId"] = json!("s");
        line["timestamp"] = json!(at);
        line["cwd"] = json!(ROOT);
        self.transcript += &format!("{line}\n");
    }

    fn call(&mut self, name: &str, input: Value) -> String {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let content = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        self.line(json!({"type": "assistant", "message": {"id": format!("m{id}"), "model": "m", "content": content}}));
        id
    }

    fn result(&mut self, id: &str, failed: bool) {
        let content =
            json!([{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": failed}]);
        self.line(json!({"type": "user", "message": {"content": content}}));
    }

    /// Calls an edit that has no result yet.
    fn begin_edit(&mut self, file: &str, text: &str) -> String {
        let input = json!({"file_path": format!("{ROOT}/{file}"), "old_string": "a", "new_string": text});
        self.call("Edit", input)
    }

    fn edit(&mut self, file: &str, text: &str) {
        let id = self.begin_edit(file, text);
        self.result(&id, false);
    }

    fn run(&mut self, command: &str) {
        let id = self.call("Bash", json!({"command": command}));
        self.result(&id, false);
    }

    /// Resumes the session in a new follower.
    fn hook(&mut self, then: impl FnOnce(&mut TranscriptFollower)) {
        let mut follower = resume(self.stored.clone());
        follower.apply_guard_log(&self.guard);
        let from = follower.offset(self.transcript.len() as u64);
        follower.read(&self.transcript.as_bytes()[usize::try_from(from).unwrap()..]);
        then(&mut follower);
        let progress = follower.into_progress(self.now);
        self.stored = progress.session;
        self.steps.extend(progress.steps);
        self.ended.extend(progress.ended);
        self.allowed.extend(progress.allowed);
        self.checks.extend(progress.check);
    }

    /// Ends a turn: the worker follows the transcript.
    fn stop(&mut self) {
        let now = self.now;
        self.hook(|follower| {
            follower.flush_pending();
            follower.settle(now);
        });
    }

    /// A prompt that the hook records without following the transcript.
    fn record_pending(&mut self, text: &str) {
        let length = self.transcript.len() as u64;
        record_pending(&mut self.stored, text, length, Arc::new(extract_intent));
        self.line(json!({"type": "user", "message": {"content": text}}));
    }

    fn unread(&self) -> &[u8] {
        &self.transcript.as_bytes()[usize::try_from(self.stored.read_to).unwrap()..]
    }

    /// A prompt that the hook processes, and that the transcript contains afterwards.
    fn prompt(&mut self, text: &str) -> Option<HookCheck> {
        let before = self.checks.len();
        let now = self.now;
        self.hook(|follower| {
            follower.add_prompt(text, now);
            follower.check(now);
        });
        self.line(json!({"type": "user", "message": {"content": text}}));
        self.checks.get(before).cloned()
    }
}
