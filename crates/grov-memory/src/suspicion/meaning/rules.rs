//! Which signals are harm.

use super::Sighting;
use super::signals::Signal;
use crate::suspicion::SuspicionKind;
use std::collections::BTreeSet;

/// The distance in sentences within which two signals count together.
const NEARBY: usize = 3;
/// The distance within which a defence explains what is harm by itself.
const ADJACENT: usize = 1;

/// With these, no excuse counts.
const UNEXCUSED: &[Signal] = &[Signal::Discreet, Signal::Voice, Signal::Concealed];

/// Harm by itself.
const ALONE: &[(SuspicionKind, Signal)] = {
    use Signal::*;
    &[
        (SuspicionKind::Order, Concealed),
        (SuspicionKind::Order, Lied),
        (SuspicionKind::Exfiltration, Leaked),
        (SuspicionKind::Redirection, Redirected),
        (SuspicionKind::Order, Opened),
        (SuspicionKind::Order, Overriding),
        (SuspicionKind::Order, Destroyed),
        (SuspicionKind::Download, Fetched),
        (SuspicionKind::Order, Ordered),
    ]
};

/// Harm together: one of the first with one of the second.
const TOGETHER: &[(SuspicionKind, &[Signal], &[Signal])] = {
    use Signal::*;
    &[
        (
            SuspicionKind::Order,
            &[Discreet, Voice],
            &[
                Weakened, Unchecked, Deleted, Granted, Backdoor, Posed, Unbounded, Rash,
            ],
        ),
        (SuspicionKind::Exfiltration, &[Discreet, Voice], &[Reached]),
        (
            SuspicionKind::Exfiltration,
            &[Discreet, Voice, Unasked, Agent, Must, Forever, Nerve, Prod],
            &[Sent],
        ),
        (SuspicionKind::Exfiltration, &[SecretNamed], &[SentOn]),
        (
            SuspicionKind::Redirection,
            &[Discreet, Voice, Unasked, Agent, Weakened],
            &[Repointed],
        ),
        (
            SuspicionKind::Order,
            &[Weakened],
            &[Prod, Forever, Nerve, Posed, Unasked, Discreet, Voice],
        ),
        (SuspicionKind::Order, &[Unasked, Agent], &[Unbounded, Backdoor]),
        (
            SuspicionKind::Order,
            &[Unasked, Voice],
            &[Unbounded, Unchecked, Fetched, Rash],
        ),
        (
            SuspicionKind::Order,
            &[Posed],
            &[Contradicted, Unchecked, Weakened, Concealed, Deleted],
        ),
        (
            SuspicionKind::Order,
            &[Granted],
            &[Prod, Forever, Unasked, Voice, Discreet, Concealed],
        ),
        (SuspicionKind::Order, &[Told], &[Contradicted]),
        (SuspicionKind::Order, &[Agent], &[Unshown]),
        (SuspicionKind::Order, &[Voice], &[Unasked]),
        (
            SuspicionKind::Order,
            &[Bound],
            &[
                Unchecked, Weakened, Repointed, Granted, Deleted, Rash, Posed, Unbounded,
            ],
        ),
        (SuspicionKind::Exfiltration, &[Bound], &[Reached]),
        (
            SuspicionKind::Order,
            &[Replicated],
            &[Agent, Must, Forever, Unasked],
        ),
        (SuspicionKind::Order, &[Backdoor], &[Prod, Forever, Nerve]),
    ]
};

/// What an excuse or a defence nearby makes harmless.
const EXCUSABLE: &[Signal] = {
    use Signal::*;
    &[
        Weakened, Unchecked, Repointed, Granted, Backdoor, Deleted, Sent, Fetched, Posed, Reached, Rash,
        Ordered,
    ]
};
/// What only a defence makes harmless.
const DEFENSIBLE: &[Signal] = {
    use Signal::*;
    &[Opened, Destroyed, Redirected, Lied, Overriding, SentOn]
};

/// The harm of the sightings of a memory: the position of the text, the kind, and the byte offset.
pub(super) fn harms(sightings: &[Sighting]) -> Vec<(usize, SuspicionKind, usize)> {
    let all = Places::of(sightings.iter());
    let is_defended = |one: &Sighting| {
        DEFENSIBLE.contains(&one.signal) && all.has_near(Signal::Defended, one.sentence, ADJACENT)
            || EXCUSABLE.contains(&one.signal) && all.has_near(Signal::Defended, one.sentence, NEARBY)
    };
    let is_excused = |one: &Sighting| {
        EXCUSABLE.contains(&one.signal) && all.has_near(Signal::Excused, one.sentence, NEARBY)
    };
    let undefended: Vec<&Sighting> = sightings.iter().filter(|one| !is_defended(one)).collect();
    let places = Places::of(undefended.iter().copied());
    let meant = Places::of(undefended.iter().copied().filter(|one| !is_excused(one)));
    let mut found = Vec::new();
    for one in undefended {
        let is_excused = is_excused(one);
        // What is hidden, or a stranger's wish, has no excuse.
        let counts = |first: &Signal| {
            if UNEXCUSED.contains(first) || UNEXCUSED.contains(&one.signal) {
                places.has_near(*first, one.sentence, NEARBY)
            } else {
                !is_excused && meant.has_near(*first, one.sentence, NEARBY)
            }
        };
        let together = TOGETHER
            .iter()
            .filter(|(_, firsts, seconds)| seconds.contains(&one.signal) && firsts.iter().any(counts));
        let alone = ALONE
            .iter()
            .filter(|(_, signal)| one.signal == *signal && !is_excused);
        let kinds = together
            .map(|(kind, _, _)| *kind)
            .chain(alone.map(|(kind, _)| *kind));
        found.extend(kinds.map(|kind| (one.place, kind, one.at)));
    }
    found
}

/// The sentences of each signal.
struct Places(BTreeSet<(Signal, usize)>);

impl Places {
    fn of<'a>(sightings: impl Iterator<Item = &'a Sighting>) -> Self {
        Self(sightings.map(|one| (one.signal, one.sentence)).collect())
    }

    /// Whether the signal is in a sentence at most `reach` away.
    fn has_near(&self, signal: Signal, sentence: usize, reach: usize) -> bool {
        let near = (signal, sentence.saturating_sub(reach))..=(signal, sentence + reach);
        self.0.range(near).next().is_some()
    }
}
