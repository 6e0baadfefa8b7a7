//! What patterns find, and which findings are suspicious together.

use super::SuspicionKind;

/// What is ordinary by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Feature {
    /// It speaks to an agent.
    Addressed,
    /// It is to be done always, or first.
    Urged,
    /// The user is not to know.
    Concealed,
    /// Nothing is asked or confirmed.
    Unasked,
    /// It is done at once, or unseen.
    Hasty,
    /// Instructions are taken from an address.
    Loaded,
    /// A consent of the user is to be recorded.
    Consented,
    /// Tests, checks or reviews are taken away.
    Weakened,
    /// What guards against the agent itself is taken away.
    Disarmed,
    /// A result is reported that did not occur.
    Lied,
    /// Data is deleted.
    Destroyed,
    /// Secrets or data in bulk are sent.
    Sent,
    /// An installer is run as install pages document it.
    Installer,
    /// Packages or code come from a foreign source.
    ForeignSource,
    /// The user is not to be told.
    Untold,
    /// The text names an agent as its reader.
    Named,
}

/// Two features in nearby sentences that are suspicious together.
pub(crate) const COMBINATIONS: &[(SuspicionKind, &[Feature], &[Feature])] = {
    use Feature::*;
    &[
        (
            SuspicionKind::Order,
            &[Addressed],
            &[Concealed, Weakened, Disarmed, Lied, Destroyed, Unasked],
        ),
        (
            SuspicionKind::Order,
            &[Concealed],
            &[Weakened, Disarmed, Lied, Destroyed],
        ),
        (
            SuspicionKind::Order,
            &[Unasked, Hasty],
            &[Weakened, Disarmed, Destroyed, Lied],
        ),
        (SuspicionKind::Order, &[Urged], &[Disarmed, Lied]),
        (SuspicionKind::Order, &[Disarmed, Weakened, Destroyed], &[Lied]),
        (
            SuspicionKind::Order,
            &[Loaded, Consented],
            &[Addressed, Concealed, Unasked],
        ),
        (
            SuspicionKind::Exfiltration,
            &[Sent],
            &[Addressed, Urged, Concealed, Unasked, Hasty],
        ),
        (
            SuspicionKind::Download,
            &[Installer],
            &[Addressed, Urged, Concealed, Unasked, Hasty],
        ),
        (
            SuspicionKind::Redirection,
            &[ForeignSource],
            &[
                Addressed, Named, Urged, Concealed, Untold, Unasked, Hasty, Disarmed,
            ],
        ),
    ]
};

/// What a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Finding {
    /// Suspicious by itself.
    Kind(SuspicionKind),
    /// Suspicious together with another one.
    Feature(Feature),
}

impl Finding {
    /// The finding with this name in the lists of phrases.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "order" => Self::Kind(SuspicionKind::Order),
            "exfiltration" => Self::Kind(SuspicionKind::Exfiltration),
            "download" => Self::Kind(SuspicionKind::Download),
            "unchecked" => Self::Kind(SuspicionKind::Unchecked),
            "addressed" => Self::Feature(Feature::Addressed),
            "urged" => Self::Feature(Feature::Urged),
            "concealed" => Self::Feature(Feature::Concealed),
            "unasked" => Self::Feature(Feature::Unasked),
            "hasty" => Self::Feature(Feature::Hasty),
            "loaded" => Self::Feature(Feature::Loaded),
            "consented" => Self::Feature(Feature::Consented),
            "weakened" => Self::Feature(Feature::Weakened),
            "disarmed" => Self::Feature(Feature::Disarmed),
            "lied" => Self::Feature(Feature::Lied),
            "destroyed" => Self::Feature(Feature::Destroyed),
            "sent" => Self::Feature(Feature::Sent),
            "named" => Self::Feature(Feature::Named),
            "untold" => Self::Feature(Feature::Untold),
            _ => return None,
        })
    }
}
