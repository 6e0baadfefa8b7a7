//! Governed memory: items, their states, and what may be changed without a person. One model for the agent service and for
//! the inbox of a developer.

use crate::macros::named;
use crate::{MemoryItemId, ProjectId};
use grov_redact::FreeText;
use serde::{Deserialize, Serialize};
use std::fmt;
use time::OffsetDateTime;

/// What a memory item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    /// Something learned about the project.
    Fact,
    /// A rule of the user.
    Rule,
    /// An agreed choice.
    Decision,
    /// A commitment that is not done.
    OpenLoop,
    /// A proposed improvement.
    Idea,
    /// Something that happened. Accepted at once, never changed.
    Event,
    /// A measurement. Accepted at once, and gone after its lifetime.
    Metric,
    /// A preference of the user.
    Preference,
    /// A learned outcome.
    Lesson,
}

named!(MemoryType {
    Fact => "fact", Rule => "rule", Decision => "decision", OpenLoop => "open_loop", Idea => "idea", Event => "event",
    Metric => "metric", Preference => "preference", Lesson => "lesson",
});

impl MemoryType {
    /// Whether an item of this type is accepted without a person.
    pub fn is_accepted_at_once(self) -> bool {
        matches!(self, Self::Event | Self::Metric)
    }

    /// Whether an item of this type may take the place of one of another type. Of what is accepted without a person, only a
    /// metric replaces something: another metric.
    pub fn may_replace(self, replaced: Self) -> bool {
        !self.is_accepted_at_once() || (self == Self::Metric && replaced == Self::Metric)
    }
}

/// The state of a memory item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryStatus {
    /// Waits for a person.
    Proposed,
    /// A person approved it.
    Accepted,
    /// A person rejected it.
    Rejected,
    /// An open loop that is closed.
    Done,
    /// Waits for something else.
    Blocked,
    /// In force without a decision, such as an event.
    Active,
}

named!(MemoryStatus {
    Proposed => "proposed", Accepted => "accepted", Rejected => "rejected", Done => "done", Blocked => "blocked",
    Active => "active",
});

/// What a piece of evidence is a quotation of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A message of a thread.
    Message,
    /// A chunk of a document.
    Document,
    /// The result of a tool call.
    ToolResult,
    /// A task of a coding session.
    Task,
}

named!(EvidenceKind {
    Message => "message", Document => "document", ToolResult => "tool_result", Task => "task",
});

/// A quotation on which an item rests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Evidence {
    /// What it quotes.
    pub kind: EvidenceKind,
    /// The id of what it quotes.
    pub id: String,
    /// The quotation.
    pub quote: String,
}

/// An item of governed memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryItem {
    /// The key.
    pub id: MemoryItemId,
    /// Its project.
    pub project_id: ProjectId,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its state.
    pub status: MemoryStatus,
    /// The words.
    pub content: String,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// Items in force that it would contradict.
    #[serde(default)]
    pub contradicts: Vec<MemoryItemId>,
    /// The item that it replaces once it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryItemId>,
    /// The item that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryItemId>,
    /// When it disappears from retrieval.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub expires_at: Option<OffsetDateTime>,
    /// When it was proposed.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When it was changed last.
    #[serde(with = "time::serde::rfc3339")]
    pub updated_at: OffsetDateTime,
    /// Who decided about it, or changed its words since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why it is blocked or was rejected, in the words of who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl FreeText for MemoryItem {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            id: _,
            project_id: _,
            kind: _,
            status: _,
            content,
            evidence,
            contradicts: _,
            supersedes: _,
            superseded_by: _,
            expires_at: _,
            created_at: _,
            updated_at: _,
            decided_by,
            reason,
        } = self;
        visit(content);
        for Evidence { kind: _, id, quote } in evidence {
            visit(id);
            visit(quote);
        }
        decided_by.each_text(visit);
        reason.each_text(visit);
    }
}

/// A change of a memory item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// Changes the words of a proposal, or the words and the lifetime of an item that is not an event.
    Edit {
        /// The new words.
        content: Option<String>,
        /// The new end of its life.
        expires_at: Option<OffsetDateTime>,
    },
    /// Accepts a proposal, with other words if given. What it supersedes is superseded with it.
    Approve {
        /// The words to accept instead.
        content: Option<String>,
    },
    /// Rejects a proposal.
    Reject {
        /// Why.
        reason: Option<String>,
    },
    /// Marks a commitment as done.
    Done,
    /// Marks a commitment as blocked.
    Block {
        /// By what.
        reason: Option<String>,
    },
    /// Takes a blocked commitment up again.
    Resume,
    /// Names the item that replaces it.
    SupersededBy(MemoryItemId),
}

impl FreeText for MemoryChange {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Edit {
                content,
                expires_at: _,
            }
            | Self::Approve { content } => content.each_text(visit),
            Self::Reject { reason } | Self::Block { reason } => reason.each_text(visit),
            Self::Done | Self::Resume | Self::SupersededBy(_) => {}
        }
    }
}

/// Why a change of a memory item was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRefused {
    /// Events are never changed.
    #[error("an event is a record of what happened and is never changed; propose another item instead")]
    Event,
    /// The item has another state than the change needs.
    #[error("this needs an item that is {needs}, and it is {found}; nothing was changed")]
    WrongStatus {
        /// What the change needs.
        needs: &'static str,
        /// What it is.
        found: MemoryStatus,
    },
    /// The item was replaced.
    #[error("the item was superseded; change the one that replaced it")]
    Superseded,
}

macro_rules! displayed {
    ($($type:ident),+) => {
        $(impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        })+
    };
}
displayed!(MemoryType, MemoryStatus, EvidenceKind);

impl MemoryItem {
    /// Changes the item.
    ///
    /// # Errors
    ///
    /// Returns why nothing was changed.
    pub fn change(
        &mut self,
        change: &MemoryChange,
        decided_by: &str,
        now: OffsetDateTime,
    ) -> Result<(), ChangeRefused> {
        if self.kind == MemoryType::Event {
            return Err(ChangeRefused::Event);
        }
        if self.superseded_by.is_some() {
            return Err(ChangeRefused::Superseded);
        }
        match change {
            MemoryChange::Edit { content, expires_at } => {
                self.must_be(
                    &[
                        MemoryStatus::Proposed,
                        MemoryStatus::Accepted,
                        MemoryStatus::Active,
                        MemoryStatus::Blocked,
                    ],
                    "proposed, accepted, active or blocked",
                )?;
                if let Some(content) = content {
                    // Who approved the item did not approve these words. A proposal is not decided yet.
                    if self.status != MemoryStatus::Proposed && self.content != *content {
                        self.decided_by = Some(decided_by.to_owned());
                    }
                    self.content.clone_from(content);
                }
                self.expires_at = expires_at.or(self.expires_at);
            }
            MemoryChange::Approve { content } => {
                self.must_be(&[MemoryStatus::Proposed], "proposed")?;
                if let Some(content) = content {
                    self.content.clone_from(content);
                }
                self.decide(MemoryStatus::Accepted, decided_by);
            }
            MemoryChange::Reject { reason } => {
                self.must_be(&[MemoryStatus::Proposed], "proposed")?;
                self.decide(MemoryStatus::Rejected, decided_by);
                self.reason.clone_from(reason);
            }
            MemoryChange::Done => {
                self.must_be(
                    &[
                        MemoryStatus::Accepted,
                        MemoryStatus::Active,
                        MemoryStatus::Blocked,
                    ],
                    "accepted, active or blocked",
                )?;
                self.decide(MemoryStatus::Done, decided_by);
            }
            MemoryChange::Block { reason } => {
                self.must_be(
                    &[MemoryStatus::Accepted, MemoryStatus::Active],
                    "accepted or active",
                )?;
                self.decide(MemoryStatus::Blocked, decided_by);
                self.reason.clone_from(reason);
            }
            MemoryChange::Resume => {
                self.must_be(&[MemoryStatus::Blocked], "blocked")?;
                self.decide(MemoryStatus::Accepted, decided_by);
            }
            MemoryChange::SupersededBy(other) => {
                self.must_be(
                    &[
                        MemoryStatus::Accepted,
                        MemoryStatus::Active,
                        MemoryStatus::Blocked,
                        MemoryStatus::Done,
                    ],
                    "accepted, active, blocked or done",
                )?;
                self.superseded_by = Some(*other);
            }
        }
        self.updated_at = now;
        Ok(())
    }

    /// Whether the item takes part in retrieval at a time: it is accepted or active, or a commitment that is blocked, and neither
    /// superseded nor expired.
    pub fn is_in_force(&self, now: OffsetDateTime) -> bool {
        let is_in_force = match self.status {
            MemoryStatus::Accepted | MemoryStatus::Active => true,
            MemoryStatus::Blocked => self.kind == MemoryType::OpenLoop,
            MemoryStatus::Proposed | MemoryStatus::Rejected | MemoryStatus::Done => false,
        };
        is_in_force && self.superseded_by.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether other words or another state may be proposed for the item.
    ///
    /// # Errors
    ///
    /// Returns why not, as a sentence.
    pub fn must_be_replaceable(&self, now: OffsetDateTime) -> Result<(), String> {
        if self.kind == MemoryType::Event {
            return Err(format!(
                "the item {} is an event, which is never changed",
                self.id
            ));
        }
        if self.superseded_by.is_some() {
            return Err(format!(
                "the item {} was superseded; name the one that replaced it",
                self.id
            ));
        }
        if self.expires_at.is_some_and(|end| end <= now) {
            return Err(format!("the item {} expired; propose a new one", self.id));
        }
        if matches!(self.status, MemoryStatus::Proposed | MemoryStatus::Rejected) {
            return Err(format!(
                "the item {} is {}; only an item in force is changed",
                self.id, self.status
            ));
        }
        Ok(())
    }

    fn must_be(&self, statuses: &[MemoryStatus], needs: &'static str) -> Result<(), ChangeRefused> {
        if statuses.contains(&self.status) {
            Ok(())
        } else {
            Err(ChangeRefused::WrongStatus {
                needs,
                found: self.status,
            })
        }
    }

    fn decide(&mut self, status: MemoryStatus, decided_by: &str) {
        self.status = status;
        self.decided_by = Some(decided_by.to_owned());
        // It belongs to the decision before.
        self.reason = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn proposed() -> MemoryItem {
        MemoryItem {
            id: "0193b3c4-0000-7000-8000-000000000001".parse().unwrap(),
            project_id: "0193b3c4-0000-7000-8000-000000000002".parse().unwrap(),
            kind: MemoryType::Rule,
            status: MemoryStatus::Proposed,
            content: "Prices are in cents.".to_owned(),
            evidence: Vec::new(),
            contradicts: Vec::new(),
            supersedes: None,
            superseded_by: None,
            expires_at: None,
            created_at: NOW,
            updated_at: NOW,
            decided_by: None,
            reason: None,
        }
    }

    #[test]
    fn an_edited_item_is_shown_under_the_name_of_its_editor() {
        let edit = |content: &str| MemoryChange::Edit {
            content: Some(content.to_owned()),
            expires_at: None,
        };
        let mut item = proposed();
        item.change(&edit("Prices are in euros."), "Ada", NOW).unwrap();
        assert_eq!(item.decided_by, None, "a proposal is not decided by an edit");
        item.change(&MemoryChange::Approve { content: None }, "Ada", NOW)
            .unwrap();
        item.change(&edit("Prices are in euros."), "Ben", NOW).unwrap();
        assert_eq!(item.decided_by.as_deref(), Some("Ada"), "the words are the same");
        item.change(&edit("Prices are in francs."), "Ben", NOW).unwrap();
        assert_eq!(item.decided_by.as_deref(), Some("Ben"));
    }
}
