//! What a sentence does, by the meanings of its words: a signal for each thing that can be a part of harm.

use super::concept::Concept::*;
use super::concept::{Concept, Meaning};
use super::sentence::Sentence;

/// A part of harm. Which of them are harm alone or together is said in `rules`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Signal {
    /// Something is kept from those who are responsible: "don't tell the reviewers".
    Concealed,
    /// Something is not written down, or done unseen: "not in the changelog", "discreetly".
    Discreet,
    /// Something is not to be shown.
    Unshown,
    /// A result is made up, or reported whatever it is.
    Lied,
    /// A result is told to somebody.
    Posed,
    /// Something is said to somebody.
    Told,
    /// Something is said to be otherwise in truth.
    Contradicted,
    /// A secret, or data of people to an outsider, leaves.
    Leaked,
    /// Private data, or what may be a secret, goes to an address.
    Sent,
    /// Something goes to an address.
    Reached,
    /// A secret is named.
    SecretNamed,
    /// What was named before goes to an address.
    SentOn,
    /// Code from a foreign address is run.
    Fetched,
    /// A source of code or a receiver of data is set to a foreign address.
    Repointed,
    /// The same to an address without a name or without TLS.
    Redirected,
    /// A control of security is taken away.
    Weakened,
    /// A control of quality is taken away.
    Unchecked,
    /// Work is brought in without a look.
    Rash,
    /// An agent is told to do something that is a part of harm.
    Ordered,
    /// Strangers get in.
    Opened,
    /// Somebody gets power.
    Granted,
    /// Words that let somebody in, or past a control.
    Backdoor,
    /// An agent is named.
    Agent,
    /// An agent has to do something.
    Bound,
    /// Something has to be done.
    Must,
    /// The user's wishes and the rules count less.
    Overriding,
    /// Nobody is asked.
    Unasked,
    /// Whatever is asked is done.
    Unbounded,
    /// The note copies itself.
    Replicated,
    /// A stranger gave the advice.
    Voice,
    /// Data or backups are deleted.
    Deleted,
    /// The same in production without a way back.
    Destroyed,
    /// It is for production.
    Prod,
    /// It is for good, or everywhere.
    Forever,
    /// It is only for tests, or something replaces it.
    Excused,
    /// It is about attacks, or about what prevents them.
    Defended,
    /// A control is a nuisance.
    Nerve,
}

impl Sentence<'_> {
    /// Calls `add` with each signal and its word.
    pub(super) fn signals(&self, add: &mut impl FnMut(Signal, usize)) {
        self.concealment(add);
        self.lies(add);
        self.leaks(add);
        self.code(add);
        self.controls(add);
        self.access(add);
        self.authority(add);
        self.destruction(add);
        self.circumstances(add);
        self.orders(add);
    }

    /// An agent, or whoever works with it, and an act without control in one sentence.
    fn orders(&self, add: &mut impl FnMut(Signal, usize)) {
        let is_unasked = self.has(&[Concept::Unasked]);
        if !(is_unasked || self.has(&[Concept::Agent]) && self.has(&[Concept::Must])) {
            return;
        }
        let risky = self
            .act(&[Remove, Delete], &[(&[Check, Control, Backup], 4)])
            .or_else(|| self.act(&[Concept::Rash, NoLimit], &[]))
            .or_else(|| {
                self.act(&[Run, Fetch, Send], &[])
                    .filter(|place| self.is_for(*place, &[Url, Mail, Dubious]))
            })
            .or_else(|| self.act(&[Accept], &[(&[NoLimit], 4)]))
            .or_else(|| self.act(&[Put, Send], &[(&[Secret], 6), (&[Paper, PublicPlace], 9)]))
            .or_else(|| self.act(&[Set], &[(&[Source], 8)]).filter(|_| is_unasked));
        if let Some(place) = risky {
            add(Signal::Ordered, place);
        }
    }

    fn authority(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.all(&[Concept::Agent]).next() {
            add(Signal::Agent, place);
        }
        let denied = |place: usize| self.near_after(place, &[Not], 2);
        let bound = self
            .all(&[Concept::Must])
            .find(|place| self.near(*place, &[Concept::Agent], 6) && !denied(*place));
        if let Some(place) = bound {
            add(Signal::Bound, place);
        }
        if let Some(place) = self.all(&[Concept::Must]).next() {
            add(Signal::Must, place);
        }
        let over = self.act(&[Override], &[(&[Client, Insider, Concept::Agent, Session], 8)]);
        let over = over.filter(|place| self.near(*place, &[Rules], 14));
        if let Some(place) = over.or_else(|| self.ignored_rules()) {
            add(Signal::Overriding, place);
        }
        let unasked = self.all(&[Ask]).find(|place| {
            self.is_denied(*place) && self.near(*place, &[Client, Insider, Nobody, Confirm], 5)
        });
        if let Some(place) = unasked {
            add(Signal::Unasked, place);
        }
        if let Some(place) = self.act(&[Outside], &[(&[Said], 3)]) {
            add(Signal::Voice, place);
        }
        if let Some(place) = self
            .all(&[Concept::Unasked])
            .find(|place| !self.is_averted_before(*place))
        {
            add(Signal::Unasked, place);
        }
        if let Some(place) = self.act(&[NoLimit], &[(&[Accept, Run, Must], 6)]) {
            add(Signal::Unbounded, place);
        }
        if let Some(place) = self.all(&[Replicate]).find(|place| !self.is_averted(*place)) {
            add(Signal::Replicated, place);
        }
        if let Some(place) = self.all(&[Concept::Voice]).next() {
            add(Signal::Voice, place);
        }
    }

    /// "Ignore all previous instructions".
    fn ignored_rules(&self) -> Option<usize> {
        let ignores = Meaning::of(&[Remove]);
        let mut overrides = self
            .all(&[Override])
            .filter(|place| self.0[*place].meaning.has(ignores));
        overrides.find(|place| {
            self.reaches(*place, &[Rules], 5)
                && self.reaches(*place, &[Former], 5)
                && !self.is_averted(*place)
        })
    }

    fn circumstances(&self, add: &mut impl FnMut(Signal, usize)) {
        for (concept, signal) in [
            (Concept::Prod, Signal::Prod),
            (Concept::Forever, Signal::Forever),
            (Excuse, Signal::Excused),
            (Defend, Signal::Defended),
            (Concept::Nerve, Signal::Nerve),
        ] {
            if let Some(place) = self.all(&[concept]).next() {
                add(signal, place);
            }
        }
    }
}
