//! The hook path: a transcript is written in Claude Code's format, and every hook is a separate process that reads it.

use crate::session::{Call, Response, Session};
use crate::{INTERRUPTED, ROOT, SESSION, Seen};
use grov_domain::{AgentId, ClientSessionId, GuardRecord, GuardVerdict, HookSession, HookStep};
use grov_drift::TranscriptFollower;
use grov_rules::extract_intent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

/// An offset from the start of the session; transcripts have timestamps in milliseconds.
const START: i64 = 1_800_000_000;

/// A client that writes a transcript, and the state that its hooks keep.
struct Client {
    now: OffsetDateTime,
    transcript: String,
    /// The lines of each subagent.
    agents: BTreeMap<String, String>,
    guard: Vec<GuardRecord>,
    stored: HookSession,
    steps: BTreeMap<String, HookStep>,
    messages: usize,
    newest_call: Option<String>,
    seen: Seen,
}

pub(crate) fn follow(session: &Session) -> Seen {
    let now = OffsetDateTime::from_unix_timestamp(START).unwrap();
    let mut client = Client {
        now,
        transcript: String::new(),
        agents: BTreeMap::new(),
        guard: Vec::new(),
        stored: HookSession::new(ClientSessionId::new(SESSION), ROOT.into(), ROOT.into(), now),
        steps: BTreeMap::new(),
        messages: 0,
        newest_call: None,
        seen: Seen::default(),
    };
    for (number, turn) in session.turns.iter().enumerate() {
        client.prompt(number, &turn.prompt);
        for response in &turn.responses {
            client.respond(response);
        }
        if turn.responses.last().is_some_and(|last| !last.calls.is_empty()) {
            let content = json!([{"type": "text", "text": INTERRUPTED}]);
            client.write(
                None,
                json!({"type": "user", "message": {"role": "user", "content": content}}),
            );
        }
        client.stop();
    }
    let steps = std::mem::take(&mut client.steps);
    let of = |call: &Call| {
        let step = &steps[&call.id];
        json!({"call": call.id, "score": step.score, "findings": step.findings})
    };
    client.seen.actions = session.calls().map(of).collect();
    client.seen
}

impl Client {
    /// A new process that loads the session and follows the transcript to its current end.
    fn hook(&mut self, then: impl FnOnce(&mut TranscriptFollower)) -> Option<grov_domain::HookCheck> {
        let mut follower = TranscriptFollower::resume(self.stored.clone(), &[], Arc::new(extract_intent));
        follower.apply_guard_log(&self.guard);
        let from = usize::try_from(follower.offset(self.transcript.len() as u64)).unwrap();
        follower.read(&self.transcript.as_bytes()[from..]);
        for (agent, text) in &self.agents {
            let agent = AgentId::new(agent.as_str());
            let from = usize::try_from(follower.subagent_offset(&agent, text.len() as u64)).unwrap();
            follower.read_subagent(&agent, &text.as_bytes()[from..]);
        }
        then(&mut follower);
        let progress = follower.into_progress(self.now);
        self.stored = progress.session;
        for step in progress.steps {
            self.steps.insert(step.tool_use_id.clone().unwrap(), step);
        }
        progress.check
    }

    /// UserPromptSubmit, then the prompt's line in the transcript.
    fn prompt(&mut self, number: usize, text: &str) {
        self.now += Duration::seconds(1);
        let now = self.now;
        let check = self.hook(|follower| {
            follower.add_prompt(text, now);
            follower.check(now);
        });
        if let Some(level) = check.and_then(|check| check.level) {
            let behind = &self.newest_call;
            self.seen
                .said
                .push(json!({"turn": number + 1, "behind": behind, "level": level.as_str()}));
        }
        self.write(
            None,
            json!({"type": "user", "message": {"role": "user", "content": text}}),
        );
    }

    /// One line for each part of a response, then one for each result.
    fn respond(&mut self, response: &Response) {
        self.messages += 1;
        let message = format!("msg_{}", self.messages);
        let agent = response.agent.as_deref();
        let said = response
            .says
            .iter()
            .map(|text| json!({"type": "text", "text": text}));
        let called = response
            .calls
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input}));
        for block in said.chain(called) {
            let message = json!({"id": message, "role": "assistant", "model": "claude", "content": [block]});
            self.write(agent, json!({"type": "assistant", "message": message}));
        }
        for call in &response.calls {
            if call.asked {
                self.guard.push(guarded(call, self.now));
            }
            let result = json!({
                "type": "tool_result", "tool_use_id": call.id, "content": call.output, "is_error": call.failed,
            });
            self.write(
                agent,
                json!({"type": "user", "message": {"role": "user", "content": [result]}}),
            );
            self.newest_call = Some(call.id.clone());
        }
    }

    /// Stop: the turn has ended.
    fn stop(&mut self) {
        let now = self.now;
        self.hook(|follower| {
            follower.flush_pending();
            follower.settle(now);
        });
        // On this path the mode is only in the stored state of the session, not in a separate row.
        let kept: Value = serde_json::from_str(self.stored.engine_state.as_deref().unwrap()).unwrap();
        let state = &kept["engine"]["course"]["state"];
        self.seen
            .turns
            .push(json!({"mode": state["mode"], "escalation": state["escalation"]}));
    }

    fn write(&mut self, agent: Option<&str>, mut line: Value) {
        self.now += Duration::seconds(1);
        line["sessionId"] = SESSION.into();
        line["timestamp"] = self.now.format(&Rfc3339).unwrap().into();
        line["cwd"] = ROOT.into();
        line["isSidechain"] = agent.is_some().into();
        let file = match agent {
            Some(agent) => {
                line["agentId"] = agent.into();
                self.agents.entry(agent.to_owned()).or_default()
            }
            None => &mut self.transcript,
        };
        *file += &format!("{line}\n");
    }
}

/// Records a question of the guard about a call, as the guard does.
pub(crate) fn guarded(call: &Call, at: OffsetDateTime) -> GuardRecord {
    GuardRecord {
        client_session_id: ClientSessionId::new(SESSION),
        tool_use_id: call.id.clone(),
        verdict: GuardVerdict::Ask,
        subject: String::new(),
        reason: String::new(),
        ran: !call.failed,
        at,
    }
}
