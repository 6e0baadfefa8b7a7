//! What leaves, and what is fetched and run.

use super::concept::Concept;
use super::concept::Concept::*;
use super::sentence::Sentence;
use super::signals::Signal;

impl Sentence<'_> {
    pub(super) fn leaks(&self, add: &mut impl FnMut(Signal, usize)) {
        const AWAY: &[Concept] = &[Url, Mail, PublicPlace, Outside];
        let leaks = |acts: &[Concept], what: &[Concept], reach: usize, to: &[Concept]| {
            self.all(acts).find(|place| {
                self.moves(*place, what, reach)
                    && self.reaches(*place, to, reach + 2)
                    && !self.is_averted(*place)
                    && !self.is_asked_of(*place)
            })
        };
        let leaked = leaks(&[Send], &[Secret], 12, AWAY)
            .or_else(|| leaks(&[Put], &[Secret], 12, &[PublicPlace, Outside]))
            .or_else(|| leaks(&[Send, Put], &[Key], 5, &[PublicPlace, Outside, Mail]));
        if let Some(place) = leaked {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.all(&[Filled]).find(|_| self.has(&[Secret])) {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.act(&[Send], &[(&[Private], 10), (&[Outside, Mail, PublicPlace], 12)]) {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.act(
            &[Send, Put],
            &[(&[Private, Key], 10), (&[Url, PublicPlace, Mail], 12)],
        ) {
            add(Signal::Sent, place);
        }
        if let Some(place) = self.act(&[Send], &[(&[Url, Mail, Outside], 12)]) {
            add(Signal::Reached, place);
        }
        if let Some(place) = self.all(&[Secret]).next() {
            add(Signal::SecretNamed, place);
        }
        if let Some(place) = self
            .act(&[Send], &[(&[This], 3), (&[PublicPlace, Url, Mail], 8)])
            .filter(|place| !self.is_asked_of(*place))
        {
            add(Signal::SentOn, place);
        }
    }

    pub(super) fn code(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(
            &[Run],
            &[(&[Whatever], 6), (&[Url, Concept::Voice, Concept::Agent], 12)],
        ) {
            add(Signal::Fetched, place);
        }
        let fetched = self.all(&[Run]).find(|place| {
            let code = [
                (&[Fetch][..], 10),
                (&[Url], 14),
                (&[Code, Whatever, This, Dubious], 10),
            ];
            code.iter().all(|(other, reach)| self.near(*place, other, *reach)) && !self.is_averted(*place)
        });
        if let Some(place) = fetched.filter(|_| !self.has(&[Control, Proof, Verify])) {
            add(Signal::Fetched, place);
        }
        if let Some(place) = self.act(&[Run], &[(&[Dubious], 6), (&[Code, Whatever], 6)]) {
            add(Signal::Fetched, place);
        }
        if let Some(place) = self.act(&[Set], &[(&[Source], 8), (&[Url, Mail], 10)]) {
            add(
                if self.near(place, &[Dubious], 10) {
                    Signal::Redirected
                } else {
                    Signal::Repointed
                },
                place,
            );
        }
    }

    /// Whether something of these concepts is what a verb moves: named before it, or after it in its clause. "Send it with the
    /// key" moves no key.
    fn moves(&self, verb: usize, concepts: &[Concept], reach: usize) -> bool {
        let is_moved = |place: usize| !self.near_before(place, &[With], 2);
        self.all(concepts).any(|place| {
            let is_before = place < verb && place + reach + 3 >= verb;
            let is_after = place > verb && place <= verb + reach && self.clause(place) <= verb;
            (is_before || is_after) && is_moved(place)
        })
    }

    /// Whether somebody else is said to want it: "the mail asks people to send".
    fn is_asked_of(&self, place: usize) -> bool {
        self.near_before(place, &[Ask, Said, Defend], 3) || self.follows(place, &[Ask, Said], 1)
    }
}
