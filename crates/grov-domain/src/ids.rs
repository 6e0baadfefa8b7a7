//! Identifiers. Each has its own type, so that they cannot be mixed up.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;
use uuid::{NoContext, Timestamp, Uuid};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier that was read from the wire or from a store.
            pub fn new(value: impl Into<String>) -> Self {
                Self(value.into())
            }

            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! fresh_id {
    ($name:ident) => {
        impl $name {
            /// Creates a new identifier: a version 7 UUID, which sorts by creation time.
            pub fn fresh() -> Self {
                Self(fresh_uuid().to_string())
            }
        }
    };
}

/// Creates a version 7 UUID. With a clock before 1970, for which the library panics, its time is 1970.
pub fn fresh_uuid() -> Uuid {
    fresh_uuid_at(SystemTime::now())
}

fn fresh_uuid_at(now: SystemTime) -> Uuid {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(_) => Uuid::now_v7(),
        Err(_) => Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0)),
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates a new identifier: a version 7 UUID, which sorts by creation time.
            pub fn fresh() -> Self {
                Self(fresh_uuid())
            }

            /// Wraps a UUID.
            pub fn of(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

uuid_id! {
    /// A project of the agent service. The items of a developer's inbox have one that is derived from the project's key.
    ProjectId
}
uuid_id! {
    /// An item of governed memory.
    MemoryItemId
}

text_id! {
    /// The session id that the client uses on the wire, in its transcript and in its hooks.
    ClientSessionId
}
text_id! {
    /// A task of a client session: the key of `session_states`. The id of the first task equals the client session id.
    SessionId
}
text_id! {
    /// A subagent of a client session.
    AgentId
}
text_id! {
    /// A request and its response.
    ExchangeId
}
text_id! {
    /// An action of the agent.
    StepId
}
text_id! {
    /// A saved task in team memory.
    TaskId
}
text_id! {
    /// An entry of the drift log.
    DriftEventId
}
text_id! {
    /// A correction of the agent.
    CorrectionId
}
text_id! {
    /// An edit of a goal contract.
    GoalEditId
}
text_id! {
    /// A model call of Grov itself.
    LlmCallId
}
fresh_id!(SessionId);
fresh_id!(ExchangeId);
fresh_id!(TaskId);
fresh_id!(DriftEventId);
fresh_id!(CorrectionId);
fresh_id!(GoalEditId);
fresh_id!(LlmCallId);

impl StepId {
    /// Returns the id of the action at `index` in an exchange. It is derived, so that recording twice gives the same rows.
    pub fn of(exchange: &ExchangeId, index: usize) -> Self {
        Self(format!("{exchange}-{index:03}"))
    }
}

impl ClientSessionId {
    /// Returns the id of the first task, which is the same text.
    pub fn first_task(&self) -> SessionId {
        SessionId::new(self.as_str())
    }

    /// Returns the id of the task at `index` that the hook path saves for this session. It differs from the ids of the
    /// proxy path: both paths can follow a part of the same session.
    pub fn hook_task(&self, index: usize) -> SessionId {
        match index {
            0 => SessionId::new(format!("{self}/hooks")),
            index => SessionId::new(format!("{self}/hooks/{index}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::time::Duration;

    #[test]
    fn identifiers_are_created_with_a_clock_before_1970() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(3600);
        let made: HashSet<Uuid> = (0..1000).map(|_| fresh_uuid_at(before)).collect();
        assert_eq!(made.len(), 1000);
        assert!(
            made.iter()
                .all(|id| id.get_version_num() == 7 && *id < Uuid::now_v7())
        );
    }

    #[test]
    fn step_ids_sort_by_index() {
        let exchange = ExchangeId::fresh();
        assert!(StepId::of(&exchange, 2) < StepId::of(&exchange, 10));
    }
}
