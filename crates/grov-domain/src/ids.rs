//! Identifiers. Each is its own type, so that a session id cannot be passed where a task id is meant.

use serde::{Deserialize, Serialize};
use std::fmt;
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

            /// The identifier as text.
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
            /// A new identifier: a version 7 UUID, so that identifiers sort by the time they were made.
            pub fn fresh() -> Self {
                Self(fresh_uuid().to_string())
            }
        }
    };
}

/// A version 7 UUID. The library panics when the clock is before 1970; then the time in it is 1970 and the rest random.
fn fresh_uuid() -> Uuid {
    fresh_uuid_at(SystemTime::now())
}

fn fresh_uuid_at(now: SystemTime) -> Uuid {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(_) => Uuid::now_v7(),
        Err(_) => Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0)),
    }
}

text_id! {
    /// The session id that the client itself uses on the wire, in its transcript and in its hooks.
    ClientSessionId
}
text_id! {
    /// One task of a client session: the key of `session_states`. The first task's id equals the client's session id.
    SessionId
}
text_id! {
    /// A subagent inside a client session.
    AgentId
}
text_id! {
    /// One request and its response.
    ExchangeId
}
text_id! {
    /// One action of the agent.
    StepId
}
text_id! {
    /// One finished task in team memory.
    TaskId
}
text_id! {
    /// One entry of the drift log.
    DriftEventId
}
text_id! {
    /// One correction that was made for the agent.
    CorrectionId
}
text_id! {
    /// One change that a person made to a goal contract.
    GoalEditId
}
text_id! {
    /// One call of Grov's own to a model.
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
    /// The id of the `index`-th action of an exchange. Derived, so that recording an exchange twice yields the same rows.
    pub fn of(exchange: &ExchangeId, index: usize) -> Self {
        Self(format!("{exchange}-{index:03}"))
    }
}

impl ClientSessionId {
    /// The id of the first task of this client session, which by rule is the same text.
    pub fn first_task(&self) -> SessionId {
        SessionId::new(self.as_str())
    }

    /// The id under which is remembered what hooks saw of this client session. It is none of the proxy's tasks: a session that
    /// goes through the proxy for a while is seen by both, each a part of it.
    pub fn seen_by_hooks(&self) -> SessionId {
        self.seen_by_hooks_after(0)
    }

    /// The same of the task that came after so many others of this client session.
    pub fn seen_by_hooks_after(&self, others: usize) -> SessionId {
        match others {
            0 => SessionId::new(format!("{self}/hooks")),
            others => SessionId::new(format!("{self}/hooks/{others}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::time::Duration;

    #[test]
    fn identifiers_are_made_with_a_clock_before_1970() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(3600);
        let made: HashSet<Uuid> = (0..1000).map(|_| fresh_uuid_at(before)).collect();
        assert_eq!(made.len(), 1000);
        assert!(
            made.iter()
                .all(|id| id.get_version_num() == 7 && *id < Uuid::now_v7())
        );
    }

    #[test]
    fn step_ids_sort_in_order_of_the_actions() {
        let exchange = ExchangeId::fresh();
        assert!(StepId::of(&exchange, 2) < StepId::of(&exchange, 10));
    }
}
