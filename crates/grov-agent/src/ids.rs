//! Identifiers of the agent service. Each is a UUID of its own type, so that they cannot be mixed up.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

pub use grov_domain::{MemoryItemId, ProjectId};

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
                Self(grov_domain::fresh_uuid())
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
    /// A document of a project. All its versions share the id.
    DocumentId
}
uuid_id! {
    /// A chunk of a document. A chunk that a new version does not change keeps its id.
    ChunkId
}
uuid_id! {
    /// A conversation.
    ThreadId
}
uuid_id! {
    /// A message of a thread.
    MessageId
}
uuid_id! {
    /// A tool call that a model requested.
    ToolCallId
}
uuid_id! {
    /// A key of the API.
    KeyId
}
uuid_id! {
    /// An event for the webhook.
    EventId
}
