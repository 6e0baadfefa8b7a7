//! A change as it is shown.

use crate::format::count;
use crate::output::Style;
use crate::table::{one_line, truncated};
use grov_domain::{
    Change, ChangeKind, ClientSessionId, Finding, OFF_GOAL_BELOW, OWN_TEXT_OPENING, StepOutcome, TokenUsage,
};
use grov_query::short_beginning;
use serde::Serialize;
use time::OffsetDateTime;

/// Maximum characters of a text in a line.
const MAX_TEXT: usize = 160;

/// A change. Serializes to a line of JSON.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct ChangeView {
    #[serde(with = "time::serde::rfc3339")]
    at: OffsetDateTime,
    session_id: ClientSessionId,
    /// `prompt`, `action`, `finding`, `injection` or `usage`.
    kind: &'static str,
    #[serde(flatten)]
    detail: Detail,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Detail {
    Prompt {
        text: String,
    },
    Action {
        tool: String,
        action_type: &'static str,
        subject: String,
        files: Vec<String>,
        command: Option<String>,
        agent_id: Option<String>,
        score: Option<u8>,
        outcome: Option<&'static str>,
    },
    Finding {
        subject: String,
        score: Option<u8>,
        reason: Option<String>,
        findings: Vec<Finding>,
    },
    Injection {
        /// `memory`, `drift` or `context`.
        source: &'static str,
        level: Option<&'static str>,
        text: String,
        bytes: usize,
    },
    Memories {
        source: &'static str,
        memories: u64,
    },
    Usage {
        model: Option<String>,
        request: &'static str,
        agent_id: Option<String>,
        tokens: TokenUsage,
    },
}

impl ChangeView {
    pub(in crate::commands) fn of(change: Change) -> Self {
        let (kind, detail) = match change.kind {
            ChangeKind::Prompt { text } => ("prompt", Detail::Prompt { text }),
            ChangeKind::Action(step) => (
                "action",
                Detail::Action {
                    subject: step.subject(),
                    tool: step.tool,
                    action_type: step.action_type.as_str(),
                    files: step.files,
                    command: step.command,
                    agent_id: step.agent_id.map(|agent| agent.to_string()),
                    score: step.drift_score,
                    outcome: step.outcome.map(StepOutcome::as_str),
                },
            ),
            ChangeKind::Finding {
                subject,
                score,
                findings,
            } => (
                "finding",
                Detail::Finding {
                    subject,
                    score,
                    reason: findings.first().map(|finding| finding.reason.clone()),
                    findings,
                },
            ),
            ChangeKind::Injection { level, text } => {
                let text = block_text(text);
                let source = match level {
                    Some(_) => "drift",
                    None => source_of(&text),
                };
                let detail = Detail::Injection {
                    source,
                    level: level.map(|level| level.as_str()),
                    bytes: text.len(),
                    text,
                };
                ("injection", detail)
            }
            ChangeKind::Memories { total } => (
                "injection",
                Detail::Memories {
                    source: "memory",
                    memories: total,
                },
            ),
            ChangeKind::Usage {
                kind,
                agent_id,
                model,
                tokens,
            } => (
                "usage",
                Detail::Usage {
                    model,
                    request: kind.as_str(),
                    agent_id: agent_id.map(|agent| agent.to_string()),
                    tokens,
                },
            ),
        };
        Self {
            at: change.at,
            session_id: change.client_session_id,
            kind,
            detail,
        }
    }

    /// The session.
    pub(in crate::commands) fn session(&self) -> &str {
        self.session_id.as_str()
    }

    /// When it happened.
    pub(in crate::commands) fn at(&self) -> OffsetDateTime {
        self.at
    }

    /// Whether the agent acted.
    pub(in crate::commands) fn is_action(&self) -> bool {
        matches!(self.detail, Detail::Action { .. })
    }

    /// Whether an action was judged off the goal.
    pub(in crate::commands) fn is_finding(&self) -> bool {
        matches!(self.detail, Detail::Finding { .. })
    }

    /// One line for a person.
    pub(in crate::commands) fn text(&self, style: Style) -> String {
        let time = self.at.time();
        let (hour, minute, second) = time.as_hms();
        let session = short_beginning(self.session_id.as_str());
        let kind = style.bold(&format!("{:<9}", self.kind));
        let short = |text: &str| truncated(&one_line(text), MAX_TEXT);
        let agent = |agent: &Option<String>| match agent {
            Some(agent) => format!(" [agent {}]", one_line(agent)),
            None => String::new(),
        };
        let detail = match &self.detail {
            Detail::Prompt { text } => short(text),
            Detail::Action {
                tool,
                subject,
                agent_id,
                score,
                outcome,
                ..
            } => {
                let mut line = format!("{} {}{}", one_line(tool), short(subject), agent(agent_id));
                if let Some(outcome) = outcome {
                    line.push_str(&style.red(&format!(" ({outcome})")));
                }
                if let Some(score) = score.filter(|score| *score < OFF_GOAL_BELOW) {
                    line.push_str(&style.red(&format!(" score {score}")));
                }
                line
            }
            Detail::Finding {
                subject,
                score,
                reason,
                ..
            } => {
                let score = score.map(|score| format!(" score {score}")).unwrap_or_default();
                let reason = reason.as_deref().map(short).unwrap_or_default();
                format!("{}{}: {reason}", short(subject), style.red(&score))
            }
            Detail::Injection {
                source,
                level,
                text,
                bytes,
            } => {
                let level = level.map(|level| format!(" {level}")).unwrap_or_default();
                format!("{source}{level}, {bytes} bytes: {}", short(body(text)))
            }
            Detail::Memories { memories, .. } => {
                format!("memory, {memories} so far; `grov injected` shows the text")
            }
            Detail::Usage {
                model,
                request,
                agent_id,
                tokens,
            } => format!(
                "{} {request}{}: input {}, cache read {}, cache write {}, output {}",
                one_line(model.as_deref().unwrap_or("unknown model")),
                agent(agent_id),
                count(tokens.input),
                count(tokens.cache_read),
                count(tokens.cache_creation),
                count(tokens.output)
            ),
        };
        let session = style.faint(&one_line(session));
        format!("{hour:02}:{minute:02}:{second:02}Z {session} {kind} {detail}\n")
    }
}

/// The text of a content block, or the text itself.
fn block_text(text: String) -> String {
    let block: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let inner = block.as_ref().and_then(|block| block["text"].as_str());
    inner.map_or(text.clone(), str::to_owned)
}

fn source_of(text: &str) -> &'static str {
    if text.contains("source=\"team-memory\"") {
        "memory"
    } else if text.contains("source=\"drift\"") {
        "drift"
    } else {
        "context"
    }
}

/// The text without its first lines, which are the same in all.
fn body(text: &str) -> &str {
    let Some(start) = text.find(OWN_TEXT_OPENING) else {
        return text;
    };
    let mut rest = text[start..].splitn(3, '\n');
    rest.nth(2).unwrap_or(text)
}
