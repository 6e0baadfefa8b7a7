//! Controls taken away, access for strangers, and data deleted.

use super::concept::Concept::*;
use super::concept::{Concept, Meaning};
use super::sentence::Sentence;
use super::signals::Signal;

impl Sentence<'_> {
    pub(super) fn controls(&self, add: &mut impl FnMut(Signal, usize)) {
        let removed = self
            .act(&[Remove], &[(&[Control], 5)])
            .or_else(|| self.act(&[Remove], &[(&[Proof], 3), (&[Verify, Check], 3)]))
            .or_else(|| self.act(&[Remove], &[(&[Check], 3), (&[All], 3)]))
            .or_else(|| self.all(&[Verify]).find(|place| self.is_undone(*place)))
            .or_else(|| self.all(&[Without]).find(|place| self.lacks_control(*place)))
            .or_else(|| {
                self.all(&[Need])
                    .find(|place| self.is_denied(*place) && self.near(*place, &[Control], 4))
            })
            .or_else(|| self.act(&[Accept], &[(&[All], 3), (&[Control, Proof], 4)]));
        if let Some(place) = removed {
            add(Signal::Weakened, place);
        } else if let Some(place) = self.act(&[Remove], &[(&[Check], 4)]) {
            add(Signal::Unchecked, place);
        } else if let Some(place) = self
            .all(&[Without])
            .find(|place| self.follows(*place, &[Check], 2))
        {
            add(Signal::Unchecked, place);
        }
    }

    /// Whether something goes on without a control: "accept it without a signature check", not "never … without".
    fn lacks_control(&self, place: usize) -> bool {
        let is_open = self.has(&[Accept, Access, Admin, Concept::Prod, Run, Grant]);
        let lacks = self.follows(place, &[Control], 2) || is_open && self.follows(place, &[Verify], 2);
        lacks && !self.is_averted_before(place)
    }

    /// Whether a check is not made: "no longer verify the certificate", not "never deploy without verifying".
    fn is_undone(&self, place: usize) -> bool {
        let from = place.saturating_sub(2);
        let negations = Meaning::of(&[Not, Without]);
        let Some(negation) = (from..place)
            .rev()
            .find(|other| self.0[*other].meaning.has(negations))
        else {
            return false;
        };
        self.near(place, &[Control, Proof], 4) && !self.is_averted_before(negation)
    }

    pub(super) fn access(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(&[Grant, Put], &[(&[Admin], 11)]) {
            let is_foreign = self.near(place, &[Outside, Mail, Anyone], 10);
            add(
                if is_foreign {
                    Signal::Opened
                } else {
                    Signal::Granted
                },
                place,
            );
        }
        let open = self
            .all(&[Anyone])
            .find(|place| self.near(*place, &[Access, Admin, Private, Data], 6) && !self.is_averted(*place));
        let is_unguarded = self
            .act(&[Not, Without, Remove], &[(&[Verify, Control, Key], 3)])
            .is_some();
        if let Some(place) = open
            .or_else(|| self.act(&[Anyone], &[(&[Access, Admin, Key], 9)]))
            .filter(|_| is_unguarded)
        {
            add(Signal::Opened, place);
        }
        if let Some(place) = self.act(&[Backdoor], &[(&[Put, Grant, Accept, Access, Set, Send], 8)]) {
            add(Signal::Opened, place);
        }
        let past = |place: usize| {
            let skips = self.near(place, &[Remove, Not, Without, Accept], 12)
                && self.near(place, &[Control, Verify], 12);
            (skips || self.near(place, &[Admin], 7) || self.near(place, &[Free], 6))
                && !self.is_averted(place)
        };
        if let Some(place) = self.all(&[Magic]).find(|place| past(*place)) {
            add(Signal::Opened, place);
        } else if let Some(place) = self.all(&[Trigger]).find(|place| past(*place)) {
            add(Signal::Backdoor, place);
        }
        if let Some(place) = self.act(&[Fixed], &[(&[Secret], 3)]) {
            add(Signal::Weakened, place);
        }
    }

    pub(super) fn destruction(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(&[Delete], &[(&[Data, Backup], 5)]) {
            let is_final = self.has(&[Without, Not]) && self.has(&[Backup, Confirm]);
            let is_prod = self.has(&[Concept::Prod]);
            add(
                if is_final && is_prod {
                    Signal::Destroyed
                } else {
                    Signal::Deleted
                },
                place,
            );
        }
    }
}
