//! Why a call to the service failed, and whether another one may succeed.

use grov_domain::StoreError;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The address is not one.
    #[error("{0}")]
    Address(String),
    /// The service cannot be reached, or was silent for too long.
    #[error("the agent service does not answer: {0}")]
    Unreachable(String),
    /// What answered is not the agent service.
    #[error("what answers at this address is not Grov's agent service ({0})")]
    NotTheService(String),
    /// The key is wrong or was revoked.
    #[error(
        "the agent service refuses the key: it was revoked, or is wrong. Ask for a new one and run `grov agent link URL --remote-project ID --key-file FILE`"
    )]
    Unauthorized,
    /// The key may not do this.
    #[error("the key may not do this: {0}. Ask for a key with the role agent or approver, and link again")]
    Forbidden(String),
    /// The project does not exist, or the key may not see it.
    #[error("the project does not exist in the agent service, or the key may not see it")]
    NoProject,
    /// The service is of a version without the calls that a link needs.
    #[error("the agent service has no {0}: it is older than this version of Grov; update it")]
    OlderService(&'static str),
    /// The service asks to wait.
    #[error("the agent service is busy ({status})")]
    Busy {
        /// The status.
        status: u16,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The service does not take this record.
    #[error("the agent service does not take a record: {0}")]
    Rejected(String),
    /// Others changed the record.
    #[error("the item was changed by others meanwhile")]
    Conflict,
    /// The local store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key file cannot be read or written.
    #[error("{0}")]
    Key(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl LinkError {
    /// Whether the link stops until a person links again.
    pub fn stops(&self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden(_) | Self::Key(_))
    }

    /// What happened and what follows, for a link that exists.
    pub fn of_link(&self) -> String {
        let outlook = match self {
            Self::Unreachable(_) => "; nothing is lost, and it is tried again",
            Self::Busy { .. } => "; it is tried again",
            Self::NotTheService(_) => {
                "; check the URL with `grov agent status`, and link again if it changed"
            }
            _ => "",
        };
        format!("{self}{outlook}")
    }

    /// How long the service asks to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
