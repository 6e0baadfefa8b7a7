//! Tool calls and their state machine.

use crate::names::named;
use crate::{MemoryChange, MemoryItemId, ProjectId, Risk, ThreadId, ToolCallId};
use grov_redact::FreeText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{Duration, OffsetDateTime};

/// How long a call may wait before it expires.
pub const CALL_LIFETIME: Duration = Duration::hours(24);

/// The state of a tool call.
///
/// ```text
/// awaiting_approval → approved, rejected, expired
/// approved          → running, succeeded, failed, expired
/// running           → succeeded, failed, expired
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolCallStatus {
    /// A person has to decide.
    AwaitingApproval,
    /// May be executed.
    Approved,
    /// Is being executed.
    Running,
    /// Done.
    Succeeded,
    /// Ended with an error.
    Failed,
    /// A person said no.
    Rejected,
    /// Nobody decided or executed it in time.
    Expired,
}

named!(ToolCallStatus {
    AwaitingApproval => "awaiting_approval", Approved => "approved", Running => "running", Succeeded => "succeeded",
    Failed => "failed", Rejected => "rejected", Expired => "expired",
});

impl ToolCallStatus {
    /// Whether the state machine has a step from this state to `next`.
    pub fn may_become(self, next: Self) -> bool {
        use ToolCallStatus::{Approved, AwaitingApproval, Expired, Failed, Rejected, Running, Succeeded};
        match self {
            AwaitingApproval => matches!(next, Approved | Rejected | Expired),
            Approved => matches!(next, Running | Succeeded | Failed | Expired),
            Running => matches!(next, Succeeded | Failed | Expired),
            Succeeded | Failed | Rejected | Expired => false,
        }
    }

    /// Whether nothing follows this state.
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Succeeded | Self::Failed | Self::Rejected | Self::Expired
        )
    }
}

/// A tool call that a model requested. Somebody else executes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolCall {
    /// The key.
    pub id: ToolCallId,
    /// Its project.
    pub project_id: ProjectId,
    /// The thread whose chat requested it; `None` for a proposal of memory that came from outside of a chat.
    pub thread_id: Option<ThreadId>,
    /// The tool.
    pub name: String,
    /// The arguments, an object that fits the tool's schema.
    pub arguments: Value,
    /// The state.
    pub status: ToolCallStatus,
    /// Whether a person has to approve it.
    pub requires_approval: bool,
    /// How much harm the tool can do.
    pub risk: Risk,
    /// Why the model wants it.
    pub reason: String,
    /// What the tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who approved or rejected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The memory item that the call proposes: a call of `memory.propose_add` or `memory.propose_update`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_item_id: Option<MemoryItemId>,
    /// When it was requested.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When it expires.
    #[serde(with = "time::serde::rfc3339")]
    pub expires_at: OffsetDateTime,
}

impl FreeText for ToolCall {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            id: _,
            project_id: _,
            thread_id: _,
            name: _,
            arguments,
            status: _,
            requires_approval: _,
            risk: _,
            reason,
            result,
            error,
            decided_by,
            memory_item_id: _,
            created_at: _,
            expires_at: _,
        } = self;
        crate::json_text::each_text_of_value(arguments, visit);
        visit(reason);
        if let Some(result) = result {
            crate::json_text::each_text_of_value(result, visit);
        }
        error.each_text(visit);
        decided_by.each_text(visit);
    }
}

/// A report about a tool call: a decision of a person, or what happened when it was executed.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReport {
    /// The state that the call shall have.
    pub status: ToolCallStatus,
    /// What the tool returned.
    pub result: Option<Value>,
    /// What went wrong, or why it was rejected; not used for other states.
    pub error: Option<String>,
    /// Who decided: the caller's word, or the name of the key.
    pub decided_by: Option<String>,
}

impl FreeText for ToolReport {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            status: _,
            result,
            error,
            decided_by,
        } = self;
        if let Some(result) = result {
            crate::json_text::each_text_of_value(result, visit);
        }
        error.each_text(visit);
        decided_by.each_text(visit);
    }
}

/// Why a report was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportRefused {
    /// The call's time is over.
    #[error("the call expired; nothing was changed")]
    Expired,
    /// The call ended with another report.
    #[error(
        "the call is already {0}, and this report differs from the one that ended it; nothing was changed"
    )]
    Finished(ToolCallStatus),
    /// The state machine has no such step.
    #[error("a call that is {from} cannot become {to}; nothing was changed")]
    NoSuchStep {
        /// The state it has.
        from: ToolCallStatus,
        /// The state it was to have.
        to: ToolCallStatus,
    },
}

/// The built-in tool that proposes a memory item.
pub const PROPOSE_ADD: &str = "memory.propose_add";

/// The built-in tool that proposes other words or another state for a memory item.
pub const PROPOSE_UPDATE: &str = "memory.propose_update";

impl ToolCall {
    /// What a decision about this call does to the item `memory_item_id`; `None` for nothing.
    ///
    /// A call of [`PROPOSE_ADD`], and one of [`PROPOSE_UPDATE`] with `content`, names the item that was created as a proposal:
    /// it is approved or rejected. A call of [`PROPOSE_UPDATE`] with `status` names an item in force: its state is changed if
    /// the call is approved, and stays if not.
    pub fn memory_change(&self, is_approved: bool) -> Option<MemoryChange> {
        self.memory_item_id?;
        let status = self.arguments.get("status").and_then(Value::as_str);
        match (self.name.as_str(), status, is_approved) {
            (PROPOSE_UPDATE, Some(_), false) => None,
            (PROPOSE_UPDATE, Some("done"), true) => Some(MemoryChange::Done),
            (PROPOSE_UPDATE, Some("blocked"), true) => Some(MemoryChange::Block { reason: None }),
            (PROPOSE_UPDATE, Some(_), true) => Some(MemoryChange::Resume),
            (_, _, true) => Some(MemoryChange::Approve { content: None }),
            (_, _, false) => Some(MemoryChange::Reject {
                reason: self.error.clone(),
            }),
        }
    }

    /// Changes the call by a report. Whether the same report came before is the store's to know.
    ///
    /// # Errors
    ///
    /// Returns why nothing was changed.
    pub fn report(&mut self, report: &ToolReport, now: OffsetDateTime) -> Result<(), ReportRefused> {
        if self.status == ToolCallStatus::Expired || (!self.status.is_final() && now >= self.expires_at) {
            return Err(ReportRefused::Expired);
        }
        if self.status.is_final() {
            return Err(ReportRefused::Finished(self.status));
        }
        if !self.status.may_become(report.status) {
            return Err(ReportRefused::NoSuchStep {
                from: self.status,
                to: report.status,
            });
        }
        self.status = report.status;
        self.result = report.result.clone().or(self.result.take());
        self.error = match report.status {
            // Whatever is said about an approval or a success is no error.
            ToolCallStatus::Approved | ToolCallStatus::Succeeded => None,
            _ => report.error.clone().or(self.error.take()),
        };
        // Whoever executes an approved call has not decided about it.
        if matches!(report.status, ToolCallStatus::Approved | ToolCallStatus::Rejected) {
            self.decided_by.clone_from(&report.decided_by);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(now: OffsetDateTime) -> ToolCall {
        ToolCall {
            id: ToolCallId::fresh(),
            project_id: ProjectId::fresh(),
            thread_id: None,
            name: "mail.send".to_owned(),
            arguments: Value::Null,
            status: ToolCallStatus::AwaitingApproval,
            requires_approval: true,
            risk: Risk::Medium,
            reason: String::new(),
            result: None,
            error: None,
            decided_by: None,
            memory_item_id: None,
            created_at: now,
            expires_at: now + CALL_LIFETIME,
        }
    }

    #[test]
    fn the_reason_of_an_approval_is_no_error() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let mut call = waiting(now);
        for (status, error) in [
            (ToolCallStatus::Approved, None),
            (ToolCallStatus::Running, Some("slow")),
            (ToolCallStatus::Succeeded, None),
        ] {
            let report = ToolReport {
                status,
                result: None,
                error: Some("slow".to_owned()),
                decided_by: None,
            };
            call.report(&report, now).unwrap();
            assert_eq!(call.error.as_deref(), error, "{status}");
        }
    }

    #[test]
    fn who_executes_a_call_does_not_become_who_approved_it() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let mut call = waiting(now);
        for (status, by) in [
            (ToolCallStatus::Approved, "anna"),
            (ToolCallStatus::Running, "worker"),
            (ToolCallStatus::Succeeded, "worker"),
        ] {
            let report = ToolReport {
                status,
                result: None,
                error: None,
                decided_by: Some(by.to_owned()),
            };
            call.report(&report, now).unwrap();
            assert_eq!(call.decided_by.as_deref(), Some("anna"), "{status}");
        }
    }
}
